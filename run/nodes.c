/* nodes.c - the model of nodes above a carrier: its stages, and what a run asks of both. */
#include "run/checkpoint.h"

static struct net_totals nodes_totals(const struct run *run)
{
    return run->carrier->totals(run->network);
}

static const char *nodes_conserved(const struct run *run, bool lost)
{
    const char *wrong = run->carrier->conserved(run->network, lost);
    return wrong || lost || !run->nodes ? wrong : node_system_conserved(run->nodes);
}

static void nodes_complete(struct run *run)
{
    if (run->carrier->complete)
        run->carrier->complete(run->network);
}

static void nodes_save(struct run *run, struct ker_state_writer *w)
{
    run->carrier->save(run->network, w);
    node_system_save(run->nodes, w);
}

static int nodes_loading(struct run *run, struct ker_engine_loading *engine, struct ker_state_loader *loaders)
{
    struct net_loading *net = run->carrier->loading_new(run->network, run->control);
    int count = (int)run->carrier->loaders(net, loaders);
    engine->find = run->carrier->find;
    engine->context = net;
    node_loaders(run->nodes, loaders + count);
    return count + NODE_STATES;
}

static void nodes_loaded(struct run *run, struct ker_engine_loading *engine)
{
    run->carrier->loading_free(engine->context);
}

static void nodes_forked(struct run *run)
{
    const struct run_resumed *r = run->resumed;
    ker_time end =
        ker_config_has(r->former, "run.end") ? ker_config_time(r->former, "run.end") : KER_TIME_MAX;
    if (run->carrier->forked)
        run->carrier->forked(run->network, r->index.at, r->former,
                             run->measure_to < end ? run->measure_to : end);
    if (r->renews)
        node_system_renew(run->nodes, r->index.at);
    if (ker_config_count(run->config, "jobs") > ker_config_count(r->former, "jobs"))
        node_system_forked(run->nodes, r->index.at);
}

static void nodes_free(struct run *run)
{
    node_system_free(run->nodes);
    if (run->carrier)
        run->carrier->free(run->network);
}

static bool wants_table(const struct run *run)
{
    return run->args->table || run->args->links;
}

static const struct run_stage stages[] = {
    {"topology", run_topology_make, NULL, RUN_READS},
    {"table", run_table_write, wants_table, RUN_LAST},
    {"seats", run_seats_take},
    {"tasks", run_tasks_read, NULL, RUN_READS},
    {"fewer", run_seats_leave},
    {"network", run_network_read},
    {"proof", run_proof_make, run_wants_check}, /* takes long: behind all that is read */
    {"partition", run_partition_make},
    {"layout", run_layout_make},
    {"build", run_components_build, NULL, RUN_READS},
    {"check", run_sizes_print, run_wants_check, RUN_LAST},
    {"resume", run_resume_load, run_wants_resume},
    {"folder", run_folder_open},
    {"run", run_simulate, NULL, RUN_JOINS}, /* what was measured is written, whatever has happened */
    {"report", run_report},
    {0},
};

const struct run_model run_nodes_model = {
    .stages = stages,
    .totals = nodes_totals,
    .conserved = nodes_conserved,
    .complete = nodes_complete,
    .save = nodes_save,
    .loading = nodes_loading,
    .loaded = nodes_loaded,
    .forked = nodes_forked,
    .free = nodes_free,
};
