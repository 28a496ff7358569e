/* merge.c - a merge of streams that are in order, each of one rank.
 *
 * The other ranks send their batches one after the other; a send waits until rank 0 takes it, when it has
 * used up the batch before. Behind the last batch comes an empty one. No record is on two ranks, so that the
 * order of the merged stream is total.
 */
#include "stats/timelines/merge.h"

#include <stdlib.h>

#define BATCH 1024u

struct stream {
    struct line_record *record; /* of another rank: a batch */
    uint32_t at, count;
    const struct line_record *now;
};

struct merger {
    struct line_cursor *own;
    struct ker_comm *comm;
    struct stream *stream;
    int *heap, streams; /* of the ranks that have records left */
};

static void batches_send(struct merger *m)
{
    struct line_record *record = ker_alloc(BATCH * sizeof *record);
    const struct line_record *next;
    uint32_t count;
    do {
        for (count = 0; count < BATCH && (next = line_cursor_next(m->own)) != NULL; count++)
            record[count] = *next;
        ker_comm_put(m->comm, &count, sizeof count);
        ker_comm_put(m->comm, record, count * sizeof *record);
    } while (count);
    free(record);
}

/* To the next record of a rank; false: there is none. */
static bool stream_next(struct merger *m, int rank)
{
    struct stream *s = &m->stream[rank];
    if (rank == 0) {
        s->now = line_cursor_next(m->own);
        return s->now != NULL;
    }
    s->now = &s->record[++s->at];
    if (s->at < s->count)
        return true;
    ker_comm_take(m->comm, rank, &s->count, sizeof s->count);
    ker_comm_take(m->comm, rank, s->record, s->count * sizeof *s->record);
    s->now = s->record;
    s->at = 0;
    return s->count > 0;
}

static const struct line_record *stream_record(const struct merger *m, int rank)
{
    return m->stream[rank].now;
}

/* Of the merger m. */
#define SOONER(a, b) line_before(stream_record(m, *(a)), stream_record(m, *(b)))

static void all_visit(struct merger *m, void (*visit)(void *, const struct line_record *), void *context)
{
    int ranks = ker_comm_size(m->comm);
    m->stream = ker_alloc((size_t)ranks * sizeof *m->stream);
    m->heap = ker_alloc((size_t)ranks * sizeof *m->heap);
    for (int rank = 0; rank < ranks; rank++) {
        if (rank)
            m->stream[rank].record = ker_alloc(BATCH * sizeof *m->stream[rank].record);
        if (stream_next(m, rank))
            m->heap[m->streams++] = rank;
    }
    KER_HEAP_MAKE(m->heap, m->streams, SOONER);
    while (m->streams > 1 || (m->streams && m->heap[0] != 0)) {
        visit(context, stream_record(m, m->heap[0]));
        if (!stream_next(m, m->heap[0]))
            m->heap[0] = m->heap[--m->streams];
        KER_HEAP_SINK(m->heap, m->streams, 0, m->heap[0], SOONER);
    }
    for (const struct line_record *r = m->streams ? m->stream[0].now : NULL; r; r = line_cursor_next(m->own))
        visit(context, r); /* only own ones are left */
    for (int rank = 0; rank < ranks; rank++)
        free(m->stream[rank].record);
    free(m->stream);
    free(m->heap);
}

void line_merge(struct line_store *store, uint8_t level, const uint16_t *rename, struct ker_comm *comm,
                void (*visit)(void *context, const struct line_record *), void *context)
{
    struct merger m = {.own = line_cursor_new(store, level, rename), .comm = comm};
    if (ker_comm_rank(comm) == 0)
        all_visit(&m, visit, context);
    else
        batches_send(&m);
    line_cursor_free(m.own);
}
