/* kind.c - the registry: families and their kinds, and one table of all options made of them.
 *
 * Families are found by the options that name them, and kinds by their families' lists and by what other
 * kinds bring; a kind may have options that choose from a further family. Then one table of all options is
 * made of them (written.c).
 *
 * Invariant: no two kinds of a family share a name for the same `of`.
 */
#include "kernel/config/registry.h"

#include <stdlib.h>
#include <string.h>

/* Are there kinds that both are for? */
static bool of_meet(const char *a, const char *b)
{
    bool meet = !a || !b;
    for (const char *at = a; !meet && *at;) {
        size_t length = strcspn(at, "|");
        meet = ker_word_in(b, '|', at, length);
        at += length + (at[length] == '|');
    }
    return meet;
}

static _Noreturn void broken(const char *name, const char *what)
{
    char *text = ker_format("kind %s: %s", name, what);
    ker_broken(text, __FILE__, __LINE__);
}

/* ---- joining ---- */

void ker_member_add(struct ker_registry *r, struct ker_member new)
{
    *KER_APPEND(r->member, r->members) = new;
}

const struct ker_member *ker_member_like(const struct ker_registry *r, const struct ker_member *new)
{
    for (size_t i = 0; i < r->members; i++)
        if (r->member[i].family == new->family && strcmp(r->member[i].kind->name, new->kind->name) == 0 &&
            of_meet(r->member[i].of, new->of))
            return &r->member[i];
    return NULL;
}

static void families_find(struct ker_registry *r, const struct ker_option *const *tables)
{
    for (; tables && *tables; tables++)
        for (const struct ker_option *option = *tables; option->key; option++) {
            if (!option->kinds || ker_family_find(r, option->kinds->key))
                continue;
            *KER_APPEND(r->family, r->families) = option->kinds;
            for (const struct ker_kind *const *kind = option->kinds->list; *kind; kind++)
                ker_member_add(r, (struct ker_member){option->kinds, NULL, *kind, (*kind)->of, NULL});
        }
}

/* What kind number `index` has and brings. A family that is not there is no error: tests load some tables
 * only. */
void ker_member_open(struct ker_registry *r, size_t index)
{
    struct ker_member by = r->member[index];
    families_find(r, by.kind->options);
    for (const struct ker_bring *bring = by.kind->brings; bring && bring->key; bring++) {
        const struct ker_kinds *family = ker_family_find(r, bring->key);
        for (const struct ker_kind *const *kind = bring->list; family && *kind; kind++)
            ker_member_add(r, (struct ker_member){family, by.family, *kind,
                                                  (*kind)->of ? (*kind)->of : by.kind->name, by.from});
    }
}

/* ---- the registry ---- */

/* Kinds that are brought are first: what a topology can do itself before what goes for all. */
static void members_order(struct ker_registry *r)
{
    struct ker_member *ordered = NULL;
    size_t count = 0;
    for (int brought = 1; brought >= 0; brought--)
        for (size_t i = 0; i < r->members; i++)
            if ((r->member[i].by != NULL) == brought)
                *KER_APPEND(ordered, count) = r->member[i];
    free(r->member);
    r->member = ordered;
}

struct ker_registry *ker_registry_new(const struct ker_option *const *tables)
{
    struct ker_registry *r = ker_alloc(sizeof *r);
    size_t count = 0;
    do
        *KER_APPEND(r->given, count) = tables[count];
    while (r->given[count - 1]);
    families_find(r, tables);
    for (size_t i = 0; i < r->members; i++)
        ker_member_open(r, i);
    for (size_t i = 0; i < r->members; i++)
        if (ker_member_like(r, &r->member[i]) != &r->member[i])
            broken(r->member[i].kind->name, "is in its family twice");
    members_order(r);
    ker_registry_table(r);
    return r;
}

void ker_registry_free(struct ker_registry *r)
{
    if (!r)
        return;
    ker_registry_forget(r);
    ker_free_all(r->from, r->froms);
    for (size_t i = 0; i < r->purposes; i++)
        free(r->purpose[i].from);
    KER_FREE(r->purpose, r->given, r->family, r->member, r);
}

const struct ker_option *const *ker_registry_tables(const struct ker_registry *r)
{
    return r->tables;
}

const struct ker_kind *ker_registry_find(const struct ker_registry *r, const char *key, const char *name,
                                         const char *of)
{
    const struct ker_kinds *family = ker_family_find(r, key);
    for (size_t i = 0; i < r->members; i++) {
        const struct ker_member *m = &r->member[i];
        if (m->family == family && (!name || strcmp(m->kind->name, name) == 0) && of_meet(m->of, of))
            return m->kind;
    }
    return NULL;
}

const struct ker_kind *ker_registry_kind(const struct ker_registry *r, const char *key, size_t number)
{
    const struct ker_kinds *family = ker_family_find(r, key);
    for (size_t i = 0; i < r->members; i++)
        if (r->member[i].family == family && number-- == 0)
            return r->member[i].kind;
    return NULL;
}

const char *ker_registry_present(const struct ker_registry *r, const char *key, const char *former)
{
    const struct ker_kinds *family = ker_family_find(r, key);
    for (size_t i = 0; i < r->members; i++) {
        const struct ker_kind *kind = r->member[i].kind;
        if (r->member[i].family == family && kind->formerly && strcmp(kind->formerly, former) == 0)
            return kind->name;
    }
    return NULL;
}

char *ker_registry_names(const struct ker_registry *r, const char *key, const char *of)
{
    const struct ker_kinds *family = ker_family_find(r, key);
    char *seen = NULL, *names = NULL;
    for (size_t i = 0; i < r->members; i++) {
        const struct ker_member *m = &r->member[i];
        const char *name = m->kind->name;
        if (m->family != family || !of_meet(m->of, of) || ker_word_in(seen, '|', name, strlen(name)))
            continue;
        char *longer = ker_format("%s%s%s", names ? names : "", names ? ", " : "", name);
        seen = ker_word_add(seen, name, strlen(name));
        free(names);
        names = longer;
    }
    free(seen);
    return names ? names : ker_format("%s", "");
}
