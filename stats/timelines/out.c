/* out.c - text without printf: a timeline has millions of lines. */
#include "stats/timelines/out.h"
#include "stats/stats.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool line_out_open(struct line_out *out, const char *folder, const char *name, uint64_t most,
                   struct ker_error *error)
{
    *out = (struct line_out){.most = most};
    if (stats_file_open(&out->file, folder, name, error))
        return false;
    out->buffer = ker_alloc(LINE_OUT_ROOM + LINE_OUT_MOST);
    return true;
}

uint64_t line_out_counted(void (*write)(struct line_out *, const struct line_plan *),
                          const struct line_plan *plan)
{
    struct line_out out = {.buffer = ker_alloc(LINE_OUT_ROOM + LINE_OUT_MOST)};
    write(&out, plan);
    return line_out_close(&out, false, NULL);
}

void line_out_flush(struct line_out *out)
{
    out->bytes += out->used;
    if (out->file.stream && out->bytes <= out->most)
        fwrite_unlocked(out->buffer, 1, out->used, out->file.stream);
    if (out->file.stream)
        stats_file_look(&out->file);
    out->used = 0;
}

uint64_t line_out_close(struct line_out *out, bool keep, struct ker_error *error)
{
    line_out_flush(out);
    if (!out->file.stream)
        ;
    else if (keep && out->bytes <= out->most)
        stats_file_commit(&out->file, error);
    else
        stats_file_drop(&out->file);
    free(out->buffer);
    return out->bytes;
}

void line_out_bytes(struct line_out *out, const char *text, size_t bytes)
{
    while (bytes) {
        size_t here = bytes < LINE_OUT_MOST ? bytes : LINE_OUT_MOST;
        char *at = line_out_at(out);
        memcpy(at, text, here);
        line_out_put(out, at + here);
        text += here;
        bytes -= here;
    }
}

void line_out_text(struct line_out *out, const char *text)
{
    line_out_bytes(out, text, strlen(text));
}

void line_out_format(struct line_out *out, const char *format, ...)
{
    char *at = line_out_at(out);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(at, LINE_OUT_MOST, format, arguments);
    va_end(arguments);
    ker_assert(length >= 0 && length < LINE_OUT_MOST);
    line_out_put(out, at + length);
}

char *line_json(const char *text)
{
    json_t *string = stats_text_json(text);
    char *quoted = json_dumps(string, JSON_ENCODE_ANY);
    json_decref(string);
    return quoted;
}

void line_out_json(struct line_out *out, const char *text)
{
    char *quoted = line_json(text);
    line_out_text(out, quoted);
    free(quoted);
}

/* ---- numbers ---- */

char *line_put_us(char *at, ker_time time)
{
    uint64_t rest = stats_eight_digits((uint32_t)((uint64_t)time % 1000000)) >> 16;
    at = stats_put_u64(at, (uint64_t)time / 1000000);
    if (!rest)
        return at;
    *at = '.';
    return stats_put_bytes(at + 1, rest) - __builtin_clzll(rest) / 8; /* without the zeros at the end */
}

char *line_put_ordered(char *at, struct line_clock *clock, uint64_t value)
{
    uint64_t high = value / 10000;
    if (__builtin_expect(!high, 0))
        return stats_put_u64(at, value);
    if (clock->high != high) {
        clock->bytes = (uint32_t)(stats_put_u64(clock->text, high) - clock->text);
        clock->high = high;
    }
    memcpy(at, clock->text, 16); /* 15 digits at most */
    return stats_put_four(at + clock->bytes, (uint32_t)(value % 10000));
}
