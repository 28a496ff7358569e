/* check.c - the fitted parameters in the simulator: marssim runs each curve in the user's system.
 *
 * A run has a configuration of its own in a scratch folder, which includes the system and adds the job;
 * parameters continue the command line, where they win over what the system says. Collectives are timed as
 * benchmarks do it (jobs[].program = "collective"), a curve a run; ping-pongs are a run for each size.
 */
#define _GNU_SOURCE
#include "run/run.h"
#include "tools/marsbench/fit.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct runner {
    const struct bench_known *known;
    char folder[64], system[PATH_MAX]; /* scratch; the user's configuration, absolute */
    struct ker_error *error;
};

static enum ker_status runner_init(struct runner *r, const struct bench_known *known, struct ker_error *error)
{
    *r = (struct runner){.known = known, .error = error};
    const char *scratch = getenv("TMPDIR");
    if (!realpath(known->system, r->system))
        return ker_fail(error, KER_BAD_INPUT, "%s: %s", known->system, strerror(errno));
    if (snprintf(r->folder, sizeof r->folder, "%s/marsbench-XXXXXX", scratch ? scratch : "/tmp") >=
            (int)sizeof r->folder ||
        !mkdtemp(r->folder)) {
        r->folder[0] = 0;
        return ker_fail(error, KER_BAD_INPUT, "no scratch folder in %s: %s", scratch ? scratch : "/tmp",
                        strerror(errno));
    }
    return KER_OK;
}

static void runner_release(struct runner *r)
{
    if (r->folder[0])
        stats_folder_remove(r->folder);
}

/* marssim itself, in a process of its own; what it prints goes to a file. */
static enum ker_status program_run(struct runner *r, const struct run_arguments *args, const char *printed)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int out = open(printed, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (out >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0)
            status = run_execute(args, ker_comm_alone(), ker_clock_ns(CLOCK_MONOTONIC));
        fflush(NULL);
        _exit(out >= 0 ? status : KER_RUN_FAILED);
    }
    if (child < 0)
        return ker_fail(r->error, KER_BAD_INPUT, "no process for a simulation: %s", strerror(errno));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return KER_OK;
    char line[400] = "";
    FILE *in = fopen(printed, "r");
    if (in) {
        line[fread(line, 1, sizeof line - 1, in)] = 0;
        fclose(in);
    }
    return ker_fail(r->error, KER_BAD_INPUT, "a simulation of the check failed: %s", line);
}

/* A run of this job; the summary's jobs[0], or NULL. fit: NULL: ends cost nothing, and nothing waits for a
 * receiver. `of`: two further keys of the run, or NULL. */
static json_t *job_run(struct runner *r, const struct bench_fit *fit, const char *job, uint32_t cores,
                       const char *const of[2])
{
    char *file = ker_format("%s/run.cfg", r->folder), *result = ker_format("%s/result", r->folder),
         *printed = ker_format("%s/printed", r->folder), *summary = ker_format("%s/summary.json", result);
    struct bench_key key[BENCH_KEYS];
    struct run_arguments args = {.file = file, .folder = result, .quiet = true};
    size_t keys = fit ? bench_machine_keys(fit, key) : 0, count = 0;
    FILE *out = fopen(file, "w");
    if (out) {
        fprintf(out, "@include \"%s\"\njobs = ( { %s } );\n", r->system, job);
        fclose(out);
    }
    if (cores > 1)
        *KER_APPEND(args.overrides, count) = ker_format("node.cores=%u", cores);
    for (size_t i = 0; i < keys; i++)
        *KER_APPEND(args.overrides, count) = ker_format("%s=%s", key[i].name, key[i].value);
    static const char *const free_ends[] = {"node.send_overhead=0 ns", "node.receive_overhead=0 ns",
                                            "mpi.eager_limit=1 GiB"};
    size_t owned = count;
    for (size_t i = 0; !fit && i < 3; i++)
        *KER_APPEND(args.overrides, count) = free_ends[i];
    for (size_t i = 0; of && i < 2; i++)
        if (of[i])
            *KER_APPEND(args.overrides, count) = of[i];
    for (size_t i = 0; i < r->known->key_count; i++)
        *KER_APPEND(args.overrides, count) = r->known->keys[i];
    args.override_count = (int)count;
    json_t *found = NULL;
    if (program_run(r, &args, printed) == KER_OK) {
        json_t *all = json_load_file(summary, 0, NULL);
        found = json_incref(json_array_get(json_object_get(json_object_get(all, "result"), "jobs"), 0));
        json_decref(all);
        if (!found)
            ker_fail(r->error, KER_BAD_INPUT, "a simulation of the check has no job in its summary");
    }
    ker_free_all(args.overrides, owned);
    KER_FREE(file, result, printed, summary);
    return found;
}

#define ROUND_TRIPS 10

/* Half a round trip; 0: it failed. */
static double pingpong_run(struct runner *r, const struct bench_fit *fit, bool inside, uint64_t bytes)
{
    char *job = ker_format("program = \"pingpong\"; steps = %d; bytes = \"%llu B\";%s", ROUND_TRIPS,
                           (unsigned long long)bytes, inside ? " tasks_per_node = 2;" : "");
    json_t *done = job_run(r, fit, job, inside ? 2 : 1, NULL);
    double us = json_number_value(json_object_get(done, "finish_ps")) / 1e6 / (2 * ROUND_TRIPS);
    json_decref(done);
    free(job);
    return us;
}

enum ker_status bench_network_find(struct bench_known *known, struct ker_error *error)
{
    struct runner r;
    enum ker_status status = runner_init(&r, known, error);
    double small = 0, large = 0, larger = 0;
    if (status == KER_OK && (small = pingpong_run(&r, NULL, false, 8)) > 0 &&
        (large = pingpong_run(&r, NULL, false, 1 << 20)) > 0)
        larger = pingpong_run(&r, NULL, false, 2 << 20);
    if (larger > large && status == KER_OK) {
        known->latency_us = small;
        if (known->rate <= 0)
            known->rate = (double)(1 << 20) / (larger - large) * 1e6;
    } else if (status == KER_OK)
        status = ker_fail(error, KER_BAD_INPUT, "%s: no times of messages in it", known->system);
    runner_release(&r);
    return status;
}

/* The points from..to-1 are one curve of a collective. */
static enum ker_status curve_run(struct runner *r, struct bench_fit *f, size_t from, size_t to)
{
    const struct bench_point *p = f->at[from].point;
    char name[48], *bytes = ker_format("%s", "");
    for (size_t i = from; i < to; i++) {
        char *more = ker_format("%s%s\"%llu B\"", bytes, i > from ? ", " : "",
                                (unsigned long long)bench_call_bytes(f->at[i].point));
        free(bytes);
        bytes = more;
    }
    uint32_t tasks = p->nodes * p->per_node;
    char *job = ker_format("program = \"collective\"; collective = \"%s\"; tasks = %u; tasks_per_node = %u; "
                           "iterations = 1; sync = \"none\"; align = \"1 s\"; bytes = [%s];",
                           p->collective, tasks, p->per_node, bytes);
    bench_algorithm_name(p, name, sizeof name);
    char *algorithm = ker_format("mpi.collectives.%s=%s", p->collective, name);
    json_t *done =
        job_run(r, f, job, p->per_node, (const char *const[2]){algorithm, *p->key ? p->key : NULL});
    free(algorithm);
    json_t *sizes = json_object_get(json_object_get(done, "measured"), "sizes");
    for (size_t i = from; i < to; i++)
        f->at[i].simulated_us =
            json_number_value(json_object_get(json_array_get(sizes, i - from), "min_ps")) / 1e6;
    json_decref(done);
    free(job);
    free(bytes);
    return sizes ? KER_OK : r->error->text[0] ? KER_BAD_INPUT : ker_fail(r->error, KER_BAD_INPUT, "no times");
}

enum ker_status bench_check(struct bench_fit *f, struct ker_error *error)
{
    struct runner r;
    enum ker_status status = runner_init(&r, &f->known, error);
    for (size_t i = 0, to; i < f->count && status == KER_OK; i = to) {
        const struct bench_point *p = f->at[i].point;
        for (to = i + 1; to < f->count && bench_curve_order(p, f->at[to].point) == 0;)
            to++;
        if (!f->at[i].used)
            continue;
        if (p->quantity == BENCH_COLLECTIVE)
            status = curve_run(&r, f, i, to);
        for (size_t k = i; p->quantity == BENCH_PINGPONG && p->where != BENCH_SOCKET && k < to; k++)
            if ((f->at[k].simulated_us =
                     pingpong_run(&r, f, p->where == BENCH_CORE, f->at[k].point->bytes)) <= 0)
                status = KER_BAD_INPUT;
    }
    runner_release(&r);
    return status;
}
