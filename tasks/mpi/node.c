/* node.c - what the MPI model asks of its node: messages, timers, and the list of tasks that are ready to
 * run.
 *
 * Whatever is asked for counts as open in its job until the node calls back (mpi.c). A completion only puts
 * its task on the list: tasks run one after the other in later steps of the node, so nothing recurses into a
 * running task. Invariant: a task is on the list at most once (task.ready).
 */
#include "tasks/mpi/state.h"

#include <string.h>

static inline __attribute__((always_inline)) void transmit(struct task_mpi *mpi, struct task_mpi_node *node,
                                                           ker_time now, uint32_t core, uint32_t destination,
                                                           const struct task_wire *wire, uint64_t cookie,
                                                           ker_time delay, bool once)
{
    struct net_envelope envelope;
    struct node_message m = {.destination = destination,
                             .bytes = task_wire_payload(wire),
                             .envelope = &envelope,
                             .cookie = cookie,
                             .core = core,
                             .delay = delay,
                             .priority = (uint8_t)mpi->job[wire->job].job->priority,
                             .queue = NET_QUEUE_SEND};
    if (task_wire_begins(wire) && destination != node->node)
        m.delay += mpi->model.doorbell;
    if (wire->kind == TASK_WIRE_DATA) {
        m.queue = mpi->rendezvous == TASK_RENDEZVOUS_READ ? NET_QUEUE_READ : NET_QUEUE_SEND;
    } else if (wire->kind == TASK_WIRE_ANSWER) {
        m.queue = NET_QUEUE_READ;
    } else if (wire->kind != TASK_WIRE_EAGER && wire->kind != TASK_WIRE_PART && wire->kind != TASK_WIRE_PUT &&
               wire->kind != TASK_WIRE_FETCH) {
        m.queue = NET_QUEUE_CONTROL;
        m.priority = mpi->control_priority >= 0 ? (uint8_t)mpi->control_priority : m.priority;
    }
    memcpy(&envelope, wire, sizeof envelope);
    if (wire->kind == TASK_WIRE_DATA && !mpi->timeline && !mpi->waits) { /* which look at the rest */
        struct task_wire sent = *wire;
        task_wire_shorten(&sent);
        memcpy(&envelope, &sent, sizeof envelope);
    }
    mpi->job[wire->job].open += 1 + (cookie != 0); /* its arrival, and the end of its sending */
    if (once)
        m.queue = NODE_QUEUE_ONCE;
    mpi->outside.send(node->net, now, mpi->service, &m);
}

void task_transmit(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now, uint32_t core,
                   uint32_t destination, const struct task_wire *wire, uint64_t cookie, ker_time delay)
{
    transmit(mpi, node, now, core, destination, wire, cookie, delay, false);
}

void task_transmit_once(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now, uint32_t cores,
                        const struct task_wire *wire)
{
    transmit(mpi, node, now, cores, node->node, wire, 0, 0, true);
}

void task_sleep(struct task_mpi *mpi, struct task_state *task, ker_time until)
{
    struct task_mpi_node *node = task_node_of(mpi, task);
    task->busy = true;
    if (task->streams)
        task->streams->stream[task->streams->current].until = until;
    mpi->job[task->job].open++;
    mpi->outside.timer(node->net, until, mpi->service, task->seat);
}

static inline void list_add(struct task_mpi *mpi, struct task_state *task)
{
    struct task_mpi_node *node = task_node_of(mpi, task);
    uint32_t name = task_index(mpi, task) + 1;
    task->ready_next = 0;
    if (node->ready_last)
        mpi->task[node->ready_last - 1].ready_next = name;
    else
        node->ready_first = name;
    node->ready_last = name;
}

void task_list(struct task_mpi *mpi, struct task_state *task)
{
    list_add(mpi, task);
}

void task_enqueue(struct task_mpi *mpi, struct task_state *task)
{
    task->ready = true;
    if (__builtin_expect(!task->streams, 1) || task_stream_push(task))
        list_add(mpi, task);
}

void task_act(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    if (task->acted == now + 1)
        return;
    task->acted = now + 1;
    uint32_t current = task_stream_select(task, 0);
    task_owe(task, mpi->progress_cost);
    task_stream_select(task, current);
}

void task_ready(struct task_mpi *mpi, struct task_state *task)
{
    if (!task->blocked || task->ready)
        return;
    if (__builtin_expect(mpi->waits, 0))
        task_waits_keep(mpi, task);
    task_enqueue(mpi, task);
}
