/* faults.c - what links and switches that are down mean for the next hop, and for whom there is none.
 *
 * The hot path (route_next_faulty) takes away from what the algorithm offers. Where a choice was meant to be
 * waited for (all of them, or those with ROUTE_ESCAPE), and none of that kind is left, a step of the path
 * around the faults takes its place (repair.c).
 */
#include "routing/faults/faults.h"

#include <stdlib.h>
#include <string.h>

/* An algorithm that knows the links that are down from the start needs no other path, unless more go down
 * later. */
uint32_t route_faults_channels(const struct route_topology *topology, const struct route_algorithm *algorithm)
{
    return topology->faults && !(algorithm->avoids && topology->faults->summary.last == 0);
}

/* ---- who is apart ---- */

/* Pairs only ever come apart: the first time is found by halving. */
static void apart_count(const struct route_topology *topology)
{
    struct route_faults *f = topology->faults;
    struct route_fault_summary *sum = &f->summary;
    uint32_t none[2];
    sum->apart_start = route_order_apart(topology, 0, none);
    sum->apart = route_order_apart(topology, sum->last, sum->example);
    if (sum->apart == 0)
        return;
    sum->apart_first =
        f->epoch[KER_BISECT(i, 0, f->epochs - 1, !route_order_apart(topology, f->epoch[i], none))];
}

enum ker_status route_faults_settle(struct route_topology *topology, const struct ker_config *config,
                                    struct ker_error *error)
{
    struct route_faults *f = topology->faults;
    char when[48] = "from the start", time[32];
    if (!f)
        return KER_OK;
    f->summary.repairs = route_faults_channels(topology, topology->algorithm) > 0;
    f->order = route_order_new(topology);
    f->repair = route_repair_new(topology);
    apart_count(topology);
    const struct route_fault_summary *sum = &f->summary;
    if (sum->apart == 0 || ker_config_is(config, "faults.unreachable", "drop"))
        return KER_OK;
    if (sum->apart_first > 0)
        snprintf(when, sizeof when, "from %s on", ker_print_time(time, sum->apart_first));
    return ker_config_fail(config, error, "faults",
                           "%s there is no path between some nodes, in the end for %llu of %llu pairs, "
                           "for example from node %u to node %u; to run all the same and count what is lost: "
                           "faults.unreachable = \"drop\"",
                           when, (unsigned long long)sum->apart,
                           (unsigned long long)route_faults_pairs(topology), sum->example[0],
                           sum->example[1]);
}

void route_faults_free(struct route_faults *f)
{
    if (!f)
        return;
    route_repair_free(f->repair);
    route_order_free(f->order);
    KER_FREE(f->switch_down, f->first, f->dead, f->epoch, f);
}

/* ---- the next hop ---- */

int route_next_repair(const struct route_topology *topology, ker_time now, uint32_t switch_id,
                      const struct route_packet *packet, struct route_choice *choice)
{
    const struct route_faults *f = topology->faults;
    return f->switch_down[switch_id] > now && f->summary.repairs &&
           route_repair_next(topology, now, switch_id, packet, choice);
}

int route_next_faulty(const struct route_topology *topology, ker_time now, uint64_t coordinate,
                      uint32_t switch_id, const struct route_packet *packet, struct route_choice *choices)
{
    const struct route_faults *f = topology->faults;
    if (f->switch_down[switch_id] <= now)
        return 0;
    if (packet->in_channel == topology->channels)
        return route_next_repair(topology, now, switch_id, packet, choices);
    int count = topology->algorithm->next(topology, coordinate, switch_id, packet, choices), kept = 0;
    uint8_t escapes = 0, left = 0;
    if (f->first[switch_id] == f->first[switch_id + 1])
        return count; /* nothing ever fails here */
    for (int i = 0; i < count; i++) {
        escapes |= choices[i].flags & ROUTE_ESCAPE;
        if (route_faults_port(f, switch_id, choices[i].port) <= now)
            continue;
        left |= choices[i].flags & ROUTE_ESCAPE;
        choices[kept++] = choices[i];
    }
    if (kept && escapes == left)
        return kept;
    kept -= kept == ROUTE_MAX_CHOICES;
    if (!route_next_repair(topology, now, switch_id, packet, &choices[kept]))
        return 0; /* none that may be waited for */
    choices[kept].flags = kept ? ROUTE_ESCAPE : 0;
    return kept + 1;
}
