/* text.c - reads routing tables and weights of links from text (docs/routing-tables.md).
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
    struct ker_error *error;
    const char *file, *text, *at, *end;
    const char *p, *stop;                     /* within a line */
    uint32_t line, switches, nodes, channels; /* as the file says; 0: not yet */
    bool in_switch, ended;
    uint32_t switch_id, ports, *switch_line;       /* per switch: where its section begins */
    uint32_t *set, *set_line, *layer, *layer_line; /* of the section, per node */
    uint32_t layers;                               /* 1 + the largest */
    struct route_way way[ROUTE_MAX_CHOICES];
    uint32_t ways;
    uint32_t *listed, listed_count; /* destinations of the line */
    uint32_t probe_switch, probe_node, probe_line;
};

#define LINE_FORMAT "%s:%u: "
#define LINE(r) (r)->file, (r)->line
#define SHOWN(r) ((r)->stop - (r)->p > 40 ? 40 : (int)((r)->stop - (r)->p)), (r)->p

/* ---- lines and words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct reader *r)
{
    while (r->p < r->stop && is_blank(*r->p))
        r->p++;
}

/* The next line with something in it. */
static bool next_line(struct reader *r)
{
    while (r->at < r->end) {
        const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
        const char *stop = newline ? newline : r->end, *comment = memchr(r->at, '#', (size_t)(stop - r->at));
        r->p = r->at;
        r->stop = comment ? comment : stop;
        r->at = newline ? newline + 1 : r->end;
        r->line++;
        while (r->stop > r->p && is_blank(r->stop[-1]))
            r->stop--;
        skip_blanks(r);
        if (r->p < r->stop)
            return true;
    }
    return false;
}

/* Passes over this word if it comes next. */
static bool take_word(struct reader *r, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(r->stop - r->p) < length || memcmp(r->p, word, length) != 0)
        return false;
    if (r->p + length < r->stop && !is_blank(r->p[length]))
        return false;
    r->p += length;
    skip_blanks(r);
    return true;
}

static bool take_char(struct reader *r, char c)
{
    if (r->p == r->stop || *r->p != c)
        return false;
    r->p++;
    return true;
}

/* A whole number up to 2^32 - 1. */
static bool take_number(struct reader *r, uint32_t *number)
{
    uint64_t value = 0;
    const char *p = r->p;
    while (p < r->stop && *p >= '0' && *p <= '9' && value <= UINT32_MAX)
        value = value * 10 + (uint64_t)(*p++ - '0');
    if (p == r->p || value > UINT32_MAX || (p < r->stop && *p >= '0' && *p <= '9'))
        return false;
    r->p = p;
    *number = (uint32_t)value;
    return true;
}

/* From 1 to `most`; the reader stays before what is none, so that the message shows it. */
static bool take_counter(struct reader *r, uint32_t most, uint32_t *number)
{
    const char *begin = r->p;
    if (take_number(r, number) && *number > 0 && *number <= most)
        return true;
    r->p = begin;
    return false;
}

static enum ker_status fail_line(struct reader *r, const char *what)
{
    if (r->p == r->stop && r->at == r->end)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "%s, but the file ends; was it cut off?",
                        LINE(r), what);
    if (r->p == r->stop)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "%s, but the line ends", LINE(r), what);
    return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "%s, not \"%.*s\"", LINE(r), what, SHOWN(r));
}

static enum ker_status end_of_line(struct reader *r)
{
    skip_blanks(r);
    return r->p == r->stop ? KER_OK
                           : ker_fail(r->error, KER_BAD_INPUT,
                                      LINE_FORMAT "the line should end before \"%.*s\"", LINE(r), SHOWN(r));
}

/* A number and the end of the line. */
static enum ker_status only_number(struct reader *r, const char *what, uint32_t *number)
{
    return take_number(r, number) ? end_of_line(r) : fail_line(r, what);
}

/* ---- destinations ---- */

static enum ker_status list_add(struct reader *r, uint64_t node)
{
    if (node >= r->nodes)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "there is no node %llu; nodes have numbers 0 to %u", LINE(r),
                        (unsigned long long)node, r->nodes - 1);
    if (r->listed_count == r->nodes)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "this line names a node twice", LINE(r));
    r->listed[r->listed_count++] = (uint32_t)node;
    return KER_OK;
}

/* a, a-b, a-b/step, a-b/step:width */
static enum ker_status term_read(struct reader *r)
{
    uint32_t from, to, step = 1, width = 1;
    if (!take_number(r, &from))
        return fail_line(r, "destinations are expected here, like 3,8-15,16-63/4,64-127/16:8 or rest");
    to = from;
    if (take_char(r, '-') && !take_number(r, &to))
        return fail_line(r, "the last node of a range is expected here");
    if (take_char(r, '/') && !take_counter(r, UINT32_MAX, &step))
        return fail_line(r, "the step of a range, at least 1, is expected here");
    if (take_char(r, ':') && !take_counter(r, step, &width))
        return fail_line(r, "how many in a row, from 1 to the step, is expected here");
    if (to < from)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "the range %u-%u ends before it begins", LINE(r),
                        from, to);
    enum ker_status status = to < r->nodes ? KER_OK : list_add(r, to); /* says that there is no such node */
    for (uint64_t first = from; first <= to && status == KER_OK; first += step)
        for (uint64_t i = first; i < first + width && i <= to && status == KER_OK; i++)
            status = list_add(r, i);
    return status;
}

/* `rest`: what no line of this section has named so far, but not the switch's own nodes. */
static enum ker_status rest_read(struct reader *r, const uint32_t *line)
{
    for (uint32_t n = 0; n < r->nodes; n++) {
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
    if (take_word(r, "rest"))
        return rest_read(r, line);
    do
        status = term_read(r);
    while (status == KER_OK && take_char(r, ','));
    if (status == KER_OK && r->p < r->stop && !is_blank(*r->p))
        status = fail_line(r, "a comma or a blank is expected here");
    skip_blanks(r);
    return status;
}

/* ---- ways ---- */

static enum ker_status class_read(struct reader *r, uint8_t *class)
{
    uint32_t number;
    *class = 0;
    if (!take_char(r, '@'))
        return KER_OK;
    if (take_word(r, "layer")) {
        *class = ROUTE_TABLE_LAYER;
    } else if (take_word(r, "hops")) {
        *class = ROUTE_TABLE_HOPS;
    } else if (take_word(r, "any")) {
        *class = ROUTE_TABLE_ANY;
    } else if (!take_number(r, &number)) {
        return fail_line(r, "behind @ the number of a class of channels, layer, hops or any is expected");
    } else if (number >= (r->channels ? r->channels : ROUTE_TABLE_CLASSES)) {
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "there is no class %u of channels; %s%u are possible", LINE(r), number,
                        r->channels ? "as this file says, 0 to " : "0 to ",
                        (r->channels ? r->channels : ROUTE_TABLE_CLASSES) - 1);
    } else {
        *class = (uint8_t)number;
    }
    return KER_OK;
}

static enum ker_status way_read(struct reader *r)
{
    struct route_peer peer;
    uint32_t port;
    if (!take_number(r, &port))
        return fail_line(r, "a port is expected here");
    if (port >= r->ports)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "switch %u has no port %u; its ports have numbers 0 to %u", LINE(r),
                        r->switch_id, port, r->ports - 1);
    route_port(r->topology, r->switch_id, port, &peer);
    if (peer.kind == ROUTE_NOTHING)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "port %u of switch %u leads nowhere", LINE(r),
                        port, r->switch_id);
    if (r->ways == ROUTE_MAX_CHOICES)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "more than %d ways", LINE(r), ROUTE_MAX_CHOICES);
    struct route_way *way = &r->way[r->ways];
    *way = (struct route_way){.port = (uint16_t)port};
    enum ker_status status = class_read(r, &way->class);
    if (status == KER_OK && peer.kind == ROUTE_NODE)
        for (uint32_t i = 0; i < r->listed_count; i++)
            if (r->listed[i] != peer.id)
                return ker_fail(r->error, KER_BAD_INPUT,
                                LINE_FORMAT "port %u of switch %u leads to node %u, not to node %u", LINE(r),
                                port, r->switch_id, peer.id, r->listed[i]);
    if (peer.kind == ROUTE_NODE)
        way->class = ROUTE_TABLE_ANY;
    for (uint32_t i = 0; i < r->ways && status == KER_OK; i++)
        if (r->way[i].port == way->port && r->way[i].class == way->class)
            return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "port %u is named twice", LINE(r), port);
    r->ways++;
    return status;
}

/* The destination's own switch has no other way than the node's port. */
static enum ker_status own_check(struct reader *r, uint32_t node)
{
    uint32_t at;
    uint16_t port;
    route_attachment(r->topology, node, &at, &port);
    if (at != r->switch_id || (r->ways == 1 && r->way[0].port == port))
        return KER_OK;
    return ker_fail(r->error, KER_BAD_INPUT,
                    LINE_FORMAT
                    "node %u is at port %u of this switch and needs no other way; it may be left out",
                    LINE(r), node, port);
}

static enum ker_status fail_twice(struct reader *r, uint32_t node, uint32_t line)
{
    return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "node %u was already named in line %u", LINE(r),
                    node, line);
}

/* to DESTINATIONS via WAY WAY ... */
static enum ker_status to_read(struct reader *r)
{
    enum ker_status status = list_read(r, r->set_line);
    if (status != KER_OK)
        return status;
    if (!take_word(r, "via"))
        return fail_line(r, "\"via\" and ports are expected here");
    r->ways = 0;
    do {
        status = way_read(r);
        if (status == KER_OK && r->p < r->stop && !is_blank(*r->p) && !is_blank(r->p[-1]))
            status = fail_line(r, "a blank or @CLASS is expected here");
        skip_blanks(r);
    } while (status == KER_OK && r->p < r->stop);
    uint32_t set = status == KER_OK && r->table ? route_table_set_of(r->table, r->way, r->ways) : 0;
    for (uint32_t i = 0; i < r->listed_count && status == KER_OK; i++) {
        uint32_t node = r->listed[i];
        if (r->set_line[node])
            return fail_twice(r, node, r->set_line[node]);
        status = own_check(r, node);
        r->set[node] = set;
        r->set_line[node] = r->line;
        if (r->switch_id == r->probe_switch && node == r->probe_node)
            r->probe_line = r->line;
    }
    return status;
}

/* layer L to DESTINATIONS */
static enum ker_status layer_read(struct reader *r)
{
    uint32_t layer;
    if (!take_number(r, &layer))
        return fail_line(r, "the number of a layer is expected here");
    if (layer >= (r->channels ? r->channels : ROUTE_TABLE_CLASSES))
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "there is no layer %u; 0 to %u are possible",
                        LINE(r), layer, (r->channels ? r->channels : ROUTE_TABLE_CLASSES) - 1);
    skip_blanks(r);
    if (!take_word(r, "to"))
        return fail_line(r, "\"to\" and destinations are expected here");
    enum ker_status status = list_read(r, r->layer_line);
    if (status == KER_OK)
        status = end_of_line(r);
    for (uint32_t i = 0; i < r->listed_count && status == KER_OK; i++) {
        uint32_t node = r->listed[i];
        if (r->layer_line[node])
            return fail_twice(r, node, r->layer_line[node]);
        r->layer[node] = layer;
        r->layer_line[node] = r->line;
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
        struct route_way eject = {(uint16_t)port, ROUTE_TABLE_ANY, 0};
        struct route_peer peer;
        route_port(r->topology, r->switch_id, port, &peer);
        if (peer.kind == ROUTE_NODE)
            r->set[peer.id] = route_table_set_of(r->table, &eject, 1);
    }
    if (r->table)
        route_table_row(r->table, r->switch_id, r->set);
    if (r->table && r->layers)
        route_table_layer_row(r->table, r->switch_id, r->layer);
    size_t row = r->topology->summary.nodes * sizeof *r->set;
    memset(r->set, 0, row);
    memset(r->set_line, 0, row);
    memset(r->layer, 0, row);
    memset(r->layer_line, 0, row);
    r->in_switch = false;
}

static enum ker_status count_read(struct reader *r, const char *what, uint32_t there, uint32_t *count)
{
    if (*count)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "the number of %s is given twice", LINE(r),
                        what);
    enum ker_status status = only_number(r, "a number is expected here", count);
    if (status == KER_OK && *count != there)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "the table is for %u %s, but this %s has %u",
                        LINE(r), *count, what, r->topology->summary.topology, there);
    return status;
}

static enum ker_status switch_read(struct reader *r)
{
    if (!r->switches || !r->nodes)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "\"switches\" and \"nodes\" have to come before the first switch",
                        LINE(r));
    section_end(r);
    uint32_t id = 0;
    enum ker_status status = only_number(r, "the number of a switch is expected here", &id);
    if (status != KER_OK)
        return status;
    if (id >= r->switches)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "there is no switch %u; switches have numbers 0 to %u", LINE(r), id,
                        r->switches - 1);
    if (r->switch_line[id])
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "switch %u was already begun in line %u",
                        LINE(r), id, r->switch_line[id]);
    r->in_switch = true;
    r->switch_id = id;
    r->switch_line[id] = r->line;
    r->ports = route_ports(r->topology, id);
    return KER_OK;
}

static enum ker_status channels_read(struct reader *r)
{
    if (r->channels)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "the number of channels is given twice",
                        LINE(r));
    for (uint32_t i = 0; i < r->switches; i++)
        if (r->switch_line[i])
            return ker_fail(r->error, KER_BAD_INPUT,
                            LINE_FORMAT "\"channels\" has to come before the first switch", LINE(r));
    enum ker_status status = only_number(r, "a number of channels is expected here", &r->channels);
    if (status == KER_OK && (r->channels < 1 || r->channels >= ROUTE_TABLE_CLASSES))
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "%u channels; 1 to %d are possible", LINE(r),
                        r->channels, ROUTE_TABLE_CLASSES - 1);
    return status;
}

static enum ker_status line_read(struct reader *r)
{
    if (r->ended)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "nothing may follow \"end\"", LINE(r));
    if (take_word(r, "switches"))
        return count_read(r, "switches", r->topology->summary.switches, &r->switches);
    if (take_word(r, "nodes"))
        return count_read(r, "nodes", r->topology->summary.nodes, &r->nodes);
    if (take_word(r, "channels"))
        return channels_read(r);
    if (take_word(r, "switch"))
        return switch_read(r);
    if (take_word(r, "end")) {
        r->ended = true;
        return end_of_line(r);
    }
    bool to = take_word(r, "to");
    if (!to && !take_word(r, "layer"))
        return fail_line(r, "a line begins with switches, nodes, channels, switch, to, layer or end");
    if (!r->in_switch)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "there has to be a line \"switch NUMBER\" before this", LINE(r));
    return to ? to_read(r) : layer_read(r);
}

/* ---- a whole table ---- */

static void reader_init(struct reader *r, const struct route_topology *topology, const char *file,
                        const char *text, size_t length, struct ker_error *error)
{
    const struct route_summary *sum = &topology->summary;
    *r = (struct reader){
        .topology = topology, .error = error, .file = file, .text = text, .at = text, .end = text + length};
    r->probe_switch = UINT32_MAX;
    r->switch_line = ker_alloc(sum->switches * sizeof *r->switch_line);
    r->set = ker_alloc(sum->nodes * sizeof *r->set);
    r->set_line = ker_alloc(sum->nodes * sizeof *r->set_line);
    r->layer = ker_alloc(sum->nodes * sizeof *r->layer);
    r->layer_line = ker_alloc(sum->nodes * sizeof *r->layer_line);
    r->listed = ker_alloc(sum->nodes * sizeof *r->listed);
}

static void reader_release(struct reader *r)
{
    free(r->switch_line);
    free(r->set);
    free(r->set_line);
    free(r->layer);
    free(r->layer_line);
    free(r->listed);
}

static enum ker_status all_read(struct reader *r)
{
    enum ker_status status = KER_OK;
    while (status == KER_OK && next_line(r))
        status = line_read(r);
    section_end(r);
    for (uint32_t i = 0; i < r->topology->summary.switches && status == KER_OK && r->table; i++)
        if (!r->switch_line[i]) { /* has its own nodes at least */
            r->in_switch = true;
            r->switch_id = i;
            r->ports = route_ports(r->topology, i);
            section_end(r);
        }
    if (status == KER_OK && !r->ended)
        status = ker_fail(r->error, KER_BAD_INPUT,
                          LINE_FORMAT "the last line of a table is \"end\"; was the file cut off?", r->file,
                          r->line ? r->line : 1);
    if (status == KER_OK && (!r->switches || !r->nodes))
        status = ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "\"%s\" is missing", LINE(r),
                          r->switches ? "nodes" : "switches");
    return status;
}

/* The line that named this node in the section of this switch, else where the section begins, else the last
 * line. */
static uint32_t line_of(void *context, uint32_t switch_id, uint32_t node)
{
    struct reader *found = context, r;
    struct ker_error ignored = {0};
    reader_init(&r, found->topology, found->file, found->text, (size_t)(found->end - found->text), &ignored);
    r.probe_switch = switch_id;
    r.probe_node = node;
    all_read(&r);
    uint32_t line = r.probe_line               ? r.probe_line
                    : r.switch_line[switch_id] ? r.switch_line[switch_id]
                                               : r.line;
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
    if (length && memchr(text, 0, length))
        return ker_fail(error, KER_BAD_INPUT, "%s:1: this is no text file", file);
    reader_init(&r, topology, file, text, length, error);
    r.table = route_table_new(topology->summary.switches, topology->summary.nodes);
    enum ker_status status = all_read(&r);
    route_table_finish(r.table);
    struct route_table_source source = {.file = file, .line = line_of, .context = &r};
    if (status == KER_OK)
        status = route_table_check(topology, r.table, &source, safe, error);
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
    if (!(text = ker_input_read(ker_config_inputs(config), path, &length, error)))
        return KER_BAD_INPUT;
    enum ker_status status = route_table_parse(&topology->table, topology, path, text, length, &safe, error);
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

/* ---- weights ---- */

/* link A B WEIGHT: all links between two switches, both directions. port S P WEIGHT: one link, one direction.
 */
static enum ker_status weight_read(struct reader *r, const struct route_wires *wires, uint32_t *weight)
{
    uint32_t a, b, value, found = 0;
    bool link = take_word(r, "link");
    if (!link && !take_word(r, "port"))
        return fail_line(r, "a line reads: link SWITCH SWITCH WEIGHT, or: port SWITCH PORT WEIGHT");
    if (!take_number(r, &a) || a >= wires->switches)
        return fail_line(r, "the number of a switch is expected here");
    skip_blanks(r);
    if (!take_number(r, &b))
        return fail_line(r, link ? "the number of a switch is expected here" : "a port is expected here");
    skip_blanks(r);
    if (!take_counter(r, UINT32_MAX, &value))
        return fail_line(r, "a weight, at least 1, is expected here");
    for (uint32_t i = wires->begin[a]; i < wires->begin[a + 1]; i++)
        if (link ? wires->to[i] == b : wires->port[i] == b) {
            found++;
            weight[i] = value;
            if (link)
                weight[wires->reverse[i]] = value;
        }
    if (!found && link)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "no link joins switches %u and %u", LINE(r), a,
                        b);
    if (!found)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "no link leads from port %u of switch %u to another switch", LINE(r), b,
                        a);
    return end_of_line(r);
}

enum ker_status route_weights_read(uint32_t *weight, const struct route_wires *wires,
                                   const struct ker_config *config, struct ker_error *error)
{
    struct reader r = {.error = error};
    char *text = NULL;
    size_t length = 0;
    for (uint32_t i = 0; i < wires->links; i++)
        weight[i] = 1;
    if (!ker_config_has(config, "routing.weight_file"))
        return ker_config_fail(config, error, "routing.weight_file",
                               "is missing; weights = \"file\" needs it");
    r.file = ker_config_file(config, "routing.weight_file");
    enum ker_status status = KER_OK;
    if (!(text = ker_input_read(ker_config_inputs(config), r.file, &length, error)))
        return KER_BAD_INPUT;
    if (length && memchr(text, 0, length))
        status = ker_fail(error, KER_BAD_INPUT, "%s:1: this is no text file", r.file);
    r.at = text;
    r.end = text + length;
    while (status == KER_OK && next_line(&r))
        status = weight_read(&r, wires, weight);
    free(text);
    return status;
}
