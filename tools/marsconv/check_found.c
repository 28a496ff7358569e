/* check_found.c - what --check prints. */
#include "tools/marsconv/check.h"

#define SHOWN 1000 /* findings; of the rest only how many they are */

void check_found(struct check *c, uint32_t task, uint64_t at, const char *format, ...)
{
    char place[CONV_PLACE], text[512];
    struct mars_task about = {.number = task, .threads = at >> 48 ? 2 : 1};
    struct conv_task where = {.source = c->source, .about = &about, .thread = (uint32_t)(at >> 48)};
    KER_FORMATTED(text, format);
    if (c->findings++ < SHOWN)
        fprintf(c->to, "%s: %s\n", conv_place(&where, at & (((uint64_t)1 << 48) - 1), place), text);
}

bool check_found_end(const struct check *c, struct mars_error *error)
{
    if (c->findings > SHOWN)
        fprintf(c->to, "and %llu more\n", (unsigned long long)(c->findings - SHOWN));
    if (c->finds)
        fprintf(c->to, "%llu calls take what any source sends; %llu calls depend on whom they found\n",
                (unsigned long long)c->finds, (unsigned long long)c->depends);
    if (c->findings == 0)
        fprintf(c->to, "nothing found\n");
    return (fflush(c->to) == 0 && !ferror(c->to)) ||
           mars_fail(error, "standard output: it cannot be written");
}
