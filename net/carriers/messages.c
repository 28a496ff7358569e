/* messages.c - carriers of whole messages: nodes as components, each message as one event to its receiver.
 *
 * What comes to a node in an instant waits until all of it is there, and is handed up in the order (source,
 * number): the keys of these events are equal. What has come before all of it is there (net_law.receive) is
 * held by the adapter, in the order of (when it is there, source, number). A message whose sender wants to
 * know when it has left is kept in a list of its adapter, in the order of (when it has left, when it was
 * asked for), and a timer takes the first. An offered message is asked for when its time has come: no source
 * queue grows here.
 */
#include "net/carriers/carried.h"

#include <stdlib.h>
#include <string.h>

struct net_loading {
    struct net_network *net;
    struct net_adapter **adapters; /* by node; NULL: lives elsewhere */
    uint32_t count;
    bool sums;
};

static bool measures(const struct net_network *net, ker_time when)
{
    return when >= net->phases.measure_from && when < net->phases.measure_to;
}

/* ---- sending ---- */

static void leaving_put(struct net_adapter *a, const struct leaving *l)
{
    struct net_network *net = a->net;
    uint32_t index = KER_POOL_TAKE(&net->leaving, NULL), *at = &a->leaving;
    while (*at != KER_NONE && net->leaving.at[*at].when <= l->when)
        at = &net->leaving.at[*at].next;
    net->leaving.at[index] = *l;
    net->leaving.at[index].next = *at;
    *at = index;
}

/* Not of the adapter's own timers: the node gives their key. */
static void timer_post(const struct net_adapter *a, ker_time when)
{
    uint32_t key = a->net->host.timer;
    ker_post_note(a->net->engine, (struct ker_address){a->self, a->net->engine->rank}, when, KER_TIMER,
                  (uint16_t)(key >> 8), (uint8_t)key, 0);
}

/* Where it goes first, and when it is there: posted last, since what is posted later may move it. */
static struct carried *message_begin(struct net_adapter *a, ker_time now, const struct net_send *m)
{
    struct net_network *net = a->net;
    struct leaving l = {KER_NONE, m->number, m->service, m->part, KER_TIME_MAX, m->cookie};
    struct part_member to = {net->coordinator_group, 0};
    ker_time there = now + net->ask;
    if (!net->ask) {
        to = (struct part_member){net->group, m->destination};
        l.when = now;
        net->law.carry(net->law.context, &(struct net_asked){a->id, m->destination, m->number, now, m->bytes},
                       &l.when, &there);
        ker_assert(l.when >= now && there >= now + net->law.latency);
        a->last = a->last > l.when ? a->last : l.when;
    }
    if (m->cookie) {
        leaving_put(a, &l);
        if (!net->ask)
            timer_post(a, l.when);
    }
    return net_carried_post(net, to, there);
}

static void message_send(struct net_adapter *a, ker_time now, ker_time created, const struct net_send *m)
{
    struct net_network *net = a->net;
    struct carried *c = message_begin(a, now, m);
    c->source = a->id;
    c->destination = m->destination;
    c->created = created;
    c->bytes = m->bytes;
    c->number = m->number;
    c->service = m->service;
    c->part = m->part;
    c->wants_left = m->cookie != 0;
    c->flags = 0;
    if (m->envelope)
        net_envelope_put(net, c, m->envelope);
    net->totals.packets_injected++;
    net->totals.bytes_injected += m->bytes;
    if (measures(net, now))
        net->totals.measured_injected_bytes += m->bytes;
}

void net_messages_send(struct net_adapter *a, ker_time now, const struct net_send *m)
{
    if (measures(a->net, now))
        a->net->handed += m->bytes;
    message_send(a, now, now, m);
}

void net_messages_timer(struct net_adapter *a, ker_time now)
{
    struct leaving l = a->net->leaving.at[a->leaving];
    KER_POOL_GIVE(&a->net->leaving, a->leaving);
    a->leaving = l.next;
    a->net->host.sent(a->node, now, l.service, l.part, l.cookie);
}

ker_time net_messages_backlog(const struct net_adapter *a, ker_time now)
{
    return a->last > now ? a->last - now : 0;
}

/* ---- open-loop sources ---- */

static void adapter_wake(struct net_adapter *a, ker_time when)
{
    if (when >= a->wake)
        return;
    a->wake = when;
    ker_post_note(a->net->engine, (struct ker_address){a->self, a->net->engine->rank}, when, KER_WAKE, 0, 0,
                  0);
}

void net_messages_offers(struct net_adapter *a)
{
    a->exhausted = false;
}

ker_time *net_messages_offered(struct net_adapter *a, uint8_t *service, uint8_t *part)
{
    *service = a->offer.service;
    *part = a->offer.part;
    return a->has && !a->offer.none ? &a->offer.created : NULL;
}

void net_messages_renewed(struct net_adapter *a, ker_time at)
{
    a->has &= a->offer.created != KER_TIME_MAX;
    a->exhausted = false;
    adapter_wake(a, at);
}

static void offer_fetch(struct net_adapter *a)
{
    a->offer = (struct net_offer){0};
    a->has = a->net->host.offer(a->node, 0, &a->offer) && a->offer.created < a->net->phases.stop;
    a->exhausted = !a->has;
}

/* Sends what has been offered until now; the next one has its time. */
static void offers_take(struct net_adapter *a, ker_time now)
{
    for (;;) {
        if (!a->has && !a->exhausted)
            offer_fetch(a);
        if (!a->has || a->offer.created > now)
            break;
        struct net_offer o = a->offer;
        a->has = false;
        if (!o.none)
            message_send(a, now, o.created,
                         &(struct net_send){.destination = o.destination,
                                            .bytes = o.bytes,
                                            .number = o.number,
                                            .service = o.service,
                                            .part = o.part,
                                            .priority = (uint8_t)o.priority});
    }
    if (a->has)
        adapter_wake(a, a->offer.created);
}

void net_messages_woken(struct net_adapter *a, ker_time now)
{
    if (a->wake <= now)
        a->wake = KER_TIME_MAX;
}

/* ---- receiving ---- */

void net_messages_arrival(struct net_adapter *a, const struct ker_event *event)
{
    struct net_network *net = a->net;
    *KER_PUSH(net->fresh, net->fresh_count, net->fresh_room) = (const struct carried *)event;
}

static uint64_t bandwidth_of(uint64_t bytes, ker_time time)
{
    if (bytes < UINT64_MAX / 1000000000000u) /* nearly always */
        return bytes * 1000000000000u / (uint64_t)time;
    unsigned __int128 rate = (unsigned __int128)bytes * 1000000000000u / (uint64_t)time;
    return rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate;
}

void net_messages_whole(struct net_adapter *a, ker_time now, const struct net_message *m)
{
    struct net_network *net = a->net;
    net->totals.messages_delivered++;
    if (measures(net, m->created)) {
        stats_quantity_add(&net->latency, (uint64_t)(now - m->created));
        stats_quantity_add(&net->size, m->bytes);
        if (m->bytes && now > m->created)
            stats_quantity_add(&net->bandwidth, bandwidth_of(m->bytes, now - m->created));
    }
}

static void message_deliver(struct net_adapter *a, ker_time now, const struct net_message *m)
{
    struct net_network *net = a->net;
    net->totals.packets_delivered++;
    net->totals.bytes_delivered += m->bytes;
    if (measures(net, now))
        net->totals.measured_delivered_bytes += m->bytes;
    if (measures(net, m->created)) {
        net->totals.measured_packets++;
        net->totals.latency_sum += (uint64_t)(now - m->created);
    }
    ker_touch(net->engine, now);
    if (m->part == NET_WHOLE)
        net_messages_whole(a, now, m);
    net->host.arrived(a->node, now, m);
}

static void held_put(struct net_adapter *a, const struct held *h)
{
    struct net_network *net = a->net;
    uint32_t index = KER_POOL_TAKE(&net->held, NULL), *at = &a->held;
    for (; *at != KER_NONE; at = &net->held.at[*at].next) {
        const struct held *o = &net->held.at[*at];
        if (o->when != h->when                       ? o->when > h->when
            : o->message.source != h->message.source ? o->message.source > h->message.source
                                                     : o->message.number > h->message.number)
            break;
    }
    net->held.at[index] = *h;
    net->held.at[index].next = *at;
    *at = index;
}

static void held_deliver(struct net_adapter *a, ker_time now)
{
    struct net_network *net = a->net;
    while (a->held != KER_NONE && net->held.at[a->held].when <= now) {
        struct held h = net->held.at[a->held];
        KER_POOL_GIVE(&net->held, a->held);
        a->held = h.next;
        message_deliver(a, now, &h.message);
    }
}

static void message_arrive(struct net_adapter *a, ker_time now, const struct carried *c)
{
    struct net_network *net = a->net;
    struct held h = {KER_NONE,
                     now,
                     {.source = c->source,
                      .destination = a->id,
                      .bytes = c->bytes,
                      .created = c->created,
                      .number = c->number,
                      .service = c->service,
                      .part = c->part,
                      .envelope = net_envelope_take(net, c)}};
    if (!net->law.receive) {
        message_deliver(a, now, &h.message);
        return;
    }
    h.when =
        net->law.receive(net->law.context, &(struct net_asked){c->source, a->id, c->number, now, c->bytes});
    ker_assert(h.when >= now);
    held_put(a, &h);
}

/* The coordinator's word on a message of this adapter. */
static void message_left(struct net_adapter *a, ker_time now, const struct carried *c)
{
    struct net_network *net = a->net;
    uint32_t *at = &a->leaving, index;
    while (net->leaving.at[*at].number != c->number)
        at = &net->leaving.at[*at].next;
    index = *at;
    struct leaving l = net->leaving.at[index];
    *at = l.next;
    KER_POOL_GIVE(&net->leaving, index);
    net->host.sent(a->node, now, l.service, l.part, l.cookie);
}

void net_messages_act(struct net_adapter *a, ker_time now)
{
    struct net_network *net = a->net;
    net_carried_sort(net);
    for (uint32_t i = 0; i < net->fresh_count; i++)
        if (net->fresh[i]->flags & FLAG_LEFT)
            message_left(a, now, net->fresh[i]);
        else
            message_arrive(a, now, net->fresh[i]);
    net->fresh_count = 0;
    held_deliver(a, now);
    if (!a->exhausted)
        offers_take(a, now);
    if (a->held != KER_NONE)
        adapter_wake(a, net->held.at[a->held].when);
}

/* ---- building ---- */

enum ker_status net_messages_new(struct net_network **made, const struct ker_config *config,
                                 const struct route_topology *topology, struct net_phases phases,
                                 const struct net_law *law, struct ker_error *error)
{
    struct net_network *net = *made = ker_alloc(sizeof *net);
    net->law = *law;
    net->phases = phases;
    net->topology = topology;
    net->leaving.free = net->held.free = KER_NONE;
    net->ask = law->flows ? law->latency / 4 : law->decide ? law->latency / 2 : 0;
    stats_quantity_init(&net->latency);
    stats_quantity_init(&net->size);
    stats_quantity_init(&net->bandwidth);
    net->histograms = ker_config_bool(config, "output.histograms");
    net->used = law->used && ker_config_bool(config, "output.carrier");
    net->used_asked = net->used && ker_config_has(config, "output.carrier");
    ker_assert(law->latency > 0);
    if (law->failed)
        return law->failed;
    if ((law->decide || law->flows) && net->ask == 0)
        return ker_config_fail(config, error, "network.model",
                               "%lld ps from node to node are too short: what all share is decided a part of "
                               "this later, and %d ps are needed",
                               (long long)law->latency, law->flows ? 4 : 2);
    bool total, periods;
    unsigned levels = stats_matrix_wanted(config, &total, &periods);
    if ((total || periods) && levels & ~(1u << STATS_MATRIX_TASK))
        return ker_config_fail(
            config, error, "output.matrix_levels",
            "of messages without packets there are matrices of tasks only: give [\"task\"]");
    if (route_summarise(topology)->adapters > 1)
        return ker_config_fail(config, error, "network.model", "is for nodes with one adapter");
    return KER_OK;
}

void net_messages_free(struct net_network *net)
{
    if (!net)
        return;
    part_layout_release(&net->layout);
    ker_release(net->block, net->block_bytes);
    KER_POOL_RELEASE(&net->leaving);
    KER_POOL_RELEASE(&net->held);
    free(net->adapters);
    net_coordinator_free(net->coordinator);
    free(net->fresh);
    (net->law.release ? net->law.release : free)(net->law.context);
    free(net);
}

static uint32_t node_load(const void *context, uint32_t id)
{
    return 1;
}

static uint32_t node_natural(const void *context, uint32_t id)
{
    return 0;
}

/* For the partition, which wants a graph: neighbours in number. */
static uint32_t node_links(const void *context, uint32_t id, struct part_link *link)
{
    const struct net_network *net = context;
    uint32_t nodes = route_hosts(route_summarise(net->topology)), count = 0;
    if (id > 0)
        link[count++] = (struct part_link){{net->group, id - 1}, net->law.latency};
    if (id + 1 < nodes)
        link[count++] = (struct part_link){{net->group, id + 1}, net->law.latency};
    if (net->ask)
        link[count++] = (struct part_link){{net->coordinator_group, 0}, net->ask};
    return count;
}

void net_messages_groups_add(struct net_network *net, struct part_groups *groups, ker_time direct)
{
    ker_time own = net->ask ? 0 : net->law.latency;
    struct part_group nodes = {.name = "nodes",
                               .count = route_hosts(route_summarise(net->topology)),
                               .context = net,
                               .load = node_load,
                               .natural = node_natural,
                               .links = node_links,
                               .most_links = 3,
                               .everywhere = own && direct ? ker_time_min(own, direct) : own + direct};
    net->group = part_groups_add(groups, &nodes);
    if (net->ask)
        net_coordinator_group_add(net, groups);
}

ker_time net_messages_reach(const struct net_network *net)
{
    return 4 * net->law.latency;
}

static void node_make(struct net_network *net, uint32_t id, uint32_t index, char *at)
{
    struct net_adapter *a = (struct net_adapter *)(void *)(at + net_lines(net->host.bytes));
    *a = (struct net_adapter){.net = net,
                              .node = at,
                              .id = id,
                              .self = index,
                              .leaving = KER_NONE,
                              .held = KER_NONE,
                              .exhausted = true,
                              .wake = KER_TIME_MAX};
    net->adapters[net->count++] = a;
    net->host.init(net->host.context, at, id, index, a, 0);
    ker_engine_set(net->engine, index, &net->class, at,
                   part_layout_begins(&net->layout, (struct part_member){net->group, id}));
}

void net_messages_build(struct net_network *net, struct ker_engine *engine, struct part_layout *l,
                        const struct net_host *host)
{
    uint32_t nodes = route_hosts(route_summarise(net->topology)), own = 0;
    size_t each = net_lines(host->bytes) + net_lines(sizeof(struct net_adapter));
    net->engine = engine;
    net->host = *host;
    net->class = *host->class;
    net->class.repeats = true;
    net->layout = *l;
    *l = (struct part_layout){0};
    for (uint32_t id = 0; id < nodes; id++)
        own += part_layout_at(&net->layout, (struct part_member){net->group, id}).rank == engine->rank;
    net->block_bytes = each * own;
    net->block = ker_reserve(net->block_bytes);
    net->adapters = ker_alloc(sizeof *net->adapters * (own + 1u));
    for (uint32_t id = 0; id < nodes; id++) {
        struct ker_address at = part_layout_at(&net->layout, (struct part_member){net->group, id});
        if (at.rank == engine->rank)
            node_make(net, id, at.index, net->block + each * net->count);
    }
    if (net->ask)
        net_coordinator_make(net);
}

struct ker_address net_messages_node_at(const struct net_network *net, uint32_t node)
{
    return part_layout_at(&net->layout, (struct part_member){net->group, node});
}

uint32_t *net_messages_nodes(const struct net_network *net, uint32_t *count)
{
    uint32_t *own = ker_alloc(sizeof *own * (net->count + 1u));
    for (*count = 0; *count < net->count; ++*count)
        own[*count] = net->adapters[*count]->id;
    return own;
}

void *net_messages_node(const struct net_network *net, uint32_t i)
{
    return net->adapters[i]->node;
}

uint64_t net_messages_bytes(const struct net_network *net)
{
    return net->block_bytes;
}

/* The coordinator is asked and answers; a flow begins and ends there. */
struct net_alone net_messages_expect(const struct net_network *net, uint32_t from, uint32_t to,
                                     uint64_t bytes)
{
    ker_time left = net->law.rate ? ker_serialisation(bytes, net->law.rate) : 0;
    return (struct net_alone){net->law.flows    ? 3
                              : net->law.decide ? 2
                                                : 1,
                              left, ker_time_later(left, net->law.latency)};
}

/* ---- reporting ---- */

struct net_totals net_messages_totals(const struct net_network *net)
{
    return net->totals;
}

json_t *net_messages_report(struct net_network *net, struct ker_comm *comm, ker_time span)
{
    const struct net_totals *t = &net->totals;
    uint64_t v[] = {
        t->packets_injected,   t->packets_delivered,        t->bytes_injected,          t->bytes_delivered,
        t->messages_delivered, t->measured_delivered_bytes, t->measured_injected_bytes, net->handed};
    ker_comm_sum_u64(comm, v, sizeof v / sizeof *v);
    stats_quantity_merge(&net->latency, comm);
    stats_quantity_merge(&net->size, comm);
    stats_quantity_merge(&net->bandwidth, comm);
    net->span = span;
    if (ker_comm_rank(comm) != 0)
        return NULL;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "packets_injected",
                     (json_int_t)v[0], "packets_delivered", (json_int_t)v[1], "bytes_injected",
                     (json_int_t)v[2], "bytes_delivered", (json_int_t)v[3], "messages_delivered",
                     (json_int_t)v[4], "accepted_load", net_load_json(net->topology, v[5], span),
                     "injected_load", net_load_json(net->topology, v[6], span), "offered_load",
                     net_load_json(net->topology, v[7], span), "message_latency_ps",
                     stats_quantity_json(&net->latency), "message_bytes", stats_quantity_json(&net->size));
}

static enum ker_status used_write(struct net_network *net, struct ker_comm *comm,
                                  const struct stats_folder *folder, struct ker_error *error)
{
    struct stats_table *table = net_used_table(net->span);
    for (uint32_t i = 0; i < net->count; i++)
        net->law.used(net->law.context, net->adapters[i]->id, table);
    if (net->coordinator || (!net->ask && ker_comm_rank(comm) == 0))
        net->law.used(net->law.context, KER_NONE, table);
    enum ker_status status =
        stats_table_show_file(table, comm, folder, net->used_asked ? NULL : "output.carrier", error);
    stats_table_free(table);
    return status;
}

enum ker_status net_messages_write(struct net_network *net, struct ker_comm *comm,
                                   const struct stats_folder *folder, struct ker_error *error)
{
    enum ker_status status = net->used ? used_write(net, comm, folder, error) : KER_OK;
    if (ker_comm_rank(comm) != 0 || status || !net->histograms)
        return status;
    status = stats_histogram_write(folder, &stats_message_size_schema, &net->size, error);
    return status ?: stats_histogram_write(folder, &stats_bandwidth_schema, &net->bandwidth, error);
}

const char *net_messages_conserved(const struct net_network *net, bool lost)
{
    for (uint32_t i = 0; i < net->count; i++)
        if (net->adapters[i]->leaving != KER_NONE)
            return "a message has not left";
    return NULL;
}

/* ---- saved state: events are the engine's ---- */

static void leaving_state(struct net_adapter *a, struct ker_chunk *c)
{
    struct net_network *net = a->net;
    uint32_t count = 0, at = a->leaving;
    for (uint32_t i = at; i != KER_NONE; i = net->leaving.at[i].next)
        count++;
    for (count = ker_chunk_count(c, count, 22); count; count--) {
        struct leaving l = {.next = KER_NONE};
        if (!c->loads) {
            l = net->leaving.at[at];
            at = l.next;
        }
        KER_CHUNK(c, l.when, l.number, l.cookie, l.service, l.part);
        if (c->loads && !c->bad)
            leaving_put(a, &l);
    }
}

static void held_state(struct net_adapter *a, struct ker_chunk *c)
{
    struct net_network *net = a->net;
    uint32_t count = 0, at = a->held;
    for (uint32_t i = at; i != KER_NONE; i = net->held.at[i].next)
        count++;
    for (count = ker_chunk_count(c, count, sizeof(ker_time)); count; count--) {
        struct held h = {.next = KER_NONE, .message.destination = a->id};
        if (!c->loads) {
            h = net->held.at[at];
            at = h.next;
        }
        KER_CHUNK(c, h.when, h.message.source, h.message.bytes, h.message.created, h.message.number,
                  h.message.service, h.message.part, h.message.envelope);
        if (c->loads && !c->bad)
            held_put(a, &h);
    }
}

static void adapter_state(struct net_adapter *a, struct ker_chunk *c)
{
    a->exhausted = ker_chunk_bool(c, a->exhausted);
    KER_CHUNK(c, a->last, a->wake);
    a->has = ker_chunk_bool(c, a->has);
    if (a->has) {
        net_offer_state(c, &a->offer);
        a->offer.none = ker_chunk_bool(c, a->offer.none);
    }
    leaving_state(a, c);
    held_state(a, c);
    if (a->net->law.state)
        a->net->law.state(a->net->law.context, a->id, c);
}

static void totals_state(struct net_network *net, struct ker_chunk *c)
{
    struct net_totals own = net->totals;
    uint64_t handed = ker_chunk_u64(c, net->handed);
    KER_CHUNK(c, own);
    if (c->loads && !c->bad) {
        uint64_t *sum = (uint64_t *)&net->totals;
        for (size_t i = 0; i < sizeof own / sizeof *sum; i++)
            sum[i] += ((const uint64_t *)&own)[i];
        net->handed += handed;
    }
    stats_quantity_state(c, &net->latency);
    stats_quantity_state(c, &net->size);
    stats_quantity_state(c, &net->bandwidth);
}

void net_messages_save(struct net_network *net, struct ker_state_writer *writer)
{
    totals_state(net, ker_state_begin(writer, "messages", VERSION, net->engine->rank));
    ker_state_end(writer);
    for (uint32_t i = 0; i < net->count; i++) {
        adapter_state(net->adapters[i],
                      ker_state_begin(writer, "messages_adapter", VERSION, net->adapters[i]->id));
        ker_state_end(writer);
    }
    if (net->coordinator) {
        net_coordinator_state(net->coordinator, ker_state_begin(writer, "messages_coordinator", VERSION, 0));
        ker_state_end(writer);
    }
}

static void totals_load(void *context, struct ker_chunk *c)
{
    struct net_loading *l = context;
    if (l->sums)
        totals_state(l->net, c);
    else
        c->at = c->bytes;
}

static void adapter_load(void *context, struct ker_chunk *c)
{
    struct net_loading *l = context;
    c->bad |= c->id >= l->count;
    if (!c->bad && l->adapters[c->id])
        adapter_state(l->adapters[c->id], c);
    else
        c->at = c->bytes;
}

static void coordinator_load_state(void *context, struct ker_chunk *c)
{
    struct net_network *net = ((struct net_loading *)context)->net;
    if (net->coordinator)
        net_coordinator_state(net->coordinator, c);
    else
        c->at = c->bytes;
}

struct net_loading *net_messages_loading(struct net_network *net, bool sums)
{
    struct net_loading *l = ker_alloc(sizeof *l);
    *l = (struct net_loading){net, NULL, route_hosts(route_summarise(net->topology)), sums};
    l->adapters = ker_alloc(sizeof *l->adapters * (l->count + 1u));
    for (uint32_t i = 0; i < net->count; i++)
        l->adapters[net->adapters[i]->id] = net->adapters[i];
    return l;
}

void net_messages_loading_free(struct net_loading *l)
{
    free(l->adapters);
    free(l);
}

uint32_t net_messages_loaders(struct net_loading *l, struct ker_state_loader *loaders)
{
    loaders[0] = (struct ker_state_loader){"messages", VERSION, totals_load, l};
    loaders[1] = (struct ker_state_loader){"messages_adapter", VERSION, adapter_load, l};
    loaders[2] = (struct ker_state_loader){"messages_coordinator", VERSION, coordinator_load_state, l};
    return 3;
}

bool net_messages_find(void *context, const char *class, uint32_t id, uint32_t *index)
{
    const struct net_loading *l = context;
    if (strcmp(class, NET_COORDINATOR) == 0) {
        *index = l->net->coordinator ? l->net->coordinator->self : 0;
        return l->net->coordinator != NULL;
    }
    bool found = strcmp(class, l->net->host.class->name) == 0 && id < l->count && l->adapters[id];
    *index = found ? l->adapters[id]->self : 0;
    return found;
}
