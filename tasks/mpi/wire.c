/* wire.c - messages leave for the node where a task runs; there the task is found by its number. */
#include "tasks/mpi/state.h"

/* The task of the node that a message names; the seats are ordered. */
struct task_state *task_on_node(struct task_mpi *mpi, const struct task_mpi_node *node, uint32_t job,
                                uint32_t task)
{
    const struct task_state *t = mpi->task;
    /* The last one is it, if all before are not. */
    uint32_t at = KER_BISECT(i, node->first_task, node->first_task + node->tasks - 1,
                             t[i].job < job || (t[i].job == job && t[i].task < task));
    ker_assert(at < node->first_task + node->tasks && t[at].job == job && t[at].task == task);
    return &mpi->task[at];
}

/* What begins a message of the application, which is counted as in tasks.csv. */
__attribute__((noinline)) static void sent_count(struct task_mpi *mpi, const struct task_wire *wire,
                                                 uint32_t from, uint32_t to, bool leaves)
{
    enum task_sent_kind kind = TASK_SENT_ONE_SIDED;
    if (wire->kind == TASK_WIRE_EAGER || wire->kind == TASK_WIRE_RTS)
        kind = wire->flags & TASK_WIRE_COLLECTIVE ? TASK_SENT_COLLECTIVE : TASK_SENT_POINT_TO_POINT;
    else if (wire->kind == TASK_WIRE_PART)
        kind = TASK_SENT_POINT_TO_POINT;
    else if (wire->kind != TASK_WIRE_PUT && wire->kind != TASK_WIRE_FETCH && wire->kind != TASK_WIRE_ANSWER)
        return;
    task_mpi_sent_add(mpi, &(struct task_mpi_message){kind, wire->job, from, to, leaves, wire->bytes});
}

/* The core that sends it, or the adapter that its send has named; inside a node the cores of both tasks. */
static uint32_t core_of(struct task_mpi *mpi, const struct task_mpi_node *node, const struct task_wire *wire,
                        uint32_t sender, uint32_t to, bool inside)
{
    const struct task_state *from = task_on_node(mpi, node, wire->job, sender);
    if (inside && mpi->model.works)
        return NODE_CORES(from->core, task_on_node(mpi, node, wire->job, to)->core);
    const unsigned sent = 1u << TASK_WIRE_EAGER | 1u << TASK_WIRE_RTS | 1u << TASK_WIRE_DATA;
    bool message = sent >> wire->kind & 1 && !(wire->flags & TASK_WIRE_COLLECTIVE) &&
                   wire->sender; /* else it has no record, as it names no adapter */
    uint32_t rail = message ? task_request_at(mpi, task_request_numbered(from, wire->sender))->rail : 0;
    if (rail)
        return NODE_BY_ADAPTER(rail - 1, from->core);
    return node_model_asks_cores(&mpi->model) || mpi->model.works ? from->core : NODE_ANY_CORE;
}

/* For the critical path: what led to this message, and when it went out. */
__attribute__((noinline)) static void path_note(struct task_mpi *mpi, const struct task_mpi_node *node,
                                                ker_time now, const struct task_wire *wire, uint32_t from,
                                                uint32_t to, uint64_t cookie, ker_time delay)
{
    const struct task_state *task = task_on_node(mpi, node, wire->job, from);
    task_path_act(mpi, task, now, delay, wire, to);
    if (cookie)
        task_cause_sends(mpi, task_request_numbered(task, (uint32_t)cookie), now + delay);
}

/* What is counted, noted, or asks for a core. Apart, so that others need no room for what it calls. */
static __attribute__((noinline)) void send_more(struct task_mpi *mpi, struct task_mpi_node *node,
                                                ker_time now, const struct task_wire *wire, uint32_t to,
                                                uint32_t place, uint64_t cookie, ker_time delay)
{
    uint32_t from = to == wire->destination ? wire->source : wire->destination, core = NODE_ANY_CORE;
    if (mpi->sends_counted)
        sent_count(mpi, wire, from, to, place != node->node);
    if (mpi->path)
        path_note(mpi, node, now, wire, from, to, cookie, place == node->node ? 0 : delay);
    if (node_model_asks_cores(&mpi->model) || mpi->rails) {
        core = core_of(mpi, node, wire, from, to, place == node->node);
        if (mpi->model.loopback && place == node->node && task_wire_begins(wire))
            delay += mpi->model.doorbell;
    }
    task_transmit(mpi, node, now, core, place, wire, cookie, delay);
}

void task_wire_send_late(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now,
                         const struct task_wire *wire, uint32_t to, uint64_t cookie, ker_time delay)
{
    uint32_t place = mpi->outside.node(mpi->outside.jobs, wire->job, to);
    bool more = mpi->sends_counted || mpi->path || node_model_asks_cores(&mpi->model) || mpi->rails;
    if (__builtin_expect(more, 0))
        send_more(mpi, node, now, wire, to, place, cookie, delay);
    else
        task_transmit(mpi, node, now, NODE_ANY_CORE, place, wire, cookie, delay);
}

void task_wire_read(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now,
                    const struct task_wire *wire, uint32_t from)
{
    struct task_state *owner = task_on_node(mpi, node, wire->job, from);
    const struct task_state *reader = task_on_node(mpi, node, wire->job, wire->destination);
    owner->messages_sent++;
    owner->bytes_sent += wire->bytes;
    if (mpi->sends_counted)
        sent_count(mpi, wire, from, wire->destination, false);
    if (mpi->path)
        path_note(mpi, node, now, wire, wire->source, wire->destination, 0, 0);
    uint32_t cores = mpi->model.works ? NODE_CORES(owner->core, reader->core) : NODE_ANY_CORE;
    task_transmit_once(mpi, node, now, cores, wire);
}

void task_wire_send(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now,
                    const struct task_wire *wire, uint32_t to, uint64_t cookie)
{
    task_wire_send_late(mpi, node, now, wire, to, cookie, 0);
}
