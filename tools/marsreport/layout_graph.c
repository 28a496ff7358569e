/* layout_graph.c - any network: in layers, when it has some, else on circles.
 *
 * The layer of a switch is its distance from the nearest switch with nodes. When at most a tenth of the links
 * stay inside a layer, layers are rows, and the order in a row is by the mean place of the neighbours below
 * (barycentres, eight times up and down): the same for the same network. Otherwise switches stand on a circle
 * in the order of a breadth-first search, which keeps neighbours near. More switches than `side` in a row
 * share places.
 */
#include "tools/marsreport/scene.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH 10000.0f
#define LEVEL 1600.0f
#define BESIDE 1300.0f /* room for what a row is */

struct graph {
    struct rep_neighbours near;
    uint32_t switches;
    uint32_t *order; /* of the search */
    uint32_t *layer;
    uint32_t layers;
    double *at; /* place in the row, 0..1 */
};

/* From all `begin` at once; those that cannot be reached come last, each as a beginning of its own. */
static void search(struct graph *g, const bool *begin)
{
    uint32_t count = 0, done = 0;
    memset(g->layer, 0xff, sizeof *g->layer * g->switches);
    for (uint32_t i = 0; i < g->switches; i++)
        if (begin[i]) {
            g->layer[i] = 0;
            g->order[count++] = i;
        }
    for (uint32_t next = 0; count < g->switches || done < count;) {
        if (done == count) {
            while (g->layer[next] != REP_NOWHERE)
                next++;
            g->layer[next] = 0;
            g->order[count++] = next;
        }
        uint32_t at = g->order[done++];
        for (size_t k = g->near.first[at]; k < g->near.first[at + 1]; k++) {
            uint32_t to = g->near.to[k];
            if (g->layer[to] == REP_NOWHERE) {
                g->layer[to] = g->layer[at] + 1;
                g->order[count++] = to;
            }
        }
    }
    g->layers = 0;
    for (uint32_t i = 0; i < g->switches; i++)
        g->layers = g->layer[i] >= g->layers ? g->layer[i] + 1 : g->layers;
}

static bool in_layers(const struct graph *g)
{
    size_t inside = 0, all = g->near.first[g->switches];
    for (uint32_t i = 0; i < g->switches; i++)
        for (size_t k = g->near.first[i]; k < g->near.first[i + 1]; k++)
            inside += g->layer[i] == g->layer[g->near.to[k]];
    return g->layers > 1 && g->layers <= 12 && inside * 10 <= all;
}

static const double *sort_key; /* for qsort */

static int by_key(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (sort_key[x] != sort_key[y])
        return sort_key[x] < sort_key[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Orders a row by the mean place of the neighbours in another one. */
static void row_order(struct graph *g, uint32_t *row, uint32_t count, uint32_t other, double *mean)
{
    for (uint32_t i = 0; i < count; i++) {
        double sum = 0;
        uint32_t members = 0;
        for (size_t k = g->near.first[row[i]]; k < g->near.first[row[i] + 1]; k++)
            if (g->layer[g->near.to[k]] == other) {
                sum += g->at[g->near.to[k]];
                members++;
            }
        mean[row[i]] = members ? sum / members : g->at[row[i]];
    }
    sort_key = mean;
    qsort(row, count, sizeof *row, by_key);
    for (uint32_t i = 0; i < count; i++)
        g->at[row[i]] = (i + 0.5) / count;
}

static void row_add(struct rep_scene *s, const struct rep_layout_input *in, const uint32_t *row,
                    uint32_t count, float y)
{
    uint32_t side = in->side / 4, share = (count + side - 1) / side, places = (count + share - 1) / share;
    float step = WIDTH / (float)places, size = fminf(0.7f * step, 220);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t p = i / share;
        if (i % share == 0)
            rep_place_add(
                s, BESIDE + step * ((float)p + 0.5f), y, size, share < count - i ? share : count - i, false,
                share == 1 ? rep_switch_label(in->links, row[i], NULL, 0) : ker_format("%u switches", share));
        s->of_switch[row[i]] = s->places - 1;
    }
}

static void layers_place(struct rep_scene *s, const struct rep_layout_input *in, struct graph *g)
{
    uint32_t **row = ker_alloc(sizeof *row * g->layers), *count = ker_alloc(sizeof *count * g->layers);
    double *mean = ker_alloc(sizeof *mean * (g->switches + 1u));
    for (uint32_t i = 0; i < g->switches; i++)
        *KER_APPEND(row[g->layer[g->order[i]]], count[g->layer[g->order[i]]]) = g->order[i];
    for (uint32_t layer = 0; layer < g->layers; layer++)
        for (uint32_t i = 0; i < count[layer]; i++)
            g->at[row[layer][i]] = (i + 0.5) / count[layer];
    for (int round = 0; round < 8; round++) {
        for (uint32_t layer = 1; layer < g->layers; layer++)
            row_order(g, row[layer], count[layer], layer - 1, mean);
        for (uint32_t layer = g->layers - 1; layer-- > 0;)
            row_order(g, row[layer], count[layer], layer + 1, mean);
    }
    for (uint32_t layer = 0; layer < g->layers; layer++) {
        float y = LEVEL * (float)(g->layers - 1 - layer) + 300;
        row_add(s, in, row[layer], count[layer], y);
        rep_frame_add(s, 0, y, 0, 0, ker_format("layer %u\n%u switches", layer, count[layer]));
        free(row[layer]);
    }
    free(row);
    free(count);
    free(mean);
}

static void circle_place(struct rep_scene *s, const struct rep_layout_input *in, const struct graph *g)
{
    uint32_t most = in->side * 2, share = (g->switches + most - 1) / most,
             places = (g->switches + share - 1) / share;
    float radius = 3500;
    for (uint32_t i = 0; i < g->switches; i++) {
        float angle = 6.2831853f * (float)(i / share) / (float)places - 1.5707963f;
        if (i % share == 0)
            rep_place_add(s, radius * (1.1f + cosf(angle)), radius * (1.1f + sinf(angle)),
                          fminf(200, 14000.0f / (float)places),
                          share < g->switches - i ? share : g->switches - i, false,
                          share == 1 ? rep_switch_label(in->links, g->order[i], NULL, 0)
                                     : ker_format("%u switches", share));
        s->of_switch[g->order[i]] = s->places - 1;
    }
}

/* Squares row by row, in the order of the search. */
static void squares_place(struct rep_scene *s, const struct rep_layout_input *in, const struct graph *g)
{
    uint32_t share = (g->switches + in->side - 1) / in->side, places = (g->switches + share - 1) / share,
             columns = (uint32_t)ceil(sqrt(2.0 * places));
    for (uint32_t i = 0; i < g->switches; i++) {
        uint32_t p = i / share;
        if (i % share == 0)
            rep_place_add(s, 100 * (float)(p % columns) + 60, 100 * (float)(p / columns) + 60, 88,
                          share < g->switches - i ? share : g->switches - i, false,
                          share == 1 ? rep_switch_label(in->links, g->order[i], NULL, 0)
                                     : ker_format("%u switches", share));
        s->of_switch[g->order[i]] = s->places - 1;
    }
}

void rep_layout_graph(struct rep_scene *s, const struct rep_layout_input *in)
{
    struct graph g = {.switches = in->links->switches};
    bool *begin = ker_alloc(g.switches + 1u);
    rep_neighbours_make(&g.near, in->links);
    for (size_t i = 0; i < in->links->count; i++) /* of each adapter of a node */
        if (in->links->link[i].from_node && !in->links->link[i].to_node)
            begin[in->links->link[i].to] = true;
    g.order = ker_alloc(sizeof *g.order * (g.switches + 1u));
    g.layer = ker_alloc(sizeof *g.layer * (g.switches + 1u));
    g.at = ker_alloc(sizeof *g.at * (g.switches + 1u));
    search(&g, begin);
    s->shape = "graph";
    s->no_lines = !in->lines;
    if (in->lines && in_layers(&g)) {
        layers_place(s, in, &g);
        s->text = ker_format(
            "Switches in layers by their distance from the nodes, which are at layer 0; the link to a node "
            "colours its switch.");
    } else {
        memset(begin, 0, g.switches);
        begin[0] = g.switches > 0;
        search(&g, begin);
        (in->lines ? circle_place : squares_place)(s, in, &g);
        s->text = ker_format(
            "Switches in the order of a search from the first one%s; the link to a node colours its switch.",
            in->lines ? ", on a circle" : "; there are too many links to draw each");
    }
    rep_nodes_at_switches(s, in->links);
    rep_neighbours_release(&g.near);
    free(begin);
    free(g.order);
    free(g.layer);
    free(g.at);
}
