/* sizes.h - a time that depends on a message's size, read from a list "TIME[:SIZE]". */
#ifndef NODES_SIZES_H
#define NODES_SIZES_H

#include "kernel/base/base.h"

struct ker_config;

#define NODE_SIZES_MOST 32

/* From bytes[i] on time[i]; or, with lines, on the straight line to the next one, the last line continued. */
struct node_sizes {
    uint32_t count; /* 0: the key is not given */
    bool lines;
    uint64_t bytes[NODE_SIZES_MOST]; /* ascending, the first 0 */
    ker_time time[NODE_SIZES_MOST];
};

/* A key that is absent leaves an empty list. An error names the element and what is wrong with it: no time or
 * size, sizes that do not ascend, too many, or (lines) a line that leads below zero. */
enum ker_status node_sizes_read(struct node_sizes *, const struct ker_config *, const char *key, bool lines,
                                struct ker_error *);
/* Rounded to the nearest picosecond; 0 of an empty list. */
ker_time node_sizes_of(const struct node_sizes *, uint64_t bytes);
/* One time for all sizes, or none at all? */
static inline bool node_sizes_vary(const struct node_sizes *sizes)
{
    return sizes->count > 1;
}

#endif
