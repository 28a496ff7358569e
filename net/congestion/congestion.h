/* congestion.h - congestion control as an interface: what a method may hook into (congestion.control).
 *
 * A switch may mark a packet at its grant; the adapter that receives packets may send cnps to their source; a
 * cnp is a packet of congestion.cnp_size bytes in the highest priority class, injected before anything
 * else, that no client sees; the source's adapter asks, before a flow (all it sends to one node) injects a
 * packet, when it may. A method keeps what it must remember in tables of its own (adapter.h), lets it depend
 * on the model's state only, never on what a rank holds, and needs neither switch.c nor adapter.c changed. It
 * posts no events: what changes with time alone is computed when asked for.
 *
 * Without congestion control net->congestion is NULL, and nothing of this is called.
 */
#ifndef NET_CONGESTION_H
#define NET_CONGESTION_H

#include "net/network.h"

/* Operations of a kind of the family "congestion.control". */
struct net_congestion {
    /* Reads the method's keys and makes its state, net->congestion_state; the links are known. NULL: this is
     * no control. */
    enum ker_status (*read)(struct net_network *, const struct ker_config *, struct ker_error *);
    void (*release)(void *state);
    /* At a switch, when a packet that is no cnp is granted an output: is it to be marked (NET_MARKED)? The
     * output's backlog is as it was before the grant, less the packet itself. `left`: bytes of credit that
     * the packet leaves on its channel; UINT32_MAX: the link needs none. */
    bool (*marks)(const struct net_network *, uint32_t switch_id, const struct net_port *out,
                  const struct net_packet *, uint32_t left, ker_time now);
    /* At the destination: a packet that is no cnp is here, marked or not. May call net_cnp_send. */
    void (*arrived)(struct net_adapter *, ker_time now, const struct net_packet *);
    /* At the source: a cnp from p->source is here; what net_cnp_send was given is in p->index. */
    void (*noticed)(struct net_adapter *, ker_time now, const struct net_packet *);
    /* At the source, while its link is free: when may the next packet to this node go? Now or earlier: at
     * once. The answer may be later when asked again, but earlier only after noticed(). */
    ker_time (*ready)(const struct net_adapter *, uint32_t destination, ker_time now);
    /* What the method remembers, for checkpoints: chunks "congestion" whose ids have the adapter in the low
     * half, the rest is the method's. load: of one chunk; the adapter lives on this rank. */
    void (*save)(struct net_network *, struct ker_state_writer *);
    void (*load)(struct net_adapter *, struct ker_chunk *);
    /* A fork: until now this configuration counted. What changed with time by its keys is brought up to now.
     * NULL: nothing does. */
    void (*forked)(struct net_network *, const struct ker_config *former, ker_time now);
    /* At the source: a packet leaves now and takes the link for `wire`. */
    void (*sent)(struct net_adapter *, ker_time now, const struct net_packet *, ker_time wire);
};

/* The keys of all methods: ker_kind.options of one that has read(). */
extern const struct ker_option net_cnp_options[];
enum ker_status net_cnp_read(struct net_settings *, const struct ker_config *, struct ker_error *);

/* Has the adapter send a cnp to another node, from arrived() only. word: for the method. */
void net_cnp_send(struct net_adapter *, ker_time now, uint32_t destination, uint16_t word);

/* Reads congestion.*, for net_network_new. */
enum ker_status net_congestion_read(struct net_network *, const struct ker_config *, struct ker_error *);

#endif
