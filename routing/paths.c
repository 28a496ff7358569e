/* paths.c - routes on any graph: shortest paths, and detours via an intermediate switch.
 *
 * A route is made of legs, each of which is a shortest path: one to the destination, or one to an
 * intermediate switch and one from there. A switch with nodes is drawn for it, neither the source's nor the
 * destination's unless routing.valiant is "any": then these mean a shortest path. The state says which leg it
 * is (enum phase) and, above that, which switch it leads to.
 *
 * Deadlock, routing.channel_order = "phase": every leg has channels of its own, and those of the later leg
 * are never left for the earlier one's. Inside a leg either the topology has an order of its shortest paths
 * (route_steps.order_classes), or the class is the most links that there can be less those to go: it grows by
 * one with each link. "hop": the class is how many links are behind the packet, over all legs. Either way it
 * grows along any path, so no circle of waiting can close.
 *
 * UGAL decides at the source's switch among all shortest paths and routing.candidates detours; PAR once more
 * at the second switch, where a packet that had not taken a detour may take one: its first link has a class
 * of its own.
 */
#include "routing/paths.h"

#include <stdlib.h>
#include <string.h>

/* Salts of draws; those of candidates follow. */
enum { SALT_STEP = 3, SALT_VIA = 20 };

#define MOST_MEASURED (1u << 27) /* bytes of distances */
#define MOST_CLASSES 250         /* packets count their switches in 8 bits */

/* START: at the source's switch. UNDECIDED: PAR's first link. */
enum phase { PHASE_START, PHASE_DETOUR, PHASE_FINAL, PHASE_UNDECIDED, PHASES };
#define PHASE_BITS 2

enum rule { RULE_MINIMAL, RULE_ADAPTIVE, RULE_VALIANT, RULE_UGAL, RULE_PAR };

static const struct ker_word rules[] = {{"minimal", RULE_MINIMAL}, {"adaptive", RULE_ADAPTIVE},
                                        {"valiant", RULE_VALIANT}, {"ugal", RULE_UGAL},
                                        {"par", RULE_PAR},         {0}};

struct route_paths {
    enum rule rule;
    const struct route_steps *steps; /* NULL: measured */
    uint32_t sites, *site,
        *site_of;    /* switches with nodes: their numbers, and of each switch which of them it is */
    uint64_t *first; /* measured: a switch's first entry in peer, which has one for each port */
    uint32_t *peer;  /* the switch there; switches: none */
    uint8_t *apart;  /* [site][switch] */
    uint32_t reach, classes, spread, candidates;
    uint32_t base[PHASES]; /* the first class of the leg */
    bool by_hop, ordered, weighted, doubled, any;
    uint32_t switches;
};

void route_paths_free(struct route_paths *p)
{
    if (!p)
        return;
    KER_FREE(p->site, p->site_of, p->first, p->peer, p->apart, p);
}

void route_paths_tune(struct route_topology *topology)
{
    struct route_paths *p = topology->paths;
    ker_assert(p->classes > 0);
    p->spread = topology->channels / p->classes;
}

/* ---- how far, and where to ---- */

static uint32_t links_between(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    const struct route_paths *p = topology->paths;
    if (p->steps)
        return p->steps->apart(topology, from, to);
    return p->apart[(uint64_t)p->site_of[to] * p->switches + from];
}

/* Ports from `from` nearer to `to`, by the closed form or by what was measured; as route_steps.toward. */
static int paths_toward(const struct route_topology *topology, uint32_t from, uint32_t to, bool ordered,
                        uint16_t *port)
{
    const struct route_paths *p = topology->paths;
    if (p->steps)
        return p->steps->toward(topology, from, to, ordered, port);
    const uint8_t *apart = p->apart + (uint64_t)p->site_of[to] * p->switches;
    int count = 0;
    for (uint64_t i = p->first[from]; i < p->first[from + 1] && count < ROUTE_MAX_CHOICES; i++)
        if (p->peer[i] < p->switches && apart[p->peer[i]] + 1u == apart[from])
            port[count++] = (uint16_t)(i - p->first[from]);
    return count;
}

/* ---- set-up ---- */

static void sites_find(const struct route_topology *topology, struct route_paths *p)
{
    const struct route_summary *summary = &topology->summary;
    uint16_t port;
    p->switches = summary->switches;
    p->site_of = ker_alloc(p->switches * sizeof *p->site_of);
    for (uint32_t n = 0, at; n < summary->endpoints; n++) {
        route_attachment(topology, n, &at, &port);
        p->site_of[at] = 1;
    }
    for (uint32_t s = 0; s < p->switches; s++) {
        if (p->site_of[s])
            *KER_APPEND(p->site, p->sites) = s;
        p->site_of[s] = p->site_of[s] ? p->sites - 1 : UINT32_MAX;
    }
}

/* Ports of all switches in one row, and where they lead. */
static void peers_list(const struct route_topology *topology, struct route_paths *p)
{
    p->first = ker_alloc((p->switches + 1ull) * sizeof *p->first);
    for (uint32_t s = 0; s < p->switches; s++)
        p->first[s + 1] = p->first[s] + route_ports(topology, s);
    p->peer = ker_alloc((p->first[p->switches] + 1) * sizeof *p->peer);
    for (uint32_t s = 0; s < p->switches; s++)
        for (uint64_t i = p->first[s]; i < p->first[s + 1]; i++) {
            struct route_peer peer;
            route_port(topology, s, (uint32_t)(i - p->first[s]), &peer);
            p->peer[i] = peer.kind == ROUTE_SWITCH ? peer.id : p->switches;
        }
}

/* Breadth first from one switch; returns the most links to another one with nodes. */
static uint32_t site_measure(const struct route_paths *p, uint32_t from, uint8_t *apart, uint32_t *queue)
{
    uint32_t found = 1, far = 0;
    memset(apart, UINT8_MAX, p->switches);
    apart[queue[0] = from] = 0;
    for (uint32_t done = 0; done < found; done++) {
        uint32_t s = queue[done], next = apart[s] + 1u;
        far = p->site_of[s] != UINT32_MAX ? apart[s] : far;
        for (uint64_t i = p->first[s]; i < p->first[s + 1] && next < UINT8_MAX; i++)
            if (p->peer[i] < p->switches && apart[p->peer[i]] == UINT8_MAX) {
                apart[p->peer[i]] = (uint8_t)next;
                queue[found++] = p->peer[i];
            }
    }
    return far;
}

static enum ker_status graph_measure(const struct route_topology *topology, struct route_paths *p,
                                     const struct ker_config *config, struct ker_error *error)
{
    uint64_t bytes = (uint64_t)p->sites * p->switches;
    if (bytes > MOST_MEASURED)
        return ker_config_fail(
            config, error, "routing.algorithm",
            "\"%s\" would keep %llu MB of distances on this %s: it is for up to %u switches "
            "with nodes times %u switches",
            ker_config_string(config, "routing.algorithm"), (unsigned long long)(bytes >> 20),
            topology->summary.topology, MOST_MEASURED / p->switches, p->switches);
    peers_list(topology, p);
    p->apart = ker_alloc(bytes);
    uint32_t *queue = ker_alloc(p->switches * sizeof *queue);
    for (uint32_t i = 0; i < p->sites; i++) {
        uint32_t far = site_measure(p, p->site[i], p->apart + (uint64_t)i * p->switches, queue);
        p->reach = far > p->reach ? far : p->reach;
    }
    free(queue);
    return KER_OK;
}

/* Classes of the legs, in the order in which a packet can meet them. */
static void legs_number(const struct route_topology *topology, struct route_paths *p)
{
    uint32_t leg = p->ordered ? p->steps->order_classes : p->reach > 0 ? p->reach : 1;
    uint32_t undecided = p->rule == RULE_PAR, detour = p->rule < RULE_VALIANT ? 0 : leg;
    p->base[PHASE_DETOUR] = undecided;
    p->base[PHASE_FINAL] = undecided + detour;
    p->classes = p->by_hop ? 2 * p->reach + undecided : undecided + detour + leg;
}

static enum ker_status rule_check(const struct route_topology *topology, const struct route_paths *p,
                                  const struct ker_config *config, struct ker_error *error)
{
    static const char key[] = "routing.algorithm";
    const char *name = ker_config_string(config, key);
    if (p->rule >= RULE_VALIANT && ker_config_is(config, "routing.valiant", "group"))
        return ker_config_fail(config, error, "routing.valiant",
                               "can only be \"switch\" or \"any\" on this %s, whose detours lead to switches",
                               topology->summary.topology);
    if (p->rule >= RULE_VALIANT && p->sites < 3)
        return ker_config_fail(config, error, key,
                               "\"%s\" needs a third switch with nodes, but this %s has only %u", name,
                               topology->summary.topology, p->sites);
    if (p->rule >= RULE_VALIANT && p->sites > 1u << (24 - PHASE_BITS))
        return ker_config_fail(config, error, key,
                               "\"%s\" keeps the intermediate switch in %d bits of a packet, too few for %u "
                               "switches with nodes",
                               name, 24 - PHASE_BITS, p->sites);
    if (p->classes > MOST_CLASSES)
        return ker_config_fail(config, error, key,
                               "\"%s\" needs %u virtual channels, one for each link of its longest path; at "
                               "most %d are possible: use \"updown\"",
                               name, p->classes, MOST_CLASSES);
    return KER_OK;
}

static enum ker_status paths_prepare(struct route_topology *topology, const struct ker_config *config,
                                     struct ker_error *error)
{
    struct route_paths *p = topology->paths = ker_alloc(sizeof *p);
    enum ker_status status = KER_OK;
    p->rule = (enum rule)ker_config_number(config, "routing.algorithm", rules);
    p->steps = topology->kind->steps;
    sites_find(topology, p);
    if (p->steps)
        p->reach = p->steps->reach(topology);
    else
        status = graph_measure(topology, p, config, error);
    if (status != KER_OK)
        return status;
    p->any = p->rule >= RULE_VALIANT && ker_config_is(config, "routing.valiant", "any");
    p->by_hop = p->rule >= RULE_VALIANT && ker_config_is(config, "routing.channel_order", "hop");
    p->ordered = !p->by_hop && p->steps && p->steps->order_classes &&
                 (p->rule != RULE_ADAPTIVE || p->steps->all_ordered);
    legs_number(topology, p);
    if (p->rule >= RULE_UGAL) {
        p->candidates = (uint32_t)ker_config_int(config, "routing.candidates");
        route_weights_ask(config, true, &p->weighted, &p->doubled);
        route_bias_propose(&topology->summary);
    }
    return rule_check(topology, p, config, error);
}

static uint32_t paths_channels(const struct route_topology *topology)
{
    return topology->paths->classes;
}

/* ---- legs ---- */

/* Where a packet is and is to be sent. */
struct place {
    uint32_t here, to;
    uint16_t out; /* the port of the destination at its switch */
};

static inline uint32_t state_of(enum phase phase, uint32_t site)
{
    return (uint32_t)phase | (phase == PHASE_DETOUR ? site << PHASE_BITS : 0);
}

static uint32_t class_of(const struct route_topology *topology, const struct route_packet *packet,
                         uint32_t here, uint32_t target, enum phase phase)
{
    const struct route_paths *p = topology->paths;
    if (p->by_hop)
        return packet->hops < p->classes ? packet->hops : p->classes - 1; /* a proof asks for more, too */
    if (phase == PHASE_UNDECIDED)
        return 0;
    if (!p->ordered)
        return p->base[phase] + p->reach - links_between(topology, here, target);
    return p->base[phase] + (p->steps->order_class ? p->steps->order_class(topology, here, target) : 0);
}

/* The next links of the leg to `target`, beginning with a drawn one; at most `most`. */
static int leg_offer(const struct route_topology *topology, const struct route_packet *packet, uint32_t here,
                     uint32_t target, uint32_t state, uint32_t salt, int most, struct route_choice *choices)
{
    const struct route_paths *p = topology->paths;
    uint16_t port[ROUTE_MAX_CHOICES];
    int count = paths_toward(topology, here, target, p->ordered, port);
    uint32_t class = class_of(topology, packet, here, target, (enum phase)(state & (PHASES - 1)));
    ker_check(count > 0);
    int at = (int)route_pick(packet, salt, (uint32_t)count), offered = count < most ? count : most;
    for (int i = 0; i < offered; i++, at = at + 1 == count ? 0 : at + 1) {
        choices[i] = (struct route_choice){.port = port[at], .state = state};
        route_channel(&choices[i], class * p->spread, p->spread);
    }
    return offered;
}

/* Via a switch where no detour is to be made. */
static bool via_none(const struct route_topology *topology, const struct place *at, uint32_t via)
{
    const struct route_paths *p = topology->paths;
    if (via == at->here || via == at->to)
        return true;
    if (!p->any || !p->steps || !p->steps->by_group)
        return false;
    uint32_t own = route_group(topology, at->here);
    return route_group(topology, via) == own || route_group(topology, at->to) == own;
}

/* A switch with nodes; none of the two unless any may be. */
static uint32_t via_draw(const struct route_paths *p, const struct route_packet *packet, uint32_t salt,
                         const struct place *at)
{
    if (p->any)
        return route_pick(packet, salt, p->sites);
    uint32_t a = p->site_of[at->here], b = p->site_of[at->to], low = a < b ? a : b, high = a < b ? b : a;
    uint32_t without = (low != UINT32_MAX) + (high != UINT32_MAX && high != low);
    uint32_t via = route_pick(packet, salt, p->sites - without);
    via += via >= low;
    return via + (high != low && via >= high);
}

/* Shortest paths that may still become a detour (UNDECIDED) or not, and random detours. */
static int ugal_offer(const struct route_topology *topology, const struct route_packet *packet,
                      const struct place *at, enum phase direct, struct route_choice *choices)
{
    const struct route_paths *p = topology->paths;
    uint32_t candidates = packet->oracle ? 1 : p->candidates; /* to a proof one is like the other */
    uint32_t links = links_between(topology, at->here, at->to);
    int count = leg_offer(topology, packet, at->here, at->to, state_of(direct, 0), SALT_STEP,
                          ROUTE_MAX_CHOICES - (int)candidates, choices);
    for (int i = 0; i < count; i++)
        choices[i].weight = (uint8_t)(!p->weighted ? 0 : p->doubled ? 1 : links);
    uint32_t salt = SALT_VIA + 2 * p->candidates * (packet->hops > 0);
    for (uint32_t i = 0; i < candidates; i++, salt += 2) {
        struct route_choice *choice = &choices[count];
        uint32_t site = via_draw(p, packet, salt, at), via = p->site[site];
        if (via_none(topology, at, via))
            continue;
        count +=
            leg_offer(topology, packet, at->here, via, state_of(PHASE_DETOUR, site), salt + 1, 1, choice);
        choice->flags = ROUTE_DETOUR;
        if (p->weighted)
            choice->weight = (uint8_t)(p->doubled ? 2
                                                  : links_between(topology, at->here, via) +
                                                        links_between(topology, via, at->to));
    }
    return count;
}

static int paths_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                      const struct route_packet *packet, struct route_choice *choices)
{
    const struct route_paths *p = topology->paths;
    enum phase phase = (enum phase)(packet->state & (PHASES - 1));
    uint32_t site = packet->state >> PHASE_BITS;
    struct place at = {.here = switch_id};
    route_attachment(topology, packet->destination, &at.to, &at.out);
    if (phase == PHASE_DETOUR && p->site[site] == switch_id)
        phase = PHASE_FINAL;
    if (phase != PHASE_DETOUR && switch_id == at.to)
        return route_eject(topology, packet, at.out, choices);
    if (phase == PHASE_UNDECIDED && p->steps && p->site_of[switch_id] == UINT32_MAX)
        phase = PHASE_FINAL; /* closed forms lead from switches with nodes */
    if (p->rule >= RULE_UGAL && (phase == PHASE_START || phase == PHASE_UNDECIDED))
        return ugal_offer(topology, packet, &at,
                          p->rule == RULE_PAR && phase == PHASE_START ? PHASE_UNDECIDED : PHASE_FINAL,
                          choices);
    if (p->rule == RULE_VALIANT && phase == PHASE_START) {
        site = via_draw(p, packet, SALT_VIA, &at);
        phase = via_none(topology, &at, p->site[site]) ? PHASE_FINAL : PHASE_DETOUR;
    }
    if (phase == PHASE_START)
        phase = PHASE_FINAL;
    bool one = p->rule == RULE_MINIMAL || p->rule == RULE_VALIANT;
    uint32_t salt = SALT_STEP + 1 + (packet->hops & 7); /* each link is drawn by itself */
    return leg_offer(topology, packet, switch_id, phase == PHASE_DETOUR ? p->site[site] : at.to,
                     p->rule < RULE_VALIANT ? 0 : state_of(phase, site), salt, one ? 1 : ROUTE_MAX_CHOICES,
                     choices);
}

/* Before the intermediate switch. */
static bool paths_away(const struct route_topology *topology, uint64_t coordinate,
                       const struct route_packet *packet)
{
    const struct route_paths *p = topology->paths;
    return (packet->state & (PHASES - 1)) == PHASE_DETOUR &&
           route_coordinate(topology, p->site[packet->state >> PHASE_BITS]) != coordinate;
}

/* ---- keys and kinds ---- */

const struct ker_option route_valiant_options[] = {
    {"routing.valiant", KER_TYPE_CHOICE, "switch", NULL, NULL, "group|switch|any",
     "What a detour leads to. Hierarchical: the first switch reached in a third group, a switch drawn there, "
     "or a switch drawn anywhere (in the source's group: no detour). Elsewhere a switch with nodes, neither "
     "the source's nor the destination's (switch), or any: by these two there is no detour, nor, on "
     "dragonflies, by the source's group or inside a group."},
    {0},
};

const struct ker_option route_candidate_options[] = {
    {"routing.candidates", KER_TYPE_INT, "1", "1", "8", NULL,
     "Ugal and par: random detours that are compared with the shortest (hierarchical: direct) path."},
    {0},
};

const struct ker_option route_weight_options[] = {
    {"routing.weight", KER_TYPE_CHOICE, "auto", NULL, NULL, "auto|even|links|double",
     "Indirect, ugal and par: what the cost of a path is multiplied by: nothing, its links to go, or 2 for "
     "detours. auto: even for indirect, links for the others."},
    {0},
};

static const struct ker_option order_options[] = {
    {"routing.channel_order", KER_TYPE_CHOICE, "phase", NULL, NULL, "phase|hop",
     "Detours via a switch, but those of hierarchical and torus: what decides on the virtual channel of a "
     "link. phase: is it before the intermediate switch or behind, and its place on a shortest path there. "
     "hop: how many links are behind the packet; all shortest paths are used then."},
    {0},
};

void route_weights_ask(const struct ker_config *config, bool by_links, bool *weighted, bool *doubled)
{
    static const char key[] = "routing.weight";
    *doubled = ker_config_is(config, key, "double");
    *weighted =
        *doubled || ker_config_is(config, key, "links") || (by_links && ker_config_is(config, key, "auto"));
}

/* A link in steady use has as many credits in flight as it has packets, with no queue, and a packet is a
 * backlog as long as it is being sent; UGAL multiplies both by the links to go. Without a bias of that size
 * short queues send packets around under uniform traffic, and these load the links for others (with PAR most
 * of all, which asks at several switches). What it costs under adversarial traffic is some latency:
 * docs/routing.md has the measurements. */
void route_bias_propose(struct route_summary *summary)
{
    ker_time longest = 0;
    for (int i = 0; i < summary->link_count; i++)
        longest = summary->link[i].latency > longest ? summary->link[i].latency : longest;
    summary->bias = 8 * longest;
    summary->bias_packets = 4;
}

#define VIA_OPTIONS                                                                                          \
    KER_OPTIONS(order_options, route_valiant_options, route_candidate_options, route_weight_options)
#define PATHS(word, text, trait, tables, ...)                                                                \
    {                                                                                                        \
        .name = (word), .meaning = (text), .traits = (trait), .options = (tables),                           \
        .operations = &(const struct route_algorithm)                                                        \
        {                                                                                                    \
            .by_switch = true, .next = paths_next, .prepare = paths_prepare, .channels = paths_channels,     \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

const struct ker_kind route_paths_minimal =
    PATHS("minimal", "one shortest path, drawn for each packet", NULL, NULL, .adaptive = false);
const struct ker_kind route_paths_adaptive =
    PATHS("adaptive", "all shortest paths, by the state of the switch", "selects", NULL, .adaptive = true);
const struct ker_kind route_paths_valiant =
    PATHS("valiant", "to a switch with nodes drawn for each packet, from there to the destination", NULL,
          KER_OPTIONS(order_options, route_valiant_options), .by_hops = true, .away = paths_away);
const struct ker_kind route_paths_ugal =
    PATHS("ugal", "shortest, or via a random switch with nodes, by the state of the source's switch (UGAL-L)",
          "selects detours", VIA_OPTIONS, .adaptive = true, .by_hops = true, .away = paths_away);
const struct ker_kind route_paths_par =
    PATHS("par", "like ugal, and may change its mind at the second switch (PAR)", "selects detours",
          VIA_OPTIONS, .adaptive = true, .by_hops = true, .away = paths_away);

const struct ker_kind *const route_paths_algorithms[] = {&route_paths_minimal, &route_paths_adaptive,
                                                         &route_paths_valiant, &route_paths_ugal,
                                                         &route_paths_par,     NULL};
