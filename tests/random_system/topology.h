/* topology.h - of random systems: the network. Equal speeds and latencies come up often, since they make
 * ties; so do odd ones, since they bring credits out of order. */
#pragma once

#include "tests/random_system/draw.h"
#include "tests/random_system/fabric.h"

/* About as many switches as a system may have. */
#define RANDOM_SWITCHES 96

/* Payload and header; with headers that count hops there must be room for 255 of them. */
static void random_packet(struct random_system *r)
{
    static const uint32_t packets[] = {64, 128, 256, 512, 512, 1000, 2048, 4096}, headers[] = {0, 0, 8, 32};
    random_key(r, "adapter.header");
    r->header = r->extreme ? draw(r, 4097) : headers[draw(r, 4)];
    r->hop_bytes = (uint32_t)random_whole(r, "routing.hop_bytes", 0, 4, 0, 16);
    random_key(r, "adapter.packet_size");
    r->packet = packets[draw(r, 8)];
    r->infiniband = r->packet >= 256 && r->packet != 1000 && random_flag(r, "infiniband", 15);
    uint32_t most = 65535 - r->header - 255 * r->hop_bytes;
    if (r->extreme)
        r->packet = (uint32_t)spread(r, 1, most);
    else if (r->infiniband)
        r->header = 26;
    r->infiniband = r->infiniband && r->header == 26;
    double wire = r->packet + r->header + 255.0 * r->hop_bytes;
    r->slowest = wire / 2e6;
    r->fastest = (r->packet + r->header) * 500.0;
}

static const char *random_latency(struct random_system *r)
{
    static const char *const usual[] = {"20 ns", "30 ns", "50 ns", "100 ns", "200 ns", NULL};
    static const char *const odd[] = {"3 ns", "7777 ps", "33333 ps", "120001 ps", "1 us", NULL};
    const char *latency = random_time(r, chance(r, 75) ? usual : odd, 1, 1e12);
    r->near |= r->extreme && strlen(latency) == strlen("1 ps");
    return latency;
}

/* `kept`: at least this part of it is left to the slowest link. */
static double random_rate(struct random_system *r, double kept) /* GB/s */
{
    static const double usual[] = {5, 10, 12.5, 25}, odd[] = {1.7, 3.3, 7.77, 24};
    double rate = chance(r, 75) ? usual[draw(r, 4)] : odd[draw(r, 4)], low = 1e6 * r->slowest / kept;
    if (r->extreme)
        rate = 1e-6 * (double)spread(r, ceil(low > 1 ? low : 1), 1e6 * r->fastest);
    return rate;
}

/* bandwidth and latency: one for all, or one for each of `levels`; in a third of the cases node links of
 * their own. */
static void random_links(struct random_system *r, int levels, double kept)
{
    random_key(r, "bandwidth");
    bool each = levels > 1 && chance(r, 60);
    fprintf(r->out, "    bandwidth = [");
    for (int i = 0; i < (each ? levels : 1); i++)
        fprintf(r->out, "%s\"%.6f GB/s\"", i ? ", " : "", random_rate(r, kept));
    random_key(r, "latency");
    fprintf(r->out, "];\n    latency = [");
    each = levels > 1 && chance(r, 50);
    for (int i = 0; i < (each ? levels : 1); i++)
        fprintf(r->out, "%s\"%s\"", i ? ", " : "", random_latency(r));
    fprintf(r->out, "];\n");
    if (random_flag(r, "node links", 35)) {
        random_key(r, "node_bandwidth");
        fprintf(r->out, "    node_bandwidth = \"%.6f GB/s\";\n", random_rate(r, 1));
        random_key(r, "node_latency");
        put_text(r, "node_latency", random_latency(r));
    }
}

/* Routes like the topologies of low diameter. */
static void random_twisted(struct random_system *r)
{
    static const struct {
        const char *extents;
        int dimensions;
    } shape[] = {{"2, 4", 2}, {"4, 8", 2}, {"6, 3", 2}, {"3, 1, 8", 3}, {"2, 2, 4", 3}, {"2, 4, 4", 3}};
    uint32_t which = draw(r, 6);
    random_key(r, "extents");
    fprintf(r->out, "    extents = [%s];\n    twist = true;\n", shape[which].extents);
    if (random_flag(r, "parallel links", 25))
        put_whole(r, "parallel", 2, 2, 1, 4);
    if (random_flag(r, "more nodes", 40))
        put_whole(r, "nodes_per_switch", 2, 3, 1, 3);
    r->via_switch = true;
    random_links(r, shape[which].dimensions, 1);
}

static void random_torus(struct random_system *r)
{
    if (random_flag(r, "twisted", 20)) {
        random_twisted(r);
        return;
    }
    static const uint32_t usual[] = {0, 9, 5, 4, 3};
    int dimensions = (int)random_whole(r, "dimensions", 1, 4, 1, 8);
    random_key(r, "extents");
    uint32_t high = r->extreme || dimensions > 4 ? RANDOM_SWITCHES : usual[dimensions];
    uint32_t switches = put_extents(r, "extents", dimensions, 2, 1, high, RANDOM_SWITCHES);
    bool open = random_flag(r, "open", 30);
    fprintf(r->out, "    wrap = [");
    for (int i = 0; i < dimensions; i++)
        fprintf(r->out, "%s%s", i ? ", " : "", open && chance(r, 60) ? "false" : "true");
    fprintf(r->out, "];\n");
    if (random_flag(r, "parallel links", 25))
        put_whole(r, "parallel", 2, 3, 1, RANDOM_SWITCHES * 10 / switches);
    if (random_flag(r, "more nodes", 40))
        put_whole(r, "nodes_per_switch", 2, 3, 1, 2 + 100 / switches);
    r->own = dimensions > 1 ? random_choice(r, "own", LIST("valiant", "inner_outer_inner")) : "valiant";
    r->torus = true;
    random_links(r, dimensions, 1);
}

static double random_taper(struct random_system *r, int levels)
{
    /* the least of a hundredth of what is usual stays fast enough */
    double kept = 1, least = levels < 2 ? 1000 : fmax(100, 1000 * pow(0.01, 1.0 / (levels - 1)));
    if (levels < 2 || !random_flag(r, "tapered", 40))
        return 1;
    random_key(r, "taper");
    bool each = levels > 2 && chance(r, 30);
    fprintf(r->out, "    taper = [");
    for (int i = 1; i < levels; i++) {
        static const double usual[] = {0.5, 0.75, 1};
        double taper = r->extreme ? 1e-3 * (double)spread(r, least, 1000) : usual[draw(r, 3)];
        kept *= each ? taper : pow(taper, levels - 1);
        fprintf(r->out, "%s%.3f", i > 1 ? ", " : "", taper);
        if (!each)
            break;
    }
    fprintf(r->out, "];\n");
    return kept;
}

static void random_fat_tree(struct random_system *r)
{
    int levels;
    if (random_flag(r, "by radix", 20)) {
        static const int most[] = {0, 8, 4, 3, 2}; /* levels for half of the radix */
        uint32_t half = (uint32_t)random_whole(r, "radix", 2, 2, 1, 12);
        levels = (int)random_whole(r, "levels", 1, 3, 1, half > 4 ? 1 : (uint64_t)most[half]);
        fprintf(r->out, "    radix = %u;\n    levels = %d;\n", 2 * half, levels);
    } else {
        levels = (int)random_whole(r, "number of levels", 1, 3, 1, 8);
        bool tall = levels > 3;
        put_extents(r, "down", levels, 2, tall ? 1 : 2, tall ? 3 : 4, RANDOM_SWITCHES);
        random_key(r, "up");
        fprintf(r->out, "    up = [1");
        for (int i = 1; i < levels; i++)
            fprintf(r->out, ", %u", between(r, 1, tall ? 2 : r->extreme ? 5 : 3));
        fprintf(r->out, "];\n");
    }
    double kept = random_taper(r, levels);
    r->tree = true;
    r->own = random_choice(r, "own", LIST("s_mod_k", "random", "d_mod_k"));
    random_links(r, levels, kept);
}

/* Its rails are the adapters, which are drawn later: any number of them makes one. */
static void random_rail_fat_tree(struct random_system *r)
{
    r->rail_tree = true;
    put_whole(r, "pods", 1, 4, 1, 8);
    put_whole(r, "pod_nodes", 2, 3, 2, 6);
    put_whole(r, "spines", 1, 4, 1, 8);
    r->own = random_choice(r, "own", LIST("s_mod_k", "random", "d_mod_k"));
    random_links(r, 2, random_taper(r, 2));
}

static void random_hierarchical(struct random_system *r)
{
    static const uint32_t most[] = {0, 9, 5, 4, 2};
    int levels = (int)random_whole(r, "levels", 1, 4, 1, 4);
    uint32_t groups = 0, switches = 1;
    random_key(r, "groups");
    fprintf(r->out, "    groups = [");
    for (int i = 0; i < levels; i++) {
        uint32_t top = r->extreme ? RANDOM_SWITCHES / 4 / switches : most[levels];
        fprintf(r->out, "%s%u", i ? ", " : "",
                groups = between(r, i == levels - 1 && top > 1 ? 2 : 1, top ? top : 1));
        switches *= groups;
    }
    if (switches < 2 && levels == 1)
        switches = 2;
    fprintf(r->out, "];\n    links = [");
    random_key(r, "links");
    for (int i = 0; i < levels; i++)
        fprintf(r->out, "%s%u", i ? ", " : "",
                r->extreme      ? (uint32_t)spread(r, 1, switches < 16 ? 64 : 6)
                : chance(r, 25) ? 2
                                : 1);
    fprintf(r->out, "];\n");
    put_whole(r, "nodes_per_switch", 1, 3, 1, 3 + 64 / switches);
    r->detours = groups > 2 && levels < 4; /* with 4 levels they need more channels than there are */
    r->shared = levels > 1;
    if (levels > 1 && random_flag(r, "attached", 40)) {
        const char *attach = random_choice(r, "attach", LIST("switch", "group"));
        fprintf(r->out, "    attach = [\"%s\"];\n", attach);
        r->shared = strcmp(attach, "group") == 0;
    }
    random_links(r, levels, 1);
}

/* Of the topologies whose detours are those of any graph. */
static void random_graph(struct random_system *r, const char *nodes, uint32_t switches, int classes)
{
    put_whole(r, nodes, 1, 3, 1, 3 + 64 / switches);
    r->via_switch = true;
    random_links(r, classes, 1);
}

static void random_q(struct random_system *r, const uint32_t *possible, uint32_t count, bool slim)
{
    random_key(r, "q");
    uint32_t q = possible[draw(r, count)];
    fprintf(r->out, "    q = %u;\n", q);
    random_graph(r, "nodes_per_switch", slim ? 2 * q * q : q * q + q + 1, slim ? 2 : 1);
}

static void random_slim_fly(struct random_system *r)
{
    random_q(r, (const uint32_t[]){3, 4, 5}, 3, true);
}

static void random_polarfly(struct random_system *r)
{
    random_q(r, (const uint32_t[]){2, 3, 4, 5, 7}, 5, false);
}

static void random_hyperx(struct random_system *r)
{
    int dimensions = (int)random_whole(r, "dimensions", 1, 3, 1, 4);
    uint32_t switches = put_extents(r, "extents", dimensions, 3, 1, dimensions > 2 ? 3 : 6, RANDOM_SWITCHES);
    random_key(r, "links");
    fprintf(r->out, "    links = [");
    for (int i = 0; i < dimensions; i++)
        fprintf(r->out, "%s%u", i ? ", " : "", chance(r, 25) ? 2 : 1);
    fprintf(r->out, "];\n");
    r->own = "dal";
    random_graph(r, "nodes_per_switch", switches, dimensions);
}

/* Groups with this many global links each. */
static uint32_t random_arrangement(struct random_system *r, uint32_t ports)
{
    uint32_t groups =
        (uint32_t)random_whole(r, "groups", 2, ports < 5 ? ports + 1 : 6, 2, ports < 9 ? ports + 1 : 10);
    fprintf(r->out, "    groups = %u;\n", groups);
    put_whole(r, "group_links", 1, ports / (groups - 1), 1, ports / (groups - 1));
    put_choice(r, "arrangement", LIST("absolute", "relative", "circulant"));
    return groups;
}

static void random_dragonfly_plus(struct random_system *r)
{
    uint32_t leaves = (uint32_t)random_whole(r, "leaves", 1, 3, 1, 4),
             spines = (uint32_t)random_whole(r, "spines", 1, 3, 1, 4),
             h = (uint32_t)random_whole(r, "h", 1, 3, 1, 4);
    fprintf(r->out, "    leaves = %u;\n    spines = %u;\n    h = %u;\n", leaves, spines, h);
    uint32_t groups = random_arrangement(r, spines * h);
    random_graph(r, "nodes_per_switch", groups * leaves, 2);
}

/* Those with rows, or an arrangement: without, they are hierarchical. */
static void random_dragonfly(struct random_system *r)
{
    r->hierarchy = true;
    uint32_t rows = (uint32_t)random_whole(r, "rows", 1, 2, 1, 3),
             columns = (uint32_t)random_whole(r, "columns", 1, 3, 1, 4),
             h = (uint32_t)random_whole(r, "h", 1, 2, 1, 3);
    fprintf(r->out, "    rows = %u;\n    a = %u;\n    h = %u;\n", rows, rows * columns, h);
    if (rows > 1)
        put_whole(r, "column_links", 1, 2, 1, 3);
    uint32_t groups = random_arrangement(r, rows * columns * h);
    random_graph(r, "p", groups * rows * columns, rows > 1 ? 3 : 2);
}

static void random_star(struct random_system *r)
{
    put_whole(r, "nodes", 2, 24, 2, 200);
    random_links(r, 1, 1);
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
    fprintf(out, " %.6fGB/s", random_rate(r, 1));
}

/* A random tree and some links more. At most 64 different pairs of latency and bandwidth are possible. */
static void random_file(struct random_system *r)
{
    char *path = ker_format("%s/%03d.net", r->folder, r->number);
    random_key(r, "file");
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
        fprintf(out, " %u\n", chance(r, 20) ? (uint32_t)(r->extreme ? spread(r, 1, 100) : 2) : 1);
    }
    fclose(out);
    put_text(r, "file", path);
    free(path);
    r->via_switch = true;
}

static const struct random_topology {
    const char *kind;
    void (*write)(struct random_system *);
} random_topologies[] = {
    {"torus", random_torus},
    {"fat_tree", random_fat_tree},
    {"hierarchical", random_hierarchical},
    {"star", random_star},
    {"file", random_file},
    {"fabric", random_fabric},
    {"hyperx", random_hyperx},
    {"slim_fly", random_slim_fly},
    {"polarfly", random_polarfly},
    {"dragonfly_plus", random_dragonfly_plus},
    {"rail_fat_tree", random_rail_fat_tree},
    {"dragonfly", random_dragonfly},
};
#define RANDOM_TOPOLOGIES (sizeof random_topologies / sizeof *random_topologies)

static void random_topology(struct random_system *r)
{
    const char *name[RANDOM_TOPOLOGIES + 1] = {NULL};
    for (size_t i = 0; i < RANDOM_TOPOLOGIES; i++)
        name[i] = random_topologies[i].kind;
    group_begin(r, "topology");
    const char *kind = random_choice(r, "kind", name);
    put_text(r, "kind", kind);
    for (size_t i = 0; i < RANDOM_TOPOLOGIES; i++)
        if (strcmp(kind, name[i]) == 0)
            random_topologies[i].write(r);
    group_end(r);
}
