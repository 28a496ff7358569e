/* pairs.h - what a rank's nodes remember of some of their partners: entries found by (endpoint, other
 * endpoint).
 *
 * An entry begins with struct net_pair; the rest is its owner's. Nothing is allocated before the first entry,
 * and what the owner calls idle is thrown out before the table grows. Entries move: a pointer is good until
 * the next net_pairs_add or net_pairs_drop.
 */
#ifndef NET_PAIRS_H
#define NET_PAIRS_H

#include "kernel/base/base.h"

#include <stdbool.h>

struct net_pair {
    uint32_t key; /* 1 + the endpoint */
    uint32_t other;
};
static inline uint32_t net_pair_endpoint(const struct net_pair *pair)
{
    return pair->key - 1;
}

/* Is the entry as good as none, whenever it is asked for from now on? */
typedef bool net_pair_idle(const void *context, const struct net_pair *);

struct net_pairs {
    struct ker_table table;
    size_t bytes; /* of an entry */
    net_pair_idle *idle;
};

void net_pairs_init(struct net_pairs *, size_t bytes, net_pair_idle *);
void net_pairs_release(struct net_pairs *);
void *net_pairs_find(const struct net_pairs *, uint32_t endpoint, uint32_t other); /* NULL: none */
/* A new entry, zeroed behind its net_pair; there must be none. */
void *net_pairs_add(struct net_pairs *, const void *context, uint32_t endpoint, uint32_t other);
void net_pairs_drop(struct net_pairs *, void *entry);
/* The entry after this one (NULL: the first), in no particular order; NULL: no more. */
void *net_pairs_next(const struct net_pairs *, const void *entry);

#endif
