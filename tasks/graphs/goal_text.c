/* GOAL schedules, LogGOPSim's input: "num_ranks N", then for each rank in order a block "rank R {" ... "}"
 * with operations (an optional label in front) and dependencies:
 *
 *     LABEL: calc TIME [cpu C]
 *     LABEL: send SIZEb to RANK [tag T] [cpu C] [nic K]
 *     LABEL: recv SIZEb from RANK [tag T] [cpu C] [nic K]     RANK and T may be -1, any
 *     LABEL requires LABEL                                    the first when the second is done
 *     LABEL irequires LABEL                                   when it has begun
 *
 * Labels are defined before they are used and belong to their rank; a label defined again keeps its first
 * operation. The grammar is that of T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim - Simulating
 * Large-Scale Applications in the LogGOPS Model" (2010) and of its text converter; beyond it, times may
 * have a fraction or an exponent, comments may be behind a statement, and } in its line.
 *
 * One pass over the text; all of it is checked on every rank.
 */
#include "tasks/graphs/build.h"
#include "tasks/graphs/goal.h"
#include "tasks/graphs/graph.h"

#include <string.h>

#define BLOCK_BYTES 8 /* the shortest of a rank: "rank 0{}" */

struct reader {
    struct ker_text text;
    struct graph_build build;
    struct graph_labels labels;
    uint64_t unit;
    uint32_t tasks, tasks_line; /* num_ranks, and where it is */
    uint32_t rank;              /* of the current block, or the next one */
    uint32_t block_line;        /* where it begins; 0 between blocks */
};

/* ---- operations ---- */

/* An optional "WORD NUMBER". */
static enum ker_status suffix_read(struct reader *r, const char *word, const char *what, uint64_t most,
                                   uint64_t *number)
{
    return goal_take_key(&r->text.in, word) ? goal_number(&r->text.in, what, most, number) : KER_OK;
}

static enum ker_status places_read(struct reader *r, struct graph_op *op, bool message)
{
    uint64_t cpu = 0, nic = 0;
    enum ker_status status = suffix_read(r, "cpu", "a cpu's number", UINT8_MAX, &cpu);
    if (status == KER_OK && message)
        status = suffix_read(r, "nic", "a nic's number", UINT8_MAX, &nic);
    op->cpu = (uint8_t)cpu;
    op->nic = (uint8_t)nic;
    return status;
}

static enum ker_status peer_read(struct reader *r, struct graph_op *op)
{
    struct ker_lines *l = &r->text.in;
    uint64_t peer;
    op->peer = GRAPH_ANY;
    if (op->kind == GRAPH_RECEIVE && ker_take(l, "-1"))
        return KER_OK;
    if (ker_take(l, "-1"))
        return ker_lines_fail(l, "a send has one destination, a rank of 0 to %u; -1, any, is for recv",
                              r->tasks - 1);
    enum ker_status status = goal_number(l, "a rank", UINT64_MAX, &peer);
    op->peer = (uint32_t)peer;
    return status == KER_OK && peer >= r->tasks
               ? ker_lines_fail(l, "there is no rank %llu: num_ranks in line %u makes them 0 to %u",
                                (unsigned long long)peer, r->tasks_line, r->tasks - 1)
               : status;
}

static enum ker_status tag_read(struct reader *r, struct graph_op *op)
{
    uint64_t tag = 0;
    enum ker_status status = KER_OK;
    if (goal_take_key(&r->text.in, "tag")) {
        if (ker_take(&r->text.in, "-1"))
            tag = GRAPH_ANY;
        else
            status = goal_number(&r->text.in, "a tag", UINT32_MAX, &tag);
    }
    op->tag = (uint32_t)tag;
    return status;
}

static enum ker_status message_read(struct reader *r, struct graph_op *op)
{
    struct ker_lines *l = &r->text.in;
    const char *word = op->kind == GRAPH_SEND ? "to" : "from";
    enum ker_status status = goal_number(l, "a size", UINT64_MAX, &op->amount);
    if (status != KER_OK)
        return status;
    if (!goal_take_key(l, "b"))
        return ker_lines_fail(l,
                              "a size is a whole number of bytes and ends with b, as in 8b, before \"%.*s\"",
                              KER_LINE_REST(l));
    if (!goal_take_key(l, word))
        return ker_lines_fail(l, "\"%s RANK\" is expected before \"%.*s\"", word, KER_LINE_REST(l));
    status = peer_read(r, op);
    status = status ?: tag_read(r, op);
    return status == KER_OK ? places_read(r, op, true) : status;
}

static enum ker_status op_end(struct reader *r, const struct graph_op *op)
{
    struct ker_lines *l = &r->text.in;
    ker_take_blanks(l);
    if (l->p == l->stop || *l->p == '/' || *l->p == '}')
        return KER_OK;
    return ker_lines_fail(l, "\"%.*s\" is too much; behind %s there may be %s", KER_LINE_REST(l),
                          op->kind == GRAPH_CALCULATION ? "calc TIME" : "the rank",
                          op->kind == GRAPH_CALCULATION ? "cpu C only"
                                                        : "tag T, cpu C, nic K, in this order");
}

/* "calc", "send" or "recv" has been taken. */
static enum ker_status op_read(struct reader *r, enum graph_kind kind)
{
    struct graph_op op = {.line = r->text.in.line, .kind = (uint8_t)kind};
    enum ker_status status;
    if (graph_build_ops(&r->build) == UINT32_MAX)
        return ker_lines_fail(&r->text.in, "rank %u has more than %u operations", r->rank, UINT32_MAX);
    ker_take_blanks(&r->text.in);
    if (kind == GRAPH_CALCULATION)
        status = ker_lines_time(&r->text.in, r->unit, &op.amount);
    else
        status = message_read(r, &op);
    if (status == KER_OK && kind == GRAPH_CALCULATION)
        status = places_read(r, &op, false);
    status = status ?: op_end(r, &op);
    if (status == KER_OK)
        graph_build_op(&r->build, &op);
    return status;
}

static bool kind_of(const char *word, size_t length, enum graph_kind *kind)
{
    if (length != 4)
        return false;
    *kind = *word == 's' ? GRAPH_SEND : *word == 'r' ? GRAPH_RECEIVE : GRAPH_CALCULATION;
    return memcmp(word, *kind == GRAPH_SEND ? "send" : *kind == GRAPH_RECEIVE ? "recv" : "calc", 4) == 0;
}

/* ---- dependencies ---- */

static enum ker_status edge_read(struct reader *r, const char *label, size_t length, bool begin)
{
    struct ker_lines *l = &r->text.in;
    struct graph_edge edge = {.begin = begin};
    const char *other;
    size_t other_length;
    ker_take_blanks(l);
    if (!goal_take_label(l, &other, &other_length))
        return ker_lines_fail(l, "a label is expected before \"%.*s\"", KER_LINE_REST(l));
    ker_take_blanks(l);
    if (l->p < l->stop && *l->p != '/' && *l->p != '}')
        return ker_lines_fail(l, "\"%.*s\" is too much; a dependency is between two labels",
                              KER_LINE_REST(l));
    if (!graph_labels_find(&r->labels, label, length, &edge.op))
        return goal_label_missing(l, label, length, r->rank);
    if (!graph_labels_find(&r->labels, other, other_length, &edge.on))
        return goal_label_missing(l, other, other_length, r->rank);
    if (r->build.edges == UINT32_MAX)
        return ker_lines_fail(l, "rank %u has more than %u dependencies", r->rank, UINT32_MAX);
    graph_build_edge(&r->build, edge);
    return KER_OK;
}

/* ---- blocks ---- */

static enum ker_status block_end(struct reader *r)
{
    r->text.in.p++; /* } */
    r->block_line = 0;
    r->rank++;
    graph_labels_clear(&r->labels);
    return graph_build_task(&r->build);
}

static enum ker_status labelled_read(struct reader *r, const char *label, size_t length)
{
    struct ker_lines *l = &r->text.in;
    const char *word;
    size_t word_length;
    enum graph_kind kind;
    ker_take_blanks(l);
    goal_take_label(l, &word, &word_length);
    if (!kind_of(word, word_length, &kind))
        return ker_lines_fail(l, "calc, send or recv is expected behind the label \"%.*s\"",
                              length > 40 ? 40 : (int)length, label);
    graph_labels_add(&r->labels, label, length, (uint32_t)graph_build_ops(&r->build));
    return op_read(r, kind);
}

/* A statement within a block. */
static enum ker_status statement_read(struct reader *r)
{
    struct ker_lines *l = &r->text.in;
    const char *word, *from = l->p;
    size_t length;
    enum graph_kind kind;
    if (*l->p == '}')
        return block_end(r);
    bool is_word = goal_take_label(l, &word, &length);
    ker_take_blanks(l);
    if (is_word && ker_take(l, ":"))
        return labelled_read(r, word, length);
    if (is_word && ker_take_word(l, "requires"))
        return edge_read(r, word, length, false);
    if (is_word && ker_take_word(l, "irequires"))
        return edge_read(r, word, length, true);
    if (is_word && kind_of(word, length, &kind))
        return op_read(r, kind);
    if (is_word && length == 4 && memcmp(word, "rank", 4) == 0)
        return ker_lines_fail(l, "the block of rank %u, which begins in line %u, has no } before this line",
                              r->rank, r->block_line);
    l->p = from;
    return ker_lines_fail(l,
                          "\"%.*s\" is no statement of a rank; there are calc, send, recv (with or without "
                          "\"LABEL:\" in front), \"LABEL requires LABEL\", irequires, and }",
                          KER_LINE_REST(l));
}

/* "rank" has been taken. */
static enum ker_status block_begin(struct reader *r)
{
    struct ker_lines *l = &r->text.in;
    uint64_t rank;
    ker_take_blanks(l);
    enum ker_status status = goal_number(l, "a rank", UINT64_MAX, &rank);
    if (status != KER_OK)
        return status;
    if (rank >= r->tasks)
        return ker_lines_fail(l, "there is no rank %llu: num_ranks in line %u makes them 0 to %u",
                              (unsigned long long)rank, r->tasks_line, r->tasks - 1);
    if (rank < r->rank)
        return ker_lines_fail(l, "rank %llu comes behind rank %u; each has one block, in ascending order",
                              (unsigned long long)rank, r->rank - 1);
    if (rank > r->rank)
        return ker_lines_fail(l,
                              "rank %u is expected before rank %llu; each has a block, in ascending order, "
                              "an idle one \"rank %u { }\"",
                              r->rank, (unsigned long long)rank, r->rank);
    if (!goal_take_key(l, "{"))
        return ker_lines_fail(l, "{ is expected behind \"rank %u\"", r->rank);
    r->block_line = l->line;
    return KER_OK;
}

static enum ker_status outside_read(struct reader *r)
{
    struct ker_lines *l = &r->text.in;
    if (ker_take(l, "num_ranks"))
        return ker_lines_fail(l, "num_ranks is in line %u already", r->tasks_line);
    if (ker_take(l, "rank"))
        return block_begin(r);
    return ker_lines_fail(l, "\"%.*s\" is outside of the ranks' blocks; \"rank %u {\" is expected",
                          KER_LINE_REST(l), r->rank);
}

/* ---- files ---- */

/* The first statement. */
static enum ker_status tasks_read(struct ker_text *t, uint32_t *tasks)
{
    struct ker_lines *l = &t->in;
    uint64_t number = 0;
    if (!goal_next(t))
        return t->status ? t->status
                         : ker_lines_fail_at(
                               l, l->line ? l->line : 1,
                               "the file has no statement; a GOAL schedule begins with \"num_ranks N\"");
    if (!ker_take(l, "num_ranks"))
        return ker_lines_fail(l, "a GOAL schedule begins with \"num_ranks N\"; here is \"%.*s\"",
                              KER_LINE_REST(l));
    ker_take_blanks(l);
    enum ker_status status = goal_number(l, "the number of ranks", GOAL_MOST_RANKS, &number);
    if (status == KER_OK && number == 0)
        status = ker_lines_fail(l, "num_ranks is 0; a schedule has one rank or more");
    if (status == KER_OK && number > t->bytes / BLOCK_BYTES)
        status = ker_lines_fail(l, "num_ranks is %llu, more than a file of %llu bytes can have blocks for",
                                (unsigned long long)number, (unsigned long long)t->bytes);
    *tasks = (uint32_t)number;
    return status;
}

bool goal_text_known(const char *file)
{
    struct ker_text text;
    struct ker_error ignored = {.status = KER_OK};
    bool known = ker_text_open(&text, file, NULL, &ignored) == KER_OK && goal_next(&text) &&
                 ker_take(&text.in, "num_ranks");
    ker_text_close(&text, false);
    return known;
}

enum ker_status goal_text_tasks(const char *file, uint32_t *tasks, struct ker_error *error)
{
    struct ker_text text;
    enum ker_status status = ker_text_open(&text, file, NULL, error);
    status = status ?: tasks_read(&text, tasks);
    ker_text_close(&text, false);
    return status;
}

static enum ker_status blocks_read(struct reader *r)
{
    struct ker_lines *l = &r->text.in;
    enum ker_status status = KER_OK;
    while (status == KER_OK && goal_next(&r->text))
        status = r->block_line ? statement_read(r) : outside_read(r);
    status = status ?: r->text.status;
    if (status == KER_OK && r->block_line)
        return ker_lines_fail_at(
            l, l->line, "the file ends within the block of rank %u, which begins in line %u and has no }",
            r->rank, r->block_line);
    if (status == KER_OK && r->rank < r->tasks)
        return ker_lines_fail_at(
            l, l->line, "the file ends before rank %u; num_ranks in line %u is %u, and each rank has a block",
            r->rank, r->tasks_line, r->tasks);
    return status;
}

enum ker_status goal_text_read(struct graph **graph, const char *file, const struct graph_form *form,
                               uint32_t first, uint32_t count, struct ker_error *error)
{
    struct reader r = {.unit = form->unit};
    *graph = NULL;
    enum ker_status status = ker_text_open(&r.text, file, form->inputs, error);
    status = status ?: tasks_read(&r.text, &r.tasks);
    r.tasks_line = r.text.in.line;
    if (status == KER_OK && (first > r.tasks || count > r.tasks - first))
        status = ker_lines_fail(&r.text.in, "num_ranks is %u, not what it was when the file was read before",
                                r.tasks);
    if (status == KER_OK) {
        graph_build_begin(&r.build, file, r.tasks, first, count, error);
        r.build.list = form->list;
        status = blocks_read(&r);
        graph_build_end(&r.build, status == KER_OK ? graph : NULL);
    }
    graph_labels_release(&r.labels);
    ker_text_close(&r.text, true);
    return status;
}
