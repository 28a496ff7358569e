/* outside.c - kinds that are added to a registry later on: checked, since they are nobody's own mistake here.
 */
#include "kernel/config/registry.h"

#include <stdlib.h>
#include <string.h>

static enum ker_status bring_check(const struct ker_registry *r, const char *from,
                                   const struct ker_bring *bring, struct ker_error *error)
{
    const struct ker_kinds *family = ker_family_find(r, bring->key);
    if (!family)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: brings kinds of \"%s\", which no key of marssim chooses from", from, bring->key);
    if (family->operations != bring->operations)
        return ker_fail(
            error, KER_BAD_INPUT,
            "%s: the operations of its kinds of %s have %zu bytes, those of this marssim %zu: rebuild "
            "it with the headers of this version",
            from, bring->key, bring->operations, family->operations);
    for (const struct ker_kind *const *kind = bring->list; *kind; kind++)
        if (!(*kind)->name || !(*kind)->name[0] || !(*kind)->meaning || strpbrk((*kind)->name, "|,\" @="))
            return ker_fail(error, KER_BAD_INPUT, "%s: a kind of %s has no name, a wrong one, or no meaning",
                            from, bring->key);
    return KER_OK;
}

static enum ker_status member_check(const struct ker_registry *r, const struct ker_member *new,
                                    struct ker_error *error)
{
    const struct ker_member *old = ker_member_like(r, new);
    if (old == new)
        return KER_OK;
    return ker_fail(error, KER_BAD_INPUT, "%s: %s = \"%s\" is taken by %s", new->from, new->family->key,
                    new->kind->name, old->from ? old->from : "marssim itself");
}

static bool key_in(const struct ker_option *table, const char *key)
{
    while (table->key && strcmp(table->key, key) != 0)
        table++;
    return table->key != NULL;
}

/* Is the key of this table in another one, or further on in this one? */
static bool key_taken(const struct ker_registry *r, const struct ker_option *table,
                      const struct ker_option *option)
{
    bool taken = key_in(option + 1, option->key);
    for (const struct ker_option **given = r->given; *given; given++)
        taken |= *given != table && key_in(*given, option->key);
    for (size_t i = 0; i < r->members; i++)
        for (const struct ker_option *const *own = r->member[i].kind->options; own && *own; own++)
            taken |= *own != table && key_in(*own, option->key);
    return taken;
}

static enum ker_status options_check(const struct ker_registry *r, const struct ker_member *new,
                                     struct ker_error *error)
{
    for (const struct ker_option *const *table = new->kind->options; table &&*table; table++)
        for (const struct ker_option *option = *table; option->key; option++)
            if (key_taken(r, *table, option))
                return ker_fail(error, KER_BAD_INPUT, "%s: the key %s of its \"%s\" is taken", new->from,
                                option->key, new->kind->name);
    return KER_OK;
}

enum ker_status ker_registry_add(struct ker_registry *r, const char *from, const struct ker_bring *brings,
                                 struct ker_error *error)
{
    size_t first = r->members;
    char *kept = ker_format("%s", from);
    *KER_APPEND(r->from, r->froms) = kept;
    enum ker_status status = KER_OK;
    for (const struct ker_bring *bring = brings; !status && bring && bring->key; bring++) {
        status = bring_check(r, from, bring, error);
        for (const struct ker_kind *const *kind = bring->list; !status && *kind; kind++)
            ker_member_add(
                r, (struct ker_member){ker_family_find(r, bring->key), NULL, *kind, (*kind)->of, kept});
    }
    for (size_t i = first; !status && i < r->members; i++) {
        for (const struct ker_bring *more = r->member[i].kind->brings; !status && more && more->key; more++)
            status = bring_check(r, from, more, error);
        status = status ?: member_check(r, &r->member[i], error);
        status = status ?: options_check(r, &r->member[i], error);
        if (!status)
            ker_member_open(r, i);
    }
    if (status) {
        r->members = first;
    } else {
        ker_registry_table(r);
        ker_config_tables_check(r->tables, false);
    }
    return status;
}
