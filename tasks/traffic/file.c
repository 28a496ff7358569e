/* The permutation that a file gives: one line per node, in order, with the node it sends to; "-": it does not
 * send. Empty lines and what follows a # do not count.
 *
 * Invariant: on success every node has a line and no node is named twice, so that no ejection link gets more
 * than one sender's load.
 */
#include "tasks/traffic/traffic.h"

#include <stdlib.h>
#include <string.h>

#define NOT_NAMED 0

struct reader {
    struct ker_lines in;
    struct task_traffic *traffic;
    uint32_t *named; /* line that names a node as destination */
    uint32_t count;
};

static enum ker_status destination_add(struct reader *r, uint32_t to)
{
    struct task_traffic *t = r->traffic;
    if (r->count == t->nodes)
        return ker_lines_fail(&r->in, "there are only %u nodes in the traffic, and each has a line above",
                              t->nodes);
    if (to != TASK_NOBODY && r->named[to] != NOT_NAMED)
        return ker_lines_fail(
            &r->in, "node %u is the destination of line %u, too; in a permutation it has one sender",
            t->first + to, r->named[to]);
    if (to != TASK_NOBODY)
        r->named[to] = r->in.line;
    t->where.partner[r->count++] = to;
    return KER_OK;
}

static enum ker_status line_read(struct reader *r)
{
    const struct task_traffic *t = r->traffic;
    uint32_t to = TASK_NOBODY;
    if (!ker_take(&r->in, "-") && !ker_take_number(&r->in, &to))
        return ker_lines_fail(
            &r->in, "\"%.*s\" is no node; a line is the number of a node, or - for one that does not send",
            KER_LINE_REST(&r->in));
    if (to != TASK_NOBODY && to - t->first >= t->nodes) /* below first it wraps to a large number */
        return ker_lines_fail(&r->in, "node %u is not among the nodes of the traffic, %u to %u", to, t->first,
                              t->first + t->nodes - 1);
    ker_take_blanks(&r->in);
    if (r->in.p < r->in.stop)
        return ker_lines_fail(&r->in, "\"%.*s\" is too much; a line is the number of one node",
                              KER_LINE_REST(&r->in));
    return destination_add(r, to == TASK_NOBODY ? to : to - t->first);
}

enum ker_status task_traffic_file_read(struct task_traffic *t, const struct ker_config *config,
                                       struct ker_error *error)
{
    const char *path = ker_config_file(config, "traffic.permutation_file");
    char *text;
    struct reader r = {.traffic = t, .named = ker_alloc(t->nodes * sizeof *r.named)};
    t->where.partner = ker_alloc(t->nodes * sizeof *t->where.partner);
    enum ker_status status = ker_input_lines(ker_config_inputs(config), path, &r.in, &text, error);
    while (status == KER_OK && ker_lines_next_full(&r.in))
        status = line_read(&r);
    if (status == KER_OK && r.count < t->nodes)
        status =
            ker_lines_fail_at(&r.in, r.in.line ? r.in.line : 1,
                              "the file names the destinations of %u nodes, but %u take part in the traffic",
                              r.count, t->nodes);
    free(r.named);
    free(text);
    return status;
}
