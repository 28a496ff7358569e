/* write.c - writes the paths of any algorithm as a table (docs/routing-tables.md).
 *
 * Where the algorithm goes by a table, that is written. Else its function is asked: for one destination after
 * the other all packets are followed from all switches with endpoints, through all that may be drawn, and the
 * paths seen at each switch make its set. The same must be seen whatever path a packet has come, otherwise no
 * table can say it. What is passed by no packet is left out.
 *
 * A line holds all destinations of one set: runs of consecutive endpoints, and runs of equal length at equal
 * distances put together.
 */
#include "routing/proof/check.h"
#include "routing/tables/make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_TERMS 16
#define MOST_HOPS 250

/* ---- asking the algorithm ---- */

struct arrival { /* a packet at a switch */
    uint32_t switch_id;
    uint16_t in_port, hops;
    uint8_t in_channel;
};

struct asker {
    const struct route_topology *topology;
    struct route_table *table;
    struct ker_error *error;
    struct arrival *arrival;
    size_t arrivals, room;
    struct route_dependencies seen; /* arrivals */
    uint32_t *set, *touched;        /* per switch; the switches that have one */
    uint32_t touched_count, source, endpoint;
    uint32_t needed; /* classes of channels */
};

static enum ker_status refuse(struct asker *a, const char *why)
{
    return ker_fail(a->error, KER_BAD_INPUT,
                    "--write-table: no table can say how \"%s\" routes on this %s: %s",
                    a->topology->summary.algorithm, a->topology->summary.topology, why);
}

static void arrive(struct asker *a, struct arrival arrival)
{
    if (!route_dependencies_add(&a->seen, arrival.switch_id,
                                (uint32_t)arrival.in_port << 16 | (uint32_t)arrival.in_channel << 8 |
                                    arrival.hops))
        return;
    *KER_PUSH(a->arrival, a->arrivals, a->room) = arrival;
}

static enum ker_status choice_check(struct asker *a, const struct route_choice *choice, uint32_t hops)
{
    if (choice->flags & ROUTE_ESCAPE)
        return refuse(a, "some of its paths may only be taken when there is room at once");
    if (choice->flags & ROUTE_DETOUR || choice->weight > 1 || choice->watch)
        return refuse(a, "it weighs its paths");
    if (choice->state)
        return refuse(a, "packets remember what was decided before");
    return hops > MOST_HOPS ? refuse(a, "its paths are too long") : KER_OK;
}

static struct route_hop hop_of(const struct asker *a, const struct route_choice *choice,
                               const struct route_peer *peer)
{
    struct route_hop hop = {choice->port, choice->channel, 0};
    if (choice->channel_count)
        hop.class = (uint8_t)(choice->first_channel / choice->channel_count);
    if (peer->kind == ROUTE_ENDPOINT || (a->needed > 1 && choice->channel_count == a->topology->channels))
        hop.class = ROUTE_TABLE_ANY;
    return hop;
}

/* Ascending by port and class, each once. */
static enum ker_status hop_insert(struct asker *a, struct route_hop *hops, uint32_t *count,
                                  struct route_hop hop)
{
    uint32_t at = *count;
    while (at > 0 && (hops[at - 1].port > hop.port ||
                      (hops[at - 1].port == hop.port && hops[at - 1].class > hop.class)))
        at--;
    if (at > 0 && hops[at - 1].port == hop.port && hops[at - 1].class == hop.class)
        return KER_OK;
    if (*count == ROUTE_MAX_CHOICES)
        return refuse(a, "there are more than 64 paths from a switch");
    memmove(hops + at + 1, hops + at, (*count - at) * sizeof *hops);
    hops[at] = hop;
    ++*count;
    return KER_OK;
}

static enum ker_status follow(struct asker *a, struct arrival from)
{
    const struct route_topology *topology = a->topology;
    struct route_oracle oracle = {0};
    struct route_hop hops[ROUTE_MAX_CHOICES];
    uint32_t count = 0;
    enum ker_status status = KER_OK;
    do {
        struct route_choice choices[ROUTE_MAX_CHOICES];
        struct route_packet packet = {.address = route_address(topology, a->endpoint),
                                      .source = a->source,
                                      .destination = a->endpoint,
                                      .in_port = from.in_port,
                                      .in_channel = from.in_channel,
                                      .hops = (uint8_t)from.hops,
                                      .oracle = &oracle};
        int some = topology->algorithm->next(topology, route_coordinate(topology, from.switch_id),
                                             from.switch_id, &packet, choices);
        for (int i = 0; i < some && status == KER_OK; i++) {
            struct route_peer peer;
            route_port(topology, from.switch_id, choices[i].port, &peer);
            if ((status = choice_check(a, &choices[i], from.hops)) == KER_OK)
                status = hop_insert(a, hops, &count, hop_of(a, &choices[i], &peer));
            if (peer.kind == ROUTE_SWITCH && status == KER_OK)
                arrive(a,
                       (struct arrival){peer.id, peer.port, (uint16_t)(from.hops + 1), choices[i].channel});
        }
    } while (status == KER_OK && route_oracle_advance(&oracle));
    if (status != KER_OK)
        return status;
    uint32_t set = route_table_set_of(a->table, hops, count);
    if (a->set[from.switch_id] == 0)
        a->touched[a->touched_count++] = from.switch_id;
    else if (a->set[from.switch_id] != set)
        return refuse(a, "the paths from a switch to a node depend on where a packet comes from");
    a->set[from.switch_id] = set;
    return KER_OK;
}

static enum ker_status destination_ask(struct asker *a, uint32_t endpoint, uint32_t *column)
{
    enum ker_status status = KER_OK;
    a->endpoint = endpoint;
    a->touched_count = 0;
    route_dependencies_release(&a->seen);
    for (uint32_t n = 0; n < a->topology->summary.endpoints && status == KER_OK; n++) {
        struct arrival arrival = {0};
        a->source = n;
        route_attachment(a->topology, n, &arrival.switch_id, &arrival.in_port);
        if (n == endpoint)
            continue;
        arrive(a, arrival);
        while (a->arrivals > 0 && status == KER_OK)
            status = follow(a, a->arrival[--a->arrivals]);
    }
    for (uint32_t i = 0; i < a->touched_count; i++) {
        column[(size_t)a->touched[i] * ROUTE_TRIE_BLOCK] = a->set[a->touched[i]];
        a->set[a->touched[i]] = 0;
    }
    return status;
}

static enum ker_status table_ask(struct asker *a)
{
    const struct route_summary *sum = &a->topology->summary;
    enum ker_status status =
        a->topology->algorithm->by_source ? refuse(a, "they depend on the source, too") : KER_OK;
    a->needed = a->topology->algorithm->channels(a->topology);
    a->set = ker_alloc(sum->switches * sizeof *a->set);
    a->touched = ker_alloc(sum->switches * sizeof *a->touched);
    for (uint32_t n = 0; n < sum->endpoints && status == KER_OK; n++) {
        status = destination_ask(a, n, route_trie_columns(&a->table->hops) + n % ROUTE_TRIE_BLOCK);
        if (n % ROUTE_TRIE_BLOCK == ROUTE_TRIE_BLOCK - 1 || n + 1 == sum->endpoints)
            route_trie_advance(&a->table->hops);
    }
    route_table_finish(a->table);
    a->table->classes = a->needed;
    route_dependencies_release(&a->seen);
    free(a->arrival);
    free(a->set);
    free(a->touched);
    return status;
}

/* ---- writing ---- */

struct writer {
    const struct route_topology *topology;
    const struct route_table *table;
    FILE *out;
    uint64_t *sorted; /* the first endpoint with an endpoint's value in the upper half, itself in the lower */
    uint32_t *first;  /* per value: 1 + the first endpoint of the current row that has it */
    uint32_t terms;
};

static void hops_write(struct writer *w, uint32_t set)
{
    const struct route_hop *hop;
    uint32_t count = route_table_set_hops(w->table, set, &hop);
    fprintf(w->out, " via");
    for (uint32_t i = 0; i < count; i++) {
        fprintf(w->out, " %u", hop[i].port);
        if (hop[i].class == ROUTE_TABLE_LAYER)
            fprintf(w->out, "@layer");
        else if (hop[i].class == ROUTE_TABLE_HOPS)
            fprintf(w->out, "@hops");
        else if (hop[i].class == ROUTE_TABLE_ANY)
            fprintf(w->out, "@any");
        else if (hop[i].class != 0)
            fprintf(w->out, "@%u", hop[i].class);
    }
    fprintf(w->out, "\n");
}

static void line_begin(struct writer *w, uint32_t value, bool layer)
{
    if (layer)
        fprintf(w->out, "layer %u to ", value);
    else
        fprintf(w->out, "to ");
    w->terms = 0;
}

static void line_end(struct writer *w, uint32_t value, bool layer)
{
    if (layer)
        fprintf(w->out, "\n");
    else
        hops_write(w, value);
}

/* How many endpoints from the i-th on are consecutive. */
static uint32_t run_length(const uint64_t *endpoint, uint32_t i, uint32_t count)
{
    uint32_t length = 1;
    while (i + length < count && endpoint[i + length] == endpoint[i] + length)
        length++;
    return length;
}

/* The run that begins with the i-th endpoint, and those of the same length that follow at its distance to the
 * next one, as one term. Returns how many endpoints that are. */
static uint32_t term_write(struct writer *w, const uint64_t *endpoint, uint32_t i, uint32_t count)
{
    uint32_t width = run_length(endpoint, i, count), first = (uint32_t)endpoint[i], taken = width, step = 0,
             runs = 1;
    if (i + width < count)
        step = (uint32_t)endpoint[i + width] - first;
    while (i + taken < count && (uint32_t)endpoint[i + taken] - first == runs * step &&
           run_length(endpoint, i + taken, count) == width) {
        taken += width;
        runs++;
    }
    if (runs < 3)
        taken = width;
    uint32_t last = (uint32_t)endpoint[i + taken - 1];
    fprintf(w->out, w->terms++ ? ",%u" : "%u", first);
    if (last != first)
        fprintf(w->out, "-%u", last);
    if (runs >= 3)
        fprintf(w->out, "/%u", step);
    if (runs >= 3 && width > 1)
        fprintf(w->out, ":%u", width);
    return taken;
}

static uint32_t value_of(const struct writer *w, uint32_t switch_id, uint32_t endpoint, bool layer)
{
    return layer ? route_table_layer(w->table, switch_id, endpoint)
                 : route_table_set(w->table, switch_id, endpoint);
}

/* All endpoints of one value, ascending. */
static void value_write(struct writer *w, const uint64_t *endpoint, uint32_t value, uint32_t count,
                        bool layer)
{
    uint32_t i = 0;
    line_begin(w, value, layer);
    while (i < count) {
        if (w->terms == LINE_TERMS) {
            line_end(w, value, layer);
            line_begin(w, value, layer);
        }
        i += term_write(w, endpoint, i, count);
    }
    line_end(w, value, layer);
}

/* What is 0 is not written, nor are the switch's own endpoints. Values in the order of their first endpoints.
 */
static void row_write(struct writer *w, uint32_t switch_id, bool layer)
{
    const struct route_table *table = w->table;
    uint32_t count = 0;
    for (uint32_t n = 0; n < table->endpoints; n++) {
        uint32_t value = value_of(w, switch_id, n, layer), at;
        uint16_t port;
        if (value == 0)
            continue;
        route_attachment(w->topology, n, &at, &port);
        if (at == switch_id)
            continue;
        if (w->first[value] == 0)
            w->first[value] = 1 + n;
        w->sorted[count++] = (uint64_t)w->first[value] << 32 | n;
    }
    qsort(w->sorted, count, sizeof *w->sorted, ker_order_u64);
    for (uint32_t i = 0; i < count; i++)
        w->first[value_of(w, switch_id, (uint32_t)w->sorted[i], layer)] = 0;
    for (uint32_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && w->sorted[i + same] >> 32 == w->sorted[i] >> 32;)
            same++;
        value_write(w, w->sorted + i, value_of(w, switch_id, (uint32_t)w->sorted[i], layer), same, layer);
    }
}

static enum ker_status file_write(const struct route_topology *topology, const struct route_table *table,
                                  const char *path, struct ker_error *error)
{
    struct writer w = {.topology = topology, .table = table, .out = fopen(path, "w")};
    if (!w.out)
        return ker_fail(error, KER_BAD_INPUT, "--write-table: %s cannot be written: %s", path,
                        strerror(errno));
    w.sorted = ker_alloc(table->endpoints * sizeof *w.sorted);
    w.first = ker_alloc((table->hop_used + ROUTE_MAX_LAYERS + 256ull) * sizeof *w.first);
    fprintf(w.out, "# %s\n# routing \"%s\"; docs/routing-tables.md explains this file\n",
            topology->summary.text, topology->summary.algorithm);
    fprintf(w.out, "switches %u\nnodes %u\nchannels %u\n", table->switches, table->endpoints, table->classes);
    for (uint32_t s = 0; s < table->switches; s++) {
        fprintf(w.out, "\nswitch %u\n", s);
        row_write(&w, s, false);
        if (table->layers.root)
            row_write(&w, s, true);
    }
    fprintf(w.out, "\nend\n");
    free(w.sorted);
    free(w.first);
    bool bad = ferror(w.out);
    return fclose(w.out) || bad ? ker_fail(error, KER_BAD_INPUT, "--write-table: %s cannot be written: %s",
                                           path, strerror(errno))
                                : KER_OK;
}

enum ker_status route_table_write(const struct route_topology *topology, const char *path,
                                  struct ker_error *error)
{
    struct asker asker = {.topology = topology, .error = error};
    if (topology->inner) /* a table has the endpoints of the topology, whatever hangs there */
        return route_table_write(topology->inner, path, error);
    if (topology->table && topology->table->paths > 1)
        return refuse(&asker, "packets draw one of several LIDs of a node; give routing.lmc_path");
    if (topology->table)
        return file_write(topology, topology->table, path, error);
    asker = (struct asker){.topology = topology,
                           .error = error,
                           .table = route_table_new(topology->summary.switches, topology->summary.endpoints)};
    enum ker_status status = table_ask(&asker);
    status = status ?: file_write(topology, asker.table, path, error);
    route_table_free(asker.table);
    return status;
}
