/* allprof_comm.c - which handle of which task is which communicator.
 *
 * Handles are addresses in each process, and a call that makes a communicator does not show the new handle. So the
 * communicator calls of all tasks are replayed here without their messages: a task runs until it makes a
 * communicator, and waits there until every task of the parent does. Then the members, their ranks and sizes
 * are known (a split shows colours and keys; for Cart_create, Cart_sub and Comm_create, whose arguments are
 * addresses, the ranks with which the tasks use the new handle tell). A handle that a task uses is then
 *   1. the communicator it is bound to, when that is alive and rank and size fit;
 *   2. else the oldest communicator not yet bound with this rank and size, unless the task's Fortran handles, which
 *      are small numbers given out lowest first, say that it is a younger one;
 *   3. else, with size 1, MPI_COMM_SELF; else an error.
 * MPI_Comm_free shows the address of a variable. When no communicator was made in this variable (the program had copied
 * the handle), the youngest one is freed that the task does not use before it makes or frees another; should it be
 * used later, it comes back to life.
 *
 * Everything is done in the order of tasks and lines: on every rank the communicators get the same numbers.
 */
#include "tasks/allprof.h"

#include <stdlib.h>
#include <string.h>

#define FORTRAN_HANDLES 65536u /* Open MPI: a handle below is Fortran's; 0 world, 1 self, 2 null */

struct known { /* a communicator as a task knows it */
    int32_t comm, rank;
    uint64_t handle, variable;
    bool bound, alive;
};

struct task {
    struct known *known;
    uint32_t count, room;
    size_t at;     /* its event */
    bool arrived;  /* at a NEW, waiting for the others */
};

struct resolver {
    struct allprof_comms *comms;
    struct allprof_events *files;
    struct task *task;
    uint32_t tasks;
    int32_t *arrived; /* per communicator */
    int32_t arrived_room;
    const char *folder;
    struct ker_error *error;
};

static enum ker_status event_fail(struct resolver *r, uint32_t task, const struct allprof_event *event,
                                  const char *text)
{
    return ker_fail(r->error, KER_BAD_INPUT, "%s/pmpi-trace-rank-%u.txt:%u: %s", r->folder, task, event->line, text);
}

static int32_t comm_add(struct resolver *r, int32_t size, const int32_t *member)
{
    struct allprof_comms *comms = r->comms;
    if (comms->count == comms->room) {
        comms->room = comms->room ? 2 * comms->room : 8;
        comms->comm = ker_realloc(comms->comm, (size_t)comms->room * sizeof *comms->comm);
        r->arrived = ker_realloc(r->arrived, (size_t)comms->room * sizeof *r->arrived);
    }
    ker_assert(r->arrived);
    r->arrived[comms->count] = 0;
    comms->comm[comms->count] = (struct task_comm){size, member};
    return comms->count++;
}

/* A member list that is freed with the communicators. */
static int32_t *members_new(struct resolver *r, int32_t size)
{
    struct allprof_comms *comms = r->comms;
    if (comms->owned_count == comms->owned_room) {
        comms->owned_room = comms->owned_room ? 2 * comms->owned_room : 8;
        comms->owned = ker_realloc(comms->owned, (size_t)comms->owned_room * sizeof *comms->owned);
    }
    int32_t *member = ker_alloc((size_t)size * sizeof *member);
    comms->owned[comms->owned_count++] = member;
    return member;
}

void allprof_comms_release(struct allprof_comms *comms)
{
    for (int32_t i = 0; i < comms->owned_count; i++)
        free(comms->owned[i]);
    free(comms->owned);
    free(comms->comm);
    memset(comms, 0, sizeof *comms);
}

static struct known *known_add(struct task *task, int32_t comm, int32_t rank, uint64_t variable)
{
    if (task->count == task->room) {
        /* those that are dead for good make room first */
        uint32_t kept = 0;
        for (uint32_t i = 0; i < task->count; i++)
            if (i == 0 || task->known[i].alive || task->known[i].bound)
                task->known[kept++] = task->known[i];
        task->count = kept;
        if (kept * 2 > task->room || task->room == 0) {
            task->room = task->room ? 2 * task->room : 4;
            task->known = ker_realloc(task->known, task->room * sizeof *task->known);
        }
    }
    struct known *known = &task->known[task->count++];
    *known = (struct known){comm, rank, 0, variable, false, true};
    return known;
}

static bool known_fits(const struct resolver *r, const struct known *known, const struct allprof_group *group)
{
    return known->rank == group->rank && r->comms->comm[known->comm].size == group->size;
}

/* The known communicator with this handle, the youngest first. */
static struct known *known_bound(const struct resolver *r, const struct task *task, const struct allprof_group *group,
                                 bool alive)
{
    for (uint32_t i = task->count; i-- > 0;) {
        struct known *known = &task->known[i];
        if (known->bound && known->alive == alive && known->handle == group->handle && known_fits(r, known, group))
            return known;
    }
    return NULL;
}

/* The number Fortran gave this unbound communicator: the lowest from 3 on that is free, after the older unbound ones. */
static uint64_t known_fortran(const struct task *task, uint32_t which)
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

static struct known *known_unbound(const struct resolver *r, const struct task *task, const struct allprof_group *group)
{
    struct known *first = NULL;
    for (uint32_t i = 0; i < task->count; i++) {
        struct known *known = &task->known[i];
        if (known->bound || !known->alive || !known_fits(r, known, group))
            continue;
        if (group->handle < FORTRAN_HANDLES && known_fortran(task, i) == group->handle)
            return known;
        if (!first)
            first = known;
    }
    return first;
}

static void known_bind(struct task *task, struct known *known, uint64_t handle)
{
    for (uint32_t i = 0; i < task->count; i++) /* the handle was freed and is used again */
        if (task->known[i].bound && task->known[i].handle == handle)
            task->known[i].bound = task->known[i].alive = false;
    known->bound = known->alive = true;
    known->handle = handle;
}

/* Gives the event its communicator. */
static enum ker_status event_bind(struct resolver *r, uint32_t number, struct allprof_event *event)
{
    struct task *task = &r->task[number];
    struct known *known = known_bound(r, task, &event->group, true);
    if (!known) {
        known = known_unbound(r, task, &event->group);
        if (!known)
            known = known_bound(r, task, &event->group, false);
        if (!known && event->group.size == 1) {
            int32_t *self = members_new(r, 1);
            self[0] = (int32_t)number;
            known = known_add(task, comm_add(r, 1, self), 0, 0);
        }
        if (!known && event->group.size > (int32_t)r->tasks)
            return ker_fail(r->error, KER_BAD_INPUT, "%s/pmpi-trace-rank-%u.txt:%u: a communicator of %d tasks, but "
                            "there are %u trace files", r->folder, number, event->line, event->group.size, r->tasks);
        if (!known)
            return ker_fail(r->error, KER_BAD_INPUT, "%s/pmpi-trace-rank-%u.txt:%u: the communicator %lu,%d,%d (handle, "
                            "rank, size) is neither the world of the %u trace files nor one that was made before",
                            r->folder, number, event->line, (unsigned long)event->group.handle, event->group.rank,
                            event->group.size, r->tasks);
        known_bind(task, known, event->group.handle);
    }
    event->comm = known->comm;
    return KER_OK;
}

/* Does the task use this communicator before it makes or frees another? */
static bool known_used_soon(const struct resolver *r, uint32_t number, const struct known *known)
{
    const struct allprof_events *events = &r->files[number];
    for (size_t i = r->task[number].at + 1; i < events->count; i++) {
        const struct allprof_event *event = &events->event[i];
        if (event->kind != ALLPROF_EVENT_FREE && event->group.handle == known->handle &&
            known_fits(r, known, &event->group))
            return true;
        if (event->kind != ALLPROF_EVENT_USE)
            break;
    }
    return false;
}

static void event_free(struct resolver *r, uint32_t number, const struct allprof_event *event)
{
    struct task *task = &r->task[number];
    struct known *freed = NULL, *guess = NULL;
    for (uint32_t i = task->count; i-- > 1;) { /* 0 is the world */
        struct known *known = &task->known[i];
        if (!known->alive || !known->variable)
            continue; /* MPI_COMM_SELF has no variable */
        if (!freed && known->variable == event->variable)
            freed = known;
        if (!guess && known->bound && !known_used_soon(r, number, known))
            guess = known;
    }
    if (freed)
        freed->alive = freed->bound = false;
    else if (guess)
        guess->alive = false; /* still bound: a use brings it back */
}

/* The first communicator the task uses after its creation that is none it knows: the new one's rank and size. */
static const struct allprof_group *new_peek(const struct resolver *r, uint32_t number)
{
    const struct allprof_events *events = &r->files[number];
    const struct task *task = &r->task[number];
    for (size_t i = task->at + 1; i < events->count; i++) {
        const struct allprof_event *event = &events->event[i];
        if (event->kind == ALLPROF_EVENT_FREE && event->variable == events->event[task->at].variable)
            return NULL;
        if (event->kind == ALLPROF_EVENT_FREE || event->group.size == 1) /* perhaps MPI_COMM_SELF */
            continue;
        if (!known_bound(r, task, &event->group, true) && !known_unbound(r, task, &event->group))
            return &event->group;
    }
    return NULL;
}

static void comm_make(struct resolver *r, int32_t size, const int32_t *member)
{
    int32_t comm = comm_add(r, size, member);
    for (int32_t rank = 0; rank < size; rank++) {
        uint32_t number = (uint32_t)task_comm_task(&r->comms->comm[comm], rank);
        struct task *task = &r->task[number];
        known_add(task, comm, rank, r->files[number].event[task->at].variable);
    }
}

struct split_key {
    int32_t colour, key, rank, task;
};

static int split_compare(const void *left, const void *right)
{
    const struct split_key *a = left, *b = right;
    if (a->colour != b->colour)
        return a->colour < b->colour ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* One communicator per colour; a negative colour is MPI_UNDEFINED. */
static void keys_make(struct resolver *r, struct split_key *keys, int32_t count)
{
    qsort(keys, (size_t)count, sizeof *keys, split_compare);
    for (int32_t i = 0, next; i < count; i = next) {
        for (next = i; next < count && keys[next].colour == keys[i].colour; next++)
            ;
        if (keys[i].colour < 0)
            continue;
        int32_t *member = members_new(r, next - i);
        for (int32_t j = i; j < next; j++)
            member[j - i] = keys[j].task;
        comm_make(r, next - i, member);
    }
}

static const struct allprof_event *event_of(const struct resolver *r, int32_t task)
{
    return &r->files[task].event[r->task[task].at];
}

static struct split_key *keys_new(const struct resolver *r, int32_t parent)
{
    struct task_comm comm = r->comms->comm[parent];
    struct split_key *keys = ker_alloc((size_t)comm.size * sizeof *keys);
    for (int32_t rank = 0; rank < comm.size; rank++) {
        int32_t task = task_comm_task(&comm, rank);
        keys[rank] = (struct split_key){event_of(r, task)->colour, event_of(r, task)->key, rank, task};
    }
    return keys;
}

/* Does every rank 0..size-1 occur once? Sorts the keys. */
static bool users_complete(struct split_key *keys, int32_t count, int32_t size)
{
    qsort(keys, (size_t)count, sizeof *keys, split_compare);
    int32_t others = 0;
    while (others < count && keys[others].colour < 0)
        others++;
    if (count - others != size)
        return false;
    for (int32_t i = 0; i < size; i++)
        if (keys[others + i].key != i)
            return false;
    return true;
}

/* Cart_create: the first tasks of the parent, as many as the grid has places; Comm_create: whoever uses it. */
static enum ker_status create_by_use(struct resolver *r, int32_t parent, bool grid)
{
    struct task_comm comm = r->comms->comm[parent];
    struct split_key *keys = keys_new(r, parent);
    int32_t size = 0;
    bool in_order = true;
    enum ker_status status = KER_OK;
    for (int32_t rank = 0; rank < comm.size; rank++) {
        const struct allprof_group *group = new_peek(r, (uint32_t)keys[rank].task);
        keys[rank].colour = group ? 0 : -1;
        keys[rank].key = group ? group->rank : 0;
        if (!group)
            continue;
        if (size != 0 && group->size != size)
            status = event_fail(r, (uint32_t)keys[rank].task, event_of(r, keys[rank].task),
                                "the members of the new communicator cannot be told from its use: different sizes");
        size = group->size;
        in_order = in_order && group->rank == rank;
    }
    if (grid && in_order) { /* those that never use it are members too */
        for (int32_t rank = 0; rank < comm.size; rank++) {
            keys[rank].colour = size == 0 || rank < size ? 0 : -1;
            keys[rank].key = rank;
        }
    } else if (status == KER_OK && !users_complete(keys, comm.size, size)) {
        status = event_fail(r, (uint32_t)keys[0].task, event_of(r, keys[0].task),
                            "the members of the new communicator cannot be told: not every rank in it is used once");
    }
    if (status == KER_OK)
        keys_make(r, keys, comm.size);
    free(keys);
    return status;
}

/* Cart_sub that keeps one dimension (or neighbouring ones): rank in it is (rank / step) % size for some step. */
static enum ker_status create_sub(struct resolver *r, int32_t parent)
{
    struct task_comm comm = r->comms->comm[parent];
    struct split_key *keys = keys_new(r, parent);
    int32_t size = 0, found = 0;
    for (int32_t rank = 0; rank < comm.size; rank++) {
        const struct allprof_group *group = new_peek(r, (uint32_t)keys[rank].task);
        keys[rank].key = group ? group->rank : -1;
        size = group ? group->size : size;
    }
    for (int32_t step = 1; size > 0 && step <= comm.size / size && !found; step++) {
        bool fits = comm.size % (step * size) == 0;
        for (int32_t rank = 0; rank < comm.size && fits; rank++)
            fits = keys[rank].key < 0 || keys[rank].key == rank / step % size;
        found = fits ? step : 0;
    }
    enum ker_status status = KER_OK;
    if (size > 0 && !found)
        status = event_fail(r, (uint32_t)keys[0].task, event_of(r, keys[0].task), "the members of the new communicators "
                            "cannot be told: the tasks' ranks do not fit a grid that keeps one dimension");
    for (int32_t rank = 0; rank < comm.size; rank++) {
        keys[rank].colour = found ? rank / (found * size) * found + rank % found : -1;
        keys[rank].key = rank;
    }
    if (status == KER_OK)
        keys_make(r, keys, comm.size);
    free(keys);
    return status;
}

/* All tasks of the parent are there. */
static enum ker_status comm_complete(struct resolver *r, int32_t parent)
{
    struct task_comm comm = r->comms->comm[parent];
    unsigned create = event_of(r, task_comm_task(&comm, 0))->create;
    for (int32_t rank = 1; rank < comm.size; rank++) {
        int32_t task = task_comm_task(&comm, rank);
        if (event_of(r, task)->create != create)
            return event_fail(r, (uint32_t)task, event_of(r, task),
                              "the other tasks make a communicator by another call at this point");
    }
    enum ker_status status = KER_OK;
    struct split_key *keys;
    switch (create) {
    case ALLPROF_SPLIT:
        keys = keys_new(r, parent);
        keys_make(r, keys, comm.size);
        free(keys);
        break;
    case ALLPROF_DUP:
        comm_make(r, comm.size, comm.member);
        break;
    case ALLPROF_CART_SUB:
        status = create_sub(r, parent);
        break;
    default:
        status = create_by_use(r, parent, create == ALLPROF_CART);
    }
    for (int32_t rank = 0; rank < comm.size; rank++) {
        struct task *task = &r->task[task_comm_task(&r->comms->comm[parent], rank)];
        task->arrived = false;
        task->at++;
    }
    r->arrived[parent] = 0;
    return status;
}

/* Runs a task until it waits at a creation or ends. */
static enum ker_status task_run(struct resolver *r, uint32_t number, bool *moved)
{
    struct task *task = &r->task[number];
    struct allprof_events *events = &r->files[number];
    while (!task->arrived && task->at < events->count) {
        struct allprof_event *event = &events->event[task->at];
        *moved = true;
        if (event->kind == ALLPROF_EVENT_FREE) {
            event_free(r, number, event);
            task->at++;
            continue;
        }
        enum ker_status status = event_bind(r, number, event);
        if (status != KER_OK)
            return status;
        if (event->kind == ALLPROF_EVENT_USE) {
            task->at++;
            continue;
        }
        task->arrived = true;
        if (++r->arrived[event->comm] == r->comms->comm[event->comm].size) {
            status = comm_complete(r, event->comm);
            if (status != KER_OK)
                return status;
        }
    }
    return KER_OK;
}

static enum ker_status tasks_run(struct resolver *r)
{
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < r->tasks; i++) {
            enum ker_status status = task_run(r, i, &moved);
            if (status != KER_OK)
                return status;
        }
    }
    for (uint32_t i = 0; i < r->tasks; i++)
        if (r->task[i].arrived)
            return event_fail(r, i, event_of(r, (int32_t)i), "the other tasks of this communicator never make the "
                              "matching call: files of different runs, or truncated?");
    return KER_OK;
}

enum ker_status allprof_comms_resolve(struct allprof_comms *comms, struct allprof_events *files, uint32_t tasks,
                                      const char *folder, struct ker_error *error)
{
    struct resolver r = {.comms = comms, .files = files, .tasks = tasks, .folder = folder, .error = error};
    r.task = ker_alloc(tasks * sizeof *r.task);
    comm_add(&r, (int32_t)tasks, NULL);
    for (uint32_t i = 0; i < tasks; i++)
        known_add(&r.task[i], 0, (int32_t)i, 0);
    enum ker_status status = tasks_run(&r);
    for (uint32_t i = 0; i < tasks; i++)
        free(r.task[i].known);
    free(r.task);
    free(r.arrived);
    return status;
}
