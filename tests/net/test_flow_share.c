/* test_flow_share.c - flows that begin and end, a few at a time: the rates that spread from there are those
 * of sharing all anew, but for what rounding leaves to one or the other: less than a part in 10^6 of the
 * smallest capacity.
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
#define LEAST 1000000000ull /* of the capacities */

static struct ker_share_use use[FLOWS][USES];

static void flow_put(struct flows *f, uint32_t id, struct ker_stream *draw)
{
    struct flow *flow = &f->flow[id];
    *flow = (struct flow){.left = KER_MOVED_BYTE, .most = UINT64_MAX, .bound = KER_NONE, .use = use[id]};
    if (ker_stream_below(draw, 5) == 0)
        flow->most = 1 + ker_stream_below(draw, LEAST);
    uint32_t uses = 1 + ker_stream_below(draw, USES), from = ker_stream_below(draw, LINKS);
    for (uint32_t u = 0; u < uses; u++) {
        use[id][u] =
            (struct ker_share_use){(from + 7 * u) % LINKS, (uint16_t)(1 + ker_stream_below(draw, 3))};
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

static void rates_are_fair_for_all(void **state)
{
    for (uint64_t system = 0; system < 60; system++) {
        struct ker_stream draw;
        struct flows f = {.links = LINKS, .flows = FLOWS};
        uint32_t looked = 0, there = 0;
        f.link = ker_alloc(LINKS * sizeof *f.link);
        f.shared = ker_alloc(LINKS * sizeof *f.shared);
        f.flow = ker_alloc(FLOWS * sizeof *f.flow);
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
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rates_are_fair_for_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
