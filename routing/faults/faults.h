/* faults.h - private to routing/: what is down from when on (down.c), what that means for next hops
 * (faults.c), and the paths around it (order.c, repair.c). */
#pragma once

#include "routing/topology.h"

struct route_order;
struct route_repair;

/* A port whose link goes down; both ends of a link are listed. */
struct route_dead {
    uint32_t switch_id;
    uint16_t port;
    ker_time at;
};

struct route_faults {
    ker_time *switch_down;   /* per switch: from when on; KER_TIME_MAX: never */
    struct route_dead *dead; /* by switch and port */
    uint32_t *first;         /* per switch: its first one in dead; one more at the end */
    uint32_t dead_count, dead_room;
    ker_time *epoch; /* the times at which something goes down, ascending, each once */
    uint32_t epochs;
    struct route_order *order;
    struct route_repair *repair;
    struct route_fault_summary summary;
};

/* From when on the link at this port is down. */
static inline ker_time route_faults_port(const struct route_faults *f, uint32_t switch_id, uint32_t port)
{
    for (uint32_t i = f->first[switch_id]; i < f->first[switch_id + 1]; i++)
        if (f->dead[i].port == port)
            return f->dead[i].at;
    return KER_TIME_MAX;
}

/* down.c: how many epochs have begun by `now`. */
uint32_t route_faults_epoch(const struct route_faults *, ker_time now);
/* Before the algorithm is chosen: reads faults.* into topology->faults; NULL when nothing is asked for. */
enum ker_status route_faults_read(struct route_topology *, const struct ker_config *, struct ker_error *);
/* Virtual channels for the paths around faults: 0 when the algorithm needs none of them, else 1. */
uint32_t route_faults_channels(const struct route_topology *, const struct route_algorithm *);
/* After it: prepares the paths around the faults, counts the pairs of endpoints that have none. */
enum ker_status route_faults_settle(struct route_topology *, const struct ker_config *, struct ker_error *);
void route_faults_free(struct route_faults *);

/* order.c: the order of the switches that paths around faults use, and who is connected. */
struct route_order *route_order_new(const struct route_topology *);
void route_order_free(struct route_order *);
/* Ordered pairs of adapters that may send to each other: of two hosts, on the same rail. */
uint64_t route_faults_pairs(const struct route_topology *);
/* Those without a route between them; two hosts as an example when there are any. */
uint64_t route_order_apart(const struct route_topology *, ker_time now, uint32_t example[2]);

/* repair.c: the paths along it. After topology->faults->order. */
struct route_repair *route_repair_new(const struct route_topology *);
void route_repair_free(struct route_repair *);
/* One step of the path around faults from this switch, into `choice`; false: there is none. */
bool route_repair_next(const struct route_topology *, ker_time now, uint32_t switch_id,
                       const struct route_packet *, struct route_choice *choice);
