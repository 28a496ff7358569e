/* cut_windows.c - one-sided calls: those of an epoch that begins in the part.
 *
 * A lock in the part is unlocked, a start completed and a post waited for, though behind the part; calls on a
 * window are left out when it is not made by all of its tasks, or when their lock, start or fence was before
 * the part. A start for a task and that task's post are like the two sides of a message, and so it is decided
 * which of them are kept.
 */
#include "tools/marsconv/cut_write.h"

#include <stdlib.h>
#include <string.h>

struct cut_window {
    bool kept; /* it has been made in the part */
    bool fenced, all, started, posted;
    uint32_t *locked; /* targets */
    size_t locks, locks_room;
    uint32_t *target; /* tasks of the start */
    size_t targets, targets_room;
};

static struct cut_window *window_at(struct cut_writing *w, int64_t number)
{
    return number <= 0 || number > CONV_WINDOWS_MOST ? NULL : TRACE_AT(w->window, w->windows_room, number);
}

void cut_windows_release(struct cut_writing *w)
{
    for (size_t i = 0; i < w->windows_room; i++) {
        free(w->window[i].locked);
        free(w->window[i].target);
    }
    free(w->window);
}

void cut_window_collective(struct cut_writing *w, const struct mars_record *r, bool keep)
{
    struct cut_window *made = window_at(w, mars_number(r, MARS_FIELD_newwin, 0));
    struct cut_window *window = window_at(w, mars_number(r, MARS_FIELD_win, 0));
    if (made)
        made->kept = keep;
    else if (window && strcmp(r->function->name, "MPI_Win_fence") == 0)
        window->fenced = keep;
    else if (window && keep)
        window->kept = false;
}

bool cut_window_is(struct cut_writing *w, const struct mars_record *r)
{
    const struct cut_window *window = window_at(w, mars_number(r, MARS_FIELD_win, 0));
    return !window || window->kept;
}

/* ---- epochs ---- */

/* The members of a start or post that are kept stay. */
static bool group_keep(struct cut_writing *w, const struct mars_record *r, struct cut_window *window,
                       bool starts)
{
    const struct mars_value *list = mars_list(r, MARS_FIELD_members);
    uint32_t count = list ? list->count : 0, left = 0;
    int64_t *to = cut_list_begin(w, 0, count);
    if (starts)
        window->targets = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!cut_slot_next(w))
            continue;
        to[left++] = list->list[i];
        if (starts)
            *KER_PUSH(window->target, window->targets, window->targets_room) = (uint32_t)list->list[i];
    }
    if (list)
        cut_list_end(w, r, MARS_FIELD_members, 0, left);
    return left > 0;
}

static bool lock_is(struct cut_window *window, int64_t target, bool drop)
{
    size_t at = 0;
    while (at < window->locks && window->locked[at] != target)
        at++;
    bool is = at < window->locks;
    if (is && drop)
        window->locked[at] = window->locked[--window->locks];
    return is;
}

static bool ended(bool *epoch)
{
    bool was = *epoch;
    *epoch = false;
    return was;
}

/* Opens or ends an epoch; false: it does neither. */
static bool epoch_keep(struct cut_writing *w, const struct mars_record *r, struct cut_window *window,
                       enum cut_place place, bool *keep)
{
    const char *name = r->function->name + 8; /* behind MPI_Win_ */
    int64_t target = mars_number(r, MARS_FIELD_target, -1);
    bool inside = place == CUT_INSIDE;
    if (strcmp(name, "lock") == 0) {
        *keep = inside;
        if (inside && target >= 0)
            *KER_PUSH(window->locked, window->locks, window->locks_room) = (uint32_t)target;
    } else if (strcmp(name, "lock_all") == 0) {
        *keep = window->all = inside;
    } else if (strcmp(name, "start") == 0) {
        *keep = window->started = inside && group_keep(w, r, window, true);
    } else if (strcmp(name, "post") == 0) {
        *keep = window->posted = inside && group_keep(w, r, window, false);
    } else if (strcmp(name, "unlock") == 0) {
        *keep = lock_is(window, target, true);
    } else if (strcmp(name, "unlock_all") == 0) {
        *keep = ended(&window->all);
    } else if (strcmp(name, "complete") == 0) {
        *keep = ended(&window->started);
    } else if (strcmp(name, "wait") == 0 ||
               (strcmp(name, "test") == 0 && mars_number(r, MARS_FIELD_flag, 0) != 0)) {
        *keep = ended(&window->posted);
    } else {
        return false;
    }
    return true;
}

/* Is there an epoch in the part for a call on the memory of a task? */
static bool target_is(struct cut_writing *w, const struct mars_record *r, struct cut_window *window,
                      int64_t comm)
{
    int64_t target = mars_number(r, MARS_FIELD_target, -1);
    const struct mars_comm *c = w->at.task.about->comm[comm];
    if (target < 0 || window->all || window->fenced || lock_is(window, target, false))
        return true;
    int64_t task = (uint64_t)target < c->member.count ? mars_rank_at(&c->member, (uint32_t)target) : -1;
    for (size_t i = 0; window->started && i < window->targets; i++)
        if (window->target[i] == task)
            return true;
    return false;
}

bool cut_window_keep(struct cut_writing *w, const struct mars_record *r, int64_t comm, enum cut_place place)
{
    struct cut_window *window = window_at(w, mars_number(r, MARS_FIELD_win, 0));
    bool known = mars_comm_at(w->at.task.about, comm) != NULL;
    bool win = strncmp(r->function->name, "MPI_Win_", 8) == 0, keep = false;
    struct cut_request *q = r->function->at[MARS_FIELD_request] >= 0 && place != CUT_AFTER
                                ? cut_request_at(w, mars_number(r, MARS_FIELD_request, 0))
                                : NULL;
    if (!window || !known || (!win || !epoch_keep(w, r, window, place, &keep)))
        keep = window && known && place == CUT_INSIDE && target_is(w, r, window, comm);
    keep = keep && window->kept;
    if (!keep && place == CUT_INSIDE)
        conv_lost(w->cut->losses, 1,
                  "a one-sided call whose epoch or window is not whole in the part is left out");
    if (q)
        *q = (struct cut_request){.kept = keep};
    return keep;
}
