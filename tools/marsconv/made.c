/* made.c - a record, made of an operation of the replay field by field. */
#include "tools/marsconv/about.h"

#include "tasks/mpi/collectives/collective.h"

#include <stdlib.h>

void conv_made_release(struct conv_made *m)
{
    free(m->values);
    for (int i = 0; i < 3; i++)
        free(m->list[i]);
    *m = (struct conv_made){0};
}

void conv_made_number(struct conv_made *m, enum mars_field field, int64_t number)
{
    m->value[field] = (struct mars_value){.number = number};
}

int64_t *conv_made_list(struct conv_made *m, enum mars_field field, int which, size_t count)
{
    KER_RESERVE(m->list[which], m->room[which], count + 1);
    m->value[field] = (struct mars_value){.count = (uint32_t)count, .list = m->list[which]};
    return m->list[which];
}

/* An operation's peer as records have it. */
static int64_t made_rank(int32_t peer)
{
    return peer == TASK_ANY ? MARS_ANY_SOURCE : peer == TASK_PROC_NULL ? MARS_PROC_NULL : peer;
}

void conv_made_send(struct conv_made *m, const struct task_op *op)
{
    conv_made_number(m, MARS_FIELD_bytes, (int64_t)op->bytes);
    conv_made_number(m, MARS_FIELD_dest, made_rank(op->peer));
    conv_made_number(m, MARS_FIELD_tag, op->tag);
}

void conv_made_receive(struct conv_made *m, const struct task_op *op, bool second)
{
    conv_made_number(m, MARS_FIELD_recvbytes, (int64_t)(second ? op->bytes2 : op->bytes));
    conv_made_number(m, MARS_FIELD_source, made_rank(second ? op->peer2 : op->peer));
    conv_made_number(m, second ? MARS_FIELD_recvtag : MARS_FIELD_tag, second ? op->tag2 : op->tag);
}

void conv_made_requests(struct conv_made *m, struct conv_held *held, const struct task_op *op, bool unknown)
{
    bool one = op->kind == TASK_OP_WAIT;
    uint32_t count = one ? 1 : op->request_count, completed = unknown ? 1 : count;
    int64_t *request = conv_made_list(m, MARS_FIELD_requests, 0, count);
    int64_t *completions = conv_made_list(m, MARS_FIELD_done, 1, (size_t)completed * 4);
    for (uint32_t i = 0; i < count; i++)
        request[i] = conv_held_number(held, one ? op->request : op->requests[i]);
    for (uint32_t i = 0; i < completed; i++) {
        completions[4 * i] = unknown ? MARS_ONE_OF : (int64_t)i;
        completions[4 * i + 1] = MARS_FROM_UNKNOWN;
        completions[4 * i + 2] = completions[4 * i + 3] = 0;
    }
    for (uint32_t i = 0; i < count && !unknown; i++)
        conv_held_done(held, one ? op->request : op->requests[i], false);
}

/* ---- collectives ---- */

static void each_set(struct conv_made *m, enum mars_field field, int which, int32_t size,
                     const uint64_t *bytes, uint64_t sum)
{
    int64_t *list = conv_made_list(m, field, which, (size_t)size);
    for (int32_t i = 0; i < size; i++)
        list[i] =
            (int64_t)(bytes ? bytes[i] : task_coll_span(sum, (uint64_t)size, (uint64_t)i, (uint64_t)i + 1));
}

/* Calls with a count for each task. */
static const char *lists_fields(struct conv_made *m, const struct task_op *op, bool at_root, int32_t size,
                                bool *missing)
{
    conv_made_list(m, MARS_FIELD_bytes_each, 0, 0);
    conv_made_list(m, MARS_FIELD_recvbytes_each, 1, 0);
    switch (op->collective) {
    case TASK_COLL_GATHERV:
        *missing = at_root && !op->receive_bytes;
        if (at_root && op->receive_bytes)
            each_set(m, MARS_FIELD_recvbytes_each, 1, size, op->receive_bytes, 0);
        return "bytes type recvbytes_each[] recvtype root comm";
    case TASK_COLL_SCATTERV:
        *missing = at_root && !op->send_bytes;
        conv_made_number(m, MARS_FIELD_recvbytes, (int64_t)op->bytes2);
        if (at_root)
            each_set(m, MARS_FIELD_bytes_each, 0, size, op->send_bytes, op->bytes);
        return "bytes_each[] type recvbytes recvtype root comm";
    case TASK_COLL_ALLGATHERV:
        *missing = !op->receive_bytes;
        if (op->receive_bytes)
            each_set(m, MARS_FIELD_recvbytes_each, 1, size, op->receive_bytes, 0);
        return "bytes type recvbytes_each[] recvtype comm";
    case TASK_COLL_ALLTOALLV:
        *missing = !op->send_bytes || !op->receive_bytes;
        each_set(m, MARS_FIELD_bytes_each, 0, size, op->send_bytes, op->bytes);
        each_set(m, MARS_FIELD_recvbytes_each, 1, size, op->receive_bytes, op->bytes2);
        return "bytes_each[] type recvbytes_each[] recvtype comm";
    default: /* Reduce_scatter */
        *missing = !op->receive_bytes;
        each_set(m, MARS_FIELD_bytes_each, 0, size, op->receive_bytes, op->bytes);
        return "bytes_each[] type op comm";
    }
}

const char *conv_made_collective(struct conv_made *m, const struct task_op *op, int32_t rank, int32_t size,
                                 bool *missing)
{
    bool at_root = op->peer == rank;
    *missing = false;
    conv_made_number(m, MARS_FIELD_root, op->peer);
    conv_made_number(m, MARS_FIELD_bytes, (int64_t)op->bytes);
    conv_made_number(m, MARS_FIELD_recvbytes, (int64_t)op->bytes);
    switch (op->collective) {
    case TASK_COLL_BARRIER:
        return "comm";
    case TASK_COLL_BCAST:
        return "bytes type root comm";
    case TASK_COLL_REDUCE:
        return "bytes type op root comm";
    case TASK_COLL_ALLREDUCE:
    case TASK_COLL_SCAN:
    case TASK_COLL_EXSCAN:
    case TASK_COLL_REDUCE_SCATTER_BLOCK:
        return "bytes type op comm";
    case TASK_COLL_GATHER:
        if (!at_root)
            conv_made_number(m, MARS_FIELD_recvbytes, -1);
        return "bytes type recvbytes recvtype root comm";
    case TASK_COLL_SCATTER:
        if (!at_root)
            conv_made_number(m, MARS_FIELD_bytes, -1);
        return "bytes type recvbytes recvtype root comm";
    case TASK_COLL_ALLGATHER:
    case TASK_COLL_ALLTOALL:
        return "bytes type recvbytes recvtype comm";
    default:
        return lists_fields(m, op, at_root, size, missing);
    }
}

void conv_made_record(struct conv_made *m, struct conv_about *about, struct mars_record *call,
                      const char *name, const char *fields)
{
    const struct mars_function *f = conv_about_function(about, name, fields);
    KER_RESERVE(m->values, m->values_room, f->fields + 1);
    for (uint32_t i = 0; i < f->fields; i++)
        m->values[i] = m->value[f->field[i].field];
    call->function = f;
    call->value = m->values;
}
