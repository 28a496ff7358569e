/* names.h - names of functions as numbers: a rank's own while it records, those of all ranks at the end.
 * Inside stats/timelines/.
 */
#pragma once

#include "kernel/base/base.h"

#include <stdint.h>

#define LINE_NO_NAME UINT16_MAX

#define LINE_NAMES_LAST 32
struct line_name_last { /* a name met last, by its address */
    const char *text;
    uint16_t number;
};

struct line_names {
    struct line_name_last last[LINE_NAMES_LAST];
    struct ker_table known; /* by the address of the text */
    char **text;            /* by number */
    uint32_t count;
};
void line_names_release(struct line_names *);
/* The number of a name that stays where it is, in a table by its address. */
uint16_t line_name_of(struct line_names *, const char *name);
/* The number of a name that is the caller's. */
uint16_t line_name_add(struct line_names *, const char *name);
/* Collective: the names of all ranks, each once, in the order of their bytes, on every rank; malloc'ed, as
 * each of them. rename: by the own numbers, where in there they are; malloc'ed, with room for
 * LINE_NO_NAME, which stays what it is. */
char **line_names_share(const struct line_names *, struct ker_comm *, uint32_t *count, uint16_t **rename);
