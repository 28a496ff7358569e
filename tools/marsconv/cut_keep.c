/* cut_keep.c - which records are in the part, and what of their requests.
 *
 * Before the part only calls are kept that make what later ones need: communicators, windows, files,
 * persistent requests. Behind it only the receives of matched messages whose probes are in it.
 */
#include "tools/marsconv/cut_write.h"

#include <string.h>

static bool persistent_keep(struct cut_writing *w, const struct mars_record *r, int64_t comm, bool sends,
                            bool receives, enum cut_place place)
{
    struct cut_request *q = cut_request_at(w, mars_number(r, MARS_FIELD_request, 0));
    if (!q)
        return false;
    *q = (struct cut_request){
        .kept = place != CUT_AFTER ? 2 : 0, .sends = sends, .receives = receives, .comm = (uint32_t)comm};
    return q->kept;
}

static bool message_keep(struct cut_writing *w, const struct mars_record *r, const struct conv_function *is,
                         int64_t comm, enum cut_place place)
{
    bool exchange = is->sort == CONV_EXCHANGE;
    int64_t source = mars_number(r, MARS_FIELD_source, MARS_PROC_NULL);
    bool sends = (is->sort == CONV_SEND || exchange) && mars_number(r, MARS_FIELD_dest, MARS_PROC_NULL) >= 0;
    bool receives = (is->sort == CONV_RECV || exchange) && (source >= 0 || source == MARS_ANY_SOURCE);
    if (is->persistent)
        return persistent_keep(w, r, comm, sends, receives, place);
    if (place != CUT_INSIDE)
        return false;
    bool send = sends && cut_slot_next(w), receive = receives && cut_slot_next(w);
    bool keep = send || receive || (!sends && !receives);
    if (sends && !send)
        conv_lost(w->cut->losses, 1, "a send of which the receive is not in the part is left out");
    if (receives && !receive)
        conv_lost(w->cut->losses, 1, "a receive of which the send is not in the part is left out");
    if (keep && sends && !send)
        cut_value_set(w, r, MARS_FIELD_dest, MARS_PROC_NULL);
    if (keep && receives && !receive)
        cut_value_set(w, r, MARS_FIELD_source, MARS_PROC_NULL);
    struct cut_request *q = is->request ? cut_request_at(w, mars_number(r, MARS_FIELD_request, 0)) : NULL;
    if (q)
        *q = (struct cut_request){.kept = keep, .comm = (uint32_t)comm};
    return keep;
}

/* Is a start of this request in the part? */
static bool started_keep(struct cut_writing *w, struct cut_request *q)
{
    bool collective = q->collective && cut_slot_next(w);
    if (q->kept < 2)
        return false;
    bool send = q->sends && cut_slot_next(w), receive = q->receives && cut_slot_next(w);
    if (collective || send || receive || !(q->collective || q->sends || q->receives))
        return true;
    conv_lost(w->cut->losses, 1,
              q->collective ? "a start of a collective that not all tasks make in the part is left out"
                            : "a message that is not whole in the part is left out");
    return false;
}

static bool start_keep(struct cut_writing *w, const struct mars_record *r, enum cut_place place)
{
    const struct mars_value *list = mars_list(r, MARS_FIELD_requests);
    uint32_t left = 0;
    int64_t number, *to = cut_list_begin(w, 0, list ? list->count : 1);
    for (uint32_t i = 0; place == CUT_INSIDE && conv_walk_started(&w->at, &i, &number);) {
        struct cut_request *q = cut_request_at(w, number);
        if (!q || !started_keep(w, q))
            continue;
        q->kept = 3;
        to[left++] = number;
    }
    if (list)
        cut_list_end(w, r, MARS_FIELD_requests, 0, left);
    return left > 0;
}

/* Before the part the only requests that are active are those of communicators that it needs (MPI_Comm_idup).
 */
static bool complete_keep(struct cut_writing *w, const struct mars_record *r, enum cut_place place)
{
    const struct mars_value *list = mars_list(r, MARS_FIELD_requests), *done = mars_list(r, MARS_FIELD_done);
    uint32_t left = 0, held = 0;
    int64_t *number = cut_list_begin(w, 0, list->count), *completed = cut_list_begin(w, 1, done->count);
    for (uint32_t i = 0; i < list->count; i++) {
        struct cut_request *q = cut_request_at(w, list->list[i]);
        number[i] = q && (place == CUT_INSIDE ? q->kept : q->kept & 1) ? list->list[i] : 0;
        held += number[i] != 0;
    }
    for (uint32_t i = 0; i + 3 < done->count; i += 4) {
        int64_t index = done->list[i];
        struct cut_request *q = index >= 0 && index < list->count ? cut_request_at(w, number[index]) : NULL;
        if (index == MARS_ONE_OF ? held == 0 : !q || !(q->kept & 1))
            continue;
        memcpy(completed + left, done->list + i, 4 * sizeof *completed);
        if (q && !w->cut->by_time && completed[left + 1] >= 0 && q->comm && q->comm < w->comms &&
            w->comm[q->comm])
            completed[left + 1] =
                cut_rank_map(&w->map[q->comm], w->comm[q->comm]->inter, completed[left + 1]);
        if (q)
            q->kept = q->kept == 3 ? 2 : 0;
        left += 4;
    }
    cut_list_end(w, r, MARS_FIELD_requests, 0, list->count);
    cut_list_end(w, r, MARS_FIELD_done, 1, left);
    return left > 0 || (done->count == 0 && held > 0 && place == CUT_INSIDE);
}

/* Of two groups that make a communicator, each knows only its own communicator's collectives. */
static bool made_is(const struct cut_writing *w, const struct mars_record *r)
{
    const struct mars_comm *made = mars_comm_at(w->at.task.about, mars_number(r, MARS_FIELD_newcomm, 0));
    return !made || cut_collective(w->cut, made->id ? made->id : 1, CUT_MADE, 0, true);
}

/* Only the members of the communicator that is made make it. */
static bool group_keep(struct cut_writing *w, const struct mars_record *r, enum cut_place place)
{
    bool keep = place != CUT_AFTER && made_is(w, r);
    if (!keep && place == CUT_INSIDE)
        conv_lost(w->cut->losses, 1, "a collective that not all tasks make in the part is left out");
    return keep;
}

static bool collective_keep(struct cut_writing *w, const struct mars_record *r,
                            const struct conv_function *is, int64_t comm, enum cut_place place)
{
    bool creates = is->sort == CONV_CREATE || is->persistent;
    uint64_t sequence = (*TRACE_AT(w->sum, w->sums, comm))++, id = w->at.task.about->comm[comm]->id;
    bool keep = (place == CUT_INSIDE || (creates && place == CUT_BEFORE)) &&
                cut_collective(w->cut, id ? id : 1, 0, sequence, creates) && made_is(w, r) &&
                cut_window_is(w, r);
    struct cut_request *q = is->request ? cut_request_at(w, mars_number(r, MARS_FIELD_request, 0)) : NULL;
    if (q)
        *q = (struct cut_request){.kept = !keep            ? 0
                                          : is->persistent ? 2
                                                           : 1,
                                  .collective = is->persistent,
                                  .comm = (uint32_t)comm};
    if (!keep && place == CUT_INSIDE)
        conv_lost(w->cut->losses, 1, "a collective that not all tasks make in the part is left out");
    cut_window_collective(w, r, keep);
    return keep;
}

/* ---- matched messages ---- */

static bool probe_keep(struct cut_writing *w, int64_t comm, enum cut_place place)
{
    bool keep = place == CUT_INSIDE && cut_slot_next(w);
    if (keep)
        conv_walk_probed(&w->at, comm);
    else if (place == CUT_INSIDE)
        conv_lost(w->cut->losses, 1, "a probe that took a message that is not whole in the part is left out");
    return keep;
}

/* It is kept where its probe is, behind the part, too. The number of a request that is made there may be that
 * of one which is still active in the part, so it gets one that nobody has had. *comm: that of the probe. */
static bool matched_keep(struct cut_writing *w, const struct mars_record *r, const struct conv_function *is,
                         int64_t *comm, enum cut_place place)
{
    struct conv_probed matched;
    int64_t number = mars_number(r, MARS_FIELD_request, 0);
    if (!conv_walk_receives(&w->at, &matched))
        return false;
    *comm = matched.comm;
    if (is->request && place == CUT_AFTER) {
        number = w->fresh = w->fresh ? w->fresh + 1 : (int64_t)w->requests + 1;
        cut_value_set(w, r, MARS_FIELD_request, number);
    }
    struct cut_request *q = is->request ? cut_request_at(w, number) : NULL;
    if (q)
        *q = (struct cut_request){.kept = 1, .comm = (uint32_t)*comm};
    return true;
}

/* ---- all others ---- */

static bool named_keep(const struct mars_record *r, struct cut_request *q, enum cut_place place)
{
    bool frees = strcmp(r->function->name, "MPI_Request_free") == 0, keep = q && q->kept;
    if (!frees)
        return keep && (q->kept & 1) && place == CUT_INSIDE;
    keep = keep && (place == CUT_INSIDE || (place == CUT_BEFORE && q->kept >= 2));
    if (keep)
        q->kept = 0;
    return keep;
}

/* What it sets of a file is needed in the part: that it is open, its view, its pointer. */
static bool file_is_set(const struct mars_function *f)
{
    return f->at[MARS_FIELD_newfile] >= 0 || f->at[MARS_FIELD_filetype] >= 0 ||
           f->at[MARS_FIELD_position] >= 0;
}

static bool other_keep(struct cut_writing *w, const struct mars_record *r, const struct conv_function *is,
                       int64_t *comm, enum cut_place place)
{
    const struct mars_function *f = r->function;
    struct cut_request *q =
        f->at[MARS_FIELD_request] >= 0 ? cut_request_at(w, mars_number(r, MARS_FIELD_request, 0)) : NULL;
    bool probe = f->at[MARS_FIELD_source] >= 0 && f->at[MARS_FIELD_recvbytes] < 0;
    int64_t message = mars_number(r, MARS_FIELD_message, 0);
    if (probe && *comm == 0)
        return false;
    if (message > 0)
        return probe ? probe_keep(w, *comm, place) : matched_keep(w, r, is, comm, place);
    if (probe && mars_number(r, MARS_FIELD_flag, 1) != 0) {
        bool keep = place == CUT_INSIDE && cut_slot_next(w);
        if (!keep && place == CUT_INSIDE)
            conv_lost(w->cut->losses, 1, "a probe of a message that is not whole in the part is left out");
        return keep;
    }
    if (cut_makes_of_group(r))
        return group_keep(w, r, place);
    if (is->request) { /* of a window, or a file */
        if (q)
            *q = (struct cut_request){.kept = place == CUT_INSIDE};
        return place == CUT_INSIDE;
    }
    return f->at[MARS_FIELD_request] < 0 ? place == CUT_INSIDE || (place == CUT_BEFORE && file_is_set(f))
                                         : named_keep(r, q, place);
}

/* Behind the part: what is active is waited for at the end, so matched messages are received there, and what
 * is still to be sent of partitioned ones is ready, until the trace itself waits for them. */
static bool behind_keep(struct cut_writing *w, const struct mars_record *r, const struct conv_function *is,
                        int64_t *comm)
{
    for (struct mars_done d = {0}; mars_done_next(r, &d);) {
        struct cut_request *q = cut_request_at(w, d.request);
        if (q)
            q->over = true;
    }
    if (strncmp(r->function->name, "MPI_Pready", 10) == 0) {
        const struct cut_request *q = cut_request_at(w, mars_number(r, MARS_FIELD_request, 0));
        return q && (q->kept & 1) && !q->over;
    }
    return r->function->at[MARS_FIELD_source] < 0 && mars_number(r, MARS_FIELD_message, 0) > 0 &&
           matched_keep(w, r, is, comm, CUT_AFTER);
}

bool cut_keep(struct cut_writing *w, const struct mars_record *r, int64_t *comm, enum cut_place place)
{
    const struct conv_function *is = w->at.is;
    bool known = mars_comm_at(w->at.task.about, *comm) != NULL, keep;
    *comm = known ? *comm : 0;
    if (r->function->at[MARS_FIELD_win] >= 0 && !cut_is_collective(is, r))
        keep = cut_window_keep(w, r, *comm, place);
    else if (place == CUT_AFTER)
        keep = behind_keep(w, r, is, comm);
    else if (is->sort == CONV_SEND || is->sort == CONV_RECV || is->sort == CONV_EXCHANGE)
        keep = known && message_keep(w, r, is, *comm, place);
    else if (is->sort == CONV_START)
        keep = start_keep(w, r, place);
    else if (is->sort == CONV_COMPLETE)
        keep = complete_keep(w, r, place);
    else if (cut_is_collective(is, r))
        keep = known && collective_keep(w, r, is, *comm, place);
    else
        keep = other_keep(w, r, is, comm, place);
    if (keep && !cut_ranks_map(w, r, *comm)) {
        struct cut_request *q = is->request ? cut_request_at(w, mars_number(r, MARS_FIELD_request, 0)) : NULL;
        conv_lost(w->cut->losses, 1, "%s with a root or target that is not in the part is left out",
                  r->function->name);
        if (q)
            q->kept = 0;
        keep = false;
    }
    return keep;
}
