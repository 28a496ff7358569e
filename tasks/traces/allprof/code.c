/* code.c - operations as bytes: about ten per operation in memory instead of a line of text.
 *
 * An operation is: its call's number + 1, the distance to the last operation's line, then what its kind
 * needs, all as varints (7 bits a byte, lowest first; signed numbers zigzag). 0 in the place of the call is a
 * computation: its microseconds. Operations whose outcome the trace tells only later (tests, Waitany,
 * Waitsome) have the outcome and a chosen request as 9 fixed bytes, which are settled in place. A test that
 * completed nothing is skipped by the reader, and taken back altogether when nothing was written after it: a
 * million of them are one computation.
 *
 * Invariant: gap_us is the computation since the last operation that is written.
 */
#include "tasks/traces/allprof/allprof.h"

#include <stdlib.h>
#include <string.h>

static inline uint8_t *put(uint8_t *at, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        *at++ = (uint8_t)(value | 128);
    *at++ = (uint8_t)value;
    return at;
}

static inline uint8_t *put_signed(uint8_t *at, int64_t value)
{
    return put(at, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static uint8_t *put_list(uint8_t *at, const uint64_t *list, uint64_t count)
{
    uint64_t last = 0;
    for (uint64_t i = 0; i < count; i++) {
        at = put_signed(at, (int64_t)(list[i] - last));
        last = list[i];
    }
    return at;
}

static bool has_outcome(unsigned kind)
{
    return kind == TASK_OP_WAITANY || kind == TASK_OP_WAITSOME || kind == TASK_OP_TEST ||
           kind == TASK_OP_TESTALL || kind == TASK_OP_TESTANY || kind == TASK_OP_TESTSOME;
}

static uint8_t *put_message(uint8_t *at, const struct task_op *op)
{
    at = put(at, (uint32_t)op->comm);
    at = put_signed(at, op->peer);
    at = put_signed(at, op->tag);
    return put(at, op->bytes);
}

#define LISTS_SEND 1u
#define LISTS_RECEIVE 2u

static uint8_t *put_collective(uint8_t *at, const struct task_op *op)
{
    uint64_t size = op->request_count; /* of the communicator, when there are lists */
    unsigned lists = (op->send_bytes ? LISTS_SEND : 0) | (op->receive_bytes ? LISTS_RECEIVE : 0);
    *at++ = op->collective;
    at = put(at, (uint32_t)op->comm);
    at = put_signed(at, op->peer);
    at = put(at, op->bytes);
    at = put(at, op->bytes2);
    at = put(at, lists);
    if (lists)
        at = put(at, size);
    if (op->send_bytes)
        at = put_list(at, op->send_bytes, size);
    if (op->receive_bytes)
        at = put_list(at, op->receive_bytes, size);
    return at;
}

static uint8_t *put_body(uint8_t *at, const struct task_op *op)
{
    switch (op->kind) {
    case TASK_OP_SEND:
    case TASK_OP_RECV:
    case TASK_OP_PROBE:
        return put_message(at, op);
    case TASK_OP_ISEND:
    case TASK_OP_IRECV:
    case TASK_OP_SEND_INIT:
    case TASK_OP_RECV_INIT:
        return put(put_message(at, op), op->request);
    case TASK_OP_SENDRECV:
        at = put_message(at, op);
        at = put_signed(at, op->peer2);
        at = put_signed(at, op->tag2);
        return put(at, op->bytes2);
    case TASK_OP_COLLECTIVE:
        return put_collective(at, op);
    case TASK_OP_FINALIZE:
        return at;
    case TASK_OP_START:
    case TASK_OP_CANCEL:
    case TASK_OP_REQUEST_FREE:
    case TASK_OP_WAIT:
    case TASK_OP_TEST:
        return put(at, op->request);
    default:
        return put_list(put(at, op->request_count), op->requests, op->request_count);
    }
}

#define OP_BYTES 100     /* more than an operation takes without its lists */
#define NUMBER_BYTES 10u /* most of a varint */

uint64_t allprof_code_put(struct allprof_code *code, const struct allprof_call *call,
                          const struct task_op *op)
{
    size_t lists = (size_t)op->request_count * 2 * NUMBER_BYTES;
    if (__builtin_expect(code->used >= code->cut, 0))
        allprof_code_cut(code);
    KER_RESERVE(code->byte, code->room, code->used + OP_BYTES + lists);
    uint8_t *at = code->byte + code->used;
    code->last_begin = code->begin + code->used;
    code->last_line = code->line;
    code->last_gap_us = code->gap_us;
    if (code->gap_us) {
        *at++ = 0;
        at = put(at, code->gap_us < ALLPROF_GAP_MAX_US ? code->gap_us : ALLPROF_GAP_MAX_US);
        code->gap_us = 0;
    }
    code->last_op = code->begin + (uint64_t)(at - code->byte);
    *at++ = (uint8_t)(allprof_call_number(call) + 1);
    at = put(at, op->line - code->line);
    code->line = op->line;
    *at++ = op->kind;
    if (has_outcome(op->kind)) {
        *at++ = (uint8_t)op->outcome;
        memset(at, 0, sizeof op->request);
        at += sizeof op->request;
    }
    code->used = (size_t)(put_body(at, op) - code->byte);
    return code->last_op;
}

/* Where the outcome of an operation lies: behind the call, the line and the kind. */
#define OUTCOME_BYTES (1 + 5 + 1 + 1 + sizeof(uint64_t))

static size_t outcome_offset(const uint8_t *op)
{
    const uint8_t *byte = op + 1;
    while (*byte++ & 128)
        ;
    ker_check(has_outcome(*byte));
    return (size_t)(byte + 1 - op);
}

void allprof_code_settle(struct allprof_code *code, uint64_t at, int8_t outcome, uint64_t request)
{
    uint8_t copy[OUTCOME_BYTES], *op = copy;
    bool away = at < code->begin;
    if (away)
        allprof_code_peek(code, at, copy, sizeof copy);
    else
        op = code->byte + (at - code->begin);
    uint8_t *place = op + outcome_offset(op);
    *place = (uint8_t)outcome;
    if (request)
        memcpy(place + 1, &request, sizeof request);
    if (away)
        allprof_code_poke(code, at, copy, (size_t)(place + 1 + sizeof request - copy));
}

int8_t allprof_code_outcome(const struct allprof_code *code, uint64_t at, uint64_t *request)
{
    uint8_t copy[OUTCOME_BYTES];
    const uint8_t *op = copy;
    if (at < code->begin)
        allprof_code_peek(code, at, copy, sizeof copy);
    else
        op = code->byte + (at - code->begin);
    const uint8_t *place = op + outcome_offset(op);
    memcpy(request, place + 1, sizeof *request);
    return (int8_t)*place;
}

bool allprof_code_undo(struct allprof_code *code, uint64_t at)
{
    uint64_t end = code->begin + code->used;
    if (end == 0 || at != code->last_op || code->last_begin == end)
        return false;
    code->used = (size_t)(code->last_begin - code->begin);
    code->line = code->last_line;
    code->gap_us += code->last_gap_us;
    code->last_op = UINT64_MAX; /* only one can be taken back */
    return true;
}

static inline uint64_t get(struct allprof_reader *reader)
{
    uint64_t value = *reader->at++;
    if (__builtin_expect(value < 128, 1))
        return value;
    value &= 127;
    for (unsigned shift = 7;; shift += 7) {
        uint64_t byte = *reader->at++;
        value |= (byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

static inline int64_t get_signed(struct allprof_reader *reader)
{
    uint64_t value = get(reader);
    return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

static uint64_t *get_list(struct allprof_reader *reader, uint64_t count, uint64_t offset)
{
    uint64_t last = 0, *list = reader->scratch + offset;
    for (uint64_t i = 0; i < count; i++)
        list[i] = last += (uint64_t)get_signed(reader);
    return list;
}

static void scratch_reserve(struct allprof_reader *reader, uint64_t count)
{
    if (count <= reader->room)
        return;
    reader->room = count;
    free(reader->scratch);
    reader->scratch = ker_alloc(count * sizeof *reader->scratch);
}

static int32_t get_comm(struct allprof_reader *reader)
{
    uint64_t event = get(reader);
    return reader->comm ? reader->comm[event] : 0;
}

static void get_message(struct allprof_reader *reader, struct task_op *op)
{
    op->comm = get_comm(reader);
    op->peer = (int32_t)get_signed(reader);
    op->tag = (int32_t)get_signed(reader);
    op->bytes = get(reader);
}

static void get_collective(struct allprof_reader *reader, struct task_op *op)
{
    op->collective = *reader->at++;
    op->comm = get_comm(reader);
    op->peer = (int32_t)get_signed(reader);
    op->bytes = get(reader);
    op->bytes2 = get(reader);
    uint64_t lists = get(reader);
    if (!lists)
        return;
    uint64_t size = get(reader);
    scratch_reserve(reader, 2 * size);
    if (lists & LISTS_SEND)
        op->send_bytes = get_list(reader, size, 0);
    if (lists & LISTS_RECEIVE)
        op->receive_bytes = get_list(reader, size, size);
}

static void get_body(struct allprof_reader *reader, struct task_op *op)
{
    switch (op->kind) {
    case TASK_OP_SEND:
    case TASK_OP_RECV:
    case TASK_OP_PROBE:
        get_message(reader, op);
        return;
    case TASK_OP_ISEND:
    case TASK_OP_IRECV:
    case TASK_OP_SEND_INIT:
    case TASK_OP_RECV_INIT:
        get_message(reader, op);
        op->request = get(reader);
        return;
    case TASK_OP_SENDRECV:
        get_message(reader, op);
        op->peer2 = (int32_t)get_signed(reader);
        op->tag2 = (int32_t)get_signed(reader);
        op->bytes2 = get(reader);
        return;
    case TASK_OP_COLLECTIVE:
        get_collective(reader, op);
        return;
    case TASK_OP_FINALIZE:
        return;
    case TASK_OP_START:
    case TASK_OP_CANCEL:
    case TASK_OP_REQUEST_FREE:
    case TASK_OP_WAIT:
    case TASK_OP_TEST:
        op->request = get(reader);
        return;
    default:
        op->request_count = (uint32_t)get(reader);
        scratch_reserve(reader, op->request_count);
        op->requests = get_list(reader, op->request_count, 0);
    }
}

/* What is known of the outcome makes a test a wait; false: nothing completed, nothing to do. */
static bool outcome_apply(struct task_op *op, uint64_t chosen)
{
    static const uint8_t as_wait[] = {
        [TASK_OP_TEST] = TASK_OP_WAIT,       [TASK_OP_TESTALL] = TASK_OP_WAITALL,
        [TASK_OP_TESTANY] = TASK_OP_WAITANY, [TASK_OP_TESTSOME] = TASK_OP_WAITSOME,
        [TASK_OP_WAITANY] = TASK_OP_WAITANY, [TASK_OP_WAITSOME] = TASK_OP_WAITSOME,
    };
    op->kind = as_wait[op->kind];
    if (chosen) {
        op->kind = TASK_OP_WAIT;
        op->request = chosen;
    }
    return op->outcome == 1;
}

bool allprof_reader_next(struct allprof_reader *reader, struct task_op *op)
{
    while (reader->at < reader->end || allprof_reader_more(reader)) {
        memset(op, 0, sizeof *op);
        unsigned call = *reader->at++;
        if (call == 0) {
            op->kind = TASK_OP_COMPUTE;
            op->line = reader->line;
            op->call = "computation";
            op->time = (ker_time)get(reader) * KER_US;
            return true;
        }
        const struct allprof_call *entry = allprof_call_get(call - 1);
        op->call = entry->name;
        reader->line += (uint32_t)get(reader);
        op->line = reader->line;
        op->kind = *reader->at++;
        op->mode = op->kind == TASK_OP_SEND || op->kind == TASK_OP_ISEND || op->kind == TASK_OP_SEND_INIT
                       ? entry->mode
                       : 0;
        op->outcome = 1;
        bool settled = has_outcome(op->kind);
        uint64_t chosen = 0;
        if (settled) {
            op->outcome = (int8_t)*reader->at++;
            memcpy(&chosen, reader->at, sizeof chosen);
            reader->at += sizeof chosen;
        }
        get_body(reader, op);
        if (!settled || outcome_apply(op, chosen))
            return true;
    }
    return false;
}
