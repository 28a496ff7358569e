/* path_table.c - the key output.critical_path, and the tables of what critical paths are made of. */
#include "tasks/mpi/path.h"
#include "tasks/mpi/path_links.h"

#include <stdlib.h>

#define STEPS_MOST 100000 /* of a job, in critical_path_steps.csv */

struct link {
    uint32_t job;
    struct task_path_link link;
    uint64_t messages, time, contention, path;
};

struct context {
    const struct task_mpi_names *names;
    const struct task_names *functions;
};

struct row {
    uint32_t job, task, function;
    uint8_t kind;
    uint64_t steps, time, path;
};

struct pair {
    uint32_t job, from, to, links;
    uint64_t messages, time, contention;
};

static const char *job_text(const void *from, uint32_t job)
{
    const struct task_mpi_outside *outside = ((const struct context *)from)->names->outside;
    return outside->job(outside->jobs, job)->name;
}

static const char *function_text(const void *from, uint32_t function)
{
    return ((const struct context *)from)->functions->name[function];
}

static const char *kind_text(const void *from, uint32_t kind)
{
    (void)from;
    return task_path_kind_names[kind];
}

static const char *end_text(const void *from, uint32_t node)
{
    (void)from;
    return node ? "node" : "switch";
}

static const char *class_text(const void *from, uint32_t class)
{
    const struct route_topology *topology = ((const struct context *)from)->names->topology;
    return route_summarise(topology)->link[class].name;
}

/* clang-format off */
#define COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(task, "", U32, SAME, row->task, \
           "the task: of messages, and of sending, the one that has waited for them") \
    COLUMN(function, "", TEXT, SAME, row->function, \
           "the MPI function that it was in; empty: in none", .text = function_text) \
    COLUMN(kind, "", TEXT, SAME, row->kind, "what it was (docs/results.md)", .text = kind_text) \
    COLUMN(steps, "", U64, SUM, row->steps, "in how many pieces of the path") \
    COLUMN(time_ps, "ps", U64, SUM, row->time, "how long: all rows of a job add up to path_ps") \
    COLUMN(path_ps, "ps", U64, SAME, row->path, "the length of the job's path, as far as it is known") \
    COLUMN(share, "", RATIO, SUM, row->time, "time_ps over path_ps", .by = "path_ps")

#define STEP_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(step, "", U64, SAME, row->number, "its number: 0 is the last in time") \
    COLUMN(begin_ps, "ps", U64, SAME, (uint64_t)row->begin, "from when") \
    COLUMN(end_ps, "ps", U64, SAME, (uint64_t)row->end, "until when: where the step before begins") \
    COLUMN(task, "", U32, SAME, row->task, "as in critical_path.csv") \
    COLUMN(from_task, "", U32, SAME, row->from, "of a message: the task that sent it; else where it was") \
    COLUMN(to_task, "", U32, SAME, row->to, "of a message: the task that it went to; else the same") \
    COLUMN(function, "", TEXT, SAME, row->function, "as in critical_path.csv", .text = function_text) \
    COLUMN(kind, "", TEXT, SAME, row->kind, "as in critical_path.csv", .text = kind_text)

#define PAIR_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(from_task, "", U32, SAME, row->from, "the task that sent messages") \
    COLUMN(to_task, "", U32, SAME, row->to, "the task that they went to") \
    COLUMN(links, "", U32, SAME, row->links, \
           "links of a minimal route between their nodes, those of the nodes included; 0: the same node") \
    COLUMN(messages, "messages", U64, SUM, row->messages, "messages on the path, control messages included") \
    COLUMN(time_ps, "ps", U64, SUM, row->time, "how long they were in transit") \
    COLUMN(contention_ps, "ps", U64, SUM, row->contention, \
           "of that: what they took longer than in an empty network")

#define LINK_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(from_kind, "", TEXT, SAME, row->link.from.node, "as in links.csv, as the next five", \
           .text = end_text) \
    COLUMN(from, "", U32, SAME, row->link.from.id, "the sending end's id") \
    COLUMN(from_port, "", U16, SAME, row->link.from.port, "its port") \
    COLUMN(to_kind, "", TEXT, SAME, row->link.to.node, "the receiving end", .text = end_text) \
    COLUMN(to, "", U32, SAME, row->link.to.id, "its id") \
    COLUMN(class, "", TEXT, SAME, row->link.class, "the link's class", .text = class_text) \
    COLUMN(messages, "messages", U64, SUM, row->messages, "messages on the path that passed it for certain") \
    COLUMN(time_ps, "ps", U64, SUM, row->time, "how long these were in transit in all") \
    COLUMN(contention_ps, "ps", U64, SUM, row->contention, \
           "of that: what they took longer than in an empty network") \
    COLUMN(path_ps, "ps", U64, SAME, row->path, "as in critical_path.csv") \
    COLUMN(share, "", RATIO, SUM, row->time, "time_ps over path_ps", .by = "path_ps")
/* clang-format on */

static uint64_t row_key(const void *from)
{
    const struct row *row = from;
    return (uint64_t)row->job << 48 | (uint64_t)row->task << 16 | row->function << 4 | row->kind;
}

static uint64_t pair_key(const void *from)
{
    const struct pair *row = from;
    return (uint64_t)row->job << 48 | (uint64_t)row->from << 24 | row->to;
}

/* A port sends into one link. */
static uint64_t link_key(const void *from)
{
    const struct link *row = from;
    return (uint64_t)row->job << 49 | (uint64_t)row->link.from.node << 48 |
           (uint64_t)row->link.from.id << 16 | row->link.from.port;
}

static uint64_t step_key(const void *from)
{
    const struct task_path_step *row = from;
    return (uint64_t)row->job << 48 | row->number;
}

STATS_SCHEMA(task_path_schema, struct row, COLUMNS, row_key, "critical_path",
             "One row per job, task, function and kind of what is on the job's critical path.")
STATS_SCHEMA(task_path_steps_schema, struct task_path_step, STEP_COLUMNS, step_key, "critical_path_steps",
             "The pieces of each job's critical path, from its end back; the last 100,000 in time.")
STATS_SCHEMA(task_path_pairs_schema, struct pair, PAIR_COLUMNS, pair_key, "critical_path_pairs",
             "One row per job and pair of tasks between which messages are on the critical path.")
STATS_SCHEMA(
    task_path_links_schema, struct link, LINK_COLUMNS, link_key, "critical_path_links",
    "One row per job and direction of a link that messages on the critical path have certainly passed.")

/* ---- the key ---- */

enum ker_status task_path_room(const struct ker_config *config, uint64_t tasks, uint32_t *most,
                               struct ker_error *error)
{
    const char *key = "output.critical_path"; /* a configuration for tests may be without output */
    uint64_t bytes = ker_config_means_key(config, key) ? ker_config_bytes(config, key) : 0,
             pieces = bytes / sizeof(struct task_piece) / (tasks ? tasks : 1);
    *most = pieces < UINT32_MAX / 2 ? (uint32_t)pieces : UINT32_MAX / 2;
    if (!bytes || pieces >= TASK_PIECES_LEAST)
        return KER_OK;
    return ker_config_fail(
        config, error, key,
        "of %llu tasks each has room for %llu pieces of %zu bytes, at least %d are needed: give %llu B",
        (unsigned long long)tasks, (unsigned long long)pieces, sizeof(struct task_piece), TASK_PIECES_LEAST,
        (unsigned long long)tasks * TASK_PIECES_LEAST * sizeof(struct task_piece));
}

/* ---- what the walk finds on this rank ---- */

/* Of one job, task, function and kind; of one pair. */
struct sum {
    uint64_t key; /* + 1 */
    union {
        struct row row;
        struct pair pair;
    };
};

static const struct ker_table_kind sum_kind = KER_TABLE_U64(struct sum);

struct found {
    struct ker_table rows, pairs;
    struct stats_table *steps;
};

static struct sum *sum_of(struct ker_table *table, const struct sum *key)
{
    bool is_new;
    struct sum *sum = ker_table_add(&sum_kind, table, key, &is_new);
    if (is_new)
        *sum = *key;
    return sum;
}

static bool is_message(const struct task_path_step *step)
{
    return step->kind == TASK_PATH_TRANSFER || step->kind == TASK_PATH_HANDSHAKE ||
           step->kind == TASK_PATH_IN_NODE || step->kind == TASK_PATH_CONTENTION;
}

static void step_add(void *context, const struct task_path_step *step)
{
    struct found *found = context;
    uint64_t time = (uint64_t)(step->end - step->begin);
    struct sum row = {.row = {step->job, step->task, step->function, step->kind, 0, 0, 0}},
               pair = {.pair = {step->job, step->from, step->to, 0, 0, 0, 0}};
    row.key = row_key(&row.row) + 1;
    pair.key = pair_key(&pair.pair) + 1;
    struct row *r = &sum_of(&found->rows, &row)->row;
    r->steps++;
    r->time += time;
    if (is_message(step)) {
        bool waits = step->kind == TASK_PATH_CONTENTION;
        struct pair *p = &sum_of(&found->pairs, &pair)->pair;
        p->messages += !waits;
        p->time += time;
        p->contention += waits ? time : 0;
    }
    if (step->number < STEPS_MOST)
        stats_table_add(found->steps, step);
}

static uint32_t node_of(const struct task_mpi_outside *outside, uint32_t job, uint32_t task)
{
    return task_outside_place(outside, job, task, outside->node(outside->jobs, job, task), 0).node;
}

/* The first adapter of a task's node. */
static uint32_t endpoint_of(const struct task_mpi_names *names, uint32_t job, uint32_t task)
{
    return node_of(names->outside, job, task) * route_summarise(names->topology)->adapters;
}

struct tables {
    struct stats_table *rows, *pairs, *links;
    bool routed; /* messages pass links */
};

/* A pair whose links are reported, and where. */
struct passing {
    struct stats_table *links;
    struct link row;
};

static void link_add(void *context, const struct task_path_link *link)
{
    struct passing *p = context;
    p->row.link = *link;
    stats_table_add(p->links, &p->row);
}

static void rows_add(const struct found *found, const struct task_mpi_names *names,
                     const struct task_path_result *result, const struct tables *to)
{
    for (const struct sum *s = NULL; (s = ker_table_next(&sum_kind, &found->rows, s)) != NULL;) {
        struct row row = s->row;
        row.path = (uint64_t)(result[row.job].finish - result[row.job].from);
        stats_table_add(to->rows, &row);
    }
    for (const struct sum *s = NULL; (s = ker_table_next(&sum_kind, &found->pairs, s)) != NULL;) {
        struct pair pair = s->pair;
        uint32_t a = names->topology ? endpoint_of(names, pair.job, pair.from) : 0,
                 b = names->topology ? endpoint_of(names, pair.job, pair.to) : 0;
        struct passing passing = {to->links,
                                  {.job = pair.job,
                                   .messages = pair.messages,
                                   .time = pair.time,
                                   .contention = pair.contention,
                                   .path = (uint64_t)(result[pair.job].finish - result[pair.job].from)}};
        pair.links = names->topology ? route_distance(names->topology, a, b) : 0;
        stats_table_add(to->pairs, &pair);
        if (names->topology && to->routed)
            task_path_links(names->topology, a, b, &(struct task_path_link_visitor){link_add, &passing});
    }
}

/* ---- results ---- */

static enum ker_status table_write(struct stats_table *table, struct ker_comm *comm,
                                   const struct stats_folder *folder, struct ker_error *error)
{
    stats_table_gather(table, comm);
    return ker_comm_rank(comm) == 0 ? stats_table_write(table, folder, error) : KER_OK;
}

enum ker_status task_path_write(const struct task_path_source *source, const struct task_mpi_names *names,
                                struct ker_comm *comm, const struct stats_folder *folder, json_t **paths,
                                struct ker_error *error)
{
    uint32_t jobs = source->jobs;
    struct task_names functions = {0};
    struct context context = {names, &functions};
    struct task_path_result *result = ker_alloc((jobs + (size_t)1) * sizeof *result);
    struct tables t = {.rows = stats_table_new(&task_path_schema, &context, 0),
                       .pairs = stats_table_new(&task_path_pairs_schema, &context, 0),
                       .links = stats_table_new(&task_path_links_schema, &context, 0),
                       .routed = source->routed};
    struct found found = {.steps = stats_table_new(&task_path_steps_schema, &context, 0)};
    task_path_functions(source, &functions, comm);
    task_path_walk(source, comm, &functions, &(struct task_path_visitor){step_add, &found}, result);
    rows_add(&found, names, result, &t);
    enum ker_status status[] = {table_write(t.rows, comm, folder, error),
                                table_write(t.pairs, comm, folder, error),
                                source->routed ? table_write(t.links, comm, folder, error) : KER_OK,
                                table_write(found.steps, comm, folder, error)};
    *paths = ker_comm_rank(comm) == 0 ? task_path_json(result, jobs, t.rows, t.pairs, t.links) : NULL;
    ker_table_release(&found.rows);
    ker_table_release(&found.pairs);
    stats_table_free(t.rows);
    stats_table_free(t.pairs);
    stats_table_free(t.links);
    stats_table_free(found.steps);
    task_names_release(&functions);
    free(result);
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return KER_OK;
}
