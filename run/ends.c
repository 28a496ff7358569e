/* ends.c - why a run ends: one table of conditions.
 *
 * Some are looked for at check times, by sums over all ranks, in the order of the table: the first that holds
 * ends the run. The others the engine finds by itself. A run that has drained is looked at once more: with
 * jobs it ended because they are done, and with work left nobody can continue with, it has deadlocked.
 */
#include "run/stages.h"

#include <stdlib.h>

/* With more jobs a deadlock is looked for at every 2nd, 3rd, ... check time only. */
#define JOBS_PER_CHECK 64

/* ---- conditions at check times: 0, or how often they are looked for ---- */

static ker_time packets_interval(const struct run *run)
{
    return ker_config_has(run->config, "run.packets") ? run->interval : 0;
}

static ker_time jobs_interval(const struct run *run)
{
    return run->watch ? run->interval : 0;
}

static bool packets_enough(struct run *run, ker_time at)
{
    uint64_t delivered = run_totals(run).packets_delivered;
    ker_comm_sum_u64(run->working, &delivered, 1);
    return delivered >= (uint64_t)ker_config_int(run->config, "run.packets");
}

static bool jobs_done(struct run *run, ker_time at)
{
    uint64_t unfinished = task_system_unfinished(run->tasks);
    if (run->kind->unfinished)
        unfinished += run->kind->unfinished(run);
    ker_comm_sum_u64(run->working, &unfinished, 1);
    return unfinished == 0;
}

static bool jobs_stuck(struct run *run, ker_time at)
{
    if (at / run->interval % (1 + task_system_jobs(run->tasks) / JOBS_PER_CHECK) == 0) {
        run->stuck = task_system_stuck(run->tasks, run->working);
        run->halted = run->kind->halted ? run->kind->halted(run) : 0;
    }
    return run->stuck > 0 || run->halted > 0;
}

static const struct condition {
    const char *reason; /* end_reason in the results */
    /* It is looked for at the multiples of this; 0: not in this run. NULL: the engine finds it. */
    ker_time (*interval)(const struct run *);
    bool (*holds)(struct run *, ker_time at);
} conditions[] = {
    [RUN_END_CONFIDENCE] = {"confidence", run_batches_interval, run_batches_tight},
    [RUN_END_PACKETS] = {"packets", packets_interval, packets_enough},
    [RUN_END_JOBS] = {"jobs done", jobs_interval, jobs_done},
    [RUN_END_DEADLOCK] = {"deadlock", jobs_interval, jobs_stuck},
    [RUN_END_TIME] = {"end time"},
    [RUN_END_DRAINED] = {"drained"},
    [RUN_END_INTERRUPTED] = {"interrupted"},
    [RUN_END_MEMORY] = {"out of memory"},
};
#define CONDITIONS (sizeof conditions / sizeof *conditions)

ker_time run_ends_interval(const struct run *run)
{
    ker_time jobs = jobs_interval(run);
    return jobs ? jobs : packets_interval(run);
}

bool run_ends_look(struct run *run, ker_time at)
{
    for (size_t i = 0; i < CONDITIONS; i++) {
        const struct condition *c = &conditions[i];
        ker_time interval = c->interval ? c->interval(run) : 0;
        if (interval && at % interval == 0 && c->holds(run, at)) {
            run->ended_by = (enum run_end)i;
            return true;
        }
    }
    return false;
}

const char *run_end_reason(const struct run *run)
{
    return conditions[run->ended_by].reason;
}

/* ---- what is found when the engine has stopped ---- */

/* Foreground jobs that were found to have deadlocked at a check time. */
static void stuck_report(struct run *run)
{
    char *table = task_system_waiting(run->tasks, run->comm);
    ker_fail(&run->error, KER_RUN_FAILED,
             "%lld job%s deadlocked: these tasks wait for messages or partners that never come\n%s",
             (long long)run->stuck, run->stuck == 1 ? " has" : "s have", table ? table : "");
    free(table);
}

/* A run that drained with work left has deadlocked: says who waits for whom. Returns whether packets were
 * lost. */
static bool deadlock_check(struct run *run)
{
    struct net_totals t = run_totals(run);
    if (task_system_jobs(run->tasks) > 0)
        task_system_end_aborted(run->tasks, run->comm);
    uint64_t v[] = {
        task_system_unfinished(run->tasks),
        /* above LogGOPS no message is lost: which operations are left is reported with the jobs */
        run->loggops ? 0 : t.packets_injected - t.packets_delivered - t.packets_lost + t.cnps_under_way,
        t.packets_lost + t.packets_withheld, t.packets_dropped};
    ker_comm_sum_u64(run->comm, v, 4);
    if (v[0] == 0 && v[1] == 0)
        return v[2] > 0;
    char lost[128] = "";
    if (v[2])
        snprintf(lost, sizeof lost, " (%llu packet%s lost by %s)", (unsigned long long)v[2],
                 v[2] == 1 ? " was" : "s were",
                 v[3] == v[2] ? "waiting too long in switches"
                 : v[3]       ? "faults or by waiting too long in switches"
                              : "faults");
    run->ended_by = RUN_END_DEADLOCK;
    char *table = v[0] ? task_system_waiting(run->tasks, run->comm) : NULL;
    if (v[1])
        ker_fail(&run->error, KER_RUN_FAILED, "the network has deadlocked: %llu packets cannot move on",
                 (unsigned long long)v[1]);
    else
        ker_fail(&run->error, KER_RUN_FAILED, "%llu %s%s for messages or partners that never come%s\n%s",
                 (unsigned long long)v[0], task_system_waiter(run->tasks), v[0] == 1 ? " waits" : "s wait",
                 lost, table ? table : "");
    free(table);
    return v[2] > 0;
}

static void drained_check(struct run *run)
{
    if (task_system_jobs(run->tasks) > 0)
        run->ended_by = RUN_END_JOBS; /* what schedules have left over is found behind that */
    bool lost = deadlock_check(run);
    if (run->error.status != KER_OK)
        return;
    const char *wrong = run->kind->conserved ? run->kind->conserved(run, lost) : NULL;
    ker_assert(wrong == NULL);
    wrong = lost ? NULL : task_system_conserved(run->tasks, run->comm);
    ker_assert(wrong == NULL);
}

void run_ends_settle(struct run *run, enum ker_end found)
{
    static const enum run_end by_engine[] = {[KER_END_DRAINED] = RUN_END_DRAINED,
                                             [KER_END_TIME] = RUN_END_TIME,
                                             [KER_END_REQUEST] = RUN_END_INTERRUPTED,
                                             [KER_END_MEMORY] = RUN_END_MEMORY};
    if (found != KER_END_CHECK)
        run->ended_by = by_engine[found];
    int64_t known[] = {run->ended_by, run->ended_at, run->stuck, (int64_t)run->interrupted, run->halted};
    ker_comm_broadcast(run->comm, known, sizeof known); /* to those who slept */
    run->ended_by = (enum run_end)known[0];
    run->ended_at = known[1];
    run->stuck = known[2];
    run->interrupted = (unsigned)known[3];
    run->halted = known[4];
    if (run->stuck)
        stuck_report(run);
    if (run->ended_by == RUN_END_DRAINED)
        drained_check(run);
}
