/* define.h - numbers that mean something of their own in a trace, and the kinds of definitions;
 * docs/trace-format.md has their bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* In the place of a rank: */
#define MARS_PROC_NULL (-1)
#define MARS_ANY_SOURCE (-2)
#define MARS_ROOT (-3)
/* Likewise, where a message came from: */
#define MARS_FROM_NOBODY (-4)  /* nothing came */
#define MARS_FROM_SEND (-5)    /* the request received nothing: it was no receive */
#define MARS_CANCELLED (-6)    /* the request was cancelled */
#define MARS_FROM_UNKNOWN (-7) /* the trace does not say */
#define MARS_ANY_TAG (-1)
#define MARS_ONE_OF                                                                                          \
    (-1) /* in the place of the only index of completed requests: one of them, unknown which */

enum mars_definition {
    MARS_DEFINE_INFO = 1,
    MARS_DEFINE_FUNCTION = 2,
    MARS_DEFINE_COMM = 3,
    MARS_DEFINE_TYPE = 4,
    MARS_DEFINE_OP = 5,
    MARS_DEFINE_MAP = 6,
};

#define MARS_COMM_INTER 1 /* flags of a communicator; its topology is flags >> 1 */
#define MARS_OP_COMMUTES 1
#define MARS_OP_OWN 2

/* Writes a list of ranks as runs; there must be room for MARS_RANKS_MOST(count) bytes. Returns the end. */
#define MARS_RANKS_MOST(count) (16 + (size_t)(count)*16)
uint8_t *mars_ranks_put(uint8_t *to, const int32_t *rank, uint32_t count);
