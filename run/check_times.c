/* check_times.c - what is done while the engine runs, at times at which all ranks are.
 *
 * No window crosses a check time, so that everything before it has been handled and nothing later. First the
 * rows of the table act, in their order, each at the multiples of its interval; then the end conditions are
 * looked at (ends.c). All ranks that simulate come here, and must decide alike: by sums over them.
 */
#include "run/stages.h"

#include <stdlib.h>

static const struct action {
    const char *name;
    ker_time (*interval)(const struct run *); /* 0: not in this run */
    void (*act)(struct run *, ker_time at);   /* NULL: only ends are looked for */
    bool quiet;                               /* also when nothing has happened since the last one */
} actions[] = {
    {"periods", run_periods_interval, run_periods_add, true},
    {"batches", run_batches_interval, run_batches_add, true},
    {"skip", run_skip_interval, run_skip_look}, /* it may have jobs begin earlier */
    {"jobs", run_after_interval, run_after_look},
    {"ends", run_ends_interval},
    {"checkpoints", run_checkpoints_interval}, /* behind the ends: a run that ends here needs none */
};
#define ACTIONS (sizeof actions / sizeof *actions)

_Static_assert(ACTIONS <= KER_CHECK_INTERVALS, "the engine has room for the interval of each");

/* The source queues are looked at when 100, 200, 400, ... ns have been measured, whenever the run ends (a
 * fork may move that), and at the end of what is measured. */
static void looks_set(struct run *run)
{
    if (!run->network || task_system_load(run->tasks) <= 0)
        return;
    uint32_t count = 0;
    for (ker_time span = 100 * KER_NS; span < 2 * KER_S && count < RUN_LOOKS - 1; span *= 2)
        run->looks[count++] = run->warmup + span;
    if (run->measure_to < KER_TIME_MAX)
        run->looks[count++] = run->measure_to;
    run->look_count = count;
}

static void sources_look(struct run *run, ker_time at)
{
    for (uint32_t i = 0; i < run->look_count && at <= run->measure_to; i++)
        if (run->looks[i] == at)
            task_system_look(run->tasks, at);
}

static bool check(void *context, ker_time at)
{
    struct run *run = context;
    sources_look(run, at);
    for (size_t i = 0; i < ACTIONS; i++) {
        ker_time interval = actions[i].interval(run);
        if (actions[i].act && interval && at % interval == 0)
            actions[i].act(run, at);
    }
    if (run_ends_look(run, at))
        return true;
    if (run_checkpoints_due(run, at))
        run_checkpoint_write(run, at);
    return false;
}

/* Signals that ask for the end of the run, for a checkpoint, or for a word on how it is; ranks that lose. */
static bool requested(void *context, unsigned bits, ker_time at)
{
    struct run *run = context;
    unsigned end = bits & ~(unsigned)(KER_REQUEST_CHECKPOINT | KER_REQUEST_STATUS | KER_REQUEST_ALONE);
    if (bits & KER_REQUEST_STATUS)
        run_status_tell(run, at);
    if (bits & KER_REQUEST_CHECKPOINT || (end && run_checkpoints_wanted(run)))
        run_checkpoint_write(run, at);
    run->moved = !end && bits & KER_REQUEST_ALONE && run_checkpoint_move(run, at);
    run->interrupted |= end;
    return end != 0 || run->moved;
}

void run_check_times_set(struct run *run, struct ker_engine_setup *setup)
{
    for (size_t i = 0; i < ACTIONS; i++) {
        setup->check_interval[i] = actions[i].interval(run);
        setup->check_every[i] = actions[i].quiet;
    }
    looks_set(run);
    run_checkpoints_times(run, setup);
    setup->check = check;
    setup->request_interval = run->interval;
    setup->requested = requested;
}
