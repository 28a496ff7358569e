/* test_faults.c - links and switches that are down: what is down, that every pair that can be joined is
 * joined, over which links, and that no circle of waiting can close, whatever goes down when; then whole
 * runs, in which nothing gets lost without being counted. */
#include "tests/route_walk.h"
#include "tests/run_marssim.h"

#define FAULTS(more) "faults: { " more " }; "
#define DROP "unreachable = \"drop\"; "

/* ---- what is down ---- */

static void test_both_ends(void **state)
{
    struct route_topology *topology = topology_make(
        TOPOLOGY("torus", LINKS "extents = [6];") FAULTS(
            DROP "list = ({ link = [0, 1]; at = \"5 us\"; }, { switch = 3; }, { node = 5; at = \"1 us\"; },"
                 " { switch = 0; port = 1; at = \"2 us\"; });"),
        4);
    const struct route_fault_summary *f = route_fault_summarise(topology);
    struct route_peer peer;
    int found = 0;
    for (uint32_t s = 0; s < 6; s++)
        for (uint32_t p = 0; p < route_ports(topology, s); p++) {
            route_port(topology, s, p, &peer);
            ker_time expected = KER_TIME_MAX;
            if (peer.kind == ROUTE_SWITCH && s + peer.id == 1)
                expected = s == 0 && p == 1 ? 2 * KER_US : expected; /* below */
            if (s == 3 || (peer.kind == ROUTE_SWITCH && peer.id == 3))
                expected = 0;
            if (peer.kind == ROUTE_ENDPOINT && peer.id == 5)
                expected = KER_US;
            ker_time down = route_port_down(topology, s, p);
            if (peer.kind == ROUTE_SWITCH) {
                assert_true(down == route_port_down(topology, peer.id, peer.port));
                if (s + peer.id == 1) { /* 0 - 1: by the list at 5 us, and the port 1 of switch 0, whichever
                                           that is, at 2 us */
                    assert_true(down == 5 * KER_US || down == 2 * KER_US);
                    found++;
                    continue;
                }
            }
            if (peer.kind == ROUTE_SWITCH && s + peer.id == 5 &&
                (s == 0 || peer.id == 0)) /* 0 - 5 may be the port 1 */
                continue;
            assert_true(down == expected);
        }
    assert_int_equal(found, 2);
    assert_true(route_switch_down(topology, 3) == 0 && route_switch_down(topology, 2) == KER_TIME_MAX);
    /* switch 3 takes two links and a node's along; 0 - 1 and the node's come on top; port 1 of switch 0 is 0
     * - 1 or 0 - 5 */
    assert_in_range(f->links, 5, 6);
    assert_int_equal(f->links_start, 3);
    assert_int_equal(f->switches, 1);
    assert_true(f->last == 5 * KER_US || f->last == 2 * KER_US);
    /* from the start node 3 is apart from 5 others, both directions */
    assert_int_equal(f->apart_start, 10);
    assert_true(f->apart_first == 0);
    route_free(topology);
}

static void test_higher_rate_contains_lower(void **state)
{
    static const char *const rates[] = {"0.0", "0.02", "0.1", "0.3", "1.0"};
    struct route_topology *topology[5];
    uint64_t last = 0;
    for (int i = 0; i < 5; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 TOPOLOGY("torus", LINKS "extents = [10, 10];")
                     FAULTS(DROP "link_rate = %s; switch_rate = %s; seed = 3;"),
                 rates[i], rates[i]);
        topology[i] = topology_make(text, 4);
        const struct route_fault_summary *f = route_fault_summarise(topology[i]);
        assert_true(f->links >= last);
        last = f->links;
        for (uint32_t s = 0; s < 100 && i > 0; s++)
            for (uint32_t p = 0; p < route_ports(topology[i], s); p++)
                if (route_port_down(topology[i - 1], s, p) == 0)
                    assert_true(route_port_down(topology[i], s, p) == 0);
    }
    assert_int_equal(route_fault_summarise(topology[0])->links, 0);
    assert_int_equal(route_fault_summarise(topology[4])->links,
                     300); /* 200 between switches, 100 to nodes, whose switches are all down */
    for (int i = 0; i < 5; i++)
        route_free(topology[i]);
}

/* Of 20,000 links about 5 % fail: the mean is 1000, the deviation 31; four of these are allowed. */
static void test_rate_is_met(void **state)
{
    struct route_topology *topology =
        topology_make(TOPOLOGY("torus", LINKS "extents = [100, 100];")
                          FAULTS(DROP "link_rate = 0.05; at = \"10 us\"; spread = \"8 us\";"),
                      4);
    assert_in_range(route_fault_summarise(topology)->links, 875, 1125);
    double sum = 0;
    int count = 0;
    for (uint32_t s = 0; s < 10000; s++)
        for (uint32_t p = 0; p < route_ports(topology, s); p++) {
            ker_time down = route_port_down(topology, s, p);
            if (down == KER_TIME_MAX)
                continue;
            assert_in_range(down, 10 * KER_US, 18 * KER_US);
            sum += (double)down;
            count++;
        }
    assert_within(sum / count / KER_US, 14,
                  4 * 8 / 3.46 / 31); /* mean of this many uniform draws, four deviations */
    route_free(topology);
}

/* ---- paths ---- */

/* Is there a path at that time? Grown from the source over what is alive, without the order that the program
 * uses. */
static bool joined(const struct route_topology *topology, ker_time now, uint32_t from, uint32_t to)
{
    uint32_t switches = route_summarise(topology)->switches, found = 0, a, b, queue[switches];
    uint16_t port_a, port_b;
    bool seen[switches];
    memset(seen, 0, sizeof seen);
    route_attachment(topology, from, &a, &port_a);
    route_attachment(topology, to, &b, &port_b);
    if (route_port_down(topology, a, port_a) <= now || route_port_down(topology, b, port_b) <= now)
        return false;
    seen[a] = true;
    queue[found++] = a;
    for (uint32_t i = 0; i < found; i++)
        for (uint32_t p = 0; p < route_ports(topology, queue[i]); p++) {
            struct route_peer peer;
            route_port(topology, queue[i], p, &peer);
            if (peer.kind != ROUTE_SWITCH || seen[peer.id] || route_port_down(topology, queue[i], p) <= now)
                continue;
            seen[peer.id] = true;
            queue[found++] = peer.id;
        }
    return seen[b];
}

struct waits { /* which channel waits for which, by their numbers */
    uint32_t *from, *to;
    size_t count, room;
    uint32_t first[4096]; /* ports of a switch */
    uint32_t channels;    /* of a port */
};

static void waits_add(struct waits *w, uint32_t from, uint32_t to)
{
    size_t to_room = w->room;
    KER_RESERVE(w->from, w->room, w->count + 1);
    KER_RESERVE(w->to, to_room, w->room);
    w->from[w->count] = from;
    w->to[w->count++] = to;
}

/* Takes away channels nobody waits for, until none is left. */
static bool waits_cyclic(const struct waits *w, uint32_t channels)
{
    uint32_t *pointed = calloc(channels, sizeof *pointed);
    bool *gone = calloc(channels, sizeof *gone), any = true, cyclic = false;
    for (size_t i = 0; i < w->count; i++)
        pointed[w->to[i]]++;
    while (any) {
        any = false;
        bool *now = calloc(channels, sizeof *now);
        for (uint32_t c = 0; c < channels; c++)
            if (!gone[c] && pointed[c] == 0)
                gone[c] = now[c] = any = true;
        for (size_t i = 0; i < w->count; i++)
            pointed[w->to[i]] -= now[w->from[i]];
        free(now);
    }
    for (uint32_t c = 0; c < channels; c++)
        cyclic |= !gone[c];
    free(pointed);
    free(gone);
    return cyclic;
}

/* One packet along choices picked at random; at every hop the time moves on by `step`. Returns the links
 * crossed, 0 when it is lost. What it holds and may wait for is noted. */
static uint32_t walk(const struct route_topology *topology, ker_time now, ker_time step, uint32_t source,
                     uint32_t destination, uint32_t channels, uint32_t *random, struct waits *waits)
{
    struct route_packet packet = {.address = route_address(topology, destination),
                                  .source = source,
                                  .destination = destination,
                                  .chance = test_random(random),
                                  .in_channel = 0};
    struct route_peer peer;
    uint32_t at, links = 1, held = UINT32_MAX;
    route_attachment(topology, source, &at, &packet.in_port);
    for (;; packet.hops++, now += step) {
        struct route_choice choices[ROUTE_MAX_CHOICES];
        int count = route_next_faulty(topology, now, route_coordinate(topology, at), at, &packet, choices);
        if (count == 0)
            return 0;
        bool escape = choices[count - 1].flags & ROUTE_ESCAPE;
        uint32_t next_held[ROUTE_MAX_CHOICES];
        for (int i = 0; i < count; i++) {
            assert_true(route_port_down(topology, at, choices[i].port) > now);
            assert_true(choices[i].channel < channels &&
                        choices[i].first_channel + choices[i].channel_count <= (int)channels);
            route_port(topology, at, choices[i].port, &peer);
            next_held[i] = held;
            if (peer.kind != ROUTE_SWITCH || (escape && i != count - 1))
                continue;
            next_held[i] = (waits->first[peer.id] + peer.port) * channels + choices[i].channel;
            if (held != UINT32_MAX)
                waits_add(waits, held, next_held[i]);
        }
        int pick = (int)(test_random(random) % (uint32_t)count);
        held = next_held[pick];
        route_port(topology, at, choices[pick].port, &peer);
        links++;
        if (peer.kind == ROUTE_ENDPOINT)
            break;
        assert_true(links < 300);
        at = peer.id;
        packet.in_port = peer.port;
        packet.in_channel = choices[pick].channel;
        packet.state = choices[pick].state;
    }
    assert_int_equal(peer.id, destination);
    return links;
}

static const char *const systems[] = {
    TOPOLOGY("torus", LINKS "extents = [5, 4];") "routing: { algorithm = \"minimal\"; }; ",
    TOPOLOGY("torus", LINKS "extents = [4, 4]; parallel = 2;") ADAPTIVE,
    TOPOLOGY("torus", LINKS "extents = [3, 3, 3];") ADAPTIVE,
    TOPOLOGY("torus", LINKS "extents = [5, 5];") "routing: { algorithm = \"valiant\"; }; ",
    TOPOLOGY("torus", LINKS "extents = [6, 3]; wrap = false; nodes_per_switch = 2;") ADAPTIVE,
    TOPOLOGY("fat_tree", LINKS "radix = 8; levels = 2;"),
    TOPOLOGY("fat_tree", LINKS "radix = 4; levels = 3;") ADAPTIVE,
    TOPOLOGY("fat_tree", LINKS "down = [3, 3, 2]; up = [1, 3, 2];") "routing: { algorithm = \"random\"; }; ",
    TOPOLOGY("fat_tree", LINKS "radix = 6; levels = 2;") "routing: { algorithm = \"s_mod_k\"; }; ",
    TOPOLOGY("hierarchical", LINKS "groups = [4, 5];"),
    TOPOLOGY("hierarchical", LINKS "groups = [4, 5]; nodes_per_switch = 2; links = 2;") ADAPTIVE,
    TOPOLOGY("hierarchical", LINKS "groups = [3, 4];") "routing: { algorithm = \"valiant\"; }; ",
    TOPOLOGY("hierarchical", LINKS "groups = [3, 4];") "routing: { algorithm = \"ugal\"; }; ",
    TOPOLOGY("hierarchical", LINKS "groups = [3, 4];") "routing: { algorithm = \"par\"; }; ",
    TOPOLOGY("hierarchical",
             LINKS "groups = [2, 4];") "routing: { algorithm = \"indirect\"; detours = 2; }; ",
    TOPOLOGY("hierarchical", LINKS "groups = [2, 2, 3];"),
    TOPOLOGY("hierarchical", LINKS "groups = [4, 5];") "routing: { algorithm = \"ugal_piggyback\"; }; ",
    TOPOLOGY("torus", LINKS "extents = [4, 4];") "routing: { algorithm = \"shortest\"; }; ",
    TOPOLOGY("torus", LINKS "extents = [5, 3];") "routing: { algorithm = \"updown\"; }; ",
    TOPOLOGY("hierarchical", LINKS "groups = [3, 4];") "routing: { algorithm = \"layered\"; }; ",
    TOPOLOGY("fat_tree", LINKS "radix = 6; levels = 2;") "routing: { algorithm = \"shortest\"; }; ",
};
#define SYSTEMS ((int)(sizeof systems / sizeof *systems))

/* All pairs at one time: exactly those are reached that are joined. Then packets that live through faults. */
static void walk_all(const struct route_topology *topology, struct waits *waits, uint32_t channels,
                     uint32_t *random)
{
    uint32_t nodes = route_summarise(topology)->endpoints;
    const struct route_fault_summary *f = route_fault_summarise(topology);
    ker_time times[] = {0, f->last / 3, f->last * 2 / 3, f->last};
    for (int t = 0; t < 4; t++) {
        uint64_t apart = 0;
        for (uint32_t a = 0; a < nodes; a++)
            for (uint32_t b = 0; b < nodes; b++) {
                if (a == b)
                    continue;
                bool reached = joined(topology, times[t], a, b);
                apart += !reached;
                assert_int_equal(route_reachable(topology, times[t], a, b), reached);
                for (int i = 0; i < 3; i++)
                    assert_int_equal(walk(topology, times[t], 0, a, b, channels, random, waits) > 0, reached);
            }
        if (t == 0)
            assert_int_equal(f->apart_start, apart);
        if (t == 3)
            assert_int_equal(f->apart, apart);
    }
    for (uint32_t i = 0; i < 20 * nodes; i++) {
        uint32_t a = test_random(random) % nodes, b = test_random(random) % nodes;
        if (a != b)
            walk(topology, (ker_time)(test_random(random) % 1000) * f->last / 1000, f->last / 8, a, b,
                 channels, random, waits);
    }
}

static void test_all_that_is_joined_is_reached(void **state)
{
    static const char *const faults[] = {
        "link_rate = 0.05;", "link_rate = 0.2; spread = \"10 us\";", "link_rate = 0.5; spread = \"10 us\";",
        "switch_rate = 0.15; link_rate = 0.1; at = \"1 us\"; spread = \"5 us\";", "link_rate = 0.0;"};
    uint32_t random = 2357;
    for (int i = 0; i < SYSTEMS; i++)
        for (int k = 0; k < 5; k++)
            for (int seed = 1; seed < 4; seed++) {
                char text[512];
                snprintf(text, sizeof text, "%s" FAULTS(DROP "%s seed = %d;"), systems[i], faults[k], seed);
                struct route_topology *topology;
                struct ker_error error;
                uint32_t channels = 1;
                while (topology_try(&topology, text, channels, &error)) /* as few as possible */
                    if (channels++ > 16)
                        fail_msg("%s\n%s", text, error.text);
                struct waits waits = {.channels = channels};
                uint32_t switches = route_summarise(topology)->switches, ports = 0;
                assert_int_equal(route_summarise(topology)->channels, channels);
                for (uint32_t s = 0; s < switches; s++) {
                    waits.first[s] = ports;
                    ports += route_ports(topology, s);
                }
                walk_all(topology, &waits, channels, &random);
                if (waits_cyclic(&waits, ports * channels))
                    fail_msg("a cycle of waiting: %s", text);
                free(waits.from);
                free(waits.to);
                route_free(topology);
            }
}

/* A ring of 6 without the link 0 - 1: from 0 to 1 there are 5 links left, from 5 to 1 the 4 over 4, 3, 2,
 * from 2 to 0 the 4 over 3, 4, 5; node links come on top. 3 to 2 is not concerned. */
static void test_ring(void **state)
{
    struct route_topology *topology =
        topology_make(TOPOLOGY("torus", LINKS "extents = [6];") FAULTS("list = ({ link = [0, 1]; });"), 3);
    static struct waits waits;
    uint32_t random = 17;
    for (uint32_t s = 0; s < 6; s++)
        waits.first[s] = 3 * s;
    assert_int_equal(walk(topology, 0, 0, 0, 1, 3, &random, &waits), 2 + 5);
    assert_int_equal(walk(topology, 0, 0, 1, 0, 3, &random, &waits), 2 + 5);
    assert_int_equal(walk(topology, 0, 0, 3, 2, 3, &random, &waits), 2 + 1);
    /* 5 to 1 is told by dimension order to go over 0, and only there learns of the fault: 1 link there, 5
     * back */
    assert_int_equal(walk(topology, 0, 0, 5, 1, 3, &random, &waits), 2 + 6);
    free(waits.from);
    free(waits.to);
    route_free(topology);
}

/* ---- whole runs ---- */

#define RUN_LINKS "bandwidth = \"10 GB/s\"; latency = \"50 ns\"; "

/* From the start: nothing is lost, everything arrives, though the load is more than the system can carry. */
static void test_full_load_from_the_start(void **state)
{
    struct run r;
    run_init(&r);
    for (int i = 0; i < SYSTEMS; i++)
        for (int k = 0; k < 2; k++) {
            run_format(&r,
                       "%s faults: { link_rate = %s; unreachable = \"drop\"; }; switch: { channels = 16; "
                       "buffer = \"2 KiB\"; output_queue = \"1 KiB\"; "
                       "queueing = \"%s\"; }; adapter: { packet_size = \"1 KiB\"; header = \"0 B\"; }; "
                       "traffic: { pattern = \"uniform\"; size = \"4 KiB\"; load = 2.0; messages = 20; };",
                       systems[i], k ? "0.15" : "0.04", k ? "fifo" : "voq");
            assert_int_equal(run_int(&r, "lost_packets.no_way"), 0);
            assert_int_equal(run_int(&r, "lost_packets.dead_switch"), 0);
            assert_int_equal(run_int(&r, "packets_delivered"), run_int(&r, "packets_injected"));
            assert_int_equal(run_int(&r, "packets_delivered") + run_int(&r, "lost_packets.not_sent"),
                             run_int(&r, "nodes") * 20 * 4);
        }
    run_release(&r);
}

/* While running: what is delivered, lost and not sent is all there was; the program checks credits and queues
 * by itself. */
static void test_full_load_while_running(void **state)
{
    static const char *const more[] = {
        "switch: { channels = 12; buffer = \"2 KiB\"; output_queue = \"1 KiB\"; }; ",
        "switch: { channels = 12; buffer = \"2 KiB\"; queueing = \"fifo\"; forwarding = "
        "\"store_and_forward\"; }; ",
        "switch: { channels = 8; classes = 2; arbitration = \"oldest\"; buffer = \"1 KiB\"; }; "};
    struct run r;
    int64_t lost = 0;
    run_init(&r);
    for (int i = 0; i < SYSTEMS; i++)
        for (int k = 0; k < 3; k++) {
            if (k == 2 && strstr(systems[i], "par"))
                continue; /* it needs more channels */
            run_format(&r,
                       "%s faults: { link_rate = 0.3; switch_rate = 0.05; at = \"1 us\"; spread = \"2 us\"; "
                       "seed = %d; unreachable = \"drop\"; }; "
                       "%s adapter: { packet_size = \"1 KiB\"; header = \"0 B\"; %s}; "
                       "traffic: { pattern = \"uniform\"; size = \"4 KiB\"; load = 2.0; messages = 20; };",
                       systems[i], i, more[k],
                       k == 1 ? "ejection_rate = \"9 GB/s\"; buffer = \"1 KiB\"; " : "");
            int64_t gone = run_int(&r, "lost_packets.no_way") + run_int(&r, "lost_packets.dead_switch");
            lost += gone;
            assert_int_equal(run_int(&r, "packets_delivered") + gone, run_int(&r, "packets_injected"));
            if (run_int(&r, "packets_injected") + run_int(&r, "lost_packets.not_sent") !=
                run_int(&r, "nodes") * 20 * 4)
                fail_msg("system %d, switch %d", i, k);
        }
    assert_true(lost > 0); /* or nothing has been tested */
    run_release(&r);
}

/* Two leaves of four nodes and four links up each: all nodes of one send to all of the other, and nobody else
 * sends. With one or two of the links of one leaf down, three quarters or half of the bandwidth is left for
 * either direction: the adaptive leaf does not use them, and what the other leaf sends to a top switch that
 * has lost its link goes back up to another, no more than fits. */
static void test_share_of_a_link(void **state)
{
    struct run r;
    run_init(&r);
    for (int dead = 0; dead < 3; dead++) {
        run_format(&r,
                   TOPOLOGY("fat_tree", RUN_LINKS "radix = 8; levels = 2;") ADAPTIVE
                   "switch: { channels = 4; }; "
                   "faults: { link_rate = 0.0; list = (%s%s); }; run: { warmup = \"100 us\"; measure = \"300 "
                   "us\"; drain = false; }; "
                   "adapter: { packet_size = \"1 KiB\"; header = \"0 B\"; }; "
                   "traffic: { pattern = \"bit_complement\"; last_node = 7; size = \"1 KiB\"; load = 1.0; "
                   "arrival = \"periodic\"; };",
                   dead ? "{ link = [0, 8]; }" : "", dead > 1 ? ", { link = [0, 9]; }" : "");
        assert_within(run_real(&r, "accepted_load") * (double)run_int(&r, "nodes") / 8, 1 - dead / 4.0,
                      0.002);
    }
    run_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ends),
        cmocka_unit_test(test_higher_rate_contains_lower),
        cmocka_unit_test(test_rate_is_met),
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_all_that_is_joined_is_reached),
        cmocka_unit_test(test_full_load_from_the_start),
        cmocka_unit_test(test_full_load_while_running),
        cmocka_unit_test(test_share_of_a_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
