/* registry.h - the registry's inside, for the files that make, list and extend it. Inside kernel/ only. */
#pragma once

#include "kernel/config/config.h"
#include "kernel/config/value.h"

struct ker_member {
    const struct ker_kinds *family, *by; /* by: of the kind that brings it; NULL: it is in the list */
    const struct ker_kind *kind;
    const char *of, *from; /* from: a plugin; NULL: the program */
};

/* A purpose of random numbers, of a plugin. */
struct ker_purpose_of {
    const char *name;
    char *from;
};

struct ker_registry {
    const struct ker_option **given;
    const struct ker_kinds **family;
    struct ker_member *member;
    size_t families, members;
    struct ker_option *option; /* all of them, the last one with key NULL */
    size_t options;
    const struct ker_option *tables[2];
    const struct ker_option **added; /* the kinds' tables that they come from */
    size_t addeds;
    char **text, **from; /* what options point to; what members are from */
    size_t texts, froms;
    struct ker_purpose_of *purpose;
    size_t purposes;
};

/* Is `word` one of the words of a list, which `separator` divides? */
bool ker_word_in(const char *list, char separator, const char *word, size_t length);
/* Adds `word` to "a|b", unless it is there; frees the old list. */
char *ker_word_add(char *list, const char *word, size_t length);

const struct ker_kinds *ker_family_find(const struct ker_registry *, const char *key);
void ker_member_add(struct ker_registry *, struct ker_member);
/* The first of the same family and name, for one of the same kinds. */
const struct ker_member *ker_member_like(const struct ker_registry *, const struct ker_member *);
/* What kind number `index` has and brings joins, too. */
void ker_member_open(struct ker_registry *, size_t index);
/* written.c: makes the table of all options again. */
void ker_registry_table(struct ker_registry *);
void ker_registry_forget(struct ker_registry *);
