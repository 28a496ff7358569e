/* own.c - where the program of an own task reads: see own.h. */
#include "traces/store/own.h"

#include <stdlib.h>

bool trace_own_next(struct trace_own *own, struct task_op *op)
{
    own->before = trace_reader_position(&own->reader);
    own->before_line = own->reader.line;
    if (trace_reader_next(&own->reader, op))
        return true;
    trace_reader_seek(&own->reader, 0, 0);
    return false;
}

void trace_own_position(struct trace_own *own, struct ker_chunk *c)
{
    uint64_t before = ker_chunk_u64(c, own->before);
    ker_chunk_same(c, own->held->code.total);
    KER_CHUNK(c, own->before_line);
    c->bad |= before > own->held->code.total;
    if (!c->loads || c->bad)
        return;
    own->before = before;
    trace_reader_seek(&own->reader, before, own->before_line);
}

void trace_own_release(struct trace_own **own, uint32_t *count)
{
    for (uint32_t i = 0; i < *count; i++)
        trace_reader_release(&(*own)[i].reader);
    free(*own);
    *own = NULL;
    *count = 0;
}
