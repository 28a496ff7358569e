/* Binding with several ranks on this host; run alone and under mpirun -n N. */
#define _GNU_SOURCE
#include "partition/partition.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct ker_config *config_new(const char *text)
{
    const struct ker_option *const tables[] = {part_options, NULL};
    struct ker_config *config = NULL;
    struct ker_error error = {0};
    if (ker_config_parse(&config, "test.cfg", text, NULL, 0, tables, &error) != KER_OK)
        fail_msg("%s", error.text);
    return config;
}

/* Processors each rank may use before anything is bound; -1 when they may be bound already, each to some. */
static int64_t cores_of_each(struct ker_comm *comm)
{
    int64_t cores = part_cores();
    ker_comm_min_i64(comm, &cores, 1);
    return cores > 1 ? cores : -1;
}

static void test_not_bound_when_not_wanted(void **state)
{
    struct ker_config *config = config_new("partition: { bind = \"no\"; };");
    int before = part_cores();
    part_bind(*state, config);
    assert_int_equal(part_cores(), before);
    ker_config_free(config);
}

static void test_a_core_each(void **state)
{
    struct ker_comm *comm = *state;
    int64_t cores = cores_of_each(comm);
    struct ker_config *config = config_new("partition: { bind = \"yes\"; };");
    struct part_seats seats = part_bind(comm, config);
    ker_config_free(config);
    bool oversubscribed = cores > 0 && ker_comm_host_size(comm) > cores;
    assert_false(seats.yield); /* as many work as there are cores */
    assert_true(seats.working >= 1 && seats.working <= ker_comm_size(comm));
    if (cores > 0)
        assert_int_equal(seats.working, oversubscribed ? cores : ker_comm_size(comm));
    config = config_new("partition: { bind = \"no\"; oversubscribe = true; };");
    seats = part_bind(comm, config);
    ker_config_free(config);
    assert_int_equal(seats.working, ker_comm_size(comm));
    if (cores > 0)
        assert_int_equal(seats.yield, oversubscribed);
    if (oversubscribed)
        return;
    assert_int_equal(part_cores(), 1);
    /* No two ranks on one processor: the numbers of ranks on each of the first 1024 are at most 1. */
    uint64_t *users = ker_alloc(1024 * sizeof *users);
    int own = sched_getcpu();
    if (own >= 0 && own < 1024)
        users[own]++;
    ker_comm_sum_u64(comm, users, 1024);
    for (int i = 0; i < 1024; i++)
        assert_true(users[i] <= 1);
    free(users);
}

int main(int argc, char **argv)
{
    struct ker_comm *comm;
    struct ker_error error = {0};
    if (ker_comm_init(&comm, &argc, &argv, &error) != KER_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_not_bound_when_not_wanted, comm),
        cmocka_unit_test_prestate(test_a_core_each, comm),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ker_comm_release(comm);
    return failed;
}
