/* test_flow_share.c - flows that begin and end, a few at a time: the rates that spread from there are those
 * of sharing all anew, but for what rounding leaves to one or the other: less than a part in 10^6 of the
 * smallest capacity. With penalties these are those of all flows there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "net/carriers/flow.h"

#include <stdlib.h>

#define LINKS 40
#define FLOWS 120
#define USES 5
#define NODES 10 /* with penalties: links of flows out of them, of those into them, and the others */
#define LEAST 1000000000ull /* of the capacities */

static struct ker_share_use use[FLOWS][USES];

static void flow_put(struct flows *f, uint32_t id, struct ker_stream *draw)
{
    struct flow *flow = &f->flow[id];
    *flow = (struct flow){.left = KER_MOVED_BYTE, .most = UINT64_MAX, .bound = KER_NONE, .use = use[id]};
    if (ker_stream_below(draw, 5) == 0)
        flow->most = 1 + ker_stream_below(draw, LEAST);
    uint32_t uses = 1 + ker_stream_below(draw, USES), from = ker_stream_below(draw, LINKS);
    if (f->node) {
        uses = uses < 3 ? 3 : uses;
        flow->from = ker_stream_below(draw, NODES);
        flow->to = ker_stream_below(draw, NODES);
        flow->most = UINT64_MAX;
        flow->least = LEAST;
        net_flow_touch(f, flow->from);
        net_flow_touch(f, flow->to);
    }
    for (uint32_t u = 0; u < uses; u++) {
        use[id][u] =
            (struct ker_share_use){(from + 7 * u) % LINKS, (uint16_t)(1 + ker_stream_below(draw, 3))};
        if (f->node)
            use[id][u].resource = u == 0   ? flow->from
                                  : u == 1 ? NODES + flow->to
                                           : 2 * NODES + (from + 7 * u) % (LINKS - 2 * NODES);
        struct link *l = &f->link[use[id][u].resource];
        *KER_APPEND(l->on, l->flows) = (struct on_link){id, use[id][u].times};
        *KER_PUSH(f->dirty, f->dirty_count, f->dirty_room) = use[id][u].resource;
    }
    flow->uses = uses;
}

static void flow_take(struct flows *f, uint32_t id)
{
    struct flow *flow = &f->flow[id];
    for (uint32_t u = 0; u < flow->uses; u++) {
        struct link *l = &f->link[flow->use[u].resource];
        uint32_t k = 0;
        while (l->on[k].flow != id)
            k++;
        l->on[k] = l->on[--l->flows];
        *KER_PUSH(f->dirty, f->dirty_count, f->dirty_room) = flow->use[u].resource;
    }
    if (f->node) {
        net_flow_touch(f, flow->from);
        net_flow_touch(f, flow->to);
    }
    *flow = (struct flow){0};
}

/* The largest difference to sharing all anew. */
static uint64_t beside_all(const struct flows *f)
{
    static struct ker_sharer sharer[FLOWS];
    struct ker_sharer *order[FLOWS];
    struct ker_shared shared[LINKS] = {{0}};
    uint32_t count = 0, id[FLOWS];
    uint64_t most = 0;
    for (uint32_t i = 0; i < LINKS; i++)
        shared[i].capacity = f->link[i].capacity;
    for (uint32_t i = 0; i < FLOWS; i++)
        if (f->flow[i].use) {
            id[count] = i;
            sharer[count] = (struct ker_sharer){f->flow[i].most, 0, f->flow[i].uses, use[i], KER_NONE};
            order[count] = &sharer[count];
            count++;
        }
    ker_share(order, count, shared, NULL, LINKS);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t a = sharer[i].rate, b = f->flow[id[i]].rate, differs = a > b ? a - b : b - a;
        most = differs > most ? differs : most;
    }
    return most;
}

static uint32_t into(const struct flows *f, uint32_t node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < FLOWS; i++)
        count += f->flow[i].use && f->flow[i].to == node;
    return count;
}

/* LEAST less the penalty, from all flows: 0.925 n out of the source (n > 1), 1.35 times that where any of
 * these goes where there are more than two; 0.965 x flows of both nodes x sources into the destination, if
 * there are more flows than this. */
static uint64_t most_of(const struct flows *f, uint32_t id)
{
    const struct flow *flow = &f->flow[id];
    uint64_t out = 0, same = 0, sources = 0, source = 1000000, destination = 1000000;
    bool crowded = false, seen[NODES] = {false};
    for (uint32_t i = 0; i < FLOWS; i++) {
        const struct flow *other = &f->flow[i];
        if (!other->use)
            continue;
        out += other->from == flow->from;
        crowded |= other->from == flow->from && into(f, other->to) > 2;
        same += other->from == flow->from && other->to == flow->to;
        sources += other->to == flow->to && !seen[other->from];
        seen[other->from] |= other->to == flow->to;
    }
    if (out > 1)
        source = out * (crowded ? 1248750 : 925000);
    if (into(f, flow->to) > 1)
        destination = same * sources * 965000;
    return LEAST * 1000000 / (source > destination ? source : destination);
}

static void systems_check(bool penalties)
{
    for (uint64_t system = 0; system < 60; system++) {
        struct ker_stream draw;
        struct flows f = {.links = LINKS, .flows = FLOWS};
        uint32_t looked = 0, there = 0;
        f.link = ker_alloc(LINKS * sizeof *f.link);
        f.shared = ker_alloc(LINKS * sizeof *f.shared);
        f.flow = ker_alloc(FLOWS * sizeof *f.flow);
        f.node = penalties ? ker_alloc(NODES * sizeof *f.node) : NULL;
        for (uint32_t i = 0; i < NODES && penalties; i++)
            f.node[i] = (struct node_flows){.out_link = i, .into_link = NODES + i};
        ker_stream_init(&draw, 1, KER_PURPOSE_TEST, system);
        for (uint32_t i = 0; i < LINKS; i++)
            f.link[i].capacity = LEAST * (1 + ker_stream_below(&draw, 20));
        for (uint32_t step = 0; step < 400; step++) {
            for (uint32_t n = 1 + ker_stream_below(&draw, 3); n; n--) {
                uint32_t id = ker_stream_below(&draw, FLOWS);
                if (f.flow[id].use)
                    flow_take(&f, id);
                else
                    flow_put(&f, id, &draw);
            }
            net_flow_share(&f, 0);
            for (uint32_t i = 0; i < FLOWS && penalties; i++)
                assert_true(!f.flow[i].use || f.flow[i].most == most_of(&f, i));
            looked += f.sharers;
            for (uint32_t i = 0; i < FLOWS; i++)
                there += f.flow[i].use != NULL;
            assert_true(beside_all(&f) < LEAST / 1000000);
            f.ending.count = 0;
        }
        assert_true(looked < there); /* and most keep what they have */
        for (uint32_t i = 0; i < LINKS; i++)
            free(f.link[i].on);
        free(f.link);
        free(f.shared);
        free(f.flow);
        free(f.ending.at);
        free(f.dirty);
        free(f.reached);
        free(f.over);
        free(f.late);
        free(f.sharer);
        free(f.order);
        free(f.node);
        free(f.touched);
    }
}

static void rates_are_fair_for_all(void **state)
{
    systems_check(false);
}

static void penalties_are_those_of_all(void **state)
{
    systems_check(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rates_are_fair_for_all),
                                       cmocka_unit_test(penalties_are_those_of_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
