/* walk.h - a task of a trace, record by record: what each call is, the communicator that it concerns,
 * windows. Whatever looks at a trace walks it so, and keeps what it wants of requests by their numbers
 * (CONV_REQUEST_AT).
 */
#pragma once

#include "tools/marsconv/conv.h"

#include "kernel/base/base.h"

struct conv_probed { /* a message that a probe took out of the queue */
    uint64_t key;    /* 1 + its number */
    int64_t comm;    /* the communicator's number */
    int64_t from, tag;
};

struct conv_window {     /* of a number */
    uint32_t comm, made; /* the communicator's number, 0: unknown; the how many-th it is there, from 1 on */
};
#define CONV_WINDOWS_MOST ((int64_t)1 << 20)

struct conv_walk { /* zeroed at first */
    struct conv_task task;
    struct conv_record record;
    const struct conv_function *is; /* of the record */
    struct conv_functions functions;
    struct ker_table probed;
    struct conv_window *window;
    size_t windows;
    uint32_t *made; /* windows so far, by communicator */
    size_t made_room;
};
/* thread: or CONV_ALL. To be ended whatever it returns. */
bool conv_walk_begin(struct conv_walk *, struct conv_source *, uint32_t task, uint32_t thread,
                     struct mars_error *);
/* False: at the end, or an error, which then has a text. */
bool conv_walk_next(struct conv_walk *, struct mars_error *);
void conv_walk_end(struct conv_walk *);

/* What an array has of a task's request of a number; NULL: it is no number of one. */
#define CONV_REQUESTS_MOST ((int64_t)1 << 24) /* numbers are reused: there are never more outstanding */
#define CONV_REQUEST_AT(array, room, number)                                                                 \
    ((number) <= 0 || (number) > CONV_REQUESTS_MOST ? NULL : TRACE_AT(array, room, number))

static inline int64_t conv_walk_number(const struct conv_walk *w, enum mars_field field, int64_t absent)
{
    return mars_number(&w->record.call, field, absent);
}
/* The number of the communicator that the record, or its window, concerns; 0: none. */
int64_t conv_walk_comm(const struct conv_walk *);
/* The requests that the record, a start, names: one after the other, from *at = 0 on. */
static inline bool conv_walk_started(const struct conv_walk *w, uint32_t *at, int64_t *number)
{
    const struct mars_value *list = mars_list(&w->record.call, MARS_FIELD_requests);
    if (*at >= (list ? list->count : 1))
        return false;
    *number = list ? list->list[*at] : conv_walk_number(w, MARS_FIELD_request, 0);
    ++*at;
    return true;
}
/* Does the record's function name a message that a probe took? Is it such a probe? */
static inline bool conv_walk_matched(const struct conv_walk *w)
{
    const int16_t *at = w->record.call.function->at;
    return at[MARS_FIELD_message] >= 0 && at[MARS_FIELD_recvbytes] >= 0;
}
/* The record's probe has taken a message on that communicator; one is received, which then is forgotten
 * (false: none took it). */
void conv_walk_probed(struct conv_walk *, int64_t comm);
bool conv_walk_receives(struct conv_walk *, struct conv_probed *);
/* The task of the trace that messages to a rank go to, or come from; -1: there is none. */
int64_t conv_task_of(const struct conv_source *, const struct mars_comm *, int64_t rank);
