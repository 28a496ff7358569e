/* fold.h - boxes of a torus or mesh for jobs that see a torus of their own. Private to tasks/jobs/.
 *
 * Dimension i of the job's torus is made of the dimensions i, i + k, i + 2 k, ... of the network, k being how
 * many the job's torus has: of Tofu's x y z a b c three of them are x a, y b and z c. Each of its rings is a
 * Hamiltonian cycle of the box's switches in these dimensions, so that neighbours in the job's torus are
 * neighbours in the network (Ajima et al. 2009).
 */
#pragma once

#include "tasks/jobs/allocation.h"

struct task_fold;

/* Reads jobs[job].shape into *fold, which is malloc'ed, and chooses the box: of those whose rings close, the
 * one with the least sum of extents. */
enum ker_status task_fold_read(struct task_fold **, const struct ker_config *, uint32_t job,
                               const struct task_allocation *, struct ker_error *);

/* The first box of which all nodes are free, the job's first dimension running fastest. */
task_allocation_order task_fold_place;
