/* run.c - one run: its stages, in their order.
 *
 * Every rank runs all stages. Behind each of them, here and nowhere else, the ranks agree: they
 * compare what they have read, learn the worst status, one message is printed, and all end alike. So a stage
 * may fail on any rank, and the next one begins only when none did.
 */
#include "run/stages.h"

#include <stdlib.h>
#include <unistd.h>

static const struct run_stage first_stage = {"read", run_config_read};

/* The one place where ranks agree. */
static enum ker_status stage_agree(struct run *run, const struct run_stage *stage)
{
    if (stage->how & RUN_READS)
        ker_inputs_agree(ker_config_inputs(run->config), run->comm, &run->error);
    return ker_comm_agree(run->comm, &run->error);
}

/* true: the run has come to its end. */
static bool stage_take(struct run *run, const struct run_stage *stage, enum ker_status *status)
{
    if (stage->wanted && !stage->wanted(run))
        return false;
    stage->perform(run);
    if (!(stage->how & RUN_JOINS))
        *status = stage_agree(run, stage);
    return *status != KER_OK || stage->how & RUN_LAST || run->lost;
}

static int run_stages(struct run *run)
{
    enum ker_status status = KER_OK;
    if (stage_take(run, &first_stage, &status))
        return status;
    run->kind = run_model_of(run->config);
    const struct run_stage *stage = run->kind->stages;
    while (stage->name && !stage_take(run, stage, &status))
        stage++;
    if (run->lost)
        return KER_OK; /* signals are for the run that begins again */
    if (stage->name && status == KER_OK)
        return KER_OK;
    /* a signal that ended the run, or one that came when it had ended */
    return status == KER_OK ? ker_request_status(run->interrupted | ker_request_take()) : (int)status;
}

static struct run *run_new(const struct run_arguments *args, struct ker_comm *comm, int64_t started_ns)
{
    struct run *run = ker_alloc(sizeof *run);
    run->args = args;
    run->comm = comm;
    run->control = ker_comm_rank(comm) == 0;
    run->started_ns = started_ns;
    run->lock[0] = run->lock[1] = -1;
    return run;
}

static void run_free(struct run *run)
{
    run_status_free(run->status);
    stats_periods_close(run->periods, &run->error); /* of a trial; otherwise the report has done it */
    stats_series_close(run->series, &run->error);
    run_hdf5_close(run);
    task_system_free(run->tasks);
    if (run->kind)
        run->kind->free(run); /* above its nodes, below its tasks */
    stats_timeline_free(run->timeline);
    node_service_list_free(run->listed);
    node_kinds_free(run->kinds);
    node_noise_release(&run->noise);
    if (run->engine)
        ker_engine_free(run->engine);
    if (run->topology)
        route_free(run->topology);
    if (run->config)
        ker_config_free(run->config);
    part_layout_release(&run->layout);
    part_result_release(&run->parts);
    run_batches_free(run->batches);
    run_skip_free(run->skip);
    run_checkpoints_free(run->checkpoints);
    run_resumed_free(run->resumed);
    ker_comm_release(run->working);
    free((void *)run->folder.path);
    for (int i = 0; i < 2; i++)
        if (run->lock[i] >= 0)
            close(run->lock[i]);
    free(run);
}

/* A run that is lost has shown on several ranks that one is faster, and begins again with what it has read,
 * or continues with what it has saved: results are the same. */
static struct run *run_again(struct run *lost, struct run_arguments *args)
{
    *args = *lost->args;
    args->resume = lost->moved ? run_checkpoint_moved(lost) : NULL;
    struct run *run = run_new(args, lost->comm, lost->started_ns);
    run->alone = true;
    run->moved = lost->moved;
    run->simulated = lost->simulated;
    run->config = lost->config;
    run->tasks = lost->tasks;
    run->kinds = lost->kinds;
    lost->config = NULL;
    lost->tasks = NULL;
    lost->kinds = NULL;
    for (int i = 0; i < 2; i++) {
        run->lock[i] = lost->lock[i];
        lost->lock[i] = -1;
    }
    run_free(lost);
    return run;
}

int run_execute(const struct run_arguments *args, struct ker_comm *comm, int64_t started_ns)
{
    struct run *run = run_new(args, comm, started_ns);
    int status = run_stages(run);
    struct run_arguments again = {.resume = NULL};
    if (run->lost) {
        run = run_again(run, &again);
        status = run_stages(run);
    }
    run_folder_settle(run, status == KER_RUN_FAILED || status == KER_BAD_INPUT);
    run_free(run);
    free((void *)again.resume);
    return status;
}
