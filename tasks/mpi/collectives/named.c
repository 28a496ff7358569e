/* named.c - algorithms as keys name them: "ring", with parameters "knomial(radix=8, segment=64 KiB)", one for
 * each level "linear/ring", or two where a level goes up and down "linear+binomial/ring".
 */
#include "tasks/mpi/collectives/collective.h"

#include <stdlib.h>
#include <string.h>

enum ker_status task_coll_no_rule(const struct ker_config *config, const char *key, unsigned collective,
                                  const char *text, struct ker_error *error)
{
    char *names =
        ker_registry_names(ker_config_registry(config), "mpi.collectives", task_coll_name(collective));
    ker_config_fail(config, error, key,
                    "\"%s\" is no rule; right would be \"auto\", \"ALGORITHM\", \"ALGORITHM:SIZE\" or "
                    "\"ALGORITHM:SIZE:TASKS\" (from this size and number of tasks on) with one of %s%s",
                    text, names,
                    task_coll_has_levels(collective)
                        ? "; or in the place of ALGORITHM \"NODE/BETWEEN\", \"SOCKET/NODE/BETWEEN\""
                        : "");
    free(names);
    return KER_BAD_INPUT;
}

/* ---- one algorithm ---- */

/* "radix=8" or "segment=64 KiB". */
static bool parameter_take(struct task_coll_choice *choice, const char *text)
{
    const struct task_coll_algorithm *a = choice->algorithm->operations;
    size_t length = a->fanout ? strlen(a->fanout) : 0;
    const char *why;
    if (a->segments && strncmp(text, "segment=", 8) == 0)
        return ker_parse_bytes(text + 8, &choice->segment, &why) == 0 && choice->segment > 0;
    if (!length || strncmp(text, a->fanout, length) != 0 || text[length] != '=')
        return false;
    char *end;
    long fanout = strtol(text + length + 1, &end, 10);
    choice->fanout = (uint32_t)fanout;
    return end != text + length + 1 && !*end && fanout >= (long)a->fanout_least &&
           fanout <= TASK_COLL_FANOUT_MOST;
}

static enum ker_status parameters_refuse(const struct task_coll_choice *choice,
                                         const struct ker_config *config, const char *key, const char *text,
                                         struct ker_error *error)
{
    const struct ker_kind *kind = choice->algorithm;
    const struct task_coll_algorithm *a = kind->operations;
    if (a->fanout)
        return ker_config_fail(config, error, key,
                               "\"%s\" is no parameter of %s; right would be %s=%u or more, and segment=SIZE",
                               text, kind->name, a->fanout, a->fanout_least);
    return ker_config_fail(config, error, key, "\"%s\" is no parameter of %s, which has %s", text, kind->name,
                           a->segments ? "segment=SIZE" : "none");
}

/* "NAME" or "NAME(PARAMETER=VALUE, ...)"; no algorithm: there is none of this name. */
static enum ker_status algorithm_named(struct task_coll_choice *choice, const struct ker_config *config,
                                       const char *key, unsigned collective, char *text,
                                       struct ker_error *error)
{
    size_t length = strlen(text);
    char *rest = strchr(text, '(');
    if (rest && text[length - 1] == ')') {
        text[length - 1] = 0;
        *rest++ = 0;
    } else {
        rest = NULL;
    }
    *choice = *text ? task_coll_find(config, collective, text) : (struct task_coll_choice){0};
    while (choice->algorithm && rest) {
        char *parameter = strsep(&rest, ",");
        parameter += strspn(parameter, " ");
        if (!parameter_take(choice, parameter))
            return parameters_refuse(choice, config, key, parameter, error);
    }
    return KER_OK;
}

/* ---- several ---- */

/* One of a combination: what would be right is said with the collective that it is for. */
static enum ker_status part_find(struct task_coll_choice *choice, const struct ker_config *config,
                                 const char *key, unsigned collective, char *name, const char *where,
                                 struct ker_error *error)
{
    bool between = strcmp(where, "between nodes") == 0;
    enum ker_status status = algorithm_named(choice, config, key, collective, name, error);
    const struct ker_kind *algorithm = choice->algorithm;
    bool uneven = between && algorithm && task_coll_needs_alike(algorithm), whole = task_coll_asks(algorithm);
    if (status != KER_OK || (algorithm && !uneven && !whole && !(between && task_coll_is_shared(algorithm))))
        return status;
    char *names =
        ker_registry_names(ker_config_registry(config), "mpi.collectives", task_coll_name(collective));
    ker_config_fail(config, error, key, "\"%s\" is no algorithm for %s %s; there are %s%s", name,
                    task_coll_name(collective), where, names,
                    uneven  ? ", of which this one is for groups that are alike, and nodes may not be"
                    : whole ? ", of which those by a formula stand alone"
                    : between && algorithm ? ", of which shared memory is for one node"
                                           : "");
    free(names);
    return KER_BAD_INPUT;
}

/* "linear", or "linear+binomial" where a level needs two. */
static enum ker_status level_find(struct task_coll_combination *c, uint32_t level,
                                  const struct ker_config *config, const char *key, unsigned collective,
                                  char *name, struct ker_error *error)
{
    const char *where = c->levels == 2 && level == 0 ? "inside a socket" : "inside a node";
    uint8_t up, down;
    bool goes_up = task_coll_goes_up(collective, &up), goes_down = task_coll_goes_down(collective, &down);
    char *second = goes_up && goes_down ? name : NULL, *first = second ? strsep(&second, "+") : name;
    char same[sizeof c->name];
    snprintf(same, sizeof same, "%s", second ? second : first);
    enum ker_status status = KER_OK;
    if (goes_up)
        status = part_find(&c->up[level], config, key, up, first, where, error);
    if (status == KER_OK && goes_down)
        status = part_find(&c->down[level], config, key, down, same, where, error);
    for (int i = 0; status == KER_OK && i < 2; i++) {
        const struct ker_kind *algorithm = i ? c->down[level].algorithm : c->up[level].algorithm;
        if (algorithm && !c->shared)
            c->shared = task_coll_is_shared(algorithm);
    }
    return status;
}

/* "NODE/BETWEEN", "SOCKET/NODE/BETWEEN". */
static enum ker_status combine(struct task_coll_choice *choice, struct task_coll_table *table,
                               const struct ker_config *config, const char *key, unsigned collective,
                               const char *text, struct ker_error *error)
{
    if (table->combinations == TASK_COLL_COMBINATIONS)
        return ker_config_fail(config, error, key, "more than %d combinations in all",
                               TASK_COLL_COMBINATIONS);
    struct task_coll_combination *c = &table->combination[table->combinations];
    char copy[sizeof c->name], *rest = copy, *part[TASK_COLL_LEVELS + 2] = {copy};
    uint32_t parts = 0;
    *c = (struct task_coll_combination){0};
    bool fits = snprintf(c->name, sizeof c->name, "%s", text) < (int)sizeof c->name;
    memcpy(copy, c->name, sizeof copy);
    while (rest && parts < TASK_COLL_LEVELS + 2)
        part[parts++] = strsep(&rest, "/");
    if (!fits || parts > TASK_COLL_LEVELS + 1 || !task_coll_has_levels(collective))
        return task_coll_no_rule(config, key, collective, text, error);
    c->levels = parts - 1;
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; status == KER_OK && i < c->levels; i++)
        status = level_find(c, i, config, key, collective, part[i], error);
    status = status ?: part_find(&c->top, config, key, collective, part[parts - 1], "between nodes", error);
    if (status != KER_OK)
        return status;
    task_coll_combine(c);
    table->combinations++;
    table->placed = true;
    if (c->shared)
        table->shared = (int)collective;
    choice->algorithm = &c->kind;
    return KER_OK;
}

enum ker_status task_coll_named(struct task_coll_choice *choice, struct task_coll_table *table,
                                const struct ker_config *config, const char *key, unsigned collective,
                                char *text, struct ker_error *error)
{
    *choice = (struct task_coll_choice){0};
    if (strchr(text, '/'))
        return combine(choice, table, config, key, collective, text, error);
    char name[192];
    snprintf(name, sizeof name, "%s", text);
    enum ker_status status = algorithm_named(choice, config, key, collective, name, error);
    if (status == KER_OK && !choice->algorithm)
        return task_coll_no_rule(config, key, collective, text, error);
    return status;
}
