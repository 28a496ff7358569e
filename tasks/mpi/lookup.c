/* lookup.c - a long queue as lists of those that fit alike.
 *
 * An entry is in one list for each form of question: with source and tag, with any source, with any tag,
 * with both. A receive is only in the list of its own form, so a message is looked for in four lists; a
 * message is in all that were asked for so far, and a form that is asked for the first time makes its
 * lists of what is there. All lists have the order of the queue, so the first entry that fits is the first of
 * a list, and of several lists the one with the lowest number. Numbers follow the order in which entries
 * came; when they are used up, the entries are numbered again, from 1: a binary indexed tree over the numbers
 * (P. Fenwick, A new data structure for cumulative frequency tables, Software: Practice and Experience 24(3),
 * 1994) counts those up to a number.
 */
#include "tasks/mpi/lookup.h"

#include <stdlib.h>

enum { ANY_SOURCE = 1, ANY_TAG = 2, FORMS = 4, ALL = FORMS, LISTS };

struct entry {
    uint32_t number, item; /* free: item is the next free one */
    struct {
        uint32_t before, after;
    } link[LISTS];
    struct task_match_key key;
};

struct list { /* of the entries that fit a key alike */
    struct task_match_key key;
    uint32_t first, last;
};

struct task_lookup {
    struct ker_table lists;
    struct entry *entry; /* from 1 on */
    uint32_t used, room, free;
    struct list all;
    uint32_t count, number; /* entries; the last number given */
    uint32_t *tree, most;   /* over numbers 1 to most; NULL: places are not asked for */
    bool patterns, counts;
    bool form[FORMS]; /* patterns: there have been some; messages: there are such lists */
    uint64_t *steps;
};

static uint64_t list_hash(const void *key)
{
    const struct task_match_key *k = key;
    uint64_t who = (uint64_t)(uint32_t)k->source << 32 | (uint32_t)k->tag,
             where = (uint64_t)k->call << 32 | (k->comm + k->start * 0x9e3779b9u);
    return ker_hash(who ^ ker_hash(where));
}

static bool list_same(const void *entry, const void *key)
{
    const struct task_match_key *a = entry, *b = key;
    return a->comm == b->comm && a->call == b->call && a->start == b->start && a->source == b->source &&
           a->tag == b->tag;
}

static const struct ker_table_kind lists = {sizeof(struct list), list_hash, list_same};

struct task_lookup *task_lookup_new(bool patterns, bool counts, uint64_t *steps)
{
    struct task_lookup *l = ker_alloc(sizeof *l);
    l->patterns = patterns;
    l->counts = counts;
    l->steps = steps;
    l->used = 1;
    return l;
}

void task_lookup_free(struct task_lookup *l)
{
    if (!l)
        return;
    ker_table_release(&l->lists);
    free(l->entry);
    free(l->tree);
    free(l);
}

/* ---- lists ---- */

static unsigned form_of(const struct task_match_key *key)
{
    return (key->source == TASK_ANY ? ANY_SOURCE : 0) | (key->tag == TASK_ANY ? ANY_TAG : 0);
}

static struct task_match_key key_in(const struct task_match_key *key, unsigned form)
{
    struct task_match_key k = *key;
    k.source = form & ANY_SOURCE ? TASK_ANY : k.source;
    k.tag = form & ANY_TAG ? TASK_ANY : k.tag;
    return k;
}

static void list_append(struct task_lookup *l, struct list *list, unsigned which, uint32_t name)
{
    ++*l->steps;
    l->entry[name].link[which].before = list->last;
    l->entry[name].link[which].after = 0;
    if (list->last)
        l->entry[list->last].link[which].after = name;
    else
        list->first = name;
    list->last = name;
}

static void list_take(struct task_lookup *l, struct list *list, unsigned which, uint32_t name)
{
    ++*l->steps;
    uint32_t before = l->entry[name].link[which].before, after = l->entry[name].link[which].after;
    *(before ? &l->entry[before].link[which].after : &list->first) = after;
    *(after ? &l->entry[after].link[which].before : &list->last) = before;
}

static void form_append(struct task_lookup *l, unsigned form, uint32_t name)
{
    struct task_match_key key = key_in(&l->entry[name].key, form);
    bool is_new;
    struct list *list = ker_table_add(&lists, &l->lists, &key, &is_new);
    if (is_new)
        *list = (struct list){.key = key};
    list_append(l, list, form, name);
}

static void form_take(struct task_lookup *l, unsigned form, uint32_t name)
{
    struct task_match_key key = key_in(&l->entry[name].key, form);
    struct list *list = ker_table_find(&lists, &l->lists, &key);
    list_take(l, list, form, name);
    if (!list->first)
        ker_table_drop(&lists, &l->lists, list);
}

/* ---- places ---- */

static void tree_add(struct task_lookup *l, uint32_t number, uint32_t change)
{
    for (uint64_t i = number; l->tree && i <= l->most; i += i & -i, ++*l->steps)
        l->tree[i] += change;
}

/* Every entry gets its place as its number. */
static void renumber(struct task_lookup *l)
{
    l->number = 0;
    for (uint32_t name = l->all.first; name; name = l->entry[name].link[ALL].after, ++*l->steps)
        l->entry[name].number = ++l->number;
    l->most = UINT32_MAX;
    if (!l->counts)
        return;
    l->most = l->count < UINT32_MAX / 4 ? 2 * l->count + 128 : UINT32_MAX - 1;
    free(l->tree);
    l->tree = ker_alloc(((size_t)l->most + 1) * sizeof *l->tree);
    for (uint32_t i = 1; i <= l->number; i++)
        l->tree[i] = 1;
    for (uint64_t i = 1; i <= l->most; i++, ++*l->steps)
        if (i + (i & -i) <= l->most)
            l->tree[i + (i & -i)] += l->tree[i];
}

uint32_t task_lookup_place(struct task_lookup *l, uint32_t name)
{
    ker_assert(l->counts);
    uint32_t place = 0;
    for (uint32_t i = l->entry[name].number; i; i &= i - 1, ++*l->steps)
        place += l->tree[i];
    return place;
}

/* ---- entries ---- */

static uint32_t entry_take(struct task_lookup *l)
{
    uint32_t name = l->free;
    if (name) {
        l->free = l->entry[name].item;
        return name;
    }
    KER_RESERVE(l->entry, l->room, (size_t)l->used + 1);
    return l->used++;
}

uint32_t task_lookup_add(struct task_lookup *l, uint32_t item, const struct task_match_key *key)
{
    if (l->number == l->most)
        renumber(l);
    uint32_t name = entry_take(l);
    struct entry *e = &l->entry[name];
    e->number = ++l->number;
    e->item = item;
    e->key = *key;
    l->count++;
    list_append(l, &l->all, ALL, name);
    tree_add(l, e->number, 1);
    if (l->patterns)
        l->form[form_of(key)] = true;
    for (unsigned form = 0; form < FORMS; form++)
        if (l->patterns ? form == form_of(key) : l->form[form])
            form_append(l, form, name);
    return name;
}

void task_lookup_remove(struct task_lookup *l, uint32_t name)
{
    struct entry *e = &l->entry[name];
    for (unsigned form = 0; form < FORMS; form++)
        if (l->patterns ? form == form_of(&e->key) : l->form[form])
            form_take(l, form, name);
    list_take(l, &l->all, ALL, name);
    tree_add(l, e->number, UINT32_MAX);
    l->count--;
    e->item = l->free;
    l->free = name;
}

static uint32_t list_first(struct task_lookup *l, const struct task_match_key *key)
{
    ++*l->steps;
    const struct list *list = ker_table_find(&lists, &l->lists, key);
    return list ? list->first : 0;
}

uint32_t task_lookup_find(struct task_lookup *l, const struct task_match_key *key)
{
    unsigned form = form_of(key);
    uint32_t best = 0;
    if (!l->patterns) {
        for (uint32_t name = l->form[form] ? 0 : l->all.first; name; name = l->entry[name].link[ALL].after)
            form_append(l, form, name);
        l->form[form] = true;
        return list_first(l, key);
    }
    for (form = 0; form < FORMS; form++) {
        struct task_match_key pattern = key_in(key, form);
        uint32_t name = l->form[form] ? list_first(l, &pattern) : 0;
        if (name && (!best || l->entry[name].number < l->entry[best].number))
            best = name;
    }
    return best;
}

uint32_t task_lookup_item(const struct task_lookup *l, uint32_t name)
{
    return l->entry[name].item;
}

uint32_t task_lookup_next(const struct task_lookup *l, uint32_t name)
{
    return name ? l->entry[name].link[ALL].after : l->all.first;
}
