/* allprof_done.c - how completions are written, so that a reader finds out what they completed.
 *
 * The trace does not say what a test found; what follows does (docs/traces.md). A test of one request, or of
 * all of several, completed if no other call asks for them before they are made anew: so it is written as it
 * stands. A test of any of several that completed some is written as one that found nothing, and waits for
 * those. A Waitany of several is written as one of the request that it completed.
 */
#include "tools/marsconv/allprof_write.h"

#include <stdlib.h>
#include <string.h>

#define REQUESTS_MOST ((int64_t)1 << 24)

bool apw_active(const struct apw *w, int64_t number)
{
    return number > 0 && (uint64_t)number < w->requests && w->active[number];
}

void apw_posted(struct apw *w, int64_t number, bool persistent)
{
    size_t old = w->requests;
    if (number <= 0 || number > REQUESTS_MOST)
        return;
    if ((size_t)number >= w->requests) {
        KER_RESERVE(w->active, w->requests, (size_t)number + 1);
        memset(w->active + old, 0, (w->requests - old) * sizeof *w->active);
    }
    w->active[number] = persistent ? 2 : 1;
}

void apw_forgotten(struct apw *w, int64_t number)
{
    if (apw_active(w, number))
        w->active[number] = 0;
}

/* Lies the list in the row of variables as it stands? Null requests must meet variables that hold none. */
static bool in_row(const struct apw *w, const struct mars_value *list, int64_t *first)
{
    bool known = false;
    for (uint32_t i = 0; i < list->count; i++)
        if (apw_active(w, list->list[i])) {
            if (known && list->list[i] - i != *first)
                return false;
            *first = list->list[i] - i;
            known = true;
        }
    if (!known || *first < 0)
        return false;
    for (uint32_t i = 0; i < list->count; i++)
        if (!apw_active(w, list->list[i]) && apw_active(w, *first + i))
            return false;
    return true;
}

/* Waits for the requests, which lie side by side in one row or several. */
static void waits_put(const struct apw_line *l, const char *one, const char *all, const int64_t *number,
                      uint32_t count)
{
    for (uint32_t i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && number[i + run] == number[i] + run; run++)
            ;
        if (i > 0)
            conv_lost(l->w->losses, 1, "%s of requests that do not lie side by side is written as several",
                      l->record->function->name);
        apw_put(l, run == 1 && count == 1 ? one : all, apw_request(number[i]), run);
    }
}

/* What was completed, of that the trace has; returns how many. */
static uint32_t completed(const struct apw_line *l, int64_t *number)
{
    const struct mars_value *list = mars_list(l->record, MARS_FIELD_requests),
                            *done = mars_list(l->record, MARS_FIELD_done);
    uint32_t count = 0;
    for (uint32_t i = 0; i + 3 < done->count; i += 4) {
        int64_t index = done->list[i];
        if (index >= 0 && index < list->count && apw_active(l->w, list->list[index]))
            number[count++] = list->list[index];
    }
    return count;
}

/* A test that found nothing, or several that are one record. */
static void nothing_put(const struct apw_line *l, const struct mars_value *list)
{
    struct apw *w = l->w;
    const struct mars_record *r = l->record;
    int64_t first = APW_NULL;
    const char *name = l->call->name;
    bool row = in_row(w, list, &first);
    if (!row) {
        for (uint32_t i = list->count; i-- > 0;)
            first = apw_active(w, list->list[i]) ? list->list[i] : first;
        if (list->count > 1 && first != APW_NULL)
            conv_lost(w->losses, r->polls,
                      "%s of requests that do not lie side by side is written as MPI_Test", name);
        name = "MPI_Test";
    }
    apw_polls_put(l, name, apw_request(first), row ? list->count : 1);
    w->polled = true;
}

static void something_put(const struct apw_line *l, const struct mars_value *list, const int64_t *number,
                          uint32_t count)
{
    struct apw *w = l->w;
    unsigned op = l->call->op;
    int64_t first;
    bool computed = w->computed_ns > 0 && w->polled; /* a reader would take it as waiting */
    if (op == TASK_OP_WAITANY && count == 1) {
        apw_put(l, "MPI_Waitany", apw_request(number[0]), 1);
    } else if ((op == TASK_OP_TEST || op == TASK_OP_TESTALL) && !computed) {
        waits_put(l, "MPI_Test", "MPI_Testall", number, count);
    } else if ((op == TASK_OP_TESTANY || op == TASK_OP_TESTSOME) && !computed && in_row(w, list, &first)) {
        conv_lost(w->losses, 1, "what %s completed is written as a wait behind it", l->call->name);
        apw_put(l, NULL, apw_request(first), list->count);
        waits_put(l, "MPI_Wait", "MPI_Waitall", number, count);
    } else {
        if (op != TASK_OP_WAIT && op != TASK_OP_WAITALL)
            conv_lost(w->losses, 1, "%s is written as a wait for what it completed", l->call->name);
        waits_put(l, op == TASK_OP_WAITALL ? "MPI_Waitall" : "MPI_Wait", "MPI_Waitall", number, count);
    }
}

void apw_complete(const struct apw_line *l)
{
    const struct mars_value *list = mars_list(l->record, MARS_FIELD_requests),
                            *done = mars_list(l->record, MARS_FIELD_done);
    struct apw *w = l->w;
    bool test = l->call->kind == ALLPROF_TEST || l->call->kind == ALLPROF_TEST_SOME;
    int64_t *number = ker_alloc((list->count + done->count) * sizeof *number), first;
    uint32_t count = completed(l, number);
    if (done->count == 4 && done->list[0] == -1 && in_row(w, list, &first)) {
        apw_put(l, "MPI_Waitany", apw_request(first), list->count);
    } else if (done->count == 0 && test) {
        nothing_put(l, list);
        free(number);
        return;
    } else if (count == 0) { /* of null requests, or of such that the format does not know */
        apw_put(l, l->call->layout[0] == 'a' ? "MPI_Waitall" : "MPI_Wait", apw_request(APW_NULL), 0);
    } else {
        something_put(l, list, number, count);
    }
    for (uint32_t i = 0; i < count; i++)
        if (w->active[number[i]] == 1)
            w->active[number[i]] = 0;
    w->polled = false;
    free(number);
}

void apw_start(const struct apw_line *l)
{
    const struct mars_value *list = mars_list(l->record, MARS_FIELD_requests);
    int64_t alone = mars_number(l->record, MARS_FIELD_request, 0);
    uint32_t all = list ? list->count : 1, count = 0;
    int64_t *number = ker_alloc((all + 1) * sizeof *number);
    for (uint32_t i = 0; i < all; i++) {
        int64_t one = list ? list->list[i] : alone;
        if (apw_active(l->w, one))
            number[count++] = one;
    }
    waits_put(l, "MPI_Start", "MPI_Startall", number, count);
    free(number);
}
