/* number.c - numbers of a line as bytes, and as times. */
#include "traces/simgrid/simgrid.h"

/* Sizes of the datatypes, by the numbers that SimGrid 3.32 gives them on 64-bit Linux; 0: unknown. */
static const uint8_t type_bytes[] = {
    8, 4,  1,  2, 8, 4, 1,  8,  1, 1, 2, 4,  8, 8,  16, 4, 1, 1, 2, 4,  8,  1, 2, 4, 8, 8, 16, 32, 8, 8,
    8, 16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 0, 0, 0, 0, 0, 0,  1,  0, 8,
};

static enum ker_status type_get(const struct simgrid_task *t, size_t index, uint64_t *bytes)
{
    int64_t type;
    enum ker_status status = simgrid_whole(&t->line, index, "a datatype", -1, INT32_MAX, &type);
    if (status != KER_OK)
        return status;
    *bytes = type < 0 ? t->trace->derived_bytes : (uint64_t)type < sizeof type_bytes ? type_bytes[type] : 0;
    if (*bytes == 0 && type < 0)
        return simgrid_fail(&t->line, "a derived datatype, of which the trace does not say the size; "
                                      "jobs[].derived_bytes says how large an element of these is");
    return *bytes ? KER_OK
                  : simgrid_fail(&t->line, "datatype %lld is none whose size is known", (long long)type);
}

enum ker_status simgrid_bytes(const struct simgrid_task *t, size_t index, size_t type, uint64_t *bytes)
{
    int64_t count;
    uint64_t each = 1;
    enum ker_status status =
        simgrid_whole(&t->line, index, "the number of elements", 0, (int64_t)FOREIGN_BYTES_MOST, &count);
    *bytes = 0;
    if (status == KER_OK && type != SIZE_MAX && count)
        status = type_get(t, type, &each);
    if (status != KER_OK)
        return status;
    *bytes = (uint64_t)count * each;
    return *bytes <= FOREIGN_BYTES_MOST ? KER_OK
                                        : simgrid_fail(&t->line, "%llu bytes; a message can have 0 to 1 TiB",
                                                       (unsigned long long)*bytes);
}

/* Computation of the number, of which there are `rate` a second. */
static enum ker_status time_add(const struct simgrid_task *t, size_t index, double rate)
{
    const double most = (double)TRACE_GAP_MOST;
    double number = t->line.number[index], time = number / rate * 1e12 + 0.5;
    if (number < 0)
        return simgrid_fail(&t->line, "%g; it cannot be negative", number);
    foreign_compute(t->out, time < most ? (ker_time)time : TRACE_GAP_MOST);
    return KER_OK;
}

enum ker_status simgrid_flops(const struct simgrid_task *t, size_t index)
{
    return time_add(t, index, t->trace->flop_rate);
}

enum ker_status simgrid_seconds(const struct simgrid_task *t, size_t index)
{
    return time_add(t, index, 1);
}
