/* list.c - every kind of every family, a line each, for --list. */
#include "kernel/config/registry.h"

#include <stdlib.h>
#include <string.h>

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
        const struct ker_member *m = &r->member[i];
        if (m->family != family || (of ? !ker_word_in(m->of, '|', of, length) : m->of != NULL))
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
            if (!ker_word_in(words, '|', at, length))
                list_of(r, family, at, length, divided, out);
            words = ker_word_add(words, at, length);
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
