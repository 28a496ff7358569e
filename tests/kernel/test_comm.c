/* One rank without MPI, errors, memory. With ranks: test_comm_ranks.c. */
#include "kernel/base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void alone(void **state)
{
    struct ker_comm *comm = ker_comm_alone();
    assert_int_equal(ker_comm_rank(comm), 0);
    assert_int_equal(ker_comm_size(comm), 1);
    assert_int_equal(ker_comm_host_size(comm), 1);
    uint64_t sum[2] = {3, 4};
    int64_t extreme = -5;
    ker_comm_sum_u64(comm, sum, 2);
    ker_comm_max_i64(comm, &extreme, 1);
    ker_comm_min_i64(comm, &extreme, 1);
    ker_comm_broadcast(comm, sum, sizeof sum);
    assert_int_equal(sum[0] + sum[1], 7);
    assert_int_equal(extreme, -5);
    ker_comm_release(comm);
}

static void alone_gathers(void **state)
{
    struct ker_comm *comm = ker_comm_alone();
    void *all;
    size_t *offset;
    ker_comm_gather(comm, "abc", 3, &all, &offset);
    assert_memory_equal(all, "abc", 3);
    assert_int_equal(offset[0], 0);
    assert_int_equal(offset[1], 3);
    free(all);
    free(offset);
    ker_comm_allgather(comm, NULL, 0, &all, &offset); /* nothing is something too: NULL means another rank */
    assert_non_null(all);
    assert_int_equal(offset[1], 0);
    free(all);
    free(offset);
    ker_comm_release(comm);
}

static void alone_agrees(void **state)
{
    struct ker_comm *comm = ker_comm_alone();
    struct ker_error error = {.status = KER_OK};
    assert_int_equal(ker_comm_agree(comm, &error), KER_OK);
    assert_int_equal(ker_fail(&error, KER_BAD_INPUT, "expected %s", "text"), KER_BAD_INPUT);
    assert_int_equal(ker_fail(&error, KER_RUN_FAILED, "later"), KER_RUN_FAILED); /* the first stays */
    assert_string_equal(error.text, "expected text");
    assert_int_equal(ker_comm_agree(comm, &error), KER_BAD_INPUT);
    ker_comm_release(comm);
}

static void memory(void **state)
{
    char *small = ker_alloc(0);
    assert_non_null(small);
    small = ker_realloc(small, 100);
    free(small);
    /* below, at and above the size from which blocks are mapped (2 MiB) */
    static const size_t sizes[] = {1, 65, (2u << 20) - 1, 2u << 20, (2u << 20) + 1, (6u << 20) + 4097};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *block = ker_reserve(sizes[i]);
        assert_int_equal((uintptr_t)block % 64, 0);
        assert_int_equal(block[0] | block[sizes[i] / 2] | block[sizes[i] - 1], 0);
        memset(block, 1, sizes[i]);
        ker_release(block, sizes[i]);
    }
    ker_release(NULL, 5);
    char *text = ker_format("%s-%d", "a", 7);
    assert_string_equal(text, "a-7");
    free(text);
    assert_true(ker_peak_rss() > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(alone_gathers),
        cmocka_unit_test(alone_agrees),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
