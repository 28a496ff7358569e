/* hierarchical_plan.h - what is decided of a packet's path that may lead over a third group, and its next
 * hop. Private to hierarchical_detours.c.
 *
 * State, from the lowest bit: 2 bits of phase; the lane: which of the parallel links out of the current
 * group; the intermediate group, or the address fields of the intermediate switch. State 0: nothing is
 * decided yet.
 */
#pragma once

#include "routing/topologies/hierarchical.h"

struct plan {
    enum phase phase;
    uint32_t lane, via;
};

static inline uint32_t plan_pack(const struct hierarchy *h, struct plan w)
{
    return (uint32_t)w.phase | w.lane << 2 | w.via << (2 + h->lane_bits);
}

static inline struct plan plan_unpack(const struct hierarchy *h, uint32_t state)
{
    return (struct plan){state & 3, state >> 2 & ((1u << h->lane_bits) - 1), state >> (2 + h->lane_bits)};
}

_Static_assert(PHASE_DETOUR - LEG_DETOUR == 1 && PHASE_FINAL - LEG_FINAL == 1 &&
                   PHASE_UNDECIDED - LEG_UNDECIDED == 1,
               "a phase's leg");

static inline void plan_hop(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                            struct plan plan, struct route_choice *choice)
{
    const struct leg *leg = &h->leg[plan.phase - 1];
    if (plan.phase != PHASE_DETOUR || !hierarchy_via_is_group(h))
        hierarchy_hop(h, coordinate, plan.phase == PHASE_DETOUR ? plan.via : packet->address & h->switch_mask,
                      leg, plan.lane, packet, choice, true);
    else
        hierarchy_hop_to_group(h, coordinate, plan.via, leg, plan.lane, packet, choice);
    if (plan.phase == PHASE_UNDECIDED && choice->port >= h->top->first_port)
        plan.phase = PHASE_FINAL; /* out of the group: nothing is left to decide */
    choice->state = plan_pack(h, plan);
}
