/* cores_state.c - the loads of a node, saved and loaded. Speeds and rates count from the last instant on, and
 * are saved; who else uses a core or a controller is not: it follows from the loads. */
#include "nodes/private.h"

#include <string.h>

static void flow_state(struct node_flow *flow, uint32_t resources, struct ker_chunk *c)
{
    KER_CHUNK(c, flow->left, flow->most, flow->rate);
    flow->uses = (uint16_t)ker_chunk_below(c, flow->uses, NODE_FLOW_USES + 1);
    for (uint32_t i = 0; i < flow->uses; i++) {
        flow->use[i].resource = (uint16_t)ker_chunk_below(c, flow->use[i].resource, resources);
        KER_CHUNK(c, flow->use[i].times);
    }
}

static void message_state(struct node_system *system, struct node_load *load, struct ker_chunk *c)
{
    struct node_delayed d = {0};
    if (!c->loads)
        d = system->delayed.at[load->message];
    node_delayed_state(c, &d);
    c->bad |= node_receiver_of(d.service) != load->service;
    if (!c->loads || c->bad)
        return;
    load->message = KER_POOL_TAKE(&system->delayed, NULL);
    system->delayed.at[load->message] = d;
}

static void load_state(const struct node *n, struct node_load *load, struct ker_chunk *c)
{
    struct node_system *system = n->system;
    KER_CHUNK(c, load->number);
    load->kind = (uint8_t)ker_chunk_below(c, load->kind, NODE_LOAD_WORK + 1);
    KER_CHUNK(c, load->compute, load->own, load->system);
    c->bad |= load->own < 0 || load->system < 0 || load->own > load->compute - load->system;
    KER_CHUNK(c, load->stalled, load->away, load->preempted);
    load->core = ker_chunk_below(c, load->core, node_structure_of(n)->units);
    load->service = (uint8_t)ker_chunk_below(c, load->service, system->services->count);
    KER_CHUNK(c, load->speed, load->left, load->needs);
    load->home = ker_chunk_below(c, load->home, node_structure_of(n)->units);
    load->goes = ker_chunk_bool(c, load->goes);
    load->waits = ker_chunk_bool(c, load->waits);
    load->spins = ker_chunk_bool(c, load->spins);
    KER_CHUNK(c, load->turn, load->from, load->began, load->until);
    flow_state(&load->flow, system->memory->resources, c);
    if (load->kind <= NODE_LOAD_LOOP && !c->bad)
        message_state(system, load, c);
    else if (load->kind != NODE_LOAD_WORK)
        load->message = ker_chunk_below(c, load->message, node_structure_of(n)->adapters);
    c->bad |= load->left && !load->speed;
    c->bad |= load->flow.left && !load->flow.rate && load->goes;
}

static uint32_t loads_count(const struct node *n)
{
    uint32_t count = 0;
    for (uint32_t i = node_cores(n)->first; i != KER_NONE; i = n->system->memory->loads.at[i].next)
        count++;
    return count;
}

/* Of series. Where there were none they begin with what has been done so far. */
static void last_state(const struct node *n, struct ker_chunk *c)
{
    const struct node_cores *cores = node_cores(n);
    struct node_last *last = cores->last;
    uint32_t units = node_structure_of(n)->units, resources = n->system->memory->resources;
    bool there = ker_chunk_bool(c, last != NULL);
    for (uint32_t i = 0; there && i < units && !c->bad; i++) {
        struct node_unit unit = last ? last->unit[i] : (struct node_unit){0};
        KER_CHUNK(c, unit);
        if (last)
            last->unit[i] = unit;
    }
    for (uint32_t i = 0; there && i < resources && !c->bad; i++) {
        node_bytes moved = last ? last->moved[i] : 0;
        KER_CHUNK(c, moved);
        if (last)
            last->moved[i] = moved;
    }
    if (there || !last || !c->loads)
        return;
    memcpy(last->unit, cores->unit, units * sizeof *last->unit);
    memcpy(last->moved, cores->moved, resources * sizeof *last->moved);
}

void node_cores_state(struct node *n, struct ker_chunk *c)
{
    struct node_memory *memory = n->system->memory;
    struct node_cores *cores = node_cores(n);
    ker_assert(!cores->changed);
    KER_CHUNK(c, cores->since, cores->armed, cores->copies);
    ker_chunk_same(c, node_structure_of(n)->units);
    for (uint32_t i = 0; i < node_structure_of(n)->units && !c->bad; i++)
        KER_CHUNK(c, cores->unit[i]);
    ker_chunk_same(c, memory->resources);
    for (uint32_t i = 0; i < memory->resources && !c->bad; i++)
        KER_CHUNK(c, cores->moved[i]);
    if (n->system->noise)
        node_away_state(n, c);
    last_state(n, c);
    ker_chunk_same(c, cores->slot != NULL);
    if (cores->slot)
        node_slices_state(n, c);
    uint32_t at = cores->first, last = KER_NONE;
    uint32_t count = ker_chunk_count(c, c->loads ? 0 : loads_count(n), 60);
    for (; count && !c->bad; count--) {
        struct node_load load = {0};
        if (!c->loads)
            load = memory->loads.at[at];
        load_state(n, &load, c);
        if (!c->loads) {
            at = load.next;
            continue;
        }
        load.next = KER_NONE;
        uint32_t index = KER_POOL_TAKE(&memory->loads, NULL);
        memory->loads.at[index] = load;
        *(last == KER_NONE ? &cores->first : &memory->loads.at[last].next) = index;
        last = index;
    }
}
