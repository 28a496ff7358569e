/* folder.c - the result folder: which one it is, that it can be written, which is tried before the first
 * event, and what says whose results these are.
 *
 * That is in it from the beginning, so that also the folder of a run that was killed says what it is of:
 * system.cfg, names.csv, and started.json with those parts of summary.json that are known by then.
 * summary.json takes its place. When the run fails it is renamed, for which there is room on a full disk,
 * too.
 */
#include "run/stages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static void file_add(void *files, const char *path)
{
    json_array_append_new(files, stats_text_json(path));
}

static json_t *input_json(const struct run *run)
{
    json_t *overrides = json_array();
    for (int i = 0; i < run->args->override_count; i++)
        json_array_append_new(overrides, stats_text_json(run->args->overrides[i]));
    json_t *files = json_array();
    ker_config_files(run->config, file_add, files);
    return json_pack("{s:s, s:o, s:o, s:o, s:I}", "version", MARSSIM_VERSION, "configuration",
                     stats_text_json(run_file(run)), "overrides", overrides, "files", files, "seed",
                     (json_int_t)run->seed);
}

/* names.csv, when the topology has names. */
static void names_write(struct run *run)
{
    char *text = NULL;
    size_t length;
    FILE *memory = open_memstream(&text, &length);
    bool named = route_names_write(run->topology, memory);
    fclose(memory);
    if (named)
        stats_text_write(run->folder.path, "names.csv", text, &run->error);
    free(text);
}

/* ---- what is known before the first event ---- */

void run_network_tell(const struct run *run, json_t *r)
{
    const struct route_summary *sum = route_summarise(run->topology);
    json_object_set_new(r, "network", json_string(sum->text));
    json_object_set_new(r, "nodes", json_integer((json_int_t)route_hosts(sum)));
    json_object_set_new(r, "switches", json_integer((json_int_t)sum->switches));
    json_object_set_new(r, "links", json_integer((json_int_t)sum->links));
}

static void config_write(struct run *run)
{
    char *config = NULL;
    size_t length;
    FILE *memory = open_memstream(&config, &length);
    ker_config_write(run->config, memory);
    fclose(memory);
    stats_text_write(run->folder.path, "system.cfg", config, &run->error);
    free(config);
}

static void id_draw(struct run *run)
{
    uint64_t id = 0;
    if (getrandom(&id, sizeof id, GRND_NONBLOCK) < 0)
        id = (uint64_t)ker_clock_ns(CLOCK_REALTIME);
    snprintf(run->id, sizeof run->id, "%016llx", (unsigned long long)id);
}

static void started_write(struct run *run)
{
    id_draw(run);
    json_t *result = json_object();
    if (run->topology)
        run_network_tell(run, result);
    json_t *started =
        json_pack("{s:o, s:o, s:{s:s}}", "input", input_json(run), "result", result, "run", "id", run->id);
    stats_json_write(run->folder.path, STATS_STARTED, started, &run->error);
    json_decref(started);
    config_write(run);
    if (run->topology)
        names_write(run);
}

json_t *run_summary_json(const struct run *run, json_t *result, json_t *speed)
{
    const struct stats_schema **tables = run_tables(run->listed);
    json_object_set_new(speed, "id", json_string(run->id));
    json_t *summary = json_pack("{s:o, s:o, s:o, s:o}", "input", input_json(run), "result", result, "run",
                                speed, "tables", stats_folder_tables(run->folder.path, tables));
    free(tables);
    return summary;
}

/* Why, if there is room for it. */
static void failed_tell(const struct run *run, const char *path)
{
    struct ker_error error = {.status = KER_OK};
    json_t *failed = json_load_file(path, 0, NULL);
    if (failed && run->error.text[0]) {
        json_object_set_new(failed, "error", stats_text_json(run->error.text));
        stats_json_write(run->folder.path, STATS_FAILED, failed, &error);
    }
    json_decref(failed);
}

void run_folder_settle(struct run *run, bool failed)
{
    ker_request_mark(NULL, NULL);
    if (!run->marked)
        return;
    char *started = ker_format("%s/" STATS_STARTED, run->folder.path),
         *path = ker_format("%s/" STATS_FAILED, run->folder.path);
    if (!failed)
        unlink(started);
    else if (rename(started, path) == 0)
        failed_tell(run, path);
    free(started);
    free(path);
}

static char *folder_of(const struct run *run)
{
    const struct run_arguments *a = run->args;
    if (a->folder)
        return ker_format("%s", a->folder);
    if (run->resumed)
        return ker_format("%s", run_resumed_folder(run));
    const char *name = strrchr(a->file, '/') ? strrchr(a->file, '/') + 1 : a->file;
    const char *dot = strrchr(name, '.');
    return ker_format("results/%.*s", dot && dot != name ? (int)(dot - name) : (int)strlen(name), name);
}

static void folder_choose(struct run *run)
{
    const struct stats_schema **tables = run_tables(run->listed);
    run->folder.path = folder_of(run);
    run->folder.json = strcmp(ker_config_string(run->config, "output.tables"), "json") == 0;
    if (run->control && run->lock[0] < 0) {
        const char *dir = ker_config_string(run->config, "run.checkpoint.dir");
        run->lock[0] = stats_folder_lock(run->folder.path, "-o DIR", &run->error);
        if (*dir && run->error.status == KER_OK)
            run->lock[1] = stats_folder_lock(dir, "run.checkpoint.dir", &run->error);
    }
    if (run->control && run->error.status == KER_OK &&
        stats_folder_open(run->folder.path, tables, ker_config_inputs(run->config), &run->error) == KER_OK) {
        run->marked = true;
        started_write(run);
    }
    free(tables);
}

void run_folder_open(struct run *run)
{
    folder_choose(run);
    run_hdf5_open(run);
    if (run->error.status == KER_OK && run->period && run->working)
        stats_periods_open(&run->periods, run->working, run->folder.path, run->hdf5, run->skip != NULL,
                           &run->error);
    run_series_open(run);
    run_hdf5_flush(run); /* a run that is killed, or saved, in its first period has a file that can be read */
    if (run->error.status == KER_OK && run->resumed && run->periods)
        run_resume_periods(run);
    if (run->moved && run->control)
        run_checkpoint_remove(run);
    run->moved = false;
    ker_request_mark(ker_format("%s/" STATS_STARTED, run->folder.path),
                     ker_format("%s/" STATS_FAILED, run->folder.path));
    ker_request_open(); /* before the ranks agree: when one begins, a signal to any of them is a request */
}
