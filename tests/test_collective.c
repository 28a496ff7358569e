/* test_collective.c - every schedule of every collective for 1 to 17 tasks, executed without a network.
 *
 * The tasks of a call take turns; messages arrive at once and carry what their sender knows. Checked for
 * each: it ends, nothing is left over, both sides agree on the bytes of a message, the data reach whom they
 * must, and messages and bytes in all are the textbook's numbers.
 */
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
    bool taken;
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
    bool sums; /* contributions must not be counted twice */
};

static bool named(const struct game *g, const char *name)
{
    return strcmp(g->algorithm->name, name) == 0;
}

static bool alltoall(const struct player *p)
{
    return p->view.collective == TASK_COLL_ALLTOALL || p->view.collective == TASK_COLL_ALLTOALLV;
}

/* Which blocks of an allgather, gather, or scatter are in a message of this many bytes. */
static void blocks_pick(const struct game *g, const struct player *p, struct message *m)
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
    if (named(g, "ring"))
        from = k->blocks - 1;
    else if ((named(g, "recursive_doubling") && power) || named(g, "binomial"))
        assert_int_equal(count, k->blocks); /* everything it has */
    assert_true(from + count <= k->blocks);
    m->data.blocks = count;
    memcpy(m->data.block, k->block + from, (size_t)count * sizeof *k->block);
}

static bool has_blocks(unsigned collective)
{
    return collective == TASK_COLL_ALLGATHER || collective == TASK_COLL_GATHER ||
           collective == TASK_COLL_SCATTER || collective == TASK_COLL_COMM;
}

static void game_send(struct game *g, int32_t rank)
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
    if (has_blocks(p->view.collective))
        blocks_pick(g, p, m);
    g->bytes += m->bytes;
    p->sent = true;
}

static void game_take(struct game *g, struct player *p, struct message *m)
{
    m->taken = p->received = true;
    if (p->round.receive_from != TASK_COLL_ANYBODY && !has_blocks(p->view.collective))
        assert_int_equal(m->bytes, p->round.receive_bytes);
    if (g->sums)
        assert_int_equal(p->known.set & m->data.set, 0);
    p->known.set |= m->data.set;
    if (p->view.collective != TASK_COLL_GATHER && p->known.blocks + m->data.blocks > g->size)
        p->known.blocks = 0; /* the result as a whole replaces a folded task's own block */
    for (int32_t i = 0; i < m->data.blocks; i++)
        p->known.block[p->known.blocks++] = m->data.block[i];
    if (alltoall(p) && named(g, "bruck")) {
        for (int32_t j = 0; j < g->size; j++)
            if (j >> m->tag & 1)
                p->known.slot[j] = m->data.slot[j];
    } else if (alltoall(p)) {
        p->known.slot[(p->view.rank - m->from + g->size) % g->size] = m->from;
    }
}

static void game_receive(struct game *g, struct player *p)
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

static bool player_fetch(struct game *g, struct player *p)
{
    if (!task_coll_round_of(g->algorithm, &p->view, p->rounds, &p->round)) {
        p->ended = true;
        return false;
    }
    assert_true(++p->rounds < 4 * MOST);
    p->fetched = true;
    p->sent = p->round.send_to == TASK_COLL_NOBODY;
    p->received = p->round.receive_from == TASK_COLL_NOBODY;
    return true;
}

/* One round at a time, sends before receives: every round a fence, which is at least as strict as the
 * schedule asks for. */
static bool player_move(struct game *g, int32_t rank)
{
    struct player *p = &g->player[rank];
    if (p->ended || (!p->fetched && !player_fetch(g, p)))
        return false;
    bool before = p->sent;
    if (!p->sent)
        game_send(g, rank);
    if (!p->received)
        game_receive(g, p);
    if (p->sent && p->received)
        p->fetched = false;
    return !before || p->received;
}

/* All tasks send what they can before anybody receives, so that messages of a Sendrecv cross. */
static void game_play(struct game *g)
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

static void game_init(struct game *g, unsigned collective, const struct ker_kind *algorithm, int32_t size,
                      int32_t root, uint64_t bytes)
{
    memset(g, 0, sizeof *g);
    g->algorithm = algorithm;
    g->size = size;
    for (int32_t i = 0; i < size; i++) {
        struct player *p = &g->player[i];
        p->view = (struct task_coll_view){.rank = i,
                                          .size = size,
                                          .root = root,
                                          .bytes = bytes,
                                          .bytes2 = bytes,
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
    g->sums = collective == TASK_COLL_REDUCE && strcmp(algorithm->name, "rabenseifner") != 0;
}

/* -- who must know what at the end -- */

static void assert_blocks(const struct game *g, int32_t rank)
{
    uint32_t set = 0;
    const struct known *k = &g->player[rank].known;
    for (int32_t i = 0; i < k->blocks; i++)
        set |= 1u << k->block[i];
    assert_int_equal(k->blocks, g->size);
    assert_int_equal(set, (1u << g->size) - 1);
}

static void assert_result(const struct game *g, unsigned collective, int32_t rank, int32_t root)
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

/* -- the textbook's numbers -- */

struct numbers {
    uint64_t messages, bytes;
};

static uint64_t log2_floor(uint64_t n)
{
    uint64_t log2 = 0;
    while (n >>= 1)
        log2++;
    return log2;
}

/* Sum over a binomial tree of the members of all subtrees: each rank's block travels as many edges as its
 * relative rank has bits. */
static uint64_t tree_edges(uint64_t size)
{
    uint64_t sum = 0;
    for (uint64_t v = 0; v < size; v++)
        sum += (uint64_t)__builtin_popcountll(v);
    return sum;
}

static struct numbers numbers_tree(const char *name, unsigned collective, uint64_t p, uint64_t n)
{
    bool both = collective == TASK_COLL_BARRIER || collective == TASK_COLL_ALLREDUCE;
    bool blocks = collective == TASK_COLL_GATHER || collective == TASK_COLL_SCATTER;
    if (strcmp(name, "scatter_allgather_ring") == 0) /* n divides by p: parts of n / p */
        return (struct numbers){(p - 1) + p * (p - 1), tree_edges(p) * (n / p) + (p - 1) * n};
    if (both)
        return (struct numbers){2 * (p - 1), 2 * (p - 1) * n};
    if (blocks && strcmp(name, "binomial") == 0)
        return (struct numbers){p - 1, tree_edges(p) * n};
    return (struct numbers){p - 1, (p - 1) * n};
}

/* Folding costs rest messages in, rest out; log2 P exchanges of P tasks. */
static struct numbers numbers_fold(uint64_t p, uint64_t n)
{
    uint64_t levels = log2_floor(p), power = 1ull << levels, rest = p - power, exchanges = power * levels;
    return (struct numbers){2 * rest + exchanges, 2 * rest * n + exchanges * n};
}

/* A pair that is folded exchanges halves, then one gives its half: 3 messages, 3 n / 2. Halving and doubling
 * move (P - 1) / P of the vector per task; allreduce gives the folded ones n; reduce collects levels x n / 2,
 * and a folded root gets a part n / P first. n divides by P. */
static struct numbers numbers_halves(unsigned collective, uint64_t p, uint64_t n, uint64_t root)
{
    uint64_t levels = log2_floor(p), power = 1ull << levels, rest = p - power, exchanges = power * levels;
    bool replaced = root < 2 * rest && root % 2 == 1;
    if (collective == TASK_COLL_REDUCE)
        return (struct numbers){3 * rest + exchanges + power - 1 + replaced,
                                3 * rest * n / 2 + (power - 1) * n + levels * (n / 2) +
                                    replaced * (n / power)};
    return (struct numbers){4 * rest + 2 * exchanges, 5 * rest * n / 2 + 2 * (power - 1) * n};
}

static uint64_t scan_messages(uint64_t p)
{
    uint64_t count = 0;
    for (uint64_t mask = 1; mask < p; mask *= 2)
        for (uint64_t r = 0; r < p; r++)
            count += (r ^ mask) < p;
    return count;
}

static bool numbers_check(const struct game *g, unsigned collective, uint64_t n, uint64_t root)
{
    const char *name = g->algorithm->name;
    uint64_t p = (uint64_t)g->size, rounds = p < 2 ? 0 : log2_floor(p - 1) + 1;
    struct numbers is = {(uint64_t)g->messages, g->bytes}, be;
    bool doubling = strcmp(name, "recursive_doubling") == 0, ring = strcmp(name, "ring") == 0;
    bool allreduce = collective == TASK_COLL_ALLREDUCE || collective == TASK_COLL_BARRIER;
    bool scan = collective == TASK_COLL_SCAN || collective == TASK_COLL_EXSCAN;
    if (scan)
        be = (struct numbers){doubling ? scan_messages(p) : p - 1, (doubling ? scan_messages(p) : p - 1) * n};
    else if (strcmp(name, "dissemination") == 0)
        be = (struct numbers){p * rounds, 0};
    else if (strcmp(name, "rabenseifner") == 0)
        be = numbers_halves(collective, p, n, root);
    else if (allreduce && doubling)
        be = numbers_fold(p, n);
    else if (allreduce && ring)
        be = (struct numbers){2 * p * (p - 1), 2 * (p - 1) * n};
    else if (strcmp(name, "bruck") == 0 && collective != TASK_COLL_ALLTOALL)
        be = (struct numbers){p * rounds, p * (p - 1) * n};
    else if (strcmp(name, "bruck") == 0) /* each block moves once per bit of its distance */
        be = (struct numbers){p * rounds, p * tree_edges(p) * n};
    else if (collective <= TASK_COLL_REDUCE || allreduce || collective == TASK_COLL_GATHER ||
             collective == TASK_COLL_SCATTER || collective == TASK_COLL_GATHERV)
        be = numbers_tree(name, collective, p, n);
    else if (collective == TASK_COLL_ALLGATHER && doubling)
        return true; /* bytes are checked block by block */
    else if (collective == TASK_COLL_REDUCE_SCATTER_BLOCK && strcmp(name, "recursive_halving") == 0)
        return true; /* test_counts */
    else if (collective == TASK_COLL_ALLGATHER || collective == TASK_COLL_ALLTOALL ||
             collective == TASK_COLL_ALLGATHERV || collective == TASK_COLL_REDUCE_SCATTER_BLOCK)
        be = (struct numbers){p * (p - 1), p * (p - 1) * n};
    else
        return true;
    return is.messages == be.messages && is.bytes == be.bytes;
}

static void play_all(unsigned collective, const struct ker_kind *algorithm, int32_t size)
{
    static struct game g;
    /* Divisible by all parts: 16 x 9 x 5 x 7 x 11 x 13 x 17 = 12252240. */
    uint64_t bytes = collective == TASK_COLL_BARRIER ? 0 : 12252240;
    for (int32_t root = 0; root < size; root++) {
        game_init(&g, collective, algorithm, size, root, bytes);
        game_play(&g);
        for (int32_t rank = 0; rank < size; rank++)
            assert_result(&g, collective, rank, root);
        if (!numbers_check(&g, collective, bytes, (uint64_t)root))
            fail_msg("%s by %s, %d tasks, root %d: %d messages, %llu bytes", task_coll_name(collective),
                     algorithm->name, size, root, g.messages, (unsigned long long)g.bytes);
    }
}

/* Is the algorithm for this collective? ker_kind.of is "bcast|scatter". */
static bool can(const struct ker_kind *algorithm, unsigned collective)
{
    const char *name = task_coll_name(collective), *at = algorithm->of;
    for (size_t length = strlen(name); at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && strchr("|", at[length]))
            return true;
    return false;
}

static const struct ker_kind *find(unsigned collective, const char *name)
{
    for (const struct ker_kind *const *a = task_collectives.list; *a; a++)
        if (can(*a, collective) && strcmp((*a)->name, name) == 0)
            return *a;
    return NULL;
}

static void test_every_algorithm(void **state)
{
    (void)state;
    for (unsigned c = 0; c < TASK_COLL_NEIGHBOR_ALLGATHER; c++) /* test_neighbours.c has the others */
        for (const struct ker_kind *const *a = task_collectives.list; *a; a++)
            for (int32_t size = 1; can(*a, c) && size <= MOST; size++)
                play_all(c, *a, size);
}

/* A vector of 1,000 bytes does not divide by 7: parts differ by one byte, both sides agree (game_take), and
 * the sums stay exact: ring 2 x 6 x 1000; Rabenseifner on 7 = 4 + 3: 3 x 2500 + 2 x 3 x 1000. */
static void test_uneven_parts(void **state)
{
    (void)state;
    static struct game g;
    game_init(&g, TASK_COLL_ALLREDUCE, find(TASK_COLL_ALLREDUCE, "ring"), 7, 0, 1000);
    game_play(&g);
    assert_int_equal(g.bytes, 12000);
    game_init(&g, TASK_COLL_ALLREDUCE, find(TASK_COLL_ALLREDUCE, "rabenseifner"), 7, 0, 1000);
    game_play(&g);
    assert_int_equal(g.bytes, 13500);
}

/* reduce_scatter with counts 10, 20, ..., 70 (280 in all) on 7 = 4 + 3 tasks: folding 3 x 280; the virtual
 * ranks own the pairs {10+20, 30+40, 50+60, 70} = {30, 70, 110, 70}; halving step 1 sends the other half: two
 * tasks 180 and two 100, step 2 70 + 30 + 70 + 110; unfolding gives the even ranks 10 + 30 + 50. */
static void test_counts(void **state)
{
    (void)state;
    static struct game g;
    uint64_t counts[7];
    for (int i = 0; i < 7; i++)
        counts[i] = (uint64_t)(i + 1) * 10;
    game_init(&g, TASK_COLL_REDUCE_SCATTER, find(TASK_COLL_REDUCE_SCATTER, "recursive_halving"), 7, 0, 280);
    for (int i = 0; i < 7; i++)
        g.player[i].view.receive_bytes = counts;
    game_play(&g);
    assert_int_equal(g.bytes, 3 * 280 + 2 * 180 + 2 * 100 + 70 + 30 + 70 + 110 + 90);
    /* allgatherv by ring: each block goes to 6 others. */
    game_init(&g, TASK_COLL_ALLGATHERV, find(TASK_COLL_ALLGATHERV, "ring"), 7, 0, 0);
    for (int i = 0; i < 7; i++)
        g.player[i].view.receive_bytes = counts;
    game_play(&g);
    assert_int_equal(g.bytes, 6 * 280);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_algorithm),
        cmocka_unit_test(test_uneven_parts),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
