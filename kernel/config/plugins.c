/* plugins.c - the key `plugins`: libraries whose kinds and keys join before the configuration is checked.
 *
 * So it is read by itself, from the tree and from the overrides that name it, and judged like any other key
 * later on.
 */
#include "kernel/config/config.h"

#include "kernel/config/value.h"

#include <stdlib.h>
#include <string.h>

static const char key[] = "plugins";

const struct ker_option ker_plugin_options[] = {
    {key, KER_TYPE_FILE | KER_TYPE_LIST, "", NULL, NULL, NULL,
     "Shared libraries with further kinds (topologies, routing algorithms, traffic patterns, ...), which are "
     "loaded before the rest of the configuration is checked: CONTRIBUTING.md."},
    {0},
};

static enum ker_status load(struct ker_config *config, const struct ker_config_node *node,
                            struct ker_error *error)
{
    if (node->kind != KER_NODE_TEXT)
        return KER_OK; /* the check says what is right */
    struct ker_error one = {.status = KER_OK};
    char *path = ker_config_path_join(config->file, node->text);
    if (config->sizes)
        ker_plugin_load(config->registry, config->inputs, config->sizes, path, &one);
    else
        ker_fail(&one, KER_BAD_INPUT, "%s: plugins cannot be loaded here", path);
    free(path);
    if (!one.status)
        return KER_OK;
    return ker_config_refuse(error, node->origin, key, "%s", one.text);
}

enum ker_status ker_config_plugins(struct ker_config *config, const char *const *overrides, int count,
                                   struct ker_error *error)
{
    if (!ker_config_option_find(config->tables, key))
        return KER_OK;
    enum ker_status status = KER_OK;
    for (int i = 0; i < count && !status; i++)
        if (strncmp(overrides[i], key, strlen(key)) == 0 && strchr("= \t", overrides[i][strlen(key)]))
            status = ker_config_override(config->root, overrides[i], config->tables, error);
    const struct ker_config_node *node = ker_config_tree_find(config->root, key, NULL);
    if (node && node->kind == KER_NODE_TEXT)
        return status ?: load(config, node, error);
    for (int i = 0; node && i < node->count && !status; i++)
        status = load(config, node->member[i], error);
    config->tables = ker_registry_tables(config->registry);
    return status;
}

enum ker_status ker_plugins_load(struct ker_registry *registry, const struct ker_size *sizes,
                                 const char *file, struct ker_error *error)
{
    struct ker_config config = {.file = ker_format("%s", file),
                                .registry = registry,
                                .sizes = sizes,
                                .tables = ker_registry_tables(registry)};
    enum ker_status status = ker_config_text_load(&config.text, file, error);
    status = status ?: ker_config_tree_parse(&config.root, &config.text, error);
    status = status ?: ker_config_plugins(&config, NULL, 0, error);
    ker_config_node_free(config.root);
    ker_config_text_release(&config.text);
    free(config.file);
    return status;
}
