/* coordinator.c - one component that decides for all nodes when messages are there (net_law.decide, .flows).
 *
 * A message goes to it as an event that takes half a latency (`ask`; a quarter for flows). It sorts what it
 * is asked in an instant and sends the message on, and to a source that wants to know it, when the message
 * has left: both lie at least `ask` ahead. Its time is that of the law, `ask` later. Invariant between two
 * instants: a wake-up is on its way for when the first flow ends, or before.
 */
#include "net/carriers/carried.h"

#include <stdlib.h>
#include <string.h>

struct carried *net_carried_post(const struct net_network *net, struct part_member to, ker_time when)
{
    return (struct carried *)ker_post_event(net->engine, part_layout_at(&net->layout, to), when, 0, 0);
}

void net_envelope_put(const struct net_network *net, struct carried *c, const struct net_envelope *e)
{
    uint64_t word[KER_EXTENSION_BYTES / 8] = {0};
    memcpy(word, e->word, sizeof e->word);
    c->flags |= KER_FLAG_EXTENSION;
    c->extension = ker_extension_new(net->engine, word);
}

struct net_envelope net_envelope_take(const struct net_network *net, const struct carried *c)
{
    struct net_envelope e = {0};
    uint64_t word[KER_EXTENSION_BYTES / 8];
    if (!(c->flags & KER_FLAG_EXTENSION))
        return e;
    ker_extension_read(net->engine, c->extension, word);
    ker_extension_free(net->engine, c->extension);
    memcpy(e.word, word, sizeof e.word);
    return e;
}

static int carried_compare(const void *a, const void *b)
{
    const struct carried *x = *(const struct carried *const *)a, *y = *(const struct carried *const *)b;
    if ((x->flags ^ y->flags) & FLAG_LEFT)
        return x->flags & FLAG_LEFT ? -1 : 1;
    return KER_ORDER(x, y, source, number);
}

#define FEW 16 /* are sorted by insertion: most often they have come in order */

void net_carried_sort(struct net_network *net)
{
    const struct carried **all = net->fresh;
    if (net->fresh_count > FEW) {
        qsort(all, net->fresh_count, sizeof *all, carried_compare);
        return;
    }
    for (uint32_t i = 1; i < net->fresh_count; i++) {
        const struct carried *c = all[i];
        uint32_t k = i;
        for (; k && carried_compare(&all[k - 1], &c) > 0; k--)
            all[k] = all[k - 1];
        all[k] = c;
    }
}

static void coordinator_arrival(void *self, struct ker_engine *engine, const struct ker_event *event)
{
    struct net_network *net = ((struct coordinator *)self)->net;
    *KER_PUSH(net->fresh, net->fresh_count, net->fresh_room) = (const struct carried *)event;
}

static void coordinator_note(void *self, struct ker_engine *engine, ker_time now, enum ker_record_kind kind,
                             uint16_t port, uint8_t channel, uint32_t amount)
{
    struct coordinator *o = self;
    if (o->wake <= now)
        o->wake = KER_TIME_MAX;
}

/* The message goes on, and its source learns when it has left. */
static void coordinator_answer(struct net_network *net, const struct carried *c, const struct net_envelope *e,
                               ker_time left, ker_time there)
{
    struct carried on = *c,
                   *to = net_carried_post(net, (struct part_member){net->group, c->destination}, there);
    on.time = to->time;
    on.component = to->component;
    if (on.flags & KER_FLAG_EXTENSION)
        net_envelope_put(net, &on, e);
    *to = on;
    if (c->wants_left) {
        to = net_carried_post(net, (struct part_member){net->group, c->source}, left);
        *to = (struct carried){.time = to->time,
                               .component = to->component,
                               .source = on.source,
                               .number = on.number,
                               .flags = FLAG_LEFT};
    }
}

static struct net_asked asked_of(const struct carried *c, ker_time asked)
{
    return (struct net_asked){c->source, c->destination, c->number, asked, c->bytes};
}

static uint32_t going_put(struct coordinator *o, const struct going *g)
{
    uint32_t id = o->free;
    if (id == KER_NONE) {
        id = o->count;
        KER_APPEND(o->going, o->count);
    } else
        o->free = o->going[id].next;
    o->going[id] = *g;
    o->going[id].taken = true;
    struct net_asked asked = asked_of(&g->message, g->asked);
    o->net->law.flows->begin(o->net->law.context, &asked, id);
    return id;
}

static void coordinator_decide(struct coordinator *o, ker_time asked, const struct carried *c)
{
    struct net_network *net = o->net;
    struct going g = {.asked = asked, .message = *c, .envelope = net_envelope_take(net, c)};
    if (net->law.flows) {
        going_put(o, &g);
        return;
    }
    struct net_asked m = asked_of(c, asked);
    ker_time left = 0, there = 0;
    net->law.decide(net->law.context, &m, &left, &there);
    ker_assert(there >= asked + net->law.latency && left >= asked + net->law.latency);
    coordinator_answer(net, c, &g.envelope, left, there);
}

/* Those that end at this time of the law's, which is `ask` ago. */
static void coordinator_end(struct coordinator *o, ker_time then)
{
    const struct net_law *law = &o->net->law;
    while (law->flows->next(law->context, then) <= then) {
        ker_time left, there;
        uint32_t id = law->flows->end(law->context, &left, &there);
        struct going *g = &o->going[id];
        coordinator_answer(o->net, &g->message, &g->envelope, left, there);
        *g = (struct going){.next = o->free};
        o->free = id;
    }
}

static void coordinator_act(void *self, struct ker_engine *engine, ker_time now)
{
    struct coordinator *o = self;
    struct net_network *net = o->net;
    if (net->law.flows)
        coordinator_end(o, now - net->ask);
    net_carried_sort(net);
    for (uint32_t i = 0; i < net->fresh_count; i++)
        coordinator_decide(o, now - net->ask, net->fresh[i]);
    net->fresh_count = 0;
    if (!net->law.flows)
        return;
    ker_time next = net->law.flows->next(net->law.context, now - net->ask);
    if (next == KER_TIME_MAX || ker_time_later(next, net->ask) >= o->wake)
        return;
    o->wake = next + net->ask;
    ker_post_note(net->engine, (struct ker_address){o->self, net->engine->rank}, o->wake, KER_WAKE, 0, 0, 0);
}

static void coordinator_arrival_alone(void *self, struct ker_engine *engine, const struct ker_event *event)
{
    coordinator_arrival(self, engine, event);
    coordinator_act(self, engine, event->time);
}

static void coordinator_note_alone(void *self, struct ker_engine *engine, ker_time now,
                                   enum ker_record_kind kind, uint16_t port, uint8_t channel, uint32_t amount)
{
    coordinator_note(self, engine, now, kind, port, channel, amount);
    coordinator_act(self, engine, now);
}

static uint32_t coordinator_id(const void *self)
{
    return 0;
}

static const struct ker_class coordinator_class = {.name = NET_COORDINATOR,
                                                   .arrival = coordinator_arrival,
                                                   .note = coordinator_note,
                                                   .act = coordinator_act,
                                                   .arrival_alone = coordinator_arrival_alone,
                                                   .note_alone = coordinator_note_alone,
                                                   .repeats = true,
                                                   .id = coordinator_id};

static uint32_t coordinator_load(const void *context, uint32_t id)
{
    const struct net_network *net = context;
    return 1 + route_hosts(route_summarise(net->topology)) / 8;
}

static uint32_t coordinator_links(const void *context, uint32_t id, struct part_link *link)
{
    const struct net_network *net = context;
    uint32_t nodes = route_hosts(route_summarise(net->topology));
    for (uint32_t node = 0; node < nodes; node++)
        link[node] = (struct part_link){{net->group, node}, net->ask};
    return nodes;
}

static uint32_t coordinator_natural(const void *context, uint32_t id)
{
    return 0;
}

void net_coordinator_group_add(struct net_network *net, struct part_groups *groups)
{
    struct part_group coordinator = {.name = "coordinator",
                                     .count = 1,
                                     .context = net,
                                     .load = coordinator_load,
                                     .natural = coordinator_natural,
                                     .links = coordinator_links,
                                     .most_links = route_hosts(route_summarise(net->topology))};
    net->coordinator_group = part_groups_add(groups, &coordinator);
}

void net_coordinator_make(struct net_network *net)
{
    struct part_member member = {net->coordinator_group, 0};
    struct ker_address at = part_layout_at(&net->layout, member);
    if (at.rank != net->engine->rank)
        return;
    net->coordinator = ker_alloc(sizeof *net->coordinator);
    *net->coordinator = (struct coordinator){net, at.index, KER_TIME_MAX, .free = KER_NONE};
    ker_engine_set(net->engine, at.index, &coordinator_class, net->coordinator,
                   part_layout_begins(&net->layout, member));
}

void net_coordinator_free(struct coordinator *o)
{
    if (o)
        free(o->going);
    free(o);
}

static void going_state(struct coordinator *o, struct ker_chunk *c, uint32_t id)
{
    struct going g = {0};
    if (!c->loads)
        g = o->going[id];
    KER_CHUNK(c, g.asked, g.message.source, g.message.destination, g.message.created, g.message.bytes);
    KER_CHUNK(c, g.message.number, g.message.service, g.message.part, g.message.wants_left, g.message.flags);
    KER_CHUNK(c, g.envelope);
    uint32_t nodes = route_hosts(route_summarise(o->net->topology));
    c->bad |= g.message.source >= nodes || g.message.destination >= nodes ||
              g.message.source == g.message.destination || g.asked < 0;
    if (c->bad)
        return;
    if (c->loads)
        id = going_put(o, &g);
    o->net->law.flows->state(o->net->law.context, id, c);
}

void net_coordinator_state(struct coordinator *o, struct ker_chunk *c)
{
    uint32_t count = 0;
    KER_CHUNK(c, o->wake);
    if (o->net->law.state)
        o->net->law.state(o->net->law.context, KER_NONE, c);
    for (uint32_t i = 0; i < o->count && !c->loads; i++)
        count += o->going[i].taken;
    count = ker_chunk_count(c, count, sizeof(ker_time));
    for (uint32_t i = 0; c->loads ? i < count && !c->bad : i < o->count; i++)
        if (c->loads || o->going[i].taken)
            going_state(o, c, i);
}
