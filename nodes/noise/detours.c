/* detours.c - detours that repeat after a span: their file, and what they delay.
 *
 * `sum` makes everything a look-up: before a time of the span as many detours have begun as a binary search
 * finds, with so much length; the time between them that has passed by then is the rest. Invariant: detours
 * ascend and do not overlap, and the span ends with the last of them or later.
 */
#include "nodes/nodes.h"

#include <stdlib.h>

static const ker_time latest = 9000000 * KER_S; /* behind any run's end */

/* ---- where they come from ---- */

static void detour_add(struct node_detours *d, ker_time begin, ker_time length)
{
    ker_time before = d->count ? d->detour[d->count - 1].sum : 0;
    *KER_PUSH(d->detour, d->count, d->room) = (struct node_detour){begin, length, before + length};
}

/* The one above may have been rounded into the one that begins here. */
static bool detours_meet(struct node_detours *d, ker_time begin)
{
    struct node_detour *last = d->count ? &d->detour[d->count - 1] : NULL;
    ker_time over = last ? last->begin + last->length - begin : 0;
    if (over == 1 && last->length > 0) {
        last->length--;
        last->sum--;
        over = 0;
    }
    return over > 0;
}

static enum ker_status line_read(struct node_detours *d, struct ker_lines *in)
{
    uint64_t begin, length;
    enum ker_status status = ker_lines_time(in, 1000, &begin);
    ker_take_blanks(in);
    status = status ?: ker_lines_time(in, 1000, &length);
    status = status ?: ker_lines_end(in);
    if (status)
        return status;
    if (begin + length > (uint64_t)KER_TIME_MAX / 4)
        return ker_lines_fail(in, "a detour ends after 26 days; earlier would be right");
    if (detours_meet(d, (ker_time)begin))
        return ker_lines_fail(
            in, "a detour begins before the one above has ended; they ascend, and do not overlap");
    detour_add(d, (ker_time)begin, (ker_time)length);
    return KER_OK;
}

enum ker_status node_detours_parse(struct node_detours *d, const char *file, const char *text, size_t length,
                                   struct ker_error *error)
{
    struct ker_lines in;
    ker_lines_init(&in, file, text, length, error);
    enum ker_status status = ker_lines_check(&in);
    while (status == KER_OK && ker_lines_next_full(&in))
        status = line_read(d, &in);
    if (status)
        return status;
    if (d->count)
        d->span = d->detour[d->count - 1].begin + d->detour[d->count - 1].length;
    if (d->span == 0)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: has no detour; a line \"BEGIN LENGTH\" in nanoseconds would be right", file);
    return KER_OK;
}

enum ker_status node_detours_read(struct node_detours *d, const struct ker_config *config, const char *key,
                                  struct ker_error *error)
{
    if (!ker_config_has(config, key))
        return ker_config_fail(config, error, key, "is missing: a file of detours");
    char *text;
    size_t length;
    const char *file = ker_config_file(config, key);
    enum ker_status status = ker_input_read(ker_config_inputs(config), file, &text, &length, error);
    status = status ?: node_detours_parse(d, file, text, length, error);
    free(text);
    return status;
}

enum ker_status node_detours_periodic(struct node_detours *d, const struct ker_config *config,
                                      const char *period, const char *length, struct ker_error *error)
{
    ker_time each = ker_config_time(config, length);
    d->span = ker_config_time(config, period);
    if (each >= d->span)
        return ker_config_fail(config, error, length,
                               "leaves nothing of the period; less than %s would be right", period);
    if (each > 0)
        detour_add(d, 0, each);
    return KER_OK;
}

void node_detours_free(struct node_detours *d)
{
    free(d->detour);
    *d = (struct node_detours){0};
}

ker_time node_detours_place(const struct node_detours *d, uint64_t seed, uint32_t purpose, uint64_t component)
{
    struct ker_bits bits = ker_random_bits(seed, purpose, component, 0);
    unsigned __int128 draw = (uint64_t)bits.word[0] << 32 | bits.word[1];
    return (ker_time)((draw * (uint64_t)d->span) >> 64);
}

/* ---- what they delay ---- */

/* How many detours of one span begin before `at`. */
static uint32_t begun(const struct node_detours *d, ker_time at)
{
    return KER_BISECT(i, 0, d->count, d->detour[i].begin < at);
}

static inline ker_time sum_of(const struct node_detours *d, uint32_t count)
{
    return count ? d->detour[count - 1].sum : 0;
}

/* The lengths of all that begin before `at`, many spans long. */
static ker_time sum_before(const struct node_detours *d, ker_time at)
{
    return at / d->span * sum_of(d, d->count) + sum_of(d, begun(d, at % d->span));
}

static inline ker_time place_of(const struct node_detours *d, ker_time phase, ker_time from)
{
    return (from % d->span + phase % d->span) % d->span;
}

/* How much is left at `at` of the detour that began last, of those up to number `count`. */
static inline ker_time rest_of(const struct node_detours *d, uint32_t count, ker_time at)
{
    ker_time end = count ? d->detour[count - 1].begin + d->detour[count - 1].length : 0;
    return end > at ? end - at : 0;
}

ker_time node_detours_delay(const struct node_detours *d, ker_time phase, ker_time from, ker_time length)
{
    ker_time at = place_of(d, phase, from), delay = rest_of(d, begun(d, at + 1), at);
    return length > 1 ? delay + sum_before(d, at + length) - sum_before(d, at + 1) : delay;
}

/* Detours that have begun when the span's cores have been free for `free`, and are free for more after that:
 * detour i begins when detour[i].begin less the lengths before it have been free. */
static uint32_t begun_free(const struct node_detours *d, ker_time free)
{
    return KER_BISECT(i, 0, d->count, d->detour[i].begin - sum_of(d, i) <= free);
}

/* Free from the begin of the span until `at`, inside it. */
static ker_time free_before(const struct node_detours *d, ker_time at)
{
    uint32_t before = begun(d, at + 1);
    return at - (sum_of(d, before) - rest_of(d, before, at));
}

ker_time node_detours_until(const struct node_detours *d, ker_time phase, ker_time from, ker_time length)
{
    ker_time at = place_of(d, phase, from), span_free = d->span - sum_of(d, d->count);
    ker_time most = from < latest ? latest - from : 0;
    unsigned __int128 wanted = (unsigned __int128)free_before(d, at) + (uint64_t)length;
    ker_time rest = (ker_time)(wanted % (uint64_t)span_free);
    unsigned __int128 end = wanted / (uint64_t)span_free * (uint64_t)d->span + (uint64_t)rest +
                            (uint64_t)sum_of(d, begun_free(d, rest));
    return end - (uint64_t)at < (uint64_t)most ? from + (ker_time)(end - (uint64_t)at) : from + most;
}

ker_time node_detours_free_time(const struct node_detours *d, ker_time phase, ker_time from, ker_time to)
{
    ker_time at = place_of(d, phase, from), end = at % d->span + (to - from),
             span_free = d->span - sum_of(d, d->count);
    return end / d->span * span_free + free_before(d, end % d->span) - free_before(d, at);
}
