/* later.c - what becomes known of an operation when it is in the store: the outcome of a test, who sent a
 * message.
 *
 * Each has its bytes from the beginning, so that the operations behind it stay where they are.
 */
#include "traces/store/later.h"
#include "traces/store/store.h"

#include <string.h>

/* What is written later lies behind the call, the line and the kind, and the communicator of a message. */
#define LATER_BYTES (1 + 5 + 1 + 5 + 2 * TRACE_WIDE_BYTES)
_Static_assert(1 + sizeof(uint64_t) <= 5 + 2 * TRACE_WIDE_BYTES, "an outcome and a request");

static size_t later_offset(const struct trace_code *code, const uint8_t *op)
{
    const uint8_t *byte = op + 1;
    while (code->store->form.lines && *byte++ & 128)
        ;
    return (size_t)(byte + 1 - op);
}

/* The operation, where it can be changed; `copy` is for one that is in the file. */
static uint8_t *later_begin(const struct trace_code *code, uint64_t at, uint8_t copy[LATER_BYTES])
{
    if (at >= code->begin)
        return code->byte + (at - code->begin);
    trace_code_peek(code, at, copy, code->begin - at < LATER_BYTES ? code->begin - at : LATER_BYTES);
    return copy;
}

void trace_code_set_peer(struct trace_code *code, uint64_t at, int32_t peer, const int32_t *tag)
{
    uint8_t copy[LATER_BYTES], *op = later_begin(code, at, copy), *place = op + later_offset(code, op);
    while (*place++ & 128) /* the communicator */
        ;
    place = trace_put_wide(place, peer);
    if (tag)
        place = trace_put_wide(place, *tag);
    if (op == copy)
        trace_code_poke(code, at, copy, (size_t)(place - copy));
}

void trace_code_decide(struct trace_code *code, uint64_t at, int8_t outcome, uint64_t request)
{
    uint8_t copy[LATER_BYTES], *op = later_begin(code, at, copy), *place = op + later_offset(code, op);
    *place = (uint8_t)outcome;
    if (request)
        memcpy(place + 1, &request, sizeof request);
    if (op == copy)
        trace_code_poke(code, at, copy, (size_t)(place + 1 + sizeof request - copy));
}

int8_t trace_code_outcome(const struct trace_code *code, uint64_t at, uint64_t *request)
{
    uint8_t copy[LATER_BYTES];
    const uint8_t *op = later_begin(code, at, copy), *place = op + later_offset(code, op);
    memcpy(request, place + 1, sizeof *request);
    return (int8_t)*place;
}
