/* options.c - the keys of jobs, and which programs there are. */
#include "tasks/jobs/jobs.h"

#include "tasks/graphs/graphs.h"
#include "tasks/jobs/placement.h"

/* The table of programs: one line each. */
#define PROGRAMS(KIND)                                                                                       \
    KIND(task_program_collective)                                                                            \
    KIND(task_program_leanmd)                                                                                \
    KIND(task_program_pingpong)                                                                              \
    KIND(task_program_schedule)                                                                              \
    KIND(task_program_stencil)                                                                               \
    KIND(task_program_trace)                                                                                 \
    KIND(task_program_weather)
KER_KINDS_TABLE(program_kinds, PROGRAMS);
static const struct ker_kinds programs = {"jobs[].program", "programs", sizeof(struct task_program_class),
                                          program_kinds};

const struct ker_option task_job_options[] = {
    {.key = "jobs[].name",
     .type = KER_TYPE_STRING,
     .fallback = "",
     .meaning = "For messages and results; default job0, job1, ..."},
    {.key = "jobs[].program",
     .type = KER_TYPE_CHOICE,
     .kinds = &programs,
     .meaning = "What the tasks do: a collective again and again, one message to and fro, a generated halo "
                "exchange, the replay of a "
                "trace, what a "
                "weather model sends, a pattern of messages and dependencies, or molecular dynamics with "
                "message-driven objects."},
    {.key = "jobs[].enabled",
     .type = KER_TYPE_BOOL,
     .fallback = "true",
     .meaning =
         "false: the run is as if the job were not there; the others keep their names. On the command line: "
         "jobs[NAME].enabled=false, jobs[*].enabled=false."},
    {.key = "jobs[].tasks",
     .type = KER_TYPE_INT,
     .minimum = "1",
     .meaning =
         "pingpong: number of tasks, an even one; default 2. collective: likewise, any. leanmd: number of "
         "cores; default one for each "
         "cell. Other programs say how many there are: here it is a check, and any other number is refused."},
    {.key = "jobs[].placement",
     .type = KER_TYPE_CHOICE,
     .fallback = "sequential",
     .kinds = &task_placements,
     .meaning =
         "Which free nodes the tasks take (of the job's range, if it has one), or a file that names them.",
     .belongs = "network.model=@nodes or loggops.nodes or topology.kind"},
    {.key = "jobs[].hosts",
     .type = KER_TYPE_FILE,
     .meaning = "In the place of jobs[].placement: the job's nodes in their order by the machine's names for "
                "them, as Slurm prints a list, \"lrdn[0024-0031,0064]\"; or a file of such names or lists, "
                "one a line. Each takes jobs[].tasks_per_node tasks. Names are those of topology.file, or of "
                "node.hosts.",
     .belongs = "network.model=@nodes or loggops.nodes or topology.kind"},
    {.key = "node.hosts",
     .type = KER_TYPE_FILE,
     .meaning = "What nodes are called, for jobs[].hosts: a file of lines HOSTS NODE, as in "
                "\"n[001-004] 0\", which are the nodes 0 to 3; # begins a comment.",
     .belongs = "jobs"},
    {.key = "jobs[].background",
     .type = KER_TYPE_BOOL,
     .fallback = "false",
     .meaning = "The run does not wait for this job: it is over when all others are done."},
    {.key = "jobs[].restart",
     .type = KER_TYPE_BOOL,
     .fallback = "false",
     .meaning = "A background job starts again when it is done, so that there is always traffic.",
     .belongs = "jobs[].background=true"},
    {.key = "jobs[].priority",
     .type = KER_TYPE_INT,
     .fallback = "0",
     .minimum = "0",
     .maximum = "15",
     .meaning = "Priority class of the job's messages (switch.classes); a higher class is served first.",
     .belongs = "network.model=@nodes"},
    {.key = "jobs[].start",
     .type = KER_TYPE_TIME,
     .fallback = "0 ns",
     .maximum = "1000000 s",
     .meaning = "When the job starts."},
    {.key = "jobs[].after",
     .type = KER_TYPE_STRING | KER_TYPE_LIST,
     .fallback = "",
     .meaning = "Names of jobs: this one starts when all of them have ended, at the next multiple of "
                "run.check_interval, and not before jobs[].start. Its nodes are its own from the beginning."},
    {.key = "jobs[].repetitions",
     .type = KER_TYPE_INT,
     .fallback = "1",
     .minimum = "1",
     .maximum = "1000000000",
     .meaning =
         "How often its tasks run their program: each begins again when it is at the end, without waiting "
         "for the others."},
    {.key = "jobs[].processor_factor",
     .type = KER_TYPE_REAL,
     .fallback = "1",
     .minimum = "0",
     .meaning = "Computation takes this many times as long as on the traced machine; 0: no time at all, but "
                "for jobs[].memory_factor.",
     .belongs = "jobs[].program=@computes"},
    {.key = "jobs[].compute_jitter",
     .type = KER_TYPE_TIME,
     .fallback = "0 ns",
     .maximum = "1000 s",
     .meaning = "Each computation takes longer by a time drawn uniformly from 0 to this, from run.seed: of a "
                "generator those of every step, even if compute_time is 0; of a trace those that took at "
                "least this time.",
     .belongs = "jobs[].program=@computes"},
    {.key = "jobs[].memory_bandwidth",
     .type = KER_TYPE_RATE,
     .fallback = "0 B/s",
     .meaning = "What a task's computation draws from memory when it is alone: of a time T on the traced "
                "machine it moves T times this, and takes longer when its share of the node's memory "
                "(node.controller_bandwidth, node.core_bandwidth) is less than it needs.",
     .belongs = "jobs[].program=@computes & node.controller_bandwidth or node.core_bandwidth"},
    {.key = "jobs[].memory_factor",
     .type = KER_TYPE_REAL,
     .minimum = "0",
     .meaning =
         "The memory part of computations (jobs[].memory_bandwidth, memory_counters) moves this many "
         "times as much as "
         "on the traced machine, and takes this many times as long at the same rate; 0: there is none. "
         "Default 1; with jobs[].processor_factor = 0 it is 0.",
     .belongs = "jobs[].program=@computes & jobs[].memory_bandwidth or jobs[].memory_counters"},
    {.key = "jobs[].task_factors[].tasks",
     .type = KER_TYPE_STRING,
     .meaning =
         "Tasks of the job that differ from it: numbers and ranges, \"0-15,32,40-60:4\" (each 4th from "
         "40 to 60).",
     .belongs = "jobs[].program=@computes"},
    {.key = "jobs[].task_factors[].processor_factor",
     .type = KER_TYPE_REAL,
     .minimum = "0",
     .meaning = "In the place of jobs[].processor_factor for these tasks.",
     .belongs = "jobs[].program=@computes"},
    {.key = "jobs[].task_factors[].memory_factor",
     .type = KER_TYPE_REAL,
     .minimum = "0",
     .meaning = "In the place of jobs[].memory_factor for these tasks.",
     .belongs = "jobs[].program=@computes & jobs[].memory_bandwidth or jobs[].memory_counters"},
    {.key = NULL},
};
