/* queue.c - queues of receives and of messages, short or long.
 *
 * A queue is a list that is walked, as nearly all are short. One that is searched while it is longer
 * than LONG gets a lookup (lookup.h), which takes its entries over until SHORT are left; an entry's link is
 * its name there then. Invariant: what a search finds, and how many entries it counts, is the same either
 * way.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>

enum { LONG = 64, SHORT = 16 };

struct slot {
    uint32_t reserved;
    struct task_lookup *lookup;
};

void task_queues_init(struct task_mpi *mpi)
{
    ker_chunks_init(&mpi->lookup, sizeof(struct slot));
}

static struct task_lookup *lookup_of(const struct task_mpi *mpi, const struct task_queue *q)
{
    return ((struct slot *)ker_chunks_at(&mpi->lookup, q->lookup))->lookup;
}

/* Both records begin with their link. */
static inline uint32_t *link_of(const struct task_mpi *mpi, enum task_queue_kind kind, uint32_t item)
{
    return ker_chunks_at(kind == TASK_QUEUE_POSTED ? &mpi->request : &mpi->message, item);
}

/* ---- what entries are, and what they are asked for ---- */

struct task_match_key task_key_of_request(const struct task_mpi *mpi, const struct task_request *r)
{
    struct task_match_key key = {.comm = (uint32_t)r->comm + 1, .source = r->peer, .tag = r->tag};
    if (r->flags & TASK_REQUEST_COLLECTIVE) {
        const struct task_collective_run *run = task_run_at(mpi, r->run);
        key.call = run->call;
        key.start = run->start;
    }
    return key;
}

struct task_match_key task_key_of_message(enum task_queue_kind kind, const struct task_wire *wire)
{
    if (kind == TASK_QUEUE_EARLY)
        return (struct task_match_key){.comm = 1, .call = wire->sequence, .source = (int32_t)wire->source};
    if (kind == TASK_QUEUE_HELD)
        return (struct task_match_key){.comm = 1, .call = wire->receiver};
    struct task_match_key key = {
        .comm = (uint32_t)wire->comm + 1, .source = (int32_t)wire->source, .tag = wire->tag};
    if (wire->flags & TASK_WIRE_COLLECTIVE) {
        key.call = wire->sequence;
        key.start = wire->start;
    }
    return key;
}

static inline struct task_match_key item_key(const struct task_mpi *mpi, enum task_queue_kind kind,
                                             uint32_t item)
{
    if (kind == TASK_QUEUE_POSTED)
        return task_key_of_request(mpi, task_request_at(mpi, item));
    return task_key_of_message(kind, &task_message_at(mpi, item)->wire);
}

static inline bool item_fits(const struct task_mpi *mpi, enum task_queue_kind kind, uint32_t item,
                             const struct task_match_key *key)
{
    struct task_match_key own = item_key(mpi, kind, item);
    return kind == TASK_QUEUE_POSTED ? task_key_fits(&own, key) : task_key_fits(key, &own);
}

/* ---- short and long ---- */

static void list_push(struct task_mpi *mpi, enum task_queue_kind kind, struct task_queue *q, uint32_t item)
{
    *link_of(mpi, kind, item) = 0;
    if (q->last)
        *link_of(mpi, kind, q->last) = item;
    else
        q->first = item;
    q->last = item;
}

static void lookup_add(struct task_mpi *mpi, enum task_queue_kind kind, struct task_lookup *lookup,
                       uint32_t item)
{
    struct task_match_key key = item_key(mpi, kind, item);
    *link_of(mpi, kind, item) = task_lookup_add(lookup, item, &key);
}

static void lengthen(struct task_mpi *mpi, enum task_queue_kind kind, struct task_queue *q)
{
    q->lookup = ker_chunks_take(&mpi->lookup);
    struct slot *slot = ker_chunks_at(&mpi->lookup, q->lookup);
    slot->lookup = task_lookup_new(kind == TASK_QUEUE_POSTED, mpi->match_time > 0, &mpi->steps);
    for (uint32_t item = q->first, next; item; item = next) {
        next = *link_of(mpi, kind, item);
        lookup_add(mpi, kind, slot->lookup, item);
    }
    q->first = q->last = 0;
}

void task_queue_release(struct task_mpi *mpi, struct task_queue *q)
{
    if (!q->lookup)
        return;
    task_lookup_free(lookup_of(mpi, q));
    ker_chunks_give(&mpi->lookup, q->lookup);
    q->lookup = 0;
}

static void shorten(struct task_mpi *mpi, enum task_queue_kind kind, struct task_queue *q)
{
    struct task_lookup *lookup = lookup_of(mpi, q);
    for (uint32_t name = 0; (name = task_lookup_next(lookup, name));)
        list_push(mpi, kind, q, task_lookup_item(lookup, name));
    task_queue_release(mpi, q);
}

void task_queue_push(struct task_mpi *mpi, enum task_queue_kind kind, struct task_queue *q, uint32_t item)
{
    q->count++;
    if (q->lookup)
        lookup_add(mpi, kind, lookup_of(mpi, q), item);
    else
        list_push(mpi, kind, q, item);
}

/* ---- searching ---- */

static struct task_found long_find(struct task_mpi *mpi, struct task_queue *q,
                                   const struct task_match_key *key)
{
    struct task_lookup *lookup = lookup_of(mpi, q);
    uint32_t name = task_lookup_find(lookup, key);
    if (!name)
        return (struct task_found){.looked_at = q->count};
    struct task_found found = {.item = task_lookup_item(lookup, name), .before = name};
    found.looked_at = mpi->match_time > 0 ? task_lookup_place(lookup, name) : 0;
    return found;
}

static inline __attribute__((always_inline)) struct task_found list_find(struct task_mpi *mpi,
                                                                         enum task_queue_kind kind,
                                                                         const struct task_queue *q,
                                                                         const struct task_match_key *key)
{
    struct task_found found = {0};
    for (uint32_t item = q->first; item; item = *link_of(mpi, kind, item)) {
        found.looked_at++;
        if (item_fits(mpi, kind, item, key)) {
            found.item = item;
            break;
        }
        found.before = item;
    }
    mpi->steps += found.looked_at;
    return found;
}

/* Long ones, and those that few have. Apart, so that others need no room for what it calls. */
static __attribute__((noinline)) struct task_found find_more(struct task_mpi *mpi, enum task_queue_kind kind,
                                                             struct task_queue *q,
                                                             const struct task_match_key *key)
{
    if (!q->lookup && q->count > LONG)
        lengthen(mpi, kind, q);
    return q->lookup ? long_find(mpi, q, key) : list_find(mpi, kind, q, key);
}

/* Calls nothing but at its end. */
struct task_found task_queue_find(struct task_mpi *mpi, enum task_queue_kind kind, struct task_queue *q,
                                  const struct task_match_key *key)
{
    if (__builtin_expect(q->lookup || q->count > LONG || kind > TASK_QUEUE_UNEXPECTED, 0))
        return find_more(mpi, kind, q, key);
    return kind == TASK_QUEUE_POSTED ? list_find(mpi, TASK_QUEUE_POSTED, q, key)
                                     : list_find(mpi, TASK_QUEUE_UNEXPECTED, q, key);
}

static __attribute__((noinline)) void long_take(struct task_mpi *mpi, enum task_queue_kind kind,
                                                struct task_queue *q, const struct task_found *found)
{
    task_lookup_remove(lookup_of(mpi, q), found->before);
    if (q->count <= SHORT)
        shorten(mpi, kind, q);
}

/* Calls nothing but at its end. */
void task_queue_take(struct task_mpi *mpi, enum task_queue_kind kind, struct task_queue *q,
                     const struct task_found *found)
{
    q->count--;
    if (__builtin_expect(q->lookup, 0)) {
        long_take(mpi, kind, q, found);
        return;
    }
    uint32_t next = *link_of(mpi, kind, found->item);
    *(found->before ? link_of(mpi, kind, found->before) : &q->first) = next;
    if (q->last == found->item)
        q->last = found->before;
}

bool task_queue_remove(struct task_mpi *mpi, enum task_queue_kind kind, struct task_queue *q, uint32_t item)
{
    struct task_found found = {.item = item};
    if (q->lookup) {
        found.before = *link_of(mpi, kind, item);
    } else {
        uint32_t at = q->first;
        for (; at && at != item; at = *link_of(mpi, kind, at))
            found.before = at;
        if (!at)
            return false;
    }
    task_queue_take(mpi, kind, q, &found);
    return true;
}

uint32_t *task_queue_items(const struct task_mpi *mpi, enum task_queue_kind kind, const struct task_queue *q)
{
    uint32_t *all = ker_alloc(((size_t)q->count + 1) * sizeof *all), count = 0;
    for (uint32_t item = q->first; item; item = *link_of(mpi, kind, item))
        all[count++] = item;
    for (uint32_t name = 0; q->lookup && (name = task_lookup_next(lookup_of(mpi, q), name));)
        all[count++] = task_lookup_item(lookup_of(mpi, q), name);
    ker_assert(count == q->count);
    return all;
}
