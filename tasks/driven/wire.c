/* wire.c - what cores send to each other, in the envelope of a message.
 *
 * word 0: kind, job << 8, moves << 32
 * word 1: object, block << 32
 * word 2: iteration, source << 32
 * word 3: destination, arrived << 32
 * word 4: after, run << 32; of LOAD, COUNT and LOCATION the number
 * word 5: bytes
 */
#include "tasks/driven/model.h"

static uint64_t pair(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static bool alone(enum driven_kind kind)
{
    return kind == DRIVEN_LOAD || kind == DRIVEN_COUNT || kind == DRIVEN_LOCATION;
}

void driven_sent_add(const struct driven_core *core, enum task_sent_kind kind, uint32_t to, uint64_t bytes)
{
    const struct task_driven *d = core->driven;
    struct task_mpi_message m = {
        .kind = kind, .job = core->job_number, .from = core->task, .to = to, .bytes = bytes};
    if (!d->counts)
        return;
    m.leaves = to != core->task && d->outside.node(d->outside.jobs, m.job, to) != core->home->node;
    task_mpi_sent_add(d->counts, &m);
}

void driven_wire_send(struct driven_core *core, struct node *node, ker_time now,
                      const struct driven_wire *wire, uint64_t bytes)
{
    struct task_driven *d = core->driven;
    struct net_envelope envelope = {
        {pair((uint32_t)wire->kind | wire->job << 8, wire->moves), pair(wire->object, wire->block),
         pair(wire->iteration, wire->source), pair(wire->destination, wire->arrived),
         alone(wire->kind) ? wire->number : pair(wire->after, wire->run), wire->bytes}};
    struct node_message m = {
        .destination = d->outside.node(d->outside.jobs, wire->job, wire->destination),
        .bytes = bytes,
        .envelope = &envelope,
        .delay = d->model.doorbell,
        .core = core->core,
        .priority = (uint8_t)core->job->priority,
    };
    if (m.destination == core->home->node) {
        m.delay = d->model.loopback ? m.delay : 0;
        if (d->model.works) /* both are on this rank */
            m.core = NODE_CORES(core->core, d->core[driven_job_of(core)->core[wire->destination] - 1].core);
    }
    if (wire->kind != DRIVEN_MESSAGE)
        driven_sent_add(core, TASK_SENT_BALANCING, wire->destination, bytes);
    driven_job_of(core)->open++;
    if (core->sends) {
        m.cookie = core->seat + 1u;
        core->leaving++;
        driven_job_of(core)->open++;
    }
    d->outside.send(node, now, d->service, &m);
}

void driven_wire_read(struct driven_wire *wire, const struct net_message *m)
{
    const uint64_t *word = m->envelope.word;
    *wire = (struct driven_wire){
        .kind = (enum driven_kind)(word[0] & 0xff),
        .job = (uint32_t)word[0] >> 8,
        .moves = (uint32_t)(word[0] >> 32),
        .object = (uint32_t)word[1],
        .block = (uint32_t)(word[1] >> 32),
        .iteration = (uint32_t)word[2],
        .source = (uint32_t)(word[2] >> 32),
        .destination = (uint32_t)word[3],
        .arrived = (uint32_t)(word[3] >> 32),
        .bytes = word[5],
    };
    if (alone(wire->kind)) {
        wire->number = word[4];
    } else {
        wire->after = (uint32_t)word[4];
        wire->run = (uint32_t)(word[4] >> 32);
    }
}
