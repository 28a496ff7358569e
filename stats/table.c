/* table.c - the rows of a table: packed cells, gathered, sorted, merged.
 *
 * A row is its key of 64 bits and the cells of the columns that the table has, each in the bytes of its type.
 * Rows travel between ranks as they are; equal keys are merged column by column in integers, so that the
 * table depends neither on who had which row nor on the order of their arrival.
 *
 * A large system has many rows: with one rank they are not copied, and what is in order already (then always)
 * is not sorted, for which glibc's qsort would take as much memory again.
 */
#include "stats/columns.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char type_bytes[] = {
    [STATS_U8] = 1,   [STATS_U16] = 2,   [STATS_U32] = 4,   [STATS_U64] = 8,   [STATS_TIME] = 8,
    [STATS_TEXT] = 4, [STATS_SHARE] = 8, [STATS_RATIO] = 8, [STATS_MEAN] = 16, [STATS_DEVIATION] = 16,
};

/* Of the columns that name a row the last one changes from row to row, those before it do not. */
static void prefix_find(struct stats_table *t)
{
    size_t i = 0;
    while (i < t->columns && t->place[i].column->merge == STATS_SAME)
        i++;
    t->prefix_columns = i ? i - 1 : 0;
    t->prefix = i ? t->place[i - 1].offset - sizeof(uint64_t) : 0;
}

static void column_place(struct stats_table *t, const struct stats_column *c)
{
    unsigned bytes = type_bytes[c->type];
    t->place[t->columns++] = (struct table_place){
        c, t->row_bytes, c->type, bytes, -1, -1, UINT64_MAX >> 8 * (bytes < 8 ? 8 - bytes : 0)};
    t->row_bytes += bytes;
}

struct stats_table *stats_table_new(const struct stats_schema *schema, const void *context, uint64_t divisor)
{
    struct stats_table *t = ker_alloc(sizeof *t);
    t->schema = schema;
    t->context = context;
    t->divisor = divisor;
    t->place = ker_alloc((schema->columns + 1) * sizeof *t->place);
    t->row_bytes = sizeof(uint64_t);
    for (size_t i = 0; i < schema->columns; i++) {
        const struct stats_column *c = &schema->column[i];
        if (c->wanted && !c->wanted(context))
            t->row_bytes += type_bytes[c->type]; /* it is filled in all the same */
        else
            column_place(t, c);
    }
    for (size_t i = 0; i < t->columns; i++)
        if (t->place[i].column->by)
            t->place[i].by = stats_table_find(t, t->place[i].column->by, false);
    for (size_t i = 0; i < t->columns; i++)
        if (t->place[i].column->of)
            t->place[i].of = stats_table_find(t, t->place[i].column->of, false);
    prefix_find(t);
    t->job = stats_table_find(t, "job", true);
    return t;
}

void stats_table_extend(struct stats_table *t, const struct stats_column *column, uint64_t mark)
{
    column_place(t, column);
    t->extended = true;
    t->mark = mark;
}

void stats_table_mark(struct stats_table *t, uint64_t mark)
{
    t->mark = mark;
}

struct stats_table *stats_table_like(const struct stats_table *t)
{
    struct stats_table *like = stats_table_new(t->schema, t->context, t->divisor);
    if (t->extended)
        stats_table_extend(like, t->place[t->columns - 1].column, t->mark);
    return like;
}

void stats_table_free(struct stats_table *t)
{
    if (!t)
        return;
    free(t->place);
    free(t->row);
    free(t);
}

void stats_table_clear(struct stats_table *t)
{
    t->rows = 0;
}

int stats_table_find(const struct stats_table *t, const char *column, bool optional)
{
    for (size_t i = 0; i < t->columns; i++)
        if (strcmp(t->place[i].column->name, column) == 0)
            return (int)i;
    ker_assert(optional);
    return -1;
}

void stats_table_find_all(const struct stats_table *t, const char *const *name, size_t count, int *column)
{
    for (size_t i = 0; i < count; i++)
        column[i] = stats_table_find(t, name[i], true);
}

size_t stats_table_rows(const struct stats_table *t)
{
    return t->rows;
}

size_t stats_table_row_bytes(const struct stats_table *t)
{
    return t->row_bytes;
}

static char *row_at(const struct stats_table *t, size_t row)
{
    return t->row + row * t->row_bytes;
}

void stats_table_reserve(struct stats_table *t, size_t rows)
{
    if (rows > t->room) {
        t->room = rows;
        t->row = ker_realloc(t->row, t->room * t->row_bytes + TABLE_SLACK);
    }
}

void stats_table_add(struct stats_table *t, const void *row)
{
    if (t->rows == t->room)
        stats_table_reserve(t, t->room ? 2 * t->room : 16);
    char *to = row_at(t, t->rows++);
    uint64_t key = t->schema->key(row);
    memcpy(to, &key, sizeof key);
    t->schema->fill(row, to + sizeof key);
    if (__builtin_expect(t->extended, 0))
        table_cell_put(to, &t->place[t->columns - 1], t->mark);
}

void stats_table_copy(struct stats_table *t, const struct stats_table *from, size_t row)
{
    if (t->rows == t->room)
        stats_table_reserve(t, t->room ? 2 * t->room : 16);
    memcpy(row_at(t, t->rows++), row_at(from, row), t->row_bytes);
}

stats_cell stats_table_cell(const struct stats_table *t, size_t row, int column)
{
    return table_cell_get(row_at(t, row), &t->place[column]);
}

uint64_t stats_table_key(const struct stats_table *t, size_t row)
{
    return table_row_key(row_at(t, row));
}

const char *stats_table_text(const struct stats_table *t, size_t row, int column)
{
    return t->place[column].column->text(t->context, (uint32_t)stats_table_cell(t, row, column));
}

/* ---- rows of all ranks ---- */

static int row_compare(const void *left, const void *right)
{
    uint64_t a = table_row_key(left), b = table_row_key(right);
    return (a > b) - (a < b);
}

/* In order, and no key twice: usual, and nothing is to be done then. */
static bool rows_sorted(const struct stats_table *t)
{
    for (size_t i = 1; i < t->rows; i++)
        if (stats_table_key(t, i - 1) >= stats_table_key(t, i))
            return false;
    return true;
}

bool table_rows_ordered(const struct stats_table *t)
{
    for (size_t i = 1; i < t->rows; i++)
        if (stats_table_key(t, i - 1) > stats_table_key(t, i))
            return false;
    return true;
}

void table_row_merge(const struct stats_table *t, char *row, const char *other)
{
    for (size_t i = 0; i < t->columns; i++) {
        const struct table_place *p = &t->place[i];
        stats_cell a = table_cell_get(row, p), b = table_cell_get(other, p);
        if (p->column->merge == STATS_SUM)
            table_cell_put(row, p, a + b);
        else if (p->column->merge == STATS_MOST)
            table_cell_put(row, p, a > b ? a : b);
        else
            ker_assert(a == b);
    }
}

static void rows_merge(struct stats_table *t)
{
    size_t last = 0;
    for (size_t i = 1; i < t->rows; i++) {
        if (stats_table_key(t, i) == stats_table_key(t, last))
            table_row_merge(t, row_at(t, last), row_at(t, i));
        else if (++last != i)
            memcpy(row_at(t, last), row_at(t, i), t->row_bytes);
    }
    t->rows = t->rows ? last + 1 : 0;
}

void table_rows_sort(struct stats_table *t)
{
    if (rows_sorted(t))
        return;
    qsort(t->row, t->rows, t->row_bytes, row_compare);
    rows_merge(t);
}

static void rows_collect(struct stats_table *t, struct ker_comm *comm)
{
    void *all;
    size_t *offset;
    ker_comm_gather(comm, t->row, t->rows * t->row_bytes, &all, &offset);
    free(t->row);
    t->row = offset ? ker_realloc(all, offset[ker_comm_size(comm)] + TABLE_SLACK) : all;
    t->rows = t->room = offset ? offset[ker_comm_size(comm)] / t->row_bytes : 0;
    free(offset);
}

void stats_table_gather(struct stats_table *t, struct ker_comm *comm)
{
    table_rows_sort(t);
    if (ker_comm_size(comm) == 1)
        return;
    rows_collect(t, comm);
    table_rows_sort(t);
}
