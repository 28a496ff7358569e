/* switch.h - switches, for the rest of net/: what one is made of only net/switch/ knows. */
#pragma once

#include "net/network.h"

/* Memory of a switch, of which the caller owns a block of this many bytes, zeroed, and from one of its ports
 * to the next. */
size_t net_switch_bytes(const struct net_network *, uint32_t ports);
size_t net_switch_port_bytes(const struct net_network *);
void net_switch_init(struct net_network *, struct net_switch *, const struct part_layout *, uint32_t id);
void net_waits_init(struct net_network *);    /* before the first of them */
void net_switch_release(struct net_switch *); /* all but the block */

/* What can be seen of it. */
struct net_switch_view {
    uint32_t id, self, ports;       /* among switches; component */
    struct net_link_series *series; /* by port; NULL: not collected */
    const uint64_t *detours;        /* by output; NULL: there are none */
    struct net_job_use *jobs;       /* by output and job; NULL: not collected */
};
struct net_switch_view net_switch_view(const struct net_switch *);
uint32_t net_switch_number(const struct net_network *,
                           uint32_t i); /* of the i-th, which may not be made yet */
struct net_port *net_switch_port(const struct net_switch *, uint32_t port);

extern const struct ker_class net_switch_class;
/* Of a class with net->hop, and with net->straight, too: its prepare(). */
void net_switch_prepare_hop(void *self, struct ker_event *);
void net_switch_prepare_straight(void *self, struct ker_event *);
/* With net->looks, or FIFOs, of its class: arrival_alone() by way of the queues. */
void net_switch_arrival_queued(void *self, struct ker_engine *, const struct ker_event *);

/* Do the settings ask for nothing but the time of queue and credits? */
bool net_selects_time(const struct net_network *);
/* To whom a switch sends news of watched links: switches by their id, without their group of components. */
uint32_t net_congestion_map_sends(const struct net_network *, uint32_t switch_id, struct part_link *);
/* What it remembers of paths is forgotten. */
void net_pins_free(struct net_switch *);
/* fault.c: timers of the ports that will go down. */
void net_faults_post(struct net_network *, const struct net_switch *);
/* A packet cannot arrive: the adapter drops it without sending it. */
void net_packet_withhold(struct net_adapter *, const struct net_packet *, ker_time now);
