/* checkpoint.h - what a checkpoint consists of; inside run/.
 *
 * A folder DIR/checkpoint-TIME (picoseconds): `part-N` of every rank that has written (kernel/state/file.h),
 * and `index`, written last: the configuration, the digests of what was read, the time, how many parts there
 * are, batch means, and the rows of periods.csv. The folder has another name (.tmp) until all of it is on the
 * disk, so that a checkpoint is whole or not there.
 */
#pragma once

#include "run/stages.h"

#define RUN_STATE_VERSION 6
#define RUN_CHECKPOINT_NAME "checkpoint-"

/* A configuration that the run had until a fork. */
struct run_fork {
    ker_time until;
    char *config;
};

/* What the index says of the run. The texts are malloc'ed. */
struct run_index {
    ker_time at;
    uint32_t parts;
    char version[KER_CHUNK_NAME]; /* of the program */
    char *file, *folder;          /* the configuration's name; the result folder */
    char *config;                 /* as it ran */
    void *inputs;                 /* packed (kernel/base/input.h) */
    size_t inputs_bytes;
    struct node_services services; /* their names */
    struct run_fork *fork;         /* in their order */
    uint32_t forks;
};
void run_index_state(struct ker_chunk *, struct run_index *);
char *run_config_text(const struct ker_config *); /* as an index has it; malloc'ed */
/* What the parts of a checkpoint have in common with its index, and with no other run's: a digest of the
 * configuration. */
void run_index_id(const char *config, uint64_t id[2]);

/* The resumed run. */
struct run_resumed {
    char *folder; /* of the checkpoint */
    struct run_index index;
    bool indexed;
    struct ker_config
        *former;         /* this run is a fork of the one that was saved, which had this; NULL: it is not */
    bool forked, renews; /* keys were changed; and with them the law of open-loop sources */
    bool changes;        /* of a fork: not all were given the values that they had */
    uint32_t parts;      /* that have been read */
    uint32_t part;       /* that is being read */
};

/* resume.c, fork.c: a configuration of the checkpoint; what the command line may change of it; the resumed
 * run is a fork, when the command line has changed something. saved: as the run had it, taken over. */
enum ker_status run_config_parse(struct run *, const char *text, struct ker_config **,
                                 const char *const *overrides, int count);
enum ker_status run_fork_check(struct run *, const struct ker_config *saved);
void run_fork_begin(struct run *, struct ker_config *saved);
void run_fork_state(struct run *); /* when all has been loaded */

/* Is it the name of the folder of a checkpoint? */
bool run_checkpoint_named(const char *name);
