/* copies.c - messages between tasks of one node with more than the simple model: copies from memory to
 * memory.
 *
 * A message waits for its latency, and is then copied: once, from the sender's memory to the receiver's, by
 * the receiver's core; or twice, by the sender's core into a buffer in the sender's domain, and by the
 * receiver's from there. What a task reads of another one's memory by itself (NODE_QUEUE_ONCE) is copied
 * once, and needs no system call. A copy by itself moves node.memory_bandwidth. It reads from one domain and
 * writes to another one, or the same, and takes its rate of their controllers, and of the links of their
 * sockets if these are two. Copies continue beside what the cores work: the model has no core that a message
 * waits for.
 * With node.loopback messages pass through the sender's nearest adapter, and back: one flow over its bus.
 */
#include "nodes/private.h"

/* The units of its sender and receiver; where none are named both are the first. */
static void units_of(const struct node *n, uint32_t cores, uint32_t *from, uint32_t *to)
{
    uint32_t units = node_structure_of(n)->units;
    *from = cores & UINT16_MAX;
    *to = cores >> 16;
    if (*from >= units || *to >= units)
        *from = *to = 0;
}

/* ---- through an adapter and back ---- */

static uint32_t loop_adapter(const struct node_structure *s, uint32_t from)
{
    return s->core[s->unit_core[from]].adapter;
}

static ker_time loop_way(const struct node *n, uint32_t cores)
{
    const struct node_structure *s = node_structure_of(n);
    uint32_t from, to;
    units_of(n, cores, &from, &to);
    return node_path_to(n, from, loop_adapter(s, from));
}

ker_time node_loop_back(const struct node *n)
{
    return n->system->model.bus_latency + n->system->model.interrupt_latency;
}

static void loop_begin(struct node *n, ker_time now, uint32_t message)
{
    const struct node_structure *s = node_structure_of(n);
    const struct node_delayed *d = &n->system->delayed.at[message];
    uint32_t from, to;
    units_of(n, d->core, &from, &to);
    uint32_t adapter = loop_adapter(s, from), bus = s->adapter_bus[adapter];
    struct node_load load = {.number = node_cores(n)->copies++,
                             .message = message,
                             .service = (uint8_t)node_receiver_of(d->service),
                             .kind = NODE_LOAD_LOOP,
                             .compute = n->system->carrier.alone(node_adapter(n, adapter), d->bytes),
                             .began = now,
                             .flow = {.left = d->bytes * NODE_BYTE}};
    node_dma_between(n, &load.flow, node_unit_domain(s, from), bus, false);
    node_dma_between(n, &load.flow, node_unit_domain(s, to), bus, true);
    node_load_start(n, &load);
}

/* ---- from memory to memory ---- */

static bool is_copied_twice(const struct node *n, uint64_t bytes, uint8_t queue)
{
    return bytes < n->system->model.single_copy_size && queue != NODE_QUEUE_ONCE;
}

ker_time node_copy_latency(const struct node *n, uint32_t cores, uint64_t bytes, uint8_t queue)
{
    const struct node_model *model = &n->system->model;
    const struct node_structure *s = node_structure_of(n);
    uint32_t from, to;
    if (model->loopback && queue != NODE_QUEUE_ONCE)
        return loop_way(n, cores) + (bytes ? 0 : node_loop_back(n));
    units_of(n, cores, &from, &to);
    ker_time latency = model->memory_latency;
    switch (node_domain_distance(s, node_unit_domain(s, from), node_unit_domain(s, to))) {
    case NODE_OTHER_SOCKET:
        latency += model->socket_latency;
        break;
    case NODE_SAME_SOCKET:
        latency += model->domain_latency;
        break;
    default:
        break;
    }
    bool asks = bytes && !is_copied_twice(n, bytes, queue) && queue != NODE_QUEUE_ONCE;
    return latency + (asks ? model->single_copy_latency : 0);
}

/* Begins a copy from one domain to another. */
static void copy_start(struct node *n, ker_time now, struct node_load *load, uint32_t from, uint32_t to)
{
    const struct node_memory *memory = n->system->memory;
    const struct node_structure *s = node_structure_of(n);
    uint64_t bytes = n->system->delayed.at[load->message].bytes;
    load->began = now;
    ker_time alone = ker_serialisation(bytes, n->system->model.memory_rate);
    load->compute = alone ? alone : 1; /* so that its bytes are not moved in no time */
    load->flow = (struct node_flow){.left = bytes * NODE_BYTE};
    node_flow_through(&load->flow, from, 1);
    node_flow_through(&load->flow, to, 1);
    if (s->domain_socket[from] != s->domain_socket[to]) {
        node_flow_through(&load->flow, node_memory_link(memory, s->domain_socket[from], false), 1);
        node_flow_through(&load->flow, node_memory_link(memory, s->domain_socket[to], true), 1);
    }
    node_load_start(n, load);
}

bool node_copy_begin(struct node *n, ker_time now, uint32_t message)
{
    const struct node_structure *s = node_structure_of(n);
    const struct node_delayed *d = &n->system->delayed.at[message];
    uint32_t from, to;
    if (!d->bytes || d->core == NODE_COPIED)
        return false;
    if (n->system->model.loopback && d->queue != NODE_QUEUE_ONCE) {
        loop_begin(n, now, message);
        return true;
    }
    units_of(n, d->core, &from, &to);
    bool twice = is_copied_twice(n, d->bytes, d->queue);
    struct node_load load = {.number = node_cores(n)->copies++,
                             .message = message,
                             .service = (uint8_t)node_receiver_of(d->service),
                             .core = twice ? from : to,
                             .kind = twice ? NODE_LOAD_FIRST : NODE_LOAD_COPY};
    copy_start(n, now, &load, node_unit_domain(s, from), node_unit_domain(s, twice ? from : to));
    return true;
}

bool node_copy_ended(struct node *n, ker_time now, const struct node_load *ended)
{
    const struct node_structure *s = node_structure_of(n);
    if (ended->kind == NODE_LOAD_COPY)
        return true;
    struct node_load load = *ended;
    uint32_t from, to;
    units_of(n, n->system->delayed.at[load.message].core, &from, &to);
    load.core = to;
    load.kind = NODE_LOAD_COPY;
    copy_start(n, now, &load, node_unit_domain(s, from), node_unit_domain(s, to));
    return false;
}
