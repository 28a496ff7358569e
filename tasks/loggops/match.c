/* match.c - messages meet receives: of those that fit, the first in its list.
 *
 * A list that is walked beyond LONG of its entries is looked up from then on (tasks/mpi/lookup.h), until
 * it is empty: so an entry costs the same however long the list is. A message that any receive takes whatever
 * its tag (GOAL has such) cannot be looked up as it has no key; where one is involved lists are walked.
 */
#include "tasks/loggops/model.h"
#include "tasks/mpi/mpi.h"

#include <stdlib.h>

#define LONG 64

enum which { POSTED, UNEXPECTED }; /* a constant wherever it is given: functions are made for each */
#define FOR_EACH static inline __attribute__((always_inline))

struct slot {
    uint32_t reserved;
    struct task_lookup *lookup;
};

void loggops_match_init(struct loggops_system *s)
{
    ker_chunks_init(&s->lookups, sizeof(struct slot));
    s->posted.free = KER_NONE;
}

void loggops_match_free(struct loggops_system *s)
{
    for (uint32_t i = 1; i < s->lookups.used; i++)
        task_lookup_free(((struct slot *)ker_chunks_at(&s->lookups, i))->lookup);
    ker_chunks_release(&s->lookups);
    KER_POOL_RELEASE(&s->posted);
}

FOR_EACH uint32_t *next_of(struct loggops_system *s, enum which which, uint32_t item)
{
    return which == POSTED ? &s->posted.at[item].next : &loggops_event_at(s, item)->next;
}

/* The source of a message as the job's tasks are numbered. */
static uint32_t source_of(const struct loggops_system *s, const struct loggops_process *p,
                          const struct loggops_event *m)
{
    return m->origin - s->job[p->job].first;
}

static bool fits(uint32_t peer, uint32_t wanted, uint32_t source, uint32_t tag)
{
    return (peer == source || peer == GRAPH_ANY) &&
           (wanted == tag || wanted == GRAPH_ANY || tag == GRAPH_ANY);
}

/* ---- looked up: GRAPH_ANY is TASK_ANY ---- */

static struct task_lookup *lookup_of(struct loggops_system *s, const struct loggops_list *l)
{
    return ((struct slot *)ker_chunks_at(&s->lookups, l->lookup))->lookup;
}

static struct task_match_key key_of(uint32_t peer, uint32_t tag)
{
    return (struct task_match_key){.comm = 1, .source = (int32_t)peer, .tag = (int32_t)tag};
}

static struct task_match_key item_key(struct loggops_system *s, const struct loggops_process *p,
                                      enum which which, uint32_t item)
{
    if (which == POSTED)
        return key_of(s->posted.at[item].peer, s->posted.at[item].tag);
    const struct loggops_event *m = loggops_event_at(s, item);
    return key_of(source_of(s, p, m), m->tag);
}

FOR_EACH void list_append(struct loggops_system *s, enum which which, struct loggops_list *l, uint32_t item)
{
    *next_of(s, which, item) = KER_NONE;
    if (l->first == KER_NONE)
        l->first = item;
    else
        *next_of(s, which, l->last) = item;
    l->last = item;
}

FOR_EACH void list_remove(struct loggops_system *s, enum which which, struct loggops_list *l,
                          uint32_t previous, uint32_t item)
{
    uint32_t next = *next_of(s, which, item);
    if (previous == KER_NONE)
        l->first = next;
    else
        *next_of(s, which, previous) = next;
    if (l->last == item)
        l->last = previous;
}

static void lookup_add(struct loggops_system *s, const struct loggops_process *p, enum which which,
                       const struct loggops_list *l, uint32_t item)
{
    struct task_match_key key = item_key(s, p, which, item);
    task_lookup_add(lookup_of(s, l), item, &key);
}

static void lookup_begin(struct loggops_system *s, const struct loggops_process *p, enum which which,
                         struct loggops_list *l)
{
    l->lookup = ker_chunks_take(&s->lookups);
    struct slot *slot = ker_chunks_at(&s->lookups, l->lookup);
    slot->lookup = task_lookup_new(which == POSTED, false, &s->steps);
    for (uint32_t i = l->first; i != KER_NONE; i = *next_of(s, which, i))
        lookup_add(s, p, which, l, i);
    l->first = l->last = KER_NONE;
}

static void lookup_end(struct loggops_system *s, enum which which, struct loggops_list *l)
{
    struct slot *slot = ker_chunks_at(&s->lookups, l->lookup);
    for (uint32_t name = 0; (name = task_lookup_next(slot->lookup, name)) != 0;)
        list_append(s, which, l, task_lookup_item(slot->lookup, name));
    task_lookup_free(slot->lookup);
    slot->lookup = NULL;
    ker_chunks_give(&s->lookups, l->lookup);
    l->lookup = 0;
}

/* The first that fits, out of the list; KER_NONE: none does. */
static uint32_t lookup_take(struct loggops_system *s, enum which which, struct loggops_list *l, uint32_t peer,
                            uint32_t tag)
{
    struct task_lookup *lookup = lookup_of(s, l);
    struct task_match_key key = key_of(peer, tag);
    uint32_t name = task_lookup_find(lookup, &key);
    if (!name)
        return KER_NONE;
    uint32_t item = task_lookup_item(lookup, name);
    task_lookup_remove(lookup, name);
    if (!task_lookup_next(lookup, 0))
        lookup_end(s, which, l);
    return item;
}

/* ---- lists ---- */

FOR_EACH bool item_fits(struct loggops_system *s, const struct loggops_process *p, enum which which,
                        uint32_t item, uint32_t peer, uint32_t tag)
{
    if (which == POSTED)
        return fits(s->posted.at[item].peer, s->posted.at[item].tag, peer, tag);
    const struct loggops_event *m = loggops_event_at(s, item);
    return fits(peer, tag, source_of(s, p, m), m->tag);
}

/* peer and tag: of the message that looks for a receive, or of the receive that looks for a message. */
FOR_EACH uint32_t take(struct loggops_system *s, const struct loggops_process *p, enum which which,
                       struct loggops_list *l, uint32_t peer, uint32_t tag)
{
    uint32_t previous = KER_NONE, passed = 0, item;
    bool any_takes_it = which == POSTED && tag == GRAPH_ANY;
    if (l->lookup && any_takes_it)
        lookup_end(s, which, l);
    if (l->lookup)
        return lookup_take(s, which, l, peer, tag);
    for (item = l->first; item != KER_NONE; previous = item, item = *next_of(s, which, item), passed++)
        if (item_fits(s, p, which, item, peer, tag)) {
            list_remove(s, which, l, previous, item);
            l->odd = l->odd && l->first != KER_NONE;
            break;
        }
    s->steps += passed;
    if (passed > LONG && !any_takes_it && !l->odd)
        lookup_begin(s, p, which, l);
    return item;
}

FOR_EACH void append(struct loggops_system *s, const struct loggops_process *p, enum which which,
                     struct loggops_list *l, uint32_t item)
{
    if (which == UNEXPECTED && loggops_event_at(s, item)->tag == GRAPH_ANY) {
        if (l->lookup)
            lookup_end(s, which, l);
        l->odd = true;
    }
    if (__builtin_expect(l->lookup, 0))
        lookup_add(s, p, which, l, item);
    else
        list_append(s, which, l, item);
}

uint32_t loggops_match_receive(struct loggops_system *s, struct loggops_process *p, uint32_t number,
                               const struct graph_op *op)
{
    uint32_t message = take(s, p, UNEXPECTED, &p->unexpected, op->peer, op->tag);
    if (message != KER_NONE)
        return message;
    uint32_t new = KER_POOL_TAKE(&s->posted, NULL);
    s->posted.at[new] = (struct loggops_posted){.op = number, .peer = op->peer, .tag = op->tag};
    append(s, p, POSTED, &p->posted, new);
    return KER_NONE;
}

bool loggops_match_message(struct loggops_system *s, struct loggops_process *p, uint32_t message,
                           uint32_t *receive)
{
    const struct loggops_event *m = loggops_event_at(s, message);
    uint32_t posted = take(s, p, POSTED, &p->posted, source_of(s, p, m), m->tag);
    if (posted == KER_NONE) {
        append(s, p, UNEXPECTED, &p->unexpected, message);
        return false;
    }
    *receive = s->posted.at[posted].op;
    KER_POOL_GIVE(&s->posted, posted);
    return true;
}

uint32_t *loggops_match_left(struct loggops_system *s, const struct loggops_process *p, bool messages,
                             uint32_t *count)
{
    enum which which = messages ? UNEXPECTED : POSTED;
    const struct loggops_list *l = messages ? &p->unexpected : &p->posted;
    uint32_t *items = NULL, room = 0;
    *count = 0;
    for (uint32_t i = l->first; i != KER_NONE; i = *next_of(s, which, i))
        *KER_PUSH(items, *count, room) = i;
    for (uint32_t name = 0; l->lookup && (name = task_lookup_next(lookup_of(s, l), name)) != 0;)
        *KER_PUSH(items, *count, room) = task_lookup_item(lookup_of(s, l), name);
    return items;
}
