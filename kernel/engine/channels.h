/* channels.h - who sends to whom: the ranks that a rank exchanges with, and on which hosts they are. Private
 * to kernel/engine.
 *
 * A channel stands for all interactions from one rank to another, with the least delay of any of them. Each
 * rank knows its own channels to others; who has a channel to it, it learns at set-up.
 */
#pragma once

#include "kernel/engine/exchange.h"
#include "kernel/engine/shared.h"

#include <mpi.h>
#include <stdint.h>

/* The ranks that share memory. */
struct hosts {
    struct ker_comm *here;     /* all ranks that can share memory with this one */
    struct shared_group group; /* those that do: of this host */
    MPI_Comm leaders;          /* the first of each host; MPI_COMM_NULL on other ranks, and on one host */
    int count, number;         /* of hosts; which this one is */
    int first;                 /* the rank that is the first of this host */
};

/* Collective. groups: 0: hosts as they are; else ranks are taken as if they were on n, consecutive ones
 * on each, where all are on one host or where there is a host for each rank. */
void hosts_make(struct hosts *, struct ker_comm *, int groups);
void hosts_release(struct hosts *);

#define CHANNELS_NONE UINT32_MAX

/* A rank with a channel to this one, or from it. */
struct neighbour {
    uint32_t rank;
    int place; /* on this host; -1: on another one */
};

struct channels {
    struct neighbour *neighbour; /* by rank */
    uint32_t *number;            /* by rank: which neighbour; CHANNELS_NONE */
    uint32_t count;
    ker_time into; /* least delay of a channel to this rank; KER_TIME_MAX: there is none */
};

/* Collective; costs a rank as much as it has neighbours, and one word for each rank. */
void channels_make(struct channels *, struct ker_comm *, const struct hosts *, const struct ker_channel *,
                   uint32_t count);
void channels_release(struct channels *);
