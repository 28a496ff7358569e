/* Files of noise: any text is either refused with a message or detours that ascend and stand apart. By
 * LogGOPSim's law they take a processor away for at most as long as there is time; by the other one work
 * continues where it was left, so that two pieces one after the other end as both at once. */
#include "nodes/nodes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void laws(const struct node_detours *n, ker_time from, ker_time length)
{
    ker_time delay = node_detours_delay(n, 0, from, length);
    ker_assert(delay >= 0 && delay <= length + 2 * n->span);
    if (n->detour[n->count - 1].sum == n->span)
        return;
    ker_time half = node_detours_until(n, 0, from, length / 2),
             whole = node_detours_until(n, 0, from, length);
    ker_assert(half >= from && whole >= half && whole - from >= length - (whole == 9000000 * KER_S) * length);
    ker_assert(node_detours_until(n, 0, half, length - length / 2) == whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct node_detours n = {0};
    struct ker_error error = {0};
    enum ker_status status = node_detours_parse(&n, "fuzz", (const char *)data, size, &error);
    ker_assert(status == KER_OK || (status == KER_BAD_INPUT && error.text[0] != 0));
    for (uint32_t i = 0; status == KER_OK && i < n.count; i++) {
        const struct node_detour *d = &n.detour[i];
        ker_assert(d->begin >= 0 && d->length >= 0 && d->begin + d->length <= n.span);
        ker_assert(i == 0 || d->begin >= d[-1].begin + d[-1].length);
        for (ker_time length = 1; length < n.span && length < KER_TIME_MAX / 1000; length *= 1000)
            laws(&n, d->begin + 7, length);
    }
    node_detours_free(&n);
    return 0;
}
