/* partitioned.h - partitioned communication: requests whose buffers are sent and received in parts. A private
 * part of state.h.
 *
 * A partitioned request is a persistent one. Its `comm` has TASK_COMM_PARTITIONED, so that the queues of
 * match.c pair the announcements of sends with receives apart from other messages; its `bytes` is the index
 * of what follows here.
 */
#pragma once

#include "kernel/base/base.h"

#define TASK_COMM_PARTITIONED 0x40000000

/* The choices of mpi.partitioned: each partition of the sender is a message, or all of them together. */
enum task_parting { TASK_PARTING_EACH, TASK_PARTING_WHOLE };

struct task_partitioned {
    uint64_t bytes;      /* of all partitions */
    uint32_t partitions; /* own */
    uint32_t messages;   /* of a start: as many as the sender says; 0: not known here */
    uint32_t partner;    /* the number of the other side's request; 0: not known */
    uint32_t started;    /* how often; modulo 2^32 */
    uint32_t cleared;    /* sender: as often the receiver has started, as far as it is known */
    uint32_t ready;      /* sender: partitions of this start that are ready */
    uint32_t moved;      /* messages of this start that have left, or arrived */
    /* By partition, of this start. Sender: 1 when it is ready. Receiver: what has come of it, in parts of
     * `messages`. */
    uint32_t *part;
};

static inline bool task_request_partitioned(const struct task_request *r)
{
    return r->comm & TASK_COMM_PARTITIONED && r->comm > 0;
}
static inline struct task_partitioned *task_partitioned_of(const struct task_mpi *mpi,
                                                           const struct task_request *r)
{
    return ker_chunks_at(&mpi->partitioned, (uint32_t)r->bytes);
}

/* -- partitions.c -- */
/* For a request: its index. */
uint32_t task_partitions_new(struct task_mpi *, uint32_t partitions, uint64_t bytes);
void task_partitions_free(struct task_mpi *, uint32_t index);
/* A new start: nothing is ready, or has come. */
void task_partitions_begin(struct task_partitioned *);
/* A message of the sender has come. */
void task_partitions_come(struct task_partitioned *, uint32_t message);
/* Is all of this partition here? */
static inline bool task_partition_here(const struct task_partitioned *p, uint32_t partition)
{
    return partition >= p->partitions || (p->messages && p->part[partition] == p->messages);
}

/* -- partitioned.c -- */
/* The op makes a request. */
void task_partitioned_init(struct task_mpi *, struct task_state *, ker_time now);
/* Starts an inactive one. */
void task_partitioned_start(struct task_mpi *, struct task_state *, ker_time now, uint32_t request);
/* The op says that partitions are ready. */
void task_partitioned_ready(struct task_mpi *, struct task_state *, ker_time now);
/* Of the messages that the op is going to send. */
ker_time task_partitioned_overhead(const struct task_mpi *, const struct task_state *);
/* The op asks for a partition; false: it waits for it. */
bool task_partitioned_asked(struct task_mpi *, struct task_state *);
/* A receive has found the announcement of its send. */
void task_partitioned_matched(struct task_mpi *, struct task_state *, ker_time now, uint32_t request,
                              const struct task_wire *);
/* A message has left. */
void task_partitioned_left(struct task_mpi *, struct task_state *, uint32_t request);
/* PSTART for the sender, PART for the receiver. */
void task_partitioned_arrived(struct task_mpi *, struct task_state *, ker_time now, const struct task_wire *);
