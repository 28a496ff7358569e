/* sizes.c - times by message size: lists of points, with steps or lines between them. */
#include "nodes/sizes.h"

#include "kernel/config/config.h"

#include <string.h>

#define TIME_MOST KER_S /* of a message, whatever its size in the list */

static enum ker_status point_read(struct node_sizes *s, const struct ker_config *config, const char *key,
                                  int index, struct ker_error *error)
{
    const char *text = ker_config_string_at(config, key, index), *colon = strchr(text, ':'), *why = NULL;
    char time[64];
    uint64_t bytes = 0;
    int length = colon ? (int)(colon - text) : (int)strlen(text);
    snprintf(time, sizeof time, "%.*s", length, text);
    if (ker_parse_time(time, &s->time[s->count], &why) != 0 ||
        (colon && ker_parse_bytes(colon + 1, &bytes, &why) != 0))
        return ker_config_fail(config, error, key,
                               "\"%s\": %s; right would be a time, or one and from which size on: "
                               "\"1.5 us\", \"2 us:4 KiB\"",
                               text, why);
    if (s->time[s->count] > TIME_MOST)
        return ker_config_fail(config, error, key, "\"%s\": at most 1 s", text);
    if (index == 0 ? bytes != 0 : bytes <= s->bytes[index - 1])
        return ker_config_fail(config, error, key,
                               index == 0 ? "\"%s\": the first is for all sizes from 0 on"
                                          : "\"%s\": sizes ascend, and each is listed once",
                               text);
    s->bytes[s->count++] = bytes;
    return KER_OK;
}

enum ker_status node_sizes_read(struct node_sizes *s, const struct ker_config *config, const char *key,
                                bool lines, struct ker_error *error)
{
    int count = ker_config_has(config, key) ? ker_config_count(config, key) : 0;
    enum ker_status status = KER_OK;
    *s = (struct node_sizes){.lines = lines};
    if (count > NODE_SIZES_MOST)
        return ker_config_fail(config, error, key, "%d sizes; at most %d", count, NODE_SIZES_MOST);
    for (int i = 0; status == KER_OK && i < count; i++)
        status = point_read(s, config, key, i, error);
    if (status == KER_OK && lines && s->count > 1 && s->time[s->count - 1] < s->time[s->count - 2])
        return ker_config_fail(config, error, key,
                               "the last line leads down, below zero at some size: let it end level");
    return status;
}

ker_time node_sizes_of(const struct node_sizes *s, uint64_t bytes)
{
    uint32_t at = 0;
    while (at + 1 < s->count && s->bytes[at + 1] <= bytes)
        at++;
    if (s->count == 0)
        return 0;
    if (!s->lines || s->count == 1)
        return s->time[at];
    if (at + 1 == s->count)
        at--;
    __int128 across = s->bytes[at + 1] - s->bytes[at], rise = s->time[at + 1] - s->time[at],
             twice = 2 * rise * (__int128)(bytes - s->bytes[at]) + across;
    /* Rounded down also where the line falls. */
    __int128 part = twice / (2 * across) - (twice % (2 * across) < 0);
    __int128 time = s->time[at] + part;
    return time < KER_TIME_MAX / 4 ? (ker_time)time : KER_TIME_MAX / 4;
}
