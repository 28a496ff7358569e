/* check_comms.c - communicators: what their members say of them must be the same. */
#include "tools/marsconv/check.h"

#include <stdlib.h>

static const struct ker_table_kind kind = KER_TABLE_U64(struct check_comm);

struct check_comm *check_comm_find(struct check *c, uint64_t id)
{
    id = id ? id : 1;
    return ker_table_find(&kind, &c->comms, &id);
}

static uint64_t ranks_digest(const struct mars_ranks *ranks)
{
    uint64_t digest = ranks->count;
    for (uint32_t i = 0; i < ranks->count; i++)
        digest = ker_hash(digest ^ (uint32_t)mars_rank_at(ranks, i));
    return digest;
}

/* The same at both sides of an intercommunicator. */
static uint64_t members_digest(const struct mars_comm *comm)
{
    return ranks_digest(&comm->member) + (comm->inter ? ranks_digest(&comm->remote) : 0);
}

static uint32_t inside_count(const struct check *c, const struct mars_ranks *ranks)
{
    uint32_t inside = 0;
    for (uint32_t i = 0; i < ranks->count; i++)
        inside += (uint32_t)mars_rank_at(ranks, i) < c->source->tasks;
    return inside;
}

/* Members are tasks, each once. */
static void members_check(struct check *c, const struct conv_task *task, uint32_t number,
                          const struct mars_comm *comm)
{
    uint32_t tasks = c->source->tasks;
    bool *seen = ker_alloc(tasks);
    for (uint32_t i = 0; i < comm->member.count; i++) {
        int32_t member = mars_rank_at(&comm->member, i);
        if (member >= (int64_t)tasks || member < -1) {
            check_found(c, task->about->number, 0,
                        "communicator %u has task %d as rank %u; there are %u tasks", number, member, i,
                        tasks);
            break;
        }
        if (member >= 0 && seen[member]) {
            check_found(c, task->about->number, 0, "communicator %u has task %d twice", number, member);
            break;
        }
        if (member >= 0)
            seen[member] = true;
    }
    free(seen);
}

static void comm_add(struct check *c, const struct conv_task *task, uint32_t number)
{
    const struct mars_comm *comm = task->about->comm[number];
    uint32_t me = task->about->number;
    uint64_t id = comm->id ? comm->id : 1, members = members_digest(comm);
    bool is_new;
    struct check_comm *entry = ker_table_add(&kind, &c->comms, &id, &is_new);
    if (is_new) {
        *entry = (struct check_comm){.id = id,
                                     .members = members,
                                     .size = comm->member.count,
                                     .remote = comm->inter ? comm->remote.count : 0,
                                     .first = me,
                                     .inter = comm->inter};
        entry->inside = inside_count(c, &comm->member) + (comm->inter ? inside_count(c, &comm->remote) : 0);
        members_check(c, task, number, comm);
    } else if (entry->members != members) {
        check_found(c, me, 0, "communicator %u (id %016llx) has other members here than at task %u", number,
                    (unsigned long long)id, entry->first);
    }
    entry->known++;
    if (!comm->inter && mars_rank_at(&comm->member, (uint32_t)comm->rank) != (int64_t)me)
        check_found(c, me, 0, "communicator %u has task %d at the rank of this task, %d", number,
                    mars_rank_at(&comm->member, (uint32_t)comm->rank), comm->rank);
    if (number == 1 && comm->rank == 0) /* spawned tasks have a world of their own */
        c->worlds += comm->member.count;
}

void check_comms_add(struct check *c, const struct conv_task *task, uint32_t *known)
{
    for (; *known < task->about->comms && (task->about->comm[*known] || *known == 0); ++*known)
        if (*known > 0)
            comm_add(c, task, *known);
}

KER_ORDER_BY(comm_compare, struct check_comm, id)

uint32_t check_comms_unequal(struct check *c, struct check_comm *list)
{
    void **all = ker_table_sorted(&kind, &c->comms, comm_compare);
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->comms.count; i++) {
        const struct check_comm *comm = all[i];
        if (!comm->differs && comm->sent != comm->received)
            list[count++] = *comm;
    }
    free(all);
    return count;
}

void check_comms_end(struct check *c)
{
    if (!c->defined_partly && c->worlds != c->source->tasks)
        check_found(c, 0, 0, "MPI_COMM_WORLD has %llu members, the trace %u tasks",
                    (unsigned long long)c->worlds, c->source->tasks);
    void **all = ker_table_sorted(&kind, &c->comms, comm_compare);
    for (uint32_t i = 0; i < c->comms.count; i++) {
        const struct check_comm *comm = all[i];
        if (!c->defined_partly && comm->known != comm->inside)
            check_found(c, comm->first, 0,
                        "communicator %016llx has %u members that are tasks; %u tasks have it",
                        (unsigned long long)comm->id, comm->inside, comm->known);
    }
    free(all);
}
