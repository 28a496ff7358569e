/* steps.c - which steps of a program repeat: those that run.skip finds in its operations. */
#include "tools/marsconv/job.h"

#include <stdio.h>

#define TENTHS 10

/* How long steps of the n-th tenth take, by the mean of all. */
static double tenth(const struct task_steps *s, uint32_t n)
{
    uint64_t inner = s->count - 2;
    uint32_t from = 1 + (uint32_t)(inner * n / TENTHS), to = 1 + (uint32_t)(inner * (n + 1) / TENTHS);
    double time = (double)(s->known[to] - s->known[from]), mean = task_steps_mean(s);
    return to > from && mean > 0 ? time / (to - from) / mean : 1;
}

static void ideal_print(const struct task_steps *s)
{
    char mean[32], low[32], high[32];
    ker_time least = KER_TIME_MAX, most = 0;
    for (uint32_t step = 1; step + 1 < s->count; step++) {
        ker_time time = s->known[step + 1] - s->known[step];
        least = time < least ? time : least;
        most = time > most ? time : most;
    }
    printf("ideal        %s a step over a network that takes no time, %s to %s; by tenths of the run",
           ker_print_time(mean, (ker_time)task_steps_mean(s)), ker_print_time(low, least),
           ker_print_time(high, most));
    for (uint32_t n = 0; n < TENTHS; n++)
        printf(" %.2f", tenth(s, n));
    printf("\n");
}

static int steps_print(const struct task_steps *s)
{
    if (s->why) {
        printf("steps        none that may be skipped: the job %s\n", s->why);
        return 1;
    }
    printf("steps        %u, known by %s\n", s->count - 2, s->by);
    if (s->period == 1)
        printf("kinds        all alike, or of many kinds\n");
    else if (s->period == s->count)
        printf("kinds        a few, without a period\n");
    else
        printf("kinds        they repeat in periods of %u steps\n", s->period);
    printf("besides      %.1f %% of the operations precede them, %.1f %% follow, with the last step\n",
           100 * s->before, 100 * s->after);
    ideal_print(s);
    return 0;
}

int conv_steps(const char *path, const struct conv_options *options)
{
    struct ker_error error = {.status = KER_OK};
    struct mars_error unknown = {0};
    struct conv_source source;
    struct conv_job job = {0};
    int status = 2;
    if (!conv_find(&source, path, options, &unknown))
        ker_fail(&error, KER_BAD_INPUT, "%s", unknown.text);
    else
        conv_job_open(&job, path, source.name, options, &error);
    if (error.status == KER_OK) {
        job.class->find_steps(job.program, NULL, job.alone);
        status = steps_print(job.class->steps(job.program));
    } else {
        fprintf(stderr, "marsconv: error: %s\n", error.text);
    }
    conv_job_close(&job);
    return status;
}
