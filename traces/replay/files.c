/* files.c - which files a task has open, where it is in them, and what a call on one accesses: see files.h.
 *
 * Nothing here is known of other tasks, but what joint.c has found before.
 */
#include "traces/replay/files.h"

#include <stdlib.h>
#include <string.h>

#define MODE_APPEND 256 /* of MPI_File_open's bits, and of whence (docs/trace-format.md) */
enum { WHENCE_SET, WHENCE_CURRENT, WHENCE_END };
#define FILES_JUMP 65536 /* how far a number may lie beyond those before */
#define UNITS_MOST ((int64_t)1 << 62)

struct replay_files *replay_files_new(const struct replay_task *t)
{
    struct replay_files *files = ker_alloc(sizeof *files);
    files->opened = ker_alloc((t->trace->comms + (size_t)1) * sizeof *files->opened);
    return files;
}

void replay_files_free(struct replay_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->files; i++)
        trace_two_phase_release(&files->file[i].two);
    free(files->file);
    free(files->opened);
    free(files->access.runs.run);
    free(files->further);
    free(files);
}

/* ---- which file ---- */

static bool is_posix(const struct replay_task *t)
{
    return strncmp(t->record.function->name, "POSIX_", 6) == 0;
}

/* NULL, of a call of POSIX: it is none that has been opened (standard output). */
static enum ker_status file_get(struct replay_task *t, struct replay_file **file,
                                const struct replay_wrong *w)
{
    struct replay_files *files = t->files;
    int64_t number = mars_number(&t->record, MARS_FIELD_file, 0);
    bool is = number > 0 && (uint64_t)number < files->files;
    *file = is && files->file[number].open ? &files->file[number] : NULL;
    if (*file || is_posix(t))
        return KER_OK;
    return replay_fail(w, "file %lld is not open: %s", (long long)number,
                       is && files->file[number].view.unit ? "it has been closed before"
                                                           : "the trace has no MPI_File_open of it");
}

/* NULL: an error has a text; so below. */
static struct replay_file *file_made(struct replay_task *t, const struct replay_wrong *w)
{
    struct replay_files *files = t->files;
    int64_t number = mars_number(&t->record, MARS_FIELD_newfile, 0);
    if (number < 1 || number > (int64_t)files->files + FILES_JUMP) {
        replay_fail(w, "file %lld", (long long)number);
        return NULL;
    }
    struct replay_file *file = &TRACE_AT(files->file, files->files, number)[0];
    trace_two_phase_release(&file->two);
    *file = (struct replay_file){.open = true, .posix = is_posix(t), .comm = -1};
    file->view = (struct replay_view){.unit = 1, .size = 1, .extent = 1};
    return file;
}

/* ---- hints: "cb_nodes=4;romio_cb_write=enable" ---- */

static void hint_set(struct replay_hints *hints, const char *key, const char *value)
{
    uint8_t use = strcmp(value, "enable") == 0    ? REPLAY_ENABLED
                  : strcmp(value, "disable") == 0 ? REPLAY_DISABLED
                                                  : REPLAY_AUTOMATIC;
    if (strcmp(key, "cb_nodes") == 0)
        hints->aggregators = strtoull(value, NULL, 10);
    else if (strcmp(key, "cb_buffer_size") == 0)
        hints->buffer = strtoull(value, NULL, 10);
    else if (strcmp(key, "romio_cb_write") == 0)
        hints->write = use;
    else if (strcmp(key, "romio_cb_read") == 0)
        hints->read = use;
}

static void hints_get(const struct replay_task *t, struct replay_hints *hints)
{
    const struct mars_value *text = mars_list(&t->record, MARS_FIELD_hints);
    char *rest = NULL, *all = text ? ker_format("%.*s", (int)text->count, text->text) : NULL;
    for (char *one = all ? strtok_r(all, ";", &rest) : NULL; one; one = strtok_r(NULL, ";", &rest)) {
        char *value = strchr(one, '=');
        if (!value)
            continue;
        *value = 0;
        hint_set(hints, one, value + 1);
    }
    free(all);
}

/* ---- opened, closed ---- */

/* What the kernel makes is not stored. */
static bool is_special(const struct mars_value *name)
{
    static const char *const roots[] = {"/dev/", "/proc/", "/sys/"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (name->count > strlen(roots[i]) && memcmp(name->text, roots[i], strlen(roots[i])) == 0)
            return true;
    return false;
}

static enum ker_status pointer_begin(const struct replay_task *t, struct replay_file *file,
                                     const struct replay_wrong *w)
{
    int64_t position = mars_number(&t->record, MARS_FIELD_position, -1);
    if (!(mars_number(&t->record, MARS_FIELD_value, 0) & MODE_APPEND))
        return KER_OK;
    if (position < 0)
        return replay_fail(w,
                           "a file is opened to be appended to, and the trace does not say how long it is: "
                           "traced anew it does");
    file->at = (uint64_t)position;
    return KER_OK;
}

static enum ker_status open_get(struct replay_task *t, struct replay_access *a, const struct replay_wrong *w)
{
    const struct mars_value *name = mars_list(&t->record, MARS_FIELD_name);
    a->kind = REPLAY_TIME;
    if (!name || !mars_number(&t->record, MARS_FIELD_newfile, 0) || (is_posix(t) && is_special(name)))
        return KER_OK;
    struct replay_file *file = a->file = file_made(t, w);
    if (!file)
        return KER_BAD_INPUT;
    a->kind = REPLAY_OPEN;
    if (t->rules->joint)
        file->number = replay_joint_file(t->rules->joint, name->text, name->count, &file->exists);
    if (file->posix)
        return KER_OK;
    enum ker_status status = replay_comm_get(t, MARS_FIELD_comm, &file->comm, w);
    if (status == KER_OK && t->comms[file->comm].remote)
        return replay_fail(w, "a file of two groups");
    hints_get(t, &file->hints);
    file->nth = t->files->opened[mars_number(&t->record, MARS_FIELD_comm, 0)]++;
    return status == KER_OK ? pointer_begin(t, file, w) : status;
}

/* ---- views ---- */

static const struct mars_type *type_get(const struct replay_task *t, enum mars_field field,
                                        const struct replay_wrong *w)
{
    int64_t number = mars_number(&t->record, field, 0);
    const struct mars_type *type =
        number > 0 && (uint64_t)number < t->trace->types ? t->trace->type[number] : NULL;
    if (!type)
        replay_fail(w, "datatype %lld is not defined", (long long)number);
    return type;
}

static uint64_t map_bytes(const struct mars_map *map)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < map->runs; i++)
        all += map->run[i].bytes * map->run[i].count * map->run[i].outer;
    return all;
}

/* Where a filetype has its bytes. */
static enum ker_status map_set(const struct replay_task *t, struct replay_view *view,
                               const struct mars_type *type, const struct replay_wrong *w)
{
    int64_t number = mars_number(&t->record, MARS_FIELD_filetype, 0);
    const struct mars_map *map = (uint64_t)number < t->trace->maps ? t->trace->map[number] : NULL;
    view->map = map;
    view->size = type->size;
    view->extent = type->extent > 0 ? (uint64_t)type->extent : 0;
    if (map && map_bytes(map) != type->size)
        return replay_fail(w, "datatype %lld has %llu bytes, and places for %llu", (long long)number,
                           (unsigned long long)type->size, (unsigned long long)map_bytes(map));
    if (map ? view->extent == 0 && type->size : type->extent != (int64_t)type->size && !t->rules->contiguous)
        return map ? replay_fail(w, "datatype %lld has the extent %lld: a view wants one above 0",
                                 (long long)number, (long long)type->extent)
                   : replay_fail(w,
                                 "the view's datatype %lld (%s) has holes, and the trace does not say where: "
                                 "jobs[].unknown_views = \"contiguous\" takes it as if it had none",
                                 (long long)number, type->name);
    view->extent = map ? view->extent : view->size;
    return KER_OK;
}

static enum ker_status view_get(struct replay_task *t, struct replay_access *a, const struct replay_wrong *w)
{
    int64_t displacement = mars_number(&t->record, MARS_FIELD_offset, 0);
    struct replay_file *file;
    enum ker_status status = file_get(t, &file, w);
    if (status != KER_OK || !file)
        return status;
    const struct mars_type *unit = type_get(t, MARS_FIELD_etype, w),
                           *type = unit ? type_get(t, MARS_FIELD_filetype, w) : NULL;
    if (!type)
        return KER_BAD_INPUT;
    if (displacement < 0 || displacement > UNITS_MOST)
        return replay_fail(w, "a view begins at %lld: at least 0", (long long)displacement);
    if (unit->size == 0)
        return replay_fail(w, "the view's elementary datatype has no bytes");
    file->view = (struct replay_view){.displacement = (uint64_t)displacement, .unit = unit->size};
    file->at = 0;
    hints_get(t, &file->hints);
    trace_two_phase_release(&file->two);
    file->two = (struct trace_two_phase){0};
    *a = (struct replay_access){.file = file, .sets = true, .runs = a->runs};
    return map_set(t, &file->view, type, w);
}

/* ---- pointers ---- */

static enum ker_status seek_get(struct replay_task *t, struct replay_access *a, bool shared,
                                const struct replay_wrong *w)
{
    int64_t to = mars_number(&t->record, MARS_FIELD_position, -1),
            by = mars_number(&t->record, MARS_FIELD_offset, 0),
            whence = mars_number(&t->record, MARS_FIELD_value, WHENCE_SET);
    struct replay_file *file;
    enum ker_status status = file_get(t, &file, w);
    if (status != KER_OK || !file)
        return status;
    if (by < -UNITS_MOST || by > UNITS_MOST || to > UNITS_MOST)
        return replay_fail(w, "offset %lld", (long long)by);
    if (shared && whence != WHENCE_END) {
        a->file = file;
        a->sets = true;
        a->relative = whence == WHENCE_CURRENT;
        a->units = by;
        return KER_OK;
    }
    if (to < 0 && whence != WHENCE_END)
        to = whence == WHENCE_CURRENT ? (int64_t)file->at + by : by;
    if (to < 0)
        return whence == WHENCE_END
                   ? replay_fail(w,
                                 "it goes to the end of the file, and the trace does not say where that is")
                   : replay_fail(w, "the pointer goes to %lld: at least 0", (long long)to);
    file->at = (uint64_t)to;
    return KER_OK;
}

/* ---- data ---- */

static enum ker_status runs_get(struct replay_access *a, uint64_t units, const struct replay_wrong *w)
{
    const struct replay_view *view = &a->file->view;
    if (units > (uint64_t)UNITS_MOST / view->unit ||
        !replay_view_runs(view, units * view->unit, a->bytes, &a->runs))
        return replay_fail(w,
                           "%llu bytes from %llu on, in units of %llu bytes of the view: they lie before "
                           "the file's begin, or beyond 2^62 bytes, or in too many pieces",
                           (unsigned long long)a->bytes, (unsigned long long)units,
                           (unsigned long long)view->unit);
    if ((a->writes || a->together) && replay_runs_overlap(&a->runs))
        return replay_fail(w,
                           "the view's datatype overlaps or goes back: where it is written, or accessed by "
                           "all tasks at once, it must not");
    return KER_OK;
}

/* The shared pointer: where it was joint.c knows when it has seen all tasks. */
static enum ker_status shared_get(struct replay_task *t, struct replay_access *a,
                                  const struct replay_wrong *w)
{
    struct replay_file *file = a->file;
    a->units = (int64_t)(a->bytes / file->view.unit);
    a->key = (struct replay_joint_key){file->comm, file->nth, file->uses, 1};
    a->runs.count = 0;
    if (!t->rules->joint)
        return KER_OK;
    int32_t rank = task_comm_rank(&t->comms[file->comm], (int32_t)t->trace->number);
    int64_t at = replay_joint_pointer(t->rules->joint, &a->key, rank);
    if (at < 0)
        return replay_fail(w, "the shared pointer is at %lld: at least 0", (long long)at);
    return runs_get(a, (uint64_t)at, w);
}

/* How a call says where: MPI_File_[i]read|write[_at|_shared|_ordered][_all][_begin|_end]. */
static enum ker_status data_get(struct replay_task *t, struct replay_access *a, const char *name,
                                const struct replay_wrong *w)
{
    int64_t offset = mars_number(&t->record, MARS_FIELD_offset, -1);
    bool explicit = strstr(name, "_at") != NULL || (is_posix(t) && offset >= 0) || name[0] == 'p';
    enum ker_status status = file_get(t, &a->file, w);
    if (status != KER_OK || !a->file) {
        a->kind = REPLAY_TIME;
        return status;
    }
    struct replay_file *file = a->file;
    a->kind = REPLAY_DATA;
    a->writes = strstr(name, "write") != NULL;
    a->ordered = strstr(name, "_ordered") != NULL;
    a->shared = a->ordered || strstr(name, "_shared") != NULL;
    a->together = strstr(name, "_all") != NULL;
    a->got = mars_number(&t->record, MARS_FIELD_got, -1);
    status = replay_bytes_get(t, a->writes ? MARS_FIELD_bytes : MARS_FIELD_recvbytes, &a->bytes, w);
    if (status != KER_OK || a->shared)
        return status == KER_OK ? shared_get(t, a, w) : status;
    if (file->posix && a->writes && a->got >= 0)
        a->bytes = (uint64_t)a->got < a->bytes ? (uint64_t)a->got : a->bytes;
    if (explicit && (offset < 0 || offset > UNITS_MOST))
        return replay_fail(w, "offset %lld: at least 0", (long long)offset);
    uint64_t units = explicit ? (uint64_t)offset : file->at;
    if (a->together)
        a->key = (struct replay_joint_key){file->comm, file->nth, file->calls++, 0};
    if (!explicit || (file->posix && name[0] != 'p'))
        file->at = units + (file->posix && a->got >= 0 ? (uint64_t)a->got : a->bytes / file->view.unit);
    return runs_get(a, units, w);
}

/* A call of POSIX has no other than its own pointer. */
static enum ker_status posix_seek_get(struct replay_task *t, struct replay_access *a,
                                      const struct replay_wrong *w)
{
    int64_t to = mars_number(&t->record, MARS_FIELD_offset, -1);
    enum ker_status status = file_get(t, &a->file, w);
    if (status == KER_OK && a->file && to >= 0 && to <= UNITS_MOST)
        a->file->at = (uint64_t)to;
    return status;
}

/* Closed, or synchronised. */
static enum ker_status whole_get(struct replay_task *t, struct replay_access *a, enum replay_access_kind kind,
                                 const struct replay_wrong *w)
{
    enum ker_status status = file_get(t, &a->file, w);
    a->kind = a->file ? kind : REPLAY_TIME;
    if (status == KER_OK && a->file && kind == REPLAY_CLOSE)
        a->file->open = false;
    return status;
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static enum ker_status access_get(struct replay_task *t, struct replay_access *a,
                                  const struct replay_wrong *w)
{
    bool posix = is_posix(t);
    const char *name = t->record.function->name + strlen(posix ? "POSIX_" : "MPI_File_");
    if (begins(name, "open"))
        return open_get(t, a, w);
    if (begins(name, "close"))
        return whole_get(t, a, REPLAY_CLOSE, w);
    if (begins(name, "sync") || begins(name, "fsync"))
        return whole_get(t, a, REPLAY_SYNC, w);
    if (begins(name, "lseek"))
        return posix_seek_get(t, a, w);
    if (begins(name, "seek"))
        return seek_get(t, a, begins(name, "seek_shared"), w);
    if (begins(name, "set_view"))
        return view_get(t, a, w);
    const char *data = name + (name[0] == 'i' || name[0] == 'p');
    if ((begins(data, "read") || begins(data, "write")) && !strstr(name, "_end"))
        return data_get(t, a, name, w);
    return KER_OK; /* sizes, atomicity: nothing of them travels */
}

enum ker_status replay_access_get(struct replay_task *t, const struct replay_wrong *w)
{
    struct replay_access *a = &t->files->access;
    *a = (struct replay_access){.runs = a->runs, .got = -1};
    a->runs.count = 0;
    enum ker_status status = access_get(t, a, w);
    if (status == KER_OK && a->file && (a->shared || a->sets)) {
        a->key = (struct replay_joint_key){a->file->comm, a->file->nth, a->file->uses++, 1};
        a->file->turns += a->sets || a->ordered;
    }
    return status;
}
