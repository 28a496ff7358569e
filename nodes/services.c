/* services.c - the key services[]: kinds of services, on which nodes they run, and what they have counted.
 *
 * Each member of the list is a service of the run, behind those of jobs and traffic, in the order of the
 * list; its states lie in one block, in the order of this rank's nodes. Invariant: everything but the block
 * is the same on all ranks.
 */
#include "nodes/service.h"

#include <stdlib.h>

#define SERVICES(KIND) KIND(node_heartbeat)
KER_KINDS_TABLE(kinds, SERVICES);
static const struct ker_kinds family = {"services[].kind", "services of nodes",
                                        sizeof(struct node_service_kind), kinds};

extern const struct stats_schema node_heartbeat_table, node_cores_table, node_memory_table,
    node_core_series_table, node_memory_series_table;
const struct stats_schema *const node_tables[] = {&node_heartbeat_table,     &node_cores_table,
                                                  &node_memory_table,        &node_core_series_table,
                                                  &node_memory_series_table, NULL};

const struct ker_option node_service_options[] = {
    {"services[].kind", KER_TYPE_CHOICE, NULL, NULL, NULL, NULL,
     "What runs on nodes besides the tasks of jobs and synthetic traffic; any number of services share a "
     "node.",
     .kinds = &family},
    {"services[].name", KER_TYPE_STRING, "", NULL, NULL, NULL,
     "For results; default: its kind. At most 23 letters, digits, - and _."},
    {"services[].enabled", KER_TYPE_BOOL, "true", NULL, NULL, NULL, "false: as if it were not there."},
    {"services[].first_node", KER_TYPE_INT, "0", "0", NULL, NULL, "The first node it runs on."},
    {"services[].every", KER_TYPE_INT, "1", "1", NULL, NULL,
     "It runs on every so-manieth node from there on."},
    {"services[].nodes", KER_TYPE_INT, NULL, "1", NULL, NULL, "On how many; absent: as many as there are."},
    {"services[].list", KER_TYPE_STRING, NULL, NULL, NULL, NULL,
     "In the place of these three: the nodes it runs on, numbers and ranges, \"0-3,8\"."},
    {"services[].priority", KER_TYPE_INT, "0", "0", "15", NULL,
     "Priority class of its messages (switch.classes); a higher class is served first."},
    {0},
};

struct one {
    char key[32], *name, *table_name;
    const struct ker_kind *kind; /* NULL: not of services[] */
    const struct node_service_kind *operations;
    struct node_service_setup setup;
    struct stats_schema table;   /* the kind's, under this service's name */
    struct stats_series *series; /* NULL: not wanted */
    void *shared;
    char *state; /* of this rank's nodes */
    uint32_t states;
};

struct node_service_list {
    uint32_t count, services;
    struct one one[]; /* they stay where they are */
};

#define MOST_LETTERS 23 /* of a name: the node knows it as service_NAME, in KER_CHUNK_NAME bytes */
#define KEY(one, word) (node_service_key(&(one)->setup, (word)).text)

/* ---- reading ---- */

static enum ker_status name_read(struct node_service_list *list, struct one *s, struct ker_error *error)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const struct ker_config *config = s->setup.config;
    const char *name = ker_config_string(config, KEY(s, "name"));
    s->name = ker_format("%s", *name ? name : s->kind->name);
    s->setup.name = s->name;
    s->table_name = ker_format("service_%s", s->name);
    if (s->name[strspn(s->name, letters)] || strlen(s->name) > MOST_LETTERS)
        return ker_config_fail(config, error, KEY(s, "name"),
                               "\"%.60s\" names a file: at most %d letters, digits, - and _", s->name,
                               MOST_LETTERS);
    for (const struct one *other = list->one; other < s; other++)
        if (strcmp(other->name, s->name) == 0)
            return ker_config_fail(config, error, KEY(s, "name"),
                                   "%s has the name \"%s\" already: give each service one of its own",
                                   other->key, s->name);
    return KER_OK;
}

static enum ker_status list_read(struct one *s, struct ker_error *error)
{
    static const char *const others[] = {"first_node", "every", "nodes"};
    const struct ker_config *config = s->setup.config;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ker_config_has(config, KEY(s, others[i])))
            return ker_config_fail(config, error, KEY(s, others[i]), "give %s.list or %s.%s, not both",
                                   s->setup.key, s->setup.key, others[i]);
    struct node_role list;
    enum ker_status status = node_role_read(&list, &s->setup, "list", error);
    s->setup.list = list;
    s->setup.first_node = list.members ? list.node[0] : 0;
    s->setup.every = 1;
    s->setup.members = list.members;
    return status;
}

/* On which nodes it runs. */
static enum ker_status range_read(struct one *s, struct ker_error *error)
{
    const struct ker_config *config = s->setup.config;
    uint32_t nodes = s->setup.nodes;
    if (ker_config_has(config, KEY(s, "list")))
        return list_read(s, error);
    int64_t first = ker_config_int(config, KEY(s, "first_node")),
            every = ker_config_int(config, KEY(s, "every"));
    if (first >= nodes)
        return ker_config_fail(config, error, KEY(s, "first_node"), "node %lld of %u: they count from 0",
                               (long long)first, nodes);
    int64_t most = 1 + (nodes - 1 - first) / every, wanted = most;
    if (ker_config_has(config, KEY(s, "nodes")))
        wanted = ker_config_int(config, KEY(s, "nodes"));
    if (wanted > most)
        return ker_config_fail(config, error, KEY(s, "nodes"),
                               "%lld nodes, but there are only %lld: every %lldth of %u, from node %lld on",
                               (long long)wanted, (long long)most, (long long)every, nodes, (long long)first);
    s->setup.first_node = (uint32_t)first;
    s->setup.every = wanted > 1 ? (uint32_t)every : 1; /* every <= nodes where it counts */
    s->setup.members = (uint32_t)wanted;
    return KER_OK;
}

static enum ker_status kind_read(struct one *s, struct ker_error *error)
{
    const struct ker_config *config = s->setup.config;
    if (!ker_config_has(config, KEY(s, "kind"))) {
        char *names = ker_registry_names(ker_config_registry(config), family.key, NULL);
        ker_config_fail(config, error, KEY(s, "kind"), "is missing; it is one of %s", names);
        free(names);
        return KER_BAD_INPUT;
    }
    s->kind = ker_config_kind(config, KEY(s, "kind"));
    s->operations = s->kind->operations;
    return KER_OK;
}

static enum ker_status listed_read(struct node_service_list *list, struct one *s, struct ker_error *error)
{
    enum ker_status status = kind_read(s, error);
    status = status ?: name_read(list, s, error);
    status = status ?: range_read(s, error);
    return status;
}

static enum ker_status own_read(struct one *s, const struct node_service_own *own, struct ker_error *error)
{
    s->operations = own->kind;
    s->name = ker_format("%s", own->name);
    s->setup.name = s->name;
    s->table_name = ker_format("%s", own->table ? own->table : own->name);
    s->setup.every = 1;
    return own->place(&s->setup, error);
}

/* All but what the kind reads. own: NULL: it is of services[]. */
static enum ker_status one_add(struct node_service_list *list, struct one *s,
                               const struct node_service_own *own, struct node_services *services,
                               struct ker_error *error)
{
    enum ker_status status = own ? own_read(s, own, error) : listed_read(list, s, error);
    status = status ?: net_class_read(&s->setup.priority, s->setup.config, KEY(s, "priority"), error);
    if (status)
        return status;
    const struct node_service_kind *kind = s->operations;
    if (kind->table) {
        s->table = *kind->table;
        s->table.name = s->table_name;
    }
    s->shared = ker_alloc(kind->shared_bytes + 1);
    s->setup.service = node_services_add(services, s->table_name, &kind->service, s->shared);
    return KER_OK;
}

enum ker_status node_service_list_new(struct node_service_list **out, const struct ker_config *config,
                                      const struct node_service_own *own, uint32_t nodes, uint64_t seed,
                                      ker_time stop, struct node_services *services, struct ker_error *error)
{
    uint32_t listed = (uint32_t)ker_config_count(config, "services"), most = NODE_MAX_SERVICES, owned = 0;
    enum ker_status status = KER_OK;
    *out = NULL;
    while (own && own[owned].key)
        owned++;
    for (uint32_t i = 0; i < services->count; i++)
        most -= services->at[i].service != NULL;
    if (listed + owned > most)
        return ker_config_fail(config, error, "services", "at most %u services can be there, not %u",
                               most - owned, listed);
    uint32_t count = listed + owned;
    if (count == 0)
        return KER_OK;
    struct node_service_list *list = ker_alloc(sizeof *list + count * sizeof *list->one);
    for (uint32_t i = 0; i < count && !status; i++) {
        struct one *s = &list->one[i];
        if (i < owned)
            snprintf(s->key, sizeof s->key, "%s", own[i].key);
        else
            snprintf(s->key, sizeof s->key, "services[%u]", i - owned);
        s->setup = (struct node_service_setup){
            .config = config, .key = s->key, .nodes = nodes, .all = list, .seed = seed, .stop = stop};
        list->count++;
        status = one_add(list, s, i < owned ? &own[i] : NULL, services, error);
    }
    for (struct one *s = list->one; s < list->one + count && !status; s++)
        if (s->operations->read)
            status = s->operations->read(s->shared, &s->setup, error);
    list->services = services->count;
    if (status)
        node_service_list_free(list);
    else
        *out = list;
    return status;
}

void node_service_list_free(struct node_service_list *list)
{
    for (uint32_t i = 0; list && i < list->count; i++) {
        struct one *s = &list->one[i];
        const struct node_service_kind *kind = s->operations;
        for (uint32_t k = 0; k < s->states && kind->service.release; k++)
            kind->service.release(s->state + k * kind->state_bytes);
        if (s->shared && kind->release)
            kind->release(s->shared);
        free(s->shared);
        node_role_release(&s->setup.list);
        ker_release(s->state, s->states * (kind ? kind->state_bytes : 0));
        free(s->name);
        free(s->table_name);
    }
    free(list);
}

enum ker_status node_service_named(const struct node_service_setup **found,
                                   const struct node_service_list *list, const struct ker_config *config,
                                   const char *key, const char *name, struct ker_error *error)
{
    char *names = ker_format("%s", ""), near[64];
    for (uint32_t i = 0; list && i < list->count; i++) {
        if (strcmp(list->one[i].name, name) == 0) {
            *found = &list->one[i].setup;
            free(names);
            return KER_OK;
        }
        char *longer = ker_format("%s%s%s", names, i ? "|" : "", list->one[i].name);
        free(names);
        names = longer;
    }
    ker_config_choice(names, name, near);
    ker_config_fail(config, error, key,
                    "no service of services[] is called \"%.60s\": its name is its kind's, where it has no "
                    "services[].name%s%s%s",
                    name, *near ? "; did you mean \"" : "", near, *near ? "\"?" : "");
    free(names);
    return KER_BAD_INPUT;
}

enum ker_status node_service_find(const struct node_service_setup **found,
                                  const struct node_service_setup *own, const char *word,
                                  struct ker_error *error)
{
    struct node_service_key key = node_service_key(own, word);
    return node_service_named(found, own->all, own->config, key.text,
                              ker_config_string(own->config, key.text), error);
}

static const struct one *one_of(const struct node_service_setup *setup)
{
    return (const struct one *)(const void *)((const char *)setup - offsetof(struct one, setup));
}

bool node_service_answers(const struct node_service_setup *setup)
{
    return one_of(setup)->operations->answers;
}

bool node_service_list_endless(const struct node_service_list *list)
{
    for (uint32_t i = 0; list && i < list->count; i++)
        if (list->one[i].operations->endless && list->one[i].operations->endless(list->one[i].shared))
            return true;
    return false;
}

/* ---- states ---- */

static void one_attach(struct one *s, const uint32_t *nodes, uint32_t count, void **state, uint32_t services)
{
    const struct node_service_kind *kind = s->operations;
    for (uint32_t i = 0; i < count; i++)
        s->states += node_service_member(&s->setup, nodes[i]) < s->setup.members;
    if (s->states == 0)
        return;
    char *at = s->state = ker_reserve(s->states * kind->state_bytes);
    for (uint32_t i = 0; i < count; i++) {
        if (node_service_member(&s->setup, nodes[i]) == s->setup.members)
            continue;
        kind->init(at, s->shared, &s->setup, nodes[i]);
        state[(size_t)i * services + s->setup.service] = at;
        at += kind->state_bytes;
    }
}

void node_service_list_attach(struct node_service_list *list, const uint32_t *nodes, uint32_t count,
                              void **state)
{
    for (uint32_t i = 0; list && i < list->count; i++)
        one_attach(&list->one[i], nodes, count, state, list->services);
}

/* ---- what they have counted ---- */

const struct stats_schema *node_service_list_table(const struct node_service_list *list, uint32_t index)
{
    for (uint32_t i = 0; list && i < list->count; i++)
        if (list->one[i].operations->table && index-- == 0)
            return &list->one[i].table;
    return NULL;
}

/* This rank's rows. */
static struct stats_table *table_make(const struct one *s, const struct stats_schema *schema, ker_time span)
{
    struct stats_table *table = stats_table_new(schema, NULL, (uint64_t)span);
    stats_table_reserve(table, s->states);
    for (uint32_t i = 0; i < s->states; i++)
        stats_table_add(table, s->state + i * s->operations->state_bytes);
    return table;
}

/* Collective. */
static void one_write(const struct one *s, struct ker_comm *comm, ker_time span,
                      const struct stats_folder *folder, const char *key, struct ker_error *error)
{
    struct stats_table *table = table_make(s, &s->table, span);
    stats_table_show_file(table, comm, folder, key, error);
    stats_table_free(table);
}

/* Collective. */
static void log_write(const struct one *s, struct ker_comm *comm, const struct stats_folder *folder,
                      struct ker_error *error)
{
    const struct node_service_kind *kind = s->operations;
    if (!kind->log || !kind->logs(s->shared))
        return;
    struct stats_table *table = stats_table_new(kind->log, NULL, 0);
    for (uint32_t i = 0; i < s->states; i++)
        kind->log_add(s->state + i * kind->state_bytes, table);
    stats_table_show_file(table, comm, folder, NULL, error);
    stats_table_free(table);
}

void node_service_series_want(struct node_service_list *list, const struct ker_config *config,
                              struct stats_series_files *files)
{
    for (struct one *s = list ? list->one : NULL; s && s < list->one + list->count; s++)
        if (s->operations->series && stats_collects_periods(config, s->operations->series_key))
            s->series = stats_series_want(files, s->operations->series, NULL, s->setup.members);
}

void node_service_series_add(const struct node_service_list *list, ker_time at)
{
    for (const struct one *s = list ? list->one : NULL; s && s < list->one + list->count; s++)
        for (uint32_t i = 0; s->series && i < s->states; i++)
            s->operations->series_add(s->state + i * s->operations->state_bytes, at,
                                      stats_series_rows(s->series));
}

static uint64_t one_row(const void *row)
{
    (void)row;
    return 0;
}

static bool never(const void *context)
{
    (void)context;
    return false;
}

/* A column of one row for all nodes: of shares the largest counts, as max_NAME, which is the caller's. What
 * else does not merge is left out. */
static char *sum_column(struct stats_column *column)
{
    if (column->merge != STATS_SAME)
        return NULL;
    if (column->type != STATS_SHARE) {
        column->wanted = never;
        return NULL;
    }
    column->merge = STATS_MOST;
    char *name = ker_format("max_%s", column->name);
    column->name = name;
    return name;
}

/* The sums of all nodes are the same table with one row, which grows as those of each node do. */
static json_t *one_report(const struct one *s, struct ker_comm *comm, ker_time span,
                          struct stats_growth *growth)
{
    json_t *object =
        s->kind ? json_pack("{s:s, s:s}", "name", s->name, "kind", s->kind->name) : json_object();
    json_object_set_new(object, "nodes", json_integer(s->setup.members));
    if (!s->operations->table)
        return object;
    struct stats_column *column = ker_alloc(s->table.columns * sizeof *column);
    char **name = ker_alloc(s->table.columns * sizeof *name);
    struct stats_schema schema = s->table;
    schema.key = one_row;
    schema.column = column;
    for (size_t i = 0; i < s->table.columns; i++) {
        column[i] = s->table.column[i];
        name[i] = sum_column(&column[i]);
    }
    struct stats_table *sums = table_make(s, &schema, span);
    stats_table_gather(sums, comm);
    if (stats_table_rows(sums)) {
        size_t row = 0;
        json_t *counted = stats_table_row_json(stats_growth_row(growth, sums, &row), 0);
        json_object_update(object, counted);
        json_decref(counted);
        stats_growth_forget(growth); /* it has taken over the schema */
    }
    stats_table_free(sums);
    ker_free_all(name, s->table.columns);
    free(column);
    return object;
}

static json_t *report(const struct one *s, struct ker_comm *comm, ker_time span,
                      const struct stats_folder *folder, bool tables, const char *key,
                      struct ker_error *error)
{
    json_t *object = one_report(s, comm, span, folder->growth);
    if (s->operations->table && tables)
        one_write(s, comm, span, folder, key, error);
    if (tables)
        log_write(s, comm, folder, error);
    return object;
}

json_t *node_service_list_report_own(struct node_service_list *list, const char *name, struct ker_comm *comm,
                                     ker_time span, const struct stats_folder *folder, const char *key,
                                     struct ker_error *error)
{
    for (uint32_t i = 0; list && i < list->count; i++)
        if (!list->one[i].kind && strcmp(list->one[i].name, name) == 0)
            return report(&list->one[i], comm, span, folder, true, key, error);
    return NULL;
}

json_t *node_service_list_report(struct node_service_list *list, struct ker_comm *comm, ker_time span,
                                 const struct stats_folder *folder, bool tables, const char *key,
                                 struct ker_error *error)
{
    bool control = ker_comm_rank(comm) == 0;
    json_t *all = json_array();
    for (uint32_t i = 0; list && i < list->count; i++) {
        const struct one *s = &list->one[i];
        if (s->kind)
            json_array_append_new(all, report(s, comm, span, folder, tables, key, error));
    }
    if (control)
        return all;
    json_decref(all);
    return NULL;
}
