/* service.c - what a kind of service asks about its place in the configuration: keys, and the nodes it runs
 * on. */
#include "nodes/service.h"

#include <stdlib.h>
#include <string.h>

uint32_t node_service_node(const struct node_service_setup *setup, uint32_t member)
{
    return setup->list.members ? setup->list.node[member] : setup->first_node + member * setup->every;
}

uint32_t node_service_member(const struct node_service_setup *setup, uint32_t node)
{
    if (setup->list.members)
        return node_role_member(&setup->list, node);
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

/* ---- roles ---- */

uint32_t node_role_member(const struct node_role *role, uint32_t node)
{
    uint32_t low = KER_BISECT(i, 0, role->members, role->node[i] < node);
    return low < role->members && role->node[low] == node ? low : role->members;
}

void node_role_release(struct node_role *role)
{
    free(role->node);
    *role = (struct node_role){0};
}

static enum ker_status role_check(struct node_role *role, const struct node_service_setup *setup,
                                  const char *key, struct ker_error *error)
{
    qsort(role->node, role->members, sizeof *role->node, ker_order_u32);
    for (uint32_t i = 0; i < role->members; i++) {
        uint32_t node = role->node[i];
        if (i && node == role->node[i - 1])
            return ker_config_fail(setup->config, error, key, "node %u is listed twice", node);
        if (setup->members && node_service_member(setup, node) == setup->members)
            return ker_config_fail(
                setup->config, error, key,
                "%s does not run on node %u: right are nodes of %s.list, or of first_node, every and nodes",
                setup->key, node, setup->key);
    }
    return KER_OK;
}

enum ker_status node_role_read(struct node_role *role, const struct node_service_setup *setup,
                               const char *word, struct ker_error *error)
{
    struct node_service_key key = node_service_key(setup, word);
    struct ker_ranges ranges = {setup->config, key.text, "node", "the system", setup->nodes};
    struct ker_range range;
    uint32_t room = 0;
    bool given = ker_config_has(setup->config, key.text), some = false;
    *role = (struct node_role){0};
    for (uint32_t i = 0; !given && i < setup->members; i++)
        *KER_PUSH(role->node, role->members, room) = node_service_node(setup, i);
    enum ker_status status = given ? ker_ranges_next(&ranges, &range, &some, error) : KER_OK;
    while (!status && some) {
        for (uint64_t node = range.first; node <= range.last; node += range.step)
            *KER_PUSH(role->node, role->members, room) = (uint32_t)node;
        status = ker_ranges_next(&ranges, &range, &some, error);
    }
    return status ?: role_check(role, setup, key.text, error);
}
