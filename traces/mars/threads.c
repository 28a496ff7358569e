/* threads.c - the calls of a task's threads, in one order.
 *
 * Calls are taken by the time at which they were over, which is when requests are made and completed; times
 * of threads fit each other to a microsecond or so, so a call is put off that uses a request which is not
 * there yet, or makes one whose number is not free, and so are the calls that began when it was over: a
 * number is free before the call that frees it is over, and may be given, and used, before that. A thread
 * begins behind the first thread's last call before it, and the first thread's next call after its end comes
 * after its last one (the trace counts the first thread's calls at both), as does MPI_Finalize. What threads
 * say to each other without MPI is not in the trace.
 */
#include "traces/mars/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS_MOST ((int64_t)1 << 24) /* those with higher numbers are taken as they come */

enum { FREE, THERE, PERSISTENT };

uint64_t mars_thread_info(const struct mars_task *task, uint32_t thread, const char *what, uint64_t absent)
{
    char key[48];
    snprintf(key, sizeof key, "thread-%u-%s", thread, what);
    const char *value = mars_task_info(task, key);
    return value ? strtoull(value, NULL, 10) : absent;
}

static bool record_fetch(struct mars_thread *thread, struct mars_error *error)
{
    thread->there = mars_stream_next(thread->stream, &thread->record, error);
    if (thread->there)
        thread->end_ns = mars_stream_now_ns(thread->stream);
    return !error->text[0];
}

bool mars_threads_open(struct mars_threads *all, const struct mars_task *task, struct mars_error *error)
{
    *all = (struct mars_threads){.task = task, .count = task->threads, .now = UINT32_MAX};
    all->thread = calloc(task->threads + 1ul, sizeof *all->thread);
    if (!all->thread)
        return mars_fail(error, "no memory for %u threads of task %u", task->threads, task->number);
    for (uint32_t i = 0; i < all->count; i++) {
        struct mars_thread *thread = &all->thread[i];
        thread->after = mars_thread_info(task, i, "after", 1); /* at least behind MPI_Init */
        thread->ended = mars_thread_info(task, i, "ended", UINT64_MAX);
        if (!mars_stream_open(&thread->stream, task, i, error) || !record_fetch(thread, error))
            return false;
    }
    return true;
}

void mars_threads_close(struct mars_threads *all)
{
    for (uint32_t i = 0; all->thread && i < all->count; i++)
        mars_stream_close(all->thread[i].stream);
    free(all->thread);
    free(all->request);
    *all = (struct mars_threads){0};
}

/* ---- requests ---- */

/* Does the function make the request that it has, or does it name one that was made before? */
static bool makes(const struct mars_function *f)
{
    static const char *const named[] = {"MPI_Start",  "MPI_Cancel",   "MPI_Request_",
                                        "MPI_Pready", "MPI_Parrived", "MPI_Grequest_complete"};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strncmp(f->name, named[i], strlen(named[i])) == 0)
            return false;
    return f->at[MARS_FIELD_request] >= 0;
}

static uint8_t state_of(const struct mars_threads *all, int64_t number)
{
    return (uint64_t)number < all->requests ? all->request[number] : FREE;
}

static bool is_free(const struct mars_threads *all, int64_t number)
{
    return state_of(all, number) == FREE;
}

/* Are the requests that the record uses there, and is the number of the one it makes free? */
static bool requests_able(const struct mars_threads *all, const struct mars_record *record)
{
    int64_t number = mars_number(record, MARS_FIELD_request, 0);
    const struct mars_value *list = mars_list(record, MARS_FIELD_requests);
    if (number > 0 && number < REQUESTS_MOST && is_free(all, number) != makes(record->function))
        return false;
    for (uint32_t i = 0; list && i < list->count; i++)
        if (list->list[i] > 0 && list->list[i] < REQUESTS_MOST && is_free(all, list->list[i]))
            return false;
    return true;
}

static bool state_set(struct mars_threads *all, int64_t number, uint8_t state)
{
    if (number <= 0 || number >= REQUESTS_MOST || ((uint64_t)number >= all->requests && state == FREE))
        return true;
    if ((uint64_t)number >= all->requests) {
        size_t room = 2 * (size_t)number + 64;
        uint8_t *request = realloc(all->request, room);
        if (!request)
            return false;
        memset(request + all->requests, FREE, room - all->requests);
        all->request = request;
        all->requests = room;
    }
    all->request[number] = state;
    return true;
}

/* What the record changes of that. */
static bool requests_passed(struct mars_threads *all, const struct mars_record *record)
{
    int64_t number = mars_number(record, MARS_FIELD_request, 0);
    const struct mars_value *list = mars_list(record, MARS_FIELD_requests),
                            *done = mars_list(record, MARS_FIELD_done);
    const char *name = record->function->name;
    size_t length = strlen(name);
    if (number > 0 && makes(record->function)) {
        bool persistent = length > 5 && strcmp(name + length - 5, "_init") == 0;
        if (!state_set(all, number, persistent ? PERSISTENT : THERE))
            return false;
    } else if (number > 0 && strcmp(name, "MPI_Request_free") == 0) {
        state_set(all, number, FREE);
    }
    for (uint32_t i = 0; list && done && i + 3 < done->count; i += 4)
        if (done->list[i] >= 0 && done->list[i] < list->count &&
            state_of(all, list->list[done->list[i]]) == THERE)
            state_set(all, list->list[done->list[i]], FREE);
    return true;
}

/* ---- whose record is the next ---- */

bool mars_threads_joined(const struct mars_threads *all, uint32_t other)
{
    const struct mars_thread *first = &all->thread[0];
    return first->there && (first->calls >= all->thread[other].ended ||
                            strcmp(first->record.function->name, "MPI_Finalize") == 0);
}

static bool is_able(const struct mars_threads *all, uint32_t number)
{
    if (number > 0 && !all->thread[number].began && all->thread[0].there)
        return false;
    for (uint32_t i = 1; number == 0 && i < all->count; i++)
        if (all->thread[i].there && mars_threads_joined(all, i))
            return false;
    return requests_able(all, &all->thread[number].record);
}

/* The first of those that come behind (end, number), in this order; count: there is none. */
static uint32_t next_behind(const struct mars_threads *all, uint64_t end_ns, uint32_t number, bool any)
{
    uint32_t best = all->count;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct mars_thread *thread = &all->thread[i];
        if (!thread->there ||
            (!any && (thread->end_ns < end_ns || (thread->end_ns == end_ns && i <= number))))
            continue;
        if (best == all->count || thread->end_ns < all->thread[best].end_ns)
            best = i;
    }
    return best;
}

static uint64_t start_of(const struct mars_thread *thread)
{
    return thread->end_ns - thread->record.duration_ns - thread->record.rest_ns;
}

/* The first that is able. strict: and that began before those were over that are put off. */
static uint32_t able_next(const struct mars_threads *all, uint32_t first, bool strict)
{
    uint32_t at = first;
    while (at < all->count && !(is_able(all, at) && (at == first || !strict ||
                                                     start_of(&all->thread[at]) < all->thread[first].end_ns)))
        at = next_behind(all, all->thread[at].end_ns, at, false);
    return at;
}

/* Where none is able, the trace is not as it should be, and the first one is taken. */
static uint32_t thread_next(const struct mars_threads *all)
{
    uint32_t first = next_behind(all, 0, 0, true), at = able_next(all, first, true);
    if (at == all->count)
        at = able_next(all, first, false);
    return at < all->count ? at : first;
}

/* The record that was handed out is over. */
static bool record_over(struct mars_threads *all, struct mars_error *error)
{
    struct mars_thread *thread = &all->thread[all->now];
    if (!requests_passed(all, &thread->record))
        return mars_fail(error, "no memory for the requests of task %u", all->task->number);
    thread->records++;
    thread->calls += thread->record.polls;
    if (!record_fetch(thread, error))
        return false;
    for (uint32_t i = 1; all->now == 0 && i < all->count; i++)
        if (!thread->there || thread->calls >= all->thread[i].after)
            all->thread[i].began = true;
    return true;
}

bool mars_threads_next(struct mars_threads *all, struct mars_error *error)
{
    if (all->now < all->count && !record_over(all, error))
        return false;
    all->now = thread_next(all);
    return all->now < all->count;
}
