/* folder.c - folders of results: DIR/runs/KEY, with what marssim writes and point.json:
 *
 *   {"key", "version", "configuration", "words": {KEY: VALUE}, "files": {PATH: DIGEST}}
 *
 * `files` are those that the run has read beside the configuration itself, which the key covers; and, as
 * SWEEP_PROGRAM, the program.
 */
#include "tools/marssweep/sweep.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 20)

void sweep_folder_need(const struct sweep *s, const char *what)
{
    char *path = ker_format("%s/%s", s->dir, what);
    stats_folder_make(path); /* what is written there says so when it is not there */
    free(path);
}

char *sweep_folder_of(const struct sweep *s, const char *what, const char *key)
{
    return ker_format("%s/%s/%s", s->dir, what, key);
}

/* ---- digests ---- */

/* In hexadecimal, malloc'ed; NULL: no regular file, or none that can be read. */
static char *digest_of(const char *path)
{
    struct ker_error *error = ker_alloc(sizeof *error);
    struct ker_digest digest = {{0}, 0, {0}};
    uint64_t sum[2];
    int file;
    char *text = NULL;
    if (ker_input_open(path, KER_INPUT_MOST, &file, NULL, error) == KER_OK) {
        char *piece = ker_alloc(PIECE);
        ssize_t got;
        while ((got = ker_input_piece(file, piece, PIECE)) > 0)
            ker_digest_add(&digest, piece, (size_t)got);
        ker_digest_sum(&digest, sum);
        if (got == 0)
            text = ker_format("%016llx%016llx", (unsigned long long)sum[0], (unsigned long long)sum[1]);
        free(piece);
        close(file);
    }
    free(error);
    return text;
}

static json_t *files_digest(const struct sweep *s, const json_t *summary)
{
    const json_t *list = json_object_get(json_object_get(summary, "input"), "files");
    json_t *files = json_object();
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *path = json_string_value(json_array_get(list, i));
        char *digest = path && !json_object_get(s->own_files, path) ? digest_of(path) : NULL;
        if (digest)
            json_object_set_new(files, path, json_string(digest));
        free(digest);
    }
    json_object_set(files, SWEEP_PROGRAM, json_object_get(s->digests, SWEEP_PROGRAM));
    return files;
}

void sweep_program_note(struct sweep *s)
{
    char *digest = digest_of("/proc/self/exe");
    json_object_set_new(s->digests, SWEEP_PROGRAM, json_string(digest ? digest : ""));
    free(digest);
}

bool sweep_program_changed(const struct sweep *s, const json_t *files)
{
    const json_t *then = json_object_get(files, SWEEP_PROGRAM);
    return then && !json_equal(then, json_object_get(s->digests, SWEEP_PROGRAM));
}

const char *sweep_files_changed(struct sweep *s, const json_t *files)
{
    const char *path;
    json_t *digest;
    json_object_foreach((json_t *)files, path, digest)
    {
        json_t *now = json_object_get(s->digests, path);
        if (!now) {
            char *text = digest_of(path);
            json_object_set_new(s->digests, path, now = json_string(text ? text : ""));
            free(text);
        }
        if (!json_equal(now, digest) && strcmp(path, SWEEP_PROGRAM) != 0)
            return path;
    }
    return NULL;
}

/* ---- point.json ---- */

enum ker_status sweep_folder_describe(const struct sweep *s, const struct sweep_point *p, const char *folder,
                                      struct ker_error *error)
{
    char *path = ker_format("%s/summary.json", folder);
    json_t *summary = json_load_file(path, 0, NULL), *words = json_object();
    free(path);
    if (!summary)
        return ker_fail(error, KER_RUN_FAILED, "%s: no summary.json", folder);
    for (size_t i = 0; i < p->words.count; i++)
        json_object_set_new(words, p->words.word[i].key, json_string(p->words.word[i].value));
    json_t *point = json_pack("{s:s, s:s, s:s, s:o, s:o}", "key", p->key, "version", MARSSIM_VERSION,
                              "configuration", s->file, "words", words, "files", files_digest(s, summary));
    char *text = json_dumps(point, JSON_INDENT(2));
    enum ker_status status = stats_text_write(folder, "point.json", text, error);
    free(text);
    json_decref(point);
    json_decref(summary);
    return status;
}

bool sweep_folder_read(const char *folder, struct sweep_result *r)
{
    char *path = ker_format("%s/point.json", folder);
    *r = (struct sweep_result){.point = json_load_file(path, 0, NULL)};
    free(path);
    path = ker_format("%s/summary.json", folder);
    json_t *summary = json_load_file(path, 0, NULL), *value;
    free(path);
    const char *own = json_string_value(json_object_get(r->point, "key")), *key;
    bool whole = summary && own && strlen(own) == sizeof r->key - 1;
    if (whole) {
        strcpy(r->key, own);
        json_object_foreach(json_object_get(r->point, "words"), key, value) if (json_is_string(value))
            sweep_word_set(&r->words, key, json_string_value(value));
        sweep_figures_take(&r->figures, summary);
    }
    json_decref(summary);
    if (!whole)
        sweep_result_free(r);
    return whole;
}

void sweep_result_free(struct sweep_result *r)
{
    sweep_words_free(&r->words);
    sweep_figures_free(&r->figures);
    json_decref(r->point);
    r->point = NULL;
}
