/* asjson.c - a configuration as JSON: what was given, files and overrides in one, nothing besides. */
#include "kernel/config/json.h"
#include "kernel/config/value.h"

static void node_write(struct ker_json *json, const struct ker_config_node *node)
{
    switch (node->kind) {
    case KER_NODE_BOOL:
        ker_json_bool(json, node->name, node->truth);
        break;
    case KER_NODE_INT:
        ker_json_int(json, node->name, (long long)node->integer);
        break;
    case KER_NODE_REAL:
        ker_json_real(json, node->name, node->real);
        break;
    case KER_NODE_TEXT:
        ker_json_text(json, node->name, node->text);
        break;
    case KER_NODE_GROUP:
    case KER_NODE_LIST:
        ker_json_open(json, node->name, node->kind == KER_NODE_GROUP ? '{' : '[');
        for (int i = 0; i < node->count; i++)
            node_write(json, node->member[i]);
        ker_json_close(json, node->kind == KER_NODE_GROUP ? "}" : "]");
        break;
    }
}

void ker_config_write_json(const struct ker_config *config, FILE *out)
{
    struct ker_json json = {.out = out};
    node_write(&json, config->root);
}
