/* written.c - one table of all options, made of families and kinds.
 *
 * Every option is in it once, the options of a family's kinds behind the one that chooses among them. Its
 * choices and conditions are written out (names in place of traits, the kinds that an option is with), so
 * that the rest of the configuration knows nothing of kinds.
 */
#include "kernel/config/registry.h"

#include <stdlib.h>
#include <string.h>

static _Noreturn void broken(const char *name, const char *what)
{
    char *text = ker_format("kind %s: %s", name, what);
    ker_broken(text, __FILE__, __LINE__);
}

static bool has_trait(const struct ker_kind *kind, const char *trait, size_t length)
{
    return ker_word_in(kind->traits, ' ', trait, length);
}

static const char *text_keep(struct ker_registry *r, char *text)
{
    return *KER_APPEND(r->text, r->texts) = text;
}

static const char *choices_of(struct ker_registry *r, const struct ker_kinds *family)
{
    char *list = NULL;
    for (size_t i = 0; i < r->members; i++)
        if (r->member[i].family == family)
            list = ker_word_add(list, r->member[i].kind->name, strlen(r->member[i].kind->name));
    return list ? text_keep(r, list) : "";
}

/* The names of a family's kinds that have a trait. */
static char *names_with(const struct ker_registry *r, const struct ker_kinds *family, const char *trait,
                        size_t length)
{
    char *list = NULL;
    for (size_t i = 0; i < r->members; i++)
        if (r->member[i].family == family && has_trait(r->member[i].kind, trait, length))
            list = ker_word_add(list, r->member[i].kind->name, strlen(r->member[i].kind->name));
    return list ? list : ker_format("%s", "");
}

/* "KEY=@trait" with names; as it is where the family is not there. */
static const char *traits_expand(struct ker_registry *r, const char *belongs)
{
    char *text = NULL;
    for (const char *sign; (sign = strchr(belongs, '@')) != NULL;) {
        const char *key = sign;
        size_t length = strcspn(sign + 1, " |");
        while (key > belongs && key[-1] != ' ')
            key--;
        char *name = ker_format("%.*s", (int)strcspn(key, "!="), key);
        const struct ker_kinds *family = ker_family_find(r, name);
        char *names =
            family ? names_with(r, family, sign + 1, length) : ker_format("%.*s", (int)length + 1, sign);
        char *longer = ker_format("%s%.*s%s", text ? text : "", (int)(sign - belongs), belongs, names);
        free(text);
        free(name);
        free(names);
        text = longer;
        belongs = sign + 1 + length;
    }
    if (!text)
        return belongs;
    char *whole = ker_format("%s%s", text, belongs);
    free(text);
    return text_keep(r, whole);
}

static bool lists_table(const struct ker_kind *kind, const struct ker_option *table)
{
    const struct ker_option *const *own = kind->options;
    while (own && *own && *own != table)
        own++;
    return own && *own;
}

/* Does a kind of another family list the table, too? Seldom, so that it is asked once for all families. */
static bool listed_elsewhere(const struct ker_registry *r, const struct ker_kinds *family,
                             const struct ker_option *table)
{
    for (size_t i = 0; i < r->members; i++)
        if (r->member[i].family != family && lists_table(r->member[i].kind, table))
            return true;
    return false;
}

static char *longer(char *old, char *new)
{
    free(old);
    return new;
}

/* "key=a|b": the kinds of a family that list the table, and those that leave open which one is meant. NULL:
 * none lists it. */
static char *listed_by(const struct ker_registry *r, const struct ker_kinds *family,
                       const struct ker_option *table)
{
    char *names = NULL;
    for (size_t i = 0; i < r->members; i++)
        if (r->member[i].family == family && lists_table(r->member[i].kind, table))
            names = ker_word_add(names, r->member[i].kind->name, strlen(r->member[i].kind->name));
    for (size_t i = 0; names && i < r->members; i++)
        if (r->member[i].family == family && has_trait(r->member[i].kind, "any", 3))
            names = ker_word_add(names, r->member[i].kind->name, strlen(r->member[i].kind->name));
    char *text = names ? ker_format("%s=%s", family->key, names) : NULL;
    free(names);
    return text;
}

/* The condition that the options of a kind's table have in common: one of the kinds that list it. */
static const char *table_belongs(struct ker_registry *r, const struct ker_kinds *family,
                                 const struct ker_option *table)
{
    const struct ker_kinds *by = NULL;
    char *text = listed_by(r, family, table), *of = NULL;
    bool brought = true;
    for (size_t i = 0; i < r->members; i++) {
        const struct ker_member *m = &r->member[i];
        if (m->family != family || !lists_table(m->kind, table))
            continue;
        brought = brought && m->by && (!by || by == m->by);
        by = m->by;
        for (const char *at = m->of; brought && *at;) {
            size_t length = strcspn(at, "|");
            of = ker_word_add(of, at, length);
            at += length + (at[length] == '|');
        }
    }
    if (brought && by)
        text = longer(text, ker_format("%s=%s & %s", by->key, of, text));
    size_t families = listed_elsewhere(r, family, table) ? r->families : 0;
    for (size_t i = 0; i < families; i++) {
        char *also = r->family[i] != family ? listed_by(r, r->family[i], table) : NULL;
        if (also && brought && by)
            broken(family->key, "has options of another family's kind");
        if (also)
            text = longer(text, ker_format("%s or %s", text, also));
        free(also);
    }
    free(of);
    return text_keep(r, text);
}

static void option_add(struct ker_registry *r, struct ker_option option, const char *with)
{
    if (with && option.belongs)
        option.belongs = text_keep(r, ker_format("%s & %s", with, option.belongs));
    else if (with)
        option.belongs = with;
    if (option.belongs)
        option.belongs = traits_expand(r, option.belongs);
    if (option.kinds && KER_TYPE_OF(&option) == KER_TYPE_CHOICE)
        option.choices = choices_of(r, option.kinds);
    *KER_APPEND(r->option, r->options) = option;
}

/* By the table, not by its keys: two that begin with the same one are a fault, which the check of all
 * reports.
 */
static bool table_added(const struct ker_registry *r, const struct ker_option *table)
{
    for (size_t i = 0; i < r->addeds; i++)
        if (r->added[i] == table)
            return true;
    return false;
}

static void table_add(struct ker_registry *r, const struct ker_option *table, const char *with);

static void family_add(struct ker_registry *r, const struct ker_kinds *family)
{
    for (size_t i = 0; i < r->members; i++) {
        const struct ker_option *const *own = r->member[i].kind->options;
        for (; r->member[i].family == family && own && *own; own++)
            if ((*own)->key && !table_added(r, *own)) {
                *KER_APPEND(r->added, r->addeds) = *own;
                table_add(r, *own, table_belongs(r, family, *own));
            }
    }
}

static void table_add(struct ker_registry *r, const struct ker_option *table, const char *with)
{
    for (const struct ker_option *option = table; option->key; option++) {
        option_add(r, *option, with);
        if (option->kinds)
            family_add(r, option->kinds);
    }
}

void ker_registry_forget(struct ker_registry *r)
{
    ker_free_all(r->text, r->texts);
    free(r->option);
    free(r->added);
    r->text = NULL;
    r->option = NULL;
    r->added = NULL;
    r->texts = r->options = r->addeds = 0;
}

void ker_registry_table(struct ker_registry *r)
{
    ker_registry_forget(r);
    for (const struct ker_option **table = r->given; *table; table++)
        table_add(r, *table, NULL);
    *KER_APPEND(r->option, r->options) = (struct ker_option){0};
    r->options--;
    r->tables[0] = r->option;
}
