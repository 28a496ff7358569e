/* table.c - the compressed store of routing tables: sets of paths, and tries that say which set a row has for
 * an endpoint.
 *
 * Sets are interned like the blocks of a trie (trie.c): each is stored once, and its number is where it
 * begins. Sets are few and stay; route_table_keep drops the rows of other ranks, which become one row without
 * paths.
 */
#include "routing/import/import.h"

#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>

struct route_table *route_table_new(uint32_t switches, uint32_t endpoints)
{
    ker_assert(switches > 0 && endpoints > 0);
    struct route_table *table = ker_alloc(sizeof *table);
    table->switches = switches;
    table->endpoints = endpoints;
    table->spread = table->classes = 1;
    route_trie_init(&table->hops, switches, endpoints);
    route_table_set_of(table, NULL, 0); /* has number 0 */
    return table;
}

void route_table_free(struct route_table *table)
{
    if (!table)
        return;
    route_trie_release(&table->hops);
    route_trie_release(&table->layers);
    ker_table_release(&table->sets);
    route_lanes_free(table->lanes);
    free(table->hop);
    free(table);
}

static void hops_reserve(struct route_table *table)
{
    /* when a set is looked up, as many words are compared as it has, also with shorter ones at the very end
     */
    uint32_t old = table->hop_room;
    KER_RESERVE(table->hop, table->hop_room, table->hop_used + 2 * (size_t)(ROUTE_MAX_CHOICES + 1));
    memset(table->hop + old, 0, (table->hop_room - old) * sizeof *table->hop);
}

uint32_t route_table_set_of(struct route_table *table, const struct route_hop *hops, uint32_t count)
{
    _Static_assert(sizeof(struct route_hop) == sizeof(uint32_t), "sets are interned as words");
    bool is_new;
    struct route_hop set[1 + ROUTE_MAX_CHOICES];
    ker_assert(count <= ROUTE_MAX_CHOICES && !table->finished);
    set[0] = (struct route_hop){.port = (uint16_t)count};
    for (uint32_t i = 0; i < count; i++)
        set[1 + i] = (struct route_hop){hops[i].port, hops[i].class, 0};
    hops_reserve(table);
    uint32_t *place = route_interned_add(&table->sets, table->hop, set, count + 1, &is_new);
    if (is_new) {
        *place = 1 + table->hop_used;
        memcpy(table->hop + table->hop_used, set, (count + 1) * sizeof *set);
        table->hop_used += count + 1;
        table->adaptive |= count > 1;
    }
    return *place - 1;
}

void route_table_row(struct route_table *table, uint32_t switch_id, const uint32_t *set_by_endpoint)
{
    route_trie_row(&table->hops, switch_id, set_by_endpoint);
}

void route_table_layers_begin(struct route_table *table)
{
    if (!table->layers.root)
        route_trie_init(&table->layers, table->switches, table->endpoints);
}

void route_table_layer_row(struct route_table *table, uint32_t switch_id, const uint32_t *layer_by_endpoint)
{
    route_table_layers_begin(table);
    route_trie_row(&table->layers, switch_id, layer_by_endpoint);
}

void route_table_finish(struct route_table *table)
{
    route_trie_finish(&table->hops);
    if (table->layers.root)
        route_trie_finish(&table->layers);
    ker_table_release(&table->sets);
    table->finished = true;
}

void route_table_tune(struct route_table *table, uint32_t channels)
{
    table->spread = channels / table->classes;
}

uint64_t route_table_bytes(const struct route_table *table)
{
    return sizeof *table + route_trie_bytes(&table->hops) + route_trie_bytes(&table->layers) +
           (uint64_t)table->hop_room * sizeof *table->hop +
           (table->lanes ? route_lanes_bytes(table->lanes) : 0);
}

void route_table_keep(struct route_table *table, const uint32_t *switch_rank, uint32_t rank)
{
    ker_assert(table->finished);
    route_trie_keep(&table->hops, switch_rank, rank);
    if (table->layers.root)
        route_trie_keep(&table->layers, switch_rank, rank);
}
