/* kind.c - the registry: families and their kinds, and one table of all options made of them.
 *
 * Families are found by the options that name them, and kinds by their families' lists and by what other
 * kinds bring; a kind may have options that choose from a further family. Then one table is made: every
 * option once, the options of a family's kinds behind the one that chooses among them. Its choices and
 * conditions are written out (names in place of traits, the kinds that an option stands with), so that the
 * rest of the configuration knows nothing of kinds.
 *
 * Invariant: no two kinds of a family share a name for the same `of`.
 */
#include "kernel/config/kind.h"

#include "kernel/base/memory.h"
#include "kernel/config/config.h"
#include "kernel/config/value.h"

#include <stdlib.h>
#include <string.h>

struct member {
    const struct ker_kinds *family, *by; /* by: of the kind that brings it; NULL: it stands in the list */
    const struct ker_kind *kind;
    const char *of, *from; /* from: a plugin; NULL: the program */
};

struct ker_registry {
    const struct ker_option **given;
    const struct ker_kinds **family;
    struct member *member;
    size_t families, members;
    struct ker_option *option; /* all of them, the last one with key NULL */
    size_t options;
    const struct ker_option *tables[2];
    char **text; /* what options point to */
    size_t texts;
};

/* Is `word` one of the words of a list, which `separator` divides? */
static bool word_in(const char *list, char separator, const char *word, size_t length)
{
    const char divide[] = {separator, '\0'};
    while (list && *list) {
        size_t one = strcspn(list, divide);
        if (one == length && strncmp(list, word, length) == 0)
            return true;
        list += one + (list[one] == separator);
    }
    return false;
}

bool ker_kind_has(const struct ker_kind *kind, const char *trait)
{
    return word_in(kind->traits, ' ', trait, strlen(trait));
}

static bool has_trait(const struct ker_kind *kind, const char *trait, size_t length)
{
    return word_in(kind->traits, ' ', trait, length);
}

/* Are there kinds that both are for? */
static bool of_meet(const char *a, const char *b)
{
    bool meet = !a || !b;
    for (const char *at = a; !meet && *at;) {
        size_t length = strcspn(at, "|");
        meet = word_in(b, '|', at, length);
        at += length + (at[length] == '|');
    }
    return meet;
}

static _Noreturn void broken(const char *name, const char *what)
{
    char *text = ker_format("kind %s: %s", name, what);
    ker_broken(text, __FILE__, __LINE__);
}

static const struct ker_kinds *family_find(const struct ker_registry *r, const char *key)
{
    for (size_t i = 0; i < r->families; i++)
        if (strcmp(r->family[i]->key, key) == 0)
            return r->family[i];
    return NULL;
}

/* ---- joining ---- */

static void member_add(struct ker_registry *r, struct member new)
{
    r->member = ker_realloc(r->member, (r->members + 1) * sizeof *r->member);
    r->member[r->members++] = new;
}

static const struct member *member_like(const struct ker_registry *r, const struct member *new)
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
            if (!option->kinds || family_find(r, option->kinds->key))
                continue;
            r->family = ker_realloc(r->family, (r->families + 1) * sizeof *r->family);
            r->family[r->families++] = option->kinds;
            for (const struct ker_kind *const *kind = option->kinds->list; *kind; kind++)
                member_add(r, (struct member){option->kinds, NULL, *kind, (*kind)->of, NULL});
        }
}

/* What kind number `index` has and brings. A family that is not there is no error: tests load some tables
 * only. */
static void member_open(struct ker_registry *r, size_t index)
{
    struct member by = r->member[index];
    families_find(r, by.kind->options);
    for (const struct ker_bring *bring = by.kind->brings; bring && bring->key; bring++) {
        const struct ker_kinds *family = family_find(r, bring->key);
        for (const struct ker_kind *const *kind = bring->list; family && *kind; kind++)
            member_add(r, (struct member){family, by.family, *kind, (*kind)->of ? (*kind)->of : by.kind->name,
                                          by.from});
    }
}

/* ---- one table of all options ---- */

static const char *text_keep(struct ker_registry *r, char *text)
{
    r->text = ker_realloc(r->text, (r->texts + 1) * sizeof *r->text);
    return r->text[r->texts++] = text;
}

/* Adds `word` to "a|b", unless it is there; frees the old list. */
static char *list_add(char *list, const char *word, size_t length)
{
    if (word_in(list, '|', word, length))
        return list;
    char *longer = ker_format("%s%s%.*s", list ? list : "", list ? "|" : "", (int)length, word);
    free(list);
    return longer;
}

static const char *choices_of(struct ker_registry *r, const struct ker_kinds *family)
{
    char *list = NULL;
    for (size_t i = 0; i < r->members; i++)
        if (r->member[i].family == family)
            list = list_add(list, r->member[i].kind->name, strlen(r->member[i].kind->name));
    return list ? text_keep(r, list) : "";
}

/* The names of a family's kinds that have a trait. */
static char *names_with(const struct ker_registry *r, const struct ker_kinds *family, const char *trait,
                        size_t length)
{
    char *list = NULL;
    for (size_t i = 0; i < r->members; i++)
        if (r->member[i].family == family && has_trait(r->member[i].kind, trait, length))
            list = list_add(list, r->member[i].kind->name, strlen(r->member[i].kind->name));
    return list ? list : ker_format("%s", "");
}

/* "KEY=@trait" with names; as it is where the family is not there. */
static const char *traits_expand(struct ker_registry *r, const char *belongs)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    ker_assert(out);
    for (const char *sign; (sign = strchr(belongs, '@')) != NULL;) {
        const char *key = sign;
        size_t length = strcspn(sign + 1, " |");
        while (key > belongs && key[-1] != ' ')
            key--;
        char *name = ker_format("%.*s", (int)strcspn(key, "!="), key);
        const struct ker_kinds *family = family_find(r, name);
        char *names =
            family ? names_with(r, family, sign + 1, length) : ker_format("%.*s", (int)length + 1, sign);
        fprintf(out, "%.*s%s", (int)(sign - belongs), belongs, names);
        free(name);
        free(names);
        belongs = sign + 1 + length;
    }
    fputs(belongs, out);
    fclose(out);
    return text_keep(r, text);
}

static bool lists_table(const struct ker_kind *kind, const struct ker_option *table)
{
    const struct ker_option *const *own = kind->options;
    while (own && *own && *own != table)
        own++;
    return own && *own;
}

/* The condition that the options of a kind's table have in common: one of the kinds that list it. */
static const char *table_belongs(struct ker_registry *r, const struct ker_kinds *family,
                                 const struct ker_option *table)
{
    const struct ker_kinds *by = NULL;
    char *names = NULL, *of = NULL;
    bool brought = true;
    for (size_t i = 0; i < r->members; i++) {
        const struct member *m = &r->member[i];
        if (!lists_table(m->kind, table))
            continue;
        if (m->family != family)
            broken(m->kind->name, "has options of another family's kind");
        names = list_add(names, m->kind->name, strlen(m->kind->name));
        brought = brought && m->by && (!by || by == m->by);
        by = m->by;
        for (const char *at = m->of; brought && *at;) {
            size_t length = strcspn(at, "|");
            of = list_add(of, at, length);
            at += length + (at[length] == '|');
        }
    }
    char *text = brought ? ker_format("%s=%s & %s=%s", by->key, of, family->key, names)
                         : ker_format("%s=%s", family->key, names);
    free(names);
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
    r->option = ker_realloc(r->option, (r->options + 2) * sizeof *r->option);
    r->option[r->options++] = option;
    r->option[r->options] = (struct ker_option){.key = NULL};
}

static bool table_added(const struct ker_registry *r, const struct ker_option *table)
{
    for (size_t i = 0; i < r->options; i++)
        if (r->option[i].key == table->key)
            return true;
    return false;
}

static void table_add(struct ker_registry *r, const struct ker_option *table, const char *with);

static void family_add(struct ker_registry *r, const struct ker_kinds *family)
{
    for (size_t i = 0; i < r->members; i++) {
        const struct ker_option *const *own = r->member[i].kind->options;
        for (; r->member[i].family == family && own && *own; own++)
            if ((*own)->key && !table_added(r, *own))
                table_add(r, *own, table_belongs(r, family, *own));
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

static void table_forget(struct ker_registry *r)
{
    for (size_t i = 0; i < r->texts; i++)
        free(r->text[i]);
    free(r->text);
    free(r->option);
    r->text = NULL;
    r->option = NULL;
    r->texts = r->options = 0;
}

static void table_make(struct ker_registry *r)
{
    table_forget(r);
    r->option = ker_alloc(sizeof *r->option);
    for (const struct ker_option **table = r->given; *table; table++)
        table_add(r, *table, NULL);
    r->tables[0] = r->option;
    ker_config_tables_check(r->tables, false);
}

/* ---- the registry ---- */

/* Kinds that are brought stand first: what a topology can do itself before what goes for all. */
static void members_order(struct ker_registry *r)
{
    struct member *ordered = ker_alloc((r->members + 1) * sizeof *ordered);
    size_t count = 0;
    for (int brought = 1; brought >= 0; brought--)
        for (size_t i = 0; i < r->members; i++)
            if ((r->member[i].by != NULL) == brought)
                ordered[count++] = r->member[i];
    free(r->member);
    r->member = ordered;
}

struct ker_registry *ker_registry_new(const struct ker_option *const *tables)
{
    struct ker_registry *r = ker_alloc(sizeof *r);
    size_t count = 0;
    while (tables[count])
        count++;
    r->given = ker_alloc((count + 1) * sizeof *r->given);
    memcpy(r->given, tables, count * sizeof *r->given);
    families_find(r, tables);
    for (size_t i = 0; i < r->members; i++)
        member_open(r, i);
    for (size_t i = 0; i < r->members; i++)
        if (member_like(r, &r->member[i]) != &r->member[i])
            broken(r->member[i].kind->name, "stands in its family twice");
    members_order(r);
    table_make(r);
    return r;
}

void ker_registry_free(struct ker_registry *r)
{
    if (!r)
        return;
    table_forget(r);
    free(r->given);
    free(r->family);
    free(r->member);
    free(r);
}

const struct ker_option *const *ker_registry_tables(const struct ker_registry *r)
{
    return r->tables;
}

const struct ker_kind *ker_registry_at(const struct ker_registry *r, const char *key, size_t index,
                                       const char **of)
{
    for (size_t i = 0; i < r->members; i++)
        if (strcmp(r->member[i].family->key, key) == 0 && index-- == 0) {
            if (of)
                *of = r->member[i].of;
            return r->member[i].kind;
        }
    return NULL;
}

const struct ker_kind *ker_registry_find(const struct ker_registry *r, const char *key, const char *name,
                                         const char *of)
{
    const struct ker_kind *kind;
    const char *only;
    for (size_t i = 0; (kind = ker_registry_at(r, key, i, &only)) != NULL; i++)
        if (strcmp(kind->name, name) == 0 && of_meet(only, of))
            return kind;
    return NULL;
}

char *ker_registry_names(const struct ker_registry *r, const char *key, const char *of)
{
    char *seen = NULL, *names = NULL;
    const struct ker_kind *kind;
    const char *only;
    for (size_t i = 0; (kind = ker_registry_at(r, key, i, &only)) != NULL; i++) {
        if (!of_meet(only, of) || word_in(seen, '|', kind->name, strlen(kind->name)))
            continue;
        char *longer = ker_format("%s%s%s", names ? names : "", names ? ", " : "", kind->name);
        seen = list_add(seen, kind->name, strlen(kind->name));
        free(names);
        names = longer;
    }
    free(seen);
    return names ? names : ker_format("%s", "");
}

static bool family_divided(const struct ker_registry *r, const struct ker_kinds *family)
{
    bool divided = false;
    for (size_t i = 0; i < r->members; i++)
        divided |= r->member[i].family == family && r->member[i].of;
    return divided;
}

/* The kinds for one word of `of`; NULL: those for any. */
static void list_of(const struct ker_registry *r, const struct ker_kinds *family, const char *of,
                    size_t length, bool divided, FILE *out)
{
    for (size_t i = 0; i < r->members; i++) {
        const struct member *m = &r->member[i];
        if (m->family != family || (of ? !word_in(m->of, '|', of, length) : m->of != NULL))
            continue;
        if (divided)
            fprintf(out, "  %-22.*s", of ? (int)length : 3, of ? of : "any");
        fprintf(out, "  %-18s %s%s%s%s\n", m->kind->name, m->kind->meaning, m->from ? " [" : "",
                m->from ? m->from : "", m->from ? "]" : "");
    }
}

static void list_family(const struct ker_registry *r, const struct ker_kinds *family, FILE *out)
{
    bool divided = family_divided(r, family);
    char *words = NULL;
    fprintf(out, "%s (%s)\n", family->title, family->key);
    for (size_t i = 0; i < r->members; i++)
        for (const char *at = r->member[i].family == family ? r->member[i].of : NULL; at && *at;) {
            size_t length = strcspn(at, "|");
            if (!word_in(words, '|', at, length))
                list_of(r, family, at, length, divided, out);
            words = list_add(words, at, length);
            at += length + (at[length] == '|');
        }
    free(words);
    list_of(r, family, NULL, 0, divided, out);
}

void ker_registry_list(const struct ker_registry *r, FILE *out)
{
    for (size_t i = 0; i < r->families; i++)
        list_family(r, r->family[i], out);
}

/* ---- kinds from outside ---- */

static enum ker_status bring_check(const struct ker_registry *r, const char *from,
                                   const struct ker_bring *bring, struct ker_error *error)
{
    const struct ker_kinds *family = family_find(r, bring->key);
    if (!family)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: brings kinds of \"%s\", which no key of marssim chooses from", from, bring->key);
    if (family->operations != bring->operations)
        return ker_fail(
            error, KER_BAD_INPUT,
            "%s: the operations of its kinds of %s have %zu bytes, those of this marssim %zu: build "
            "it anew with the headers of this version",
            from, bring->key, bring->operations, family->operations);
    for (const struct ker_kind *const *kind = bring->list; *kind; kind++)
        if (!(*kind)->name || !(*kind)->name[0] || !(*kind)->meaning || strpbrk((*kind)->name, "|,\" @="))
            return ker_fail(error, KER_BAD_INPUT, "%s: a kind of %s has no name, a wrong one, or no meaning",
                            from, bring->key);
    return KER_OK;
}

static enum ker_status member_check(const struct ker_registry *r, const struct member *new,
                                    struct ker_error *error)
{
    const struct member *old = member_like(r, new);
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

static enum ker_status options_check(const struct ker_registry *r, const struct member *new,
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
    enum ker_status status = KER_OK;
    for (const struct ker_bring *bring = brings; !status && bring && bring->key; bring++) {
        status = bring_check(r, from, bring, error);
        for (const struct ker_kind *const *kind = bring->list; !status && *kind; kind++)
            member_add(r, (struct member){family_find(r, bring->key), NULL, *kind, (*kind)->of, from});
    }
    for (size_t i = first; !status && i < r->members; i++) {
        for (const struct ker_bring *more = r->member[i].kind->brings; !status && more && more->key; more++)
            status = bring_check(r, from, more, error);
        if (!status)
            status = options_check(r, &r->member[i], error);
        if (!status)
            member_open(r, i);
        if (!status)
            status = member_check(r, &r->member[i], error);
    }
    if (status)
        r->members = first;
    else
        table_make(r);
    return status;
}
