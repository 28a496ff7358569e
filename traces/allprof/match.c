/* match.c - do the files of a trace belong together?
 *
 * Once it is known which handle is which communicator, two things must hold that a run of one program
 * ensures, and without which a replay would wait forever: all members of a communicator make the same
 * collective calls with the same roots in the same order (compared by count and a polynomial digest, which
 * can be put together from pieces), and nobody receives more messages from another task, or in all, than are
 * sent to it. Whether tags fit is left to the replay.
 */
#include "traces/allprof/allprof.h"

#include <stdlib.h>
#include <string.h>

/* The collectives of a task on a communicator. */
struct sequence {
    int32_t comm;
    uint32_t line; /* of the first use */
    uint64_t count, digest;
};

static void sequence_extend(struct sequence *sequence, const struct allprof_event *use)
{
    if (!sequence->line)
        sequence->line = use->line;
    sequence->digest = sequence->digest * allprof_digest_factor(use->collectives) + use->digest;
    sequence->count += use->collectives;
}

static enum ker_status sequence_differs(const struct sequence *mine, uint32_t task,
                                        const struct sequence *other, uint32_t member, int32_t size,
                                        const char *folder, struct ker_error *error)
{
    return allprof_line_fail(
        folder, task, mine->line, error,
        "on the communicator of %d tasks first used here, task %u "
        "makes %lu collective calls, but task %u %lu%s: the files are not of one run, or damaged",
        size, task, (unsigned long)mine->count, member, (unsigned long)other->count,
        mine->count == other->count ? " others, or in another order" : "");
}

enum ker_status allprof_match_collectives(const struct allprof_events *files, uint32_t tasks,
                                          const struct allprof_comms *comms, const char *folder,
                                          struct ker_error *error)
{
    size_t count = (size_t)comms->count;
    struct sequence *own = ker_alloc(count * sizeof *own), *first = ker_alloc(count * sizeof *first);
    uint32_t *first_task = ker_alloc(count * sizeof *first_task);
    bool *known = ker_alloc(count * sizeof *known);
    enum ker_status status = KER_OK;
    for (uint32_t task = 0; task < tasks && status == KER_OK; task++) {
        /* Only what the task uses is looked at, and cleared again: there may be as many communicators as
         * tasks. */
        const struct allprof_event *event = files[task].event;
        for (size_t i = 0; i < files[task].count; i++)
            if (event[i].kind == ALLPROF_EVENT_USE)
                sequence_extend(&own[event[i].comm], &event[i]);
        for (size_t i = 0; i < files[task].count && status == KER_OK; i++) {
            struct sequence *mine = &own[event[i].comm < 0 ? 0 : event[i].comm];
            if (event[i].kind != ALLPROF_EVENT_USE || !mine->line)
                continue;
            struct sequence *other = &first[event[i].comm];
            if (!known[event[i].comm]) {
                known[event[i].comm] = true;
                first_task[event[i].comm] = task;
                *other = *mine;
            }
            if (other->count != mine->count || other->digest != mine->digest)
                status = sequence_differs(mine, task, other, first_task[event[i].comm],
                                          comms->comm[event[i].comm].size, folder, error);
            memset(mine, 0, sizeof *mine);
        }
    }
    KER_FREE(own, first, first_task, known);
    return status;
}

void allprof_flow_add(struct allprof_flow **flows, size_t *count, size_t *room, uint32_t task,
                      const struct allprof_tally *tally, size_t tallies, const struct allprof_use *use,
                      const struct allprof_comms *comms)
{
    for (size_t i = 0; i < tallies; i++) {
        int32_t comm = use[tally[i].event].comm, me = (int32_t)task;
        int32_t peer = tally[i].peer < 0 ? TASK_ANY : task_comm_task(&comms->comm[comm], tally[i].peer);
        if (tally[i].send.count)
            *KER_PUSH(*flows, *count, *room) =
                (struct allprof_flow){comm, peer, me, tally[i].line, tally[i].send.count, 0};
        uint64_t receives = tally[i].receive.count - tally[i].given_up.count; /* which may miss no message */
        if (receives)
            *KER_PUSH(*flows, *count, *room) =
                (struct allprof_flow){comm, me, peer, tally[i].line, 0, receives};
    }
}

KER_ORDER_BY(flow_compare, struct allprof_flow, comm, to, from)

static enum ker_status flow_fail(const struct allprof_flow *flow, uint64_t sends, uint64_t receives,
                                 const char *sender, const struct allprof_comms *comms, const char *folder,
                                 struct ker_error *error)
{
    return allprof_line_fail(
        folder, (uint32_t)flow->to, flow->line, error,
        "task %d receives %lu messages from %s on a communicator of %d tasks (the last one here), but only "
        "%lu are sent: the files are not of one run, or damaged",
        flow->to, (unsigned long)receives, sender, comms->comm[flow->comm].size, (unsigned long)sends);
}

/* All flows to one task on one communicator. */
static enum ker_status receiver_match(const struct allprof_flow *flow, size_t count,
                                      const struct allprof_comms *comms, const char *folder,
                                      struct ker_error *error)
{
    uint64_t all_sends = 0, all_receives = 0;
    struct allprof_flow last = *flow;
    for (size_t i = 0, next; i < count; i = next) {
        uint64_t sends = 0, receives = 0;
        for (next = i; next < count && flow[next].from == flow[i].from; next++) {
            sends += flow[next].sends;
            receives += flow[next].receives;
            if (flow[next].line > last.line)
                last.line = flow[next].line;
        }
        all_sends += sends;
        all_receives += receives;
        if (flow[i].from == TASK_ANY || receives <= sends)
            continue;
        char sender[32];
        snprintf(sender, sizeof sender, "task %d", flow[i].from);
        return flow_fail(&last, sends, receives, sender, comms, folder, error);
    }
    if (all_receives > all_sends)
        return flow_fail(&last, all_sends, all_receives, "all tasks", comms, folder, error);
    return KER_OK;
}

enum ker_status allprof_match_messages(struct allprof_flow *flow, size_t count,
                                       const struct allprof_comms *comms, const char *folder,
                                       struct allprof_flow *wrong, struct ker_error *error)
{
    if (count)
        qsort(flow, count, sizeof *flow, flow_compare);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i; next < count && flow[next].comm == flow[i].comm && flow[next].to == flow[i].to; next++)
            ;
        enum ker_status status = receiver_match(flow + i, next - i, comms, folder, error);
        if (status != KER_OK) {
            *wrong = flow[i];
            return status;
        }
    }
    return KER_OK;
}
