/* rates.h - how fast the parts of a kind of node are, beyond what the simple model has: keys of node, for
 * which those of nodes[] are on the nodes of a kind. What node has no key for has none in any kind. */
#pragma once

#include "kernel/config/config.h"

/* Bytes per second, > 0; UINT64_MAX: without end. */
struct node_rates {
    uint64_t controller; /* of each memory controller */
    uint64_t core;       /* that one core draws at most */
    uint64_t socket;     /* of a socket's link to the others, in each direction */
    uint64_t bus;        /* of each bus, in each direction; without end: adapters take bandwidth of nothing */
    bool system;         /* calls that the operating system serves take other times than computations: */
    double system_factor;    /* times those of the trace */
    ker_time system_latency; /* and so much more each */
};

/* From the keys of a group: "node", or "nodes[2]", whose keys take the place of node's. */
enum ker_status node_rates_read(struct node_rates *, const struct ker_config *, const char *group,
                                struct ker_error *);
/* Is there anything that nodes with the simple model do not have? */
bool node_rates_ask(const struct node_rates *);

extern const struct ker_option node_rate_options[];
