/* structure.c - the structure of a kind of node, from keys.
 *
 * Parts of the same kind are dealt evenly and in order: of n parts on k wholes part i is on whole i k / n,
 * rounded down. Cores go to domains in this way, domains and buses to sockets, and adapters to sockets unless
 * a key says where they are; adapters on one socket take its buses in turn.
 */
#include "nodes/structure.h"

#include <math.h>
#include <stdlib.h>

#define ONLY "jobs or traffic.outstanding!=0 or node.rail=fixed"
const struct ker_option node_structure_options[] = {
    {.key = "node.sockets",
     .type = KER_TYPE_INT,
     .fallback = "1",
     .minimum = "1",
     .maximum = "1024",
     .meaning = "Sockets of a node: its NUMA domains and buses are dealt to them evenly, in order.",
     .belongs = ONLY},
    {.key = "node.domains",
     .type = KER_TYPE_INT,
     .minimum = "1",
     .maximum = "1024",
     .meaning =
         "NUMA domains of a node, each with its own memory; its cores are dealt to them evenly, in order; "
         "absent: one for each socket.",
     .belongs = ONLY},
    {.key = "node.threads",
     .type = KER_TYPE_INT,
     .fallback = "1",
     .minimum = "1",
     .maximum = "64",
     .meaning =
         "Hardware threads of a core: a task needs one. The first threads of all cores come first, so that "
         "tasks share cores only when there are more of them than cores.",
     .belongs = ONLY},
    {.key = "node.thread_throughput",
     .type = KER_TYPE_REAL,
     .fallback = "1",
     .minimum = "0.001",
     .maximum = "64",
     .meaning =
         "What the hardware threads of a core do together when all of them compute, against one that has "
         "the core alone.",
     .belongs = "node.threads!=1"},
    {.key = "node.core_speeds",
     .type = KER_TYPE_REAL | KER_TYPE_LIST,
     .fallback = "1",
     .minimum = "0.001",
     .maximum = "1000",
     .meaning =
         "How fast cores compute, against the usual one: a value for each core, or for as many groups of "
         "cores, of equal size and in order.",
     .belongs = ONLY},
    {.key = "node.buses",
     .type = KER_TYPE_INT,
     .fallback = "1",
     .minimum = "1",
     .maximum = "64",
     .meaning = "Buses of each socket; adapters on a socket take them in turn.",
     .belongs = ONLY},
    {.key = "node.adapter_sockets",
     .type = KER_TYPE_INT | KER_TYPE_LIST,
     .minimum = "0",
     .maximum = "1023",
     .meaning = "The socket of each adapter; absent: adapters are dealt to the sockets evenly, in order.",
     .belongs = ONLY},
    {0},
};

/* Of n parts on k wholes. */
static uint16_t dealt(uint32_t part, uint32_t n, uint32_t k)
{
    return (uint16_t)((uint64_t)part * k / n);
}

enum node_distance node_domain_distance(const struct node_structure *s, uint32_t domain, uint32_t other)
{
    if (domain == other)
        return NODE_SAME_DOMAIN;
    return s->domain_socket[domain] == s->domain_socket[other] ? NODE_SAME_SOCKET : NODE_OTHER_SOCKET;
}

uint32_t node_thread_speed(const struct node_structure *s, uint32_t core, uint32_t busy)
{
    uint32_t threads = s->core[core].threads;
    uint64_t speed = s->core[core].speed;
    ker_assert(busy > 0 && busy <= threads);
    if (busy > 1) {
        int64_t more = ((int64_t)s->throughput - NODE_SPEED) * (busy - 1) / (threads - 1);
        speed = speed * (uint64_t)(NODE_SPEED + more) / NODE_SPEED / busy;
    }
    return speed ? (uint32_t)speed : 1;
}

void node_structure_release(struct node_structure *s)
{
    free(s->domain_socket);
    free(s->core);
    free(s->unit_core);
    free(s->bus_socket);
    free(s->adapter_bus);
    *s = (struct node_structure){0};
}

/* Counts are set, and threads of all cores alike. */
static void structure_make(struct node_structure *s, uint32_t threads)
{
    s->units = s->cores * threads;
    s->domain_socket = ker_alloc(s->domains * sizeof *s->domain_socket);
    s->core = ker_alloc(s->cores * sizeof *s->core);
    s->unit_core = ker_alloc(s->units * sizeof *s->unit_core);
    s->bus_socket = ker_alloc(s->buses * sizeof *s->bus_socket);
    s->adapter_bus = ker_alloc(s->adapters * sizeof *s->adapter_bus);
    for (uint32_t i = 0; i < s->domains; i++)
        s->domain_socket[i] = dealt(i, s->domains, s->sockets);
    for (uint32_t i = 0; i < s->cores; i++)
        s->core[i] = (struct node_core){dealt(i, s->cores, s->domains), (uint16_t)threads, NODE_SPEED};
    for (uint32_t i = 0; i < s->units; i++)
        s->unit_core[i] = (uint16_t)(i % s->cores);
    for (uint32_t i = 0; i < s->buses; i++)
        s->bus_socket[i] = dealt(i, s->buses, s->sockets);
}

void node_structure_plain(struct node_structure *s, uint32_t cores, uint32_t adapters)
{
    *s = (struct node_structure){.sockets = 1,
                                 .domains = 1,
                                 .cores = cores,
                                 .buses = 1,
                                 .adapters = adapters,
                                 .throughput = NODE_SPEED};
    structure_make(s, 1);
}

/* ---- keys ---- */

/* Where a kind's keys stand: in its own group, or else in `node`. */
struct keys {
    const struct ker_config *config;
    const char *group;
    char path[96];
};

static const char *key_of(struct keys *k, const char *word)
{
    snprintf(k->path, sizeof k->path, "%s.%s", k->group, word);
    if (strcmp(k->group, "node") != 0 && !ker_config_has(k->config, k->path))
        snprintf(k->path, sizeof k->path, "node.%s", word);
    return k->path;
}

static uint32_t key_number(struct keys *k, const char *word)
{
    return (uint32_t)ker_config_int(k->config, key_of(k, word));
}

static uint32_t millionths(double value)
{
    return (uint32_t)llround(value * NODE_SPEED);
}

static enum ker_status speeds_read(struct node_structure *s, struct keys *k, struct ker_error *error)
{
    const char *key = key_of(k, "core_speeds");
    uint32_t count = (uint32_t)ker_config_count(k->config, key);
    if (count == 0 || count > s->cores || s->cores % count != 0)
        return ker_config_fail(
            k->config, error, key,
            "%u values for %u cores; give one for each core, or for each of several groups of "
            "equal size",
            count, s->cores);
    for (uint32_t i = 0; i < s->cores; i++)
        s->core[i].speed = millionths(ker_config_real_at(k->config, key, (int)(i / (s->cores / count))));
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
    if (given && (uint32_t)ker_config_count(k->config, key) != s->adapters)
        return ker_config_fail(k->config, error, key,
                               "%d values, but node.adapters is %u: give the socket of each",
                               ker_config_count(k->config, key), s->adapters);
    uint16_t *socket = ker_alloc(s->adapters * sizeof *socket);
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < s->adapters && !status; i++) {
        socket[i] =
            given ? (uint16_t)ker_config_int_at(k->config, key, (int)i) : dealt(i, s->adapters, s->sockets);
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
    s->throughput = millionths(ker_config_real(k->config, key_of(k, "thread_throughput")));
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
                               "%u cores of %u threads: at most %u threads "
                               "make a node",
                               s->cores, *threads, NODE_MOST_UNITS);
    return KER_OK;
}

enum ker_status node_structure_read(struct node_structure *s, const struct ker_config *config,
                                    const char *group, uint32_t adapters, struct ker_error *error)
{
    struct keys k = {.config = config, .group = group};
    uint32_t threads;
    *s = (struct node_structure){.adapters = adapters};
    enum ker_status status = counts_read(s, &k, &threads, error);
    if (status)
        return status;
    structure_make(s, threads);
    status = speeds_read(s, &k, error);
    if (!status)
        status = adapters_read(s, &k, error);
    if (status)
        node_structure_release(s);
    return status;
}
