/* place.c - the stages that divide the system among the ranks: seats, partition, layout. */
#include "run/stages.h"

#include <stdlib.h>

void run_seats_take(struct run *run)
{
    struct part_seats seats = {1, false};
    if (!run->alone)
        seats = part_bind(run->comm, run->config);
    run->yield = seats.yield;
    run->workers = seats.working;
    run->working = ker_comm_first(run->comm, run->workers);
}

#define MANY_COMPONENTS 100000 /* fewer than this many fit into the memory of any host */

/* May one rank simulate alone where several were asked for? Not where they are needed for their memory, or
 * all are to work whatever it costs. */
bool run_adapts(const struct run *run)
{
    const struct route_summary *sum = route_summarise(run->topology);
    return ker_config_bool(run->config, "partition.adapt") &&
           !ker_config_bool(run->config, "partition.oversubscribe") &&
           (ker_comm_host_size(run->comm) == ker_comm_size(run->comm) ||
            sum->switches + route_hosts(sum) < MANY_COMPONENTS);
}

void run_seats_one(struct run *run)
{
    if (run->workers == 1)
        return;
    run->workers = 1;
    ker_comm_release(run->working);
    run->working = ker_comm_first(run->comm, 1);
}

/* All ranks have read, so that all have found what is wrong; few are left to work. */
void run_seats_leave(struct run *run)
{
    bool few = task_system_tasks(run->tasks) <= TASK_FEW;
    if (run->workers == 1 || !few || !run_adapts(run))
        return;
    run->alone = true;
    run_seats_one(run);
}

/* What there is, as a list of groups that nothing below here looks into. */
static void groups_make(struct run *run)
{
    run->carrier->groups_add(run->network, &run->groups, run->model.direct);
    part_groups_divide(&run->groups, (uint32_t)run->workers);
}

/* Rank 0 partitions. */
void run_partition_make(struct run *run)
{
    uint32_t ranks = (uint32_t)run->workers;
    groups_make(run);
    if (ranks == 1 && part_check(run->config, &run->error) == KER_OK) {
        run->parts = (struct part_result){1, NULL, KER_TIME_MAX, 0, 1.0};
    } else if (ranks > 1 && run->control) {
        enum ker_status status =
            part_groups_split(&run->parts, &run->groups, ranks, run->config, &run->error);
        if (status == KER_OK && run->parts.ranks < ranks)
            ker_warn("%u of %u ranks have nothing to simulate and idle", ranks - run->parts.ranks, ranks);
    }
}

/* Not where adapters follow whole routes, where all of them are proved or written, and where there are no
 * switches that ask. */
bool run_routes_divided(const struct run *run)
{
    bool follow = ker_config_bytes(run->config, "routing.hop_bytes") > 0;
    return !run->args->check && !run->args->table && !follow && run->carrier->switch_at &&
           ker_comm_size(run->comm) > 1;
}

static void routes_own(struct run *run)
{
    if (!run_routes_divided(run))
        return;
    uint32_t switches = route_summarise(run->topology)->switches, *rank = ker_alloc(sizeof *rank * switches);
    for (uint32_t id = 0; id < switches; id++)
        rank[id] = run->carrier->switch_at(run->network, &run->layout, id).rank;
    route_own(run->topology, rank, (uint32_t)ker_comm_rank(run->comm));
    free(rank);
}

/* All get the ranks of the vertices. */
static void ranks_share(struct run *run)
{
    uint32_t vertices = run->groups.vertices, *rank = run->parts.rank;
    rank = rank ? rank : ker_alloc(sizeof *rank * vertices);
    ker_comm_broadcast(run->comm, &run->parts, sizeof run->parts);
    run->parts.rank = rank;
    ker_comm_broadcast(run->comm, rank, sizeof *rank * vertices);
}

static uint32_t block_of(const struct run *run)
{
    uint32_t block = KER_LEAST_BLOCK, asked = (uint32_t)ker_config_int(run->config, "engine.block");
    while (asked && block < asked)
        block *= 2;
    return asked ? block : ker_engine_tile_block(run->groups.components);
}

/* All know from them where every component lives. */
void run_layout_make(struct run *run)
{
    if (run->workers > 1)
        ranks_share(run);
    static const struct ker_word cells[] = {{"single", PART_CELLS_SINGLE},
                                            {"switch", PART_CELLS_VERTEX},
                                            {"group", PART_CELLS_NATURAL},
                                            {NULL, 0}};
    part_layout_make(&run->layout, &run->groups, run->parts.rank,
                     (enum part_cell_size)ker_config_number(run->config, "engine.cells", cells),
                     block_of(run), ker_comm_rank(run->comm), run->workers);
    routes_own(run);
}
