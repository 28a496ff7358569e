/* keys.c - the structure of a kind of node, from keys.
 *
 * Parts of the same kind are dealt evenly and in order (node_dealt): cores to domains, domains and buses to
 * sockets, adapters to sockets unless a key says where they are. Adapters on one socket take its buses in
 * turn. A kind's own keys (nodes[2].sockets) stand for node's (node.sockets).
 */
#include "nodes/nodes.h"
#include "nodes/structure/hwloc.h"
#include "nodes/structure/make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of node, with defaults, and of the members of nodes, without: node's hold there. */
#define PLACES "jobs or traffic.outstanding!=0 or node.rail=fixed|nearest"
#define ADAPTERS "node.adapters!=1"
/* clang-format off */
#define STRUCTURE_KEYS(GROUP, DEFAULT) \
    {GROUP ".hwloc", KER_TYPE_FILE, NULL, NULL, NULL, NULL, \
     "The description of a machine, as lstopo --of xml writes it: sockets, domains, cores, hardware " \
     "threads, and where its network adapters are.", \
     .belongs = PLACES " or services or " ADAPTERS}, \
    {GROUP ".adapter_devices", KER_TYPE_STRING | KER_TYPE_LIST, NULL, NULL, NULL, NULL, \
     "Which network adapters of the description are the node's, by the names of their OS devices " \
     "(\"mlx5_0\"); absent: all of them.", \
     .belongs = GROUP ".hwloc"}, \
    {GROUP ".sockets", KER_TYPE_INT, DEFAULT("1"), "1", "1024", NULL, \
     "Sockets of a node: its NUMA domains and buses are dealt to them evenly, in order.", \
     .belongs = PLACES " or services or " ADAPTERS}, \
    {GROUP ".domains", KER_TYPE_INT, NULL, "1", "1024", NULL, \
     "NUMA domains of a node, each with its own memory; its cores are dealt to them evenly, in order; " \
     "absent: one for each socket.", \
     .belongs = "jobs or services"}, \
    {GROUP ".threads", KER_TYPE_INT, DEFAULT("1"), "1", "64", NULL, \
     "Hardware threads of a core: a task needs one. The first threads of all cores come first, so that " \
     "tasks share cores only when there are more of them than cores.", \
     .belongs = "jobs"}, \
    {GROUP ".map_by", KER_TYPE_CHOICE, DEFAULT("core"), NULL, NULL, "core|domain|socket", \
     "The order in which the tasks of a node take its cores (hardware threads): by their numbers, or " \
     "one of each NUMA domain, or of each socket, in turn. A placement file that names cores is not " \
     "asked.", \
     .belongs = "jobs"}, \
    {GROUP ".buses", KER_TYPE_INT, DEFAULT("1"), "1", "64", NULL, \
     "Buses of each socket; adapters on a socket take them in turn.", \
     .belongs = ADAPTERS}, \
    {GROUP ".adapter_sockets", KER_TYPE_INT | KER_TYPE_LIST, NULL, "0", "1023", NULL, \
     "The socket of each adapter; absent: adapters are dealt to the sockets evenly, in order.", \
     .belongs = ADAPTERS}

#define SPEED_KEYS(GROUP, DEFAULT) \
    {GROUP ".thread_throughput", KER_TYPE_REAL, DEFAULT("1"), "0.001", "64", NULL, \
     "What the hardware threads of a core do together when all of them compute, against one that has the " \
     "core alone.", \
     .belongs = "jobs & network.model=@nodes"}, \
    {GROUP ".core_speeds", KER_TYPE_REAL | KER_TYPE_LIST, DEFAULT("1"), "0.001", "1000", NULL, \
     "How fast cores compute, against the usual one: a value for each core, or for as many groups " \
     "of cores, of equal size and in order; with a description for each kind of its cores, the " \
     "slowest first.", \
     .belongs = "jobs & network.model=@nodes"}
/* clang-format on */

const struct ker_option node_structure_options[] = {
    STRUCTURE_KEYS("node", NODE_KEY_GIVEN),
    STRUCTURE_KEYS("nodes[]", NODE_KEY_ABSENT),
    SPEED_KEYS("node", NODE_KEY_GIVEN),
    SPEED_KEYS("nodes[]", NODE_KEY_ABSENT),
    {"nodes[].adapters", KER_TYPE_INT, NULL, "1", "64", NULL,
     "How many of node.adapters adapters the nodes of this kind have: the first ones. What is sent between "
     "two nodes takes those that both have.",
     .belongs = ADAPTERS},
    {"nodes[].cores", KER_TYPE_INT, NULL, "1", "65000", NULL, "As node.cores, for this kind of node.",
     .belongs = PLACES},
    {0},
};

/* ---- keys ---- */

/* Where a kind's keys are: in its own group, or else in `node`. */
struct keys {
    const struct ker_config *config;
    const char *group;
    char path[NODE_KEY_PATH];
};

static const char *key_of(struct keys *k, const char *word)
{
    return node_kind_key(k->path, k->config, k->group, word);
}

static uint32_t key_number(struct keys *k, const char *word)
{
    return (uint32_t)ker_config_int(k->config, key_of(k, word));
}

static uint32_t millionths(double value)
{
    return (uint32_t)llround(value * NODE_SPEED);
}

/* A value for each core, for each of several groups of cores of equal size, or for each kind of core. */
static enum ker_status speeds_read(struct node_structure *s, struct keys *k, const struct node_hwloc *h,
                                   struct ker_error *error)
{
    s->throughput = millionths(ker_config_real(k->config, key_of(k, "thread_throughput")));
    const char *key = key_of(k, "core_speeds");
    uint32_t count = (uint32_t)ker_config_count(k->config, key);
    bool kinds = h && h->core_kinds > 1 && count == h->core_kinds;
    if (!kinds && (count == 0 || count > s->cores || s->cores % count != 0))
        return ker_config_fail(
            k->config, error, key,
            "%u values for %u cores; give one for each core, or for each of several groups of equal size%s",
            count, s->cores, h && h->core_kinds > 1 ? ", or for each kind of core of the description" : "");
    for (uint32_t i = 0; i < s->cores; i++)
        s->core[i].speed = millionths(
            ker_config_real_at(k->config, key, (int)(kinds ? h->core_kind[i] : i / (s->cores / count))));
    return KER_OK;
}

/* Adapters that are on a socket take its buses, of which each socket has as many, in turn. */
static void adapters_place(struct node_structure *s, const uint16_t *socket)
{
    uint32_t each = s->buses / s->sockets;
    uint32_t *turn = ker_alloc(s->sockets * sizeof *turn);
    for (uint32_t i = 0; i < s->adapters; i++)
        s->adapter_bus[i] = (uint16_t)(socket[i] * each + turn[socket[i]]++ % each);
    free(turn);
}

static enum ker_status adapters_read(struct node_structure *s, struct keys *k, struct ker_error *error)
{
    const char *key = key_of(k, "adapter_sockets");
    bool given = ker_config_has(k->config, key);
    int count = ker_config_count(k->config, key);
    if (given && (uint32_t)count != s->adapters)
        return ker_config_fail(k->config, error, key,
                               "%d value%s, but such a node has %u adapters: give the socket of each", count,
                               count == 1 ? "" : "s", s->adapters);
    uint16_t *socket = ker_alloc(s->adapters * sizeof *socket);
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < s->adapters && !status; i++) {
        socket[i] = given ? (uint16_t)ker_config_int_at(k->config, key, (int)i)
                          : node_dealt(i, s->adapters, s->sockets);
        if (socket[i] >= s->sockets)
            status = ker_config_fail(k->config, error, key,
                                     "adapter %u on socket %u: the node has the sockets 0 to %u", i,
                                     socket[i], s->sockets - 1);
    }
    if (!status)
        adapters_place(s, socket);
    free(socket);
    return status;
}

static enum ker_status counts_read(struct node_structure *s, struct keys *k, uint32_t *threads,
                                   struct ker_error *error)
{
    s->cores = key_number(k, "cores");
    s->sockets = key_number(k, "sockets");
    s->domains = ker_config_has(k->config, key_of(k, "domains")) ? key_number(k, "domains") : s->sockets;
    s->buses = s->sockets * key_number(k, "buses");
    *threads = key_number(k, "threads");
    if (s->domains < s->sockets)
        return ker_config_fail(k->config, error, key_of(k, "domains"),
                               "%u NUMA domains on %u sockets: each socket has one at least", s->domains,
                               s->sockets);
    if (s->cores < s->domains)
        return ker_config_fail(k->config, error, key_of(k, "cores"),
                               "%u cores in %u NUMA domains: each domain has one at least", s->cores,
                               s->domains);
    if (s->buses > NODE_MOST_PARTS)
        return ker_config_fail(k->config, error, key_of(k, "buses"), "makes %u buses; at most %u", s->buses,
                               NODE_MOST_PARTS);
    if ((uint64_t)s->cores * *threads > NODE_MOST_UNITS)
        return ker_config_fail(k->config, error, key_of(k, "threads"),
                               "%u cores of %u threads: at most %u threads make a node", s->cores, *threads,
                               NODE_MOST_UNITS);
    return KER_OK;
}

static const struct ker_word map_words[] = {
    {"core", NODE_MAP_BY_CORE}, {"domain", NODE_MAP_BY_DOMAIN}, {"socket", NODE_MAP_BY_SOCKET}, {0}};

static enum node_map_by map_read(struct keys *k)
{
    return (enum node_map_by)ker_config_number(k->config, key_of(k, "map_by"), map_words);
}

static enum ker_status by_keys(struct node_structure *s, struct keys *k, struct ker_error *error)
{
    uint32_t threads;
    enum ker_status status = counts_read(s, k, &threads, error);
    if (status)
        return status;
    node_structure_make(s, threads);
    status = speeds_read(s, k, NULL, error);
    status = status ?: adapters_read(s, k, error);
    if (status)
        node_structure_release(s);
    else
        node_structure_finish(s, map_read(k));
    return status;
}

/* ---- a description ---- */

/* What a description says; in one group there is no second word about it. */
static const char *const described[] = {"cores", "sockets", "domains", "threads", "buses"};

static bool given(const struct keys *k, const char *word)
{
    return ker_config_has(k->config, KER_KEY("%s.%s", k->group, word));
}

/* Does a description count? The kind's own, or that of node, when the kind has no keys for what it says. */
static bool is_described(struct keys *k)
{
    bool own = given(k, "hwloc");
    for (size_t i = 0; i < sizeof described / sizeof *described && !own; i++)
        if (given(k, described[i]))
            return false;
    return ker_config_has(k->config, key_of(k, "hwloc"));
}

static const char **devices_read(struct keys *k, uint32_t adapters, struct ker_error *error)
{
    const char *key = key_of(k, "adapter_devices");
    uint32_t count = (uint32_t)ker_config_count(k->config, key);
    if (count != adapters) {
        ker_config_fail(k->config, error, key, "%u names, but node.adapters is %u: name the device of each",
                        count, adapters);
        return NULL;
    }
    const char **name = ker_alloc(count * sizeof *name);
    for (uint32_t i = 0; i < count; i++)
        name[i] = ker_config_string_at(k->config, key, (int)i);
    return name;
}

static enum ker_status description_read(struct node_structure *s, struct keys *k, struct node_hwloc *h,
                                        struct ker_error *error)
{
    char *text = NULL, *why = NULL;
    size_t bytes;
    const char **devices = NULL;
    if (ker_config_has(k->config, key_of(k, "adapter_devices")) &&
        (devices = devices_read(k, h->adapters, error)) == NULL)
        return KER_BAD_INPUT;
    h->devices = devices;
    char *path = ker_format("%s", ker_config_file(k->config, key_of(k, "hwloc")));
    enum ker_status status = ker_input_read(ker_config_inputs(k->config), path, &text, &bytes, error);
    if (!status && !node_structure_hwloc(s, h, text, bytes, &why))
        status = ker_config_fail(k->config, error, key_of(k, "hwloc"), "%s %s", path, why);
    KER_FREE(why, text, path, devices);
    return status;
}

/* Where the description has no adapters, each socket has a bus, and adapters are where keys say. */
static enum ker_status adapters_add(struct node_structure *s, struct keys *k, struct ker_error *error)
{
    s->buses = s->sockets;
    s->bus_socket = ker_alloc(s->buses * sizeof *s->bus_socket);
    s->adapter_bus = ker_alloc(s->adapters * sizeof *s->adapter_bus);
    for (uint32_t i = 0; i < s->buses; i++)
        s->bus_socket[i] = (uint16_t)i;
    return adapters_read(s, k, error);
}

static enum ker_status by_description(struct node_structure *s, struct keys *k, struct ker_error *error)
{
    struct node_hwloc h = {.adapters = s->adapters};
    struct keys node = {.config = k->config, .group = "node"}, *by = given(k, "hwloc") ? k : &node;
    for (size_t i = 0; i < sizeof described / sizeof *described; i++)
        if (given(by, described[i])) {
            snprintf(k->path, sizeof k->path, "%s.%s", by->group, described[i]);
            return ker_config_fail(k->config, error, k->path,
                                   "is beside %s.hwloc, which says it: give one of them", by->group);
        }
    enum ker_status status = description_read(s, k, &h, error);
    if (status)
        return status;
    if (h.located && given(by, "adapter_sockets"))
        status = ker_config_fail(k->config, error, key_of(k, "adapter_sockets"),
                                 "is beside %s.hwloc, which says where its adapters are", by->group);
    if (!status && !h.located)
        status = adapters_add(s, k, error);
    status = status ?: speeds_read(s, k, &h, error);
    free(h.core_kind);
    if (status)
        node_structure_release(s);
    else
        node_structure_finish(s, map_read(k));
    return status;
}

enum ker_status node_structure_read(struct node_structure *s, const struct ker_config *config,
                                    const char *group, uint32_t adapters, struct ker_error *error)
{
    struct keys k = {.config = config, .group = group};
    *s = (struct node_structure){.adapters = adapters};
    if (strcmp(group, "node") != 0 && ker_config_has(config, key_of(&k, "adapters"))) {
        const char *key = key_of(&k, "adapters");
        s->adapters = (uint32_t)ker_config_int(config, key);
        if (s->adapters > adapters)
            return ker_config_fail(
                config, error, key,
                "is %u, but the topology has node.adapters = %u for each node: give at most "
                "that, or more of node.adapters",
                s->adapters, adapters);
    }
    return is_described(&k) ? by_description(s, &k, error) : by_keys(s, &k, error);
}
