/* sizes.c - times and rates by message size: lists of points, with steps or lines between them. */
#include "kernel/config/sizes.h"

#include "kernel/config/config.h"

#include <string.h>

#define TIME_MOST KER_S /* of a message, whatever its size in the list */

/* What is right about a value: NULL, or what is wrong. */
static const char *value_read(const struct ker_sizes *s, const char *text, int64_t *value)
{
    const char *why = NULL;
    ker_time time = 0;
    uint64_t rate = 0;
    if (s->rates ? ker_parse_rate(text, &rate, &why) != 0 : ker_parse_time(text, &time, &why) != 0)
        return why;
    *value = s->rates ? (int64_t)rate : time;
    if (s->rates && (rate == 0 || rate > INT64_MAX))
        return "no rate";
    return time > TIME_MOST ? "at most 1 s" : NULL;
}

static enum ker_status point_read(struct ker_sizes *s, const struct ker_config *config, const char *key,
                                  int index, struct ker_error *error)
{
    const char *text = ker_config_string_at(config, key, index), *colon = strchr(text, ':'), *why;
    char value[64];
    uint64_t bytes = 0;
    int length = colon ? (int)(colon - text) : (int)strlen(text);
    snprintf(value, sizeof value, "%.*s", length, text);
    why = value_read(s, value, &s->value[s->count]);
    if (why || (colon && ker_parse_bytes(colon + 1, &bytes, &why) != 0))
        return ker_config_fail(config, error, key,
                               "\"%s\": %s; right would be a %s, or one and from which size on: %s", text,
                               why, s->rates ? "rate" : "time",
                               s->rates ? "\"6 GB/s\", \"10 GB/s:1 MiB\"" : "\"1.5 us\", \"2 us:4 KiB\"");
    if (index == 0 ? bytes != 0 : bytes <= s->bytes[index - 1])
        return ker_config_fail(config, error, key,
                               index == 0 ? "\"%s\": the first is for all sizes from 0 on"
                                          : "\"%s\": sizes ascend, and each is listed once",
                               text);
    s->bytes[s->count++] = bytes;
    return KER_OK;
}

enum ker_status ker_sizes_read(struct ker_sizes *s, const struct ker_config *config, const char *key,
                               bool rates, bool lines, struct ker_error *error)
{
    int count = ker_config_has(config, key) ? ker_config_count(config, key) : 0;
    enum ker_status status = KER_OK;
    *s = (struct ker_sizes){.lines = lines, .rates = rates};
    if (count > KER_SIZES_MOST)
        return ker_config_fail(config, error, key, "%d sizes; at most %d", count, KER_SIZES_MOST);
    for (int i = 0; status == KER_OK && i < count; i++)
        status = point_read(s, config, key, i, error);
    if (status == KER_OK && lines && !rates && s->count > 1 &&
        s->value[s->count - 1] < s->value[s->count - 2])
        return ker_config_fail(config, error, key,
                               "the last line leads down, below zero at some size: let it end level");
    return status;
}

int64_t ker_sizes_of(const struct ker_sizes *s, uint64_t bytes)
{
    uint32_t at = 0;
    while (at + 1 < s->count && s->bytes[at + 1] <= bytes)
        at++;
    if (s->count == 0)
        return 0;
    if (!s->lines || s->count == 1 || (s->rates && at + 1 == s->count))
        return s->value[at];
    if (at + 1 == s->count)
        at--;
    __int128 across = s->bytes[at + 1] - s->bytes[at], rise = s->value[at + 1] - s->value[at],
             twice = 2 * rise * (__int128)(bytes - s->bytes[at]) + across;
    /* Rounded down also where the line falls. */
    __int128 part = twice / (2 * across) - (twice % (2 * across) < 0);
    __int128 value = s->value[at] + part;
    return value < KER_TIME_MAX / 4 ? (int64_t)value : KER_TIME_MAX / 4;
}
