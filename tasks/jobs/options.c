/* options.c - the keys of jobs, and which programs there are. */
#include "tasks/jobs/jobs.h"

#include "tasks/graphs/graphs.h"
#include "tasks/jobs/placement.h"

/* The table of programs: one line each. */
#define PROGRAMS(KIND)                                                                                       \
    KIND(task_program_collective)                                                                            \
    KIND(task_program_fft)                                                                                   \
    KIND(task_program_ior)                                                                                   \
    KIND(task_program_leanmd)                                                                                \
    KIND(task_program_pingpong)                                                                              \
    KIND(task_program_schedule)                                                                              \
    KIND(task_program_sparse)                                                                                \
    KIND(task_program_stencil)                                                                               \
    KIND(task_program_trace)                                                                                 \
    KIND(task_program_wavefront)                                                                             \
    KIND(task_program_weather)
KER_KINDS_TABLE(program_kinds, PROGRAMS);
static const struct ker_kinds programs = {"jobs[].program", "programs", sizeof(struct task_program_class),
                                          program_kinds};

const struct ker_option task_job_options[] = {
    {"jobs[].name", KER_TYPE_STRING, "", NULL, NULL, NULL,
     "For messages and results; default job0, job1, ..."},
    {"jobs[].program", KER_TYPE_CHOICE, NULL, NULL, NULL, NULL,
     "What the tasks do: a collective again and again, one message to and fro, a generated halo exchange, "
     "transforms of Fourier, sweeps of a wavefront, random messages, the replay of a trace, what a weather "
     "model "
     "sends, a pattern of messages and dependencies, or molecular dynamics with message-driven objects.",
     .kinds = &programs},
    {"jobs[].enabled", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "false: the run is as if the job were not there; the others keep their names. On the command line: "
     "jobs[NAME].enabled=false, jobs[*].enabled=false."},
    {"jobs[].tasks", KER_TYPE_INT, NULL, "1", NULL, NULL,
     "pingpong: number of tasks, an even one; default 2. collective: likewise, any. sparse: any. leanmd: "
     "number of cores; default one for each cell. Other programs say how many there are: here it is a check, "
     "and any other number is refused."},
    {"jobs[].placement", KER_TYPE_CHOICE, "sequential", NULL, NULL, NULL,
     "Which free nodes the tasks take (of the job's range, if it has one), or a file that names them.",
     .belongs = "network.model=@nodes or loggops.nodes or topology.kind", .kinds = &task_placements},
    {"jobs[].hosts", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "In the place of jobs[].placement: the job's nodes in their order by the machine's names for them, as "
     "Slurm prints a list, \"lrdn[0024-0031,0064]\"; or a file of such names or lists, one a line. Each "
     "takes jobs[].tasks_per_node tasks. Names are those of topology.file, or of node.hosts.",
     .belongs = "network.model=@nodes or loggops.nodes or topology.kind"},
    {"jobs[].shape", KER_TYPE_INT | KER_TYPE_LIST, NULL, "1", "65535", NULL,
     "In the place of jobs[].placement, on a torus or mesh: the extents of the torus that the job sees, the "
     "first running fastest. It gets a free box, with each of its rings folded into the dimensions i, i + k, "
     "... of the network, k being how many extents there are (Tofu, 3: x a, y b, z c).",
     .belongs = "topology.kind=torus"},
    {"node.hosts", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "What nodes are called, for jobs[].hosts: a file of lines HOSTS NODE, as in \"n[001-004] 0\", which are "
     "the nodes 0 to 3; # begins a comment.",
     .belongs = "jobs"},
    {"jobs[].background", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "The run does not wait for this job: it is over when all others are done."},
    {"jobs[].restart", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "A background job starts again when it is done, so that there is always traffic.",
     .belongs = "jobs[].background=true"},
    {"jobs[].priority", KER_TYPE_INT, "0", "0", "15", NULL,
     "Priority class of the job's messages (switch.classes); a higher class is served first. With "
     "switch.lanes = \"vl\" the service level, whose class switch.sl2vl may give.",
     .belongs = "network.model=@nodes"},
    {"jobs[].start", KER_TYPE_TIME, "0 ns", NULL, "1000000 s", NULL, "When the job starts."},
    {"jobs[].after", KER_TYPE_STRING | KER_TYPE_LIST, "", NULL, NULL, NULL,
     "Names of jobs: this one starts when all of them have ended, at the next multiple of "
     "run.check_interval, and not before jobs[].start. Its nodes are its own from the beginning."},
    {"jobs[].repetitions", KER_TYPE_INT, "1", "1", "1000000000", NULL,
     "How often its tasks run their program: each begins again when it is at the end, without waiting for "
     "the others."},
    {"jobs[].processor_factor", KER_TYPE_REAL, "1", "0", NULL, NULL,
     "Computation takes this many times as long as on the traced machine; 0: no time at all, but for "
     "jobs[].memory_factor.",
     .belongs = "jobs[].program=@computes"},
    {"jobs[].compute_jitter", KER_TYPE_TIME, "0 ns", NULL, "1000 s", NULL,
     "Each computation takes longer by a time drawn uniformly from 0 to this, from run.seed: of a generator "
     "those of every step, even if compute_time is 0; of a trace those that took at least this time.",
     .belongs = "jobs[].program=@computes"},
    {"jobs[].memory_bandwidth", KER_TYPE_RATE, "0 B/s", NULL, NULL, NULL,
     "What a task's computation draws from memory when it is alone: of a time T on the traced machine it "
     "moves T times this, and takes longer when its share of the node's memory (node.controller_bandwidth, "
     "node.core_bandwidth) is less than it needs.",
     .belongs = "jobs[].program=@computes & node.controller_bandwidth or node.core_bandwidth"},
    {"jobs[].memory_factor", KER_TYPE_REAL, NULL, "0", NULL, NULL,
     "The memory part of computations (jobs[].memory_bandwidth, memory_counters) moves this many times as "
     "much as on the traced machine, and takes this many times as long at the same rate; 0: there is none. "
     "Default 1; with jobs[].processor_factor = 0 it is 0.",
     .belongs = "jobs[].program=@computes & jobs[].memory_bandwidth or jobs[].memory_counters"},
    {"jobs[].task_factors[].tasks", KER_TYPE_STRING, NULL, NULL, NULL, NULL,
     "Tasks of the job that differ from it: numbers and ranges, \"0-15,32,40-60:4\" (each 4th from 40 to "
     "60).",
     .belongs = "jobs[].program=@computes"},
    {"jobs[].task_factors[].processor_factor", KER_TYPE_REAL, NULL, "0", NULL, NULL,
     "In the place of jobs[].processor_factor for these tasks.", .belongs = "jobs[].program=@computes"},
    {"jobs[].task_factors[].memory_factor", KER_TYPE_REAL, NULL, "0", NULL, NULL,
     "In the place of jobs[].memory_factor for these tasks.",
     .belongs = "jobs[].program=@computes & jobs[].memory_bandwidth or jobs[].memory_counters"},
    {0},
};
