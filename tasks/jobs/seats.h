/* seats.h - which tasks, of all jobs, sit on which core of which node, as one sorted table. Private to
 * tasks/jobs/jobs.c.
 *
 * 16 bytes a task, made at set-up on every rank alike, when there is more than one job or a placement from a
 * file.
 */
#pragma once

#include "tasks/jobs/placement.h"

/* The seats of all tasks of all jobs, ordered by (node, job, task); malloc'ed into *seat. Returns how many
 * there are. */
size_t task_seats_make(const struct task_placement *const *placement, uint32_t jobs, struct task_seat **seat);

/* A copy ordered by (node, core, job, task), malloc'ed. */
struct task_seat *task_seats_by_core(const struct task_seat *, size_t count);

/* Index of the first seat of this node, or behind it, that belongs to this job or a later one: a binary
 * search. */
size_t task_seats_find(const struct task_seat *, size_t count, uint32_t node, uint32_t job);
