/* cut_write.c - the records of a task in the part.
 *
 * What is not kept leaves its computation to the next record that is. Before the part only calls are kept
 * that make what later ones need: communicators, windows, files, persistent requests. Requests that are still
 * active at the end are waited for.
 */
#include "tools/marsconv/cut_write.h"

#include <stdlib.h>
#include <string.h>

#define REQUESTS_MOST ((int64_t)1 << 24)

static struct cut_request *request_at(struct cut_writing *w, int64_t number)
{
    size_t old = w->requests;
    if (number <= 0 || number > REQUESTS_MOST)
        return NULL;
    if ((size_t)number >= old) {
        KER_RESERVE(w->request, w->requests, (size_t)number + 1);
        memset(w->request + old, 0, (w->requests - old) * sizeof *w->request);
    }
    return &w->request[number];
}

static bool slot_next(struct cut_writing *w)
{
    return w->slot < w->kept->messages && w->kept->message[w->slot++];
}

/* ---- values ---- */

static void value_set(struct cut_writing *w, const struct mars_record *r, enum mars_field field,
                      int64_t number)
{
    int at = r->function->at[field];
    if (at >= 0)
        w->value[at].number = number;
}

static int64_t *list_begin(struct cut_writing *w, int which, size_t count)
{
    KER_RESERVE(w->list[which], w->room[which], count + 1);
    return w->list[which];
}

static void list_end(struct cut_writing *w, const struct mars_record *r, enum mars_field field, int which,
                     uint32_t count)
{
    struct mars_value *value = &w->value[r->function->at[field]];
    value->list = w->list[which];
    value->count = count;
}

static int64_t rank_map(const struct cut_map *map, bool remote, int64_t rank)
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
    int64_t *to = list_begin(w, which, list->count);
    for (uint32_t i = 0; i < list->count; i++)
        if (rank_map(map, remote, i) >= 0)
            to[left++] = list->list[i];
    list_end(w, r, field, which, left);
}

/* Ranks are those among the tasks that are left. False: the call's root or target is gone. */
static bool ranks_map(struct cut_writing *w, const struct mars_record *r, int64_t number)
{
    static const enum mars_field fields[] = {MARS_FIELD_dest, MARS_FIELD_source, MARS_FIELD_root,
                                             MARS_FIELD_from, MARS_FIELD_target};
    const struct mars_value *members = mars_list(r, MARS_FIELD_members);
    if (members && !w->cut->by_time) {
        uint32_t left = 0;
        int64_t *to = list_begin(w, 0, members->count);
        for (uint32_t i = 0; i < members->count; i++)
            if (cut_has(w->cut, members->list[i]))
                to[left++] = members->list[i] - w->cut->first;
        list_end(w, r, MARS_FIELD_members, 0, left);
    }
    if (w->cut->by_time || number <= 0 || (uint64_t)number >= w->comms || !w->comm[number])
        return true;
    const struct cut_map *map = &w->map[number];
    bool inter = w->comm[number]->inter;
    if (inter && w->comm[number]->remote.count == 0)
        return false;
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        int64_t rank = mars_number(r, fields[i], -1);
        if (rank < 0)
            continue;
        int64_t now = rank_map(map, inter && fields[i] != MARS_FIELD_target, rank);
        if (now < 0 && (fields[i] == MARS_FIELD_root || fields[i] == MARS_FIELD_target))
            return false;
        value_set(w, r, fields[i], now);
    }
    if (strstr(r->function->name, "eighbor") == NULL) {
        each_map(w, r, MARS_FIELD_bytes_each, 1, map, inter);
        each_map(w, r, MARS_FIELD_recvbytes_each, 2, map, inter);
    }
    return true;
}

/* ---- a record that is kept ---- */

static bool record_put(struct cut_writing *w, const struct conv_record *record,
                       const struct mars_value *value)
{
    struct conv_record copy = *record;
    copy.call.value = value;
    if (!record->first) {
        copy.call.gap_ns = w->gap_ns;
        copy.call.away_ns = w->away_ns;
    }
    copy.number = ++w->number;
    copy.start_ns = w->time_ns + copy.call.gap_ns;
    w->time_ns = copy.start_ns + copy.call.duration_ns + copy.call.rest_ns;
    w->day_ns = record->day_ns ? record->day_ns + (int64_t)(record->start_ns - copy.start_ns) : w->day_ns;
    copy.day_ns = w->day_ns;
    w->gap_ns = w->away_ns = 0;
    cut_about_sync(w);
    return w->sink->format->put(w->sink, &w->about, &copy, w->error);
}

/* One that the trace has not. */
static bool added_put(struct cut_writing *w, const struct mars_function *f, const struct mars_value *value)
{
    static const uint64_t counted[4];
    struct conv_record record = {.call = {.function = f, .polls = 1, .counted = counted}};
    return record_put(w, &record, value);
}

static bool requests_finish(struct cut_writing *w)
{
    size_t count = 0;
    int64_t *list = list_begin(w, 0, w->requests), *done = list_begin(w, 1, 4 * w->requests);
    for (size_t i = 1; i < w->requests; i++)
        if (w->request[i].kept & 1) {
            done[4 * count] = (int64_t)count;
            done[4 * count + 1] = -7;
            done[4 * count + 2] = done[4 * count + 3] = 0;
            list[count++] = (int64_t)i;
        }
    if (count == 0)
        return true;
    conv_lost(w->cut->losses, count, "a request that does not complete in the part is waited for at its end");
    const struct mars_function *f = cut_function(w, "MPI_Waitall", "requests done");
    struct mars_value value[2];
    value[f->at[MARS_FIELD_requests]] = (struct mars_value){.count = (uint32_t)count, .list = list};
    value[f->at[MARS_FIELD_done]] = (struct mars_value){.count = (uint32_t)(4 * count), .list = done};
    return added_put(w, f, value);
}

/* ---- which are ---- */

static bool persistent_keep(struct cut_writing *w, const struct mars_record *r, int64_t comm, bool sends,
                            bool receives, enum cut_place place)
{
    struct cut_request *q = request_at(w, mars_number(r, MARS_FIELD_request, 0));
    if (!q)
        return false;
    *q = (struct cut_request){place != CUT_AFTER ? 2 : 0, sends, receives, (uint32_t)comm};
    return q->kept;
}

static bool message_keep(struct cut_writing *w, const struct mars_record *r, const struct conv_function *is,
                         int64_t comm, enum cut_place place)
{
    bool exchange = is->sort == CONV_EXCHANGE;
    int64_t source = mars_number(r, MARS_FIELD_source, -1);
    bool sends = (is->sort == CONV_SEND || exchange) && mars_number(r, MARS_FIELD_dest, -1) >= 0;
    bool receives = (is->sort == CONV_RECV || exchange) && (source >= 0 || source == -2);
    if (is->persistent)
        return persistent_keep(w, r, comm, sends, receives, place);
    if (place != CUT_INSIDE)
        return false;
    bool send = sends && slot_next(w), receive = receives && slot_next(w);
    bool keep = send || receive || (!sends && !receives);
    if (sends && !send)
        conv_lost(w->cut->losses, 1, "a send of which the receive is not in the part is left out");
    if (receives && !receive)
        conv_lost(w->cut->losses, 1, "a receive of which the send is not in the part is left out");
    if (keep && sends && !send)
        value_set(w, r, MARS_FIELD_dest, -1);
    if (keep && receives && !receive)
        value_set(w, r, MARS_FIELD_source, -1);
    struct cut_request *q = is->request ? request_at(w, mars_number(r, MARS_FIELD_request, 0)) : NULL;
    if (q)
        *q = (struct cut_request){keep, false, false, (uint32_t)comm};
    return keep;
}

static bool start_keep(struct cut_writing *w, const struct mars_record *r, enum cut_place place)
{
    const struct mars_value *list = mars_list(r, MARS_FIELD_requests);
    uint32_t count = list ? list->count : 1, left = 0;
    int64_t *to = list_begin(w, 0, count);
    for (uint32_t i = 0; i < count && place == CUT_INSIDE; i++) {
        int64_t number = list ? list->list[i] : mars_number(r, MARS_FIELD_request, 0);
        struct cut_request *q = request_at(w, number);
        if (!q || q->kept < 2)
            continue;
        bool send = q->sends && slot_next(w), receive = q->receives && slot_next(w);
        if (!send && !receive && (q->sends || q->receives)) {
            conv_lost(w->cut->losses, 1, "a message that is not whole in the part is left out");
            continue;
        }
        q->kept = 3;
        to[left++] = number;
    }
    if (list)
        list_end(w, r, MARS_FIELD_requests, 0, left);
    return left > 0;
}

static bool complete_keep(struct cut_writing *w, const struct mars_record *r, enum cut_place place)
{
    const struct mars_value *list = mars_list(r, MARS_FIELD_requests), *done = mars_list(r, MARS_FIELD_done);
    uint32_t left = 0, held = 0;
    int64_t *number = list_begin(w, 0, list->count), *told = list_begin(w, 1, done->count);
    if (place != CUT_INSIDE)
        return false;
    for (uint32_t i = 0; i < list->count; i++) {
        struct cut_request *q = request_at(w, list->list[i]);
        number[i] = q && q->kept ? list->list[i] : 0;
        held += number[i] != 0;
    }
    for (uint32_t i = 0; i + 3 < done->count; i += 4) {
        int64_t index = done->list[i];
        struct cut_request *q = index >= 0 && index < list->count ? request_at(w, number[index]) : NULL;
        if (index != -1 && (!q || !(q->kept & 1)))
            continue;
        memcpy(told + left, done->list + i, 4 * sizeof *told);
        if (q && !w->cut->by_time && told[left + 1] >= 0 && q->comm && q->comm < w->comms && w->comm[q->comm])
            told[left + 1] = rank_map(&w->map[q->comm], w->comm[q->comm]->inter, told[left + 1]);
        if (q)
            q->kept = q->kept == 3 ? 2 : 0;
        left += 4;
    }
    list_end(w, r, MARS_FIELD_requests, 0, list->count);
    list_end(w, r, MARS_FIELD_done, 1, left);
    return left > 0 || (done->count == 0 && held > 0);
}

static bool collective_keep(struct cut_writing *w, const struct mars_record *r,
                            const struct conv_function *is, int64_t comm, enum cut_place place)
{
    bool creates = is->sort == CONV_CREATE;
    uint64_t sequence = w->sum[comm]++;
    bool keep = (place == CUT_INSIDE || (creates && place == CUT_BEFORE)) &&
                cut_collective(w->cut, w->task->about->comm[comm]->id, sequence, creates);
    struct cut_request *q = is->request ? request_at(w, mars_number(r, MARS_FIELD_request, 0)) : NULL;
    if (q)
        *q = (struct cut_request){keep, false, false, (uint32_t)comm};
    if (!keep && place == CUT_INSIDE)
        conv_lost(w->cut->losses, 1, "a collective that not all tasks make in the part is left out");
    return keep;
}

static bool other_keep(struct cut_writing *w, const struct mars_record *r, const struct conv_function *is,
                       enum cut_place place)
{
    const struct mars_function *f = r->function;
    struct cut_request *q =
        f->at[MARS_FIELD_request] >= 0 ? request_at(w, mars_number(r, MARS_FIELD_request, 0)) : NULL;
    bool probe = f->at[MARS_FIELD_source] >= 0 && f->at[MARS_FIELD_recvbytes] < 0;
    if (probe && mars_number(r, MARS_FIELD_flag, 1) != 0) {
        if (place == CUT_INSIDE)
            conv_lost(w->cut->losses, 1, "a probe that found something is left out");
        return false;
    }
    if (is->request) { /* of a window, or a file */
        if (q)
            *q = (struct cut_request){place == CUT_INSIDE, false, false, 0};
        return place == CUT_INSIDE;
    }
    if (f->at[MARS_FIELD_request] < 0)
        return place == CUT_INSIDE;
    bool keep = q && q->kept && place != CUT_AFTER && (place == CUT_INSIDE || q->kept >= 2);
    if (keep && strcmp(f->name, "MPI_Request_free") == 0)
        q->kept = 0;
    return keep;
}

static void sums_reserve(struct cut_writing *w)
{
    uint32_t comms = w->task->about->comms;
    if (comms <= w->sums)
        return;
    w->sum = ker_realloc(w->sum, comms * sizeof *w->sum);
    memset(w->sum + w->sums, 0, (comms - w->sums) * sizeof *w->sum);
    w->sums = comms;
}

/* What of the computation before the record is in the part. */
static void gap_add(struct cut_writing *w, const struct conv_record *record)
{
    uint64_t gap = record->call.gap_ns, end = record->start_ns - w->clock.zero_ns;
    uint64_t start = end > gap ? end - gap : 0;
    if (w->cut->by_time) {
        start = start > w->cut->from_ns ? start : w->cut->from_ns;
        end = end < w->cut->to_ns ? end : w->cut->to_ns;
    }
    gap = end > start ? end - start : 0;
    w->gap_ns += gap;
    w->away_ns += record->call.away_ns < gap ? record->call.away_ns : gap;
}

static bool record_write(struct cut_writing *w, const struct conv_record *record)
{
    const struct mars_record *r = &record->call;
    const struct conv_function *is = conv_function(&w->functions, r->function);
    enum cut_place place = cut_place_of(w->cut, &w->clock, record);
    int64_t comm = cut_comm_of(&w->windows, r);
    bool known = comm > 0 && (uint64_t)comm < w->task->about->comms && w->task->about->comm[comm], keep;
    sums_reserve(w);
    cut_about_sync(w);
    KER_RESERVE(w->value, w->values, r->function->fields + 1);
    if (r->function->fields)
        memcpy(w->value, r->value, r->function->fields * sizeof *w->value);
    if (!record->first)
        gap_add(w, record);
    bool last = strcmp(r->function->name, "MPI_Finalize") == 0;
    if (last && !requests_finish(w))
        return false;
    if (is->sort == CONV_SEND || is->sort == CONV_RECV || is->sort == CONV_EXCHANGE)
        keep = known && message_keep(w, r, is, comm, place);
    else if (is->sort == CONV_START)
        keep = start_keep(w, r, place);
    else if (is->sort == CONV_COMPLETE)
        keep = complete_keep(w, r, place);
    else if (cut_is_collective(is, r))
        keep = known && collective_keep(w, r, is, comm, place);
    else
        keep = other_keep(w, r, is, place);
    if (record->first || (last && !w->finalised))
        keep = true;
    w->finalised = w->finalised || last;
    if (keep && !ranks_map(w, r, comm)) {
        conv_lost(w->cut->losses, 1, "%s with a root or target that is not in the part is left out",
                  r->function->name);
        keep = false;
    }
    return !keep || record_put(w, record, w->value);
}

static bool task_end(struct cut_writing *w)
{
    if (!w->finalised && !(requests_finish(w) && added_put(w, cut_function(w, "MPI_Finalize", ""), NULL)))
        return false;
    cut_about_sync(w);
    return w->sink->format->end(w->sink, &w->about, w->error);
}

bool cut_task_write(struct cut *cut, struct conv_source *source, struct conv_sink *sink, uint32_t number,
                    const struct cut_kept *kept, struct mars_error *error)
{
    struct conv_task task;
    struct conv_record record;
    struct cut_writing *w = ker_alloc(sizeof *w);
    *w = (struct cut_writing){.cut = cut, .task = &task, .sink = sink, .kept = kept, .error = error};
    bool fine = conv_task_open(&task, source, number, error) && conv_thread_open(&task, 0, error);
    if (fine) {
        cut_about_begin(w);
        fine = sink->format->begin(sink, &w->about, 0, error);
    }
    while (fine && conv_next(&task, &record, error))
        fine = record_write(w, &record);
    fine = fine && !error->text[0] && task_end(w);
    cut_about_end(w);
    conv_task_close(&task);
    free(w->windows.comm);
    free(w->request);
    free(w->sum);
    free(w->value);
    for (int i = 0; i < 3; i++)
        free(w->list[i]);
    free(w);
    return fine;
}
