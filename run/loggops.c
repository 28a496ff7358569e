/* loggops.c - the stages of a run with network.model = "loggops": processes in place of nodes and a network,
 * which run schedules in GOAL, or the programs of MPI that also run above a network.
 */
#include "run/checkpoint.h"

#include <stdlib.h>

/* Keys that mean nothing, and why. */
struct refused {
    const char *key, *why;
};

static enum ker_status keys_refuse(struct run *run, const struct refused *r)
{
    for (; r->key; r++)
        if (ker_config_has(run->config, r->key))
            return ker_config_fail(run->config, &run->error, r->key, "is not possible with %s", r->why);
    return KER_OK;
}

#define MODEL "network.model = \"loggops\""
#define CALLS "schedules in GOAL, which call no functions of MPI; output.timeline shows what their cpus do"

/* What a run under this model does not have. */
static enum ker_status keys_check(struct run *run, unsigned kinds)
{
    static const struct refused always[] = {{"traffic.pattern", MODEL},
                                            {"services", MODEL},
                                            {"run.packets", MODEL},
                                            {"run.confidence", MODEL},
                                            {NULL, NULL}};
    static const struct refused with_both[] = {{"output.critical_path",
                                                "schedules in GOAL and other programs beside each other: "
                                                "give one of them"},
                                               {NULL, NULL}};
    static const struct refused with_schedules[] = {
        {"output.waits", "schedules in GOAL, whose waits for messages are no calls of MPI; "
                         "output.critical_path and output.timeline show them"},
        {"output.matching", CALLS},
        {"output.calls", CALLS},
        {"output.series.functions", CALLS},
        {"output.series.communicators", CALLS},
        {"output.series.traffic", "schedules in GOAL, whose messages are all of one kind; give "
                                  "output.series.jobs"},
        {"output.hdf5", "schedules in GOAL, as yet"},
        {NULL, NULL}};
    bool total, periods;
    enum ker_status status = keys_refuse(run, always);
    if (!status && kinds == (TASK_LOGGOPS_PROGRAMS | TASK_LOGGOPS_SCHEDULES) &&
        ker_config_bytes(run->config, "output.critical_path"))
        status = keys_refuse(run, with_both);
    if (!status && kinds & TASK_LOGGOPS_SCHEDULES)
        status = keys_refuse(run, with_schedules);
    if (!status && (run->args->table || run->args->links))
        return ker_fail(&run->error, KER_BAD_INPUT, MODEL ": there are no %s",
                        run->args->table ? "routing tables" : "links between switches");
    if (!status && run->resumed && run->resumed->former && kinds & TASK_LOGGOPS_PROGRAMS &&
        task_loggops_kinds(run->resumed->former) == TASK_LOGGOPS_SCHEDULES)
        return ker_fail(
            &run->error, KER_BAD_INPUT,
            "command line: jobs: a run of schedules in GOAL alone continues with further schedules, "
            "not with programs of MPI");
    unsigned levels = stats_matrix_wanted(run->config, &total, &periods);
    if (!status && (total || periods) && levels & ~(1u << STATS_MATRIX_TASK))
        return ker_config_fail(run->config, &run->error, "output.matrix_levels",
                               "with " MODEL " there are tasks only: give [\"task\"]");
    return status;
}

static enum ker_status jobs_read(struct run *run)
{
    enum ker_status status = node_model_init(&run->model, run->config, 1, &run->error);
    if (!status)
        status = task_system_new(&run->tasks, run->config, run->topology, &run->model, &run->services,
                                 run->comm, run->seed, &run->error);
    status = status ?: task_system_services(run->tasks, run->config, NULL, &run->error);
    status = status ?: run_ends_check(run);
    if (!status)
        run_series_check(run);
    return run->error.status;
}

/* Only for the places of tasks: no channels are asked for. */
static enum ker_status topology_read(struct run *run)
{
    if (!ker_config_has(run->config, "topology.kind"))
        return KER_OK;
    if (ker_config_has(run->config, "loggops.nodes"))
        return ker_config_fail(run->config, &run->error, "loggops.nodes",
                               "is beside a topology, which has nodes: give one of them");
    return route_new(&run->topology, run->config, 0, &run->error);
}

static void loggops_read(struct run *run)
{
    unsigned kinds = task_loggops_kinds(run->config);
    if (run->control)
        ker_config_warn(run->config);
    run_phases_read(run);
    run_checkpoints_read(run);
    if (keys_check(run, kinds) != KER_OK || topology_read(run) != KER_OK)
        return;
    if (jobs_read(run) != KER_OK ||
        task_loggops_new(&run->loggops, run->config, run->topology, task_jobs_of(run->tasks),
                         run->resumed && (run->resumed->forked || run->resumed->index.forks > 0),
                         &run->error) != KER_OK)
        return;
    task_loggops_direct(run->loggops, task_system_direct(run->tasks));
    run->programs = kinds & TASK_LOGGOPS_PROGRAMS;
    if (kinds & TASK_LOGGOPS_SCHEDULES)
        task_system_beside(run->tasks, run->loggops);
    run_seats_take(run);
    if (task_loggops_read(run->loggops, (uint32_t)ker_comm_rank(run->comm), (uint32_t)run->workers,
                          ker_config_inputs(run->config), &run->error) == KER_OK &&
        task_loggops_alone(run->loggops))
        run_seats_one(run);
}

/* ---- building ---- */

static void engine_make(struct run *run)
{
    uint32_t rank = (uint32_t)ker_comm_rank(run->working);
    ker_time lookahead = task_loggops_lookahead(run->loggops);
    struct ker_channel *channel = ker_alloc(sizeof *channel * (size_t)run->workers);
    uint32_t channels = 0;
    for (uint32_t other = 0; other < (uint32_t)run->workers; other++)
        if (other != rank)
            channel[channels++] = (struct ker_channel){other, lookahead};
    struct ker_engine_setup setup = run_engine_setup(run, task_loggops_components(run->loggops));
    setup.largest_cell = 1;
    setup.lookahead = lookahead;
    setup.channel = channel;
    setup.channels = channels;
    setup.reach = 4 * lookahead;
    setup.end = run->end;
    run_check_times_set(run, &setup);
    run_span_begin(&run->simulated);
    run->engine = ker_engine_new(&setup);
    free(channel);
}

/* Collective, for ranks that sleep, too. */
static void programs_attach(struct run *run)
{
    uint32_t count = 0, *nodes = run->working ? task_loggops_nodes(run->loggops, &count) : NULL;
    enum ker_status status = task_system_prepare(run->tasks, nodes, count, run->comm, &run->error);
    if (run->working && status == KER_OK) {
        void **state = ker_alloc(sizeof *state * (count + 1u) * (run->services.count + 1u));
        run_timeline_make(run);
        task_system_attach(run->tasks, nodes, count, state);
        task_loggops_members(run->loggops, state, &run->services);
        free(state);
        task_loggops_attach(run->loggops, run->engine);
        task_system_agree(run->tasks, run->working, &run->error);
    }
    free(nodes);
}

static void loggops_build(struct run *run)
{
    if (run->args->check && !run->programs)
        return; /* eight million processes are not made to be looked at */
    if (run->working) {
        engine_make(run);
        run->batches = run_batches_new();
    }
    if (run->programs)
        programs_attach(run);
    else if (run->working) {
        run_timeline_make(run);
        task_loggops_attach(run->loggops, run->engine);
    }
}

static struct net_alone process_alone(const void *context, uint32_t from, uint32_t to, uint64_t bytes)
{
    return (struct net_alone){.events = 4}; /* with what both ends do; nothing here asks for times */
}

static void loggops_print(struct run *run)
{
    struct task_loggops_estimate own = task_loggops_estimate(run->loggops);
    struct net_expected e = {.alone = process_alone,
                             .events = (double)own.events,
                             .messages = (double)own.messages,
                             .bytes = own.message_bytes};
    uint64_t memory = run->programs ? ker_peak_rss() : own.bytes;
    ker_comm_sum_u64(run->comm, &memory, 1);
    if (run->control && !run->args->check_json)
        printf("network    LogGOPS\nprocesses  %u\n", task_loggops_processes(run->loggops));
    run_expect(run, memory, TASK_LOGGOPS_EVENT_NS, &e);
}

/* ---- running ---- */

static void loggops_simulate(struct run *run)
{
    run_ends_settle(run, run_engine(run));
}

/* ---- results ---- */

/* Collective. */
static void stuck_check(struct run *run)
{
    uint64_t count;
    char *text = task_loggops_stuck(run->loggops, run->comm, &count);
    if ((run->ended_by == RUN_END_JOBS || run->halted) && run->error.status == KER_OK && count) {
        run->ended_by = RUN_END_DEADLOCK;
        ker_fail(&run->error, KER_RUN_FAILED, "operations and messages were left over\n%s", text ? text : "");
    }
    free(text);
}

static void unlike_write(FILE *out, json_t *unlike)
{
    const char *name;
    json_t *count;
    json_object_foreach(unlike, name, count) fprintf(
        out,
        "loggopsim   finish times may differ from its: \"%s\" of loggops.faults would have counted %lld "
        "times\n",
        name, (long long)json_integer_value(count));
}

static char *summary_text(const struct run *run, const json_t *result)
{
    char when[32], *text = NULL;
    size_t length, i;
    const json_t *job, *jobs = json_object_get(result, "jobs");
    FILE *out = open_memstream(&text, &length);
    ker_print_time(when, run->ended_at);
    fprintf(out, "network     LogGOPS, %u processes\nsimulated   %s (%s)\n",
            task_loggops_processes(run->loggops), when, run_end_reason(run));
    json_array_foreach(jobs, i, job)
    {
        const json_t *finish = json_object_get(job, "finish_ps");
        ker_print_time(when, (ker_time)json_integer_value(finish));
        fprintf(out, "job         %s: %lld tasks, %s%s\n", json_string_value(json_object_get(job, "name")),
                (long long)json_integer_value(json_object_get(job, "tasks")),
                json_is_null(finish) ? "not finished" : "finished at ", json_is_null(finish) ? "" : when);
    }
    stats_verdict_write(out, result);
    unlike_write(out, json_object_get(result, "unlike_loggopsim"));
    fclose(out);
    return text;
}

/* Collective: what the run says of jobs, on rank 0. */
static json_t *jobs_report(struct run *run)
{
    struct task_files files = run_task_files(run);
    json_t *jobs = NULL;
    stuck_check(run);
    task_system_report(run->tasks, run->comm, run->ended_at, &files, &jobs, &run->error);
    return run->programs ? jobs
                         : task_loggops_report(run->loggops, run->topology, run->comm, &run->folder,
                                               files.tasks, files.tasks_key, &run->error);
}

static void loggops_report(struct run *run)
{
    run_series_end(run, run->ended_at);
    json_t *jobs = jobs_report(run), *timelines = run_timeline_write(run, run->ended_at);
    run_files_close(run);
    uint64_t events = task_loggops_events(run->loggops);
    ker_comm_sum_u64(run->comm, &events, 1);
    json_t *speed = run_speed_json(run), *unlike = task_loggops_unlike(run->loggops, run->comm);
    if (!run->control)
        return;
    json_object_set_new(speed, "events", json_integer((json_int_t)events));
    json_t *result = json_pack("{s:I, s:s, s:s, s:I, s:o}", "simulated_time_ps", (json_int_t)run->ended_at,
                               "end_reason", run_end_reason(run), "network", "LogGOPS", "nodes",
                               (json_int_t)task_loggops_processes(run->loggops), "jobs", jobs);
    if (timelines)
        json_object_set_new(result, "timelines", timelines);
    if (unlike)
        json_object_set_new(result, "unlike_loggopsim", unlike);
    char *text = summary_text(run, result);
    run_summary_write(run, run_summary_json(run, result, speed), text);
}

/* ---- the model ---- */

static struct net_totals loggops_totals(const struct run *run)
{
    return task_loggops_totals(run->loggops);
}

static uint64_t loggops_unfinished(const struct run *run)
{
    return task_loggops_unfinished(run->loggops);
}

static uint32_t loggops_halted(struct run *run)
{
    return task_loggops_halted(run->loggops, run->working);
}

static void loggops_save(struct run *run, struct ker_state_writer *w)
{
    task_loggops_save(run->loggops, w);
}

static void loggops_restart(struct run *run)
{
    task_loggops_restart(run->loggops);
}

static int loggops_loading(struct run *run, struct ker_engine_loading *engine,
                           struct ker_state_loader *loaders)
{
    engine->find = task_loggops_find;
    engine->context = run->loggops;
    task_loggops_loaders(run->loggops, run->control, loaders);
    return LOGGOPS_STATES;
}

static void loggops_forked(struct run *run)
{
    task_loggops_forked(run->loggops, run->resumed->index.at);
}

static void loggops_free(struct run *run)
{
    task_loggops_free(run->loggops);
}

static const struct run_stage stages[] = {
    {"programs", loggops_read, NULL, RUN_READS},
    {"build", loggops_build},
    {"check", loggops_print, run_wants_check, RUN_LAST},
    {"resume", run_resume_load, run_wants_resume},
    {"folder", run_folder_open},
    {"run", loggops_simulate, NULL, RUN_JOINS},
    {"report", loggops_report},
    {0},
};

const struct run_model run_loggops_model = {
    .name = "loggops",
    .stages = stages,
    .totals = loggops_totals,
    .unfinished = loggops_unfinished,
    .halted = loggops_halted,
    .save = loggops_save,
    .restart = loggops_restart,
    .loading = loggops_loading,
    .forked = loggops_forked,
    .free = loggops_free,
};
