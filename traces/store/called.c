/* called.c - the list of the functions that a task has called; names are copies. */
#include "traces/store/called.h"

#include <stdlib.h>
#include <string.h>

uint32_t trace_called_find(struct trace_called *called, const char *function, size_t length)
{
    for (uint32_t i = 0; i < called->count; i++) {
        const char *name = called->call[i].function;
        if (strncmp(name, function, length) == 0 && name[length] == 0)
            return i;
    }
    *KER_PUSH(called->call, called->count, called->room) =
        (struct task_call){.function = ker_format("%.*s", (int)length, function)};
    return called->count - 1;
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
    for (uint32_t i = 0; i < called->count; i++)
        free((void *)(uintptr_t)called->call[i].function);
    free(called->call);
    *called = (struct trace_called){0};
}
