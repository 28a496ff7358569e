/* two_phase.h - collective input and output in two phases, as ROMIO does it: tasks exchange what they have,
 * so that some of them, the aggregators, access the file in large pieces.
 *
 * The bytes between the lowest and the highest that any task accesses are shared out among the aggregators in
 * domains of one size, ceil((high - low) / aggregators). They go through theirs in rounds of `buffer` bytes:
 * tasks send what they write there, and the aggregator writes it; or it reads, and sends what each wanted
 * (Thakur, Gropp, Lusk: Data sieving and collective I/O in ROMIO, Frontiers 1999). Before that the tasks
 * gather where each begins and ends, and in each round they say to each aggregator how much comes.
 */
#ifndef TASKS_TWO_PHASE_H
#define TASKS_TWO_PHASE_H

#include "storage/storage.h"
#include "traces/traces.h"

struct task_two_phase {
    uint32_t tasks, aggregators, every; /* aggregator i is task i x every */
    uint64_t buffer;
    uint64_t *requests; /* 1, 2, 3 ... */
};
/* One call of all tasks. */
struct task_two_phase_call {
    const struct task_two_phase *shared;
    uint32_t file;
    bool writes;
    uint64_t low, high; /* the first byte that any task accesses, and the end of the last */
    struct store_run (*run)(const void *context, uint32_t task);
    const void *context;
};
/* How far a task is in it; zeroed at first. */
struct task_two_phase_at {
    uint32_t round, stage, peer, posted;
};

/* The keys storage.collective.*; tasks that one node has: for the default of aggregators. */
enum ker_status task_two_phase_init(struct task_two_phase *, const struct ker_config *, uint32_t tasks,
                                    uint32_t per_node, struct ker_error *);
void task_two_phase_release(struct task_two_phase *);
/* The task's next operation, words being room for those of a TASK_OP_CALL; false: it is through. */
bool task_two_phase_next(const struct task_two_phase_call *, struct task_two_phase_at *, uint32_t task,
                         uint64_t words[STORE_WORDS], struct task_op *);
void task_two_phase_save(struct task_two_phase_at *, struct ker_chunk *);

#endif
