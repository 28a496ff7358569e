/* kinds.c - which node is of which kind.
 *
 * Every node is given an owner while the kinds are read; what stays are runs of successive nodes of one kind,
 * each with the number of that kind's nodes before it, so that both directions are binary searches whatever
 * the number of nodes.
 */
#include "nodes/kinds.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY UINT16_MAX
#define MOST_KINDS 1000

const struct ker_option node_kind_options[] = {
    {"nodes[].name", KER_TYPE_STRING, "", NULL, NULL, NULL,
     "The name of a kind of node, for jobs[].kind and messages; default kind0, kind1, ... The other keys of "
     "a member of nodes are node's, and stand for them on its nodes."},
    {"nodes[].count", KER_TYPE_INT, NULL, "1", NULL, NULL,
     "How many nodes are of this kind: the next n that no nodes[].list names. One kind may have neither "
     "count nor list: it has the nodes that are left."},
    {"nodes[].list", KER_TYPE_STRING, NULL, NULL, NULL, NULL,
     "The nodes of this kind: numbers and ranges, \"0-15,32,40-60:4\" (each 4th from 40 to 60)."},
    {0},
};

/* Nodes first, first + 1, ... up to the next run. */
struct run {
    uint32_t first, before; /* before: nodes of this kind in earlier runs */
    uint16_t kind;
};

struct kind {
    struct node_kind public;
    char *name, *group;
    uint32_t *run; /* its runs, in order */
    uint32_t runs;
};

struct node_kinds {
    uint32_t count, runs, nodes;
    struct kind *kind;
    struct run *run;
};

/* ---- which node is whose ---- */

struct owners {
    const struct ker_config *config;
    struct ker_error *error;
    const struct node_kinds *kinds;
    uint16_t *owner; /* of each node */
    char key[64];
};

static const char *owners_key(struct owners *o, uint32_t kind, const char *word)
{
    snprintf(o->key, sizeof o->key, "nodes[%u].%s", kind, word);
    return o->key;
}

static enum ker_status own(struct owners *o, uint32_t kind, uint32_t node)
{
    if (o->owner[node] != NOBODY)
        return ker_config_fail(o->config, o->error, o->key, "node %u is of kind '%s' already", node,
                               o->kinds->kind[o->owner[node]].name);
    o->owner[node] = (uint16_t)kind;
    return KER_OK;
}

static enum ker_status list_read(struct owners *o, uint32_t kind)
{
    struct ker_ranges ranges = {o->config, owners_key(o, kind, "list"), "node", "the system",
                                o->kinds->nodes};
    struct ker_range range;
    bool some;
    enum ker_status status = ker_ranges_next(&ranges, &range, &some, o->error);
    while (!status && some) {
        for (uint64_t node = range.first; node <= range.last && !status; node += range.step)
            status = own(o, kind, (uint32_t)node);
        status = status ?: ker_ranges_next(&ranges, &range, &some, o->error);
    }
    return status;
}

/* The next `count` nodes that are nobody's, from *from on. */
static enum ker_status count_read(struct owners *o, uint32_t kind, uint32_t *from)
{
    int64_t count = ker_config_int(o->config, owners_key(o, kind, "count")), found = 0;
    for (; *from < o->kinds->nodes && found < count; ++*from)
        if (o->owner[*from] == NOBODY) {
            o->owner[*from] = (uint16_t)kind;
            found++;
        }
    if (found < count)
        return ker_config_fail(o->config, o->error, o->key,
                               "%lld nodes, but only %lld of the system's %u are left", (long long)count,
                               (long long)found, o->kinds->nodes);
    return KER_OK;
}

static enum ker_status rest_read(struct owners *o, uint32_t rest)
{
    uint32_t left = 0, first = 0;
    for (uint32_t node = o->kinds->nodes; node-- > 0;)
        if (o->owner[node] == NOBODY) {
            left++;
            first = node;
            o->owner[node] = (uint16_t)rest;
        }
    if (rest != NOBODY && left == 0)
        return ker_config_fail(o->config, o->error, owners_key(o, rest, "name"),
                               "no node is left for kind '%s': the others have all %u of the system",
                               o->kinds->kind[rest].name, o->kinds->nodes);
    if (rest == NOBODY && left > 0)
        return ker_config_fail(
            o->config, o->error, owners_key(o, o->kinds->count - 1, "count"),
            "%u nodes of the system's %u are of no kind, the first is %u: a kind without count "
            "and list would have them",
            left, o->kinds->nodes, first);
    return KER_OK;
}

static enum ker_status owners_read(struct owners *o)
{
    uint32_t kinds = o->kinds->count, rest = NOBODY, from = 0;
    enum ker_status status = KER_OK;
    for (uint32_t k = 0; k < kinds && !status; k++) {
        bool counted = ker_config_has(o->config, owners_key(o, k, "count")),
             listed = ker_config_has(o->config, owners_key(o, k, "list"));
        if (counted && listed)
            return ker_config_fail(o->config, o->error, o->key,
                                   "give nodes[%u].list or nodes[%u].count, not both", k, k);
        if (!counted && !listed && rest != NOBODY)
            return ker_config_fail(
                o->config, o->error, owners_key(o, k, "count"),
                "is missing, and so is nodes[%u].list: the nodes that are left are of kind '%s'", k,
                o->kinds->kind[rest].name);
        if (!counted && !listed)
            rest = k;
        if (listed)
            status = list_read(o, k);
    }
    for (uint32_t k = 0; k < kinds && !status; k++)
        if (ker_config_has(o->config, owners_key(o, k, "count")))
            status = count_read(o, k, &from);
    return status ?: rest_read(o, rest);
}

static void runs_make(struct node_kinds *kinds, const uint16_t *owner)
{
    uint32_t room = 0;
    for (uint32_t node = 0; node < kinds->nodes; node++) {
        struct kind *k = &kinds->kind[owner[node]];
        if (node == 0 || owner[node] != owner[node - 1]) {
            *KER_PUSH(kinds->run, kinds->runs, room) = (struct run){node, k->public.nodes, owner[node]};
            *KER_APPEND(k->run, k->runs) = kinds->runs - 1;
        }
        k->public.nodes++;
    }
}

/* ---- the kinds themselves ---- */

static enum ker_status names_read(struct node_kinds *kinds, const struct ker_config *config,
                                  struct ker_error *error)
{
    for (uint32_t k = 0; k < kinds->count; k++) {
        struct kind *one = &kinds->kind[k];
        const char *key = KER_KEY("nodes[%u].name", k);
        const char *name = ker_config_string(config, key);
        one->name = *name ? ker_format("%s", name) : ker_format("kind%u", k);
        one->group = ker_format("nodes[%u]", k);
        for (uint32_t other = 0; other < k; other++)
            if (strcmp(kinds->kind[other].name, one->name) == 0)
                return ker_config_fail(config, error, key, "nodes[%u] has the name '%s' already", other,
                                       one->name);
    }
    return KER_OK;
}

static enum ker_status kind_read(struct kind *k, const struct ker_config *config, uint32_t adapters,
                                 struct ker_error *error)
{
    enum ker_status status = node_rates_read(&k->public.rates, config, k->group, error);
    return status ?: node_structure_read(&k->public.structure, config, k->group, adapters, error);
}

static enum ker_status kinds_read(struct node_kinds *kinds, const struct ker_config *config,
                                  uint32_t adapters, struct ker_error *error)
{
    struct owners o = {.config = config, .error = error, .kinds = kinds};
    enum ker_status status = names_read(kinds, config, error);
    if (!status) {
        o.owner = ker_alloc(kinds->nodes * sizeof *o.owner);
        memset(o.owner, 0xff, kinds->nodes * sizeof *o.owner);
        status = owners_read(&o);
    }
    if (!status)
        runs_make(kinds, o.owner);
    free(o.owner);
    for (uint32_t k = 0; k < kinds->count && !status; k++)
        status = kind_read(&kinds->kind[k], config, adapters, error);
    return status;
}

static enum ker_status kind_alone(struct node_kinds *kinds, const struct ker_config *config,
                                  uint32_t adapters, struct ker_error *error)
{
    struct kind *k = kinds->kind;
    k->name = ker_format("node");
    k->group = ker_format("node");
    k->public.nodes = kinds->nodes;
    *KER_APPEND(kinds->run, kinds->runs) = (struct run){0};
    *KER_APPEND(k->run, k->runs) = 0;
    return kind_read(k, config, adapters, error);
}

enum ker_status node_kinds_new(struct node_kinds **out, const struct ker_config *config, uint32_t nodes,
                               uint32_t adapters, struct ker_error *error)
{
    int count = ker_config_count(config, "nodes");
    *out = NULL;
    if (count > MOST_KINDS)
        return ker_config_fail(config, error, "nodes", "%d kinds of nodes; at most %d", count, MOST_KINDS);
    struct node_kinds *kinds = ker_alloc(sizeof *kinds);
    kinds->nodes = nodes;
    kinds->count = count ? (uint32_t)count : 1;
    kinds->kind = ker_alloc(kinds->count * sizeof *kinds->kind);
    enum ker_status status =
        count ? kinds_read(kinds, config, adapters, error) : kind_alone(kinds, config, adapters, error);
    for (uint32_t k = 0; k < kinds->count; k++) {
        kinds->kind[k].public.name = kinds->kind[k].name;
        kinds->kind[k].public.group = kinds->kind[k].group;
    }
    if (status)
        node_kinds_free(kinds);
    else
        *out = kinds;
    return status;
}

void node_kinds_free(struct node_kinds *kinds)
{
    if (!kinds)
        return;
    for (uint32_t k = 0; k < kinds->count; k++) {
        node_structure_release(&kinds->kind[k].public.structure);
        free(kinds->kind[k].name);
        free(kinds->kind[k].group);
        free(kinds->kind[k].run);
    }
    free(kinds->kind);
    free(kinds->run);
    free(kinds);
}

/* ---- asking ---- */

uint32_t node_kinds_count(const struct node_kinds *kinds)
{
    return kinds->count;
}

const struct node_kind *node_kinds_get(const struct node_kinds *kinds, uint32_t kind)
{
    ker_assert(kind < kinds->count);
    return &kinds->kind[kind].public;
}

uint32_t node_kinds_find(const struct node_kinds *kinds, const char *name)
{
    uint32_t k = 0;
    while (k < kinds->count && strcmp(kinds->kind[k].name, name) != 0)
        k++;
    return k;
}

/* The run that a node is in. */
static const struct run *run_of(const struct node_kinds *kinds, uint32_t node)
{
    return &kinds->run[KER_BISECT(at, 1, kinds->runs, kinds->run[at].first <= node) - 1];
}

uint32_t node_kinds_of(const struct node_kinds *kinds, uint32_t node)
{
    return kinds->runs == 1 ? 0 : run_of(kinds, node)->kind;
}

uint32_t node_kinds_rank(const struct node_kinds *kinds, uint32_t node)
{
    const struct run *run = run_of(kinds, node);
    return run->before + node - run->first;
}

uint32_t node_kinds_node(const struct node_kinds *kinds, uint32_t kind, uint32_t i)
{
    const struct kind *k = &kinds->kind[kind];
    ker_assert(i < k->public.nodes);
    uint32_t low = KER_BISECT(at, 1, k->runs, kinds->run[k->run[at]].before <= i) - 1;
    const struct run *run = &kinds->run[k->run[low]];
    return run->first + i - run->before;
}
