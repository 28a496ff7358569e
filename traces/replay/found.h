/* found.h - which calls of a traced task depend on whom a receive from any source has found.
 *
 * A trace does not say where a program has a rank from. The rule: a call depends on the last call that found
 * sources (a receive from any source, a probe for one, or a wait for such receives) when it is on the same
 * communicator and sends to one of the ranks that were found, or receives from one, and no message to or from
 * another rank came in between there. That may be chance. So of all calls of a task with this function,
 * communicator and tag that come first after a find, or after calls that depend on it, three of four at least
 * must do so. And a loop over ranks may begin with the one that was found: a call that is followed by one of
 * the same function, tag and bytes with another rank does not depend.
 *
 * Of a task with several threads nothing is said: what one receives another may answer.
 */
#pragma once

#include "traces/mars/mars.h"
#include "traces/op.h"

struct replay_found {
    int64_t *wild; /* by request: the communicator of a receive from any source; 0: none */
    size_t wilds;
    int64_t comm, source[TASK_FOUND_MOST]; /* of the last call that found any, in its order */
    uint32_t done[TASK_FOUND_MOST];        /* which of the requests that it completed */
    uint32_t count;
    bool now;                         /* that was the last call */
    bool open;                        /* no other rank has been named since */
    const struct mars_function *last; /* of the call that was the last to depend */
    int64_t last_tag, last_bytes;
    struct replay_class { /* of calls, by function, communicator and tag */
        const struct mars_function *function;
        int64_t comm, tag;
        uint64_t depends, others;
    } * class;
    uint32_t classes;
    uint64_t finds; /* calls so far */
};
/* How far back among what has been found the call's rank is, and its class; -1: it is its own. */
struct replay_depends {
    int32_t back;
    uint32_t class;
    bool not_before; /* the call that depended before does not */
};
/* The next call of the task. */
struct replay_depends replay_found_next(struct replay_found *, const struct mars_record *);
/* At the end: do the calls of this class depend? How many calls do? */
bool replay_found_trusts(const struct replay_found *, uint32_t class);
uint64_t replay_found_depends(const struct replay_found *);
void replay_found_release(struct replay_found *);
