/* test_table_text.c - routing tables and weights as texts: written, read back, and what is wrong in them. */
#include "tests/refusal.h"
#include "tests/routing/tables.h"

#define TABLE "marssim-table-text"
#define FROM_TABLE "algorithm = \"table\"; table = \"" TABLE "\";"

/* Both answer alike for all packets from all sources, along one of the paths. */
static void same_routes(const struct route_topology *one, const struct route_topology *other)
{
    uint32_t nodes = route_summarise(one)->endpoints, random = 31;
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++) {
            struct route_packet packet = {.source = a,
                                          .destination = b,
                                          .chance = test_random(&random),
                                          .address = route_address(one, b)};
            struct route_choice x[ROUTE_MAX_CHOICES], y[ROUTE_MAX_CHOICES];
            struct route_peer peer = {0};
            uint32_t at, state = 0;
            route_attachment(one, a, &at, &packet.in_port);
            for (; peer.kind != ROUTE_ENDPOINT && a != b;
                 packet.hops++, packet.in_port = peer.port, at = peer.id) {
                int count = route_function(one)(one, route_coordinate(one, at), at, &packet, x);
                uint32_t kept = packet.state;
                packet.state = state;
                assert_int_equal(route_function(other)(other, route_coordinate(other, at), at, &packet, y),
                                 count);
                for (int i = 0; i < count; i++) {
                    assert_int_equal(x[i].port, y[i].port);
                    assert_int_equal(x[i].channel, y[i].channel);
                    assert_int_equal(x[i].first_channel, y[i].first_channel);
                    assert_int_equal(x[i].channel_count, y[i].channel_count);
                }
                int pick = (int)(test_random(&random) % (uint32_t)count);
                packet.state = kept;
                packet.state = x[pick].state;
                state = y[pick].state;
                route_port(one, at, x[pick].port, &peer);
                packet.in_channel = x[pick].channel;
            }
        }
}

static void back_and_forth(const char *system, const char *routing, uint32_t channels)
{
    struct ker_error error = {0};
    char *text = ker_format("%srouting: { %s }; ", system, routing),
         *again = ker_format("%srouting: { %s }; ", system, FROM_TABLE);
    struct route_topology *made = topology_make(text, channels);
    if (route_table_write(made, TABLE, &error))
        fail_msg("%s", error.text);
    struct route_topology *read = topology_make(again, channels);
    assert_int_equal(route_summarise(read)->channels, route_summarise(made)->channels);
    assert_int_equal(route_summarise(read)->adaptive, route_summarise(made)->adaptive);
    same_routes(made, read);
    route_free(made);
    route_free(read);
    free(text);
    free(again);
    remove(TABLE);
}

/* Four channels more than needed: classes of more than one channel come out right, too. */
static void written_tables_are_read_back(void **state)
{
    static const char *const routings[] = {"algorithm = \"shortest\"; paths = \"one\";",
                                           "algorithm = \"shortest\";", "algorithm = \"updown\";",
                                           "algorithm = \"layered\";"};
    for (int i = 0; i < SYSTEMS; i++)
        for (int k = 0; k < 4; k++)
            back_and_forth(systems[i], routings[k], CHANNELS);
    back_and_forth(TREE, "algorithm = \"d_mod_k\";", 3);
    back_and_forth(TREE, "algorithm = \"minimal\";", 1);
    back_and_forth(MESH, "algorithm = \"minimal\";", 4);
    back_and_forth(STAR, "algorithm = \"minimal\";", 2);
    back_and_forth(PERCS, "algorithm = \"minimal\";", 8);
}

/* d-mod-k takes few lines: 3 leaves x 4 x 4 have 2 and 4 parents; 1,000 nodes make hardly more. */
static void tables_are_short(void **state)
{
    struct ker_error error = {0};
    struct route_topology *topology =
        topology_make(TOPOLOGY("fat_tree", "down = [10, 10, 10]; up = [1, 10, 10]; " LINKS), 1);
    assert_int_equal(route_table_write(topology, TABLE, &error), KER_OK);
    FILE *in = fopen(TABLE, "r");
    assert_non_null(in);
    int lines = 0;
    for (int c = getc(in); c != EOF; c = getc(in))
        lines += c == '\n';
    fclose(in);
    /* 300 switches: 100 leaves with 10 paths up, 100 with 10 up and 10 down, 100 with 10 down; 2 for the
     * section, 6 for the file */
    assert_in_range(lines, 1000, 100 * (10 + 20 + 10) + 2 * 300 + 8);
    route_free(topology);
    remove(TABLE);
}

struct refusal {
    const char *text, *part; /* part of the message */
};

/* On a ring of three switches with a node each: port 0 is the node's, 1 and 2 lead on and back. */
#define RING TOPOLOGY("torus", "extents = [3]; " LINKS)
#define HEAD "switches 3\nnodes 3\n"
#define GOOD HEAD "switch 0\nto 1 via 1\nto 2 via 2\nswitch 1\nto rest via 1\nswitch 2\nto rest via 1\nend\n"

static const struct refusal refusals[] = {
    {"", "text:1: the last line of a table is \"end\"; was the file cut off?"},
    {HEAD "switch 0\nto 1",
     "text:4: \"via\" and ports are expected here, but the file ends; was it cut off?"},
    {HEAD "switch 0\nto 1\n\n", "text:4: \"via\" and ports are expected here, but the line ends"},
    {HEAD "switch 0\nto 1 via 1\n", "text:4: the last line of a table is \"end\"; was the file cut off?"},
    {"end\n", "text:1: \"switches\" is missing"},
    {"switches 4\n", "text:1: the table is for 4 switches, but this torus has 3"},
    {"switches 3\nnodes 2\n", "text:2: the table is for 2 nodes, but this torus has 3"},
    {"switches 3\nswitches 3\n", "text:2: the number of switches is given twice"},
    {"switches x\n", "text:1: a number is expected here, not \"x\""},
    {"switches 99999999999\n", "text:1: a number is expected here"},
    {"switch 0\n", "text:1: \"switches\" and \"nodes\" have to come before the first switch"},
    {HEAD "to 1 via 1\n", "text:3: there has to be a line \"switch NUMBER\" before this"},
    {HEAD "swich 1\n",
     "text:3: a line begins with switches, nodes, channels, switch, to, layer or end, not \"swich 1\""},
    {HEAD "switch 3\n", "text:3: there is no switch 3; switches have numbers 0 to 2"},
    {HEAD "switch 1\nswitch 1\n", "text:4: switch 1 was already begun in line 3"},
    {HEAD "switch 1 2\n", "text:3: the line should end before \"2\""},
    {HEAD "switch 0\nchannels 2\n", "text:4: \"channels\" has to come before the first switch"},
    {HEAD "channels 0\n", "text:3: 0 channels; 1 to 251 are possible"},
    {HEAD "switch 0\nto 3 via 1\n", "text:4: there is no node 3; nodes have numbers 0 to 2"},
    {HEAD "switch 0\nto 1-4000000000 via 1\n", "text:4: there is no node 4000000000"},
    {HEAD "switch 0\nto 2-1 via 1\n", "text:4: the range 2-1 ends before it begins"},
    {HEAD "switch 0\nto 1-2/0 via 1\n",
     "text:4: the step of a range, at least 1, is expected here, not \"0 via 1\""},
    {HEAD "switch 0\nto 0-2/2:3 via 1\n", "text:4: how many in a row, from 1 to the step, is expected here"},
    {HEAD "switch 0\nto 1,,2 via 1\n", "text:4: destinations are expected here"},
    {HEAD "switch 0\nto 1 2 via 1\n", "text:4: \"via\" and ports are expected here, not \"2 via 1\""},
    {HEAD "switch 0\nto 1x via 1\n", "text:4: a comma or a blank is expected here"},
    {HEAD "switch 0\nto 1 via\n ", "text:4: a port is expected here, but the line ends"},
    {HEAD "switch 0\nto 1 via 3\n", "text:4: switch 0 has no port 3; its ports have numbers 0 to 2"},
    {HEAD "switch 0\nto 1 via 0\n", "text:4: port 0 of switch 0 leads to node 0, not to node 1"},
    {HEAD "switch 0\nto 0 via 1\n",
     "text:4: node 0 is at port 0 of this switch and needs no other path; it may be left out"},
    {HEAD "switch 0\nto 1 via 1 1\n", "text:4: port 1 is named twice"},
    {HEAD "switch 0\nto 1 via 1\nto 1-2 via 2\n", "text:5: node 1 was already named in line 4"},
    {HEAD "switch 0\nto 1 via 1@x\n",
     "text:4: behind @ the number of a class of channels, layer, hops or any is expected, not \"x\""},
    {HEAD "channels 2\nswitch 0\nto 1 via 1@2\n",
     "text:5: there is no class 2 of channels; as this file says, 0 to 1 are possible"},
    {HEAD "switch 0\nto 1 via 1@253\n", "text:4: there is no class 253 of channels; 0 to 251 are possible"},
    {HEAD "switch 0\nto 1 via 1@7\nto 2 via 2\nswitch 1\nto rest via 1\nswitch 2\nto rest via 1\nend\n",
     "\"table\" needs 8 virtual channels on this torus"},
    {HEAD "channels 2\nswitch 0\nlayer 2 to 1\n", "text:5: there is no layer 2; 0 to 1 are possible"},
    {HEAD "switch 0\nlayer 0 via 1\n", "text:4: \"to\" and destinations are expected here"},
    {GOOD "switch 1\n", "text:11: nothing may follow \"end\""},
    {HEAD "switch 0\nto 1 via 1\nswitch 1\nto rest via 1\nswitch 2\nto rest via 1\nend\n",
     "text:3: switch 0 has no path to node 2, though packets to it come here; 1 such path is missing in all"},
    {HEAD "switch 0\nto rest via 1\nend\n", "text:5: switch 1 has no path to node 0, though packets to it "
                                            "come here; 4 such paths are missing in all"},
    {HEAD "switch 0\nto rest via 1\nswitch 1\nto rest via 2\nswitch 2\nto rest via 1\nend\n",
     "text:4: packets to node 2 are sent in a circle: through switches 0, 1, 0 again"},
};

static void text_write(const char *text)
{
    FILE *out = fopen(TABLE, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void what_is_wrong_is_said(void **state)
{
    struct route_topology *topology;
    struct ker_error error;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        text_write(refusals[i].text);
        assert_int_equal(topology_try(&topology, RING "routing: { " FROM_TABLE " }; ", 4, &error),
                         KER_BAD_INPUT);
        if (!strstr(error.text, refusals[i].part))
            fail_msg("%s\ngives: %s\ninstead of: %s", refusals[i].text, error.text, refusals[i].part);
    }
    text_write(GOOD);
    topology = topology_make(RING "routing: { " FROM_TABLE " }; ", 4);
    every_pair_reached(topology);
    route_free(topology);
    remove(TABLE);
}

/* Round a ring of four in one direction: each link waits for the next. With two classes, or by hops, none
 * does. */
static void deadlock_is_refused_unless_allowed(void **state)
{
    static const char ring[] = TOPOLOGY("torus", "extents = [4]; " LINKS),
                      *const good[] = {
                          "switches 4\nnodes 4\nswitch 0\nto rest via 1@hops\nswitch 1\nto rest via "
                          "1@hops\nswitch 2\nto rest via 1@hops\n"
                          "switch 3\nto rest via 1@hops\nend\n",
                          "switches 4\nnodes 4\nswitch 0\nto rest via 1@1\nswitch 1\nto 0 via 1\nto rest via "
                          "1@1\nswitch 2\nto 0-1 via 1\nto 3 via 1@1\n"
                          "switch 3\nto rest via 1\nend\n",
                      };
    struct route_topology *topology;
    struct ker_error error;
    char *text = ker_format("%srouting: { %s }; ", ring, FROM_TABLE),
         *allowed = ker_format("%srouting: { %s allow_deadlock = true; }; ", ring, FROM_TABLE);
    text_write("switches 4\nnodes 4\nswitch 0\nto rest via 1\nswitch 1\nto rest via 1\nswitch 2\nto rest via "
               "1\nswitch 3\nto rest via 1\nend\n");
    assert_int_equal(topology_try(&topology, text, 3, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "can deadlock"));
    assert_non_null(strstr(error.text, "routing.allow_deadlock = true runs it all the same"));
    topology = topology_make(allowed, 3);
    every_pair_reached(topology);
    route_free(topology);
    for (int i = 0; i < 2; i++) {
        text_write(good[i]);
        topology = topology_make(text, 3);
        assert_int_equal(route_summarise(topology)->channels, i == 0 ? 3 : 2);
        every_pair_reached(topology);
        route_free(topology);
    }
    free(text);
    free(allowed);
    remove(TABLE);
}

static void what_no_table_can_say_is_refused(void **state)
{
    static const char *const texts[][2] = {
        {TORUS "routing: { algorithm = \"minimal\"; }; ", "depend on where a packet comes from"},
        {TORUS ADAPTIVE, "some of its paths may only be taken when there is room at once"},
        {TREE "routing: { algorithm = \"s_mod_k\"; }; ", "depend on the source"},
    };
    for (int i = 0; i < 3; i++) {
        struct ker_error error = {0};
        struct route_topology *topology = topology_make(texts[i][0], 8);
        assert_refused(route_table_write(topology, TABLE, &error), &error, texts[i][1]);
        route_free(topology);
    }
}

/* Like the latencies of weights_make_detours: 3 for the direct link. */
static void weights_from_a_file(void **state)
{
    static const char routing[] =
        TOPOLOGY("torus", "extents = [3]; " LINKS) "routing: { algorithm = \"shortest\"; weights = \"file\"; "
                                                   "weight_file = \"" TABLE "\"; }; ";
    static const struct refusal wrong[] = {
        {"link 0 3 1\n", "text:1: no link joins switches 0 and 3"},
        {"# x\nport 0 0 2\n", "text:2: no link leads from port 0 of switch 0 to another switch"},
        {"link 3 0 1\n", "text:1: the number of a switch is expected here"},
        {"link 0 1 0\n", "text:1: a weight, at least 1, is expected here, not \"0\""},
        {"link 0 1 1 1\n", "text:1: the line should end before \"1\""},
        {"node 0 1 1\n", "text:1: a line reads: link SWITCH SWITCH WEIGHT, or: port SWITCH PORT WEIGHT"},
    };
    uint32_t random = 5;
    struct ker_error error;
    struct route_topology *topology;
    text_write("link 0 1 3 # both directions\n");
    topology = topology_make(routing, 3);
    assert_int_equal(walk_packet(topology, 0, 1, 3, &random), 4);
    assert_int_equal(walk_packet(topology, 1, 0, 3, &random), 4);
    route_free(topology);
    text_write("port 0 1 3\n"); /* from 0 to 1 */
    topology = topology_make(routing, 3);
    assert_int_equal(walk_packet(topology, 0, 1, 3, &random), 4);
    assert_int_equal(walk_packet(topology, 1, 0, 3, &random), 3);
    route_free(topology);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        text_write(wrong[i].text);
        assert_refused(topology_try(&topology, routing, 3, &error), &error, wrong[i].part);
    }
    remove(TABLE);
}

/* Who describes the weights of a network need not know which of its links are broken. Node, 0, 2, 1, node: 4
 * links. */
static void weights_of_a_link_that_is_down(void **state)
{
    static const char routing[] =
        TOPOLOGY("torus", "extents = [3]; " LINKS) "routing: { algorithm = \"shortest\"; weights = \"file\"; "
                                                   "weight_file = \"" TABLE "\"; }; "
                                                   "faults: { list = ({ link = [0, 1]; }); };";
    uint32_t random = 6;
    text_write("link 0 1 1\nlink 1 0 2\nport 0 1 3\nlink 0 2 9\n");
    struct route_topology *topology = topology_make(routing, 3);
    assert_int_equal(walk_packet(topology, 0, 1, 3, &random), 4);
    route_free(topology);
    struct ker_error error;
    text_write("link 0 1 1\nport 0 0 2\n");
    assert_int_equal(topology_try(&topology, routing, 3, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "text:2: no link leads from port 0 of switch 0 to another switch"));
    remove(TABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_tables_are_read_back),
        cmocka_unit_test(tables_are_short),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(deadlock_is_refused_unless_allowed),
        cmocka_unit_test(what_no_table_can_say_is_refused),
        cmocka_unit_test(weights_from_a_file),
        cmocka_unit_test(weights_of_a_link_that_is_down),
    };
    return cmocka_run_group_tests(tests, graphs_write, graphs_remove);
}
