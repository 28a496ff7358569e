/* faults.h - private to routing/: what is down from when on (faults.c), and the ways around it (repair.c). */
#ifndef ROUTING_FAULTS_H
#define ROUTING_FAULTS_H

#include "routing/topology.h"

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
    struct route_repair *repair;
    struct route_fault_summary summary;
};

/* Before the algorithm is chosen: reads faults.* into topology->faults; NULL when nothing is asked for. */
enum ker_status route_faults_read(struct route_topology *, const struct ker_config *, struct ker_error *);
/* Virtual channels for the ways around faults: 0 when the algorithm needs none of them, else 1. */
uint32_t route_faults_channels(const struct route_topology *, const struct route_algorithm *);
/* After it: prepares the ways around the faults, counts the pairs of nodes that have none. */
enum ker_status route_faults_settle(struct route_topology *, const struct ker_config *, struct ker_error *);
void route_faults_free(struct route_faults *);

/* repair.c: the order of the switches and the ways along it. */
struct route_repair *route_repair_new(const struct route_topology *);
void route_repair_free(struct route_repair *);
/* One step of the way around faults from this switch, into `choice`; false: there is none. */
bool route_repair_next(const struct route_topology *, ker_time now, uint32_t switch_id,
                       const struct route_packet *, struct route_choice *choice);
/* Is there any way between the two switches at that time? */
bool route_repair_connects(const struct route_repair *, ker_time now, uint32_t from, uint32_t to);
/* Ordered pairs of nodes without a way between them, of all there are; an example when there is one. */
uint64_t route_repair_apart(const struct route_topology *, ker_time now, uint32_t example[2]);

#endif
