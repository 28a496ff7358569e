/* service.h - services that the configuration puts on nodes: services = ( { kind = "heartbeat"; }, ... ).
 *
 * A kind of service is what it does on a node (struct node_service), how it reads its keys, and what it
 * holds: something that all its nodes of a rank share, and a state for each of them. The same kind may be
 * there several times, under other names and with other keys; each stands for itself. MPI and synthetic
 * traffic are services, too, which jobs and traffic bring instead.
 *
 * What it counts is in its states and is described once, by the columns of a table whose rows are the
 * states: from them come service_NAME.csv and the sums in summary.json.
 */
#pragma once

#include "nodes/nodes.h"

/* Nodes of a service that have a part of their own in it: its servers, its clients; or all that it
 * runs on. */
struct node_role {
    uint32_t members, *node; /* in increasing order */
};

/* What a service is given, the same on every rank. */
struct node_service_setup {
    const struct ker_config *config;
    const char *key, *name;              /* of its group: "services[2]"; its own */
    uint32_t service;                    /* its number, for node_send and node_timer */
    uint32_t nodes;                      /* of the system */
    uint32_t first_node, every, members; /* it runs on node first_node + i x every, i < members */
    struct node_role list;               /* or on these, if there are any: services[].list */
    const struct node_service_list *all;
    uint64_t seed;
    ker_time stop; /* it begins nothing of its own from here on: the measured span is over */
    uint8_t priority;
};

/* The node of member i, and which member a node is: `members` of those that are none. */
uint32_t node_service_node(const struct node_service_setup *, uint32_t member);
uint32_t node_service_member(const struct node_service_setup *, uint32_t node);
/* "services[2].period", in a buffer of the caller's. */
struct node_service_key {
    char text[96];
};
struct node_service_key node_service_key(const struct node_service_setup *, const char *word);

/* Of a key of the kind, "services[2].servers": numbers and ranges, "0-3,8"; absent: all nodes of the service.
 */
enum ker_status node_role_read(struct node_role *, const struct node_service_setup *, const char *word,
                               struct ker_error *);
uint32_t node_role_member(const struct node_role *, uint32_t node); /* which it is; members: none */
void node_role_release(struct node_role *);

/* The service of services[] that a key names (list NULL: there are none); and has its kind `answers`? */
enum ker_status node_service_named(const struct node_service_setup **, const struct node_service_list *,
                                   const struct ker_config *, const char *key, const char *name,
                                   struct ker_error *);
bool node_service_answers(const struct node_service_setup *);
/* The service that a key of the kind names: whom to send to, and its nodes. */
enum ker_status node_service_find(const struct node_service_setup **, const struct node_service_setup *own,
                                  const char *word, struct ker_error *);

struct node_service_kind {
    struct node_service service;      /* its name is that of the kind */
    size_t shared_bytes, state_bytes; /* zeroed at first; state_bytes > 0 */
    /* Tasks may call it (TASK_OP_CALL): it answers each message that is from another service, once, by
     * node_answer to its node_caller_of, or has another service do so; words 1 to 5 of the envelope are the
     * program's. */
    bool answers;
    /* Every rank alike, when all services have their numbers and nodes; setup stays where it is. NULL: there
     * is nothing to read. */
    enum ker_status (*read)(void *shared, const struct node_service_setup *, struct ker_error *);
    void (*release)(void *shared); /* NULL: it holds nothing else */
    void (*init)(void *state, void *shared, const struct node_service_setup *, uint32_t node);
    /* Does it never come to an end by itself? Then the run needs another one. NULL: it does. */
    bool (*endless)(const void *shared);
    /* A row is a state, its key the node; context: none. NULL: it counts nothing. */
    const struct stats_schema *table;
    /* A third, of periods, where the key is "periods": series_add adds a row, or none, for what has happened
     * in a state since the period before. NULL: there is none. */
    const char *series_key;
    const struct stats_schema *series;
    void (*series_add)(void *state, ker_time at, struct stats_table *);
    /* A second table, NAME.csv of its schema: rows for what has happened in a state, one by one, as log_add
     * adds them; where logs() says that it is wanted. NULL: there is none. */
    const struct stats_schema *log;
    bool (*logs)(const void *shared);
    void (*log_add)(const void *state, struct stats_table *);
};

/* ---- for the program ---- */

struct node_service_list; /* of a rank; NULL: there is none */

/* Services that a part of the program brings, under keys of its own, before those of services[]. */
struct node_service_own {
    const char *key, *name; /* NULL: the end of the list */
    const char *table;      /* the name of its table; NULL: it has none */
    const struct node_service_kind *kind;
    /* Which nodes it runs on: members, and first_node and every or list. */
    enum ker_status (*place)(struct node_service_setup *, struct ker_error *);
};
/* Reads services[]; adds them to the others, behind `own` (NULL: there are none). nodes: of the system. */
enum ker_status node_service_list_new(struct node_service_list **, const struct ker_config *,
                                      const struct node_service_own *own, uint32_t nodes, uint64_t seed,
                                      ker_time stop, struct node_services *, struct ker_error *);
void node_service_list_free(struct node_service_list *);
/* As task_system_attach. */
void node_service_list_attach(struct node_service_list *, const uint32_t *nodes, uint32_t count,
                              void **state);
bool node_service_list_endless(const struct node_service_list *);
/* Collective: [{name, kind, nodes, sums of its columns}] of services[] on rank 0, NULL elsewhere; writes
 * their tables, if they are wanted. span: measured time; key: as in stats_writer_open. */
json_t *node_service_list_report(struct node_service_list *, struct ker_comm *, ker_time span,
                                 const struct stats_folder *, bool tables, const char *key,
                                 struct ker_error *);
/* The same of a service that a part of the program has brought; NULL: it is not there. */
json_t *node_service_list_report_own(struct node_service_list *, const char *name, struct ker_comm *,
                                     ker_time span, const struct stats_folder *, const char *key,
                                     struct ker_error *);
/* What series_key asks for, as in run/series.c; list: may be NULL. */
void node_service_series_want(struct node_service_list *, const struct ker_config *,
                              struct stats_series_files *);
void node_service_series_add(const struct node_service_list *, ker_time at);
/* Table number `index` of this run; NULL behind the last. */
const struct stats_schema *node_service_list_table(const struct node_service_list *, uint32_t index);

extern const struct ker_option node_service_options[];
extern const struct stats_schema *const node_tables[]; /* of the kinds of this program, NULL at the end */
