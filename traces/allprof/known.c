/* known.c - the communicators of a trace, and what each task knows of its own: a list of communicators, the
 * oldest first, each with or without a handle.
 *
 * A task has an entry for each communicator that it is a member of (comm >= 0), or could be (-1 - number of a
 * communicator whose members are still unknown). A handle is bound to one entry at a time; one that is bound
 * again leaves the older entry without. Invariant: entry 0 is the world.
 */
#include "traces/allprof/comm.h"

#include <stdlib.h>
#include <string.h>

#define FORTRAN_HANDLES 65536u /* Open MPI: a handle below is Fortran's; 0 world, 1 self, 2 null */

enum ker_status allprof_event_fail(struct allprof_resolver *r, uint32_t task, size_t event, const char *text)
{
    return allprof_line_fail(r->folder, task, r->files[task].event[event].line, r->error, "%s", text);
}

void allprof_comms_release(struct allprof_comms *comms)
{
    ker_free_all(comms->owned, comms->owned_count);
    free(comms->comm);
    memset(comms, 0, sizeof *comms);
}

int32_t allprof_comm_add(struct allprof_resolver *r, int32_t size, const int32_t *member)
{
    struct allprof_comms *comms = r->comms;
    int32_t arrived_room = comms->room, freed_room = arrived_room;
    KER_RESERVE(comms->comm, comms->room, comms->count + (size_t)1);
    KER_RESERVE(r->arrived, arrived_room, comms->room);
    KER_RESERVE(r->freed, freed_room, comms->room);
    r->arrived[comms->count] = r->freed[comms->count] = 0;
    comms->comm[comms->count] = (struct task_comm){size, member};
    return comms->count++;
}

/* A member list that is freed with the communicators. */
int32_t *allprof_members_new(struct allprof_resolver *r, int32_t size)
{
    struct allprof_comms *comms = r->comms;
    int32_t *member = ker_alloc((size_t)size * sizeof *member);
    *KER_PUSH(comms->owned, comms->owned_count, comms->owned_room) = member;
    return member;
}

/* Those that all their members have freed make room: until then the others may look at what this one did. And
 * while one is without a handle that was made before the end of this one, it matters that this one had its
 * handle then. */
static void known_compact(struct allprof_resolver *r, struct allprof_owner *task)
{
    uint32_t kept = 0;
    size_t oldest = SIZE_MAX;
    for (uint32_t i = 0; i < task->count; i++)
        if (task->known[i].alive && !task->known[i].bound && task->known[i].made < oldest)
            oldest = task->known[i].made;
    for (uint32_t i = 0; i < task->count; i++) {
        const struct allprof_known *known = &task->known[i];
        bool gone = !known->alive && !known->bound && i > 0;
        if (gone && known->comm >= 0)
            gone = known->freed < oldest && r->freed[known->comm] == r->comms->comm[known->comm].size;
        if (!gone)
            task->known[kept++] = *known;
    }
    task->count = kept;
}

struct allprof_known *allprof_known_add(struct allprof_resolver *r, struct allprof_owner *task, int32_t comm,
                                        int32_t rank, uint64_t variable)
{
    if (task->count == task->room) {
        known_compact(r, task);
        if (task->count * 2 > task->room)
            KER_RESERVE(task->known, task->room, task->room + (size_t)1);
    }
    struct allprof_known *known = KER_PUSH(task->known, task->count, task->room);
    *known = (struct allprof_known){
        .comm = comm, .rank = rank, .variable = variable, .made = task->at, .alive = true};
    return known;
}

bool allprof_known_fits(const struct allprof_resolver *r, const struct allprof_known *known,
                        const struct allprof_group *group)
{
    return known->comm >= 0 && known->rank == group->rank && r->comms->comm[known->comm].size == group->size;
}

struct allprof_known *allprof_known_alive(const struct allprof_owner *task, uint64_t handle)
{
    for (uint32_t i = task->count; i-- > 0;)
        if (task->known[i].bound && task->known[i].alive && task->known[i].handle == handle)
            return &task->known[i];
    return NULL;
}

struct allprof_known *allprof_known_bound(const struct allprof_resolver *r, const struct allprof_owner *task,
                                          const struct allprof_group *group, bool alive)
{
    for (uint32_t i = task->count; i-- > 0;) {
        struct allprof_known *known = &task->known[i];
        if (known->bound && known->alive == alive && known->handle == group->handle &&
            allprof_known_fits(r, known, group))
            return known;
    }
    return NULL;
}

/* The number Fortran gave this unbound communicator: the lowest from 3 on that is free, after the older
 * unbound ones. */
static uint64_t known_fortran(const struct allprof_owner *task, uint32_t which)
{
    uint32_t older = 0;
    for (uint32_t i = 1; i < which; i++)
        older += task->known[i].alive && !task->known[i].bound;
    for (uint64_t handle = 3;; handle++) {
        bool taken = false;
        for (uint32_t i = 0; i < task->count && !taken; i++)
            taken = task->known[i].alive && task->known[i].bound && task->known[i].handle == handle;
        if (!taken && older-- == 0)
            return handle;
    }
}

uint32_t allprof_known_unbound(const struct allprof_resolver *r, const struct allprof_owner *task,
                               const struct allprof_group *group, struct allprof_known **first,
                               uint32_t *opens)
{
    uint32_t count = 0;
    *first = NULL;
    *opens = 0;
    for (uint32_t i = 0; i < task->count; i++) {
        struct allprof_known *known = &task->known[i];
        if (known->bound || !known->alive)
            continue;
        *opens += known->comm < 0;
        if (!allprof_known_fits(r, known, group))
            continue;
        if (group->handle < FORTRAN_HANDLES && known_fortran(task, i) == group->handle) {
            *first = known;
            *opens = 0;
            return 1;
        }
        count++;
        *first = *first ? *first : known;
    }
    return count;
}

void allprof_known_bind(struct allprof_owner *task, struct allprof_known *known, uint64_t handle)
{
    for (uint32_t i = 0; i < task->count; i++) /* the handle was freed and is used again */
        if (task->known[i].bound && task->known[i].handle == handle) {
            task->known[i].freed = task->known[i].alive ? task->at : task->known[i].freed;
            task->known[i].bound = task->known[i].alive = false;
        }
    known->bound = known->alive = known->used = true;
    known->handle = handle;
}

struct allprof_known *allprof_known_last(struct allprof_resolver *r, uint32_t task,
                                         const struct allprof_group *group)
{
    struct allprof_known *known = allprof_known_bound(r, &r->task[task], group, false);
    if (known || group->size != 1)
        return known;
    int32_t *self = allprof_members_new(r, 1);
    self[0] = (int32_t)task;
    return allprof_known_add(r, &r->task[task], allprof_comm_add(r, 1, self), 0, 0);
}
