/* hdf5.c - results.h5 of a run: when it is made, flushed, saved and closed. */
#include "run/checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void run_hdf5_open(struct run *run)
{
    char *config = NULL;
    size_t length;
    if (run->error.status != KER_OK || !run->control || !ker_config_bool(run->config, "output.hdf5"))
        return;
    run->hdf5 = run->folder.hdf5 = stats_hdf5_open(run->folder.path, &run->error);
    if (!run->hdf5)
        return;
    FILE *memory = open_memstream(&config, &length);
    ker_config_write(run->config, memory);
    fclose(memory);
    stats_hdf5_tell(run->hdf5, "marssim", MARSSIM_VERSION);
    stats_hdf5_tell(run->hdf5, "configuration", config);
    free(config);
}

void run_hdf5_flush(struct run *run)
{
    if (run->hdf5)
        stats_hdf5_flush(run->hdf5);
}

void run_hdf5_close(struct run *run)
{
    stats_hdf5_close(run->hdf5, &run->error);
    run->hdf5 = run->folder.hdf5 = NULL;
}

/* ---- saved state: the file as it is; a resumed run makes it again of its rows ---- */

static char *copy_path(const struct run *run)
{
    return ker_format("%s/" STATS_HDF5_NAME ".tmp", run->folder.path);
}

static void head_none(void *context, struct ker_chunk *c, bool begins)
{
}

void run_hdf5_save(struct run *run, struct ker_state_writer *writer)
{
    uint64_t number = 0;
    char *path = ker_format("%s/" STATS_HDF5_NAME, run->folder.path);
    if (run->hdf5)
        stats_file_save(path, writer, "hdf5", &number, head_none, NULL);
    free(path);
}

void run_hdf5_load(void *context, struct ker_chunk *c)
{
    struct run *run = context;
    char *path = copy_path(run);
    FILE *out = run->hdf5 ? fopen(path, c->id == 0 ? "w" : "a") : NULL;
    bool whole = out && fwrite(c->data + c->at, 1, c->bytes - c->at, out) == c->bytes - c->at;
    if (out && (fclose(out) != 0 || !whole))
        ker_fail(&run->error, KER_RUN_FAILED, "cannot write %s: %s", path, strerror(errno));
    c->at = c->bytes;
    free(path);
}

void run_hdf5_resume(struct run *run)
{
    char *path = copy_path(run);
    if (run->hdf5 && access(path, R_OK) == 0 && run->error.status == KER_OK &&
        !stats_hdf5_copy(run->hdf5, path))
        ker_fail(&run->error, KER_BAD_INPUT, "%s: " STATS_HDF5_NAME " of the checkpoint cannot be read",
                 run->resumed->folder);
    if (run->hdf5)
        unlink(path);
    free(path);
}
