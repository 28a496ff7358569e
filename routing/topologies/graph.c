/* graph.c - reads an edge list of switches, endpoints and links.
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

/* Of a switch or an endpoint, found by its word. */
struct name {
    struct word word; /* text NULL: free */
    uint32_t id, line;
    bool is_endpoint;
};

struct reader {
    struct route_graph *graph;
    struct ker_lines in;
    int words;
    struct word word[MAX_WORDS];
    struct ker_table names;
    uint32_t *switch_line, *ports; /* per switch */
    uint32_t endpoints_seen, edges_room;
    uint64_t links;
};

#define WORD(w) (int)((w).length < 60 ? (w).length : 60), (w).text

/* The words of the next line that is not empty; false at the end. One word too many is kept, to be refused.
 */
static bool next_line(struct reader *r)
{
    const char *text;
    size_t length;
    if (!ker_lines_next_full(&r->in))
        return false;
    for (r->words = 0; r->words < MAX_WORDS && ker_take_text(&r->in, &text, &length); r->words++)
        r->word[r->words] = (struct word){text, (uint32_t)length};
    return true;
}

static bool is_word(const struct word *word, const char *text)
{
    return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

static uint64_t name_hash(const void *key)
{
    const struct word *word = key;
    return ker_hash_bytes(word->text, word->length);
}

static bool name_same(const void *entry, const void *key)
{
    const struct word *a = entry, *b = key;
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static const struct ker_table_kind name_kind = {sizeof(struct name), name_hash, name_same};

static enum ker_status declare(struct reader *r, bool is_endpoint)
{
    bool is_new;
    struct name *name = ker_table_add(&name_kind, &r->names, &r->word[1], &is_new);
    if (!is_new)
        return ker_lines_fail(&r->in, "the name %.*s was already given in line %u", WORD(r->word[1]),
                              name->line);
    *name = (struct name){r->word[1], is_endpoint ? r->graph->endpoints++ : r->graph->switches++, r->in.line,
                          is_endpoint};
    return KER_OK;
}

static enum ker_status declare_line(struct reader *r)
{
    const struct word *kind = &r->word[0];
    if (is_word(kind, "switch"))
        return r->words == 2 ? declare(r, false) : ker_lines_fail(&r->in, "a switch line reads: switch NAME");
    if (is_word(kind, "node"))
        return r->words == 5
                   ? declare(r, true)
                   : ker_lines_fail(&r->in, "a node line reads: node NAME SWITCH LATENCY BANDWIDTH");
    if (is_word(kind, "link"))
        return r->words == 5 || r->words == 6
                   ? KER_OK
                   : ker_lines_fail(&r->in,
                                    "a link line reads: link SWITCH SWITCH LATENCY BANDWIDTH [COUNT]");
    return ker_lines_fail(&r->in, "a line begins with switch, node or link, not %.*s", WORD(*kind));
}

/* The id of a declared switch. */
static enum ker_status find_switch(struct reader *r, const struct word *word, uint32_t *id)
{
    const struct name *name = ker_table_find(&name_kind, &r->names, word);
    if (!name)
        return ker_lines_fail(&r->in, "there is no switch %.*s; declare it with: switch %.*s", WORD(*word),
                              WORD(*word));
    if (name->is_endpoint)
        return ker_lines_fail(&r->in, "%.*s is a node (line %u), but a switch is needed here", WORD(*word),
                              name->line);
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
            return ker_lines_fail(&r->in, "%s %s: %s", i == 3 ? "latency" : "bandwidth", text, why);
    }
    if (latency < 1)
        return ker_lines_fail(&r->in, "the latency must be at least 1ps");
    if (rate < 1)
        return ker_lines_fail(&r->in, "the bandwidth must not be zero");
    *class = route_graph_class(r->graph, latency, rate);
    if (*class >= ROUTE_MAX_LINKS)
        return ker_lines_fail(&r->in, "more than %d different pairs of latency and bandwidth",
                              ROUTE_MAX_LINKS);
    return KER_OK;
}

static enum ker_status use_ports(struct reader *r, uint32_t switch_id, uint32_t count)
{
    r->ports[switch_id] += count;
    if (r->ports[switch_id] > ROUTE_MAX_PORTS)
        return ker_lines_fail(&r->in, "a switch has more than %d ports with this line", ROUTE_MAX_PORTS);
    return KER_OK;
}

static enum ker_status read_endpoint(struct reader *r)
{
    struct route_graph_endpoint *endpoint = &r->graph->endpoint[r->endpoints_seen++];
    enum ker_status status = find_switch(r, &r->word[2], &endpoint->switch_id);
    status = status ?: read_class(r, &endpoint->class);
    return status ?: use_ports(r, endpoint->switch_id, 1);
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
        return ker_lines_fail(&r->in,
                              "the number of parallel links is %.*s; it must be a whole number from 1 to %d",
                              WORD(r->word[5]), ROUTE_MAX_PORTS);
    return KER_OK;
}

static enum ker_status read_link(struct reader *r)
{
    struct route_graph *graph = r->graph;
    struct route_graph_edge edge = {.line = r->in.line};
    enum ker_status status = find_switch(r, &r->word[1], &edge.from);
    status = status ?: find_switch(r, &r->word[2], &edge.to);
    status = status ?: read_class(r, &edge.class);
    status = status ?: read_count(r, &edge.count);
    if (status)
        return status;
    if (edge.from == edge.to)
        return ker_lines_fail(&r->in, "a link from a switch to itself");
    r->links += edge.count;
    if (r->links > MAX_LINKS)
        return ker_lines_fail(&r->in, "more than %u links", MAX_LINKS);
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
            return ker_lines_fail_at(&r->in, b->line,
                                     "these switches are already linked in line %u; for "
                                     "parallel links give a count there",
                                     a->line);
    }
    return KER_OK;
}

uint32_t route_graph_apart(const struct route_graph *graph, uint32_t *first)
{
    uint32_t *parent = ker_alloc(graph->switches * sizeof *parent), apart = 0;
    for (uint32_t i = 0; i < graph->switches; i++)
        parent[i] = i;
    for (uint32_t i = 0; i < graph->edges; i++)
        parent[ker_set_root(parent, graph->edge[i].from)] = ker_set_root(parent, graph->edge[i].to);
    for (uint32_t i = graph->switches; i-- > 0;)
        if (ker_set_root(parent, i) != ker_set_root(parent, 0)) {
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
    return ker_lines_fail_at(&r->in, r->switch_line[first],
                             "no links lead from the first switch (line %u) to this one%s; all "
                             "switches must be connected",
                             r->switch_line[0], apart > 1 ? ", nor to others" : "");
}

static enum ker_status read_declarations(struct reader *r)
{
    enum ker_status status = KER_OK;
    while (status == KER_OK && next_line(r))
        status = declare_line(r);
    if (status)
        return status;
    if (r->graph->switches == 0 || r->graph->endpoints == 0)
        return ker_lines_fail_at(&r->in, r->in.line ? r->in.line : 1,
                                 "there are %u switches and %u nodes; at least one of each is needed",
                                 r->graph->switches, r->graph->endpoints);
    r->graph->endpoint = ker_alloc(r->graph->endpoints * sizeof *r->graph->endpoint);
    r->switch_line = ker_alloc(r->graph->switches * sizeof *r->switch_line);
    r->ports = ker_alloc(r->graph->switches * sizeof *r->ports);
    for (const struct name *name = NULL; (name = ker_table_next(&name_kind, &r->names, name));)
        if (!name->is_endpoint)
            r->switch_line[name->id] = name->line;
    return KER_OK;
}

/* The names outlive the text. */
static void names_keep(const struct reader *r, struct route_names *names)
{
    size_t bytes = 0, end = 0;
    for (const struct name *name = NULL; (name = ker_table_next(&name_kind, &r->names, name));)
        bytes += name->word.length + 1u;
    names->text = ker_alloc(bytes);
    names->at_switch = ker_alloc(r->graph->switches * sizeof *names->at_switch);
    names->at_endpoint = ker_alloc(r->graph->endpoints * sizeof *names->at_endpoint);
    for (const struct name *name = NULL; (name = ker_table_next(&name_kind, &r->names, name));) {
        (name->is_endpoint ? names->at_endpoint : names->at_switch)[name->id] = (uint32_t)end;
        memcpy(names->text + end, name->word.text, name->word.length);
        end += name->word.length + 1u;
    }
}

enum ker_status route_graph_parse(struct route_graph *graph, const char *name, const char *text,
                                  size_t length, struct ker_error *error)
{
    struct reader r = {.graph = graph};
    *graph = (struct route_graph){0};
    ker_lines_init(&r.in, name, text, length, error);
    if (length > INT32_MAX)
        return ker_lines_fail_at(&r.in, 1, "the file is larger than 2 GiB");
    enum ker_status status = ker_lines_check(&r.in);
    status = status ?: read_declarations(&r);
    ker_lines_init(&r.in, name, text, length, error);
    while (status == KER_OK && next_line(&r))
        if (is_word(&r.word[0], "node"))
            status = read_endpoint(&r);
        else if (is_word(&r.word[0], "link"))
            status = read_link(&r);
    status = status ?: check_duplicates(&r);
    status = status ?: check_connected(&r);
    if (status == KER_OK)
        names_keep(&r, &graph->names);
    ker_table_release(&r.names);
    free(r.switch_line);
    free(r.ports);
    return status;
}

enum ker_status route_graph_read(struct route_graph *graph, struct ker_inputs *inputs, const char *path,
                                 struct ker_error *error)
{
    size_t length = 0;
    *graph = (struct route_graph){0};
    char *text;
    enum ker_status status = ker_input_read(inputs, path, &text, &length, error);
    status = status ?: route_graph_parse(graph, path, text, length, error);
    free(text);
    return status;
}

void route_names_release(struct route_names *names)
{
    free(names->text);
    free(names->at_switch);
    free(names->at_endpoint);
    *names = (struct route_names){0};
}

void route_graph_release(struct route_graph *graph)
{
    route_names_release(&graph->names);
    KER_FREE(graph->endpoint, graph->edge, graph->class, graph->ports);
    *graph = (struct route_graph){0};
}
