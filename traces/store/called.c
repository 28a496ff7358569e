/* called.c - the list of the functions that a task has called; names are copies, which tasks share. */
#include "traces/store/called.h"

#include <stdlib.h>
#include <string.h>

static bool same(const char *name, const char *function, size_t length)
{
    return strncmp(name, function, length) == 0 && name[length] == 0;
}

static const char *name_get(struct trace_functions *all, const char *function, size_t length)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (same(all->name[i], function, length))
            return all->name[i];
    return *KER_APPEND(all->name, all->count) = ker_format("%.*s", (int)length, function);
}

uint32_t trace_called_find(struct trace_called *called, struct trace_functions *all, const char *function,
                           size_t length)
{
    for (uint32_t i = 0; i < called->count; i++)
        if (same(called->call[i].function, function, length))
            return i;
    *KER_PUSH(called->call, called->count, called->room) =
        (struct task_call){.function = name_get(all, function, length)};
    return called->count - 1;
}

void trace_called_fit(struct trace_called *called)
{
    called->room = called->count;
    called->call = ker_realloc(called->call, (called->count + !called->count) * sizeof *called->call);
}

bool trace_called_get(const struct trace_called *called, uint32_t index, struct task_call *call)
{
    if (index >= called->count)
        return false;
    *call = called->call[index];
    return true;
}

void trace_called_release(struct trace_called *called)
{
    free(called->call);
    *called = (struct trace_called){0};
}
