/* The collectives on any number of ranks, one too: expected values are written as functions of rank and size.
 * Everything is done in memory that the ranks share, by MPI as on several hosts, and among the first of them.
 */
#include "kernel/base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void reduces(void **state)
{
    struct ker_comm *comm = *state;
    int64_t rank = ker_comm_rank(comm), size = ker_comm_size(comm);
    uint64_t sum[2] = {(uint64_t)rank + 1, 10};
    int64_t most = rank - 2, least = -rank, control = rank == 0 ? 77 : 0;
    ker_comm_sum_u64(comm, sum, 2);
    ker_comm_max_i64(comm, &most, 1);
    ker_comm_min_i64(comm, &least, 1);
    ker_comm_broadcast(comm, &control, sizeof control);
    assert_int_equal(sum[0], size * (size + 1) / 2); /* 1 + 2 + ... + size */
    assert_int_equal(sum[1], 10 * size);
    assert_int_equal(most, size - 3);
    assert_int_equal(least, 1 - size);
    assert_int_equal(control, 77);
    assert_in_range(ker_comm_host_size(comm), 1, size);
}

/* Rank r gives r bytes 'a' + r, so rank r's part begins at 0 + 1 + ... + (r - 1). */
static void check_parts(const char *all, const size_t *offset, int size)
{
    for (size_t r = 0; r < (size_t)size; r++) {
        assert_int_equal(offset[r], r * (r - 1) / 2);
        for (size_t i = offset[r]; i < offset[r + 1]; i++)
            assert_int_equal(all[i], 'a' + (int)r);
    }
    assert_int_equal(offset[size], size * (size - 1) / 2);
}

static void gathers(void **state)
{
    struct ker_comm *comm = *state;
    int rank = ker_comm_rank(comm);
    char own[256];
    void *all;
    size_t *offset;
    memset(own, 'a' + rank, sizeof own);
    ker_comm_gather(comm, own, (size_t)rank, &all, &offset);
    if (rank == 0) {
        check_parts(all, offset, ker_comm_size(comm));
    } else {
        assert_null(all);
        assert_null(offset);
    }
    free(all);
    free(offset);
    ker_comm_allgather(comm, own, (size_t)rank, &all, &offset);
    check_parts(all, offset, ker_comm_size(comm));
    free(all);
    free(offset);
}

/* Longer than what goes in one round (16 KiB of each rank), and no multiple of it. */
#define LONG 5003

static uint64_t word(size_t rank, size_t i)
{
    return (uint64_t)rank * 1000003 + i * 17;
}

static void long_reduces(void **state)
{
    struct ker_comm *comm = *state;
    uint64_t size = (uint64_t)ker_comm_size(comm), *sum = ker_alloc(LONG * sizeof *sum);
    int64_t *least = ker_alloc(LONG * sizeof *least);
    for (size_t i = 0; i < LONG; i++) {
        sum[i] = word((size_t)ker_comm_rank(comm), i);
        least[i] = (int64_t)i - (int64_t)sum[i];
    }
    ker_comm_sum_u64(comm, sum, LONG);
    ker_comm_min_i64(comm, least, LONG);
    for (size_t i = 0; i < LONG; i++) { /* the ranks' numbers add up to size * (size - 1) / 2 */
        assert_int_equal(sum[i], size * (size - 1) / 2 * 1000003 + size * i * 17);
        assert_int_equal(least[i], (int64_t)i - (int64_t)word(size - 1, i));
    }
    free(sum);
    free(least);
}

/* Rank r has r + 2 * s words for rank s, of which some are more than goes in one round; rank 0 none for
 * itself. */
static void exchanges(void **state)
{
    struct ker_comm *comm = *state;
    size_t rank = (size_t)ker_comm_rank(comm), size = (size_t)ker_comm_size(comm), used = 0, *from;
    size_t *offset = ker_alloc((size + 1) * sizeof *offset), most = 2 * size * size * LONG;
    uint64_t *data = ker_alloc(most * sizeof *data), *all, bits[2] = {1ull << rank, 1ull << 40};
    for (size_t s = 0; s < size; s++) {
        for (size_t i = 0; i < (rank + 2 * s) * LONG / 2; i++)
            data[used++] = word(rank, i) ^ s;
        offset[s + 1] = used * sizeof *data;
    }
    ker_comm_exchange(comm, data, offset, (void **)&all, &from);
    assert_int_equal(from[0], 0);
    for (size_t r = 0; r < size; r++) {
        size_t count = (r + 2 * rank) * LONG / 2;
        assert_int_equal(from[r + 1] - from[r], count * sizeof *all);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(all[from[r] / sizeof *all + i], word(r, i) ^ rank);
    }
    ker_comm_or_u64(comm, bits, 2);
    assert_int_equal(bits[0], (1ull << size) - 1);
    assert_int_equal(bits[1], 1ull << 40);
    free(data);
    free(offset);
    free(all);
    free(from);
}

/* Rank r gives 1000 words less than the one before it, the last ones nothing. */
static void long_gathers(void **state)
{
    struct ker_comm *comm = *state;
    size_t rank = (size_t)ker_comm_rank(comm), size = (size_t)ker_comm_size(comm);
    size_t own = rank * 1000 < LONG ? LONG - rank * 1000 : 0, *offset, at = 0;
    uint64_t *mine = ker_alloc(LONG * sizeof *mine), *all;
    for (size_t i = 0; i < LONG; i++)
        mine[i] = word(rank, i);
    ker_comm_allgather(comm, mine, own * sizeof *mine, (void **)&all, &offset);
    for (size_t r = 0; r < size; r++)
        for (size_t i = 0; i < (offset[r + 1] - offset[r]) / sizeof *all; i++)
            assert_int_equal(all[at++], word(r, i));
    assert_int_equal(offset[1], LONG * sizeof *all);
    free(all);
    free(offset);
    for (size_t i = 0; rank == 0 && i < LONG; i++)
        mine[i] = word(77, i);
    ker_comm_broadcast(comm, mine, LONG * sizeof *mine);
    for (size_t i = 0; i < LONG; i++)
        assert_int_equal(mine[i], word(77, i));
    free(mine);
}

/* Others send words of their own in batches of growing length, none too; rank 0 takes them in turn. */
static void puts_and_takes(void **state)
{
    struct ker_comm *comm = *state;
    size_t rank = (size_t)ker_comm_rank(comm), size = (size_t)ker_comm_size(comm);
    uint64_t *words = ker_alloc(LONG * sizeof *words);
    for (size_t count = 0; count < LONG; count = count * 3 + 1) {
        for (size_t i = 0; i < count; i++)
            words[i] = word(rank, i + count);
        if (rank != 0)
            ker_comm_put(comm, words, count * sizeof *words);
        for (size_t r = 1; rank == 0 && r < size; r++) {
            ker_comm_take(comm, (int)r, words, count * sizeof *words);
            for (size_t i = 0; i < count; i++)
                assert_int_equal(words[i], word(r, i + count));
        }
    }
    free(words);
}

static int naps;

static void nap(struct ker_comm *comm)
{
    naps++;
}

/* Rank 0 comes 50 ms late; the others sleep, and nap every 2 ms. */
static void meets(void **state)
{
    struct ker_comm *comm = *state;
    const struct timespec late = {0, 50000000};
    ker_comm_meet(comm, NULL);
    naps = 0;
    if (ker_comm_rank(comm) == 0)
        nanosleep(&late, NULL);
    ker_comm_meet(comm, ker_comm_rank(comm) == 0 ? NULL : nap);
    assert_true(ker_comm_rank(comm) == 0 ? naps == 0 : naps > 0);
}

/* A rank may be ahead of the others by one collective, and each wants its own words. */
static void many_in_a_row(void **state)
{
    struct ker_comm *comm = *state;
    uint64_t rank = (uint64_t)ker_comm_rank(comm), size = (uint64_t)ker_comm_size(comm);
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t sum = i + rank;
        ker_comm_sum_u64(comm, &sum, 1);
        assert_int_equal(sum, size * i + size * (size - 1) / 2);
    }
}

static void agrees(void **state)
{
    struct ker_comm *comm = *state;
    int rank = ker_comm_rank(comm), size = ker_comm_size(comm);
    struct ker_error good = {.status = KER_OK}, error = {.status = KER_OK};
    assert_int_equal(ker_comm_agree(comm, &good), KER_OK);
    /* ranks but the last fail, the last is refused: that is worse. Alone: refused. */
    ker_fail(&error, rank < size - 1 ? KER_RUN_FAILED : KER_BAD_INPUT,
             "this message of the last rank is expected");
    assert_int_equal(ker_comm_agree(comm, &error), KER_BAD_INPUT);
}

static int tests_run(struct ker_comm *comm)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(reduces),      cmocka_unit_test(gathers),        cmocka_unit_test(long_reduces),
        cmocka_unit_test(long_gathers), cmocka_unit_test(meets),          cmocka_unit_test(many_in_a_row),
        cmocka_unit_test(agrees),       cmocka_unit_test(puts_and_takes), cmocka_unit_test(exchanges),
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tests[i].initial_state = comm;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Those that have no part wait for the others. */
static int tests_run_first(struct ker_comm *comm, int count)
{
    struct ker_comm *first = ker_comm_first(comm, count);
    int failed = 0;
    if (first)
        failed = tests_run(first);
    ker_comm_release(first);
    ker_comm_meet(comm, NULL);
    return failed;
}

int main(int argc, char **argv)
{
    struct ker_comm *comm, *apart;
    struct ker_error error = {.status = KER_OK};
    if (ker_comm_init(&comm, &argc, &argv, &error) || ker_comm_init(&apart, &argc, &argv, &error))
        return 1;
    ker_comm_apart(apart);
    int size = ker_comm_size(comm), failed = tests_run(comm);
    failed += tests_run(apart);
    failed += tests_run_first(comm, 1);
    failed += tests_run_first(apart, size > 1 ? size - 1 : 1);
    failed += tests_run_first(comm, size > 1 ? size - 1 : 1);
    failed += tests_run(comm);
    ker_comm_release(apart);
    ker_comm_release(comm);
    return failed;
}
