/* resume.c - a run is resumed from a checkpoint: --resume.
 *
 * The configuration is the one of the checkpoint, with what the command line changes of it (fork.c). The
 * system is built as for a run from the beginning, on as many ranks as there are now and with whatever
 * partition; then everything pending is dropped, and every rank reads the parts of all ranks and takes what
 * lives on it. What was counted is taken by the control rank.
 */
#include "run/checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the index ---- */

static void pass_over(void *context, struct ker_chunk *c)
{
    c->at = c->bytes;
}

static void index_load(void *context, struct ker_chunk *c)
{
    struct run_resumed *r = context;
    c->bad |= r->indexed;
    if (c->bad)
        return;
    run_index_state(c, &r->index);
    r->indexed = true;
}

static bool is_folder_with_index(const char *folder)
{
    struct stat at;
    char *path = ker_format("%s/index", folder);
    bool there = stat(path, &at) == 0;
    free(path);
    return there;
}

/* A checkpoint, or the newest one in a folder of them, or in a result folder. */
static char *checkpoint_find(const char *given)
{
    if (is_folder_with_index(given))
        return ker_format("%s", given);
    char *within = ker_format("%s/checkpoints", given), *found = run_checkpoint_newest(given);
    if (!found)
        found = run_checkpoint_newest(within);
    free(within);
    return found;
}

static enum ker_status index_read(struct run *run)
{
    struct run_resumed *r = run->resumed = ker_alloc(sizeof *r);
    struct ker_state_loader loaders[] = {{"index", RUN_STATE_VERSION, index_load, r},
                                         {"batches", RUN_STATE_VERSION, pass_over, NULL},
                                         {"skip", RUN_SKIP_VERSION, pass_over, NULL},
                                         {"periods", 1, pass_over, NULL},
                                         {"series", 1, pass_over, NULL},
                                         {"hdf5", 1, pass_over, NULL},
                                         {0}};
    struct ker_state_size size;
    r->folder = checkpoint_find(run->args->resume);
    if (!r->folder)
        return ker_fail(
            &run->error, KER_BAD_INPUT,
            "%s: holds no checkpoint; --resume wants the folder of one, a folder of checkpoints, or "
            "the result folder of the run",
            run->args->resume);
    char *path = ker_format("%s/index", r->folder);
    enum ker_status status = ker_state_read(path, loaders, &size, &run->error);
    if (status == KER_OK && !r->indexed)
        status = ker_fail(&run->error, KER_BAD_INPUT, "%s: says nothing of a run", path);
    if (status == KER_OK && strcmp(r->index.version, MARSSIM_VERSION) != 0)
        status = ker_fail(&run->error, KER_BAD_INPUT,
                          "%s: was written by marssim %s; this is %s, which may simulate otherwise", path,
                          r->index.version, MARSSIM_VERSION);
    free(path);
    return status;
}

void run_resume_index(struct run *run)
{
    if (index_read(run) == KER_OK)
        run->services = run->resumed->index.services;
}

/* ---- the configuration ---- */

void run_resume_config(struct run *run)
{
    struct ker_config *saved = NULL;
    run_resume_index(run);
    if (run->error.status != KER_OK)
        return;
    struct run_resumed *r = run->resumed;
    if (run_config_parse(run, r->index.config, &saved, NULL, 0) != KER_OK)
        return;
    if (run_fork_check(run, saved) == KER_OK)
        run_config_parse(run, r->index.config, &run->config, run->args->overrides, run->args->override_count);
    if (run->error.status == KER_OK)
        run_fork_begin(run, saved);
    else
        ker_config_free(saved);
}

/* ---- the state ---- */

static void part_load(void *context, struct ker_chunk *c)
{
    struct run_resumed *r = context;
    ker_time at = 0;
    KER_CHUNK(c, at);
    uint32_t parts = ker_chunk_u32(c, 0);
    uint64_t id[2] = {0}, own[2];
    KER_CHUNK(c, id);
    run_index_id(r->index.config, own);
    c->bad |=
        at != r->index.at || parts != r->index.parts || c->id != r->part || memcmp(id, own, sizeof id) != 0;
    r->parts++;
}

static void batches_load(void *context, struct ker_chunk *c)
{
    run_batches_state(((struct run *)context)->batches, c);
}

static void skip_load(void *run, struct ker_chunk *c)
{
    run_skip_state(run, c);
}

static void batches_read(struct run *run)
{
    struct ker_state_loader loaders[] = {{"index", RUN_STATE_VERSION, pass_over, NULL},
                                         {"batches", RUN_STATE_VERSION, batches_load, run},
                                         {"skip", RUN_SKIP_VERSION, run->skip ? skip_load : pass_over, run},
                                         {"periods", 1, pass_over, NULL},
                                         {"series", 1, pass_over, NULL},
                                         {"hdf5", 1, pass_over, NULL},
                                         {0}};
    struct ker_state_size size;
    char *path = ker_format("%s/index", run->resumed->folder);
    ker_state_read(path, loaders, &size, &run->error);
    free(path);
}

/* Each part's records are taken by one rank; which, nobody can see. */
static void timeline_load(void *context, struct ker_chunk *c)
{
    struct run *run = context;
    int ranks = ker_comm_size(run->working), rank = ker_comm_rank(run->working);
    if (run->timeline && run->resumed->part % (uint32_t)ranks == (uint32_t)rank)
        stats_timeline_load(run->timeline, c);
    else
        pass_over(NULL, c);
}

static void parts_read(struct run *run)
{
    struct run_resumed *r = run->resumed;
    struct ker_engine_loading engine = {.engine = run->engine, .at = r->index.at};
    struct ker_state_loader loaders[RUN_MODEL_STATES + TASK_STATES + KER_ENGINE_STATES + 3] = {
        {"part", RUN_STATE_VERSION, part_load, r}, {"timeline", STATS_TIMELINE_VERSION, timeline_load, run}};
    struct ker_state_size size;
    int count = 2;
    count += run->kind->loading(run, &engine, loaders + count);
    if (run->tasks) {
        task_loaders(run->tasks, run->control, loaders + count);
        count += TASK_STATES;
    }
    ker_engine_loaders(&engine, loaders + count);
    for (r->part = 0; r->part < r->index.parts && run->error.status == KER_OK; r->part++) {
        char *path = ker_format("%s/part-%u", r->folder, r->part);
        ker_state_read(path, loaders, &size, &run->error);
        if (run->error.status == KER_OK && r->parts != r->part + 1)
            ker_fail(&run->error, KER_BAD_INPUT, "%s: is no part of this checkpoint", path);
        free(path);
    }
    if (run->kind->loaded)
        run->kind->loaded(run, &engine);
}

void run_resume_load(struct run *run)
{
    const struct run_index *index = &run->resumed->index;
    if (ker_inputs_since(ker_config_inputs(run->config), index->inputs, index->inputs_bytes, &run->error))
        return;
    if (!run->working)
        return;
    if (run->kind->complete)
        run->kind->complete(run);
    if (run->kind->restart)
        run->kind->restart(run);
    ker_engine_restart(run->engine, index->at);
    batches_read(run); /* and the gaps between steps, before any task is asked where it is */
    if (run->error.status == KER_OK)
        parts_read(run);
    if (run->error.status == KER_OK)
        run_fork_state(run);
}

/* The series of rows, and whether there was one. */
struct series {
    struct stats_periods *periods;
    bool there;
};

static void periods_load(void *context, struct ker_chunk *c)
{
    struct series *series = context;
    series->there = true;
    stats_periods_load(series->periods, c);
}

static void series_load(void *files, struct ker_chunk *c)
{
    if (files)
        stats_series_load(files, c);
    else
        pass_over(NULL, c);
}

/* The series is as it was at the checkpoint, and continues; where there was none, it begins. */
void run_resume_periods(struct run *run)
{
    struct series series = {run->periods, false};
    struct ker_state_loader loaders[] = {{"index", RUN_STATE_VERSION, pass_over, NULL},
                                         {"batches", RUN_STATE_VERSION, pass_over, NULL},
                                         {"skip", RUN_SKIP_VERSION, pass_over, NULL},
                                         {"periods", 1, periods_load, &series},
                                         {"series", 1, series_load, run->series},
                                         {"hdf5", 1, run_hdf5_load, run},
                                         {0}};
    struct ker_state_size size;
    char *path = ker_format("%s/index", run->resumed->folder);
    ker_state_read(path, loaders, &size, &run->error);
    free(path);
    run_hdf5_resume(run);
    if (!series.there)
        run_periods_begin(run, run->resumed->index.at);
}
