/* point.c - what a point is: its words, its key, its group.
 *
 * The key is a digest of the program's version and of the configuration as it is resolved, defaults included,
 * but for the group `sweep`: a point of one sweep is the same point in another. Points and groups are found
 * by their texts in trees.
 */
#define _GNU_SOURCE /* tdestroy */
#include "tools/marssweep/sweep.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* The configuration as it runs, without the group `sweep`; malloc'ed. */
static char *resolved_text(const struct ker_config *config)
{
    char *text = NULL, *kept = NULL, *rest, *line;
    size_t length;
    FILE *all = open_memstream(&text, &length);
    ker_config_write(config, all);
    fclose(all);
    FILE *out = open_memstream(&kept, &length);
    bool inside = false;
    for (rest = text; (line = strsep(&rest, "\n")) != NULL;) {
        const char *bare = strncmp(line, "# ", 2) == 0 ? line + 2 : line;
        inside |= strncmp(bare, "sweep = {", 9) == 0;
        if (!inside)
            fprintf(out, "%s\n", line);
        inside &= strncmp(bare, "}", 1) != 0;
    }
    fclose(out);
    free(text);
    return kept;
}

static void key_make(const struct ker_config *config, char key[17])
{
    struct ker_digest digest = {{0}, 0, {0}};
    uint64_t sum[2];
    char *text = resolved_text(config);
    ker_digest_add(&digest, MARSSIM_VERSION, sizeof MARSSIM_VERSION);
    ker_digest_add(&digest, text, strlen(text));
    ker_digest_sum(&digest, sum);
    snprintf(key, 17, "%016llx", (unsigned long long)(sum[0] ^ sum[1]));
    free(text);
}

/* ---- points and groups ---- */

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct sweep_point *)a)->key, ((const struct sweep_point *)b)->key);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct sweep_group *)a)->name, ((const struct sweep_group *)b)->name);
}

static char *group_name(const struct sweep_words *words)
{
    struct sweep_words others = {NULL, 0};
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->word[i].key, SWEEP_SEED) != 0)
            sweep_word_set(&others, words->word[i].key, words->word[i].value);
    char *text = sweep_words_text(&others);
    sweep_words_free(&others);
    return text;
}

static struct sweep_group *group_of(struct sweep *s, const struct sweep_words *words)
{
    struct sweep_group wanted = {.name = group_name(words)};
    struct sweep_group **there = tfind(&wanted, &s->by_name, by_name);
    if (there) {
        free(wanted.name);
        return *there;
    }
    struct sweep_group *group = ker_alloc(sizeof *group);
    *group = wanted;
    group->number = s->groups;
    tsearch(group, &s->by_name, by_name);
    return *KER_APPEND(s->group, s->groups) = group;
}

char *sweep_point_text(const struct sweep_point *p)
{
    char *text = sweep_words_text(&p->words);
    if (*text)
        return text;
    free(text);
    return ker_format("%s", "the configuration as it is");
}

/* The texts of points that cannot be name them. */
static enum ker_status point_fail(struct ker_error *error, const struct sweep_point *p,
                                  const struct ker_error *why)
{
    char *text = sweep_point_text(p);
    ker_fail(error, KER_BAD_INPUT, "point %s: %s", text, why->text);
    free(text);
    return KER_BAD_INPUT;
}

enum ker_status sweep_point_add(struct sweep *s, struct sweep_words *words, struct sweep_point **point,
                                struct ker_error *error)
{
    if (s->share_of && s->numbered++ % s->share_of != s->share_number) {
        sweep_words_free(words);
        *point = NULL;
        return KER_OK;
    }
    struct ker_error *why = ker_alloc(sizeof *why);
    struct ker_config *config;
    struct sweep_point *p = ker_alloc(sizeof *p);
    enum ker_status status = sweep_words_scale(s, words, why);
    p->words = *words;
    *point = p;
    status = status ?: sweep_config_load(s, words, &config, why);
    if (status == KER_OK) {
        key_make(config, p->key);
        ker_config_free(config);
        struct sweep_point **there = tfind(p, &s->by_key, by_key);
        if (there) {
            char *text = sweep_point_text(*there);
            status = ker_fail(why, KER_BAD_INPUT,
                              "it is the same run as point %s: what differs means nothing there", text);
            free(text);
        }
    }
    if (status != KER_OK) {
        point_fail(error, p, why);
        sweep_words_free(&p->words);
        free(p);
    } else {
        struct sweep_group *group = group_of(s, &p->words);
        p->group = group->number;
        tsearch(p, &s->by_key, by_key);
        *KER_APPEND(group->point, group->count) = s->points;
        *KER_APPEND(s->point, s->points) = p;
    }
    free(why);
    return status;
}

/* ---- jobs ---- */

/* The words of a list, a line each. */
static char *lines_of(const struct ker_config *config, const char *key)
{
    char *all = ker_format("%s", "");
    for (int i = 0; i < ker_config_count(config, key); i++) {
        char *more = ker_format("%s%s\n", all, ker_config_string_at(config, key, i));
        free(all);
        all = more;
    }
    return all;
}

enum ker_status sweep_jobs_read(const struct sweep *s, const struct sweep_words *words,
                                struct sweep_jobs *jobs, struct ker_error *error)
{
    struct ker_config *config;
    enum ker_status status = sweep_config_load(s, words, &config, error);
    size_t starts = 0, afters = 0;
    if (status != KER_OK)
        return status;
    int count = ker_config_count(config, "jobs");
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count; i++) {
            if (ker_config_bool(config, KER_KEY("jobs[%d].background", i)) != (pass == 1))
                continue;
            const char *name = ker_config_string(config, KER_KEY("jobs[%d].name", i));
            *KER_APPEND(jobs->name, jobs->count) = *name ? ker_format("%s", name) : ker_format("job%d", i);
            *KER_APPEND(jobs->start, starts) = ker_config_time(config, KER_KEY("jobs[%d].start", i));
            *KER_APPEND(jobs->after, afters) = lines_of(config, KER_KEY("jobs[%d].after", i));
        }
        jobs->foreground = pass == 0 ? jobs->count : jobs->foreground;
    }
    jobs->traffic = ker_config_has(config, "traffic.pattern");
    jobs->interval = ker_config_time(config, "run.check_interval");
    ker_config_free(config);
    return KER_OK;
}

void sweep_jobs_free(struct sweep_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        free(jobs->name[i]);
        free(jobs->after[i]);
    }
    free(jobs->name);
    free(jobs->start);
    free(jobs->after);
    *jobs = (struct sweep_jobs){0};
}

static void leave(void *node)
{
    (void)node;
}

void sweep_points_free(struct sweep *s)
{
    tdestroy(s->by_key, leave);
    tdestroy(s->by_name, leave);
    for (size_t i = 0; i < s->points; i++) {
        sweep_words_free(&s->point[i]->words);
        sweep_figures_free(&s->point[i]->figures);
        free(s->point[i]->job);
        free(s->point[i]->after);
        free(s->point[i]);
    }
    for (size_t i = 0; i < s->groups; i++) {
        free(s->group[i]->name);
        free(s->group[i]->point);
        free(s->group[i]);
    }
    free(s->point);
    free(s->group);
}
