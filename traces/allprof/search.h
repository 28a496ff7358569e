/* search.h - inside the search for which handle is which communicator: its state, and the steps that
 * it makes.
 *
 * bind.c says what is to be decided and takes the answer, search.c decides. A slot is a
 * communicator as one of its members knows it; its candidates are the member's handles of the right rank and
 * size, or none (the member never uses it).
 */
#pragma once

#include "traces/allprof/comm.h"

#define ALLPROF_NOBODY UINT32_MAX

struct allprof_cand {
    uint32_t handle; /* of the node; ALLPROF_NOBODY: the member never uses the communicator */
    bool gone;
    struct allprof_sign sign;
};

struct allprof_slot {
    uint32_t node, known; /* place in the task's list */
    int32_t comm, rank;
    struct allprof_cand *cand;
    uint32_t cands, left, choice; /* choice ALLPROF_NOBODY: not decided */
};

struct allprof_handle {
    uint64_t value;
    uint32_t slots; /* that may still take it */
    bool sure, taken;
};

struct allprof_node {           /* a task */
    uint32_t task, slot, slots; /* its slots stand together */
    struct allprof_freshes fresh;
    struct allprof_handle *handle;
};

struct allprof_part { /* a communicator */
    int32_t comm;
    uint32_t *slot; /* per rank; ALLPROF_NOBODY: this member knows it no more */
    uint32_t first; /* the first slot that was decided, all others must agree with it; ALLPROF_NOBODY */
};

struct allprof_step { /* of the trail */
    enum { ALLPROF_CAND_GONE, ALLPROF_SLOT_DECIDED, ALLPROF_PART_FIRST } what;
    uint32_t slot, cand;
    uint64_t unmatched; /* that the decision added */
};

struct allprof_search {
    struct allprof_resolver *r;
    enum allprof_level level;
    uint64_t unmatched, most; /* messages of the decided slots, and of a solution that is accepted */
    uint64_t work_limit;
    struct allprof_node *node;
    struct allprof_slot *slot;
    struct allprof_part *part;
    uint32_t nodes, node_room, slots, slot_room, parts, part_room;
    int32_t *part_of;  /* per communicator: place + 1 */
    uint32_t *node_of; /* per task: place + 1 */
    struct allprof_step *trail;
    size_t trail_count, trail_room;
    uint32_t *queue; /* slots with one candidate left */
    uint32_t queued, queue_room;
};

/* A solution of this level with the fewest unmatched messages; false: there is none, or it takes too long.
 * *start: what the trail held before the first guess. From then on go() accepts no more unmatched messages.
 */
bool allprof_search_first(struct allprof_search *, enum allprof_level, size_t *start);
/* Gives the slot this candidate, with all that follows; false: that is no solution. */
bool allprof_search_decide(struct allprof_search *, uint32_t slot, uint32_t choice);
/* Decides all slots; false: there is no solution, or it takes too long, and what it did is taken back. */
bool allprof_search_go(struct allprof_search *);
/* Takes back what was decided since the trail was this long. */
void allprof_search_undo(struct allprof_search *, size_t to);
