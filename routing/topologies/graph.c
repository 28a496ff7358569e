/* graph.c - reads an edge list of switches, nodes and links.
 *
 * Two passes over the lines: the first declares all names in one hash table, the second reads the settings
 * and joins, so that lines may come in any order. Then duplicates are found by sorting the edges by their
 * ends, and disconnected parts by merging the ends of all edges into sets. Every refusal names the line.
 * Memory grows with the file, never with a number written in it: parallel links are counted, not listed.
 */
#include "routing/topologies/graph.h"

#include "routing/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 7
#define MAX_LINKS (1u << 24)

struct word {
    const char *text;
    uint32_t length;
};

struct name {
    struct word word;
    uint32_t id, line;
    bool is_node;
};

struct reader {
    struct route_graph *graph;
    struct ker_error *error;
    const char *file, *at, *end;
    uint32_t line;
    int words;
    struct word word[MAX_WORDS];
    struct name *table; /* open addressing; free: length 0 */
    uint32_t table_size, names;
    uint32_t *switch_line, *ports; /* per switch */
    uint32_t nodes_seen, edges_room;
    uint64_t links;
};

#define LINE_FORMAT "%s:%u: "
#define LINE(r) (r)->file, (r)->line
#define WORD(w) (int)((w).length < 60 ? (w).length : 60), (w).text

static enum ker_status fail_line(struct reader *r, const char *what)
{
    return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "%s", LINE(r), what);
}

/* The words of the next line that is not empty; false at the end. One word too many is kept, to be refused.
 */
static bool next_line(struct reader *r)
{
    while (r->at < r->end) {
        const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
        const char *stop = newline ? newline : r->end, *p = r->at;
        r->at = newline ? newline + 1 : r->end;
        r->line++;
        r->words = 0;
        while (p < stop && *p != '#') {
            const char *begin = p;
            while (p < stop && !strchr(" \t\r#", *p))
                p++;
            if (p > begin && r->words < MAX_WORDS)
                r->word[r->words++] = (struct word){begin, (uint32_t)(p - begin)};
            while (p < stop && strchr(" \t\r", *p))
                p++;
        }
        if (r->words)
            return true;
    }
    return false;
}

static void rewind_lines(struct reader *r, const char *text)
{
    r->at = text;
    r->line = 0;
}

static bool is_word(const struct word *word, const char *text)
{
    return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

/* The entry of a name, or the free one where it belongs. */
static struct name *find_name(const struct reader *r, const struct word *word)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (uint32_t i = 0; i < word->length; i++)
        hash = (hash ^ (uint8_t)word->text[i]) * 0x100000001b3u;
    uint32_t mask = r->table_size - 1, at = (uint32_t)(hash ^ hash >> 32) & mask;
    for (;; at = (at + 1) & mask) {
        struct name *name = &r->table[at];
        if (name->word.length == 0 ||
            (name->word.length == word->length && memcmp(name->word.text, word->text, word->length) == 0))
            return name;
    }
}

static void grow_table(struct reader *r)
{
    if (2 * (r->names + 1) <= r->table_size)
        return;
    struct name *old = r->table;
    uint32_t old_size = r->table_size;
    r->table_size = old_size ? 2 * old_size : 1024;
    r->table = ker_alloc(r->table_size * sizeof *r->table);
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].word.length)
            *find_name(r, &old[i].word) = old[i];
    free(old);
}

static enum ker_status declare(struct reader *r, bool is_node)
{
    grow_table(r);
    struct name *name = find_name(r, &r->word[1]);
    if (name->word.length)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "the name %.*s was already given in line %u",
                        LINE(r), WORD(r->word[1]), name->line);
    *name = (struct name){r->word[1], is_node ? r->graph->nodes++ : r->graph->switches++, r->line, is_node};
    r->names++;
    return KER_OK;
}

static enum ker_status declare_line(struct reader *r)
{
    const struct word *kind = &r->word[0];
    if (is_word(kind, "switch"))
        return r->words == 2 ? declare(r, false) : fail_line(r, "a switch line reads: switch NAME");
    if (is_word(kind, "node"))
        return r->words == 5 ? declare(r, true)
                             : fail_line(r, "a node line reads: node NAME SWITCH LATENCY BANDWIDTH");
    if (is_word(kind, "link"))
        return r->words == 5 || r->words == 6
                   ? KER_OK
                   : fail_line(r, "a link line reads: link SWITCH SWITCH LATENCY BANDWIDTH [COUNT]");
    return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "a line begins with switch, node or link, not %.*s",
                    LINE(r), WORD(*kind));
}

/* The id of a declared switch. */
static enum ker_status find_switch(struct reader *r, const struct word *word, uint32_t *id)
{
    const struct name *name = find_name(r, word);
    if (name->word.length == 0)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "there is no switch %.*s; declare it with: switch %.*s", LINE(r),
                        WORD(*word), WORD(*word));
    if (name->is_node)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "%.*s is a node (line %u), but a switch is needed here", LINE(r),
                        WORD(*word), name->line);
    *id = name->id;
    return KER_OK;
}

uint32_t route_graph_class(struct route_graph *graph, ker_time latency, uint64_t rate)
{
    for (uint32_t i = 0; i < graph->classes; i++)
        if (graph->class[i].latency == latency && graph->class[i].rate == rate)
            return i;
    *KER_APPEND(graph->class, graph->classes) = (struct route_graph_class){latency, rate};
    return graph->classes - 1;
}

/* Latency and bandwidth are words 3 and 4. */
static enum ker_status read_class(struct reader *r, uint32_t *class)
{
    char text[64];
    ker_time latency = 0;
    uint64_t rate = 0;
    const char *why = NULL;
    for (int i = 3; i <= 4; i++) {
        snprintf(text, sizeof text, "%.*s", WORD(r->word[i]));
        int bad = i == 3 ? ker_parse_time(text, &latency, &why) : ker_parse_rate(text, &rate, &why);
        if (bad)
            return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "%s %s: %s", LINE(r),
                            i == 3 ? "latency" : "bandwidth", text, why);
    }
    if (latency < 1)
        return fail_line(r, "the latency must be at least 1ps");
    if (rate < 1)
        return fail_line(r, "the bandwidth must not be zero");
    *class = route_graph_class(r->graph, latency, rate);
    if (*class >= ROUTE_MAX_LINKS)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "more than %d different pairs of latency and bandwidth", LINE(r),
                        ROUTE_MAX_LINKS);
    return KER_OK;
}

static enum ker_status use_ports(struct reader *r, uint32_t switch_id, uint32_t count)
{
    r->ports[switch_id] += count;
    if (r->ports[switch_id] > ROUTE_MAX_PORTS)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "a switch has more than %d ports with this line",
                        LINE(r), ROUTE_MAX_PORTS);
    return KER_OK;
}

static enum ker_status read_node(struct reader *r)
{
    struct route_graph_node *node = &r->graph->node[r->nodes_seen++];
    enum ker_status status = find_switch(r, &r->word[2], &node->switch_id);
    if (status == KER_OK)
        status = read_class(r, &node->class);
    return status ? status : use_ports(r, node->switch_id, 1);
}

static enum ker_status read_count(struct reader *r, uint32_t *count)
{
    *count = 1;
    if (r->words == 5)
        return KER_OK;
    *count = 0;
    for (uint32_t i = 0; i < r->word[5].length; i++) {
        char c = r->word[5].text[i];
        if (c < '0' || c > '9' || *count > ROUTE_MAX_PORTS) {
            *count = 0;
            break;
        }
        *count = *count * 10 + (uint32_t)(c - '0');
    }
    if (*count < 1 || *count > ROUTE_MAX_PORTS)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "the number of parallel links is %.*s; it must be a "
                                    "whole number from 1 to %d",
                        LINE(r), WORD(r->word[5]), ROUTE_MAX_PORTS);
    return KER_OK;
}

static enum ker_status read_link(struct reader *r)
{
    struct route_graph *graph = r->graph;
    struct route_graph_edge edge = {.line = r->line};
    enum ker_status status = find_switch(r, &r->word[1], &edge.from);
    if (status == KER_OK)
        status = find_switch(r, &r->word[2], &edge.to);
    if (status == KER_OK)
        status = read_class(r, &edge.class);
    if (status == KER_OK)
        status = read_count(r, &edge.count);
    if (status)
        return status;
    if (edge.from == edge.to)
        return fail_line(r, "a link from a switch to itself");
    r->links += edge.count;
    if (r->links > MAX_LINKS)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "more than %u links", LINE(r), MAX_LINKS);
    if ((status = use_ports(r, edge.from, edge.count)) || (status = use_ports(r, edge.to, edge.count)))
        return status;
    *KER_PUSH(graph->edge, graph->edges, r->edges_room) = edge;
    return KER_OK;
}

static int compare_ends(const void *left, const void *right)
{
    const struct route_graph_edge *a = left, *b = right;
    uint32_t a_low = a->from < a->to ? a->from : a->to, b_low = b->from < b->to ? b->from : b->to;
    uint32_t a_high = a->from ^ a->to ^ a_low, b_high = b->from ^ b->to ^ b_low;
    if (a_low != b_low)
        return a_low < b_low ? -1 : 1;
    if (a_high != b_high)
        return a_high < b_high ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

void route_graph_sort(struct route_graph *graph)
{
    if (graph->edges)
        qsort(graph->edge, graph->edges, sizeof *graph->edge, compare_ends);
}

static enum ker_status check_duplicates(struct reader *r)
{
    struct route_graph *graph = r->graph;
    route_graph_sort(graph);
    for (uint32_t i = 1; i < graph->edges; i++) {
        struct route_graph_edge *a = &graph->edge[i - 1], *b = &graph->edge[i];
        if ((a->from == b->from && a->to == b->to) || (a->from == b->to && a->to == b->from))
            return ker_fail(r->error, KER_BAD_INPUT,
                            "%s:%u: these switches are already linked in line %u; for "
                            "parallel links give a count there",
                            r->file, b->line, a->line);
    }
    return KER_OK;
}

static uint32_t set_of(uint32_t *parent, uint32_t id)
{
    while (parent[id] != id) {
        parent[id] = parent[parent[id]];
        id = parent[id];
    }
    return id;
}

uint32_t route_graph_apart(const struct route_graph *graph, uint32_t *first)
{
    uint32_t *parent = ker_alloc(graph->switches * sizeof *parent), apart = 0;
    for (uint32_t i = 0; i < graph->switches; i++)
        parent[i] = i;
    for (uint32_t i = 0; i < graph->edges; i++)
        parent[set_of(parent, graph->edge[i].from)] = set_of(parent, graph->edge[i].to);
    for (uint32_t i = graph->switches; i-- > 0;)
        if (set_of(parent, i) != set_of(parent, 0)) {
            apart++;
            *first = i;
        }
    free(parent);
    return apart;
}

static enum ker_status check_connected(struct reader *r)
{
    uint32_t first = 0, apart = route_graph_apart(r->graph, &first);
    ker_assert(r->switch_line);
    if (apart == 0)
        return KER_OK;
    return ker_fail(r->error, KER_BAD_INPUT,
                    "%s:%u: no links lead from the first switch (line %u) to this one%s; all "
                    "switches must be connected",
                    r->file, r->switch_line[first], r->switch_line[0], apart > 1 ? ", nor to others" : "");
}

static enum ker_status read_declarations(struct reader *r)
{
    enum ker_status status = KER_OK;
    while (status == KER_OK && next_line(r))
        status = declare_line(r);
    if (status)
        return status;
    if (r->graph->switches == 0 || r->graph->nodes == 0)
        return ker_fail(r->error, KER_BAD_INPUT,
                        "%s:%u: there are %u switches and %u nodes; at least one of each is "
                        "needed",
                        r->file, r->line ? r->line : 1, r->graph->switches, r->graph->nodes);
    r->graph->node = ker_alloc(r->graph->nodes * sizeof *r->graph->node);
    r->switch_line = ker_alloc(r->graph->switches * sizeof *r->switch_line);
    r->ports = ker_alloc(r->graph->switches * sizeof *r->ports);
    for (uint32_t i = 0; i < r->table_size; i++)
        if (r->table[i].word.length && !r->table[i].is_node)
            r->switch_line[r->table[i].id] = r->table[i].line;
    return KER_OK;
}

/* The names outlive the text. */
static void names_keep(const struct reader *r, struct route_names *names)
{
    size_t bytes = 0, end = 0;
    for (uint32_t i = 0; i < r->table_size; i++)
        bytes += r->table[i].word.length ? r->table[i].word.length + 1u : 0;
    names->text = ker_alloc(bytes);
    names->at_switch = ker_alloc(r->graph->switches * sizeof *names->at_switch);
    names->at_node = ker_alloc(r->graph->nodes * sizeof *names->at_node);
    for (uint32_t i = 0; i < r->table_size; i++) {
        const struct name *name = &r->table[i];
        if (!name->word.length)
            continue;
        (name->is_node ? names->at_node : names->at_switch)[name->id] = (uint32_t)end;
        memcpy(names->text + end, name->word.text, name->word.length);
        end += name->word.length + 1u;
    }
}

enum ker_status route_graph_parse(struct route_graph *graph, const char *name, const char *text,
                                  size_t length, struct ker_error *error)
{
    struct reader r = {.graph = graph, .error = error, .file = name, .end = text + length};
    *graph = (struct route_graph){0};
    if (length > INT32_MAX || (length && memchr(text, 0, length)))
        return ker_fail(error, KER_BAD_INPUT, "%s:1: this is no text file", name);
    rewind_lines(&r, text);
    grow_table(&r);
    enum ker_status status = read_declarations(&r);
    rewind_lines(&r, text);
    while (status == KER_OK && next_line(&r))
        if (is_word(&r.word[0], "node"))
            status = read_node(&r);
        else if (is_word(&r.word[0], "link"))
            status = read_link(&r);
    if (status == KER_OK)
        status = check_duplicates(&r);
    if (status == KER_OK)
        status = check_connected(&r);
    if (status == KER_OK)
        names_keep(&r, &graph->names);
    free(r.table);
    free(r.switch_line);
    free(r.ports);
    return status;
}

enum ker_status route_graph_read(struct route_graph *graph, struct ker_inputs *inputs, const char *path,
                                 struct ker_error *error)
{
    size_t length = 0;
    *graph = (struct route_graph){0};
    char *text = ker_input_read(inputs, path, &length, error);
    if (!text)
        return KER_BAD_INPUT;
    enum ker_status status = route_graph_parse(graph, path, text, length, error);
    free(text);
    return status;
}

void route_names_release(struct route_names *names)
{
    free(names->text);
    free(names->at_switch);
    free(names->at_node);
    *names = (struct route_names){0};
}

void route_graph_release(struct route_graph *graph)
{
    route_names_release(&graph->names);
    free(graph->node);
    free(graph->edge);
    free(graph->class);
    free(graph->ports);
    *graph = (struct route_graph){0};
}
