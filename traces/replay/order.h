/* order.h - whether the collectives of the tasks of a trace fit each other; its partitioned messages, too. */
#pragma once

#include "traces/op.h"

struct replay_order {
    int64_t *least, *most;  /* by communicator, of its members so far */
    uint64_t *now;          /* of the task that is read */
    uint64_t *left;         /* of partitioned sends and receives, by communicator */
    struct ker_table pairs; /* of the task that is read */
    const struct task_comm *comm;
    uint32_t task;
    size_t comms;
};
void replay_order_init(struct replay_order *, int32_t comms);
void replay_order_release(struct replay_order *);
/* A task's operations, between begin and end; comm: the job's communicators by the task's numbers, -1 for
 * none. */
void replay_order_begin(struct replay_order *, uint32_t task, const struct task_comm *comms);
void replay_order_add(struct replay_order *, const struct task_op *);
void replay_order_end(struct replay_order *, const struct task_comm *comms, const int32_t *comm,
                      uint32_t count);
/* Collective. path: the trace, for messages, which end with an advice. */
enum ker_status replay_order_agree(struct replay_order *, const struct task_comm *comms, struct ker_comm *,
                                   const char *path, const char *advice, struct ker_error *);
