/* waits.c - the waits of each task, divided by what they were due to (cause.c), and summed by function.
 *
 * What makes a blocked stream ready is kept until it continues, which it does in the same instant: so no
 * cause is ever saved.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>
#include <string.h>

bool task_waits_wanted(const struct ker_config *config)
{
    const char *key = "output.waits"; /* a configuration for tests may be without output */
    return ker_config_means_key(config, key) && ker_config_bool(config, key);
}

void task_waits_reserve(struct task_mpi *mpi, uint32_t tasks)
{
    if (mpi->waits)
        mpi->waited = ker_alloc(tasks * sizeof *mpi->waited);
}

void task_mpi_waits_bytes(uint64_t *task, uint64_t *function, uint64_t *octave, uint64_t *request)
{
    *task = sizeof(struct task_waited) + sizeof(struct task_cause);
    *function = sizeof(struct task_waited_in);
    *octave = sizeof(struct task_rate);
    *request = sizeof(struct task_note);
}

void task_waits_release(struct task_mpi *mpi)
{
    for (uint32_t i = 0; mpi->waited && i < mpi->tasks; i++) {
        free(mpi->waited[i].in);
        free(mpi->waited[i].cause);
        free(mpi->waited[i].rate);
    }
    free(mpi->waited);
}

static struct task_waited *waited_of(const struct task_mpi *mpi, const struct task_state *task)
{
    return &mpi->waited[task_index(mpi, task)];
}

static struct task_waited_in *waited_in(struct task_waited *w, const char *function)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (w->in[i].function == function)
            return &w->in[i];
    struct task_waited_in *in = KER_PUSH(w->in, w->count, w->room);
    *in = (struct task_waited_in){.function = function};
    return in;
}

/* ---- causes ---- */

static struct task_cause *cause_of(const struct task_mpi *mpi, const struct task_state *task)
{
    struct task_waited *w = waited_of(mpi, task);
    uint32_t stream = task_stream_current(task), streams = task_stream_count(task);
    if (w->causes < streams) {
        w->cause = ker_realloc(w->cause, streams * sizeof *w->cause);
        for (; w->causes < streams; w->causes++)
            w->cause[w->causes] = (struct task_cause){.late = TASK_PART_OTHER};
    }
    return &w->cause[stream];
}

void task_waits_keep(struct task_mpi *mpi, const struct task_state *task)
{
    struct task_cause *cause = cause_of(mpi, task);
    *cause = mpi->cause;
    if (task->streams && !cause->hop.kind)
        cause->hop = (struct task_hop){.from = task->streams->runs, .kind = TASK_HOP_STREAM};
}

void task_waits_run(struct task_mpi *mpi, const struct task_state *task)
{
    struct task_cause *run = &waited_of(mpi, task)->run;
    *run = mpi->cause;
    run->arrived = false;
}

void task_waits_run_on(struct task_mpi *mpi, const struct task_state *task, ker_time now)
{
    const struct task_cause *run = &waited_of(mpi, task)->run;
    if (run->at == now && now > 0)
        mpi->cause = *run;
}

/* What has ended the wait of the current stream just now: of a stream that is woken to continue with a
 * collective, what has made that continue. */
static const struct task_cause *cause_known(const struct task_mpi *mpi, const struct task_state *task,
                                            ker_time end)
{
    const struct task_cause *cause = cause_of(mpi, task), *run = &waited_of(mpi, task)->run;
    if (cause->hop.kind == TASK_HOP_STREAM || (cause->hop.kind && cause->at == end))
        return cause;
    return run->hop.kind && run->at == end ? run : NULL;
}

/* What it waited for other tasks. */
static uint64_t late_of(const struct task_parts *parts)
{
    return parts->part[TASK_PART_LATE_SENDER] + parts->part[TASK_PART_LATE_RECEIVER] +
           parts->part[TASK_PART_LATE_PARTICIPANTS];
}

void task_waits_add(struct task_mpi *mpi, const struct task_state *task, ker_time begin, ker_time end)
{
    struct task_cause *cause = cause_of(mpi, task);
    if (mpi->path)
        task_path_wait(mpi, task, cause_known(mpi, task, end), task->blocked_since, end);
    if (end > begin) {
        struct task_parts *parts = &waited_in(waited_of(mpi, task), task_calls_function(&task->op))->parts;
        uint64_t before = late_of(parts);
        task_cause_divide(cause, begin, end, parts);
        if (task->calls)
            task->calls->late += (ker_time)(late_of(parts) - before);
    }
    *cause = (struct task_cause){.late = TASK_PART_OTHER};
}

void task_waits_mainly(const struct task_mpi *mpi, const struct task_state *task, struct stats_wait *wait)
{
    const struct task_cause *cause = cause_of(mpi, task);
    const struct task_hop *hop = &cause->hop;
    struct task_parts parts = {0};
    int most = 0;
    task_cause_divide(cause, wait->begin, wait->end, &parts);
    for (int i = 1; i < TASK_PARTS; i++)
        most = parts.part[i] > parts.part[most] ? i : most;
    if (most == TASK_PART_OTHER)
        return;
    wait->cause = (uint32_t)most + 1;
    if (hop->kind && hop->kind != TASK_HOP_STREAM)
        wait->task = (hop->left ? hop->to : hop->from) + 1;
}

void task_waits_skew(struct task_mpi *mpi, const struct task_state *task,
                     const struct task_collective_run *run)
{
    struct task_waited_in *in = waited_in(waited_of(mpi, task), task_calls_function(&task->op));
    ker_time skew = run->entered - run->began;
    in->skew += skew;
    in->skew_most = skew > in->skew_most ? skew : in->skew_most;
}

/* ---- messages ---- */

static struct task_rate *rate_of(struct task_waited *w, uint32_t class)
{
    uint32_t at = 0;
    while (at < w->rates && w->rate[at].class < class)
        at++;
    if (at < w->rates && w->rate[at].class == class)
        return &w->rate[at];
    KER_RESERVE(w->rate, w->rate_room, (size_t)w->rates + 1);
    memmove(w->rate + at + 1, w->rate + at, (w->rates - at) * sizeof *w->rate);
    w->rates++;
    w->rate[at] = (struct task_rate){.class = class};
    return &w->rate[at];
}

void task_waits_rate(struct task_mpi *mpi, const struct task_state *task, uint64_t bytes, ker_time time)
{
    struct task_rate *rate = rate_of(waited_of(mpi, task), bytes ? 64 - (uint32_t)__builtin_clzll(bytes) : 0);
    rate->messages++;
    rate->bytes += bytes;
    rate->time += (uint64_t)time;
}

/* ---- sums ---- */

static int function_compare(const void *a, const void *b)
{
    const char *x = ((const struct task_waited_in *)a)->function,
               *y = ((const struct task_waited_in *)b)->function;
    return strcmp(x ? x : "", y ? y : "");
}

void task_waits_join(struct task_waited_in *to, const struct task_waited_in *from)
{
    to->parts.waits += from->parts.waits;
    for (int i = 0; i < TASK_PARTS; i++)
        to->parts.part[i] += from->parts.part[i];
    to->skew += from->skew;
    to->skew_most = from->skew_most > to->skew_most ? from->skew_most : to->skew_most;
}

/* What its streams are blocked in. */
static void open_add(struct task_waited *w, struct task_state *task, ker_time end)
{
    uint32_t current = task_stream_current(task);
    for (uint32_t i = 0; i < task_stream_count(task); i++) {
        task_stream_select(task, i);
        if (!task->blocked || end <= task->blocked_since || task_op_begins(&task->op))
            continue;
        struct task_parts *parts = &waited_in(w, task_calls_function(&task->op))->parts;
        parts->waits++;
        parts->part[TASK_PART_OTHER] += (uint64_t)(end - task->blocked_since);
    }
    task_stream_select(task, current);
}

/* The sums of the task stay as they are. */
struct task_waited_in *task_waits_sorted(struct task_mpi *mpi, struct task_state *task, ker_time end,
                                         uint32_t *count)
{
    struct task_waited copy = *waited_of(mpi, task);
    copy.in = ker_alloc((copy.count + (size_t)1) * sizeof *copy.in);
    copy.room = copy.count;
    if (copy.count)
        memcpy(copy.in, waited_of(mpi, task)->in, copy.count * sizeof *copy.in);
    if (end)
        open_add(&copy, task, end);
    struct task_waited_in *all = copy.in;
    uint32_t n = copy.count, joined = 0;
    if (n)
        qsort(all, n, sizeof *all, function_compare);
    for (uint32_t i = 0; i < n; i++)
        if (joined && function_compare(&all[joined - 1], &all[i]) == 0)
            task_waits_join(&all[joined - 1], &all[i]);
        else
            all[joined++] = all[i];
    *count = joined;
    return all;
}

/* ---- saved state ---- */

static void waited_state(struct task_mpi *mpi, struct task_state *task, struct task_waited_in one,
                         struct ker_chunk *c)
{
    one.function = task_function_state(mpi, one.function, c);
    KER_CHUNK(c, one.parts, one.skew, one.skew_most);
    if (c->loads && !c->bad)
        task_waits_join(waited_in(waited_of(mpi, task), one.function), &one);
}

void task_waits_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    uint32_t count = 0;
    struct task_waited_in *sorted = c->loads ? NULL : task_waits_sorted(mpi, task, 0, &count);
    count = ker_chunk_count(c, count, sizeof(struct task_parts));
    for (uint32_t i = 0; i < count && !c->bad; i++)
        waited_state(mpi, task, sorted ? sorted[i] : (struct task_waited_in){0}, c);
    free(sorted);
    struct task_waited *w = waited_of(mpi, task);
    count = ker_chunk_count(c, w->rates, sizeof *w->rate);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct task_rate one = {0};
        if (!c->loads)
            one = w->rate[i];
        KER_CHUNK(c, one);
        c->bad |= one.class > 64;
        if (c->loads && !c->bad)
            *rate_of(w, one.class) = one;
    }
    if (mpi->path && !c->bad)
        task_path_state(mpi, task, c);
}
