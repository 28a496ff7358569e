/* measure.c - who measures what with whom, start by start.
 *
 * A start has a communicator and buffers of its own, as the times of two starts differ by where buffers come
 * to lie and by what the machine does just then; so the minimum of all counts, and the spread of the starts'
 * minima says how sure it is. Tasks that have nothing to do sleep, so that they take no core from those that
 * measure.
 */
#define _GNU_SOURCE
#include "tools/marsbench/measure.h"

#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const bench_part_names[BENCH_PARTS] = {"messages", "overheads", "collectives", "local"};

/* A barrier in which nobody takes a core. */
static void sleep_together(MPI_Comm comm)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(comm, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* ---- who is where ---- */

/* The socket that the task runs on; 0 where that cannot be known. */
static int socket_find(void)
{
    hwloc_topology_t topology;
    int socket = 0;
    if (hwloc_topology_init(&topology) != 0)
        return 0;
    if (hwloc_topology_load(topology) == 0) {
        hwloc_bitmap_t set = hwloc_bitmap_alloc();
        if (hwloc_get_last_cpu_location(topology, set, HWLOC_CPUBIND_THREAD) == 0)
            for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, o));)
                if (hwloc_bitmap_intersects(o->cpuset, set))
                    socket = (int)o->logical_index;
        hwloc_bitmap_free(set);
    }
    hwloc_topology_destroy(topology);
    return socket;
}

static void places_find(struct bench_run *run)
{
    MPI_Comm inside;
    int first = run->rank, socket = socket_find();
    MPI_Comm_split_type(run->world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &inside);
    MPI_Bcast(&first, 1, MPI_INT, 0, inside);
    MPI_Comm_free(&inside);
    run->node = ker_alloc((size_t)run->size * sizeof *run->node);
    run->socket = ker_alloc((size_t)run->size * sizeof *run->socket);
    MPI_Allgather(&first, 1, MPI_INT, run->node, 1, MPI_INT, run->world);
    MPI_Allgather(&socket, 1, MPI_INT, run->socket, 1, MPI_INT, run->world);
    for (int r = 0; r < run->size; r++)
        run->nodes += run->node[r] == r;
    run->per_node = ((uint32_t)run->size + run->nodes - 1) / run->nodes;
    for (int w = 0; w < BENCH_WHERES; w++)
        run->pair[w][0] = -1;
    for (int a = 0; a < run->size; a++)
        for (int b = a + 1; b < run->size && a < 64; b++) {
            enum bench_where w = run->node[a] != run->node[b]       ? BENCH_NODE
                                 : run->socket[a] != run->socket[b] ? BENCH_SOCKET
                                                                    : BENCH_CORE;
            if (run->pair[w][0] < 0) {
                run->pair[w][0] = a;
                run->pair[w][1] = b;
            }
        }
}

static void start_measure(struct bench_run *run)
{
    const struct bench_settings *s = run->settings;
    size_t room = (size_t)s->most + KER_PAGE;
    MPI_Comm_dup(run->world, &run->comm);
    run->from = ker_alloc(room);
    run->to = ker_alloc(room);
    memset(run->from, 1, room);
    memset(run->to, 1, room);
    for (int w = 0; w < BENCH_WHERES; w++) {
        if (run->pair[w][0] < 0)
            continue;
        if (s->part[BENCH_MESSAGES])
            bench_messages(run, (enum bench_where)w);
        sleep_together(run->comm);
        if (s->part[BENCH_OVERHEADS])
            bench_overheads(run, (enum bench_where)w);
        sleep_together(run->comm);
    }
    if (s->part[BENCH_LOCAL])
        bench_local(run);
    sleep_together(run->comm);
    if (s->part[BENCH_COLLECTIVES])
        bench_collectives(run);
    MPI_Comm_free(&run->comm);
    free(run->from);
    free(run->to);
}

bool bench_measure(const struct bench_settings *settings, struct bench_points *points)
{
    struct bench_run run = {.settings = settings, .world = MPI_COMM_WORLD};
    MPI_Comm_rank(run.world, &run.rank);
    MPI_Comm_size(run.world, &run.size);
    if (run.size < 2) {
        fprintf(stderr,
                "marsbench: error: one task has nobody to talk to: mpirun -n 2 marsbench (or more)\n");
        return false;
    }
    places_find(&run);
    if (run.rank == 0)
        fprintf(stderr, "marsbench: %d tasks on %u nodes, %u starts\n", run.size, run.nodes,
                settings->starts);
    for (uint32_t start = 0; start < settings->starts; start++)
        start_measure(&run);
    if (run.rank == 0)
        bench_points_make(&run, points);
    free(run.node);
    free(run.socket);
    return true;
}
