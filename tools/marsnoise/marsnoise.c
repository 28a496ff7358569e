/* marsnoise.c - the command line: records the detours of cores of this machine, all at the same time, a file
 * each, in the form that node.noise.file reads.
 */
#define _GNU_SOURCE
#include "tools/marsnoise/record.h"

#include "run/run.h"

#include <argp.h>
#include <errno.h>
#include <hwloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct settings {
    const char *output;
    double seconds, threshold_ns;
    uint32_t room;
    bool all;
    unsigned *core;
    size_t cores;
    hwloc_topology_t topology;
};

static const struct argp_option OPTIONS[] = {
    {"output", 'o', "FILE", 0, "write FILE (default: noise.txt); of several cores FILE.N for core N", 0},
    {"seconds", 's', "S", 0, "record for S seconds (default: 10)", 0},
    {"threshold", 't', "NS", 0, "what takes longer than NS nanoseconds is a detour (default: 500)", 0},
    {"core", 'c', "N", 0,
     "record core N, a processing unit as hwloc numbers them (lstopo); may be given "
     "several times (default: the last that may be used)",
     0},
    {"all", 'a', 0, 0, "record every core that may be used", 0},
    {"most", 'm', "N", 0, "end when N detours of a core are recorded (default: 1000000)", 0},
    {0}};

static double number_take(const char *argument, double least, double most, struct argp_state *state,
                          const char *what)
{
    char *end;
    double value = strtod(argument, &end);
    if (end == argument || *end || !(value >= least && value <= most))
        argp_error(state, "%s: expected %s, %g to %g", argument, what, least, most);
    return value;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct settings *s = state->input;
    switch (key) {
    case 'o':
        s->output = argument;
        return 0;
    case 's':
        s->seconds = number_take(argument, 0.001, 86400, state, "seconds");
        return 0;
    case 't':
        s->threshold_ns = number_take(argument, 1, 1e9, state, "nanoseconds");
        return 0;
    case 'm':
        s->room = (uint32_t)number_take(argument, 1, 1e8, state, "detours");
        return 0;
    case 'c':
        *KER_APPEND(s->core, s->cores) = (unsigned)number_take(argument, 0, 1e6, state, "a core's number");
        return 0;
    case 'a':
        s->all = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: there are no arguments but options", argument);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- cores ---- */

/* May this process use it? */
static bool usable(const struct settings *s, unsigned core)
{
    hwloc_obj_t unit = hwloc_get_obj_by_type(s->topology, HWLOC_OBJ_PU, core);
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    bool there = unit && hwloc_get_cpubind(s->topology, mask, HWLOC_CPUBIND_PROCESS) == 0 &&
                 hwloc_bitmap_isset(mask, unit->os_index);
    hwloc_bitmap_free(mask);
    return there;
}

/* Which cores; false: one of them cannot be. */
static bool cores_choose(struct settings *s)
{
    unsigned units = (unsigned)hwloc_get_nbobjs_by_type(s->topology, HWLOC_OBJ_PU);
    for (size_t i = 0; i < s->cores; i++) {
        for (size_t j = 0; j < i; j++)
            if (s->core[j] == s->core[i]) {
                fprintf(stderr, "marsnoise: error: core %u is named twice\n", s->core[i]);
                return false;
            }
        if (!usable(s, s->core[i])) {
            fprintf(stderr, "marsnoise: error: core %u: %s\n", s->core[i],
                    s->core[i] < units ? "this process may not use it (taskset -p $$ shows which it may)"
                                       : "there is none of this number; lstopo shows them");
            return false;
        }
    }
    if (s->cores && !s->all)
        return true;
    s->cores = 0;
    for (unsigned i = 0; i < units; i++)
        if (usable(s, i))
            *KER_APPEND(s->core, s->cores) = i;
    if (!s->all && s->cores) {
        s->core[0] = s->core[s->cores - 1];
        s->cores = 1;
    }
    return true;
}

struct recorder {
    struct noise_record record;
    const struct settings *settings;
    pthread_barrier_t *together;
    pthread_t thread;
    bool bound;
};

static void *recorder_run(void *context)
{
    struct recorder *r = context;
    hwloc_obj_t unit = hwloc_get_obj_by_type(r->settings->topology, HWLOC_OBJ_PU, r->record.core);
    r->bound = hwloc_set_cpubind(r->settings->topology, unit->cpuset, HWLOC_CPUBIND_THREAD) == 0;
    pthread_barrier_wait(r->together);
    noise_record(&r->record);
    return NULL;
}

static struct recorder *record_all(const struct settings *s)
{
    struct recorder *recorder = ker_alloc(s->cores * sizeof *recorder);
    pthread_barrier_t together;
    pthread_barrier_init(&together, NULL, (unsigned)s->cores);
    for (size_t i = 0; i < s->cores; i++) {
        struct recorder *r = &recorder[i];
        *r = (struct recorder){.settings = s, .together = &together};
        r->record = (struct noise_record){
            .core = s->core[i], .seconds = s->seconds, .threshold_ns = s->threshold_ns, .room = s->room};
        r->record.detour = ker_alloc(s->room * sizeof *r->record.detour);
        if (pthread_create(&r->thread, NULL, recorder_run, r) != 0) {
            fprintf(stderr, "marsnoise: error: no thread for core %u could be started\n", s->core[i]);
            exit(2);
        }
    }
    for (size_t i = 0; i < s->cores; i++)
        pthread_join(recorder[i].thread, NULL);
    pthread_barrier_destroy(&together);
    return recorder;
}

/* ---- what comes of it ---- */

KER_ORDER_BY(longer, struct noise_detour, length)

/* A line of the table; sorts the detours. */
static void summary_print(struct noise_record *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->count; i++)
        sum += r->detour[i].length;
    qsort(r->detour, r->count, sizeof *r->detour, longer);
    double seconds = (double)r->span * r->ns * 1e-9, us = r->ns * 1e-3;
    printf("%5u %9.3f %10u %12.1f %9.4f", r->core, seconds, r->count, r->count / seconds,
           100.0 * (double)sum / (double)r->span);
    if (r->count)
        printf(" %10.3f %10.3f %10.3f", (double)sum / r->count * us,
               (double)r->detour[r->count / 2].length * us, (double)r->detour[r->count - 1].length * us);
    printf("\n");
}

static bool file_write(const struct noise_record *r, const char *file, const char *clock)
{
    FILE *out = fopen(file, "w");
    if (!out) {
        fprintf(stderr, "marsnoise: error: %s: %s\n", file, strerror(errno));
        return false;
    }
    fprintf(out, "# marsnoise of marssim " MARSSIM_VERSION ": core %u, by the %s\n", r->core, clock);
    fprintf(out, "# %llu turns, the shortest of %.1f ns; what took %g ns longer is a detour\n",
            (unsigned long long)r->turns, (double)r->least * r->ns, r->threshold_ns);
    fprintf(out,
            "# begin and length in nanoseconds; the last line, of length 0, is the end of the recording\n");
    for (uint32_t i = 0; i < r->count; i++)
        fprintf(out, "%.3f %.3f\n", (double)r->detour[i].begin * r->ns, (double)r->detour[i].length * r->ns);
    fprintf(out, "%.3f 0\n", (double)r->span * r->ns);
    bool written = !ferror(out);
    if (fclose(out) != 0 || !written) {
        fprintf(stderr, "marsnoise: error: %s: cannot be written\n", file);
        return false;
    }
    return true;
}

static int report(const struct settings *s, struct recorder *recorder, const char *clock)
{
    int status = 0;
    printf(" core   seconds    detours   per second  %% of time    mean us  median us     max us\n");
    for (size_t i = 0; i < s->cores; i++) {
        struct noise_record *r = &recorder[i].record;
        char *file = s->cores > 1 ? ker_format("%s.%u", s->output, r->core) : ker_format("%s", s->output);
        status |= file_write(r, file, clock) ? 0 : 2;
        summary_print(r);
        if (!recorder[i].bound)
            fprintf(stderr, "marsnoise: warning: core %u: the thread could not be bound to it\n", r->core);
        if (r->count == r->room)
            fprintf(stderr,
                    "marsnoise: warning: core %u: %u detours were recorded before the time was over; "
                    "--threshold is low, or --most\n",
                    r->core, r->count);
        free(file);
        free(r->detour);
    }
    free(recorder);
    return status;
}

int main(int argc, char **argv)
{
    struct settings settings = {.output = "noise.txt", .seconds = 10, .threshold_ns = 500, .room = 1000000};
    static const struct argp argp = {
        OPTIONS, parse, NULL,
        "Records when the operating system takes cores of this machine away from what runs on them "
        "(detours), while the machine does what it does anyway, and prints how much that is. The file is "
        "what node.noise.file of marssim reads.\vA turn of a loop that reads the clock is always the same "
        "work: one that takes longer than the shortest by the threshold was interrupted. Lengths are without "
        "that shortest turn.\n\nExit status: 0 done, 2 a core cannot be used, or a file not written."};
    argp_program_version = "marsnoise of marssim " MARSSIM_VERSION;
    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, 0, NULL, &settings) != 0)
        return 2;
    if (hwloc_topology_init(&settings.topology) != 0 || hwloc_topology_load(settings.topology) != 0) {
        fprintf(stderr, "marsnoise: error: hwloc does not know the cores of this machine\n");
        return 2;
    }
    int status = 2;
    const char *clock = noise_clock_choose();
    if (cores_choose(&settings))
        status = report(&settings, record_all(&settings), clock);
    hwloc_topology_destroy(settings.topology);
    free(settings.core);
    return status;
}
