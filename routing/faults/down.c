/* down.c - links and switches that go down: which, and from when on.
 *
 * A fault is a time for a port, the same at both ends of its link: the earliest of what the list says, what
 * is drawn for the link, and what befalls either switch. What is drawn for a link or a switch is a function
 * of the seed and of its name alone, so that a higher rate adds faults and moves none. Nothing comes up
 * again. Only what fails is stored, by switch.
 */
#include "routing/faults/faults.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SWITCHES ((1 << 24) - 1) /* a packet's state names one of them, or none */

static void dead_add(struct route_faults *f, uint32_t switch_id, uint32_t port, ker_time at)
{
    *KER_PUSH(f->dead, f->dead_count, f->dead_room) = (struct route_dead){switch_id, (uint16_t)port, at};
}

/* Both ends of the link at this port. */
static void link_fail(const struct route_topology *topology, uint32_t switch_id, uint32_t port, ker_time at)
{
    struct route_peer peer;
    route_port(topology, switch_id, port, &peer);
    if (peer.kind == ROUTE_NOTHING)
        return;
    dead_add(topology->faults, switch_id, port, at);
    if (peer.kind == ROUTE_SWITCH)
        dead_add(topology->faults, peer.id, peer.port, at);
}

static void switch_fail(const struct route_topology *topology, uint32_t switch_id, ker_time at)
{
    ker_time *down = &topology->faults->switch_down[switch_id];
    *down = ker_time_min(*down, at);
}

/* ---- the list ---- */

static enum ker_status list_int(const struct ker_config *config, const char *key, int64_t count,
                                const char *what, uint32_t *value, struct ker_error *error)
{
    int64_t given = ker_config_int(config, key);
    if (given >= count)
        return ker_config_fail(config, error, key, "there is no %s %lld; they go from 0 to %lld", what,
                               (long long)given, (long long)count - 1);
    *value = (uint32_t)given;
    return KER_OK;
}

/* The switches that this one is linked to, for a message. */
static void neighbours_print(const struct route_topology *topology, uint32_t switch_id, char *text,
                             size_t room)
{
    uint32_t ports = route_ports(topology, switch_id), last = UINT32_MAX, named = 0;
    size_t at = 0;
    text[0] = 0;
    for (uint32_t p = 0; p < ports && at < room; p++) {
        struct route_peer peer;
        route_port(topology, switch_id, p, &peer);
        if (peer.kind != ROUTE_SWITCH || peer.id == last)
            continue;
        if (named++ == 12) {
            snprintf(text + at, room - at, ", ...");
            return;
        }
        char called[ROUTE_CALLED_BYTES];
        at += (size_t)snprintf(text + at, room - at, "%s%s", at ? ", " : "",
                               route_called(topology, false, peer.id, called));
        last = peer.id;
    }
    if (named == 0)
        snprintf(text, room, "no other");
}

static enum ker_status list_link(struct route_topology *topology, const struct ker_config *config,
                                 const char *key, ker_time at, struct ker_error *error)
{
    uint32_t end[2], found = 0;
    char text[400], from[ROUTE_CALLED_BYTES], to[ROUTE_CALLED_BYTES];
    if (ker_config_count(config, key) != 2)
        return ker_config_fail(config, error, key, "names %d switches; a link joins two: link = [3, 9]",
                               ker_config_count(config, key));
    for (int i = 0; i < 2; i++) {
        int64_t given = ker_config_int_at(config, key, i);
        if (given >= topology->summary.switches)
            return ker_config_fail(config, error, key, "there is no switch %lld; they go from 0 to %u",
                                   (long long)given, topology->summary.switches - 1);
        end[i] = (uint32_t)given;
    }
    for (uint32_t p = 0, ports = route_ports(topology, end[0]); p < ports; p++) {
        struct route_peer peer;
        route_port(topology, end[0], p, &peer);
        if (peer.kind != ROUTE_SWITCH || peer.id != end[1])
            continue;
        link_fail(topology, end[0], p, at);
        found++;
    }
    if (found)
        return KER_OK;
    neighbours_print(topology, end[0], text, sizeof text);
    return ker_config_fail(config, error, key, "no link joins switches %s and %s; switch %u is linked to %s",
                           route_called(topology, false, end[0], from),
                           route_called(topology, false, end[1], to), end[0], text);
}

static enum ker_status list_port(struct route_topology *topology, const struct ker_config *config,
                                 const char *key, uint32_t switch_id, ker_time at, struct ker_error *error)
{
    struct route_peer peer;
    char called[ROUTE_CALLED_BYTES];
    int64_t port = ker_config_int(config, key);
    uint32_t ports = route_ports(topology, switch_id);
    if (port >= ports)
        return ker_config_fail(config, error, key, "switch %s has the ports 0 to %u, no port %lld",
                               route_called(topology, false, switch_id, called), ports - 1, (long long)port);
    route_port(topology, switch_id, (uint32_t)port, &peer);
    if (peer.kind == ROUTE_NOTHING)
        return ker_config_fail(config, error, key, "nothing is connected to port %lld of switch %s",
                               (long long)port, route_called(topology, false, switch_id, called));
    link_fail(topology, switch_id, (uint32_t)port, at);
    return KER_OK;
}

/* A node is cut off: the links of all its adapters. */
static enum ker_status list_node(struct route_topology *topology, const struct ker_config *config,
                                 const char *key, ker_time at, struct ker_error *error)
{
    uint32_t node = 0, switch_id, adapters = topology->summary.adapters;
    uint16_t port;
    enum ker_status status = list_int(config, key, route_hosts(&topology->summary), "node", &node, error);
    for (uint32_t i = 0; status == KER_OK && i < adapters; i++) {
        route_attachment(topology, node * adapters + i, &switch_id, &port);
        link_fail(topology, switch_id, port, at);
    }
    return status;
}

static enum ker_status list_member(struct route_topology *topology, const struct ker_config *config,
                                   int index, struct ker_error *error)
{
    ker_time at = ker_config_time(config, KER_KEY("faults.list[%d].at", index));
    const char *link = KER_KEY("faults.list[%d].link", index), *node = KER_KEY("faults.list[%d].node", index);
    const char *which = KER_KEY("faults.list[%d].switch", index),
               *port = KER_KEY("faults.list[%d].port", index);
    int named = ker_config_has(config, link) + ker_config_has(config, node) + ker_config_has(config, which);
    if (named != 1)
        return ker_config_fail(
            config, error, KER_KEY("faults.list[%d]", index),
            "names %s; give one of link = [3, 9], switch = 3 (with port = 5: the link there), node = 12",
            named ? "several things" : "nothing that could fail");
    if (ker_config_has(config, link))
        return list_link(topology, config, link, at, error);
    uint32_t id = 0;
    if (ker_config_has(config, node))
        return list_node(topology, config, node, at, error);
    enum ker_status status = list_int(config, which, topology->summary.switches, "switch", &id, error);
    if (status != KER_OK)
        return status;
    if (ker_config_has(config, port))
        return list_port(topology, config, port, id, at, error);
    switch_fail(topology, id, at);
    return KER_OK;
}

/* ---- what is drawn ---- */

struct drawing {
    uint64_t seed;
    double link_rate, switch_rate;
    ker_time at, spread;
};

#define SWITCHES                                                                                             \
    (1ull << 63) /* the components of the draws: switch and port of the lower end, or this and the switch */

/* Does it fail, and when? */
static bool fault_drawn(const struct drawing *d, uint64_t component, double rate, ker_time *at)
{
    struct ker_bits bits = ker_random_bits(d->seed, KER_PURPOSE_FAULTS, component, 0);
    if (ker_random_unit(bits.word[0], bits.word[1]) >= rate)
        return false;
    *at = ker_time_later(d->at, (ker_time)(ker_random_unit(bits.word[2], bits.word[3]) * (double)d->spread));
    return true;
}

static void faults_draw(const struct route_topology *topology, const struct drawing *d)
{
    ker_time at;
    for (uint32_t s = 0; s < topology->summary.switches; s++) {
        if (d->switch_rate > 0 && fault_drawn(d, SWITCHES | s, d->switch_rate, &at))
            switch_fail(topology, s, at);
        for (uint32_t p = 0, ports = d->link_rate > 0 ? route_ports(topology, s) : 0; p < ports; p++) {
            struct route_peer peer;
            route_port(topology, s, p, &peer);
            bool lower = peer.kind == ROUTE_SWITCH && (peer.id > s || (peer.id == s && peer.port > p));
            if (lower && fault_drawn(d, (uint64_t)s << 16 | p, d->link_rate, &at))
                link_fail(topology, s, p, at);
        }
    }
}

/* ---- all together ---- */

KER_ORDER_BY(dead_compare, struct route_dead, switch_id, port, at)

/* The links of switches that fail, then each port once with its earliest time. */
static void dead_sort(const struct route_topology *topology)
{
    struct route_faults *f = topology->faults;
    uint32_t switches = topology->summary.switches, kept = 0;
    for (uint32_t s = 0; s < switches; s++)
        for (uint32_t p = 0, ports = f->switch_down[s] != KER_TIME_MAX ? route_ports(topology, s) : 0;
             p < ports; p++)
            link_fail(topology, s, p, f->switch_down[s]);
    if (f->dead_count)
        qsort(f->dead, f->dead_count, sizeof *f->dead, dead_compare);
    for (uint32_t i = 0; i < f->dead_count; i++)
        if (kept == 0 || f->dead[kept - 1].switch_id != f->dead[i].switch_id ||
            f->dead[kept - 1].port != f->dead[i].port)
            f->dead[kept++] = f->dead[i];
    f->dead_count = kept;
    for (uint32_t i = 0; i < kept; i++)
        f->first[f->dead[i].switch_id + 1]++;
    for (uint32_t s = 0; s < switches; s++)
        f->first[s + 1] += f->first[s];
}

uint32_t route_faults_epoch(const struct route_faults *f, ker_time now)
{
    return KER_BISECT(i, 0, f->epochs, f->epoch[i] <= now);
}

ker_time route_faults_next(const struct route_topology *topology, ker_time now)
{
    const struct route_faults *f = topology->faults;
    uint32_t next = route_faults_epoch(f, now);
    return next < f->epochs ? f->epoch[next] : KER_TIME_MAX;
}

static void epochs_make(const struct route_topology *topology)
{
    struct route_faults *f = topology->faults;
    uint32_t switches = topology->summary.switches, count = 0;
    f->epoch = ker_alloc((f->dead_count + switches + 1ull) * sizeof *f->epoch);
    for (uint32_t i = 0; i < f->dead_count; i++)
        f->epoch[count++] = f->dead[i].at;
    for (uint32_t s = 0; s < switches; s++)
        if (f->switch_down[s] != KER_TIME_MAX)
            f->epoch[count++] = f->switch_down[s];
    if (count)
        qsort(f->epoch, count, sizeof *f->epoch, ker_order_i64);
    for (uint32_t i = 0; i < count; i++)
        if (f->epochs == 0 || f->epoch[f->epochs - 1] != f->epoch[i])
            f->epoch[f->epochs++] = f->epoch[i];
    f->epoch = ker_realloc(f->epoch, (f->epochs + 1) * sizeof *f->epoch);
}

static void summary_make(const struct route_topology *topology)
{
    struct route_faults *f = topology->faults;
    struct route_fault_summary *sum = &f->summary;
    for (uint32_t i = 0; i < f->dead_count; i++) {
        struct route_peer peer;
        const struct route_dead *d = &f->dead[i];
        route_port(topology, d->switch_id, d->port, &peer);
        if (peer.kind == ROUTE_SWITCH &&
            (peer.id < d->switch_id || (peer.id == d->switch_id && peer.port < d->port)))
            continue; /* the other end counts */
        sum->links++;
        sum->links_start += d->at == 0;
    }
    for (uint32_t s = 0; s < topology->summary.switches; s++) {
        sum->switches += f->switch_down[s] != KER_TIME_MAX;
        sum->switches_start += f->switch_down[s] == 0;
    }
    sum->last = f->epochs ? f->epoch[f->epochs - 1] : 0;
    sum->apart_first = KER_TIME_MAX;
}

enum ker_status route_faults_read(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    int listed = ker_config_count(config, "faults.list");
    bool links = ker_config_has(config, "faults.link_rate"),
         switches = ker_config_has(config, "faults.switch_rate");
    enum ker_status status = KER_OK;
    if (listed == 0 && !links && !switches)
        return KER_OK;
    if (topology->summary.switches > MAX_SWITCHES)
        return ker_config_fail(config, error, "faults",
                               "are possible on networks of at most %d switches; this one has %u",
                               MAX_SWITCHES, topology->summary.switches);
    struct route_faults *f = topology->faults = ker_alloc(sizeof *f);
    struct drawing d = {(uint64_t)ker_config_int(config, "faults.seed"),
                        links ? ker_config_real(config, "faults.link_rate") : 0,
                        switches ? ker_config_real(config, "faults.switch_rate") : 0,
                        ker_config_time(config, "faults.at"), ker_config_time(config, "faults.spread")};
    f->switch_down = ker_alloc(topology->summary.switches * sizeof *f->switch_down);
    f->first = ker_alloc((topology->summary.switches + 1ull) * sizeof *f->first);
    for (uint32_t s = 0; s < topology->summary.switches; s++)
        f->switch_down[s] = KER_TIME_MAX;
    for (int i = 0; i < listed && status == KER_OK; i++)
        status = list_member(topology, config, i, error);
    if (status != KER_OK)
        return status;
    faults_draw(topology, &d);
    dead_sort(topology);
    epochs_make(topology);
    summary_make(topology);
    return KER_OK;
}

/* ---- questions ---- */

const struct route_fault_summary *route_fault_summarise(const struct route_topology *topology)
{
    return topology->faults ? &topology->faults->summary : NULL;
}

ker_time route_port_down(const struct route_topology *topology, uint32_t switch_id, uint32_t port)
{
    return topology->faults ? route_faults_port(topology->faults, switch_id, port) : KER_TIME_MAX;
}

ker_time route_switch_down(const struct route_topology *topology, uint32_t switch_id)
{
    return topology->faults ? topology->faults->switch_down[switch_id] : KER_TIME_MAX;
}

bool route_link_alive(const struct route_topology *topology, uint32_t switch_id, uint32_t port)
{
    return route_port_down(topology, switch_id, port) > 0;
}
