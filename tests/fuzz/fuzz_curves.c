/* Files of times of collectives: any text is either refused with a message or a list of points of which those
 * of a curve ascend, so that what lies between two of them takes no less than the first and no more than the
 * second. */
#include "tasks/mpi/collectives/collective.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct task_coll_analytic a = {0};
    struct ker_error error = {0};
    extern const struct ker_kind task_coll_kind_analytic_table;
    const struct task_coll_algorithm *table = task_coll_kind_analytic_table.operations;
    enum ker_status status = task_coll_points_parse(&a, "fuzz", (const char *)data, size, &error);
    ker_assert(status == KER_OK || (status == KER_BAD_INPUT && error.text[0] != 0));
    for (uint32_t i = 1; status == KER_OK && i < a.points; i++) {
        const struct task_coll_point *p = &a.point[i - 1], *q = &a.point[i];
        if (p->collective != q->collective || p->tasks != q->tasks)
            continue;
        ker_assert(p->bytes < q->bytes && p->time <= q->time && p->time >= a.least);
        struct task_coll_view view = {.size = (int32_t)(p->tasks & INT32_MAX),
                                      .collective = p->collective,
                                      .bytes = p->bytes + (q->bytes - p->bytes) / 2};
        if ((uint32_t)view.size != p->tasks)
            continue;
        ker_time time = table->cost(&a, &view);
        ker_assert(time >= p->time && time <= q->time);
    }
    free(a.point);
    return 0;
}
