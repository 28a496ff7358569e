/* about.h - what a reader makes records of whose format is not that of marstrace: definitions of a task
 * (about.c), numbers of its requests (held.c), records field by field (made.c).
 */
#pragma once

#include "tools/marsconv/conv.h"

#include "traces/traces.h"

/* ---- about.c: definitions that grow as they are met ---- */

struct conv_about {
    struct mars_task *task;
    const struct task_comm *of;     /* the job's communicators */
    uint32_t *comm;                 /* number by index in them; 0: none yet */
    uint32_t functions, comms_made; /* numbers used */
    uint32_t function[1024];        /* numbers, by a hash of the name */
};
/* Task `task` of `tasks`; tracer: the format that it comes from. */
void conv_about_begin(struct conv_about *, uint32_t task, uint32_t tasks, const struct task_comm *,
                      int32_t comms, uint32_t resolution_ns, const char *tracer);
void conv_about_end(struct conv_about *); /* the task itself is the caller's */
/* A name and its fields, as a definition has them: "MPI_Wait", "requests[] done[]". */
const struct mars_function *conv_about_function(struct conv_about *, const char *name, const char *fields);
/* The same of any task, under a number that is free. */
const struct mars_function *conv_function_add(struct mars_task *, uint32_t number, const char *name,
                                              const char *fields);
void conv_about_info(struct mars_task *, const char *key, const char *value);
struct mars_ranks conv_ranks_of(const int32_t *rank, uint32_t count);
int64_t conv_about_comm(struct conv_about *, int32_t index); /* 0 for an index below 0 */

/* ---- held.c: requests of a task, by numbers that are used again ---- */

struct conv_held;
struct conv_held *conv_held_new(void);
void conv_held_free(struct conv_held *);
/* A request of this id is made: its number. */
int64_t conv_held_make(struct conv_held *, uint64_t id, bool persistent);
int64_t conv_held_number(const struct conv_held *, uint64_t id); /* 0: it is none any more */
void conv_held_done(struct conv_held *, uint64_t id, bool freed);

/* ---- made.c: a record, field by field ---- */

struct conv_made {
    struct mars_value value[MARS_FIELD_UNKNOWN];
    struct mars_value *values;
    int64_t *list[3];
    size_t room[3], values_room;
};
void conv_made_release(struct conv_made *);
void conv_made_number(struct conv_made *, enum mars_field, int64_t);
/* A list of `count` numbers, to be filled; which: its room, 0 to 2. */
int64_t *conv_made_list(struct conv_made *, enum mars_field, int which, size_t count);
/* The side of an operation that is sent, or received (second: of one that does both), without its type. */
void conv_made_send(struct conv_made *, const struct task_op *);
void conv_made_receive(struct conv_made *, const struct task_op *, bool second);
/* The requests that an operation names, and which of them are done: all, or one of which it is not known
 * which; those that are done are requests no more. */
void conv_made_requests(struct conv_made *, struct conv_held *, const struct task_op *, bool unknown);
/* What a collective says, at this rank of `size`, but for types and the operation; returns its fields.
 * Counts that it lacks are equal parts; *missing: where they are needed. */
const char *conv_made_collective(struct conv_made *, const struct task_op *, int32_t rank, int32_t size,
                                 bool *missing);
/* The call, of the fields that were set. */
void conv_made_record(struct conv_made *, struct conv_about *, struct mars_record *, const char *name,
                      const char *fields);
