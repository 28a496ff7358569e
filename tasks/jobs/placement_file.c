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
    struct ker_lines in;
    uint32_t nodes;
    struct task_place *places;
    uint32_t count, room;
    bool has_cores;
};

static enum ker_status reader_number(struct reader *r, const char *what, uint64_t limit, uint64_t *number)
{
    const char *text;
    size_t length;
    ker_take_text(&r->in, &text, &length);
    int shown = length < 40 ? (int)length : 40;
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)text[i]))
            return ker_lines_fail(&r->in, "\"%.*s\" is no %s number; a line is: node [core]", shown, text,
                                  what);
        *number = *number < limit ? *number * 10 + (uint64_t)(text[i] - '0') : limit;
    }
    if (*number >= limit)
        return ker_lines_fail(&r->in, "there is no %s %.*s; they go from 0 to %llu", what, shown, text,
                              (unsigned long long)limit - 1);
    return KER_OK;
}

static enum ker_status reader_entry(struct reader *r)
{
    uint64_t node, core = 0;
    if (r->count == UINT32_MAX / 2)
        return ker_lines_fail(&r->in, "too many lines");
    enum ker_status status = reader_number(r, "node", r->nodes, &node);
    bool has_core = r->in.p < r->in.stop;
    if (status == KER_OK && has_core)
        status = reader_number(r, "core", UINT16_MAX + 1u, &core);
    if (status)
        return status;
    if (r->in.p < r->in.stop)
        return ker_lines_fail(&r->in, "more than two numbers; a line is: node [core]");
    if (r->count > 0 && has_core != r->has_cores)
        return ker_lines_fail(&r->in, "%s a core, but the lines before %s: name one on all lines or on none",
                              has_core ? "has" : "has not", has_core ? "have none" : "have");
    r->has_cores = has_core;
    *KER_PUSH(r->places, r->count, r->room) =
        (struct task_place){.node = (uint32_t)node, .core = (uint16_t)core};
    return KER_OK;
}

enum ker_status task_placement_parse(const char *name, const char *text, size_t bytes, uint32_t nodes,
                                     struct task_place **places, uint32_t *count, bool *has_cores,
                                     struct ker_error *error)
{
    struct reader r = {.nodes = nodes};
    ker_lines_init(&r.in, name, text, bytes, error);
    enum ker_status status = ker_lines_check(&r.in);
    while (!status && ker_lines_next_full(&r.in))
        status = reader_entry(&r);
    if (!status && r.count == 0)
        status = ker_lines_fail_at(&r.in, r.in.line ? r.in.line : 1,
                                   "the file names no node; write one node [core] per line, task 0 first");
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
    char *text;
    enum ker_status status = ker_input_read(inputs, path, &text, &bytes, error);
    status = status ?: task_placement_parse(path, text, bytes, nodes, places, count, has_cores, error);
    free(text);
    return status;
}
