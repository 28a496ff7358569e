/* cause.c - what has ended a wait: see cause.h.
 *
 * Times travel in the messages themselves. EAGER and RTS of a collective say when the last task that is known
 * to have entered it did. READ, CTS, DATA, FIN and ACK say when what led to them began and how much
 * contention there was since; they do so in place of communicator, tag, sequence and start, which the
 * receiver keeps in its request (struct task_note) until DATA is there, and of the size, where they carry
 * none. What does not fit (48 bits of picoseconds, 281 s; searches of more than 4 ms) is cut, and counts as
 * handshake or as steps; calls of a collective that last longer may take an earlier entry for a later one.
 */
#include "tasks/mpi/state.h"

#define AUX_MOST ((UINT64_C(1) << 48) - 1)

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- dividing ---- */

static uint64_t part_take(uint64_t *rest, uint64_t most)
{
    uint64_t taken = least(*rest, most);
    *rest -= taken;
    return taken;
}

void task_cause_divide(const struct task_cause *cause, ker_time begin, ker_time end, struct task_parts *to)
{
    uint64_t rest = (uint64_t)(end - begin);
    to->waits++;
    if (cause->late >= TASK_PART_SERVICE) {
        to->part[cause->late] += rest;
        return;
    }
    uint64_t before = part_take(&rest, cause->origin > begin ? (uint64_t)(cause->origin - begin) : 0);
    if (cause->collective) {
        uint64_t late = part_take(&before, cause->entered > begin ? (uint64_t)(cause->entered - begin) : 0);
        to->part[TASK_PART_LATE_PARTICIPANTS] += late;
        to->part[TASK_PART_COLLECTIVE_STEPS] += before;
    } else {
        to->part[cause->late] += before;
    }
    to->part[TASK_PART_CONTENTION] += part_take(&rest, cause->contention);
    to->part[TASK_PART_TRANSFER] += part_take(&rest, cause->transfer);
    to->part[TASK_PART_SENDING] += part_take(&rest, cause->sending);
    to->part[TASK_PART_MATCHING] += part_take(&rest, cause->matching);
    to->part[TASK_PART_HANDSHAKE] += rest;
}

/* ---- what messages say ---- */

struct said {
    uint64_t origin, contention, matching, aux;
};

static void said_put(struct task_wire *wire, const struct said *said)
{
    uint64_t matching = least(said->matching, UINT32_MAX);
    wire->comm = (int32_t)(uint32_t)said->origin;
    wire->tag = (int32_t)(uint32_t)(said->origin >> 32);
    wire->sequence = (uint32_t)said->contention;
    wire->start = (uint32_t)(said->contention >> 32);
    if (wire->kind == TASK_WIRE_DATA)
        return;
    wire->bytes = least(said->aux, AUX_MOST) | matching << 48;
    wire->spare = (uint16_t)(matching >> 16);
}

static struct said said_get(const struct task_wire *wire)
{
    struct said said = {.origin = (uint64_t)(uint32_t)wire->tag << 32 | (uint32_t)wire->comm,
                        .contention = (uint64_t)wire->start << 32 | wire->sequence};
    if (wire->kind != TASK_WIRE_DATA) {
        said.aux = wire->bytes & AUX_MOST;
        said.matching = (uint64_t)wire->spare << 16 | wire->bytes >> 48;
    }
    return said;
}

/* When the last task known entered the collective, modulo 2^48; announcing messages have no receiver yet. */
static void entered_put(struct task_wire *wire, ker_time entered)
{
    wire->receiver = (uint32_t)entered;
    wire->spare = (uint16_t)(entered >> 32);
}

static uint64_t entered_get(const struct task_wire *wire)
{
    return (uint64_t)wire->spare << 32 | wire->receiver;
}

static void entered_join(struct task_collective_run *run, ker_time now, uint64_t modulo)
{
    ker_time entered = now - (ker_time)((uint64_t)(now - (ker_time)modulo) & AUX_MOST);
    run->entered = entered > run->entered ? entered : run->entered;
}

void task_cause_enter(const struct task_mpi *mpi, uint32_t run, struct task_wire *wire)
{
    entered_put(wire, task_run_at(mpi, run)->entered);
}

/* The run whose message this request is; NULL: it is the program's. */
static struct task_collective_run *run_of(const struct task_mpi *mpi, const struct task_request *r)
{
    return r->flags & TASK_REQUEST_COLLECTIVE ? task_run_at(mpi, r->run) : NULL;
}

static void run_tell(struct task_mpi *mpi, const struct task_collective_run *run)
{
    mpi->cause.collective = run != NULL;
    mpi->cause.entered = run ? run->entered : 0;
}

/* ---- what happens now ---- */

void task_cause_none(struct task_mpi *mpi)
{
    mpi->cause = (struct task_cause){.late = TASK_PART_OTHER};
}

/* Beyond the time in an empty network; of messages inside a node 0. */
static uint64_t contention_of(const struct net_message *m, ker_time now)
{
    const struct net_parts *p = m->parts;
    if (!p)
        return 0;
    uint64_t known = p->source_queue + p->injection + p->switches + p->links + p->ejection;
    return p->contention + ((uint64_t)(now - m->created) - known); /* resequencing */
}

void task_cause_message(struct task_mpi *mpi, ker_time now, const struct net_message *m,
                        const struct task_wire *wire)
{
    bool starts = wire->kind == TASK_WIRE_PSTART; /* partitioned: the receiver's */
    bool answers = task_wire_answers(wire);
    ker_time doorbell = task_wire_begins(wire) && m->source != m->destination ? mpi->model.doorbell : 0,
             origin = m->created - doorbell;
    uint64_t all = (uint64_t)(now - origin), contention = least(contention_of(m, now), all);
    mpi->cause = (struct task_cause){.late = starts                       ? TASK_PART_LATE_RECEIVER
                                             : wire->kind < TASK_WIRE_PUT ? TASK_PART_LATE_SENDER
                                                                          : TASK_PART_ONE_SIDED,
                                     .arrived = true,
                                     .at = now,
                                     .origin = origin,
                                     .contention = contention,
                                     .transfer = all - contention};
    mpi->cause.hop = (struct task_hop){.sent = origin,
                                       .contention = contention,
                                       .from = answers ? wire->destination : wire->source,
                                       .to = answers ? wire->source : wire->destination,
                                       .kind = wire->kind,
                                       .near = m->source == m->destination};
}

void task_cause_leave(struct task_mpi *mpi, ker_time now, uint32_t request, const struct task_wire *wire)
{
    struct task_collective_run *run = run_of(mpi, task_request_at(mpi, request));
    ker_time last = (ker_time)wire->bytes;
    run->entered = last;
    mpi->cause = (struct task_cause){.late = TASK_PART_LATE_SENDER,
                                     .arrived = true,
                                     .at = now,
                                     .origin = last,
                                     .transfer = (uint64_t)(now - last)};
    mpi->cause.hop = (struct task_hop){
        .sent = last, .from = wire->source, .to = wire->destination, .kind = TASK_WIRE_LEAVE};
    run_tell(mpi, run);
}

void task_cause_left(struct task_mpi *mpi, const struct task_state *task, ker_time now, uint32_t request)
{
    const struct task_request *r = task_request_at(mpi, request);
    const struct task_note *note = task_note_at(mpi, request);
    struct task_cause *cause = &mpi->cause;
    *cause = (struct task_cause){.late = TASK_PART_SENDING, .at = now, .sending = (uint64_t)now};
    if (note->data) {
        cause->late = TASK_PART_LATE_RECEIVER;
        cause->origin = note->origin;
        cause->contention = note->contention;
        cause->matching = note->matching;
        cause->sending = (uint64_t)(now - (note->data - 1));
    }
    cause->hop = (struct task_hop){.sent = note->sent,
                                   .from = task->task,
                                   .to = (uint32_t)r->peer,
                                   .kind = task_request_partitioned(r) ? TASK_WIRE_PART
                                           : note->data                ? TASK_WIRE_DATA
                                                                       : TASK_WIRE_EAGER,
                                   .left = 1};
    run_tell(mpi, run_of(mpi, r));
}

void task_cause_sends(const struct task_mpi *mpi, uint32_t request, ker_time when)
{
    task_note_at(mpi, request)->sent = when;
}

void task_cause_matched(struct task_mpi *mpi, ker_time now, ker_time searches, uint32_t request,
                        const struct task_wire *wire, struct task_wire *answer)
{
    const struct task_cause *cause = &mpi->cause;
    struct task_collective_run *run = run_of(mpi, task_request_at(mpi, request));
    if (run)
        entered_join(run, now, entered_get(wire));
    run_tell(mpi, run);
    if (wire->kind == TASK_WIRE_RTS)
        *task_note_at(mpi, request) = (struct task_note){.comm = wire->comm,
                                                         .tag = wire->tag,
                                                         .sequence = wire->sequence,
                                                         .start = wire->start,
                                                         .searched = (uint64_t)searches};
    if (wire->kind != TASK_WIRE_RTS && !(wire->flags & TASK_WIRE_SYNC))
        return;
    said_put(answer, &(struct said){.origin = (uint64_t)(cause->arrived ? cause->origin : now),
                                    .contention = cause->arrived ? cause->contention : 0,
                                    .matching = (uint64_t)searches,
                                    .aux = run ? (uint64_t)run->entered & AUX_MOST : 0});
}

void task_cause_cleared(struct task_mpi *mpi, ker_time now, uint32_t request, const struct task_wire *wire,
                        struct task_wire *data)
{
    const struct task_request *r = task_request_at(mpi, request);
    struct task_collective_run *run = run_of(mpi, r);
    struct said said = said_get(wire);
    if (run)
        entered_join(run, now, said.aux);
    if (mpi->cause.arrived)
        said.contention += mpi->cause.contention;
    else /* it has waited for the sender's call */
        said = (struct said){.origin = (uint64_t)now};
    *task_note_at(mpi, request) = (struct task_note){.origin = (ker_time)said.origin,
                                                     .contention = said.contention,
                                                     .matching = said.matching,
                                                     .data = now + 1};
    data->bytes = r->bytes;
    data->spare = 0;
    said_put(data, &said);
}

void task_cause_whole(struct task_mpi *mpi, ker_time now, uint32_t request, struct task_wire *whole,
                      struct task_wire *fin)
{
    const struct task_request *r = task_request_at(mpi, request);
    const struct task_note *note = task_note_at(mpi, request);
    struct task_cause *cause = &mpi->cause;
    struct said said = said_get(whole);
    said.contention += cause->contention;
    said.matching = note->searched;
    said.aux = cause->transfer;
    if (!cause->arrived) /* it has waited for the receiver's call */
        said = (struct said){.origin = (uint64_t)now};
    said_put(fin, &said);
    whole->comm = note->comm;
    whole->tag = note->tag;
    whole->sequence = note->sequence;
    whole->start = note->start;
    cause->late = TASK_PART_LATE_SENDER;
    cause->origin = (ker_time)said.origin;
    cause->contention = said.contention;
    cause->matching = said.matching;
    run_tell(mpi, run_of(mpi, r));
}

void task_cause_delivered(const struct task_mpi *mpi, ker_time now, struct task_wire *fin)
{
    const struct task_cause *cause = &mpi->cause;
    said_put(fin, &(struct said){.origin = (uint64_t)(cause->arrived ? cause->origin : now),
                                 .contention = cause->arrived ? cause->contention : 0});
}

void task_cause_finished(struct task_mpi *mpi, uint32_t request, const struct task_wire *wire)
{
    const struct task_request *r = task_request_at(mpi, request);
    struct task_cause *cause = &mpi->cause;
    struct said said = said_get(wire);
    cause->late = TASK_PART_LATE_RECEIVER;
    cause->origin = (ker_time)said.origin;
    cause->contention += said.contention;
    cause->matching = said.matching;
    cause->transfer = wire->kind == TASK_WIRE_FIN ? said.aux : 0;
    run_tell(mpi, run_of(mpi, r));
}

void task_cause_calls(const struct task_mpi *mpi, const struct task_state *task, ker_time now,
                      uint32_t request)
{
    *task_note_at(mpi, request) = (struct task_note){.sent = now, .sequence = task_stream_current(task)};
}

void task_cause_answered(struct task_mpi *mpi, const struct task_state *task, ker_time now, uint32_t request)
{
    const struct task_note *note = task_note_at(mpi, request);
    mpi->cause = (struct task_cause){.late = TASK_PART_SERVICE, .at = now, .origin = note->sent};
    mpi->cause.hop = (struct task_hop){.sent = note->sent,
                                       .from = task->task,
                                       .to = task->task,
                                       .kind = TASK_WIRE_SERVICE,
                                       .stream = (uint8_t)note->sequence};
}

void task_note_state(const struct task_mpi *mpi, uint32_t request, struct ker_chunk *c)
{
    KER_CHUNK(c, *task_note_at(mpi, request));
}
