/* joint.c - what all tasks have to know of all tasks' calls on files: see files.h.
 *
 * The files' names, how far each is read, which bytes each rank of a communicator accesses in its collective
 * calls, and in which order tasks have used shared pointers.
 *
 * Invariant: everything here is the same on every rank of the simulator.
 */
#include "traces/replay/files.h"

#include <stdlib.h>
#include <string.h>

struct piece {
    struct store_run run;
    uint64_t before; /* bytes of the item before it */
};

struct replay_joint {
    struct task_names names;
    uint32_t *number; /* of each name */
    uint64_t *exists;
    int32_t *twin; /* of each communicator */
    struct replay_item *item;
    size_t items, item_room;
    struct piece *piece;
    size_t pieces, piece_room;
    struct replay_together *together;
    size_t togethers, together_room;
};

/* ---- files ---- */

/* The same in all jobs, apart from the numbers of generators; two of a trace differ. */
static uint32_t number_of(const struct replay_joint *j, uint32_t index)
{
    const char *name = j->names.name[index];
    uint32_t number = (uint32_t)ker_hash_bytes(name, strlen(name)) | 1u << 31;
    for (uint32_t i = 0; i < index;)
        if (j->number[i++] == number) {
            number = (number + 1) | 1u << 31;
            i = 0;
        }
    return number;
}

static void names_share(struct replay_joint *j, const struct replay_found_files *g, struct ker_comm *comm)
{
    for (uint32_t i = 0; i < g->count; i++)
        task_names_add(&j->names, g->file[i].name);
    task_names_share(&j->names, comm);
    int64_t *exists = ker_alloc((j->names.count + (size_t)1) * sizeof *exists);
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t place = task_names_place(&j->names, g->file[i].name);
        if ((int64_t)g->file[i].furthest > exists[place])
            exists[place] = (int64_t)g->file[i].furthest;
    }
    ker_comm_max_i64(comm, exists, j->names.count);
    j->number = ker_alloc((j->names.count + (size_t)1) * sizeof *j->number);
    j->exists = ker_alloc((j->names.count + (size_t)1) * sizeof *j->exists);
    for (uint32_t i = 0; i < j->names.count; i++) {
        j->number[i] = number_of(j, i);
        j->exists[i] = (uint64_t)exists[i];
    }
    free(exists);
}

/* What the configuration says of files that the trace has. */
void replay_joint_lengths(struct replay_joint *j, const struct ker_config *config)
{
    for (int i = 0; i < ker_config_count(config, "storage.files"); i++) {
        const char *name = ker_config_string(config, KER_KEY("storage.files[%d].name", i));
        uint32_t place = task_names_place(&j->names, name);
        if (place < j->names.count && strcmp(j->names.name[place], name) == 0)
            j->exists[place] = ker_config_bytes(config, KER_KEY("storage.files[%d].bytes", i));
    }
}

uint32_t replay_joint_file(const struct replay_joint *j, const char *name, size_t length, uint64_t *exists)
{
    char *text = ker_format("%.*s", (int)length, name);
    uint32_t place = task_names_place(&j->names, text);
    free(text);
    ker_assert(place < j->names.count);
    *exists = j->exists[place];
    return j->number[place];
}

/* ---- communicators ---- */

/* Messages of collective accesses must not meet those of the program. */
static void twins_make(struct replay_joint *j, int64_t *opened, struct replay_comms *comms,
                       struct ker_comm *comm)
{
    int32_t known = comms->count, count = known;
    ker_comm_max_i64(comm, opened, (size_t)known);
    j->twin = ker_alloc((size_t)known * sizeof *j->twin);
    for (int32_t i = 0; i < known; i++)
        j->twin[i] = opened[i] && comms->comm[i].size > 1 ? count++ : i;
    comms->comm = ker_realloc(comms->comm, (size_t)count * sizeof *comms->comm);
    for (int32_t i = 0; i < known; i++)
        comms->comm[j->twin[i]] = comms->comm[i];
    comms->count = count;
}

int32_t replay_joint_comm(const struct replay_joint *j, int32_t comm)
{
    return j->twin[comm];
}

/* ---- what is done together ---- */

static int key_compare(const struct replay_joint_key *a, const struct replay_joint_key *b)
{
    return KER_ORDER(a, b, comm, nth, shared, call);
}

static int item_compare(const void *a, const void *b)
{
    const struct replay_item *x = a, *y = b;
    return key_compare(&x->key, &y->key) ?: KER_ORDER(x, y, rank);
}

/* Uses of a shared pointer: between two collective ones in the order of their ends, those by all by ranks. */
static int turn_compare(const void *a, const void *b)
{
    const struct replay_item *x = a, *y = b;
    int by = KER_ORDER(x, y, key.comm, key.nth, key.shared, turn) ?: KER_ORDER(x, y, all);
    by = by || x->all ? by : KER_ORDER(x, y, time);
    return by ?: KER_ORDER(x, y, rank, key.call);
}

/* Where the pointer was at each use. */
static void pointers_follow(struct replay_item *item, size_t count)
{
    int64_t at = 0, before = 0; /* before: the collective use that moves it */
    for (size_t i = 0; i < count; i++) {
        struct replay_item *x = &item[i];
        const struct replay_item *last = i ? &item[i - 1] : x;
        if (!x->key.shared)
            continue;
        if (i == 0 || last->key.comm != x->key.comm || last->key.nth != x->key.nth || !last->key.shared)
            at = before = 0;
        int64_t units = x->units;
        if (x->sets) { /* all say the same */
            before = last->sets && last->turn == x->turn && i ? before : at;
            at = x->relative ? before + units : units;
            continue;
        }
        x->units = at;
        at = at < INT64_MAX / 2 ? at + units : at;
    }
}

/* Of one that has runs. */
static uint64_t item_end(const struct replay_joint *j, const struct replay_item *x)
{
    return store_run_end(&j->piece[x->first + x->runs - 1].run);
}

static void together_add(struct replay_joint *j, size_t index)
{
    const struct replay_item *x = &j->item[index];
    struct replay_together *last = j->togethers ? &j->together[j->togethers - 1] : NULL;
    if (!last || key_compare(&last->key, &x->key) != 0) {
        last = KER_PUSH(j->together, j->togethers, j->together_room);
        *last = (struct replay_together){.key = x->key, .first = index, .low = UINT64_MAX};
    }
    last->count++;
    if (!x->runs)
        return;
    uint64_t low = j->piece[x->first].run.offset, high = item_end(j, x);
    const struct replay_item *below = last->count > 1 ? x - 1 : NULL;
    if (below && below->runs)
        last->interleaved |= low + 1 < item_end(j, below);
    last->low = low < last->low ? low : last->low;
    last->high = high > last->high ? high : last->high;
}

static void items_take(struct replay_joint *j, const char *all, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        struct replay_item *item = KER_PUSH(j->item, j->items, j->item_room);
        memcpy(item, all + at, sizeof *item);
        at += sizeof *item;
        item->first = j->pieces;
        uint64_t before = 0;
        for (uint64_t i = 0; i < item->runs; i++, at += sizeof(struct store_run)) {
            struct piece *piece = KER_PUSH(j->piece, j->pieces, j->piece_room);
            memcpy(&piece->run, all + at, sizeof piece->run);
            piece->before = before;
            before += piece->run.bytes * piece->run.count;
        }
    }
}

static void items_share(struct replay_joint *j, const struct ker_bytes *own, struct ker_comm *comm)
{
    size_t *offset;
    void *all;
    ker_comm_allgather(comm, own->byte, own->used, &all, &offset);
    items_take(j, all, offset[ker_comm_size(comm)]);
    free(all);
    free(offset);
    if (!j->items)
        return;
    qsort(j->item, j->items, sizeof *j->item, turn_compare);
    pointers_follow(j->item, j->items);
    qsort(j->item, j->items, sizeof *j->item, item_compare);
    for (size_t i = 0; i < j->items; i++)
        if (!j->item[i].key.shared)
            together_add(j, i);
}

static int together_compare(const void *key, const void *together)
{
    return key_compare(key, &((const struct replay_together *)together)->key);
}

struct replay_together *replay_joint_together(const struct replay_joint *j,
                                              const struct replay_joint_key *key)
{
    return bsearch(key, j->together, j->togethers, sizeof *j->together, together_compare);
}

int64_t replay_joint_pointer(const struct replay_joint *j, const struct replay_joint_key *key, int32_t rank)
{
    struct replay_item wanted = {.key = *key, .rank = rank};
    const struct replay_item *item = bsearch(&wanted, j->item, j->items, sizeof *j->item, item_compare);
    return item ? item->units : 0;
}

/* A rank's part; NULL: it has none. */
static const struct replay_item *item_of(const struct replay_joint *j, const struct replay_together *together,
                                         uint32_t rank)
{
    struct replay_item wanted = {.key = together->key, .rank = (int32_t)rank};
    const struct replay_item *first = &j->item[together->first];
    if (rank < together->count && first[rank].rank == (int32_t)rank)
        return &first[rank];
    return bsearch(&wanted, first, together->count, sizeof *first, item_compare);
}

/* The last of its pieces that begins at x or before; its first, if none does. */
static const struct piece *piece_at(const struct replay_joint *j, const struct replay_item *item, uint64_t x)
{
    const struct piece *piece = &j->piece[item->first];
    size_t low = KER_BISECT(i, 1, item->runs, piece[i].run.offset <= x) - 1;
    return &piece[low];
}

uint64_t replay_joint_below(const struct replay_joint *j, const struct replay_together *together,
                            uint32_t rank, uint64_t x)
{
    const struct replay_item *item = item_of(j, together, rank);
    if (!item || !item->runs)
        return 0;
    const struct piece *piece = piece_at(j, item, x);
    return piece->before + store_run_below(&piece->run, x);
}

/* From the first byte of a domain that any rank accesses to the last; empty: there is none. */
static struct trace_window window_find(const struct replay_joint *j, const struct replay_together *together,
                                       struct trace_window domain)
{
    struct trace_window found = {UINT64_MAX, 0};
    for (size_t i = 0; i < together->count; i++) {
        const struct replay_item *item = &j->item[together->first + i];
        if (!item->runs)
            continue;
        const struct piece *piece = piece_at(j, item, domain.from),
                           *end = &j->piece[item->first + item->runs];
        uint64_t first = replay_run_first(&piece->run, domain.from);
        if (first == UINT64_MAX && piece + 1 < end)
            first = piece[1].run.offset;
        uint64_t last = domain.to ? replay_run_last(&piece_at(j, item, domain.to - 1)->run, domain.to) : 0;
        found.from = first < found.from ? first : found.from;
        found.to = last > found.to ? last : found.to;
    }
    return found.from < found.to && found.from < domain.to ? found
                                                           : (struct trace_window){domain.to, domain.to};
}

void replay_joint_windows(const struct replay_joint *j, struct replay_together *together,
                          const struct trace_two_phase_call *call)
{
    if (together->window)
        return;
    together->window = ker_alloc(call->shared->aggregators * sizeof *together->window);
    for (uint32_t i = 0; i < call->shared->aggregators; i++)
        together->window[i] = window_find(j, together, trace_two_phase_domain(call, i));
}

struct replay_joint *replay_joint_new(const struct replay_found_files *found, struct replay_comms *comms,
                                      struct ker_comm *comm)
{
    struct replay_joint *j = ker_alloc(sizeof *j);
    names_share(j, found, comm);
    twins_make(j, found->opened, comms, comm);
    items_share(j, &found->items, comm);
    return j;
}

void replay_joint_free(struct replay_joint *j)
{
    if (!j)
        return;
    for (size_t i = 0; i < j->togethers; i++)
        free(j->together[i].window);
    task_names_release(&j->names);
    free(j->number);
    free(j->exists);
    free(j->twin);
    free(j->item);
    free(j->piece);
    free(j->together);
    free(j);
}
