/* Growing arrays, pools, slabs and hash tables against plain models of them. */
#include "kernel/base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- arrays ---- */

static void arrays_grow_and_keep(void **state)
{
    uint64_t *number = NULL;
    uint32_t count = 0, room = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        *KER_PUSH(number, count, room) = i * i;
        assert_true(count <= room && room <= 2 * (count + 16));
    }
    for (uint64_t i = 0; i < 100000; i++)
        assert_int_equal(number[i], i * i);
    uint32_t before = room;
    KER_RESERVE(number, room, before); /* there already */
    assert_int_equal(room, before);
    KER_RESERVE(number, room, 5u * before); /* more than twofold at once */
    assert_int_equal(room, 5 * before);
    assert_int_equal(number[99999], UINT64_C(99999) * 99999);
    free(number);
}

static void appending_needs_no_room(void **state)
{
    int *number = NULL;
    uint32_t count = 0;
    for (int i = 0; i < 1000; i++)
        *KER_APPEND(number, count) = i;
    assert_int_equal(count, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(number[i], i);
    free(number);
}

/* A room of 8 or 16 bits ends at its own largest value, not at a power of two, nor by wrapping round. */
static void rooms_end_at_their_type(void **state)
{
    assert_int_equal(KER_MOST_OF(uint8_t), 255);
    assert_int_equal(KER_MOST_OF(int16_t), 32767);
    assert_int_equal(KER_MOST_OF(int32_t), INT32_MAX);
    assert_true(KER_MOST_OF(uint64_t) == UINT64_MAX);
    char *byte = NULL;
    uint8_t count = 0, room = 0;
    for (int i = 0; i < 255; i++)
        *KER_PUSH(byte, count, room) = (char)i;
    assert_int_equal(room, 255);
    assert_int_equal(count, 255);
    free(byte);
}

/* ---- pools ---- */

struct record {
    uint32_t next;
    uint64_t what;
};

/* The record given back last is taken first; else the lowest that was never taken. */
static void pools_reuse_last_in_first_out(void **state)
{
    KER_POOL(struct record) pool = KER_POOL_EMPTY;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(KER_POOL_TAKE(&pool, NULL), i);
        pool.at[i] = (struct record){0, 3 * i};
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(pool.at[i].what, 3 * i);
    KER_POOL_GIVE(&pool, 7);
    KER_POOL_GIVE(&pool, 300);
    assert_int_equal(KER_POOL_TAKE(&pool, NULL), 300);
    assert_int_equal(KER_POOL_TAKE(&pool, NULL), 7);
    assert_int_equal(KER_POOL_TAKE(&pool, NULL), 1000);
    KER_POOL_RELEASE(&pool);
    assert_int_equal(KER_POOL_TAKE(&pool, NULL), 0);
    KER_POOL_RELEASE(&pool);
}

static void pools_in_an_arena(void **state)
{
    struct ker_arena arena;
    ker_arena_init(&arena);
    KER_POOL(struct record) pool[3] = {KER_POOL_EMPTY, KER_POOL_EMPTY, KER_POOL_EMPTY};
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t index = KER_POOL_TAKE(&pool[i % 3], &arena);
        assert_int_equal(index, i / 3);
        pool[i % 3].at[index].what = i;
    }
    for (uint32_t i = 0; i < 3000; i++)
        assert_int_equal(pool[i % 3].at[i / 3].what, i);
    ker_arena_release(&arena);
}

static void chunks_never_move(void **state)
{
    struct ker_chunks pool;
    struct record *first, *at;
    ker_chunks_init(&pool, sizeof *first);
    assert_int_equal(ker_chunks_take(&pool), 1); /* 0 is nobody */
    first = ker_chunks_at(&pool, 1);
    first->what = 42;
    for (uint32_t i = 2; i < 5000; i++)
        assert_int_equal(ker_chunks_take(&pool), i);
    assert_ptr_equal(first, ker_chunks_at(&pool, 1));
    assert_int_equal(first->what, 42);
    ker_chunks_give(&pool, 1);
    assert_int_equal(pool.live, 4998);
    assert_int_equal(ker_chunks_take(&pool), 1);
    at = ker_chunks_at(&pool, 1);
    assert_int_equal(at->what, 0); /* zeroed again */
    ker_chunks_release(&pool);
}

/* ---- slabs ---- */

struct slab_record {
    uint32_t index;
    unsigned units;
    uint64_t what;
};

static void slab_write(struct ker_slabs *s, const struct slab_record *r)
{
    uint64_t *word = ker_slabs_at(s, r->index);
    for (unsigned i = 0; i < r->units * KER_SLAB_UNIT / 8; i++)
        word[i] = r->what + i;
}

static void slab_check(struct ker_slabs *s, const struct slab_record *r)
{
    const uint64_t *word = ker_slabs_at(s, r->index);
    assert_int_equal(ker_slabs_units(s, r->index), r->units);
    assert_int_equal((uintptr_t)word % (r->units * KER_SLAB_UNIT), 0);
    for (unsigned i = 0; i < r->units * KER_SLAB_UNIT / 8; i++)
        assert_int_equal(word[i], r->what + i);
}

/* Records of both sizes, taken and given in any order, keep what was written. */
static void slabs_keep_what_is_written(void **state)
{
    struct ker_slabs s = {0};
    struct slab_record *live = ker_alloc(sizeof *live * 20000);
    struct ker_stream stream;
    uint32_t count = 0;
    ker_stream_init(&stream, 3, KER_PURPOSE_TEST, 0);
    for (uint64_t i = 0; i < 300000; i++) {
        bool fill = i / 20000 % 2 == 0; /* now mostly more, now mostly fewer */
        if (count == 0 || (count < 20000 && ker_stream_below(&stream, 8) < (fill ? 6 : 2))) {
            unsigned units = 1 + ker_stream_below(&stream, KER_SLAB_SIZES);
            live[count] = (struct slab_record){ker_slabs_take(&s, units), units, i << 20};
            slab_write(&s, &live[count++]);
        } else {
            uint32_t at = ker_stream_below(&stream, count);
            slab_check(&s, &live[at]);
            ker_slabs_give(&s, live[at].index);
            live[at] = live[--count];
        }
    }
    for (uint32_t i = 0; i < count; i++)
        slab_check(&s, &live[i]);
    ker_slabs_release(&s);
    free(live);
}

/* When memory is given back, a page that lost its last record while it was the only one with room keeps its
 * own, whatever has got room since. What a second burst needs again is not given back again. */
static void slabs_give_back_once(void **state)
{
    struct ker_slabs s = {0};
    const uint32_t page = KER_PAGE / KER_SLAB_UNIT, many = 1000 * page;
    struct slab_record *of = ker_alloc(sizeof *of * many);
    for (uint32_t i = 0; i < many; i++)
        of[i] = (struct slab_record){ker_slabs_take(&s, 1), 1, (uint64_t)i << 20};
    ker_slabs_give(&s, of[many - 1].index); /* is kept aside */
    for (uint32_t i = 0; i <= page; i++)    /* all of the first page, one of the second */
        ker_slabs_give(&s, of[i].index);
    for (uint32_t i = 2 * page; i < many - 1; i++)
        ker_slabs_give(&s, of[i].index);
    assert_true(s.forgotten > 500 && s.regained == 0);
    for (uint32_t i = 0; i < many; i++)
        if (i <= page || i >= 2 * page)
            of[i].index = ker_slabs_take(&s, 1);
    for (uint32_t i = 0; i < many; i++)
        slab_write(&s, &of[i]);
    for (uint32_t i = 0; i < many; i++)
        slab_check(&s, &of[i]);
    assert_true(s.regained > 500);
    for (uint32_t i = 0; i < many; i++)
        ker_slabs_give(&s, of[i].index);
    assert_true(s.spare > 500);
    ker_slabs_release(&s);
    free(of);
}

/* What a burst of one size took serves the other size, or is given back. */
static void slabs_serve_both_sizes(void **state)
{
    struct ker_slabs s = {0};
    const uint32_t few = 1024, many = 1u << 17;
    uint32_t *index = ker_alloc(sizeof *index * many);
    for (int round = 0; round < 4; round++) { /* too few to be given back */
        for (uint32_t i = 0; i < few; i++)
            index[i] = ker_slabs_take(&s, 2);
        for (uint32_t i = 0; i < few; i++)
            ker_slabs_give(&s, index[i]);
        for (uint32_t i = 0; i < 2 * few; i++)
            index[i] = ker_slabs_take(&s, 1);
        for (uint32_t i = 0; i < 2 * few; i++)
            ker_slabs_give(&s, index[i]);
    }
    assert_in_range(s.pages * KER_PAGE, 64 * few, 80 * few + 80 * 1024);
    for (uint32_t i = 0; i < many; i++)
        index[i] = ker_slabs_take(&s, 2);
    for (uint32_t i = 0; i < many; i++)
        ker_slabs_give(&s, index[i]);
    assert_true(s.used <= KER_SLAB_SIZES && s.spare <= 300);
    uint64_t *word = ker_slabs_at(&s, index[many / 2]);
    assert_int_equal(word[7], 0); /* of a page that was given back */
    ker_slabs_release(&s);
    free(index);
}

/* ---- tables ---- */

struct entry {
    uint64_t key;
    uint32_t value;
};

static uint64_t entry_hash(const void *key)
{
    return ker_hash(((const struct entry *)key)->key);
}

static uint64_t entry_hash_badly(const void *key)
{
    return ((const struct entry *)key)->key << 62; /* four homes for all: long runs that wrap round */
}

static bool entry_same(const void *entry, const void *key)
{
    return ((const struct entry *)entry)->key == ((const struct entry *)key)->key;
}

static int entry_compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

static const struct ker_table_kind good = {sizeof(struct entry), entry_hash, entry_same};
static const struct ker_table_kind bad = {sizeof(struct entry), entry_hash_badly, entry_same};

#define KEYS 200u

/* What the table has is what was added and not dropped, whatever the order of both: 20,000 random steps
 * against an array of what should be there. */
static void steps_check(const struct ker_table_kind *kind, uint32_t keys)
{
    struct ker_table t = {0};
    struct ker_stream stream;
    uint32_t there[KEYS + 1] = {0}, count = 0;
    ker_stream_init(&stream, 1, KER_PURPOSE_TEST, keys);
    for (uint32_t step = 1; step <= 20000; step++) {
        struct entry key = {1 + ker_stream_below(&stream, keys), 0}, *found = ker_table_find(kind, &t, &key);
        assert_true((found != NULL) == (there[key.key] != 0));
        if (found)
            assert_int_equal(found->value, there[key.key]);
        if (found && ker_stream_below(&stream, 2)) {
            ker_table_drop(kind, &t, found);
            there[key.key] = 0;
            count--;
        } else {
            bool is_new;
            struct entry *e = ker_table_add(kind, &t, &key, &is_new);
            assert_true(is_new == !found);
            assert_true(found || e->value == 0); /* zeroed */
            *e = (struct entry){key.key, there[key.key] = step};
            count += is_new;
        }
        assert_int_equal(t.count, count);
        assert_true(count == 0 || 4ull * count <= 3ull << t.log2);
    }
    void **list = ker_table_sorted(kind, &t, entry_compare);
    for (uint32_t key = 1, i = 0; key <= keys; key++)
        if (there[key])
            assert_int_equal(((struct entry *)list[i++])->key, key);
    free(list);
    ker_table_release(&t);
}

static void tables_are_sets_of_keys(void **state)
{
    for (uint32_t keys = 1; keys <= KEYS; keys += 11) {
        steps_check(&good, keys);
        steps_check(&bad, keys);
    }
}

static bool keep_even(const void *context, const void *entry)
{
    return ((const struct entry *)entry)->key % *(const uint64_t *)context == 0;
}

static void tables_keep_a_part(void **state)
{
    struct ker_table t = {0};
    uint64_t divisor = 10, sum = 0;
    bool is_new;
    for (struct entry e = {1, 5}; e.key <= 1000; e.key++)
        *(struct entry *)ker_table_add(&good, &t, &e, &is_new) = e;
    ker_table_keep(&good, &t, keep_even, &divisor);
    assert_int_equal(t.count, 100);
    assert_int_equal(t.log2, 9); /* 512 >= 4 x 101 */
    for (struct entry *e = NULL; (e = ker_table_next(&good, &t, e));)
        sum += e->key;
    assert_int_equal(sum, 10 * 100 * 101 / 2);
    ker_table_release(&t);
    assert_int_equal(t.count, 0);
    assert_null(ker_table_next(&good, &t, NULL));
}

/* Of 4096 numbered names, no home of 4096 has more than a few: a poor hash would pile them up. With one name
 * a home on average, more than 12 in one have a probability below 10^-6 (Poisson: 4096 x 6e-11). */
static void hashes_spread(void **state)
{
    uint8_t names[4096] = {0}, numbers[4096] = {0};
    for (uint32_t i = 0; i < 4096; i++) {
        char name[32];
        int length = snprintf(name, sizeof name, "switch-%u", i);
        assert_true(++names[ker_hash_bytes(name, (size_t)length) >> 52] <= 12);
        assert_true(++numbers[ker_hash((uint64_t)i << 32 | (i + 1)) >> 52] <= 12);
    }
    assert_true(ker_hash_bytes("a", 1) != ker_hash_bytes("a\0", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_grow_and_keep),
        cmocka_unit_test(appending_needs_no_room),
        cmocka_unit_test(rooms_end_at_their_type),
        cmocka_unit_test(pools_reuse_last_in_first_out),
        cmocka_unit_test(pools_in_an_arena),
        cmocka_unit_test(chunks_never_move),
        cmocka_unit_test(slabs_keep_what_is_written),
        cmocka_unit_test(slabs_give_back_once),
        cmocka_unit_test(slabs_serve_both_sizes),
        cmocka_unit_test(tables_are_sets_of_keys),
        cmocka_unit_test(tables_keep_a_part),
        cmocka_unit_test(hashes_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
