/* test_routing_full_load.c - every algorithm on every topology under more load than the network carries:
 * nothing ever deadlocks.
 *
 * All nodes send at load 1.0, with as few channels as the algorithm needs and one packet of buffer in each,
 * where any circle of waiting closes soon: with one class instead of two a ring of 8 stands still at once.
 * The run drains, so all that was injected must arrive, and a deadlock is an error of the program's own.
 * Again on two ranks, with the same bits.
 */
#include "tests/run_marssim.h"

#include "tests/equal_bits.h"

struct load {
    const char *algorithm, *topology;
    int channels;
    const char *pattern;
};

#define LINKS "bandwidth = \"10 GB/s\"; latency = \"20 ns\"; "
#define TORUS(more) "kind = \"torus\"; " LINKS more
#define TREE(more) "kind = \"fat_tree\"; " LINKS more
#define GROUPS(more) "kind = \"hierarchical\"; " LINKS more

#define HYPERX(more) "kind = \"hyperx\"; " LINKS more
#define SLIM(more) "kind = \"slim_fly\"; " LINKS more
#define FLY(more) "kind = \"polarfly\"; " LINKS more
#define PLUS(more) "kind = \"dragonfly_plus\"; " LINKS more
#define GROUPED(more) "kind = \"dragonfly\"; " LINKS more

/* Tornado holds the rings' links in circles; transpose meets in the corners of dimension order. */
static const struct load loads[] = {
    {"minimal", TORUS("extents = [8];"), 2, "tornado"},
    {"minimal", TORUS("extents = [6, 6];"), 2, "uniform"},
    {"minimal", TORUS("extents = [4, 4, 4];"), 2, "tornado"},
    {"minimal", TORUS("extents = [6, 6]; wrap = false; nodes_per_switch = 2;"), 1, "uniform"},
    {"adaptive", TORUS("extents = [8];"), 3, "tornado"},
    {"adaptive", TORUS("extents = [6, 6];"), 3, "uniform"},
    {"adaptive", TORUS("extents = [4, 4, 4];"), 3, "uniform"},
    {"adaptive", TORUS("extents = [8, 8]; wrap = false;"), 2, "transpose"},
    {"valiant", TORUS("extents = [8];"), 4, "tornado"},
    {"valiant", TORUS("extents = [6, 6]; parallel = 2; nodes_per_switch = 2;"), 4, "uniform"},
    {"valiant", TORUS("extents = [8, 8];"), 4, "transpose"},
    {"valiant", TORUS("extents = [5, 4]; wrap = [true, false];"), 4, "uniform"},
    {"valiant", TORUS("extents = [6, 6]; wrap = false;"), 2, "uniform"},
    {"minimal", TORUS("extents = [4, 8]; twist = true;"), 2, "uniform"},
    {"minimal", TORUS("extents = [3, 6, 6]; twist = true;"), 2, "permutation"},
    {"adaptive", TORUS("extents = [4, 8]; twist = true;"), 4, "permutation"},
    {"par", TORUS("extents = [4, 4, 8]; twist = true;"), 5, "permutation"},
    {"inner_outer_inner", TORUS("extents = [4, 4, 2, 3, 2]; wrap = [true, true, false, true, false];"), 2,
     "tornado"},
    {"d_mod_k", TREE("radix = 8; levels = 3;"), 1, "uniform"},
    {"s_mod_k", TREE("radix = 8; levels = 3;"), 1, "uniform"},
    {"s_mod_k", TREE("down = [4, 4, 4]; up = [1, 2, 1];"), 1, "permutation"},
    {"random", TREE("radix = 8; levels = 3;"), 1, "permutation"},
    {"adaptive", TREE("radix = 8; levels = 3;"), 1, "uniform"},
    {"adaptive", TREE("down = [4, 4, 4]; up = [1, 2, 1];"), 1, "permutation"},
    {"minimal", GROUPS("groups = [4, 9]; nodes_per_switch = 2;"), 2, "uniform"},
    {"minimal", GROUPS("groups = [2, 3, 5]; nodes_per_switch = 2;"), 4, "uniform"},
    {"adaptive", GROUPS("groups = [4, 5]; links = [1, 4];"), 2, "uniform"},
    {"valiant", GROUPS("groups = [4, 9]; nodes_per_switch = 2;"), 4, "permutation"},
    {"indirect", GROUPS("groups = [4, 5]; nodes_per_switch = 2;"), 4, "permutation"},
    {"ugal", GROUPS("groups = [4, 9]; nodes_per_switch = 2;"), 4, "permutation"},
    {"par", GROUPS("groups = [4, 9]; nodes_per_switch = 2;"), 5, "permutation"},
    {"minimal", "kind = \"star\"; " LINKS "nodes = 16;", 1, "uniform"},
    {"minimal", HYPERX("extents = [4, 4]; nodes_per_switch = 4;"), 1, "permutation"},
    {"adaptive", HYPERX("extents = [3, 3, 3]; nodes_per_switch = 2;"), 3, "uniform"},
    {"ugal", HYPERX("extents = [4, 4]; nodes_per_switch = 4;"), 2, "permutation"},
    {"dal", HYPERX("extents = [4, 4]; nodes_per_switch = 4;"), 2, "permutation"},
    {"minimal", SLIM("q = 3; nodes_per_switch = 3;"), 2, "permutation"},
    {"valiant", SLIM("q = 4; nodes_per_switch = 3;"), 4, "uniform"},
    {"ugal", SLIM("q = 5; nodes_per_switch = 4;"), 4, "permutation"},
    {"par", SLIM("q = 3; nodes_per_switch = 4;"), 5, "permutation"},
    {"minimal", FLY("q = 4; nodes_per_switch = 3;"), 2, "permutation"},
    {"ugal", FLY("q = 5; nodes_per_switch = 3;"), 4, "uniform"},
    {"minimal", PLUS("leaves = 2; spines = 2; h = 2; nodes_per_switch = 2;"), 1, "uniform"},
    {"ugal", PLUS("leaves = 2; spines = 2; h = 2; nodes_per_switch = 2;"), 2, "permutation"},
    {"minimal", GROUPED("p = 2; a = 6; rows = 2; h = 2; groups = 4;"), 2, "uniform"},
    {"par", GROUPED("p = 2; a = 4; h = 2; arrangement = \"absolute\";"), 5, "permutation"},
};

#define MESSAGES 150 /* of one packet, per node */

/* Runs it and looks at what arrived. */
static void load_run(struct run *r, const struct load *l, const char *queueing)
{
    run_format(r,
               "topology: { %s };\nrouting: { algorithm = \"%s\"; };\n"
               "switch: { channels = %d; %s output_queue = \"1024 B\"; delay = \"20 ns\"; };\n"
               "adapter: { packet_size = \"1000 B\"; header = \"24 B\"; };\n"
               "traffic: { pattern = \"%s\"; load = 1.0; size = \"1000 B\"; messages = %d; };\n",
               l->topology, l->algorithm, l->channels, queueing, l->pattern, MESSAGES);
    int64_t senders = run_int(r, "nodes");
    if (strcmp(l->pattern, "transpose") == 0)
        senders -= 8; /* the diagonal of 8x8 sends to itself: not at all */
    assert_int_equal(run_int(r, "packets_injected"), MESSAGES * senders);
    assert_int_equal(run_int(r, "packets_delivered"), MESSAGES * senders);
}

static void full_load_drains(void **state)
{
    struct run r;
    char where[512], one[128], other[128], command[512];
    run_init(&r);
    snprintf(one, sizeof one, "%s/out", r.folder);
    snprintf(other, sizeof other, "%s/ranks", r.folder);
    snprintf(command, sizeof command,
             "mpirun -n 2 '%s' --quiet -o %s %s/test.cfg partition.oversubscribe=true "
             "engine.cell_order=shuffled >%s/log 2>&1",
             getenv("MARSSIM"), other, r.folder, r.folder);
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        const struct load *l = &loads[i];
        load_run(&r, l, "queueing = \"fifo\"; buffer = \"4 KiB\";"); /* with packets that are behind others */
        load_run(&r, l, "buffer = \"1024 B\";");
        if (system(command))
            fail_msg("%s failed", command);
        if (!equal_results(one, other, where))
            fail_msg("%s on %s, 2 ranks: %s", l->algorithm, l->topology, where);
    }
    run_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(full_load_drains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
