/* cores.c - the loads of a node: they start, share its cores and memory, and end.
 *
 * When an instant in which a part of a load has started or ended is over, all loads are moved on to it,
 * speeds and rates are found again, and a timer is set for the next end of a part, unless an earlier one is
 * set: timers cannot be cancelled, and one that comes too early finds nothing. Invariant: when an instant is
 * over no load of the node has ended, and a timer is set for the first part that will end, or before.
 */
#include "nodes/private.h"

#include <stdlib.h>
#include <string.h>

/* ---- set-up ---- */

static void capacities_set(const struct node_memory *memory, struct ker_shared *resource,
                           const struct node_rates *rates)
{
    for (uint32_t i = 0; i < memory->resources; i++)
        resource[i].capacity = i < memory->domains ? rates->controller
                               : i < memory->buses ? rates->socket
                                                   : rates->bus;
}

struct node_memory *node_memory_new(const struct node_model *model)
{
    struct node_memory *memory = ker_alloc(sizeof *memory);
    memory->loads.free = KER_NONE;
    uint32_t sockets = 0, buses = 0;
    for (uint32_t k = 0; k < node_kinds_count(model->kinds); k++) {
        const struct node_structure *s = &node_kinds_get(model->kinds, k)->structure;
        memory->domains = s->domains > memory->domains ? s->domains : memory->domains;
        sockets = s->sockets > sockets ? s->sockets : sockets;
        buses = s->buses > buses ? s->buses : buses;
    }
    memory->buses = memory->domains + (sockets > 1 ? 2 * sockets : 0);
    memory->resources = memory->buses + (model->rates.bus == UINT64_MAX ? 0 : 2 * buses);
    uint32_t kinds = node_kinds_count(model->kinds);
    memory->resource = ker_alloc((size_t)kinds * memory->resources * sizeof *memory->resource);
    for (uint32_t k = 0; k < kinds; k++)
        capacities_set(memory, &memory->resource[(size_t)k * memory->resources],
                       &node_kinds_get(model->kinds, k)->rates);
    return memory;
}

static struct ker_shared *resources_of(const struct node *n)
{
    const struct node_memory *memory = n->system->memory;
    return &memory->resource[(size_t)node_kinds_of(n->system->model.kinds, n->id) * memory->resources];
}

uint64_t node_capacity(const struct node *n, uint32_t resource)
{
    return resources_of(n)[resource].capacity;
}

void node_memory_free(struct node_memory *memory)
{
    if (!memory)
        return;
    KER_POOL_RELEASE(&memory->loads);
    node_cores_copy_free(memory->copy);
    free(memory->resource);
    free(memory->flow);
    free(memory);
}

void node_cores_attach(struct node *n)
{
    struct node_cores *c = ker_alloc(sizeof *c + n->system->memory->resources * sizeof *c->moved);
    c->busy = ker_alloc(node_structure_of(n)->cores * sizeof *c->busy);
    c->unit = ker_alloc(node_structure_of(n)->units * sizeof *c->unit);
    if (n->system->noise)
        c->noise = ker_alloc(node_structure_of(n)->cores * sizeof *c->noise);
    if (n->system->model.tasks > node_structure_of(n)->units)
        c->slot = ker_alloc(node_structure_of(n)->units * sizeof *c->slot);
    if (n->system->model.series) {
        c->last = ker_alloc(sizeof *c->last + n->system->memory->resources * sizeof *c->last->moved);
        c->last->unit = ker_alloc(node_structure_of(n)->units * sizeof *c->last->unit);
    }
    c->first = KER_NONE;
    c->armed = KER_TIME_MAX;
    n->state[n->system->services->count] = c;
}

void node_cores_release(struct node *n)
{
    struct node_cores *c = node_cores(n);
    if (!c)
        return;
    KER_FREE(c->busy, c->unit, c->noise, c->slot);
    if (c->last)
        free(c->last->unit);
    free(c->last);
    free(c);
}

/* ---- loads ---- */

static struct node_load *load_at(const struct node *n, uint32_t index)
{
    return node_load_at(n->system->memory, index);
}

void node_load_start(struct node *n, struct node_load *load)
{
    struct node_cores *c = node_cores(n);
    uint64_t compute = (uint64_t)load->compute;
    load->left = (unsigned __int128)compute * NODE_SPEED;
    load->until = compute ? KER_TIME_MAX : load->until > load->began ? load->until : load->began;
    node_bytes needs = compute ? (load->flow.left + compute - 1) / compute : UINT64_MAX;
    load->needs = needs < UINT64_MAX ? (uint64_t)needs : UINT64_MAX;
    load->goes |= load->kind != NODE_LOAD_WORK;
    load->next = c->first;
    uint32_t index = KER_POOL_TAKE(&n->system->memory->loads, NULL);
    *load_at(n, index) = *load;
    c->first = index;
    c->changed = true;
}

/* ---- time continues ---- */

static void busy_count(struct node_cores *c, struct node_unit *unit, ker_time now)
{
    if (unit->counted < now)
        unit->busy += now - c->since;
    unit->counted = now;
}

/* What the unit has done in so much time until `now`, of which its core was away for some; parts end only at
 * the end of it. */
static void unit_count(struct node_cores *c, struct node_load *load, ker_time time, ker_time away,
                       ker_time now)
{
    struct node_unit *unit = &c->unit[load->core];
    if (load->kind != NODE_LOAD_WORK) {
        if (load->kind <= NODE_LOAD_COPY)
            unit->copying += time;
        return;
    }
    unit->away += away;
    load->away += away;
    if (load->left) {
        unit->computing += time - away;
    } else {
        unit->stalled += time - away;
        load->stalled += time - away;
    }
    busy_count(c, unit, now);
}

/* How much of the time until `now` its core has been away. */
static ker_time away_time(const struct node *n, const struct node_cores *c, const struct node_load *load,
                          ker_time now)
{
    if (__builtin_expect(!n->system->noise, 1))
        return 0;
    if (load->left)
        return node_away_time(n, load->core, now);
    return load->until > c->since ? ker_time_min(load->until, now) - c->since : 0;
}

static void load_advance(const struct node *n, struct node_cores *c, struct node_load *load, ker_time now)
{
    if (load->began == now)
        return;
    if (__builtin_expect(load->spins, 0)) {
        if (load->goes) {
            c->unit[load->core].spinning += now - c->since;
            busy_count(c, &c->unit[load->core], now);
        }
        return;
    }
    ker_assert(load->began <= c->since); /* rates were found when it began */
    if (!load->goes) {
        c->unit[load->home].preempted += now - c->since;
        load->preempted += now - c->since;
        return;
    }
    ker_time time = now - c->since, away = away_time(n, c, load, now);
    unsigned __int128 done = (unsigned __int128)load->speed * (uint64_t)(time - away);
    unit_count(c, load, time, away, now);
    if (load->left) {
        load->left -= done < load->left ? done : load->left;
        if (!load->left) {
            load->until = n->system->noise ? node_away_until(n, load->core, now, 0) : now;
            c->changed = true;
        }
    }
    if (!load->flow.left)
        return;
    node_bytes moved = node_flow_advance(&load->flow, time);
    for (uint32_t i = 0; i < load->flow.uses; i++)
        c->moved[load->flow.use[i].resource] += moved * load->flow.use[i].times;
    c->changed |= !load->flow.left;
}

static void advance(struct node *n, struct node_cores *c, ker_time now)
{
    if (now > c->since)
        for (uint32_t i = c->first; i != KER_NONE; i = load_at(n, i)->next)
            load_advance(n, c, load_at(n, i), now);
    c->since = now;
}

/* ---- work begins ---- */

/* Takes out what spins in its place; false: nothing does. */
static bool spin_take(struct node *n, const struct node_load *load, struct node_load *spun)
{
    for (uint32_t *link = &node_cores(n)->first; *link != KER_NONE; link = &load_at(n, *link)->next) {
        uint32_t index = *link;
        *spun = *load_at(n, index);
        if (!spun->spins || spun->service != load->service || spun->number != load->number)
            continue;
        *link = spun->next;
        KER_POOL_GIVE(&n->system->memory->loads, index);
        return true;
    }
    return false;
}

static bool slice_begin(struct node *n, ker_time now, struct node_load *load)
{
    struct node_load spun;
    if (!n->system->model.spins)
        return node_slice_begin(n, now, load, NULL);
    advance(n, node_cores(n), now); /* what has spun until now */
    return node_slice_begin(n, now, load, spin_take(n, load, &spun) ? &spun : NULL);
}

bool node_work(struct node *n, ker_time now, uint32_t service, uint32_t number, const struct node_work *work)
{
    struct node_load load = {.number = number,
                             .core = work->core,
                             .kind = NODE_LOAD_WORK,
                             .service = (uint8_t)service,
                             .compute = work->compute,
                             .own = work->own,
                             .system = work->system,
                             .began = now,
                             .left = (unsigned __int128)work->compute,
                             .home = work->core,
                             .goes = true,
                             .flow = {.left = work->memory}};
    node_flow_through(&load.flow, node_unit_domain(node_structure_of(n), work->core), 1);
    if (node_cores(n)->slot)
        load.goes = slice_begin(n, now, &load);
    if (load.goes) {
        load.until = n->system->noise ? node_away_until(n, load.core, now, 0) : now;
        if (!work->compute && !work->memory && load.until == now)
            return true;
    }
    node_load_start(n, &load);
    return false;
}

/* ---- what changes ---- */

/* What takes a thread of its core. */
static bool computes(const struct node_load *load)
{
    return load->left && load->kind == NODE_LOAD_WORK && load->goes;
}

/* The speeds of all compute parts: by how many there are on each core. */
static void speeds(struct node *n, struct node_cores *c)
{
    const struct node_structure *s = node_structure_of(n);
    for (uint32_t i = c->first; i != KER_NONE; i = load_at(n, i)->next)
        c->busy[s->unit_core[load_at(n, i)->core]] = 0;
    for (uint32_t i = c->first; i != KER_NONE; i = load_at(n, i)->next)
        c->busy[s->unit_core[load_at(n, i)->core]] += computes(load_at(n, i));
    for (uint32_t i = c->first; i != KER_NONE; i = load_at(n, i)->next) {
        struct node_load *load = load_at(n, i);
        uint32_t core = s->unit_core[load->core], threads = s->core[core].threads, busy = c->busy[core];
        load->speed = NODE_SPEED;
        if (computes(load))
            load->speed = node_thread_speed(s, core, busy < threads ? busy : threads);
    }
}

/* What a flow has at most: what keeps up with the compute part. */
static uint64_t rate_most(const struct node_rates *rates, const struct node_load *load)
{
    uint64_t most = load->kind == NODE_LOAD_WORK ? rates->core : UINT64_MAX;
    node_bytes needed = (node_bytes)load->needs * load->speed;
    needed = (needed + NODE_SPEED - 1) / NODE_SPEED;
    return needed < most ? (uint64_t)needed : most;
}

static void rates(struct node *n, const struct node_cores *c)
{
    struct node_memory *memory = n->system->memory;
    const struct node_rates *own = node_model_rates(&n->system->model, n->id);
    uint32_t flows = 0;
    for (uint32_t i = c->first; i != KER_NONE; i = load_at(n, i)->next) {
        struct node_flow *flow = &load_at(n, i)->flow;
        if (!load_at(n, i)->goes)
            flow->rate = 0;
        if (!flow->left || !load_at(n, i)->goes)
            continue;
        flow->most = rate_most(own, load_at(n, i));
        KER_RESERVE(memory->flow, memory->flows, flows + (size_t)1);
        memory->flow[flows++] = flow;
    }
    node_flows_share(memory->flow, flows, resources_of(n), memory->resources);
}

/* When its compute part ends, or before. */
static ker_time compute_end(const struct node *n, const struct node_cores *c, const struct node_load *load)
{
    const ker_time latest = 9000000 * KER_S; /* behind any run's end */
    unsigned __int128 compute = (load->left + load->speed - 1) / load->speed;
    ker_time time = compute < (unsigned __int128)latest ? (ker_time)compute : latest;
    if (__builtin_expect(!n->system->noise, 1))
        return ker_time_later(c->since, time);
    return node_away_until(n, load->core, c->since, time);
}

/* When the first part ends. */
static ker_time next_end(const struct node *n, const struct node_cores *c)
{
    ker_time first = KER_TIME_MAX;
    for (uint32_t i = c->first; i != KER_NONE; i = load_at(n, i)->next) {
        const struct node_load *load = load_at(n, i);
        if (!load->goes)
            continue;
        if (load->left)
            first = ker_time_min(first, compute_end(n, c, load));
        else if (load->until > c->since)
            first = ker_time_min(first, load->until);
        if (load->flow.left)
            first = ker_time_min(first, ker_time_later(c->since, node_flow_takes(&load->flow)));
    }
    return first;
}

/* Units whose owners have no more work, but wait for something, continue for them. */
static void spins_begin(struct node *n, ker_time now)
{
    for (uint32_t unit = 0; unit < node_structure_of(n)->units; unit++) {
        const struct node_owner *o = &node_cores(n)->slot[unit].owner;
        const struct node_service *service = n->system->services->at[o->service].service;
        if (node_slice_idle(n, unit) && service->waits && service->waits(n->state[o->service], o->number))
            node_load_start(n, &(struct node_load){.number = o->number,
                                                   .service = o->service,
                                                   .kind = NODE_LOAD_WORK,
                                                   .core = unit,
                                                   .home = unit,
                                                   .began = now,
                                                   .until = KER_TIME_MAX,
                                                   .from = node_cores(n)->slot[unit].from,
                                                   .goes = true,
                                                   .spins = true});
    }
}

void node_cores_act(struct node *n, ker_time now)
{
    struct node_cores *c = node_cores(n);
    if (!c)
        return;
    if (__builtin_expect(c->slot != NULL, 0)) {
        advance(n, c, now);
        if (n->system->model.spins)
            spins_begin(n, now);
        c->changed |= node_slices_schedule(n, now);
    }
    if (!c->changed && c->armed != KER_TIME_MAX)
        return;
    advance(n, c, now);
    if (c->changed) {
        speeds(n, c);
        rates(n, c);
        c->changed = false;
    }
    ker_time next = next_end(n, c);
    if (__builtin_expect(c->slot != NULL, 0))
        next = ker_time_min(next, node_slices_next(n, now));
    if (next >= c->armed)
        return;
    c->armed = next;
    node_timer_post(n, next, NODE_TIMER_CORES, 0);
}

/* ---- ends ---- */

void node_cores_due(struct node *n, ker_time now)
{
    struct node_cores *c = node_cores(n);
    if (c->armed <= now)
        c->armed = KER_TIME_MAX;
    advance(n, c, now);
}

static bool before(const struct node_load *a, const struct node_load *b)
{
    bool works = a->kind == NODE_LOAD_WORK;
    if (works != (b->kind == NODE_LOAD_WORK))
        return !works;
    if (!works)
        return (int32_t)(a->number - b->number) < 0;
    return a->service != b->service ? a->service < b->service : a->number < b->number;
}

/* What of its compute part was in the system until then. */
static void system_count(struct node_cores *c, const struct node_load *load, ker_time now)
{
    ker_time taken = now - load->began - load->stalled - load->away - load->preempted;
    if (load->kind == NODE_LOAD_WORK && load->system)
        c->unit[load->home].system += node_worked_share(taken, load->own + load->system, load->compute) -
                                      node_worked_share(taken, load->own, load->compute);
}

bool node_load_take(struct node *n, ker_time now, struct node_load *load)
{
    struct node_cores *c = node_cores(n);
    uint32_t *first = NULL;
    for (uint32_t *link = &c->first; *link != KER_NONE; link = &load_at(n, *link)->next) {
        const struct node_load *one = load_at(n, *link);
        if (!one->left && !one->flow.left && one->until <= now && (!first || before(one, load_at(n, *first))))
            first = link;
    }
    if (!first)
        return false;
    uint32_t index = *first;
    *load = *load_at(n, index);
    system_count(c, load, now);
    *first = load->next;
    KER_POOL_GIVE(&n->system->memory->loads, index);
    return true;
}

const struct node_cores *node_cores_at(const struct node *n, ker_time at)
{
    const struct node_cores *c = node_cores(n);
    struct node_cores *copy = node_cores_copy(n);
    for (uint32_t i = c->first; at > c->since && i != KER_NONE; i = load_at(n, i)->next) {
        struct node_load load = *load_at(n, i);
        load_advance(n, copy, &load, at);
        system_count(copy, &load, at);
    }
    return copy;
}

static void cores_end(struct node *n, ker_time now)
{
    struct node_cores *c = node_cores(n);
    advance(n, c, now);
    for (uint32_t i = c->first; i != KER_NONE; i = load_at(n, i)->next)
        system_count(c, load_at(n, i), now);
}

/* ---- reports ---- */

struct node_worked node_load_result(const struct node_load *load)
{
    return (struct node_worked){.began = load->began,
                                .compute = load->compute,
                                .own = load->own,
                                .system = load->system,
                                .stalled = load->stalled,
                                .away = load->away,
                                .preempted = load->preempted};
}

bool node_work_result(const struct node *n, uint32_t service, uint32_t number, ker_time at,
                      struct node_worked *worked)
{
    const struct node_cores *c = node_cores(n);
    for (uint32_t i = c->first; i != KER_NONE; i = load_at(n, i)->next) {
        struct node_load load = *load_at(n, i);
        if (load.kind != NODE_LOAD_WORK || load.spins || load.service != service || load.number != number)
            continue;
        if (at > c->since)
            load_advance(n, node_cores_copy(n), &load, at);
        *worked = node_load_result(&load);
        return true;
    }
    return false;
}

void node_system_end(struct node_system *system, ker_time at)
{
    for (uint32_t i = 0; system && system->memory && i < system->nodes; i++)
        cores_end(node_of(system, i), at);
}
