/* tree.h - the configuration as a tree of our own, and paths into it. Inside kernel/ only. */
#pragma once

#include "kernel/config/text.h"

#include <stdbool.h>
#include <stdint.h>

enum ker_node_kind {
    KER_NODE_GROUP,
    KER_NODE_LIST,
    KER_NODE_BOOL,
    KER_NODE_INT,
    KER_NODE_REAL,
    KER_NODE_TEXT
};

struct ker_config_node {
    enum ker_node_kind kind;
    char *name; /* NULL inside a list */
    bool truth;
    int64_t integer;
    double real;
    char *text, *path;               /* path: of KER_TYPE_FILE, as the program opens it; made by the check */
    struct ker_config_node **member; /* of groups and lists */
    int count, room;
    struct ker_config_origin origin; /* file NULL: command line */
};

/* A tree from a text; NULL when libconfig refuses it. */
enum ker_status ker_config_tree_parse(struct ker_config_node **root, const struct ker_config_text *,
                                      struct ker_error *error);
/* The value of an override when it is written as in a file, else NULL; no message. */
struct ker_config_node *ker_config_tree_value(const char *value);

/* name may be NULL (member of a list); both strings are copied. */
struct ker_config_node *ker_config_node_new(enum ker_node_kind, const char *name, struct ker_config_origin);
struct ker_config_node *ker_config_node_text(const char *name, const char *text);
void ker_config_node_free(struct ker_config_node *);
void ker_config_node_add(struct ker_config_node *parent, struct ker_config_node *child);
/* Frees it, too. */
void ker_config_node_remove(struct ker_config_node *parent, struct ker_config_node *child);
struct ker_config_node *ker_config_node_member(const struct ker_config_node *, const char *name,
                                               size_t length);

/* One step of a path "jobs[2].tasks": a name or an index. */
struct ker_config_step {
    const char *name; /* NULL: an index */
    size_t length;
    int index;
};
/* Reads the next step at *path and moves on; false at the end, or when it is written wrong: then *path is not
 * at its end. */
bool ker_config_step_next(const char **path, struct ker_config_step *);

/* The node at a path, NULL when there is none; *last is then the innermost node on the path (may be NULL). */
struct ker_config_node *ker_config_tree_find(struct ker_config_node *root, const char *path,
                                             struct ker_config_node **last);

/* The path of a member of the node at `path`, malloc'ed. */
char *ker_config_member_path(const char *path, const struct ker_config_node *, int index);
/* Fails with "FILE:LINE: key: text" or "command line: key: text". */
enum ker_status ker_config_refuse(struct ker_error *error, struct ker_config_origin, const char *key,
                                  const char *format, ...) __attribute__((format(printf, 4, 5)));
