/* table_hdf5.c - see table_hdf5.h. What comes from the child (hdf5_child.h) is looked at as the file is: it
 * may have had its memory overwritten.
 */
#include "tools/marsreport/table_hdf5.h"

#include "stats/hdf5_load.h"
#include "tools/marsreport/hdf5_child.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct column {
    char *name;
    uint32_t kind; /* enum rep_hdf5_kind */
    size_t bytes;
    char *block; /* of REP_HDF5_BLOCK cells */
};

struct rep_hdf5 {
    struct rep_folder *folder;
    char *table;
    FILE *in;
    pid_t child;
    struct column *column;
    int columns;
    uint64_t before;    /* rows of the blocks before this one */
    uint32_t at, count; /* behind the current row, within the block; the block's */
    bool over;
};

static void damage(struct rep_folder *f, const char *what)
{
    if (!f->hdf5_told)
        rep_note(f, true, STATS_HDF5_NAME ": %s", what);
    f->hdf5_told = true;
}

/* Its status; it ends if it has not. */
static int child_end(struct rep_hdf5 *h)
{
    int status = ker_child_end(h->in, h->child);
    h->in = NULL;
    h->child = 0;
    return status;
}

void rep_hdf5_close(struct rep_hdf5 *h)
{
    if (!h)
        return;
    child_end(h);
    for (int i = 0; i < h->columns; i++) {
        free(h->column[i].block);
        free(h->column[i].name);
    }
    free(h->column);
    free(h->table);
    free(h);
}

static bool take(struct rep_hdf5 *h, void *data, size_t bytes)
{
    return fread(data, 1, bytes, h->in) == bytes;
}

/* ---- the head ---- */

static bool column_take(struct rep_hdf5 *h)
{
    struct rep_hdf5_column head;
    if (!take(h, &head, sizeof head) || head.name >= REP_HDF5_NAMES || head.bytes == 0 ||
        head.bytes > REP_HDF5_TEXT || head.kind > REP_HDF5_WORDS ||
        (head.kind != REP_HDF5_WORDS && head.bytes != 8))
        return false;
    struct column *c = KER_APPEND(h->column, h->columns);
    *c = (struct column){.kind = head.kind,
                         .bytes = head.bytes,
                         .name = ker_alloc(head.name + 1),
                         .block = ker_alloc((size_t)head.bytes * REP_HDF5_BLOCK)};
    return take(h, c->name, head.name);
}

static bool head_take(struct rep_hdf5 *h, struct rep_hdf5_head *head)
{
    bool sound = h->in && take(h, head, sizeof *head) && head->columns <= REP_HDF5_COLUMNS;
    for (uint32_t i = 0; sound && i < head->columns; i++)
        sound = column_take(h);
    return sound;
}

/* Where the library has not come to an end by itself. */
static void end_tell(struct rep_hdf5 *h, const char *what)
{
    if (!h->folder->hdf5_told)
        rep_note(h->folder, true, STATS_HDF5_NAME ": the HDF5 library fails on /%s: the file is damaged; %s",
                 h->table, what);
}

static bool table_begin(struct rep_hdf5 *h)
{
    struct rep_hdf5_head head = {0};
    if (!head_take(h, &head))
        end_tell(h, "the table is left out");
    else if (head.found == REP_HDF5_NO_FILE)
        damage(h->folder, "is no file of HDF5, or was cut; it is left out");
    else if (head.found == REP_HDF5_FOREIGN)
        rep_note(h->folder, true, STATS_HDF5_NAME ": /%s is no table of marssim; it is left out", h->table);
    return head.found == REP_HDF5_TABLE && (uint32_t)h->columns == head.columns;
}

struct rep_hdf5 *rep_hdf5_open(struct rep_folder *f, const char *table)
{
    struct ker_error error = {.status = KER_OK};
    char *path = ker_format("%s/" STATS_HDF5_NAME, f->path);
    bool there = !f->hdf5_told && access(path, R_OK) == 0;
    if (there && stats_hdf5_load(&error) != KER_OK) {
        damage(f, error.text);
        there = false;
    }
    struct rep_hdf5 *h = there ? ker_alloc(sizeof *h) : NULL;
    if (h) {
        h->folder = f;
        h->table = ker_format("%s", table);
        h->in = rep_hdf5_child(path, table, &h->child);
    }
    free(path);
    if (!h || table_begin(h))
        return h;
    rep_hdf5_close(h);
    return NULL;
}

int rep_hdf5_columns(const struct rep_hdf5 *h)
{
    return h->columns;
}

const char *rep_hdf5_name(const struct rep_hdf5 *h, int column)
{
    return h->column[column].name;
}

/* ---- rows ---- */

/* The next block; false: there is none. */
static bool block_take(struct rep_hdf5 *h)
{
    h->before += h->count;
    h->at = h->count = 0;
    bool sound = take(h, &h->count, sizeof h->count), unread = h->count > REP_HDF5_BLOCK;
    if (sound && h->count == 0)
        return false;
    for (int i = 0; sound && !unread && i < h->columns; i++)
        sound = take(h, h->column[i].block, h->count * h->column[i].bytes);
    if (sound && !unread)
        return true;
    h->count = 0;
    if (sound)
        rep_note(h->folder, true, STATS_HDF5_NAME ": /%s cannot be read from row %llu on; it ends there",
                 h->table, (unsigned long long)h->before + 1);
    else
        end_tell(h, "the table ends early");
    return false;
}

bool rep_hdf5_next(struct rep_hdf5 *h)
{
    h->over = h->over || (h->at == h->count && !block_take(h));
    h->at += !h->over;
    return !h->over;
}

static const char *cell(const struct rep_hdf5 *h, int column)
{
    return h->column[column].block + (h->at - 1) * h->column[column].bytes;
}

static int64_t integer_of(const struct rep_hdf5 *h, int column)
{
    int64_t value;
    memcpy(&value, cell(h, column), sizeof value);
    return value;
}

static double real_of(const struct rep_hdf5 *h, int column)
{
    double value;
    memcpy(&value, cell(h, column), sizeof value);
    return value;
}

bool rep_hdf5_empty(const struct rep_hdf5 *h, int column)
{
    switch (h->column[column].kind) {
    case REP_HDF5_SIGNED:
        return integer_of(h, column) == -1;
    case REP_HDF5_REAL:
        return !isfinite(real_of(h, column));
    case REP_HDF5_WORDS:
        return *cell(h, column) == '\0';
    default:
        return false;
    }
}

const char *rep_hdf5_text(const struct rep_hdf5 *h, int column)
{
    return h->column[column].kind == REP_HDF5_WORDS ? cell(h, column) : "";
}

double rep_hdf5_real(const struct rep_hdf5 *h, int column)
{
    uint32_t kind = h->column[column].kind;
    if (kind == REP_HDF5_WORDS || rep_hdf5_empty(h, column))
        return 0;
    return kind == REP_HDF5_REAL       ? real_of(h, column)
           : kind == REP_HDF5_UNSIGNED ? (double)(uint64_t)integer_of(h, column)
                                       : (double)integer_of(h, column);
}

int64_t rep_hdf5_integer(const struct rep_hdf5 *h, int column)
{
    uint32_t kind = h->column[column].kind;
    if (kind == REP_HDF5_WORDS || rep_hdf5_empty(h, column))
        return 0;
    if (kind != REP_HDF5_REAL)
        return integer_of(h, column);
    double real = real_of(h, column);
    return fabs(real) < 9e18 ? (int64_t)real : 0;
}

json_t *rep_hdf5_json(const struct rep_hdf5 *h, int column)
{
    if (rep_hdf5_empty(h, column))
        return json_null();
    switch (h->column[column].kind) {
    case REP_HDF5_WORDS:
        return rep_text_json(cell(h, column));
    case REP_HDF5_REAL:
        return json_real(real_of(h, column));
    default:
        return json_integer(integer_of(h, column));
    }
}
