/* called.c - which functions a task has called: how often, with how many bytes, for how long.
 *
 * Calls of the table are found by their number; those that the table knows only as a family, by their
 * names, which then are in the line. Bytes are those of the send side as far as the line has them, and
 * of the receive side where there is no other; counts that no call can have are counted as 0, since
 * parse.c refuses those that matter.
 */
#include "traces/allprof/allprof.h"

#include <stdlib.h>
#include <string.h>

static uint64_t product(int64_t count, int64_t size)
{
    uint64_t bytes;
    return allprof_bytes(count, size, &bytes) ? bytes : 0;
}

uint64_t allprof_list_bytes(const char *text, int64_t size)
{
    uint64_t sum = 0;
    while (text && *text) {
        char *rest;
        long count = strtol(text, &rest, 10);
        sum += product(count, size);
        text = *rest == ',' ? rest + 1 : NULL;
    }
    return sum;
}

static uint64_t call_bytes(const struct allprof_args *args)
{
    const char *layout = args->call->layout;
    bool sends = !args->in_place && strpbrk(layout, "nl");
    if (args->call->kind == ALLPROF_COLLECTIVE && allprof_bytes_which(args) == 2)
        return product(args->count2, args->size2);
    if (sends && args->counts && strchr(layout, 'l'))
        return allprof_list_bytes(args->counts, args->size);
    if (sends)
        return product(args->count, args->size);
    return args->counts2 ? allprof_list_bytes(args->counts2, args->size2) : 0;
}

/* What there is to count is a matter of the call, which is found out once. */
enum { NO_BYTES, MESSAGE, OTHERS, FORM_SHIFT = 24, INDEX_MASK = (1 << FORM_SHIFT) - 1 };

static uint32_t call_know(struct trace_code *code, const struct allprof_args *args)
{
    const char *layout = args->call->layout;
    uint32_t form = !strpbrk(layout, "nlL")                  ? NO_BYTES
                    : args->call->kind == ALLPROF_COLLECTIVE ? OTHERS
                                                             : MESSAGE;
    uint32_t index =
        trace_called_find(&code->called, &code->store->functions, args->name, strcspn(args->name, ":"));
    return (index + 1) | form << FORM_SHIFT;
}

void allprof_called_count(struct trace_code *code, struct allprof_args *args, uint32_t known[256])
{
    uint32_t found = 0,
             *place = allprof_call_listed(args->call) ? &known[allprof_call_number(args->call)] : &found;
    if (!*place)
        *place = call_know(code, args);
    uint32_t form = *place >> FORM_SHIFT;
    args->made.called = (*place & INDEX_MASK) - 1;
    args->made.bytes = form == NO_BYTES  ? 0
                       : form == MESSAGE ? product(args->count, args->size)
                                         : call_bytes(args);
    allprof_called_again(&code->called, args);
}
