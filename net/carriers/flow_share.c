/* flow_share.c - the rates of flows, max-min fair over links (kernel/base/share.h).
 *
 * A flow is bound by a link when this is full and no flow on it has more. Where flows begin or end, only
 * those are looked at that the links there bind. They share what the others leave; then, link by link, it is
 * looked whether the others may keep what they have: flows that a link binds must still have what it has for
 * each of them, and nobody may have more than what it binds. Those that may not are looked at, too, and all
 * again. When there are none left, the rates are fair for all. How far that spreads is a few links in most
 * systems, however many flows hang together.
 *
 * A flow's penalty changes with other flows of its two nodes, and with what else arrives where one from its
 * source goes. Those of these flows are found anew; who is bound by it, or has more than it allows now, is
 * looked at.
 */
#include "net/carriers/flow.h"

#include <stdlib.h>

#define ROUNDS 24 /* then all that hang together are looked at */

/* What the flows that are not reached take of it. */
static void link_reach(struct flows *f, uint32_t link)
{
    struct link *l = &f->link[link];
    if (l->mark == f->mark)
        return;
    l->mark = f->mark;
    l->bound = l->others = 0;
    l->bound_times = l->level = 0;
    *KER_PUSH(f->over, f->over_count, f->over_room) = link;
    for (uint32_t k = 0; k < l->flows; k++) {
        const struct flow *flow = &f->flow[l->on[k].flow];
        ker_moved taken = (ker_moved)flow->rate * l->on[k].times;
        if (flow->mark == f->mark)
            continue;
        if (flow->bound == link) {
            l->bound += taken;
            l->bound_times += l->on[k].times;
            l->level = flow->rate;
        } else {
            l->others += taken;
        }
    }
}

static void flow_reach(struct flows *f, uint32_t id)
{
    struct flow *flow = &f->flow[id];
    if (flow->mark == f->mark)
        return;
    flow->mark = f->mark;
    flow->place = f->reached_count;
    *KER_PUSH(f->reached, f->reached_count, f->reached_room) = id;
    for (uint32_t u = 0; u < flow->uses; u++) {
        struct link *l = &f->link[flow->use[u].resource];
        ker_moved taken = (ker_moved)flow->rate * flow->use[u].times;
        if (l->mark != f->mark) {
            link_reach(f, flow->use[u].resource);
        } else if (flow->bound == flow->use[u].resource) {
            l->bound -= taken;
            l->bound_times -= flow->use[u].times;
        } else {
            l->others -= taken;
        }
    }
}

/* All flows and links that hang together with those that are reached. */
static void all_reach(struct flows *f)
{
    for (uint32_t i = 0; i < f->over_count; i++) {
        const struct link *l = &f->link[f->over[i]];
        for (uint32_t k = 0; k < l->flows; k++)
            flow_reach(f, l->on[k].flow);
    }
}

/* Flows that are new, or bound by a link on which something has changed. */
static void first_reach(struct flows *f)
{
    uint32_t dirty = f->over_count;
    for (uint32_t i = 0; i < dirty; i++) {
        const struct link *l = &f->link[f->over[i]];
        for (uint32_t k = 0; k < l->flows; k++) {
            const struct flow *flow = &f->flow[l->on[k].flow];
            if (flow->rate == 0 || flow->bound == f->over[i])
                flow_reach(f, l->on[k].flow);
        }
    }
}

#define PENALTY_ONE 1000000u /* the factors have three decimals each */
#define PENALTY_IN (965u * 1000u)
#define PENALTY_OUT 925u
#define PENALTY_CROWDED 1350u

void net_flow_touch(struct flows *f, uint32_t node)
{
    if (f->node[node].touched)
        return;
    f->node[node].touched = true;
    *KER_PUSH(f->touched, f->touched_count, f->touched_room) = node;
}

/* Visits the flows on a link. */
#define EACH_FLOW(f, number, flow)                                                                           \
    for (uint32_t k_ = 0;                                                                                    \
         k_ < (f)->link[number].flows && ((flow) = &(f)->flow[(f)->link[number].on[k_].flow], true); k_++)

/* Those into a node, by their sources; where it begins or ends to be crowded these are touched, too. */
static void into_count(struct flows *f, struct node_flows *n)
{
    struct flow *flow;
    uint32_t before = n->into;
    n->into = f->link[n->into_link].flows;
    n->sources = 0;
    EACH_FLOW(f, n->into_link, flow)
    n->sources += f->node[flow->from].same++ == 0;
    EACH_FLOW(f, n->into_link, flow)
    flow->same = f->node[flow->from].same;
    EACH_FLOW(f, n->into_link, flow)
    {
        f->node[flow->from].same = 0;
        if ((before > 2) != (n->into > 2))
            net_flow_touch(f, flow->from);
    }
}

static void out_count(struct flows *f, struct node_flows *n)
{
    struct flow *flow;
    uint32_t out = f->link[n->out_link].flows;
    bool crowded = false;
    EACH_FLOW(f, n->out_link, flow)
    crowded |= f->node[flow->to].into > 2;
    n->other = out != n->out || crowded != n->crowded;
    n->out = out;
    n->crowded = crowded;
}

/* What a flow may have at most; it is reached if that matters to it. */
static void penalty_find(struct flows *f, uint32_t id)
{
    struct flow *flow = &f->flow[id];
    const struct node_flows *from = &f->node[flow->from], *to = &f->node[flow->to];
    uint64_t out = from->out == 1
                       ? PENALTY_ONE
                       : (uint64_t)from->out * PENALTY_OUT * (from->crowded ? PENALTY_CROWDED : 1000u),
             in = to->into == 1 ? PENALTY_ONE : (uint64_t)flow->same * to->sources * PENALTY_IN;
    unsigned __int128 least = (unsigned __int128)flow->least * PENALTY_ONE / (out > in ? out : in);
    uint64_t most = least ? (uint64_t)least : 1;
    if (most == flow->most)
        return;
    flow->most = most;
    if (flow->bound == KER_NONE || flow->rate > most)
        flow_reach(f, id);
}

static void penalties_find(struct flows *f, uint32_t link)
{
    for (uint32_t k = 0; k < f->link[link].flows; k++)
        penalty_find(f, f->link[link].on[k].flow);
}

static void penalties_renew(struct flows *f)
{
    uint32_t ended = f->touched_count; /* flows into these have begun or ended; into the others none */
    for (uint32_t i = 0; i < ended; i++)
        into_count(f, &f->node[f->touched[i]]);
    for (uint32_t i = 0; i < f->touched_count; i++)
        out_count(f, &f->node[f->touched[i]]);
    for (uint32_t i = 0; i < f->touched_count; i++) {
        struct node_flows *n = &f->node[f->touched[i]];
        if (n->other)
            penalties_find(f, n->out_link);
        if (i < ended)
            penalties_find(f, n->into_link);
        n->touched = false;
    }
    f->touched_count = 0;
}

/* ---- rates ---- */

/* What flows that keep their rates leave of a link. */
static void room_find(struct flows *f, uint32_t link)
{
    struct link *l = &f->link[link];
    ker_moved taken = l->bound + l->others;
    f->shared[link].capacity = taken < l->capacity ? l->capacity - (uint64_t)taken : 0;
    l->taken = l->most = 0;
    l->tight = UINT64_MAX;
}

/* Of those that are reached. */
static void rates_find(struct flows *f)
{
    if (f->reached_count > f->sharer_room) {
        f->sharer_room = 2 * f->reached_count;
        f->sharer = ker_realloc(f->sharer, f->sharer_room * sizeof *f->sharer);
        f->order = ker_realloc(f->order, f->sharer_room * sizeof *f->order);
    }
    for (uint32_t i = 0; i < f->over_count; i++)
        room_find(f, f->over[i]);
    for (uint32_t i = 0; i < f->reached_count; i++) {
        const struct flow *flow = &f->flow[f->reached[i]];
        f->sharer[i] = (struct ker_sharer){flow->most, 0, flow->uses, flow->use, KER_NONE};
        f->order[i] = &f->sharer[i];
    }
    f->sharers = f->reached_count;
    ker_share(f->order, f->sharers, f->shared, f->over, f->over_count);
    for (uint32_t i = 0; i < f->sharers; i++)
        for (uint32_t u = 0; u < f->sharer[i].uses; u++) {
            struct link *l = &f->link[f->sharer[i].use[u].resource];
            uint64_t rate = f->sharer[i].rate;
            l->taken += (ker_moved)rate * f->sharer[i].use[u].times;
            l->most = rate > l->most ? rate : l->most;
            l->tight = f->sharer[i].bound == f->sharer[i].use[u].resource ? rate : l->tight;
        }
}

/* May flows on this link keep their rates beside the new ones? Those that may not are listed. */
static void link_judge(struct flows *f, uint32_t link)
{
    struct link *l = &f->link[link];
    ker_moved taken = l->others + l->taken;
    uint64_t each =
        l->bound_times && taken < l->capacity ? (l->capacity - (uint64_t)taken) / l->bound_times : 0;
    bool other = l->bound_times && ((each ? each : 1) != l->level || l->most > l->level);
    for (uint32_t k = 0; k < l->flows && (other || l->tight < UINT64_MAX); k++) {
        const struct flow *flow = &f->flow[l->on[k].flow];
        if (flow->mark != f->mark && (flow->rate > l->tight || (other && flow->bound == link)))
            *KER_PUSH(f->late, f->late_count, f->late_room) = l->on[k].flow;
    }
}

/* A flow whose rate is as it was ends when it would have. No flow has ended: those that end now have been
 * taken out. */
void net_flow_rate(struct flows *f, uint32_t id, ker_time now, uint64_t rate)
{
    struct flow *flow = &f->flow[id];
    if (rate == flow->rate)
        return;
    flow->left -= (ker_moved)flow->rate * (uint64_t)(now - flow->since);
    flow->since = now;
    flow->rate = rate;
    flow->ends = ker_time_later(now, ker_moved_takes(flow->left, rate));
    net_heap_put(&f->ending, (struct net_timed){flow->ends, id});
}

void net_flow_share(struct flows *f, ker_time now)
{
    if (f->dirty_count == 0)
        return;
    f->mark++;
    f->reached_count = f->over_count = 0;
    for (uint32_t i = 0; i < f->dirty_count; i++)
        link_reach(f, f->dirty[i]);
    f->dirty_count = 0;
    first_reach(f);
    penalties_renew(f);
    for (uint32_t round = 1;; round++) {
        if (round == ROUNDS)
            all_reach(f);
        rates_find(f);
        for (uint32_t i = 0, links = f->over_count; i < links; i++)
            link_judge(f, f->over[i]);
        for (uint32_t i = 0; i < f->late_count; i++)
            flow_reach(f, f->late[i]);
        f->late_count = 0;
        if (f->reached_count == f->sharers)
            break;
    }
    for (uint32_t i = 0; i < f->sharers; i++) {
        f->flow[f->reached[i]].bound = f->sharer[i].bound;
        net_flow_rate(f, f->reached[i], now, f->sharer[i].rate);
    }
}
