/* routing.h - of random systems: algorithm, path selection, links that fail. */
#pragma once

#include "tests/random_system/draw.h"
#include "tests/random_system/fabric.h"

/* The topology as the configuration has it so far. */
static struct route_topology *random_probe(struct random_system *r)
{
    struct ker_config *config = NULL;
    struct route_topology *topology = NULL;
    struct ker_error error = {.status = KER_OK};
    fflush(r->out);
    if (ker_config_load(&config, r->path, (const char **)r->overrides, r->override_count, r->tables,
                        &error) != KER_OK ||
        route_new(&topology, config, 16, &error) != KER_OK) {
        fprintf(stderr, "random system %d: %s\n", r->number, error.text);
        abort();
    }
    ker_config_free(config);
    const struct route_summary *summary = route_summarise(topology);
    r->nodes = route_hosts(summary);
    r->switches = summary->switches / summary->planes;
    r->channels = summary->channels;
    r->bandwidth = 1e-9 * (double)summary->link[summary->endpoint_link].rate;
    return topology;
}

static void random_detours(struct random_system *r, uint32_t groups)
{
    const char *algorithm =
        random_choice(r, "detours by", LIST("valiant", "indirect", "ugal", "par", "ugal_piggyback"));
    if (!r->shared && strcmp(algorithm, "ugal_piggyback") == 0)
        algorithm = "ugal";
    bool valiant = strcmp(algorithm, "valiant") == 0, indirect = strcmp(algorithm, "indirect") == 0;
    r->several = r->biased = !valiant;
    put_text(r, "algorithm", algorithm);
    put_choice(r, "valiant", LIST("group", "switch", "any"));
    if (r->biased)
        put_choice(r, "weight", LIST("auto", "even", "links", "double"));
    if (r->biased && !indirect)
        put_whole(r, "candidates", 1, 3, 1, 8);
    if (indirect) {
        put_choice(r, "indirect", LIST("static", "adaptive"));
        put_whole(r, "detours", 1, 1, 1, groups - 2 < 62 ? groups - 2 : 62);
    }
    if (strcmp(algorithm, "ugal_piggyback") == 0 && random_flag(r, "watched", 40)) {
        uint64_t high = random_whole(r, "watch_high", 1000, 1000000, 1, 1000000000000);
        put_ps(r, "watch_high", (double)high);
        put_ps(r, "watch_low",
               (double)random_whole(r, "watch_low", 0, high / 2 < 1000000 ? high / 2 : 1000000, 0, high - 1));
    }
}

/* Switches that have nodes. */
static uint32_t switches_with_nodes(const struct route_topology *topology)
{
    uint32_t found = 0, at;
    uint16_t port;
    bool *seen = calloc(route_summarise(topology)->switches, sizeof *seen);
    for (uint32_t n = 0; n < route_summarise(topology)->endpoints; n++) {
        route_attachment(topology, n, &at, &port);
        found += !seen[at];
        seen[at] = true;
    }
    free(seen);
    return found / route_summarise(topology)->planes;
}

/* On any graph. */
static void random_via_switch(struct random_system *r)
{
    const char *algorithm = random_choice(r, "detours by", LIST("valiant", "ugal", "par"));
    put_text(r, "algorithm", algorithm);
    r->several = r->biased = strcmp(algorithm, "valiant") != 0;
    if (r->switches <= 32 && !r->hierarchy && random_flag(r, "by hop", 40))
        put_text(r, "channel_order", "hop");
    put_choice(r, "valiant", LIST("switch", "any"));
    if (!r->biased)
        return;
    put_choice(r, "weight", LIST("auto", "even", "links", "double"));
    put_whole(r, "candidates", 1, 3, 1, 8);
}

/* A weight for some of the links of the topology, which no longer needs to be what it was. */
static void random_weights(struct random_system *r, const struct route_topology *topology)
{
    char *path = ker_format("%s/%03d.weights", r->folder, r->number);
    FILE *out = fopen(path, "w");
    ker_assert(out != NULL);
    random_key(r, "weight_file");
    for (uint32_t s = 0; s < r->switches; s++)
        for (uint32_t p = 0; p < route_ports(topology, s); p++) {
            struct route_peer peer;
            route_port(topology, s, p, &peer);
            if (peer.kind != ROUTE_SWITCH || !chance(r, 40))
                continue;
            uint32_t weight = r->extreme ? (uint32_t)spread(r, 1, 1000000) : between(r, 1, 4);
            if (chance(r, 50))
                fprintf(out, "port %u %u %u\n", s, p, weight);
            else
                fprintf(out, "link %u %u %u\n", s, peer.id, weight);
        }
    fclose(out);
    put_text(r, "weight_file", path);
    free(path);
}

/* Tables that are made when the run begins, on any topology. */
static void random_table(struct random_system *r, const struct route_topology *topology)
{
    /* layered needs few channels on small networks only; shortest as many as the longest path has links */
    const char *algorithm = random_choice(
        r, "table by", r->switches <= 32 ? LIST("updown", "layered", "shortest") : LIST("updown"));
    bool updown = strcmp(algorithm, "updown") == 0, layered = strcmp(algorithm, "layered") == 0;
    put_text(r, "algorithm", algorithm);
    r->several = false;
    if (!layered) {
        const char *paths = random_choice(r, "ways", LIST("all", "one"));
        put_text(r, "paths", paths);
        r->several = strcmp(paths, "all") == 0;
    }
    if (updown && random_flag(r, "given root", 40)) {
        random_key(r, "root");
        fprintf(r->out, "    root = [%u];\n", draw(r, r->switches));
    }
    if (!updown) {
        const char *weights = random_choice(r, "weights", LIST("hops", "latency", "file"));
        put_text(r, "weights", weights);
        if (strcmp(weights, "file") == 0)
            random_weights(r, topology);
    }
}

/* A table that is read: one that was made for the topology as it is so far, before faults. */
static void random_text_table(struct random_system *r)
{
    const char *override[] = {
        "routing.algorithm=updown", "routing.paths=all", NULL, NULL, NULL, NULL, NULL, NULL};
    char *path = ker_format("%s/%03d.table", r->folder, r->number);
    if (random_flag(r, "one path in the table", 50))
        override[1] = "routing.paths=one";
    for (int i = 0; i < r->override_count; i++)
        override[2 + i] = r->overrides[i];
    struct ker_config *config = NULL;
    struct route_topology *topology = NULL;
    struct ker_error error = {.status = KER_OK};
    fprintf(r->out, "};\n"); /* the group is left open so far */
    fflush(r->out);
    ker_assert(ker_config_load(&config, r->path, override, 2 + r->override_count, r->tables, &error) ==
               KER_OK);
    ker_assert(route_new(&topology, config, 16, &error) == KER_OK);
    ker_assert(route_table_write(topology, path, &error) == KER_OK);
    route_free(topology);
    ker_config_free(config);
    fseek(r->out, -3, SEEK_CUR);
    put_text(r, "algorithm", "table");
    put_text(r, "table", path);
    r->several = strcmp(override[1], "routing.paths=all") == 0;
    free(path);
}

/* Which of the paths offered is taken, and for how long it is kept. */
static void random_selection(struct random_system *r)
{
    static const char *const all[] = {"queue",       "credits", "both",        "two", "random",
                                      "destination", "flow",    "round_robin", NULL};
    static const double usual = 2e5;
    const char *selection = r->several ? random_choice(r, "selection", all) : "";
    bool adapts = r->several && strchr("qcbt", selection[0]), credits = adapts && selection[0] != 'q';
    if (r->several)
        put_text(r, "selection", selection);
    if (adapts && random_flag(r, "with threshold", 25))
        put_ps(r, "threshold", (double)random_whole(r, "threshold", 0, (uint64_t)usual, 0, 1000000000000));
    if (adapts && r->biased && random_flag(r, "with bias", 25))
        put_ps(r, "bias", (double)random_whole(r, "bias", 0, (uint64_t)usual, 0, 1000000000000));
    if (adapts && random_flag(r, "with hysteresis", 20))
        put_ps(r, "hysteresis", (double)random_whole(r, "hysteresis", 0, (uint64_t)usual, 0, 1000000000000));
    else if (random_flag(r, "pinned", 30))
        put_choice(r, "pinning", LIST("packet", "message", "flow"));
    if (credits)
        put_choice(r, "credits", LIST("channel", "port"));
}

/* At the source nothing is known of the switches' state. */
static void random_decided(struct random_system *r)
{
    if (r->several)
        put_choice(r, "selection", LIST("random", "destination", "flow"));
    put_text(r, "decided", "source");
    put_bytes(r, "hop_bytes", r->hop_bytes);
}

/* Groups that have nodes. */
static uint32_t groups_count(const struct random_system *r, const struct route_topology *topology)
{
    uint32_t groups = 0, all = route_groups(topology), switch_id;
    uint16_t port;
    bool *seen = calloc(all, sizeof *seen);
    for (uint32_t node = 0; node < r->nodes; node++) {
        route_attachment(topology, node * r->adapters, &switch_id, &port);
        uint32_t group = route_group(topology, switch_id);
        groups += !seen[group];
        seen[group] = true;
    }
    free(seen);
    return groups;
}

static void random_routing(struct random_system *r)
{
    struct route_topology *topology = random_probe(r);
    uint32_t groups = route_groups(topology) / route_summarise(topology)->planes; /* of a plane */
    r->groups = groups_count(r, topology);
    r->lossy = r->switches > 1 && random_flag(r, "faults", 20);
    group_begin(r, "routing");
    if (r->via_switch && switches_with_nodes(topology) > 2 && random_flag(r, "via switch", 50)) {
        random_via_switch(r);
    } else if (r->detours && random_flag(r, "detours", 60)) {
        random_detours(r, groups);
    } else if (r->own && random_flag(r, "own", 35)) {
        put_text(r, "algorithm", r->own);
        if (strcmp(r->own, "inner_outer_inner") == 0)
            fprintf(r->out, "    inner = 1;\n");
        r->several = r->biased = strcmp(r->own, "dal") == 0;
        r->escapes = r->several;
    } else if (r->plant && random_flag(r, "opensm", 40)) {
        random_opensm(r);
    } else if (random_flag(r, "read table", 8)) {
        random_text_table(r);
    } else if (random_flag(r, "table", 20)) {
        random_table(r, topology);
    } else {
        const char *algorithm = random_choice(r, "algorithm", LIST("minimal", "adaptive"));
        put_text(r, "algorithm", algorithm);
        r->several = strcmp(algorithm, "adaptive") == 0;
    }
    route_free(topology);
    bool escapes = (r->torus && r->several) || r->escapes; /* a source cannot know which are open */
    if (!escapes && random_flag(r, "decided", 25)) {
        random_decided(r);
    } else {
        r->hop_bytes = 0;
        random_selection(r);
    }
    group_end(r);
    route_free(random_probe(r));
}

/* The number of a switch, a port of it that has a link to another switch (-1: none), and the one there. */
static uint32_t random_link_end(struct random_system *r, const struct route_topology *topology, int *port,
                                uint32_t *peer)
{
    uint32_t s = draw(r, route_summarise(topology)->switches), ports = route_ports(topology, s), found = 0;
    *port = -1;
    for (uint32_t p = 0; p < ports; p++) {
        struct route_peer at;
        route_port(topology, s, p, &at);
        if (at.kind == ROUTE_SWITCH && draw(r, ++found) == 0) {
            *port = (int)p;
            *peer = at.id;
        }
    }
    return s;
}

/* faults.list: links, ports, switches and nodes. */
static void random_fault_list(struct random_system *r)
{
    struct route_topology *topology = r->probe;
    random_key(r, "list");
    fprintf(r->out, "    list = (");
    for (uint32_t i = 0, count = between(r, 1, 4); i < count; i++) {
        int port;
        uint32_t peer = 0, s = random_link_end(r, topology, &port, &peer);
        const char *what = random_from(r, LIST("link", "port", "switch", "node"));
        bool link = port >= 0 && strcmp(what, "link") == 0, at_port = port >= 0 && strcmp(what, "port") == 0;
        fprintf(r->out, "%s{ ", i ? ", " : "");
        if (link)
            fprintf(r->out, "link = [%u, %u];", s, peer);
        else if (at_port)
            fprintf(r->out, "switch = %u; port = %d;", s, port);
        else if (strcmp(what, "switch") == 0)
            fprintf(r->out, "switch = %u;", s);
        else
            fprintf(r->out, "node = %u;", draw(r, r->nodes));
        if (chance(r, 60)) {
            fprintf(r->out, " at = \"%u ns\";", r->extreme ? (uint32_t)spread(r, 0, 1e7) : draw(r, 5000));
            r->lossy_later = true;
        }
        fprintf(r->out, " }");
    }
    fprintf(r->out, ");\n");
}

/* Links that fail, from the start or while running. What is lost would leave jobs waiting. */
static void random_faults(struct random_system *r)
{
    if (!r->lossy)
        return;
    r->probe = random_probe(r);
    group_begin(r, "faults");
    if (random_flag(r, "listed", 30))
        random_fault_list(r);
    route_free(r->probe);
    put_real(r, "link_rate", 0.02, 0.2, 0, 1);
    put_whole(r, "seed", 0, 999, 0, 1000000000);
    put_text(r, "unreachable", "drop");
    if (random_flag(r, "switches", 20))
        put_real(r, "switch_rate", 0.02, 0.1, 0, 1);
    bool later = random_flag(r, "later", 60);
    r->lossy_later |= later;
    if (later) {
        put_ps(r, "at", 1000.0 * (double)random_whole(r, "at", 0, 3000, 0, 10000000));
        put_ps(r, "spread", 1000.0 * (double)random_whole(r, "spread", 0, 5000, 0, 10000000));
    }
    group_end(r);
    route_free(random_probe(r)); /* paths around faults need a channel more */
}
