/* nodes.h - what a node costs between task and adapter: cores, memory bus, operating system.
 *
 * The first model of it: a factor for the processor, overheads per call, a memory copy between tasks of one
 * node. A deeper model (bus contention, memory controllers, system call and doorbell latencies, scheduling of
 * more tasks than cores) comes behind the same calls.
 */
#ifndef NODES_NODES_H
#define NODES_NODES_H

#include "kernel/kernel.h"

struct node_model {
    uint32_t cores;
    ker_time send_overhead, receive_overhead; /* processor time per message sent, received */
    ker_time doorbell;                        /* from the call to the adapter */
    ker_time memory_latency;                  /* of a message between two tasks of one node */
    uint64_t memory_rate;                     /* its bandwidth */
};

enum ker_status node_model_init(struct node_model *, const struct ker_config *, struct ker_error *);
/* Computation of `time` on the traced machine, on this one: rounded half up; factor 0 gives 0. */
ker_time node_compute(const struct node_model *, ker_time time, double factor);
/* Time for a message of `bytes` inside the node. */
ker_time node_copy(const struct node_model *, uint64_t bytes);

extern const struct ker_option node_options[]; /* node.cores, ... */

#endif
