/* test_share.c - rates of flows over links, against max-min fairness found another way.
 *
 * ker_share fills all flows at once. Here no link knows of more than its own flows: it offers them a rate, by
 * which they take all of it, where each takes no more than its other links offer; and so in turns, until
 * nothing changes (Charny, Clark, Jain: Congestion Control with Explicit
 * Rate Indication, ICC 1995, whose fixed point is max-min fair).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/base/base.h"
#include "kernel/base/share.h"

#include <math.h>
#include <stdlib.h>

#define LINKS 80
#define FLOWS 300
#define LONGEST 12

static struct ker_shared link[LINKS];
static struct ker_share_use use[FLOWS][LONGEST];
static struct ker_sharer flow[FLOWS];
static double rate[FLOWS], offer[LINKS];

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = ker_hash(*seed + 1);
    return (uint32_t)(*seed % below);
}

static bool passes(uint32_t f, uint32_t l)
{
    for (uint32_t u = 0; u < flow[f].uses; u++)
        if (flow[f].use[u].resource == l)
            return true;
    return false;
}

/* Routes of 2 to 12 links, each at most once; capacities of 1 to 100 GB/s. */
static void make(uint64_t *seed, uint32_t links, uint32_t flows)
{
    for (uint32_t l = 0; l < links; l++)
        link[l].capacity = 1000000000u * (1 + (uint64_t)draw(seed, 100)) - draw(seed, 1000000);
    for (uint32_t f = 0; f < flows; f++) {
        uint32_t length = 2 + draw(seed, LONGEST - 1);
        flow[f] = (struct ker_sharer){UINT64_MAX, 0, 0, use[f]};
        for (uint32_t i = 0; i < length; i++) {
            uint32_t l = draw(seed, links);
            if (!passes(f, l))
                use[f][flow[f].uses++] = (struct ker_share_use){l, 1};
        }
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The least offer of a flow's links, but for one of them. */
static double taken(const struct ker_sharer *f, uint32_t but)
{
    double least = INFINITY;
    for (uint32_t u = 0; u < f->uses; u++)
        if (f->use[u].resource != but)
            least = fmin(least, offer[f->use[u].resource]);
    return least;
}

/* So much that its flows take all of the link, where each takes no more than its other links offer. */
static double offered(uint32_t l, uint32_t flows)
{
    double wants[FLOWS], left = (double)link[l].capacity;
    uint32_t count = 0;
    for (uint32_t f = 0; f < flows; f++)
        if (passes(f, l))
            wants[count++] = taken(&flow[f], l);
    qsort(wants, count, sizeof *wants, ascending);
    for (uint32_t i = 0; i < count; i++) {
        if (wants[i] * (count - i) >= left)
            return left / (count - i);
        left -= wants[i];
    }
    return INFINITY;
}

static void agree(uint32_t links, uint32_t flows)
{
    bool changes = true;
    for (uint32_t l = 0; l < links; l++)
        offer[l] = (double)link[l].capacity;
    for (int round = 0; changes && round < 1000; round++) {
        changes = false;
        for (uint32_t l = 0; l < links; l++) {
            double before = offer[l];
            offer[l] = offered(l, flows);
            changes |= offer[l] != before && !(fabs(offer[l] - before) <= 1e-12 * before);
        }
    }
    assert_false(changes);
    for (uint32_t f = 0; f < flows; f++)
        rate[f] = taken(&flow[f], UINT32_MAX);
}

/* Rates are rounded down, and what that leaves reaches others: less than one byte per second of each flow at
 * each of the levels before, so FLOWS x LINKS B/s at most, of 3 MB/s and more. */
static void any(void **state)
{
    uint64_t seed = 31;
    struct ker_sharer *order[FLOWS];
    for (int set = 0; set < 1000; set++) {
        uint32_t links = 2 + draw(&seed, LINKS - 1), flows = 1 + draw(&seed, set % 10 ? 60 : FLOWS);
        make(&seed, links, flows);
        for (uint32_t f = 0; f < flows; f++)
            order[f] = &flow[f];
        agree(links, flows);
        ker_share(order, flows, link, NULL, links);
        for (uint32_t f = 0; f < flows; f++)
            if (fabs((double)flow[f].rate - rate[f]) > FLOWS * LINKS)
                fail_msg("set %d, flow %u of %u over %u links: %llu B/s, another way %.1f", set, f, flows,
                         links, (unsigned long long)flow[f].rate, rate[f]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
