/* model.h - what the files of the model share. Private to tasks/driven/.
 *
 * Who calls whom: service.c is what the node calls; it uses core.c (the scheduler), which uses balance.c
 * (balance steps), which uses move.c (objects that move), which uses deliver.c (messages to objects, and what
 * becomes ready by them), which uses record.c (what a core knows of objects), queue.c and wire.c.
 */
#pragma once

#include "tasks/driven/driven.h"
#include "tasks/driven/program.h"

/* A block that is ready. */
struct driven_ready {
    int32_t priority;
    uint32_t object, block, iteration; /* object: its number in the program */
    uint64_t turn;                     /* of the core: in the order in which they became ready */
    ker_time since;
};

/* What has come for a block of an object in an iteration, as long as it is not done. */
struct driven_open {
    uint32_t block, iteration;
    uint32_t arrived, after; /* messages; blocks that it needs and that are done */
    uint32_t queued, run;    /* how often it became ready, how often it has run */
    uint64_t bytes;          /* of the messages */
    uint32_t record, next, previous;
};

enum driven_state {
    DRIVEN_HERE,    /* the object is on this core */
    DRIVEN_AWAITED, /* it is in transit to this core */
    DRIVEN_AWAY,    /* it was here, or something was heard of it: it is at `where` */
};

/* What a core knows of an object. How often it had moved by then decides which of two is newer. */
struct driven_record {
    uint32_t core, object;
    uint32_t moves, where;
    uint32_t iteration, done; /* blocks of this iteration */
    uint8_t state;
    bool waits;          /* its iteration has not begun: for the job's start, or a balance step */
    uint32_t open, last; /* list of struct driven_open */
    uint32_t next;       /* of the core's list */
    ker_time load;       /* time of its blocks since the last balance step */
};

/* A core's part in balance steps; what neighbours say of step s is at s % 2: they are at most one ahead.
 * Side 0: the task before it; 1: behind it, when that is another one. */
struct driven_sides {
    uint32_t step, waiting; /* the next step; objects that wait for it */
    bool informed;          /* the neighbours of its load */
    bool heard[2][2], counted[2][2];
    ker_time own, load[2][2]; /* own: as given */
    int64_t coming;           /* objects that neighbours have said to send, less those that have come */
};

struct driven_core {
    struct task_driven *driven;
    struct task_driven_node *home; /* the node's state */
    const struct task_job *job;
    const struct driven_program *program;
    uint32_t number, job_number, task; /* number: of this rank's cores */
    uint16_t core, seat;               /* seat: its timer's number */
    bool started, runs;
    bool works;                 /* it has asked for time of the block that runs */
    bool asks, granted;         /* outside.turn: for its turn; it has it */
    bool sends;                 /* the block that runs sends a message, and learns when that has left */
    uint32_t leaving;           /* messages of the block that runs that have not left */
    struct driven_ready *ready; /* a heap */
    uint32_t readies, room, most;
    uint64_t turns;
    struct driven_ready now; /* the block that runs */
    struct driven_block block;
    uint32_t sent, paid, jitters; /* paid: messages; the others would go beyond the last iteration */
    ker_time begins;              /* the job, here: its start, or a fork behind that */
    ker_time begun, length, had;  /* how long it takes, and how much of that it has had, or will have next */
    ker_time before; /* with outside.turn: how long messages had taken the processor when it began */
    struct driven_sides *sides; /* NULL: there are no balance steps */
    uint32_t first, last;       /* list of struct driven_record */
    uint32_t here;              /* objects on it */
    struct {
        bool shown;     /* it has a timeline */
        ker_time until; /* to which that goes */
        uint32_t calls, messages;
    } line;
    /* Counted: */
    ker_time finish, busy, overhead, queued;
    uint64_t blocks, sent_messages, sent_bytes, received_messages, received_bytes, local, passed_on;
    uint64_t came, went;
};

struct task_driven_node {
    struct task_driven *driven;
    struct driven_core *core;
    struct node *net; /* from its first event on */
    uint32_t node, cores;
};

struct driven_sum { /* of an entry method */
    uint64_t count, messages;
    unsigned __int128 time, queued;
    ker_time longest, queued_longest;
};

struct driven_job {
    const struct task_job *job;
    const struct driven_program *program;
    int64_t open;
    uint64_t unfinished;
    struct driven_sum *entry;
    uint32_t *core; /* by task: 1 + its number on this rank, 0: elsewhere */
};

struct task_driven {
    struct task_mpi_outside outside;
    struct node_model model;
    uint32_t service, jobs;
    struct task_mpi *counts; /* of messages; NULL: there are none */
    struct driven_job *job;  /* program NULL: not message-driven */
    struct driven_core *core;
    struct task_driven_node *node;
    uint32_t cores, core_room, nodes, node_room;
    uint64_t unfinished;             /* objects of foreground jobs */
    struct stats_timeline *timeline; /* NULL: not wanted */
    struct ker_chunks record, open;
    struct ker_table records, opens;
};

static inline struct driven_record *driven_record_at(const struct task_driven *d, uint32_t index)
{
    return ker_chunks_at(&d->record, index);
}
static inline struct driven_open *driven_open_at(const struct task_driven *d, uint32_t index)
{
    return ker_chunks_at(&d->open, index);
}
static inline struct driven_job *driven_job_of(const struct driven_core *core)
{
    return &core->driven->job[core->job_number];
}

/* ---- record.c ---- */

void driven_records_init(struct task_driven *);
void driven_records_release(struct task_driven *);
struct driven_record *driven_record_find(const struct driven_core *, uint32_t object); /* or NULL */
/* There is none. Behind the others of the core. */
struct driven_record *driven_record_new(struct driven_core *, uint32_t object, enum driven_state);
void driven_records_drop(struct driven_core *); /* all, with what is open */
/* Of a block; made when it is not there. */
struct driven_open *driven_open_get(struct driven_core *, struct driven_record *, uint32_t block,
                                    uint32_t iteration);
void driven_open_drop(struct task_driven *, struct driven_open *);

/* ---- queue.c ---- */

void driven_queue_put(struct driven_core *, const struct driven_ready *);
void driven_queue_take(struct driven_core *, struct driven_ready *); /* there is one */
void driven_queue_drop(struct driven_core *, uint32_t object);       /* all of an object */

/* ---- wire.c ---- */

enum driven_kind {
    DRIVEN_MESSAGE,  /* to a block */
    DRIVEN_OBJECT,   /* moves */
    DRIVEN_OPEN,     /* what has come for it, behind it */
    DRIVEN_LOCATION, /* where an object is */
    DRIVEN_LOAD,     /* of a neighbour at a balance step (iteration) */
    DRIVEN_COUNT,    /* how many objects come from it at that step */
    DRIVEN_KINDS
};

/* What is sent from core to core, 48 bytes in an envelope. */
struct driven_wire {
    enum driven_kind kind;
    uint32_t job, source, destination; /* source: the task that sent the message at first */
    uint32_t object, block, iteration;
    uint32_t moves;               /* of the object when it was at the destination */
    uint32_t arrived, after, run; /* DRIVEN_OPEN; of an object, after: blocks done */
    uint64_t bytes;               /* DRIVEN_OPEN: of the messages */
    uint64_t number;              /* load, count, where the object is */
};
#define DRIVEN_CONTROL_BYTES 32 /* size of LOCATION, LOAD, COUNT */
/* To another core. */
/* Counts a message to a task, by the task where its object is, as far as the core knows. */
void driven_sent_add(const struct driven_core *, enum task_sent_kind, uint32_t to, uint64_t bytes);
void driven_wire_send(struct driven_core *, struct node *, ker_time now, const struct driven_wire *,
                      uint64_t bytes);
void driven_wire_read(struct driven_wire *, const struct net_message *);

/* ---- deliver.c ---- */

/* A message for a block, sent or handed on from this core: to where the object is known to be. */
/* The task where the object is, or is thought to be. */
uint32_t driven_towards(const struct driven_core *, uint32_t object);
void driven_post(struct driven_core *, struct node *, ker_time now, const struct driven_wire *);
/* What came by a message is added. */
void driven_take(struct driven_core *, ker_time now, struct driven_record *, const struct driven_wire *);
/* An iteration begins, if it may, or the object has finished. */
void driven_begin(struct driven_core *, ker_time now, struct driven_record *);
/* What is open of the current iteration, and can run, becomes ready. */
void driven_resume(struct driven_core *, ker_time now, struct driven_record *);
/* A block has run: true: it is done, and so may be its iteration (record->done). */
bool driven_ran(struct driven_core *, ker_time now, struct driven_record *, const struct driven_ready *,
                const struct driven_block *);

/* ---- move.c ---- */

void driven_leave(struct driven_core *, struct node *, ker_time now, struct driven_record *, uint32_t task);
void driven_came(struct driven_core *, struct node *, ker_time now, const struct driven_wire *);
void driven_located(struct driven_core *, const struct driven_wire *);
/* Informs a task where an object is. */
void driven_tell(struct driven_core *, struct node *, ker_time now, uint32_t task,
                 const struct driven_record *);

/* ---- balance.c ---- */

/* An object waits for a step, one has come, or a neighbour has said something: continues as far as possible.
 */
void driven_balance(struct driven_core *, struct node *, ker_time now);
void driven_side_heard(struct driven_core *, const struct driven_wire *);

/* ---- core.c ---- */

/* Of the messages of the block that runs: the overheads of nodes. */
ker_time driven_overhead(const struct driven_core *);
/* Runs what can run at `now`, until the core has to wait for time or for messages. */
void driven_run(struct driven_core *, struct node *, ker_time now);
void driven_start(struct driven_core *, struct node *, ker_time now);

/* ---- timeline.c ---- */

/* The block that runs, or has just run, ends. */
void driven_line_block(struct driven_core *, ker_time end);
/* A message for an object here has come. */
void driven_line_message(struct driven_core *, uint32_t source, uint64_t bytes, ker_time sent, ker_time now);

/* ---- save.c ---- */

void driven_node_save(void *state, struct node *, struct ker_chunk *);
