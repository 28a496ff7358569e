/* fuzz_sweep.c - libFuzzer target for marssweep: what is swept, and folders of results.
 *
 * Of what is swept each line says by its first character what the rest is: an axis (a), one of sweep.designs
 * (d), a line of a file of points (p), that keys change together (z), two seeds (s), that points are resolved
 * (c; seldom, since it takes long). Whatever the bytes, there are points, each with its words, or a message.
 *
 * Behind a first "r" are point.json and, behind a line "%", summary.json of a run: they are no whole results,
 * or come back from the database as they were.
 */
#include "tools/marssweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char system_text[] =
    "topology: { kind = \"star\"; nodes = 4; bandwidth = \"10 GB/s\"; latency = [\"10 ns\", \"20 ns\"]; };\n"
    "traffic: { pattern = \"uniform\"; load = 0.2; }; jobs: ( { name = \"one\"; program = \"pingpong\"; } "
    ");\n"
    "run: { end = \"2 us\"; };\n";

static char folder[64];

static char *file_write(const char *name, const char *text)
{
    char *path = ker_format("%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ker_assert(file && fputs(text, file) >= 0);
    fclose(file);
    return path;
}

/* ---- what is swept ---- */

struct input {
    struct sweep sweep;
    char *points; /* the file's text */
    enum ker_status status;
    struct ker_error error;
};

static void line_take(struct input *in, const char *line)
{
    struct sweep *s = &in->sweep;
    switch (line[0]) {
    case 'z':
        s->zip = true;
        break;
    case 's':
        s->seeds = 2;
        break;
    case 'c':
        s->share_of = 0;
        s->most_points = 8;
        break;
    case 'p': {
        char *longer = ker_format("%s%s\n", in->points ? in->points : "", line + 1);
        free(in->points);
        in->points = longer;
        break;
    }
    case 'a':
    case 'd':
        if (in->status == KER_OK)
            in->status =
                sweep_axis_parse(line[0] == 'a' ? &s->axes : &s->designs, line + 1, "fuzz", &in->error);
        break;
    default:
        break;
    }
}

static void input_free(struct input *in)
{
    struct sweep *s = &in->sweep;
    sweep_points_free(s);
    sweep_axes_free(&s->axes);
    sweep_axes_free(&s->designs);
    sweep_words_free(&s->bundled);
    free((char *)s->points_file);
    free(in->points);
    free(in);
}

static void points_check(const struct sweep *s)
{
    const char **key = sweep_keys_varied(s);
    for (size_t i = 0; i < s->points; i++) {
        const struct sweep_point *p = s->point[i];
        ker_assert(strlen(p->key) == 16 && p->group < s->groups);
        for (size_t w = 0; w < p->words.count; w++)
            ker_assert(p->words.word[w].key[0] && p->words.word[w].value);
    }
    free(key);
}

static void swept_read(char *text, const char *config)
{
    struct input *in = ker_alloc(sizeof *in);
    struct sweep *s = &in->sweep;
    char *line;
    s->file = config;
    s->share_of = UINT32_MAX; /* others' points are counted and left out */
    s->share_number = s->share_of - 1;
    s->most_points = 300;
    while ((line = strsep(&text, "\n")) != NULL)
        line_take(in, line);
    if (in->points)
        s->points_file = file_write("points", in->points);
    if (in->status == KER_OK)
        in->status = sweep_points_make(s, &in->error);
    ker_assert(in->status == KER_OK ? s->counted > 0 : in->error.text[0] != '\0');
    points_check(s);
    input_free(in);
}

/* ---- results ---- */

static void figures_same(const struct sweep_figures *a, const struct sweep_figures *b)
{
    for (size_t i = 0; i < b->count; i++)
        ker_assert(sweep_figure_of(a, b->figure[i].name) == b->figure[i].value ||
                   isinf(b->figure[i].value)); /* of two figures of one name one is kept */
}

static void results_read(char *text)
{
    char *summary = strstr(text, "\n%\n");
    struct sweep_result result;
    struct ker_error error = {.status = KER_OK};
    if (summary)
        *summary = '\0';
    free(file_write("point.json", text));
    free(file_write("summary.json", summary ? summary + 3 : "{}"));
    if (!sweep_folder_read(folder, &result))
        return;
    struct sweep_store *store;
    struct sweep_figures there = {NULL, 0};
    json_t *files = NULL;
    ker_assert(sweep_store_open(&store, ":memory:", &error) == KER_OK);
    if (sweep_store_add(store, &result, folder, false, &error) == KER_OK) {
        ker_assert(sweep_store_find(store, result.key, &there, &files));
        figures_same(&result.figures, &there);
    } else {
        ker_assert(error.text[0] != '\0');
    }
    json_decref(files);
    sweep_figures_free(&there);
    sweep_store_close(store);
    sweep_result_free(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *config;
    if (!config) {
        snprintf(folder, sizeof folder, "%s/fuzz-sweep-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        ker_assert(mkdtemp(folder));
        config = file_write("system.cfg", system_text);
    }
    char *text = ker_alloc(size + 1);
    if (size)
        memcpy(text, data, size);
    if (text[0] == 'r')
        results_read(text + 1);
    else
        swept_read(text, config);
    free(text);
    return 0;
}
