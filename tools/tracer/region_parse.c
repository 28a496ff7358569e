/* region_parse.c - "pcontrol", "100-200", "MPI_Allreduce:100-", "10s-20s". */
#include "tools/tracer/region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number with an optional "s"; *seconds: it had one. */
static bool number(const char **text, double *value, bool *seconds)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    *value = strtod(*text, &end);
    *seconds = *end == 's';
    *text = end + *seconds;
    return true;
}

bool trc_region_parse(const char *text, struct trc_region *region)
{
    bool seconds, seconds_to;
    const char *colon = strchr(text, ':');
    *region = (struct trc_region){.kind = TRC_REGION_CALLS, .to = INFINITY};
    if (strcmp(text, "pcontrol") == 0) {
        region->kind = TRC_REGION_PCONTROL;
        return true;
    }
    if (colon) {
        if (strncmp(text, "MPI_", 4) != 0 || (size_t)(colon - text) >= sizeof region->name)
            return false;
        memcpy(region->name, text, (size_t)(colon - text));
        text = colon + 1;
    }
    if (!number(&text, &region->from, &seconds) || *text++ != '-')
        return false;
    if (*text && (!number(&text, &region->to, &seconds_to) || seconds_to != seconds))
        return false;
    if (seconds && !colon)
        region->kind = TRC_REGION_TIME;
    return *text == 0 && region->to >= region->from && !(seconds && colon);
}
