/* stats.h - what --stats counts: stats.c and phases.c fill it in, stats_print.c prints it. */
#pragma once

#include "tools/marsconv/walk.h"

#include <stdio.h>

struct stats_function { /* of a task */
    uint32_t task;
    char *name;
    uint64_t calls, bytes, time_ns;
};

struct stats_pair { /* messages from one task to another */
    uint32_t from, to;
    uint64_t messages, bytes;
};

struct stats_comm {
    uint64_t id;
    uint32_t size;
    bool inter;
    struct mars_ranks member; /* in the world */
    uint64_t calls, bytes;    /* of all its members: calls that name it */
};

struct stats_task {
    uint64_t time_ns; /* from the return of its first call to the end of its last */
    uint64_t compute_ns, away_ns, mpi_ns, polled_ns;
};

#define STATS_SIZES 65 /* messages of 0 bytes, of 1, of 2 and 3, of 4 to 7, ... */

#define PHASES_MOST 256
struct stats_phase { /* a kind of them */
    uint64_t hash;
    char *text; /* "6 MPI_Irecv, 6 MPI_Send, MPI_Allreduce" */
    uint64_t count, calls, time_ns, compute_ns;
};

struct stats_phases {
    struct stats_phase kind[PHASES_MOST];
    uint32_t kinds;
    uint64_t others; /* phases of more kinds than these */
    /* The one that is going on. */
    uint64_t hash, calls, time_ns, compute_ns, repeat;
    char text[400], last[64]; /* the last function, `repeat` times, is not yet in the text */
};

struct stats {
    const struct conv_source *source;
    struct stats_function *function;
    size_t functions, function_room;
    struct stats_pair *pair;
    size_t pairs, pair_room;
    struct stats_comm *comm; /* in order of first appearance */
    size_t comms, comm_room;
    struct ker_table comm_places; /* by id */
    struct stats_task *task;
    uint64_t messages[STATS_SIZES], bytes[STATS_SIZES];
    struct stats_phases phases;
};

/* A record of task 0's first thread. quiet: it concerns no other task; ends: it is a collective of all tasks,
 * which ends a phase. */
void stats_phase_add(struct stats_phases *, const struct conv_record *, bool quiet, bool ends);
void stats_phase_end(struct stats_phases *); /* nothing follows */

bool stats_print(const struct stats *, FILE *);
bool stats_print_json(const struct stats *, FILE *);

/* Of all tasks. */
struct stats_sum {
    uint64_t calls, bytes, time_ns, least, most; /* least, most: calls of one task */
};
