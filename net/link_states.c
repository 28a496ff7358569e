/* link_states.c - the links of output.timeline_links, and what they do. */

#include "net/links.h"
#include "net/series.h"

#include <stdlib.h>

#define KEY "output.timeline_links"

/* ---- which ---- */

/* An item of the key. */
struct choice {
    enum { ALL, CLASS, SWITCHES, NODES } kind;
    int class;
    uint64_t first, last, step; /* of switches or nodes */
    uint64_t port;              /* of each; UINT64_MAX: all */
};

static int class_named(const struct route_summary *sum, const char *name)
{
    int class = sum->link_count;
    while (class -- > 0 && strcmp(sum->link[class].name, name) != 0)
        ;
    return class;
}

static enum ker_status choice_fail(const struct ker_config *config, const struct route_summary *sum,
                                   const char *text, struct ker_error *error)
{
    char *classes = NULL, *before = NULL;
    for (int i = 0; i < sum->link_count; i++) {
        classes = ker_format("%s\"%s\", ", before ? before : "", sum->link[i].name);
        free(before);
        before = classes;
    }
    ker_config_fail(
        config, error, KEY,
        "\"%s\" names no links; right would be \"all\", %s\"switch 3\", \"switch 0-7\", \"switch 3:1\" "
        "(its port 1), \"node 0-1023/16\"",
        text, classes ? classes : "");
    free(classes);
    return KER_BAD_INPUT;
}

/* "switch RANGE", "node RANGE:PORT"; false: it is none. */
static bool ends_parse(struct choice *c, const char *text)
{
    static const char *const word[] = {"switch ", "node "};
    bool node = strncmp(text, word[1], strlen(word[1])) == 0;
    char range[64];
    uint64_t last, step;
    if (!node && strncmp(text, word[0], strlen(word[0])) != 0)
        return false;
    c->kind = node ? NODES : SWITCHES;
    c->port = UINT64_MAX;
    snprintf(range, sizeof range, "%s", text + strlen(word[node]));
    char *colon = strchr(range, ':');
    if (colon) {
        *colon = '\0';
        if (strpbrk(colon + 1, "-/") || !stats_range_parse(colon + 1, &c->port, &last, &step))
            return false;
    }
    return stats_range_parse(range, &c->first, &c->last, &c->step);
}

static enum ker_status choice_read(struct choice *c, const struct net_network *net,
                                   const struct ker_config *config, const char *text, struct ker_error *error)
{
    const struct route_summary *sum = route_summarise(net->topology);
    *c = (struct choice){.kind = ALL};
    if (strcmp(text, "all") == 0)
        return KER_OK;
    c->kind = CLASS;
    c->class = class_named(sum, text);
    if (c->class >= 0)
        return KER_OK;
    if (!ends_parse(c, text))
        return choice_fail(config, sum, text, error);
    bool nodes = c->kind == NODES;
    uint64_t ends = nodes ? route_hosts(sum) : sum->switches, ports = nodes ? sum->adapters : sum->max_ports;
    if (c->last >= ends)
        return ker_config_fail(config, error, KEY, "\"%s\": there is no %s %llu; they count from 0 to %llu",
                               text, nodes ? "node" : "switch", (unsigned long long)c->last,
                               (unsigned long long)ends - 1);
    if (c->port != UINT64_MAX && c->port >= ports)
        return ker_config_fail(config, error, KEY,
                               "\"%s\": there is no port %llu; ports count from 0 to %llu", text,
                               (unsigned long long)c->port, (unsigned long long)ports - 1);
    return KER_OK;
}

/* The sending end of a direction. */
static bool choice_has(const struct choice *c, int class, bool node, uint32_t id, uint32_t port)
{
    switch (c->kind) {
    case ALL:
        return true;
    case CLASS:
        return c->class == class;
    default:
        return (c->kind == NODES) == node && id >= c->first && id <= c->last &&
               (id - c->first) % c->step == 0 && (c->port == UINT64_MAX || c->port == port);
    }
}

struct choices {
    struct choice *choice;
    int count;
};

static bool chosen(const struct choices *list, int class, bool node, uint32_t id, uint32_t port)
{
    for (int i = 0; i < list->count; i++)
        if (choice_has(&list->choice[i], class, node, id, port))
            return true;
    return false;
}

/* ---- their names ---- */

static const char *called(const struct net_network *net, bool node, uint32_t id,
                          char text[ROUTE_CALLED_BYTES])
{
    return route_called(net->topology, node, id, text);
}

static void track_add(struct net_network *net, uint64_t order, char *name)
{
    struct net_link_states *s = net->states;
    if (s->count == s->room) {
        s->room = 2 * s->room + 64;
        s->order = realloc(s->order, s->room * sizeof *s->order);
        s->name = realloc(s->name, s->room * sizeof *s->name);
        ker_assert(s->order && s->name);
    }
    s->order[s->count] = order;
    s->name[s->count++] = name;
}

static void switch_links_add(struct net_network *net, const struct choices *list, uint32_t id)
{
    const struct route_summary *sum = route_summarise(net->topology);
    uint32_t ports = route_ports(net->topology, id);
    char from[ROUTE_CALLED_BYTES], to[ROUTE_CALLED_BYTES];
    for (uint32_t p = 0; p < ports; p++) {
        struct route_peer peer;
        route_port(net->topology, id, p, &peer);
        if (peer.kind == ROUTE_NOTHING || !chosen(list, peer.link, false, id, p))
            continue;
        bool node = peer.kind == ROUTE_ENDPOINT;
        uint32_t other = node ? peer.id / net->adapters_each : peer.id;
        track_add(net, (uint64_t)id * sum->max_ports + p,
                  ker_format("switch %s:%u to %s %s (%s)", called(net, false, id, from), p,
                             node ? "node" : "switch", called(net, node, other, to),
                             sum->link[peer.link].name));
    }
}

static void node_link_add(struct net_network *net, const struct choices *list, uint32_t endpoint)
{
    const struct route_summary *sum = route_summarise(net->topology);
    uint32_t id = endpoint / net->adapters_each, adapter = endpoint % net->adapters_each, s;
    struct route_peer peer;
    uint16_t port;
    char from[ROUTE_CALLED_BYTES], to[ROUTE_CALLED_BYTES], number[16] = "";
    route_attachment(net->topology, endpoint, &s, &port);
    route_port(net->topology, s, port, &peer);
    if (!chosen(list, peer.link, true, id, adapter))
        return;
    if (net->adapters_each > 1)
        snprintf(number, sizeof number, ":%u", adapter);
    track_add(net, (uint64_t)sum->switches * sum->max_ports + endpoint,
              ker_format("node %s%s to switch %s (%s)", called(net, true, id, from), number,
                         called(net, false, s, to), sum->link[peer.link].name));
}

enum ker_status net_link_states_read(struct net_network *net, const struct ker_config *config,
                                     struct ker_error *error)
{
    const struct route_summary *sum = route_summarise(net->topology);
    int count = stats_timeline_wanted(config) ? ker_config_count(config, KEY) : 0;
    struct choices list = {ker_alloc(((size_t)count + 1) * sizeof *list.choice), count};
    enum ker_status status = KER_OK;
    for (int i = 0; i < count && status == KER_OK; i++)
        status = choice_read(&list.choice[i], net, config, ker_config_string_at(config, KEY, i), error);
    if (count && status == KER_OK) {
        net->states = ker_alloc(sizeof *net->states);
        for (uint32_t id = 0; id < sum->switches; id++)
            switch_links_add(net, &list, id);
        for (uint32_t endpoint = 0; endpoint < sum->endpoints; endpoint++)
            node_link_add(net, &list, endpoint);
        net->states->busy = ker_alloc(((size_t)net->states->count + 1) * sizeof *net->states->busy);
    }
    if (count && status == KER_OK && net->states->count == 0)
        status = ker_config_fail(config, error, KEY, "chooses no link: there is none at these ports");
    free(list.choice);
    return status;
}

void net_link_states_free(struct net_link_states *s)
{
    if (!s)
        return;
    ker_free_all(s->name, s->count);
    free(s->order);
    free(s->busy);
    free(s->ahead);
    free(s);
}

uint32_t net_link_track(const struct net_network *net, uint64_t order)
{
    const struct net_link_states *s = net->states;
    uint32_t low = KER_BISECT(i, 0, s ? s->count : 0, s->order[i] < order);
    return s && low < s->count && s->order[low] == order ? low + 1 : 0;
}

/* ---- what they do ---- */

static void state_record(const struct net_link_states *s, uint32_t track, enum stats_link_state state,
                         ker_time from, ker_time to)
{
    if (s->timeline && from < to)
        stats_timeline_link(s->timeline, track - 1, state, from, to);
}

/* It is over; when it began or ends beyond what is final, the end of the run may come before. */
static void busy_over(struct net_network *net, const struct net_link_span *span)
{
    struct net_link_states *s = net->states;
    if (span->to <= net->final)
        state_record(s, span->track, STATS_LINK_BUSY, span->from, span->to);
    else
        *KER_PUSH(s->ahead, s->ahead_count, s->ahead_room) = *span;
}

void net_link_busy(struct net_network *net, uint32_t track, ker_time from, ker_time to)
{
    struct net_link_span *busy = &net->states->busy[track - 1];
    if (busy->to == from && busy->track) {
        busy->to = to;
        return;
    }
    if (busy->track)
        busy_over(net, busy);
    *busy = (struct net_link_span){track, from, to};
}

void net_link_stalled(const struct net_network *net, uint32_t track, ker_time from, ker_time to)
{
    state_record(net->states, track, STATS_LINK_STALLED, from, to);
}

void net_link_states_settle(struct net_network *net, ker_time until)
{
    struct net_link_states *s = net->states;
    size_t kept = 0;
    for (size_t i = 0; i < s->ahead_count; i++)
        if (s->ahead[i].to <= until)
            state_record(s, s->ahead[i].track, STATS_LINK_BUSY, s->ahead[i].from, s->ahead[i].to);
        else
            s->ahead[kept++] = s->ahead[i];
    s->ahead_count = kept;
}

/* ---- the timeline ---- */

uint32_t net_network_tracks(const struct net_network *net, const char *const **name)
{
    *name = net->states ? net->states->name : NULL;
    return net->states ? net->states->count : 0;
}

uint64_t net_network_tracks_bytes(const struct net_network *net)
{
    const struct net_link_states *s = net->states;
    if (!s)
        return 0;
    uint64_t bytes = s->room * (sizeof *s->order + sizeof *s->name) + s->count * sizeof *s->busy;
    for (uint32_t i = 0; i < s->count; i++)
        bytes += strlen(s->name[i]) + 1;
    return bytes + (net_series_collects(net)
                        ? 0
                        : 2 * route_summarise(net->topology)->links * sizeof(struct net_link_series));
}

void net_network_record(struct net_network *net, struct stats_timeline *timeline)
{
    if (net->states)
        net->states->timeline = timeline;
}

static void busy_end(const struct net_link_states *s, const struct net_link_span *span, ker_time end)
{
    state_record(s, span->track, STATS_LINK_BUSY, span->from, ker_time_min(span->to, end));
}

struct ending {
    struct net_network *net;
    ker_time end;
};

/* What the direction is in, and what it is in from its fault on. */
static void direction_end(void *ending, struct stats_table *none, const struct net_direction *d)
{
    const struct ending *e = ending;
    const struct net_link_states *s = e->net->states;
    const struct net_link_series *l = d->series;
    uint32_t at = d->from.id;
    uint16_t port = d->from.port;
    if (!l || !l->track)
        return;
    busy_end(s, &s->busy[l->track - 1], e->end);
    ker_time free = d->adapter ? d->adapter->link_free : d->port->link_free;
    if (l->since < e->end)
        net_link_stalled(e->net, l->track, l->since > free ? l->since : free, e->end);
    if (d->adapter)
        route_attachment(e->net->topology, d->adapter->id, &at, &port);
    ker_time down = route_port_down(e->net->topology, at, port);
    ker_time sent = s->busy[l->track - 1].to;
    state_record(s, l->track, STATS_LINK_DOWN, down > sent ? down : sent, e->end);
}

void net_link_states_end(struct net_network *net, ker_time end)
{
    struct net_link_states *s = net->states;
    if (!s || !s->timeline)
        return;
    for (size_t i = 0; i < s->ahead_count; i++)
        busy_end(s, &s->ahead[i], end);
    s->ahead_count = 0;
    net_directions_add(
        net, NULL,
        &(struct net_directions){.add = direction_end, .context = &(struct ending){net, end}, .known = true});
}

/* ---- saved state ---- */

static void span_state(struct net_link_span *span, struct ker_chunk *c)
{
    KER_CHUNK(c, span->track, span->from, span->to);
}

/* The track is as it is chosen now, the same one. */
void net_link_busy_state(struct net_network *net, uint32_t track, struct ker_chunk *c)
{
    struct net_link_span *busy = &net->states->busy[track - 1];
    span_state(busy, c);
    c->bad |= busy->track && busy->track != track;
}

/* Whoever takes them records them. */
void net_link_ahead_state(struct net_network *net, struct ker_chunk *c)
{
    struct net_link_states *s = net->states;
    uint32_t count =
        ker_chunk_count(c, s ? (uint32_t)s->ahead_count : 0, sizeof(uint32_t) + 2 * sizeof(ker_time));
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct net_link_span one = {0};
        if (s && !c->loads)
            one = s->ahead[i];
        span_state(&one, c);
        c->bad |= !s || one.track == 0 || one.track > s->count || one.to < one.from;
        if (c->loads && !c->bad)
            *KER_PUSH(s->ahead, s->ahead_count, s->ahead_room) = one;
    }
}
