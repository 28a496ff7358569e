/* check.c - the whole tree against the tables, and the overrides of the command line.
 *
 * The check walks the tree with two paths: as written ("jobs[2].tasks", for messages) and as pattern
 * ("jobs[].tasks", for the tables). After it, every value in the tree can be read as its option wants it, so
 * that getters cannot fail. File names are resolved here, once. Overrides change the tree before the check
 * and are judged by it like anything else; only what the check could not attribute to the command line
 * (unknown keys, wrong paths) is refused when it is applied; then the check continues, so that all errors are
 * reported.
 */
#include "kernel/config/value.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct check {
    const char *file;
    ker_config_tables tables;
    struct ker_error *error; /* all that is wrong */
};

/* A key of the members of a list, with the index forgotten: "jobs.tasks". malloc'ed; NULL: it is none. */
static char *forgotten_index(ker_config_tables tables, const char *path)
{
    const char *point = strrchr(path, '.');
    char *pattern = point ? ker_format("%.*s[]%s", (int)(point - path), path, point) : NULL;
    if (pattern && !ker_config_option_find(tables, pattern)) {
        free(pattern);
        pattern = NULL;
    }
    return pattern;
}

static enum ker_status refuse_unknown(ker_config_tables tables, struct ker_error *error,
                                      struct ker_config_origin at, const char *path)
{
    char *nearest = ker_config_nearest(tables, path), *listed = forgotten_index(tables, path);
    const char *hint = ker_config_key_hint(path);
    if (hint)
        ker_config_refuse(error, at, path, "unknown key; %s", hint);
    else if (listed)
        ker_config_refuse(
            error, at, path, "unknown key; %.*s is a list: %.*s[0]%s is of its first member, [*] of all",
            (int)strcspn(listed, "["), path, (int)strcspn(listed, "["), path, strrchr(path, '.'));
    else if (nearest)
        ker_config_refuse(error, at, path, "unknown key; did you mean %s?", nearest);
    else
        ker_config_refuse(error, at, path, "unknown key; marssim --help-config lists all keys");
    free(nearest);
    free(listed);
    return KER_BAD_INPUT;
}

__attribute__((format(printf, 4, 5))) static void wrong(const struct check *check,
                                                        const struct ker_config_node *node, const char *path,
                                                        const char *format, ...)
{
    struct ker_error one = {.status = KER_OK};
    char text[KER_WHY_BYTES];
    KER_FORMATTED(text, format);
    ker_config_refuse(&one, node->origin, path, "%s", text);
    ker_error_add(check->error, &one);
}

static void check_scalar(const struct check *check, const struct ker_option *option,
                         struct ker_config_node *node, const char *path)
{
    char why[KER_WHY_BYTES];
    struct ker_config_value value;
    if (!ker_config_value_read(option, node, &value, why)) {
        wrong(check, node, path, "%s", why);
    } else if (KER_TYPE_OF(option) == KER_TYPE_FILE) {
        free(node->path);
        node->path = ker_config_path_join(check->file, node->text);
        /* One that a file included names may lie beside that. */
        if (node->origin.file && access(node->path, F_OK) != 0) {
            char *beside = ker_config_path_join(node->origin.file, node->text);
            if (access(beside, F_OK) == 0) {
                free(node->path);
                node->path = beside;
            } else {
                free(beside);
            }
        }
        /* From the command line a file may be meant as seen from the current folder, as the shell completes
         * it. */
        if (!node->origin.file && access(node->path, F_OK) != 0 && access(node->text, F_OK) == 0) {
            free(node->path);
            node->path = ker_format("%s", node->text);
        }
    }
}

static void check_option(const struct check *check, struct ker_config_node *node, const char *path,
                         const char *pattern)
{
    const struct ker_option *option = ker_config_option_find(check->tables, pattern);
    if (!KER_IS_LIST(option) || node->kind != KER_NODE_LIST) {
        check_scalar(check, option, node, path);
        return;
    }
    for (int i = 0; i < node->count; i++) {
        char *item = ker_format("%s[%d]", path, i);
        check_scalar(check, option, node->member[i], item);
        free(item);
    }
}

static void check_node(const struct check *check, struct ker_config_node *node, const char *path);

/* Members of a group, or groups of a list. */
static void check_members(const struct check *check, struct ker_config_node *node, const char *path)
{
    for (int i = 0; i < node->count; i++) {
        char *inner = ker_config_member_path(path, node, i);
        check_node(check, node->member[i], inner);
        free(inner);
    }
}

static void check_node(const struct check *check, struct ker_config_node *node, const char *path)
{
    char *pattern = ker_config_pattern(path);
    struct ker_error one = {.status = KER_OK};
    switch (ker_config_place_find(check->tables, pattern)) {
    case KER_PLACE_OPTION:
        check_option(check, node, path, pattern);
        break;
    case KER_PLACE_GROUP:
        if (node->kind == KER_NODE_GROUP)
            check_members(check, node, path);
        else
            wrong(check, node, path, "is a value, but a group of keys is expected: { key = value; ... }");
        break;
    case KER_PLACE_GROUPS:
        if (node->kind == KER_NODE_LIST)
            check_members(check, node, path);
        else
            wrong(check, node, path, "a list of groups is expected: ( { key = value; ... }, { ... } )");
        break;
    case KER_PLACE_UNKNOWN:
        refuse_unknown(check->tables, &one, node->origin, path);
        ker_error_add(check->error, &one);
        break;
    }
    free(pattern);
}

void ker_config_check(struct ker_config *config, struct ker_error *error)
{
    struct check check = {config->file, config->tables, error};
    check_members(&check, config->root, "");
}

static bool takes_text(const struct ker_option *option)
{
    enum ker_type type = KER_TYPE_OF(option);
    return type == KER_TYPE_STRING || type == KER_TYPE_CHOICE || type == KER_TYPE_FILE;
}

/* One value that is no list: as in a file where it reads so, else bare text. Text options take true and 5 as
 * text. */
static struct ker_config_node *scalar_from(const struct ker_option *option, const char *text)
{
    struct ker_config_node *node = NULL;
    if (!takes_text(option) || text[0] == '"')
        node = ker_config_tree_value(text);
    return node ? node : ker_config_node_text(NULL, text);
}

/* "[a, b]", "(a, b)" or "a, b", whatever can be distinguished by commas. */
static struct ker_config_node *list_from(const struct ker_option *option, const char *text)
{
    size_t length = strlen(text);
    bool brackets = length >= 2 && (text[0] == '[' || text[0] == '(') && strchr("])", text[length - 1]);
    char *inner = ker_format("%.*s", (int)(brackets ? length - 2 : length), text + brackets), *item;
    struct ker_config_node *list =
        ker_config_node_new(KER_NODE_LIST, NULL, (struct ker_config_origin){NULL, 0});
    for (int i = 0; (item = ker_config_list_item(inner, i)) != NULL; i++) {
        ker_config_node_add(list, scalar_from(option, item));
        free(item);
    }
    free(inner);
    return list;
}

/* The list option an element of which the pattern names: "topology.extents[]". */
static const struct ker_option *element_option(ker_config_tables tables, const char *pattern)
{
    size_t length = strlen(pattern);
    if (length < 3 || strcmp(pattern + length - 2, "[]") != 0)
        return NULL;
    char *list = ker_format("%.*s", (int)length - 2, pattern);
    const struct ker_option *option = ker_config_option_find(tables, list);
    free(list);
    return option && KER_IS_LIST(option) ? option : NULL;
}

static enum ker_status override_value(struct ker_config_node **value, const char *key, const char *text,
                                      ker_config_tables tables, struct ker_error *error)
{
    struct ker_config_origin here = {NULL, 0};
    char *pattern = ker_config_pattern(key);
    const struct ker_option *option = ker_config_option_find(tables, pattern);
    const struct ker_option *element = option ? NULL : element_option(tables, pattern);
    enum ker_config_place place = ker_config_place_find(tables, pattern);
    enum ker_status status = KER_OK;
    free(pattern);
    *value = NULL;
    if (option || element)
        *value = option && KER_IS_LIST(option) ? list_from(option, text)
                                               : scalar_from(option ? option : element, text);
    else if (place == KER_PLACE_UNKNOWN)
        status = refuse_unknown(tables, error, here, key);
    else if (!(*value = ker_config_tree_value(text)))
        status =
            ker_config_refuse(error, here, key, "is a group of keys; give one of them, as in %s%s.KEY=VALUE",
                              key, place == KER_PLACE_GROUPS ? "[0]" : "");
    return status;
}

static void replace(struct ker_config_node **place, struct ker_config_node *value)
{
    value->name = (*place)->name;
    (*place)->name = NULL;
    ker_config_node_free(*place);
    *place = value;
}

/* The place of a step in its parent; a missing one is made (an empty group) when it is a name or the next
 * index. */
static struct ker_config_node **step_place(struct ker_config_node *parent, const struct ker_config_step *step,
                                           bool *made)
{
    *made = false;
    int index = step->name ? 0 : step->index;
    if (parent->kind != (step->name ? KER_NODE_GROUP : KER_NODE_LIST))
        return NULL;
    if (step->name)
        while (index < parent->count &&
               (strncmp(parent->member[index]->name, step->name, step->length) != 0 ||
                parent->member[index]->name[step->length]))
            index++;
    if (index > parent->count)
        return NULL;
    if (index == parent->count) {
        char *name = step->name ? ker_format("%.*s", (int)step->length, step->name) : NULL;
        ker_config_node_add(parent,
                            ker_config_node_new(KER_NODE_GROUP, name, (struct ker_config_origin){NULL, 0}));
        free(name);
        *made = true;
    }
    return &parent->member[index];
}

/* Walks to the key, making what is missing, and puts the value there. */
static enum ker_status put_value(struct ker_config_node *root, const char *key, struct ker_config_node *value,
                                 struct ker_error *error)
{
    struct ker_config_node *parent = root, **place = NULL;
    struct ker_config_origin here = {NULL, 0};
    struct ker_config_step step;
    const char *at = key;
    bool made;
    while (*at && ker_config_step_next(&at, &step)) {
        place = step_place(parent, &step, &made);
        if (!place && parent->kind == KER_NODE_LIST && !step.name) {
            ker_config_node_free(value);
            return ker_config_refuse(error, here, key, "the next member of the list would be [%d]",
                                     parent->count);
        }
        if (!place) {
            ker_config_node_free(value);
            return ker_config_refuse(error, here, key, "there is no %s at %.*s", step.name ? "group" : "list",
                                     (int)(at - key), key);
        }
        if (made && *at == '[')
            (*place)->kind = KER_NODE_LIST;
        parent = *place;
    }
    ker_assert(place); /* a key has at least one step */
    replace(place, value);
    return KER_OK;
}

static bool is_key(const char *key)
{
    struct ker_config_step step;
    const char *at = key;
    while (*at && *at != '[' && ker_config_step_next(&at, &step))
        while (*at == '[' && ker_config_step_next(&at, &step))
            ;
    return *key && !*at;
}

enum ker_status ker_config_override(struct ker_config_node *root, const char *override,
                                    ker_config_tables tables, struct ker_error *error)
{
    const char *equals = strchr(override, '='), *text = equals ? equals + 1 : "";
    size_t length = equals ? (size_t)(equals - override) : 0, skip = 0;
    while (skip < length && isspace((unsigned char) override[skip]))
        skip++;
    while (length > skip && isspace((unsigned char) override[length - 1]))
        length--;
    char *key = ker_format("%.*s", (int)(length - skip), override + skip);
    struct ker_config_node *value = NULL;
    enum ker_status status = KER_OK;
    text += strspn(text, " \t");
    if (!is_key(key))
        status = ker_fail(
            error, KER_BAD_INPUT,
            "command line: \"%.200s\": KEY=VALUE is expected, as in switch.channels=4, jobs[0].tasks=64 or "
            "jobs[NAME].enabled=false",
            override);
    status = status ?: override_value(&value, key, text, tables, error);
    status = status ?: put_value(root, key, value, error);
    free(key);
    return status;
}
