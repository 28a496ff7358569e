/* noise.c - the operating system takes the cpu away now and then: detours.
 *
 * Detours come from a trace or with a period, and repeat after a span; a process begins somewhere in it. As
 * in LogGOPSim what takes a cpu is delayed by the rest of a detour in which it begins, and by all detours
 * that begin while it would take the cpu without any; of a message that is o alone, not the time of its
 * further bytes. So a delay is a function of the process, the time and the length; nothing is counted.
 */
#include "tasks/loggops/model.h"

#include "tasks/graphs/goal.h"

#include <stdlib.h>

#define WITH "network.model=loggops & loggops.noise.kind"

const struct ker_option loggops_noise_options[] = {
    {"loggops.noise.kind", KER_TYPE_CHOICE, "none", NULL, NULL, "none|trace|periodic",
     "What delays cpus from outside: nothing, detours of a trace, or one in each period.",
     "network.model=loggops"},
    {"loggops.noise.trace", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "Detours as LogGOPSim reads them: a line each with begin and length in nanoseconds, ascending; # begins "
     "a "
     "comment. The end of the last is where they begin again.",
     WITH "=trace"},
    {"loggops.noise.period", KER_TYPE_TIME, "1 ms", "1 ps", "1000000 s", NULL,
     "From the begin of a detour to that of the next.", WITH "=periodic"},
    {"loggops.noise.length", KER_TYPE_TIME, "10 us", "0 ps", "1000000 s", NULL,
     "How long each takes; less than the period.", WITH "=periodic"},
    {"loggops.noise.begin", KER_TYPE_CHOICE, "random", NULL, NULL, "random|same",
     "Where in the trace or period processes are at time 0: each somewhere, drawn from run.seed, or all at "
     "loggops.noise.phase.",
     WITH "!=none"},
    {"loggops.noise.phase", KER_TYPE_TIME, "0 ns", NULL, "1000000 s", NULL,
     "How long after the begin of the trace or period time 0 is.", "loggops.noise.begin=same"},
    {0},
};

static void detour_add(struct loggops_noise *n, ker_time begin, ker_time length)
{
    ker_time before = n->count ? n->detour[n->count - 1].sum : 0;
    *KER_PUSH(n->detour, n->count, n->room) = (struct loggops_detour){begin, length, before + length};
}

/* The one above may have been rounded into the one that begins here. */
static bool detours_meet(struct loggops_noise *n, ker_time begin)
{
    struct loggops_detour *last = n->count ? &n->detour[n->count - 1] : NULL;
    ker_time over = last ? last->begin + last->length - begin : 0;
    if (over == 1 && last->length > 0) {
        last->length--;
        last->sum--;
        over = 0;
    }
    return over > 0;
}

static enum ker_status line_read(struct loggops_noise *n, struct ker_lines *in)
{
    uint64_t begin, length;
    enum ker_status status = goal_time(in, 1000, &begin);
    ker_take_blanks(in);
    if (status == KER_OK)
        status = goal_time(in, 1000, &length);
    if (status == KER_OK)
        status = ker_lines_end(in);
    if (status)
        return status;
    if (begin + length > (uint64_t)KER_TIME_MAX / 4)
        return ker_lines_fail(in, "a detour ends after 26 days; earlier would be right");
    if (detours_meet(n, (ker_time)begin))
        return ker_lines_fail(
            in, "a detour begins before the one above has ended; they ascend, and do not overlap");
    detour_add(n, (ker_time)begin, (ker_time)length);
    return KER_OK;
}

enum ker_status loggops_noise_parse(struct loggops_noise *n, const char *file, const char *text,
                                    size_t length, struct ker_error *error)
{
    struct ker_lines in;
    ker_lines_init(&in, file, text, length, error);
    enum ker_status status = ker_lines_check(&in);
    while (status == KER_OK && ker_lines_next_full(&in))
        status = line_read(n, &in);
    if (status)
        return status;
    for (uint32_t i = 0; i < n->count; i++)
        n->span = loggops_later(n->span, n->detour[i].begin + n->detour[i].length);
    if (n->span == 0)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: has no detour; a line \"BEGIN LENGTH\" in nanoseconds would be right", file);
    return KER_OK;
}

static enum ker_status trace_read(struct loggops_noise *n, const struct ker_config *config,
                                  struct ker_error *error)
{
    const char *key = "loggops.noise.trace";
    if (!ker_config_has(config, key))
        return ker_config_fail(config, error, key, "is missing: a file of detours");
    char *text;
    size_t length;
    const char *file = ker_config_file(config, key);
    enum ker_status status = ker_input_read(ker_config_inputs(config), file, &text, &length, error);
    if (status)
        return status;
    status = loggops_noise_parse(n, file, text, length, error);
    free(text);
    return status;
}

enum ker_status loggops_noise_read(struct loggops_noise *n, const struct ker_config *config,
                                   struct ker_error *error)
{
    const char *kind = "loggops.noise.kind";
    if (ker_config_is(config, kind, "none"))
        return KER_OK;
    n->seed = (uint64_t)ker_config_int(config, "run.seed");
    n->purpose = ker_purpose("loggops.noise");
    n->same = ker_config_is(config, "loggops.noise.begin", "same");
    n->phase = n->same ? ker_config_time(config, "loggops.noise.phase") : 0;
    if (ker_config_is(config, kind, "trace"))
        return trace_read(n, config, error);
    n->span = ker_config_time(config, "loggops.noise.period");
    ker_time length = ker_config_time(config, "loggops.noise.length");
    if (length >= n->span)
        return ker_config_fail(config, error, "loggops.noise.length",
                               "leaves nothing of the period; less than loggops.noise.period would be right");
    if (length > 0)
        detour_add(n, 0, length);
    return KER_OK;
}

void loggops_noise_free(struct loggops_noise *n)
{
    free(n->detour);
    *n = (struct loggops_noise){0};
}

/* How many detours of one span begin before `at`. */
static uint32_t begun(const struct loggops_noise *n, ker_time at)
{
    uint32_t low = 0, high = n->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (n->detour[middle].begin < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The lengths of all that begin before `at`, many spans long. */
static ker_time sum_before(const struct loggops_noise *n, ker_time at)
{
    uint32_t count = begun(n, at % n->span);
    return at / n->span * n->detour[n->count - 1].sum + (count ? n->detour[count - 1].sum : 0);
}

ker_time loggops_noise_delay(const struct loggops_noise *n, uint32_t process, ker_time from, ker_time length)
{
    ker_time phase = n->phase;
    if (!n->same) {
        struct ker_bits bits = ker_random_bits(n->seed, n->purpose, process, 0);
        phase = (ker_time)(((unsigned __int128)((uint64_t)bits.word[0] << 32 | bits.word[1]) *
                            (uint64_t)n->span) >>
                           64);
    }
    ker_time at = (from % n->span + phase % n->span) % n->span, delay = 0;
    uint32_t last = begun(n, at + 1);
    if (last) {
        const struct loggops_detour *d = &n->detour[last - 1];
        delay = loggops_later(0, d->begin + d->length - at);
    }
    return length > 1 ? delay + sum_before(n, at + length) - sum_before(n, at + 1) : delay;
}
