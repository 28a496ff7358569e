/* simulate.c - the stages that make the components and run the engine. */
#include "run/stages.h"

#include <stdlib.h>
#include <time.h>

#define LATEST_END                                                                                           \
    (8000000 * KER_S) /* 92 days; behind it there is room for any single delay before 63 bits are full */

static void progress_show(void *context, ker_time at, uint64_t records)
{
    struct run *run = context;
    stats_progress_show(run->progress, at, records);
    if (run->control && run->workers < ker_comm_size(run->comm))
        ker_request_hear(run->comm);
    if (run->control)
        run_checkpoints_clock(run);
}

static void settle(void *context, ker_time until)
{
    struct run *run = context;
    run->carrier->settle(run->network, until);
}

struct ker_engine_setup run_engine_setup(struct run *run, uint32_t components)
{
    static const struct ker_word orders[] = {{"forward", KER_ORDER_FORWARD},
                                             {"backward", KER_ORDER_BACKWARD},
                                             {"shuffled", KER_ORDER_SHUFFLED},
                                             {NULL, 0}};
    return (struct ker_engine_setup){
        .comm = run->working,
        .components = components ? components : 1,
        .order = (enum ker_cell_order)ker_config_number(run->config, "engine.cell_order", orders),
        .seed = run->seed,
        .hosts = (int)ker_config_int(run->config, "engine.hosts"),
        .yield = run->yield,
        .progress = progress_show,
        .context = run,
    };
}

static struct ker_engine *engine_make(struct run *run)
{
    struct ker_engine_setup setup = run_engine_setup(run, run->layout.components);
    const struct part_layout *l = &run->layout;
    uint32_t *tile = part_layout_tiles(l, (uint32_t)ker_comm_rank(run->working));
    setup.largest_cell = l->largest_cell;
    setup.lookahead = l->lookahead;
    if (tile)
        setup.tiles = (struct ker_tiles){.tile = tile,
                                         .count = l->tiles.count,
                                         .delay = l->tiles.delay,
                                         .block = l->tiles.block,
                                         .open = l->tiles.open,
                                         .always = ker_config_int(run->config, "engine.block") != 0};
    setup.channel = l->channel;
    setup.channels = l->channels;
    setup.reach = run->carrier->reach(run->network);
    setup.end = run->end < LATEST_END ? run->end : LATEST_END;
    setup.trial = run_adapts(run) && !run->resumed;
    setup.settle = run->carrier->settle ? settle : NULL;
    run_check_times_set(run, &setup);
    struct ker_engine *engine = ker_engine_new(&setup);
    free(tile);
    return engine;
}

void run_span_begin(struct run_span *s)
{
    if (s->begun)
        return;
    s->begun = ker_clock_ns(CLOCK_MONOTONIC);
    s->cpu_begun = ker_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void span_end(struct run_span *s)
{
    s->wall = ker_clock_ns(CLOCK_MONOTONIC) - s->begun;
    s->cpu = ker_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - s->cpu_begun;
}

/* What runs on the nodes of this rank, which are attached in this order. */
static void services_attach(struct run *run, const uint32_t *nodes, uint32_t count)
{
    void **state = ker_alloc(sizeof *state * (count + 1u) * (run->services.count + 1u));
    node_service_list_attach(run->listed, nodes, count, state);
    run_timeline_make(run);
    task_system_attach(run->tasks, nodes, count, state);
    node_system_attach(run->nodes, run->network, count, state);
    free(state);
    task_system_agree(run->tasks, run->working, &run->error);
    run->batches = run_batches_new();
}

/* Switches and nodes of this rank; returns its nodes, malloc'ed. */
static uint32_t *network_build(struct run *run, uint32_t *count)
{
    run_span_begin(&run->simulated);
    run->engine = engine_make(run);
    run->nodes = node_system_new(&run->model, &run->noise, &run->services, run->carrier, run->engine);
    struct net_host host = node_system_host(run->nodes);
    run->carrier->build(run->network, run->engine, &run->layout, &host);
    free(run->parts.rank);
    run->parts.rank = NULL; /* what else is known of the partition is reported by --check */
    return run->carrier->nodes(run->network, count);
}

/* Ranks that sleep have no nodes, but may have read traces for those that work. */
void run_components_build(struct run *run)
{
    uint32_t count = 0, *nodes = run->working ? network_build(run, &count) : NULL;
    enum ker_status status = task_system_prepare(run->tasks, nodes, count, run->comm, &run->error);
    if (run->working && status == KER_OK)
        services_attach(run, nodes, count);
    if (status == KER_OK)
        run_skip_make(run);
    free(nodes);
}

static double tasks_done(const void *context)
{
    const struct run *run = context;
    return task_system_done(run->tasks);
}

enum ker_end run_engine(struct run *run)
{
    enum ker_end found = KER_END_DRAINED;
    int64_t at = 0;
    run->progress = stats_progress_new(run->args->quiet || !run->control, run->end, tasks_done, run);
    if (run->working) {
        run_after_hold(run);
        found = ker_engine_run(run->engine, &at);
        span_end(&run->simulated);
    }
    run->ended_at = at;
    if (ker_memory_lack())
        ker_fail(&run->error, KER_RUN_FAILED, "out of memory: %s; results are written up to about here",
                 ker_memory_lack());
    stats_progress_free(run->progress);
    ker_comm_meet(run->comm, run->working ? NULL : ker_request_pass);
    ker_request_settle(run->comm);
    return found;
}

void run_simulate(struct run *run)
{
    enum ker_end found = run_engine(run);
    run->lost = found == KER_END_TRIAL || run->moved;
    ker_comm_broadcast(run->comm, &run->lost, sizeof run->lost);
    ker_comm_broadcast(run->comm, &run->moved, sizeof run->moved);
    if (run->lost)
        return;
    run_ends_settle(run, found);
    if (run->working)
        ker_engine_abandon(run->engine); /* room for the tables of the report */
}
