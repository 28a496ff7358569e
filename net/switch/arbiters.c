/* arbiters.c - the arbiters (switch.arbitration), and among lanes the strict one (switch.lanes). What they
 * compare is in switch.c, where requests are.
 */
#include "net/switch/private.h"

const struct ker_kind net_arbiter_round_robin = {.name = "round_robin",
                                                 .meaning = "the inputs in turn",
                                                 .operations =
                                                     &(const struct net_arbiter){NET_ARBITER_ROUND_ROBIN}};
const struct ker_kind net_arbiter_oldest = {.name = "oldest",
                                            .meaning = "the packet that was injected first",
                                            .operations = &(const struct net_arbiter){NET_ARBITER_OLDEST}};
const struct ker_kind net_arbiter_random = {.name = "random",
                                            .meaning = "one of them drawn",
                                            .operations = &(const struct net_arbiter){NET_ARBITER_RANDOM}};

const struct ker_kind net_lanes_strict = {
    .name = "strict", .meaning = "the highest class first", .operations = &(const struct net_lanes){0}};
