/* check.c - does a table that somebody else made lead everywhere?
 *
 * For every destination the paths are followed from all switches with endpoints, depth first, so that a
 * switch whose packets can come back to it is seen on the path there; switches that nobody's packets pass may
 * have anything in their rows. Found meanwhile are the longest path, for classes that count the hops, and
 * which links wait for which.
 */
#include "routing/tables/make.h"

#include <stdlib.h>
#include <string.h>

struct place {
    uint32_t switch_id, hop;
};

struct checker {
    const struct route_table *table;
    const struct route_wires *wires;
    const struct route_table_source *source;
    struct ker_error *error;
    uint32_t *visited; /* per switch: 2 * destination + 2: its paths are being followed, + 3: they are done */
    uint16_t *longest;
    struct place *path; /* switches whose paths are being followed */
    uint32_t depth;
    uint32_t most_links, missing, missing_switch, missing_endpoint;
    struct route_waits *waits;
};

static char *where(const struct checker *c, uint32_t switch_id, uint32_t endpoint)
{
    uint32_t line = c->source->line ? c->source->line(c->source->context, switch_id, endpoint) : 0;
    return line ? ker_format("%s:%u", c->source->file, line) : ker_format("%s", c->source->file);
}

static enum ker_status fail_loop(const struct checker *c, uint32_t begin, uint32_t endpoint)
{
    const struct route_table_source *source = c->source;
    uint32_t first = c->depth, *circle = ker_alloc(c->depth * sizeof *circle);
    while (c->path[first - 1].switch_id != begin)
        first--;
    for (uint32_t i = first - 1; i < c->depth; i++)
        circle[i + 1 - first] = c->path[i].switch_id;
    uint32_t count = c->depth + 1 - first;
    if (source->loop) {
        source->loop(source->context, circle, count, endpoint, c->error);
        free(circle);
        return KER_BAD_INPUT;
    }
    char text[600];
    size_t at = 0;
    for (uint32_t i = 0; i < count && at < 500; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%u, ", circle[i]);
    char *line = where(c, begin, endpoint);
    ker_fail(c->error, KER_BAD_INPUT,
             "%s: packets to node %u are sent in a circle: through switches %s%s%u again", line, endpoint,
             text, at >= 500 ? "..., " : "", begin);
    free(line);
    free(circle);
    return KER_BAD_INPUT;
}

/* Packets that came here continue by these links. */
static void waits_note(struct checker *c, uint32_t from_link, uint32_t switch_id, uint32_t endpoint)
{
    const struct route_hop *hop;
    uint32_t count = route_table_hops(c->table, switch_id, endpoint, &hop);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t link = route_wires_at(c->wires, switch_id, hop[i].port);
        if (link == ROUTE_NO_WIRE)
            continue;
        uint32_t place = link - c->wires->begin[switch_id];
        c->waits->bit[(size_t)from_link * c->waits->words + place / 64] |= 1ull << place % 64;
    }
}

static void enter(struct checker *c, uint32_t switch_id, uint32_t endpoint)
{
    c->visited[switch_id] = 2 * endpoint + 2;
    c->longest[switch_id] = 0;
    c->path[c->depth++] = (struct place){switch_id, 0};
}

static void miss(struct checker *c, uint32_t switch_id, uint32_t endpoint)
{
    if (c->missing++ > 0)
        return;
    c->missing_switch = switch_id;
    c->missing_endpoint = endpoint;
}

/* One hop on from the last switch of the path, or back. */
static enum ker_status step(struct checker *c, uint32_t endpoint)
{
    struct place *at = &c->path[c->depth - 1];
    const struct route_hop *hop;
    uint32_t count = route_table_hops(c->table, at->switch_id, endpoint, &hop);
    if (at->hop == count) {
        if (count == 0)
            miss(c, at->switch_id, endpoint);
        c->visited[at->switch_id]++;
        if (c->longest[at->switch_id] > c->most_links)
            c->most_links = c->longest[at->switch_id];
        c->depth--;
        return KER_OK;
    }
    hop += at->hop;
    uint32_t link = route_wires_at(c->wires, at->switch_id, hop->port);
    if (link ==
        ROUTE_NO_WIRE) { /* the endpoint, or a link that is down: faults have their own paths around it */
        at->hop++;
        return KER_OK;
    }
    uint32_t on = c->wires->to[link], mark = c->visited[on];
    if (mark == 2 * endpoint + 2)
        return fail_loop(c, on, endpoint);
    if (mark != 2 * endpoint + 3) { /* comes back to this path then */
        enter(c, on, endpoint);
        return KER_OK;
    }
    at->hop++;
    if (c->longest[on] + 1u > c->longest[at->switch_id])
        c->longest[at->switch_id] = (uint16_t)(c->longest[on] + 1u);
    if (c->waits)
        waits_note(c, link, on, endpoint);
    return KER_OK;
}

static enum ker_status destination_check(struct checker *c, uint32_t endpoint)
{
    enum ker_status status = KER_OK;
    for (uint32_t s = 0; s < c->wires->switches && status == KER_OK; s++) {
        if (c->wires->endpoints_at[s] == 0 || c->visited[s] == 2 * endpoint + 3)
            continue;
        enter(c, s, endpoint);
        while (c->depth > 0 && status == KER_OK)
            status = step(c, endpoint);
    }
    return status;
}

static enum ker_status fail_missing(const struct checker *c)
{
    const struct route_table_source *source = c->source;
    if (source->missing)
        return source->missing(source->context, c->missing_switch, c->missing_endpoint, c->missing, c->error);
    char *line = where(c, c->missing_switch, c->missing_endpoint);
    ker_fail(
        c->error, KER_BAD_INPUT,
        "%s: switch %u has no path to node %u, though packets to it come here; %u such path%s missing in all",
        line, c->missing_switch, c->missing_endpoint, c->missing, c->missing == 1 ? " is" : "s are");
    free(line);
    return KER_BAD_INPUT;
}

/* What is the largest class in use, and which kinds of classes? */
static void classes_look(struct route_table *table, bool *hops, bool *layers, uint32_t *largest)
{
    *hops = *layers = false;
    *largest = 0;
    for (uint32_t at = 0; at < table->hop_used; at += 1u + table->hop[at].port)
        for (uint32_t i = 1; i <= table->hop[at].port; i++) {
            uint32_t class = table->hop[at + i].class;
            *hops |= class == ROUTE_TABLE_HOPS;
            *layers |= class == ROUTE_TABLE_LAYER;
            if (class<ROUTE_TABLE_CLASSES &&class> * largest)
                *largest = class;
        }
}

enum ker_status route_table_check(const struct route_topology *topology, struct route_table *table,
                                  const struct route_table_source *source, bool *safe,
                                  struct ker_error *error)
{
    struct route_wires wires;
    struct route_waits waits;
    bool hops, layers;
    uint32_t largest;
    classes_look(table, &hops, &layers, &largest);
    route_wires_make(&wires, topology);
    route_waits_init(&waits, &wires);
    struct checker c = {.table = table,
                        .wires = &wires,
                        .source = source,
                        .error = error,
                        .waits = hops || layers || largest > 0 ? NULL : &waits};
    c.visited = ker_alloc(wires.switches * sizeof *c.visited);
    c.longest = ker_alloc(wires.switches * sizeof *c.longest);
    c.path = ker_alloc((wires.switches + 1ull) * sizeof *c.path);
    enum ker_status status = KER_OK;
    ker_assert(table->endpoints < UINT32_MAX / 2 - 2);
    for (uint32_t endpoint = 0; endpoint < table->endpoints && status == KER_OK; endpoint++)
        status = destination_check(&c, endpoint);
    if (status == KER_OK && c.missing > 0)
        status = fail_missing(&c);
    if (status == KER_OK && hops && c.most_links >= ROUTE_TABLE_CLASSES)
        status = ker_fail(error, KER_BAD_INPUT,
                          "%s: the longest path has %u links, too many for @hops; at most %d are possible",
                          source->file, c.most_links, ROUTE_TABLE_CLASSES - 1);
    if (table->classes < largest + 1)
        table->classes = largest + 1;
    if (hops && table->classes < c.most_links)
        table->classes = c.most_links;
    *safe = status == KER_OK && c.waits && !route_waits_cyclic(&waits);
    free(c.visited);
    free(c.longest);
    free(c.path);
    route_waits_release(&waits);
    route_wires_release(&wires);
    return status;
}
