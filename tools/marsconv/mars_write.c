/* mars_write.c - writes traces of marstrace: a folder with a file for each task, or one file with an index.
 *
 * Shapes are made again of the records' values, so that whatever reads into records can be written here; the
 * definitions follow when the task is complete, since a reader may still add to them before. The one file is
 * written block by block, then read for its blocks' headers, and gets the index of them.
 */
#define _GNU_SOURCE
#include "tools/marsconv/about.h"

#include "kernel/base/base.h"
#include "traces/mars/mars.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEVEL 9 /* of zstd: beyond it little is gained */

struct writing {
    bool merged;
    int file;
    char *path;                 /* of the file that is being written */
    uint32_t task, begun;       /* files of tasks that were begun */
    struct mars_writer **calls; /* of each thread */
    uint32_t threads;
    uint64_t resolution_ns;
    uint8_t *shape;
    size_t bytes, room;
    struct {
        const struct mars_function *function;
        uint32_t number;
    } known[64];
};

static uint64_t now_ns; /* when what is being written began: the writer asks without more */

static uint64_t time_of_day(void)
{
    return now_ns;
}

static bool system_fail(const char *path, struct mars_error *error)
{
    return mars_fail(error, "%s: %s", path, strerror(errno));
}

static bool file_new(struct writing *w, enum mars_file_kind kind, struct mars_error *error)
{
    uint8_t head[MARS_HEAD_BYTES];
    mars_head_put(head, kind);
    w->file = open(w->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (w->file < 0 || write(w->file, head, sizeof head) != sizeof head)
        return system_fail(w->path, error);
    return true;
}

bool conv_sink_create(struct conv_sink *sink, struct mars_error *error)
{
    struct writing *w = ker_alloc(sizeof *w);
    size_t length = strlen(sink->path);
    sink->own = w;
    w->file = -1;
    w->merged = length > 5 && strcmp(sink->path + length - 5, ".mars") == 0;
    if (w->merged) {
        w->path = ker_format("%s", sink->path);
        return file_new(w, MARS_FILE_MERGED, error);
    }
    return mkdir(sink->path, 0777) == 0 || system_fail(sink->path, error);
}

static bool append(struct writing *w, const void *data, size_t bytes, struct mars_error *error)
{
    return write(w->file, data, bytes) == (ssize_t)bytes || system_fail(w->path, error);
}

bool conv_sink_begin(struct conv_sink *sink, const struct mars_task *about, uint32_t thread,
                     struct mars_error *error)
{
    struct writing *w = sink->own;
    if (thread == 0) {
        memset(w->known, 0, sizeof w->known);
        w->task = about->number;
        w->resolution_ns = about->resolution_ns;
    }
    if (thread == 0 && !w->merged) {
        free(w->path);
        w->path = ker_format("%s/task-%06u.mars", sink->path, about->number);
        w->begun = about->number + 1;
        if (!file_new(w, MARS_FILE_TASK, error))
            return false;
    }
    struct mars_writer_setup setup = {.file = w->file,
                                      .path = w->path,
                                      .task = about->number,
                                      .thread = (uint16_t)thread,
                                      .resolution_ns = about->resolution_ns,
                                      .counters = about->counters,
                                      .level = LEVEL};
    struct mars_writer *writer = mars_writer_new(&setup);
    if (writer)
        *KER_APPEND(w->calls, w->threads) = writer;
    return writer || system_fail(w->path, error);
}

static bool writers_close(struct writing *w)
{
    bool fine = true;
    for (uint32_t i = 0; i < w->threads; i++)
        fine = mars_writer_close(w->calls[i]) && fine;
    free(w->calls);
    w->calls = NULL;
    w->threads = 0;
    return fine;
}

/* ---- calls ---- */

static uint32_t function_number(struct writing *w, const struct mars_task *about,
                                const struct mars_function *function)
{
    size_t place = ker_hash((uintptr_t)function) >> 58; /* of 64 */
    if (w->known[place].function == function)
        return w->known[place].number;
    uint32_t number = 0;
    while (number < about->functions && about->function[number] != function)
        number++;
    ker_assert(number < about->functions);
    w->known[place].function = function;
    w->known[place].number = number;
    return number;
}

static void list_put(struct writing *w, const struct mars_value *value)
{
    int64_t last = 0;
    KER_RESERVE(w->shape, w->room, w->bytes + (value->count + 2ull) * MARS_VARINT_MOST);
    uint8_t *at = mars_put(w->shape + w->bytes, value->count);
    for (uint32_t i = 0; i < value->count; i++) {
        at = mars_put_signed(at, (int64_t)((uint64_t)value->list[i] - (uint64_t)last));
        last = value->list[i];
    }
    w->bytes = (size_t)(at - w->shape);
}

static void text_put(struct writing *w, const struct mars_value *value)
{
    KER_RESERVE(w->shape, w->room, w->bytes + value->count + 2 * MARS_VARINT_MOST);
    uint8_t *at = mars_put(w->shape + w->bytes, value->count);
    if (value->count)
        memcpy(at, value->text, value->count);
    w->bytes = (size_t)(at - w->shape) + value->count;
}

static void shape_make(struct writing *w, uint32_t number, const struct mars_record *r, bool polled)
{
    const struct mars_function *f = r->function;
    KER_RESERVE(w->shape, w->room, (size_t)4 * MARS_VARINT_MOST);
    w->bytes = (size_t)(mars_put(w->shape, (uint64_t)number << 1 | polled) - w->shape);
    for (uint32_t i = 0; i < f->fields; i++) {
        if (f->field[i].storage == MARS_LIST) {
            list_put(w, &r->value[i]);
        } else if (f->field[i].storage == MARS_TEXT) {
            text_put(w, &r->value[i]);
        } else {
            KER_RESERVE(w->shape, w->room, w->bytes + MARS_VARINT_MOST);
            w->bytes = (size_t)(mars_put_signed(w->shape + w->bytes, r->value[i].number) - w->shape);
        }
    }
}

bool conv_sink_put(struct conv_sink *sink, const struct mars_task *about, const struct conv_record *record,
                   struct mars_error *error)
{
    struct writing *w = sink->own;
    const struct mars_record *r = &record->call;
    struct mars_polls polls = {r->polls, r->rest_ns};
    bool polled = r->polls != 1 || r->rest_ns > 0;
    struct mars_times times = {.gap = r->gap_ns,
                               .away = r->away_ns,
                               .duration = r->duration_ns,
                               .own = r->own_ns,
                               .counted = r->counted};
    shape_make(w, function_number(w, about, r->function), r, polled);
    now_ns = record->over_ns ? record->over_ns - r->rest_ns : record->start_ns + r->duration_ns;
    mars_writer_call(w->calls[record->thread], w->shape, w->bytes, &times, polled ? &polls : NULL,
                     time_of_day);
    return true;
}

/* ---- definitions ---- */

static uint8_t *runs_put(uint8_t *to, const struct mars_ranks *ranks)
{
    int32_t *rank = ker_alloc(ranks->count * sizeof *rank);
    for (uint32_t i = 0; i < ranks->count; i++)
        rank[i] = mars_rank_at(ranks, i);
    to = mars_ranks_put(to, rank, ranks->count);
    free(rank);
    return to;
}

static void comm_define(struct mars_writer *writer, uint32_t number, const struct mars_comm *c)
{
    size_t ranks = (size_t)c->member.count + c->remote.count + c->neighbour.count + c->dims.count;
    uint8_t *data = ker_alloc(MARS_RANKS_MOST(ranks) + 128), *at = mars_put(data, number);
    mars_store(at, c->id, 8);
    at = mars_put(at + 8, (c->inter ? MARS_COMM_INTER : 0u) | (uint64_t)c->topology << 1);
    at = mars_put_signed(mars_put(at, c->parent), c->rank);
    at = runs_put(at, &c->member);
    if (c->inter)
        at = runs_put(at, &c->remote);
    if (c->topology != MARS_PLAIN) {
        at = mars_put(mars_put(at, c->in), c->out);
        at = runs_put(runs_put(at, &c->neighbour), &c->dims);
    }
    mars_writer_define(writer, MARS_DEFINE_COMM, data, (size_t)(at - data));
    free(data);
}

static void text_define(struct mars_writer *writer, unsigned kind, const uint8_t *head, size_t bytes,
                        const char *text)
{
    size_t length = strlen(text);
    uint8_t *data = ker_alloc(bytes + length + 1);
    memcpy(data, head, bytes);
    memcpy(data + bytes, text, length + 1);
    mars_writer_define(writer, kind, data, bytes + length);
    free(data);
}

static void function_define(struct mars_writer *writer, uint32_t number, const struct mars_function *f)
{
    static const char *const endings[] = {[MARS_ONE] = "", [MARS_LIST] = "[]", [MARS_TEXT] = "$"};
    uint8_t head[MARS_VARINT_MOST], *at = mars_put(head, number);
    char *text = ker_format("%s", f->name);
    for (uint32_t i = 0; i < f->fields; i++) {
        char *longer = ker_format("%s %s%s", text, f->field[i].name, endings[f->field[i].storage]);
        free(text);
        text = longer;
    }
    text_define(writer, MARS_DEFINE_FUNCTION, head, (size_t)(at - head), text);
    free(text);
}

static void map_define(struct mars_writer *writer, uint32_t number, const struct mars_map *map)
{
    uint8_t *data = ker_alloc((map->runs + (size_t)1) * MARS_MAP_RUN_BYTES);
    uint8_t *end = mars_map_put(mars_put(data, number), map);
    mars_writer_define(writer, MARS_DEFINE_MAP, data, (size_t)(end - data));
    free(data);
}

static void definitions_write(struct mars_writer *writer, const struct mars_task *about)
{
    uint8_t head[6 * MARS_VARINT_MOST], *at;
    for (uint32_t i = 0; i < about->infos; i++) {
        char *text = ker_format("%s=%s", about->info[i].key, about->info[i].value);
        text_define(writer, MARS_DEFINE_INFO, head, 0, text);
        free(text);
    }
    for (uint32_t i = 0; i < about->functions; i++)
        if (about->function[i])
            function_define(writer, i, about->function[i]);
    for (uint32_t i = 0; i < about->comms; i++)
        if (about->comm[i])
            comm_define(writer, i, about->comm[i]);
    for (uint32_t i = 0; i < about->types; i++) {
        const struct mars_type *t = about->type[i];
        if (!t)
            continue;
        at = mars_put_signed(mars_put_signed(mars_put(mars_put(head, i), t->size), t->lower), t->extent);
        at = mars_put(at, (uint64_t)t->combiner);
        text_define(writer, MARS_DEFINE_TYPE, head, (size_t)(at - head), t->name);
    }
    for (uint32_t i = 0; i < about->maps; i++)
        if (about->map[i])
            map_define(writer, i, about->map[i]);
    for (uint32_t i = 0; i < about->ops; i++) {
        const struct mars_op *op = about->op[i];
        if (!op)
            continue;
        at = mars_put(mars_put(head, i), (op->commutes ? MARS_OP_COMMUTES : 0) | (op->own ? MARS_OP_OWN : 0));
        text_define(writer, MARS_DEFINE_OP, head, (size_t)(at - head), op->name);
    }
}

static bool end_block(struct writing *w, struct mars_error *error)
{
    struct mars_payload payload;
    struct mars_block block = {.kind = MARS_BLOCK_END, .task = w->task};
    mars_payload_init(&payload, LEVEL);
    mars_payload_begin(&payload);
    bool fine = mars_payload_end(&payload, &block) && append(w, payload.data, payload.bytes, error);
    mars_payload_release(&payload);
    return fine;
}

bool conv_sink_end(struct conv_sink *sink, const struct mars_task *about, struct mars_error *error)
{
    struct writing *w = sink->own;
    struct mars_writer_setup setup = {.file = w->file,
                                      .path = w->path,
                                      .task = about->number,
                                      .thread = MARS_DEFINITIONS,
                                      .resolution_ns = 1,
                                      .level = LEVEL};
    bool fine = writers_close(w);
    struct mars_writer *definitions = fine ? mars_writer_new(&setup) : NULL;
    if (!definitions)
        return system_fail(w->path, error);
    definitions_write(definitions, about);
    if (!mars_writer_close(definitions))
        return system_fail(w->path, error);
    fine = !about->ended || end_block(w, error);
    if (!w->merged) {
        if (close(w->file) != 0)
            fine = system_fail(w->path, error);
        w->file = -1;
    }
    return fine;
}

/* ---- the end ---- */

static bool index_write(struct writing *w, struct mars_error *error)
{
    struct mars_trace *trace = NULL;
    struct mars_payload payload;
    uint8_t foot[16];
    struct stat stat_;
    if (!mars_trace_open(&trace, w->path, error))
        return false;
    mars_payload_init(&payload, LEVEL);
    bool fine = mars_index_encode(trace->piece, trace->pieces, &payload) && fstat(w->file, &stat_) == 0;
    mars_store(foot, fine ? (uint64_t)stat_.st_size : 0, 8);
    memcpy(foot + 8, "marsend\n", 8); /* NOLINT(bugprone-not-null-terminated-result): bytes, no text */
    fine = fine && append(w, payload.data, payload.bytes, error) && append(w, foot, sizeof foot, error);
    mars_payload_release(&payload);
    mars_trace_close(trace);
    return fine || mars_fail(error, "%s: no memory for its index", w->path);
}

static void remove_all(const struct conv_sink *sink, const struct writing *w)
{
    if (w->merged) {
        if (w->file >= 0)
            unlink(w->path);
        return;
    }
    for (uint32_t i = 0; i < w->begun; i++) {
        char *path = ker_format("%s/task-%06u.mars", sink->path, i);
        unlink(path);
        free(path);
    }
    rmdir(sink->path);
}

bool conv_sink_finish(struct conv_sink *sink, bool fine, struct mars_error *error)
{
    struct writing *w = sink->own;
    if (!w)
        return fine;
    if (!writers_close(w) && fine)
        fine = system_fail(w->path, error);
    if (fine && w->merged)
        fine = index_write(w, error);
    if (w->file >= 0 && close(w->file) != 0 && fine)
        fine = system_fail(w->path, error);
    if (!fine)
        remove_all(sink, w);
    free(w->shape);
    free(w->path);
    free(w);
    return fine;
}

/* ---- a task as it is read ---- */

static bool thread_copy(struct conv_task *task, struct conv_sink *sink, uint32_t thread,
                        const struct conv_change *change, struct mars_error *error)
{
    struct conv_record record;
    if (!conv_thread_open(task, thread, error) || !conv_sink_begin(sink, task->about, thread, error))
        return false;
    while (conv_next(task, &record, error)) {
        if (change)
            change->record(change->context, &record);
        if (!conv_sink_put(sink, task->about, &record, error))
            return false;
    }
    return !error->text[0];
}

bool conv_copy(struct conv_source *source, struct conv_sink *sink, uint32_t number,
               const struct conv_change *change, struct mars_error *error)
{
    struct conv_task task;
    bool fine = conv_task_open(&task, source, number, error);
    if (fine && change)
        conv_about_info(task.about, change->key, change->value);
    for (uint32_t i = 0; fine && (i == 0 || i < task.about->threads); i++)
        fine = thread_copy(&task, sink, i, change, error);
    fine = fine && conv_sink_end(sink, task.about, error);
    conv_task_close(&task);
    return fine;
}
