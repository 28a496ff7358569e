/* flood.h - private to routing/: how far all switches are from up to 512 destinations at once.
 *
 * A flood holds one bit per destination and switch for everything it knows: is the switch reached, is the
 * distance's digit of that value set, does a path down lead from here. So a question about a link is answered
 * for 512 destinations by a few operations on 64 bytes.
 */
#pragma once

#include "routing/tables/wires.h"

#define ROUTE_FLOOD_WORDS 8
#define ROUTE_FLOOD_BITS (64 * ROUTE_FLOOD_WORDS)
/* A bit for each destination. Handed over by address: how vectors are returned depends on the processor. */
typedef uint64_t route_wide __attribute__((vector_size(8 * ROUTE_FLOOD_WORDS)));

struct route_flood;
/* After each step of a search: this many switches, f->list, have destinations in f->front, which are at this
 * distance. false: that is far enough. */
typedef bool route_flood_look(void *context, const struct route_flood *f, uint32_t distance, uint32_t active);

struct route_flood {
    const struct route_wires *wires;
    const uint32_t *weight;   /* per link; NULL: all are 1 */
    const uint32_t *depth;    /* per switch; not NULL: only paths up (to less depth), then down */
    const uint32_t *by_depth; /* the switches by depth */
    route_flood_look *look;   /* may be NULL */
    void *context;
    uint32_t count;         /* destinations of the last search */
    const uint32_t *hop_of; /* not NULL: answers are in `hop`, per link which of these */
    const route_wide *hop;
    bool exact; /* all digits of distances are there, not only the last two */
    unsigned digits, digits_room;
    route_wide *digit[64];    /* of the distance, per switch */
    route_wide *seen, *below; /* per switch: reached; there is a path down (with depth) */
    route_wide *front, *next;
    uint32_t *list, *next_list; /* switches whose front is not empty */
    uint32_t most_links;        /* from a switch with endpoints, of all searches without weights so far */
    size_t bytes;               /* of one array */
};

void route_flood_init(struct route_flood *, const struct route_wires *, const uint32_t *weight,
                      const uint32_t *depth, const uint32_t *by_depth);
void route_flood_release(struct route_flood *);
/* From up to ROUTE_FLOOD_BITS switches, of which some may be equal. */
void route_flood_search(struct route_flood *, const uint32_t *to, uint32_t count);
/* With an order: only f->seen, who is reached at all; costs no more than one step of a search. */
void route_flood_reach(struct route_flood *, const uint32_t *to, uint32_t count);
/* With weights: for each of `count` destinations the distances found by a search of its own, and the switches
 * reached, nearest first. */
void route_flood_begin(struct route_flood *, uint32_t count);
void route_flood_take(struct route_flood *, uint32_t bit, const uint64_t *distance, const uint32_t *order,
                      uint32_t reached);

/* What was found is the front now. */
static inline void route_flood_swap(struct route_flood *f)
{
    route_wide *front = f->front;
    uint32_t *list = f->list;
    f->front = f->next;
    f->next = front;
    f->list = f->next_list;
    f->next_list = list;
}

/* The bits of all destinations. */
static inline void route_flood_all(uint32_t count, route_wide *all)
{
    for (uint32_t i = 0; i < ROUTE_FLOOD_WORDS; i++)
        (*all)[i] = count >= 64 * (i + 1) ? UINT64_MAX : count > 64 * i ? (1ull << (count - 64 * i)) - 1 : 0;
}

static inline bool route_wide_any(const route_wide *a)
{
    uint64_t any = 0;
    for (int i = 0; i < ROUTE_FLOOD_WORDS; i++)
        any |= (*a)[i];
    return any != 0;
}

/* The destinations to which a path from `at` begins with this link, one of its own. */
static inline void route_flood_hop(const struct route_flood *f, uint32_t at, uint32_t link, route_wide *hop)
{
    uint32_t peer = f->wires->to[link];
    if (f->hop_of) {
        *hop = f->hop[f->hop_of[link]];
        return;
    }
    if (!f->exact) { /* neighbours' distances differ by one at most, so that their last digits determine all
                      */
        route_wide low = f->digit[0][at] ^ f->digit[0][peer];
        *hop = low & ~(f->digit[1][at] ^ f->digit[1][peer] ^ f->digit[0][peer]);
        return;
    }
    uint64_t weight = f->weight ? f->weight[link] : 1;
    route_wide same = f->seen[at] & f->seen[peer], carry = {0};
    if (f->depth)
        same &= f->depth[peer] > f->depth[at] ? f->below[at] & f->below[peer] : ~f->below[at];
    for (unsigned i = 0; i < f->digits; i++) { /* distance[at] == distance[peer] + weight */
        route_wide a = f->digit[i][peer], b = {0};
        b -= weight >> i & 1;
        same &= ~(f->digit[i][at] ^ a ^ b ^ carry);
        carry = (a & b) | (carry & (a ^ b));
    }
    same &= ~carry;
    if (f->digits < 64 && weight >> f->digits)
        same ^= same;
    *hop = same;
}
