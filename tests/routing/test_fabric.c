/* test_fabric.c - InfiniBand clusters from the output of ibnetdiscover. */
#include "tests/refusal.h"
#include "tests/routing/fabric_bench.h"

/* Per lane 2.5, 5 and 10 Gbaud with 8 of 10 bits; 10.3125, 14.0625 and 25.78125 Gbaud with 64 of 66; then 50,
 * 100 and 200 Gb/s. */
static void test_rates(void **state)
{
    static const struct {
        const char *text;
        uint64_t rate;
    } rates[] = {
        {"1xSDR", 250000000},
        {"4xSDR", 1000000000},
        {"4xDDR", 2000000000},
        {"4xQDR", 4000000000},
        {"8xQDR", 8000000000},
        {"12xQDR", 12000000000},
        {"4xFDR10", 5000000000},
        {"4xFDR", 6818181818},
        {"1xFDR", 1704545454},
        {"4xEDR", 12500000000},
        {"2xHDR", 12500000000},
        {"4xHDR", 25000000000},
        {"4xNDR", 50000000000},
        {"4xXDR", 100000000000},
        {"3xHDR", 0},
        {"4xHD", 0},
        {"4xHDRR", 0},
        {"", 0},
        {"4x???", 0},
    };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        assert_int_equal(route_fabric_rate(rates[i].text, strlen(rates[i].text)), rates[i].rate);
}

/* Ports keep their numbers, peers point back at each other, and all pairs are reached on shortest paths. */
static void test_tree(void **state)
{
    enum { HALF = 6 };
    struct plant p = tree_plant(HALF);
    char *text = plant_text(&p);
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        struct route_topology *topology = fabric_make(text, adaptive ? ADAPTIVE : "", 1);
        const struct route_summary *summary = route_summarise(topology);
        assert_int_equal(summary->endpoints, HALF * HALF);
        assert_int_equal(summary->switches, 2 * HALF);
        assert_int_equal(summary->links, 2 * HALF * HALF);
        assert_int_equal(summary->max_ports, 2 * HALF + 1);
        assert_int_equal(summary->link[summary->endpoint_link].rate, 4000000000);
        assert_non_null(strstr(summary->text, "diameter 2"));
        for (uint32_t s = 0; s < 2 * HALF; s++)
            for (uint32_t port = 0; port <= 2 * HALF; port++) {
                struct route_peer peer, back;
                route_port(topology, s, port, &peer);
                if (port == 0 || (s >= HALF && port > HALF)) {
                    assert_int_equal(peer.kind, ROUTE_NOTHING);
                } else if (s < HALF && port <= HALF) {
                    assert_int_equal(peer.kind, ROUTE_ENDPOINT);
                    assert_int_equal(peer.id, s * HALF + port - 1);
                } else {
                    assert_int_equal(peer.kind, ROUTE_SWITCH);
                    assert_int_equal(peer.id, s < HALF ? port - 1 : port - 1);
                    assert_int_equal(peer.port, s < HALF ? s + 1 : HALF + 1 + s - HALF);
                    route_port(topology, peer.id, peer.port, &back);
                    assert_true(back.kind == ROUTE_SWITCH && back.id == s && back.port == port);
                }
            }
        check_pairs(topology, 1, 3);
        route_free(topology);
    }
    free(text);
    free(p.cable);
}

/* Five switches in a ring with a chord, cables of two speeds in parallel and in any ports, adapters with two
 * ports on two switches, as an edge list has the same network: same distances, all cables used. */
static struct plant odd_plant(int lmc)
{
    struct plant p = {.switches = 5, .ports = 24, .adapters = 6, .adapter_ports = 2, .lmc = lmc};
    static const int ring[][4] = {{0, 24, 1, 3}, {1, 7, 2, 2},  {2, 9, 3, 24},
                                  {3, 1, 4, 20}, {4, 11, 0, 5}, {1, 20, 3, 13}};
    for (size_t i = 0; i < sizeof ring / sizeof *ring; i++)
        plant_join(&p, ring[i][0], ring[i][1], 0, ring[i][2], ring[i][3], "4xQDR");
    plant_join(&p, 2, 23, 0, 1, 18, "4xFDR");
    plant_join(&p, 1, 8, 0, 2, 12, "12xDDR");
    for (int a = 0; a < 6; a++) {
        plant_join(&p, a % 5, 14, 1, a, 1, a == 5 ? "1xSDR" : "4xEDR");
        if (a == 5)
            p.cable[p.cables - 1].from_port = 15;
        if (a >= 3)
            plant_join(&p, (a + 1) % 5, 16 + a % 2, 1, a, 2, "4xFDR10");
    }
    return p;
}

static const char odd_list[] =
    "switch s0\nswitch s1\nswitch s2\nswitch s3\nswitch s4\n"
    "node n0 s0 100ns 12.5GB/s\nnode n1 s1 100ns 12.5GB/s\nnode n2 s2 100ns 12.5GB/s\n"
    "node n3 s3 100ns 12.5GB/s\nnode n3b s4 100ns 5GB/s\nnode n4 s4 100ns 12.5GB/s\nnode n4b s0 100ns 5GB/s\n"
    "node n5 s0 100ns 250MB/s\nnode n5b s1 100ns 5GB/s\n"
    "link s0 s1 100ns 4GB/s\nlink s1 s2 100ns 4GB/s 3\nlink s2 s3 100ns 4GB/s\nlink s3 s4 100ns 4GB/s\nlink "
    "s4 s0 100ns 4GB/s\n"
    "link s1 s3 100ns 4GB/s\n";

static void check_node_links(const struct route_topology *a, const struct route_topology *b)
{
    for (uint32_t node = 0; node < route_summarise(a)->endpoints; node++) {
        struct route_peer at, bt;
        uint32_t as, bs;
        uint16_t ap, bp;
        route_attachment(a, node, &as, &ap);
        route_attachment(b, node, &bs, &bp);
        assert_int_equal(as, bs);
        route_port(a, as, ap, &at);
        route_port(b, bs, bp, &bt);
        assert_true(at.kind == ROUTE_ENDPOINT && at.id == node && bt.kind == ROUTE_ENDPOINT && bt.id == node);
        assert_int_equal(route_summarise(a)->link[at.link].rate, route_summarise(b)->link[bt.link].rate);
    }
}

static void test_odd(void **state)
{
    struct plant p = odd_plant(0);
    char *text = plant_text(&p), path[] = "/tmp/test_fabric_XXXXXX", config[256];
    int file = mkstemp(path);
    assert_int_equal(write(file, odd_list, sizeof odd_list - 1), sizeof odd_list - 1);
    close(file);
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        struct route_topology *topology = fabric_make(text, adaptive ? ADAPTIVE : "", 4);
        snprintf(config, sizeof config, "topology: { kind = \"file\"; file = \"%s\"; }; %s", path,
                 adaptive ? ADAPTIVE : "");
        struct route_topology *list = topology_make(config, 4);
        assert_int_equal(route_summarise(topology)->endpoints, 9);
        assert_int_equal(route_summarise(topology)->links, route_summarise(list)->links);
        assert_int_equal(route_summarise(topology)->channels, route_summarise(list)->channels);
        check_node_links(topology, list);
        for (uint32_t a = 0; a < 9; a++)
            for (uint32_t b = 0; b < 9; b++)
                assert_int_equal(route_distance(topology, a, b), route_distance(list, a, b));
        check_pairs(topology, 4, 20);
        route_free(list);
        route_free(topology);
    }
    unlink(path);
    free(text);
    free(p.cable);
}

/* From switch 1 to switch 2 lead the ports 7, 8 (3 times as fast) and 18: every destination node has one of
 * them, whatever the packet draws, and nodes 3, 4 and 5 of switch 2 have one each. */
static void test_parallel(void **state)
{
    struct plant p = odd_plant(0);
    char *text = plant_text(&p);
    struct route_topology *topology = fabric_make(text, "", 4);
    uint32_t used[25] = {0};
    for (uint32_t node = 0; node < route_summarise(topology)->endpoints; node++) {
        uint32_t at, first = 0;
        uint16_t port;
        route_attachment(topology, node, &at, &port);
        for (uint32_t i = 0; i < 20 && at == 2; i++) {
            struct route_packet packet = {.address = route_address(topology, node),
                                          .destination = node,
                                          .chance = ker_random_bits(5, 1, 1, i).word[0]};
            struct route_choice choice;
            assert_int_equal(
                route_function(topology)(topology, route_coordinate(topology, 1), 1, &packet, &choice), 1);
            first = i ? first : choice.port;
            assert_int_equal(choice.port, first);
        }
        used[first] += at == 2;
    }
    uint32_t most = used[7], least = used[7];
    for (int i = 1; i < 3; i++) {
        uint32_t u = used[i == 1 ? 8 : 18];
        most = u > most ? u : most;
        least = u < least ? u : least;
    }
    assert_true(most > 0 && most - least <= 1);
    route_free(topology);
    free(text);
    free(p.cable);
}

/* Forms as they occur: a name with # and quotes, chassis, external ports, the aggregation node of a switch, a
 * gateway's router, -f. */
static const char forms[] =
    "#\n# Topology file: generated on Tue Mar 12 10:04:11 2024\n#\n# Reported max hops discovered: 4\n# "
    "Total MADs used: 200\n"
    "# Initiated from node 506b4b03004a1234 port 506b4b03004a1234\n"
    "\nChassis 1 (guid 0x2c902004238a0)\nHostname: director\n\n# Spine Nodes\n"
    "vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x2c902004238a0\t\t# Chassis "
    "1\nswitchguid=0x2c902004238a0(2c902004238a0)\t# Line 1\n"
    "Switch\t41 \"S-0002c902004238a0\"\t\t# \"Voltaire 4036 # \"4036\" A\" enhanced port 0 lid 1 lmc 0\n"
    "[1][ext 18]\t\"H-506b4b03004a1234\"[1](506b4b03004a1234) \t\t# \"node1 HCA-1\" lid 4 4xHDR s=4 w=2 v=4\n"
    "[2]\t\"H-506b4b03004a5678\"[1](506b4b03004a5678) \t\t# \"node2 HCA-1\" lid 5 2xHDR slot 2\n"
    "[39]\t\"R-506b4b0300400000\"[1](506b4b0300400001) \t\t# \"gateway\" lid 8 4xHDR\n"
    "[41]\t\"H-0002c902004238a8\"[1](2c902004238a8) \t\t# \"Mellanox Technologies Aggregation Node\" lid 6 "
    "4xHDR\n"
    "\nvendid=0x2c9\ndevid=0xcf09\nsysimgguid=0x2c902004238a0\ncaguid=0x2c902004238a8\n"
    "Ca\t1 \"H-0002c902004238a8\"\t\t# \"Mellanox Technologies Aggregation Node\"\n"
    "[1](2c902004238a8) \t\"S-0002c902004238a0\"[41]\t\t# lid 6 lmc 0 \"Voltaire 4036 # \"4036\" A\" lid 1 "
    "4xHDR\n"
    "\nNon-Chassis Nodes\n"
    "\nvendid=0x2c9\ndevid=0x101b\nsysimgguid=0x506b4b03004a1234\ncaguid=0x506b4b03004a1234\n"
    "Ca\t1 \"H-506b4b03004a1234\"\t\t# \"node1 HCA-1\"\n"
    "[1](506b4b03004a1234) \t\"S-0002c902004238a0\"[1][ext 18]\t\t# lid 4 lmc 0 \"Voltaire 4036 # \"4036\" "
    "A\" lid 1 4xHDR s=4 w=2 v=4\n"
    "\nrtguid=0x506b4b0300400000\nRt\t1 \"R-506b4b0300400000\"\t\t# \"gateway\"\n"
    "[1](506b4b0300400001) \t\"S-0002c902004238a0\"[39]\t\t# lid 8 lmc 0 \"Voltaire\" lid 1 4xHDR\n"
    "\nvendid=0x2c9\ncaguid=0x506b4b03004a5678\nCa\t1 \"H-506b4b03004a5678\"\t\t# \"node2 HCA-1\" (scp)\r\n"
    "[1](506b4b03004a5678) \t\"S-0002c902004238a0\"[2]\t\t# lid 5 lmc 0 \"Voltaire 4036 # \"4036\" A\" lid 1 "
    "4x???";

static void test_forms(void **state)
{
    struct route_topology *topology = fabric_make(forms, "", 1);
    const struct route_subnet *subnet = topology->subnet;
    struct route_peer peer;
    assert_int_equal(subnet->switches, 1);
    assert_int_equal(subnet->endpoints, 2);
    assert_int_equal(subnet->left_out, 2);
    assert_string_equal(route_summarise(topology)->warning, "");
    assert_string_equal(subnet->names + subnet->at_switch[0].name, "Voltaire 4036 # \"4036\" A");
    assert_string_equal(subnet->names + subnet->endpoint[1].name, "node2 HCA-1");
    assert_int_equal(subnet->endpoint[1].lid, 5);
    route_port(topology, 0, 2, &peer);
    assert_true(peer.kind == ROUTE_ENDPOINT && peer.id == 1);
    assert_int_equal(route_summarise(topology)->link[peer.link].rate, 12500000000); /* one end knows it */
    route_port(topology, 0, 41, &peer);
    assert_int_equal(peer.kind, ROUTE_NOTHING);
    check_pairs(topology, 1, 2);
    route_free(topology);
}

/* A speed that nobody knows is asked for. */
static void test_unknown_speed(void **state)
{
    struct route_topology *topology;
    struct ker_error error;
    struct plant p = tree_plant(2);
    for (int i = 0; i < p.cables; i++)
        p.cable[i].rate = p.cable[i].adapter ? "4x???" : "4xNDR";
    char *text = plant_text(&p);
    assert_int_equal(fabric_try(&topology, text, "", "", 1, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "topology.node_bandwidth"));
    assert_int_equal(fabric_try(&topology, text, "node_bandwidth = \"100 Gb/s\"; node_latency = \"7 ns\"; ",
                                "", 1, &error),
                     KER_OK);
    const struct route_summary *summary = route_summarise(topology);
    assert_int_equal(summary->link[summary->endpoint_link].rate, 12500000000);
    assert_int_equal(summary->link[summary->endpoint_link].latency, 7000);
    assert_int_equal(summary->link[!summary->endpoint_link].rate, 50000000000);
    route_free(topology);
    free(text);
    free(p.cable);
}

/* What the tools say on standard error ends in the file, too, and cables lead back to where they come from:
 * passed over, and said. */
static void test_passed_over(void **state)
{
    static const struct edit edits[] = {
        {"# dump",
         "ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (DR path slid 0)\nsrc/query_smp.c:197; timed "
         "out\n# dump",
         "1", "2 lines of no dump passed over"},
        {"switchguid=0xb0", "ibwarn: [4711] mad_rpc: failed\nswitchguid=0xb0", "9",
         "1 line of no dump passed over"},
        {"[7]\t",
         "[3]\t\"S-00000000000000a0\"[4]\t\t# \"left\" lid 1 4xQDR\n[4]\t\"S-00000000000000a0\"[3]\t\t# "
         "\"left\" lid 1 4xQDR\n[7]\t",
         "7", "2 ports cabled to the same device left out"},
        {"[7]\t", "[5]\t\"S-00000000000000a0\"[5]\t\t# \"left\" lid 1 4xQDR\n[7]\t", "7",
         "1 port cabled to the same device left out"},
        {"caguid=0x30",
         "[2](22) \t\"H-0000000000000020\"[2](22)\t\t# lid 12 lmc 0 \"node2 HCA-1\" lid 12 "
         "4xQDR\ncaguid=0x30",
         "21", "1 port cabled to the same device left out"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct route_topology *topology;
        struct ker_error error;
        char *text = edited(small, &edits[i]);
        if (fabric_try(&topology, text, "", "", 1, &error))
            fail_msg("%s", error.text);
        check_message(&edits[i], KER_BAD_INPUT, route_summarise(topology)->warning);
        assert_int_equal(topology->subnet->endpoints, 3);
        check_pairs(topology, 1, 1);
        route_free(topology);
        free(text);
    }
}

static void test_bad_dumps(void **state)
{
    static const struct edit edits[] = {
        {"\n\nswitchguid", "\nhello\nswitchguid", "2", "is no line of an ibnetdiscover dump"},
        {"Switch\t8 \"S-00000000000000a0\"", "Switch\t: 0xa0 ports 8", "4",
         "ibnetdiscover without options is needed"},
        {"# dump", "[1] \"H-10\"[1](11) # \"node\" lid 4 4xQDR", "1", "a port without a heading"},
        {"# dump", "switchguid=0xc0(c0)", "1", "the heading (Switch, Ca or Rt) of 0xc0 is missing"},
        {"switchguid=0xa0", "switchguid=0xa1", "4", "line 3 announces 0xa1"},
        {"switchguid=0xa0", "switchguid=0x", "3", "should read: caguid=0x"},
        {"enhanced port 0", "port 0", "4", "makes no sense from \"port 0 lid 1"},
        {"Switch\t8", "Switch\teight", "4", "makes no sense from \"eight"},
        {"Switch\t8", "Switch\t255", "4", "1 to 254 ports, not 255"},
        {"lid 1 lmc 0", "lid 70000 lmc 0", "4", "LIDs end at 49151"},
        {"lid 1 lmc 0", "lid 1", "4", "ends too early"},
        {"[2]", "[9]", "6", "there is no port 9: line 4 says the ports are 1 to 8"},
        {"[2]", "[1]", "6", "two cables in one port: line 5 has port 1 already"},
        {"[7]\t\"S", "[6]\t\"S", "7", "line 12 says that another one is in that port"},
        {"[2]", "[0]", "6", "there is no port 0"},
        {"4 4xQDR", "4 4xQD", "5", "makes no sense from \"4xQD\""},
        {"4 4xQDR", "4 4xQDR ?", "5", "makes no sense from \"?\""},
        {"4 4xQDR", "4 4xDDR", "5", "differ from those at the cable's other end, line 17"},
        {"4 4xQDR", "5 4xQDR", "5", "the LID of \"node1 HCA-1\" is 5 here, but 4 in line 17"},
        {"\"left\" lid 1 4xQDR", "\"left\" lid 3 4xQDR", "12",
         "the LID of \"left\" is 3 here, but 1 in line 4"},
        {"\"left\" enhanced port 0 lid 1", "\"left\" enhanced port 0 lid 3", "17",
         "the LID of \"left\" is 1 here, but 3 in line 4"},
        {"H-0000000000000020\"[1]", "H-0000000000000040\"[1]", "6", "no block of \"H-0000000000000040\""},
        {"H-0000000000000020\"[1]", "H-0000000000000020\"[2]", "6",
         "the block of \"node2 HCA-1\" (line 19) has no port 2"},
        {"(11) \t\"S", "(12) \t\"S", "17", "0x12 here, but 0x11 in line 5"},
        {"H-0000000000000020\"[1]", "X-0000000000000020\"[1]", "6", "makes no sense"},
        {"[7]\t\"S-00000000000000b0\"[7]", "[7]\t\"S-00000000000000a0\"[8]", "12",
         "another one is in that port"},
        {"S-00000000000000a0\"[1]\t\t# lid 4", "H-0000000000000020\"[1]\t\t# lid 4", "5",
         "another one is in that port"},
        {"lid 8 lmc 1", "lid 7 lmc 1", "11", "the LID of \"node3 HCA-1\" is 8 here, but 7 in line 23"},
        {"\"right\" base port 0 lid 2", "\"right\" base port 0 lid 1", "23",
         "the LID of \"right\" is 2 here, but 1 in line 10"},
        {"lid 4 lmc 1", "lid 4 lmc 2", "20", "LID 6 is used twice: line 17 has it, too"},
        {"lid 4 lmc 1", "lid 4 lmc 8", "17", "lmc"},
        {"caguid=0x20", NULL, "6",
         "no block of \"H-0000000000000020\", to which this cable leads: was it cut off"},
        {"\n[1](31)", NULL, "11", "this cable's other end is missing"},
        {" lid 2 4xQDR\n[8]", NULL, "7", "ends too early"},
        {"[8]\t\"S-00000000000000a0\"", "#", "8",
         "this cable's other end is missing: the block of \"right\" (line 10) has no port 8"},
        {"caguid=0x30", "caguid=0x20", "22", "line 21 announces 0x20"},
        {"caguid=0x30\nCa\t2 \"H-0000000000000030\"", "Ca\t2 \"H-0000000000000020\"", "21",
         "has a block in line 19 already"},
        {"# dump", "# dump\nswitchguid=0xf0\nSwitch 8 \"S-f0\" # \"alone\" base port 0 lid 3 lmc 0", "6",
         "all switches must be connected"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct route_topology *topology;
        struct ker_error error;
        char *text = edited(small, &edits[i]);
        enum ker_status status = fabric_try(&topology, text, "", "", 1, &error);
        check_message(&edits[i], status, error.text);
        free(text);
    }
}

static void test_bad_settings(void **state)
{
    static const struct {
        const char *config, *message;
    } bad[] = {
        {"topology: { kind = \"fabric\"; latency = \"100 ns\"; };", "topology.file"},
        {"topology: { kind = \"fabric\"; file = \"/nowhere/x\"; };", "topology.latency"},
        {"topology: { kind = \"fabric\"; file = \"/nowhere/x\"; latency = \"1 ns\"; };",
         "/nowhere/x: cannot be read"},
        {"topology: { kind = \"fabric\"; file = \"/nowhere/x\"; latency = [\"1 ns\", \"2 ns\"]; };",
         "2 values"},
        {"topology: { kind = \"fabric\"; file = \"/nowhere/x\"; latency = \"1 ns\"; extents = [2]; };",
         "topology.extents"},
        {"topology: { kind = \"fabric\"; file = \"/dev/null\"; latency = \"1 ns\"; };", "regular file"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct route_topology *topology;
        struct ker_error error;
        assert_refused(topology_try(&topology, bad[i].config, 1, &error), &error, bad[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),       cmocka_unit_test(test_tree),
        cmocka_unit_test(test_odd),         cmocka_unit_test(test_parallel),
        cmocka_unit_test(test_forms),       cmocka_unit_test(test_unknown_speed),
        cmocka_unit_test(test_bad_dumps),   cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
