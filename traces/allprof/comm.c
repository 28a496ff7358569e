/* comm.c - which handle of which task is which communicator.
 *
 * Handles are addresses in each process, and a call that makes a communicator does not show the new handle.
 * So the communicator calls of all tasks are replayed here without their messages: a task runs until it makes
 * a communicator, and waits there until every task of the parent does. Then the members, their ranks and
 * sizes are known (a split shows colours and keys), but for Cart_create, Cart_sub and Comm_create, whose
 * arguments are addresses: their members are found when somebody needs them (group.c). A handle that
 * a task uses is then
 *   1. the communicator it is bound to, when that is alive and rank and size fit;
 *   2. else the only communicator not yet bound with this rank and size, or that which the task's Fortran
 * handles, small numbers given out lowest first, name; if there are several, the task waits, and when no task
 * can go on any more, what all members do on their handles decides (bind.c);
 *   3. else, with size 1, MPI_COMM_SELF; else an error.
 * MPI_Comm_free shows the address of a variable. When no communicator was made in this variable (the program
 * had copied the handle), the youngest one is freed that the task does not use before it makes or frees
 * another; should it be used later, it comes back to life.
 *
 * Everything is done in the order of tasks and lines: on every rank the communicators get the same numbers.
 */
#include "traces/allprof/comm.h"

#include <stdlib.h>
#include <string.h>

static enum ker_status event_fail(struct allprof_resolver *r, uint32_t task,
                                  const struct allprof_event *event, const char *text)
{
    return allprof_event_fail(r, task, (size_t)(event - r->files[task].event), text);
}

/* Gives the event its communicator; *waits: it could be several. */
static enum ker_status event_bind(struct allprof_resolver *r, uint32_t number, struct allprof_event *event,
                                  bool *waits)
{
    struct allprof_owner *task = &r->task[number];
    struct allprof_known *known = allprof_known_bound(r, task, &event->group, true);
    uint32_t opens = 0;
    if (!known) {
        uint32_t count = allprof_known_unbound(r, task, &event->group, &known, &opens);
        *waits = event->group.size > 1 && (count > 1 || opens > 0) && !(task->tried && count == 0);
        if (*waits)
            return KER_OK;
        if (!known)
            known = allprof_known_last(r, number, &event->group);
        if (!known && event->group.size > (int32_t)r->tasks)
            return allprof_line_fail(r->folder, number, event->line, r->error,
                                     "a communicator of %d tasks, but there are %u trace files",
                                     event->group.size, r->tasks);
        if (!known)
            return allprof_line_fail(
                r->folder, number, event->line, r->error,
                "the communicator %lu,%d,%d (handle, rank, "
                "size) is neither the world of the %u trace files nor one that was made before",
                (unsigned long)event->group.handle, event->group.rank, event->group.size, r->tasks);
        allprof_known_bind(task, known, event->group.handle);
    }
    event->comm = known->comm;
    task->tried = false;
    return KER_OK;
}

/* Does the task use this communicator before it makes or frees another? */
static bool known_used_soon(const struct allprof_resolver *r, uint32_t number,
                            const struct allprof_known *known)
{
    const struct allprof_events *events = &r->files[number];
    for (size_t i = r->task[number].at + 1; i < events->count; i++) {
        const struct allprof_event *event = &events->event[i];
        if (event->kind != ALLPROF_EVENT_FREE && event->group.handle == known->handle &&
            allprof_known_fits(r, known, &event->group))
            return true;
        if (event->kind != ALLPROF_EVENT_USE)
            break;
    }
    return false;
}

static void event_free(struct allprof_resolver *r, uint32_t number, struct allprof_event *event)
{
    struct allprof_owner *task = &r->task[number];
    struct allprof_known *freed = NULL, *guess = NULL;
    for (uint32_t i = task->count; i-- > 1;) { /* 0 is the world */
        struct allprof_known *known = &task->known[i];
        if (!known->alive || !known->variable)
            continue; /* MPI_COMM_SELF has no variable */
        if (!freed && known->variable == event->variable)
            freed = known;
        if (!guess && known->bound && known->comm >= 0 && !known_used_soon(r, number, known))
            guess = known;
    }
    event->comm = freed ? freed->comm : guess ? guess->comm : -1;
    if (freed) {
        freed->alive = freed->bound = false;
        freed->freed = task->at;
        if (freed->comm >= 0)
            r->freed[freed->comm]++;
    } else if (guess) {
        guess->alive = false; /* still bound: a use brings it back */
        guess->freed = task->at;
    }
}

static void comm_make(struct allprof_resolver *r, int32_t size, const int32_t *member)
{
    int32_t comm = allprof_comm_add(r, size, member);
    for (int32_t rank = 0; rank < size; rank++) {
        uint32_t number = (uint32_t)task_comm_task(&r->comms->comm[comm], rank);
        struct allprof_owner *task = &r->task[number];
        struct allprof_event *event = &r->files[number].event[task->at];
        event->tally = (uint32_t)comm + 1;
        allprof_known_add(r, task, comm, rank, event->variable);
    }
}

struct split_key {
    int32_t colour, key, rank, task;
};

KER_ORDER_BY(split_compare, struct split_key, colour, key, rank)

/* One communicator per colour; a negative colour is MPI_UNDEFINED. */
static void keys_make(struct allprof_resolver *r, struct split_key *keys, int32_t count)
{
    qsort(keys, (size_t)count, sizeof *keys, split_compare);
    for (int32_t i = 0, next; i < count; i = next) {
        for (next = i; next < count && keys[next].colour == keys[i].colour; next++)
            ;
        if (keys[i].colour < 0)
            continue;
        int32_t *member = allprof_members_new(r, next - i);
        for (int32_t j = i; j < next; j++)
            member[j - i] = keys[j].task;
        comm_make(r, next - i, member);
    }
}

static const struct allprof_event *event_of(const struct allprof_resolver *r, int32_t task)
{
    return &r->files[task].event[r->task[task].at];
}

static struct split_key *keys_new(const struct allprof_resolver *r, int32_t parent)
{
    struct task_comm comm = r->comms->comm[parent];
    struct split_key *keys = ker_alloc((size_t)comm.size * sizeof *keys);
    for (int32_t rank = 0; rank < comm.size; rank++) {
        int32_t task = task_comm_task(&comm, rank);
        keys[rank] = (struct split_key){event_of(r, task)->colour, event_of(r, task)->key, rank, task};
    }
    return keys;
}

/* Who is in it is found out when somebody uses it. */
static void open_make(struct allprof_resolver *r, int32_t parent, unsigned create)
{
    struct task_comm comm = r->comms->comm[parent];
    KER_RESERVE(r->open, r->open_room, r->open_count + (size_t)1);
    int32_t number = r->open_count++;
    r->open[number] = (struct allprof_open){.parent = parent, .create = (uint8_t)create};
    for (int32_t rank = 0; rank < comm.size; rank++) {
        int32_t task = task_comm_task(&comm, rank);
        allprof_known_add(r, &r->task[task], -1 - number, 0, event_of(r, task)->variable);
    }
}

/* All tasks of the parent are there. */
static enum ker_status comm_complete(struct allprof_resolver *r, int32_t parent)
{
    struct task_comm comm = r->comms->comm[parent];
    unsigned create = event_of(r, task_comm_task(&comm, 0))->create;
    for (int32_t rank = 1; rank < comm.size; rank++) {
        int32_t task = task_comm_task(&comm, rank);
        if (event_of(r, task)->create != create)
            return event_fail(r, (uint32_t)task, event_of(r, task),
                              "the other tasks make a communicator by another call at this point");
    }
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
    default:
        open_make(r, parent, create);
    }
    for (int32_t rank = 0; rank < comm.size; rank++) {
        struct allprof_owner *task = &r->task[task_comm_task(&r->comms->comm[parent], rank)];
        task->arrived = false;
        task->at++;
    }
    r->arrived[parent] = 0;
    return KER_OK;
}

/* Runs a task until it waits at a creation or ends. */
static enum ker_status task_run(struct allprof_resolver *r, uint32_t number, bool *moved)
{
    struct allprof_owner *task = &r->task[number];
    struct allprof_events *events = &r->files[number];
    while (!task->arrived && !task->waits && task->at < events->count) {
        struct allprof_event *event = &events->event[task->at];
        *moved = true;
        if (event->kind == ALLPROF_EVENT_FREE) {
            event_free(r, number, event);
            task->at++;
            continue;
        }
        enum ker_status status = event_bind(r, number, event, &task->waits);
        if (status != KER_OK || task->waits)
            return status;
        if (event->kind == ALLPROF_EVENT_USE) {
            task->at++;
            continue;
        }
        task->arrived = true;
        event->tally = 0; /* until it is known what it makes */
        if (++r->arrived[event->comm] == r->comms->comm[event->comm].size) {
            status = comm_complete(r, event->comm);
            if (status != KER_OK)
                return status;
        }
    }
    return KER_OK;
}

/* Runs all tasks as far as they come. */
static enum ker_status tasks_run(struct allprof_resolver *r)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < r->tasks; i++) {
            enum ker_status status = task_run(r, i, &moved);
            if (status != KER_OK)
                return status;
        }
    }
    return KER_OK;
}

/* Nobody can go on: decides for those that wait at a handle. */
static enum ker_status tasks_decide(struct allprof_resolver *r, bool *decided)
{
    bool found = false, waits = false;
    *decided = false;
    for (uint32_t i = 0; i < r->tasks; i++)
        waits = waits || r->task[i].waits;
    if (!waits)
        return KER_OK;
    if (!r->tallies) {
        r->lacks = true;
        return KER_BAD_INPUT;
    }
    enum ker_status status = allprof_groups_find(r, &found);
    if (status == KER_OK && !found)
        allprof_bind(r);
    for (uint32_t i = 0; i < r->tasks; i++) {
        r->task[i].tried = r->task[i].waits && !found; /* a handle that fits nothing must not wait for ever */
        r->task[i].waits = false;
    }
    *decided = true;
    return status;
}

static enum ker_status resolve(struct allprof_resolver *r)
{
    for (bool decided = true; decided;) {
        enum ker_status status = tasks_run(r);
        status = status ?: tasks_decide(r, &decided);
        if (status != KER_OK)
            return status;
    }
    for (uint32_t i = 0; i < r->tasks; i++)
        if (r->task[i].arrived)
            return event_fail(r, i, event_of(r, (int32_t)i),
                              "the other tasks of this communicator never make the "
                              "matching call: files of different runs, or truncated?");
    return KER_OK;
}

enum ker_status allprof_attempt(struct allprof_resolver *r, uint64_t *progress)
{
    allprof_comms_release(r->comms);
    memset(r->error, 0, sizeof *r->error);
    r->task = ker_alloc(r->tasks * sizeof *r->task);
    r->arrived = r->freed = NULL;
    r->open = NULL;
    r->open_count = r->open_room = 0;
    r->calls = 0;
    r->flipped = r->flips == 0;
    allprof_comm_add(r, (int32_t)r->tasks, NULL);
    for (uint32_t i = 0; i < r->tasks; i++)
        allprof_known_add(r, &r->task[i], 0, (int32_t)i, 0);
    enum ker_status status = resolve(r);
    status = status ?: allprof_match_collectives(r->files, r->tasks, r->comms, r->folder, r->error);
    *progress = 0;
    for (uint32_t i = 0; i < r->tasks; i++) {
        *progress += r->task[i].at;
        free(r->task[i].known);
    }
    KER_FREE(r->task, r->arrived, r->freed, r->open);
    return status;
}
