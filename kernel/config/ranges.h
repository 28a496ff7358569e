/* ranges.h - a text that lists numbers: "0-15,32,40-60:4" is 0 to 15, 32, and each fourth from 40 to 60. */
#pragma once

#include "kernel/base/base.h"

struct ker_config;

/* Of which key, and what the numbers are, for messages: `of` is "node" where `owner`, "the system", has nodes
 * from 0 to count - 1. at: NULL at first. */
struct ker_ranges {
    const struct ker_config *config;
    const char *key, *of, *owner;
    uint32_t count;
    const char *at;
};
struct ker_range {
    uint32_t first, last, step; /* first <= last < count, step > 0 */
};
/* The next one of the text, which is to have at least one; *some: there is one. */
enum ker_status ker_ranges_next(struct ker_ranges *, struct ker_range *, bool *some, struct ker_error *);
