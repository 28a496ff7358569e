/* ranges.c - ranges of a text, one after the other. Numbers are read up to what there is, so that none is too
 * long for its type.
 */
#include "kernel/config/config.h"

#include <ctype.h>
#include <string.h>

/* At most `limit`; moves behind it. */
static bool number_get(const char **p, uint64_t limit, uint64_t *number)
{
    const char *text = *p;
    for (*number = 0; isdigit((unsigned char)**p); ++*p)
        *number = *number < limit ? *number * 10 + (uint64_t)(**p - '0') : limit;
    *number = *number < limit ? *number : limit;
    return *p > text;
}

/* "12", "0-15", "40-60:4". */
static bool range_get(const char **p, uint64_t limit, uint64_t *first, uint64_t *last, uint64_t *step)
{
    *step = 1;
    if (!number_get(p, limit, first))
        return false;
    *last = *first;
    if (**p != '-')
        return true;
    ++*p;
    if (!number_get(p, limit, last))
        return false;
    if (**p != ':')
        return true;
    ++*p;
    return number_get(p, UINT32_MAX, step) && *step > 0;
}

enum ker_status ker_ranges_next(struct ker_ranges *r, struct ker_range *range, bool *some,
                                struct ker_error *error)
{
    uint64_t first, last, step;
    *some = !r->at || *r->at;
    if (!*some)
        return KER_OK;
    const char *text = r->at = r->at ? r->at : ker_config_string(r->config, r->key);
    bool good = range_get(&r->at, r->count, &first, &last, &step);
    int shown = (int)strcspn(text, ",");
    shown = shown < 40 ? shown : 40;
    if (!good || (*r->at && (*r->at != ',' || !r->at[1])))
        return ker_config_fail(r->config, error, r->key,
                               "\"%.*s\" is no %s or range of %ss; right would be \"0-15,32,40-60:4\"", shown,
                               text, r->of, r->of);
    if (last >= r->count || first > last)
        return ker_config_fail(r->config, error, r->key, "\"%.*s\": %s has the %ss 0 to %u", shown, text,
                               r->owner, r->of, r->count - 1);
    r->at += *r->at == ',';
    *range = (struct ker_range){(uint32_t)first, (uint32_t)last, (uint32_t)step};
    return KER_OK;
}
