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
    struct line_record *record;
    uint32_t at, count;
};

struct merger {
    struct line_cursor *own;
    const uint16_t *rename;
    struct ker_comm *comm;
    struct stream *stream;
    int *heap, streams; /* of the ranks that have records left */
};

static uint32_t batch_make(struct line_cursor *own, const uint16_t *rename, struct line_record *record)
{
    uint32_t count = 0;
    for (; count < BATCH && line_cursor_next(own, &record[count]); count++)
        record[count].name = rename[record[count].name];
    return count;
}

static void batches_send(struct merger *m)
{
    struct line_record *record = ker_alloc(BATCH * sizeof *record);
    uint32_t count;
    do {
        count = batch_make(m->own, m->rename, record);
        ker_comm_put(m->comm, &count, sizeof count);
        ker_comm_put(m->comm, record, count * sizeof *record);
    } while (count);
    free(record);
}

/* The next batch of a rank; false: there is none. */
static bool batch_take(struct merger *m, int rank)
{
    struct stream *s = &m->stream[rank];
    s->at = 0;
    if (rank == 0) {
        s->count = batch_make(m->own, m->rename, s->record);
        return s->count > 0;
    }
    ker_comm_take(m->comm, rank, &s->count, sizeof s->count);
    ker_comm_take(m->comm, rank, s->record, s->count * sizeof *s->record);
    return s->count > 0;
}

static const struct line_record *stream_record(const struct merger *m, int rank)
{
    return &m->stream[rank].record[m->stream[rank].at];
}

static void heap_sink(struct merger *m, int place)
{
    for (;;) {
        int least = place;
        for (int child = 2 * place + 1; child <= 2 * place + 2 && child < m->streams; child++)
            if (line_before(stream_record(m, m->heap[child]), stream_record(m, m->heap[least])))
                least = child;
        if (least == place)
            return;
        int rank = m->heap[place];
        m->heap[place] = m->heap[least];
        m->heap[least] = rank;
        place = least;
    }
}

static void all_visit(struct merger *m, void (*visit)(void *, const struct line_record *), void *context)
{
    int ranks = ker_comm_size(m->comm);
    m->stream = ker_alloc((size_t)ranks * sizeof *m->stream);
    m->heap = ker_alloc((size_t)ranks * sizeof *m->heap);
    for (int rank = 0; rank < ranks; rank++) {
        m->stream[rank].record = ker_alloc(BATCH * sizeof *m->stream[rank].record);
        if (batch_take(m, rank))
            m->heap[m->streams++] = rank;
    }
    for (int place = m->streams; place-- > 0;)
        heap_sink(m, place);
    while (m->streams) {
        struct stream *s = &m->stream[m->heap[0]];
        visit(context, &s->record[s->at]);
        if (++s->at == s->count && !batch_take(m, m->heap[0]))
            m->heap[0] = m->heap[--m->streams];
        if (m->streams > 1)
            heap_sink(m, 0);
    }
    for (int rank = 0; rank < ranks; rank++)
        free(m->stream[rank].record);
    free(m->stream);
    free(m->heap);
}

void line_merge(struct line_store *store, uint8_t level, const uint16_t *rename, struct ker_comm *comm,
                void (*visit)(void *context, const struct line_record *), void *context)
{
    struct merger m = {.own = line_cursor_new(store, level), .rename = rename, .comm = comm};
    if (ker_comm_rank(comm) == 0)
        all_visit(&m, visit, context);
    else
        batches_send(&m);
    line_cursor_free(m.own);
}
