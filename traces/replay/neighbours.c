/* neighbours.c - a task's neighbours in the topologies of its communicators, as MPI's collectives among
 * neighbours have them.
 *
 * In a grid a task has two neighbours in each dimension, first the one below; what it sends down is to the
 * other what comes from above. In a graph there may be several edges between two tasks: the k-th that one
 * lists as going out is the k-th that the other lists as coming in. A tag says which: it is the number of the
 * sender's neighbour in a grid, and k in a graph.
 */
#include "traces/replay/replay.h"

#include <stdlib.h>
#include <string.h>

struct place {
    int32_t comm; /* the job's; ascending */
    struct task_neighbours n;
    int32_t *memory; /* the lists of n */
};

struct replay_neighbours {
    uint32_t count;
    struct place place[];
};

/* Which of the edges with its rank each one is. */
static void tags_of_edges(const int32_t *rank, int32_t *tag, uint32_t count)
{
    uint64_t *edge = ker_alloc((count + 1ull) * sizeof *edge);
    for (uint32_t i = 0; i < count; i++)
        edge[i] = (uint64_t)(uint32_t)rank[i] << 32 | i;
    qsort(edge, count, sizeof *edge, ker_order_u64);
    for (uint32_t i = 0, before = 0; i < count; i++) {
        before = i && edge[i] >> 32 == edge[i - 1] >> 32 ? before + 1 : 0;
        tag[(uint32_t)edge[i]] = (int32_t)before;
    }
    free(edge);
}

static void tags_of_grid(int32_t *source_tag, int32_t *destination_tag, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        destination_tag[i] = (int32_t)i;
        source_tag[i] = (int32_t)(i ^ 1);
    }
}

static size_t place_bytes(uint32_t in, uint32_t out)
{
    return 2 * ((size_t)in + out) * sizeof(int32_t);
}

/* Lists to be filled. */
static void place_begin(struct place *place, uint32_t in, uint32_t out)
{
    int32_t *source = ker_alloc(place_bytes(in, out)), *destination = source + in,
            *source_tag = destination + out, *destination_tag = source_tag + in;
    place->memory = source;
    place->n = (struct task_neighbours){in, out, source, source_tag, destination, destination_tag};
}

static enum ker_status place_make(struct place *place, const struct mars_comm *c, int32_t size)
{
    uint32_t in = c->in, out = c->out;
    place_begin(place, in, out);
    int32_t *source = place->memory, *destination = source + in, *source_tag = destination + out,
            *destination_tag = source_tag + in;
    for (uint32_t i = 0; i < in + out; i++) {
        int32_t rank = mars_rank_at(&c->neighbour, i);
        if (rank < -1 || rank >= size)
            return KER_BAD_INPUT;
        source[i] = rank < 0 ? TASK_PROC_NULL : rank;
    }
    if (c->topology == MARS_CART && (in != out || in % 2 != 0))
        return KER_BAD_INPUT;
    if (c->topology == MARS_CART) {
        tags_of_grid(source_tag, destination_tag, in);
    } else {
        tags_of_edges(source, source_tag, in);
        tags_of_edges(destination, destination_tag, out);
    }
    return KER_OK;
}

KER_ORDER_BY(place_compare, struct place, comm)

static bool has_topology(const struct mars_task *task, const int32_t *comm, uint32_t i)
{
    return comm[i] >= 0 && task->comm[i]->topology != MARS_PLAIN;
}

struct replay_neighbours *replay_neighbours_new(const struct mars_task *task, const int32_t *comm,
                                                const struct task_comm *comms, const char *path,
                                                struct ker_error *error)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < task->comms; i++)
        count += has_topology(task, comm, i);
    struct replay_neighbours *all = ker_alloc(sizeof *all + count * sizeof *all->place);
    for (uint32_t i = 1; i < task->comms; i++) {
        if (!has_topology(task, comm, i))
            continue;
        struct place *place = &all->place[all->count++];
        place->comm = comm[i];
        if (place_make(place, task->comm[i], comms[comm[i]].size) == KER_OK)
            continue;
        ker_fail(error, KER_BAD_INPUT, "%s: task %u, communicator %u: its neighbours are not ranks 0 to %d",
                 path, task->number, i, (int)comms[comm[i]].size - 1);
        replay_neighbours_free(all);
        return NULL;
    }
    qsort(all->place, all->count, sizeof *all->place, place_compare);
    return all;
}

/* As bytes: what precedes each place's lists. */
struct packed_place {
    int32_t comm;
    uint32_t in, out;
};

uint8_t *replay_neighbours_pack(const struct replay_neighbours *all, size_t *bytes)
{
    struct ker_bytes packed = {0};
    for (uint32_t i = 0; i < all->count; i++) {
        const struct place *place = &all->place[i];
        struct packed_place head = {place->comm, place->n.in, place->n.out};
        ker_bytes_add(&packed, &head, sizeof head);
        ker_bytes_add(&packed, place->memory, place_bytes(head.in, head.out));
    }
    *bytes = packed.used;
    return packed.byte;
}

struct replay_neighbours *replay_neighbours_unpack(const uint8_t *at, size_t bytes)
{
    const uint8_t *end = at + bytes;
    struct packed_place head;
    uint32_t count = 0;
    for (const uint8_t *next = at; next < end; next += sizeof head + place_bytes(head.in, head.out)) {
        memcpy(&head, next, sizeof head);
        count++;
    }
    struct replay_neighbours *all = ker_alloc(sizeof *all + count * sizeof *all->place);
    while (all->count < count) {
        struct place *place = &all->place[all->count++];
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        place->comm = head.comm;
        place_begin(place, head.in, head.out);
        memcpy(place->memory, at, place_bytes(head.in, head.out));
        at += place_bytes(head.in, head.out);
    }
    return all;
}

void replay_neighbours_free(struct replay_neighbours *all)
{
    for (uint32_t i = 0; all && i < all->count; i++)
        free(all->place[i].memory);
    free(all);
}

const struct task_neighbours *replay_neighbours_of(const struct replay_neighbours *all, int32_t comm)
{
    const struct place wanted = {.comm = comm},
                       *place = bsearch(&wanted, all->place, all->count, sizeof wanted, place_compare);
    return place ? &place->n : NULL;
}
