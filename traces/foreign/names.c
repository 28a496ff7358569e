/* names.c - the calls of MPI that formats name by numbers of their own. */
#include "traces/foreign/foreign.h"

const char *foreign_call_name(unsigned collective)
{
#define CALL(collective, name, call) call,
    static const char *const names[TASK_COLL_COUNT] = {TASK_COLLECTIVES(CALL)};
#undef CALL
    ker_assert(collective < TASK_COLL_COUNT);
    return names[collective];
}
