/* test_config_overrides.c - the configuration: words of the command line that override keys, and keys that
 * mean something only with others. */
#include "tests/kernel/config_bench.h"

static struct ker_config * override(const char *one)
{
    return parse_with("switch: { channels = 4; };", &one, 1);
}

static void refused_override(const char *one, const char *message)
{
    refused_with("switch: { channels = 4; }; jobs = ( { tasks = 2; } );", &one, 1, message);
}

static void overrides(void **state)
{
    struct ker_config *c = override("switch.channels=8");
    assert_int_equal(ker_config_int(c, "switch.channels"), 8);
    ker_config_free(c);
    c = override("switch.delay=30 ns");
    assert_int_equal(ker_config_time(c, "switch.delay"), 30 * KER_NS);
    assert_int_equal(ker_config_int(c, "switch.channels"), 4);
    ker_config_free(c);
    c = override(" switch.delay = \"30 ns\"");
    assert_int_equal(ker_config_time(c, "switch.delay"), 30 * KER_NS);
    ker_config_free(c);
    c = override("switch.arbiter=oldest");
    assert_true(ker_config_is(c, "switch.arbiter", "oldest"));
    ker_config_free(c);
    c = override("run.seed=5000000000");
    assert_int_equal(ker_config_int(c, "run.seed"), 5000000000);
    ker_config_free(c);
    c = override("run.load=1e-3");
    assert_true(ker_config_real(c, "run.load") == 1e-3);
    ker_config_free(c);
    c = override("jobs=({ name = \"a\"; }, { tasks = 7; })");
    assert_int_equal(ker_config_int(c, "jobs[1].tasks"), 7);
    ker_config_free(c);
}

static void override_lists(void **state)
{
    static const char *const same[] = {"topology.extents=5,6", "topology.extents=[5,6]",
                                       "topology.extents=(5, 6)", "topology.extents=5 , 6"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct ker_config *c = override(same[i]);
        assert_int_equal(ker_config_count(c, "topology.extents"), 2);
        assert_int_equal(ker_config_int_at(c, "topology.extents", 0), 5);
        assert_int_equal(ker_config_int_at(c, "topology.extents", 1), 6);
        ker_config_free(c);
    }
    struct ker_config *c = override("topology.bandwidth=[24 GB/s, \"5 GB/s\",1 GB/s]");
    assert_int_equal(ker_config_count(c, "topology.bandwidth"), 3);
    assert_int_equal(ker_config_rate_at(c, "topology.bandwidth", 1), 5000000000);
    ker_config_free(c);
    c = override("topology.weights=");
    assert_int_equal(ker_config_count(c, "topology.weights"), 0);
    assert_true(ker_config_has(c, "topology.weights"));
    ker_config_free(c);
    c = override("topology.names=true,5,\"a,b\""); /* texts may look like anything */
    assert_int_equal(ker_config_count(c, "topology.names"), 3);
    assert_string_equal(ker_config_string_at(c, "topology.names", 0), "true");
    assert_string_equal(ker_config_string_at(c, "topology.names", 2), "a,b");
    ker_config_free(c);
}

static void override_paths(void **state)
{
    static const char *const several[] = {"jobs[0].tasks=5", "jobs[1].name=12", "jobs[1].mpi.eager=64",
                                          "topology.extents[1]=9", "jobs[0].trace=b"};
    struct ker_config *c =
        parse_with("jobs = ( { tasks = 3; } ); topology: { extents = [1, 2]; };", several, 5);
    assert_int_equal(ker_config_int(c, "jobs[0].tasks"), 5);
    assert_int_equal(ker_config_count(c, "jobs"), 2); /* the next index makes a new group */
    assert_string_equal(ker_config_string(c, "jobs[1].name"), "12");
    assert_int_equal(ker_config_bytes(c, "jobs[1].mpi.eager"), 64);
    assert_int_equal(ker_config_int_at(c, "topology.extents", 1), 9);
    assert_string_equal(ker_config_file(c, "jobs[0].trace"), "dir/b"); /* as if it was in the file */
    ker_config_free(c);
}

static void wrong_overrides(void **state)
{
    refused_override("switch.chanels=4",
                     "command line: switch.chanels: unknown key; did you mean switch.channels?");
    refused_override("switch.channels=400",
                     "command line: switch.channels: too large: must be 1 to 64, not 400");
    refused_override("switch.channels=abc",
                     "command line: switch.channels: a whole number is expected, not the text \"abc\"");
    refused_override("switch.delay=100", "command line: switch.delay: give a unit, as in \"100 ns\"");
    refused_override("jobs[2].tasks=4",
                     "command line: jobs[2].tasks: the next member of the list would be [1]");
    refused_override("jobs[0]", "command line: \"jobs[0]\": KEY=VALUE is expected, as in switch.channels=4, "
                                "jobs[0].tasks=64 or jobs[NAME].enabled=false");
    refused_override("jobs[x].tasks=4", "command line: jobs[x]: there is none of this name; there are: job0");
    refused_override("switch=abc", "command line: switch: is a group of keys; give one of them, as in "
                                   "switch.KEY=VALUE");
    refused_override("jobs=abc",
                     "command line: jobs: is a group of keys; give one of them, as in jobs[0].KEY=VALUE");
    refused_override("jobs.tasks=4", "command line: jobs.tasks: unknown key; jobs is a list: jobs[0].tasks "
                                     "is of its first member, [*] of all");
}

/* Keys that belong to a choice: what holds, and in which words a key without its choice is refused. */
static void belonging(void **state)
{
    static const char *const good[] = {
        "route: { weights = \"file\"; file = \"w\"; };",
        "route: { how = \"drawn\"; candidates = 2; bias = 1; };",
        "route: { bias = 1; }; run: { load = 0.5; };", /* one of the two is enough */
        "jobs = ( { kind = \"wave\"; }, { kind = \"tree\"; depth = 3; } ); node: { cores = 2; };",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ker_config_free(parse(good[i]));
    refused("route: { file = \"w\"; };", "a.cfg:1: route.file: means nothing with route.weights = \"none\" "
                                         "(the default); it is for \"file\"; remove it");
    refused("route: { how = \"short\"; candidates = 1; };",
            "a.cfg:1: route.candidates: means nothing with route.how = \"short\"; it is for \"long\" or "
            "\"drawn\"; remove it");
    refused("route: { how = \"long\"; candidates = 2; };\nrun: { quiet = true; };",
            "a.cfg:1: route.candidates: means nothing with run.quiet = true; it is for run.quiet = false; "
            "remove it");
    /* the default 1 of the candidates does not count either, and run.load is absent */
    refused("route: { bias = 1; };",
            "a.cfg:1: route.bias: means nothing without route.candidates other than 1 or run.load; give "
            "that, too, or remove this");
    refused("node: { cores = 2; };",
            "a.cfg:1: node.cores: means nothing without jobs; give that, too, or remove this");
    refused("jobs = ( ); node: { cores = 2; };",
            "a.cfg:1: node.cores: means nothing without jobs; give that, too, or remove this");
    refused(
        "jobs = ( { kind = \"tree\"; },\n { kind = \"wave\"; depth = 3; } );",
        "a.cfg:2: jobs[1].depth: means nothing with jobs[1].kind = \"wave\"; it is for \"tree\"; remove it");
    refused("jobs = ( { depth = 3; } );", "a.cfg:1: jobs[0].depth: means nothing without jobs[0].kind = "
                                          "\"tree\"; give that, too, or remove this");
    /* what belongs to a key without meaning has none */
    refused(
        "route: { how = \"long\"; weights = \"file\";\n file = \"w\"; };",
        "a.cfg:1: route.weights: means nothing with route.how = \"long\"; it is for \"short\"; remove it\n"
        "marssim: error: a.cfg:2: route.file: means nothing with route.how = \"long\"; it is for \"short\"; "
        "remove it");
}

/* A choice that the command line overrides takes the keys that belong to it along. */
static void belonging_overridden(void **state)
{
    static const char *const longer = "route.how=long", *const none[] = {"route.how=long", "route.file=x"};
    const char *text = "route: { how = \"short\"; weights = \"file\"; file = \"w\"; };";
    struct ker_config *config = parse_with(text, &longer, 1);
    assert_false(ker_config_has(config, "route.weights"));
    assert_false(ker_config_has(config, "route.file"));
    assert_string_equal(ker_config_string(config, "route.weights"), "none");
    char *again = written(config);
    ker_config_free(parse(again)); /* what was left out is not written */
    free(again);
    ker_config_free(config);
    refused_with(
        text, none, 2,
        "command line: route.file: means nothing with route.how = \"long\"; it is for \"short\"; remove it");
}

/* Ten mistakes are told, of the rest how many there are. */
static void several_errors(void **state)
{
    refused("switch: { channels = 0;\n delay = 5;\n sped = 1; };",
            "a.cfg:1: switch.channels: too small: must be 1 to 64, not 0\n"
            "marssim: error: a.cfg:2: switch.delay: give a unit, as in \"100 ns\"\n"
            "marssim: error: a.cfg:3: switch.sped: unknown key; marssim --help-config lists all keys");
    static const char *const overrides[] = {"switch.x=1", "y=2", "switch.channels=0"};
    refused_with("", overrides, 3,
                 "command line: switch.x: unknown key; marssim --help-config lists all keys\n"
                 "marssim: error: command line: y: unknown key; marssim --help-config lists all keys\n"
                 "marssim: error: command line: switch.channels: too small: must be 1 to 64, not 0");
}

#define JOBS                                                                                                 \
    "jobs = ( { name = \"a\"; tasks = 1; }, { tasks = 2; }, { name = \"b c\"; tasks = 3; }, { tasks = 4; } " \
    ");"

/* Members of lists by name: a name, one without a name by its index, all. */
static void selected(void **state)
{
    static const char *const some[] = {"jobs[b c].tasks=30", "jobs[job1].tasks=20", "jobs[*].mpi.eager=1 KiB",
                                       "jobs[3].mpi.eager=2 KiB"};
    struct ker_config *c = parse_with(JOBS, some, 4);
    assert_int_equal(ker_config_int(c, "jobs[0].tasks"), 1);
    assert_int_equal(ker_config_int(c, "jobs[1].tasks"), 20);
    assert_int_equal(ker_config_int(c, "jobs[2].tasks"), 30);
    assert_int_equal(ker_config_bytes(c, "jobs[2].mpi.eager"), 1024);
    assert_int_equal(ker_config_bytes(c, "jobs[3].mpi.eager"), 2048);
    char *key = ker_config_key_selected(c, "jobs[b c].tasks"),
         *none = ker_config_key_selected(c, "jobs[d].tasks");
    assert_string_equal(key, "jobs[2].tasks");
    assert_string_equal(none, "jobs[4].tasks");
    free(key);
    free(none);
    ker_config_free(c);
    static const char *const wrong[] = {"jobs[d].tasks=1", "jobs[*].tasks=0", "topology[d].extents=1",
                                        "jobs[b c=1"};
    refused_with(JOBS, wrong, 1,
                 "command line: jobs[d]: there is none of this name; there are: a, job1, b c, job3");
    refused_with(JOBS, wrong + 1, 1,
                 "command line: jobs[0].tasks: too small: must be at least 1, not 0\n"
                 "marssim: error: command line: jobs[1].tasks: too small: must be at least 1, not 0\n"
                 "marssim: error: command line: jobs[2].tasks: too small: must be at least 1, not 0\n"
                 "marssim: error: command line: jobs[3].tasks: too small: must be at least 1, not 0");
    refused_with("", wrong + 1, 1, "command line: jobs[*]: stands for all members; the list is empty");
    refused_with("jobs = ( { name = \"d\"; }, { name = \"d\"; } );", wrong, 1,
                 "command line: jobs[d]: is the name of more than one: give an index, counted from 0; there "
                 "are: d, d");
    for (int i = 2; i < 4; i++) {
        char *message = ker_format("command line: \"%s\": KEY=VALUE is expected, as in switch.channels=4, "
                                   "jobs[0].tasks=64 or jobs[NAME].enabled=false",
                                   wrong[i]);
        refused_with(JOBS, wrong + i, 1, message);
        free(message);
    }
}

/* Switched off it is not there; the others keep their names. */
static void switched_off(void **state)
{
    static const char *const off[] = {"jobs[job1].enabled=false", "jobs[a].enabled=false"},
                             *all = "jobs[*].enabled=false";
    struct ker_config *c = parse_with(JOBS " node: { cores = 2; };", off, 2);
    assert_int_equal(ker_config_count(c, "jobs"), 2);
    assert_string_equal(ker_config_string(c, "jobs[0].name"), "b c");
    assert_int_equal(ker_config_int(c, "jobs[0].tasks"), 3);
    assert_string_equal(ker_config_string(c, "jobs[1].name"), "job3");
    assert_int_equal(ker_config_int(c, "node.cores"), 2);
    char *text = written(c);
    ker_config_free(c);
    c = parse(text);
    assert_int_equal(ker_config_count(c, "jobs"), 2);
    assert_string_equal(ker_config_string(c, "jobs[1].name"), "job3");
    ker_config_free(c);
    free(text);
    c = parse_with(JOBS " node: { cores = 2; };", &all, 1); /* what belongs to jobs is left out */
    assert_int_equal(ker_config_count(c, "jobs"), 0);
    assert_false(ker_config_has(c, "node.cores"));
    ker_config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overrides),      cmocka_unit_test(override_lists),
        cmocka_unit_test(override_paths), cmocka_unit_test(wrong_overrides),
        cmocka_unit_test(belonging),      cmocka_unit_test(belonging_overridden),
        cmocka_unit_test(several_errors), cmocka_unit_test(selected),
        cmocka_unit_test(switched_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
