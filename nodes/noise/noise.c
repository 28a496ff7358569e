/* noise.c - the noise of a system's cores: node.noise.*, and detours drawn from distributions.
 *
 * Drawn detours alternate with gaps: number i of a core comes a gap, drawn from counter i, after the end of
 * number i - 1. A core keeps the first that ends behind the time last asked for, and looks further ahead from
 * there without moving, over AHEAD detours at most. That is a function of the seed, the core and the time,
 * too: who asks, and how often, changes nothing.
 */
#include "nodes/nodes.h"

#include <math.h>

#define AHEAD 4096 /* the run may end long before a long piece of work does */

const struct ker_option node_noise_options[] = {
    {"node.noise.kind", KER_TYPE_CHOICE, "none", NULL, NULL, "none|periodic|file|random",
     "What takes a core away from its task now and then: nothing; a detour in each period; those of a file, "
     "as marsnoise records them; or detours drawn from distributions. Nothing that a task does begins inside "
     "a detour, and its processor time continues behind it.",
     "jobs & network.model=@nodes"},
    {"node.noise.file", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "Detours: a line each with begin and length in nanoseconds, ascending; # begins a comment. The end of "
     "the last, which may have length 0, is where they begin again.",
     "node.noise.kind=file"},
    {"node.noise.period", KER_TYPE_TIME, "10 ms", "1 ps", "1000000 s", NULL,
     "From the begin of a detour to that of the next.", "node.noise.kind=periodic"},
    {"node.noise.length", KER_TYPE_TIME, "10 us", "0 ps", "1000000 s", NULL,
     "How long each takes, less than the period; drawn ones: the mean.",
     "node.noise.kind=periodic or node.noise.kind=random"},
    {"node.noise.gap", KER_TYPE_TIME, "10 ms", "100 ns", "1000000 s", NULL,
     "From the end of a drawn detour to the begin of the next, the mean: exponentially distributed. Each "
     "costs the simulator a draw.",
     "node.noise.kind=random"},
    {"node.noise.lengths", KER_TYPE_CHOICE, "fixed", NULL, NULL, "fixed|exponential|pareto",
     "Distribution of the lengths of drawn detours around their mean.", "node.noise.kind=random"},
    {"node.noise.shape", KER_TYPE_REAL, "2", "1.01", "1000", NULL,
     "Of Pareto's distribution: the chance of a length above x falls with x to the power of -shape, from "
     "mean (shape - 1) / shape on; the variance is infinite up to 2.",
     "node.noise.lengths=pareto"},
    {"node.noise.begin", KER_TYPE_CHOICE, "core", NULL, NULL, "core|node|same",
     "Which cores have their detours at the same times: none, as each begins somewhere, drawn from run.seed; "
     "those of one node; or all.",
     "node.noise.kind!=none"},
    {"node.noise.phase", KER_TYPE_TIME, "0 ns", NULL, "1000000 s", NULL,
     "How long after the begin of the file or period time 0 is, for all.", "node.noise.begin=same"},
    {0},
};

static const struct ker_word kind_words[] = {{"none", NODE_NOISE_NONE},
                                             {"periodic", NODE_NOISE_PERIODIC},
                                             {"file", NODE_NOISE_FILE},
                                             {"random", NODE_NOISE_RANDOM},
                                             {0}};
static const struct ker_word length_words[] = {
    {"fixed", NODE_NOISE_FIXED}, {"exponential", NODE_NOISE_EXPONENTIAL}, {"pareto", NODE_NOISE_PARETO}, {0}};
static const struct ker_word begin_words[] = {
    {"core", NODE_NOISE_CORE}, {"node", NODE_NOISE_NODE}, {"same", NODE_NOISE_SAME}, {0}};

/* ---- keys ---- */

static enum ker_status random_read(struct node_noise *n, const struct ker_config *config,
                                   struct ker_error *error)
{
    n->gap = ker_config_time(config, "node.noise.gap");
    n->length = ker_config_time(config, "node.noise.length");
    n->law = (enum node_noise_lengths)ker_config_number(config, "node.noise.lengths", length_words);
    n->shape = n->law == NODE_NOISE_PARETO ? ker_config_real(config, "node.noise.shape") : 0;
    if (n->begin == NODE_NOISE_SAME && ker_config_has(config, "node.noise.phase"))
        return ker_config_fail(config, error, "node.noise.phase",
                               "means nothing for drawn detours, which have no period");
    return KER_OK;
}

static enum ker_status file_read(struct node_noise *n, const struct ker_config *config,
                                 struct ker_error *error)
{
    const char *key = "node.noise.file";
    enum ker_status status = node_detours_read(&n->detours, config, key, error);
    if (status == KER_OK && n->detours.detour[n->detours.count - 1].sum == n->detours.span)
        return ker_config_fail(config, error, key, "its detours leave no time between them for any work");
    return status;
}

enum ker_status node_noise_init(struct node_noise *n, const struct ker_config *config,
                                struct ker_error *error)
{
    *n = (struct node_noise){0};
    enum node_noise_kind kind =
        (enum node_noise_kind)ker_config_number(config, "node.noise.kind", kind_words);
    if (kind == NODE_NOISE_NONE)
        return KER_OK;
    n->seed = (uint64_t)ker_config_int(config, "run.seed");
    n->purpose = ker_purpose("node.noise");
    n->begin = (enum node_noise_begin)ker_config_number(config, "node.noise.begin", begin_words);
    enum ker_status status;
    if (kind == NODE_NOISE_RANDOM)
        status = random_read(n, config, error);
    else if (kind == NODE_NOISE_FILE)
        status = file_read(n, config, error);
    else
        status = node_detours_periodic(&n->detours, config, "node.noise.period", "node.noise.length", error);
    if (kind != NODE_NOISE_RANDOM && n->begin == NODE_NOISE_SAME)
        n->phase = ker_config_time(config, "node.noise.phase");
    bool any = kind == NODE_NOISE_RANDOM ? n->length > 0 : n->detours.count > 0;
    n->kind = status == KER_OK && any ? kind : NODE_NOISE_NONE;
    return status;
}

void node_noise_release(struct node_noise *n)
{
    node_detours_free(&n->detours);
}

/* ---- drawn detours ---- */

static ker_time rounded(double time)
{
    const double most = (double)(1000000 * KER_S);
    return (ker_time)llround(time < most ? time : most);
}

/* Those of an exponential distribution: -mean ln(1 - u), u in [0, 1). */
static ker_time length_draw(const struct node_noise *n, double u)
{
    switch (n->law) {
    case NODE_NOISE_FIXED:
        return n->length;
    case NODE_NOISE_EXPONENTIAL:
        return rounded(-(double)n->length * log1p(-u));
    default:
        return rounded((double)n->length * (n->shape - 1) / n->shape * pow(1 - u, -1 / n->shape));
    }
}

static void core_next(const struct node_noise *n, uint64_t component, struct node_noise_core *core)
{
    struct ker_bits bits = ker_random_bits(n->seed, n->purpose, component, core->drawn++);
    ker_time gap = rounded(-(double)n->gap * log1p(-ker_random_unit(bits.word[0], bits.word[1])));
    core->begin = ker_time_later(core->end, gap);
    core->end = ker_time_later(core->begin, length_draw(n, ker_random_unit(bits.word[2], bits.word[3])));
}

static ker_time random_until(const struct node_noise *n, uint64_t component, struct node_noise_core *core,
                             ker_time from, ker_time length)
{
    const ker_time latest = 9000000 * KER_S; /* behind any run's end */
    while (core->end <= from)
        core_next(n, component, core);
    ker_time until = from < latest - length ? from + length : latest;
    struct node_noise_core at = *core;
    for (; at.begin <= until && until < latest; core_next(n, component, &at)) {
        if (length > 0 && at.drawn - core->drawn == AHEAD)
            return at.begin;
        ker_time rest = at.end - (at.begin > from ? at.begin : from);
        until = rest < latest - until ? until + rest : latest;
    }
    return until;
}

static ker_time random_free(const struct node_noise *n, uint64_t component, struct node_noise_core *core,
                            ker_time from, ker_time to)
{
    ker_time time = to - from;
    while (core->end <= from)
        core_next(n, component, core);
    for (struct node_noise_core at = *core; at.begin < to; core_next(n, component, &at))
        time -= ker_time_min(at.end, to) - (at.begin > from ? at.begin : from);
    return time;
}

/* Whose detours a core has: those of the same number have the same. */
static uint64_t component_of(const struct node_noise *n, uint32_t node, uint32_t core)
{
    switch (n->begin) {
    case NODE_NOISE_SAME:
        return 0;
    case NODE_NOISE_NODE:
        return (uint64_t)node << 16;
    default:
        return (uint64_t)node << 16 | (core + 1);
    }
}

static ker_time phase_of(const struct node_noise *n, uint64_t component)
{
    return n->begin == NODE_NOISE_SAME ? n->phase
                                       : node_detours_place(&n->detours, n->seed, n->purpose, component);
}

ker_time node_noise_until(const struct node_noise *n, struct node_noise_core *at, uint32_t node,
                          uint32_t core, ker_time from, ker_time length)
{
    uint64_t component = component_of(n, node, core);
    return n->kind == NODE_NOISE_RANDOM
               ? random_until(n, component, at, from, length)
               : node_detours_until(&n->detours, phase_of(n, component), from, length);
}

ker_time node_noise_free_time(const struct node_noise *n, struct node_noise_core *at, uint32_t node,
                              uint32_t core, ker_time from, ker_time to)
{
    uint64_t component = component_of(n, node, core);
    return n->kind == NODE_NOISE_RANDOM
               ? random_free(n, component, at, from, to)
               : node_detours_free_time(&n->detours, phase_of(n, component), from, to);
}
