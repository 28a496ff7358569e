/* Reader of placement files: one pass over the text, line by line, every line checked before anything uses
 * it.
 *
 * Invariant: on success the table has one entry per line that is neither empty nor a comment, each with a
 * node below the number of nodes; on failure there is no table, and the message names file and line.
 */
#include "tasks/jobs/placement.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *name, *at, *end;
    unsigned long line;
    uint32_t nodes;
    struct task_place *places;
    uint32_t count, room;
    bool has_cores;
    struct ker_error *error;
};

#define LINE_FAIL(r, format, ...)                                                                            \
    ker_fail((r)->error, KER_BAD_INPUT, "%s:%lu: " format, (r)->name, (r)->line, __VA_ARGS__)

static void reader_skip_blanks(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

static bool reader_at_end(const struct reader *r)
{
    return r->at == r->end || *r->at == '\n' || *r->at == '#';
}

static enum ker_status reader_number(struct reader *r, const char *what, uint64_t limit, uint64_t *number)
{
    const char *start = r->at;
    *number = 0;
    while (r->at < r->end && isdigit((unsigned char)*r->at) && *number < limit)
        *number = *number * 10 + (uint64_t)(*r->at++ - '0');
    while (r->at < r->end && isdigit((unsigned char)*r->at)) /* too large already */
        r->at++;
    int length = (int)(r->at - start);
    if (length == 0 || (!reader_at_end(r) && *r->at != ' ' && *r->at != '\t' && *r->at != '\r')) {
        while (r->at < r->end && !isspace((unsigned char)*r->at))
            r->at++;
        length = r->at - start < 40 ? (int)(r->at - start) : 40;
        return LINE_FAIL(r, "\"%.*s\" is no %s number; a line is: node [core]", length, start, what);
    }
    if (*number >= limit)
        return LINE_FAIL(r, "there is no %s %.*s; they go from 0 to %llu", what, length < 40 ? length : 40,
                         start, (unsigned long long)limit - 1);
    return KER_OK;
}

static enum ker_status reader_entry(struct reader *r)
{
    uint64_t node, core = 0;
    enum ker_status status = reader_number(r, "node", r->nodes, &node);
    if (status)
        return status;
    reader_skip_blanks(r);
    bool has_core = !reader_at_end(r);
    if (has_core && (status = reader_number(r, "core", UINT16_MAX + 1u, &core)))
        return status;
    reader_skip_blanks(r);
    if (!reader_at_end(r))
        return LINE_FAIL(r, "more than two numbers%s; a line is: node [core]", "");
    if (r->count > 0 && has_core != r->has_cores)
        return LINE_FAIL(r, "%s a core, but the lines before %s: name one on all lines or on none",
                         has_core ? "has" : "has not", has_core ? "have none" : "have");
    r->has_cores = has_core;
    *KER_PUSH(r->places, r->count, r->room) =
        (struct task_place){.node = (uint32_t)node, .core = (uint16_t)core};
    return KER_OK;
}

static enum ker_status reader_line(struct reader *r)
{
    enum ker_status status = KER_OK;
    r->line++;
    reader_skip_blanks(r);
    if (!reader_at_end(r))
        status = r->count == UINT32_MAX / 2 ? LINE_FAIL(r, "too many lines%s", "") : reader_entry(r);
    while (r->at < r->end && *r->at != '\n')
        r->at++;
    if (r->at < r->end)
        r->at++;
    return status;
}

enum ker_status task_placement_parse(const char *name, const char *text, size_t bytes, uint32_t nodes,
                                     struct task_place **places, uint32_t *count, bool *has_cores,
                                     struct ker_error *error)
{
    struct reader r = {.name = name, .at = text, .end = text + bytes, .nodes = nodes, .error = error};
    if (bytes && memchr(text, 0, bytes))
        return ker_fail(error, KER_BAD_INPUT, "%s: holds a zero byte; a text file is expected", name);
    enum ker_status status = KER_OK;
    while (!status && r.at < r.end)
        status = reader_line(&r);
    if (!status && r.count == 0)
        status = ker_fail(error, KER_BAD_INPUT,
                          "%s: names no node; write one node [core] per line, task 0 first", name);
    if (status) {
        free(r.places);
        return status;
    }
    *places = r.places;
    *count = r.count;
    *has_cores = r.has_cores;
    return KER_OK;
}

enum ker_status task_placement_file(struct ker_inputs *inputs, const char *path, uint32_t nodes,
                                    struct task_place **places, uint32_t *count, bool *has_cores,
                                    struct ker_error *error)
{
    size_t bytes;
    char *text = ker_input_read(inputs, path, &bytes, error);
    if (!text)
        return KER_BAD_INPUT;
    enum ker_status status = task_placement_parse(path, text, bytes, nodes, places, count, has_cores, error);
    free(text);
    return status;
}
