/* cut_values.c - what a record that is kept was called with, where that is not what it was: lists become
 * shorter, ranks are those among the tasks that are left.
 */
#include "tools/marsconv/cut_write.h"

#include <string.h>

struct cut_request *cut_request_at(struct cut_writing *w, int64_t number)
{
    return CONV_REQUEST_AT(w->request, w->requests, number);
}

bool cut_slot_next(struct cut_writing *w)
{
    return w->slot < w->kept->messages && w->kept->message[w->slot++];
}

void cut_value_set(struct cut_writing *w, const struct mars_record *r, enum mars_field field, int64_t number)
{
    int at = r->function->at[field];
    if (at >= 0)
        w->value[at].number = number;
}

int64_t *cut_list_begin(struct cut_writing *w, int which, size_t count)
{
    KER_RESERVE(w->list[which], w->room[which], count + 1);
    return w->list[which];
}

void cut_list_end(struct cut_writing *w, const struct mars_record *r, enum mars_field field, int which,
                  uint32_t count)
{
    struct mars_value *value = &w->value[r->function->at[field]];
    value->list = w->list[which];
    value->count = count;
}

int64_t cut_rank_map(const struct cut_map *map, bool remote, int64_t rank)
{
    const int32_t *ranks = remote ? map->remote : map->rank;
    uint32_t size = remote ? map->remote_size : map->size;
    return rank < 0 ? rank : (uint64_t)rank < size ? ranks[rank] : -1;
}

/* Lists with an entry for each task of the communicator lose those that are gone. */
static void each_map(struct cut_writing *w, const struct mars_record *r, enum mars_field field, int which,
                     const struct cut_map *map, bool remote)
{
    const struct mars_value *list = mars_list(r, field);
    uint32_t left = 0;
    if (!list || list->count != (remote ? map->remote_size : map->size))
        return;
    int64_t *to = cut_list_begin(w, which, list->count);
    for (uint32_t i = 0; i < list->count; i++)
        if (cut_rank_map(map, remote, i) >= 0)
            to[left++] = list->list[i];
    cut_list_end(w, r, field, which, left);
}

/* Of an intercommunicator only some know which task the root is; the sums of a Reduce_scatter's counts are
 * the same in both groups. So these are made by all, or not at all. */
static bool needs_all(const struct mars_function *f)
{
    return f->at[MARS_FIELD_root] >= 0 || strstr(f->name, "educe_scatter") != NULL;
}

/* Has the communicator lost members? */
static bool is_less(const struct cut_writing *w, int64_t number)
{
    const struct mars_comm *now = w->comm[number], *was = w->at.task.about->comm[number];
    return now->member.count < was->member.count || now->remote.count < was->remote.count;
}

/* Is it an intercommunicator? Is nobody left of its other group? */
static bool is_inter(const struct cut_writing *w, int64_t number)
{
    return number > 0 && (uint64_t)number < w->comms && w->comm[number] && w->comm[number]->inter;
}

static bool is_alone(const struct cut_writing *w, int64_t number)
{
    return is_inter(w, number) && w->comm[number]->remote.count == 0;
}

/* Does the call join two groups of which one is gone? (A part of an intercommunicator is made by all of it.)
 */
static bool joins_nobody(const struct cut_writing *w, const struct mars_record *r, int64_t comm)
{
    return is_alone(w, comm) || (!is_inter(w, comm) && is_alone(w, mars_number(r, MARS_FIELD_newcomm, 0)));
}

bool cut_ranks_map(struct cut_writing *w, const struct mars_record *r, int64_t number)
{
    static const enum mars_field fields[] = {MARS_FIELD_dest, MARS_FIELD_source, MARS_FIELD_root,
                                             MARS_FIELD_from, MARS_FIELD_target};
    const struct mars_value *members = mars_list(r, MARS_FIELD_members);
    if (members && !w->cut->by_time) {
        uint32_t left = 0;
        int64_t *to = cut_list_begin(w, 0, members->count);
        for (uint32_t i = 0; i < members->count; i++)
            if (cut_has(w->cut, members->list[i]))
                to[left++] = members->list[i] - w->cut->first;
        cut_list_end(w, r, MARS_FIELD_members, 0, left);
    }
    if (!w->cut->by_time && joins_nobody(w, r, number))
        return false;
    if (w->cut->by_time || number <= 0 || (uint64_t)number >= w->comms || !w->comm[number])
        return true;
    const struct cut_map *map = &w->map[number];
    bool inter = w->comm[number]->inter;
    if (inter && needs_all(r->function) && is_less(w, number))
        return false;
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        int64_t rank = mars_number(r, fields[i], -1);
        if (rank < 0)
            continue;
        int64_t now = cut_rank_map(map, inter && fields[i] != MARS_FIELD_target, rank);
        if (now < 0 && (fields[i] == MARS_FIELD_root || fields[i] == MARS_FIELD_target))
            return false;
        cut_value_set(w, r, fields[i], now);
    }
    if (strstr(r->function->name, "eighbor") == NULL) {
        each_map(w, r, MARS_FIELD_bytes_each, 1, map, inter);
        each_map(w, r, MARS_FIELD_recvbytes_each, 2, map, inter);
    }
    return true;
}
