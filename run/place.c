/* place.c - the stages that divide the system among the ranks: seats, partition, layout. */
#include "run/stages.h"

#include <stdlib.h>

void run_seats_take(struct run *run)
{
    struct part_seats seats = part_bind(run->comm, run->config);
    run->yield = seats.yield;
    run->workers = seats.working;
    run->working = ker_comm_first(run->comm, run->workers);
}

/* Vertices are switches; with few switches per rank the nodes are vertices, too. */
static bool nodes_apart(const struct run *run)
{
    const struct route_summary *sum = route_summarise(run->topology);
    return run->workers > 1 && sum->switches < 4u * (uint32_t)run->workers;
}

static uint32_t vertices_of(const struct run *run)
{
    const struct route_summary *sum = route_summarise(run->topology);
    return sum->switches + (nodes_apart(run) ? sum->nodes : 0);
}

/* Rank 0 partitions. */
void run_partition_make(struct run *run)
{
    uint32_t ranks = (uint32_t)run->workers;
    if (ranks == 1 && part_check(run->config, &run->error) == KER_OK) {
        run->parts =
            (struct part_result){1, ker_alloc(sizeof(uint32_t) * vertices_of(run)), KER_TIME_MAX, 0, 1.0};
    } else if (ranks > 1 && run->control) {
        struct part_graph graph = {0};
        net_graph_make(&graph, run->network, nodes_apart(run));
        enum ker_status status = part_graph_split(&run->parts, &graph, ranks, run->config, &run->error);
        part_graph_release(&graph);
        if (status == KER_OK && run->parts.ranks < ranks)
            ker_warn("%u of %u ranks have nothing to simulate and idle", ranks - run->parts.ranks, ranks);
    }
}

/* All get the ranks of the vertices, and from them know where every component lives. */
void run_layout_make(struct run *run)
{
    uint32_t vertices = vertices_of(run), *rank = run->parts.rank;
    if (ker_comm_size(run->comm) > 1) {
        rank = rank ? rank : ker_alloc(sizeof *rank * vertices);
        ker_comm_broadcast(run->comm, &run->parts, sizeof run->parts);
        run->parts.rank = rank;
        ker_comm_broadcast(run->comm, rank, sizeof *rank * vertices);
    }
    net_layout_make(&run->layout, run->network, rank,
                    nodes_apart(run) ? rank + route_summarise(run->topology)->switches : NULL,
                    (enum net_cells)ker_config_choice(run->config, "engine.cells"), ker_comm_rank(run->comm),
                    ker_comm_size(run->comm));
    /* adapters that follow whole routes need those of others' switches, too */
    bool walks = ker_config_bytes(run->config, "routing.hop_bytes") > 0;
    if (!run->args->check && !walks && ker_comm_size(run->comm) > 1)
        route_own(run->topology, rank, (uint32_t)ker_comm_rank(run->comm));
}
