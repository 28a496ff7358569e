/* read.c - a text of measured points: whichever form its first line says. */
#include "tools/marsbench/points.h"

enum ker_status bench_points_parse(struct bench_points *points, const char *file, const char *text,
                                   size_t length, const struct bench_select *select, size_t selects,
                                   const struct bench_facts *facts, struct ker_error *error)
{
    struct ker_lines in;
    ker_lines_init(&in, file, text, length, error);
    enum ker_status status = ker_lines_check(&in);
    if (status != KER_OK)
        return status;
    do
        if (!ker_lines_next(&in))
            return ker_lines_fail_at(&in, 1,
                                     "there is nothing in it; expected CSV, or what OSU's benchmarks print");
    while (in.p == in.stop);
    return *in.p == '#' ? bench_osu_parse(points, &in, facts) : bench_csv_parse(points, &in, select, selects);
}
