/* jobs.h - the jobs of a run and where their tasks are placed. */
#pragma once

#include "traces/traces.h"

#include "nodes/nodes.h"

struct task_place {
    uint32_t node;
    uint16_t core; /* a processing unit (nodes/structure.h) */
};

struct task_job {
    const char *name;
    const struct task_program_class *class;
    struct task_program *program;
    uint32_t tasks;
    bool background;         /* the run does not wait for it */
    bool restart;            /* background: starts again when done, so that there is always traffic */
    bool counts_calls;       /* for calls.csv */
    bool timed;              /* task_program_class.at is called */
    bool schedule;           /* in GOAL, under LogGOPS: the MPI model does not run it */
    uint8_t priority;        /* class of its messages */
    double processor_factor; /* compute time is multiplied by it; 0: infinitely fast */
    bool special;            /* one of these, or node_rates.system: */
    ker_time compute_jitter; /* each computation takes up to this much longer */
    bool moves, counted;     /* computations move something in memory; so much as their trace counted */
    uint64_t memory_rate;    /* otherwise this many bytes per second, on the traced machine */
    double memory_factor;    /* what they move is multiplied by it; 0: nothing */
    struct task_factors {
        uint32_t task; /* from this one up to the next entry's */
        double processor, memory;
    } * factors; /* of all tasks, if some differ from the job; else NULL */
    uint32_t runs;
    ker_time start;              /* on the simulated clock: earlier by what has been skipped (run.skip) */
    bool held;                   /* it is released at a check time, not by a timer */
    uint32_t *after, afters;     /* jobs that have to end before it starts */
    uint64_t repetitions;        /* how often its program is run */
    struct task_steps *repeated; /* run.skip: the repetitions are its steps; NULL: its program's are */
    uint32_t *service; /* numbers of the services that its tasks call (task_program_class.service) */
};

/* Steps of which a run may skip some; NULL: none are known. */
static inline struct task_steps *task_job_steps(const struct task_job *job)
{
    return job->repeated ? job->repeated : job->class->steps ? job->class->steps(job->program) : NULL;
}

/* What stands for a task, where there are factors. */
const struct task_factors *task_factors_find(const struct task_job *, uint32_t task);
static inline double task_processor_factor(const struct task_job *job, uint32_t task)
{
    return job->factors ? task_factors_find(job, task)->processor : job->processor_factor;
}

struct task_jobs; /* all jobs; read on every rank alike */

/* With network.model = "loggops" each task is a node for the MPI model (task_jobs_node, task_jobs_at),
 * numbered through all jobs; task_jobs_place says where it is placed, where there are hosts: those of the
 * topology, which may be NULL, or loggops.nodes. kinds: of the hosts, which stay the caller's; NULL: they are
 * read here. Collective. All ranks return the worst status of any for what only some can find (files); the
 * text is in the error of those ranks only, to be agreed on with ker_comm_agree. */
enum ker_status task_jobs_new(struct task_jobs **, const struct ker_config *,
                              const struct route_topology *topology, const struct node_kinds *kinds,
                              struct ker_comm *, uint64_t seed, struct ker_error *);
/* Collective: a run begins again with them, of the same configuration. What was read of traces stays. */
enum ker_status task_jobs_again(struct task_jobs *, const struct ker_config *, struct ker_comm *,
                                struct ker_error *);
void task_jobs_free(struct task_jobs *);
/* Finds the services that the jobs' tasks call, on every rank alike; services: NULL, there are none. */
enum ker_status task_jobs_services(struct task_jobs *, const struct ker_config *,
                                   const struct node_service_list *services, struct ker_error *);
bool task_jobs_call_services(const struct task_jobs *);
uint32_t task_jobs_count(const struct task_jobs *);
uint32_t task_jobs_programs(const struct task_jobs *); /* those that the MPI model runs: all but schedules */
void task_jobs_earlier(struct task_jobs *,
                       ker_time by); /* starts of those held; of those that have begun nobody asks */
const struct task_job *task_jobs_get(const struct task_jobs *, uint32_t job);
/* Its name: of columns of tables whose context is the struct task_jobs. */
const char *task_jobs_text(const void *jobs, uint32_t job);
bool task_jobs_each(const struct task_jobs *);                    /* each task is a node */
uint32_t task_jobs_hosts(const struct task_jobs *);               /* 0: tasks are placed nowhere */
uint32_t task_jobs_first(const struct task_jobs *, uint32_t job); /* tasks of the jobs before it */
/* One job in closed form costs no memory; otherwise 16 bytes a task. The node alone is cheap in any case. */
uint32_t task_jobs_node(const struct task_jobs *, uint32_t job, uint32_t task);
struct task_place task_jobs_place(const struct task_jobs *, uint32_t job, uint32_t task);
/* The tasks on a node, at most `room`, ordered by (job, task); returns how many there are. */
struct task_seat {
    uint32_t node, core, job, task;
};
uint32_t task_jobs_at(const struct task_jobs *, uint32_t node, struct task_seat *, uint32_t room);

extern const struct ker_option task_job_options[]; /* jobs[].*, but for the programs' own keys */
