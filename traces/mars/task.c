/* task.c - the definitions of a task: functions and their fields, communicators, datatypes, operations, and
 * what is said about the trace.
 *
 * Numbers come from the trace, so tables grow by what is defined, never by a number alone: one that is far
 * beyond those before is refused. A thing defined twice keeps its first definition.
 */
#define _GNU_SOURCE
#include "traces/mars/define.h"
#include "traces/mars/pieces.h"
#include "traces/mars/varint.h"
#include "traces/mars/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JUMP 65536 /* how far a number may lie beyond those before */
#define FIELDS_MOST 64
#define RANKS_MOST ((int64_t)1 << 24)

static const struct {
    const char *name;
    enum mars_storage storage;
} FIELDS[] = {
#define ONE MARS_ONE
#define LIST MARS_LIST
#define TEXT MARS_TEXT
#define MARS_FIELD(name, storage, meaning) {#name, storage},
#include "traces/mars/fields.def"
#undef MARS_FIELD
};

void **mars_task_place(void ***table, uint32_t *count, uint64_t number)
{
    if (number > (uint64_t)*count + JUMP)
        return NULL;
    if (number >= *count) {
        uint32_t room = 16;
        while (room <= number)
            room *= 2;
        /* Tables have a power of two of entries, those not defined NULL. */
        void **larger = realloc(*table, room * sizeof *larger);
        if (!larger)
            return NULL;
        memset(larger + *count, 0, (room - *count) * sizeof *larger);
        *table = larger;
        *count = room;
    }
    return *table + number;
}

/* Puts a definition into its table, if it is fine and the first of its number. False: it is not fine. */
static bool define(void ***table, uint32_t *count, uint64_t number, void *thing, bool fine,
                   void (*thing_free)(void *))
{
    void **where = fine ? mars_task_place(table, count, number) : NULL;
    if (where && !*where)
        *where = thing;
    else
        thing_free(thing);
    return where != NULL;
}

static char *text_get(struct mars_bytes *from)
{
    size_t bytes = (size_t)(from->end - from->at);
    const uint8_t *at = mars_get_bytes(from, bytes);
    char *text = strndup((const char *)at, bytes);
    for (char *c = text; c && *c; c++) /* it may come to a terminal */
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return text;
}

/* ---- kinds ---- */

static bool info_get(struct mars_task *task, struct mars_bytes *from)
{
    char *text = text_get(from), *equals = text ? strchr(text, '=') : NULL;
    void *larger = equals ? realloc(task->info, (task->infos + 1) * sizeof *task->info) : NULL;
    if (!larger) {
        free(text);
        return false;
    }
    task->info = larger;
    *equals = 0;
    task->info[task->infos].key = text;
    task->info[task->infos++].value = equals + 1;
    return true;
}

static void function_free(void *thing)
{
    struct mars_function *function = thing;
    for (uint32_t i = 0; i < function->fields; i++)
        free(function->field[i].name);
    free(function->field);
    free(function->name);
    free(function);
}

static bool field_get(struct mars_function *function, const char *word)
{
    struct mars_function_field *field = &function->field[function->fields];
    size_t length = strlen(word);
    enum mars_storage storage = MARS_ONE;
    if (length > 2 && strcmp(word + length - 2, "[]") == 0) {
        storage = MARS_LIST;
        length -= 2;
    } else if (length > 1 && word[length - 1] == '$') {
        storage = MARS_TEXT;
        length--;
    }
    *field = (struct mars_function_field){MARS_FIELD_UNKNOWN, (uint8_t)storage, strndup(word, length)};
    if (!field->name)
        return false;
    for (unsigned i = 0; i < MARS_FIELD_UNKNOWN; i++)
        if (strcmp(FIELDS[i].name, field->name) == 0 && FIELDS[i].storage == storage)
            field->field = (uint8_t)i;
    if (field->field != MARS_FIELD_UNKNOWN && function->at[field->field] < 0)
        function->at[field->field] = (int16_t)function->fields;
    function->fields++;
    return true;
}

struct mars_function *mars_function_make(char *text)
{
    char *rest = NULL, *name = strtok_r(text, " ", &rest);
    struct mars_function *function = name ? calloc(1, sizeof *function) : NULL;
    if (!function)
        return NULL;
    memset(function->at, 0xff, sizeof function->at);
    function->name = strdup(name);
    function->field = calloc(FIELDS_MOST, sizeof *function->field);
    bool fine = function->name && function->field;
    for (char *word; fine && (word = strtok_r(NULL, " ", &rest));)
        fine = function->fields < FIELDS_MOST && field_get(function, word);
    if (fine)
        return function;
    function_free(function);
    return NULL;
}

static bool function_get(struct mars_task *task, struct mars_bytes *from)
{
    uint64_t number = mars_get(from);
    char *text = text_get(from);
    struct mars_function *function = text ? mars_function_make(text) : NULL;
    free(text);
    return function &&
           define((void ***)&task->function, &task->functions, number, function, true, function_free);
}

/* Runs of equal steps: first (as a difference to the last of the run before), step, count. */
static void ranks_get(struct mars_bytes *from, struct mars_ranks *ranks)
{
    uint64_t count = mars_get(from), have = 0;
    int64_t last = 0;
    from->bad |= count > RANKS_MOST;
    while (have < count && !from->bad) {
        int64_t first = last + mars_get_signed(from), step = mars_get_signed(from);
        uint64_t run = mars_get(from);
        from->bad |= run == 0 || run > count - have || step < -RANKS_MOST || step > RANKS_MOST ||
                     first < -RANKS_MOST || first > RANKS_MOST;
        if (from->bad)
            break;
        last = first + step * (int64_t)(run - 1);
        from->bad |= last < -RANKS_MOST || last > RANKS_MOST;
        struct mars_run *larger = realloc(ranks->run, (ranks->runs + 1) * sizeof *larger);
        if (!larger)
            from->bad = true;
        else
            ranks->run = larger;
        if (!from->bad)
            ranks->run[ranks->runs++] = (struct mars_run){(uint32_t)have, (int32_t)first, (int32_t)step};
        have += run;
    }
    ranks->count = from->bad ? 0 : (uint32_t)count;
}

int32_t mars_rank_at(const struct mars_ranks *ranks, uint32_t index)
{
    uint32_t low = 0, high = ranks->runs;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (ranks->run[middle].start <= index)
            low = middle;
        else
            high = middle;
    }
    return ranks->run[low].first + ranks->run[low].step * (int32_t)(index - ranks->run[low].start);
}

static void comm_free(void *thing)
{
    struct mars_comm *comm = thing;
    free(comm->member.run);
    free(comm->remote.run);
    free(comm->neighbour.run);
    free(comm->dims.run);
    free(comm);
}

static void comm_read(struct mars_comm *comm, struct mars_bytes *from)
{
    const uint8_t *id = mars_get_bytes(from, 8);
    uint64_t flags = mars_get(from);
    comm->id = id ? mars_load(id, 8) : 0;
    comm->inter = flags & MARS_COMM_INTER;
    comm->topology = (uint8_t)(flags >> 1 & 3);
    comm->parent = (uint32_t)mars_get(from);
    comm->rank = (int32_t)mars_get_signed(from);
    ranks_get(from, &comm->member);
    if (comm->rank < 0 || (uint32_t)comm->rank >= comm->member.count)
        from->bad = true;
    if (comm->inter)
        ranks_get(from, &comm->remote);
    if (comm->topology == MARS_PLAIN || from->bad)
        return;
    comm->in = (uint32_t)mars_get(from);
    comm->out = (uint32_t)mars_get(from);
    ranks_get(from, &comm->neighbour);
    ranks_get(from, &comm->dims);
    if ((uint64_t)comm->in + comm->out != comm->neighbour.count || comm->dims.count % 2 != 0)
        from->bad = true;
}

static bool comm_get(struct mars_task *task, struct mars_bytes *from)
{
    uint64_t number = mars_get(from);
    struct mars_comm *comm = calloc(1, sizeof *comm);
    if (!comm)
        return false;
    comm_read(comm, from);
    return define((void ***)&task->comm, &task->comms, number, comm, !from->bad, comm_free);
}

static void type_free(void *thing)
{
    free(((struct mars_type *)thing)->name);
    free(thing);
}

static bool type_get(struct mars_task *task, struct mars_bytes *from)
{
    uint64_t number = mars_get(from);
    struct mars_type *type = calloc(1, sizeof *type);
    if (!type)
        return false;
    type->size = mars_get(from);
    type->lower = mars_get_signed(from);
    type->extent = mars_get_signed(from);
    type->combiner = (int32_t)mars_get(from);
    type->name = from->bad ? NULL : text_get(from);
    return define((void ***)&task->type, &task->types, number, type, type->name, type_free);
}

static void map_free(void *thing)
{
    mars_map_release(thing);
    free(thing);
}

static bool map_get(struct mars_task *task, struct mars_bytes *from)
{
    uint64_t number = mars_get(from);
    struct mars_map *map = calloc(1, sizeof *map);
    return map && define((void ***)&task->map, &task->maps, number, map, mars_map_get(map, from), map_free);
}

static void op_free(void *thing)
{
    free(((struct mars_op *)thing)->name);
    free(thing);
}

static bool op_get(struct mars_task *task, struct mars_bytes *from)
{
    uint64_t number = mars_get(from), flags = mars_get(from);
    struct mars_op *op = calloc(1, sizeof *op);
    if (!op)
        return false;
    op->commutes = flags & MARS_OP_COMMUTES;
    op->own = flags & MARS_OP_OWN;
    op->name = from->bad ? NULL : text_get(from);
    return define((void ***)&task->op, &task->ops, number, op, op->name, op_free);
}

/* ---- all of them ---- */

static bool definitions_get(struct mars_task *task, struct mars_bytes *from)
{
    while (from->at < from->end) {
        uint64_t kind = mars_get(from), bytes = mars_get(from);
        const uint8_t *data = mars_get_bytes(from, bytes);
        bool fine = true;
        if (!data)
            return false;
        struct mars_bytes one = {data, data + bytes, false};
        if (kind == MARS_DEFINE_INFO)
            fine = info_get(task, &one);
        else if (kind == MARS_DEFINE_FUNCTION)
            fine = function_get(task, &one);
        else if (kind == MARS_DEFINE_COMM)
            fine = comm_get(task, &one);
        else if (kind == MARS_DEFINE_TYPE)
            fine = type_get(task, &one);
        else if (kind == MARS_DEFINE_OP)
            fine = op_get(task, &one);
        else if (kind == MARS_DEFINE_MAP)
            fine = map_get(task, &one);
        if (!fine)
            return false;
    }
    return true;
}

static bool definitions_read(struct mars_task *task, const struct mars_piece *piece, uint32_t count,
                             struct mars_error *error)
{
    struct mars_sections sections = {0};
    uint8_t *data = NULL;
    size_t room = 0, bytes;
    bool fine = true;
    for (uint32_t i = 0; fine && i < count; i++) {
        struct mars_error why = {0};
        fine = mars_piece_read(task->trace, &piece[i], &data, &room, error) &&
               (mars_sections_get(&sections, data, piece[i].block.payload_bytes, &why) ||
                mars_piece_fail(task->trace, &piece[i], error, why.text));
        if (!fine)
            break;
        const uint8_t *at = mars_section(&sections, MARS_SECTION_DEFINITIONS, &bytes);
        struct mars_bytes from = {at, at + bytes, false};
        fine = definitions_get(task, &from) ||
               mars_piece_fail(task->trace, &piece[i], error, "a definition in it is damaged");
    }
    free(data);
    mars_sections_release(&sections);
    return fine;
}

bool mars_task_open(struct mars_task **result, struct mars_trace *trace, uint32_t number,
                    struct mars_error *error)
{
    uint32_t count;
    struct mars_task *task = calloc(1, sizeof *task);
    if (!task)
        return mars_fail(error, "%s: no memory for task %u", trace->file[0], number);
    task->trace = trace;
    task->number = number;
    task->ended = trace->ended[number];
    const struct mars_piece *piece = mars_pieces_find(trace, MARS_BLOCK_DEFINITIONS, number, 0xffff, &count);
    bool fine = definitions_read(task, piece, count, error);
    while (fine && mars_pieces_find(trace, MARS_BLOCK_CALLS, number, task->threads, &count))
        task->threads++;
    const struct mars_piece *end = mars_pieces_find(trace, MARS_BLOCK_END, number, 0, &count);
    fine = fine && (!end || mars_piece_check(trace, end, error));
    const char *unit = fine ? mars_task_info(task, "resolution_ns") : NULL;
    task->resolution_ns = unit ? strtoull(unit, NULL, 10) : 1;
    const char *counters = fine ? mars_task_info(task, "counters") : NULL;
    task->counters = counters != NULL;
    for (; counters && *counters; counters++)
        task->counters += *counters == ',';
    if (fine && task->counters > MARS_COUNTERS)
        fine = mars_fail(error, "%s: task %u: more than %d hardware counters", trace->file[0], number,
                         MARS_COUNTERS);
    if (fine && (task->resolution_ns == 0 || task->resolution_ns > 1000000000))
        fine = mars_fail(error, "%s: task %u: its resolution of %s ns is none", trace->file[0], number, unit);
    if (!fine) {
        mars_task_close(task);
        return false;
    }
    *result = task;
    return true;
}

const char *mars_task_info(const struct mars_task *task, const char *key)
{
    for (uint32_t i = 0; i < task->infos; i++)
        if (strcmp(task->info[i].key, key) == 0)
            return task->info[i].value;
    return NULL;
}

static void table_free(void *table, uint32_t count, void (*thing_free)(void *))
{
    void **thing = table;
    for (uint32_t i = 0; i < count; i++)
        if (thing[i])
            thing_free(thing[i]);
    free(table);
}

void mars_task_close(struct mars_task *task)
{
    if (!task)
        return;
    table_free(task->function, task->functions, function_free);
    table_free(task->comm, task->comms, comm_free);
    table_free(task->type, task->types, type_free);
    table_free(task->op, task->ops, op_free);
    table_free(task->map, task->maps, map_free);
    for (uint32_t i = 0; i < task->infos; i++)
        free(task->info[i].key);
    free(task->info);
    free(task);
}
