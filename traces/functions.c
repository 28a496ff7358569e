/* functions.c - the table of functions.def, by name. */
#include "traces/functions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MPI_FUNCTION(name, sort, op, more, words) {"MPI_" #name, TRACE_##sort, TASK_OP_##op, TASK_##more},
#define MPI_OTHER(name, words) {"MPI_" #name, TRACE_OTHER, TASK_OP_COMPUTE, 0},
static const struct trace_function functions[] = {
#include "traces/functions.def"
};

static int function_compare(const void *name, const void *function)
{
    return strcmp(name, ((const struct trace_function *)function)->name);
}

static const struct trace_function *find(const char *name)
{
    return bsearch(name, functions, sizeof functions / sizeof *functions, sizeof *functions,
                   function_compare);
}

const struct trace_function *trace_function_find(const char *name)
{
    char base[64];
    const struct trace_function *function = find(name);
    size_t length = strlen(name);
    if (function || length < 3 || length >= sizeof base || strcmp(name + length - 2, "_c") != 0)
        return function;
    memcpy(base, name, length - 2);
    base[length - 2] = 0;
    return find(base);
}

const struct trace_function *trace_function_blocking(const struct trace_function *f)
{
    char name[64];
    size_t length = strlen(f->name);
    memcpy(name, f->name, length + 1);
    if (f->op == TASK_OP_COLLECTIVE_INIT) {
        name[length - strlen("_init")] = 0;
    } else if (f->op == TASK_OP_ICOLLECTIVE && f->sort == TRACE_COLLECTIVE) { /* MPI_Ibcast */
        memmove(name + 4, name + 5, length - 4);
        name[4] = (char)toupper((unsigned char)name[4]);
    } else {
        return f;
    }
    return find(name);
}

const char *trace_collective_name(unsigned collective)
{
#define CALL(collective, name, call) call,
    static const char *const names[TASK_COLL_COUNT] = {TASK_COLLECTIVES(CALL)};
#undef CALL
    ker_assert(collective < TASK_COLL_COUNT);
    return names[collective];
}
