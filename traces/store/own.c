/* own.c - where the program of an own task reads: see own.h. */
#include "traces/store/own.h"

#include <stdlib.h>
#include <string.h>

static struct trace_program *base_of(const struct task_program *program)
{
    return (struct trace_program *)(uintptr_t)program; /* its beginning */
}

struct trace_own *trace_program_of(const struct task_program *program, uint32_t number)
{
    const struct trace_program *p = base_of(program);
    return number < p->own_count ? &p->own[number] : p->further[number - p->own_count];
}

/* ---- own tasks ---- */

void trace_program_room(struct trace_program *p, uint32_t count)
{
    p->own = ker_alloc((count + 1ull) * sizeof *p->own);
    p->own_count = count;
}

void trace_own_others(struct trace_own *own, uint32_t others)
{
    own->others = others;
    own->other = others ? ker_alloc(others * sizeof *own->other) : NULL;
}

static void reader_begin(struct trace_own *own, struct trace_task *held, const int32_t *comm)
{
    own->held = held;
    own->reader.code = &held->code;
    own->reader.comm = comm;
    own->reader.start = own->start;
    own->reader.repeats = true; /* a background job starts again, too */
    trace_reader_seek(&own->reader, own->start, 0);
}

void trace_program_begin(struct trace_program *p, uint32_t number)
{
    struct trace_own *own = &p->own[number];
    own->task = number;
    own->further = p->own_count + p->further_count;
    const int32_t *comm = p->store.form.events ? (const int32_t *)(const void *)own->held->note : NULL;
    reader_begin(own, own->held, comm);
    for (uint32_t i = 0; i < own->others; i++) {
        own->other[i].task = number;
        reader_begin(&own->other[i], own->held, comm);
        *KER_APPEND(p->further, p->further_count) = &own->other[i];
    }
}

void trace_program_leave(struct trace_program *p)
{
    trace_repeat_release(&p->repeat);
    for (uint32_t i = 0; i < p->own_count; i++) {
        for (uint32_t j = 0; j < p->own[i].others; j++)
            trace_reader_release(&p->own[i].other[j].reader);
        free(p->own[i].other);
        trace_reader_release(&p->own[i].reader);
    }
    free(p->own);
    free(p->further);
    p->own = NULL;
    p->further = NULL;
    p->own_count = p->further_count = 0;
}

void trace_program_release(struct trace_program *p)
{
    trace_program_leave(p);
    trace_tasks_release(&p->held);
    trace_store_release(&p->store);
}

/* ---- struct task_program_class ---- */

uint32_t trace_program_tasks(const struct task_program *program)
{
    return base_of(program)->tasks;
}

const struct task_comm *trace_program_comms(const struct task_program *program, int32_t *count)
{
    *count = base_of(program)->comms;
    return base_of(program)->comm;
}

bool trace_program_next(struct task_program *program, uint32_t number, struct task_op *op)
{
    struct trace_own *own = trace_program_of(program, number);
    own->before = trace_reader_position(&own->reader);
    own->before_line = own->reader.line;
    return trace_reader_next(&own->reader, op);
}

ker_time trace_program_computes(const struct task_program *program, uint32_t number)
{
    return trace_reader_computes(&trace_program_of(program, number)->reader);
}

bool trace_program_done(const struct task_program *program, uint32_t number, uint64_t *so_far, uint64_t *all)
{
    const struct trace_program *p = base_of(program);
    if (number >= p->own_count)
        return false;
    *so_far = p->own[number].before;
    *all = p->own[number].held->code.total;
    return true;
}

/* The trace is the same, so the operations are. */
void trace_program_position(struct task_program *program, uint32_t number, struct ker_chunk *c)
{
    struct trace_program *p = base_of(program);
    struct trace_own *own = trace_program_of(program, number);
    uint64_t before = ker_chunk_u64(c, own->before);
    ker_chunk_same(c, own->held->code.total);
    KER_CHUNK(c, own->before_line);
    c->bad |= before > own->held->code.total;
    if (!c->loads || c->bad)
        return;
    own->before = before;
    trace_reader_seek(&own->reader, before, own->before_line);
    if (number < p->repeat.tasks)
        trace_repeat_moved(&p->repeat, number, before);
}

void trace_program_find_steps(struct task_program *program, const double *factor, struct ker_comm *comm)
{
    struct trace_program *p = base_of(program);
    struct trace_repeat *r = trace_repeat_new(&p->repeat, p->own_count);
    for (uint32_t i = 0; i < p->own_count; i++) {
        const struct trace_own *own = &p->own[i];
        r->task[i].task = own->held->task;
        r->task[i].code = &own->held->code;
        r->task[i].total = own->others ? 0 : own->held->code.total;
        r->task[i].comm = own->reader.comm;
    }
    trace_repeat_find(r, p->comm, p->tasks, factor, comm);
    char *file = r->why_line && p->file ? p->file(program, r->why_task) : NULL;
    size_t length = strlen(r->why);
    if (file)
        snprintf(r->why + length, sizeof r->why - length, ": %s:%u", file, r->why_line);
    free(file);
}

int64_t *trace_program_ideal(struct task_program *program, const struct task_gap *gap, uint32_t gaps,
                             uint32_t last, struct ker_comm *comm)
{
    return trace_repeat_ideal(&base_of(program)->repeat, gap, gaps, last, comm);
}

struct task_steps *trace_program_steps(struct task_program *program)
{
    return &base_of(program)->repeat.steps;
}

void trace_program_at(struct task_program *program, uint32_t number, ker_time now)
{
    struct trace_program *p = base_of(program);
    if (number >= p->repeat.tasks)
        return;
    struct trace_reader *reader = &p->own[number].reader;
    const struct trace_place *to = trace_repeat_at(&p->repeat, number, trace_reader_position(reader), now);
    if (to)
        trace_reader_seek(reader, to->at, to->line);
}

uint32_t trace_program_streams(const struct task_program *program, uint32_t number, uint32_t *further)
{
    *further = base_of(program)->own[number].further;
    return base_of(program)->own[number].others + 1;
}

bool trace_program_call_of(const struct task_program *program, uint32_t number, uint32_t index,
                           struct task_call *call)
{
    return trace_called_get(&base_of(program)->own[number].held->code.called, index, call);
}

struct task_taken trace_program_taken(const struct task_program *program, uint32_t number)
{
    return base_of(program)->own[number].held->taken;
}
