/* kind.h - kinds: what an option chooses from, and the registry of all options and kinds.
 *
 * A kind (a topology, a traffic pattern, a program, ...) is data: its name, what it is in one line, its
 * operations, and the keys that mean something with it alone. Kinds that an option chooses from are a family,
 * struct ker_kinds; the option names it (ker_option.kinds). All that is known of choices comes from there:
 * the values that are allowed, --list, --help-config, --schema, the reference page, completion. Kinds are
 * looked up by name, never by their place in a list, so that adding one changes nothing else.
 *
 * Where keys and kinds are says when they mean something: the keys of a kind belong to it ("only with
 * topology.kind = torus" need not be written), and the kinds that a kind brings (the routing algorithms of a
 * topology) are to be had with it alone. A table of keys that several kinds of a family list belongs to all
 * of these.
 *
 * What options of other files ask of a kind is a trait, a word: the pattern that runs in phases has
 * "phases", and traffic.load belongs to "traffic.pattern!=@phases". So a new kind names its traits, and no
 * list of names has to know it. A kind with the trait "any" leaves open which of its family is meant (the
 * format "auto"): the keys of all others may be with it.
 */
#pragma once

#include "kernel/base/base.h"

struct ker_option;
struct ker_bring;

struct ker_kind {
    const char *name, *meaning; /* meaning: one line */
    const char *of;     /* "torus|fat_tree": with these kinds of another family alone; NULL: with any, or with
                           the kind that brings it */
    const char *traits; /* words, "adaptive detours"; NULL: none */
    const char *formerly;   /* the name it had once: still accepted, with a warning; NULL: none */
    const void *operations; /* the family says of which type; NULL: the name says all */
    const struct ker_option *const *options; /* tables of its own keys, NULL at the end; NULL: none */
    const struct ker_bring *brings;          /* key NULL at the end; NULL: nothing */
};

/* A family. */
struct ker_kinds {
    const char *key, *title;            /* "topology.kind", "topologies" */
    size_t operations;                  /* bytes of what ker_kind.operations points to; 0: nothing */
    const struct ker_kind *const *list; /* NULL at the end */
};

/* Kinds for the family of this key. */
struct ker_bring {
    const char *key;
    size_t operations; /* as in the family */
    const struct ker_kind *const *list;
};

/* Tables of options: .options = KER_OPTIONS(torus_options, route_link_options) */
#define KER_OPTIONS(...) ((const struct ker_option *const[]){__VA_ARGS__, NULL})
/* .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, torus_algorithms) */
#define KER_BRINGS(key, type, list)                                                                          \
    ((const struct ker_bring[]){{(key), sizeof(type), (list)}, {NULL, 0, NULL}})
/* The table of a family: a line each, as in #define TOPOLOGIES(KIND) KIND(route_torus) KIND(route_star) and
 * KER_KINDS_TABLE(topologies, TOPOLOGIES). It declares them, too. */
#define KER_KIND_DECLARE(kind) extern const struct ker_kind kind;
#define KER_KIND_LIST(kind) &kind,
#define KER_KINDS_TABLE(name, KINDS)                                                                         \
    KINDS(KER_KIND_DECLARE)                                                                                  \
    static const struct ker_kind *const name[] = {KINDS(KER_KIND_LIST) NULL}

struct ker_registry;

/* Of these tables, ended by NULL, each by an option with key NULL, and of all kinds that their options choose
 * from. Wrong tables are an assertion. */
struct ker_registry *ker_registry_new(const struct ker_option *const *tables);
void ker_registry_free(struct ker_registry *);
/* All options, those of the kinds among them, with choices and conditions filled in. They are the registry's
 * own, until kinds are added. */
const struct ker_option *const *ker_registry_tables(const struct ker_registry *);
/* Adds kinds; `from` stands for the file that they come from in messages. All or none. */
enum ker_status ker_registry_add(struct ker_registry *, const char *from, const struct ker_bring *,
                                 struct ker_error *);
/* Purposes of random numbers (random.h) that `from` draws for, NULL at the end. One whose number another has
 * is refused: both would draw the same. */
enum ker_status ker_registry_purposes(struct ker_registry *, const char *from, const char *const *names,
                                      struct ker_error *);
/* The kind of this name (NULL: the first one) in the family of this key, for `of` (a name in another family;
 * NULL: whatever it is for). NULL: there is none. */
const struct ker_kind *ker_registry_find(const struct ker_registry *, const char *key, const char *name,
                                         const char *of);
/* The name now of a kind that was called `former`; NULL: none was. */
const char *ker_registry_present(const struct ker_registry *, const char *key, const char *former);
/* The kinds of the family of this key, from 0 on; NULL at the end. */
const struct ker_kind *ker_registry_kind(const struct ker_registry *, const char *key, size_t number);
/* "a, b, c": their names, each once, malloc'ed. */
char *ker_registry_names(const struct ker_registry *, const char *key, const char *of);
/* Every family and its kinds, a line each. */
void ker_registry_list(const struct ker_registry *, FILE *out);
/* The JSON schema (draft 2020-12) of all configurations. */
void ker_registry_schema(const struct ker_registry *, FILE *out);
