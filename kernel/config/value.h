/* value.h - options, and values read as their option wants them. Inside kernel/ only. */
#pragma once

#include "kernel/config/config.h"
#include "kernel/config/tree.h"

#include <stddef.h>

typedef const struct ker_option *const *ker_config_tables; /* as ker_config_load takes them */
/* Each option of all tables. */
#define KER_EACH_OPTION(option, tables)                                                                      \
    for (ker_config_tables table_ = (tables); *table_; table_++)                                             \
        for (const struct ker_option *option = *table_; option->key; option++)

#define KER_TYPE_OF(option) ((enum ker_type)((option)->type & ~KER_TYPE_LIST))
#define KER_IS_LIST(option) (((option)->type & KER_TYPE_LIST) != 0)

struct ker_config_value { /* the member that the option's type names is set */
    bool truth;
    int64_t integer;
    double real;
    ker_time time;
    uint64_t size; /* bytes, rate */
    const char *text;
};

#define KER_WHY_BYTES 768

/* Both return false and say in why[KER_WHY_BYTES] what would be right. Ranges and choices are checked. */
bool ker_config_value_parse(const struct ker_option *, const char *text, struct ker_config_value *,
                            char *why);
bool ker_config_value_read(const struct ker_option *, const struct ker_config_node *,
                           struct ker_config_value *, char *why);
/* Of two values of an option: 0 when they are equal, else -1 or 1; values without an order: 0 or 1. */
int ker_config_value_compare(const struct ker_option *, const struct ker_config_value *,
                             const struct ker_config_value *);
/* "1 to 64", "at least 1", ...; empty without a range. */
void ker_config_range_print(const struct ker_option *, char *buffer, size_t bytes);

/* Member number index of a default written as "a,b,c", malloc'ed and trimmed; NULL when there are fewer.
 * Commas in quotes and brackets do not count. */
char *ker_config_list_item(const char *list, int index);

/* Tables. A pattern is a key with empty brackets. */
char *ker_config_pattern(const char *path); /* "jobs[2].tasks" to "jobs[].tasks", malloc'ed */
const struct ker_option *ker_config_option_find(ker_config_tables, const char *pattern);
enum ker_config_place { KER_PLACE_UNKNOWN, KER_PLACE_OPTION, KER_PLACE_GROUP, KER_PLACE_GROUPS };
enum ker_config_place ker_config_place_find(ker_config_tables, const char *pattern);
/* Is this the first key of the tables that begins with its first `length` letters, a group or list of groups?
 */
bool ker_config_is_first(ker_config_tables, const char *key, size_t length);
/* "jobs[].tasks" with the indices of "jobs[2].nodes": "jobs[2].tasks", malloc'ed. */
char *ker_config_with_indices(const char *pattern, const char *path);
/* The known key most like the path, with the path's indices; malloc'ed, NULL when none is near. */
/* What is behind the last point. */
const char *ker_config_last_word(const char *key);
char *ker_config_nearest(ker_config_tables, const char *path);
/* words.c: what is called otherwise here, NULL: nothing known. */
const char *ker_config_value_hint(const char *key, const char *value);
const char *ker_config_key_hint(const char *key);

/* sound.c: ends the program when a table is wrong in itself (a default out of range, no choices, a key
 * twice). all: these are all tables there are, so that what a key belongs to is in them. */
void ker_config_tables_check(ker_config_tables, bool all);

/* The check of the whole tree, which reports all that is wrong; and the overrides of the command line. */
void ker_config_check(struct ker_config *, struct ker_error *error);
enum ker_status ker_config_override(struct ker_config_node *root, const char *override, ker_config_tables,
                                    struct ker_error *error);

/* select.c: an override that may name members of a list, jobs[NAME].KEY or jobs[*].KEY, or have a former
 * name; and members with enabled = false are taken out. */
enum ker_status ker_config_override_apply(struct ker_config *, const char *override, struct ker_error *error);
void ker_config_leave_out(struct ker_config *);
/* preset.c: what keys GROUP.preset stand for. The configuration has been checked. */
void ker_config_preset(struct ker_config *, struct ker_error *error);

/* terms.c: one term of ker_option.belongs. */
#define KER_TERM_KEY 96
struct ker_term {
    char key[KER_TERM_KEY];
    enum { KER_TERM_GIVEN, KER_TERM_IS, KER_TERM_IS_NOT } kind;
    const char *values; /* "a|b" ... */
    size_t length;      /* ... of this length */
};
void ker_term_read(struct ker_term *, const char *text, size_t length);
/* Is the value, of this option, one of term->values? */
bool ker_term_lists(const struct ker_term *, const struct ker_option *, const struct ker_config_value *);
/* The next piece of *text up to `separator`, with its length; NULL at the end. */
const char *ker_piece_next(const char **text, const char *separator, size_t *length);

/* belongs.c: keys that mean nothing with the choice of another key. */
bool ker_config_means(const struct ker_config *, const struct ker_option *, const char *path);
/* Adds a refusal for each key that is given and means nothing, or takes it out of the tree and keeps a
 * warning. */
void ker_config_belongs_check(struct ker_config *, struct ker_error *error);
/* What is wrong with option->belongs itself, NULL: nothing. all: it names keys of these tables only. */
const char *ker_config_belongs_wrong(ker_config_tables, bool all, const struct ker_option *);
/* "; only with KEY = a, b", or "", malloc'ed. */
char *ker_config_belongs_words(const struct ker_option *);

/* plugins.c: what the key plugins names is loaded, before overrides and check. */
enum ker_status ker_config_plugins(struct ker_config *, const char *const *overrides, int count,
                                   struct ker_error *);

/* former.c: keys of the tree that bear former names get the present ones; an override likewise, malloc'ed. */
void ker_config_former_rename(struct ker_config *, struct ker_error *error);
char *ker_config_former_override(struct ker_config *, const char *override);
/* One warning for each key of the tables; takes the text. */
void ker_config_warn_once(struct ker_config *, const char *key, char *text);

struct ker_config {
    char *file; /* as named by the user */
    struct ker_registry *registry;
    const struct ker_size *sizes; /* of plugins; NULL: none can be loaded */
    ker_config_tables tables;     /* the registry's */
    struct ker_config_node *root;
    struct ker_config_text text;
    struct ker_inputs *inputs;
    struct ker_config_kept *kept; /* defaults that need memory of their own */
    int kept_count;
    struct ker_config_warning *warning;
    int warnings;
};
struct ker_config_warning {
    const char *key; /* of the tables: a warning each */
    char *text;
};
struct ker_config_kept {
    const struct ker_option *option;
    int index; /* in a list, -1: no list */
    char *text;
};
