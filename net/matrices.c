/* matrices.c - who sends to whom, as the adapters see it.
 *
 * A node's board and rack are those of its first adapter's switch. Pairs are counted by the rank of the
 * sender; of boards and racks several ranks have pairs, which add up in the files.
 */
#include "net/series.h"

#include <stdlib.h>

struct net_matrices {
    struct stats_matrix *level[STATS_MATRIX_TASK]; /* NULL: not wanted */
    bool periods;
    ker_time period; /* its length */
};

void net_matrices_read(struct net_network *net, const struct ker_config *config)
{
    bool total, periods;
    unsigned levels = stats_matrix_wanted(config, &total, &periods) & ~(1u << STATS_MATRIX_TASK);
    if (!levels)
        return;
    net->matrices = ker_alloc(sizeof *net->matrices);
    net->matrices->periods = periods;
    net->matrices->period = ker_config_time(config, "output.period");
    for (unsigned i = 0; i < STATS_MATRIX_TASK; i++)
        if (levels >> i & 1)
            net->matrices->level[i] = stats_matrix_new(&stats_matrix_kinds[i], NULL, total, periods);
}

void net_matrices_free(struct net_matrices *m)
{
    for (int i = 0; m && i < STATS_MATRIX_TASK; i++)
        stats_matrix_free(m->level[i]);
    free(m);
}

static uint32_t unit_of(const struct net_network *net, enum stats_matrix_level level, uint32_t endpoint)
{
    uint32_t node = endpoint / net->adapters_each, at;
    uint16_t port;
    if (level == STATS_MATRIX_NODE)
        return node;
    route_attachment(net->topology, node * net->adapters_each, &at, &port);
    return level == STATS_MATRIX_BOARD ? route_board(net->topology, at) : route_group(net->topology, at);
}

void net_matrices_add(struct net_network *net, uint32_t from, uint32_t to, uint64_t messages, uint64_t bytes)
{
    for (unsigned i = 0; i < STATS_MATRIX_TASK; i++)
        if (net->matrices->level[i])
            stats_matrix_add(net->matrices->level[i], unit_of(net, i, from), unit_of(net, i, to), messages,
                             bytes);
}

/* Pairs of nodes that can talk in a period: a message is a packet at least, and takes its time on the link.
 */
static uint64_t pairs_most(const struct net_network *net)
{
    const struct route_summary *sum = route_summarise(net->topology);
    ker_time least = ker_serialisation(net->set.least, sum->link[sum->endpoint_link].rate);
    uint64_t nodes = route_hosts(sum), each = nodes - 1,
             sent = ((uint64_t)(net->matrices->period / (least ? least : 1)) + 2) * net->adapters_each;
    return nodes * (sent < each ? sent : each);
}

static uint64_t units_of(const struct net_network *net, enum stats_matrix_level level)
{
    const struct route_summary *sum = route_summarise(net->topology);
    uint32_t last = 0;
    for (uint32_t endpoint = 0; endpoint < sum->endpoints; endpoint += net->adapters_each) {
        uint32_t unit = unit_of(net, level, endpoint);
        last = unit > last ? unit : last;
    }
    return (uint64_t)last + 1;
}

void net_matrices_want(struct net_network *net, struct stats_series_files *files)
{
    if (!net->matrices || !net->matrices->periods)
        return;
    uint64_t most = pairs_most(net);
    for (unsigned i = 0; i < STATS_MATRIX_TASK; i++) {
        if (!net->matrices->level[i])
            continue;
        uint64_t units = units_of(net, i), square = units * units;
        stats_matrix_want(net->matrices->level[i], files, square < most ? square : most);
    }
}

void net_matrices_period(struct net_network *net, ker_time at)
{
    for (int i = 0; net->matrices && i < STATS_MATRIX_TASK; i++)
        if (net->matrices->level[i])
            stats_matrix_period(net->matrices->level[i], at);
}

enum ker_status net_matrices_write(struct net_network *net, struct ker_comm *comm,
                                   const struct stats_folder *folder, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (int i = 0; net->matrices && i < STATS_MATRIX_TASK; i++)
        if (net->matrices->level[i]) {
            enum ker_status written = stats_matrix_write(net->matrices->level[i], comm, folder, error);
            status = status ?: written;
        }
    return status;
}

void net_matrices_save(const struct net_network *net, struct ker_state_writer *writer)
{
    for (unsigned i = 0; net->matrices && i < STATS_MATRIX_TASK; i++)
        if (net->matrices->level[i])
            stats_matrix_save(net->matrices->level[i], writer, "matrix", (uint8_t)i);
}

/* A node's pairs are taken where it lives, those of boards and racks by one rank. */
void net_matrices_load(struct net_loading *l, struct ker_chunk *c)
{
    uint8_t level = 0;
    KER_CHUNK(c, level);
    c->bad |= level >= STATS_MATRIX_TASK || c->id >= UINT32_MAX;
    bool own = l->sums;
    if (!c->bad && level == STATS_MATRIX_NODE) {
        uint64_t first = c->id * l->net->adapters_each;
        c->bad |= first >= l->adapter_count;
        own = !c->bad && l->adapters[first];
    }
    if (own && !c->bad && l->net->matrices && l->net->matrices->level[level])
        stats_matrix_load(l->net->matrices->level[level], c);
    else
        net_loading_pass(c);
}
