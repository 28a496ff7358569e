/* test_hierarchical.c - collectives of several algorithms, level by level, executed without a network
 * (collective_game.h): every algorithm inside with every one between nodes, 1 to 17 tasks, every root, on
 * nodes with as many tasks each, unlike numbers of them, and ranks in another order than nodes.
 *
 * Checked are what test_collective.c checks, and of trees the bytes: every rank but the root sends its vector
 * once going up, and gets it once going down, whatever the levels; a ring of g groups moves
 * 2 (g - 1) vectors in their place. Of blocks both sides agree on the bytes of each message, a gather's
 * messages carry a block for each rank that the sender has heard of, and between nodes all together is as
 * much as the groups' sizes say.
 */
#include "tests/tasks/collective_game.h"

#define BYTES 12252240 /* divisible by all parts: 16 x 9 x 5 x 7 x 11 x 13 x 17 */

static struct task_coll_spot spots[MOST];

/* Ways to place: in blocks, in turn, all on one node, each alone, and drawn. */
enum { BLOCKS, IN_TURN, ONE_NODE, ALONE, DRAWN, PLACEMENTS = DRAWN + 4 };

static void spots_make(int32_t size, int placement)
{
    uint64_t random = 1 + (uint64_t)(placement * 100 + size);
    for (int32_t i = 0; i < size; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t drawn = (uint32_t)(random >> 40);
        switch (placement) {
        case BLOCKS:
            spots[i] = (struct task_coll_spot){100 - (uint32_t)i / 4, (uint32_t)i / 2 % 2};
            break;
        case IN_TURN:
            spots[i] = (struct task_coll_spot){(uint32_t)i % 3, (uint32_t)i / 3 % 2};
            break;
        case ONE_NODE:
            spots[i] = (struct task_coll_spot){7, (uint32_t)i % 2};
            break;
        case ALONE:
            spots[i] = (struct task_coll_spot){(uint32_t)(size - i), 0};
            break;
        default:
            spots[i] = (struct task_coll_spot){drawn % 5, drawn / 5 % 3};
        }
    }
}

static int32_t groups_count(int32_t size)
{
    int32_t count = 0;
    for (int32_t i = 0; i < size; i++) {
        bool first = true;
        for (int32_t j = 0; j < i; j++)
            first &= spots[i].node != spots[j].node;
        count += first;
    }
    return count;
}

/* ---- groups ---- */

/* Ranks 0..6 on nodes 5 3 5 5 3 9 5, sockets 1 0 0 1 0 0 0: node groups {0 2 3 6} {1 4} {5}; socket groups
 * {0 3} {1 4} {2 6} {5}, of which the nodes have {0 2} {1} {3}. */
static void test_groups(void **state)
{
    (void)state;
    const struct task_coll_spot where[] = {{5, 1}, {3, 0}, {5, 0}, {5, 1}, {3, 0}, {9, 0}, {5, 0}};
    struct task_coll_layout l = {0};
    task_coll_layout_make(&l, where, 7);
    const struct task_coll_level *nodes = &l.by[0].level[0], *sockets = &l.by[1].level[0],
                                 *above = &l.by[1].level[1];
    assert_int_equal(nodes->groups, 3);
    assert_memory_equal(nodes->group, ((uint32_t[]){0, 1, 0, 0, 1, 2, 0}), 28);
    assert_memory_equal(nodes->unit, ((uint32_t[]){0, 2, 3, 6, 1, 4, 5}), 28);
    assert_memory_equal(nodes->first, ((uint32_t[]){0, 4, 6, 7}), 16);
    assert_memory_equal(nodes->lowest, ((uint32_t[]){0, 1, 5}), 12);
    assert_int_equal(sockets->groups, 4);
    assert_memory_equal(sockets->group, ((uint32_t[]){0, 1, 2, 0, 1, 3, 2}), 28);
    assert_memory_equal(sockets->lowest, ((uint32_t[]){0, 1, 2, 5}), 16);
    assert_int_equal(above->groups, 3);
    assert_memory_equal(above->group, ((uint32_t[]){0, 1, 0, 2}), 16);
    assert_memory_equal(above->place, ((uint32_t[]){0, 0, 1, 0}), 16);
    assert_memory_equal(above->lowest, ((uint32_t[]){0, 1, 5}), 12);
    assert_memory_equal(above->held, ((uint32_t[]){0, 2, 4, 6, 7}), 20);
    assert_memory_equal(l.by[0].held, ((uint32_t[]){0, 4, 6, 7}), 16);
    assert_memory_equal(l.by[1].held, ((uint32_t[]){0, 4, 6, 7}), 16);
    assert_false(task_coll_inside(&l));
    task_coll_layout_release(&l);
}

/* ---- schedules ---- */

static bool among(const char *name, const char *list)
{
    return strstr(list, name) != NULL;
}

/* Vectors that move, in all; -1: no plain number. */
static int64_t vectors(unsigned collective, const struct task_coll_combination *c, int32_t size)
{
    const char *trees = "linear|in_order_binomial|shared_memory";
    int32_t groups = groups_count(size), ways = collective == TASK_COLL_ALLREDUCE ? 2 : 1;
    for (uint32_t i = 0; i < c->levels; i++)
        if ((c->up[i].algorithm && !among(c->up[i].algorithm->name, trees)) ||
            (c->down[i].algorithm && !among(c->down[i].algorithm->name, trees)))
            return -1;
    if (collective == TASK_COLL_ALLREDUCE && strcmp(c->top.algorithm->name, "ring") == 0)
        return 2 * (size - groups) + 2 * (groups - 1);
    return among(c->top.algorithm->name, trees) ? ways * (size - 1) : -1;
}

/* Blocks that go between nodes, in all; -1: trees of several edges. */
static int64_t blocks_between(unsigned collective, const struct task_coll_combination *c, int32_t size,
                              int32_t root, const struct task_coll_layout *layout)
{
    const uint32_t *held = layout->by[0].held, groups = layout->by[0].level[0].groups;
    int64_t own = 0, squares = 0;
    for (uint32_t g = 0; g < groups; g++) {
        int64_t ranks = held[g + 1] - held[g];
        squares += ranks * ranks;
        if (layout->by[0].level[0].group[root] == g)
            own = ranks;
    }
    if (collective == TASK_COLL_ALLGATHER)
        return (int64_t)size * (groups - 1);
    if (collective == TASK_COLL_ALLTOALL)
        return (int64_t)size * size - squares;
    return strcmp(c->top.algorithm->name, "linear") == 0 ? size - own : -1;
}

static void blocks_check(const struct game *g, unsigned collective, const struct task_coll_combination *c,
                         int32_t root, const struct task_coll_layout *layout)
{
    int64_t be = blocks_between(collective, c, g->size, root, layout);
    uint64_t between = 0, gathered = 0;
    for (int32_t i = 0; i < g->messages; i++) {
        const struct message *m = &g->message[i];
        uint32_t phase = (uint32_t)m->tag % (2 * TASK_COLL_LEVELS + 1);
        between += phase == c->levels ? m->bytes : 0;
        bool up = collective == TASK_COLL_GATHER || (collective == TASK_COLL_ALLGATHER && phase < c->levels);
        if (up && !m->flag)
            gathered += m->bytes != BYTES * (uint64_t)__builtin_popcount(m->data.set);
    }
    if ((be >= 0 && between != (uint64_t)be * BYTES) || gathered)
        fail_msg("%s by %s, %d tasks, root %d: %llu bytes between nodes, not %lld blocks; %llu unlike what "
                 "is known",
                 task_coll_name(collective), c->name, g->size, root, (unsigned long long)between,
                 (long long)be, (unsigned long long)gathered);
}

/* Who must have heard of whom. */
static void heard_check(const struct game *g, unsigned collective, int32_t root)
{
    uint32_t all = (uint32_t)((1ull << g->size) - 1);
    for (int32_t rank = 0; rank < g->size; rank++) {
        uint32_t set = g->player[rank].known.set;
        if (collective == TASK_COLL_SCATTER)
            assert_true(set & 1u << root);
        else if (collective != TASK_COLL_GATHER || rank == root)
            assert_int_equal(set, all);
    }
}

static void play(unsigned collective, const struct task_coll_combination *c, int32_t size, int32_t root,
                 const struct task_coll_layout *layout)
{
    static struct game g;
    uint64_t bytes = collective == TASK_COLL_BARRIER ? 0 : BYTES;
    game_init(&g, collective, &c->kind, size, root, bytes);
    for (int32_t i = 0; i < size; i++) {
        g.player[i].view.layout = layout;
        g.player[i].view.combination = c;
    }
    g.sums &= !strstr(c->name, "rabenseifner") && !strstr(c->name, "parts") &&
              !strstr(c->name, "in_order_binary"); /* the root's comes back */
    g.levels = collective > TASK_COLL_ALLREDUCE;
    game_play(&g);
    if (g.levels) {
        heard_check(&g, collective, root);
        blocks_check(&g, collective, c, root, layout);
        return;
    }
    for (int32_t rank = 0; rank < size; rank++)
        assert_result(&g, collective, rank, root);
    int64_t moved = vectors(collective, c, size);
    if (moved >= 0 && g.bytes != (uint64_t)moved * bytes)
        fail_msg("%s by %s, %d tasks, root %d: %llu bytes, not %lld vectors", task_coll_name(collective),
                 c->name, size, root, (unsigned long long)g.bytes, (long long)moved);
}

/* With its usual parameters. */
static struct task_coll_choice usual(const struct ker_kind *algorithm)
{
    const struct task_coll_algorithm *a = algorithm->operations;
    return (struct task_coll_choice){.algorithm = algorithm, .fanout = a->fanout_usual};
}

static void combination_make(struct task_coll_combination *c, unsigned collective, uint32_t levels,
                             const struct ker_kind *up, const struct ker_kind *down,
                             const struct ker_kind *top)
{
    uint8_t by;
    *c = (struct task_coll_combination){.levels = levels, .top = usual(top)};
    for (uint32_t i = 0; i < levels; i++) {
        if (task_coll_goes_up(collective, &by))
            c->up[i] = usual(up);
        if (task_coll_goes_down(collective, &by))
            c->down[i] = usual(down);
    }
    snprintf(c->name, sizeof c->name, "%s+%s/%s", up->name, down->name, top->name);
    task_coll_combine(c);
}

/* The n-th algorithm of a collective; NULL: there are fewer. */
static const struct ker_kind *nth(unsigned collective, int n)
{
    for (const struct ker_kind *const *a = task_collectives.list; *a; a++)
        if (can(*a, collective) && n-- == 0)
            return *a;
    return NULL;
}

static int count_of(unsigned collective)
{
    int count = 0;
    while (nth(collective, count))
        count++;
    return count;
}

/* Sockets have the next algorithm of the list, so that levels differ. */
static void play_combinations(unsigned collective, int32_t size, const struct task_coll_layout *layout)
{
    struct task_coll_combination c;
    const struct ker_kind *top, *up;
    uint8_t by_up = TASK_COLL_REDUCE, by_down = TASK_COLL_BCAST;
    task_coll_goes_up(collective, &by_up);
    task_coll_goes_down(collective, &by_down);
    int ups = count_of(by_up), downs = count_of(by_down);
    for (int t = 0; (top = nth(collective, t)); t++)
        for (int u = 0; !task_coll_is_shared(top) && !task_coll_needs_alike(top) && (up = nth(by_up, u));
             u++) {
            const struct ker_kind *down = nth(by_down, (t + u) % downs);
            for (uint32_t levels = 1; levels <= TASK_COLL_LEVELS; levels++) {
                combination_make(&c, collective, levels, up, down, top);
                if (levels == 2 && c.up[1].algorithm)
                    c.up[1] = usual(nth(by_up, (u + 1) % ups));
                if (levels == 2 && c.down[1].algorithm)
                    c.down[1] = usual(nth(by_down, (t + u + 1) % downs));
                if (levels == 2)
                    snprintf(c.name, sizeof c.name, "%s+%s/%s+%s/%s", up->name, down->name,
                             c.up[1].algorithm ? c.up[1].algorithm->name : "",
                             c.down[1].algorithm ? c.down[1].algorithm->name : "", top->name);
                bool rooted = collective == TASK_COLL_BCAST || collective == TASK_COLL_REDUCE ||
                              collective == TASK_COLL_GATHER || collective == TASK_COLL_SCATTER;
                for (int32_t root = 0; root < (rooted ? size : 1); root++)
                    play(collective, &c, size, root, layout);
            }
        }
}

static void test_every_combination(void **state)
{
    (void)state;
    for (int32_t size = 1; size <= MOST; size++)
        for (int placement = 0; placement < PLACEMENTS; placement++) {
            struct task_coll_layout layout = {0};
            spots_make(size, placement);
            task_coll_layout_make(&layout, spots, (uint32_t)size);
            assert_int_equal(layout.by[0].level[0].groups, groups_count(size));
            for (unsigned c = 0; c < TASK_COLL_COUNT; c++)
                if (task_coll_has_levels(c))
                    play_combinations(c, size, &layout);
            task_coll_layout_release(&layout);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_every_combination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
