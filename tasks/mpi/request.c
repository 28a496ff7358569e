/* request.c - requests: records of a pool, found by the program's names.
 *
 * A named request lives from the call that makes it until a wait or test takes note of its completion
 * (persistent ones until MPI_Request_free). A name that is given again loses its old request, as the program
 * has lost the handle: it ends by itself ("detached"). Most tasks have few requests at a time, and the
 * records are soon looked at anyway: the first SCANNED numbers of a task have marks, a byte each, which lie
 * behind the numbers and are compared 16 at a time; only those beyond are in a hash table of the rank, by
 * (task, name). Invariant: a record is freed exactly once: by
 * reap, or by complete when it is detached or a collective's.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>
#include <string.h>

#define SCANNED 32u
#define BLOCK 16u /* marks that are looked at together */

/* Of a number without a name 0. */
static inline uint8_t mark_of(uint64_t name)
{
    return (uint8_t)(name * 0x9e3779b97f4a7c15u >> 57) | 0x80u;
}

static inline uint8_t *marks_of(const struct task_state *task)
{
    return (uint8_t *)(task->request + task->numbers);
}

typedef uint8_t marks __attribute__((vector_size(BLOCK), aligned(1)));
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first mark is the lowest byte");

/* Which of BLOCK marks are this one, a bit each: bytes of ones and zeros are gathered by a product. */
static inline uint32_t marks_that_are(const uint8_t *from, uint8_t mark)
{
    union {
        marks each;
        uint64_t half[2];
    } is = {(marks)(*(const marks *)(const void *)from == ((marks){0} + mark))};
    const uint64_t high = 0x8080808080808080u, gather = 0x0002040810204081u;
    return (uint32_t)((is.half[0] & high) * gather >> 56) | (uint32_t)((is.half[1] & high) * gather >> 56)
                                                                << 8;
}

/* An entry of the table of names; the name itself is in the request. */
struct named {
    uint32_t request, task, hash;
};
struct wanted {
    struct named entry;
    const struct task_mpi *mpi;
    uint64_t name;
};

static uint64_t named_hash(const void *key)
{
    return (uint64_t)((const struct named *)key)->hash << 32;
}

static bool named_same(const void *entry, const void *key)
{
    const struct named *at = entry;
    const struct wanted *wanted = key;
    return at->hash == wanted->entry.hash && at->task == wanted->entry.task &&
           task_request_name(wanted->mpi, task_request_at(wanted->mpi, at->request)) == wanted->name;
}

static const struct ker_table_kind names = {sizeof(struct named), named_hash, named_same};

static struct wanted name_wanted(const struct task_mpi *mpi, const struct task_state *of, uint64_t name)
{
    uint32_t task = task_index(mpi, of);
    uint64_t mixed = ker_hash((name ^ (uint64_t)task << 40) + task * 0xc2b2ae3d27d4eb4fu);
    return (struct wanted){{0, task, (uint32_t)(mixed >> 32)}, mpi, name};
}

static inline void names_insert(struct task_mpi *mpi, const struct task_state *task, uint32_t index,
                                uint64_t name)
{
    const struct task_request *r = task_request_at(mpi, index);
    if (__builtin_expect(r->number <= SCANNED, 1)) {
        marks_of(task)[r->number - 1] = mark_of(name);
        return;
    }
    struct wanted wanted = name_wanted(mpi, task, name);
    bool is_new;
    struct named *entry = ker_table_add(&names, &mpi->names, &wanted, &is_new);
    ker_check(is_new);
    *entry = wanted.entry;
    entry->request = index;
}

static void names_remove(struct task_mpi *mpi, const struct task_state *task, uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    r->flags &= (uint8_t)~TASK_REQUEST_NAMED;
    if (r->number <= SCANNED) {
        marks_of(task)[r->number - 1] = 0;
        return;
    }
    struct wanted wanted = name_wanted(mpi, task, task_request_name(mpi, r));
    ker_table_drop(&names, &mpi->names, ker_table_find(&names, &mpi->names, &wanted));
}

/* Bytes for the marks of this many numbers. */
static inline uint32_t marks_bytes(uint32_t numbers)
{
    return numbers == 0 ? 0 : numbers <= BLOCK ? BLOCK : SCANNED;
}

/* Whatever there is. Apart, so that the usual case needs no room for what this calls. */
static __attribute__((noinline)) uint32_t find_any(const struct task_mpi *mpi, const struct task_state *task,
                                                   uint64_t name)
{
    for (uint32_t i = 0; i < task->numbers && i < SCANNED; i += BLOCK)
        for (uint32_t found = marks_that_are(marks_of(task) + i, mark_of(name)); found; found &= found - 1) {
            uint32_t at = task->request[i + (uint32_t)__builtin_ctz(found)];
            if (task_request_name(mpi, task_request_at(mpi, at)) == name)
                return at;
        }
    if (task->numbers <= SCANNED)
        return 0;
    struct wanted wanted = name_wanted(mpi, task, name);
    const struct named *entry = ker_table_find(&names, &mpi->names, &wanted);
    return entry ? entry->request : 0;
}

uint32_t task_request_find(const struct task_mpi *mpi, const struct task_state *task, uint64_t name)
{
    if (task->numbers == 0)
        return 0;
    uint32_t found = marks_that_are(marks_of(task), mark_of(name));
    if (!found && task->numbers <= BLOCK)
        return 0;
    if (found) {
        uint32_t at = task->request[__builtin_ctz(found)];
        const struct task_request *r = task_request_at(mpi, at);
        if (__builtin_expect(!r->wide && r->name == name, 1))
            return at;
    }
    return find_any(mpi, task, name);
}

/* ---- numbers ---- */

/* How many numbers follow on this many. */
static uint32_t numbers_next(uint32_t numbers)
{
    return numbers < SCANNED ? numbers + 4 : 2 * numbers;
}

/* Numbers travel in messages, and so outlive the rank on which the task lives. Which of the free ones is
 * given next nobody can see. */
static void numbers_grow(struct task_state *task, uint32_t room)
{
    if (room > TASK_NUMBERS_MOST)
        ker_memory_out("a task with more than %u requests at a time", TASK_NUMBERS_MOST / 2);
    uint32_t before = marks_bytes(task->numbers), bytes = marks_bytes(room);
    task->request = ker_realloc(task->request, room * sizeof *task->request + bytes);
    memmove(task->request + room, marks_of(task), before);
    memset((uint8_t *)(task->request + room) + before, 0, bytes - before);
    for (uint32_t number = room; number > task->numbers; number--) {
        task->request[number - 1] = TASK_NUMBER_FREE | task->number_free;
        task->number_free = number;
    }
    task->numbers = room;
}

static inline void number_give(struct task_state *task, uint32_t number)
{
    task->request[number - 1] = TASK_NUMBER_FREE | task->number_free;
    task->number_free = number;
}

static __attribute__((noinline)) void name_widen(struct task_mpi *mpi, struct task_request *r, uint64_t name)
{
    r->wide = 1;
    r->name = ker_chunks_raw(&mpi->wide_name);
    *(uint64_t *)ker_chunks_at(&mpi->wide_name, r->name) = name;
}

static inline void name_set(struct task_mpi *mpi, struct task_request *r, uint64_t name)
{
    r->name = (uint32_t)name;
    if (__builtin_expect(name > UINT32_MAX, 0))
        name_widen(mpi, r, name);
}

/* Its note is empty, where there is one. */
static inline uint32_t request_make(struct task_mpi *mpi, const struct task_request *like)
{
    uint32_t index = ker_chunks_raw(&mpi->request);
    *task_request_at(mpi, index) = *like;
    if (__builtin_expect(mpi->waits, 0))
        *task_note_at(mpi, index) = (struct task_note){0};
    return index;
}

/* A number is free. */
static inline uint32_t request_put(struct task_mpi *mpi, struct task_state *task,
                                   const struct task_request *like)
{
    uint32_t index = request_make(mpi, like);
    struct task_request *r = task_request_at(mpi, index);
    r->number = task->number_free;
    task->number_free = task->request[r->number - 1] & ~TASK_NUMBER_FREE;
    task->request[r->number - 1] = index;
    return index;
}

/* Apart, so that the usual case needs no room for what this calls. */
static __attribute__((noinline)) uint32_t new_any(struct task_mpi *mpi, struct task_state *task,
                                                  const struct task_request *like, uint64_t name)
{
    bool named = like->flags & TASK_REQUEST_NAMED;
    if (named)
        task_request_drop(mpi, task, task_request_find(mpi, task, name));
    if (!task->number_free)
        numbers_grow(task, numbers_next(task->numbers));
    uint32_t index = request_put(mpi, task, like);
    if (named) {
        name_set(mpi, task_request_at(mpi, index), name);
        names_insert(mpi, task, index, name);
    }
    return index;
}

uint32_t task_request_new(struct task_mpi *mpi, struct task_state *task, const struct task_request *like,
                          uint64_t name)
{
    bool plain = !(like->flags & TASK_REQUEST_NAMED) && task->number_free && mpi->request.free;
    return plain ? request_put(mpi, task, like) : new_any(mpi, task, like, name);
}

/* Saved requests come with their numbers; the list of free ones is made when all are there. */
bool task_request_restore(struct task_mpi *mpi, struct task_state *task, uint32_t number,
                          const struct task_request *saved, uint64_t name)
{
    if (number == 0 || number > TASK_NUMBERS_MOST || task_request_there(task, number))
        return false;
    while (task->numbers < number)
        numbers_grow(task, numbers_next(task->numbers));
    uint32_t index = request_make(mpi, saved);
    struct task_request *r = task_request_at(mpi, index);
    r->number = number;
    r->wide = 0;
    if (!(r->flags & TASK_REQUEST_COLLECTIVE))
        name_set(mpi, r, name);
    task->request[number - 1] = index;
    if (r->flags & TASK_REQUEST_NAMED)
        names_insert(mpi, task, index, name);
    return true;
}

void task_numbers_renew(struct task_state *task)
{
    task->number_free = 0;
    for (uint32_t number = task->numbers; number; number--)
        if (task->request[number - 1] & TASK_NUMBER_FREE)
            number_give(task, number);
}

static inline void request_give(struct task_mpi *mpi, struct task_state *task, const struct task_request *r,
                                uint32_t index)
{
    number_give(task, r->number);
    ker_chunks_give(&mpi->request, index);
}

/* Apart, as new_any. */
static __attribute__((noinline)) void free_any(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    if (r->peer == TASK_PEER_RUN && r->owns)
        task_run_free(mpi, r->owns);
    if (task_request_partitioned(r))
        task_partitions_free(mpi, (uint32_t)r->bytes);
    if (r->flags & TASK_REQUEST_NAMED)
        names_remove(mpi, task, index);
    if (r->wide)
        ker_chunks_give(&mpi->wide_name, r->name);
    request_give(mpi, task, r, index);
}

static void request_free(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    const struct task_request *r = task_request_at(mpi, index);
    if (r->flags & TASK_REQUEST_NAMED || r->wide || r->peer == TASK_PEER_RUN || task_request_partitioned(r))
        free_any(mpi, task, index);
    else
        request_give(mpi, task, r, index);
}

/* A partitioned receive that no send has found is in a queue. */
static bool is_posted(const struct task_mpi *mpi, const struct task_request *r)
{
    return task_request_partitioned(r) && !(r->flags & TASK_REQUEST_SEND) &&
           !task_partitioned_of(mpi, r)->partner;
}

void task_request_drop(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    if (!index)
        return;
    struct task_request *r = task_request_at(mpi, index);
    bool idle = r->state == TASK_REQUEST_INACTIVE || r->state == TASK_REQUEST_COMPLETE;
    if (idle && !is_posted(mpi, r)) {
        request_free(mpi, task, index);
        return;
    }
    names_remove(mpi, task, index);
    r->finds = false;
    r->flags |= TASK_REQUEST_DETACHED;
}

static bool request_pays(const struct task_request *r)
{
    return !(r->flags & (TASK_REQUEST_SEND | TASK_REQUEST_CANCELLED)) && r->peer > TASK_PROC_NULL;
}

/* Of a collective that the task waits for, while it makes the send of the round: behind that. It is the wait
 * behind the send that takes the message; one that was there before is taken when the receive is posted. */
static void receive_owe(struct task_mpi *mpi, struct task_state *task, const struct task_request *r,
                        ker_time time)
{
    if (r->flags & TASK_REQUEST_COLLECTIVE && r->run == task->collective && task_run_at(mpi, r->run)->sending)
        task_run_at(mpi, r->run)->owed += time;
    else
        task_owe(task, time);
}

/* With task_mpi.special_ends. Apart, so that others need no room for what it calls. */
static __attribute__((noinline)) void special_charge(struct task_mpi *mpi, struct task_state *task,
                                                     const struct task_request *r)
{
    if (!request_pays(r))
        return;
    uint64_t bytes = task_request_partitioned(r) ? task_partitioned_of(mpi, r)->bytes : r->bytes;
    if (mpi->endpoints)
        task_endpoint_take(mpi, task, bytes);
    else
        receive_owe(mpi, task, r, task_endpoint_sized(mpi, task, r->peer, &mpi->model.receive_sizes, bytes));
}

/* Without. */
static inline void plain_charge(struct task_mpi *mpi, struct task_state *task, const struct task_request *r)
{
    if (mpi->model.receive_overhead && request_pays(r))
        receive_owe(mpi, task, r, mpi->model.receive_overhead);
}

static inline void request_charge(struct task_mpi *mpi, struct task_state *task, const struct task_request *r)
{
    if (__builtin_expect(mpi->special_ends, 0))
        special_charge(mpi, task, r);
    else
        plain_charge(mpi, task, r);
}

void task_request_charge(struct task_mpi *mpi, struct task_state *task, const struct task_request *r)
{
    request_charge(mpi, task, r);
}

static void request_reaped(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    if (__builtin_expect(r->finds, 0) && r->flags & TASK_REQUEST_NAMED &&
        !(r->flags & TASK_REQUEST_CANCELLED))
        task_source_add(task, r->peer);
    if (r->flags & TASK_REQUEST_PERSISTENT) {
        r->state = TASK_REQUEST_INACTIVE;
        r->flags &= (uint8_t)~TASK_REQUEST_CANCELLED;
    } else {
        request_free(mpi, task, index);
    }
}

/* Apart, so that others need no room for what it calls. */
static __attribute__((noinline)) void request_take(struct task_mpi *mpi, struct task_state *task,
                                                   uint32_t index)
{
    request_charge(mpi, task, task_request_at(mpi, index));
    request_reaped(mpi, task, index);
}

void task_request_reap(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    ker_check(r->state == TASK_REQUEST_COMPLETE);
    if (__builtin_expect(mpi->special_ends, 0)) {
        request_take(mpi, task, index);
        return;
    }
    plain_charge(mpi, task, r);
    request_reaped(mpi, task, index);
}

void task_request_open(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    r->flags |= TASK_REQUEST_OPEN;
    task->open++;
}

static inline void request_close(struct task_state *task, struct task_mpi *mpi, struct task_request *r,
                                 bool plain)
{
    if (!(r->flags & TASK_REQUEST_OPEN))
        return;
    r->flags &= (uint8_t)~TASK_REQUEST_OPEN;
    if (--task->open > 0 || plain)
        return;
    uint32_t current = task_stream_select(task, 0);
    if (task->stage == TASK_STAGE_BLOCKED && task->op.kind == TASK_OP_FINALIZE)
        task_ready(mpi, task);
    task_stream_select(task, current);
}

void task_pending_lower(struct task_mpi *mpi, struct task_state *task)
{
    if (task->pending && --task->pending == 0)
        task_ready(mpi, task);
}

/* The stream that waits for it is the current one. The rule is once, and made into code twice: as plain it
 * calls nothing but at its end. */
static inline __attribute__((always_inline)) void complete(struct task_mpi *mpi, struct task_state *task,
                                                           uint32_t index, bool plain)
{
    struct task_request *r = task_request_at(mpi, index);
    ker_check(r->state == TASK_REQUEST_ACTIVE || r->state == TASK_REQUEST_MATCHED);
    r->state = TASK_REQUEST_COMPLETE;
    request_close(task, mpi, r, plain);
    if (!plain && r->flags & TASK_REQUEST_COLLECTIVE) {
        uint32_t run = r->run;
        if (task_run_pays(mpi, task, run))
            request_charge(mpi, task, r);
        request_free(mpi, task, index);
        task_run_completed(mpi, task, run);
        return;
    }
    bool awaited = r->flags & TASK_REQUEST_AWAITED;
    r->flags &= (uint8_t)~TASK_REQUEST_AWAITED;
    if (!plain && awaited && __builtin_expect(task->pending == 0, 0))
        awaited = !task_graph_complete(mpi, task, r);
    if (r->flags & TASK_REQUEST_DETACHED && plain) {
        plain_charge(mpi, task, r);
        request_give(mpi, task, r, index);
    } else if (r->flags & TASK_REQUEST_DETACHED) {
        if (awaited)
            request_charge(mpi, task, r);
        request_free(mpi, task, index);
    }
    if (awaited)
        task_pending_lower(mpi, task);
}

static void request_complete(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    complete(mpi, task, index, false);
}

/* Several streams wait for it (only MPI_Request_get_status may wait besides another call). */
static void many_complete(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    r->flags &= (uint8_t)~TASK_REQUEST_AWAITED;
    for (uint32_t i = 0; i < task_stream_count(task); i++) {
        task_stream_select(task, i);
        if (task_stream_names(task, task_request_name(mpi, r)))
            task_pending_lower(mpi, task);
    }
    request_complete(mpi, task, index);
}

static __attribute__((noinline)) void complete_any(struct task_mpi *mpi, struct task_state *task,
                                                   uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    if (!task->streams) {
        request_complete(mpi, task, index);
        return;
    }
    uint32_t current = task_stream_select(task, task_stream_concerned(task, r));
    if (task_stream_alone(task, r))
        request_complete(mpi, task, index);
    else
        many_complete(mpi, task, index);
    task_stream_select(task, current);
}

/* Plain is what a call waits for, or will look at, while the task has one stream, and is not at its end. */
void task_request_complete(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    unsigned flags = task_request_at(mpi, index)->flags;
    bool awaited = flags & TASK_REQUEST_AWAITED;
    if (flags & TASK_REQUEST_COLLECTIVE || (awaited ? !task->pending : flags & TASK_REQUEST_DETACHED) ||
        task->streams || mpi->special_ends || task->op.kind == TASK_OP_FINALIZE)
        complete_any(mpi, task, index);
    else
        complete(mpi, task, index, true);
}

/* It is no message: the program says when it is complete. */
void task_request_generalised(struct task_mpi *mpi, struct task_state *task)
{
    if (task->op.kind == TASK_OP_GREQUEST) {
        struct task_request like = {.flags = TASK_REQUEST_NAMED | TASK_REQUEST_SEND,
                                    .peer = TASK_PROC_NULL,
                                    .state = TASK_REQUEST_ACTIVE};
        task_request_new(mpi, task, &like, task->op.request);
        return;
    }
    uint32_t index = task_request_find(mpi, task, task->op.request);
    const struct task_request *r = index ? task_request_at(mpi, index) : NULL;
    if (r && r->peer == TASK_PROC_NULL && r->state == TASK_REQUEST_ACTIVE)
        task_request_complete(mpi, task, index);
}
