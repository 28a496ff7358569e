/* repeat_walk.h - for repeat.c, repeat_period.c and repeat_measure.c: a walk through the operations of a
 * task. */
#pragma once

#include "traces/store/ideal.h"
#include "traces/store/own.h"

/* Which operations are compared, and by what. */
enum trace_repeat_sort { REPEAT_BYTES, REPEAT_CALLS, REPEAT_MESSAGES, REPEAT_SORTS };

struct trace_walk {
    struct trace_reader reader; /* but of graphs */
    const struct trace_repeat *repeat;
    bool graph;
    uint32_t own;    /* which of the own tasks */
    uint64_t number; /* of graphs: operations so far */
    const struct task_comm *comms;
    int32_t task, all;
    struct ker_table requests; /* that are open, or persistent */
    uint32_t open;
    ker_time computed; /* until now */
    uint64_t full;     /* collectives of all tasks */
    bool waits;        /* the last operation's events are wanted, and what tells its messages from others */
    struct trace_events events;
    /* Of the last operation; of graphs: of those up to the next place where all before is done. */
    uint32_t line;
    struct trace_place begin, before; /* of it, and of the computation before it */
    ker_time computed_before;         /* until then */
    bool mark, posts;                 /* it is a mark; it is compared */
    bool collective;
    bool unknown;              /* something else than messages, their requests and collectives */
    bool any;                  /* receives from any source, or any tag */
    uint64_t hash, bytes;      /* of what is compared */
    uint64_t messages;         /* of graphs: hash without those of collectives */
    uint64_t pairs, receivers; /* that come to 0 in a step: of all that tells messages apart, of who gets them
                                */
};

void trace_walk_begin(struct trace_walk *, const struct trace_repeat *, const struct trace_repeat_task *,
                      const struct task_comm *, uint32_t all);
/* The next operation but for computation; false: there is none. */
bool trace_walk_next(struct trace_walk *);
/* Continues there, having computed for that time. */
void trace_walk_seek(struct trace_walk *, struct trace_place, ker_time computed);
void trace_walk_end(struct trace_walk *);
/* Is the operation compared? */
static inline bool trace_walk_counts(const struct trace_walk *w, enum trace_repeat_sort sort)
{
    return w->posts && !(w->collective && sort == REPEAT_MESSAGES);
}
static inline uint64_t trace_walk_hash(const struct trace_walk *w, enum trace_repeat_sort sort)
{
    bool messages = w->graph && sort == REPEAT_MESSAGES;
    return sort == REPEAT_BYTES ? ker_hash(w->hash + w->bytes) : messages ? w->messages : w->hash;
}

/* The places of steps, from [1] on. */
struct trace_places {
    struct trace_place *place; /* malloc'ed */
    uint32_t count;            /* without [0], which is the beginning */
    uint32_t line;             /* of the last one's call */
    size_t room;
};
void trace_places_add(struct trace_places *, struct trace_place);
/* repeat_period.c: the shortest periods of a task, in what is compared; 0: there is none. And where one
 * begins again and again. */
void trace_periods_find(const struct trace_repeat *, const struct trace_repeat_task *,
                        const struct task_comm *, uint32_t all, uint32_t period[REPEAT_SORTS]);
struct trace_places trace_period_places(const struct trace_repeat *, const struct trace_repeat_task *,
                                        const struct task_comm *, uint32_t all, enum trace_repeat_sort,
                                        uint32_t period);
