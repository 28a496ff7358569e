/* kind_keys.h - keys that stand in node, and again in the members of nodes, where they override those of
 * node.
 *
 * Of such keys a macro with GROUP and DEFAULT makes two tables of options: ("node", NODE_KEY_GIVEN) with
 * defaults, and ("nodes[]", NODE_KEY_ABSENT) without any, as a kind that does not have the key takes what
 * node says.
 */
#ifndef NODE_KIND_KEYS_H
#define NODE_KIND_KEYS_H

#include "kernel/config/config.h"

#include <string.h>

#define NODE_KEY_GIVEN(text) text
#define NODE_KEY_ABSENT(text) NULL

enum { NODE_KEY_PATH = 96 };

/* The path of the word's key, written to `path`: in the group ("node", "nodes[2]"), or else in node. */
static inline const char *node_kind_key(char path[static NODE_KEY_PATH], const struct ker_config *config,
                                        const char *group, const char *word)
{
    snprintf(path, NODE_KEY_PATH, "%s.%s", group, word);
    if (strcmp(group, "node") != 0 && !ker_config_has(config, path))
        snprintf(path, NODE_KEY_PATH, "node.%s", word);
    return path;
}

#endif
