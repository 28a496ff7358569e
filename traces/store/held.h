/* held.h - equal receives change places.
 *
 * MPI matches messages to receives in the order in which these were posted. So of outstanding receives from
 * the same source with the same communicator, tag and room it is the oldest that is completed first,
 * whichever message comes first in the simulation; a trace may show another, since completion is not
 * matching. Then the oldest is completed in the place of the one that the trace shows, and that one takes the
 * oldest one's place: the number of messages received up to any point is that of the trace.
 */
#ifndef TASKS_TRACE_HELD_H
#define TASKS_TRACE_HELD_H

#include <stdbool.h>
#include <stdint.h>

struct trace_post {
    uint64_t comm; /* any number that tells it from others */
    uint64_t bytes;
    int32_t peer, tag;
    bool receive, persistent;
};

/* What a variable of the program holds. */
struct trace_held {
    uint64_t id;  /* of the request in the replay; 0: none */
    uint64_t age; /* later posts have larger numbers */
    struct trace_post post;
};

/* Could the message for `a` as well have completed `b`? */
static inline bool trace_held_equal(const struct trace_held *a, const struct trace_held *b)
{
    const struct trace_post *p = &a->post, *q = &b->post;
    return p->receive && q->receive && !p->persistent && !q->persistent && p->comm == q->comm &&
           p->peer == q->peer && p->tag == q->tag && p->bytes == q->bytes;
}

/* `completed` is what the trace shows, `oldest` the equal one that was posted first (or the same). Returns
 * the id of the request that is completed; `completed` then holds it, and `oldest` what is still under way.
 */
static inline uint64_t trace_held_swap(struct trace_held *completed, struct trace_held *oldest)
{
    uint64_t id = oldest->id, age = oldest->age;
    oldest->id = completed->id;
    oldest->age = completed->age;
    completed->id = id;
    completed->age = age;
    return id;
}

#endif
