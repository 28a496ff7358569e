/* tree.c - libconfig's settings copied into plain nodes.
 *
 * libconfig parses; what the program reads is this tree. Unlike libconfig's, a node can change its kind (an
 * override may replace a list by a value), knows its file and line after includes are joined, and says when
 * it came from the command line. Invariant: names are unique in a group (libconfig refuses duplicates,
 * overrides replace). Depth is bounded by config_text.c, so recursion is safe.
 */
#include "kernel/config/tree.h"

#include <ctype.h>
#include <libconfig.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ker_config_node *ker_config_node_new(enum ker_node_kind kind, const char *name,
                                            struct ker_config_origin origin)
{
    struct ker_config_node *node = ker_alloc(sizeof *node);
    node->kind = kind;
    node->origin = origin;
    node->name = name ? ker_format("%s", name) : NULL;
    return node;
}

struct ker_config_node *ker_config_node_text(const char *name, const char *text)
{
    struct ker_config_node *node =
        ker_config_node_new(KER_NODE_TEXT, name, (struct ker_config_origin){NULL, 0});
    node->text = ker_format("%s", text);
    return node;
}

void ker_config_node_free(struct ker_config_node *node)
{
    if (!node)
        return;
    for (int i = 0; i < node->count; i++)
        ker_config_node_free(node->member[i]);
    KER_FREE(node->member, node->name, node->text, node->path, node);
}

void ker_config_node_add(struct ker_config_node *parent, struct ker_config_node *child)
{
    *KER_PUSH(parent->member, parent->count, parent->room) = child;
}

void ker_config_node_remove(struct ker_config_node *parent, struct ker_config_node *child)
{
    int kept = 0;
    for (int i = 0; i < parent->count; i++)
        if (parent->member[i] != child)
            parent->member[kept++] = parent->member[i];
    parent->count = kept;
    ker_config_node_free(child);
}

struct ker_config_node *ker_config_node_member(const struct ker_config_node *group, const char *name,
                                               size_t length)
{
    for (int i = 0; group->kind == KER_NODE_GROUP && i < group->count; i++)
        if (strncmp(group->member[i]->name, name, length) == 0 && !group->member[i]->name[length])
            return group->member[i];
    return NULL;
}

static enum ker_node_kind kind_of(const config_setting_t *setting)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_GROUP:
        return KER_NODE_GROUP;
    case CONFIG_TYPE_ARRAY:
    case CONFIG_TYPE_LIST:
        return KER_NODE_LIST;
    case CONFIG_TYPE_BOOL:
        return KER_NODE_BOOL;
    case CONFIG_TYPE_FLOAT:
        return KER_NODE_REAL;
    case CONFIG_TYPE_STRING:
        return KER_NODE_TEXT;
    default:
        return KER_NODE_INT;
    }
}

/* text is NULL for overrides. */
static struct ker_config_node *node_from(const config_setting_t *setting, const struct ker_config_text *text)
{
    struct ker_config_origin origin = {NULL, 0};
    if (text)
        origin = ker_config_text_origin(text, config_setting_source_line(setting));
    struct ker_config_node *node =
        ker_config_node_new(kind_of(setting), config_setting_name(setting), origin);
    switch (node->kind) {
    case KER_NODE_GROUP:
    case KER_NODE_LIST:
        for (int i = 0; i < config_setting_length(setting); i++)
            ker_config_node_add(node, node_from(config_setting_get_elem(setting, (unsigned)i), text));
        break;
    case KER_NODE_BOOL:
        node->truth = config_setting_get_bool(setting);
        break;
    case KER_NODE_INT:
        node->integer = config_setting_get_int64(setting);
        break;
    case KER_NODE_REAL:
        node->real = config_setting_get_float(setting);
        break;
    case KER_NODE_TEXT:
        node->text = ker_format("%s", config_setting_get_string(setting));
        break;
    }
    return node;
}

/* The next name of a setting before `end`: a word with = or : behind it; NULL: none. *at is moved behind it.
 */
static const char *name_next(const char **at, const char *end, size_t *length)
{
    while (*at < end) {
        const char *word = *at;
        *length = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-*");
        const char *behind = word + *length + strspn(word + *length, " \t");
        *at = *length ? word + *length : word + 1;
        if (*length && *behind && strchr("=:", *behind))
            return word;
    }
    return NULL;
}

/* libconfig says only in which line the second one is: it is one of the names there, the only one or the
 * one that is there twice. */
static enum ker_status refuse_duplicate(const struct ker_config_text *text, unsigned line,
                                        struct ker_error *error)
{
    struct ker_config_origin at = ker_config_text_origin(text, line);
    const char *begin = text->text, *name, *other;
    char names[200] = "";
    size_t length, second, used = 0;
    for (unsigned i = 1; i < line && strchr(begin, '\n'); i++)
        begin = strchr(begin, '\n') + 1;
    const char *end = begin + strcspn(begin, "\n"), *next = begin;
    while ((name = name_next(&next, end, &length)) != NULL) {
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "",
                                     (int)length, name);
        for (const char *rest = next; (other = name_next(&rest, end, &second)) != NULL;)
            if (second == length && strncmp(name, other, length) == 0)
                return ker_fail(error, KER_BAD_INPUT, "%s:%d: %.*s is given twice in its group", at.file,
                                at.line, (int)length, name);
    }
    return ker_fail(error, KER_BAD_INPUT, "%s:%d: %s%s is given twice in its group", at.file, at.line,
                    strchr(names, ',') ? "one of " : "", names);
}

static enum ker_status refuse(const config_t *config, const struct ker_config_text *text,
                              struct ker_error *error)
{
    struct ker_config_origin at = ker_config_text_origin(text, (unsigned)config_error_line(config));
    const char *what = config_error_text(config) ? config_error_text(config) : "error", *hint = "";
    if (strcmp(what, "syntax error") == 0)
        hint = " here or in the line before; settings are NAME = VALUE; and values with units are in "
               "quotes, as in \"100 ns\"";
    else if (strcmp(what, "duplicate setting name") == 0)
        return refuse_duplicate(text, (unsigned)config_error_line(config), error);
    return ker_fail(error, KER_BAD_INPUT, "%s:%d: %s%s", at.file, at.line, what, hint);
}

enum ker_status ker_config_tree_parse(struct ker_config_node **root, const struct ker_config_text *text,
                                      struct ker_error *error)
{
    enum ker_status status = KER_OK;
    config_t config;
    *root = NULL;
    config_init(&config);
    if (config_read_string(&config, text->text)) {
        *root = node_from(config_root_setting(&config), text);
        (*root)->origin = ker_config_text_origin(text, 1);
    } else {
        status = refuse(&config, text, error);
    }
    config_destroy(&config);
    return status;
}

struct ker_config_node *ker_config_tree_value(const char *value)
{
    struct ker_config_node *node = NULL;
    struct ker_config_text text;
    struct ker_error ignored = {.status = KER_OK};
    config_t config;
    char *line = ker_format("value = %s;", value);
    bool plain = !strchr(value, '\n') && !strstr(value, "@include");
    if (plain && ker_config_text_parse(&text, "command line", line, &ignored) == KER_OK) {
        config_init(&config);
        if (config_read_string(&config, text.text) &&
            config_setting_length(config_root_setting(&config)) == 1)
            node = node_from(config_setting_get_elem(config_root_setting(&config), 0), NULL);
        if (node) {
            free(node->name); /* it gets the name of its key */
            node->name = NULL;
        }
        config_destroy(&config);
    }
    if (plain)
        ker_config_text_release(&text);
    free(line);
    return node;
}

bool ker_config_step_next(const char **path, struct ker_config_step *step)
{
    const char *at = *path;
    *step = (struct ker_config_step){NULL, 0, 0};
    if (*at == '[') {
        long index = 0;
        const char *digit = at + 1;
        for (; isdigit((unsigned char)*digit) && index < INT_MAX / 16; digit++)
            index = index * 10 + (*digit - '0');
        if (digit == at + 1 || *digit != ']' || (digit[1] && digit[1] != '.' && digit[1] != '['))
            return false;
        step->index = (int)index;
        at = digit + 1;
    } else {
        if (!isalpha((unsigned char)*at) && *at != '*')
            return false;
        step->name = at;
        while (isalnum((unsigned char)*at) || (*at && strchr("-_*", *at)))
            at++;
        if (*at && *at != '.' && *at != '[')
            return false;
        step->length = (size_t)(at - step->name);
    }
    *path = *at == '.' && at[1] ? at + 1 : at; /* a last point stays, and is an error */
    return true;
}

struct ker_config_node *ker_config_tree_find(struct ker_config_node *root, const char *path,
                                             struct ker_config_node **last)
{
    struct ker_config_step step;
    struct ker_config_node *node = root, *way = NULL;
    while (node && *path && ker_config_step_next(&path, &step)) {
        way = node;
        if (step.name)
            node = ker_config_node_member(node, step.name, step.length);
        else
            node = node->kind == KER_NODE_LIST && step.index < node->count ? node->member[step.index] : NULL;
    }
    if (last)
        *last = node ? node : way;
    return *path ? NULL : node;
}

char *ker_config_member_path(const char *path, const struct ker_config_node *node, int index)
{
    const char *name = node->member[index]->name;
    if (!name)
        return ker_format("%s[%d]", path, index);
    return *path ? ker_format("%s.%s", path, name) : ker_format("%s", name);
}

enum ker_status ker_config_refuse(struct ker_error *error, struct ker_config_origin at, const char *key,
                                  const char *format, ...)
{
    char text[1500];
    KER_FORMATTED(text, format);
    if (at.file)
        return ker_fail(error, KER_BAD_INPUT, "%s:%d: %.200s: %s", at.file, at.line, key, text);
    return ker_fail(error, KER_BAD_INPUT, "command line: %.200s: %s", key, text);
}
