/* array.c - how fast arrays grow: twofold, from about a cache line on; large ones, which are moved by their
 * pages, by a quarter; at their end to the most their counts can say. */
#include "kernel/base/array.h"

#include "kernel/base/error.h"

#define FIRST_BYTES 64
#define LARGE_BYTES (1u << 20)

size_t ker_array_room(size_t room, size_t wanted, size_t bytes, size_t most)
{
    size_t next = room ? room : FIRST_BYTES / bytes;
    ker_assert(wanted <= most && wanted <= SIZE_MAX / 2 / bytes);
    if (next > most / 2)
        next = most;
    else
        next += next * bytes < LARGE_BYTES ? next : next / 4;
    return next < wanted ? wanted : next;
}
