/* pin.c - buffers that the adapter has not seen: pinning them takes time before the call.
 *
 * A trace has the address of each buffer. The bytes of a call's buffers that no call before has named cost
 * jobs[].pinning_per_byte each, and jobs[].pinning_time for each buffer that has some, before the call and
 * as a computation of the task: so a study of InfiniBand did it (University of Oslo, 2011). What is pinned
 * stays so. Buffers of 0 bytes, of MPI_PROC_NULL's messages, and those that mean nothing at this task
 * (MPI_IN_PLACE, those of the root elsewhere) are none.
 */
#include "traces/allprof/allprof.h"

#include <stdlib.h>
#include <string.h>

enum which { NONE, FIRST, SECOND }; /* count and datatype of a buffer */

/* What the argument at this place of a layout is: an address before its count, or before a second address. */
static enum which buffer_at(const char *letter)
{
    if (*letter != '.' && *letter != 'b')
        return NONE;
    char next = letter[1] == '.' ? letter[2] : letter[1];
    return next == 'n' || next == 'l' ? FIRST : next == 'N' || next == 'L' ? SECOND : NONE;
}

/* Of a collective's first or second buffer: does the root alone have it, and does it hold that many elements
 * for each task? */
struct buffer_of {
    bool root, each;
};

static struct buffer_of buffer_of(const struct allprof_call *call, unsigned buffer)
{
    static const struct {
        struct buffer_of first, second;
    } known[] = {
        [TASK_COLL_SCATTER] = {.first = {.root = true, .each = true}},
        [TASK_COLL_SCATTERV] = {.first = {.root = true}},
        [TASK_COLL_GATHER] = {.second = {.root = true, .each = true}},
        [TASK_COLL_GATHERV] = {.second = {.root = true}},
        [TASK_COLL_REDUCE] = {.second = {.root = true}},
        [TASK_COLL_REDUCE_SCATTER_BLOCK] = {.first = {.each = true}},
        [TASK_COLL_ALLGATHER] = {.second = {.each = true}},
        [TASK_COLL_ALLTOALL] = {.first = {.each = true}, .second = {.each = true}},
    };
    if (call->kind != ALLPROF_COLLECTIVE || call->mode >= sizeof known / sizeof *known)
        return (struct buffer_of){0};
    return buffer == 0 ? known[call->mode].first : known[call->mode].second;
}

static uint64_t buffer_bytes(const struct allprof_args *args, const struct allprof_rules *rules,
                             enum which which, unsigned buffer)
{
    const struct allprof_call *call = args->call;
    bool collective = call->kind == ALLPROF_COLLECTIVE;
    struct buffer_of of = buffer_of(call, buffer);
    int64_t size = which == FIRST ? args->size : args->size2;
    const char *list = which == FIRST ? args->counts : args->counts2;
    uint64_t bytes = 0, each = (uint64_t)args->group.size;
    if (of.root && args->peer != args->group.rank)
        return 0;
    if (!collective && (which == FIRST ? args->peer : args->peer2) == (rules->mpich ? -1 : -2))
        return 0; /* MPI_PROC_NULL */
    if (list)
        return allprof_list_bytes(list, size);
    if (strchr(call->layout, which == FIRST ? 'l' : 'L'))
        return rules->unlisted_bytes * each;
    if (!allprof_bytes(which == FIRST ? args->count : args->count2, size, &bytes))
        return 0;
    return of.each ? bytes * each : bytes;
}

/* The bytes from begin to end are pinned; returns how many were not. */
static uint64_t pin(struct allprof_pins *pins, uint64_t begin, uint64_t end)
{
    /* the first that ends at `begin` or behind it */
    uint32_t low = KER_BISECT(i, 0, pins->count, pins->at[i].end < begin), high;
    uint64_t new = end - begin;
    struct allprof_pinned whole = {begin, end};
    for (high = low; high < pins->count && pins->at[high].begin <= end; high++) {
        const struct allprof_pinned *old = &pins->at[high];
        uint64_t from = old->begin > begin ? old->begin : begin, to = old->end < end ? old->end : end;
        new -= to > from ? to - from : 0;
        whole.begin = old->begin < whole.begin ? old->begin : whole.begin;
        whole.end = old->end > whole.end ? old->end : whole.end;
    }
    uint32_t behind = pins->count - high;
    KER_RESERVE(pins->at, pins->room, low + 1 + behind);
    memmove(&pins->at[low + 1], &pins->at[high], behind * sizeof *pins->at);
    pins->at[low] = whole;
    pins->count = low + 1 + behind;
    return new;
}

static ker_time cost(const struct allprof_rules *rules, uint64_t bytes)
{
    unsigned __int128 time = (unsigned __int128)bytes * (uint64_t)rules->pinning_per_byte;
    return ker_time_later(rules->pinning_time,
                          time < (uint64_t)TRACE_GAP_MOST ? (ker_time)time : TRACE_GAP_MOST);
}

static const char *field_next(const char *field)
{
    return field + strcspn(field, ":") + 1;
}

ker_time allprof_pin(struct allprof_pins *pins, const struct allprof_args *args,
                     const struct allprof_rules *rules)
{
    const uint64_t most = UINT64_C(1) << 50;
    const char *field = field_next(field_next(args->name));
    bool listed = args->counts || args->counts2;
    unsigned buffer = 0;
    ker_time time = 0;
    for (const char *letter = args->call->layout; *letter && *letter != '*'; letter++) {
        enum which which = buffer_at(letter);
        if (which) {
            uint64_t address = strtoull(field, NULL, 10), bytes = buffer_bytes(args, rules, which, buffer++);
            bool real = address > 4096 && address < UINT64_MAX - most && bytes > 0 && bytes < most;
            uint64_t new = real ? pin(pins, address, address + bytes) : 0;
            if (new)
                time = ker_time_later(time, cost(rules, new));
        }
        field = field_next(field);
        if (listed && strchr("lLm", *letter))
            field = field_next(field);
    }
    return time;
}
