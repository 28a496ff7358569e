/* comm.h - the ranks of this run, as far as anything outside the engine needs them.
 *
 * Without mpirun there is one rank and MPI is not even initialised (it would cost more memory and time than
 * a small simulation). Rank 0 is the control rank. All calls are collective unless it says otherwise.
 */
#pragma once

#include "kernel/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct ker_comm;

/* Starts MPI when this process was launched by an MPI launcher and MPI does not run already. */
enum ker_status ker_comm_init(struct ker_comm **comm, int *argc, char ***argv, struct ker_error *error);
/* Ends MPI when this comm started it. */
void ker_comm_release(struct ker_comm *comm);
/* A communicator of this process alone, for tests and for --check without mpirun. */
struct ker_comm *ker_comm_alone(void);

int ker_comm_rank(const struct ker_comm *);
int ker_comm_size(const struct ker_comm *);
/* Ranks on this host. */
int ker_comm_host_size(const struct ker_comm *);

/* All ranks learn the worst status; the lowest rank that has it prints its text to standard error as
 * "marssim: error: ..."; every rank returns that status. */
enum ker_status ker_comm_agree(struct ker_comm *, const struct ker_error *error);

/* The same without a word: all ranks learn the worst status, so that none waits for another that has failed.
 * The text stays with the rank that has it, for the next ker_comm_agree. */
enum ker_status ker_comm_worst(struct ker_comm *, enum ker_status);

void ker_comm_sum_u64(struct ker_comm *, uint64_t *values, size_t count); /* in place, on all ranks */
void ker_comm_or_u64(struct ker_comm *, uint64_t *values, size_t count);
void ker_comm_max_i64(struct ker_comm *, int64_t *values, size_t count);
void ker_comm_min_i64(struct ker_comm *, int64_t *values, size_t count);
void ker_comm_broadcast(struct ker_comm *, void *data, size_t bytes); /* from rank 0 */

/* Rank 0 gets the bytes of every rank, in rank order: a malloc'ed block whose part of rank r begins at
 * offset[r] and ends at offset[r + 1] (offset is malloc'ed too, size + 1 entries). Other ranks get NULL. */
void ker_comm_gather(struct ker_comm *, const void *data, size_t bytes, void **all, size_t **offset);
/* The same on every rank. */
void ker_comm_allgather(struct ker_comm *, const void *data, size_t bytes, void **all, size_t **offset);

/* Each rank has bytes for every rank, those for rank r from offset[r] up to offset[r + 1], and gets what all
 * have for it, as above. */
void ker_comm_exchange(struct ker_comm *, const void *data, const size_t *offset, void **all, size_t **from);

/* Bytes to rank 0, which takes as many in one call: not collective. Puts of a rank are taken in their order;
 * one may wait until it is taken. */
void ker_comm_put(struct ker_comm *, const void *data, size_t bytes);
void ker_comm_take(struct ker_comm *, int rank, void *data, size_t bytes);

/* As if each rank were on a host of its own: a test of collectives by MPI. */
void ker_comm_apart(struct ker_comm *);

/* The first `count` ranks as a comm of their own, to be released; NULL on the other ranks. */
struct ker_comm *ker_comm_first(struct ker_comm *, int count);
/* The ranks of this host as a comm of their own, in the same order, to be released. */
struct ker_comm *ker_comm_here(struct ker_comm *);
/* Waits until all ranks are here; those that come early sleep and leave the cores to the others. Meanwhile
 * they call `nap` every few milliseconds, where it is given. */
void ker_comm_meet(struct ker_comm *, void (*nap)(struct ker_comm *));
