/* text.c - reads routing tables from text (docs/routing-tables.md).
 *
 * A line says one thing. The rows of a switch are gathered until the next switch begins and then go into the
 * store at once, so that memory grows with the network, never with a number in the file. Where something is
 * wrong with the table as a whole, the text is read once more just to find the line that said it.
 */
#include "routing/tables/make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEADLOCK_WORK (1ull << 24)

struct reader {
    const struct route_topology *topology;
    struct route_table *table; /* NULL: only the line of probe_switch and probe_node is looked for */
    struct ker_lines in;
    const char *text;                       /* all of it */
    uint32_t switches, endpoints, channels; /* as the file says; 0: not yet */
    bool in_switch, ended;
    uint32_t switch_id, ports, *switch_line;       /* per switch: where its section begins */
    uint32_t *set, *set_line, *layer, *layer_line; /* of the section, per endpoint */
    uint32_t layers;                               /* 1 + the largest */
    struct route_hop hop[ROUTE_MAX_CHOICES];
    uint32_t hops;
    uint32_t *listed, listed_count; /* destinations of the line */
    uint32_t probe_switch, probe_endpoint, probe_line;
};

/* From 1 to `most`; the reader stays before what is none, so that the message shows it. */
static bool take_counter(struct reader *r, uint32_t most, uint32_t *number)
{
    const char *begin = r->in.p;
    if (ker_take_u32(&r->in, number) && *number > 0 && *number <= most)
        return true;
    r->in.p = begin;
    return false;
}

static enum ker_status fail_line(struct reader *r, const char *what)
{
    if (r->in.p == r->in.stop && r->in.at == r->in.end)
        return ker_lines_fail(&r->in, "%s, but the file ends; was it cut off?", what);
    if (r->in.p == r->in.stop)
        return ker_lines_fail(&r->in, "%s, but the line ends", what);
    return ker_lines_fail(&r->in, "%s, not \"%.*s\"", what, KER_LINE_REST(&r->in));
}

/* A number and the end of the line. */
static enum ker_status only_number(struct reader *r, const char *what, uint32_t *number)
{
    return ker_take_u32(&r->in, number) ? ker_lines_end(&r->in) : fail_line(r, what);
}

/* ---- destinations ---- */

static enum ker_status list_add(struct reader *r, uint64_t endpoint)
{
    if (endpoint >= r->endpoints)
        return ker_lines_fail(&r->in, "there is no node %llu; nodes have numbers 0 to %u",
                              (unsigned long long)endpoint, r->endpoints - 1);
    if (r->listed_count == r->endpoints)
        return ker_lines_fail(&r->in, "this line names a node twice");
    r->listed[r->listed_count++] = (uint32_t)endpoint;
    return KER_OK;
}

/* a, a-b, a-b/step, a-b/step:width */
static enum ker_status term_read(struct reader *r)
{
    uint32_t from, to, step = 1, width = 1;
    if (!ker_take_u32(&r->in, &from))
        return fail_line(r, "destinations are expected here, like 3,8-15,16-63/4,64-127/16:8 or rest");
    to = from;
    if (ker_take(&r->in, "-") && !ker_take_u32(&r->in, &to))
        return fail_line(r, "the last node of a range is expected here");
    if (ker_take(&r->in, "/") && !take_counter(r, UINT32_MAX, &step))
        return fail_line(r, "the step of a range, at least 1, is expected here");
    if (ker_take(&r->in, ":") && !take_counter(r, step, &width))
        return fail_line(r, "how many in a row, from 1 to the step, is expected here");
    if (to < from)
        return ker_lines_fail(&r->in, "the range %u-%u ends before it begins", from, to);
    enum ker_status status =
        to < r->endpoints ? KER_OK : list_add(r, to); /* says that there is no such endpoint */
    for (uint64_t first = from; first <= to && status == KER_OK; first += step)
        for (uint64_t i = first; i < first + width && i <= to && status == KER_OK; i++)
            status = list_add(r, i);
    return status;
}

/* `rest`: what no line of this section has named so far, but not the switch's own endpoints. */
static enum ker_status rest_read(struct reader *r, const uint32_t *line)
{
    for (uint32_t n = 0; n < r->endpoints; n++) {
        uint32_t at;
        uint16_t port;
        route_attachment(r->topology, n, &at, &port);
        if (line[n] == 0 && at != r->switch_id)
            r->listed[r->listed_count++] = n;
    }
    return KER_OK;
}

static enum ker_status list_read(struct reader *r, const uint32_t *line)
{
    enum ker_status status;
    r->listed_count = 0;
    if (ker_take_word(&r->in, "rest"))
        return rest_read(r, line);
    do
        status = term_read(r);
    while (status == KER_OK && ker_take(&r->in, ","));
    if (status == KER_OK && !ker_at_gap(&r->in))
        status = fail_line(r, "a comma or a blank is expected here");
    ker_take_blanks(&r->in);
    return status;
}

/* ---- paths ---- */

static enum ker_status class_read(struct reader *r, uint8_t *class)
{
    uint32_t number;
    *class = 0;
    if (!ker_take(&r->in, "@"))
        return KER_OK;
    if (ker_take_word(&r->in, "layer")) {
        *class = ROUTE_TABLE_LAYER;
    } else if (ker_take_word(&r->in, "hops")) {
        *class = ROUTE_TABLE_HOPS;
    } else if (ker_take_word(&r->in, "any")) {
        *class = ROUTE_TABLE_ANY;
    } else if (!ker_take_u32(&r->in, &number)) {
        return fail_line(r, "behind @ the number of a class of channels, layer, hops or any is expected");
    } else if (number >= (r->channels ? r->channels : ROUTE_TABLE_CLASSES)) {
        return ker_lines_fail(&r->in, "there is no class %u of channels; %s%u are possible", number,
                              r->channels ? "as this file says, 0 to " : "0 to ",
                              (r->channels ? r->channels : ROUTE_TABLE_CLASSES) - 1);
    } else {
        *class = (uint8_t)number;
    }
    return KER_OK;
}

static enum ker_status hop_read(struct reader *r)
{
    struct route_peer peer;
    uint32_t port;
    if (!ker_take_u32(&r->in, &port))
        return fail_line(r, "a port is expected here");
    if (port >= r->ports)
        return ker_lines_fail(&r->in, "switch %u has no port %u; its ports have numbers 0 to %u",
                              r->switch_id, port, r->ports - 1);
    route_port(r->topology, r->switch_id, port, &peer);
    if (peer.kind == ROUTE_NOTHING)
        return ker_lines_fail(&r->in, "port %u of switch %u leads nowhere", port, r->switch_id);
    if (r->hops == ROUTE_MAX_CHOICES)
        return ker_lines_fail(&r->in, "more than %d paths", ROUTE_MAX_CHOICES);
    struct route_hop *hop = &r->hop[r->hops];
    *hop = (struct route_hop){.port = (uint16_t)port};
    enum ker_status status = class_read(r, &hop->class);
    if (status == KER_OK && peer.kind == ROUTE_ENDPOINT)
        for (uint32_t i = 0; i < r->listed_count; i++)
            if (r->listed[i] != peer.id)
                return ker_lines_fail(&r->in, "port %u of switch %u leads to node %u, not to node %u", port,
                                      r->switch_id, peer.id, r->listed[i]);
    if (peer.kind == ROUTE_ENDPOINT)
        hop->class = ROUTE_TABLE_ANY;
    for (uint32_t i = 0; i < r->hops && status == KER_OK; i++)
        if (r->hop[i].port == hop->port && r->hop[i].class == hop->class)
            return ker_lines_fail(&r->in, "port %u is named twice", port);
    r->hops++;
    return status;
}

/* The destination's own switch has no other path than the endpoint's port. */
static enum ker_status own_check(struct reader *r, uint32_t endpoint)
{
    uint32_t at;
    uint16_t port;
    route_attachment(r->topology, endpoint, &at, &port);
    if (at != r->switch_id || (r->hops == 1 && r->hop[0].port == port))
        return KER_OK;
    return ker_lines_fail(&r->in,
                          "node %u is at port %u of this switch and needs no other path; it may be left out",
                          endpoint, port);
}

static enum ker_status fail_twice(struct reader *r, uint32_t endpoint, uint32_t line)
{
    return ker_lines_fail(&r->in, "node %u was already named in line %u", endpoint, line);
}

/* to DESTINATIONS via WAY WAY ... */
static enum ker_status to_read(struct reader *r)
{
    enum ker_status status = list_read(r, r->set_line);
    if (status != KER_OK)
        return status;
    if (!ker_take_word(&r->in, "via"))
        return fail_line(r, "\"via\" and ports are expected here");
    r->hops = 0;
    do {
        status = hop_read(r);
        if (status == KER_OK && !ker_at_gap(&r->in) && r->in.p[-1] != ' ' && r->in.p[-1] != '\t')
            status = fail_line(r, "a blank or @CLASS is expected here");
        ker_take_blanks(&r->in);
    } while (status == KER_OK && r->in.p < r->in.stop);
    uint32_t set = status == KER_OK && r->table ? route_table_set_of(r->table, r->hop, r->hops) : 0;
    for (uint32_t i = 0; i < r->listed_count && status == KER_OK; i++) {
        uint32_t endpoint = r->listed[i];
        if (r->set_line[endpoint])
            return fail_twice(r, endpoint, r->set_line[endpoint]);
        status = own_check(r, endpoint);
        r->set[endpoint] = set;
        r->set_line[endpoint] = r->in.line;
        if (r->switch_id == r->probe_switch && endpoint == r->probe_endpoint)
            r->probe_line = r->in.line;
    }
    return status;
}

/* layer L to DESTINATIONS */
static enum ker_status layer_read(struct reader *r)
{
    uint32_t layer;
    if (!ker_take_u32(&r->in, &layer))
        return fail_line(r, "the number of a layer is expected here");
    if (layer >= (r->channels ? r->channels : ROUTE_TABLE_CLASSES))
        return ker_lines_fail(&r->in, "there is no layer %u; 0 to %u are possible", layer,
                              (r->channels ? r->channels : ROUTE_TABLE_CLASSES) - 1);
    ker_take_blanks(&r->in);
    if (!ker_take_word(&r->in, "to"))
        return fail_line(r, "\"to\" and destinations are expected here");
    enum ker_status status = list_read(r, r->layer_line);
    status = status ?: ker_lines_end(&r->in);
    for (uint32_t i = 0; i < r->listed_count && status == KER_OK; i++) {
        uint32_t endpoint = r->listed[i];
        if (r->layer_line[endpoint])
            return fail_twice(r, endpoint, r->layer_line[endpoint]);
        r->layer[endpoint] = layer;
        r->layer_line[endpoint] = r->in.line;
    }
    if (layer >= r->layers)
        r->layers = layer + 1;
    return status;
}

/* ---- sections ---- */

static void section_end(struct reader *r)
{
    if (!r->in_switch)
        return;
    for (uint32_t port = 0; r->table && port < r->ports; port++) {
        struct route_hop eject = {(uint16_t)port, ROUTE_TABLE_ANY, 0};
        struct route_peer peer;
        route_port(r->topology, r->switch_id, port, &peer);
        if (peer.kind == ROUTE_ENDPOINT)
            r->set[peer.id] = route_table_set_of(r->table, &eject, 1);
    }
    if (r->table)
        route_table_row(r->table, r->switch_id, r->set);
    if (r->table && r->layers)
        route_table_layer_row(r->table, r->switch_id, r->layer);
    size_t row = r->topology->summary.endpoints * sizeof *r->set;
    memset(r->set, 0, row);
    memset(r->set_line, 0, row);
    memset(r->layer, 0, row);
    memset(r->layer_line, 0, row);
    r->in_switch = false;
}

static enum ker_status count_read(struct reader *r, const char *what, uint32_t there, uint32_t *count)
{
    if (*count)
        return ker_lines_fail(&r->in, "the number of %s is given twice", what);
    enum ker_status status = only_number(r, "a number is expected here", count);
    if (status == KER_OK && *count != there)
        return ker_lines_fail(&r->in, "the table is for %u %s, but this %s has %u", *count, what,
                              r->topology->summary.topology, there);
    return status;
}

static enum ker_status switch_read(struct reader *r)
{
    if (!r->switches || !r->endpoints)
        return ker_lines_fail(&r->in, "\"switches\" and \"nodes\" have to come before the first switch");
    section_end(r);
    uint32_t id = 0;
    enum ker_status status = only_number(r, "the number of a switch is expected here", &id);
    if (status != KER_OK)
        return status;
    if (id >= r->switches)
        return ker_lines_fail(&r->in, "there is no switch %u; switches have numbers 0 to %u", id,
                              r->switches - 1);
    if (r->switch_line[id])
        return ker_lines_fail(&r->in, "switch %u was already begun in line %u", id, r->switch_line[id]);
    r->in_switch = true;
    r->switch_id = id;
    r->switch_line[id] = r->in.line;
    r->ports = route_ports(r->topology, id);
    return KER_OK;
}

static enum ker_status channels_read(struct reader *r)
{
    if (r->channels)
        return ker_lines_fail(&r->in, "the number of channels is given twice");
    for (uint32_t i = 0; i < r->switches; i++)
        if (r->switch_line[i])
            return ker_lines_fail(&r->in, "\"channels\" has to come before the first switch");
    enum ker_status status = only_number(r, "a number of channels is expected here", &r->channels);
    if (status == KER_OK && (r->channels < 1 || r->channels >= ROUTE_TABLE_CLASSES))
        return ker_lines_fail(&r->in, "%u channels; 1 to %d are possible", r->channels,
                              ROUTE_TABLE_CLASSES - 1);
    return status;
}

static enum ker_status line_read(struct reader *r)
{
    if (r->ended)
        return ker_lines_fail(&r->in, "nothing may follow \"end\"");
    if (ker_take_word(&r->in, "switches"))
        return count_read(r, "switches", r->topology->summary.switches, &r->switches);
    if (ker_take_word(&r->in, "nodes"))
        return count_read(r, "nodes", r->topology->summary.endpoints, &r->endpoints);
    if (ker_take_word(&r->in, "channels"))
        return channels_read(r);
    if (ker_take_word(&r->in, "switch"))
        return switch_read(r);
    if (ker_take_word(&r->in, "end")) {
        r->ended = true;
        return ker_lines_end(&r->in);
    }
    bool to = ker_take_word(&r->in, "to");
    if (!to && !ker_take_word(&r->in, "layer"))
        return fail_line(r, "a line begins with switches, nodes, channels, switch, to, layer or end");
    if (!r->in_switch)
        return ker_lines_fail(&r->in, "there has to be a line \"switch NUMBER\" before this");
    return to ? to_read(r) : layer_read(r);
}

/* ---- a whole table ---- */

static void reader_init(struct reader *r, const struct route_topology *topology, const char *file,
                        const char *text, size_t length, struct ker_error *error)
{
    const struct route_summary *sum = &topology->summary;
    *r = (struct reader){.topology = topology, .text = text};
    ker_lines_init(&r->in, file, text, length, error);
    r->probe_switch = UINT32_MAX;
    r->switch_line = ker_alloc(sum->switches * sizeof *r->switch_line);
    r->set = ker_alloc(sum->endpoints * sizeof *r->set);
    r->set_line = ker_alloc(sum->endpoints * sizeof *r->set_line);
    r->layer = ker_alloc(sum->endpoints * sizeof *r->layer);
    r->layer_line = ker_alloc(sum->endpoints * sizeof *r->layer_line);
    r->listed = ker_alloc(sum->endpoints * sizeof *r->listed);
}

static void reader_release(struct reader *r)
{
    KER_FREE(r->switch_line, r->set, r->set_line, r->layer, r->layer_line, r->listed);
}

static enum ker_status all_read(struct reader *r)
{
    enum ker_status status = KER_OK;
    while (status == KER_OK && ker_lines_next_full(&r->in))
        status = line_read(r);
    section_end(r);
    for (uint32_t i = 0; i < r->topology->summary.switches && status == KER_OK && r->table; i++)
        if (!r->switch_line[i]) { /* has its own endpoints at least */
            r->in_switch = true;
            r->switch_id = i;
            r->ports = route_ports(r->topology, i);
            section_end(r);
        }
    if (status == KER_OK && !r->ended)
        status = ker_lines_fail_at(&r->in, r->in.line ? r->in.line : 1,
                                   "the last line of a table is \"end\"; was the file cut off?");
    if (status == KER_OK && (!r->switches || !r->endpoints))
        status = ker_lines_fail(&r->in, "\"%s\" is missing", r->switches ? "nodes" : "switches");
    return status;
}

/* The line that named this endpoint in the section of this switch, else where the section begins, else the
 * last line. */
static uint32_t line_of(void *context, uint32_t switch_id, uint32_t endpoint)
{
    struct reader *found = context, r;
    struct ker_error ignored = {0};
    reader_init(&r, found->topology, found->in.file, found->text, (size_t)(found->in.end - found->text),
                &ignored);
    r.probe_switch = switch_id;
    r.probe_endpoint = endpoint;
    all_read(&r);
    uint32_t line = r.probe_line               ? r.probe_line
                    : r.switch_line[switch_id] ? r.switch_line[switch_id]
                                               : r.in.line;
    reader_release(&r);
    return line;
}

enum ker_status route_table_parse(struct route_table **made, const struct route_topology *topology,
                                  const char *file, const char *text, size_t length, bool *safe,
                                  struct ker_error *error)
{
    struct reader r;
    *safe = false;
    *made = NULL;
    reader_init(&r, topology, file, text, length, error);
    r.table = route_table_new(topology->summary.switches, topology->summary.endpoints);
    enum ker_status status = ker_lines_check(&r.in);
    status = status ?: all_read(&r);
    route_table_finish(r.table);
    struct route_table_source source = {.file = file, .line = line_of, .context = &r};
    status = status ?: route_table_check(topology, r.table, &source, safe, error);
    if (r.layers > r.table->classes)
        r.table->classes = r.layers;
    if (r.channels > r.table->classes)
        r.table->classes = r.channels;
    if (status == KER_OK)
        *made = r.table;
    else
        route_table_free(r.table);
    reader_release(&r);
    return status;
}

/* ---- files ---- */

enum ker_status route_table_read(struct route_topology *topology, const struct ker_config *config,
                                 struct ker_error *error)
{
    char *text = NULL;
    size_t length;
    if (!ker_config_has(config, "routing.table"))
        return ker_config_fail(config, error, "routing.table", "is missing; algorithm = \"table\" needs it");
    const char *path = ker_config_file(config, "routing.table");
    bool safe = false;
    enum ker_status status = ker_input_read(ker_config_inputs(config), path, &text, &length, error);
    status = status ?: route_table_parse(&topology->table, topology, path, text, length, &safe, error);
    if (topology->table)
        topology->table->unproved = !safe && !ker_config_bool(config, "routing.allow_deadlock");
    free(text);
    return status;
}

enum ker_status route_table_prove(const struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    struct ker_error circle = {0};
    bool complete;
    if (!topology->table || !topology->table->unproved ||
        route_check_deadlock(topology, MAX_DEADLOCK_WORK, &complete, &circle) == KER_OK)
        return KER_OK;
    size_t length = 0;
    for (const char *from = circle.text; *from; from++) /* the circle, link by link, in one line */
        if (*from != '\n' &&
            !(from[0] == ' ' && (from[1] == ' ' || (length && circle.text[length - 1] == ' '))))
            circle.text[length++] = *from;
        else if (*from == '\n' && from[1])
            circle.text[length++] = ' ';
    circle.text[length] = 0;
    return ker_config_fail(config, error, "routing.table",
                           "%s; routing.allow_deadlock = true runs it all the same", circle.text);
}
