/* skip.h - inside run/: what skipping knows of the jobs (skip.c, skip_plan.c, skip_report.c).
 *
 * Jobs that skip do so together, in phases: a phase ends where one of them does, since those that are left
 * have the network to themselves then. A phase has windows of steps that are simulated, with steps that are
 * skipped between them. All of it is the same on every rank, but for the records of steps, which each rank
 * has of its own tasks.
 */
#pragma once

#include "run/stages.h"

#define RUN_WINDOWS 96 /* of all phases, at most */

/* Of a job. Steps that are simulated are numbered without gaps. */
struct run_skip_job {
    uint32_t job, tasks;
    uint32_t steps, period;        /* of struct task_steps */
    ker_time start;                /* of the whole run */
    bool pending;                  /* it has not ended its first step */
    bool ended;                    /* all its steps are simulated or skipped */
    uint32_t piece;                /* periods that are seen together */
    uint32_t awaited;              /* the number of the step whose end by all tasks is looked for */
    uint32_t begun;                /* the latest step that any task has begun, at the last look */
    uint32_t number[RUN_WINDOWS];  /* of a window's first step */
    uint32_t skipped[RUN_WINDOWS]; /* steps, before that window */
};

/* Plain values: broadcast, saved. */
struct run_skip_state {
    uint32_t jobs;
    uint32_t windows;            /* begun */
    uint32_t phase[RUN_WINDOWS]; /* of each; they count from 0 */
    ker_time skipped;          /* the whole run's time is the simulated one and this, by the means of then */
    ker_time gap[RUN_WINDOWS]; /* of that, before each window */
    uint32_t marked;           /* windows whose gaps rows of periods have */
    uint32_t passed;           /* of the set times */
    bool over;                 /* no step will be skipped any more */
    bool forked;               /* the run has been forked since the last look */
    bool last;                 /* the phase that begins with the fork is simulated in full */
    uint32_t spans;            /* windows of this phase */
    char why[320];             /* nothing, or no more, was skipped because ...; empty: as planned */
};

/* When the first steps of a job that are simulated ended, in ps: in the last task. */
struct run_skip_ends {
    uint32_t count; /* that all its tasks have ended */
    int64_t *last;  /* malloc'ed */
    int64_t *known; /* of traces, else NULL: when they begin over an ideal network; malloc'ed */
};

/* Of a job's time and steps, in the end. */
struct run_skip_estimate {
    double time, half; /* ps: of what was skipped, and how wrong it may be */
    uint32_t steps,
        simulated;    /* until the run has ended: of the job, and those of them that were simulated */
    uint32_t windows; /* of all phases in which some were skipped */
    struct stats_steady steady; /* of the last of these phases */
};

#define RUN_KINDS 16 /* of steps, by what they and those before them do */
struct run_skip_kinds {
    const struct task_steps *steps;
    uint32_t kinds; /* 0: periods count as a whole */
    uint32_t pair[RUN_KINDS];
    double share[RUN_KINDS]; /* of all steps */
};
/* Of those that count, by kind, in ps. */
struct run_skip_means {
    uint32_t count[RUN_KINDS];
    double mean[RUN_KINDS], half[RUN_KINDS]; /* half of the mean's interval */
    double all;                              /* of the means, by their shares */
};

struct run_skip {
    double precision, level;
    uint32_t windows;
    ker_time recurs; /* as long as this pieces are at least */
    uint32_t first;  /* steps that are not counted in any case */
    struct run_skip_state state;
    struct run_skip_job *job;
    const struct task_steps **known; /* of each; NULL: nothing is known of its steps */
    struct run_skip_kinds *kinds;
    ker_time *set; /* of the whole run, in order: when something else happens; none is in what is skipped */
    uint32_t sets;
    ker_time interval; /* of looks */
    ker_time settled;  /* the last of those that are on the simulated clock: nothing is skipped before */
    const struct task_jobs *jobs; /* their names */
    bool changed;                 /* by a fork: steps take other times from it on */

    /* when the run has ended; of each of the jobs */
    struct run_skip_ends *ends;
    struct run_skip_estimate *estimate;
    struct stats_growth growth; /* by all jobs of the run */
};

/* Collective over comm; i: which of the jobs; over: the run is. */
struct run_skip_ends run_skip_ends(const struct run *, struct ker_comm *, uint32_t i, bool over);
void run_skip_ends_release(struct run_skip_ends *, uint32_t jobs);

/* Does a job have steps now? */
static inline bool run_skip_runs(const struct run_skip_job *job)
{
    return !job->ended && !job->pending;
}

/* Steps that were skipped before a window. A run that ends early may not have come to them. */
static inline uint32_t run_skip_before(const struct run_skip *skip, uint32_t i, uint32_t window)
{
    const struct run_skip_job *job = &skip->job[i];
    return job->number[window] <= skip->ends[i].count ? job->skipped[window] : 0;
}

/* skip_kinds.c */
void run_skip_kinds_make(struct run_skip_kinds *, const struct task_steps *);
uint32_t run_skip_kind(const struct run_skip_kinds *, uint32_t step);
/* Values of these kinds become those of the mean one. */
void run_skip_kinds_take(const struct run_skip_kinds *, double level, struct stats_windows *,
                         const uint8_t *kind, struct run_skip_means *);
/* In the end: by how much longer than as many mean ones the steps take that were skipped in these windows, by
 * their kinds; values: that counted. What that makes the interval wider is added to half of it. */
double run_skip_kinds_add(const struct run_skip *, uint32_t i, uint32_t from, uint32_t to, double skipped,
                          double values, const struct run_skip_means *, double *half);
/* How many steps before this one, at most so many, the kind is that has counted most seldom. */
uint32_t run_skip_kinds_align(const struct run_skip_kinds *, const struct run_skip_means *, uint32_t step,
                              uint32_t most);

/* skip_clock.c */
void run_skip_sets_make(struct run *);
enum run_skip_due { RUN_SKIP_NOTHING, RUN_SKIP_RENEW, RUN_SKIP_PLAN };
/* What is to be done at a look; ended: by job, all its tasks have ended the step that is awaited. */
enum run_skip_due run_skip_due(struct run_skip *, const struct run *, ker_time at, const bool *ended);
/* Says what run.end, given with a fork, is on the clock of all steps. */
void run_skip_end_warn(const struct run *);
/* From this time of the whole run on nothing may be skipped but behind what happens there. */
ker_time run_skip_bound(const struct run_skip *);

/* Steps that are simulated at least. */
uint64_t run_skip_least(const struct run_skip *, const struct run_skip_job *);
/* skip_plan.c: nothing, or no more, is skipped, because ... */
void __attribute__((format(printf, 2, 3))) run_skip_refuse(struct run_skip_state *, const char *format, ...);
/* The first steps to be awaited. */
void run_skip_begin(struct run_skip *);
/* All steps that were awaited have ended, or all begins anew. On one rank: fills in what is to be awaited
 * next, and adds a window where steps are skipped before it. */
void run_skip_plan(struct run_skip *, const struct run_skip_ends *, ker_time at, bool anew);

/* Of a phase of job i: the times of its steps that count, in ps, those of a period together, as if all took
 * the mean of the job's over an ideal network. Windows are cut into pieces of this many. To be released. */
struct stats_windows run_skip_seen(const struct run_skip *, uint32_t i, uint32_t phase, uint32_t piece,
                                   const struct run_skip_ends *, struct run_skip_means *);
void run_skip_seen_release(struct stats_windows *);
/* Half of the interval of their mean by the means of whole windows, and how many have some. */
double run_skip_apart(const struct run_skip *, uint32_t i, uint32_t phase, const struct run_skip_ends *,
                      uint32_t *windows);
