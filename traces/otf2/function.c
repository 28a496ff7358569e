/* function.c - functions of MPI by the names of regions, in C or Fortran. */
#include "traces/otf2/otf2.h"

#include <ctype.h>
#include <string.h>

const struct trace_function *otf2_function_find(const char *name)
{
    static const struct trace_function other = {"another function of MPI", TRACE_OTHER, TASK_OP_COMPUTE, 0};
    size_t length = strlen(name);
    char own[64] = "MPI_";
    if (strncasecmp(name, "MPI_", 4) != 0)
        return NULL;
    while (length > 4 && name[length - 1] == '_')
        length--;
    for (size_t i = 4; i < length && i < sizeof own - 1; i++)
        own[i] = (char)(i == 4 ? toupper((unsigned char)name[i]) : tolower((unsigned char)name[i]));
    const struct trace_function *function = length < sizeof own ? trace_function_find(own) : NULL;
    return function && function->sort != TRACE_OTHER ? function : &other;
}

static bool connects(const struct trace_function *f)
{
    return strncmp(f->name, "MPI_Comm_spawn", 14) == 0 || strcmp(f->name, "MPI_Comm_connect") == 0 ||
           strcmp(f->name, "MPI_Comm_accept") == 0;
}

enum otf2_calls otf2_calls_of(const struct trace_function *f)
{
    bool persistent = f->op == TASK_OP_COLLECTIVE_INIT;
    switch (f->sort) {
    case TRACE_BEGIN:
        return OTF2_CALLS_INIT;
    case TRACE_END:
        return OTF2_CALLS_FINALIZE;
    case TRACE_EXCHANGE:
        return OTF2_CALLS_SENDRECV;
    case TRACE_COLLECTIVE:
        return trace_function_neighbours(f) ? OTF2_CALLS_REFUSED
               : persistent                 ? OTF2_CALLS_ANY
                                            : OTF2_CALLS_COLLECTIVE;
    case TRACE_COMPLETE:
        return f->op >= TASK_OP_TEST && f->op <= TASK_OP_TESTSOME ? OTF2_CALLS_POLL : OTF2_CALLS_ANY;
    case TRACE_PROBE:
        return f->name[4] == 'I' ? OTF2_CALLS_POLL : OTF2_CALLS_ANY;
    case TRACE_CREATE_GROUP:
        return connects(f) ? OTF2_CALLS_REFUSED : OTF2_CALLS_ANY;
    case TRACE_PARTITIONED:
        return f->op == TASK_OP_PSEND_INIT || f->op == TASK_OP_PRECV_INIT ? OTF2_CALLS_REFUSED
                                                                          : OTF2_CALLS_ANY;
    case TRACE_WINDOW:
        return f->op <= TASK_OP_FETCH ? OTF2_CALLS_REFUSED : OTF2_CALLS_ANY;
    default:
        return OTF2_CALLS_ANY;
    }
}
