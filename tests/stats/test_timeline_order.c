/* test_timeline_order.c - the records of timelines in their order: what is stored comes out by time, and the
 * points of a format come in the order that format.h promises, for times that are spread, all alike, or years
 * apart, and for many records that are open at once.
 */
#include "stats/file.h"
#include "stats/timelines/expand.h"
#include "stats/timelines/out.h"
#include "stats/timelines/sort.h"
#include "stats/timelines/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TASKS 5u

/* A new number each time. */
static uint64_t drawn(uint64_t *seed)
{
    return ker_hash(++*seed);
}

/* ---- sorting ---- */

static int u64_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void sort_case(uint32_t count, unsigned bits, uint64_t unlike)
{
    uint64_t seed = bits * 1000u + count, *key = ker_alloc(((size_t)count + 1) * sizeof *key),
             *other = ker_alloc(((size_t)count + 1) * sizeof *key),
             *wanted = ker_alloc(((size_t)count + 1) * sizeof *key);
    for (uint32_t i = 0; i < count; i++)
        wanted[i] = key[i] = drawn(&seed) % unlike >> (64 - bits) % 64;
    qsort(wanted, count, sizeof *wanted, u64_compare);
    line_sort(key, other, count, bits);
    assert_memory_equal(key, wanted, count * sizeof *key);
    free(key);
    free(other);
    free(wanted);
}

static void keys_are_sorted(void **state)
{
    static const uint32_t count[] = {0, 1, 2, 33, 1000, 40000};
    static const unsigned bits[] = {1, 11, 12, 22, 23, 44, 45, 63, 64};
    for (size_t c = 0; c < sizeof count / sizeof *count; c++)
        for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
            sort_case(count[c], bits[b], UINT64_MAX);
    sort_case(5000, 64, 3); /* nearly all alike: small numbers, of which the highest digits say nothing */
    sort_case(5000, 64, 1u << 30);
}

/* ---- records ---- */

/* How records are spread. */
struct spread {
    int64_t gap, lasting; /* at most */
    bool whole;           /* times are multiples of the gap */
    uint32_t long_ones;   /* every how manieth lasts until the end; 0: none */
};

static struct line_record record_draw(const struct spread *s, uint32_t i, int64_t *now, uint64_t *seed)
{
    static const uint8_t kinds[] = {LINE_COMPUTE, LINE_CALL, LINE_WAIT, LINE_MESSAGE};
    int64_t gap = (int64_t)(drawn(seed) % (uint64_t)(s->gap + 1));
    *now += s->whole ? gap / s->gap * s->gap : gap;
    struct line_record r = {.begin = *now, .number = i, .task = (uint32_t)(drawn(seed) % TASKS)};
    r.kind = kinds[drawn(seed) % sizeof kinds];
    r.end = *now + (int64_t)(drawn(seed) % (uint64_t)(s->lasting + 1));
    r.end += r.end == r.begin && r.kind != LINE_CALL;
    if (s->long_ones && i % s->long_ones == 0)
        r.end = INT64_MAX / 2;
    r.peer = r.kind == LINE_MESSAGE ? (int32_t)(drawn(seed) % TASKS) : (int32_t)LINE_NOBODY;
    return r;
}

static int record_compare(const void *a, const void *b)
{
    return line_before(a, b) ? -1 : line_before(b, a);
}

static struct line_record *records_draw(const struct spread *s, uint32_t count)
{
    struct line_record *list = ker_alloc(((size_t)count + 1) * sizeof *list);
    uint64_t seed = count + (uint64_t)s->gap;
    int64_t now = 0;
    for (uint32_t i = 0; i < count; i++)
        list[i] = record_draw(s, i, &now, &seed);
    return list;
}

static const struct spread spreads[] = {
    {1000, 5000, false, 0},
    {1000, 3000, true, 0},                          /* many at one instant */
    {10, 400000, false, 0},                         /* thousands are open */
    {1000, 5000, false, 7},                         /* and stay so */
    {INT64_C(1) << 44, INT64_C(1) << 53, false, 0}, /* hours apart */
    {INT64_C(1) << 44, 1, false, 500},
};
#define SPREADS (sizeof spreads / sizeof *spreads)

/* ---- the store ---- */

/* Puts them in backwards by pieces, so that runs overlap. */
static void stored(const struct spread *s, uint32_t count, uint32_t piece)
{
    struct line_record *list = records_draw(s, count);
    struct line_store store;
    line_store_init(&store, UINT64_MAX);
    for (uint32_t begin = 0; begin < count; begin += piece)
        for (uint32_t i = begin + piece < count ? begin + piece : count; i-- > begin;)
            line_store_add(&store, &list[i]);
    qsort(list, count, sizeof *list, record_compare);
    uint16_t rename[3] = {7};
    struct line_cursor *cursor = line_cursor_new(&store, 0, rename);
    for (uint32_t i = 0; i < count; i++) {
        const struct line_record *r = line_cursor_next(cursor);
        assert_non_null(r);
        assert_int_equal(r->name, 7);
        assert_true(!line_before(r, &list[i]) && !line_before(&list[i], r) && r->end == list[i].end);
    }
    assert_null(line_cursor_next(cursor));
    assert_null(line_cursor_next(cursor));
    line_cursor_free(cursor);
    line_store_release(&store);
    free(list);
}

static void records_come_out_by_time(void **state)
{
    for (size_t i = 0; i < SPREADS; i++) {
        stored(&spreads[i], 0, 1);
        stored(&spreads[i], 3, 2);
        stored(&spreads[i], 100000, 50);
        stored(&spreads[i], 100000, 60000);
    }
}

/* ---- points ---- */

struct line_writer {
    const struct line_format *format;
    int64_t now[TASKS + 1]; /* of each task, and of all */
    uint32_t begun[TASKS], ended[TASKS];
    const struct line_record *list;
    bool *open;
    uint64_t digest;
};

static void point_look(struct line_writer *w, const struct line_record *r, bool end)
{
    int64_t time = end ? r->end : r->begin;
    uint32_t task = end && r->kind == LINE_MESSAGE ? (uint32_t)r->peer : r->task;
    int64_t *now = &w->now[w->format->by_task ? task : TASKS];
    assert_true(time >= *now); /* by task, or of all */
    *now = time;
    assert_true(r->number < 200000 && w->open[r->number] == end); /* begins once, then ends once */
    w->open[r->number] = !end;
    if (end)
        w->ended[task]++;
    else
        w->begun[r->task]++;
    w->digest = ker_hash(w->digest + (uint64_t)r->number * 2 + end);
}

/* At one instant: what ends before what begins; of what ends, messages, waits, calls. */
static void expanded(const struct spread *s, uint32_t count, const struct line_format *format)
{
    struct line_record *list = records_draw(s, count);
    struct line_writer w = {.format = format, .list = list, .open = ker_alloc(200000)};
    struct line_expansion e;
    qsort(list, count, sizeof *list, record_compare);
    line_expand_begin(&e, format, &w, TASKS);
    for (uint32_t i = 0; i < count; i++)
        line_expand(&e, &list[i]);
    line_expand_end(&e);
    uint32_t begun = 0, ended = 0, ends = 0;
    for (uint32_t i = 0; i < TASKS; i++) {
        begun += w.begun[i];
        ended += w.ended[i];
    }
    for (uint32_t i = 0; i < count; i++)
        ends += format->ends >> list[i].kind & 1;
    assert_int_equal(begun, count);
    assert_int_equal(ended, ends);
    free(w.open);
    free(list);
}

static void points_come_in_order(void **state)
{
    static const struct line_format format[] = {
        {.point = point_look},
        {.point = point_look, .ends = LINE_ALL_END},
        {.point = point_look, .ends = 1u << LINE_CALL | 1u << LINE_WAIT},
        {.point = point_look, .ends = LINE_ALL_END, .by_task = true},
    };
    for (size_t f = 0; f < sizeof format / sizeof *format; f++)
        for (size_t i = 0; i < SPREADS; i++) {
            expanded(&spreads[i], 0, &format[f]);
            expanded(&spreads[i], 1, &format[f]);
            expanded(&spreads[i], 20000, &format[f]);
        }
}

/* ---- one instant ---- */

struct said {
    char text[256];
};

static void point_say(struct line_writer *w, const struct line_record *r, bool end)
{
    struct said *said = (struct said *)w;
    static const char letter[LINE_KINDS] = {'P', 'C', 'W', 'M', 'S'};
    size_t used = strlen(said->text);
    snprintf(said->text + used, sizeof said->text - used, "%s%c%u", end ? " -" : " +", letter[r->kind],
             r->number);
}

/* A task computes (0), calls (1) in which it waits and receives a message, calls for no time (2), computes
 * (3). */
static void at_one_instant(void **state)
{
    static const struct line_record list[] = {
        {.kind = LINE_COMPUTE, .number = 0, .begin = 0, .end = 10},
        {.kind = LINE_MESSAGE, .number = 9, .begin = 5, .end = 20, .task = 1, .peer = 0},
        {.kind = LINE_CALL, .number = 1, .begin = 10, .end = 20},
        {.kind = LINE_WAIT, .number = 1, .begin = 12, .end = 20},
        {.kind = LINE_CALL, .number = 2, .begin = 20, .end = 20},
        {.kind = LINE_COMPUTE, .number = 3, .begin = 20, .end = 30},
    };
    for (int by_task = 0; by_task < 2; by_task++) {
        const struct line_format format = {.point = point_say, .ends = LINE_ALL_END, .by_task = by_task};
        struct said said = {""};
        struct line_expansion e;
        line_expand_begin(&e, &format, (struct line_writer *)&said, 2);
        for (size_t i = 0; i < sizeof list / sizeof *list; i++)
            line_expand(&e, &list[i]);
        line_expand_end(&e);
        assert_string_equal(said.text, " +P0 +M9 -P0 +C1 +W1 -M9 -W1 -C1 +C2 -C2 +P3 -P3");
    }
}

/* ---- digits ---- */

static void numbers_are_written(void **state)
{
    char text[64], wanted[64];
    struct line_clock ordered = {0};
    for (uint64_t i = 0; i < 4000000; i++) {
        uint64_t seed = i, value = i < 200000 ? i * 501 : drawn(&seed) >> i % 64;
        *stats_put_u64(text, value) = '\0';
        snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)value);
        assert_string_equal(text, wanted);
        *line_put_ordered(text, &ordered, value) = '\0';
        assert_string_equal(text, wanted);
        if (value > INT64_MAX || i % 8)
            continue;
        *line_put_us(text, (ker_time)value) = '\0';
        size_t length =
            (size_t)snprintf(wanted, sizeof wanted, "%llu.%06llu", (unsigned long long)(value / 1000000),
                             (unsigned long long)(value % 1000000));
        while (wanted[length - 1] == '0')
            wanted[--length] = '\0';
        wanted[wanted[length - 1] == '.' ? length - 1 : length] = '\0';
        assert_string_equal(text, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_sorted),      cmocka_unit_test(records_come_out_by_time),
        cmocka_unit_test(points_come_in_order), cmocka_unit_test(at_one_instant),
        cmocka_unit_test(numbers_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
