/* cut_record.c - what a record is for the part: where it lies, which communicator it concerns, and whether
 * all of that one make it.
 */
#include "tools/marsconv/cut.h"

#include <string.h>

bool cut_makes_of_group(const struct mars_record *r)
{
    return strcmp(r->function->name, "MPI_Comm_create_group") == 0;
}

bool cut_is_collective(const struct conv_function *is, const struct mars_record *r)
{
    return is->sort == CONV_COLLECTIVE || is->sort == CONV_CREATE ||
           strcmp(r->function->name, "MPI_Win_fence") == 0 || strcmp(r->function->name, "MPI_Win_free") == 0;
}

/* In the order of a task's threads a call may stand behind one that began later. */
enum cut_place cut_place_of(const struct cut *cut, struct cut_clock *clock, const struct conv_task *task,
                            const struct conv_record *record, uint64_t *at_ns)
{
    const struct mars_record *r = &record->call;
    uint64_t start =
        task->about->threads > 1 ? record->over_ns - r->duration_ns - r->rest_ns : record->start_ns;
    *at_ns = 0;
    if (!clock->begun) { /* MPI_Init */
        clock->begun = true;
        clock->zero_ns = start + r->duration_ns;
        return CUT_BEFORE;
    }
    *at_ns = start > clock->zero_ns ? start - clock->zero_ns : 0;
    enum cut_place place = !cut->by_time           ? CUT_INSIDE
                           : *at_ns < cut->from_ns ? CUT_BEFORE
                           : *at_ns < cut->to_ns   ? CUT_INSIDE
                                                   : CUT_AFTER;
    clock->place = place > clock->place ? place : clock->place;
    return clock->place;
}
