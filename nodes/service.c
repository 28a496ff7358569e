/* service.c - what a kind of service asks about its place in the configuration: keys, and the nodes it runs
 * on. */
#include "nodes/service.h"

uint32_t node_service_node(const struct node_service_setup *setup, uint32_t member)
{
    return setup->first_node + member * setup->every;
}

uint32_t node_service_member(const struct node_service_setup *setup, uint32_t node)
{
    uint32_t beyond = node - setup->first_node, member = beyond / setup->every;
    bool runs = node >= setup->first_node && beyond % setup->every == 0 && member < setup->members;
    return runs ? member : setup->members;
}

struct node_service_key node_service_key(const struct node_service_setup *setup, const char *word)
{
    struct node_service_key key;
    snprintf(key.text, sizeof key.text, "%s.%s", setup->key, word);
    return key;
}
