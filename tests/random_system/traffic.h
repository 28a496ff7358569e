/* traffic.h - of random systems: synthetic traffic. */
#pragma once

#include "tests/random_system/draw.h"

/* The largest message of a wild system: a node that sends all it may at once sends so much. */
static double size_limit(const struct random_system *r)
{
    double messages = r->closed ? 2.0 * r->outstanding * r->cores * r->nodes : r->nodes;
    double most = 4.0 * RANDOM_PACKETS / messages * r->packet;
    return most > 2 ? most : 2;
}

/* What moves about RANDOM_PACKETS at full speed, in ns. */
static double random_span(const struct random_system *r)
{
    double span = (double)RANDOM_PACKETS * (r->packet + r->header) / (r->nodes * r->bandwidth);
    return span > 1 ? span : 1;
}

static void size_list(struct random_system *r)
{
    uint64_t most = (uint64_t)size_limit(r);
    random_key(r, "sizes");
    r->small = true;
    if (r->extreme)
        fprintf(r->out, "    sizes = [\"0 B\", \"1 B\", \"%llu B\"];\n",
                (unsigned long long)spread(r, 1, (double)most));
    else
        fprintf(r->out, "    sizes = [\"0 B\", \"%u B\", \"%u B\"];\n", r->packet, r->packet * 3 + 1);
    if (random_flag(r, "weighted", 40))
        fprintf(r->out, "    size_weights = [%u, %.3f, 0.25];\n", draw(r, 2), 0.001 * (1 + draw(r, 5000)));
}

static void random_sizes(struct random_system *r)
{
    double most = size_limit(r);
    const char *law = random_choice(r, "size_law", LIST("fixed", "list", "uniform", "exponential"));
    put_text(r, "size_law", law);
    if (strcmp(law, "list") == 0) {
        size_list(r);
    } else if (strcmp(law, "uniform") == 0) {
        uint64_t low = put_size(r, "size_minimum", 1, 1, 0, (uint64_t)(most / 2));
        uint64_t high =
            low + random_whole(r, "size_maximum", r->packet, 2 * r->packet, 0, (uint64_t)(most / 2));
        put_bytes(r, "size_maximum", high);
        r->small = high < r->packet / 4;
    } else {
        random_key(r, "size");
        uint64_t usual = chance(r, 70) ? r->packet : 2 * r->packet + 17;
        uint64_t size = r->extreme ? spread(r, 1, most) : usual;
        r->small = size < r->packet / 8;
        put_bytes(r, "size", size > 1 ? size : 2); /* the mean of the exponential law is at least 2 */
    }
}

static bool random_power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* What would be refused on these nodes becomes uniform. */
static const char *random_pattern(struct random_system *r)
{
    static const char *const patterns[] = {
        "uniform",   "gups",           "hotspot",     "permutation", "tornado",
        "transpose", "bit_complement", "bit_reverse", "shuffle",     "shift",
        "neighbour", "all_to_all",     "incast",      "adversarial", NULL};
    const char *pattern = random_choice(r, "pattern", patterns);
    uint32_t n = r->members;
    double side = sqrt(n);
    bool fits = strcmp(pattern, "transpose") == 0     ? n > 2 && side == floor(side)
                : strcmp(pattern, "bit_reverse") == 0 ? n > 2 && random_power_of_two(n)
                : strcmp(pattern, "shuffle") == 0     ? n > 2 && n % 2 == 0
                : strcmp(pattern, "tornado") == 0     ? n > 2
                : strcmp(pattern, "adversarial") == 0 ? n == r->nodes && r->groups > 1
                                                      : true;
    return fits ? pattern : "uniform";
}

/* Who sends to whom; some do not send. */
static void random_permutation_file(struct random_system *r)
{
    char *path = ker_format("%s/%03d.permutation", r->folder, r->number);
    FILE *out = fopen(path, "w");
    uint32_t n = r->members, *to = ker_alloc(n * sizeof *to);
    ker_assert(out != NULL);
    random_key(r, "permutation_file");
    for (uint32_t i = 0; i < n; i++)
        to[i] = i;
    for (uint32_t i = n - 1; i > 0; i--) { /* one cycle, so that nobody sends to itself (Sattolo) */
        uint32_t k = draw(r, i), other = to[k];
        to[k] = to[i];
        to[i] = other;
    }
    for (uint32_t i = 0; i < n; i++)
        if (i > 0 && chance(r, 20))
            fprintf(out, "-\n");
        else
            fprintf(out, "%u\n", r->first + to[i]);
    fclose(out);
    put_text(r, "permutation_file", path);
    free(to);
    free(path);
}

/* What only this pattern has. */
static void pattern_keys(struct random_system *r, const char *pattern)
{
    uint32_t n = r->members;
    if (strcmp(pattern, "permutation") == 0 && n > 2 && random_flag(r, "from a file", 40))
        random_permutation_file(r);
    if (strcmp(pattern, "shift") == 0)
        put_whole(r, "shift", 1, n - 1, 1, n - 1);
    if (strcmp(pattern, "adversarial") == 0)
        put_whole(r, "shift", 1, r->groups - 1, 1, r->groups - 1);
    if (strcmp(pattern, "hotspot") == 0) {
        random_key(r, "hotspots");
        fprintf(r->out, "    hotspots = [%u, %u];\n", r->first, r->first + draw(r, n));
        put_real(r, "hotspot_fraction", 0.1, 0.7, 0, 1);
        if (n > 4 && random_flag(r, "some senders", 50))
            put_whole(r, "hotspot_senders", 1, n - 1, 0, n - 1);
    }
    if (strcmp(pattern, "incast") == 0) {
        random_key(r, "target");
        fprintf(r->out, "    target = %u;\n", r->first + draw(r, n));
        if (random_flag(r, "some senders", 50))
            put_whole(r, "senders", 0, n - 1, 0, n - 1);
    }
    if (strcmp(pattern, "uniform") == 0 || strcmp(pattern, "gups") == 0 || strcmp(pattern, "hotspot") == 0)
        put_flag(r, "self", 20);
}

/* A closed loop has no other end than this stop. */
static void random_loop(struct random_system *r, bool answered)
{
    r->closed = true;
    r->outstanding = (uint32_t)put_whole(r, "outstanding", 1, 8, 1, 64);
    put_ps(r, "stop", 1000 * random_span(r));
    random_key(r, "reply");
    if (answered)
        put_bytes(r, "reply", r->extreme ? spread(r, 0, size_limit(r)) : chance(r, 50) ? 0 : r->packet + 1u);
}

/* Messages are at least 1 ps apart, and pauses between bursts at most 1000 s long. */
static double random_load(struct random_system *r, double shortest_ps, double burst_length)
{
    static const double loads[] = {0.1, 0.3, 0.5, 0.7, 1.0, 1.5};
    random_key(r, "load");
    double load = r->extreme ? 1e-3 * (double)spread(r, 1, 10000) : loads[draw(r, 6)];
    double longest = 1e-9 * size_limit(r) * (1 + (double)r->header / r->packet) / r->bandwidth; /* seconds */
    double low = 1.1 * longest * burst_length / 1000, high = 0.9 * shortest_ps;
    load = load < low ? low : load;
    return load > high ? high : load;
}

static void random_arrivals(struct random_system *r)
{
    double shortest_ps =
        1000.0 * (r->header > 1 ? r->header : 1) / (r->bandwidth * r->adapters); /* of all messages */
    uint64_t burst_length = random_whole(r, "burst_length", 8, 8, 1, 1000);
    double load = random_load(r, shortest_ps, (double)burst_length);
    const char *arrival = random_choice(r, "arrival", LIST("poisson", "periodic", "burst", "bernoulli"));
    if ((load > 1 || shortest_ps < 1) && strcmp(arrival, "bernoulli") == 0)
        arrival = "poisson";
    /* About the same by an interval: a message of the usual size at that load. */
    if (arrival[0] == 'p' && random_flag(r, "by interval", 40))
        put_ps(r, "interval",
               1 + ceil(1000.0 * (r->packet + r->header) / (r->bandwidth * r->adapters * load)));
    else
        fprintf(r->out, "    load = %.9f;\n", load);
    put_text(r, "arrival", arrival);
    if (strcmp(arrival, "burst") == 0) {
        put_real(r, "burst_load", load + 0.5, load + 1, load + 1e-6, 4 * load);
        fprintf(r->out, "    burst_length = %llu;\n", (unsigned long long)burst_length);
    }
}

/* In some systems only a part of the nodes takes part. */
static void random_members(struct random_system *r)
{
    r->first = 0;
    r->members = r->nodes;
    if (r->nodes < 3 || !random_flag(r, "part", 20))
        return;
    r->first = (uint32_t)put_whole(r, "first_node", 0, r->nodes - 2, 0, r->nodes - 2);
    uint32_t last =
        (uint32_t)put_whole(r, "last_node", r->first + 1, r->nodes - 1, r->first + 1, r->nodes - 1);
    r->members = last - r->first + 1;
}

static void random_traffic(struct random_system *r)
{
    group_begin(r, "traffic");
    put_whole(r, "priority", 0, r->classes - 1, 0, r->classes - 1);
    random_members(r);
    const char *pattern = random_pattern(r);
    put_text(r, "pattern", pattern);
    pattern_keys(r, pattern);
    bool phases = strcmp(pattern, "all_to_all") == 0;
    if (phases || random_flag(r, "closed", 40))
        random_loop(r, !phases);
    else
        random_arrivals(r);
    random_sizes(r);
    uint32_t most = 1 + RANDOM_PACKETS / r->nodes / 2;
    bool limited = random_flag(r, "limited", 35);
    if (r->small || limited)
        put_whole(r, "messages", most, most, 1, r->small ? most : 1000000000);
    if (random_flag(r, "late", 15))
        put_ps(r, "start", random_span(r) * (double)random_whole(r, "start", 0, 900, 0, 999));
    group_end(r);
}
