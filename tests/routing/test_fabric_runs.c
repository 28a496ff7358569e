/* test_fabric_runs.c - whole runs of fabrics: a fat tree as InfiniBand tools would describe it has the
 * results of topology.kind = "fat_tree" and of an edge list, link by link; and the same on two ranks. */
#include "tests/fabric_make.h"
#include "tests/run_marssim.h"

#define HALF 18 /* switches of 36 ports, 324 nodes */

#define REST                                                                                                 \
    "switch: { channels = 2; buffer = \"4 KiB\"; output_queue = \"2 KiB\"; delay = \"50 ns\"; speedup = "    \
    "1.0; };\n"                                                                                              \
    "adapter: { packet_size = \"512 B\"; header = \"0 B\"; };\n"                                             \
    "traffic: { pattern = \"uniform\"; load = 0.6; size = \"1 KiB\"; };\n"                                   \
    "run: { warmup = \"1 us\"; end = \"8 us\"; };\n"

static int d_mod_k(const void *context, int s, int node, int path)
{
    int leaf = node / HALF;
    if (s >= HALF)
        return leaf + 1;
    return s == leaf ? node % HALF + 1 : HALF + 1 + (node + path) % HALF;
}

/* Every destination through another spine than d-mod-k, and other than by its last digit. */
static int by_leaf(const void *context, int s, int node, int path)
{
    int leaf = node / HALF;
    if (s >= HALF || s == leaf)
        return d_mod_k(context, s, node, path);
    return HALF + 1 + (leaf + node / 3) % HALF;
}

static void tree_files(const struct run *r, plant_port *port, int opensm)
{
    struct plant p = {.switches = 2 * HALF, .ports = 2 * HALF, .adapters = HALF * HALF, .adapter_ports = 2};
    char path[128];
    for (int leaf = 0; leaf < HALF; leaf++) {
        for (int i = 0; i < HALF; i++)
            plant_join(&p, leaf, i + 1, 1, leaf * HALF + i, 1, "4xQDR");
        for (int spine = 0; spine < HALF; spine++)
            plant_join(&p, leaf, HALF + 1 + spine, 0, HALF + spine, leaf + 1, "4xQDR");
    }
    snprintf(path, sizeof path, "%s/dump", r->folder);
    FILE *out = fopen(path, "w");
    plant_write(&p, out);
    fclose(out);
    snprintf(path, sizeof path, "%s/lfts", r->folder);
    out = fopen(path, "w");
    plant_write_tables(&p, out, opensm, port, NULL);
    fclose(out);
    free(p.cable);
}

static char *read_whole(const struct run *r, const char *name)
{
    char path[128], *text = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "%s/out/%s", r->folder, name);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_true(getdelim(&text, &room, 0, in) > 0);
    fclose(in);
    return text;
}

/* The same numbers of links that are the same but for their switches' ports, which begin at 1 in a fabric. */
static void check_links(const struct run_link *fabric, const struct run_link *tree, int count)
{
    for (int i = 0; i < count; i++) {
        assert_int_equal(fabric[i].from, tree[i].from);
        assert_int_equal(fabric[i].to, tree[i].to);
        assert_string_equal(fabric[i].to_kind, tree[i].to_kind);
        assert_int_equal(fabric[i].from_port, tree[i].from_port + (fabric[i].from_kind[0] == 's'));
        assert_int_equal(fabric[i].to_port, tree[i].to_port + (fabric[i].to_kind[0] == 's'));
        assert_int_equal(fabric[i].packets, tree[i].packets);
        assert_int_equal(fabric[i].busy_ps, tree[i].busy_ps);
        assert_int_equal(fabric[i].queue_max_bytes, tree[i].queue_max_bytes);
    }
}

static const char tree_config[] =
    "topology: { kind = \"fat_tree\"; down = [18, 18]; up = [1, 18]; bandwidth = \"4 GB/s\"; "
    "latency = \"100 ns\"; };\nrouting: { algorithm = \"d_mod_k\"; };\n" REST;
static const char fabric_config[] =
    "topology: { kind = \"fabric\"; file = \"dump\"; latency = \"100 ns\"; };\n"
    "routing: { algorithm = \"table\"; table = \"lfts\"; };\n" REST;

static void test_tree_equals(void **state)
{
    for (int opensm = 0; opensm < 2; opensm++) {
        struct run tree, fabric;
        int tree_count, fabric_count;
        run_init(&tree);
        run_init(&fabric);
        tree_files(&fabric, d_mod_k, opensm);
        run_go(&tree, tree_config);
        run_go(&fabric, fabric_config);
        struct run_link *tree_links = run_links(&tree, &tree_count),
                        *fabric_links = run_links(&fabric, &fabric_count);
        assert_int_equal(tree_count, 4 * HALF * HALF);
        assert_int_equal(fabric_count, tree_count);
        check_links(fabric_links, tree_links, tree_count);
        char *tree_latency = read_whole(&tree, "packet_latency.csv"),
             *latency = read_whole(&fabric, "packet_latency.csv");
        assert_string_equal(latency, tree_latency);
        free(tree_latency);
        free(latency);
        free(tree_links);
        free(fabric_links);
        run_release(&tree);
        run_release(&fabric);
    }
}

/* Other tables, other paths, and nothing else: nodes 18 l .. 18 l + 17 are reached through spines (l + node /
 * 3) mod 18, which are the six from 7 l on, so that no other spine ever sends to leaf l. */
static void test_table_counts(void **state)
{
    struct run r;
    int count, used = 0;
    run_init(&r);
    tree_files(&r, by_leaf, 0);
    run_go(&r, fabric_config);
    struct run_link *links = run_links(&r, &count);
    for (int i = 0; i < count; i++)
        if (links[i].from_kind[0] == 's' && links[i].from >= HALF) {
            unsigned spine = links[i].from - HALF, leaf = links[i].to;
            assert_int_equal(links[i].packets > 0, (spine + 7 * (HALF - leaf)) % HALF < 6);
            used += links[i].packets > 0;
        }
    assert_int_equal(used, 6 * HALF);
    free(links);
    run_release(&r);
}

static void test_two_ranks(void **state)
{
    struct run r;
    char command[1024];
    const char *program = getenv("MARSSIM");
    run_init(&r);
    tree_files(&r, d_mod_k, 0);
    run_go(&r, fabric_config);
    snprintf(
        command, sizeof command,
        "mpirun -q -n 2 '%s' --quiet -o %s/two %s/test.cfg partition.oversubscribe=true >%s/log 2>&1 "
        "</dev/null && "
        "cmp %s/out/links.csv %s/two/links.csv && cmp %s/out/packet_latency.csv %s/two/packet_latency.csv && "
        "cmp %s/out/names.csv %s/two/names.csv",
        program, r.folder, r.folder, r.folder, r.folder, r.folder, r.folder, r.folder, r.folder, r.folder);
    assert_int_equal(system(command), 0);
    run_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_equals),
        cmocka_unit_test(test_table_counts),
        cmocka_unit_test(test_two_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
