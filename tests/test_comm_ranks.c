/* The collectives on any number of ranks, one too: expected values are written as functions of rank and size.
 */
#include "kernel/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduces),
        cmocka_unit_test(gathers),
        cmocka_unit_test(agrees),
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
