/* sign.c - what a task does on a handle: the sign by which the members of one communicator know each
 * other.
 *
 * A sign is taken over the events from the making of a communicator to its end: the sequence of collective
 * calls, the making of further communicators included, as a digest; and the messages to and from each rank,
 * as counts, bytes and sums of hashes, which do not depend on their order. The end is the MPI_Comm_free of
 * the variable in which it was made. When that was copied elsewhere, the frees of variables in which nothing
 * was made come into question: the first one after which the handle is not used until the next communicator
 * is made, which may then have got the same handle.
 *
 * All work is counted, so that a search can be given up.
 */
#include "traces/allprof/comm.h"

#include <stdlib.h>
#include <string.h>

void allprof_sign_release(struct allprof_sign *sign)
{
    free(sign->peer);
    memset(sign, 0, sizeof *sign);
}

KER_ORDER_BY(peer_compare, struct allprof_tally, peer)

static void sign_messages_add(struct allprof_sign *sign, const struct allprof_tallies *tallies,
                              const struct allprof_event *use)
{
    KER_RESERVE(sign->peer, sign->room, sign->peers + use->tallies);
    for (uint32_t i = 0; i < use->tallies; i++)
        sign->peer[sign->peers++] = tallies->entry[use->tally + i];
}

/* One entry per peer. */
static void sign_messages_join(struct allprof_sign *sign)
{
    uint32_t kept = 0;
    if (sign->peers)
        qsort(sign->peer, sign->peers, sizeof *sign->peer, peer_compare);
    for (uint32_t i = 0; i < sign->peers; i++) {
        if (kept && sign->peer[kept - 1].peer == sign->peer[i].peer)
            allprof_tally_add(&sign->peer[kept - 1], &sign->peer[i]);
        else
            sign->peer[kept++] = sign->peer[i];
    }
    sign->peers = kept;
}

static void sign_extend(struct allprof_sign *sign, const struct allprof_tallies *tallies,
                        const struct allprof_event *event)
{
    bool creates = event->kind == ALLPROF_EVENT_NEW;
    uint64_t count = creates ? 1 : event->collectives, factor = allprof_digest_factor(count);
    sign->collectives += count;
    sign->digest = sign->digest * factor + (creates ? 1000003u * (event->create + 1u) : event->digest);
    sign->exact = sign->exact * factor + (creates ? 1000003u * (event->create + 1u) : event->exact);
    if (!creates && event->tallies)
        sign_messages_add(sign, tallies, event);
}

/* Where a life ends. */
struct life {
    uint64_t *made; /* variables in which other communicators were made since */
    uint32_t count, room;
    bool copied;  /* its variable has got another communicator: the handle was copied */
    bool doomed;  /* an MPI_Comm_free may have meant it */
    bool renewed; /* and a communicator was made since */
};

static void life_make(struct life *life, uint64_t variable)
{
    for (uint32_t i = 0; i < life->count; i++)
        if (life->made[i] == variable)
            return;
    *KER_PUSH(life->made, life->count, life->room) = variable;
}

static bool life_made(const struct life *life, const struct allprof_owner *owner, uint64_t variable)
{
    for (uint32_t i = 0; i < life->count; i++)
        if (life->made[i] == variable)
            return true;
    for (uint32_t i = 0; i < owner->count; i++)
        if (owner->known[i].alive && owner->known[i].variable == variable)
            return true;
    return false;
}

/* A NEW or FREE; false: the life is over. */
static bool life_event(struct life *life, const struct allprof_owner *owner,
                       const struct allprof_known *known, const struct allprof_event *event)
{
    bool own = event->variable == known->variable;
    if (event->kind == ALLPROF_EVENT_NEW) {
        life->copied = life->copied || own;
        life->renewed = life->doomed;
        life_make(life, event->variable);
        return true;
    }
    if (own && !life->copied)
        return false;
    if (!own && !life_made(life, owner, event->variable) && !life->doomed) {
        life->doomed = true;
        life->renewed = false;
    }
    return true;
}

/* Freed for certain: the handle can come again only when another communicator has been made. */
static bool handle_rests(struct allprof_resolver *r, uint32_t task, size_t freed, uint64_t handle)
{
    const struct allprof_events *events = &r->files[task];
    for (size_t i = freed + 1; i < events->count; i++) {
        const struct allprof_event *event = &events->event[i];
        r->work++;
        if (event->kind != ALLPROF_EVENT_FREE && event->group.handle == handle)
            return false;
        if (event->kind == ALLPROF_EVENT_NEW)
            break;
    }
    return true;
}

/* Did another communicator have the handle when this one was made? */
static bool handle_taken(const struct allprof_owner *owner, const struct allprof_known *known,
                         uint64_t handle)
{
    for (uint32_t i = 0; i < owner->count; i++) {
        const struct allprof_known *other = &owner->known[i];
        if (other != known && other->used && other->handle == handle && other->made < known->made &&
            (other->alive || other->freed > known->made))
            return true;
    }
    return false;
}

bool allprof_sign_make(struct allprof_resolver *r, uint32_t task, const struct allprof_known *known,
                       uint64_t handle, struct allprof_sign *sign)
{
    const struct allprof_events *events = &r->files[task];
    const struct allprof_owner *owner = &r->task[task];
    struct life life = {0};
    int32_t rank = -1, size = 0;
    bool fits = true, lives = true;
    memset(sign, 0, sizeof *sign);
    if (handle_taken(owner, known, handle))
        return false;
    size_t end = known->alive ? events->count : known->freed;
    for (size_t i = known->made + 1; i < end && fits && lives; i++) {
        const struct allprof_event *event = &events->event[i];
        r->work++;
        if (event->kind != ALLPROF_EVENT_FREE && event->group.handle == handle) {
            if (life.renewed)
                break; /* another one that has got the same handle */
            fits = rank < 0 || (rank == event->group.rank && size == event->group.size);
            rank = event->group.rank;
            size = event->group.size;
            life.doomed = false;
            sign_extend(sign, &r->tallies[task], event);
        }
        if (event->kind == ALLPROF_EVENT_NEW ||
            (event->kind == ALLPROF_EVENT_FREE && i >= owner->at && known->alive))
            lives =
                life_event(&life, owner, known, event); /* frees that the task has passed did not mean it */
        if (!lives)
            fits = fits && handle_rests(r, task, i, handle);
    }
    free(life.made);
    sign_messages_join(sign);
    if (!fits)
        allprof_sign_release(sign);
    return fits;
}

static const struct allprof_tally *sign_peer(const struct allprof_sign *sign, int32_t peer)
{
    static const struct allprof_tally none;
    struct allprof_tally key = {.peer = peer};
    const struct allprof_tally *found =
        sign->peers ? bsearch(&key, sign->peer, sign->peers, sizeof key, peer_compare) : NULL;
    return found ? found : &none;
}

bool allprof_sign_collectives(const struct allprof_sign *x, const struct allprof_sign *y,
                              enum allprof_level level)
{
    if (x->collectives != y->collectives || x->digest != y->digest)
        return false;
    return level > ALLPROF_EXACT || x->exact == y->exact;
}

/* The messages from a to b, and what b receives from a. */
struct flow {
    const struct allprof_traffic *sent;
    const struct allprof_tally *tally;
    uint64_t received, least; /* least: without the receives that were given up */
    uint64_t any;             /* receives from any source */
};

static struct flow flow_of(const struct allprof_sign *from, int32_t a, const struct allprof_sign *to,
                           int32_t b)
{
    const struct allprof_tally *tally = sign_peer(to, a);
    return (struct flow){&sign_peer(from, b)->send, tally, tally->receive.count,
                         tally->receive.count - tally->given_up.count,
                         sign_peer(to, TASK_ANY)->receive.count};
}

/* The tags of as many messages as could be matched; where only some of the receives were given up, which ones
 * is not known. */
static bool flow_tags(const struct flow *f, bool exact)
{
    const struct allprof_traffic *sent = f->sent, *all = &f->tally->receive, *less = &f->tally->given_up;
    bool none = sent->count == f->received;
    if (f->any || f->tally->any_tag || (!none && sent->count != f->least))
        return true;
    return (exact ? all->exact : all->tags) - (none    ? 0
                                               : exact ? less->exact
                                                       : less->tags) ==
           (exact ? sent->exact : sent->tags);
}

static bool flow_fits(const struct flow *f, enum allprof_level level)
{
    if (level < ALLPROF_FEWEST && f->least > f->sent->count)
        return false;
    if (level >= ALLPROF_COUNTS)
        return true;
    if (f->sent->count > f->received + f->any || (!f->any && f->sent->bytes > f->tally->receive.bytes))
        return false;
    return flow_tags(f, level == ALLPROF_EXACT);
}

static uint64_t flow_unmatched(const struct flow *f)
{
    uint64_t sent = f->sent->count;
    if (sent < f->least)
        return f->least - sent;
    if (sent > f->received)
        return f->any ? 0 : sent - f->received; /* see allprof_sign_pool */
    return flow_tags(f, false) ? 0 : f->received;
}

bool allprof_sign_messages(const struct allprof_sign *x, int32_t a, const struct allprof_sign *y, int32_t b,
                           enum allprof_level level)
{
    struct flow there = flow_of(x, a, y, b), back = flow_of(y, b, x, a);
    return flow_fits(&there, level) && flow_fits(&back, level);
}

uint64_t allprof_sign_unmatched(const struct allprof_sign *x, int32_t a, const struct allprof_sign *y,
                                int32_t b)
{
    struct flow there = flow_of(x, a, y, b), back = flow_of(y, b, x, a);
    return flow_unmatched(&there) + flow_unmatched(&back);
}

uint64_t allprof_sign_unnamed(const struct allprof_sign *x, int32_t a, const struct allprof_sign *y,
                              int32_t b)
{
    struct flow flow = flow_of(x, a, y, b);
    return flow.sent->count > flow.received ? flow.sent->count - flow.received : 0;
}

uint64_t allprof_sign_pool(const struct allprof_sign *y, uint64_t unnamed)
{
    const struct allprof_tally *any = sign_peer(y, TASK_ANY);
    uint64_t least = any->receive.count - any->given_up.count;
    if (unnamed < least)
        return least - unnamed;
    return any->receive.count && unnamed > any->receive.count ? unnamed - any->receive.count : 0;
}

static bool traffic_equal(const struct allprof_traffic *a, const struct allprof_traffic *b)
{
    return a->count == b->count && a->bytes == b->bytes && a->exact == b->exact;
}

bool allprof_sign_equal(const struct allprof_sign *x, const struct allprof_sign *y)
{
    bool equal = x->peers == y->peers && allprof_sign_collectives(x, y, ALLPROF_EXACT);
    for (uint32_t i = 0; i < x->peers && equal; i++)
        equal = x->peer[i].peer == y->peer[i].peer && traffic_equal(&x->peer[i].send, &y->peer[i].send) &&
                traffic_equal(&x->peer[i].receive, &y->peer[i].receive) &&
                traffic_equal(&x->peer[i].given_up, &y->peer[i].given_up);
    return equal;
}

bool allprof_sign_empty(const struct allprof_sign *sign)
{
    return sign->collectives == 0 && sign->peers == 0;
}

static void fresh_add(struct allprof_freshes *freshes, const struct allprof_group *group, size_t first,
                      bool sure)
{
    for (uint32_t i = 0; i < freshes->count; i++) {
        const struct allprof_group *other = &freshes->entry[i].group;
        if (other->handle == group->handle && other->rank == group->rank && other->size == group->size)
            return;
    }
    *KER_PUSH(freshes->entry, freshes->count, freshes->room) = (struct allprof_fresh){*group, first, sure};
}

/* How many of the task's communicators have no handle yet: when all of them are freed, nothing more can be
 * learnt. */
static uint32_t unbound_count(const struct allprof_owner *owner)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < owner->count; i++)
        count += owner->known[i].alive && !owner->known[i].bound;
    return count;
}

static bool unbound_freed(const struct allprof_owner *owner, uint64_t variable)
{
    for (uint32_t i = 0; i < owner->count; i++)
        if (owner->known[i].alive && !owner->known[i].bound && owner->known[i].variable == variable)
            return true;
    return false;
}

/* What the task makes from here on: a communicator of which kinds can come of it? */
struct made_kind {
    struct allprof_group parent;
    bool same; /* as the parent */
};

struct made {
    struct made_kind *kind;
    uint32_t count, room;
};

static void made_add(struct made *made, const struct allprof_event *event)
{
    bool same = event->create == ALLPROF_DUP;
    if (event->create == ALLPROF_SPLIT && event->colour < 0)
        return; /* MPI_COMM_NULL */
    for (uint32_t i = 0; i < made->count; i++)
        if (made->kind[i].same == same && made->kind[i].parent.size == event->group.size &&
            (!same || made->kind[i].parent.rank == event->group.rank))
            return;
    *KER_PUSH(made->kind, made->count, made->room) = (struct made_kind){event->group, same};
}

static bool made_can(const struct made *made, const struct allprof_group *group)
{
    for (uint32_t i = 0; i < made->count; i++) {
        const struct allprof_group *parent = &made->kind[i].parent;
        if (made->kind[i].same ? parent->rank == group->rank && parent->size == group->size
                               : parent->size >= group->size)
            return true;
    }
    return false;
}

void allprof_fresh_find(struct allprof_resolver *r, uint32_t task, struct allprof_freshes *freshes)
{
    const struct allprof_events *events = &r->files[task];
    const struct allprof_owner *owner = &r->task[task];
    uint32_t unbound = unbound_count(owner);
    struct made made = {0};
    for (size_t i = owner->at; i < events->count && unbound > 0; i++) {
        const struct allprof_event *event = &events->event[i];
        r->work++;
        if (event->kind == ALLPROF_EVENT_FREE)
            unbound -= unbound_freed(owner, event->variable);
        else if (event->group.size > 1 && !allprof_known_alive(owner, event->group.handle))
            fresh_add(freshes, &event->group, i, !made_can(&made, &event->group));
        if (event->kind == ALLPROF_EVENT_NEW)
            made_add(&made, event);
    }
    free(made.kind);
}
