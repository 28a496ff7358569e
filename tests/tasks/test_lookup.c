/* test_lookup.c - entries found in long queues are those of a search from the beginning; and what that costs.
 *
 * The reference is a list that is gone through.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tasks/mpi/lookup.h"

#include <stdlib.h>
#include <string.h>

struct reference {
    struct task_match_key *key;
    uint32_t *name, *item;
    size_t count, key_room, name_room, item_room;
};

static void reference_add(struct reference *r, uint32_t name, uint32_t item, const struct task_match_key *key)
{
    size_t count = r->count;
    KER_RESERVE(r->name, r->name_room, count + 1);
    KER_RESERVE(r->item, r->item_room, count + 1);
    KER_RESERVE(r->key, r->key_room, count + 1);
    r->name[count] = name;
    r->item[count] = item;
    r->key[count] = *key;
    r->count++;
}

static void reference_remove(struct reference *r, size_t at)
{
    size_t rest = --r->count - at;
    memmove(r->name + at, r->name + at + 1, rest * sizeof *r->name);
    memmove(r->item + at, r->item + at + 1, rest * sizeof *r->item);
    memmove(r->key + at, r->key + at + 1, rest * sizeof *r->key);
}

static size_t reference_find(const struct reference *r, bool patterns, const struct task_match_key *key)
{
    for (size_t i = 0; i < r->count; i++)
        if (task_key_fits(patterns ? &r->key[i] : key, patterns ? key : &r->key[i]))
            return i;
    return r->count;
}

static void reference_free(struct reference *r)
{
    free(r->key);
    free(r->name);
    free(r->item);
}

/* Few different values, so that many fit; wildcards in a third of the patterns' fields. */
static struct task_match_key key_draw(struct ker_stream *s, bool pattern, uint32_t variety)
{
    struct task_match_key key = {.comm = 1 + ker_stream_below(s, 2),
                                 .call = ker_stream_below(s, 2),
                                 .start = ker_stream_below(s, 2),
                                 .source = (int32_t)ker_stream_below(s, variety),
                                 .tag = (int32_t)ker_stream_below(s, variety)};
    if (pattern && ker_stream_below(s, 3) == 0)
        key.source = TASK_ANY;
    if (pattern && ker_stream_below(s, 3) == 0)
        key.tag = TASK_ANY;
    return key;
}

static void assert_order(const struct task_lookup *l, const struct reference *r)
{
    uint32_t name = 0;
    for (size_t i = 0; i < r->count; i++) {
        name = task_lookup_next(l, name);
        assert_int_equal(name, r->name[i]);
        assert_int_equal(task_lookup_item(l, name), r->item[i]);
    }
    assert_int_equal(task_lookup_next(l, name), 0);
}

static void random_sequence(uint64_t seed, bool patterns, bool counts)
{
    uint64_t steps = 0;
    struct ker_stream s;
    struct reference r = {0};
    struct task_lookup *l = task_lookup_new(patterns, counts, &steps);
    ker_stream_init(&s, seed, KER_PURPOSE_TEST, 0);
    uint32_t variety = 1 + ker_stream_below(&s, 6), adds = 40 + ker_stream_below(&s, 30);
    for (uint32_t i = 0; i < 3000; i++) {
        if (ker_stream_below(&s, 100) < adds) {
            struct task_match_key key = key_draw(&s, patterns, variety);
            reference_add(&r, task_lookup_add(l, i + 7, &key), i + 7, &key);
        } else if (r.count && ker_stream_below(&s, 10) == 0) { /* any, as a receive is cancelled */
            size_t at = ker_stream_below(&s, (uint32_t)r.count);
            task_lookup_remove(l, r.name[at]);
            reference_remove(&r, at);
        } else {
            struct task_match_key key = key_draw(&s, !patterns, variety);
            size_t at = reference_find(&r, patterns, &key);
            uint32_t name = task_lookup_find(l, &key);
            assert_int_equal(name, at < r.count ? r.name[at] : 0);
            if (name && counts)
                assert_int_equal(task_lookup_place(l, name), at + 1);
            if (name && ker_stream_below(&s, 4)) {
                task_lookup_remove(l, name);
                reference_remove(&r, at);
            }
        }
        if (i % 500 == 0)
            assert_order(l, &r);
    }
    assert_order(l, &r);
    task_lookup_free(l);
    reference_free(&r);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++)
        random_sequence(seed, seed & 1, seed & 2);
}

/* Steps for n entries that are added and then found from the last to the first, by what names each. */
static uint64_t backwards(uint32_t n, bool patterns, bool counts)
{
    uint64_t steps = 0;
    struct task_lookup *l = task_lookup_new(patterns, counts, &steps);
    for (uint32_t i = 0; i < n; i++)
        task_lookup_add(l, i, &(struct task_match_key){1, 0, 0, (int32_t)i, patterns ? TASK_ANY : 5});
    for (uint32_t i = n; i-- > 0;) {
        uint32_t name =
            task_lookup_find(l, &(struct task_match_key){1, 0, 0, (int32_t)i, patterns ? 5 : TASK_ANY});
        assert_int_equal(task_lookup_item(l, name), i);
        if (counts)
            assert_int_equal(task_lookup_place(l, name), i + 1);
        task_lookup_remove(l, name);
    }
    task_lookup_free(l);
    return steps;
}

/* Ten times as many entries take ten times as many steps; with places, a little more: log n. */
static void test_growth(void **state)
{
    (void)state;
    for (int patterns = 0; patterns < 2; patterns++) {
        uint64_t few = backwards(10000, patterns, false), many = backwards(100000, patterns, false);
        assert_true(many <= 10 * few && many < 100000 * 12);
        few = backwards(10000, patterns, true);
        many = backwards(100000, patterns, true);
        assert_true(many < 13 * few && many < 100000 * 80ull);
    }
}

/* A million receives from any source with any tag, but every tenth for a source of its own: messages take
 * them in their order. */
static void test_wildcards(void **state)
{
    (void)state;
    enum { MANY = 1000000 };
    uint64_t steps = 0;
    struct task_lookup *l = task_lookup_new(true, false, &steps);
    for (int32_t i = 0; i < MANY; i++)
        task_lookup_add(l, (uint32_t)i, &(struct task_match_key){1, 0, 0, i % 10 ? TASK_ANY : i, TASK_ANY});
    for (uint32_t i = 1; i < MANY; i++) {
        if (i % 10 == 0)
            continue; /* no message has that source */
        uint32_t name = task_lookup_find(l, &(struct task_match_key){1, 0, 0, -7, (int32_t)(i * 17)});
        assert_int_equal(task_lookup_item(l, name), i);
        task_lookup_remove(l, name);
    }
    assert_true(steps < 12ull * MANY);
    task_lookup_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_growth),
                                       cmocka_unit_test(test_wildcards)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
