/* Dissemination: in each round every task sends further away, and hears from as far.
 *
 * In round r of the n-way form those are the tasks w (n+1)^r away, w = 1 .. n; what a round has brought is
 * combined before the next one's messages leave. Of the plain form n is 1 and nothing is combined.
 */
#include "tasks/graphs/pattern.h"

/* ---- dissemination: send, receive, send, ... ---- */

static enum ker_status plain_open(struct graph_pattern *p, const struct ker_config *config, const char *path,
                                  uint64_t seed, struct ker_error *error)
{
    p->longest = p->bytes;
    p->rounds = graph_pattern_doublings(p);
    return KER_OK;
}

static uint32_t plain_ops(const struct graph_pattern *p, uint32_t task)
{
    return 2 * p->rounds;
}

static void round_op(const struct graph_pattern *p, uint32_t task, uint32_t number, uint64_t bytes,
                     struct graph_op *op)
{
    uint32_t away = 1u << number / 2;
    bool sends = number % 2 == 0;
    graph_pattern_message(op, sends ? GRAPH_SEND : GRAPH_RECEIVE, bytes,
                          sends ? graph_pattern_up(p, task, away) : graph_pattern_down(p, task, away));
    if (sends)
        op->before = number > 0;
    else
        op->on_done = number / 2 + 1 < p->rounds;
}

static void plain_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    round_op(p, task, number, p->bytes, op);
}

static uint32_t plain_dependent(const struct graph_pattern *p, uint32_t task, uint32_t number, uint32_t index)
{
    return number + 1;
}

/* ---- nwaydissemination: of each round but the first n sends, n calculations, n receives; the first has no
 * ---- calculations ---- */

static enum ker_status nway_open(struct graph_pattern *p, const struct ker_config *config, const char *path,
                                 uint64_t seed, struct ker_error *error)
{
    const char *key = KER_KEY("%s.nway", path);
    p->nway = (uint32_t)ker_config_int(config, key);
    p->longest = p->bytes;
    for (uint64_t reach = 1; reach < p->tasks; reach *= p->nway + 1ull)
        p->rounds++;
    if ((uint64_t)p->rounds * 3 * p->nway > UINT32_MAX)
        return ker_config_fail(config, error, key, "makes more than 2^32 operations of a task");
    return KER_OK;
}

static uint32_t nway_ops(const struct graph_pattern *p, uint32_t task)
{
    return p->rounds ? (3 * p->rounds - 1) * p->nway : 0;
}

enum part { PART_SEND, PART_COMBINE, PART_RECEIVE };

struct nway {
    uint32_t round, way; /* way from 0 */
    enum part part;
};

static struct nway nway_of(const struct graph_pattern *p, uint32_t number)
{
    uint32_t n = p->nway;
    if (number < 2 * n)
        return (struct nway){0, number % n, number < n ? PART_SEND : PART_RECEIVE};
    number -= 2 * n;
    return (struct nway){1 + number / (3 * n), number % n, (enum part)(number % (3 * n) / n)};
}

static uint32_t nway_number(const struct graph_pattern *p, uint32_t round, enum part part, uint32_t way)
{
    uint32_t n = p->nway, first = round ? (3 * round - 1) * n : 0;
    return first + (round || part == PART_SEND ? (uint32_t)part : 1) * n + way;
}

/* The last of the calculations is what all sends of the round wait for; the others add up, one by one. */
static void nway_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    struct nway at = nway_of(p, number);
    uint32_t n = p->nway;
    bool last = at.way + 1 == n;
    if (at.part == PART_COMBINE) {
        graph_pattern_calculation(p, op, p->bytes);
        op->before = last ? 1 : 2;
        op->on_done = last ? n : 1;
        return;
    }
    uint64_t away = at.way + 1ull;
    for (uint32_t i = 0; i < at.round; i++)
        away *= n + 1ull;
    away %= p->tasks;
    if (at.part == PART_SEND) {
        graph_pattern_message(op, GRAPH_SEND, p->bytes, graph_pattern_up(p, task, (uint32_t)away));
        op->before = at.round ? 1 + last : 0;
    } else {
        graph_pattern_message(op, GRAPH_RECEIVE, p->bytes, graph_pattern_down(p, task, (uint32_t)away));
        op->on_done = at.round + 1 == p->rounds ? 0 : at.way == 0 ? 2 : 1;
    }
}

static uint32_t nway_dependent(const struct graph_pattern *p, uint32_t task, uint32_t number, uint32_t index)
{
    struct nway at = nway_of(p, number);
    uint32_t n = p->nway;
    if (at.part == PART_COMBINE && at.way + 1 == n)
        return nway_number(p, at.round, PART_SEND, index);
    if (at.part == PART_COMBINE)
        return at.way + 2 == n ? nway_number(p, at.round, PART_SEND, n - 1) : number + 1;
    if (at.way > 0)
        return nway_number(p, at.round + 1, PART_COMBINE, at.way - 1);
    if (index == 0 && n > 1)
        return nway_number(p, at.round + 1, PART_COMBINE, 0);
    return n > 1 || index == 0 ? nway_number(p, at.round + 1, PART_COMBINE, n - 1)
                               : nway_number(p, at.round + 1, PART_SEND, 0);
}

#define FIRST_TAG (1u << 24 | 100000) /* of communicator 1, collective 0 */

/* ---- chained_dissem: five disseminations, each behind a marker, for which it waits as a whole, and which
 * ---- waits for all of the one before ----
 *
 * A marker there is a message of no bytes to task 9999999. */

#define RUNS 5
#define CHAINED_BYTES 10000

static enum ker_status chained_open(struct graph_pattern *p, const struct ker_config *config,
                                    const char *path, uint64_t seed, struct ker_error *error)
{
    p->rounds = graph_pattern_doublings(p);
    p->longest = CHAINED_BYTES;
    return KER_OK;
}

static uint32_t run_ops(const struct graph_pattern *p)
{
    return 2 * p->rounds + 1;
}

static uint32_t chained_ops(const struct graph_pattern *p, uint32_t task)
{
    return RUNS * run_ops(p);
}

/* The first send and all receives wait for the marker before them; all sends and the last receive are what
 * their own one waits for. */
static void chained_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    uint32_t run = number / run_ops(p), at = number % run_ops(p);
    if (at == 2 * p->rounds) {
        graph_pattern_calculation(p, op, 0);
        op->before = p->rounds ? p->rounds + 1 : 0;
        op->on_done = p->rounds && run + 1 < RUNS ? p->rounds + 1 : 0;
        return;
    }
    round_op(p, task, at, CHAINED_BYTES, op);
    op->tag = FIRST_TAG + run;
    op->before += run > 0 && (at == 0 || op->kind == GRAPH_RECEIVE);
    op->on_done += op->kind == GRAPH_SEND || at + 1 == 2 * p->rounds;
}

static uint32_t chained_dependent(const struct graph_pattern *p, uint32_t task, uint32_t number,
                                  uint32_t index)
{
    uint32_t at = number % run_ops(p), marker = number - at + 2 * p->rounds;
    if (at == 2 * p->rounds)
        return number + 1 + (index ? 2 * index - 1 : 0);
    return at % 2 && at + 1 < 2 * p->rounds ? number + 1 : marker;
}

/* ---- resnet: ten reductions of gradients, each behind its piece of the backward pass ----
 *
 * Operations: the forward pass; then of each piece its calculation, an empty one, and a dissemination, of
 * which all sends and the last receive wait for the empty one. */

#define PIECES 10
#define FORWARD 119000
#define BACKWARD 23800

static const uint64_t gradients[PIECES] = {6511592, 6567936, 5905920, 6113280, 6176256,
                                           6112768, 6176256, 6112768, 5321216, 5194816};

static enum ker_status resnet_open(struct graph_pattern *p, const struct ker_config *config, const char *path,
                                   uint64_t seed, struct ker_error *error)
{
    p->rounds = graph_pattern_doublings(p);
    p->longest = gradients[1] * 4;
    return KER_OK;
}

static uint32_t piece_ops(const struct graph_pattern *p)
{
    return 2 + 2 * p->rounds;
}

static uint32_t resnet_ops(const struct graph_pattern *p, uint32_t task)
{
    return 1 + PIECES * piece_ops(p);
}

static void resnet_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    if (number == 0) {
        graph_pattern_calculation(p, op, FORWARD);
        op->on_done = PIECES;
        return;
    }
    uint32_t piece = (number - 1) / piece_ops(p), at = (number - 1) % piece_ops(p);
    if (at < 2) {
        graph_pattern_calculation(p, op, at ? 0 : BACKWARD);
        op->before = 1;
        op->on_done = at ? p->rounds + (p->rounds > 0) : 1;
        return;
    }
    round_op(p, task, at - 2, 4 * gradients[piece], op);
    op->tag = FIRST_TAG + piece;
    op->before += op->kind == GRAPH_SEND || at + 1 == piece_ops(p);
}

static uint32_t resnet_dependent(const struct graph_pattern *p, uint32_t task, uint32_t number,
                                 uint32_t index)
{
    if (number == 0)
        return 1 + index * piece_ops(p);
    uint32_t at = (number - 1) % piece_ops(p);
    if (at != 1)
        return number + 1;
    return number + (index < p->rounds ? 1 + 2 * index : 2 * p->rounds);
}

static const struct ker_option nway_options[] = {
    {"jobs[].nway", KER_TYPE_INT, "1", "1", "1000000", NULL,
     "nwaydissemination: messages that a task sends in a round."},
    {0},
};

GRAPH_PATTERN(dissemination, "each task sends to those 1, 2, 4, ... further",
              KER_OPTIONS(graph_size_options, graph_bytes_options), .open = plain_open, .ops = plain_ops,
              .op = plain_op, .dependent = plain_dependent);
GRAPH_PATTERN(nwaydissemination,
              "the same with several messages a round, combined by calculations as long as they have bytes",
              KER_OPTIONS(graph_size_options, graph_bytes_options, nway_options), .open = nway_open,
              .ops = nway_ops, .op = nway_op, .dependent = nway_dependent);
GRAPH_PATTERN(chained_dissem,
              "five disseminations of 10,000 bytes, one behind the other, with a marker between them",
              KER_OPTIONS(graph_size_options), .open = chained_open, .ops = chained_ops, .op = chained_op,
              .dependent = chained_dependent);
GRAPH_PATTERN(resnet,
              "an iteration of training ResNet: ten disseminations of 21 to 26 MB beside the backward pass",
              KER_OPTIONS(graph_size_options), .open = resnet_open, .ops = resnet_ops, .op = resnet_op,
              .dependent = resnet_dependent);
