/* partitioned.c - partitioned communication: its requests, and which of their partitions are ready or asked
 * for.
 *
 * A list of partitions becomes an operation for each. Sends and receives are paired by the model; whether
 * there is one of each, and with as many bytes, is known before the run (order.c).
 */
#include "traces/replay/arguments.h"

#include <stdlib.h>
#include <string.h>

#define PARTITIONS_MOST (1 << 20)

static enum ker_status request_make(struct replay_task *t, struct task_op *op, const struct replay_wrong *w)
{
    int64_t partitions = mars_number(&t->record, MARS_FIELD_partitions, 0);
    enum ker_status status = replay_message_get(t, op, w);
    if (status != KER_OK)
        return status;
    if (partitions < 1 || partitions > PARTITIONS_MOST)
        return replay_fail(w, "%lld partitions; there can be 1 to %d", (long long)partitions,
                           PARTITIONS_MOST);
    if (op->bytes % (uint64_t)partitions)
        return replay_fail(w, "%llu bytes in %lld partitions of one size", (unsigned long long)op->bytes,
                           (long long)partitions);
    if (op->peer == TASK_ANY || (op->peer >= 0 && op->tag == TASK_ANY))
        return replay_fail(w, "a partitioned receive from any task, or with any tag");
    op->bytes2 = (uint64_t)partitions;
    return KER_OK;
}

/* What is meant: one, or some behind each other. */
static enum ker_status range_get(struct task_op *op, int64_t first, int64_t last,
                                 const struct replay_wrong *w)
{
    op->tag2 = (int32_t)first;
    op->bytes2 = (uint64_t)(last - first + 1);
    if (first >= 0 && last >= first && last < PARTITIONS_MOST)
        return KER_OK;
    return replay_fail(w, "partitions %lld to %lld", (long long)first, (long long)last);
}

static enum ker_status some_get(struct replay_task *t, struct task_op *op, bool *some,
                                const struct replay_wrong *w)
{
    if (replay_has(t->record.function, MARS_FIELD_values)) {
        const struct mars_value *list = mars_list(&t->record, MARS_FIELD_values);
        *some = list->count > 0;
        if (!*some)
            return KER_OK;
        t->parts = (int32_t)list->count;
        return range_get(op, list->list[t->part], list->list[t->part], w);
    }
    int64_t first = mars_number(&t->record, MARS_FIELD_partition, -1);
    return range_get(op, first, mars_number(&t->record, MARS_FIELD_partition_last, first), w);
}

enum ker_status replay_partitioned_get(struct replay_task *t, struct task_op *op, bool *some,
                                       const struct replay_wrong *w)
{
    op->request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    if (op->kind == TASK_OP_PSEND_INIT || op->kind == TASK_OP_PRECV_INIT)
        return request_make(t, op, w);
    enum ker_status status = some_get(t, op, some, w);
    if (op->kind != TASK_OP_PARRIVED || status != KER_OK)
        return status;
    op->outcome = mars_number(&t->record, MARS_FIELD_flag, 0) != 0;
    *some = op->outcome || t->rules->polls;
    if (!op->outcome)
        *op = (struct task_op){.kind = TASK_OP_POLL, .call = op->call};
    return KER_OK;
}

/* ---- of a task with one thread: what has been ready ---- */

void replay_partitions_begin(struct replay_request *r)
{
    r->ready = 0;
    if (r->is_ready)
        memset(r->is_ready, 0, r->partitions);
}

static enum ker_status ready_note(struct replay_request *r, const struct task_op *op,
                                  const struct replay_wrong *w)
{
    for (uint64_t i = 0; i < op->bytes2; i++) {
        uint8_t *is = &r->is_ready[(uint32_t)op->tag2 + i];
        if (*is)
            return replay_fail(w, "partition %llu is ready twice", (unsigned long long)op->tag2 + i);
        *is = 1;
    }
    r->ready += (uint32_t)op->bytes2;
    return KER_OK;
}

enum ker_status replay_partitions_check(struct replay_request *r, const struct task_op *op,
                                        const struct replay_wrong *w)
{
    if (op->kind == TASK_OP_PSEND_INIT || op->kind == TASK_OP_PRECV_INIT) {
        r->partitions = (uint32_t)op->bytes2;
        r->receives = op->kind == TASK_OP_PRECV_INIT;
        r->is_ready = r->receives ? NULL : ker_alloc(r->partitions);
        return KER_OK;
    }
    bool sends = op->kind == TASK_OP_PREADY;
    if (r->partitions == 0 || sends != (r->is_ready != NULL))
        return replay_fail(w, "request %llu is no partitioned %s", (unsigned long long)op->request,
                           sends ? "send" : "receive");
    if ((uint32_t)op->tag2 + op->bytes2 > r->partitions)
        return replay_fail(w, "partition %llu of %u", (unsigned long long)op->tag2 + op->bytes2 - 1,
                           r->partitions);
    return sends ? ready_note(r, op, w) : KER_OK;
}

enum ker_status replay_partitions_completed(const struct replay_request *r, uint64_t number,
                                            const struct replay_wrong *w)
{
    if (!r->is_ready || r->ready == r->partitions)
        return KER_OK;
    return replay_fail(w, "request %llu completes, and %u of its %u partitions are ready",
                       (unsigned long long)number, r->ready, r->partitions);
}
