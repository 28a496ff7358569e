/* test_congestion.c - congestion control: what a notice does to a rate, to the picosecond; trees of
 * saturation that grow without it and do not with it (ecn, infiniband); fairness and stability of an incast;
 * and that nothing is lost and nothing changes where nothing is marked.
 */
#include "tests/equal_bits.h"
#include "tests/run_marssim.h"

#include <math.h>

/* ---- tables ---- */

struct period {
    int64_t time_ps, injected, delivered, in_flight;
};

static int periods_read(const struct run *r, struct period *period, int room)
{
    char path[96];
    snprintf(path, sizeof path, "%s/out/periods.csv", r->folder);
    struct csv csv = csv_open(path);
    int count = (int)csv.rows < room ? (int)csv.rows : room;
    for (int i = 0; i < count; i++)
        period[i] = (struct period){(int64_t)csv_count(&csv, (size_t)i, "time_ps"),
                                    (int64_t)csv_count(&csv, (size_t)i, "packets_injected"),
                                    (int64_t)csv_count(&csv, (size_t)i, "packets_delivered"),
                                    (int64_t)csv_count(&csv, (size_t)i, "packets_in_flight")};
    csv_free(&csv);
    return count;
}

/* Messages from each node to one; adds `factor` times. */
static void matrix_add(const struct run *r, uint32_t to, double factor, double *from, uint32_t nodes)
{
    char path[96];
    snprintf(path, sizeof path, "%s/out/matrix.csv", r->folder);
    struct csv csv = csv_open(path);
    for (size_t i = 0; i < csv.rows; i++) {
        uint64_t sender = csv_count(&csv, i, "from_node");
        if (csv_count(&csv, i, "to_node") == to && sender < nodes)
            from[sender] += factor * csv_real(&csv, i, "messages");
    }
    csv_free(&csv);
}

static double node_link_use(const struct run *r, unsigned node)
{
    int count;
    double use = -1;
    struct run_link *links = run_links(r, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(links[i].to_kind, "node") == 0 && links[i].to == node)
            use = links[i].utilisation;
    free(links);
    return use;
}

/* ---- one flow ---- */

/* A source of 100 GB/s in front of an output of 10 GB/s: 1000 B take 10 ns and 100 ns. The queue reaches 4 kB
 * at once; a gap of a second allows one notice. */
#define FUNNEL                                                                                               \
    "topology: { kind = \"file\"; file = \"funnel.txt\"; };\n"                                               \
    "switch: { channels = 1; buffer = \"20 kB\"; output_queue = \"2 kB\"; };\n"                              \
    "adapter: { packet_size = \"1000 B\"; header = \"0 B\"; };\n"                                            \
    "traffic: { pattern = \"incast\"; target = 0; interval = \"10 ns\"; arrival = \"periodic\"; size = "     \
    "\"1000 B\"; };\n"                                                                                       \
    "output: { period = \"10 us\"; };\n"

static int funnel_run(struct run *r, const char *congestion, const char *end, struct period *period, int room)
{
    run_write(r, "funnel.txt", "switch s\nnode t s 10ns 10GB/s\nnode a s 10ns 100GB/s\n");
    run_format(
        r, FUNNEL "congestion: { control = \"ecn\"; threshold = \"4 kB\"; %s };\nrun: { end = \"%s\"; };\n",
        congestion, end);
    return periods_read(r, period, room);
}

/* After one notice that takes 95 % the flow sends 1000 B every 10 ns / 0.05 = 200 ns: 50 in 10 us, from the
 * first period on that begins behind the queue's end. */
static void notice_sets_the_rate(void **state)
{
    struct run r;
    struct period p[20];
    run_init(&r);
    assert_int_equal(
        funnel_run(&r, "decrease = 0.95; cnp_gap = \"1 s\"; recovery = \"1 s\";", "101 us", p, 20), 10);
    assert_int_equal(run_int(&r, "congestion.notices_sent"), 1);
    assert_int_equal(run_int(&r, "congestion.notices_received"), 1);
    assert_int_equal(run_int(&r, "congestion.throttled_flows"), 1);
    for (int i = 2; i < 10; i++)
        assert_int_equal(p[i].injected, 50);
    /* each waits 200 - 10 ns longer than its link would have it wait; fixed-point rates make that 1 ps more
     * or less */
    assert_within(run_real(&r, "congestion.throttle_ps.p50"), 190000, 190000 / 64);
    assert_within(run_real(&r, "congestion.throttle_ps.max"), 190000, 1);
    run_release(&r);
}

/* Not below the minimum: 0.02 of the link, 20 packets in 10 us. */
static void rate_has_a_minimum(void **state)
{
    struct run r;
    struct period p[20];
    run_init(&r);
    assert_int_equal(funnel_run(&r, "decrease = 1.0; minimum = 0.02; cnp_gap = \"1 s\"; recovery = \"1 s\";",
                                "101 us", p, 20),
                     10);
    for (int i = 2; i < 10; i++)
        assert_int_equal(p[i].injected, 20);
    run_release(&r);
}

/* From 0.02 in steps of 0.01 each 50 us: a period inside step k has 20 + 10 k packets, until the output
 * limits it to 100. When the rate is full, the flow is no longer throttled: a second one would be counted if
 * it were notified again. */
static void rate_recovers(void **state)
{
    struct run r;
    struct period p[60];
    run_init(&r);
    int count = funnel_run(
        &r, "decrease = 1.0; minimum = 0.02; increase = 0.01; cnp_gap = \"1 s\"; recovery = \"50 us\";",
        "601 us", p, 60);
    assert_int_equal(count, 60);
    for (int i = 2; i < 60; i++) {
        int step = i / 5,
            expected = 20 + 10 * step < 100 ? 20 + 10 * step : 100; /* the notice comes at 0.x us */
        if (i % 5 != 0 && i < 40)
            assert_int_equal(p[i].injected, expected);
        if (i >= 45)
            assert_int_equal(p[i].delivered, 100);
    }
    run_release(&r);
}

/* One source is notified at most once in a gap, and about as often while every packet is marked. */
static void notices_keep_their_gap(void **state)
{
    struct run r;
    struct period p[20];
    run_init(&r);
    funnel_run(&r, "decrease = 0.001; increase = 0.9; recovery = \"1 ns\"; cnp_gap = \"3 us\";", "100 us", p,
               20);
    assert_true(run_int(&r, "congestion.marked_packets") > 900); /* 1000 leave the switch */
    assert_within(run_real(&r, "congestion.notices_sent"), 33, 1);
    funnel_run(&r, "decrease = 0.001; increase = 0.9; recovery = \"1 ns\"; cnp_gap = \"0 s\";", "100 us", p,
               20);
    assert_within(run_real(&r, "congestion.notices_sent"), run_real(&r, "congestion.marked_packets"), 3);
    run_release(&r);
}

/* ---- trees of saturation ---- */

#define FAT_TREE                                                                                             \
    "topology: { kind = \"fat_tree\"; radix = 16; levels = 2; bandwidth = \"12.5 GB/s\"; latency = \"50 "    \
    "ns\"; };\n"
#define TORUS                                                                                                \
    "topology: { kind = \"torus\"; extents = [8, 8]; bandwidth = \"12.5 GB/s\"; latency = \"50 ns\"; };\n"
#define SWITCHES                                                                                             \
    "switch: { channels = 2; buffer = \"16 KiB\"; output_queue = \"4 KiB\"; arbitration = \"round_robin\"; " \
    "};\n"                                                                                                   \
    "adapter: { packet_size = \"512 B\"; header = \"0 B\"; };\n"
#define NONE "congestion: { control = \"none\"; };\n"
#define ECN "congestion: { control = \"ecn\"; threshold = \"8 KiB\"; %s };\n"

struct hot {
    double victims, hot_link, mean_ns,
        p99_ns; /* load of the background, a fraction of what all nodes could send */
};

/* `senders` nodes send all they have to node 5, the others to nodes that are not hot. What a hot sender
 * creates after the warm-up does not leave it before the end, so latencies are the background's. */
static struct hot hot_run(struct run *r, const char *topology, int senders, double load, bool hot,
                          const char *congestion)
{
    run_format(r,
               "%s" SWITCHES "%s"
               "traffic: { pattern = \"hotspot\"; hotspots = [5]; hotspot_fraction = %s; hotspot_senders = "
               "%d; load = %g; size = \"512 B\"; };\n"
               "run: { warmup = \"600 us\"; measure = \"200 us\"; drain = false; };\n",
               topology, congestion, hot ? "1.0" : "0.0", senders, load);
    struct hot h = {.hot_link = node_link_use(r, 5),
                    .mean_ns = run_real(r, "packet_latency_ps.mean") / 1000,
                    .p99_ns = run_real(r, "packet_latency_ps.p99") / 1000};
    h.victims = run_real(r, "accepted_load") - h.hot_link / (double)run_int(r, "nodes");
    return h;
}

static void hot_print(const char *name, struct hot h)
{
    print_message("%-26s background %.4f, hot link %.3f, latency mean %.0f ns, 99 %% %.0f ns\n", name,
                  h.victims, h.hot_link, h.mean_ns, h.p99_ns);
}

/* Undisturbed, the background gets what it offers. With the hot spot and no control it loses a third of it or
 * more; with control it has 99 % of it and its latency again, while the hot link is used to 93 %. */
static void tree_check(const char *name, const char *topology, int senders, double load)
{
    struct run r;
    char ecn[256];
    snprintf(ecn, sizeof ecn, ECN, "");
    run_init(&r);
    struct hot alone = hot_run(&r, topology, senders, load, false, NONE),
               none = hot_run(&r, topology, senders, load, true, NONE);
    struct hot controlled = hot_run(&r, topology, senders, load, true, ecn);
    double nodes = (double)run_int(&r, "nodes"), offered = load * (nodes - 1 - senders) / nodes;
    /* the hot node sends background, too */
    offered += load / nodes;
    print_message("%s, %d senders, load %g: background offers %.4f\n", name, senders, load, offered);
    hot_print("  no hot spot", alone);
    hot_print("  hot spot, no control", none);
    hot_print("  hot spot, ecn", controlled);
    assert_within(alone.victims, load, 0.02 * load);
    assert_true(none.hot_link > 0.99);
    assert_true(none.victims < 0.67 * offered);
    assert_true(none.mean_ns > 1.3 * alone.mean_ns);
    assert_true(none.p99_ns > 5 * alone.p99_ns);
    assert_true(controlled.hot_link > 0.93);
    assert_within(controlled.victims, offered, 0.01 * offered);
    assert_true(controlled.mean_ns < 1.05 * alone.mean_ns);
    assert_true(controlled.p99_ns < 1.10 * alone.p99_ns);
    assert_true(run_int(&r, "congestion.throttle_ps.count") > 0 ||
                run_int(&r, "congestion.throttled_flows") >= senders);
    run_release(&r);
}

static void tree_on_a_fat_tree(void **state)
{
    tree_check("fat tree", FAT_TREE, 16, 0.5);
}

static void tree_on_a_torus(void **state)
{
    tree_check("torus", TORUS, 12, 0.4);
}

/* Annex A10 on the same fat tree. A full hot link passes 1 / (w (r + 1)) notifications a second, w the time
 * of a packet, and the timers take back N / T: with r = 3 and T = 5.12 us up to 31 flows can be held. Tables,
 * timers and marks of other strength: too weak, and the tree stays; too strong, and the hot link idles. */
static void a10_on_a_fat_tree(void **state)
{
    static const struct {
        const char *name, *keys;
        double background, link[2]; /* at least; from, to */
    } rows[] = {
        {"A10", "marking_rate = 3; ccti_timer = 5;", 0.435, {0.95, 0.985}},
        {"marks all", "marking_rate = 0; ccti_timer = 5;", 0.435, {0.8, 0.9}},
        {"timer of 154 us", "marking_rate = 3; ccti_timer = 150;", 0.435, {0.2, 0.4}},
        {"1/8 at least", "marking_rate = 3; ccti_timer = 5; ccti_limit = 7;", 0, {0.999, 1.001}},
    };
    struct run r;
    run_init(&r);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char keys[256];
        snprintf(keys, sizeof keys, "congestion: { control = \"infiniband\"; sw_threshold = 8; %s };\n",
                 rows[i].keys);
        struct hot h = hot_run(&r, FAT_TREE, 16, 0.5, true, keys);
        hot_print(rows[i].name, h);
        assert_true(h.victims >= rows[i].background);
        assert_true(h.hot_link >= rows[i].link[0] && h.hot_link <= rows[i].link[1]);
        if (rows[i].background == 0)
            assert_true(h.victims < 0.4);
    }
    run_release(&r);
}

/* Marked at the root only, the flows that are throttled are mostly those to the hot node; marked everywhere,
 * those that pass the tree, too. */
static void root_spares_the_victims(void **state)
{
    struct run r;
    char ecn[256];
    int64_t throttled[2];
    run_init(&r);
    for (int all = 0; all < 2; all++) {
        snprintf(ecn, sizeof ecn, ECN, all ? "mark = \"all\";" : "mark = \"root\";");
        hot_run(&r, FAT_TREE, 16, 0.5, true, ecn);
        throttled[all] = run_int(&r, "congestion.throttled_flows");
    }
    print_message("throttled flows: marked at the root %" PRId64 ", everywhere %" PRId64 "\n", throttled[0],
                  throttled[1]);
    assert_true(throttled[0] >= 16);
    assert_true(2 * throttled[0] < throttled[1]);
    run_release(&r);
}

/* A source has messages to the hot node and to others. With a window of one message those to others are
 * behind the throttled one. */
static void window_lets_others_pass(void **state)
{
    struct run r;
    double accepted[2];
    run_init(&r);
    for (int wide = 0; wide < 2; wide++) {
        run_format(&r,
                   TORUS SWITCHES ECN "traffic: { pattern = \"hotspot\"; hotspots = [5]; hotspot_fraction = "
                                      "0.1; load = 0.3; size = \"512 B\"; };\n"
                                      "run: { warmup = \"400 us\"; measure = \"100 us\"; drain = false; };\n",
                   wide ? "window = 1000;" : "window = 1;");
        accepted[wide] = run_real(&r, "accepted_load");
    }
    print_message("accepted with a window of 1: %.3f, of 1000: %.3f, of 0.27 + 1/64 possible\n", accepted[0],
                  accepted[1]);
    assert_true(accepted[0] < 0.6 * 0.27);
    assert_true(accepted[1] > 0.97 * 0.27);
    run_release(&r);
}

/* ---- an incast ---- */

#define INCAST_END(end)                                                                                      \
    "traffic: { pattern = \"incast\"; target = 0; senders = 16; load = 1.0; size = \"512 B\"; };\n"          \
    "run: { warmup = \"2 ms\"; end = \"" end "\"; };\n"                                                      \
    "output: { matrix = true; period = \"100 us\"; };\n"

/* 16 to 1 from 2 ms to 8 ms: each gets its 16th within 5 % (without control one that is nearer gets several
 * times as much), and what is in flight stays between bounds: never so little that the link idles, never the
 * full buffers of no control. */
static void incast_check(const char *control, double utilisation, double widest, int64_t most_in_flight)
{
    static struct period p[100];
    struct run r;
    double share[128] = {0}, sum = 0, least = INFINITY, most = 0;
    run_init(&r);
    run_format(&r, FAT_TREE SWITCHES "%s" INCAST_END("2001 us"), control);
    matrix_add(&r, 0, -1, share, 128);
    run_format(&r, FAT_TREE SWITCHES "%s" INCAST_END("8 ms"), control);
    matrix_add(&r, 0, 1, share, 128);
    int count = periods_read(&r, p, 100), senders = 0;
    for (int i = 0; i < 128; i++) {
        senders += share[i] > 0;
        sum += share[i];
        most = share[i] > most ? share[i] : most;
        least = share[i] > 0 && share[i] < least ? share[i] : least;
    }
    int64_t high = 0, low = INT64_MAX;
    for (int i = 20; i < count; i++) {
        high = p[i].in_flight > high ? p[i].in_flight : high;
        low = p[i].in_flight < low ? p[i].in_flight : low;
    }
    double use = node_link_use(&r, 0);
    print_message("%.12s: link %.3f, shares %.3f to %.3f of the mean, in flight %" PRId64 " to %" PRId64
                  " packets\n",
                  strchr(control, '"'), use, least * 16 / sum, most * 16 / sum, low, high);
    assert_int_equal(senders, 16);
    assert_true(use >= utilisation);
    assert_true(most * 16 / sum <= 1 + widest && least * 16 / sum >= 1 - widest);
    assert_true(high <= most_in_flight);
    run_release(&r);
}

static void incast_is_fair_and_stable(void **state)
{
    char ecn[256];
    snprintf(ecn, sizeof ecn, ECN, "increase = 0.002;");
    incast_check(NONE, 0.999, 8, INT64_MAX);
    incast_check(ecn, 0.97, 0.05, 150);
}

/* ---- what must not change, and what must not be lost ---- */

/* A threshold that nothing reaches: the same bits as without control, but for the object `congestion` itself.
 */
static void unmarked_is_unchanged(void **state)
{
    struct run r;
    char where[512];
    json_t *one = NULL;
    run_init(&r);
    for (int control = 0; control < 2; control++) {
        run_format(&r,
                   TORUS SWITCHES "%s"
                                  "traffic: { pattern = \"uniform\"; load = 0.9; size = \"1500 B\"; };\nrun: "
                                  "{ measure = \"50 us\"; };\n",
                   control ? "congestion: { control = \"ecn\"; threshold = \"1 TiB\"; };\n" : "");
        json_t *result = json_object_get(r.summary, "result");
        if (control) {
            assert_int_equal(run_int(&r, "congestion.marked_packets"), 0);
            assert_int_equal(json_object_del(result, "congestion"), 0);
            if (!equal_json(one, result, "result", where))
                fail_msg("%s", where);
        } else {
            assert_null(json_object_get(result, "congestion"));
            one = json_deep_copy(result);
        }
    }
    json_decref(one);
    run_release(&r);
}

/* Runs that are drained: all packets and notices arrive, also where notices compete with priority classes,
 * with sinks that are slow, with one queue for all destinations, in closed loops. (The program itself asserts
 * that all credits are back.) */
static void nothing_is_lost(void **state)
{
    static const struct variant {
        const char *switches, *adapter, *traffic, *congestion;
    } variants[] = {
        {"classes = 3;", "", "priority = 1;", ""},
        {"", "queues = \"fifo\";", "", ""},
        {"", "scheduling = \"fifo\";", "", ""},
        {"", "ejection_rate = \"6 GB/s\"; buffer = \"4 KiB\";", "", ""},
        {"", "", "outstanding = 4;", ""},
        {"queueing = \"fifo\";", "", "", ""},
        {"forwarding = \"store_and_forward\";", "", "", ""},
        {"", "", "", "cnp_gap = \"0 s\"; mark = \"all\";"},
    };
    struct run r;
    run_init(&r);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const struct variant *v = &variants[i];
        bool closed = strstr(v->traffic, "outstanding") != NULL;
        run_format(&r,
                   TORUS "switch: { channels = 2; buffer = \"4 KiB\"; output_queue = \"2 KiB\"; %s };\n"
                         "adapter: { packet_size = \"512 B\"; header = \"8 B\"; %s };\n"
                         "traffic: { pattern = \"hotspot\"; hotspots = [5]; hotspot_fraction = 0.5; %s size "
                         "= \"1500 B\"; messages = 60; %s };\n"
                         "congestion: { control = \"ecn\"; threshold = \"1 KiB\"; increase = 0.01; recovery "
                         "= \"1 us\"; %s };\n",
                   v->switches, v->adapter, closed ? "" : "load = 0.5;", v->traffic, v->congestion);
        assert_int_equal(run_int(&r, "packets_delivered"), run_int(&r, "packets_injected"));
        assert_int_equal(run_int(&r, "bytes_delivered"), run_int(&r, "bytes_injected"));
        assert_int_equal(run_int(&r, "messages_delivered"), 64 * 60 * (closed ? 2 : 1));
        assert_int_equal(run_int(&r, "congestion.notices_received"), run_int(&r, "congestion.notices_sent"));
        assert_true(run_int(&r, "congestion.notices_sent") > 10);
        assert_true(run_int(&r, "congestion.throttle_ps.count") > 10);
    }
    run_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notice_sets_the_rate),    cmocka_unit_test(rate_has_a_minimum),
        cmocka_unit_test(rate_recovers),           cmocka_unit_test(notices_keep_their_gap),
        cmocka_unit_test(tree_on_a_fat_tree),      cmocka_unit_test(tree_on_a_torus),
        cmocka_unit_test(a10_on_a_fat_tree),       cmocka_unit_test(root_spares_the_victims),
        cmocka_unit_test(window_lets_others_pass), cmocka_unit_test(incast_is_fair_and_stable),
        cmocka_unit_test(unmarked_is_unchanged),   cmocka_unit_test(nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
