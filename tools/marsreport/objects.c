/* objects.c - series of links, channels, switches, adapters, tasks, jobs, functions, ...: the objects of
 * which most is known, and all of them together, over simulated time.
 *
 * An object is named by the key columns of its series. Of more than REP_MOST_OBJECTS those are kept that have
 * the most of one column in the whole run: by the table of totals, or, where there is none, by the series
 * itself, which is read once more then. Periods are joined until all numbers of a series are at most
 * MOST_NUMBERS. An object without a row in a period did nothing in it.
 *
 * {"keys", "objects": [[cells of the keys]], "count": of all objects, "time_ps": [ends], "begun_ps",
 * "together": periods of each, "columns", "how", "all": by column, "values": by column and object}. Rates are
 * in millionths; a mean over nothing is null.
 */
#include "tools/marsreport/report.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_NUMBERS = 150000, MOST_TIMES = 1000, MOST_COLUMNS = 64, MOST_KEYS = 4 };

struct kind {
    const char *table, *totals, *keys[MOST_KEYS + 1];
    const char *most; /* whose column decides which objects stay */
    int whole_key;    /* rows whose key of this place is `whole` are sums of others: none of all together */
    const char *whole;
    const char *name; /* in the data; NULL: as the table */
};
static const struct kind kinds[] = {
    {"link_series", "links", {"from_kind", "from", "from_port"}, "busy_ps"},
    {"switch_series", "switches", {"switch"}, "busy_ps"},
    {"adapter_series", "adapters", {"node", "adapter"}, "sending_ps"},
    {"channel_series", "channels", {"from_kind", "from", "from_port", "channel"}, "busy_ps"},
    {"job_series", NULL, {"job"}, "wait_ps"},
    {"task_series", "tasks", {"job", "task"}, "wait_ps"},
    {"traffic_series", NULL, {"job", "kind", "leaves_node"}, "bytes", 1, "both"},
    {"latency_series", NULL, {"of"}, "count"},
    {"function_series", NULL, {"job", "function"}, "simulated_ps"},
    {"communicator_series", NULL, {"job", "communicator"}, "bytes"},
    {"core_series", "cores", {"node", "core"}, "busy_ps"},
    {"memory_series", "memory", {"node", "kind", "number"}, "bytes"},
    {"storage_series", "storage", {"server"}, "busy_ps"},
    {"congestion_series", "congestion", {"source", "destination", "class"}, "notices"},
    {"memory_series", NULL, {"kind"}, "bytes", .name = "memory_kinds"},
};

struct object {
    char *key;
    json_t *cells;
    double total;
};

struct column {
    const char *name;
    int place; /* in the table */
    enum rep_joining how;
    double *sum, *weight; /* by object kept, those of all behind them */
    json_t *values;       /* by object kept */
    json_t *all;
};

struct objects {
    struct rep_folder *folder;
    const struct kind *kind;
    struct object object[REP_MOST_OBJECTS + 1]; /* kept, those with most first */
    size_t kept, count;                         /* count: of all */
    json_t *place;                              /* key -> place in `object` */
    struct column column[MOST_COLUMNS];
    int columns, key[MOST_KEYS], keys, weight;
    struct rep_ends ends;
    size_t together, period, rowed; /* rowed: the period of the last row */
    json_t *times;
};

/* ---- which objects ---- */

/* Of the current row, with a character between the cells that names do not have. */
static void key_make(char *key, size_t size, const struct rep_table *t, const int *places, int count)
{
    size_t used = 0;
    *key = '\0';
    for (int i = 0; i < count && used < size; i++) {
        const char *text = rep_cell_text(t, places[i]);
        used += *text ? (size_t)snprintf(key + used, size - used, "%s\x1f", text)
                      : (size_t)snprintf(key + used, size - used, "%lld\x1f",
                                         (long long)rep_cell_integer(t, places[i]));
    }
}

static bool keys_find(struct rep_table *t, const struct kind *kind, int *places, int *count)
{
    bool all = true;
    for (*count = 0; kind->keys[*count]; ++*count)
        all &= (places[*count] = rep_table_column(t, kind->keys[*count])) >= 0;
    return all;
}

static json_t *cells_json(const struct rep_table *t, const int *places, int count)
{
    json_t *cells = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(cells, rep_cell_json(t, places[i]));
    return cells;
}

static void object_free(struct object *o)
{
    json_decref(o->cells);
    free(o->key);
}

/* Among those kept if it has more than the last of them; those that come earlier stay before equal ones. */
static void object_keep(struct objects *o, struct object object)
{
    size_t at = o->kept++;
    for (; at > 0 && o->object[at - 1].total < object.total; at--)
        o->object[at] = o->object[at - 1];
    o->object[at] = object;
    if (o->kept > REP_MOST_OBJECTS)
        object_free(&o->object[--o->kept]);
}

static struct object object_of(const struct rep_table *t, const char *key, const int *places, int count)
{
    return (struct object){.key = ker_format("%s", key), .cells = cells_json(t, places, count)};
}

/* A table that has a row for each object. */
static void totals_read(struct objects *o, struct rep_table *t, const int *places, int count, int most)
{
    char key[512];
    for (; rep_table_next(t); o->count++) {
        double total = rep_cell_real(t, most);
        if (o->kept == REP_MOST_OBJECTS && total <= o->object[o->kept - 1].total)
            continue;
        key_make(key, sizeof key, t, places, count);
        struct object object = object_of(t, key, places, count);
        object.total = total;
        object_keep(o, object);
    }
}

/* A series, which has a row for each object and period. */
static void series_add_up(struct objects *o, struct rep_table *t, const int *places, int count, int most)
{
    json_t *number = json_object();
    struct object *all = NULL;
    char key[512];
    while (rep_table_next(t)) {
        key_make(key, sizeof key, t, places, count);
        const json_t *known = json_object_getn(number, key, strlen(key));
        size_t at = known ? (size_t)json_integer_value(known) : o->count;
        if (!known) {
            *KER_APPEND(all, o->count) = object_of(t, key, places, count);
            json_object_setn_new_nocheck(number, key, strlen(key), json_integer((json_int_t)at));
        }
        all[at].total += rep_cell_real(t, most);
    }
    for (size_t i = 0; i < o->count; i++)
        object_keep(o, all[i]);
    json_decref(number);
    free(all);
}

/* The objects that are kept, by a table of totals or by the series; false: the table is of no use for it. */
static bool objects_choose(struct objects *o, const char *table, bool totals)
{
    struct rep_table *t = table ? rep_table_open(o->folder, table) : NULL;
    int places[MOST_KEYS], count = 0, most = t ? rep_table_column(t, o->kind->most) : -1;
    if (!t || !keys_find(t, o->kind, places, &count)) {
        rep_table_close(t);
        return false;
    }
    (totals ? totals_read : series_add_up)(o, t, places, count, most);
    rep_table_close(t);
    for (size_t i = 0; i < o->kept; i++)
        json_object_setn_new_nocheck(o->place, o->object[i].key, strlen(o->object[i].key),
                                     json_integer((json_int_t)i));
    return o->kept > 0;
}

/* ---- over time ---- */

static bool is_key(const struct objects *o, int place)
{
    for (int i = 0; i < o->keys; i++)
        if (o->key[i] == place)
            return true;
    return false;
}

/* Numbers only: a column of texts, like a name, is none of them; the page makes deviations of the means of
 * squares, which can be joined. */
static void columns_choose(struct objects *o, struct rep_table *t, int time)
{
    o->weight = -1;
    for (int i = 0; i < rep_table_columns(t) && o->columns < MOST_COLUMNS; i++) {
        const char *name = rep_table_name(t, i);
        if (i == time || is_key(o, i) || strstr(name, "name") || strcmp(name, "outputs") == 0 ||
            strstr(name, "_deviation_") || strcmp(name, "skipped_ps") == 0)
            continue;
        if (strcmp(name, "messages") == 0 || strcmp(name, "count") == 0)
            o->weight = i;
        struct column *c = &o->column[o->columns++];
        *c = (struct column){.name = name,
                             .place = i,
                             .how = rep_joining_of(name),
                             .values = json_array(),
                             .all = json_array()};
        c->sum = ker_alloc(sizeof *c->sum * (o->kept + 1));
        c->weight = ker_alloc(sizeof *c->weight * (o->kept + 1));
        for (size_t k = 0; k < o->kept; k++)
            json_array_append_new(c->values, json_array());
    }
}

static json_t *value_json(const struct objects *o, const struct column *c, size_t at, size_t periods)
{
    double value = c->sum[at];
    if (c->how == REP_JOIN_MEAN)
        return c->weight[at] > 0 ? json_integer((json_int_t)llround(value / c->weight[at])) : json_null();
    if (c->how == REP_JOIN_RATE) /* of all: the mean over the objects */
        value = 1e6 * value / (double)periods / (at == o->kept ? (double)o->count : 1);
    return fabs(value) < 9e15 ? json_integer((json_int_t)llround(value)) : json_real(value);
}

/* What waits at the end is that of the last of the joined periods. */
static void period_begin(struct objects *o)
{
    for (int i = 0; i < o->columns; i++)
        if (o->column[i].how == REP_JOIN_LAST)
            memset(o->column[i].sum, 0, sizeof *o->column[i].sum * (o->kept + 1));
}

static void frame_close(struct objects *o, size_t periods)
{
    if (o->rowed + 1 != o->period)
        period_begin(o);
    json_array_append_new(o->times, json_integer(o->ends.at[o->period - 1]));
    for (int i = 0; i < o->columns; i++) {
        struct column *c = &o->column[i];
        for (size_t k = 0; k < o->kept; k++)
            json_array_append_new(json_array_get(c->values, k), value_json(o, c, k, periods));
        json_array_append_new(c->all, value_json(o, c, o->kept, periods));
        memset(c->sum, 0, sizeof *c->sum * (o->kept + 1));
        memset(c->weight, 0, sizeof *c->weight * (o->kept + 1));
    }
}

static void time_reach(struct objects *o, ker_time time)
{
    if (time < KER_TIME_MAX)
        rep_ends_reach(&o->ends, time);
    while (o->period < o->ends.count && o->ends.at[o->period] < time)
        if (++o->period % o->together == 0)
            frame_close(o, o->together);
}

static void row_add(struct objects *o, const struct rep_table *t)
{
    char key[512];
    key_make(key, sizeof key, t, o->key, o->keys);
    const json_t *known = json_object_getn(o->place, key, strlen(key));
    size_t place = known ? (size_t)json_integer_value(known) : o->kept;
    double weight = o->weight < 0 ? 1 : rep_cell_real(t, o->weight);
    const char *whole = o->kind->whole;
    bool counts = !whole || strcmp(rep_cell_text(t, o->key[o->kind->whole_key]), whole) != 0;
    for (int i = 0; i < o->columns; i++) {
        struct column *c = &o->column[i];
        double value = rep_cell_real(t, c->place);
        if (rep_cell_empty(t, c->place))
            continue;
        /* what waits at the end is summed over the objects, but the last of the periods counts */
        if (counts) {
            rep_join(c->how == REP_JOIN_LAST ? REP_JOIN_SUM : c->how, &c->sum[o->kept], value, weight);
            c->weight[o->kept] += weight;
        }
        if (place < o->kept) {
            rep_join(c->how, &c->sum[place], value, weight);
            c->weight[place] += weight;
        }
    }
}

static void rows_read(struct objects *o, struct rep_table *t, int time)
{
    while (rep_table_next(t)) {
        ker_time at = rep_cell_integer(t, time);
        if (at < o->folder->from || at > o->folder->to)
            continue;
        time_reach(o, at);
        if (o->rowed != o->period)
            period_begin(o);
        o->rowed = o->period;
        row_add(o, t);
    }
    time_reach(o, KER_TIME_MAX);
    if (o->ends.count % o->together)
        frame_close(o, o->ends.count % o->together);
}

static json_t *kept_json(const struct objects *o)
{
    json_t *columns = json_array(), *how = json_array(), *all = json_array(), *values = json_array(),
           *keys = json_array(), *cells = json_array();
    static const char *const words[] = {"sum", "last", "max", "rate", "mean"};
    for (int i = 0; i < o->keys; i++)
        json_array_append_new(keys, json_string(o->kind->keys[i]));
    for (size_t i = 0; i < o->kept; i++)
        json_array_append(cells, o->object[i].cells);
    for (int i = 0; i < o->columns; i++) {
        json_array_append_new(columns, json_string(o->column[i].name));
        json_array_append_new(how, json_string(words[o->column[i].how]));
        json_array_append(all, o->column[i].all);
        json_array_append(values, o->column[i].values);
    }
    return json_pack("{s:o, s:o, s:I, s:O, s:I, s:I, s:o, s:o, s:o, s:o}", "keys", keys, "objects", cells,
                     "count", (json_int_t)o->count, "time_ps", o->times, "begun_ps",
                     (json_int_t)o->ends.begun, "together", (json_int_t)o->together, "columns", columns,
                     "how", how, "all", all, "values", values);
}

static void objects_release(struct objects *o)
{
    for (size_t i = 0; i < o->kept; i++)
        object_free(&o->object[i]);
    for (int i = 0; i < o->columns; i++) {
        free(o->column[i].sum);
        free(o->column[i].weight);
        json_decref(o->column[i].values);
        json_decref(o->column[i].all);
    }
    json_decref(o->place);
    json_decref(o->times);
    free(o->ends.at);
}

static json_t *series_json(struct rep_folder *f, const struct kind *kind)
{
    struct rep_table *t = rep_table_open(f, kind->table);
    struct objects o = {.folder = f,
                        .kind = kind,
                        .place = json_object(),
                        .times = json_array(),
                        .together = 1,
                        .rowed = SIZE_MAX};
    json_t *series = NULL;
    int time = t ? rep_table_need(t, "time_ps") : -1;
    if (time >= 0 && keys_find(t, kind, o.key, &o.keys) && rep_ends_find(f, &o.ends, kind->table) &&
        (objects_choose(&o, kind->totals, true) || objects_choose(&o, kind->table, false))) {
        columns_choose(&o, t, time);
        while (o.ends.count / o.together > MOST_TIMES ||
               o.ends.count / o.together * (o.kept + 1) * (size_t)o.columns > MOST_NUMBERS)
            o.together++;
        rows_read(&o, t, time);
        series = kept_json(&o);
    }
    rep_table_close(t);
    objects_release(&o);
    return series;
}

json_t *rep_objects_json(struct rep_folder *f)
{
    json_t *all = json_object();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        json_t *one = series_json(f, &kinds[i]);
        if (one)
            json_object_set_new(all, kinds[i].name ? kinds[i].name : kinds[i].table, one);
    }
    return all;
}
