/* collective_game.h - schedules of collectives, executed without a network.
 *
 * The tasks of a call take turns; messages arrive at once and carry what their sender knows. It ends, nothing
 * is left over, and both sides agree on the bytes of a message; who must know what at the end, says
 * assert_result.
 */
#pragma once

#include "tasks/mpi/collectives/collective.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 17
#define MESSAGES (4 * MOST * MOST)

/* What a task knows: contributions as a set, blocks in the order in which they came, and Bruck's slots. */
struct known {
    uint32_t set;
    int32_t block[2 * MOST];
    int32_t blocks;
    int32_t slot[MOST]; /* origin of the block now in slot j */
};

struct message {
    int32_t from, to, tag;
    uint64_t bytes;
    bool taken, flag;
    struct known data;
};

struct player {
    struct task_coll_view view;
    struct task_coll_round round;
    uint32_t rounds;
    bool fetched, sent, received, ended;
    struct known known;
};

struct game {
    const struct ker_kind *algorithm;
    struct player player[MOST];
    struct message message[MESSAGES];
    int32_t size, messages;
    uint64_t bytes;
    bool sums;   /* contributions must not be counted twice */
    bool levels; /* of several algorithms: who is known of counts, and bytes, not the order of blocks */
};

static inline bool named(const struct game *g, const char *name)
{
    return strcmp(g->algorithm->name, name) == 0;
}

static inline bool alltoall(const struct player *p)
{
    return p->view.collective == TASK_COLL_ALLTOALL || p->view.collective == TASK_COLL_ALLTOALLV;
}

/* Which blocks of an allgather, gather, or scatter are in a message of this many bytes. */
static inline void blocks_pick(const struct game *g, const struct player *p, struct message *m)
{
    const struct known *k = &p->known;
    int32_t count = (int32_t)(m->bytes / p->view.bytes), from = 0;
    if (p->view.collective == TASK_COLL_SCATTER) { /* the receiver's block and those that follow it */
        m->data.blocks = count;
        for (int32_t i = 0; i < count; i++) {
            m->data.block[i] = (m->to + i) % p->view.size;
            bool has = p->view.rank == p->view.root;
            for (int32_t j = 0; j < k->blocks; j++)
                has |= k->block[j] == m->data.block[i];
            assert_true(has);
        }
        return;
    }
    bool power = (g->size & (g->size - 1)) == 0;
    if (named(g, "ring") || named(g, "neighbor"))
        from = k->blocks - count;
    else if ((named(g, "recursive_doubling") && power) || named(g, "binomial"))
        assert_int_equal(count, k->blocks); /* everything it has */
    assert_true(from + count <= k->blocks);
    m->data.blocks = count;
    memcpy(m->data.block, k->block + from, (size_t)count * sizeof *k->block);
}

static inline bool has_blocks(const struct game *g, unsigned collective)
{
    return !g->levels && (collective == TASK_COLL_ALLGATHER || collective == TASK_COLL_GATHER ||
                          collective == TASK_COLL_SCATTER || collective == TASK_COLL_COMM);
}

static inline void game_send(struct game *g, int32_t rank)
{
    struct player *p = &g->player[rank];
    assert_in_range(p->round.send_to, 0, g->size - 1);
    assert_int_not_equal(p->round.send_to, rank);
    for (int32_t i = 0; i < g->messages; i++)
        assert_false(g->message[i].from == rank && g->message[i].to == p->round.send_to &&
                     g->message[i].tag == p->round.send_tag); /* a tag names one message of a pair */
    assert_true(g->messages < MESSAGES);
    struct message *m = &g->message[g->messages++];
    *m = (struct message){
        .from = rank, .to = p->round.send_to, .tag = p->round.send_tag, .bytes = p->round.send_bytes};
    m->data.set = p->known.set;
    memcpy(m->data.slot, p->known.slot, sizeof m->data.slot);
    if (has_blocks(g, p->view.collective))
        blocks_pick(g, p, m);
    g->bytes += m->bytes;
    p->sent = true;
}

static inline void game_take(struct game *g, struct player *p, struct message *m)
{
    m->taken = p->received = true;
    if (p->round.receive_from != TASK_COLL_ANYBODY && !has_blocks(g, p->view.collective))
        assert_int_equal(m->bytes, p->round.receive_bytes);
    if (g->sums)
        assert_int_equal(p->known.set & m->data.set, 0);
    p->known.set |= m->data.set;
    if (p->view.collective != TASK_COLL_GATHER && p->known.blocks + m->data.blocks > g->size)
        p->known.blocks = 0; /* the result as a whole replaces a folded task's own block */
    for (int32_t i = 0; i < m->data.blocks; i++)
        p->known.block[p->known.blocks++] = m->data.block[i];
    if (!g->levels && alltoall(p) && named(g, "bruck")) {
        for (int32_t j = 0; j < g->size; j++)
            if (j >> m->tag & 1)
                p->known.slot[j] = m->data.slot[j];
    } else if (!g->levels && alltoall(p)) {
        p->known.slot[(p->view.rank - m->from + g->size) % g->size] = m->from;
    }
}

static inline void game_receive(struct game *g, struct player *p)
{
    for (int32_t i = 0; i < g->messages; i++) {
        struct message *m = &g->message[i];
        bool from = p->round.receive_from == TASK_COLL_ANYBODY || p->round.receive_from == m->from;
        if (!m->taken && m->to == p->view.rank && m->tag == p->round.receive_tag && from) {
            game_take(g, p, m);
            return;
        }
    }
}

/* Through shared memory: a flag is a message that says nothing, but in a barrier that its sender is there;
 * what is read is what its owner has now. */
static inline void game_share(struct game *g, struct player *p)
{
    struct task_coll_round *r = &p->round;
    int32_t with = r->receive_tag;
    assert_in_range(with, 0, g->size - 1);
    assert_int_not_equal(with, p->view.rank);
    assert_true(g->messages < MESSAGES);
    if (r->shared == TASK_COLL_RAISE) {
        assert_int_equal(r->receive_bytes, 0);
        g->message[g->messages++] =
            (struct message){.from = p->view.rank, .to = with, .tag = r->send_tag, .flag = true};
        if (p->view.bytes == 0)
            g->message[g->messages - 1].data.set = p->known.set;
        p->sent = true;
    } else if (r->shared == TASK_COLL_READ) {
        struct player *owner = &g->player[with];
        struct message *m = &g->message[g->messages++];
        *m =
            (struct message){.from = with, .to = p->view.rank, .tag = r->send_tag, .bytes = r->receive_bytes};
        m->data.set = owner->known.set;
        if (has_blocks(g, p->view.collective))
            blocks_pick(g, owner, m);
        g->bytes += m->bytes;
        game_take(g, p, m);
    }
    for (int32_t i = 0; i < g->messages && r->shared == TASK_COLL_AWAIT && !p->received; i++) {
        struct message *m = &g->message[i];
        if (!m->taken && m->flag && m->from == with && m->to == p->view.rank && m->tag == r->send_tag) {
            m->taken = p->received = true;
            p->known.set |= m->data.set;
        }
    }
}

static inline bool player_fetch(struct game *g, struct player *p)
{
    if (!task_coll_round_of(g->algorithm, &p->view, p->rounds, &p->round)) {
        p->ended = true;
        return false;
    }
    assert_true(++p->rounds < 10 * MOST);
    p->fetched = true;
    p->sent = p->round.send_to == TASK_COLL_NOBODY;
    p->received = p->round.receive_from == TASK_COLL_NOBODY;
    if (p->round.shared) {
        assert_true(p->sent && p->received);
        p->sent = p->round.shared != TASK_COLL_RAISE;
        p->received = !p->sent;
    }
    return true;
}

/* One round at a time, sends before receives: every round a fence, which is at least as strict as the
 * schedule asks for. */
static inline bool player_move(struct game *g, int32_t rank)
{
    struct player *p = &g->player[rank];
    if (p->ended || (!p->fetched && !player_fetch(g, p)))
        return false;
    bool before = p->sent;
    if (p->round.shared)
        game_share(g, p);
    else if (!p->sent)
        game_send(g, rank);
    if (!p->round.shared && !p->received)
        game_receive(g, p);
    if (p->sent && p->received)
        p->fetched = false;
    return !before || p->received;
}

/* All tasks send what they can before anybody receives, so that messages of a Sendrecv cross. */
static inline void game_play(struct game *g)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int32_t i = 0; i < g->size; i++)
            moved |= player_move(g, i);
    }
    for (int32_t i = 0; i < g->size; i++)
        assert_true(g->player[i].ended);
    for (int32_t i = 0; i < g->messages; i++)
        assert_true(g->message[i].taken);
}

static inline void game_init(struct game *g, unsigned collective, const struct ker_kind *algorithm,
                             int32_t size, int32_t root, uint64_t bytes)
{
    memset(g, 0, sizeof *g);
    g->algorithm = algorithm;
    g->size = size;
    for (int32_t i = 0; i < size; i++) {
        struct player *p = &g->player[i];
        p->view = (struct task_coll_view){
            .rank = i,
            .size = size,
            .root = root,
            .bytes = bytes,
            .bytes2 = bytes,
            .fanout = ((const struct task_coll_algorithm *)algorithm->operations)->fanout_usual,
            .collective = (uint8_t)collective};
        if (collective == TASK_COLL_SCATTERV) /* the root's total is shared equally */
            p->view.bytes2 = bytes / (uint64_t)size;
        p->known.set = 1u << i;
        p->known.block[p->known.blocks++] = i;
        for (int32_t j = 0; j < size; j++)
            p->known.slot[j] = i;
        if (collective == TASK_COLL_SCATTER)
            p->known.blocks = 0;
    }
    g->sums = collective == TASK_COLL_REDUCE && strcmp(algorithm->name, "rabenseifner") != 0 &&
              strcmp(algorithm->name, "in_order_binary") != 0 && /* the root's comes back */
              strcmp(algorithm->name, "shared_memory_parts") != 0;
}

/* -- who must know what at the end -- */

static inline void assert_blocks(const struct game *g, int32_t rank)
{
    uint32_t set = 0;
    const struct known *k = &g->player[rank].known;
    for (int32_t i = 0; i < k->blocks; i++)
        set |= 1u << k->block[i];
    assert_int_equal(k->blocks, g->size);
    assert_int_equal(set, (1u << g->size) - 1);
}

static inline void assert_result(const struct game *g, unsigned collective, int32_t rank, int32_t root)
{
    uint32_t set = g->player[rank].known.set, all = (uint32_t)((1ull << g->size) - 1);
    switch (collective) {
    case TASK_COLL_BCAST:
    case TASK_COLL_SCATTERV:
        assert_true(set & 1u << root);
        break;
    case TASK_COLL_SCATTER: /* at least the own block */
        if (rank != root)
            assert_int_equal(g->player[rank].known.block[0], rank);
        break;
    case TASK_COLL_REDUCE:
    case TASK_COLL_GATHERV:
        if (rank == root)
            assert_int_equal(set, all);
        break;
    case TASK_COLL_GATHER:
        if (rank == root)
            assert_blocks(g, rank);
        break;
    case TASK_COLL_ALLGATHER:
    case TASK_COLL_COMM:
        assert_blocks(g, rank);
        break;
    case TASK_COLL_ALLTOALL:
    case TASK_COLL_ALLTOALLV:
        for (int32_t j = 0; j < g->size; j++) /* slot j: from j ranks below */
            assert_int_equal(g->player[rank].known.slot[j], (rank - j + g->size) % g->size);
        break;
    case TASK_COLL_SCAN:
    case TASK_COLL_EXSCAN: { /* all lower ranks */
        uint32_t lower = (1u << rank) - 1;
        assert_int_equal(set & lower, lower);
        break;
    }
    default: /* barrier, allreduce, allgatherv, reduce_scatter: something of everybody */
        assert_int_equal(set, all);
    }
}

/* Is the algorithm for this collective? ker_kind.of is "bcast|scatter". */
static inline bool can(const struct ker_kind *algorithm, unsigned collective)
{
    const char *name = task_coll_name(collective), *at = algorithm->of;
    if (task_coll_asks(algorithm)) /* no messages: tests/tasks/analytic.sh */
        return false;
    for (size_t length = strlen(name); at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && strchr("|", at[length]))
            return true;
    return false;
}

static inline const struct ker_kind *find(unsigned collective, const char *name)
{
    for (const struct ker_kind *const *a = task_collectives.list; *a; a++)
        if (can(*a, collective) && strcmp((*a)->name, name) == 0)
            return *a;
    return NULL;
}
