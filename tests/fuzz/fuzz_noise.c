/* Traces of noise: any text is either refused with a message or detours that ascend and stand apart, whose
 * delays are those of a processor that is taken away for at most as long as there is time. */
#include "tasks/loggops/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct loggops_noise n = {.same = true};
    struct ker_error error = {0};
    enum ker_status status = loggops_noise_parse(&n, "fuzz", (const char *)data, size, &error);
    ker_assert(status == KER_OK || (status == KER_BAD_INPUT && error.text[0] != 0));
    for (uint32_t i = 0; status == KER_OK && i < n.count; i++) {
        const struct loggops_detour *d = &n.detour[i];
        ker_assert(d->begin >= 0 && d->length >= 0 && d->begin + d->length <= n.span);
        ker_assert(i == 0 || d->begin >= d[-1].begin + d[-1].length);
        for (ker_time length = 1; length < n.span && length < KER_TIME_MAX / 1000; length *= 1000) {
            ker_time delay = loggops_noise_delay(&n, 0, d->begin + 7, length);
            ker_assert(delay >= 0 && delay <= length + 2 * n.span);
        }
    }
    loggops_noise_free(&n);
    return 0;
}
