/* files.h - what programs ask of files that lie on servers in the system (storage/), and collective access
 * to them in two phases, as ROMIO does it.
 *
 * A task asks the storage client of its node (TASK_OP_CALL) by the words of a struct store_call. Files have
 * numbers, which the programs give them: the same file has the same number everywhere.
 */
#pragma once

#include "kernel/config/config.h"
#include "traces/op.h"

enum store_op {
    STORE_OPEN,  /* exists: how long the file is before anything has been written */
    STORE_CLOSE, /* what the node has written to the file is on the devices behind it */
    STORE_SYNC,  /* likewise */
    STORE_READ,
    STORE_WRITE,
    STORE_ACK /* between clients and servers */
};
#define STORE_OPS STORE_ACK               /* that tasks call */
const char *store_op_name(enum store_op); /* not of STORE_ACK */
/* Words of an answer: how many bytes were moved, of a read those that there were; enum store_op. */
enum { STORE_ANSWER_BYTES, STORE_ANSWER_OP };

/* `count` pieces of `bytes`, the first at `offset`, each next one `stride` further. */
struct store_run {
    uint64_t offset, bytes, stride;
    uint32_t count; /* 1 .. STORE_RUN_MOST */
};
#define STORE_RUN_MOST ((1u << 28) - 1)
static inline uint64_t store_run_end(const struct store_run *run)
{
    return run->offset + (run->count - 1) * run->stride + run->bytes;
}
/* How many of its bytes lie before x, where pieces do not overlap. */
uint64_t store_run_below(const struct store_run *, uint64_t x);

struct store_call {
    enum store_op op;
    uint32_t file;
    struct store_run run; /* of READ and WRITE */
    uint64_t exists;
};
#define STORE_WORDS TASK_CALL_WORDS
void store_call_words(const struct store_call *, uint64_t words[STORE_WORDS]);
struct store_call store_call_of(const uint64_t words[STORE_WORDS]);

/* The name of the service that tasks call. */
#define STORE_CLIENT "storage_client"

/* Is there storage in this configuration? */
bool store_wanted(const struct ker_config *);

/* ---- two_phase.c ---- */

/* Tasks exchange what they have, so that some of them, the aggregators, access the file in large pieces.
 *
 * The bytes between the lowest and the highest that any task accesses are shared out among the aggregators in
 * domains of one size, ceil((high - low) / aggregators). They go through theirs, from the first byte that is
 * accessed there to the last, in rounds of `buffer` bytes: tasks send what they write there, and the
 * aggregator writes it, having read it before where it has holes; or it reads, and sends what each wanted
 * (Thakur, Gropp, Lusk: Data sieving and collective I/O in ROMIO, Frontiers 1999). Before that the tasks
 * gather where each begins and ends, and in each round they say to each aggregator how much comes.
 */
struct trace_two_phase {
    uint32_t tasks, aggregators, every; /* aggregator i is task i x every */
    uint64_t buffer;
    uint64_t *requests; /* names, one after the other */
};
struct trace_window {
    uint64_t from, to;
};
/* One call of all tasks of a communicator. */
struct trace_two_phase_call {
    const struct trace_two_phase *shared;
    uint32_t file;
    int32_t comm;
    bool writes;
    uint64_t low, high;              /* the first byte that any task accesses, and the end of the last */
    const struct trace_window *used; /* of each domain; NULL: all of it, without holes */
    /* How many of the bytes that the task accesses lie before x. */
    uint64_t (*below)(const void *context, uint32_t task, uint64_t x);
    const void *context;
};
/* How far a task is in it; zeroed at first. */
struct trace_two_phase_at {
    uint32_t round, stage, peer, posted;
};

extern const struct ker_option trace_two_phase_options[]; /* storage.collective */
/* How many aggregators the keys want of tasks, of which a node has per_node: 0, they say nothing. */
enum ker_status trace_two_phase_init(struct trace_two_phase *, const struct ker_config *, uint32_t tasks,
                                     uint32_t per_node, struct ker_error *);
/* aggregators 0: one on each node. Requests have names from `first` on. */
void trace_two_phase_set(struct trace_two_phase *, uint32_t tasks, uint32_t per_node, uint32_t aggregators,
                         uint64_t buffer, uint64_t first);
void trace_two_phase_release(struct trace_two_phase *);
/* Where aggregator i's domain is. */
struct trace_window trace_two_phase_domain(const struct trace_two_phase_call *, uint32_t i);
/* The task's next operation, words being room for those of a TASK_OP_CALL; false: it is through. */
bool trace_two_phase_next(const struct trace_two_phase_call *, struct trace_two_phase_at *, uint32_t task,
                          uint64_t words[STORE_WORDS], struct task_op *);
void trace_two_phase_save(struct trace_two_phase_at *, struct ker_chunk *);
