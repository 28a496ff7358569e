/* comms.c - the communicators of a trace: what its tasks call by numbers of their own, by one number.
 *
 * Each communicator has an id in the trace, the same at all members. Ranks read the definitions of a share of
 * the tasks each, send each other what they have found, and sort it by the ids: so all have the same numbers.
 */
#include "traces/replay/replay.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* As it travels: a communicator as one task knows it, in front of its members. */
struct listed {
    uint64_t id;
    uint32_t task;
    int32_t size, remote; /* remote: of the other group; 0: there is none */
    int32_t unused;
};

/* How many ranks run i has. Groups are looked at run by run: that of all tasks is one, and each task has it.
 */
static inline uint32_t run_length(const struct mars_ranks *group, uint32_t i)
{
    return (i + 1 < group->runs ? group->run[i + 1].start : group->count) - group->run[i].start;
}

/* Tasks that follow each other: the first << 32 | number; 0: they do not. */
static uint64_t following(const struct mars_ranks *group)
{
    int64_t first = group->count ? group->run[0].first : -1;
    if (first < 0)
        return 0;
    for (uint32_t i = 0; i < group->runs; i++) /* two tasks are two runs of one */
        if (group->run[i].first != first + group->run[i].start ||
            (group->run[i].step != 1 && run_length(group, i) > 1))
            return 0;
    return (uint64_t)first << 32 | group->count;
}

static bool is_world(const struct mars_comm *c, uint32_t tasks)
{
    return following(&c->member) == tasks;
}

static bool group_is_inside(const struct mars_ranks *group, uint32_t tasks)
{
    if (group->count == 0 || group->count > INT_MAX / 2)
        return false;
    for (uint32_t i = 0; i < group->runs; i++) {
        int64_t first = group->run[i].first,
                last = first + (int64_t)group->run[i].step * (run_length(group, i) - 1);
        if (first < 0 || first >= tasks || last < 0 || last >= tasks)
            return false;
    }
    return true;
}

/* Of the groups of an intercommunicator, which are disjoint, the one with the lower first task comes first.
 */
static bool is_second(const struct mars_comm *c)
{
    return c->inter && mars_rank_at(&c->member, 0) > mars_rank_at(&c->remote, 0);
}

/* All its members are tasks of the trace, and this task is the one it says. */
static bool is_inside(const struct mars_comm *c, const struct mars_task *task, uint32_t tasks)
{
    if (c->rank < 0 || (uint32_t)c->rank >= c->member.count)
        return false;
    if (!group_is_inside(&c->member, tasks) || (c->inter && !group_is_inside(&c->remote, tasks)))
        return false;
    return mars_rank_at(&c->member, (uint32_t)c->rank) == (int32_t)task->number;
}

/* The lowest member that this rank of the simulator reads lists it. */
static bool is_lister(const struct mars_comm *c, const struct mars_task *task, uint32_t ranks)
{
    for (uint32_t i = 0; i < c->member.count; i++) {
        uint32_t member = (uint32_t)mars_rank_at(&c->member, i);
        if (member % ranks == task->number % ranks && member < task->number)
            return false;
    }
    return true;
}

static void members_add(struct ker_bytes *listed, const struct mars_ranks *group)
{
    for (uint32_t m = 0; m < group->count; m++) {
        int32_t member = mars_rank_at(group, m);
        ker_bytes_add(listed, &member, sizeof member);
    }
}

static void listed_add(struct ker_bytes *listed, const struct mars_comm *c, uint32_t number, uint32_t tasks)
{
    bool second = is_second(c), world = !c->inter && is_world(c, tasks);
    const struct mars_ranks *first = second ? &c->remote : &c->member,
                            *other = second ? &c->member : &c->remote;
    struct listed head = {.id = c->id, .task = number, .size = world ? 0 : (int32_t)first->count};
    if (c->inter)
        head.remote = (int32_t)other->count;
    ker_bytes_add(listed, &head, sizeof head);
    if (!world)
        members_add(listed, first);
    if (c->inter)
        members_add(listed, other);
    if ((head.size + head.remote) % 2) /* what follows is aligned */
        ker_bytes_add(listed, &(int32_t){0}, sizeof(int32_t));
}

#define WRONG_WORLD                                                                                          \
    "%s: MPI_COMM_WORLD of task %u has not the %u tasks of the trace: are files missing, or cut?"

/* Tasks that have been spawned have worlds of their own. Each task is in one of them. */
static enum ker_status worlds_agree(uint64_t *world, uint32_t tasks, const char *path, struct ker_comm *comm,
                                    struct ker_error *error)
{
    ker_comm_sum_u64(comm, world, tasks);
    for (uint32_t task = 0, end = 0; task < tasks; task++) {
        bool begins = task == end;
        uint64_t right = begins ? (uint64_t)task << 32 | (uint32_t)world[task] : world[task - 1];
        if (begins)
            end = task + (uint32_t)world[task];
        if (world[task] != right || end > tasks)
            return ker_fail(error, KER_BAD_INPUT, WRONG_WORLD, path, task, tasks);
    }
    return KER_OK;
}

static enum ker_status task_list(struct mars_trace *trace, uint32_t number, uint32_t ranks, const char *path,
                                 struct ker_bytes *listed, bool *aborts, uint64_t *world,
                                 struct ker_error *error)
{
    struct mars_error why = {0};
    struct mars_task *task;
    if (!mars_task_open(&task, trace, number, &why))
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    uint32_t tasks = mars_trace_tasks(trace);
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < task->functions; i++)
        *aborts |= task->function[i] && strcmp(task->function[i]->name, "MPI_Abort") == 0;
    *world = 0;
    if (task->comms > 1 && task->comm[1] && !task->comm[1]->inter && is_inside(task->comm[1], task, tasks))
        *world = following(&task->comm[1]->member);
    if (*world == 0)
        status = ker_fail(error, KER_BAD_INPUT, WRONG_WORLD, path, number, tasks);
    for (uint32_t i = 1; i < task->comms && status == KER_OK; i++) {
        const struct mars_comm *c = task->comm[i];
        if (!c || (i == 1 && is_world(c, tasks)) || !is_inside(c, task, tasks) || !is_lister(c, task, ranks))
            continue;
        listed_add(listed, c, number, tasks);
    }
    mars_task_close(task);
    return status;
}

KER_ORDER_AT(listed_compare, struct listed, id, task)

static const int32_t *listed_members(const struct listed *listed)
{
    return (const int32_t *)(const void *)(listed + 1);
}

static void comm_put(struct replay_comms *comms, uint64_t id, struct task_comm comm)
{
    comms->id[comms->count] = id;
    comms->comm[comms->count++] = comm;
    comms->known = comms->count;
}

static void comms_put(struct replay_comms *comms, const struct listed *listed, const int32_t *member,
                      uint32_t tasks)
{
    int32_t at = comms->count;
    const int32_t *other = member + listed->size;
    if (listed->size == 0) {
        comm_put(comms, listed->id, (struct task_comm){.size = (int32_t)tasks});
    } else if (listed->remote == 0) {
        comm_put(comms, listed->id, (struct task_comm){listed->size, member, 0});
    } else {
        comm_put(comms, listed->id, (struct task_comm){listed->size, member, at + 1});
        comm_put(comms, listed->id, (struct task_comm){listed->remote, other, at});
        comm_put(comms, listed->id, (struct task_comm){listed->size + listed->remote, member, 0});
    }
}

/* Those of one id must be the same. */
static enum ker_status comms_join(struct replay_comms *comms, const struct listed **all, size_t count,
                                  uint32_t tasks, const char *path, struct ker_error *error)
{
    size_t members = 0;
    for (size_t i = 0; i < count; i++)
        members += (size_t)all[i]->size + (size_t)all[i]->remote;
    comms->comm = ker_alloc((REPLAY_INTER * count + 1) * sizeof *comms->comm);
    comms->id = ker_alloc((REPLAY_INTER * count + 1) * sizeof *comms->id);
    comms->members = ker_alloc((members + 1) * sizeof *comms->members);
    comms->comm[0] = (struct task_comm){.size = (int32_t)tasks};
    comms->count = comms->known = 1;
    int32_t *at = comms->members;
    for (size_t i = 0; i < count; i++) {
        const struct listed *listed = all[i], *first = i > 0 ? all[i - 1] : NULL;
        size_t bytes = ((size_t)listed->size + (size_t)listed->remote) * sizeof(int32_t);
        if (first && first->id == listed->id) {
            if (first->size == listed->size && first->remote == listed->remote &&
                memcmp(listed_members(first), listed_members(listed), bytes) == 0)
                continue;
            return ker_fail(
                error, KER_BAD_INPUT,
                "%s: a communicator of tasks %u and %u has other members at one than at the other", path,
                first->task, listed->task);
        }
        memcpy(at, listed_members(listed), bytes);
        comms_put(comms, listed, at, tasks);
        at += listed->size + listed->remote;
    }
    return KER_OK;
}

enum ker_status replay_comms_find(struct replay_comms *comms, struct mars_trace *trace, const char *path,
                                  struct ker_comm *comm, struct ker_error *error)
{
    uint32_t tasks = mars_trace_tasks(trace), ranks = (uint32_t)ker_comm_size(comm);
    struct ker_bytes own = {0};
    uint64_t *world = ker_alloc(tasks * sizeof *world);
    enum ker_status status = KER_OK;
    for (uint32_t t = (uint32_t)ker_comm_rank(comm); t < tasks && status == KER_OK; t += ranks)
        status = task_list(trace, t, ranks, path, &own, &comms->aborts, &world[t], error);
    status = ker_comm_worst(comm, status);
    status = status ?: worlds_agree(world, tasks, path, comm, error);
    free(world);
    uint64_t aborts = comms->aborts;
    ker_comm_sum_u64(comm, &aborts, 1);
    comms->aborts = aborts > 0;
    void *all = NULL;
    size_t *offset = NULL;
    if (status == KER_OK) {
        ker_comm_allgather(comm, own.byte, own.used, &all, &offset);
        const struct listed **listed = NULL;
        size_t count = 0, room = 0;
        for (size_t at = 0; at < offset[ranks];) {
            const struct listed *t = (const struct listed *)(const void *)((const char *)all + at);
            *KER_PUSH(listed, count, room) = t;
            size_t members = (size_t)t->size + (size_t)t->remote;
            at += sizeof *t + (members + members % 2) * sizeof(int32_t);
        }
        if (count)
            qsort(listed, count, sizeof *listed, listed_compare);
        status = comms_join(comms, listed, count, tasks, path, error);
        free(listed);
    }
    free(all);
    free(offset);
    free(own.byte);
    return status;
}

void replay_comms_release(struct replay_comms *comms)
{
    free(comms->comm);
    free(comms->id);
    free(comms->members);
    *comms = (struct replay_comms){0};
}

static int32_t comm_number(const struct replay_comms *comms, uint64_t id)
{
    int32_t low = KER_BISECT(i, 1, comms->known, comms->id[i] < id);
    return low < comms->known && comms->id[low] == id ? low : -1;
}

static bool comm_fits(const struct task_comm *comm, const struct mars_comm *c)
{
    return (uint32_t)comm->size == c->member.count && c->rank >= 0 && c->rank < comm->size;
}

int32_t *replay_comms_of(const struct replay_comms *comms, const struct mars_task *task)
{
    int32_t *number = ker_alloc((task->comms + 1ull) * sizeof *number);
    number[0] = -1;
    for (uint32_t i = 1; i < task->comms; i++) {
        const struct mars_comm *c = task->comm[i];
        bool world = c && i == 1 && is_world(c, (uint32_t)comms->comm[0].size);
        number[i] = !c ? -1 : world ? 0 : comm_number(comms, c->id);
        if (number[i] > 0 && c->inter != (comms->comm[number[i]].remote != 0))
            number[i] = -1;
        if (number[i] > 0)
            number[i] += is_second(c);
        if (number[i] > 0 && !comm_fits(&comms->comm[number[i]], c))
            number[i] = -1; /* its members say otherwise */
    }
    return number;
}
