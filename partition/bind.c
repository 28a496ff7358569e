/* Binding ranks to cores, and the question whether they have one each.
 *
 * A launcher that binds leaves each rank a mask of its own cores only, so the cores of this host are the
 * union of the masks of its ranks. When there are enough, hwloc spreads the ranks over that union (far apart
 * caches first); a rank that its launcher has already bound is left alone. Discovering the topology costs
 * hwloc some milliseconds and megabytes, so it is asked only when a rank will really be bound.
 *
 * Tried and left out: clearing the inherited mask and asking hwloc for everything the control group allows;
 * that would break out of a mask somebody set on purpose (taskset, a batch system).
 */
#define _GNU_SOURCE
#include "partition/partition.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CPUS 8192

/* What each rank sends the others. */
struct place {
    char host[64];
    unsigned char mask[MAX_CPUS / 8]; /* as sched_getaffinity gives it */
};

static void place_read(struct place *place)
{
    memset(place, 0, sizeof *place);
    gethostname(place->host, sizeof place->host - 1);
    cpu_set_t *set = CPU_ALLOC(MAX_CPUS);
    size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
    CPU_ZERO_S(size, set);
    if (sched_getaffinity(0, size, set) != 0)
        CPU_SET_S(0, size, set);
    for (size_t i = 0; i < MAX_CPUS; i++)
        if (CPU_ISSET_S(i, size, set))
            place->mask[i / 8] |= (unsigned char)(1u << i % 8);
    CPU_FREE(set);
}

static int mask_count(const unsigned char *mask)
{
    int count = 0;
    for (size_t i = 0; i < MAX_CPUS / 8; i++)
        count += __builtin_popcount(mask[i]);
    return count;
}

/* A container's share of processor time, in whole processors; INT_MAX when it is not limited. */
static int quota_cores(void)
{
    FILE *in = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (!in)
        return INT_MAX;
    long long quota, period;
    int fields = fscanf(in, "%lld %lld", &quota, &period); /* "max 100000" gives 0 fields */
    fclose(in);
    if (fields != 2 || period <= 0)
        return INT_MAX;
    return quota < period ? 1 : (int)(quota / period);
}

static int limited(int cores)
{
    int quota = quota_cores();
    return quota < cores ? quota : cores;
}

int part_cores(void)
{
    struct place own;
    place_read(&own);
    return limited(mask_count(own.mask));
}

/* What the ranks of this host have together. */
struct host {
    int ranks, index; /* index of this rank among them */
    int cores, own_cores;
    unsigned char mask[MAX_CPUS / 8];
};

static void host_read(struct host *host, struct ker_comm *comm)
{
    struct place own, *all;
    size_t *offset;
    place_read(&own);
    memset(host, 0, sizeof *host);
    ker_comm_allgather(comm, &own, sizeof own, (void **)&all, &offset);
    for (int r = 0; r < ker_comm_size(comm); r++) {
        if (strcmp(all[r].host, own.host) != 0)
            continue;
        if (r == ker_comm_rank(comm))
            host->index = host->ranks;
        host->ranks++;
        for (size_t i = 0; i < sizeof host->mask; i++)
            host->mask[i] |= all[r].mask[i];
    }
    host->cores = limited(mask_count(host->mask));
    host->own_cores = mask_count(own.mask);
    free(all);
    free(offset);
}

/* The index-th of ranks sets of processors, spread over mask; false when hwloc cannot say. */
static bool choose_set(hwloc_topology_t topology, const struct host *host, hwloc_bitmap_t chosen)
{
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    for (unsigned i = 0; i < MAX_CPUS; i++)
        if (host->mask[i / 8] >> i % 8 & 1)
            hwloc_bitmap_set(mask, i);
    bool done = hwloc_topology_restrict(topology, mask, 0) == 0;
    hwloc_bitmap_free(mask);
    if (!done)
        return false;
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    hwloc_bitmap_t *sets = ker_alloc((size_t)host->ranks * sizeof *sets);
    done = hwloc_distrib(topology, &root, 1, sets, (unsigned)host->ranks, INT_MAX, 0) == 0;
    if (done) {
        hwloc_bitmap_copy(chosen, sets[host->index]);
        hwloc_bitmap_singlify(chosen);
        for (int i = 0; i < host->ranks; i++)
            hwloc_bitmap_free(sets[i]);
    }
    free(sets);
    return done && !hwloc_bitmap_iszero(chosen);
}

static bool bind_to_core(const struct host *host)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return false;
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    bool bound = false;
    if (hwloc_topology_load(topology) == 0) {
        hwloc_bitmap_t chosen = hwloc_bitmap_alloc();
        bound = choose_set(topology, host, chosen) &&
                hwloc_set_cpubind(topology, chosen, HWLOC_CPUBIND_PROCESS) == 0;
        hwloc_bitmap_free(chosen);
    }
    hwloc_topology_destroy(topology);
    return bound;
}

enum { BIND_AUTO, BIND_YES, BIND_NO }; /* partition.bind */

/* More ranks than cores: who works, and with what warning. */
static struct part_seats seats_share(const struct host *host, int ranks, bool all)
{
    const char *plural = host->cores == 1 ? "" : "s";
    if (all || host->ranks < ranks) {
        if (host->index == 0)
            ker_warn(
                "%d ranks share %d core%s on this host; they yield while they wait and the run will be slow",
                host->ranks, host->cores, plural);
        return (struct part_seats){ranks, true};
    }
    if (host->index == 0)
        ker_warn("%d ranks for %d core%s: the first %d simulate, the others sleep (partition.oversubscribe = "
                 "true makes all of them work, which is slower)",
                 host->ranks, host->cores, plural, host->cores);
    return (struct part_seats){host->cores, false};
}

struct part_seats part_bind(struct ker_comm *comm, const struct ker_config *config)
{
    static const struct ker_word words[] = {
        {"auto", BIND_AUTO}, {"yes", BIND_YES}, {"no", BIND_NO}, {NULL, 0}};
    int wanted = ker_config_number(config, "partition.bind", words), ranks = ker_comm_size(comm);
    struct part_seats seats = {ranks, false};
    if (ranks == 1 && wanted != BIND_YES)
        return seats;
    struct host host;
    host_read(&host, comm);
    if (host.ranks > host.cores)
        return seats_share(&host, ranks, ker_config_bool(config, "partition.oversubscribe"));
    bool launcher_bound = host.own_cores < mask_count(host.mask);
    bool bind = wanted == BIND_YES || (wanted == BIND_AUTO && !launcher_bound);
    if (bind && !bind_to_core(&host) && wanted == BIND_YES)
        ker_warn("could not bind rank %d to a core; it runs unbound", ker_comm_rank(comm));
    return seats;
}
