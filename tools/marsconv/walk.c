/* walk.c - see walk.h. */
#include "tools/marsconv/walk.h"

#include <stdlib.h>

static const struct ker_table_kind kind = KER_TABLE_U64(struct conv_probed);

bool conv_walk_begin(struct conv_walk *w, struct conv_source *source, uint32_t task, uint32_t thread,
                     struct mars_error *error)
{
    return conv_task_open(&w->task, source, task, error) && conv_thread_open(&w->task, thread, error);
}

static void window_note(struct conv_walk *w)
{
    int64_t made = conv_walk_number(w, MARS_FIELD_newwin, 0), comm = conv_walk_number(w, MARS_FIELD_comm, 0);
    if (made <= 0 || made > CONV_WINDOWS_MOST || !mars_comm_at(w->task.about, comm))
        return;
    *TRACE_AT(w->window, w->windows, made) =
        (struct conv_window){(uint32_t)comm, ++*TRACE_AT(w->made, w->made_room, comm)};
}

int64_t conv_walk_comm(const struct conv_walk *w)
{
    int64_t comm = conv_walk_number(w, MARS_FIELD_comm, 0), win = conv_walk_number(w, MARS_FIELD_win, 0);
    return comm > 0 || win <= 0 || (uint64_t)win >= w->windows ? comm : w->window[win].comm;
}

bool conv_walk_next(struct conv_walk *w, struct mars_error *error)
{
    if (error->text[0] || !conv_next(&w->task, &w->record, error))
        return false;
    w->is = conv_function_of(&w->functions, &w->record);
    window_note(w);
    return true;
}

void conv_walk_end(struct conv_walk *w)
{
    conv_task_close(&w->task);
    ker_table_release(&w->probed);
    free(w->window);
    free(w->made);
}

static uint64_t key_of(const struct conv_walk *w)
{
    return 1 + (uint64_t)conv_walk_number(w, MARS_FIELD_message, 0);
}

void conv_walk_probed(struct conv_walk *w, int64_t comm)
{
    bool is_new;
    struct conv_probed probed = {key_of(w), comm, conv_walk_number(w, MARS_FIELD_from, MARS_PROC_NULL),
                                 conv_walk_number(w, MARS_FIELD_got_tag, MARS_ANY_TAG)};
    *(struct conv_probed *)ker_table_add(&kind, &w->probed, &probed, &is_new) = probed;
}

bool conv_walk_receives(struct conv_walk *w, struct conv_probed *probed)
{
    uint64_t key = key_of(w);
    struct conv_probed *entry = ker_table_find(&kind, &w->probed, &key);
    if (!entry)
        return false;
    *probed = *entry;
    ker_table_drop(&kind, &w->probed, entry);
    return true;
}

int64_t conv_task_of(const struct conv_source *source, const struct mars_comm *comm, int64_t rank)
{
    const struct mars_ranks *ranks = mars_comm_peers(comm);
    if (rank < 0 || (uint64_t)rank >= ranks->count)
        return -1;
    int32_t task = mars_rank_at(ranks, (uint32_t)rank);
    return (uint32_t)task < source->tasks ? task : -1;
}
