/* search.c - points that come of the results of others: the load of saturation, and more seeds.
 *
 * Saturation: the load is halved between the highest that was carried and the lowest that was not, for each
 * combination of the other keys, until the two are within 1 %. All seeds of a load are run, and their mean
 * decides.
 *
 * Precision: a group gets another seed until the interval of each column is narrow enough. Latencies of a
 * saturated group depend on the length of the run: only what it accepts is looked at.
 */
#include "tools/marssweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WITHIN 0.01

struct search {
    struct sweep_words words; /* of the combination, without load and seed */
    size_t group;             /* the load that is being looked at */
    double low, high;         /* carried; not carried */
    bool ended, failed, met;  /* met: `high` was seen */
};

struct sweep_search {
    struct search *of;
    size_t count, asked;
};

bool sweep_group_saturated(const struct sweep *s, const struct sweep_group *g)
{
    return sweep_value_of(s, g, SWEEP_SATURATED).mean > 0.5; /* none: NAN */
}

static bool group_ended(const struct sweep *s, const struct sweep_group *g, bool *failed)
{
    for (size_t i = 0; i < g->count; i++) {
        enum sweep_state state = s->point[g->point[i]]->state;
        if (state == SWEEP_WANTED || state == SWEEP_RUNNING)
            return false;
        *failed |= state == SWEEP_FAILED;
    }
    return true;
}

/* ---- saturation ---- */

static void load_text(char text[32], double load)
{
    snprintf(text, 32, "%.6g", load);
}

/* Bounds are the least and the most of traffic.load, where it is given; the first load is between them. */
static enum ker_status bounds_read(struct sweep *s, double bound[2], struct ker_error *error)
{
    char text[32];
    struct sweep_axis *axis = NULL;
    bound[0] = 0;
    bound[1] = 1;
    for (size_t i = 0; i < s->axes.count; i++)
        if (strcmp(s->axes.axis[i].key, SWEEP_LOAD) == 0)
            axis = &s->axes.axis[i];
    for (size_t i = 0; axis && axis->count > 1 && i < axis->count; i++) {
        double load = strtod(axis->value[i], NULL);
        bound[0] = i == 0 || load < bound[0] ? load : bound[0];
        bound[1] = i == 0 || load > bound[1] ? load : bound[1];
    }
    if (s->points_file || s->zip)
        return ker_fail(error, KER_BAD_INPUT, "--saturation: not with --points or --zip");
    if (!(bound[0] >= 0 && bound[0] < bound[1] && bound[1] <= 1))
        return ker_fail(error, KER_BAD_INPUT, "--saturation: %s: bounds between 0 and 1 are needed",
                        SWEEP_LOAD);
    load_text(text, (bound[0] + bound[1]) / 2);
    char *word = ker_format("%s=%s", SWEEP_LOAD, text);
    enum ker_status status = sweep_axis_parse(&s->axes, word, "--saturation", error);
    free(word);
    return status;
}

static enum ker_status saturation_begin(struct sweep *s, struct ker_error *error)
{
    double bound[2];
    enum ker_status status = bounds_read(s, bound, error);
    status = status ?: sweep_points_make(s, error);
    for (size_t i = 0; i < s->groups && status == KER_OK; i++) {
        struct search *search = KER_APPEND(s->search->of, s->search->count);
        *search = (struct search){.group = i, .low = bound[0], .high = bound[1]};
        sweep_words_copy(&search->words, &s->point[s->group[i]->point[0]]->words);
    }
    return status;
}

/* The next load, with the seeds of the first. */
static enum ker_status probe(struct sweep *s, struct search *search, struct ker_error *error)
{
    char text[32];
    struct sweep_group *first = s->group[search->group];
    size_t seeds = first->count;
    enum ker_status status = KER_OK;
    load_text(text, (search->low + search->high) / 2);
    for (size_t i = 0; i < seeds && status == KER_OK; i++) {
        struct sweep_words words = {NULL, 0};
        struct sweep_point *point;
        sweep_words_copy(&words, &s->point[first->point[i]]->words);
        sweep_word_set(&words, SWEEP_LOAD, text);
        status = sweep_point_add(s, &words, &point, error);
        if (status == KER_OK) {
            search->group = point->group;
            status = sweep_resume(s, point, error);
        }
    }
    return status;
}

static bool saturation_more(struct sweep *s, struct ker_error *error)
{
    bool added = false;
    for (size_t i = 0; s->search && i < s->search->count && error->status == KER_OK; i++) {
        struct search *search = &s->search->of[i];
        const struct sweep_group *g;
        while (!search->ended && group_ended(s, s->group[search->group], &search->failed)) {
            g = s->group[search->group];
            double load = strtod(sweep_group_word(s, g, SWEEP_LOAD), NULL);
            bool saturated = !search->failed && sweep_group_saturated(s, g);
            search->low = saturated ? search->low : load;
            search->high = saturated ? load : search->high;
            search->met |= saturated;
            search->ended = search->failed || search->high - search->low <= WITHIN * search->high;
            if (!search->ended && probe(s, search, error) != KER_OK)
                break;
            added = true;
        }
    }
    return added;
}

void sweep_search_print(const struct sweep *s, FILE *out)
{
    for (size_t i = 0; s->search && i < s->search->count; i++) {
        const struct search *search = &s->search->of[i];
        char *text = sweep_words_varied(s, &search->words, SWEEP_LOAD);
        fprintf(out, "saturation  %s%s", text, *text ? ": " : "");
        if (search->failed)
            fprintf(out, "not found: a run failed\n");
        else if (!search->ended)
            fprintf(out, "not found yet: between %.4g and %.4g\n", search->low, search->high);
        else if (!search->met)
            fprintf(out, "none up to a load of %.4g\n", search->low);
        else
            fprintf(out, "at a load of %.4g (%.4g is carried, %.4g is not)\n",
                    (search->low + search->high) / 2, search->low, search->high);
        free(text);
    }
}

/* ---- precision ---- */

static bool group_wide(const struct sweep *s, const struct sweep_table *t, const struct sweep_group *g)
{
    bool saturated = sweep_group_saturated(s, g);
    for (size_t c = 0; c < t->columns; c++) {
        struct sweep_value v = sweep_value_of(s, g, t->column[c].figure);
        if (saturated && strstr(t->column[c].figure, "latency"))
            continue;
        if (v.count && (isnan(v.half) || v.half > s->precision * fabs(v.mean)))
            return true;
    }
    return false;
}

static enum ker_status seed_add(struct sweep *s, const struct sweep_group *g, struct ker_error *error)
{
    uint64_t last = 0;
    char text[24];
    struct sweep_words words = {NULL, 0};
    struct sweep_point *point;
    for (size_t i = 0; i < g->count; i++) {
        const char *own = sweep_word_of(&s->point[g->point[i]]->words, SWEEP_SEED);
        uint64_t seed = own ? strtoull(own, NULL, 10) : 0;
        last = seed > last ? seed : last;
    }
    snprintf(text, sizeof text, "%llu", (unsigned long long)last + 1);
    sweep_words_copy(&words, &s->point[g->point[0]]->words);
    sweep_word_set(&words, SWEEP_SEED, text);
    enum ker_status status = sweep_point_add(s, &words, &point, error);
    return status == KER_OK ? sweep_resume(s, point, error) : status;
}

static bool precision_more(struct sweep *s, struct ker_error *error)
{
    struct sweep_table table = {0};
    bool added = false;
    if (!(s->precision > 0) || sweep_table_make(s, &table, error) != KER_OK)
        return false;
    for (size_t i = 0, groups = s->groups; i < groups && error->status == KER_OK; i++) {
        const struct sweep_group *g = s->group[i];
        bool failed = false;
        if (s->point[g->point[0]]->of || g->count >= s->most_seeds || !group_ended(s, g, &failed) || failed ||
            !group_wide(s, &table, g))
            continue;
        added |= seed_add(s, g, error) == KER_OK;
    }
    sweep_table_free(&table);
    return added;
}

enum ker_status sweep_search_begin(struct sweep *s, struct ker_error *error)
{
    s->search = ker_alloc(sizeof *s->search);
    if (s->precision > 0 && s->seeds == 0)
        s->seeds = 3;
    return s->saturation ? saturation_begin(s, error) : sweep_points_make(s, error);
}

bool sweep_search_more(struct sweep *s, struct ker_error *error)
{
    return saturation_more(s, error) || precision_more(s, error);
}

void sweep_search_free(struct sweep *s)
{
    for (size_t i = 0; s->search && i < s->search->count; i++)
        sweep_words_free(&s->search->of[i].words);
    if (s->search)
        free(s->search->of);
    free(s->search);
}
