/* dma.c - adapters read and write memory: a flow for each packet.
 *
 * A flow passes through the controller of the memory's domain, through the links of the sockets where the
 * adapter is on another one, and through the adapter's bus, which has a direction to adapters and one from
 * them. What it moves at most by itself is what the adapter says.
 */
#include "nodes/private.h"

static uint32_t bus_socket(const struct node_structure *s, uint32_t bus)
{
    return s->bus_socket[bus];
}

void node_dma_between(const struct node *n, struct node_flow *flow, uint32_t domain, uint32_t bus,
                      bool from_adapter)
{
    const struct node_memory *memory = n->system->memory;
    const struct node_structure *s = node_structure_of(n);
    uint32_t here = s->domain_socket[domain], there = bus_socket(s, bus);
    node_flow_through(flow, domain, 1);
    if (here != there) {
        node_flow_through(flow, node_memory_link(memory, here, from_adapter), 1);
        node_flow_through(flow, node_memory_link(memory, there, !from_adapter), 1);
    }
    node_flow_through(flow, node_memory_bus(memory, bus, from_adapter), 1);
}

/* ---- packets ---- */

static void packet_begin(struct node *n, ker_time now, enum node_load_kind kind, uint32_t adapter,
                         uint32_t domain, uint64_t bytes, ker_time alone)
{
    struct node_load load = {.number = node_cores(n)->copies++,
                             .message = adapter,
                             .kind = (uint8_t)kind,
                             .compute = alone,
                             .began = now,
                             .flow = {.left = bytes * NODE_BYTE}};
    node_dma_between(n, &load.flow, domain, node_structure_of(n)->adapter_bus[adapter],
                     kind == NODE_LOAD_WRITE);
    node_load_start(n, &load);
}

void node_dma_read(void *node, ker_time now, uint32_t port, uint32_t memory, uint64_t bytes, ker_time alone)
{
    const struct node_structure *s = node_structure_of(node);
    uint32_t domain = memory == NET_NO_MEMORY ? s->adapter_domain[port] : memory;
    packet_begin(node, now, NODE_LOAD_READ, port, domain, bytes, alone);
}

void node_dma_write(void *node, ker_time now, uint32_t port, uint32_t service,
                    const struct net_envelope *envelope, uint64_t bytes, ker_time alone)
{
    struct node *n = node;
    const struct node_structure *s = node_structure_of(n);
    service = node_receiver_of(service);
    const struct node_service *receiver = n->system->services->at[service].service;
    uint32_t domain = s->adapter_domain[port];
    if (envelope && receiver->receiver && n->state[service])
        domain = node_unit_domain(s, receiver->receiver(n->state[service], envelope));
    packet_begin(n, now, NODE_LOAD_WRITE, port, domain, bytes, alone);
}

uint32_t node_dma_memory(const struct node *n, uint32_t core)
{
    uint32_t unit = core & UINT16_MAX;
    return unit < node_structure_of(n)->units ? node_unit_domain(node_structure_of(n), unit) : NET_NO_MEMORY;
}
