/* fuzz_marsbench.c - libFuzzer target for the readers of marsbench --fit: any text is refused with a message,
 * or is points with finite times and names that fit, which come back the same when they are written and read
 * again, and of which small ones can be walked through. */
#include "tools/marsbench/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct bench_point *p)
{
    struct bench_model m = {
        .send.count = 1, .receive.count = 1, .memory.count = 1, .eager = 1024, .adapters = 2};
    struct bench_time t;
    bench_model_init(&m, true);
    if ((uint64_t)p->nodes * p->per_node <= 20 && bench_walk(&m, p, &t, NULL))
        ker_assert(isfinite(t.us) && t.us >= 0);
}

static void again(const struct bench_points *points)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    ker_assert(bench_points_write(points, out) && fclose(out) == 0);
    struct bench_points copy = {0};
    struct bench_facts facts = {0};
    struct ker_error error = {0};
    ker_assert(bench_points_parse(&copy, "again", text, length, NULL, 0, &facts, &error) == KER_OK);
    ker_assert(copy.count == points->count);
    for (size_t i = 0; i < copy.count; i++)
        ker_assert(copy.point[i].bytes == points->point[i].bytes &&
                   copy.point[i].nodes == points->point[i].nodes &&
                   strcmp(copy.point[i].algorithm, points->point[i].algorithm) == 0);
    bench_points_release(&copy);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bench_points points = {0};
    struct bench_facts facts = {.nodes = 4, .per_node = 1, .algorithm = "ring", .where = BENCH_NODE};
    struct ker_error error = {0};
    enum ker_status status =
        bench_points_parse(&points, "fuzz", (const char *)data, size, NULL, 0, &facts, &error);
    ker_assert(status == KER_OK || (status == KER_BAD_INPUT && error.text[0] != 0));
    for (size_t i = 0; status == KER_OK && i < points.count; i++) {
        const struct bench_point *p = &points.point[i];
        ker_assert(isfinite(p->min_us) && (p->min_us > 0 || p->quantity == BENCH_EAGER) && p->nodes >= 1);
        if (i < 20)
            walk(p);
    }
    if (status == KER_OK && points.count)
        again(&points);
    bench_points_release(&points);
    return 0;
}
