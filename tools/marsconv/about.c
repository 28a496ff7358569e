/* about.c - definitions of a task, made as its calls name communicators and functions. Numbers count from 1.
 */
#include "tools/marsconv/about.h"

#include <stdlib.h>
#include <string.h>

struct mars_ranks conv_ranks_of(const int32_t *rank, uint32_t count)
{
    struct mars_ranks ranks = {.count = count};
    for (uint32_t i = 0, run; i < count; i += run) {
        int32_t step = i + 1 < count ? rank[i + 1] - rank[i] : 0;
        for (run = 1; i + run < count && rank[i + run] == rank[i] + step * (int32_t)run; run++)
            ;
        *KER_APPEND(ranks.run, ranks.runs) = (struct mars_run){i, rank[i], step};
    }
    return ranks;
}

static struct mars_ranks members_of(const struct task_comm *comm)
{
    int32_t *member = ker_alloc((size_t)comm->size * sizeof *member);
    for (int32_t i = 0; i < comm->size; i++)
        member[i] = task_comm_task(comm, i);
    struct mars_ranks ranks = conv_ranks_of(member, (uint32_t)comm->size);
    free(member);
    return ranks;
}

int64_t conv_about_comm(struct conv_about *a, int32_t index)
{
    if (index < 0)
        return 0;
    if (a->comm[index])
        return a->comm[index];
    const struct task_comm *comm = &a->of[index];
    struct mars_comm *c = ker_alloc(sizeof *c);
    c->id = (uint64_t)index + 1;
    c->rank = task_comm_rank(comm, (int32_t)a->task->number);
    c->member = members_of(comm);
    a->comm[index] = ++a->comms_made;
    *mars_task_place((void ***)&a->task->comm, &a->task->comms, a->comms_made) = c;
    return a->comms_made;
}

/* ---- functions ---- */

const struct mars_function *conv_function_add(struct mars_task *task, uint32_t number, const char *name,
                                              const char *fields)
{
    char *text = ker_format("%s %s", name, fields);
    struct mars_function *f = mars_function_make(text);
    free(text);
    *mars_task_place((void ***)&task->function, &task->functions, number) = f;
    return f;
}

const struct mars_function *conv_about_function(struct conv_about *a, const char *name, const char *fields)
{
    uint64_t hash = 0;
    for (const char *c = name; *c; c++)
        hash = (hash + (unsigned char)*c) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = hash >> 54; /* of 1024 */
    for (;; at = (at + 1) % 1024) {
        uint32_t number = a->function[at];
        if (number == 0)
            break;
        if (strcmp(a->task->function[number]->name, name) == 0)
            return a->task->function[number];
    }
    ker_assert(a->functions < 1000);
    a->function[at] = ++a->functions;
    return conv_function_add(a->task, a->functions, name, fields);
}

/* ---- the task ---- */

void conv_about_info(struct mars_task *task, const char *key, const char *value)
{
    char *text = ker_format("%s=%s", key, value), *equals = strchr(text, '=');
    *equals = 0;
    task->info = ker_realloc(task->info, (task->infos + 1) * sizeof *task->info);
    task->info[task->infos].key = text;
    task->info[task->infos++].value = equals + 1;
}

void conv_about_begin(struct conv_about *a, uint32_t task, uint32_t tasks, const struct task_comm *of,
                      int32_t comms, uint32_t resolution_ns, const char *tracer)
{
    char number[16];
    *a = (struct conv_about){.task = ker_alloc(sizeof *a->task), .of = of};
    *a->task =
        (struct mars_task){.number = task, .threads = 1, .ended = true, .resolution_ns = resolution_ns};
    a->comm = ker_alloc((size_t)comms * sizeof *a->comm);
    snprintf(number, sizeof number, "%u", tasks);
    conv_about_info(a->task, "tasks", number);
    snprintf(number, sizeof number, "%u", resolution_ns);
    conv_about_info(a->task, "resolution_ns", number);
    conv_about_info(a->task, "clock", "wall");
    conv_about_info(a->task, "tracer", tracer);
    conv_about_comm(a, 0);
}

void conv_about_end(struct conv_about *a)
{
    free(a->comm);
    a->comm = NULL;
}
