/* arguments.h - private to the replay: readers of a recorded call's arguments (arguments.c). Each fills in
 * the operation's fields for its sort of call; an error names the trace, the task, the call and what is
 * wrong.
 */
#pragma once

#include "traces/replay/replay.h"

/* Where an error is, and where it is reported. */
struct replay_wrong {
    const struct replay_task *task;
    const char *path;
    struct ker_error *error;
};
__attribute__((format(printf, 2, 3))) enum ker_status replay_fail(const struct replay_wrong *,
                                                                  const char *format, ...);

static inline bool replay_has(const struct mars_function *function, enum mars_field field)
{
    return function->at[field] >= 0;
}

/* Is it a call on a file? */
static inline bool replay_on_file(const struct mars_function *function)
{
    return replay_has(function, MARS_FIELD_file) || replay_has(function, MARS_FIELD_newfile);
}
/* The communicator that a field names, as the job numbers it. */
enum ker_status replay_comm_get(const struct replay_task *, enum mars_field, int32_t *comm,
                                const struct replay_wrong *);
/* In one direction; op->kind is set. */
enum ker_status replay_message_get(struct replay_task *, struct task_op *, const struct replay_wrong *);
/* In both. */
enum ker_status replay_exchange_get(struct replay_task *, struct task_op *, const struct replay_wrong *);
/* One of both, as t->part says: first the receive, then the send; the program knows one request. */
enum ker_status replay_pair_get(struct replay_task *, struct task_op *, const struct replay_wrong *);
/* partitioned.c: op->kind is set. */
enum ker_status replay_partitioned_get(struct replay_task *, struct task_op *, bool *some,
                                       const struct replay_wrong *);
/* Of a task with one thread: is the operation possible after those before? request: of its number. */
enum ker_status replay_partitions_check(struct replay_request *, const struct task_op *,
                                        const struct replay_wrong *);
/* It has been started again; its completion is what follows. */
void replay_partitions_begin(struct replay_request *);
enum ker_status replay_partitions_completed(const struct replay_request *, uint64_t number,
                                            const struct replay_wrong *);
enum ker_status replay_matched_get(struct replay_task *, struct task_op *, const struct replay_wrong *);
/* between.c: a collective of an intercommunicator; op->collective and op->comm are set. */
enum ker_status replay_between_get(struct replay_task *, struct task_op *, const struct replay_wrong *);
/* A list of bytes for `size` tasks; NULL: it is empty, which means nothing here. */
enum ker_status replay_each_get(struct replay_task *, enum mars_field, int which, uint32_t size,
                                const uint64_t **list, uint64_t *sum, const struct replay_wrong *);
/* windows.c: a window is made; a call on one, with a barrier or not; op->kind is set. */
enum ker_status replay_window_make(struct replay_task *, struct task_op *, const struct replay_wrong *);
enum ker_status replay_window_get(struct replay_task *, struct task_op *, bool *some, bool barrier,
                                  const struct replay_wrong *);
/* -1 is 0. */
enum ker_status replay_bytes_get(const struct replay_task *, enum mars_field, uint64_t *bytes,
                                 const struct replay_wrong *);
uint64_t *replay_list_room(struct replay_task *, int which, size_t count);
/* op->kind is set. */
enum ker_status replay_probe_get(struct replay_task *, struct task_op *, const struct replay_wrong *);
/* Requests that the call names. */
void replay_named_get(struct replay_task *, struct task_op *);
/* A wait for those requests that the call completed; *some: there are any. */
enum ker_status replay_complete_get(struct replay_task *, struct task_op *, bool *some,
                                    const struct replay_wrong *);
/* active.c: is the operation possible with the requests that there are? And what the record may have made, of
 * which there is no operation. */
enum ker_status replay_active_check(struct replay_task *, const struct task_op *,
                                    const struct replay_wrong *);
void replay_active_unknown(struct replay_task *);
/* op->collective is set. */
/* combine.c: what the call combines by, into op->combine. */
void replay_combine_get(struct replay_task *, struct task_op *);
enum ker_status replay_collective_get(struct replay_task *, struct task_op *, const struct replay_wrong *);
