/* record.c - what tasks of schedules did, while it happens: see record.h. */
#include "tasks/loggops/model.h"

#include "tasks/mpi/path.h"

#include <stdlib.h>

static const char *const functions[] = {NULL, "send", "recv", "wait"};
enum { CALCULATES, SENDS, RECEIVES, WAITS };

static struct loggops_record *record_of(const struct loggops_system *s, const struct loggops_process *p)
{
    return &s->records->of[p - s->process];
}

static struct loggops_record_cpu *cpu_of(const struct loggops_system *s, const struct loggops_process *p,
                                         unsigned cpu)
{
    return &s->records->cpu[(size_t)(p - s->process) * s->cpus + cpu];
}

static struct loggops_record_nic *nic_of(const struct loggops_system *s, const struct loggops_process *p,
                                         unsigned nic)
{
    return &s->records->nic[(size_t)(p - s->process) * 2 * s->nics + nic];
}

static uint32_t task_of(const struct loggops_system *s, const struct loggops_process *p, uint32_t process)
{
    return process - s->job[p->job].first;
}

enum ker_status loggops_records_read(struct loggops_system *s, const struct ker_config *config, bool keep,
                                     struct ker_error *error)
{
    bool total, periods, schedules = false;
    uint32_t most;
    enum ker_status status = task_path_room(config, s->processes, &most, error);
    for (uint32_t i = 0; i < s->jobs; i++)
        schedules |= !s->job[i].mpi;
    stats_matrix_wanted(config, &total, &periods);
    if (status || !schedules ||
        !(keep || most || total || periods || s->programs || stats_timeline_wanted(config) ||
          stats_collects_periods(config, "output.series.jobs") ||
          stats_collects_periods(config, "output.series.tasks")))
        return status;
    s->records = ker_alloc(sizeof *s->records);
    s->records->most = most;
    return KER_OK;
}

void loggops_record_begin(struct loggops_system *s, const struct loggops_process *p)
{
    ker_time start = s->job[p->job].start;
    for (unsigned cpu = 0; cpu < s->cpus; cpu++)
        *cpu_of(s, p, cpu) = (struct loggops_record_cpu){start, start, start, false};
}

void loggops_records_make(struct loggops_system *s)
{
    struct loggops_records *r = s->records;
    r->of = ker_alloc((s->count + (size_t)1) * sizeof *r->of);
    r->cpu = ker_alloc((s->count + (size_t)1) * s->cpus * sizeof *r->cpu);
    r->nic = ker_alloc((s->count + (size_t)1) * 2 * s->nics * sizeof *r->nic);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct loggops_process *p = &s->process[i];
        if (loggops_is_program(s, p))
            continue;
        loggops_record_begin(s, p);
        r->of[i].shown =
            r->timeline && stats_timeline_has(r->timeline, p->job, task_of(s, p, loggops_rank(s, p)));
    }
}

void loggops_records_free(struct loggops_system *s)
{
    struct loggops_records *r = s->records;
    for (uint32_t i = 0; r->of && i < s->count; i++)
        free(r->of[i].ring.piece);
    KER_FREE(r->of, r->cpu, r->nic, r);
    s->records = NULL;
}

/* The last piece goes to its place: an answer may begin after what a task does in between. */
static void ring_settle(struct task_ring *ring)
{
    for (uint32_t i = ring->count - 1; i > 0; i--) {
        struct task_piece *before = task_ring_at(ring, i - 1), *last = task_ring_at(ring, i), swap = *last;
        if (task_piece_key(before) <= task_piece_key(last))
            return;
        *last = *before;
        *before = swap;
    }
}

/* ---- what an event is, and why it comes now ---- */

/* The adapter was busy until now: with what it began last. */
static void by_adapter(struct loggops_system *s, struct loggops_process *p, unsigned nic)
{
    const struct loggops_record_nic *last = nic_of(s, p, nic);
    s->records->hop = (struct task_hop){.sent = last->since,
                                        .from = task_of(s, p, loggops_rank(s, p)),
                                        .to = last->to,
                                        .kind = last->sends,
                                        .left = 1,
                                        .stream = (uint8_t)last->cpu};
}

/* Another cpu, which has begun or ended something now; or a message that was done. */
static void by_cpu(struct loggops_system *s, struct loggops_process *p, unsigned own, ker_time now)
{
    for (unsigned cpu = 0; cpu < s->cpus; cpu++)
        if (cpu != own && (cpu_of(s, p, cpu)->until == now || cpu_of(s, p, cpu)->begin == now)) {
            s->records->hop = (struct task_hop){.sent = now, .from = cpu, .kind = TASK_HOP_STREAM};
            return;
        }
    if (record_of(s, p)->notified_at == now)
        s->records->hop = record_of(s, p)->notified;
}

static void by_message(struct loggops_system *s, struct loggops_process *p, const struct loggops_event *e,
                       enum task_wire_kind kind, ker_time sent)
{
    s->records->hop = (struct task_hop){.sent = sent,
                                        .from = task_of(s, p, e->origin),
                                        .to = task_of(s, p, loggops_rank(s, p)),
                                        .kind = (uint8_t)kind,
                                        .stream = e->cpu};
}

static void operation(struct loggops_system *s, struct loggops_process *p, const struct loggops_event *e)
{
    struct loggops_records *r = s->records;
    struct graph_op room;
    const struct graph_op *op = loggops_op(s, p, e->op, &room);
    r->function = functions[e->tag == GRAPH_SEND ? SENDS : e->tag == GRAPH_RECEIVE ? RECEIVES : CALCULATES];
    by_cpu(s, p, e->cpu, e->time);
    if (op->kind == GRAPH_CALCULATION)
        return;
    r->peer = op->peer == GRAPH_ANY ? STATS_CALL_NOBODY : (int32_t)op->peer;
    r->tag = (int32_t)op->tag;
    r->bytes = op->amount;
    if (op->kind != GRAPH_SEND)
        return;
    if (*loggops_sending(s, p, e->nic) == e->time && nic_of(s, p, e->nic)->since < e->time)
        by_adapter(s, p, e->nic);
    *nic_of(s, p, e->nic) = (struct loggops_record_nic){e->time, e->cpu, 0, TASK_WIRE_EAGER};
    record_of(s, p)->messages_sent++;
    record_of(s, p)->bytes_sent += op->amount;
    if (r->pairs)
        stats_matrix_add(r->pairs, loggops_rank(s, p), op->peer + s->job[p->job].first, 1, op->amount);
}

/* What is sent by the adapter without a cpu. */
static void fetched(struct loggops_system *s, struct loggops_process *p, const struct loggops_event *e)
{
    struct loggops_records *r = s->records;
    by_message(s, p, e, TASK_WIRE_READ, e->cause[0]);
    if (*loggops_sending(s, p, e->nic) == e->time && nic_of(s, p, e->nic)->since < e->time)
        by_adapter(s, p, e->nic);
    *nic_of(s, p, e->nic) =
        (struct loggops_record_nic){e->time, e->cpu, task_of(s, p, e->origin), TASK_WIRE_DATA};
    if (!r->most)
        return;
    struct task_piece *piece = task_ring_push(&record_of(s, p)->ring, r->most);
    *piece = (struct task_piece){.begin = e->time, .end = e->time, .hop = r->hop, .kind = TASK_PIECE_ACT};
    piece->to = task_of(s, p, e->origin);
    piece->sends = TASK_WIRE_DATA;
    ring_settle(&record_of(s, p)->ring);
}

/* When it left its sender, by that and by its kind: MESSAGE and REQUEST behind o, DATA that is written behind
 * the taking in of the answer, too. */
static ker_time left_at(const struct loggops_system *s, const struct loggops_event *e,
                        const struct loggops_parameters *set)
{
    unsigned times = e->kind != LOGGOPS_DATA ? 1 : s->set.rendezvous == LOGGOPS_WRITE ? 2 : 0;
    return e->cause[0] + (ker_time)times * set->overhead;
}

static void message(struct loggops_system *s, struct loggops_process *p, const struct loggops_event *e)
{
    static const uint8_t kinds[] = {[LOGGOPS_MESSAGE] = TASK_WIRE_EAGER,
                                    [LOGGOPS_REQUEST] = TASK_WIRE_RTS,
                                    [LOGGOPS_DATA] = TASK_WIRE_DATA};
    struct loggops_records *r = s->records;
    const struct loggops_parameters *set = loggops_between(s, loggops_rank(s, p), e->origin);
    ker_time left = left_at(s, e, set);
    r->function = functions[RECEIVES];
    r->peer = (int32_t)task_of(s, p, e->origin);
    r->tag = e->kind == LOGGOPS_DATA ? STATS_CALL_NOBODY : (int32_t)e->tag;
    r->bytes = e->bytes;
    by_message(s, p, e, kinds[e->kind], left);
    if (e->time > left + set->latency && *loggops_receiving(s, p, e->nic) == e->time)
        by_adapter(s, p, s->nics + e->nic);
    *nic_of(s, p, s->nics + e->nic) = (struct loggops_record_nic){e->time, e->cpu, 0, TASK_WIRE_EAGER};
}

void loggops_record_event(struct loggops_system *s, struct loggops_process *p, const struct loggops_event *e)
{
    struct loggops_records *r = s->records;
    r->at = e->time;
    r->hop = (struct task_hop){.kind = 0};
    r->peer = r->tag = STATS_CALL_NOBODY;
    r->bytes = 0;
    switch (e->kind) {
    case LOGGOPS_OPERATION:
        operation(s, p, e);
        break;
    case LOGGOPS_CLEAR:
        r->function = functions[SENDS];
        r->peer = (int32_t)task_of(s, p, e->origin);
        r->bytes = e->bytes;
        by_message(s, p, e, TASK_WIRE_CTS, e->cause[0]);
        if (*loggops_sending(s, p, e->nic) == e->time && nic_of(s, p, e->nic)->since < e->time)
            by_adapter(s, p, e->nic);
        *nic_of(s, p, e->nic) = (struct loggops_record_nic){e->time, e->cpu, 0, TASK_WIRE_EAGER};
        break;
    case LOGGOPS_FETCH:
        fetched(s, p, e);
        break;
    case LOGGOPS_LEFT:
        loggops_record_notified(s, p, e, e->time, e->origin);
        break;
    default:
        message(s, p, e);
    }
}

/* ---- what a cpu does ---- */

static void call_show(struct loggops_system *s, struct loggops_process *p, unsigned cpu, const char *function,
                      ker_time begin, ker_time end)
{
    struct loggops_records *r = s->records;
    struct loggops_record *own = record_of(s, p);
    struct loggops_record_cpu *c = cpu_of(s, p, cpu);
    bool waits = function == functions[WAITS];
    struct stats_wait wait = {begin, end};
    struct stats_call call = {.group = p->job,
                              .task = task_of(s, p, loggops_rank(s, p)),
                              .stream = cpu,
                              .number = own->calls++,
                              .function = function,
                              .before = c->before,
                              .begin = begin,
                              .end = end,
                              .bytes = waits ? 0 : r->bytes,
                              .peer = waits ? STATS_CALL_NOBODY : r->peer,
                              .tag = waits ? STATS_CALL_NOBODY : r->tag,
                              .comm = waits || r->peer == STATS_CALL_NOBODY ? STATS_CALL_NOBODY : 0,
                              .wait = &wait,
                              .waits = waits};
    stats_timeline_call(r->timeline, &call);
    c->before = end;
}

/* It had nothing to do until now. */
static void idle(struct loggops_system *s, struct loggops_process *p, unsigned cpu, ker_time now)
{
    struct loggops_records *r = s->records;
    struct loggops_record *own = record_of(s, p);
    struct loggops_record_cpu *c = cpu_of(s, p, cpu);
    if (c->until >= now)
        return;
    own->wait += now - c->until;
    if (r->most) {
        *task_ring_push(&own->ring, r->most) = (struct task_piece){.begin = c->until,
                                                                   .end = now,
                                                                   .function = functions[WAITS],
                                                                   .hop = r->hop,
                                                                   .stream = (uint16_t)cpu,
                                                                   .kind = TASK_PIECE_WAIT};
        ring_settle(&own->ring);
    }
    if (own->shown)
        call_show(s, p, cpu, functions[WAITS], c->until, now);
    c->until = now;
    c->computes = false;
}

void loggops_record_busy(struct loggops_system *s, struct loggops_process *p, unsigned cpu, ker_time from,
                         ker_time until)
{
    struct loggops_records *r = s->records;
    struct loggops_record *own = record_of(s, p);
    struct loggops_record_cpu *c = cpu_of(s, p, cpu);
    idle(s, p, cpu, r->at > c->until ? r->at : from);
    from = c->until; /* of a message after its answer the taking in of that, too */
    c->begin = from;
    c->until = until;
    c->computes = !r->function;
    if (c->computes)
        own->compute += until - from;
    if (r->most && until > from) {
        task_ring_busy(&own->ring, r->most, (uint16_t)cpu, r->function, from, until);
        ring_settle(&own->ring);
    }
    if (own->shown && !c->computes)
        call_show(s, p, cpu, r->function, from, until);
}

void loggops_record_notified(struct loggops_system *s, struct loggops_process *p,
                             const struct loggops_event *e, ker_time now, uint32_t from)
{
    s->records->hop = (struct task_hop){.sent = e->kind == LOGGOPS_LEFT ? e->cause[0] : now,
                                        .from = task_of(s, p, from),
                                        .to = task_of(s, p, loggops_rank(s, p)),
                                        .kind = TASK_WIRE_FIN,
                                        .stream = e->cpu};
    record_of(s, p)->notified_at = now;
    record_of(s, p)->notified = s->records->hop;
    idle(s, p, e->cpu, now);
}

void loggops_record_received(struct loggops_system *s, struct loggops_process *p,
                             const struct loggops_event *e, ker_time received)
{
    struct loggops_records *r = s->records;
    struct loggops_record *own = record_of(s, p);
    uint32_t source = task_of(s, p, e->origin);
    own->messages_received++;
    own->bytes_received += e->bytes;
    if (!own->shown || !stats_timeline_messages(r->timeline, false) ||
        !stats_timeline_has(r->timeline, p->job, source))
        return;
    stats_timeline_message(r->timeline,
                           &(struct stats_message){.group = p->job,
                                                   .source = source,
                                                   .destination = task_of(s, p, loggops_rank(s, p)),
                                                   .number = own->messages++,
                                                   .sent = e->cause[0],
                                                   .arrived = e->time,
                                                   .received = received,
                                                   .bytes = e->bytes,
                                                   .tag = e->kind == LOGGOPS_DATA ? 0 : (int32_t)e->tag,
                                                   .comm = 0});
}

void loggops_timeline_end(struct loggops_system *s, ker_time end)
{
    for (uint32_t i = 0; s->records && s->records->timeline && i < s->count; i++)
        for (unsigned cpu = 0; s->records->of[i].shown && cpu < s->cpus; cpu++) {
            struct loggops_process *p = &s->process[i];
            struct loggops_record_cpu *c = cpu_of(s, p, cpu);
            ker_time until = c->until < end ? c->until : end;
            if (c->computes && until > c->before)
                call_show(s, p, cpu, NULL, until, until);
        }
}

void loggops_record_into(struct loggops_system *s, struct stats_timeline *timeline)
{
    if (s->records)
        s->records->timeline = timeline;
}

void loggops_pairs_into(struct loggops_system *s, struct stats_matrix *pairs)
{
    if (s->records)
        s->records->pairs = pairs;
}

/* ---- saved state ---- */

static const char *function_state(const char *function, struct ker_chunk *c)
{
    uint32_t number = 0;
    for (uint32_t i = 1; i < sizeof functions / sizeof *functions; i++)
        number = function == functions[i] ? i : number;
    return functions[ker_chunk_below(c, number, sizeof functions / sizeof *functions)];
}

static void piece_state(struct task_piece *piece, struct ker_chunk *c)
{
    KER_CHUNK(c, piece->begin, piece->end, piece->hop, piece->stream);
    piece->kind = (uint8_t)ker_chunk_below(c, piece->kind, TASK_PIECE_ACT + 1);
    if (piece->kind != TASK_PIECE_ACT) {
        piece->function = function_state(piece->function, c);
        return;
    }
    KER_CHUNK(c, piece->to, piece->sends);
}

static void ring_state(struct loggops_records *r, struct task_ring *ring, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, ring->count, 2 * sizeof(ker_time));
    ring->lost = ker_chunk_bool(c, ring->lost);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct task_piece one = {0};
        if (!c->loads)
            one = *task_ring_at(ring, i);
        piece_state(&one, c);
        if (c->loads && !c->bad && r->most)
            *task_ring_push(ring, r->most) = one;
    }
}

static void nic_state(struct loggops_record_nic *nic, struct ker_chunk *c)
{
    KER_CHUNK(c, nic->since, nic->cpu, nic->to, nic->sends);
}

void loggops_record_state(struct loggops_system *s, struct loggops_process *p, uint32_t cpus, uint32_t nics,
                          struct ker_chunk *c)
{
    struct loggops_record *own = record_of(s, p);
    if (c->loads)
        own->ring.count = own->ring.first = 0;
    ring_state(s->records, &own->ring, c);
    KER_CHUNK(c, own->compute, own->wait, own->messages_sent, own->bytes_sent, own->messages_received,
              own->bytes_received, own->notified_at, own->notified, own->calls, own->messages);
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        struct loggops_record_cpu *one = cpu_of(s, p, cpu);
        KER_CHUNK(c, one->begin, one->until, one->before);
        one->computes = ker_chunk_bool(c, one->computes);
    }
    for (unsigned nic = 0; nic < nics; nic++) {
        nic_state(nic_of(s, p, nic), c);
        nic_state(nic_of(s, p, s->nics + nic), c);
    }
}
