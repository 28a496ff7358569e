/* node.c - a node as a component of the engine: what comes to it is handed to its adapter or to a service.
 *
 * Whatever calls a service may let others continue: after each such call the node is brought up to date, that
 * is, it delivers what is due inside it, then has the first service that can do one step, until neither is
 * left. The adapter sends at the end of the instant. So what happens in a node in an instant is a function of
 * the order of its records, which is the same on any number of ranks. Invariant: a node that is up to date
 * has nothing to do before its next record.
 */
#include "kernel/engine/post.h"
#include "nodes/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t node_services_add(struct node_services *services, const char *name,
                           const struct node_service *service, void *shared)
{
    uint32_t number = 0;
    name = name ? name : service->name;
    while (number < services->count && strcmp(services->at[number].name, name) != 0)
        number++;
    ker_assert(number < NODE_MAX_SERVICES && !services->at[number].service);
    snprintf(services->at[number].name, sizeof services->at[number].name, "%s", name);
    services->at[number].service = service;
    services->at[number].shared = shared;
    services->count += number == services->count;
    return number;
}

const char *node_services_missing(const struct node_services *services)
{
    for (uint32_t s = 0; s < services->count; s++)
        if (!services->at[s].service)
            return services->at[s].name;
    return NULL;
}

/* ---- services ---- */

/* A step of the first service that says that it could do another. */
static inline bool node_step(struct node *n, ker_time now)
{
    for (uint32_t left = n->steps; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(left);
        if (*(const uint32_t *)n->state[s] && n->system->services->at[s].service->step(n->state[s], n, now))
            return true;
    }
    return false;
}

static inline bool node_deliver(struct node *n, ker_time now)
{
    return n->delayed != KER_NONE && node_delayed_deliver(n, now);
}

/* What the last steps have left behind is delivered, too. */
static inline void node_update(struct node *n, ker_time now)
{
    while (node_deliver(n, now) || node_step(n, now) || node_deliver(n, now))
        ;
}

static void node_start(struct node *n, ker_time now)
{
    const struct node_services *all = n->system->services;
    for (uint32_t s = 0; s < all->count; s++)
        if (n->state[s]) {
            const struct node_service *service = all->at[s].service;
            void (*start)(void *, struct node *, ker_time) =
                n->loaded >> s & 1 ? service->forked : service->start;
            if (start)
                start(n->state[s], n, now);
            node_update(n, now);
        }
}

/* A load has ended. */
static void load_ended(struct node *n, ker_time now, const struct node_load *load)
{
    const struct node_service *service = n->system->services->at[load->service].service;
    if (load->kind == NODE_LOAD_WORK) {
        struct node_worked worked = node_load_result(load);
        service->worked(n->state[load->service], n, now, load->number, &worked);
    } else if (load->kind == NODE_LOAD_READ) {
        n->system->carrier.read(node_adapter(n, load->message), now);
    } else if (load->kind == NODE_LOAD_WRITE) {
        n->system->carrier.written(node_adapter(n, load->message), now);
    } else if (load->kind == NODE_LOAD_LOOP) {
        node_delayed_looped(n, now, load->message);
    } else if (node_copy_ended(n, now, load)) {
        node_delayed_copied(n, now, load->message);
    } else {
        node_delayed_left(n, now, load->message);
    }
}

static inline void service_expired(struct node *n, ker_time now, uint32_t s, uint32_t number)
{
    n->system->services->at[s].service->timer(n->state[s], n, now, number);
    node_update(n, now);
}

/* One of the node's own, but for NODE_TIMER_ADAPTER. */
__attribute__((noinline)) static void timer_expired(struct node *n, ker_time now, uint32_t service,
                                                    uint32_t number)
{
    switch (service) {
    case NODE_TIMER_DELAYED:
        node_update(n, now);
        break;
    case NODE_TIMER_START:
        node_start(n, now);
        break;
    case NODE_TIMER_READS:
        n->system->carrier.left(node_adapter(n, number), now);
        break;
    default:
        node_cores_due(n, now);
        for (struct node_load load; node_load_take(n, now, &load); node_update(n, now))
            load_ended(n, now, &load);
    }
}

void node_send(struct node *n, ker_time now, uint32_t service, const struct node_message *m)
{
    bool inside = m->destination == n->id;
    if (__builtin_expect(m->direct, 0)) {
        node_direct_send(n, now, service, m);
        return;
    }
    if (inside || m->delay) {
        struct node_delayed d = {.service = (uint8_t)service,
                                 .priority = m->priority,
                                 .queue = m->queue,
                                 .has_envelope = m->envelope != NULL,
                                 .destination = m->destination,
                                 .core = m->core,
                                 .created = now,
                                 .bytes = m->bytes,
                                 .cookie = m->cookie};
        if (m->envelope)
            d.envelope = *m->envelope;
        ker_time due = now + m->delay;
        if (inside)
            due += n->system->memory ? node_copy_latency(n, m->core, m->bytes, m->queue)
                                     : node_copy(&n->system->model, m->bytes);
        node_delayed_add(n, due, &d);
        return;
    }
    struct net_send send = {.destination = m->destination,
                            .bytes = m->bytes,
                            .envelope = m->envelope,
                            .cookie = m->cookie,
                            .service = (uint8_t)service,
                            .priority = m->priority,
                            .queue = m->queue};
    node_inject(n, now, &send, m->core);
}

void node_answer(struct node *n, ker_time now, uint32_t service, const struct node_caller *caller,
                 uint64_t bytes, const uint64_t words[NODE_ANSWER_WORDS], uint8_t priority)
{
    struct net_envelope envelope = {{caller->token}};
    if (words)
        memcpy(&envelope.word[1], words, NODE_ANSWER_WORDS * sizeof *words);
    struct node_message m = {.destination = caller->node,
                             .bytes = bytes,
                             .envelope = &envelope,
                             .core = NODE_ANY_CORE,
                             .priority = priority};
    if (caller->node == n->id)
        m.queue = NODE_QUEUE_ONCE;
    node_send(n, now, NODE_TO(service, caller->service), &m);
}

void node_pending(const struct node *n, uint32_t service, uint64_t token, char *text, size_t room)
{
    const struct node_service *of = n->system->services->at[service].service;
    *text = '\0';
    if (of->pending && n->state[service])
        of->pending(n->state[service], token, text, room);
}

void node_touch(struct node *n, ker_time when)
{
    ker_touch(n->system->engine, when);
}

ker_time *node_latest(struct node *n)
{
    return &n->system->engine->last_action;
}

bool node_quiet(const struct node *n)
{
    return n->delayed == KER_NONE;
}

/* ---- what the adapter says ---- */

static void message_arrived(struct node *n, ker_time now, const struct net_message *m)
{
    uint32_t s = node_receiver_of(m->service);
    const struct node_service *service = n->system->services->at[s].service;
    if (!n->state[s] || !service->arrived) {
        ker_assert(s == m->service); /* sent to a service that is not there */
        return;
    }
    service->arrived(n->state[s], n, now, m);
    node_update(n, now);
}

/* It has left the adapter, and will be there later. */
static void message_comes(struct node *n, ker_time now, const struct net_message *m, ker_time way)
{
    uint32_t s = node_receiver_of(m->service);
    const struct node_service *service = n->system->services->at[s].service;
    if (!n->state[s] || !service->arrived) {
        ker_assert(s == m->service);
        return;
    }
    struct node_delayed d = {.service = m->service,
                             .queue = NODE_COMES,
                             .destination = n->id,
                             .core = m->source,
                             .cookie = (uint64_t)m->created,
                             .created = now,
                             .bytes = m->bytes,
                             .has_envelope = true,
                             .envelope = m->envelope};
    node_delayed_add(n, now + way, &d);
}

/* Where there are several adapters, or the path to one takes time. */
static __attribute__((noinline)) void several_arrived(struct node *n, ker_time now,
                                                      const struct net_message *m)
{
    uint32_t adapters = n->system->model.adapters;
    struct net_message whole = *m;
    whole.source /= adapters;
    whole.destination = n->id;
    if (m->part != NET_WHOLE && !node_stripe_arrived(n, now, &whole))
        return;
    const struct node_model *model = &n->system->model;
    if (model->bus_latency || model->interrupt_latency)
        message_comes(n, now, &whole, model->bus_latency + model->interrupt_latency);
    else
        message_arrived(n, now, &whole);
}

static void host_arrived(void *state, ker_time now, const struct net_message *m)
{
    struct node *n = state;
    if (__builtin_expect(n->system->several, 0))
        several_arrived(n, now, m);
    else
        message_arrived(n, now, m);
}

static void host_sent(void *state, ker_time now, uint32_t service, enum net_part part, uint64_t cookie)
{
    struct node *n = state;
    uint32_t s = node_sender_of(service);
    const struct node_service *sender = n->system->services->at[s].service;
    if (part != NET_WHOLE && !node_stripe_sent(n, &cookie))
        return;
    if (sender->sent)
        sender->sent(n->state[s], n, now, cookie);
    node_update(n, now);
}

/* Only where nothing but the services is at the node. */
static bool host_leaves(void *state, ker_time when, uint32_t service, enum net_part part, uint64_t cookie)
{
    struct node *n = state;
    uint32_t s = node_sender_of(service);
    const struct node_service *sender = n->system->services->at[s].service;
    return part == NET_WHOLE && sender->leaves && sender->leaves(n->state[s], n, when, cookie);
}

static bool host_offer(void *state, uint32_t port, struct net_offer *offer)
{
    struct node *n = state;
    const struct node_services *all = n->system->services;
    if (node_offers(n))
        return node_offer_next(n, port, offer);
    uint32_t s = 0;
    while (!n->state[s] || !all->at[s].service->offer) /* there is one */
        s++;
    if (!all->at[s].service->offer(n->state[s], offer))
        return false;
    offer->service = (uint8_t)s;
    offer->part = NET_WHOLE;
    offer->number = node_number(n, s, NULL);
    return true;
}

static void host_lost(void *context, uint32_t service, const struct net_envelope *envelope)
{
    const struct node_system *system = context;
    service = node_receiver_of(service);
    if (system->services->at[service].service->lost)
        system->services->at[service].service->lost(system->services->at[service].shared, envelope);
}

static void host_init(void *context, void *state, uint32_t id, uint32_t self, struct net_adapter *adapter,
                      size_t stride)
{
    struct node *n = state;
    n->system = context;
    n->system->adapter_at = (size_t)((char *)adapter - (char *)n);
    n->system->adapter_stride = stride;
    n->delayed = KER_NONE;
    n->id = id;
    n->self = self;
}

/* ---- what the engine calls ---- */

static void node_arrival(void *self, struct ker_engine *e, const struct ker_event *event)
{
    struct node *n = self;
    if (__builtin_expect(event->port == NODE_PORT_DIRECT, 0))
        node_direct_arrived(n, event);
    else
        n->system->carrier.arrival(node_adapter(n, event->port & NET_PORT_ADAPTER), event);
}

static inline void node_note(void *self, struct ker_engine *e, ker_time now, enum ker_record_kind kind,
                             uint16_t port, uint8_t channel, uint32_t amount)
{
    struct node *n = self;
    uint32_t key = (uint32_t)port << 8 | channel, s = (key >> 16) - NODE_TIMER_SERVICE;
    if (kind == KER_CREDIT)
        n->system->carrier.credit(node_adapter(n, port), channel, amount);
    else if (kind == KER_WAKE)
        n->system->carrier.woken(node_adapter(n, port), now);
    else if (__builtin_expect(s < NODE_MAX_SERVICES, 1))
        service_expired(n, now, s, key & 0xffff);
    else if (__builtin_expect(key >> 16 == NODE_TIMER_ADAPTER, 1))
        n->system->carrier.timer(node_adapter(n, key & 0xffff), now);
    else
        timer_expired(n, now, key >> 16, key & 0xffff);
}

static __attribute__((noinline)) void direct_deliver(struct node *n, ker_time now)
{
    uint32_t count = node_direct_sort(n->system);
    for (uint32_t i = 0; i < count; i++) {
        struct net_message m = n->system->fresh[i];
        message_arrived(n, now, &m);
    }
}

static __attribute__((noinline)) void others_act(struct node *n, ker_time now)
{
    for (uint32_t i = 1; i < n->system->model.adapters; i++)
        n->system->carrier.act(node_adapter(n, i), now);
}

static void node_act(void *self, struct ker_engine *e, ker_time now)
{
    struct node *n = self;
    if (__builtin_expect(n->system->fresh_count, 0))
        direct_deliver(n, now);
    n->system->carrier.act(node_adapter(n, 0), now);
    if (__builtin_expect(n->system->several, 0))
        others_act(n, now);
}

/* An instant with one record is handled no differently: a node's work is in act(). */
static void node_arrival_alone(void *self, struct ker_engine *e, const struct ker_event *event)
{
    ker_time now = event->time;
    node_arrival(self, e, event);
    node_act(self, e, now);
}

static void node_note_alone(void *self, struct ker_engine *e, ker_time now, enum ker_record_kind kind,
                            uint16_t port, uint8_t channel, uint32_t amount)
{
    node_note(self, e, now, kind, port, channel, amount);
    node_act(self, e, now);
}

/* The same where loads share the node. */
static void cores_act(void *self, struct ker_engine *e, ker_time now)
{
    node_act(self, e, now);
    node_cores_act(self, now);
}

static void cores_arrival_alone(void *self, struct ker_engine *e, const struct ker_event *event)
{
    ker_time now = event->time;
    node_arrival(self, e, event);
    cores_act(self, e, now);
}

static void cores_note_alone(void *self, struct ker_engine *e, ker_time now, enum ker_record_kind kind,
                             uint16_t port, uint8_t channel, uint32_t amount)
{
    node_note(self, e, now, kind, port, channel, amount);
    cores_act(self, e, now);
}

static uint32_t node_id(const void *self)
{
    return ((const struct node *)self)->id;
}

static const struct ker_class node_class = {
    .id = node_id,
    .name = "node",
    .arrival = node_arrival,
    .note = node_note,
    .act = node_act,
    .arrival_alone = node_arrival_alone,
    .note_alone = node_note_alone,
};

static const struct ker_class cores_class = {
    .id = node_id,
    .name = "node",
    .arrival = node_arrival,
    .note = node_note,
    .act = cores_act,
    .arrival_alone = cores_arrival_alone,
    .note_alone = cores_note_alone,
};

/* ---- for the program ---- */

struct node_system *node_system_new(const struct node_model *model, const struct node_noise *noise,
                                    const struct node_services *services, const struct net_carrier *carrier,
                                    struct ker_engine *engine)
{
    struct node_system *system = ker_alloc(sizeof *system);
    system->model = *model;
    system->several = model->adapters > 1 || node_has_path(model);
    system->memory = model->works ? node_memory_new(model) : NULL;
    system->noise = noise->kind ? noise : NULL;
    system->services = services;
    system->carrier = *carrier;
    system->queued.free = system->delayed.free = KER_NONE;
    system->engine = engine;
    system->class = system->memory ? cores_class : node_class;
    system->class.repeats = model->direct > 0;
    return system;
}

void node_system_free(struct node_system *system)
{
    if (!system)
        return;
    for (uint32_t i = 0; i < system->nodes; i++) {
        struct node *n = node_of(system, i);
        node_offers_release(n);
        if (system->memory)
            node_cores_release(n);
    }
    node_memory_free(system->memory);
    KER_POOL_RELEASE(&system->queued);
    ker_table_release(&system->stripes);
    KER_POOL_RELEASE(&system->delayed);
    free(system->fresh);
    free(system);
}

/* Does nothing come of messages that arrive? */
static bool is_deaf(const struct node_system *system)
{
    for (uint32_t s = 0; s < system->services->count; s++)
        if (system->services->at[s].service->arrived)
            return false;
    return system->model.adapters == 1 && !node_has_path(&system->model);
}

/* Does a service want to know when messages leave? Only where nothing else is at the node. */
static bool foresees(const struct node_system *system)
{
    const struct node_services *all = system->services;
    bool any = false;
    for (uint32_t i = 0; i < all->count; i++)
        any |= all->at[i].service && all->at[i].service->leaves;
    return any && !system->several && !system->memory;
}

/* Is there nothing but an open-loop source? */
static bool is_sole(const struct node_system *system)
{
    const struct node_service *first = system->services->at[0].service;
    return system->services->count == 1 && first->offer && !first->start && !first->timer && !first->step &&
           is_deaf(system);
}

/* May a node have several open-loop sources, or offer to several adapters? */
static bool has_offers(const struct node_system *system)
{
    uint32_t offers = 0;
    for (uint32_t s = 0; s < system->services->count; s++)
        offers += system->services->at[s].service && system->services->at[s].service->offer;
    return offers > 1 || (offers && system->model.adapters > 1);
}

struct net_host node_system_host(struct node_system *system)
{
    bool dma = node_has_dma(&system->model);
    uint32_t states = system->services->count + (system->memory != NULL);
    if (has_offers(system))
        system->offers_at = states++;
    return (struct net_host){
        .class = &system->class,
        .bytes = sizeof(struct node) + states * sizeof(void *),
        .timer = node_timer_key(dma ? NODE_TIMER_READS : NODE_TIMER_ADAPTER, 0),
        .context = system,
        .shares = system->memory != NULL,
        .deaf = is_deaf(system),
        .sole = is_sole(system),
        .init = host_init,
        .arrived = host_arrived,
        .sent = host_sent,
        .leaves = foresees(system) ? host_leaves : NULL,
        .offer = host_offer,
        .lost = host_lost,
        .read = dma ? node_dma_read : NULL,
        .write = dma ? node_dma_write : NULL,
    };
}

/* With fewer cores than adapters some have no core. */
bool node_adapter_serves(const struct node *n, uint32_t adapter)
{
    const struct node_model *model = &n->system->model;
    if (adapter >= node_adapters(n))
        return false;
    if (model->adapters == 1 || !node_model_asks_cores(model))
        return true;
    const struct node_structure *s = node_structure_of(n);
    if (model->rail == NODE_RAIL_NEAREST)
        return s->nearest >> adapter & 1;
    uint64_t core = ((uint64_t)adapter * s->cores + s->adapters - 1) / s->adapters; /* its first */
    return core < s->cores && core * s->adapters / s->cores == adapter;
}

static void node_attach(struct node *n, void *const *state)
{
    const struct node_services *all = n->system->services;
    bool starts = false;
    uint32_t offers = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        const struct node_service *service = all->at[s].service;
        n->state[s] = state[s];
        if (!state[s])
            continue;
        starts |= service->start || service->offer;
        offers += service->offer != NULL;
        n->steps |= (uint16_t)((service->step != NULL) << s);
    }
    if (n->system->memory)
        node_cores_attach(n);
    if (offers > 1 || (offers && n->system->model.adapters > 1))
        node_offers_init(n);
    for (uint32_t i = 0; offers && i < n->system->model.adapters; i++)
        if (node_adapter_serves(n, i))
            n->system->carrier.offers(node_adapter(n, i));
    if (starts)
        node_timer_post(n, 0, NODE_TIMER_START, 0);
}

void node_system_attach(struct node_system *system, struct net_network *network, uint32_t nodes,
                        void *const *state)
{
    system->network = network;
    system->nodes = nodes;
    for (uint32_t i = 0; i < nodes; i++)
        node_attach(node_of(system, i), state + (size_t)i * system->services->count);
}

const char *node_system_conserved(const struct node_system *system)
{
    return system->stripes.count ? "a message in parts is not whole" : NULL;
}
