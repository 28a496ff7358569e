/* The engine on any number of ranks, one too: every component sees what the oracle of phold.h lets it see,
 * however the components are spread. */
#include "tests/kernel/phold_engine.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct phold_rules busy = {
    .components = 331, .starts = 60, .lives = 30, .far_percent = 2, .end = KER_TIME_MAX};

static void compare_way(struct ker_comm *comm, const struct phold_rules *rules, struct phold_way way,
                        struct phold_result expected)
{
    struct phold_result got = phold_run(rules, &way, comm, NULL);
    assert_int_equal(got.why, expected.why);
    assert_int_equal(got.at, expected.at);
    assert_int_equal(got.arrived, expected.arrived);
    assert_int_equal(got.checks, expected.checks);
    assert_int_equal(got.digest, expected.digest);
}

/* Whole boards on a rank (a long epoch) or scattered (a short one), grown cells or not, windows as long as
 * possible or shorter, both ways to agree. */
static void compare_ways(struct ker_comm *comm, const struct phold_rules *rules)
{
    struct phold_result expected = phold_oracle(rules);
    int ranks = ker_comm_size(comm);
    compare_way(comm, rules, (struct phold_way){0}, expected);
    compare_way(comm, rules, (struct phold_way){.boards = true, .order = KER_ORDER_BACKWARD}, expected);
    compare_way(comm, rules, (struct phold_way){.scattered = true, .order = KER_ORDER_SHUFFLED}, expected);
    compare_way(comm, rules, (struct phold_way){.tiles = 1}, expected);
    compare_way(comm, rules, (struct phold_way){.tiles = 3, .hosts = ranks, .order = KER_ORDER_BACKWARD},
                expected);
    compare_way(comm, rules, (struct phold_way){.boards = true, .hosts = ranks, .reversed = true}, expected);
    compare_way(comm, rules, (struct phold_way){.shrink = 3, .order = KER_ORDER_SHUFFLED, .reversed = true},
                expected);
    compare_way(comm, rules, (struct phold_way){.scattered = true, .part = 64}, expected);
    compare_way(comm, rules, (struct phold_way){.hosts = 2, .part = 64, .order = KER_ORDER_BACKWARD},
                expected);
    compare_way(comm, rules, (struct phold_way){.boards = true, .hosts = ranks, .part = 1000}, expected);
}

static void drains(void **state)
{
    compare_ways(*state, &busy);
}

/* Ranks with few neighbours: the boards of a rank follow each other, and send to the next boards only. */
static void few_neighbours(void **state)
{
    struct phold_rules rules = busy;
    for (rules.reach = 1; rules.reach <= 3; rules.reach++) {
        struct phold_result expected = phold_oracle(&rules);
        for (int hosts = 0; hosts <= ker_comm_size(*state); hosts++)
            compare_way(*state, &rules, (struct phold_way){.rows = true, .hosts = hosts}, expected);
        compare_way(*state, &rules, (struct phold_way){.scattered = true, .hosts = 2}, expected);
        for (uint32_t tiles = rules.reach; tiles <= 5; tiles++)
            compare_way(*state, &rules,
                        (struct phold_way){.boards = true, .rows = true, .tiles = tiles, .row = true},
                        expected);
        compare_way(*state, &rules, (struct phold_way){.boards = true, .tiles = 3, .row = true}, expected);
    }
    rules.starts = 2; /* few messages in a round */
    rules.lives = 300;
    struct phold_result expected = phold_oracle(&rules);
    for (int hosts = 0; hosts <= ker_comm_size(*state); hosts++)
        compare_way(*state, &rules, (struct phold_way){.rows = true, .hosts = hosts}, expected);
}

static void end_times(void **state)
{
    struct phold_rules rules = busy;
    rules.end = 17 * PHOLD_LONG + 1;
    compare_ways(*state, &rules);
    rules.end = 12 * PHOLD_LONG; /* something happens then, and must not */
    compare_ways(*state, &rules);
}

/* All ranks check at the same simulated times, also those at which nothing happened, and see the same. */
static void check_boundaries(void **state)
{
    struct phold_rules rules = busy;
    rules.far_percent = 0;
    rules.check_interval[0] = 777;
    rules.check_interval[1] = 1300;
    compare_ways(*state, &rules);
    rules.end = 7770; /* the last check comes with the end */
    compare_ways(*state, &rules);
    rules.end = KER_TIME_MAX;
    rules.enough = 900;
    compare_ways(*state, &rules);
    rules.check_interval[0] = 4 * PHOLD_LONG;
    rules.far_percent = 5;
    compare_ways(*state, &rules);
}

/* Ranks without components take part in every round. */
static void idle_ranks(void **state)
{
    struct phold_result expected = phold_oracle(&busy);
    compare_way(*state, &busy, (struct phold_way){.spread = 1}, expected);
    compare_way(*state, &busy, (struct phold_way){.spread = 2, .boards = true}, expected);
    compare_way(*state, &busy, (struct phold_way){.spread = 2, .scattered = true, .hosts = 2}, expected);
}

/* One record at a time, 10,000 LONG apart: no more rounds than three for each of them. */
static void idle_is_skipped(void **state)
{
    struct phold_rules rules = {
        .components = 12, .starts = 1, .lives = 60, .far_percent = 100, .end = KER_TIME_MAX};
    struct phold_result expected = phold_oracle(&rules);
    struct ker_counts counts;
    phold_run(&rules, &(struct phold_way){.scattered = true}, *state, &counts);
    uint64_t records = counts.records;
    ker_comm_sum_u64(*state, &records, 1);
    assert_true(counts.epochs <= 3 * records + 3);
    compare_way(*state, &rules, (struct phold_way){.scattered = true}, expected);
}

/* ---- memory ---- */

/* One component on each rank; every event makes one more here and one on the next rank. */
struct breeder {
    uint32_t self, rank, ranks;
    uint16_t port;
};

static void breed(void *self, struct ker_engine *e, const struct ker_event *event)
{
    struct breeder *b = self;
    ker_time now = event->time;
    struct ker_event *here = ker_post_event(e, (struct ker_address){0, b->rank}, now + 1001, b->port++, 0);
    here->flags = 0;
    struct ker_event *there =
        ker_post_event(e, (struct ker_address){0, (b->rank + 1) % b->ranks}, now + 1100, b->port++, 1);
    there->flags = 0;
}

static void nothing(void *self, struct ker_engine *e, ker_time now)
{
}

static void no_note(void *self, struct ker_engine *e, ker_time now, enum ker_record_kind kind, uint16_t port,
                    uint8_t channel, uint32_t amount)
{
}

/* What is in flight grows beyond the memory for it: all ranks end, with a reason. */
static void memory_is_out(void **state)
{
    static const struct ker_class class = {.name = "breeder",
                                           .arrival = breed,
                                           .note = no_note,
                                           .act = nothing,
                                           .arrival_alone = breed,
                                           .note_alone = no_note};
    struct ker_comm *comm = *state;
    uint32_t rank = (uint32_t)ker_comm_rank(comm), ranks = (uint32_t)ker_comm_size(comm);
    const struct ker_channel next = {(rank + 1) % ranks, 1000};
    for (int apart = 0; apart < 2; apart++) {
        struct breeder b = {.rank = rank, .ranks = ranks};
        const struct ker_engine_setup setup = {.comm = comm,
                                               .components = 1,
                                               .largest_cell = 1,
                                               .lookahead = 1000,
                                               .channel = &next,
                                               .channels = ranks > 1,
                                               .reach = 4000,
                                               .end = KER_TIME_MAX,
                                               .yield = true,
                                               .hosts = apart ? (int)ranks : 0,
                                               .arena_bytes = rank == ranks - 1 ? 1 << 20 : 0};
        struct ker_engine *e = ker_engine_new(&setup);
        ker_time at = -1;
        ker_engine_set(e, 0, &class, &b, true);
        if (rank == 0)
            ker_post_event(e, (struct ker_address){0, 0}, 5, 0, 0)->flags = 0;
        assert_int_equal(ker_engine_run(e, &at), KER_END_MEMORY);
        assert_true(at >= 0 && at < KER_TIME_MAX);
        assert_true(rank < ranks - 1 || ker_memory_lack());
        ker_engine_free(e);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drains),        cmocka_unit_test(few_neighbours),
        cmocka_unit_test(end_times),     cmocka_unit_test(check_boundaries),
        cmocka_unit_test(idle_ranks),    cmocka_unit_test(idle_is_skipped),
        cmocka_unit_test(memory_is_out),
    };
    struct ker_comm *comm;
    struct ker_error error = {.status = KER_OK};
    if (ker_comm_init(&comm, &argc, &argv, &error))
        return 1;
    struct CMUnitTest with[sizeof tests / sizeof *tests];
    memcpy(with, tests, sizeof tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        with[i].initial_state = comm;
    int failed = cmocka_run_group_tests(with, NULL, NULL);
    ker_comm_release(comm);
    return failed;
}
