/* run.c - one run: its stages, in their order.
 *
 * Every rank goes through all stages. Behind each of them, here and nowhere else, the ranks agree: they
 * compare what they have read, learn the worst status, one message is printed, and all end alike. So a stage
 * may fail on any rank, and the next one begins only when none did.
 */
#include "run/stages.h"

#include <stdlib.h>
#include <unistd.h>

struct stage {
    const char *name;
    void (*perform)(struct run *);
    bool (*wanted)(const struct run *); /* NULL: always */
    enum {
        READS = 1, /* files, which must be the same on all ranks */
        LAST = 2,  /* a run that wants it ends with it */
        JOINS = 4, /* no agreement behind it: the next stage follows even if this one failed */
    } how;
};

static bool wants_table(const struct run *run)
{
    return run->args->table != NULL;
}

static bool wants_resume(const struct run *run)
{
    return run->args->resume != NULL;
}

static bool wants_check(const struct run *run)
{
    return run->args->check;
}

static const struct stage first_stage = {"read", run_config_read};

static const struct stage packet_stages[] = {
    {"topology", run_topology_make, NULL, READS},
    {"table", run_table_write, wants_table, LAST},
    {"proof", run_proof_make, wants_check},
    {"seats", run_seats_take},
    {"tasks", run_tasks_read, NULL, READS},
    {"fewer", run_seats_leave},
    {"network", run_network_read},
    {"partition", run_partition_make},
    {"layout", run_layout_make},
    {"build", run_components_build, NULL, READS},
    {"check", run_sizes_print, wants_check, LAST},
    {"resume", run_resume_load, wants_resume},
    {"folder", run_folder_open},
    {"run", run_simulate, NULL, JOINS}, /* what was measured is written, whatever has happened */
    {"report", run_report},
};

static const struct stage loggops_stages[] = {
    {"programs", run_loggops_read, NULL, READS},
    {"build", run_loggops_build},
    {"check", run_loggops_print, wants_check, LAST},
    {"resume", run_resume_load, wants_resume},
    {"folder", run_folder_open},
    {"run", run_loggops_simulate, NULL, JOINS},
    {"report", run_loggops_report},
};

#define STAGES(table) (sizeof(table) / sizeof *(table))

/* The one place where ranks agree. */
static enum ker_status stage_agree(struct run *run, const struct stage *stage)
{
    if (stage->how & READS)
        ker_inputs_agree(ker_config_inputs(run->config), run->comm, &run->error);
    return ker_comm_agree(run->comm, &run->error);
}

/* true: the run has come to its end. */
static bool stage_take(struct run *run, const struct stage *stage, enum ker_status *status)
{
    if (stage->wanted && !stage->wanted(run))
        return false;
    stage->perform(run);
    if (!(stage->how & JOINS))
        *status = stage_agree(run, stage);
    return *status != KER_OK || stage->how & LAST || run->lost;
}

static int run_stages(struct run *run)
{
    enum ker_status status = KER_OK;
    if (stage_take(run, &first_stage, &status))
        return status;
    bool loggops = task_loggops_wanted(run->config);
    const struct stage *stage = loggops ? loggops_stages : packet_stages,
                       *end = stage + (loggops ? STAGES(loggops_stages) : STAGES(packet_stages));
    for (; stage < end; stage++)
        if (stage_take(run, stage, &status))
            break;
    if (run->lost)
        return KER_OK; /* signals are for the run that begins again */
    if (stage < end && status == KER_OK)
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
    node_series_end(run->core_series);
    run_hdf5_close(run);
    task_system_free(run->tasks);
    task_loggops_free(run->loggops);
    stats_timeline_free(run->timeline);
    node_service_list_free(run->listed);
    node_system_free(run->nodes);
    node_kinds_free(run->kinds);
    node_noise_release(&run->noise);
    net_network_free(run->network);
    if (run->engine)
        ker_engine_free(run->engine);
    if (run->topology)
        route_free(run->topology);
    if (run->config)
        ker_config_free(run->config);
    part_layout_release(&run->layout);
    part_result_release(&run->parts);
    run_batches_free(run->batches);
    run_checkpoints_free(run->checkpoints);
    run_resumed_free(run->resumed);
    ker_comm_release(run->working);
    free((void *)run->folder.path);
    for (int i = 0; i < 2; i++)
        if (run->lock[i] >= 0)
            close(run->lock[i]);
    free(run);
}

/* A run that is lost has shown on several ranks that one is faster, and begins again with what it has read:
 * results are the same. */
static struct run *run_again(struct run *lost)
{
    struct run *run = run_new(lost->args, lost->comm, lost->started_ns);
    run->alone = true;
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
    if (run->lost) {
        run = run_again(run);
        status = run_stages(run);
    }
    run_folder_settle(run, status == KER_RUN_FAILED || status == KER_BAD_INPUT);
    run_free(run);
    return status;
}
