/* check.c - is a routing algorithm on a given shape free of deadlock?
 *
 * Walks all ways a packet can take, one destination after the other: a state is the channel the packet came
 * in by, the last channel it holds that can be waited for, and the algorithm's own bits. A channel is named
 * by its receiving end (switch, port, virtual channel). Whenever the packet may wait for a channel, an edge
 * leads there from the last such channel it holds; channels in between that are only taken when credits for
 * the whole packet are there are passed over: these are Duato's extended dependencies (1993), direct and
 * indirect. The graph must have no cycle; that is decided by taking away channels nobody points to until none
 * is left (Kahn). What an algorithm draws is not drawn here: all outcomes are gone through (struct route_oracle).
 */
#include "routing/check.h"

#include "routing/shape.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static uint64_t scramble(uint64_t x)
{
    x ^= x >> 32;
    x *= 0x9fb21c651e98df25u;
    return x ^ x >> 28;
}

static void insert(struct route_dependencies *set, uint64_t edge)
{
    size_t at = scramble(edge) & (set->size - 1);
    while (set->edge[at] != edge && set->edge[at] != UINT64_MAX)
        at = (at + 1) & (set->size - 1);
    set->count += set->edge[at] != edge;
    set->edge[at] = edge;
}

void route_dependencies_add(struct route_dependencies *set, uint32_t from, uint32_t to)
{
    if (2 * (set->count + 1) > set->size) {
        struct route_dependencies old = *set;
        set->size = old.size ? 2 * old.size : 1024;
        set->edge = ker_alloc(set->size * sizeof *set->edge);
        memset(set->edge, 0xff, set->size * sizeof *set->edge);
        set->count = 0;
        for (size_t i = 0; i < old.size; i++)
            if (old.edge[i] != UINT64_MAX)
                insert(set, old.edge[i]);
        free(old.edge);
    }
    insert(set, (uint64_t)from << 32 | to);
}

void route_dependencies_release(struct route_dependencies *set)
{
    free(set->edge);
    *set = (struct route_dependencies){0};
}

bool route_dependencies_cyclic(const struct route_dependencies *set, uint32_t channels, uint32_t *channel)
{
    uint64_t *first = ker_alloc((channels + 2ull) * sizeof *first);
    uint32_t *to = ker_alloc(set->count * sizeof *to), *pointed = ker_alloc(channels * sizeof *pointed);
    uint32_t *free_channel = ker_alloc(channels * sizeof *free_channel), done = 0, found = 0;
    for (size_t i = 0; i < set->size; i++)
        if (set->edge[i] != UINT64_MAX) {
            first[(set->edge[i] >> 32) + 2]++;
            pointed[(uint32_t)set->edge[i]]++;
        }
    for (uint32_t c = 0; c < channels; c++)
        first[c + 1] += first[c];
    /* first[c + 1] is where the next edge of c goes; in the end it is the end of c's edges */
    for (size_t i = 0; i < set->size; i++)
        if (set->edge[i] != UINT64_MAX)
            to[first[(set->edge[i] >> 32) + 1]++] = (uint32_t)set->edge[i];
    for (uint32_t c = 0; c < channels; c++)
        if (pointed[c] == 0)
            free_channel[found++] = c;
    for (; done < found; done++)
        for (uint64_t i = first[free_channel[done]]; i < first[free_channel[done] + 1]; i++)
            if (--pointed[to[i]] == 0)
                free_channel[found++] = to[i];
    for (uint32_t c = 0; c < channels && found < channels; c++)
        if (pointed[c]) {
            *channel = c;
            break;
        }
    free(first);
    free(to);
    free(pointed);
    free(free_channel);
    return found < channels;
}

struct state {
    uint32_t in, held, bits, switch_id; /* channels; the algorithm's bits */
    uint16_t in_port, hops;
};

struct walk {
    const struct route_shape *shape;
    struct ker_error *error;
    uint32_t *first_port; /* ports of all switches in one row */
    uint64_t work, max_work;
    struct route_dependencies waits, seen; /* seen: hashes of states, so as not to walk them twice */
    struct state *state;
    size_t states, room;
    uint32_t destination;
};

/* ---- all that may be drawn ---- */

uint32_t route_oracle_pick(struct route_oracle *o, uint32_t salt, uint32_t count)
{
    for (int i = 0; i < o->picks; i++)
        if (o->salt[i] == salt && o->count[i] == count)
            return o->value[i];
    ker_assert(o->picks < ROUTE_ORACLE_PICKS);
    o->salt[o->picks] = salt;
    o->count[o->picks] = count;
    o->value[o->picks] = 0;
    return o->value[o->picks++];
}

bool route_oracle_advance(struct route_oracle *o)
{
    while (o->picks > 0 && o->value[o->picks - 1] + 1 == o->count[o->picks - 1])
        o->picks--;
    if (o->picks == 0)
        return false;
    o->value[o->picks - 1]++;
    return true;
}

/* ---- the walk ---- */

static uint32_t channel_id(const struct walk *walk, uint32_t switch_id, uint32_t port, uint32_t channel)
{
    return (walk->first_port[switch_id] + port) * walk->shape->channels + channel;
}

/* Adds a state that is new. The set of edges serves as a set of pairs: exact for (in, held), and states with
 * bits are told apart by mixing them into the pair, where a clash would only skip a state. */
static void push(struct walk *walk, const struct state *state)
{
    size_t before = walk->seen.count;
    uint32_t held = state->held == NONE ? NONE - 1 : state->held;
    route_dependencies_add(&walk->seen, state->in, held ^ state->bits * 0x9e3779b1u);
    if (walk->seen.count == before)
        return;
    if (walk->states == walk->room) {
        walk->room = walk->room ? 2 * walk->room : 256;
        walk->state = ker_realloc(walk->state, walk->room * sizeof *walk->state);
    }
    walk->state[walk->states++] = *state;
}

/* The choices of one outcome of what is drawn here. */
static enum ker_status expand_drawn(struct walk *walk, const struct state *from, struct route_oracle *oracle)
{
    const struct route_shape *shape = walk->shape;
    const struct state state = *from;
    struct route_choice choices[ROUTE_MAX_CHOICES];
    struct route_packet packet = {.address = route_address(shape, walk->destination),
                                  .destination = walk->destination,
                                  .oracle = oracle,
                                  .state = state.bits,
                                  .in_port = state.in_port,
                                  .in_channel = (uint8_t)(state.in % shape->channels),
                                  .hops = (uint8_t)(state.hops < 255 ? state.hops : 255)};
    int count =
        shape->algorithm->next(shape, route_here(shape, state.switch_id), state.switch_id, &packet, choices);
    bool any_escape = false;
    for (int i = 0; i < count; i++)
        any_escape |= choices[i].flags & ROUTE_ESCAPE;
    for (int i = 0; i < count; i++) {
        struct route_peer peer;
        route_port(shape, state.switch_id, choices[i].port, &peer);
        if (peer.kind == ROUTE_NODE && peer.id == walk->destination)
            continue;
        if (peer.kind != ROUTE_SWITCH)
            return ker_fail(walk->error, KER_RUN_FAILED,
                            "routing to node %u leaves switch %u by port %u, which does "
                            "not lead on",
                            walk->destination, state.switch_id, choices[i].port);
        struct state next = {channel_id(walk, peer.id, peer.port, choices[i].channel),
                             state.held,
                             choices[i].state,
                             peer.id,
                             peer.port,
                             (uint16_t)(state.hops + 1)};
        if (!any_escape || choices[i].flags & ROUTE_ESCAPE) {
            if (state.held != NONE)
                route_dependencies_add(&walk->waits, state.held, next.in);
            next.held = next.in;
        }
        push(walk, &next);
    }
    return KER_OK;
}

static enum ker_status expand(struct walk *walk, struct state state)
{
    struct route_oracle oracle = {0};
    enum ker_status status;
    do
        status = expand_drawn(walk, &state, &oracle);
    while (status == KER_OK && route_oracle_advance(&oracle));
    return status;
}

/* All ways to one destination, from all nodes. */
static enum ker_status walk_destination(struct walk *walk)
{
    enum ker_status status = KER_OK;
    walk->states = 0;
    route_dependencies_release(&walk->seen);
    for (uint32_t source = 0; source < walk->shape->summary.nodes; source++) {
        struct state state = {.held = NONE};
        if (source == walk->destination)
            continue;
        route_attachment(walk->shape, source, &state.switch_id, &state.in_port);
        state.in = channel_id(walk, state.switch_id, state.in_port, 0);
        push(walk, &state);
    }
    while (status == KER_OK && walk->states > 0 && walk->work < walk->max_work) {
        walk->work++;
        status = expand(walk, walk->state[--walk->states]);
    }
    return status;
}

static enum ker_status walk_all(struct walk *walk)
{
    enum ker_status status = KER_OK;
    for (uint32_t node = 0; node < walk->shape->summary.nodes && status == KER_OK; node++) {
        walk->destination = node;
        status = walk_destination(walk);
    }
    return status;
}

static enum ker_status report_cycle(const struct walk *walk, uint32_t channel)
{
    uint32_t port = channel / walk->shape->channels, switch_id = 0;
    while (walk->first_port[switch_id + 1] <= port)
        switch_id++;
    return ker_fail(walk->error, KER_RUN_FAILED,
                    "%s routing on %s can deadlock: packets wait for each other in a "
                    "circle, for example at switch %u, port %u, channel %u",
                    walk->shape->algorithm->name, walk->shape->kind->name, switch_id,
                    port - walk->first_port[switch_id], channel % walk->shape->channels);
}

enum ker_status route_check_deadlock(const struct route_shape *shape, uint64_t max_work, bool *complete,
                                     struct ker_error *error)
{
    struct walk walk = {.shape = shape, .error = error, .max_work = max_work};
    uint32_t switches = shape->summary.switches, channel = 0;
    uint64_t ports = 0;
    *complete = false;
    if (switches > max_work)
        return KER_OK;
    walk.first_port = ker_alloc((switches + 1ull) * sizeof *walk.first_port);
    for (uint32_t i = 0; i < switches; i++) {
        walk.first_port[i] = (uint32_t)ports;
        ports += route_ports(shape, i);
    }
    walk.first_port[switches] = (uint32_t)ports;
    enum ker_status status = KER_OK;
    if (ports * shape->channels <= max_work) {
        status = walk_all(&walk);
        *complete = status == KER_OK && walk.work < max_work;
        if (status == KER_OK &&
            route_dependencies_cyclic(&walk.waits, (uint32_t)(ports * shape->channels), &channel))
            status = report_cycle(&walk, channel);
    }
    route_dependencies_release(&walk.waits);
    route_dependencies_release(&walk.seen);
    free(walk.state);
    free(walk.first_port);
    return status;
}
