/* driven.h - the model of message-driven programs: a service of nodes beside that of MPI.
 *
 * It is a service of its own and no program of the MPI model, because nothing of MPI happens in it: no
 * receive is posted, nothing is matched, a message is for an object wherever that is by now, and what runs
 * next is decided by the core's scheduler when it is free. It shares jobs, placement, the network and the
 * tables of tasks with MPI, and both may run side by side in one system.
 *
 * Rules of the model:
 *  - Each task of the job is one core with a queue of what is ready, ordered by the entry method's priority
 *    (lower first), then by when it became ready. The core runs one block after the other, none is
 *    interrupted.
 *  - A block that takes m messages lasts m x node.receive_overhead + its time (x jobs[].processor_factor, and
 *    jobs[].compute_jitter at its end) + node.send_overhead for each message it sends. Its k-th message (from
 *    0) leaves at m x receive_overhead + its offset + (k + 1) x send_overhead.
 *  - To an object of the same core a message is there at once; on the same node it takes node_copy; else it
 *    is a message of the network. What is in flight is not limited; there is no rendezvous.
 *  - An object begins an iteration when it has done all blocks of the one before; what comes for a later
 *    iteration waits.
 *  - An object that moves is a message of its bytes. A message is sent to where its sender last heard that
 * the object is (first: where it began), which hands it on if the object has left, and notifies the sender.
 * The core where an object began is informed where it is now.
 *  - At a balance step (every n iterations) objects wait; a core whose objects all wait informs its two
 *    neighbours (the tasks before and behind it, in a ring) how long its objects have run since the last
 *    step, hears the same of them, decides which objects move to them, informs them how many, and continues.
 *
 * Order of calls as of the MPI model: new, name, reserve, a seat for each task, then the events.
 */
#pragma once

#include "nodes/nodes.h"
#include "tasks/mpi/mpi.h"

struct task_driven;
struct task_driven_node;

/* outside: send, timer, touch, work, job, node, jobs and seed are used. */
struct task_driven *task_driven_new(const struct node_model *, const struct task_mpi_outside *,
                                    uint32_t jobs);
void task_driven_free(struct task_driven *); /* takes NULL */
/* Messages are counted there, too: task_mpi_sent_add. */
void task_driven_counts(struct task_driven *, struct task_mpi *);
void task_driven_name(struct task_driven *, uint32_t service);
/* Room for this rank's nodes and tasks; then a node with its tasks, ordered by (job, task), and when all are
 * there the objects that begin on them. */
void task_driven_reserve(struct task_driven *, uint32_t nodes, uint32_t tasks);
struct task_driven_node *task_driven_node_new(struct task_driven *, uint32_t node,
                                              const struct task_mpi_seat *seats, uint32_t count);
void task_driven_place(struct task_driven *);
extern const struct node_service task_driven_service; /* shared: the struct task_driven */

/* For --check: adds what the objects of a job are expected to do, those of part `part` of `parts`. */
void task_driven_expect(const struct task_driven *, uint32_t job, uint32_t part, uint32_t parts,
                        struct net_expected *);

/* As of the MPI model: task_mpi_record, task_mpi_timeline_end. */
void task_driven_record(struct task_driven *, struct stats_timeline *);
void task_driven_timeline_end(struct task_driven *, ker_time end);

/* Objects of foreground jobs that have not finished, and of one job with what is open there: this rank's part
 * of sums modulo 2^64. See task_mpi_unfinished and task_mpi_job. */
uint64_t task_driven_unfinished(const struct task_driven *);
void task_driven_job(const struct task_driven *, uint32_t job, int64_t *open, uint64_t *unfinished);

/* Adds a row for each task to a table of tasks (task_mpi_results). done: by job, whether all its objects have
 * finished. */
void task_driven_results(const struct task_driven *, struct stats_table *, const bool *done, ker_time end);
/* Collective: rank 0 writes driven_entries.csv and, if wanted, driven_cores.csv (key: as in
 * stats_writer_open). */
enum ker_status task_driven_report(const struct task_driven *, struct ker_comm *, ker_time end,
                                   const struct stats_folder *, bool cores, const char *key,
                                   struct ker_error *);
extern const struct stats_schema task_driven_cores_schema, task_driven_entries_schema;
/* As task_mpi_waiting: a row for each object that has not finished. */
uint64_t task_driven_waiting(const struct task_driven *, const bool *stuck, struct task_mpi_wait *rows,
                             uint64_t room);

/* Saved state of what is not a node's: objects, and what is counted for jobs. */
void task_driven_save(struct task_driven *, struct ker_state_writer *); /* takes NULL */
void task_driven_loaders(struct task_driven *, bool sums, struct ker_state_loader *);
