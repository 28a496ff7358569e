/* gather.c - before any task is prepared each rank of the simulator follows the files of a share of the
 * tasks, once: what it has found becomes, with that of the others, what all know (joint.c).
 */
#include "traces/replay/files.h"

#include <stdlib.h>
#include <string.h>

static void item_add(struct replay_found_files *g, const struct replay_task *t, uint64_t time)
{
    const struct replay_access *a = &t->files->access;
    bool all = a->sets || a->ordered;
    struct replay_item item = {.key = a->key,
                               .rank = task_comm_rank(&t->comms[a->file->comm], (int32_t)t->trace->number),
                               .turn = a->file->turns - all,
                               .all = all,
                               .sets = a->sets,
                               .relative = a->relative,
                               .units = a->units,
                               .time = time,
                               .runs = a->runs.count};
    ker_bytes_add(&g->items, &item, sizeof item);
    if (a->runs.count)
        ker_bytes_add(&g->items, a->runs.run, a->runs.count * sizeof *a->runs.run);
}

static void opened_note(struct replay_found_files *g, const struct replay_task *t)
{
    const struct mars_value *name = mars_list(&t->record, MARS_FIELD_name);
    struct replay_file *file = t->files->access.file;
    file->seen = g->count;
    *KER_APPEND(g->file, g->count) =
        (struct replay_found_file){.name = ker_format("%.*s", (int)name->count, name->text)};
    if (!file->posix)
        g->opened[file->comm] = 1;
}

/* How far the file was read: as much as came, where the trace says so. */
static void read_note(struct replay_found_files *g, const struct replay_access *a)
{
    const struct replay_runs *runs = &a->runs;
    if (!g->file)
        return;
    uint64_t left = a->got >= 0 ? (uint64_t)a->got : a->bytes, *furthest = &g->file[a->file->seen].furthest;
    for (size_t i = 0; i < runs->count && left; i++) {
        const struct store_run *r = &runs->run[i];
        uint64_t some = left < r->bytes * r->count ? left : r->bytes * r->count,
                 piece = (some - 1) / r->bytes,
                 end = r->offset + piece * r->stride + (some - piece * r->bytes);
        *furthest = end > *furthest ? end : *furthest;
        left -= some;
    }
}

static enum ker_status record_note(struct replay_found_files *g, struct replay_task *t, uint64_t time,
                                   const struct replay_wrong *w)
{
    const struct mars_function *f = t->record.function;
    if (!replay_on_file(f))
        return KER_OK;
    enum ker_status status = replay_access_get(t, w);
    const struct replay_access *a = &t->files->access;
    if (status != KER_OK || !a->file)
        return status;
    if (a->kind == REPLAY_OPEN)
        opened_note(g, t);
    if (a->kind == REPLAY_DATA && !a->writes)
        read_note(g, a);
    if (a->shared || a->sets || (a->kind == REPLAY_DATA && a->together))
        item_add(g, t, time);
    return KER_OK;
}

/* Of several threads the calls come in the order in which they are prepared. */
static enum ker_status records_note(struct replay_found_files *g, struct replay_task *t,
                                    const struct replay_wrong *w)
{
    struct mars_error why = {0};
    struct mars_threads all;
    enum ker_status status = KER_OK;
    bool fine = mars_threads_open(&all, t->trace, &why);
    while (fine && status == KER_OK && mars_threads_next(&all, &why)) {
        const struct mars_thread *thread = &all.thread[all.now];
        t->record = thread->record;
        t->read = thread->records + 1;
        status = record_note(g, t, thread->end_ns, w);
    }
    mars_threads_close(&all);
    return status == KER_OK && why.text[0] ? ker_fail(w->error, KER_BAD_INPUT, "%s", why.text) : status;
}

static bool has_files(const struct mars_task *task)
{
    for (uint32_t i = 0; i < task->functions; i++)
        if (task->function[i] && replay_on_file(task->function[i]))
            return true;
    return false;
}

static enum ker_status task_note(struct replay_found_files *g, const struct replay_rules *rules,
                                 const struct replay_comms *comms, struct mars_trace *trace, uint32_t number,
                                 const char *path, struct ker_error *error)
{
    struct mars_error why = {0};
    struct replay_task t = {.rules = rules, .comms = comms->comm};
    enum ker_status status = KER_OK;
    if (!mars_task_open(&t.trace, trace, number, &why))
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    if (has_files(t.trace)) {
        t.comm = replay_comms_of(comms, t.trace);
        t.files = replay_files_new(&t);
        status = records_note(g, &t, &(struct replay_wrong){&t, path, error});
        replay_files_free(t.files);
        free(t.comm);
    }
    mars_task_close(t.trace);
    return status;
}

enum ker_status replay_joint_find(struct replay_joint **found, const struct replay_rules *rules,
                                  struct replay_comms *comms, struct mars_trace *trace, const char *path,
                                  struct ker_comm *comm, struct ker_error *error)
{
    uint32_t tasks = mars_trace_tasks(trace), ranks = (uint32_t)ker_comm_size(comm);
    struct replay_found_files g = {.opened = ker_alloc((size_t)comms->count * sizeof *g.opened)};
    enum ker_status status = KER_OK;
    *found = NULL;
    for (uint32_t i = (uint32_t)ker_comm_rank(comm); i < tasks && status == KER_OK; i += ranks)
        status = task_note(&g, rules, comms, trace, i, path, error);
    status = ker_comm_worst(comm, status);
    uint64_t files = g.count;
    ker_comm_sum_u64(comm, &files, 1);
    if (status == KER_OK && files)
        *found = replay_joint_new(&g, comms, comm);
    for (uint32_t i = 0; i < g.count; i++)
        free(g.file[i].name);
    free(g.file);
    free(g.opened);
    free(g.items.byte);
    return status;
}
