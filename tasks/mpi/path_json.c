/* path_json.c - what the critical path of each job is made of, for summary.json: on rank 0, from the tables.
 */
#include "tasks/mpi/path.h"

#include <stdlib.h>
#include <string.h>

#define LISTED 10 /* tasks, functions, pairs */

const char *const task_path_kind_names[TASK_PATH_KINDS] = {"computation", "call",      "transfer", "in_node",
                                                           "contention",  "handshake", "sending",  "matching",
                                                           "service",     "other"};

/* Of a task, a function, a pair. */
struct part {
    uint64_t time, messages, contention;
    uint32_t what, to;
};
struct parts {
    struct part *part;
    uint32_t count, room;
};

/* Columns, and the rows that are read next: both tables are in the order of the jobs. */
struct tables {
    const struct stats_table *rows, *pairs, *link_rows;
    int job, task, function, kind, time, pair_job, from, to, links, messages, pair_time, contention;
    size_t row, pair, link;
};

static struct tables tables_of(const struct stats_table *rows, const struct stats_table *pairs,
                               const struct stats_table *links)
{
    return (struct tables){.rows = rows,
                           .pairs = pairs,
                           .link_rows = links,
                           .job = stats_table_find(rows, "job", false),
                           .task = stats_table_find(rows, "task", false),
                           .function = stats_table_find(rows, "function", false),
                           .kind = stats_table_find(rows, "kind", false),
                           .time = stats_table_find(rows, "time_ps", false),
                           .pair_job = stats_table_find(pairs, "job", false),
                           .from = stats_table_find(pairs, "from_task", false),
                           .to = stats_table_find(pairs, "to_task", false),
                           .links = stats_table_find(pairs, "links", false),
                           .messages = stats_table_find(pairs, "messages", false),
                           .pair_time = stats_table_find(pairs, "time_ps", false),
                           .contention = stats_table_find(pairs, "contention_ps", false)};
}

static uint64_t cell(const struct stats_table *table, size_t row, int column)
{
    return (uint64_t)stats_table_cell(table, row, column);
}

/* Few functions, and a task's rows follow each other. */
static void part_add(struct parts *parts, uint32_t what, uint64_t time)
{
    for (uint32_t i = parts->count; i-- > 0;)
        if (parts->part[i].what == what) {
            parts->part[i].time += time;
            return;
        }
    *KER_PUSH(parts->part, parts->count, parts->room) = (struct part){.what = what, .time = time};
}

static void task_add(struct parts *parts, uint32_t task, uint64_t time)
{
    if (parts->count && parts->part[parts->count - 1].what == task)
        parts->part[parts->count - 1].time += time;
    else
        *KER_PUSH(parts->part, parts->count, parts->room) = (struct part){.what = task, .time = time};
}

static int part_compare(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return KER_ORDER(y, x, time) ?: KER_ORDER(x, y, what, to);
}

/* The first ones of those with most time, each as `one` makes it. */
static json_t *parts_json(struct parts *parts, json_t *(*one)(const void *context, const struct part *),
                          const void *context)
{
    json_t *all = json_array();
    if (parts->count)
        qsort(parts->part, parts->count, sizeof *parts->part, part_compare);
    for (uint32_t i = 0; i < parts->count && i < LISTED; i++)
        json_array_append_new(all, one(context, &parts->part[i]));
    free(parts->part);
    return all;
}

static json_t *task_json(const void *context, const struct part *part)
{
    (void)context;
    return json_pack("{s:I, s:I}", "task", (json_int_t)part->what, "time_ps", (json_int_t)part->time);
}

/* `what` is a row that has the name. */
static json_t *function_json(const void *context, const struct part *part)
{
    const struct tables *t = context;
    return json_pack("{s:s, s:I}", "function", stats_table_text(t->rows, part->to, t->function), "time_ps",
                     (json_int_t)part->time);
}

static json_t *pair_json(const void *context, const struct part *part)
{
    (void)context;
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "from", (json_int_t)part->what, "to", (json_int_t)part->to,
                     "messages", (json_int_t)part->messages, "time_ps", (json_int_t)part->time,
                     "contention_ps", (json_int_t)part->contention);
}

/* Pairs that are equally far apart: `to` counts the pairs. */
static void distance_add(struct parts *distances, uint32_t links, const struct part *pair)
{
    uint32_t at = 0;
    while (at < distances->count && distances->part[at].what != links)
        at++;
    if (at == distances->count)
        *KER_PUSH(distances->part, distances->count, distances->room) = (struct part){.what = links};
    struct part *d = &distances->part[at];
    d->to++;
    d->messages += pair->messages;
    d->time += pair->time;
    d->contention += pair->contention;
}

static json_t *distance_json(const void *context, const struct part *part)
{
    (void)context;
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "links", (json_int_t)part->what, "pairs",
                     (json_int_t)part->to, "messages", (json_int_t)part->messages, "time_ps",
                     (json_int_t)part->time, "contention_ps", (json_int_t)part->contention);
}

static json_t *pairs_json(struct tables *t, uint32_t job, json_t **distances)
{
    struct parts pairs = {0}, far = {0};
    for (; t->pair < stats_table_rows(t->pairs) && cell(t->pairs, t->pair, t->pair_job) == job; t->pair++) {
        struct part *pair = KER_PUSH(pairs.part, pairs.count, pairs.room);
        *pair = (struct part){.what = (uint32_t)cell(t->pairs, t->pair, t->from),
                              .to = (uint32_t)cell(t->pairs, t->pair, t->to),
                              .messages = cell(t->pairs, t->pair, t->messages),
                              .time = cell(t->pairs, t->pair, t->pair_time),
                              .contention = cell(t->pairs, t->pair, t->contention)};
        distance_add(&far, (uint32_t)cell(t->pairs, t->pair, t->links), pair);
    }
    *distances = parts_json(&far, distance_json, NULL);
    return parts_json(&pairs, pair_json, NULL);
}

/* `what` is a row. */
static json_t *link_json(const void *context, const struct part *part)
{
    const struct stats_table *links = ((const struct tables *)context)->link_rows;
    json_t *one = json_object();
    for (const char *const *name =
             (const char *const[]){"from_kind", "from", "from_port", "to_kind", "to", "class", "messages",
                                   "time_ps", "contention_ps", NULL};
         *name; name++) {
        int column = stats_table_find(links, *name, false);
        bool text = strstr(*name, "kind") || strcmp(*name, "class") == 0;
        json_object_set_new(one, *name,
                            text ? json_string(stats_table_text(links, part->what, column))
                                 : json_integer((json_int_t)cell(links, part->what, column)));
    }
    return one;
}

static json_t *links_json(struct tables *t, uint32_t job)
{
    struct parts links = {0};
    int of_job = stats_table_find(t->link_rows, "job", false),
        time = stats_table_find(t->link_rows, "time_ps", false);
    for (; t->link < stats_table_rows(t->link_rows) && cell(t->link_rows, t->link, of_job) == job; t->link++)
        *KER_PUSH(links.part, links.count, links.room) =
            (struct part){.what = (uint32_t)t->link, .time = cell(t->link_rows, t->link, time)};
    return parts_json(&links, link_json, t);
}

static json_t *kinds_json(const uint64_t *time)
{
    json_t *all = json_object();
    for (int kind = 0; kind < TASK_PATH_KINDS; kind++) {
        if (kind == TASK_PATH_SERVICE && !time[kind])
            continue;
        char name[32];
        snprintf(name, sizeof name, "%s_ps", task_path_kind_names[kind]);
        json_object_set_new(all, name, json_integer((json_int_t)time[kind]));
    }
    return all;
}

static json_t *path_json(struct tables *t, uint32_t job, const struct task_path_result *r)
{
    struct parts tasks = {0}, functions = {0};
    uint64_t time[TASK_PATH_KINDS] = {0};
    for (; t->row < stats_table_rows(t->rows) && cell(t->rows, t->row, t->job) == job; t->row++) {
        uint64_t own = cell(t->rows, t->row, t->time);
        uint32_t before = functions.count;
        time[cell(t->rows, t->row, t->kind)] += own;
        task_add(&tasks, (uint32_t)cell(t->rows, t->row, t->task), own);
        part_add(&functions, (uint32_t)cell(t->rows, t->row, t->function), own);
        if (functions.count > before)
            functions.part[before].to = (uint32_t)t->row;
    }
    uint32_t count = tasks.count;
    json_t *distances, *pairs = pairs_json(t, job, &distances);
    return json_pack("{s:I, s:I, s:b, s:b, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "from_ps",
                     (json_int_t)r->from, "to_ps", (json_int_t)r->finish, "finished", (int)r->finished,
                     "complete", (int)r->whole, "last_task", (json_int_t)r->last, "task_count",
                     (json_int_t)count, "steps", (json_int_t)r->steps, "messages", (json_int_t)r->messages,
                     "kinds", kinds_json(time), "functions", parts_json(&functions, function_json, t),
                     "tasks", parts_json(&tasks, task_json, NULL), "pairs", pairs, "distances", distances,
                     "links", links_json(t, job));
}

json_t *task_path_json(const struct task_path_result *result, uint32_t jobs, const struct stats_table *rows,
                       const struct stats_table *pairs, const struct stats_table *links)
{
    struct tables t = tables_of(rows, pairs, links);
    json_t *all = json_array();
    for (uint32_t job = 0; job < jobs; job++)
        json_array_append_new(all, result[job].there ? path_json(&t, job, &result[job]) : json_null());
    return all;
}
