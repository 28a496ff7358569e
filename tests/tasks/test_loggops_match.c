/* How messages of LogGOPS meet receives: as a search from the beginning of each list would find it, and in
 * few steps however long the lists are. */
#include "tasks/loggops/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* A receive or a message, in the order in which they came. */
struct item {
    uint32_t peer, tag, number;
    bool message, gone;
};

struct bench {
    struct loggops_system s;
    struct loggops_job job;
    struct loggops_process process;
};

static void bench_init(struct bench *b)
{
    *b = (struct bench){.job = {.tasks = 1000000}};
    b->s.job = &b->job;
    b->s.events.free = KER_NONE;
    b->process.posted.first = b->process.posted.last = KER_NONE;
    b->process.unexpected.first = b->process.unexpected.last = KER_NONE;
    loggops_match_init(&b->s);
}

static void bench_release(struct bench *b)
{
    loggops_match_free(&b->s);
    KER_POOL_RELEASE(&b->s.events);
}

/* The number of the message that the receive takes, or of the receive that takes the message; UINT32_MAX:
 * none. */
static uint32_t receive(struct bench *b, uint32_t number, uint32_t peer, uint32_t tag)
{
    struct graph_op op = {.kind = GRAPH_RECEIVE, .peer = peer, .tag = tag};
    uint32_t message = loggops_match_receive(&b->s, &b->process, number, &op);
    if (message == KER_NONE)
        return UINT32_MAX;
    uint32_t found = loggops_event_at(&b->s, message)->number;
    KER_POOL_GIVE(&b->s.events, message);
    return found;
}

static uint32_t message(struct bench *b, uint32_t number, uint32_t source, uint32_t tag)
{
    uint32_t index = KER_POOL_TAKE(&b->s.events, NULL), found;
    *loggops_event_at(&b->s, index) =
        (struct loggops_event){.kind = LOGGOPS_MESSAGE, .origin = source, .tag = tag, .number = number};
    if (!loggops_match_message(&b->s, &b->process, index, &found))
        return UINT32_MAX;
    KER_POOL_GIVE(&b->s.events, index);
    return found;
}

/* The same, item by item. */
static uint32_t plain(struct item *all, uint32_t count, const struct item *new)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct item *r = new->message ? &all[i] : new, *m = new->message ? new : &all[i];
        if (all[i].gone || all[i].message == new->message || !(r->peer == m->peer || r->peer == GRAPH_ANY) ||
            !(r->tag == m->tag || r->tag == GRAPH_ANY || m->tag == GRAPH_ANY))
            continue;
        all[i].gone = true;
        return all[i].number;
    }
    return UINT32_MAX;
}

/* any: of 1000 receives this many have a wildcard; odd: of 1000 messages this many are of any tag. */
static void random_check(uint64_t seed, uint32_t peers, uint32_t tags, uint32_t any, uint32_t odd)
{
    enum { COUNT = 3000 };
    struct item *all = ker_alloc(COUNT * sizeof *all);
    struct bench b;
    bench_init(&b);
    for (uint32_t i = 0; i < COUNT; i++) {
        struct ker_bits bits = ker_random_bits(seed, KER_PURPOSE_TEST, 0, i);
        uint32_t wild = bits.word[3] % 1000;
        /* at first more receives than messages, then the reverse, and back */
        bool sends = bits.word[0] % 100 < (i / 1000 % 2 ? 85u : 15u);
        struct item new = {
            .peer = bits.word[1] % peers, .tag = bits.word[2] % tags, .number = i, .message = sends};
        if (sends ? wild < odd : wild < any / 2)
            new.tag = GRAPH_ANY;
        if (!sends && wild >= any / 4 && wild < any)
            new.peer = GRAPH_ANY;
        uint32_t wanted = plain(all, i, &new);
        assert_int_equal(sends ? message(&b, i, new.peer, new.tag) : receive(&b, i, new.peer, new.tag),
                         wanted);
        new.gone = wanted != UINT32_MAX;
        all[i] = new;
    }
    for (int which = 0; which < 2; which++) { /* what is left, in its order */
        uint32_t count, at = 0, *left = loggops_match_left(&b.s, &b.process, which, &count);
        for (uint32_t i = 0; i < COUNT; i++)
            if (!all[i].gone && all[i].message == (which == 1)) {
                assert_true(at < count);
                assert_int_equal(which ? loggops_event_at(&b.s, left[at])->number
                                       : b.s.posted.at[left[at]].op,
                                 all[i].number);
                at++;
            }
        assert_int_equal(at, count);
        free(left);
    }
    bench_release(&b);
    free(all);
}

static void test_random(void **state)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        random_check(seed, 5, 3, 0, 0);
        random_check(seed, 500, 40, 100, 0);
        random_check(seed, 3, 300, 300, 0);
        random_check(seed, 40, 40, 200, 10);
        random_check(seed, 1, 1, 1000, 500);
    }
}

#define MANY 100000

/* Each message meets the receive that was posted last, or vice versa. */
static void test_many(void **state)
{
    for (int sends = 0; sends < 2; sends++)
        for (int same_peer = 0; same_peer < 2; same_peer++) {
            struct bench b;
            bench_init(&b);
            for (uint32_t i = 0; i < 2 * MANY; i++) {
                uint32_t which = i < MANY ? i : 2 * MANY - 1 - i, peer = same_peer ? 7 : which,
                         tag = same_peer ? which : 7, found;
                bool is_message = (i < MANY) == (sends == 1);
                found = is_message ? message(&b, i, peer, tag) : receive(&b, i, peer, tag);
                assert_int_equal(found, i < MANY ? UINT32_MAX : which);
            }
            assert_true(b.s.steps < UINT64_C(20) * 2 * MANY);
            bench_release(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
