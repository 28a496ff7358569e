/* endpoint.h - overheads that are no constant: by size, and LogGOPS' (mpi.overheads = "loggops"). A private
 * part of state.h. */
#pragma once

#include "kernel/state/state.h"

struct ker_config;

/* Where node_model.sized: of a message between the task and this one of its job; `between`: of one between
 * two nodes. */
ker_time task_endpoint_sized(const struct task_mpi *, const struct task_state *, int32_t peer,
                             const struct ker_sizes *between, uint64_t bytes);
/* Of one-sided or partitioned communication, whose adapters do the rest: of a message to this task of the
 * job. */
ker_time task_endpoint_alone(const struct task_mpi *, const struct task_state *, uint32_t peer,
                             uint64_t bytes);
/* When node and protocol have been read. */
enum ker_status task_endpoints_new(struct task_mpi *, const struct ker_config *, struct ker_error *);
void task_endpoints_reserve(struct task_mpi *, uint32_t tasks);
void task_endpoints_free(struct task_mpi *);
/* The rest only where task_mpi.endpoints is there. o of a message. */
ker_time task_endpoint_overhead(const struct task_mpi *, uint64_t bytes);
/* The task sends a message, or (announced) its RTS: it goes so much later. */
ker_time task_endpoint_send(struct task_mpi *, const struct task_state *, ker_time now, uint64_t bytes,
                            bool announced);
/* It has sent an eager one, and owes for its bytes; it owes for one that it has received. */
void task_endpoint_sent(struct task_mpi *, struct task_state *, uint64_t bytes);
void task_endpoint_take(struct task_mpi *, struct task_state *, uint64_t bytes);
void task_endpoint_state(struct task_mpi *, const struct task_state *, struct ker_chunk *);
