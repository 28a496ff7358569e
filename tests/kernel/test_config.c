/* test_config.c - the configuration: what is read, what is refused and in which words, and that what is
 * written reads back the same. */
#include "tests/kernel/config_bench.h"

static void defaults(void **state)
{
    struct ker_config *c = parse("");
    assert_int_equal(ker_config_int(c, "switch.channels"), 2);
    assert_int_equal(ker_config_time(c, "switch.delay"), 20 * KER_NS);
    assert_int_equal(ker_config_bytes(c, "switch.buffer"), 4096);
    assert_int_equal(ker_config_rate(c, "switch.rate"), 25000000000);
    assert_true(ker_config_is(c, "switch.arbiter", "round_robin"));
    assert_string_equal(ker_config_string(c, "switch.arbiter"), "round_robin");
    assert_false(ker_config_bool(c, "run.quiet"));
    assert_false(ker_config_has(c, "run.load"));
    assert_false(ker_config_has(c, "switch"));
    assert_int_equal(ker_config_count(c, "jobs"), 0);
    assert_int_equal(ker_config_count(c, "topology.extents"), 3);
    assert_int_equal(ker_config_int_at(c, "topology.extents", 2), 4);
    assert_int_equal(ker_config_rate_at(c, "topology.bandwidth", 1), 5000000000);
    assert_int_equal(ker_config_count(c, "topology.weights"), 0);
    assert_string_equal(ker_config_string_at(c, "topology.names", 1), "y");
    ker_config_free(c);
}

static const char everything[] =
    "# a comment\n"
    "switch: { channels = 4; delay = \"1.5 us\"; buffer = 512; rate = \"200 Gb/s\";\n"
    "          arbiter = \"random\"; };\n"
    "run = { seed = 5000000000; load = 1; quiet = true; }\n"
    "topology: { extents = [8, 0x10, 3]; bandwidth = \"1 GB/s\"; weights = [1, 0.5];\n"
    "            names = (\"a b\", \"c\\\"d\"); };\n"
    "jobs = ( { name = \"one\"; tasks = 3; trace = \"t/x\"; mpi: { eager = \"1 kB\"; }; },\n"
    "         { trace = \"/abs\"; } );\n";

static void values(void **state)
{
    struct ker_config *c = parse(everything);
    assert_int_equal(ker_config_int(c, "switch.channels"), 4);
    assert_int_equal(ker_config_time(c, "switch.delay"), 1500 * KER_NS);
    assert_int_equal(ker_config_bytes(c, "switch.buffer"), 512);
    assert_int_equal(ker_config_rate(c, "switch.rate"), 25000000000);
    assert_true(ker_config_is(c, "switch.arbiter", "random"));
    assert_int_equal(ker_config_int(c, "run.seed"), 5000000000); /* libconfig alone would say 705032704 */
    assert_true(ker_config_real(c, "run.load") == 1.0);
    assert_true(ker_config_bool(c, "run.quiet"));
    assert_int_equal(ker_config_count(c, "topology.extents"), 3);
    assert_int_equal(ker_config_int_at(c, "topology.extents", 1), 16);
    assert_int_equal(ker_config_count(c, "topology.bandwidth"), 1); /* a single value is a list of one */
    assert_int_equal(ker_config_rate_at(c, "topology.bandwidth", 0), 1000000000);
    assert_true(ker_config_real_at(c, "topology.weights", 0) == 1.0 &&
                ker_config_real_at(c, "topology.weights", 1) == 0.5);
    assert_string_equal(ker_config_string_at(c, "topology.names", 1), "c\"d");
    assert_int_equal(ker_config_count(c, "jobs"), 2);
    assert_int_equal(ker_config_int(c, "jobs[0].tasks"), 3);
    assert_true(ker_config_has(c, "jobs[0].tasks"));
    assert_false(ker_config_has(c, "jobs[1].tasks"));
    assert_int_equal(ker_config_bytes(c, "jobs[0].mpi.eager"), 1000);
    assert_int_equal(ker_config_bytes(c, "jobs[1].mpi.eager"), 8192);
    assert_string_equal(ker_config_file(c, "jobs[0].trace"), "dir/t/x"); /* beside dir/a.cfg */
    assert_string_equal(ker_config_file(c, "jobs[1].trace"), "/abs");
    ker_config_free(c);
}

static void unknown_keys(void **state)
{
    refused("switch:\n{ chanels = 4; };",
            "a.cfg:2: switch.chanels: unknown key; did you mean switch.channels?");
    refused("swich: { channels = 4; };", "a.cfg:1: swich: unknown key; did you mean switch?");
    refused("jobs = ( {}, { taks = 4; } );",
            "a.cfg:1: jobs[1].taks: unknown key; did you mean jobs[1].tasks?");
    refused("channels = 4;", "a.cfg:1: channels: unknown key; did you mean switch.channels?");
    refused("zebra = 4;", "a.cfg:1: zebra: unknown key; marssim --help-config lists all keys");
}

static void wrong_values(void **state)
{
    refused("switch: { channels = 65; };", "a.cfg:1: switch.channels: too large: must be 1 to 64, not 65");
    refused("switch: { buffer = 0; };", "a.cfg:1: switch.buffer: too small: must be at least 1, not 0");
    refused("switch: { rate = \"2 TB/s\"; };",
            "a.cfg:1: switch.rate: too large: must be at most 1 TB/s, not 2 TB/s");
    refused("switch: { delay = 100; };", "a.cfg:1: switch.delay: give a unit, as in \"100 ns\"");
    refused("switch: { rate = 2.5; };", "a.cfg:1: switch.rate: give a unit, as in \"25 GB/s\"");
    refused("switch: { buffer = -1; };", "a.cfg:1: switch.buffer: a size must not be negative");
    refused("switch: { channels = \"4\"; };",
            "a.cfg:1: switch.channels: a whole number is expected, not the text \"4\"");
    refused("switch: { channels = 1.5; };", "a.cfg:1: switch.channels: a whole number is expected, not 1.5");
    refused("switch: { arbiter = \"randm\"; };", "a.cfg:1: switch.arbiter: \"randm\" is none of: "
                                                 "round_robin, oldest, random; did you mean \"random\"?");
    refused("run: { load = 1e999; };", "a.cfg:1: run.load: the number is too large");
    refused("run: { seed = 9223372036854775808; };", "a.cfg:1: 9223372036854775808 does not fit in 64 bits");
    refused("topology: { extents = [4,\n 0]; };",
            "a.cfg:2: topology.extents[1]: too small: must be 1 to 65536, not 0");
}

static void wrong_topologies(void **state)
{
    refused("switch = 5;",
            "a.cfg:1: switch: is a value, but a group of keys is expected: { key = value; ... }");
    refused("switch: { delay: { x = 1; }; };",
            "a.cfg:1: switch.delay: a time, as in \"100 ns\" is expected, not a group { }");
    refused("switch: { channels = [4]; };",
            "a.cfg:1: switch.channels: a whole number is expected, not a list");
    refused("jobs: { tasks = 2; };",
            "a.cfg:1: jobs: a list of groups is expected: ( { key = value; ... }, { ... } )");
    refused("jobs = ( 4 );",
            "a.cfg:1: jobs[0]: is a value, but a group of keys is expected: { key = value; ... }");
}

static void syntax(void **state)
{
    static const char hint[] =
        " here or in the line before; settings are NAME = VALUE; and values with units are "
        "in quotes, as in \"100 ns\"";
    char message[300];
    snprintf(message, sizeof message, "a.cfg:2: syntax error%s", hint);
    refused("# one\nswitch: { delay = ; };\n", message);
    refused("# one\nswitch: { delay = 20 ns; };\n",
            "a.cfg:2: 20 ns: a value with a unit is in quotes: \"20 ns\"");
    refused("switch: { rate = 2.5GB/s; };\n",
            "a.cfg:1: 2.5GB/s: a value with a unit is in quotes: \"2.5GB/s\"");
    refused("run: { seed = 1;\nseed = 2; };", "a.cfg:2: seed is given twice in its group");
    refused("run: { seed = 1; load = 0.5; seed = 2; };", "a.cfg:1: seed is given twice in its group");
    ker_config_free(
        parse("run: { seed = 1 load = 0.5 quiet = true; };")); /* the name of the next setting is no unit */
    refused("switch: {\n channels = 4;\n", "a.cfg:1: the \"{\" that opens here is never closed");
    refused("switch: {\n channels = 4; ]", "a.cfg:2: \"]\" does not match the \"{\" of a.cfg:1");
    refused("\n}", "a.cfg:2: \"}\" closes nothing");
    refused("a = \"x\n\n", "a.cfg:1: the string that begins here is never closed");
    refused("\n/* x\n\n", "a.cfg:2: the comment that begins here is never closed");
    refused("a = 5 %;", "a.cfg:1: \"%\" has no meaning here");
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* What loading this file says; the folder's own name is cut off. */
static void load_refused(const char *folder, const char *name, const char *message)
{
    char path[300];
    struct ker_config *config;
    struct ker_error error = {.status = KER_OK};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(ker_config_load(&config, path, NULL, 0, tables, &error), KER_BAD_INPUT);
    assert_ptr_equal(strstr(error.text, folder), error.text);
    assert_string_equal(error.text + strlen(folder) + 1, message);
}

static void files(void **state)
{
    char folder[] = "/tmp/marssim-test-XXXXXX", path[300], *before = realpath(".", NULL);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("sub", 0700), 0);
    write_text("empty.cfg", "# nothing\n");
    write_text("main.cfg",
               "run: { seed = 2; };\n  @include \"sub/inner.cfg\"\njobs = ( { trace = \"t\"; } );\n");
    write_text("sub/inner.cfg", "switch: {\n  channels = 3;\n@include \"more.cfg\"\n};\n");
    write_text("sub/more.cfg", "delay = \"5 ns\";");
    write_text("bad.cfg", "@include \"sub/bad.cfg\"\n");
    write_text("sub/bad.cfg", "\nswitch: { channels = 99; };\n");
    write_text("self.cfg", "@include \"self.cfg\"");
    write_text("none.cfg", "\n@include \"nothing.cfg\"\n");
    write_text("dir.cfg", "@include \"sub\"\n");
    write_text("after.cfg", "@include \"sub/inner.cfg\"\n\nrun: { sed = 3; };\n");

    struct ker_config *c;
    struct ker_error error = {.status = KER_OK};
    snprintf(path, sizeof path, "%s/main.cfg", folder);
    assert_int_equal(ker_config_load(&c, path, NULL, 0, tables, &error), KER_OK);
    assert_int_equal(ker_config_int(c, "switch.channels"), 3);
    assert_int_equal(ker_config_time(c, "switch.delay"), 5 * KER_NS);
    snprintf(path, sizeof path, "%s/t", folder);
    assert_string_equal(ker_config_file(c, "jobs[0].trace"), path);
    ker_config_free(c);

    load_refused(folder, "sub", "sub: is a directory; a configuration file is expected");
    load_refused(folder, "gone.cfg", "gone.cfg: cannot be read: No such file or directory");
    load_refused(folder, "empty.cfg", "empty.cfg: holds no settings; a configuration file is expected");
    load_refused(folder, "bad.cfg", "sub/bad.cfg:2: switch.channels: too large: must be 1 to 64, not 99");
    load_refused(folder, "after.cfg", "after.cfg:3: run.sed: unknown key; did you mean run.seed?");
    load_refused(folder, "self.cfg", "self.cfg:1: files include each other more than 10 deep");
    snprintf(path, sizeof path,
             "none.cfg:2: included file %s/nothing.cfg: cannot be read: No such file or directory", folder);
    load_refused(folder, "none.cfg", path);
    snprintf(path, sizeof path,
             "dir.cfg:1: included file %s/sub: is a directory; a configuration file is expected", folder);
    load_refused(folder, "dir.cfg", path);
    snprintf(path, sizeof path, "rm -r %s", folder);
    assert_int_equal(system(path), 0);
    assert_int_equal(chdir(before), 0);
    free(before);
}

static void failing_later(void **state)
{
    const char *one = "switch.delay=5 ns";
    struct ker_config *c = parse_with("\nswitch: {\n  channels = 4; };", &one, 1);
    struct ker_error error = {.status = KER_OK};
    assert_int_equal(ker_config_fail(c, &error, "switch.channels", "%d are too few", 4), KER_BAD_INPUT);
    assert_string_equal(error.text, "dir/a.cfg:3: switch.channels: 4 are too few");
    error.status = KER_OK;
    ker_config_fail(c, &error, "switch.buffer", "too small"); /* absent: its group's line */
    assert_string_equal(error.text, "dir/a.cfg:2: switch.buffer: too small");
    error.status = KER_OK;
    ker_config_fail(c, &error, "switch.delay", "too small");
    assert_string_equal(error.text, "command line: switch.delay: too small");
    error.status = KER_OK;
    ker_config_fail(c, &error, "run.seed", "is needed");
    assert_string_equal(error.text, "dir/a.cfg: run.seed: is needed");
    ker_config_free(c);
}

/* Written, read and written again, the text is the same; and so is what is in it. */
static void round_trip(void **state)
{
    static const char *const several[] = {"run.load=0.1", "jobs[2].name=\"q\" \\ \xc3\xbc",
                                          "topology.weights=1e300,-0.3"};
    struct ker_config *first = parse_with(everything, several, 3);
    char *text = written(first);
    struct ker_config *second = parse(text);
    char *again = written(second);
    assert_string_equal(text, again);
    assert_int_equal(ker_config_int(second, "run.seed"), 5000000000);
    assert_true(ker_config_real(second, "run.load") == 0.1);
    assert_true(ker_config_real_at(second, "topology.weights", 0) == 1e300);
    assert_string_equal(ker_config_string(second, "jobs[2].name"), "\"q\" \\ \xc3\xbc");
    assert_false(ker_config_has(second, "jobs[1].tasks"));
    assert_string_equal(ker_config_file(second, "jobs[1].trace"), "/abs");
    assert_non_null(strstr(text, "# eager = \"8 KiB\"; default\n"));
    free(text);
    free(again);
    ker_config_free(first);
    ker_config_free(second);
    first = parse("");
    text = written(first);
    second = parse(text);
    assert_false(ker_config_has(second, "switch")); /* groups of defaults only are comments, too */
    free(text);
    ker_config_free(first);
    ker_config_free(second);
}

static void reference(void **state)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    ker_config_help(tables, out);
    fclose(out);
    assert_non_null(strstr(text, "switch\n  switch.channels: whole number, 1 to 64; default 2\n"
                                 "      Virtual channels per port.\n"));
    assert_non_null(
        strstr(text, "  switch.arbiter: one of round_robin, oldest, random; default round_robin\n"));
    assert_non_null(strstr(text, "  topology.weights: list of numbers; default empty\n"));
    assert_non_null(strstr(text, "jobs\n  jobs[].name: text; default empty\n"));
    assert_non_null(strstr(text, "  jobs[].tasks: whole number, at least 1; no default\n"));
    assert_non_null(strstr(
        text,
        "  route.bias: whole number; no default; only with route.candidates other than 1 or run.load\n"));
    assert_non_null(strstr(
        text,
        "  route.candidates: whole number; default 1; only with route.how = long, drawn and run.quiet ="));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),     cmocka_unit_test(values),           cmocka_unit_test(unknown_keys),
        cmocka_unit_test(wrong_values), cmocka_unit_test(wrong_topologies), cmocka_unit_test(syntax),
        cmocka_unit_test(files),        cmocka_unit_test(failing_later),    cmocka_unit_test(round_trip),
        cmocka_unit_test(reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
