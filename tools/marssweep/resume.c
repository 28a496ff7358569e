/* resume.c - what is there already: the folder of the sweep, and which points have results.
 *
 * A point has results when the database has its row, or its folder is complete; and when the files that its
 * run has read are as they were. Otherwise it is run again, and the new results take the place of the old.
 */
#include "tools/marssweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* Reads its folder, if there is one, and adds it to the database. */
static enum ker_status folder_take(struct sweep *s, struct sweep_point *p, json_t **files,
                                   struct ker_error *error)
{
    char *folder = sweep_folder_of(s, "runs", p->key);
    struct sweep_result result;
    enum ker_status status = KER_OK;
    if (sweep_folder_read(folder, &result)) {
        *files = json_incref(json_object_get(result.point, "files"));
        if (s->store && !sweep_files_changed(s, *files))
            status = sweep_store_add(s->store, &result, folder, false, error);
        p->figures = result.figures;
        result.figures = (struct sweep_figures){NULL, 0};
        sweep_result_free(&result);
    }
    free(folder);
    return status;
}

enum ker_status sweep_resume(struct sweep *s, struct sweep_point *p, struct ker_error *error)
{
    json_t *files = NULL;
    enum ker_status status = KER_OK;
    if (!s->store || !sweep_store_find(s->store, p->key, &p->figures, &files))
        status = folder_take(s, p, &files, error);
    bool there = p->figures.count > 0;
    const char *changed = there ? sweep_files_changed(s, files) : NULL;
    if (changed && !s->changed && !s->quiet)
        printf("%s has changed: points that have read it are run again\n", changed);
    if (there && !changed && !s->again && !s->other && sweep_program_changed(s, files)) {
        s->other = true;
        if (!s->quiet)
            printf("another build of marssim has run points before: their results stay; --again compares\n");
    }
    s->changed |= changed != NULL;
    p->stale = changed != NULL;
    p->again = there && !changed && s->again;
    p->state = there && !changed && !s->again ? SWEEP_DONE : SWEEP_WANTED;
    if (p->state == SWEEP_WANTED && s->collect)
        p->state = SWEEP_LEFT;
    s->before += p->state == SWEEP_DONE;
    json_decref(files);
    return status;
}

static enum ker_status lock(const struct sweep *s, struct ker_error *error)
{
    char *path = ker_format("%s/lock", s->dir);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    free(path);
    if (file < 0)
        return ker_fail(error, KER_BAD_INPUT, "%s: %s", s->dir, strerror(errno));
    if (flock(file, (s->share_of ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: another marssweep works there; -o DIR names another folder", s->dir);
    return KER_OK;
}

enum ker_status sweep_dir_make(struct sweep *s, struct ker_error *error)
{
    static const char *const left[] = {"part", "failed", "again"}; /* of a sweep that was killed, or failed */
    static const char *const needed[] = {"runs", "part"};
    int why = stats_folder_make(s->dir);
    if (why)
        return ker_fail(error, KER_BAD_INPUT, "%s: %s", s->dir, strerror(why));
    if (lock(s, error) != KER_OK)
        return error->status;
    for (size_t i = 0; i < sizeof left / sizeof *left && !s->share_of; i++) {
        char *path = ker_format("%s/%s", s->dir, left[i]);
        stats_folder_remove(path);
        free(path);
    }
    for (size_t i = 0; i < sizeof needed / sizeof *needed && !why; i++) {
        char *path = ker_format("%s/%s", s->dir, needed[i]);
        why = stats_folder_make(path);
        free(path);
    }
    return why ? ker_fail(error, KER_BAD_INPUT, "%s: %s", s->dir, strerror(why)) : KER_OK;
}
