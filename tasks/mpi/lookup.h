/* lookup.h - the entries of a long queue, found by what they fit, with their places in the queue.
 *
 * A queue of messages is asked for the first that fits a pattern (a receive), one of receives for the first
 * whose pattern fits a message; a pattern has any source or any tag, or both, or neither. Each question costs
 * a few look-ups in a hash table, however long the queue is; so does adding and removing an entry. How many
 * entries a search from the queue's beginning would have looked at, costs O(log n) more, and only where that
 * is wanted.
 *
 * Memory: 72 bytes an entry, 37 for each different key of those in the queue.
 */
#pragma once

#include "traces/traces.h"

struct task_match_key {
    uint32_t comm; /* 1 + communicator */
    uint32_t call, start;
    int32_t source, tag; /* TASK_ANY in patterns */
};

static inline bool task_key_fits(const struct task_match_key *pattern, const struct task_match_key *key)
{
    return pattern->comm == key->comm && (pattern->tag == TASK_ANY || pattern->tag == key->tag) &&
           (pattern->source == TASK_ANY || pattern->source == key->source) && pattern->call == key->call &&
           pattern->start == key->start;
}

struct task_lookup;

/* patterns: the entries are patterns. counts: task_lookup_place will be asked for. steps: counts what is
 * looked at, for tests. */
struct task_lookup *task_lookup_new(bool patterns, bool counts, uint64_t *steps);
void task_lookup_free(struct task_lookup *);
/* Adds the last entry of the queue; returns its name, which is not 0. */
uint32_t task_lookup_add(struct task_lookup *, uint32_t item, const struct task_match_key *);
void task_lookup_remove(struct task_lookup *, uint32_t name);
/* The first entry that fits; 0: there is none. */
uint32_t task_lookup_find(struct task_lookup *, const struct task_match_key *);
/* Counts entries up to this one. */
uint32_t task_lookup_place(struct task_lookup *, uint32_t name);
uint32_t task_lookup_item(const struct task_lookup *, uint32_t name);
/* The entry behind this one, 0: the first; 0: that was the last. */
uint32_t task_lookup_next(const struct task_lookup *, uint32_t name);
