/* test_order.c - an order of a graph's operations, and where all before is done before anything behind
 * begins: against the definition, on drawn graphs. */
#include "kernel/base/base.h"
#include "tasks/graphs/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define MOST 12

/* Of two operations: how often the second waits for the first to begin, and to be done. */
struct drawn {
    uint32_t ops, begin[MOST][MOST], done[MOST][MOST];
    struct graph_op op[MOST];
    uint32_t dependent[4 * MOST * MOST];
};

static struct graph_task drawn_task(struct drawn *d)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->ops; i++) {
        d->op[i] = (struct graph_op){.kind = GRAPH_CALCULATION, .first = count};
        for (uint32_t to = 0; to < d->ops; to++)
            for (uint32_t k = 0; k < d->begin[i][to]; k++, d->op[i].on_begin++)
                d->dependent[count++] = to;
        for (uint32_t to = 0; to < d->ops; to++)
            for (uint32_t k = 0; k < d->done[i][to]; k++, d->op[i].on_done++)
                d->dependent[count++] = to;
    }
    for (uint32_t i = 0; i < d->ops; i++)
        for (uint32_t from = 0; from < d->ops; from++)
            d->op[i].before += d->begin[from][i] + d->done[from][i];
    return (struct graph_task){d->ops, d->op, d->dependent};
}

/* Layers of up to three operations, the later ones of which wait for the earlier ones more often than not;
 * under other numbers. */
static void draw(struct drawn *d, struct ker_stream *s)
{
    uint32_t number[MOST], layer[MOST], often = ker_stream_below(s, 100);
    *d = (struct drawn){.ops = 1 + ker_stream_below(s, MOST)};
    for (uint32_t i = 0, in = 0; i < d->ops; i++) {
        in += i > 0 && ker_stream_below(s, 2);
        layer[i] = in;
        number[i] = i;
    }
    for (uint32_t i = d->ops; i-- > 1;) {
        uint32_t j = ker_stream_below(s, i + 1), other = number[i];
        number[i] = number[j];
        number[j] = other;
    }
    for (uint32_t i = 0; i < d->ops; i++)
        for (uint32_t j = i + 1; j < d->ops; j++) {
            bool next = layer[j] == layer[i] + 1, waits = next && ker_stream_below(s, 100) < often;
            d->done[number[i]][number[j]] =
                (waits || !ker_stream_below(s, 20)) * (1 + ker_stream_below(s, 2));
            d->begin[number[i]][number[j]] = !ker_stream_below(s, 8);
        }
}

/* By the definition: comes[a][b]: b begins behind the begin of a; after[a][b]: behind its end. */
static bool cut_expected(const struct drawn *d, const uint32_t *order, uint32_t place)
{
    bool comes[MOST][MOST] = {{false}};
    for (uint32_t i = d->ops; i-- > 0;)
        for (uint32_t j = i + 1; j < d->ops; j++)
            for (uint32_t k = i + 1; k <= j; k++)
                comes[i][j] |=
                    (d->begin[order[i]][order[k]] || d->done[order[i]][order[k]]) && (k == j || comes[k][j]);
    for (uint32_t i = 0; i < place; i++)
        for (uint32_t j = place; j < d->ops; j++) {
            bool after = false;
            for (uint32_t k = i + 1; k <= j; k++)
                after |= d->done[order[i]][order[k]] && (k == j || comes[k][j]);
            if (!after)
                return false;
        }
    return true;
}

static void cuts_are_those_of_the_definition(void **state)
{
    (void)state;
    struct ker_stream s;
    uint32_t cuts = 0, others = 0;
    ker_stream_init(&s, 1, KER_PURPOSE_TEST, 0);
    for (int n = 0; n < 20000; n++) {
        struct drawn d;
        uint32_t place[MOST];
        draw(&d, &s);
        struct graph_task task = drawn_task(&d);
        struct graph_order order = graph_order_make(&task);
        for (uint32_t i = 0; i < d.ops; i++)
            place[order.op[i]] = i;
        for (uint32_t i = 0; i < d.ops; i++)
            for (uint32_t j = 0; j < d.ops; j++)
                if (d.begin[i][j] || d.done[i][j])
                    assert_true(place[i] < place[j]);
        for (uint32_t i = 1; i < d.ops; i++) {
            assert_int_equal(order.cut[i], cut_expected(&d, order.op, i));
            cuts += order.cut[i];
            others += !order.cut[i];
        }
        graph_order_release(&order);
    }
    assert_true(cuts > 5000 && others > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cuts_are_those_of_the_definition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
