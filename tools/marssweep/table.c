/* table.c - the table: a row for each group of points, a column for each figure that is asked for.
 *
 * Without --columns: with open-loop traffic the accepted load and the packets' latency, with jobs when each
 * of them (at most MOST_JOBS) has finished, else the simulated time. Intervals are Student's t, SWEEP_LEVEL.
 */
#include "tools/marssweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_JOBS 4

struct unit {
    const char *name;
    double base; /* units of the figure */
};
static const struct unit TIMES[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}, {NULL, 0}};
static const struct unit SIZES[] = {
    {"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824.0}, {NULL, 0}};

/* ---- values ---- */

static struct sweep_value value_make(const double *value, size_t count)
{
    struct sweep_value v = {NAN, NAN, count};
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += value[i];
    if (count)
        v.mean = sum / (double)count;
    if (count > 1 && v.mean == 0)
        v.half = 0; /* of figures that are never below 0 */
    else if (count > 1)
        v.half = stats_batch_halfwidth(value, (int)count, SWEEP_LEVEL) * fabs(v.mean);
    return v;
}

struct sweep_value sweep_value_of(const struct sweep *s, const struct sweep_group *g, const char *figure)
{
    double *value = ker_alloc((g->count ? g->count : 1) * sizeof *value);
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++) {
        const struct sweep_point *p = s->point[g->point[i]];
        double own = p->state == SWEEP_DONE ? sweep_figure_of(&p->figures, figure) : NAN;
        if (!isnan(own))
            value[count++] = own;
    }
    struct sweep_value v = value_make(value, count);
    free(value);
    return v;
}

const char *sweep_group_word(const struct sweep *s, const struct sweep_group *g, const char *key)
{
    return sweep_word_of(&s->point[g->point[0]]->words, key);
}

/* The group that this one is compared with: --against KEY=VALUE, all other keys of the table alike; NULL:
 * none. */
static const struct sweep_group *base_of(const struct sweep *s, const struct sweep_table *t,
                                         const struct sweep_group *g)
{
    size_t length = strcspn(s->against, "=");
    const char *value = s->against + length + (s->against[length] == '=');
    for (size_t i = 0; i < t->rows; i++) {
        const struct sweep_group *other = s->group[t->group[i]];
        bool alike = true;
        for (size_t k = 0; k < t->keys && alike; k++) {
            bool key = strlen(t->key[k]) == length && strncmp(t->key[k], s->against, length) == 0;
            const char *own = key ? value : sweep_group_word(s, g, t->key[k]),
                       *there = sweep_group_word(s, other, t->key[k]);
            alike = strcmp(own ? own : "", there ? there : "") == 0;
        }
        if (alike)
            return other;
    }
    return NULL;
}

/* Ratios of runs with the same seed, and of those the mean. */
static struct sweep_value ratio_of(const struct sweep *s, const struct sweep_group *g,
                                   const struct sweep_group *base, const char *figure)
{
    double *ratio = ker_alloc((g->count ? g->count : 1) * sizeof *ratio);
    size_t count = 0;
    for (size_t i = 0; base && i < g->count; i++)
        for (size_t k = 0; k < base->count; k++) {
            const struct sweep_point *p = s->point[g->point[i]], *b = s->point[base->point[k]];
            const char *one = sweep_word_of(&p->words, SWEEP_SEED),
                       *two = sweep_word_of(&b->words, SWEEP_SEED);
            double value = sweep_figure_of(&p->figures, figure) / sweep_figure_of(&b->figures, figure);
            if (strcmp(one ? one : "", two ? two : "") == 0 && isfinite(value))
                ratio[count++] = value;
        }
    struct sweep_value v = value_make(ratio, count);
    free(ratio);
    return v;
}

struct sweep_value sweep_cell_of(const struct sweep *s, const struct sweep_table *t,
                                 const struct sweep_group *g, const struct sweep_column *c)
{
    return c->relative ? ratio_of(s, g, base_of(s, t, g), c->figure) : sweep_value_of(s, g, c->figure);
}

static bool group_shown(const struct sweep *s, const struct sweep_group *g)
{
    bool done = false;
    for (size_t i = 0; i < g->count; i++)
        done |= s->point[g->point[i]]->state == SWEEP_DONE;
    return done && !s->point[g->point[0]]->of;
}

/* ---- columns ---- */

/* The part of a name that ends so, as in packet_latency_ps.mean; NULL: none. */
static const char *suffix_in(const char *name, const char *suffix)
{
    size_t length = strlen(suffix);
    for (const char *at = strstr(name, suffix); at; at = strstr(at + 1, suffix))
        if (at[length] == '\0' || at[length] == '.' || at[length] == '[')
            return at;
    return NULL;
}

static const struct unit *units_of(const char *name, const char **suffix)
{
    if ((*suffix = suffix_in(name, "_ps")) != NULL && !strstr(name, ".count"))
        return TIMES;
    *suffix = suffix_in(name, "bytes");
    return *suffix && (*suffix == name || (*suffix)[-1] == '_') && !(*suffix)[5] ? SIZES : NULL;
}

static double most_of(const struct sweep *s, const struct sweep_table *t, const char *figure)
{
    double most = 0;
    for (size_t i = 0; i < t->rows; i++) {
        double mean = sweep_value_of(s, s->group[t->group[i]], figure).mean;
        most = fabs(mean) > most ? fabs(mean) : most;
    }
    return most;
}

/* Title and unit: the one that is asked for, else the largest that leaves the column's largest at 1 or more.
 */
static enum ker_status column_make(const struct sweep *s, const struct sweep_table *t, struct sweep_column *c,
                                   const char *wanted, struct ker_error *error)
{
    const char *suffix;
    const struct unit *unit = units_of(c->figure, &suffix), *chosen = unit;
    if (!unit && *wanted)
        return ker_fail(error, KER_BAD_INPUT, "--columns %s:%s: it is a number without a unit", c->figure,
                        wanted);
    double most = unit && !*wanted ? most_of(s, t, c->figure) : 0;
    bool found = !*wanted;
    for (; unit && unit->name; unit++)
        if (*wanted ? strcmp(unit->name, wanted) == 0 : most >= unit->base) {
            chosen = unit;
            found = true;
        }
    if (!found)
        return ker_fail(error, KER_BAD_INPUT, "--columns %s: there is no unit %s for it (%s)", c->figure,
                        wanted, chosen == TIMES ? "ps, ns, us, ms, s" : "B, KiB, MiB, GiB");
    c->unit = chosen ? chosen->base : 1;
    if (!chosen)
        c->title = ker_format("%s", c->figure);
    else if (chosen >= TIMES && chosen < TIMES + sizeof TIMES / sizeof *TIMES)
        c->title = ker_format("%.*s%s (%s)", (int)(suffix - c->figure), c->figure, suffix + 3, chosen->name);
    else
        c->title = ker_format("%s (%s)", c->figure, chosen->name);
    return KER_OK;
}

static const struct sweep_point *any_done(const struct sweep *s)
{
    for (size_t i = 0; i < s->points; i++)
        if (s->point[i]->state == SWEEP_DONE && !s->point[i]->of)
            return s->point[i];
    return NULL;
}

static bool some_has(const struct sweep *s, const char *figure)
{
    for (size_t i = 0; i < s->points; i++)
        if (s->point[i]->state == SWEEP_DONE && sweep_figure_there(&s->point[i]->figures, figure))
            return true;
    return false;
}

static enum ker_status name_fail(const struct sweep *s, const char *name, struct ker_error *error)
{
    const struct sweep_figures *f = &any_done(s)->figures;
    const char *near = NULL;
    int distance = 8;
    for (size_t i = 0; i < f->count; i++) {
        int own = ker_config_distance(name, f->figure[i].name);
        if (own < distance) {
            distance = own;
            near = f->figure[i].name;
        }
    }
    return ker_fail(error, KER_BAD_INPUT,
                    "--columns %s: no run has such a figure%s%s%s; --columns list shows all", name,
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static enum ker_status column_add(const struct sweep *s, struct sweep_table *t, const char *asked,
                                  struct ker_error *error)
{
    const char *colon = strrchr(asked, ':');
    struct sweep_column c = {
        .figure = ker_format("%.*s", colon ? (int)(colon - asked) : (int)strlen(asked), asked)};
    enum ker_status status = some_has(s, c.figure) ? column_make(s, t, &c, colon ? colon + 1 : "", error)
                                                   : name_fail(s, c.figure, error);
    *KER_APPEND(t->column, t->columns) = c;
    return status;
}

static enum ker_status columns_default(const struct sweep *s, struct sweep_table *t, struct ker_error *error)
{
    static const char *const of_traffic[] = {"accepted_load", "packet_latency_ps.mean",
                                             "packet_latency_ps.p99"};
    const struct sweep_figures *f = &any_done(s)->figures;
    enum ker_status status = KER_OK;
    bool traffic = sweep_figure_there(f, "traffic.traffic_load");
    for (size_t i = 0; traffic && i < sizeof of_traffic / sizeof *of_traffic && status == KER_OK; i++)
        status = column_add(s, t, of_traffic[i], error);
    for (size_t i = 0, jobs = 0; i < f->count && jobs < MOST_JOBS && status == KER_OK; i++)
        if (strncmp(f->figure[i].name, "jobs[", 5) == 0 && strstr(f->figure[i].name, "].finish_ps")) {
            status = column_add(s, t, f->figure[i].name, error);
            jobs++;
        }
    if (t->columns == 0)
        status = column_add(s, t, "simulated_time_ps", error);
    return status;
}

/* Behind each column its ratio to that of the row that all are compared with. */
static enum ker_status columns_relate(const struct sweep *s, struct sweep_table *t, struct ker_error *error)
{
    struct sweep_column *all = NULL;
    size_t count = 0;
    size_t length = strcspn(s->against, "="), k = 0;
    while (k < t->keys && (strlen(t->key[k]) != length || strncmp(t->key[k], s->against, length) != 0))
        k++;
    bool found = false;
    for (size_t i = 0; i < t->rows && k < t->keys; i++)
        found |= base_of(s, t, s->group[t->group[i]]) != NULL;
    if (!found)
        return ker_fail(
            error, KER_BAD_INPUT,
            "--against %s: the table has no such row: it is KEY=VALUE, a value of a key that is swept",
            s->against);
    for (size_t i = 0; i < t->columns; i++) {
        const struct sweep_column *c = &t->column[i];
        size_t name = strcspn(c->title, " ");
        *KER_APPEND(all, count) = *c;
        *KER_APPEND(all, count) = (struct sweep_column){
            ker_format("%s", c->figure),
            ker_format("%.*s / %s", (int)name, c->title, s->against + strcspn(s->against, "=") + 1), 1, true};
    }
    free(t->column);
    t->column = all;
    t->columns = count;
    return KER_OK;
}

enum ker_status sweep_table_make(const struct sweep *s, struct sweep_table *t, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    t->key = sweep_keys_varied(s);
    for (size_t i = 0; t->key[i]; i++)
        if (strcmp(t->key[i], SWEEP_SEED) != 0)
            t->key[t->keys++] = t->key[i];
    for (size_t i = 0; i < s->groups; i++)
        if (group_shown(s, s->group[i]))
            *KER_APPEND(t->group, t->rows) = i;
    if (t->rows == 0)
        return KER_OK;
    for (size_t i = 0; i < s->columns && status == KER_OK; i++)
        status = column_add(s, t, s->column[i], error);
    if (!s->columns)
        status = columns_default(s, t, error);
    return status == KER_OK && s->against ? columns_relate(s, t, error) : status;
}

void sweep_table_free(struct sweep_table *t)
{
    for (size_t i = 0; i < t->columns; i++) {
        free(t->column[i].figure);
        free(t->column[i].title);
    }
    free(t->column);
    free(t->key);
    free(t->group);
    *t = (struct sweep_table){0};
}
