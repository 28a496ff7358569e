/* deliver.c - events in transit from one process to another. */
#include "kernel/engine/post.h"
#include "tasks/loggops/model.h"

/* What an event carries of a struct loggops_event, beside time and component; its port has the process's cpu
 * and adapter, its channel the kind. */
struct carried {
    ker_time cause[LOGGOPS_GENERATIONS];
    uint64_t bytes;
    uint32_t origin, number, op, tag; /* tag: of data the receiver's operation */
};
_Static_assert(sizeof(struct carried) == 48, "an event carries 48 bytes");
_Static_assert(offsetof(struct carried, op) == 40, "where the engine looks for an extension");

/* The extension of a message of MPI. */
struct further {
    struct net_envelope envelope;
    ker_time created, unhindered;
};
_Static_assert(sizeof(struct further) == KER_EXTENSION_BYTES, "an extension");

static bool has_tag(unsigned kind)
{
    return kind == LOGGOPS_MESSAGE || kind == LOGGOPS_REQUEST || kind == LOGGOPS_COMES;
}

void loggops_deliver(struct loggops_system *s, uint32_t index, uint32_t process)
{
    struct loggops_event *e = &s->events.at[index];
    struct ker_address to = loggops_address(s, process);
    if (to.rank == s->engine->rank && (s->together || process == e->origin)) {
        e->process = process - s->first;
        loggops_queue_put(s, &s->group[to.index].queue, index);
        return;
    }
    if (__builtin_expect(s->halts, 0))
        s->job[loggops_job_of(s, process)].under_way++;
    struct ker_event *event =
        ker_post_event(s->engine, to, e->time, (uint16_t)(e->cpu << 8 | e->nic), e->kind);
    event->flags = 0;
    struct carried *c = (struct carried *)event->payload;
    *c = (struct carried){.bytes = e->bytes, .origin = e->origin, .number = e->number, .op = e->op};
    c->tag = has_tag(e->kind) ? e->tag : e->match;
    for (unsigned i = 0; i < LOGGOPS_GENERATIONS; i++)
        c->cause[i] = e->cause[i];
    if (e->kind == LOGGOPS_COMES) {
        const struct loggops_held *held = &s->programs->held.at[e->op];
        struct further further = {held->envelope, held->created, held->unhindered};
        event->flags = KER_FLAG_EXTENSION;
        c->op = ker_extension_new(s->engine, &further);
        KER_POOL_GIVE(&s->programs->held, e->op);
    }
    KER_POOL_GIVE(&s->events, index);
}

static uint32_t held_from(struct loggops_system *s, const struct carried *c)
{
    struct further further;
    ker_extension_read(s->engine, c->op, &further);
    ker_extension_free(s->engine, c->op);
    uint32_t held = KER_POOL_TAKE(&s->programs->held, NULL);
    s->programs->held.at[held] = (struct loggops_held){.envelope = further.envelope,
                                                       .bytes = c->bytes,
                                                       .created = further.created,
                                                       .unhindered = further.unhindered};
    return held;
}

uint32_t loggops_event_from(struct loggops_system *s, const struct ker_event *event, uint32_t process)
{
    const struct carried *c = (const struct carried *)event->payload;
    if (__builtin_expect(s->halts, 0))
        s->job[loggops_job_of(s, c->origin)].under_way--;
    uint32_t index = KER_POOL_TAKE(&s->events, NULL);
    struct loggops_event *e = &s->events.at[index];
    *e = (struct loggops_event){.time = event->time,
                                .bytes = c->bytes,
                                .origin = c->origin,
                                .number = c->number,
                                .process = process,
                                .op = c->op,
                                .kind = event->channel,
                                .cpu = (uint8_t)(event->port >> 8),
                                .nic = (uint8_t)event->port};
    for (unsigned i = 0; i < LOGGOPS_GENERATIONS; i++)
        e->cause[i] = c->cause[i];
    if (e->kind == LOGGOPS_COMES)
        e->op = held_from(s, c);
    if (has_tag(e->kind))
        e->tag = c->tag;
    else
        e->match = c->tag;
    return index;
}
