/* found.c - the rule of found.h, call by call.
 *
 * Invariant: source[0..count - 1] are what the MPI model of tasks/mpi/source.c was given last, in this order,
 * if the calls are replayed with TASK_RECEIVE_FINDS.
 */
#include "traces/replay/found.h"
#include "traces/traces.h"

#include <stdlib.h>
#include <string.h>

#define REQUESTS_MOST (1 << 21) /* a bad trace must not ask for more memory than that */

static bool has(const struct mars_record *r, enum mars_field field)
{
    return r->function->at[field] >= 0;
}

void replay_found_release(struct replay_found *f)
{
    free(f->wild);
    free(f->class);
    *f = (struct replay_found){0};
}

/* ---- who is found ---- */

static void found_add(struct replay_found *f, int64_t comm, int64_t source, uint32_t done)
{
    f->open =
        f->count == 0 ? source >= 0 : f->open && source >= 0 && f->comm == comm && f->count < TASK_FOUND_MOST;
    f->comm = comm;
    if (f->count < TASK_FOUND_MOST)
        f->done[f->count] = done;
    if (f->count < TASK_FOUND_MOST)
        f->source[f->count++] = source;
    f->now = true;
    f->last = NULL;
}

static void wild_set(struct replay_found *f, int64_t request, int64_t comm)
{
    if (request <= 0 || request > REQUESTS_MOST || (!comm && (size_t)request >= f->wilds))
        return;
    *TRACE_AT(f->wild, f->wilds, request) = comm;
}

/* A request is made. */
static void request_made(struct replay_found *f, const struct mars_record *r, int64_t source)
{
    bool wild = source == MARS_ANY_SOURCE && !has(r, MARS_FIELD_dest) && !strstr(r->function->name, "_init");
    wild_set(f, mars_number(r, MARS_FIELD_request, 0), wild ? mars_number(r, MARS_FIELD_comm, 0) : 0);
}

static void completed(struct replay_found *f, const struct mars_record *r)
{
    bool sure = true, finds = false;
    for (struct mars_done d = {0}; mars_done_next(r, &d);) {
        int64_t comm = d.request > 0 && (uint64_t)d.request < f->wilds ? f->wild[d.request] : 0;
        sure = sure && d.request >= 0 && !(comm && d.came[0] == MARS_CANCELLED);
        if (!comm)
            continue;
        f->count = finds ? f->count : 0;
        finds = true;
        found_add(f, comm, d.came[0], d.next / 4 - 1);
        f->wild[d.request] = 0;
    }
    f->open = f->open && sure;
    f->finds += finds && f->open;
}

/* ---- who depends on it ---- */

static int32_t back_of(const struct replay_found *f, int64_t rank)
{
    for (uint32_t i = f->count; i-- > 0;)
        if (f->source[i] == rank)
            return (int32_t)(f->count - 1 - i);
    return -1;
}

#define CLASSES_MOST 256 /* what else there is does not depend */

static struct replay_class *class_of(struct replay_found *f, const struct mars_function *function,
                                     int64_t comm, int64_t tag)
{
    for (uint32_t i = 0; i < f->classes; i++)
        if (f->class[i].function == function && f->class[i].comm == comm && f->class[i].tag == tag)
            return &f->class[i];
    if (f->classes == CLASSES_MOST)
        return NULL;
    struct replay_class *class = KER_APPEND(f->class, f->classes);
    *class = (struct replay_class){.function = function, .comm = comm, .tag = tag};
    return class;
}

bool replay_found_trusts(const struct replay_found *f, uint32_t class)
{
    return f->class[class].depends >= 3 * f->class[class].others;
}

uint64_t replay_found_depends(const struct replay_found *f)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->classes; i++)
        sum += replay_found_trusts(f, i) ? f->class[i].depends : 0;
    return sum;
}

static struct replay_depends depend(struct replay_found *f, const struct mars_record *r, int64_t rank)
{
    struct replay_depends d = {-1, 0, false};
    int64_t tag = mars_number(r, MARS_FIELD_tag, 0),
            bytes = mars_number(r, has(r, MARS_FIELD_dest) ? MARS_FIELD_bytes : MARS_FIELD_recvbytes, 0);
    struct replay_class *class = class_of(f, r->function, f->comm, tag);
    bool alone = class && !(has(r, MARS_FIELD_dest) && has(r, MARS_FIELD_source));
    d.back = alone ? back_of(f, rank) : -1;
    if (d.back >= 0) {
        d.class = (uint32_t)(class - f->class);
        class->depends++;
        f->last = r->function;
        f->last_tag = tag;
        f->last_bytes = bytes;
        return d;
    }
    f->open = false;
    d.not_before = f->last == r->function && f->last_tag == tag && f->last_bytes == bytes;
    if (class) {
        class->others++;
        class->depends -= d.not_before;
    }
    return d;
}

struct replay_depends replay_found_next(struct replay_found *f, const struct mars_record *r)
{
    struct replay_depends none = {-1, 0, false};
    f->now = false;
    if (has(r, MARS_FIELD_error))
        return none;
    if (has(r, MARS_FIELD_done)) {
        completed(f, r);
        return none;
    }
    if (!has(r, MARS_FIELD_dest) && !has(r, MARS_FIELD_source)) {
        if (has(r, MARS_FIELD_request) && has(r, MARS_FIELD_comm))
            wild_set(f, mars_number(r, MARS_FIELD_request, 0), 0);
        return none;
    }
    int64_t dest = mars_number(r, MARS_FIELD_dest, -1), source = mars_number(r, MARS_FIELD_source, -1),
            comm = mars_number(r, MARS_FIELD_comm, 0);
    struct replay_depends d = none;
    if (f->open && comm == f->comm && (dest >= 0 || source >= 0) && mars_number(r, MARS_FIELD_flag, 1))
        d = depend(f, r, dest >= 0 ? dest : source);
    if (has(r, MARS_FIELD_request)) {
        request_made(f, r, source);
    } else if (source == MARS_ANY_SOURCE && mars_number(r, MARS_FIELD_from, MARS_FROM_NOBODY) >= 0 &&
               mars_number(r, MARS_FIELD_flag, 1)) {
        f->count = 0;
        f->finds++;
        found_add(f, comm, mars_number(r, MARS_FIELD_from, MARS_FROM_NOBODY), 0);
        f->open = f->open && dest < 0 && !has(r, MARS_FIELD_dest);
    }
    return d;
}
