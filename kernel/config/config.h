/* config.h - the configuration: a libconfig file, overrides from the command line, and one option table.
 *
 * A file that begins with a brace is JSON: the same groups, lists and values in JSON's language.
 *
 * Every key has one entry in one table (each folder exports its own; marssim.c joins them): type with unit,
 * default, range or choices, meaning. The table drives the check of the file (unknown keys are refused
 * and the nearest known key is named), the getters, --help-config and the reference page.
 *
 * Keys are dotted paths. "[]" stands for the members of a list of groups: "jobs[].tasks"; such keys are read
 * with an index path: ker_config_int(config, "jobs[2].tasks"). A key given as KER_TYPE_TIMES, _BYTES_LIST,
 * ... is a libconfig array or list of values: ["24 GB/s", "5 GB/s"]; a single value stands for a list of one.
 *
 * A file may include others: @include "node.cfg" on a line of its own, relative to the file it is in.
 * Overrides count as if they were in the file, file names too; jobs[2].tasks=4 makes jobs[2] when there are
 * two so far; jobs[NAME].tasks=4 means the job of that name, jobs[*].tasks=4 all jobs (select.c); lists may
 * be bare: topology.extents=4,4,4. Members of lists with enabled = false are not there for any getter.
 *
 * A key that means nothing with the rest of the configuration is refused (ker_option.belongs), or, when the
 * command line has overridden the choice that it belongs to, left out with a warning.
 *
 * ker_config_load checks every value, so that getters cannot fail: they return the value, the default
 * where the key is absent, and assert when the key is not in the table or of another type.
 */
#pragma once

#include "kernel/config/kind.h"
#include "kernel/config/plugin.h"
#include "kernel/config/ranges.h"
#include "kernel/config/sizes.h"

enum ker_type {
    KER_TYPE_BOOL,
    KER_TYPE_INT,         /* int64 */
    KER_TYPE_REAL,        /* double */
    KER_TYPE_TIME,        /* "100 ns" */
    KER_TYPE_BYTES,       /* "4 KiB"; a bare integer is bytes */
    KER_TYPE_RATE,        /* "25 GB/s" */
    KER_TYPE_STRING,      /* free text */
    KER_TYPE_CHOICE,      /* one of ker_option.choices */
    KER_TYPE_FILE,        /* a path, relative to the configuration file */
    KER_TYPE_LIST = 0x40, /* or'ed to a type: a list of it */
};

/* May a key have another value when a run is resumed from a checkpoint? */
enum ker_resume {
    KER_RESUME_FIXED, /* no: the state was made with it */
    KER_RESUME_FREE,  /* yes: it changes no result */
    KER_RESUME_FORK,  /* yes: what follows is another run, with the old value until then (docs/checkpoints.md)
                       */
};

struct ker_option {
    const char *key; /* "switch.channels", "jobs[].name" */
    int type;        /* enum ker_type, perhaps | KER_TYPE_LIST */
    const char
        *fallback; /* default, as it would be written, "" for an empty string or list, NULL for none: then the
                      key counts as absent (ker_config_has) and a getter asserts that it is present */
    const char *minimum, *maximum; /* as written, or NULL */
    const char *choices;           /* "minimal|adaptive", for KER_TYPE_CHOICE */
    const char *meaning;           /* one or two sentences */
    const char *belongs;  /* the choice of another key that this one needs in order to mean anything, NULL:
                             none. "KEY" (given at all, a list of groups too: "jobs"), "KEY=a|b", "KEY!=a|b"
                             (any other value, given or by default); joined by " or ", and these by " & ". In
                             "jobs[].program=trace" the index is that of the key which belongs. "KEY=@trait"
                             stands for all kinds of KEY that have the trait (kind.h). */
    const char *formerly; /* the name it had once, in the same group: still accepted, with a warning */
    const struct ker_kinds *kinds; /* for KER_TYPE_CHOICE, instead of choices: the kinds it chooses from */
    enum ker_resume resume;
};

struct ker_config;

/* Reads `path`, applies the overrides ("key.path=value", values as in the file or bare; several), checks all
 * against the tables. tables is an array of arrays, each ended by an entry with key NULL, the array ended by
 * NULL. */
enum ker_status ker_config_load(struct ker_config **config, const char *path, const char *const *overrides,
                                int override_count, const struct ker_option *const *tables,
                                struct ker_error *error);
/* Collective, the same on all ranks of comm: what is no regular file (a pipe, standard input) is read by rank
 * 0 alone, which hands on the text. Ranks that read different configurations, or of which one fails, all
 * fail; which of them has a message ker_comm_agree finds out. */
/* ... sizes: for the plugins that the configuration names (plugin.h). */
enum ker_status ker_config_load_all(struct ker_config **config, struct ker_comm *comm, const char *path,
                                    const char *const *overrides, int override_count,
                                    const struct ker_option *const *tables, const struct ker_size *sizes,
                                    struct ker_error *error);
/* plugins, for a table of options. */
extern const struct ker_option ker_plugin_options[];
/* The same from a string, for tests and fuzzing; `name` stands for the file in messages. */
enum ker_status ker_config_parse(struct ker_config **config, const char *name, const char *text,
                                 const char *const *overrides, int override_count,
                                 const struct ker_option *const *tables, struct ker_error *error);
/* ... with plugins. */
enum ker_status ker_config_parse_run(struct ker_config **config, const char *name, const char *text,
                                     const char *const *overrides, int override_count,
                                     const struct ker_option *const *tables, const struct ker_size *sizes,
                                     struct ker_error *error);
void ker_config_free(struct ker_config *config);
/* Is a text one of "minimal|adaptive"? Else the nearest is in `near`, empty where none is near. */
bool ker_config_choice(const char *choices, const char *text, char near[64]);
/* The option of a key, its indices included ("jobs[2].tasks"); NULL: there is none. */
const struct ker_option *ker_config_option(const struct ker_option *const *tables, const char *key);
/* The key with indices in place of names: "jobs[a].tasks" is "jobs[1].tasks", and has the next index when
 * there is no a; malloc'ed. */
char *ker_config_key_selected(const struct ker_config *, const char *key);
/* Does the key mean anything with this configuration (ker_option.belongs)? */
bool ker_config_means_key(const struct ker_config *, const char *key);
/* Where the files that the configuration names are registered. */
struct ker_inputs *ker_config_inputs(const struct ker_config *);
/* Warnings about what was read, on standard error. Call it on the control rank only. */
void ker_config_warn(const struct ker_config *);

/* The key of a member, or of what a member has: KER_KEY("jobs[%u].start", 2). It lives to the end of the
 * enclosing block. */
#define KER_KEY(...) ker_key((char[KER_KEY_BYTES]){0}, __VA_ARGS__)
#define KER_KEY_BYTES 96
const char *ker_key(char text[KER_KEY_BYTES], const char *format, ...) __attribute__((format(printf, 2, 3)));

bool ker_config_has(const struct ker_config *, const char *key); /* given by the user (file or override) */
int ker_config_count(const struct ker_config *,
                     const char *key); /* members of a list ("jobs" or a list value) */

bool ker_config_bool(const struct ker_config *, const char *key);
int64_t ker_config_int(const struct ker_config *, const char *key);
double ker_config_real(const struct ker_config *, const char *key);
ker_time ker_config_time(const struct ker_config *, const char *key);
uint64_t ker_config_bytes(const struct ker_config *, const char *key);
uint64_t ker_config_rate(const struct ker_config *, const char *key);
const char *ker_config_string(const struct ker_config *, const char *key); /* also CHOICE */
const char *ker_config_file(const struct ker_config *,
                            const char *key); /* resolved against the file's folder */
/* Of a choice: is it this word, which must be one of the choices; the kind; what the kind operates by. */
bool ker_config_is(const struct ker_config *, const char *key, const char *word);
const struct ker_kind *ker_config_kind(const struct ker_config *, const char *key);
const void *ker_config_operations(const struct ker_config *, const char *key);
/* A choice as a number, by name; words is ended by a word with name NULL, and has all choices. */
struct ker_word {
    const char *name;
    int number;
};
int ker_config_number(const struct ker_config *, const char *key, const struct ker_word *words);
const struct ker_registry *ker_config_registry(const struct ker_config *);

/* Members of list values, index from 0. */
bool ker_config_bool_at(const struct ker_config *, const char *key, int index);
int64_t ker_config_int_at(const struct ker_config *, const char *key, int index);
double ker_config_real_at(const struct ker_config *, const char *key, int index);
ker_time ker_config_time_at(const struct ker_config *, const char *key, int index);
uint64_t ker_config_bytes_at(const struct ker_config *, const char *key, int index);
uint64_t ker_config_rate_at(const struct ker_config *, const char *key, int index);
const char *ker_config_string_at(const struct ker_config *, const char *key, int index);

/* "FILE:LINE: key: text" for checks that need more than one key; line of the key, or of the group it would
 * be in, or "command line" for an override. Returns KER_BAD_INPUT. */
enum ker_status ker_config_fail(const struct ker_config *, struct ker_error *error, const char *key,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The configuration as resolved (every key of the table that applies, with defaults as comments) as a
 * libconfig file; and the reference: every key, unit, default, meaning. */
void ker_config_write(const struct ker_config *, FILE *out);
/* What was given, in JSON; names of files are relative to the folder of the configuration. */
void ker_config_write_json(const struct ker_config *, FILE *out);
/* The files of the configuration itself (with what they include), then the files and folders that its keys
 * name, as they are opened. */
void ker_config_files(const struct ker_config *, void (*visit)(void *context, const char *path),
                      void *context);
void ker_config_help(const struct ker_option *const *tables, FILE *out);
/* The part of it that has this word: a group ("switch"), a key, or all keys that have it in their name, then
 * in their meaning; KER_BAD_INPUT: none. */
enum ker_status ker_config_help_word(const struct ker_option *const *tables, const char *word, FILE *out,
                                     struct ker_error *error);
/* What to say of a word that is no option of the command line, malloc'ed: the key that may be meant; NULL:
 * none. */
char *ker_config_key_near(const struct ker_option *const *tables, const char *word);

/* Levenshtein distance of two words, at most 64 characters of them. */
int ker_config_distance(const char *a, const char *b);
