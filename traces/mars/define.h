/* define.h - the kinds of definitions in a trace; their bytes are in docs/trace-format.md. */
#ifndef MARS_DEFINE_H
#define MARS_DEFINE_H

#include <stddef.h>
#include <stdint.h>

enum mars_definition {
    MARS_DEFINE_INFO = 1,
    MARS_DEFINE_FUNCTION = 2,
    MARS_DEFINE_COMM = 3,
    MARS_DEFINE_TYPE = 4,
    MARS_DEFINE_OP = 5,
};

#define MARS_COMM_INTER 1 /* flags of a communicator; its topology is flags >> 1 */
#define MARS_OP_COMMUTES 1
#define MARS_OP_OWN 2

/* Writes a list of ranks as runs; there must be room for MARS_RANKS_MOST(count) bytes. Returns the end. */
#define MARS_RANKS_MOST(count) (16 + (size_t)(count)*16)
uint8_t *mars_ranks_put(uint8_t *to, const int32_t *rank, uint32_t count);

#endif
