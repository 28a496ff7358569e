/* names.c - names of functions, numbered in their order over all ranks. */
#include "traces/names.h"

#include <stdlib.h>
#include <string.h>

uint32_t task_names_place(const struct task_names *names, const char *name)
{
    return KER_BISECT(i, 0, names->count, strcmp(names->name[i], name) < 0);
}

void task_names_add(struct task_names *names, const char *name)
{
    uint32_t at = task_names_place(names, name);
    if (at < names->count && strcmp(names->name[at], name) == 0)
        return;
    KER_RESERVE(names->name, names->room, (size_t)names->count + 1);
    memmove(names->name + at + 1, names->name + at, (names->count - at) * sizeof *names->name);
    names->name[at] = ker_format("%s", name);
    names->count++;
}

void task_names_share(struct task_names *names, struct ker_comm *comm)
{
    struct ker_bytes own = {0};
    size_t *offset;
    void *all;
    for (uint32_t i = 0; i < names->count; i++)
        ker_bytes_add(&own, names->name[i], strlen(names->name[i]) + 1);
    ker_comm_allgather(comm, own.byte, own.used, &all, &offset);
    const char *text = all;
    for (size_t at = 0; at < offset[ker_comm_size(comm)]; at += strlen(text + at) + 1)
        task_names_add(names, text + at);
    free(own.byte);
    free(all);
    free(offset);
}

void task_names_release(struct task_names *names)
{
    ker_free_all(names->name, names->count);
}
