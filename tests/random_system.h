/* random_system.h - random small systems for tests/test_equal_bits.c: number n is always the same
 * configuration.
 *
 * Everything is drawn from one stream. Equal speeds and latencies come up often, since they make ties; so do
 * odd ones, since they bring credits out of order. A third of the systems is wild: there every other
 * parameter is drawn from its whole range, minimum and maximum included, since what goes wrong with usual
 * values only rarely does so at once at the edge. Sizes are chosen so that a system moves some thousand
 * packets at most.
 */
#ifndef TESTS_RANDOM_SYSTEM_H
#define TESTS_RANDOM_SYSTEM_H

#include "kernel/kernel.h"
#include "routing/routing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANDOM_PACKETS 1200 /* about so many in synthetic traffic */

struct random_system {
    struct ker_stream stream;
    struct ker_stream
        later; /* of keys that came later, so that they leave the draws of the others as they were */
    FILE *out;
    const char *folder, *traces; /* absolute; files beside the configuration are named in the folder */
    const char *own; /* routing.algorithm that only this topology has; NULL: minimal or adaptive will do */
    int number;
    bool wild;                /* parameters come from their whole range */
    bool closed;              /* a closed loop */
    uint32_t nodes, channels; /* of the network; channels it needs */
    uint32_t classes;         /* of priority */
    uint32_t outstanding;     /* of a closed loop */
    uint32_t packet, header;  /* bytes */
    uint32_t hop_bytes;       /* in the header, for each of up to 255 switches */
    bool lossy;               /* faults */
    bool trace;               /* one of the jobs */
    bool several, biased;     /* the algorithm offers ways to select from; detours among them */
    bool third_groups,
        shared; /* a hierarchy with groups to make detours by; which share their links (attach = "group") */
    double bandwidth; /* of the node links, GB/s, for the length of the run */
};

static uint32_t draw(struct random_system *r, uint32_t n)
{
    return ker_stream_below(&r->stream, n);
}

static uint32_t between(struct random_system *r, uint32_t low, uint32_t high)
{
    return low + draw(r, high - low + 1);
}

static bool chance(struct random_system *r, uint32_t percent)
{
    return draw(r, 100) < percent;
}

static uint32_t draw_later(struct random_system *r, uint32_t n)
{
    return ker_stream_below(&r->later, n);
}

/* In a wild system every other parameter. */
static bool wild(struct random_system *r)
{
    return r->wild && chance(r, 50);
}

/* From low (at least 1) to high, every order of magnitude alike; in a fifth of the cases one of the two. */
static uint64_t spread(struct random_system *r, double low, double high)
{
    if (chance(r, 20))
        return (uint64_t)(chance(r, 50) ? low : high);
    double value = low * pow(high / low, draw(r, 1000001) * 1e-6);
    return (uint64_t)(value < high ? value : high);
}

#define PICK_LATER(r, list) ((list)[draw_later((r), (uint32_t)(sizeof(list) / sizeof *(list)))])
#define PICK(r, list) ((list)[draw((r), (uint32_t)(sizeof(list) / sizeof *(list)))])

/* A time of a wild system, in a text that the next call writes over. */
static const char *wild_time(struct random_system *r, double low_ps, double high_ps)
{
    static char text[40];
    snprintf(text, sizeof text, "%llu ps", (unsigned long long)spread(r, low_ps, high_ps));
    return text;
}

static const char *random_latency(struct random_system *r)
{
    static const char *const usual[] = {"20 ns", "30 ns", "50 ns", "100 ns", "200 ns"};
    static const char *const odd[] = {"3 ns", "7777 ps", "33333 ps", "120001 ps", "1 us"};
    if (wild(r))
        return wild_time(r, 1, 1e9);
    return chance(r, 75) ? PICK(r, usual) : PICK(r, odd);
}

static double random_rate(struct random_system *r) /* GB/s */
{
    static const double usual[] = {5, 10, 12.5, 25}, odd[] = {1.7, 3.3, 7.77, 24};
    if (wild(r)) /* 2 ms for the largest packet to 1 ps for the smallest */
        return (double)spread(r, 5e7, 1e12) * 1e-9;
    return chance(r, 75) ? PICK(r, usual) : PICK(r, odd);
}

/* bandwidth and latency: one for all, or one for each of `levels`; in a third of the cases node links of
 * their own. */
static void random_links(struct random_system *r, int levels, bool node_keys)
{
    bool each = levels > 1 && chance(r, 60);
    fprintf(r->out, "    bandwidth = [");
    for (int i = 0; i < (each ? levels : 1); i++) {
        double rate = random_rate(r);
        if (i == 0)
            r->bandwidth = rate;
        fprintf(r->out, "%s\"%.9g GB/s\"", i ? ", " : "", rate);
    }
    fprintf(r->out, "];\n    latency = [");
    each = levels > 1 && chance(r, 50);
    for (int i = 0; i < (each ? levels : 1); i++)
        fprintf(r->out, "%s\"%s\"", i ? ", " : "", random_latency(r));
    fprintf(r->out, "];\n");
    if (node_keys && chance(r, 35)) {
        r->bandwidth = random_rate(r);
        fprintf(r->out, "    node_bandwidth = \"%.9g GB/s\";\n    node_latency = \"%s\";\n", r->bandwidth,
                random_latency(r));
    }
}

/* ---- topologies ---- */

static void random_torus(struct random_system *r)
{
    static const uint32_t most[] = {0, 9, 5, 4, 3};
    int dimensions = (int)between(r, 1, 4);
    fprintf(r->out, "    kind = \"torus\";\n    extents = [");
    for (int i = 0; i < dimensions; i++)
        fprintf(r->out, "%s%u", i ? ", " : "", between(r, i == 0 ? 2 : 1, most[dimensions]));
    fprintf(r->out, "];\n    wrap = [");
    bool open = chance(r, 30);
    for (int i = 0; i < dimensions; i++)
        fprintf(r->out, "%s%s", i ? ", " : "", open && chance(r, 60) ? "false" : "true");
    fprintf(r->out, "];\n    parallel = %u;\n    nodes_per_switch = %u;\n",
            chance(r, 25) ? between(r, 2, 3) : 1, chance(r, 40) ? between(r, 2, 3) : 1);
    r->own = "valiant";
    random_links(r, dimensions, true);
}

static void random_fat_tree(struct random_system *r)
{
    int levels = (int)between(r, 1, 3);
    if (levels > 1 && chance(r, 25)) {
        fprintf(r->out, "    kind = \"fat_tree\";\n    radix = 4;\n    levels = %d;\n", levels);
    } else {
        fprintf(r->out, "    kind = \"fat_tree\";\n    down = [");
        for (int i = 0; i < levels; i++)
            fprintf(r->out, "%s%u", i ? ", " : "", between(r, 2, 4));
        fprintf(r->out, "];\n    up = [1");
        for (int i = 1; i < levels; i++)
            fprintf(r->out, ", %u", between(r, 1, 3));
        fprintf(r->out, "];\n");
    }
    if (levels > 1 && chance(r, 40))
        fprintf(r->out, "    taper = [%s];\n", chance(r, 50) ? "0.5" : "0.75");
    r->own = chance(r, 50) ? "s_mod_k" : "random";
    random_links(r, levels, false);
}

static void random_hierarchical(struct random_system *r)
{
    static const uint32_t most[] = {0, 9, 5, 4, 2};
    int levels = (int)between(r, 1, 4);
    fprintf(r->out, "    kind = \"hierarchical\";\n    groups = [");
    uint32_t groups = 0;
    for (int i = 0; i < levels; i++)
        fprintf(r->out, "%s%u", i ? ", " : "", groups = between(r, 2, most[levels]));
    r->third_groups = groups > 2 && levels < 4; /* with 4 levels they need more channels than there are */
    r->shared = levels > 1;
    fprintf(r->out, "];\n    links = [");
    for (int i = 0; i < levels; i++)
        fprintf(r->out, "%s%u", i ? ", " : "", chance(r, 25) ? 2 : 1);
    fprintf(r->out, "];\n    nodes_per_switch = %u;\n", between(r, 1, 3));
    if (levels > 1 && chance(r, 40)) {
        bool by_switch = chance(r, 60);
        fprintf(r->out, "    attach = [\"%s\"];\n", by_switch ? "switch" : "group");
        r->shared = !by_switch;
    }
    random_links(r, levels, true);
}

static void random_star(struct random_system *r)
{
    fprintf(r->out, "    kind = \"star\";\n    nodes = %u;\n", between(r, 2, 24));
    random_links(r, 1, false);
}

static void file_words(const char *text, FILE *out) /* units without the blank */
{
    for (; *text; text++)
        if (*text != ' ')
            fputc(*text, out);
}

static void file_links(struct random_system *r, FILE *out)
{
    fputc(' ', out);
    file_words(random_latency(r), out);
    fprintf(out, " %.9gGB/s", random_rate(r));
}

/* A random tree and some links more. */
static void random_file(struct random_system *r)
{
    char *path = ker_format("%s/%03d.net", r->folder, r->number);
    uint32_t switches = between(r, 1, 12), nodes = between(r, 2, 2 * switches + 4);
    bool joined[12][12] = {{false}};
    FILE *out = fopen(path, "w");
    ker_assert(out != NULL);
    for (uint32_t s = 0; s < switches; s++)
        fprintf(out, "switch s%u\n", s);
    for (uint32_t n = 0; n < nodes; n++) {
        fprintf(out, "node n%u s%u", n, draw(r, switches));
        file_links(r, out);
        fputc('\n', out);
    }
    for (uint32_t k = 1; k < switches + switches / 2; k++) {
        uint32_t a = k < switches ? k : draw(r, switches), b = draw(r, k < switches ? k : switches);
        if (a == b || joined[a][b])
            continue;
        joined[a][b] = joined[b][a] = true;
        fprintf(out, "link s%u s%u", a, b);
        file_links(r, out);
        fprintf(out, " %u\n", chance(r, 20) ? 2 : 1);
    }
    fclose(out);
    r->bandwidth = 5;
    fprintf(r->out, "    kind = \"file\";\n    file = \"%s\";\n", path);
    free(path);
}

static void random_detours(struct random_system *r)
{
    static const char *const algorithms[] = {"valiant", "indirect", "ugal", "par", "ugal_piggyback"};
    static const char *const vias[] = {"group", "switch", "any"}, *const weights[] = {"auto", "even", "links",
                                                                                      "double"};
    const char *algorithm = PICK(r, algorithms);
    if (!r->shared && strcmp(algorithm, "ugal_piggyback") == 0)
        algorithm = "ugal";
    const char *via = PICK(r, vias), *weight = PICK(r, weights);
    uint32_t candidates = between(r, 1, 3);
    bool adaptive = !chance(r, 50), indirect = strcmp(algorithm, "indirect") == 0;
    r->several = r->biased = strcmp(algorithm, "valiant") != 0;
    fprintf(r->out, "routing: {\n    algorithm = \"%s\";\n    valiant = \"%s\";\n", algorithm, via);
    if (r->biased)
        fprintf(r->out, "    weight = \"%s\";\n", weight);
    if (r->biased && !indirect)
        fprintf(r->out, "    candidates = %u;\n", candidates);
    if (indirect)
        fprintf(r->out, "    indirect = \"%s\";\n", adaptive ? "adaptive" : "static");
}

/* Which of the ways is taken, and where that is decided. `escapes`: a source cannot know which are open. */
static void random_selection(struct random_system *r, bool escapes)
{
    static const char *const selections[] = {"queue",       "credits", "both",       "random",
                                             "destination", "flow",    "round_robin"};
    static const char *const fixed[] = {"random", "destination", "flow"}, *const stickies[] = {
                                                                              "packet", "message", "flow"};
    r->hop_bytes = 0;
    if (!escapes && chance(r, 25)) {
        r->hop_bytes = chance(r, 50) ? between(r, 1, 4) : 0;
        const char *selection = PICK(r, fixed);
        if (r->several)
            fprintf(r->out, "    selection = \"%s\";\n", selection);
        fprintf(r->out, "    decided = \"source\";\n    hop_bytes = \"%u B\";\n", r->hop_bytes);
        return;
    }
    uint32_t which = chance(r, 60) ? draw(r, 3) : draw(r, 7);
    double most = wild(r) ? 1e12 : 2e5;
    if (r->several)
        fprintf(r->out, "    selection = \"%s\";\n",
                which == 2 && draw_later(r, 2) ? "two" : selections[which]);
    if (which < 3 && chance(r, 25)) {
        if (r->several)
            fprintf(r->out, "    threshold = \"%s\";\n", wild_time(r, 1, most));
        if (r->biased)
            fprintf(r->out, "    bias = \"%s\";\n", wild_time(r, 1, most));
    }
    bool hysteresis = r->several && which < 3 && chance(r, 20);
    if (hysteresis)
        fprintf(r->out, "    hysteresis = \"%s\";\n", wild_time(r, 1, most));
    else if (chance(r, 30))
        fprintf(r->out, "    sticky = \"%s\";\n", PICK(r, stickies));
    if (r->several && (which == 1 || which == 2) && chance(r, 25))
        fprintf(r->out, "    credits = \"port\";\n");
}

/* Links that fail, from the start or while running. What is lost would leave jobs waiting. */
static void random_faults(struct random_system *r)
{
    static const double rates[] = {0.02, 0.05, 0.1, 0.2};
    r->lossy = true;
    fprintf(r->out, "faults: {\n    link_rate = %.2f;\n    seed = %u;\n    unreachable = \"drop\";\n",
            PICK(r, rates), draw(r, 1000));
    if (chance(r, 20))
        fprintf(r->out, "    switch_rate = 0.05;\n");
    if (chance(r, 60))
        fprintf(r->out, "    at = \"%u ns\";\n    spread = \"%u ns\";\n", draw(r, 3000),
                chance(r, 60) ? draw(r, 5000) : 0);
    fprintf(r->out, "};\n");
}

static void random_topology(struct random_system *r)
{
    static void (*const kinds[])(struct random_system *) = {
        random_torus,        random_torus,        random_torus, random_fat_tree, random_fat_tree,
        random_hierarchical, random_hierarchical, random_star,  random_file};
    void (*kind)(struct random_system *) = PICK(r, kinds);
    fprintf(r->out, "topology: {\n");
    kind(r);
    fprintf(r->out, "};\n");
    if (r->third_groups && chance(r, 60))
        random_detours(r);
    else if (r->own && chance(r, 35))
        fprintf(r->out, "routing: {\n    algorithm = \"%s\";\n", r->own);
    else {
        bool table = chance(r, 20); /* on any topology */
        r->several = chance(r, 50);
        fprintf(r->out, "routing: {\n    algorithm = \"%s\";\n",
                r->several ? (table ? "updown" : "adaptive")
                : table    ? "layered"
                           : "minimal");
    }
    random_selection(r, kind == random_torus);
    fprintf(r->out, "};\n");
    if (kind != random_star && chance(r, 20))
        random_faults(r);
}

/* ---- switches and adapters ---- */

/* Bytes of a buffer: some packets, or anything that holds one. */
static uint64_t random_buffer(struct random_system *r, uint32_t wire)
{
    static const uint32_t depths[] = {1, 1, 2, 3, 4, 16, 64};
    if (wild(r))
        return spread(r, wire, 1 << 30);
    return (uint64_t)wire * PICK(r, depths) + (chance(r, 30) ? draw(r, wire) : 0);
}

static void random_delay(struct random_system *r, const char *key, uint32_t percent)
{
    static const char *const delays[] = {"10 ns", "20 ns", "50 ns", "90001 ps"};
    const char *delay = !chance(r, percent) ? "0 ns" : wild(r) ? wild_time(r, 1, 1e9) : PICK(r, delays);
    fprintf(r->out, "    %s = \"%s\";\n", key, delay);
}

/* Payload and header; with headers that count hops there must be room for 255 of them. */
static void random_packet(struct random_system *r)
{
    static const uint32_t packets[] = {64, 128, 256, 512, 512, 1000, 2048, 4096}, headers[] = {0, 0, 8, 32};
    r->header = PICK(r, headers);
    r->packet = PICK(r, packets);
    if (wild(r))
        r->header = draw(r, 4097);
    if (wild(r))
        r->packet = (uint32_t)spread(r, 2, 65535 - r->header - 255 * r->hop_bytes);
}

static void random_sink(struct random_system *r, uint32_t wire)
{
    double rate = r->bandwidth * 0.6;
    if (wild(r))
        rate = r->bandwidth * (double)spread(r, 1, 3000) * 1e-3;
    fprintf(r->out, "    ejection_rate = \"%.6f GB/s\";\n    buffer = \"%llu B\";\n",
            rate > 1e-6 ? rate : 1e-6, (unsigned long long)random_buffer(r, wire));
}

static void random_switch(struct random_system *r)
{
    static const char *const arbitrations[] = {"round_robin", "oldest", "random"};
    static const double speedups[] = {1, 1, 2, 1.3, 4};
    random_packet(r);
    uint32_t wire = r->packet + r->header + 255 * r->hop_bytes,
             channels = r->channels + (chance(r, 50) ? between(r, 1, 3) : 0);
    if (wild(r))
        channels = between(r, r->channels, 16);
    if (channels > 16)
        channels = 16;
    r->classes = chance(r, 20) && channels <= 5 ? between(r, 2, 3) : 1;
    if (wild(r))
        r->classes = between(r, 1, 16 / channels);
    fprintf(r->out, "switch: {\n    channels = %u;\n    classes = %u;\n", channels, r->classes);
    fprintf(r->out, "    buffer = \"%llu B\";\n", (unsigned long long)random_buffer(r, wire));
    fprintf(r->out, "    output_queue = \"%llu B\";\n", (unsigned long long)random_buffer(r, wire));
    fprintf(r->out, "    queueing = \"%s\";\n    arbitration = \"%s\";\n", chance(r, 30) ? "fifo" : "voq",
            PICK(r, arbitrations));
    fprintf(r->out, "    forwarding = \"%s\";\n    speedup = %.3f;\n",
            chance(r, 25) ? "store_and_forward" : "cut_through",
            wild(r) ? 1e-3 * (double)spread(r, 1000, 64000) : PICK(r, speedups));
    fprintf(r->out, "    matching = \"%s\";\n", draw_later(r, 2) ? "separable" : "greedy");
    random_delay(r, "delay", 75);
    random_delay(r, "credit_delay", 30);
    fprintf(r->out, "};\nadapter: {\n    packet_size = \"%u B\";\n    header = \"%u B\";\n", r->packet,
            r->header);
    bool one_queue = chance(r, 30), in_order = chance(r, 30);
    fprintf(r->out, "    queues = \"%s\";\n", one_queue ? "fifo" : "per_destination");
    if (!one_queue)
        fprintf(r->out, "    scheduling = \"%s\";\n", in_order ? "fifo" : "round_robin");
    if (chance(r, 25))
        random_sink(r, wire);
    fprintf(r->out, "    resequence = %s;\n", chance(r, 20) ? "true" : "false");
}

/* The rest of the adapter's group, which random_switch leaves open. */
static void random_control(struct random_system *r, bool jobs)
{
    static const char *const controls[] = {"first", "fair", "in_order"};
    if (jobs)
        fprintf(r->out, "    control = \"%s\";\n", controls[draw_later(r, 3)]);
    fprintf(r->out, "};\n");
}

/* A fraction with six digits. */
static double random_fraction(struct random_system *r, double low, double usual_low, double usual_high)
{
    if (wild(r))
        return 1e-6 * (double)spread(r, low * 1e6, 1e6);
    return usual_low + (usual_high - usual_low) * 0.01 * draw(r, 101);
}

/* From a thirtieth to thirty times of what a packet takes on the wire, where most of what races does so; or
 * anything. */
static double random_recovery(struct random_system *r)
{
    double wire = 1000 * (r->packet + r->header) / r->bandwidth;
    uint64_t time = wild(r) ? spread(r, 1000, 1e12) : (uint64_t)(wire * 0.001 * (double)spread(r, 30, 30000));
    return time < 1000 ? 1000 : (double)time;
}

/* Congestion control in a third of the systems, mostly set so that it acts soon and often: flows that are
 * slowed down and recover again and again. */
static void random_congestion(struct random_system *r)
{
    if (!chance(r, 35))
        return;
    uint32_t wire = r->packet + r->header;
    uint64_t low = wild(r) ? spread(r, 1, 1e9) : draw(r, 3 * wire);
    fprintf(r->out,
            "congestion: {\n    control = \"ecn\";\n    threshold = \"%llu B\";\n    mark = \"%s\";\n",
            (unsigned long long)low, chance(r, 70) ? "root" : "all");
    if (chance(r, 50))
        fprintf(r->out, "    threshold_high = \"%llu B\";\n",
                (unsigned long long)(low + (wild(r) ? spread(r, 1, 1e9) : draw(r, 4 * wire))));
    fprintf(r->out, "    decrease = %.6f;\n", random_fraction(r, 0.001, 0.1, 1));
    fprintf(r->out, "    minimum = %.6f;\n", random_fraction(r, 0.000001, 0.01, 0.2));
    fprintf(r->out, "    increase = %.6f;\n", random_fraction(r, 0.000001, 0.01, 0.5));
    fprintf(r->out, "    recovery = \"%.0f ps\";\n", random_recovery(r));
    fprintf(r->out, "    notice_gap = \"%.0f ps\";\n", chance(r, 30) ? 0.0 : random_recovery(r));
    fprintf(r->out, "    notice_size = \"%u B\";\n    window = %u;\n};\n", between(r, 1, wire),
            wild(r) ? (uint32_t)spread(r, 1, 1e6) : between(r, 1, 8));
}

/* ---- traffic ---- */

/* The largest message of a wild system: a node that sends all it may at once sends so much. */
static double size_limit(const struct random_system *r)
{
    double messages = r->closed ? 2.0 * r->outstanding * r->nodes : r->nodes;
    double most = 4.0 * RANDOM_PACKETS / messages * r->packet;
    return most > 2 ? most : 2;
}

static void random_sizes(struct random_system *r)
{
    double most = size_limit(r);
    unsigned long long low = wild(r) ? spread(r, 1, most) : 1,
                       high = wild(r) ? spread(r, 1, most) : r->packet * 2;
    switch (draw(r, 5)) {
    case 0:
        fprintf(r->out, "    size_law = \"list\";\n    sizes = [\"0 B\", \"%u B\", \"%u B\"];\n", r->packet,
                r->packet * 3 + 1);
        break;
    case 1:
        fprintf(
            r->out,
            "    size_law = \"uniform\";\n    size_minimum = \"%llu B\";\n    size_maximum = \"%llu B\";\n",
            low < high ? low : high, low < high ? high : low);
        break;
    case 2:
        fprintf(r->out, "    size_law = \"exponential\";\n    size = \"%llu B\";\n",
                wild(r) ? high : r->packet);
        break;
    default:
        if (wild(r))
            fprintf(r->out, "    size = \"%llu B\";\n", high);
        else
            fprintf(r->out, "    size = \"%u B\";\n", chance(r, 70) ? r->packet : r->packet * 2 + 17);
    }
}

/* What moves about RANDOM_PACKETS at full speed, in ns. */
static double random_span(const struct random_system *r)
{
    double span = (double)RANDOM_PACKETS * (r->packet + r->header) / (r->nodes * r->bandwidth);
    return span > 0.1 ? span : 0.1;
}

static void random_pattern(struct random_system *r)
{
    static const char *const patterns[] = {"uniform",     "uniform",    "gups",      "hotspot",
                                           "permutation", "tornado",    "transpose", "bit_complement",
                                           "neighbour",   "all_to_all", "incast"};
    const char *pattern = PICK(r, patterns);
    double side = sqrt(r->nodes);
    if (strcmp(pattern, "transpose") == 0 && side != floor(side)) /* would be refused, but for some tori */
        pattern = "uniform";
    bool even = r->nodes > 2 && r->nodes % 2 == 0, bits = even && (r->nodes & (r->nodes - 1)) == 0;
    if (pattern[0] == 't' && draw_later(r, 2))
        pattern = bits && draw_later(r, 2) ? "bit_reverse" : even && draw_later(r, 2) ? "shuffle" : "shift";
    fprintf(r->out, "    pattern = \"%s\";\n", pattern);
    if (strcmp(pattern, "shift") == 0)
        fprintf(r->out, "    shift = %u;\n", 1 + draw_later(r, r->nodes - 1));
    if (pattern[0] == 'h')
        fprintf(r->out, "    hotspots = [0, %u];\n    hotspot_fraction = 0.4;\n    hotspot_senders = %u;\n",
                draw(r, r->nodes), r->nodes > 4 && chance(r, 50) ? between(r, 1, r->nodes - 1) : 0);
    if (pattern[0] == 'i')
        fprintf(r->out, "    target = %u;\n", draw(r, r->nodes));
    if (pattern[0] == 'u' || pattern[0] == 'g')
        fprintf(r->out, "    self = %s;\n", chance(r, 20) ? "true" : "false");
    if (pattern[0] == 'a' || chance(r, 40)) {
        r->closed = true;
        r->outstanding = wild(r) ? (uint32_t)spread(r, 1, 64) : between(r, 1, 8);
        fprintf(r->out, "    outstanding = %u;\n", r->outstanding);
        fprintf(r->out, "    stop = \"%.0f ps\";\n",
                1000 * random_span(r)); /* a closed loop has no other end */
        if (pattern[0] != 'a')
            fprintf(r->out, "    reply = \"%llu B\";\n",
                    wild(r)         ? (unsigned long long)spread(r, 1, size_limit(r))
                    : chance(r, 50) ? 0ull
                                    : r->packet + 1ull);
        return;
    }
    static const double loads[] = {0.1, 0.3, 0.5, 0.7, 1.0, 1.5};
    static const char *const arrivals[] = {"poisson", "poisson", "periodic", "burst"};
    double load = wild(r) ? 1e-3 * (double)spread(r, 1, 10000) : PICK(r, loads);
    const char *arrival = PICK(r, arrivals);
    if (load <= 1 && draw_later(r, 3) == 0)
        arrival = "bernoulli";
    fprintf(r->out, "    load = %.3f;\n    arrival = \"%s\";\n", load, arrival);
    if (strcmp(arrival, "burst") == 0)
        fprintf(r->out, "    burst_load = %.3f;\n    burst_length = %u;\n", load < 1.5 ? 1.5 : load + 1,
                wild(r) ? (uint32_t)spread(r, 1, 1000) : 8);
}

/* Where something is counted at regular times. Without a run.end a wild system may last for hours of
 * simulated time. */
static void random_period(struct random_system *r, bool ends, double unit)
{
    if (r->trace || !chance(r, 25) || (r->wild && !ends)) /* a trace lasts long */
        return;
    fprintf(r->out, "    period = \"%.0f ps\";\n", wild(r) ? (double)spread(r, unit, 100 * unit) : 7 * unit);
}

static void random_end(struct random_system *r, bool jobs, bool traffic)
{
    double ns = random_span(r), unit = floor(20 * ns); /* of what happens again and again, so that it meets */
    uint32_t way = draw(r, 5);
    fprintf(r->out, "run: {\n    seed = %u;\n    warmup = \"%.0f ps\";\n", draw(r, 1000),
            chance(r, 50) ? 100 * ns : 0.0);
    fprintf(r->out, "    check_interval = \"%.0f ps\";\n",
            wild(r) ? (double)spread(r, unit, 1e4 * unit) : 2 * unit);
    switch (way) {
    case 0:
        fprintf(r->out, "    end = \"%.0f ps\";\n",
                wild(r) ? (double)spread(r, 101 * ns, 3000 * ns) : 1000 * ns);
        break;
    case 1:
        fprintf(r->out, "    measure = \"%.0f ps\";\n    drain = %s;\n", 700 * ns,
                chance(r, 60) ? "true" : "false");
        break;
    case 2:
        fprintf(r->out, "    packets = %u;\n    end = \"%.0f ps\";\n",
                wild(r) ? between(r, 1, RANDOM_PACKETS) : RANDOM_PACKETS / 2, 4000 * ns);
        break;
    case 3:
        fprintf(r->out, "    confidence = 0.2;\n    batch = \"%.0f ps\";\n    end = \"%.0f ps\";\n", 3 * unit,
                1500 * ns);
        break;
    default:
        if (!jobs)
            fprintf(r->out, "    measure = \"%.0f ps\";\n", 1000 * ns);
        else if (traffic) /* jobs may take very long beside it */
            fprintf(r->out, "    end = \"%.0f ps\";\n", 20000 * ns);
    }
    fprintf(r->out, "};\noutput: {\n    matrix = %s;\n", chance(r, 30) ? "true" : "false");
    random_period(r, way == 0 || way == 2 || way == 3, unit);
    fprintf(r->out, "};\n");
}

static void random_traffic(struct random_system *r)
{
    fprintf(r->out, "traffic: {\n    priority = %u;\n", draw_later(r, r->classes));
    random_pattern(r);
    random_sizes(r);
    if (chance(r, 35))
        fprintf(r->out, "    messages = %u;\n",
                wild(r) ? (uint32_t)spread(r, 1, 1e9) : 1 + RANDOM_PACKETS / r->nodes / 2);
    if (wild(r))
        fprintf(r->out, "    start = \"%.0f ps\";\n", random_span(r) * draw(r, 900));
    fprintf(r->out, "};\n");
}

/* ---- jobs ---- */

static void random_placement(struct random_system *r, uint32_t first, uint32_t nodes, uint32_t per_node)
{
    static const char *const placements[] = {"sequential", "strided", "random"};
    const char *placement = PICK(r, placements);
    uint32_t stride = between(r, 1, nodes < 3 ? nodes : 3);
    fprintf(r->out, "        placement = \"%s\";\n        tasks_per_node = %u;\n", placement, per_node);
    if (strcmp(placement, "strided") == 0)
        fprintf(r->out, "        stride = %u;\n", stride);
    fprintf(r->out, "        first_node = %u;\n        nodes = %u;\n", first, nodes);
}

/* Extents with a product of at most `most`. */
static void random_stencil(struct random_system *r, uint32_t most)
{
    static const char *const sizes[] = {"0 B", "100 B", "1 KiB", "8 KiB", "8193 B", "20 KiB"};
    char size[40];
    double limit = 0.5 * RANDOM_PACKETS / most * r->packet; /* six neighbours, two steps */
    snprintf(size, sizeof size, "%llu B", (unsigned long long)spread(r, 1, limit > 2 ? limit : 2));
    fprintf(r->out, "        program = \"stencil\";\n        extents = [");
    uint32_t left = most < 48 ? most : 48;
    for (int i = 0; i < 3 && (i == 0 || left > 1); i++) {
        uint32_t extent = i == 2 ? left : between(r, left > 1 ? 2 : 1, left < 6 ? left : 6);
        extent = extent < 6 ? extent : 6;
        fprintf(r->out, "%s%u", i ? ", " : "", extent);
        left /= extent;
    }
    fprintf(r->out, "];\n        neighbours = \"%s\";\n        periodic = %s;\n",
            chance(r, 15) ? "all" : "faces", chance(r, 70) ? "true" : "false");
    fprintf(r->out, "        bytes = \"%s\";\n        steps = %u;\n        compute_time = \"%u ns\";\n",
            wild(r) || r->packet < 64 ? size : PICK(r, sizes), between(r, 1, 2),
            chance(r, 50) ? draw(r, 2000) : 0);
    uint32_t every = draw(r, 3), bytes = draw(r, r->packet < 64 ? 3 * r->packet : 3000);
    fprintf(r->out, "        allreduce_every = %u;\n", every);
    if (every)
        fprintf(r->out, "        allreduce_bytes = \"%u B\";\n", bytes);
}

static void random_trace(struct random_system *r, uint32_t slots)
{
    r->trace = true;
    fprintf(r->out,
            "        program = \"trace\";\n        trace = \"%s/%s\";\n        processor_factor = %.2f;\n",
            r->traces, slots >= 8 && r->packet < 4096 ? "npb-is.S-8" : "npb-ft.S-4",
            chance(r, 70) ? 0.0 : 0.01);
}

static void random_jobs(struct random_system *r)
{
    uint32_t jobs = r->nodes >= 4 && chance(r, 50) ? between(r, 2, 3) : 1, share = r->nodes / jobs;
    uint32_t cores = chance(r, 40) ? between(r, 2, 4) : 1;
    static const char *const limits[] = {"0 B", "1 KiB", "8 KiB", "1 MiB"};
    fprintf(r->out,
            "node: {\n    cores = %u;\n    send_overhead = \"%u ns\";\n    receive_overhead = \"%u ns\";\n"
            "    doorbell = \"%u ns\";\n};\n",
            cores, chance(r, 40) ? draw(r, 300) : 0, chance(r, 40) ? draw(r, 300) : 0,
            chance(r, 30) ? 100 : 0);
    char limit[40];
    snprintf(limit, sizeof limit, "%llu B", (unsigned long long)spread(r, 1, 1 << 30));
    fprintf(r->out, "mpi: {\n    eager_limit = \"%s\";\n    eager_completion = \"%s\";\n",
            wild(r) ? limit : PICK(r, limits), chance(r, 50) ? "sent" : "buffered");
    fprintf(r->out, "    rendezvous = \"%s\";\n", draw_later(r, 2) ? "read" : "write");
    if (draw_later(r, 2))
        fprintf(r->out, "    control_priority = %u;\n", draw_later(r, r->classes));
    fprintf(r->out, "};\njobs: (\n");
    for (uint32_t j = 0; j < jobs; j++) {
        uint32_t per_node = between(r, 1, cores), slots = share * per_node;
        fprintf(r->out, "    {\n        name = \"job %u\";\n        start = \"%u ns\";\n", j,
                j ? draw(r, 5000) : 0);
        fprintf(r->out, "        priority = %u;\n", draw_later(r, r->classes));
        static const char *const jitters[] = {"0 ns", "0 ns", "1 ps", "100 ns", "3 us"};
        fprintf(r->out, "        compute_jitter = \"%s\";\n", PICK_LATER(r, jitters));
        random_placement(r, j * share, share, per_node);
        if (slots >= (r->packet < 4096 ? 8 : 4) && r->packet >= 512 && chance(r, 40))
            random_trace(r, slots);
        else
            random_stencil(r, slots);
        if (j == 2 && chance(r, 50)) /* the first two end the run */
            fprintf(r->out, "        background = true;\n        restart = %s;\n",
                    chance(r, 50) ? "true" : "false");
        fprintf(r->out, "    }%s\n", j + 1 < jobs ? "," : "");
    }
    fprintf(r->out, ");\n");
}

/* ---- the whole ---- */

/* What the network that has been written so far is like. */
static void random_probe(struct random_system *r, const char *path, const struct ker_option *const *tables)
{
    struct ker_config *config = NULL;
    struct route_topology *topology = NULL;
    struct ker_error error = {.status = KER_OK};
    fflush(r->out);
    if (ker_config_load(&config, path, NULL, 0, tables, &error) != KER_OK ||
        route_new(&topology, config, 16, &error) != KER_OK) {
        fprintf(stderr, "random system %d: %s\n", r->number, error.text);
        abort();
    }
    r->nodes = route_summarise(topology)->nodes;
    r->channels = route_summarise(topology)->channels;
    route_free(topology);
    ker_config_free(config);
}

/* Writes system `number` to FOLDER/NUMBER.cfg. */
static void random_system_write(int number, const char *folder, const char *traces,
                                const struct ker_option *const *tables)
{
    struct random_system r = {.folder = folder, .traces = traces, .number = number};
    char *path = ker_format("%s/%03d.cfg", folder, number);
    ker_stream_init(&r.stream, 2, KER_PURPOSE_TEST, (uint64_t)number);
    ker_stream_init(&r.later, 3, KER_PURPOSE_TEST, (uint64_t)number);
    r.out = fopen(path, "w");
    r.wild = chance(&r, 35);
    ker_assert(r.out != NULL);
    random_topology(&r);
    random_probe(&r, path, tables);
    random_switch(&r);
    FILE *out = r.out;
    char *congestion = NULL; /* drawn before it is known whether there are jobs, written behind the adapter */
    size_t length;
    r.out = open_memstream(&congestion, &length);
    random_congestion(&r);
    fclose(r.out);
    r.out = out;
    bool jobs = r.nodes >= 2 && !r.lossy && chance(&r, 45), traffic = !jobs || chance(&r, 30);
    random_control(&r, jobs);
    fputs(congestion, r.out);
    free(congestion);
    if (jobs)
        random_jobs(&r);
    if (traffic)
        random_traffic(&r);
    random_end(&r, jobs, traffic);
    fclose(r.out);
    free(path);
}

#endif
