/* simgrid.c - traces in the format "simgrid": time-independent traces of SMPI. */
#include "traces/simgrid/simgrid.h"
#include "traces/traces.h"

#include <stdlib.h>

static enum ker_status trace_open(struct foreign_trace *to, struct ker_error *error)
{
    struct simgrid_trace *trace = ker_alloc(sizeof *trace);
    to->own = trace;
    trace->flop_rate = ker_config_real(to->config, TASK_KEY(to->job, "flop_rate"));
    trace->derived_bytes = ker_config_bytes(to->config, TASK_KEY(to->job, "derived_bytes"));
    return simgrid_files_find(trace, to, error);
}

static enum ker_status task_read(const struct foreign_trace *trace, struct foreign_task *task,
                                 struct ker_error *error)
{
    return simgrid_task_read(trace->own, task, trace->inputs, error);
}

static void trace_close(struct foreign_trace *to)
{
    simgrid_files_release(to->own);
    free(to->own);
}

static const char *const doubts[] = {
    [SIMGRID_DOUBT_COMM] = "collectives name no communicator; all are taken as those of MPI_COMM_WORLD",
    [SIMGRID_DOUBT_NOBODY] = "receives from rank -333 may be from MPI_ANY_SOURCE or from MPI_PROC_NULL; all "
                             "are taken as from MPI_ANY_SOURCE",
    [SIMGRID_DOUBT_SENDRECV] = "MPI_Sendrecv has no tags; its messages are taken to go to other "
                               "MPI_Sendrecv, and those from or to MPI_PROC_NULL are missing",
    [SIMGRID_DOUBT_WAITALL] = "MPI_Waitall or MPI_Waitany does not say for which requests; it is taken to "
                              "wait for all that are outstanding, as SimGrid's own replay does",
    [SIMGRID_DOUBT_NEVER] = "requests are never waited for (MPI_Waitsome is not written, for one); the end "
                            "of the task waits for them",
    [SIMGRID_DOUBTS] = NULL,
};

static const struct foreign_reader reader = {
    .name = "simgrid",
    .form = {.unit = 1, .lines = true},
    .doubt = doubts,
    .advice = "this format names no communicators, so that all are taken as those of the world",
    .lists = true,
    .open = trace_open,
    .read = task_read,
    .close = trace_close,
};

static const struct ker_option options[] = {
    {"jobs[].flop_rate", KER_TYPE_REAL, "1e9", "1", "1e21", NULL,
     "trace (simgrid): floating-point operations a second of a task: how long its computations take, of "
     "which the trace has the operations."},
    {"jobs[].derived_bytes", KER_TYPE_BYTES, "0", NULL, "1 TiB", NULL,
     "trace (simgrid): bytes of an element of derived datatypes, whose sizes the trace lacks; 0: messages of "
     "these are refused."},
    {0},
};

FOREIGN_CLASS(static, class, reader);

static int score(const char *path)
{
    return trace_score(path, simgrid_trace_known(path), TRACE_SCORE_LINE, ".ti");
}

const struct ker_kind trace_format_simgrid = {.name = "simgrid",
                                              .meaning = "traces of SimGrid's smpirun -trace-ti",
                                              .operations =
                                                  &(const struct trace_format){&class, score, &reader},
                                              .options = KER_OPTIONS(options, trace_store_options)};
