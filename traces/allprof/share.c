/* share.c - what rank 0 has found out about communicators, on all ranks.
 *
 * Rank 0 alone gets the events of all tasks and resolves them. The others need the communicators, and of each
 * event its line and the communicator that it came to: 8 bytes instead of 72, until the own tasks are read.
 *
 * Member lists are shared by communicators (duplicates): they are sent once, and by their numbers.
 */
#include "traces/allprof/allprof.h"

#include <stdlib.h>

void allprof_uses_make(struct allprof_uses *uses, const struct allprof_events *files, uint32_t tasks)
{
    uses->first = ker_alloc((tasks + 1ull) * sizeof *uses->first);
    for (uint32_t task = 0; task < tasks; task++)
        uses->first[task + 1] = uses->first[task] + files[task].count;
    uses->use = ker_alloc(uses->first[tasks] * sizeof *uses->use);
    struct allprof_use *use = uses->use;
    for (uint32_t task = 0; task < tasks; task++)
        for (size_t i = 0; i < files[task].count; i++)
            *use++ = (struct allprof_use){files[task].event[i].line, files[task].event[i].comm};
}

void allprof_uses_release(struct allprof_uses *uses)
{
    free(uses->first);
    free(uses->use);
    *uses = (struct allprof_uses){0};
}

static void uses_broadcast(struct allprof_uses *uses, uint32_t tasks, struct ker_comm *comm)
{
    bool control = ker_comm_rank(comm) == 0;
    if (!control)
        uses->first = ker_alloc((tasks + 1ull) * sizeof *uses->first);
    ker_comm_broadcast(comm, uses->first, (tasks + 1ull) * sizeof *uses->first);
    if (!control)
        uses->use = ker_alloc(uses->first[tasks] * sizeof *uses->use);
    ker_comm_broadcast(comm, uses->use, uses->first[tasks] * sizeof *uses->use);
}

/* A communicator as it travels: list is the number of its members' list, or -1. */
struct sent_comm {
    int32_t size, list;
};

static int pointer_compare(const void *a, const void *b)
{
    const int32_t *const *x = a, *const *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Lists by their addresses, so that a communicator finds its own; in which order they are sent means nothing.
 */
static void comms_pack(const struct allprof_comms *comms, struct sent_comm *sent, int32_t *length)
{
    if (comms->owned_count)
        qsort(comms->owned, (size_t)comms->owned_count, sizeof *comms->owned, pointer_compare);
    for (int32_t i = 0; i < comms->count; i++) {
        const int32_t *member = comms->comm[i].member;
        int32_t *const *list = !member ? NULL
                                       : bsearch(&member, comms->owned, (size_t)comms->owned_count,
                                                 sizeof *comms->owned, pointer_compare);
        ker_assert(!member || list);
        sent[i] = (struct sent_comm){comms->comm[i].size, list ? (int32_t)(list - comms->owned) : -1};
        if (list)
            length[list - comms->owned] = comms->comm[i].size;
    }
}

static void comms_broadcast(struct allprof_comms *comms, struct ker_comm *comm)
{
    bool control = ker_comm_rank(comm) == 0;
    int32_t counts[2] = {comms->count, comms->owned_count};
    ker_comm_broadcast(comm, counts, sizeof counts);
    struct sent_comm *sent = ker_alloc((size_t)counts[0] * sizeof *sent);
    int32_t *length = ker_alloc((size_t)counts[1] * sizeof *length);
    if (control)
        comms_pack(comms, sent, length);
    ker_comm_broadcast(comm, sent, (size_t)counts[0] * sizeof *sent);
    ker_comm_broadcast(comm, length, (size_t)counts[1] * sizeof *length);
    if (!control)
        *comms = (struct allprof_comms){.count = counts[0],
                                        .room = counts[0],
                                        .owned_count = counts[1],
                                        .owned_room = counts[1],
                                        .comm = ker_alloc((size_t)counts[0] * sizeof *comms->comm),
                                        .owned = ker_alloc((size_t)counts[1] * sizeof *comms->owned)};
    for (int32_t i = 0; i < counts[1]; i++) {
        if (!control)
            comms->owned[i] = ker_alloc((size_t)length[i] * sizeof **comms->owned);
        ker_comm_broadcast(comm, comms->owned[i], (size_t)length[i] * sizeof **comms->owned);
    }
    for (int32_t i = 0; i < counts[0] && !control; i++)
        comms->comm[i] =
            (struct task_comm){sent[i].size, sent[i].list < 0 ? NULL : comms->owned[sent[i].list]};
    free(sent);
    free(length);
}

void allprof_share(struct allprof_uses *uses, struct allprof_comms *comms, uint32_t tasks,
                   struct ker_comm *comm)
{
    if (ker_comm_size(comm) == 1)
        return;
    uses_broadcast(uses, tasks, comm);
    comms_broadcast(comms, comm);
}
