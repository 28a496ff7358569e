/* pairs.c - a hash table, out of which idle entries are thrown before it grows: then it is at most a quarter
 * full.
 */
#include "net/adapter/adapter.h"

/* Whose keys are the two numbers that pairs begin with. */
#define KIND(t)                                                                                              \
    {                                                                                                        \
        (t)->bytes, ker_table_hash_u64, ker_table_same_u64                                                   \
    }

void net_pairs_init(struct net_pairs *t, size_t bytes, net_pair_idle *idle)
{
    *t = (struct net_pairs){.bytes = bytes, .idle = idle};
}

void net_pairs_release(struct net_pairs *t)
{
    ker_table_release(&t->table);
}

void *net_pairs_find(const struct net_pairs *t, uint32_t endpoint, uint32_t other)
{
    const struct ker_table_kind kind = KIND(t);
    return ker_table_find(&kind, &t->table, &(struct net_pair){endpoint + 1, other});
}

struct question {
    net_pair_idle *idle;
    const void *context;
};

static bool pair_stays(const void *question, const void *entry)
{
    const struct question *q = question;
    return !q->idle(q->context, entry);
}

void *net_pairs_add(struct net_pairs *t, const void *context, uint32_t endpoint, uint32_t other)
{
    const struct ker_table_kind kind = KIND(t);
    const struct net_pair key = {endpoint + 1, other};
    bool is_new;
    if (ker_table_full(&t->table))
        ker_table_keep(&kind, &t->table, pair_stays, &(struct question){t->idle, context});
    struct net_pair *pair = ker_table_add(&kind, &t->table, &key, &is_new);
    ker_check(is_new);
    *pair = key;
    return pair;
}

void net_pairs_drop(struct net_pairs *t, void *entry)
{
    const struct ker_table_kind kind = KIND(t);
    ker_table_drop(&kind, &t->table, entry);
}

void *net_pairs_next(const struct net_pairs *t, const void *entry)
{
    const struct ker_table_kind kind = KIND(t);
    return ker_table_next(&kind, &t->table, entry);
}
