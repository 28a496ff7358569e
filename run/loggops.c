/* loggops.c - the stages of a run with network.model = "loggops": processes in place of nodes and a network.
 */
#include "run/stages.h"

#include <stdlib.h>

/* What a run under this model does not have, as yet. */
static enum ker_status keys_check(struct run *run)
{
    static const char *const refused[] = {"traffic.pattern",
                                          "services",
                                          "output.period",
                                          "output.timeline",
                                          "output.hdf5",
                                          "output.matrix",
                                          "output.waits",
                                          "output.critical_path",
                                          "output.series.links",
                                          "output.series.switches",
                                          "output.series.adapters",
                                          "output.series.latency",
                                          "output.series.jobs",
                                          "output.series.tasks",
                                          "output.series.traffic",
                                          "output.series.functions",
                                          "output.series.communicators",
                                          "output.series.matrix",
                                          "run.packets",
                                          "run.confidence",
                                          "run.checkpoint.period",
                                          "run.checkpoint.wall",
                                          "run.checkpoint.at"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (ker_config_has(run->config, refused[i]))
            return ker_config_fail(run->config, &run->error, refused[i],
                                   "is not possible with network.model = \"loggops\", as yet");
    if (run->args->resume || run->args->table)
        return ker_fail(&run->error, KER_BAD_INPUT,
                        "network.model = \"loggops\": there are no checkpoints and no routing tables");
    return KER_OK;
}

void run_loggops_read(struct run *run)
{
    if (run->control)
        ker_config_warn(run->config);
    run_phases_read(run);
    run_checkpoints_read(run);
    if (keys_check(run) != KER_OK || task_loggops_new(&run->loggops, run->config, &run->error) != KER_OK)
        return;
    run_seats_take(run);
    if (task_loggops_read(run->loggops, (uint32_t)ker_comm_rank(run->comm), (uint32_t)run->workers,
                          ker_config_inputs(run->config), &run->error) == KER_OK &&
        task_loggops_alone(run->loggops))
        run_seats_one(run);
}

static bool check(void *context, ker_time at)
{
    return false;
}

static bool requested(void *context, unsigned bits, ker_time at)
{
    struct run *run = context;
    run->interrupted |= bits & ~(unsigned)(KER_REQUEST_CHECKPOINT | KER_REQUEST_STATUS);
    return run->interrupted != 0;
}

void run_loggops_build(struct run *run)
{
    if (!run->working || run->args->check) /* eight million processes are not made to be looked at */
        return;
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
    setup.check = check;
    setup.request_interval = run->interval;
    setup.requested = requested;
    run_span_begin(&run->simulated);
    run->engine = ker_engine_new(&setup);
    free(channel);
    task_loggops_attach(run->loggops, run->engine);
}

void run_loggops_print(struct run *run)
{
    struct task_loggops_estimate own = task_loggops_estimate(run->loggops);
    uint64_t sum[] = {own.events, own.messages, own.bytes};
    ker_comm_sum_u64(run->comm, sum, 3);
    if (!run->control)
        return;
    printf("network     LogGOPS\nprocesses   %u\n", task_loggops_processes(run->loggops));
    if (sum[0])
        printf("events      about %llu, %llu of them messages: %.3g s of one processor\n"
               "memory      about %.3g MB, on %d rank%s\n",
               (unsigned long long)sum[0], (unsigned long long)sum[1],
               (double)sum[0] * TASK_LOGGOPS_EVENT_NS / 1e9, (double)sum[2] / 1e6, run->workers,
               run->workers == 1 ? "" : "s");
}

void run_loggops_folder(struct run *run)
{
    run_folder_choose(run);
    ker_request_open();
}

void run_loggops_simulate(struct run *run)
{
    enum ker_end found = run_engine(run);
    static const enum run_end by_engine[] = {[KER_END_DRAINED] = RUN_END_JOBS,
                                             [KER_END_TIME] = RUN_END_TIME,
                                             [KER_END_REQUEST] = RUN_END_INTERRUPTED,
                                             [KER_END_MEMORY] = RUN_END_MEMORY};
    int64_t known[] = {by_engine[found], run->ended_at, (int64_t)run->interrupted};
    ker_comm_broadcast(run->comm, known, sizeof known);
    run->ended_by = (enum run_end)known[0];
    run->ended_at = known[1];
    run->interrupted = (unsigned)known[2];
}

/* Collective. */
static void stuck_check(struct run *run)
{
    uint64_t count;
    char *text = task_loggops_stuck(run->loggops, run->comm, &count);
    if (run->ended_by == RUN_END_JOBS && count) {
        run->ended_by = RUN_END_DEADLOCK;
        ker_fail(&run->error, KER_RUN_FAILED, "operations and messages were left over\n%s", text ? text : "");
    }
    free(text);
}

static char *summary_text(const struct run *run, const json_t *jobs)
{
    char when[32], *text = NULL;
    size_t length, i;
    const json_t *job;
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
    fclose(out);
    return text;
}

void run_loggops_report(struct run *run)
{
    stuck_check(run);
    bool given = ker_config_has(run->config, "output.tasks");
    json_t *jobs = task_loggops_report(run->loggops, run->comm, &run->folder,
                                       ker_config_bool(run->config, "output.tasks"),
                                       given ? NULL : "output.tasks", &run->error);
    uint64_t events = task_loggops_events(run->loggops);
    ker_comm_sum_u64(run->comm, &events, 1);
    json_t *speed = run_speed_json(run);
    if (!run->control)
        return;
    char *text = summary_text(run, jobs);
    json_object_set_new(speed, "events", json_integer((json_int_t)events));
    json_t *result = json_pack("{s:I, s:s, s:s, s:I, s:o}", "simulated_time_ps", (json_int_t)run->ended_at,
                               "end_reason", run_end_reason(run), "network", "LogGOPS", "nodes",
                               (json_int_t)task_loggops_processes(run->loggops), "jobs", jobs);
    json_t *summary =
        json_pack("{s:o, s:o, s:o}", "input", run_input_json(run), "result", result, "run", speed);
    stats_json_write(run->folder.path, "summary.json", summary, &run->error);
    stats_text_write(run->folder.path, "summary.txt", text, &run->error);
    run_folder_settle(run);
    if (!run->args->quiet)
        printf("%s\nresults     %s\n", text, run->folder.path);
    fflush(stdout);
    free(text);
    json_decref(summary);
}
