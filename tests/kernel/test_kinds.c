/* The registry of kinds: where keys and kinds are says when they mean something. */
#include "kernel/config/config.h"
#include "tests/refusal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const int apples = 1, pears = 2;
static const struct ker_option pear_options[] = {
    {.key = "tree.ripe", .type = KER_TYPE_INT, .fallback = "1", .meaning = "x"}, {0}};
static const struct ker_option both_options[] = {
    {.key = "tree.height", .type = KER_TYPE_INT, .fallback = "3", .meaning = "x"}, {0}};
static const struct ker_option deep_options[] = {
    {.key = "way.depth", .type = KER_TYPE_INT, .fallback = "2", .meaning = "x"},
    {.key = "way.steps", .type = KER_TYPE_INT, .fallback = "2", .meaning = "x", .belongs = "way.depth!=0"},
    {0}};
static const struct ker_kind straight = {.name = "straight", .meaning = "the straight way"};
static const struct ker_kind deep = {.name = "deep",
                                     .meaning = "a way of the pear",
                                     .traits = "turns long",
                                     .options = KER_OPTIONS(deep_options)};
static const struct ker_kind *const pear_ways[] = {&deep, NULL};
static const struct ker_kind apple = {
    .name = "apple", .meaning = "red", .operations = &apples, .options = KER_OPTIONS(both_options)};
static const struct ker_kind pear = {.name = "pear",
                                     .meaning = "green",
                                     .operations = &pears,
                                     .options = KER_OPTIONS(pear_options, both_options),
                                     .brings = KER_BRINGS("way.kind", int, pear_ways)};
static const struct ker_kind rose = {.name = "rose", .meaning = "no fruit"};
static const struct ker_kind *const tree_list[] = {&apple, &pear, &rose, NULL}, *const way_list[] = {
                                                                                    &straight, NULL};
static const struct ker_kinds trees = {"tree.kind", "trees", sizeof(int), tree_list},
                              ways = {"way.kind", "ways", sizeof(int), way_list};
static const struct ker_option options[] = {
    {.key = "tree.kind", .type = KER_TYPE_CHOICE, .fallback = "apple", .kinds = &trees, .meaning = "x"},
    {.key = "way.kind", .type = KER_TYPE_CHOICE, .fallback = "straight", .kinds = &ways, .meaning = "x"},
    {.key = "way.turns", .type = KER_TYPE_INT, .fallback = "0", .meaning = "x", .belongs = "way.kind=@turns"},
    {0}};
static const struct ker_option *const tables[] = {options, NULL};

static enum ker_status parse(struct ker_config **config, const char *text, struct ker_error *error)
{
    *error = (struct ker_error){0};
    return ker_config_parse(config, "test.cfg", text, NULL, 0, tables, error);
}

static void refused(const char *text, const char *why)
{
    struct ker_config *config;
    struct ker_error error;
    assert_refused(parse(&config, text, &error), &error, why);
}

static void test_by_name(void **state)
{
    struct ker_config *config;
    struct ker_error error;
    assert_int_equal(parse(&config,
                           "tree: { kind = \"pear\"; ripe = 4; height = 2; }; way: { kind = \"deep\"; "
                           "depth = 1; steps = 2; turns = 3; };",
                           &error),
                     KER_OK);
    assert_ptr_equal(ker_config_kind(config, "tree.kind"), &pear);
    assert_ptr_equal(ker_config_operations(config, "tree.kind"), &pears);
    assert_true(ker_config_is(config, "way.kind", "deep"));
    assert_int_equal(ker_config_int(config, "way.steps"), 2);
    ker_config_free(config);
    assert_int_equal(parse(&config, "", &error), KER_OK); /* the defaults */
    assert_ptr_equal(ker_config_kind(config, "tree.kind"), &apple);
    assert_int_equal(ker_config_number(config, "tree.kind", (struct ker_word[]){{"pear", 7}, {"apple", 8}}),
                     8);
    ker_config_free(config);
}

/* A key is with its kind, or with several; a kind with the one that brings it. */
static void test_belongs(void **state)
{
    refused("tree: { kind = \"apple\"; ripe = 4; };",
            "tree.ripe: means nothing with tree.kind = \"apple\"; it is for \"pear\"");
    refused("tree: { kind = \"rose\"; height = 4; };", "it is for \"apple\" or \"pear\"");
    refused("tree: { kind = \"apple\"; }; way: { kind = \"deep\"; depth = 1; };",
            "way.depth: means nothing with tree.kind = \"apple\"; it is for \"pear\"");
    refused("tree: { kind = \"pear\"; }; way: { kind = \"deep\"; depth = 0; steps = 1; };",
            "way.steps: means nothing with way.depth = 0");
    refused("way: { turns = 1; };", "it is for \"deep\""); /* the trait */
    refused("tree: { kind = \"peer\"; };", "is none of: apple, pear, rose; did you mean \"pear\"?");
    refused("way: { kind = \"shallow\"; };", "is none of: deep, straight");
}

/* Tables of two kinds that begin with the same key. */
#define WEIGHT "fruit.weight" /* one text for both, as compilers have it */
static const struct ker_option
    one[] = {{.key = WEIGHT, .type = KER_TYPE_INT, .fallback = "1", .meaning = "x"}, {0}},
    other[] = {{.key = WEIGHT, .type = KER_TYPE_INT, .fallback = "2", .meaning = "x"},
               {.key = "fruit.size", .type = KER_TYPE_INT, .meaning = "x"},
               {0}};
static const struct ker_kind quince = {.name = "quince", .meaning = "x", .options = KER_OPTIONS(one)},
                             fig = {.name = "fig", .meaning = "x", .options = KER_OPTIONS(other)};
static const struct ker_kind *const twice_list[] = {&quince, &fig, NULL};
static const struct ker_kinds fruits = {"fruit.kind", "fruits", sizeof(int), twice_list};
static const struct ker_option family[] = {
    {.key = "fruit.kind", .type = KER_TYPE_CHOICE, .fallback = "quince", .kinds = &fruits, .meaning = "x"},
    {0}};

static void test_twice(void **state)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        fclose(stderr);
        struct ker_registry *r = ker_registry_new((const struct ker_option *const[]){family, NULL});
        ker_config_help(ker_registry_tables(r), fopen("/dev/null", "w")); /* which checks the tables */
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

static void test_find(void **state)
{
    struct ker_registry *r = ker_registry_new(tables);
    assert_ptr_equal(ker_registry_find(r, "way.kind", "deep", "pear"), &deep);
    assert_null(ker_registry_find(r, "way.kind", "deep", "apple"));
    assert_ptr_equal(ker_registry_find(r, "way.kind", "straight", "apple"), &straight);
    char *names = ker_registry_names(r, "way.kind", "apple"), *all = ker_registry_names(r, "way.kind", NULL);
    assert_string_equal(names, "straight");
    assert_string_equal(all, "deep, straight");
    free(names);
    free(all);
    ker_registry_free(r);
}

/* ---- kinds from outside ---- */

static const struct ker_option plum_options[] = {
    {.key = "tree.stones", .type = KER_TYPE_INT, .fallback = "1", .meaning = "x"}, {0}};
static const struct ker_kind plum = {.name = "plum",
                                     .meaning = "blue",
                                     .operations = &apples,
                                     .options = KER_OPTIONS(plum_options, both_options)};
static const struct ker_kind second = {.name = "pear", .meaning = "another"};
static const struct ker_kind ill = {.name = "a|b", .meaning = "x"};
static const struct ker_option taken_options[] = {
    {.key = "way.turns", .type = KER_TYPE_INT, .fallback = "1", .meaning = "x"}, {0}};
static const struct ker_kind taker = {.name = "taker", .meaning = "x", .options = KER_OPTIONS(taken_options)};
/* Not for the pear, which has one of that name. */
static const struct ker_kind apple_deep = {.name = "deep", .meaning = "x", .of = "apple"};

static enum ker_status add(struct ker_registry *r, const char *key, const struct ker_kind *kind, size_t bytes,
                           struct ker_error *error)
{
    const struct ker_kind *const list[] = {kind, NULL};
    const struct ker_bring brings[] = {{key, bytes, list}, {NULL, 0, NULL}};
    *error = (struct ker_error){0};
    return ker_registry_add(r, "lib.so", brings, error);
}

static void test_add(void **state)
{
    struct ker_registry *r = ker_registry_new(tables);
    struct ker_error error;
    assert_int_equal(add(r, "tree.kind", &plum, sizeof(int), &error), KER_OK);
    assert_int_equal(add(r, "way.kind", &apple_deep, sizeof(int), &error), KER_OK);
    assert_ptr_equal(ker_registry_find(r, "way.kind", "deep", "apple"), &apple_deep);
    assert_ptr_equal(ker_registry_find(r, "way.kind", "deep", "pear"), &deep);
    const struct {
        const char *key;
        const struct ker_kind *kind;
        size_t bytes;
        const char *why;
    } bad[] = {
        {"tree.kind", &second, sizeof(int), "lib.so: tree.kind = \"pear\" is taken by marssim itself"},
        {"tree.kind", &plum, sizeof(int), "tree.kind = \"plum\" is taken by lib.so"},
        {"tree.kind", &second, 1, "have 1 bytes, those of this marssim 4"},
        {"bush.kind", &second, sizeof(int), "\"bush.kind\", which no key"},
        {"tree.kind", &ill, sizeof(int), "has no name, a wrong one"},
        {"tree.kind", &taker, sizeof(int), "the key way.turns of its \"taker\" is taken"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(add(r, bad[i].key, bad[i].kind, bad[i].bytes, &error), &error, bad[i].why);
    }
    char *names = ker_registry_names(r, "tree.kind", NULL);
    assert_string_equal(names, "apple, pear, rose, plum");
    free(names);
    ker_registry_free(r);
}

/* ---- former names ---- */

static const struct ker_option named_options[] = {
    {.key = "a.new", .type = KER_TYPE_INT, .fallback = "1", .meaning = "x", .formerly = "a.old"},
    {.key = "l[].new", .type = KER_TYPE_INT, .fallback = "1", .meaning = "x", .formerly = "l[].old"},
    {0}};

static enum ker_status named(struct ker_config **config, const char *text, const char *override,
                             struct ker_error *error)
{
    static const struct ker_option *const named_tables[] = {named_options, NULL};
    *error = (struct ker_error){0};
    return ker_config_parse(config, "test.cfg", text, &override, override ? 1 : 0, named_tables, error);
}

static void test_former(void **state)
{
    struct ker_config *c;
    struct ker_error error;
    static const struct {
        const char *text, *override;
        int new;
    } good[] = {
        {"a: { old = 3; };", NULL, 3},      {"a: { old = 3; };", "a.new=4", 4},
        {"a: { new = 3; };", "a.old=4", 4}, {"", "a.old=5", 5},
        {"", "a={ old = 6; }", 6},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(named(&c, good[i].text, good[i].override, &error), KER_OK);
        assert_int_equal(ker_config_int(c, "a.new"), good[i].new);
        ker_config_free(c);
    }
    assert_int_equal(named(&c, "l = ( { new = 2; }, { old = 3; } );", NULL, &error), KER_OK);
    assert_int_equal(ker_config_int(c, "l[1].new"), 3);
    ker_config_free(c);
    assert_int_equal(named(&c, "a: { new = 1;\n old = 2; };", NULL, &error), KER_BAD_INPUT);
    assert_string_equal(error.text,
                        "test.cfg:2: a.old: is the former name of a.new, which is given, too: remove it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_name), cmocka_unit_test(test_belongs),
                                       cmocka_unit_test(test_twice),   cmocka_unit_test(test_find),
                                       cmocka_unit_test(test_add),     cmocka_unit_test(test_former)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
