/* select.c - members of lists by name on the command line, and members that are switched off.
 *
 * jobs[NAME].KEY=VALUE is jobs[2].KEY=VALUE when the third job is called so; jobs[*].KEY=VALUE is one such
 * override for each that is there at that moment. A member is called as its key `name` says, or else, of
 * services, `kind`, or else by the list's name and its index: job2. A name that is not there adds a member
 * when the key is the one that a member cannot be without, a choice that has no default.
 *
 * What is switched off (`enabled`) leaves the tree before keys are checked for what they belong to: nothing
 * else knows of it. Members behind it keep the names that they had.
 */
#include "kernel/config/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first pair of brackets of a key that holds no index: "jobs[NAME].tasks=4". */
struct selector {
    char *list, *name;
    const char *rest; /* behind it: ".tasks=4" */
};

static bool selector_find(struct selector *s, ker_config_tables tables, const char *override)
{
    size_t at = strcspn(override, "[="), length = 0;
    for (; override[at] == '['; at += length + 2 + strcspn(override + at + length + 2, "[=")) {
        length = strcspn(override + at + 1, "]");
        if (override[at + 1 + length] != ']')
            return false;
        if (length > 0 && strspn(override + at + 1, "-0123456789") < length)
            break;
    }
    if (override[at] != '[')
        return false;
    *s = (struct selector){ker_format("%.*s", (int)at, override),
                           ker_format("%.*s", (int)length, override + at + 1), override + at + length + 2};
    char *pattern = ker_config_pattern(s->list);
    bool groups = ker_config_place_find(tables, pattern) == KER_PLACE_GROUPS;
    free(pattern);
    return groups;
}

static const char *text_of(const struct ker_config_node *member, const char *key)
{
    const struct ker_config_node *node = ker_config_node_member(member, key, strlen(key));
    return node && node->kind == KER_NODE_TEXT && *node->text ? node->text : NULL;
}

/* The key that each member of a list has: "jobs[].program"; NULL: there is none. */
static const struct ker_option *deciding(ker_config_tables tables, const char *list)
{
    char *pattern = ker_config_pattern(list), *below = ker_format("%s[].", pattern);
    const struct ker_option *found = NULL;
    for (; *tables && !found; tables++)
        for (const struct ker_option *o = *tables; o->key && !found; o++)
            if (o->kinds && !o->fallback && !o->belongs && strncmp(o->key, below, strlen(below)) == 0)
                found = o;
    free(pattern);
    free(below);
    return found;
}

/* ".program" of it. */
static const char *last_part(const struct ker_option *option)
{
    return strrchr(option->key, '.');
}

/* Of a member: its name, or its kind, where that is what each member has. NULL: neither. */
static const char *own_name(ker_config_tables tables, const char *path, const struct ker_config_node *member)
{
    const struct ker_option *key = deciding(tables, path);
    const char *name = text_of(member, "name");
    return !name && key && strcmp(last_part(key), ".kind") == 0 ? text_of(member, "kind") : name;
}

/* malloc'ed */
static char *name_of(ker_config_tables tables, const char *path, const struct ker_config_node *list,
                     int index)
{
    const char *point = strrchr(path, '.'), *word = point ? point + 1 : path;
    const char *name = own_name(tables, path, list->member[index]);
    size_t length = strlen(word);
    return name ? ker_format("%s", name)
                : ker_format("%.*s%d", (int)(length - (word[length - 1] == 's')), word, index);
}

/* malloc'ed */
static char *names_of(ker_config_tables tables, const char *path, const struct ker_config_node *list)
{
    char *names = ker_format(list && list->count ? "there are: " : "the list is empty");
    for (int i = 0; list && i < list->count; i++) {
        char *name = name_of(tables, path, list, i), *more = ker_format("%s%s%s", names, i ? ", " : "", name);
        free(name);
        free(names);
        names = more;
    }
    return names;
}

static enum ker_status refuse_name(const struct selector *s, ker_config_tables tables,
                                   const struct ker_config_node *list, int found, struct ker_error *error)
{
    const struct ker_option *adds = found ? NULL : deciding(tables, s->list);
    char *key = ker_format("%s[%s]", s->list, s->name), *names = names_of(tables, s->list, list);
    ker_config_refuse(error, (struct ker_config_origin){NULL, 0}, key, "%s; %.800s%s%s%s%s",
                      found ? "is the name of more than one: give an index, counted from 0"
                      : strcmp(s->name, "*") == 0 ? "stands for all members"
                                                  : "there is none of this name",
                      names, adds ? "; a further one begins with " : "", adds ? key : "",
                      adds ? last_part(adds) : "", adds ? "=VALUE" : "");
    free(key);
    free(names);
    return KER_BAD_INPUT;
}

static enum ker_status apply(struct ker_config *config, const char *override, struct ker_error *error);

static enum ker_status apply_to(struct ker_config *config, const struct selector *s, int index,
                                const char *rest, struct ker_error *error)
{
    char *one = ker_format("%s[%d]%s", s->list, index, rest);
    enum ker_status status = apply(config, one, error);
    free(one);
    return status;
}

static enum ker_status add(struct ker_config *config, const struct selector *s, int count,
                           struct ker_error *error)
{
    char *name = ker_format(".name=%s", s->name);
    enum ker_status status = apply_to(config, s, count, name, error);
    free(name);
    return status ?: apply_to(config, s, count, s->rest, error);
}

static enum ker_status apply_selected(struct ker_config *config, const struct selector *s,
                                      struct ker_error *error)
{
    const struct ker_config_node *list = ker_config_tree_find(config->root, s->list, NULL);
    const struct ker_option *adds = deciding(config->tables, s->list);
    int count = list && list->kind == KER_NODE_LIST ? list->count : 0, found = 0, index = 0;
    bool all = strcmp(s->name, "*") == 0;
    enum ker_status status = KER_OK;
    for (int i = 0; i < count && !status; i++) {
        char *name = name_of(config->tables, s->list, list, i);
        bool is = all || strcmp(name, s->name) == 0;
        free(name);
        found += is;
        index = is ? i : index;
        if (all)
            status = apply_to(config, s, i, s->rest, error);
    }
    if (all && found)
        return status;
    if (found == 1)
        return apply_to(config, s, index, s->rest, error);
    size_t length = adds ? strlen(last_part(adds)) : 0;
    if (!all && !found && adds && strncmp(s->rest, last_part(adds), length) == 0 &&
        strspn(s->rest + length, " \t=") > 0)
        return add(config, s, count, error);
    return refuse_name(s, config->tables, count ? list : NULL, found, error);
}

static enum ker_status apply(struct ker_config *config, const char *override, struct ker_error *error)
{
    struct selector s = {NULL};
    enum ker_status status;
    if (selector_find(&s, config->tables, override)) {
        status = apply_selected(config, &s, error);
    } else {
        char *plain = ker_config_former_override(config, override);
        status = ker_config_override(config->root, plain, config->tables, error);
        free(plain);
    }
    free(s.list);
    free(s.name);
    return status;
}

enum ker_status ker_config_override_apply(struct ker_config *config, const char *override,
                                          struct ker_error *error)
{
    return apply(config, override, error);
}

char *ker_config_key_selected(const struct ker_config *config, const char *key)
{
    struct selector s = {NULL};
    char *plain = NULL;
    if (selector_find(&s, config->tables, key)) {
        const struct ker_config_node *list = ker_config_tree_find(config->root, s.list, NULL);
        int i = 0, count = list ? list->count : 0;
        for (bool is = strcmp(s.name, "*") == 0; i < count && !is; i += !is) {
            char *name = name_of(config->tables, s.list, list, i);
            is = strcmp(name, s.name) == 0;
            free(name);
        }
        plain = ker_format("%s[%d]%s", s.list, i, s.rest);
    }
    free(s.list);
    free(s.name);
    return plain ? plain : ker_format("%s", key);
}

/* ---- switched off ---- */

/* Whether it is; *origin: where that is said. */
static bool is_off(const struct ker_config_node *member, struct ker_config_origin *origin)
{
    const struct ker_config_node *node = ker_config_node_member(member, "enabled", strlen("enabled"));
    if (!node || node->kind != KER_NODE_BOOL || node->truth)
        return false;
    *origin = node->origin;
    return true;
}

/* Those without a name of their own get the one that goes by their index so far. */
static void keep_names(ker_config_tables tables, const char *path, struct ker_config_node *list)
{
    for (int i = 0; i < list->count; i++) {
        struct ker_config_node *member = list->member[i];
        if (member->kind != KER_NODE_GROUP || own_name(tables, path, member))
            continue;
        struct ker_config_node *given = ker_config_node_member(member, "name", strlen("name"));
        char *name = name_of(tables, path, list, i);
        if (given)
            ker_config_node_remove(member, given);
        ker_config_node_add(member, ker_config_node_text("name", name));
        free(name);
    }
}

static void leave_out(struct ker_config *config, const char *path, struct ker_config_node *list)
{
    struct ker_config_origin off;
    char *pattern = ker_config_pattern(path), *key = ker_format("%s[].name", pattern);
    bool named = ker_config_option_find(config->tables, key) != NULL, first = true;
    for (int i = list->count - 1; i >= 0; i--) {
        if (!is_off(list->member[i], &off))
            continue;
        if (named && first)
            keep_names(config->tables, path, list);
        first = false;
        ker_config_node_remove(list, list->member[i]);
        if (list->count == 0 && !off.file) /* keys that belong to the list are left out, not refused */
            list->origin = off;
    }
    free(pattern);
    free(key);
}

static void leave_out_in(struct ker_config *config, struct ker_config_node *group, const char *path)
{
    for (int i = 0; i < group->count; i++) {
        char *inner = ker_config_member_path(path, group, i);
        if (group->member[i]->kind == KER_NODE_GROUP)
            leave_out_in(config, group->member[i], inner);
        else if (group->member[i]->kind == KER_NODE_LIST)
            leave_out(config, inner, group->member[i]);
        free(inner);
    }
}

void ker_config_leave_out(struct ker_config *config)
{
    leave_out_in(config, config->root, "");
}
