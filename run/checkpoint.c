/* checkpoint.c - checkpoints are written: when, where, and by whom.
 *
 * All working ranks are at one simulated time. Each writes its part into a folder that the control rank has
 * made; when all are on the disk, the control rank writes the index, renames the folder, and removes the
 * oldest. What fails is reported and the part of nobody stays; the run continues without this checkpoint.
 */
#include "run/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PICOSECONDS 1e-12

const struct ker_option run_checkpoint_options[] = {
    {"run.checkpoint.period", KER_TYPE_TIME, "0 ns", "0 ns", "1000000 s", NULL,
     "Save the state of the run at every multiple of this simulated time; 0: do not. docs/checkpoints.md.",
     .resume = KER_RESUME_FREE},
    {"run.checkpoint.wall", KER_TYPE_TIME, "0 s", "0 s", "1000000 s", NULL,
     "Save the state each time this much real time has passed; 0: do not.", .resume = KER_RESUME_FREE},
    {"run.checkpoint.at", KER_TYPE_TIME | KER_TYPE_LIST, "", "1 ps", NULL, NULL,
     "Save the state at these simulated times.", .resume = KER_RESUME_FREE},
    {"run.checkpoint.interrupted", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Save the state when SIGINT or SIGTERM ends the run, which any other of these keys asks for, too.",
     .resume = KER_RESUME_FREE},
    {"run.checkpoint.keep", KER_TYPE_INT, "2", "1", "1000000", NULL,
     "Number of checkpoints that are kept; older ones of the folder are removed.", .resume = KER_RESUME_FREE},
    {"run.checkpoint.dir", KER_TYPE_STRING, "", NULL, NULL, NULL,
     "Folder of the checkpoints; \"\": checkpoints in the result folder.", .resume = KER_RESUME_FREE},
    {0},
};

struct run_checkpoints {
    char *dir;
    ker_time period;
    ker_time *at; /* increasing */
    uint32_t at_count;
    ker_time *stops;       /* those, and the times of run->looks; the engine's */
    double wall_s, next_s; /* real time between two; of the next one */
    int keep;
    uint64_t written, bytes; /* checkpoints so far; of the last one's parts */
    double longest_s;        /* that all ranks have stood for one */
    bool wanted;             /* any of the keys asks for some: then an interrupted run leaves one, too */
};

/* ---- when ---- */

void run_checkpoints_read(struct run *run)
{
    const struct ker_config *c = run->config;
    struct run_checkpoints *k = run->checkpoints = ker_alloc(sizeof *k);
    const char *dir = ker_config_string(c, "run.checkpoint.dir");
    k->dir = *dir ? ker_format("%s", dir) : NULL;
    k->period = ker_config_time(c, "run.checkpoint.period");
    k->wall_s = (double)ker_config_time(c, "run.checkpoint.wall") * PICOSECONDS;
    k->next_s = ker_clock_s() + k->wall_s;
    k->keep = (int)ker_config_int(c, "run.checkpoint.keep");
    k->at_count = (uint32_t)ker_config_count(c, "run.checkpoint.at");
    k->at = ker_alloc(sizeof *k->at * (k->at_count + 1u));
    for (uint32_t i = 0; i < k->at_count; i++)
        k->at[i] = ker_config_time_at(c, "run.checkpoint.at", (int)i);
    qsort(k->at, k->at_count, sizeof *k->at, ker_order_i64);
    k->wanted = k->period || k->wall_s > 0 || k->at_count || k->dir ||
                ker_config_bool(c, "run.checkpoint.interrupted");
}

void run_checkpoints_free(struct run_checkpoints *k)
{
    if (!k)
        return;
    KER_FREE(k->dir, k->at, k->stops, k);
}

bool run_checkpoints_wanted(const struct run *run)
{
    return run->checkpoints->wanted;
}

ker_time run_checkpoints_interval(const struct run *run)
{
    return run->checkpoints->period;
}

void run_checkpoints_times(const struct run *run, struct ker_engine_setup *setup)
{
    struct run_checkpoints *k = run->checkpoints;
    uint32_t all = k->at_count, count = 0;
    k->stops = ker_realloc(k->stops, (all + RUN_LOOKS) * sizeof *k->stops);
    memcpy(k->stops, k->at, all * sizeof *k->at);
    for (uint32_t i = 0; i < run->look_count; i++)
        k->stops[all++] = run->looks[i];
    qsort(k->stops, all, sizeof *k->stops, ker_order_i64);
    for (uint32_t i = 0; i < all; i++)
        if (count == 0 || k->stops[i] != k->stops[count - 1])
            k->stops[count++] = k->stops[i];
    setup->check_at = k->stops;
    setup->check_at_count = count;
}

bool run_checkpoints_due(const struct run *run, ker_time at)
{
    const struct run_checkpoints *k = run->checkpoints;
    bool due = k->period && at % k->period == 0;
    for (uint32_t i = 0; i < k->at_count; i++)
        due |= k->at[i] == at;
    return due;
}

/* On the control rank, now and then. All ranks must save at one time: it is asked for like a signal. */
void run_checkpoints_clock(struct run *run)
{
    struct run_checkpoints *k = run->checkpoints;
    if (k->wall_s <= 0 || ker_clock_s() < k->next_s)
        return;
    k->next_s = ker_clock_s() + k->wall_s;
    ker_request_ask(KER_REQUEST_CHECKPOINT);
}

/* ---- the index ---- */

/* On the control rank; the inputs are those of all ranks. */
static void index_write(struct run *run, const char *folder, ker_time at, void *inputs, size_t inputs_bytes,
                        struct ker_error *error)
{
    char *path = ker_format("%s/index", folder);
    struct run_index index = {.at = at,
                              .parts = (uint32_t)run->workers,
                              .version = MARSSIM_VERSION,
                              .file = (char *)run_file(run),
                              .folder = (char *)run->folder.path,
                              .config = run_config_text(run->config),
                              .inputs = inputs,
                              .inputs_bytes = inputs_bytes,
                              .services = run->services,
                              .fork = run->resumed ? run->resumed->index.fork : NULL,
                              .forks = run->resumed ? run->resumed->index.forks : 0};
    struct ker_state_size size;
    struct ker_state_writer *w = ker_state_create(path, error);
    if (w) {
        run_index_state(ker_state_begin(w, "index", RUN_STATE_VERSION, 0), &index);
        ker_state_end(w);
        run_batches_state(run->batches, ker_state_begin(w, "batches", RUN_STATE_VERSION, 0));
        ker_state_end(w);
        if (run->skip) {
            run_skip_state(run, ker_state_begin(w, "skip", RUN_SKIP_VERSION, 0));
            ker_state_end(w);
        }
        if (run->periods)
            stats_periods_save(run->periods, w);
        if (run->series)
            stats_series_save(run->series, w);
        run_hdf5_save(run, w);
        ker_state_close(w, &size, error);
    }
    free(index.config);
    free(path);
}

/* ---- files ---- */

/* bytes: of the file. */
static void part_write(struct run *run, const char *folder, ker_time at, uint64_t *bytes,
                       struct ker_error *error)
{
    uint32_t number = (uint32_t)ker_comm_rank(run->working), parts = (uint32_t)run->workers;
    char *path = ker_format("%s/part-%u", folder, number);
    struct ker_state_size size;
    struct ker_state_writer *w = ker_state_create(path, error);
    free(path);
    if (!w)
        return;
    uint64_t id[2];
    char *config = run_config_text(run->config);
    run_index_id(config, id);
    free(config);
    struct ker_chunk *c = ker_state_begin(w, "part", RUN_STATE_VERSION, number);
    KER_CHUNK(c, at, parts, id);
    ker_state_end(w);
    run->kind->save(run, w);
    if (run->tasks)
        task_system_save(run->tasks, w);
    ker_engine_save(run->engine, w);
    if (run->timeline)
        stats_timeline_save(run->timeline, w);
    ker_state_close(w, &size, error);
    *bytes = size.stored;
}

/* The files of a checkpoint, and nothing else: a folder with more in it stays. */
static void folder_remove(const char *folder)
{
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;) {
        char *path = ker_format("%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, "index") == 0 || strncmp(entry->d_name, "part-", 5) == 0)
            unlink(path);
        free(path);
    }
    if (list)
        closedir(list);
    rmdir(folder);
}

static void folder_sync(const char *folder)
{
    int handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle >= 0) {
        fsync(handle);
        close(handle);
    }
}

static void oldest_remove(const char *dir, int keep)
{
    DIR *list = opendir(dir);
    char **name = NULL;
    int count = 0;
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;)
        if (run_checkpoint_named(entry->d_name))
            *KER_APPEND(name, count) = ker_format("%s/%s", dir, entry->d_name);
    if (list)
        closedir(list);
    if (count)
        qsort(name, (size_t)count, sizeof *name, ker_order_text);
    for (int i = 0; i < count; i++) {
        if (i < count - keep)
            folder_remove(name[i]);
        free(name[i]);
    }
    free(name);
}

static void folder_begin(const char *folder, struct ker_error *error)
{
    folder_remove(folder); /* of a run that was killed while it wrote */
    int why = stats_folder_make(folder);
    if (why)
        ker_fail(error, KER_RUN_FAILED, "cannot make the folder %s: %s", folder, strerror(why));
}

static void folder_commit(const char *folder, const char *name, struct ker_error *error)
{
    folder_sync(folder);
    folder_remove(name); /* of an earlier run, at the same time */
    if (rename(folder, name))
        ker_fail(error, KER_RUN_FAILED, "cannot rename %s to %s: %s", folder, name, strerror(errno));
}

/* ---- all of it ---- */

/* Did it fail on any rank? The control rank reports what. */
static bool step_failed(struct run *run, const struct ker_error *error)
{
    void *all = NULL;
    size_t *offset = NULL, length = error->status == KER_OK ? 0 : strlen(error->text);
    int64_t worst = error->status;
    ker_comm_max_i64(run->working, &worst, 1);
    if (worst == KER_OK)
        return false;
    ker_comm_gather(run->working, error->text, length, &all, &offset);
    if (run->control)
        ker_warn("%.*s; the run continues without this checkpoint", (int)offset[ker_comm_size(run->working)],
                 (const char *)all);
    free(all);
    free(offset);
    return true;
}

/* False: nothing is left of it, and why has been said. */
static bool files_write(struct run *run, const char *folder, const char *name, ker_time at)
{
    struct ker_error error = {.status = KER_OK};
    void *inputs = NULL;
    size_t *offset = NULL, bytes;
    uint64_t stored = 0;
    if (run->kind->complete)
        run->kind->complete(run);
    if (run->control)
        folder_begin(folder, &error);
    if (step_failed(run, &error))
        return false;
    part_write(run, folder, at, &stored, &error);
    ker_comm_sum_u64(run->working, &stored, 1);
    const void *own = ker_inputs_packed(ker_config_inputs(run->config), &bytes);
    ker_comm_gather(run->working, own, bytes, &inputs, &offset);
    if (!step_failed(run, &error) && run->control) {
        index_write(run, folder, at, inputs, offset[ker_comm_size(run->working)], &error);
        if (error.status == KER_OK)
            folder_commit(folder, name, &error);
    }
    free(inputs);
    free(offset);
    bool failed = step_failed(run, &error);
    if (run->control && failed)
        folder_remove(folder);
    run->checkpoints->bytes = stored;
    return !failed;
}

static bool checkpoint_write(struct run *run, const char *name, ker_time at)
{
    char *folder = ker_format("%s.tmp", name);
    bool written = files_write(run, folder, name, at);
    free(folder);
    return written;
}

void run_checkpoint_write(struct run *run, ker_time at)
{
    struct run_checkpoints *k = run->checkpoints;
    double began = ker_clock_s();
    char *dir = k->dir ? ker_format("%s", k->dir) : ker_format("%s/checkpoints", run->folder.path),
         *name = ker_format("%s/" RUN_CHECKPOINT_NAME "%019lld", dir, (long long)at);
    k->written += checkpoint_write(run, name, at);
    if (run->control) {
        folder_sync(dir);
        oldest_remove(dir, k->keep);
    }
    k->next_s = ker_clock_s() + k->wall_s;
    k->longest_s = ker_clock_s() - began > k->longest_s ? ker_clock_s() - began : k->longest_s;
    free(name);
    free(dir);
}

char *run_checkpoint_moved(const struct run *run)
{
    return ker_format("%s/moved", run->folder.path);
}

bool run_checkpoint_move(struct run *run, ker_time at)
{
    char *name = run_checkpoint_moved(run);
    bool written = checkpoint_write(run, name, at);
    free(name);
    return written;
}

void run_checkpoint_remove(const struct run *run)
{
    folder_remove(run->resumed->folder);
}

json_t *run_checkpoints_json(const struct run *run)
{
    const struct run_checkpoints *k = run->checkpoints;
    return json_pack("{s:I, s:I, s:f}", "written", (json_int_t)k->written, "bytes", (json_int_t)k->bytes,
                     "longest_s", k->longest_s);
}
