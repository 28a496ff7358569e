/* purposes.c - purposes of random numbers that plugins bring: no two of all there are have one number. */
#include "kernel/config/registry.h"

#include <string.h>

static enum ker_status refuse(const char *from, const char *name, const char *other, const char *whose,
                              struct ker_error *error)
{
    if (strcmp(name, other) == 0)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: its random purpose \"%s\" is taken by %s: give it another name", from, name,
                        whose);
    return ker_fail(
        error, KER_BAD_INPUT,
        "%s: its random purpose \"%s\" has the number of \"%s\", which is one of %s: give it another name",
        from, name, other, whose);
}

static enum ker_status purpose_add(struct ker_registry *r, const char *from, const char *name,
                                   struct ker_error *error)
{
    uint32_t number = ker_purpose(name);
    const char *other;
    for (size_t i = 0; (other = ker_purpose_name(i)) != NULL; i++)
        if (ker_purpose(other) == number)
            return refuse(from, name, other, "marssim itself", error);
    for (size_t i = 0; i < r->purposes; i++)
        if (ker_purpose(r->purpose[i].name) == number)
            return refuse(from, name, r->purpose[i].name, r->purpose[i].from, error);
    *KER_APPEND(r->purpose, r->purposes) = (struct ker_purpose_of){name, ker_format("%s", from)};
    return KER_OK;
}

enum ker_status ker_registry_purposes(struct ker_registry *r, const char *from, const char *const *names,
                                      struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (; names && *names && !status; names++)
        status = purpose_add(r, from, *names, error);
    return status;
}
