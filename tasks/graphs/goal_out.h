/* goal_out.h - a task's operations, one after the other, as GOAL's text: each waits for what was named
 * before.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <stdio.h>

struct goal_wait {
    uint32_t op;
    bool begin; /* it is enough that it has begun */
};

struct goal_out {
    FILE *to;
    uint32_t ops;           /* of the task so far */
    struct goal_wait *wait; /* what its next operation waits for */
    uint32_t waits, room;
    uint64_t computed; /* picoseconds that are not written yet */
};

/* What the next operation waits for: this only, or this, too. */
void goal_out_wait_only(struct goal_out *, uint32_t op, bool begin);
void goal_out_wait(struct goal_out *, uint32_t op);
/* Returns the operation's number. The next one waits for its begin. */
uint32_t goal_out_message(struct goal_out *, bool sends, uint64_t bytes, int32_t task, int64_t tag);
/* What is waited for becomes one operation. */
void goal_out_join(struct goal_out *);
/* The computation up to here becomes one operation. */
void goal_out_compute(struct goal_out *);
