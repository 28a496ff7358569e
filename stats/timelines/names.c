/* names.c - names are met as addresses of static texts, so that recording compares no text. */
#include "stats/timelines/names.h"

#include "stats/timelines/timeline.h"

#include <stdlib.h>
#include <string.h>

const char *const stats_link_state_name[STATS_LINK_STATES] = {"busy", "stalled", "down"};

struct known {
    uint64_t address;
    uint16_t number;
};

static const struct ker_table_kind known_kind = KER_TABLE_U64(struct known);

void line_names_release(struct line_names *names)
{
    ker_free_all(names->text, names->count);
    ker_table_release(&names->known);
}

uint16_t line_name_add(struct line_names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->text[i], name) == 0)
            return (uint16_t)i;
    if (names->count == LINE_NO_NAME)
        return LINE_NO_NAME;
    *KER_APPEND(names->text, names->count) = ker_format("%s", name);
    return (uint16_t)(names->count - 1);
}

static uint16_t name_of(struct line_names *names, const char *name)
{
    struct known wanted = {.address = (uint64_t)(uintptr_t)name};
    const struct known *there = ker_table_find(&known_kind, &names->known, &wanted);
    if (there)
        return there->number;
    bool is_new;
    struct known *made = ker_table_add(&known_kind, &names->known, &wanted, &is_new);
    *made = (struct known){wanted.address, line_name_add(names, name)};
    return made->number;
}

uint16_t line_name_of(struct line_names *names, const char *name)
{
    struct line_name_last *last = &names->last[(uintptr_t)name / 8 % LINE_NAMES_LAST];
    if (last->text != name)
        *last = (struct line_name_last){name, name_of(names, name)};
    return last->number;
}

/* The texts of all ranks, one after the other, as pointers into them. */
static char **texts_sorted(char *all, size_t bytes, uint32_t *count)
{
    char **text = NULL;
    uint32_t n = 0, unlike = 0;
    for (size_t at = 0; at < bytes; at += strlen(all + at) + 1)
        *KER_APPEND(text, n) = all + at;
    if (n)
        qsort(text, n, sizeof *text, ker_order_text);
    for (uint32_t i = 0; i < n; i++)
        if (unlike == 0 || strcmp(text[unlike - 1], text[i]) != 0)
            text[unlike++] = text[i];
    *count = unlike;
    return text;
}

char **line_names_share(const struct line_names *names, struct ker_comm *comm, uint32_t *count,
                        uint16_t **rename)
{
    struct ker_bytes own = {0};
    size_t *offset;
    void *all;
    for (uint32_t i = 0; i < names->count; i++)
        ker_bytes_add(&own, names->text[i], strlen(names->text[i]) + 1);
    ker_comm_allgather(comm, own.byte, own.used, &all, &offset);
    char **text = texts_sorted(all, offset[ker_comm_size(comm)], count);
    for (uint32_t i = 0; i < *count; i++)
        text[i] = ker_format("%s", text[i]);
    *rename = ker_alloc(((size_t)UINT16_MAX + 1) * sizeof **rename);
    (*rename)[LINE_NO_NAME] = LINE_NO_NAME;
    for (uint32_t i = 0; i < names->count; i++) {
        char **found = bsearch(&names->text[i], text, *count, sizeof *text, ker_order_text);
        (*rename)[i] = (uint16_t)(found - text);
    }
    free(own.byte);
    free(all);
    free(offset);
    return text;
}
