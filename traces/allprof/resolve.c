/* resolve.c - what the ranks find out together about the files that each has read: which communicators there
 * are, and whether the files belong to one run.
 *
 * Rank 0 gathers the events of all tasks, few as they are, resolves them (comm.c), and sends the others which
 * event came to which communicator (share.c). The counts of messages, as many as pairs of tasks that talk,
 * stay where they were read: rank 0 gathers them only when there is a decision that needs them, which
 * is the case for few traces. Nobody may receive more than is sent: that is compared by the rank which has
 * read the receiver's file, to which all others send what they know of it.
 *
 * All calls are collective: a rank continues in spite of an error of its own until all have heard of it.
 */
#include "traces/allprof/allprof.h"

#include <stdlib.h>
#include <string.h>

/* What comes before the records of one task. */
struct packed_head {
    uint64_t task, count;
};

/* On rank 0: what was gathered; the records lie there. */
struct all_files {
    struct allprof_events *events; /* per task */
    struct allprof_tallies *tallies;
    void *all_events, *all_tallies;
};

static void files_release(struct all_files *files)
{
    KER_FREE(files->events, files->tallies, files->all_events, files->all_tallies);
}

/* Collective: *all on rank 0; returns how many bytes it is. */
static size_t gather(struct ker_bytes *packed, struct ker_comm *comm, void **all)
{
    size_t *offset, bytes;
    ker_comm_gather(comm, packed->byte, packed->used, all, &offset);
    bytes = offset ? offset[ker_comm_size(comm)] : 0;
    free(offset);
    free(packed->byte);
    return bytes;
}

static void events_gather(struct all_files *files, struct allprof_together *t)
{
    struct ker_bytes packed = {0};
    for (uint32_t i = 0; i < t->count; i++) {
        struct allprof_read *read = &t->read[i];
        struct packed_head head = {.task = read->task, .count = read->events.count};
        ker_bytes_add(&packed, &head, sizeof head);
        ker_bytes_add(&packed, read->events.event, read->events.count * sizeof *read->events.event);
        free(read->events.event);
        read->events = (struct allprof_events){0};
    }
    size_t bytes = gather(&packed, t->comm, &files->all_events);
    if (ker_comm_rank(t->comm) != 0)
        return;
    files->events = ker_alloc(t->tasks * sizeof *files->events);
    for (size_t at = 0; at < bytes;) {
        struct packed_head head;
        memcpy(&head, (uint8_t *)files->all_events + at, sizeof head);
        at += sizeof head;
        files->events[head.task] = (struct allprof_events){
            .event = (void *)((uint8_t *)files->all_events + at), .count = head.count};
        at += head.count * sizeof(struct allprof_event);
    }
}

static void tallies_gather(struct all_files *files, const struct allprof_together *t)
{
    struct ker_bytes packed = {0};
    for (uint32_t i = 0; i < t->count; i++) {
        const struct allprof_tallies *tallies = &t->read[i].tallies;
        struct packed_head head = {t->read[i].task, tallies->count};
        ker_bytes_add(&packed, &head, sizeof head);
        ker_bytes_add(&packed, tallies->entry, tallies->count * sizeof *tallies->entry);
    }
    size_t bytes = gather(&packed, t->comm, &files->all_tallies);
    if (ker_comm_rank(t->comm) != 0)
        return;
    files->tallies = ker_alloc(t->tasks * sizeof *files->tallies);
    for (size_t at = 0; at < bytes;) {
        struct packed_head head;
        memcpy(&head, (uint8_t *)files->all_tallies + at, sizeof head);
        at += sizeof head;
        files->tallies[head.task] = (struct allprof_tallies){
            .entry = (void *)((uint8_t *)files->all_tallies + at), .count = head.count};
        at += head.count * sizeof(struct allprof_tally);
    }
}

/* The communicators. */
static enum ker_status comms_resolve(struct allprof_together *t, struct ker_error *error)
{
    bool control = ker_comm_rank(t->comm) == 0, lacks = false;
    struct all_files files = {0};
    enum ker_status status = KER_OK;
    events_gather(&files, t);
    if (control)
        status = allprof_comms_resolve(t->comms, files.events, NULL, t->tasks, t->folder, &lacks, error);
    ker_comm_broadcast(t->comm, &lacks, sizeof lacks);
    if (lacks)
        tallies_gather(&files, t);
    if (lacks && control)
        status =
            allprof_comms_resolve(t->comms, files.events, files.tallies, t->tasks, t->folder, &lacks, error);
    if (control && status == KER_OK && t->compared)
        status = allprof_match_collectives(files.events, t->tasks, t->comms, t->folder, error);
    if (control && status == KER_OK)
        allprof_uses_make(t->uses, files.events, t->tasks);
    files_release(&files);
    return ker_comm_worst(t->comm, status);
}

/* ---- messages ---- */

/* This rank's flows, by the rank that has read the receiver's file. */
static struct allprof_flow *flows_make(const struct allprof_together *t, size_t *offset)
{
    struct allprof_flow *flow = NULL;
    size_t count = 0, room = 0, ranks = (size_t)ker_comm_size(t->comm);
    for (uint32_t i = 0; i < t->count; i++) {
        struct allprof_tallies *tallies = &t->read[i].tallies;
        allprof_flow_add(&flow, &count, &room, t->read[i].task, tallies->entry, tallies->count,
                         t->uses->use + t->uses->first[t->read[i].task], t->comms);
        allprof_tallies_release(tallies);
    }
    for (size_t i = 0; i < count; i++)
        offset[1 + (uint32_t)flow[i].to % t->readers]++;
    size_t *next = ker_alloc(ranks * sizeof *next);
    for (size_t rank = 0; rank < ranks; rank++) {
        next[rank] = offset[rank];
        offset[rank + 1] += offset[rank];
    }
    struct allprof_flow *sorted = ker_alloc(count * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[next[(uint32_t)flow[i].to % t->readers]++] = flow[i];
    for (size_t rank = 0; rank <= ranks; rank++)
        offset[rank] *= sizeof *flow;
    free(next);
    free(flow);
    return sorted;
}

/* Of what is wrong anywhere the first by communicator and receiver is reported, on any number of ranks. */
static enum ker_status first_report(struct ker_comm *comm, enum ker_status status,
                                    const struct allprof_flow *wrong, struct ker_error *error)
{
    int64_t mine = status == KER_OK ? INT64_MAX : (int64_t)wrong->comm << 32 | (uint32_t)wrong->to;
    int64_t first = mine;
    ker_comm_min_i64(comm, &first, 1);
    if (mine == first)
        return status;
    memset(error, 0, sizeof *error);
    return KER_OK;
}

static enum ker_status messages_match(struct allprof_together *t, struct ker_error *error)
{
    size_t ranks = (size_t)ker_comm_size(t->comm), *offset = ker_alloc((ranks + 1) * sizeof *offset), *from;
    uint64_t unknown = 0;
    for (uint32_t i = 0; i < t->count; i++)
        unknown |= t->read[i].tallies.unknown;
    struct allprof_flow *own = flows_make(t, offset), wrong = {0};
    void *all;
    ker_comm_exchange(t->comm, own, offset, &all, &from);
    ker_comm_or_u64(t->comm, &unknown, 1);
    enum ker_status status = KER_OK;
    if (!unknown)
        status = allprof_match_messages(all, from[ranks] / sizeof *own, t->comms, t->folder, &wrong, error);
    KER_FREE(own, offset, all, from);
    return ker_comm_worst(t->comm, first_report(t->comm, status, &wrong, error));
}

static void doubts_print(const struct allprof_together *t)
{
    char more[64] = "";
    if (t->comms->doubts > 1)
        snprintf(more, sizeof more, "; %llu more cases", (unsigned long long)(t->comms->doubts - 1));
    ker_warn("trace %s: %s%s", t->folder, t->comms->doubt, more);
}

enum ker_status allprof_resolve(struct allprof_together *t, struct ker_error *error)
{
    enum ker_status status = comms_resolve(t, error);
    if (status != KER_OK)
        return status;
    allprof_share(t->uses, t->comms, t->tasks, t->comm);
    if (t->compared)
        status = messages_match(t, error);
    if (status == KER_OK && t->comms->doubts)
        doubts_print(t);
    return status;
}
