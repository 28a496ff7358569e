/* hand.c - operations go from the ranks that have them to the ranks that need them.
 *
 * In rounds, of about a mebibyte from each rank: neither sender nor receiver holds more beside its store. A
 * task is a front, which says all but its operations, and then these, in pieces. Ranks number the names of
 * calls in the order in which they meet them: a front has the names, and the task keeps its numbers.
 *
 * Invariant: pieces of a task come from one rank and in their order, those of its tasks one task after the
 * other.
 */
#include "traces/store/hand.h"

#include <stdlib.h>
#include <string.h>

#define ROUND_BYTES ((size_t)1 << 20)

/* What precedes a part of what is sent. */
struct piece {
    uint32_t task;
    uint32_t is_front; /* else operations */
    uint64_t bytes;
};
/* Behind it: the names of its calls, the functions that were called with their names, the known operations,
 * the note. */
struct front {
    uint64_t total, names_bytes, calls_bytes, known_bytes, note_bytes;
    struct task_taken taken;
};
/* A function that was called; its name is behind it. */
struct sent_call {
    uint64_t calls, bytes, time_ns, name_bytes;
};

struct outgoing {
    struct trace_task *task;
    int rank;
};

struct hand {
    struct trace_store *store;
    struct ker_comm *comm;
    struct outgoing *out; /* by rank */
    size_t outs, sent;    /* of them */
    uint64_t at;          /* how many bytes of the next one's operations are sent */
    bool front_sent;      /* of the next one */
};

/* ---- lists ---- */

KER_ORDER_BY(task_compare, struct trace_task, task)

struct trace_task *trace_tasks_find(const struct trace_tasks *tasks, uint32_t task)
{
    struct trace_task wanted = {.task = task};
    return tasks->count ? bsearch(&wanted, tasks->task, tasks->count, sizeof wanted, task_compare) : NULL;
}

static void task_release(struct trace_task *task)
{
    trace_code_release(&task->code);
    free(task->note);
    task->note = NULL;
    task->note_bytes = 0;
}

void trace_tasks_release(struct trace_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->count; i++)
        task_release(&tasks->task[i]);
    free(tasks->task);
    *tasks = (struct trace_tasks){0};
}

/* ---- sent ---- */

static void names_add(struct ker_bytes *bytes, const struct trace_code *code)
{
    for (uint32_t i = 1; i <= TRACE_NAMES && code->name[i]; i++)
        ker_bytes_add(bytes, code->name[i], strlen(code->name[i]) + 1);
}

static void calls_add(struct ker_bytes *bytes, const struct trace_called *called)
{
    for (uint32_t i = 0; i < called->count; i++) {
        const struct task_call *call = &called->call[i];
        struct sent_call sent = {call->calls, call->bytes, call->time_ns, strlen(call->function) + 1};
        ker_bytes_add(bytes, &sent, sizeof sent);
        ker_bytes_add(bytes, call->function, sent.name_bytes);
    }
}

/* With the numbers of their calls in the place of the texts; returns how many bytes they are. */
static size_t knowns_add(struct ker_bytes *bytes, const struct trace_code *code)
{
    for (uint32_t i = 0; i < code->knowns; i++) {
        struct task_op op = code->known[i];
        uintptr_t call = 1;
        while (code->name[call] != op.call)
            call++;
        op.call = (const char *)call;
        ker_bytes_add(bytes, &op, sizeof op);
    }
    return code->knowns * sizeof *code->known;
}

static void front_add(struct ker_bytes *bytes, const struct trace_task *task)
{
    size_t begin = bytes->used, head = begin + sizeof(struct piece);
    struct front front = {.total = task->code.total, .note_bytes = task->note_bytes, .taken = task->taken};
    ker_bytes_more(bytes, sizeof(struct piece) + sizeof front);
    names_add(bytes, &task->code);
    front.names_bytes = bytes->used - head - sizeof front;
    calls_add(bytes, &task->code.called);
    front.calls_bytes = bytes->used - head - sizeof front - front.names_bytes;
    front.known_bytes = knowns_add(bytes, &task->code);
    ker_bytes_add(bytes, task->note, task->note_bytes);
    struct piece piece = {task->task, 1, bytes->used - head};
    memcpy(bytes->byte + begin, &piece, sizeof piece);
    memcpy(bytes->byte + head, &front, sizeof front);
}

/* The next pieces, as many as belong into a round; offset: by rank, as in ker_comm_exchange. */
static void round_make(struct hand *h, struct ker_bytes *bytes, size_t *offset)
{
    int ranks = ker_comm_size(h->comm);
    bytes->used = 0;
    memset(offset, 0, ((size_t)ranks + 1) * sizeof *offset);
    while (h->sent < h->outs && bytes->used < ROUND_BYTES) {
        struct outgoing *out = &h->out[h->sent];
        const struct trace_code *code = &out->task->code;
        size_t before = bytes->used;
        if (!h->front_sent)
            front_add(bytes, out->task);
        h->front_sent = true;
        size_t room = bytes->used < ROUND_BYTES ? ROUND_BYTES - bytes->used : 0;
        uint64_t rest = code->total - h->at, most = rest < room ? rest : room;
        struct piece piece = {out->task->task, 0, most};
        ker_bytes_add(bytes, &piece, sizeof piece);
        trace_code_copy(code, h->at, ker_bytes_more(bytes, (size_t)most), (size_t)most);
        h->at += most;
        offset[out->rank + 1] += bytes->used - before;
        if (h->at < code->total)
            break;
        task_release(out->task);
        h->sent++;
        h->at = 0;
        h->front_sent = false;
    }
    for (int rank = 0; rank < ranks; rank++)
        offset[rank + 1] += offset[rank];
}

/* ---- received ---- */

/* Those with this text, which may have come before. */
static const char *const *names_get(struct trace_store *store, const uint8_t *text, size_t bytes)
{
    for (uint32_t i = 0; i < store->others; i++)
        if (store->other[i]->bytes == bytes && memcmp(store->other[i]->text, text, bytes) == 0)
            return store->other[i]->name;
    struct trace_names *names = ker_alloc(sizeof *names + bytes);
    names->bytes = bytes;
    memcpy(names->text, text, bytes);
    uint32_t count = 0;
    for (const char *at = names->text; at < names->text + bytes; at += strlen(at) + 1)
        names->name[++count] = at;
    *KER_APPEND(store->other, store->others) = names;
    return names->name;
}

static void calls_get(struct trace_called *called, struct trace_functions *all, const uint8_t *at,
                      const uint8_t *end)
{
    while (at < end) {
        struct sent_call sent;
        memcpy(&sent, at, sizeof sent);
        at += sizeof sent;
        uint32_t index = trace_called_find(called, all, (const char *)at, (size_t)sent.name_bytes - 1);
        at += sent.name_bytes;
        called->call[index].calls = sent.calls;
        called->call[index].bytes = sent.bytes;
        called->call[index].time_ns = sent.time_ns;
    }
    trace_called_fit(called);
}

static void knowns_get(struct trace_code *code, const uint8_t *at, size_t bytes)
{
    code->knowns = (uint32_t)(bytes / sizeof *code->known);
    code->known = bytes ? memcpy(ker_alloc(bytes), at, bytes) : NULL;
    for (uint32_t i = 0; i < code->knowns; i++)
        code->known[i].call = code->name[(uintptr_t)code->known[i].call];
}

static void front_get(struct trace_store *store, struct trace_task *task, const uint8_t *at)
{
    struct front front;
    memcpy(&front, at, sizeof front);
    at += sizeof front;
    task->taken = front.taken;
    task->code.store = store;
    trace_code_expect(&task->code, front.total);
    task->code.name = names_get(store, at, (size_t)front.names_bytes);
    at += front.names_bytes;
    calls_get(&task->code.called, &store->functions, at, at + front.calls_bytes);
    at += front.calls_bytes;
    knowns_get(&task->code, at, (size_t)front.known_bytes);
    at += front.known_bytes;
    if (front.note_bytes) {
        task->note = ker_alloc((size_t)front.note_bytes);
        task->note_bytes = (size_t)front.note_bytes;
        memcpy(task->note, at, task->note_bytes);
    }
}

static void round_get(struct trace_store *store, const struct trace_tasks *own, const uint8_t *at,
                      const uint8_t *end)
{
    while (at < end) {
        struct piece piece;
        memcpy(&piece, at, sizeof piece);
        at += sizeof piece;
        struct trace_task *task = trace_tasks_find(own, piece.task);
        ker_assert(task);
        if (piece.is_front)
            front_get(store, task, at);
        else
            trace_code_fill(&task->code, at, (size_t)piece.bytes);
        at += piece.bytes;
    }
}

/* ---- who has what ---- */

/* Where each task belongs; malloc'ed. */
static int64_t *owners_find(const uint32_t *own, uint32_t count, uint32_t tasks, struct ker_comm *comm)
{
    int64_t *owner = ker_alloc((tasks + (size_t)1) * sizeof *owner);
    for (uint32_t i = 0; i < count; i++)
        owner[own[i]] = 1 + ker_comm_rank(comm);
    ker_comm_max_i64(comm, owner, tasks);
    return owner;
}

KER_ORDER_BY(outgoing_compare, struct outgoing, rank, task->task)

/* What stays moves to `own`, what others get is listed, what nobody needs is dropped. */
static void tasks_sort(struct hand *h, struct trace_tasks *had, const struct trace_tasks *own,
                       const int64_t *owner)
{
    h->out = ker_alloc((had->count + (size_t)1) * sizeof *h->out);
    for (uint32_t i = 0; i < had->count; i++) {
        struct trace_task *task = &had->task[i];
        int64_t rank = owner[task->task] - 1;
        if (rank == ker_comm_rank(h->comm)) {
            *trace_tasks_find(own, task->task) = *task;
            *task = (struct trace_task){.task = task->task};
        } else if (rank >= 0 && task->code.total) {
            h->out[h->outs++] = (struct outgoing){task, (int)rank};
        }
    }
    if (h->outs)
        qsort(h->out, h->outs, sizeof *h->out, outgoing_compare);
}

static void rounds(struct hand *h, const struct trace_tasks *own)
{
    struct ker_bytes bytes = {0};
    size_t *offset = ker_alloc(((size_t)ker_comm_size(h->comm) + 1) * sizeof *offset), *from;
    for (;;) {
        uint64_t more = h->sent < h->outs;
        void *all;
        ker_comm_or_u64(h->comm, &more, 1);
        if (!more)
            break;
        round_make(h, &bytes, offset);
        ker_comm_exchange(h->comm, bytes.byte, offset, &all, &from);
        round_get(h->store, own, all, (uint8_t *)all + from[ker_comm_size(h->comm)]);
        free(all);
        free(from);
    }
    free(offset);
    free(bytes.byte);
}

void trace_tasks_hand(struct trace_tasks *had, struct trace_store *store, const uint32_t *own, uint32_t count,
                      uint32_t tasks, struct ker_comm *comm)
{
    struct hand h = {.store = store, .comm = comm};
    struct trace_tasks next = {ker_alloc((count + (size_t)1) * sizeof *next.task), count};
    for (uint32_t i = 0; i < count; i++)
        next.task[i].task = own[i];
    int64_t *owner = owners_find(own, count, tasks, comm);
    tasks_sort(&h, had, &next, owner);
    free(owner);
    rounds(&h, &next);
    trace_tasks_release(had);
    free(h.out);
    *had = next;
}
