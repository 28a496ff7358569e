/* walk.c - what a benchmark takes by the model, with the parameters in it.
 *
 * A collective is gone through by the simulator's own schedules (tasks/mpi/collectives): each task does its
 * rounds as far as the messages that it waits for have been sent, then it is the next one's turn, until all
 * are done. The time of a task is a number and the row of what it consists of; where two meet the later one
 * stays, so that at the end the last task has the critical path, which is a closed form for these values of
 * the parameters. Adapters serve one message after the other, in each direction; nothing else of the network
 * is short.
 */
#include "tasks/mpi/collectives/collective.h"
#include "tools/marsbench/model.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TASKS 2048
#define MOST_MESSAGES 4000000

struct message {
    struct bench_time sent, posted, done, received; /* done: at the sender */
    int32_t from, to, tag;
    double bytes;
    bool is_sent, is_posted, moved;
    uint8_t combines, ends; /* ends: sender and receiver, while they wait for it */
    struct message *next;   /* of its receiver */
};

struct walker {
    struct bench_time now;
    uint32_t round;
    bool ended, waits;
    struct task_coll_round current;
    struct message **wait; /* sends and receives in flight */
    size_t waiting, room;
    struct message *first; /* to it, not both sent and posted yet */
};

struct walk {
    const struct bench_model *m;
    const struct bench_point *point;
    const struct ker_kind *algorithm;
    struct task_coll_view view;
    struct walker *task;
    double *port; /* when adapters are free: of each node all outward, all inward */
    uint64_t messages;
    struct bench_sizes *sizes;
};

static void later(struct bench_time *t, const struct bench_time *other)
{
    if (other->us > t->us)
        *t = *other;
}

static uint32_t node_of(const struct walk *w, int32_t rank)
{
    return (uint32_t)rank / w->point->per_node;
}

static void size_note(struct bench_sizes *sizes, double bytes)
{
    for (size_t i = sizes->count; i-- > 0;)
        if (sizes->bytes[i] == bytes)
            return;
    *KER_APPEND(sizes->bytes, sizes->count) = bytes;
}

/* The port is free from a time on that has no row: waiting for it is the length of what it does before. */
static void port_wait(struct bench_time *t, double free, const struct bench_model *m, size_t rate,
                      double bytes)
{
    if (free > t->us && bytes > 0) {
        double behind = (free - t->us) / m->param[rate].value;
        bench_time_add(m, t, rate, behind);
    }
}

/* The adapter of a node that is free first; side: 2 x node, + 1 inward. */
static double *port_find(const struct walk *w, uint32_t side)
{
    double *port = &w->port[(size_t)side * w->m->adapters], *first = port;
    for (uint32_t a = 1; a < w->m->adapters; a++)
        first = port[a] < *first ? &port[a] : first;
    return first;
}

/* Sent and posted: it goes. */
static void message_move(struct walk *w, struct message *x)
{
    const struct bench_model *m = w->m;
    uint32_t from = node_of(w, x->from), to = node_of(w, x->to);
    bool inside = from == to, eager = x->bytes <= m->eager;
    size_t latency = inside ? m->memory_latency : m->latency,
           rate = inside ? m->memory_rate : bench_rate_at(&m->rate, x->bytes);
    struct bench_time t = x->sent;
    if (!eager) {
        bench_time_add(m, &t, latency, 1);
        later(&t, &x->posted);
        bench_time_add(m, &t, latency, 1);
    }
    double *out = port_find(w, 2 * from), *in = port_find(w, 2 * to + 1),
           wire = x->bytes * m->param[rate].value;
    if (!inside)
        port_wait(&t, *out, m, rate, x->bytes);
    bench_time_add(m, &t, rate, x->bytes);
    *out = inside ? *out : t.us;
    x->done = t;
    bench_time_add(m, &t, latency, 1);
    if (!inside) {
        double free = *in + wire; /* it ends behind the one before by its own length */
        port_wait(&t, free, m, rate, x->bytes);
        *in = t.us;
    }
    x->received = t;
    if (!eager) {
        x->done = t;
        bench_time_add(m, &x->done, latency, 1);
    } else
        later(&x->received, &x->posted);
    x->moved = true;
}

static struct message *message_find(struct walk *w, int32_t from, int32_t to, int32_t tag, bool to_post)
{
    for (struct message *x = w->task[to].first; x; x = x->next)
        if (x->tag == tag && (x->from == from || from == TASK_COLL_ANYBODY || x->from == TASK_COLL_ANYBODY) &&
            (to_post ? !x->is_posted : !x->is_sent))
            return x;
    struct message *x = ker_alloc(sizeof *x);
    x->from = from;
    x->to = to;
    x->tag = tag;
    x->next = w->task[to].first;
    w->task[to].first = x;
    w->messages++;
    return x;
}

static void message_close(struct walk *w, struct message *x)
{
    if (!x->is_sent || !x->is_posted)
        return;
    struct message **at = &w->task[x->to].first;
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    message_move(w, x);
}

static void wait_add(struct walker *t, struct message *x)
{
    *KER_PUSH(t->wait, t->waiting, t->room) = x;
    x->ends++;
}

static void wait_remove(struct message *x)
{
    if (--x->ends == 0)
        free(x);
}

static void round_begin(struct walk *w, int32_t rank)
{
    const struct bench_model *m = w->m;
    struct walker *t = &w->task[rank];
    const struct task_coll_round *r = &t->current;
    if (r->receive_from != TASK_COLL_NOBODY) {
        struct message *x = message_find(w, r->receive_from, rank, r->receive_tag, true);
        x->is_posted = true;
        x->posted = t->now;
        x->combines = r->combines;
        wait_add(t, x);
        message_close(w, x);
    }
    bench_time_add(m, &t->now, m->copy, (double)r->before);
    if (r->send_to == TASK_COLL_NOBODY)
        return;
    double bytes = (double)r->send_bytes;
    bool inside = node_of(w, rank) == node_of(w, r->send_to);
    if (w->sizes)
        size_note(&w->sizes[inside], bytes);
    bench_time_overhead(m, &t->now, inside ? &m->memory : &m->send, bytes);
    struct message *x = message_find(w, rank, r->send_to, r->send_tag, false);
    x->from = rank;
    x->is_sent = true;
    x->sent = t->now;
    x->bytes = bytes;
    wait_add(t, x);
    message_close(w, x);
}

/* All that is in flight is complete; false: not yet. */
static bool round_end(struct walk *w, int32_t rank)
{
    const struct bench_model *m = w->m;
    struct walker *t = &w->task[rank];
    for (size_t i = 0; i < t->waiting; i++)
        if (!t->wait[i]->moved)
            return false;
    for (size_t i = 0; i < t->waiting; i++)
        later(&t->now, t->wait[i]->to == rank ? &t->wait[i]->received : &t->wait[i]->done);
    for (size_t i = 0; i < t->waiting; i++) {
        struct message *x = t->wait[i];
        if (x->to == rank) {
            bool inside = node_of(w, x->from) == node_of(w, rank);
            bench_time_overhead(m, &t->now, inside ? &m->memory : &m->receive, x->bytes);
            bench_time_add(m, &t->now, bench_rate_at(&m->reduce, (double)w->point->bytes),
                           x->combines * x->bytes);
        }
        wait_remove(x);
    }
    t->waiting = 0;
    bench_time_add(m, &t->now, m->copy, (double)t->current.after);
    return true;
}

/* As far as it comes; false: nowhere. */
static bool walker_go(struct walk *w, int32_t rank)
{
    struct walker *t = &w->task[rank];
    bool moved = false;
    w->view.rank = rank;
    while (!t->ended && w->messages < MOST_MESSAGES) {
        if (t->waits) {
            if (!round_end(w, rank))
                return moved;
            t->waits = false;
        }
        moved = true;
        if (!task_coll_round_of(w->algorithm, &w->view, t->round, &t->current)) {
            t->ended = t->waiting == 0;
            t->waits = !t->ended;
            t->current.after = 0;
            continue;
        }
        t->round++;
        round_begin(w, rank);
        t->waits = t->current.fence;
    }
    return moved;
}

const char *bench_algorithm_name(const struct bench_point *p, char *buffer, size_t room)
{
    static const char *const same[][3] = {/* collective (NULL: any), other name, ours */
                                          {"scatter", "basic_linear", "linear_blocking"},
                                          {"scatter", "linear", "linear_blocking"},
                                          {"gather", "basic_linear", "linear_blocking"},
                                          {NULL, "basic_linear", "linear"},
                                          {NULL, "linear_sync", "linear"},
                                          {NULL, "linear_nb", "linear"},
                                          {NULL, "modified_bruck", "bruck"},
                                          {NULL, "brucks", "bruck"},
                                          {NULL, "k_bruck", "bruck"},
                                          {NULL, "neighbour", "neighbor"},
                                          {NULL, "binary_tree", "binary"},
                                          {NULL, "pipeline", "chain"},
                                          {NULL, "in_order", "in_order_binary"},
                                          {NULL, "reduce_scatter_allgather", "rabenseifner"}};
    snprintf(buffer, room, "%s", strncmp(p->algorithm, "default-", 8) == 0 ? p->algorithm + 8 : p->algorithm);
    for (char *c = buffer; *c; c++)
        *c = *c == '-' ? '_' : *c;
    char *end = strrchr(buffer, '_');
    if (end && (strcmp(end, "_ompi") == 0 || strcmp(end, "_mpich") == 0 || strcmp(end, "_over") == 0))
        *end = 0;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if ((!same[i][0] || strcmp(p->collective, same[i][0]) == 0) && strcmp(buffer, same[i][1]) == 0)
            return snprintf(buffer, room, "%s", same[i][2]), buffer;
    return buffer;
}

uint64_t bench_call_bytes(const struct bench_point *p)
{
    static const char *const blocks[] = {"allgather", "alltoall", "gather", "scatter"};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (strcmp(p->collective, blocks[i]) == 0)
            return p->bytes / ((uint64_t)p->nodes * p->per_node);
    return p->bytes;
}

static bool among(const char *of, const char *collective)
{
    size_t length = strlen(collective);
    for (const char *p = of; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (strncmp(p, collective, length) == 0 && (p[length] == '|' || !p[length]))
            return true;
    return false;
}

/* The schedule of a point; false: there is none. */
static bool walk_find(struct walk *w, const struct bench_point *p)
{
    char name[48];
    bench_algorithm_name(p, name, sizeof name);
    for (const struct ker_kind *const *at = task_collectives.list; *at && !w->algorithm; at++) {
        const struct ker_kind *kind = *at;
        if (strcmp(kind->name, name) == 0 && among(kind->of, p->collective) && !task_coll_is_shared(kind) &&
            !task_coll_asks(kind))
            w->algorithm = kind;
    }
    w->view.collective = TASK_COLL_COUNT;
    for (unsigned c = 0; c < TASK_COLL_COUNT; c++)
        if (strcmp(task_coll_name(c), p->collective) == 0)
            w->view.collective = (uint8_t)c;
    if (w->algorithm)
        w->view.fanout = ((const struct task_coll_algorithm *)w->algorithm->operations)->fanout_usual;
    w->view.size = (int32_t)(p->nodes * p->per_node);
    w->view.bytes = bench_call_bytes(p);
    return w->algorithm && w->view.collective != TASK_COLL_COUNT &&
           (uint64_t)p->nodes * p->per_node <= MOST_TASKS;
}

static bool collective_walk(const struct bench_model *m, const struct bench_point *p, struct bench_time *t,
                            struct bench_sizes *sizes)
{
    struct walk w = {.m = m, .point = p, .sizes = sizes};
    if (!walk_find(&w, p))
        return false;
    w.task = ker_alloc((size_t)w.view.size * sizeof *w.task);
    w.port = ker_alloc(2 * (size_t)p->nodes * m->adapters * sizeof *w.port);
    for (int32_t r = 0; r < w.view.size; r++) {
        w.view.rank = r;
        bench_time_add(m, &w.task[r].now, m->copy, (double)task_coll_own_copy(&w.view));
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int32_t r = 0; r < w.view.size; r++)
            moved |= walker_go(&w, r);
    }
    bool ended = true;
    for (int32_t r = 0; r < w.view.size; r++) {
        ended &= w.task[r].ended;
        later(t, &w.task[r].now);
        for (size_t i = 0; i < w.task[r].waiting; i++) /* where it came to no end */
            wait_remove(w.task[r].wait[i]);
        free(w.task[r].wait);
    }
    free(w.task);
    free(w.port);
    return ended;
}

/* Half a round trip, or one of a stream, of which the slowest part counts. */
static void message_walk(const struct bench_model *m, const struct bench_point *p, struct bench_time *t)
{
    double bytes = (double)p->bytes;
    bool inside = p->where != BENCH_NODE;
    size_t latency = inside ? m->memory_latency : m->latency,
           rate = inside ? m->memory_rate : bench_rate_at(&m->rate, bytes);
    const struct bench_knots *send = inside ? &m->memory : &m->send,
                             *receive = inside ? &m->memory : &m->receive;
    struct bench_time wire = {0};
    bench_time_add(m, &wire, rate, bytes);
    if (p->quantity == BENCH_STREAM) {
        bench_time_overhead(m, t, send, bytes);
        struct bench_time other = {0};
        bench_time_overhead(m, &other, receive, bytes);
        later(t, &other);
        later(t, &wire);
        return;
    }
    bench_time_overhead(m, t, send, bytes);
    bench_time_overhead(m, t, receive, bytes);
    bench_time_add(m, t, rate, bytes);
    bench_time_add(m, t, latency, bytes > m->eager ? 3 : 1);
    if (p->where == BENCH_SOCKET)
        bench_time_add(m, t, m->socket_latency, bytes > m->eager ? 3 : 1);
}

bool bench_walk(const struct bench_model *m, const struct bench_point *p, struct bench_time *t,
                struct bench_sizes *sizes)
{
    bool inside = p->where != BENCH_NODE;
    *t = (struct bench_time){0};
    ker_assert(m->adapters);
    if (sizes && (p->quantity == BENCH_PINGPONG || p->quantity == BENCH_STREAM || p->quantity == BENCH_SEND ||
                  p->quantity == BENCH_RECEIVE))
        size_note(&sizes[inside], (double)p->bytes);
    switch (p->quantity) {
    case BENCH_COLLECTIVE:
        return collective_walk(m, p, t, sizes);
    case BENCH_PINGPONG:
    case BENCH_STREAM:
        message_walk(m, p, t);
        return true;
    case BENCH_SEND:
    case BENCH_RECEIVE:
        bench_time_overhead(m, t,
                            inside                      ? &m->memory
                            : p->quantity == BENCH_SEND ? &m->send
                                                        : &m->receive,
                            (double)p->bytes);
        return true;
    case BENCH_COPY:
        bench_time_add(m, t, m->copy, (double)p->bytes);
        return true;
    case BENCH_REDUCE:
        bench_time_add(m, t, bench_rate_at(&m->reduce, (double)p->bytes), (double)p->bytes);
        return true;
    default:
        return false;
    }
}
