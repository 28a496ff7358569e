/* out.c - text without printf: a timeline has millions of lines. */
#include "stats/timelines/out.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 65536u

bool line_out_open(struct line_out *out, const char *folder, const char *name, uint64_t most,
                   struct ker_error *error)
{
    *out = (struct line_out){.most = most};
    if (stats_file_open(&out->file, folder, name, error))
        return false;
    out->buffer = ker_alloc(ROOM + LINE_OUT_MOST);
    return true;
}

void line_out_count(struct line_out *out)
{
    *out = (struct line_out){.most = 0};
    out->buffer = ker_alloc(ROOM + LINE_OUT_MOST);
}

static void out_flush(struct line_out *out)
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
    out_flush(out);
    if (!out->file.stream)
        ;
    else if (keep && out->bytes <= out->most)
        stats_file_commit(&out->file, error);
    else
        stats_file_drop(&out->file);
    free(out->buffer);
    return out->bytes;
}

char *line_out_at(struct line_out *out)
{
    if (out->used > ROOM)
        out_flush(out);
    return out->buffer + out->used;
}

void line_out_put(struct line_out *out, const char *end)
{
    out->used = (size_t)(end - out->buffer);
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

/* Names need not be UTF-8: then what is not ASCII is a question mark. */
char *line_json(const char *text)
{
    char *plain = ker_format("%s", text);
    json_t *string = json_string(plain);
    for (char *at = plain; !string && *at; at++)
        if ((unsigned char)*at > 127)
            *at = '?';
    if (!string)
        string = json_string(plain);
    char *quoted = json_dumps(string, JSON_ENCODE_ANY);
    free(plain);
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

/* Six digits, without the zeros at their end. */
static inline char *put_decimals(char *at, uint32_t rest, bool strip)
{
    char *end = stats_put_six(at, rest);
    if (!strip)
        return end;
    end = rest % 100 ? end : rest % 10000 ? at + 4 : at + 2;
    return end - (end[-1] == '0');
}

char *line_put_us(char *at, ker_time time)
{
    uint32_t rest = (uint32_t)((uint64_t)time % 1000000);
    at = stats_put_u64(at, (uint64_t)time / 1000000);
    if (!rest)
        return at;
    *at = '.';
    return put_decimals(at + 1, rest, true);
}

char *line_put_s(char *at, ker_time time)
{
    uint64_t rest = (uint64_t)time % (uint64_t)KER_S;
    at = stats_put_u64(at, (uint64_t)time / (uint64_t)KER_S);
    if (!rest)
        return at;
    *at++ = '.';
    at = put_decimals(at, (uint32_t)(rest / 1000000), rest % 1000000 == 0);
    return rest % 1000000 ? put_decimals(at, (uint32_t)(rest % 1000000), true) : at;
}
