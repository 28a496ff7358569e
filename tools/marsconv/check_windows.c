/* check_windows.c - one-sided calls: locks, epochs and windows of each task, and what the tasks of a window
 * must have in common.
 *
 * A window is known by its communicator and how many the task made there before. Each task counts its fences
 * on it, which all others must have, too. A post for a task and that task's start with the other are given as
 * one number, into a sum of the posts and one of the starts, which must be equal over all tasks.
 */
#include "tools/marsconv/check.h"

#include <stdlib.h>
#include <string.h>

struct check_window {
    uint64_t comm; /* id; 0: there is no such window */
    uint32_t made; /* how many there were on it */
    bool freed, all, started, posted, fenced;
    uint64_t fences, posts, starts; /* the latter two: sums */
    uint32_t *locked;               /* targets */
    size_t locks, room;
};

struct place {
    struct check *check;
    const struct conv_walk *at;
};

#define FOUND(p, format, ...)                                                                                \
    check_found((p)->check, (p)->at->task.about->number, check_at(&(p)->at->task, (p)->at->record.number),   \
                "%s: " format, (p)->at->record.call.function->name, __VA_ARGS__)

static bool is(const struct place *p, const char *name)
{
    const char *whole = p->at->record.call.function->name;
    return strncmp(whole, "MPI_", 4) == 0 && strcmp(whole + 4, name) == 0;
}

/* ---- of all tasks ---- */

struct joined { /* a window, as the tasks have it */
    uint64_t comm;
    uint32_t made, first;
    uint64_t fences, posts, starts;
};

KER_TABLE_KEY(static, joined_kind, struct joined, made);

static void window_join(struct check_window *w, size_t number, struct check *check, uint32_t task)
{
    bool is_new;
    struct joined wanted = {.comm = w->comm, .made = w->made, .first = task, .fences = w->fences};
    struct joined *j = w->comm ? ker_table_add(&joined_kind, &check->windows, &wanted, &is_new) : NULL;
    free(w->locked);
    if (!j)
        return;
    if (is_new)
        *j = wanted;
    if (j->fences != w->fences)
        check_found(check, task, 0, "window %zu: %llu fences, and %llu of task %u", number,
                    (unsigned long long)w->fences, (unsigned long long)j->fences, j->first);
    j->posts += w->posts;
    j->starts += w->starts;
}

/* ---- of one task ---- */

static void window_make(struct check_windows *all, const struct place *p)
{
    int64_t number = conv_walk_number(p->at, MARS_FIELD_newwin, 0);
    const struct mars_task *about = p->at->task.about;
    const struct mars_comm *comm = mars_comm_at(about, conv_walk_number(p->at, MARS_FIELD_comm, 0));
    if (number < 1 || number > CONV_WINDOWS_MOST) {
        FOUND(p, "window %lld is no number of one", (long long)number);
        return;
    }
    if (!comm)
        return; /* it is reported elsewhere */
    struct check_window *w = TRACE_AT(all->window, all->room, number);
    window_join(w, (size_t)number, p->check, about->number); /* a number that is used again */
    *w = (struct check_window){.comm = comm->id, .made = p->at->window[number].made};
}

static size_t lock_find(const struct check_window *w, int64_t target)
{
    size_t i = 0;
    while (i < w->locks && w->locked[i] != target)
        i++;
    return i;
}

static void lock_check(struct check_window *w, const struct place *p, int64_t target)
{
    size_t at = lock_find(w, target);
    bool locked = at < w->locks;
    if (target < 0)
        return;
    if (is(p, "Win_lock")) {
        if (locked || w->all)
            FOUND(p, "the memory of %lld is locked already", (long long)target);
        else
            *KER_PUSH(w->locked, w->locks, w->room) = (uint32_t)target;
    } else if (is(p, "Win_unlock")) {
        if (locked)
            w->locked[at] = w->locked[--w->locks];
        else
            FOUND(p, "the memory of %lld is not locked", (long long)target);
    } else if (!locked && !w->all &&
               (strncmp(p->at->record.call.function->name, "MPI_Win_flush", 13) == 0 ||
                (!w->started && !w->fenced))) {
        FOUND(p, "there is no epoch for %lld: no lock, fence, or start before", (long long)target);
    }
}

/* Each of the group, given as (who posts, who starts). */
static uint64_t group_sum(const struct place *p, bool posts)
{
    const struct mars_value *list = mars_list(&p->at->record.call, MARS_FIELD_members);
    uint64_t own = p->at->task.about->number, sum = 0;
    for (uint32_t i = 0; list && i < list->count; i++) {
        uint64_t other = (uint64_t)list->list[i];
        sum += ker_hash(ker_hash(posts ? own : other) + (posts ? other : own));
    }
    return sum;
}

static void epoch_turn(const struct place *p, bool *open, bool opens, const char *what)
{
    if (*open == opens)
        FOUND(p, "there is %s %s %s", opens ? "a" : "no", what, opens ? "already" : "before");
    *open = opens;
}

static void epoch_check(struct check_window *w, const struct place *p)
{
    if (is(p, "Win_lock_all")) {
        epoch_turn(p, &w->all, true, "lock of all");
    } else if (is(p, "Win_unlock_all")) {
        epoch_turn(p, &w->all, false, "lock of all");
    } else if (is(p, "Win_start")) {
        epoch_turn(p, &w->started, true, "start");
        w->starts += group_sum(p, false);
    } else if (is(p, "Win_complete")) {
        epoch_turn(p, &w->started, false, "start");
    } else if (is(p, "Win_post")) {
        epoch_turn(p, &w->posted, true, "post");
        w->posts += group_sum(p, true);
    } else if (is(p, "Win_wait") ||
               (is(p, "Win_test") && mars_number(&p->at->record.call, MARS_FIELD_flag, 0))) {
        epoch_turn(p, &w->posted, false, "post");
    } else if (is(p, "Win_fence")) {
        w->fenced = true;
        w->fences++;
    } else if (is(p, "Win_free")) {
        w->freed = true;
        if (w->locks || w->all || w->started || w->posted)
            FOUND(p, "%s is in progress", w->locks || w->all ? "a lock" : w->started ? "a start" : "a post");
    }
}

void check_window(struct check_windows *all, struct check *check, const struct conv_walk *at)
{
    const struct mars_function *f = at->record.call.function;
    const struct place p = {check, at};
    if (f->at[MARS_FIELD_newwin] >= 0) {
        window_make(all, &p);
        return;
    }
    int64_t number = conv_walk_number(at, MARS_FIELD_win, 0);
    struct check_window *w = number > 0 && (size_t)number < all->room ? &all->window[number] : NULL;
    if (!w || !w->comm || w->freed) {
        if (strncmp(f->name, "MPI_Win_", 8) != 0 || f->at[MARS_FIELD_target] >= 0 || is(&p, "Win_fence"))
            FOUND(&p, "window %lld %s", (long long)number,
                  w && w->freed ? "has been freed" : "has not been made");
        return;
    }
    if (f->at[MARS_FIELD_target] >= 0)
        lock_check(w, &p, conv_walk_number(at, MARS_FIELD_target, -1));
    else
        epoch_check(w, &p);
}

void check_windows_join(struct check_windows *all, struct check *check, uint32_t task)
{
    for (size_t i = 0; i < all->room; i++)
        window_join(&all->window[i], i, check, task);
    free(all->window);
    *all = (struct check_windows){0};
}

void check_windows_end(struct check *check)
{
    const struct joined *j = NULL;
    while ((j = ker_table_next(&joined_kind, &check->windows, j)))
        if (j->posts != j->starts)
            check_found(
                check, j->first, 0,
                "window %u of a communicator: its tasks' MPI_Win_post are not those that MPI_Win_start "
                "waits for",
                j->made);
    ker_table_release(&check->windows);
}
