/* stream.c - the rows of all ranks, one after the other, without anybody holding them all.
 *
 * Every rank makes its rows in increasing order of their keys, a batch at a time. The other ranks send their
 * batches to rank 0 in order; a send waits until rank 0 takes it, which it does when it has used up the batch
 * before: so rank 0 holds one batch of each rank. Of the ranks' next rows it takes that with the least key (a
 * heap of ranks); rows of one key, of one rank or of several, become one before they are shown.
 */
#include "stats/columns.h"

#include <stdlib.h>

#define BATCH_BYTES ((size_t)64 << 10)

/* What rank 0 has of a rank. */
struct stream {
    char *row; /* of this rank itself: the table's */
    size_t at, rows;
};

struct merger {
    struct stats_table *table, *shown; /* own batches; the row that is shown next, if there is one */
    struct ker_comm *comm;
    const struct stats_rows *own;
    struct stream *stream;
    int *heap, streams; /* of the ranks that have rows left, by their next key and by rank */
};

static size_t batch_rows(const struct stats_table *t)
{
    return BATCH_BYTES / t->row_bytes + 1;
}

/* The next batch of this rank; false: there is none. */
static bool batch_make(struct stats_table *t, const struct stats_rows *own)
{
    t->rows = 0;
    size_t most = batch_rows(t);
    while (t->rows < most && own->next(own->context, t))
        ;
    ker_assert(table_rows_ordered(t));
    return t->rows > 0;
}

/* Behind the last batch comes an empty one. */
static void batches_send(struct stats_table *t, struct ker_comm *comm, const struct stats_rows *own)
{
    bool more;
    do {
        more = batch_make(t, own);
        uint64_t rows = t->rows;
        ker_comm_put(comm, &rows, sizeof rows);
        ker_comm_put(comm, t->row, t->rows * t->row_bytes);
    } while (more);
    t->rows = 0;
}

/* ---- rank 0 ---- */

/* The next batch of a rank; false: it has no more rows. */
static bool batch_take(struct merger *m, int rank)
{
    struct stream *s = &m->stream[rank];
    uint64_t rows;
    s->at = 0;
    if (rank == 0) {
        bool more = batch_make(m->table, m->own);
        *s = (struct stream){m->table->row, 0, m->table->rows};
        return more;
    }
    ker_comm_take(m->comm, rank, &rows, sizeof rows);
    s->row = ker_realloc(s->row, rows * m->table->row_bytes);
    ker_comm_take(m->comm, rank, s->row, rows * m->table->row_bytes);
    s->rows = rows;
    return rows > 0;
}

static const char *next_row(const struct merger *m, int rank)
{
    const struct stream *s = &m->stream[rank];
    return s->row + s->at * m->table->row_bytes;
}

static bool row_before(const struct merger *m, int a, int b)
{
    uint64_t left = table_row_key(next_row(m, a)), right = table_row_key(next_row(m, b));
    return left < right || (left == right && a < b);
}
#define BEFORE(a, b) row_before(m, *(a), *(b)) /* of the merger m */

static void merger_init(struct merger *m)
{
    int ranks = ker_comm_size(m->comm);
    m->stream = ker_alloc((size_t)ranks * sizeof *m->stream);
    m->heap = ker_alloc((size_t)ranks * sizeof *m->heap);
    for (int rank = 0; rank < ranks; rank++)
        if (batch_take(m, rank))
            m->heap[m->streams++] = rank;
    KER_HEAP_MAKE(m->heap, m->streams, BEFORE);
}

static void merger_release(struct merger *m)
{
    for (int rank = 1; rank < ker_comm_size(m->comm); rank++)
        free(m->stream[rank].row);
    free(m->stream);
    free(m->heap);
    m->table->rows = 0;
}

/* Behind the row that has the least key. */
static void merger_advance(struct merger *m)
{
    int rank = m->heap[0];
    struct stream *s = &m->stream[rank];
    if (++s->at == s->rows && !batch_take(m, rank))
        m->heap[0] = m->heap[--m->streams];
    KER_HEAP_SINK(m->heap, m->streams, 0, m->heap[0], BEFORE);
}

static void rows_merge_all(struct merger *m, const struct stats_visitor *v)
{
    struct stats_table *shown = m->shown;
    for (; m->streams; merger_advance(m)) {
        const char *row = next_row(m, m->heap[0]);
        if (shown->rows && table_row_key(row) == table_row_key(shown->row)) {
            table_row_merge(shown, shown->row, row);
            continue;
        }
        if (shown->rows)
            v->row(v->context, shown, 0);
        memcpy(shown->row, row, shown->row_bytes);
        shown->rows = 1;
    }
    if (shown->rows)
        v->row(v->context, shown, 0);
}

void stats_table_stream(struct stats_table *t, struct ker_comm *comm, const struct stats_rows *own,
                        const struct stats_visitor *visitor)
{
    if (ker_comm_rank(comm) != 0) {
        batches_send(t, comm, own);
        return;
    }
    struct merger m = {.table = t, .shown = stats_table_like(t), .comm = comm, .own = own};
    stats_table_reserve(m.shown, 1);
    merger_init(&m);
    rows_merge_all(&m, visitor);
    merger_release(&m);
    stats_table_free(m.shown);
}

/* ---- of rows that a rank holds ---- */

struct held {
    const struct stats_table *table;
    size_t at;
};

static bool held_next(void *context, struct stats_table *batch)
{
    struct held *h = context;
    if (h->at == h->table->rows)
        return false;
    stats_table_copy(batch, h->table, h->at++);
    return true;
}

void stats_table_show(struct stats_table *t, struct ker_comm *comm, const struct stats_visitor *visitor)
{
    struct held held = {t, 0};
    table_rows_sort(t);
    if (ker_comm_size(comm) == 1) {
        for (size_t row = 0; row < t->rows; row++)
            visitor->row(visitor->context, t, row);
        return;
    }
    struct stats_table *batch = stats_table_like(t);
    stats_table_stream(batch, comm, &(struct stats_rows){held_next, &held}, visitor);
    stats_table_free(batch);
}
