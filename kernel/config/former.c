/* former.c - keys and kinds that had another name once (ker_option.formerly, ker_kind.formerly).
 *
 * A member of the tree that bears a former name, or has one as its value, gets the present one, before
 * anything else looks at it: the rest of the program never sees former names. They differ in the last word
 * alone, so that a key stays in its group. Done twice, since overrides may bring whole groups.
 */
#include "kernel/config/value.h"

#include <stdlib.h>
#include <string.h>

static const struct ker_option *former_find(ker_config_tables tables, const char *pattern)
{
    for (; *tables; tables++)
        for (const struct ker_option *option = *tables; option->key; option++)
            if (option->formerly && strcmp(option->formerly, pattern) == 0)
                return option;
    return NULL;
}

/* Or takes it out, when it is refused. */
static void rename_member(struct ker_config *config, struct ker_config_node *group, int index,
                          const char *path, const struct ker_option *option, struct ker_error *error)
{
    struct ker_config_node *member = group->member[index];
    const char *now = ker_config_last_word(option->key);
    if (ker_config_node_member(group, now, strlen(now))) {
        struct ker_error one = {.status = KER_OK};
        ker_config_refuse(&one, member->origin, path,
                          "is the former name of %s, which is given, too: remove it", option->key);
        ker_error_add(error, &one);
        ker_config_node_remove(group, member);
        return;
    }
    free(member->name);
    member->name = ker_format("%s", now);
    ker_config_warn_once(config, option->key,
                         member->origin.file
                             ? ker_format("%s:%d: %s: is called %s now", member->origin.file,
                                          member->origin.line, path, option->key)
                             : ker_format("command line: %s: is called %s now", path, option->key));
}

/* The former name of a kind as a value. */
static void rename_value(struct ker_config *config, struct ker_config_node *member, const char *path,
                         const struct ker_option *option)
{
    const char *now = ker_registry_present(config->registry, option->kinds->key, member->text);
    if (!now)
        return;
    char *where = member->origin.file ? ker_format("%s:%d", member->origin.file, member->origin.line)
                                      : ker_format("command line");
    ker_config_warn_once(config, option->key,
                         ker_format("%s: %s: \"%s\" is called \"%s\" now", where, path, member->text, now));
    free(where);
    free(member->text);
    member->text = ker_format("%s", now);
}

static void rename_in(struct ker_config *config, struct ker_config_node *node, const char *path,
                      struct ker_error *error)
{
    for (int i = node->count - 1; i >= 0; i--) { /* down: a member may go */
        char *inner = ker_config_member_path(path, node, i), *pattern = ker_config_pattern(inner);
        const struct ker_option *option = former_find(config->tables, pattern),
                                *chooses = ker_config_option_find(config->tables, pattern);
        if (option && node->kind == KER_NODE_GROUP)
            rename_member(config, node, i, inner, option, error);
        else if (chooses && chooses->kinds && node->member[i]->kind == KER_NODE_TEXT)
            rename_value(config, node->member[i], inner, chooses);
        else if (node->member[i]->kind == KER_NODE_GROUP || node->member[i]->kind == KER_NODE_LIST)
            rename_in(config, node->member[i], inner, error);
        free(pattern);
        free(inner);
    }
}

void ker_config_former_rename(struct ker_config *config, struct ker_error *error)
{
    rename_in(config, config->root, "", error);
}

char *ker_config_former_override(struct ker_config *config, const char *override)
{
    size_t length = strcspn(override, "= \t");
    char *key = ker_format("%.*s", (int)length, override), *pattern = ker_config_pattern(key);
    const struct ker_option *option = former_find(config->tables, pattern);
    char *renamed = NULL;
    if (option) {
        char *now = ker_config_with_indices(option->key, key);
        ker_config_warn_once(config, option->key,
                             ker_format("command line: %s: is called %s now", key, option->key));
        renamed = ker_format("%s%s", now, override + length);
        free(now);
    }
    free(key);
    free(pattern);
    return renamed ? renamed : ker_format("%s", override);
}
