/* region.c - records a part of the run only, the same at all tasks.
 *
 * All tasks make the same collectives on MPI_COMM_WORLD in the same order, so a region that is given by their
 * number begins and ends everywhere at the same call, without a word between tasks. One that is given by time
 * cannot: there, and only there, tasks agree at each such collective on the time since MPI_Init of the last
 * of them to begin, until the region is over. Outside of the region calls pass through the recorder all the
 * same, so that communicators and requests keep their numbers; they are not written.
 */
#include "tools/tracer/region.h"

#include "trc.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct trc_region is;
    int64_t begin;
    uint64_t calls; /* of those that are counted, so far */
    MPI_Comm agree;
    bool over;
} region;

void trc_region_begin(void)
{
    const char *text = getenv("MARSTRACE_REGION");
    region.begin = trc_wall();
    if (!text || !trc_region_parse(text, &region.is))
        region.is.kind = TRC_REGION_ALL;
    if (region.is.kind == TRC_REGION_TIME)
        PMPI_Comm_dup(MPI_COMM_WORLD, &region.agree);
    trc.muted = region.is.kind == TRC_REGION_PCONTROL ||
                (region.is.kind == TRC_REGION_CALLS && region.is.from > 1) ||
                (region.is.kind == TRC_REGION_TIME && region.is.from > 0);
}

static double agreed_s(void)
{
    double own = 1e-9 * (double)(trc_wall() - region.begin), all = own;
    PMPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MIN, region.agree);
    return all;
}

static bool counts(unsigned number, const intptr_t *a)
{
    const struct trc_function *function = &trc_function[number];
    if (function->comm < 0 || (MPI_Comm)a[function->comm] != MPI_COMM_WORLD)
        return false;
    return region.is.name[0] ? strcmp(region.is.name, function->name) == 0
                             : (function->flags & TRC_COLLECTIVE) != 0;
}

void trc_region_passed(unsigned number, const intptr_t *a)
{
    bool by_program = region.is.kind == TRC_REGION_ALL || region.is.kind == TRC_REGION_PCONTROL;
    if ((by_program && number == TRC_Pcontrol && a[0] == 1) || number == TRC_Finalize || number == TRC_Abort)
        trc.muted = false;
    if (by_program || region.over || !counts(number, a))
        return;
    double now = (double)++region.calls;
    if (region.is.kind == TRC_REGION_TIME)
        now = agreed_s();
    trc.muted = now < region.is.from || now > region.is.to;
    region.over = now > region.is.to;
}

void trc_region_left(unsigned number, const intptr_t *a)
{
    bool by_program = region.is.kind == TRC_REGION_ALL || region.is.kind == TRC_REGION_PCONTROL;
    if (by_program && number == TRC_Pcontrol && a[0] == 0)
        trc.muted = true;
}
