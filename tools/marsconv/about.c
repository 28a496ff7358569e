/* about.c - definitions of a task, made as its calls name communicators and functions. Numbers count from 1.
 */
#include "tools/marsconv/about.h"

#include <stdlib.h>
#include <string.h>

/* Tables of struct mars_task have a count that is its room; unused places are NULL. */
static void **place(void *table, uint32_t *count, uint32_t number)
{
    void ***pointers = table;
    if (number >= *count) {
        uint32_t room = *count ? 2 * *count : 16;
        *pointers = ker_realloc(*pointers, room * sizeof **pointers);
        memset(*pointers + *count, 0, (room - *count) * sizeof **pointers);
        *count = room;
    }
    return *pointers + number;
}

static struct mars_ranks ranks_of(const struct task_comm *comm)
{
    struct mars_ranks ranks = {.count = (uint32_t)comm->size};
    for (int32_t i = 0, run; i < comm->size; i += run) {
        int32_t first = task_comm_task(comm, i);
        int32_t step = i + 1 < comm->size ? task_comm_task(comm, i + 1) - first : 0;
        for (run = 1; i + run < comm->size && task_comm_task(comm, i + run) == first + step * run; run++)
            ;
        *KER_APPEND(ranks.run, ranks.runs) = (struct mars_run){(uint32_t)i, first, step};
    }
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
    c->member = ranks_of(comm);
    a->comm[index] = ++a->comms_made;
    *place(&a->task->comm, &a->task->comms, a->comms_made) = c;
    return a->comms_made;
}

/* ---- functions ---- */

static bool is_list(const char *name)
{
    return strcmp(name, "bytes_each") == 0 || strcmp(name, "recvbytes_each") == 0 ||
           strcmp(name, "requests") == 0 || strcmp(name, "done") == 0;
}

struct mars_function *conv_function_make(const char *name, const char *fields)
{
    struct mars_function *f = ker_alloc(sizeof *f);
    char *words = ker_format("%s", fields), *rest = NULL;
    uint32_t room = 0;
    memset(f->at, 0xff, sizeof f->at);
    f->name = ker_format("%s", name);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        unsigned field = 0;
        while (strcmp(mars_field_name(field), word) != 0)
            ker_assert(++field < MARS_FIELD_UNKNOWN);
        if (f->at[field] < 0)
            f->at[field] = (int16_t)f->fields;
        *KER_PUSH(f->field, f->fields, room) = (struct mars_function_field){
            (uint8_t)field, is_list(word) ? MARS_LIST : MARS_ONE, ker_format("%s", word)};
    }
    free(words);
    return f;
}

void conv_function_free(struct mars_function *f)
{
    for (uint32_t i = 0; i < f->fields; i++)
        free(f->field[i].name);
    free(f->field);
    free(f->name);
    free(f);
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
    struct mars_function *f = conv_function_make(name, fields);
    *place(&a->task->function, &a->task->functions, a->functions) = f;
    return f;
}

/* ---- the task ---- */

void conv_about_info(struct conv_about *a, const char *key, const char *value)
{
    struct mars_task *task = a->task;
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
    conv_about_info(a, "tasks", number);
    snprintf(number, sizeof number, "%u", resolution_ns);
    conv_about_info(a, "resolution_ns", number);
    conv_about_info(a, "clock", "wall");
    conv_about_info(a, "tracer", tracer);
    conv_about_comm(a, 0);
}

void conv_about_end(struct conv_about *a)
{
    free(a->comm);
    a->comm = NULL;
}
