/* loggops.h - processes under the LogGOPS model, in place of nodes and a network of packets.
 *
 * The programs are graphs of operations (tasks/graphs/graph.h). Processes are numbered through all jobs and
 * spread over the ranks in that order. What is public of this stands in tasks/tasks.h.
 */
#ifndef TASKS_LOGGOPS_H
#define TASKS_LOGGOPS_H

#include "tasks/tasks.h"

struct loggops_system;

/* The job of a process. */
uint32_t loggops_job_of(const struct loggops_system *, uint32_t process);

/* What the MPI model calls where processes run programs of MPI. */
struct task_mpi_outside;
void loggops_outside(struct task_mpi_outside *);

/* Adds to the MPI model's table of tasks those of schedules that live on this rank, what they have done by
 * `at`; they have been recorded. */
struct stats_table;
void loggops_results(struct loggops_system *, struct stats_table *, ker_time at);
/* What they do is recorded, where that is wanted: timelines; messages by pairs of tasks, which are numbered
 * through all jobs. At the end of the run. */
struct stats_timeline;
struct stats_matrix;
void loggops_record_into(struct loggops_system *, struct stats_timeline *);
void loggops_pairs_into(struct loggops_system *, struct stats_matrix *);
void loggops_timeline_end(struct loggops_system *, ker_time end);

extern const struct ker_option loggops_options[];       /* network.model, loggops.* */
extern const struct ker_option loggops_class_options[]; /* loggops.classes[].* */
extern const struct ker_option loggops_noise_options[]; /* loggops.noise.* */

#endif
