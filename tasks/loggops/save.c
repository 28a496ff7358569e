/* save.c - processes, saved and loaded: cpus and adapters, what waits for them, operations and messages that
 * are left.
 *
 * A chunk "loggops" holds one process, by its global number, with the events that happen to it; of what is in
 * transit between processes the engine holds the rest. Events that are behind another one, for the same cpu
 * and adapter, are loaded as if they were in the queue at that one's time: then they are put back again.
 */
#include "tasks/loggops/model.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 8

/* ---- events ---- */

static bool has_held(unsigned kind)
{
    return kind == LOGGOPS_HAND || kind == LOGGOPS_COMES || kind == LOGGOPS_CAME;
}

static void held_state(struct loggops_system *s, struct loggops_event *e, struct ker_chunk *c)
{
    struct loggops_held held = {.bytes = 0};
    if (!c->loads)
        held = s->programs->held.at[e->op];
    KER_CHUNK(c, held.envelope, held.bytes, held.cookie, held.created, held.unhindered);
    if (!c->loads || c->bad)
        return;
    e->op = KER_POOL_TAKE(&s->programs->held, NULL);
    s->programs->held.at[e->op] = held;
}

/* Is what was read possible? */
static bool event_sound(const struct loggops_system *s, const struct loggops_process *p,
                        const struct loggops_event *e)
{
    bool of_program = e->kind >= LOGGOPS_START;
    if (e->kind > LOGGOPS_CAME || of_program != loggops_is_program(s, p) || e->cpu >= s->cpus ||
        e->nic >= s->nics || e->origin >= s->processes ||
        (e->kind == LOGGOPS_HAND && e->match >= s->processes))
        return false;
    if (e->kind != LOGGOPS_OPERATION)
        return !of_program || e->tag < 2 * LOGGOPS_NEEDS;
    uint64_t last = e->op + (uint64_t)e->step * e->more;
    return e->tag <= GRAPH_CALCULATION && last < loggops_ops(s, p);
}

static void event_state(struct loggops_system *s, const struct loggops_process *p, struct loggops_event *e,
                        struct ker_chunk *c)
{
    KER_CHUNK(c, e->time, e->cause, e->bytes, e->origin, e->number, e->tag, e->op, e->match, e->kind, e->cpu,
              e->nic);
    e->process = (uint32_t)(p - s->process);
    c->bad |= c->loads && !event_sound(s, p, e);
    if (!c->bad && has_held(e->kind))
        held_state(s, e, c);
}
#define EVENT_BYTES 40 /* at least */

static void event_save(struct loggops_system *s, const struct loggops_process *p, uint32_t index,
                       ker_time time, struct ker_chunk *c)
{
    struct loggops_event e = *loggops_event_at(s, index);
    e.time = time;
    event_state(s, p, &e, c);
}

/* KER_NONE: it cannot be. */
static uint32_t event_load(struct loggops_system *s, const struct loggops_process *p, struct ker_chunk *c)
{
    struct loggops_event e = {.time = 0};
    event_state(s, p, &e, c);
    if (c->bad)
        return KER_NONE;
    uint32_t index = KER_POOL_TAKE(&s->events, NULL);
    *loggops_event_at(s, index) = e;
    return index;
}

/* ---- what a process has, by the events that are in queues ---- */

struct waiting {
    ker_time time; /* at which it will be looked at */
    uint32_t event;
};
struct list {
    struct waiting *at;
    uint32_t count, room;
};

struct listing {
    struct loggops_system *system;
    const ker_time *time; /* NULL: of each its own */
    struct list *list;
};

static void listing_add(void *context, uint32_t index)
{
    const struct listing *l = context;
    ker_time time = l->time ? *l->time : loggops_event_at(l->system, index)->time;
    *KER_PUSH(l->list->at, l->list->count, l->list->room) = (struct waiting){time, index};
}

static void heap_list(struct loggops_system *s, uint32_t heap, const ker_time *time, struct list *list)
{
    loggops_queue_each(s, heap, listing_add, &(struct listing){s, time, list});
}

static void queues_list(struct loggops_system *s, struct list *list)
{
    for (uint32_t i = 0; i < s->count && (i == 0 || !s->together); i++)
        heap_list(s, s->group[i].queue, NULL, list);
    for (size_t i = 0; i < (size_t)s->count * s->resources; i++)
        if (s->blocked[i].first != KER_NONE)
            heap_list(s, s->blocked[i].rest, &loggops_event_at(s, s->blocked[i].first)->time, list);
}

/* ---- graphs ---- */

static void posted_state(struct loggops_system *s, struct loggops_process *p, struct ker_chunk *c)
{
    uint32_t count = 0, *list = c->loads ? NULL : loggops_match_left(s, p, false, &count);
    count = ker_chunk_count(c, count, sizeof(uint32_t));
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct graph_op room;
        uint32_t op = ker_chunk_u32(c, list ? s->posted.at[list[i]].op : 0);
        c->bad |= op >= loggops_ops(s, p);
        if (c->loads && !c->bad) /* there is no message yet */
            loggops_match_receive(s, p, op, loggops_op(s, p, op, &room));
    }
    free(list);
}

static void unexpected_state(struct loggops_system *s, struct loggops_process *p, struct ker_chunk *c)
{
    uint32_t receive, count = 0, *list = c->loads ? NULL : loggops_match_left(s, p, true, &count);
    count = ker_chunk_count(c, count, EVENT_BYTES);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        if (list) {
            event_save(s, p, list[i], loggops_event_at(s, list[i])->time, c);
            continue;
        }
        uint32_t event = event_load(s, p, c);
        c->bad |= event == KER_NONE || loggops_match_message(s, p, event, &receive);
    }
    free(list);
}

/* Of a pattern: how many dependencies of which operations are met. */
static void left_state(struct loggops_system *s, struct loggops_process *p, struct ker_chunk *c)
{
    uint32_t count = 0;
    for (uint32_t i = p->left; !c->loads && i != KER_NONE; i = s->left.at[i].next)
        count++;
    count = ker_chunk_count(c, count, 2 * sizeof(uint32_t));
    uint32_t at = p->left, last = KER_NONE;
    for (; count && !c->bad; count--) {
        struct loggops_left l = {.next = KER_NONE};
        if (!c->loads)
            l = s->left.at[at];
        at = l.next;
        KER_CHUNK(c, l.op, l.count);
        if (!c->loads || c->bad)
            continue;
        uint32_t index = KER_POOL_TAKE(&s->left, NULL);
        l.next = KER_NONE;
        s->left.at[index] = l;
        *(last == KER_NONE ? &p->left : &s->left.at[last].next) = index;
        last = index;
    }
}

static void graph_state(struct loggops_system *s, struct loggops_process *p, struct ker_chunk *c)
{
    ker_chunk_same(c, loggops_ops(s, p));
    KER_CHUNK(c, p->done);
    bool several = ker_chunk_bool(c, p->ready != NULL);
    for (uint32_t i = 0; p->task && i < p->task->ops && !c->bad; i++) {
        KER_CHUNK(c, p->task->op[i].before);
        ker_time ready = p->ready ? p->ready[i] : 0; /* one cpu: it is not needed */
        if (several)
            KER_CHUNK(c, ready);
        if (p->ready)
            p->ready[i] = ready;
    }
    if (!p->task)
        left_state(s, p, c);
    posted_state(s, p, c);
    unexpected_state(s, p, c);
}

/* ---- programs ---- */

static void own_state(struct loggops_system *s, struct loggops_member *m, struct ker_chunk *c)
{
    const struct loggops_process *p = &s->process[m->process];
    uint32_t count = 0, at = m->own.first;
    for (uint32_t i = at; !c->loads && i != KER_NONE; i = loggops_event_at(s, i)->next)
        count++;
    count = ker_chunk_count(c, count, EVENT_BYTES);
    for (; count && !c->bad; count--) {
        if (!c->loads) {
            event_save(s, p, at, loggops_event_at(s, at)->time, c);
            at = loggops_event_at(s, at)->next;
            continue;
        }
        uint32_t event = event_load(s, p, c);
        if (event == KER_NONE)
            return;
        loggops_event_at(s, event)->next = KER_NONE;
        *(m->own.first == KER_NONE ? &m->own.first : &loggops_event_at(s, m->own.last)->next) = event;
        m->own.last = event;
    }
}

static void program_state(struct loggops_system *s, struct loggops_process *p, struct ker_chunk *c)
{
    struct loggops_member *m = &s->programs->member[p - s->process];
    m->asks = ker_chunk_bool(c, m->asks);
    m->stepped = ker_chunk_bool(c, m->stepped);
    KER_CHUNK(c, m->read, m->messages, m->until);
    own_state(s, m, c);
    if (!c->bad)
        m->service->save(m->tasks, (struct node *)(void *)m, c);
}

/* ---- processes ---- */

/* A resumed run with more jobs may have more cpus and adapters. */
static void resources_state(struct loggops_system *s, struct loggops_process *p, struct ker_chunk *c,
                            uint32_t *cpus, uint32_t *nics)
{
    *cpus = ker_chunk_u32(c, s->cpus);
    *nics = ker_chunk_u32(c, s->nics);
    c->bad |= *cpus > s->cpus || *nics > s->nics;
    for (uint32_t i = 0; i < *cpus && !c->bad; i++)
        KER_CHUNK(c, *loggops_cpu(s, p, i));
    for (uint32_t i = 0; i < *nics && !c->bad; i++) {
        KER_CHUNK(c, *loggops_sending(s, p, i));
        KER_CHUNK(c, *loggops_receiving(s, p, i));
    }
}

/* events: those that happen to it; NULL when it is loaded. */
static void process_state(struct loggops_system *s, struct loggops_process *p, const struct waiting *events,
                          uint32_t count, struct ker_chunk *c)
{
    uint32_t cpus, nics;
    ker_chunk_same(c, s->together);
    resources_state(s, p, c, &cpus, &nics);
    KER_CHUNK(c, s->job[p->job].start, p->number);
    struct loggops_group *group = loggops_group_of(s, p);
    if (!s->together || p == s->process)
        KER_CHUNK(c, group->wake);
    if (loggops_is_program(s, p))
        program_state(s, p, c);
    else
        graph_state(s, p, c);
    if (ker_chunk_bool(c, s->records && !loggops_is_program(s, p))) {
        c->bad |= !s->records;
        if (!c->bad)
            loggops_record_state(s, p, cpus, nics, c);
    }
    count = ker_chunk_count(c, count, EVENT_BYTES);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        if (events) {
            event_save(s, p, events[i].event, events[i].time, c);
            continue;
        }
        uint32_t event = event_load(s, p, c);
        if (event != KER_NONE)
            loggops_queue_put(s, &group->queue, event);
    }
}

static void counts_state(struct loggops_system *s, struct ker_chunk *c)
{
    uint64_t *of[] = {&s->handled, &s->messages,  &s->came,      &s->bytes,    &s->latency,
                      &s->serial,  &s->unlike[0], &s->unlike[1], &s->unlike[2]};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        uint64_t value = ker_chunk_u64(c, *of[i]);
        *of[i] = c->loads ? *of[i] + value : value;
    }
    uint32_t jobs = ker_chunk_count(c, s->jobs, sizeof(uint64_t));
    c->bad |= jobs > s->jobs;
    for (uint32_t i = 0; i < jobs && !c->bad; i++) {
        uint64_t value = ker_chunk_u64(c, s->job[i].under_way);
        s->job[i].under_way = c->loads ? s->job[i].under_way + value : value;
    }
}

/* Events by process, those of each together: where each begins, malloc'ed. */
static uint32_t *events_order(struct loggops_system *s, struct list *list)
{
    uint32_t *first = ker_alloc((s->count + 2u) * sizeof *first), total = list->count;
    struct waiting *sorted = ker_alloc((total + 1u) * sizeof *sorted);
    for (uint32_t i = 0; i < total; i++)
        first[loggops_event_at(s, list->at[i].event)->process + 2]++;
    for (uint32_t i = 0; i < s->count; i++)
        first[i + 2] += first[i + 1];
    for (uint32_t i = 0; i < total; i++)
        sorted[first[loggops_event_at(s, list->at[i].event)->process + 1]++] = list->at[i];
    free(list->at);
    list->at = sorted;
    return first;
}

void task_loggops_save(struct loggops_system *s, struct ker_state_writer *writer)
{
    struct list list = {0};
    queues_list(s, &list);
    uint32_t *first = events_order(s, &list);
    for (uint32_t i = 0; i < s->count; i++) {
        struct ker_chunk *c = ker_state_begin(writer, "loggops", VERSION, s->first + i);
        process_state(s, &s->process[i], list.at + first[i], first[i + 1] - first[i], c);
        ker_state_end(writer);
    }
    counts_state(s, ker_state_begin(writer, "loggops_counts", VERSION, 0));
    ker_state_end(writer);
    free(first);
    free(list.at);
}

/* ---- loading ---- */

void task_loggops_restart(struct loggops_system *s)
{
    KER_POOL_RELEASE(&s->events);
    KER_POOL_RELEASE(&s->left);
    s->serial = 0; /* of those that are loaded */
    loggops_match_free(s);
    loggops_match_init(s);
    s->loaded = ker_alloc((s->count + 1u) * sizeof *s->loaded);
    for (uint32_t i = 0; i < s->count; i++) {
        if (i == 0 || !s->together)
            s->group[i] = (struct loggops_group){s, i, KER_NONE, KER_TIME_MAX};
        struct loggops_process *p = &s->process[i];
        p->left = KER_NONE;
        p->posted = p->unexpected = (struct loggops_list){.first = KER_NONE, .last = KER_NONE};
    }
    for (size_t i = 0; i < (size_t)s->count * s->resources; i++)
        s->blocked[i] = (struct loggops_blocked){KER_NONE, KER_NONE};
}

static void process_load(void *context, struct ker_chunk *c)
{
    struct loggops_system *s = context;
    if (c->id - s->first < s->count)
        s->loaded[c->id - s->first] = true, process_state(s, &s->process[c->id - s->first], NULL, 0, c);
    else
        c->at = c->bytes; /* lives elsewhere */
}

static void counts_load(void *context, struct ker_chunk *c)
{
    counts_state(context, c);
}

static void counts_pass(void *context, struct ker_chunk *c)
{
    (void)context;
    c->at = c->bytes;
}

void task_loggops_loaders(struct loggops_system *s, bool sums,
                          struct ker_state_loader loaders[LOGGOPS_STATES])
{
    loaders[0] = (struct ker_state_loader){"loggops", VERSION, process_load, s};
    loaders[1] = (struct ker_state_loader){"loggops_counts", VERSION, sums ? counts_load : counts_pass, s};
}

bool task_loggops_find(void *context, const char *class, uint32_t id, uint32_t *index)
{
    const struct loggops_system *s = context;
    if (strcmp(class, "process") != 0 || id >= s->processes)
        return false;
    struct ker_address at = loggops_address(s, id);
    *index = at.index;
    return at.rank == ker_engine_rank(s->engine) && s->count > 0;
}
