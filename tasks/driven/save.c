/* save.c - a node's cores, saved and loaded; and what is counted for jobs.
 *
 * The chunk of the node has its cores, each with what it knows of objects and what is open of these, in the
 * order of its lists, and its queue, in the order of turns. The chunk "driven" has sums of a rank: open and
 * unfinished of each job, and what is counted of entry methods; loaded, they are added.
 */
#include "tasks/driven/model.h"

#include <stdlib.h>

#define VERSION 4

/* ---- objects ---- */

static void open_state(struct driven_core *core, struct driven_record *r, struct ker_chunk *c,
                       struct driven_open *saved)
{
    struct driven_open o = saved ? *saved : (struct driven_open){0};
    o.block = ker_chunk_below(c, o.block, core->program->class->blocks(core->program, r->object));
    o.iteration = ker_chunk_below(c, o.iteration, core->program->iterations);
    KER_CHUNK(c, o.arrived, o.after, o.queued, o.run, o.bytes);
    if (!c->loads || c->bad)
        return;
    struct driven_open *to = driven_open_get(core, r, o.block, o.iteration);
    to->arrived = o.arrived;
    to->after = o.after;
    to->queued = o.queued;
    to->run = o.run;
    to->bytes = o.bytes;
}

static uint32_t opens_count(const struct driven_core *core, const struct driven_record *r)
{
    uint32_t count = 0;
    for (uint32_t i = r->open; i; i = driven_open_at(core->driven, i)->next)
        count++;
    return count;
}

static void record_state(struct driven_core *core, struct ker_chunk *c, struct driven_record *saved)
{
    struct driven_record r = saved ? *saved : (struct driven_record){0};
    r.object = ker_chunk_below(c, r.object, core->program->objects);
    r.state = (uint8_t)ker_chunk_below(c, r.state, DRIVEN_AWAY + 1);
    KER_CHUNK(c, r.moves);
    r.where = ker_chunk_below(c, r.where, core->program->tasks);
    r.iteration = ker_chunk_below(c, r.iteration, core->program->iterations + 1);
    KER_CHUNK(c, r.done);
    r.waits = ker_chunk_bool(c, r.waits);
    KER_CHUNK(c, r.load);
    uint32_t count = ker_chunk_count(c, saved ? opens_count(core, saved) : 0, 24), at = r.open;
    c->bad |= c->loads && driven_record_find(core, r.object) != NULL;
    if (c->bad)
        return;
    if (!saved) { /* loading */
        saved = driven_record_new(core, r.object, (enum driven_state)r.state);
        saved->moves = r.moves;
        saved->where = r.where;
        saved->iteration = r.iteration;
        saved->done = r.done;
        saved->waits = r.waits;
        saved->load = r.load;
        core->here += r.state == DRIVEN_HERE;
    }
    for (; count; count--) {
        struct driven_open *o = c->loads ? NULL : driven_open_at(core->driven, at);
        at = o ? o->next : 0;
        open_state(core, saved, c, o);
    }
}

/* Those that were placed at set-up are not those that are loaded. */
static void records_forget(struct driven_core *core)
{
    driven_job_of(core)->unfinished -= core->here;
    core->driven->unfinished -= core->job->background ? 0 : core->here;
    driven_records_drop(core);
}

static void records_state(struct driven_core *core, struct ker_chunk *c)
{
    uint32_t count = 0, at = core->first;
    for (uint32_t i = at; !c->loads && i; i = driven_record_at(core->driven, i)->next)
        count++;
    count = ker_chunk_count(c, count, 30);
    if (c->loads)
        records_forget(core);
    for (; count && !c->bad; count--) {
        struct driven_record *r = c->loads ? NULL : driven_record_at(core->driven, at);
        at = r ? r->next : 0;
        record_state(core, c, r);
    }
}

/* ---- the queue ---- */

static void ready_state(struct driven_core *core, struct ker_chunk *c, struct driven_ready *r)
{
    r->object = ker_chunk_below(c, r->object, core->program->objects);
    r->block = ker_chunk_below(c, r->block, core->program->class->blocks(core->program, r->object));
    r->iteration = ker_chunk_below(c, r->iteration, core->program->iterations);
    KER_CHUNK(c, r->priority, r->turn, r->since);
}

static void queue_state(struct driven_core *core, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, core->readies, 32);
    if (c->loads)
        core->readies = 0;
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct driven_ready ready = {0};
        if (!c->loads)
            ready = core->ready[i];
        ready_state(core, c, &ready);
        if (c->loads && !c->bad)
            driven_queue_put(core, &ready);
    }
}

/* ---- cores ---- */

static void sides_state(struct driven_sides *s, struct ker_chunk *c)
{
    KER_CHUNK(c, s->step, s->waiting);
    s->informed = ker_chunk_bool(c, s->informed);
    KER_CHUNK(c, s->own, s->coming);
    for (uint32_t i = 0; i < 4; i++) {
        s->heard[i / 2][i % 2] = ker_chunk_bool(c, s->heard[i / 2][i % 2]);
        s->counted[i / 2][i % 2] = ker_chunk_bool(c, s->counted[i / 2][i % 2]);
        KER_CHUNK(c, s->load[i / 2][i % 2]);
    }
}

static void running_state(struct driven_core *core, struct ker_chunk *c)
{
    core->asks = ker_chunk_bool(c, core->asks);
    core->runs = ker_chunk_bool(c, core->runs);
    if (!core->runs)
        return;
    ready_state(core, c, &core->now);
    if (c->loads && !c->bad)
        core->program->class->block(core->program, core->now.object, core->now.block, core->now.iteration,
                                    &core->block);
    core->sent = ker_chunk_below(c, core->sent, core->block.sends + 1);
    core->works = ker_chunk_bool(c, core->works);
    KER_CHUNK(c, core->leaving, core->paid, core->begun, core->before, core->length, core->had);
}

static void counts_state(struct driven_core *core, struct ker_chunk *c)
{
    KER_CHUNK(c, core->turns, core->jitters, core->most, core->line.until, core->line.calls,
              core->line.messages, core->begins, core->finish, core->busy, core->overhead, core->queued,
              core->blocks);
    KER_CHUNK(c, core->sent_messages, core->sent_bytes, core->received_messages, core->received_bytes,
              core->local, core->passed_on, core->came, core->went);
}

static void core_state(struct driven_core *core, struct ker_chunk *c)
{
    ker_chunk_same(c, core->job_number);
    ker_chunk_same(c, core->task);
    ker_chunk_same(c, core->program->objects);
    ker_chunk_same(c, core->sides != NULL);
    if (c->bad)
        return;
    core->started = ker_chunk_bool(c, core->started);
    records_state(core, c);
    queue_state(core, c);
    running_state(core, c);
    if (core->sides)
        sides_state(core->sides, c);
    counts_state(core, c);
}

void driven_node_save(void *state, struct node *node, struct ker_chunk *c)
{
    struct task_driven_node *n = state;
    n->net = node;
    ker_chunk_same(c, n->cores);
    for (uint32_t i = 0; i < n->cores && !c->bad; i++)
        core_state(&n->core[i], c);
}

/* ---- sums ---- */

static void sum_state(struct driven_sum *sum, struct ker_chunk *c)
{
    struct driven_sum s = *sum;
    KER_CHUNK(c, s.count, s.messages, s.time, s.queued, s.longest, s.queued_longest);
    if (!c->loads)
        return;
    sum->count += s.count;
    sum->messages += s.messages;
    sum->time += s.time;
    sum->queued += s.queued;
    sum->longest = s.longest > sum->longest ? s.longest : sum->longest;
    sum->queued_longest = s.queued_longest > sum->queued_longest ? s.queued_longest : sum->queued_longest;
}

static void sums_state(struct task_driven *d, struct ker_chunk *c)
{
    for (uint32_t i = 0; i < d->jobs && !c->bad; i++) {
        struct driven_job *job = &d->job[i];
        if (!job->program)
            continue;
        uint64_t open = ker_chunk_u64(c, (uint64_t)job->open), unfinished = ker_chunk_u64(c, job->unfinished);
        ker_chunk_same(c, job->program->entries);
        if (c->loads) {
            job->open += (int64_t)open;
            job->unfinished += unfinished;
            d->unfinished += job->job->background ? 0 : unfinished;
        }
        for (uint32_t e = 0; e < job->program->entries && !c->bad; e++)
            sum_state(&job->entry[e], c);
    }
}

void task_driven_save(struct task_driven *d, struct ker_state_writer *writer)
{
    if (!d)
        return;
    sums_state(d, ker_state_begin(writer, "driven", VERSION, 0));
    ker_state_end(writer);
}

static void sums_load(void *context, struct ker_chunk *c)
{
    if (context)
        sums_state(context, c);
    else
        c->bad = true;
}

static void sums_pass(void *context, struct ker_chunk *c)
{
    c->at = c->bytes;
}

void task_driven_loaders(struct task_driven *d, bool sums, struct ker_state_loader *loader)
{
    *loader = (struct ker_state_loader){"driven", VERSION, sums ? sums_load : sums_pass, d};
}
