/* core.c - a core's scheduler: it takes the first of its queue, and runs it to its end.
 *
 * A block needs a timer for each different time at which it sends, and one for its end. Invariant: a core
 * that does not run has an empty queue when driven_run returns, or has asked for its turn (outside.turn), and
 * one that runs has exactly one timer, or messages that are leaving.
 */
#include "tasks/driven/model.h"

/* Sums of times that are longer than any run end there. */
static ker_time more(ker_time time, ker_time by)
{
    const ker_time longest = 4000000 * KER_S;
    return time > longest - by ? longest : time + by;
}

static ker_time scaled(const struct driven_core *core, ker_time time)
{
    return node_compute(&core->driven->model, time, task_processor_factor(core->job, core->task));
}

static uint32_t messages_of(const struct driven_block *block)
{
    return block->each ? 1 : block->messages;
}

static bool is_last(const struct driven_core *core)
{
    return core->now.iteration + 1 == core->program->iterations;
}

ker_time driven_overhead(const struct driven_core *core)
{
    const struct node_model *model = &core->driven->model;
    const struct driven_block *block = &core->block;
    uint32_t sends = block->sends - (is_last(core) ? block->ahead : 0);
    return model->receive_overhead * messages_of(block) + model->send_overhead * sends;
}

static ker_time jitter_draw(struct driven_core *core)
{
    const struct task_job *job = core->job;
    if (!job->compute_jitter)
        return 0;
    uint64_t counter = (uint64_t)core->job_number << 32 | core->jitters++;
    struct ker_bits bits =
        ker_random_bits(core->driven->outside.seed, KER_PURPOSE_JITTER, core->task, counter);
    uint64_t draw = (uint64_t)bits.word[0] << 32 | bits.word[1];
    return (ker_time)((unsigned __int128)draw * ((uint64_t)job->compute_jitter + 1) >> 64);
}

static void block_begin(struct driven_core *core, ker_time now)
{
    const struct driven_program *program = core->program;
    driven_queue_take(core, &core->now);
    program->class->block(program, core->now.object, core->now.block, core->now.iteration, &core->block);
    struct driven_sum *sum = &driven_job_of(core)->entry[core->block.entry];
    ker_time waited = now - core->now.since;
    core->queued += waited;
    sum->queued += (uint64_t)waited;
    sum->queued_longest = waited > sum->queued_longest ? waited : sum->queued_longest;
    core->runs = true;
    core->begun = now;
    if (core->driven->outside.messages)
        core->before = core->driven->outside.messages(core->home->net, now);
    core->sent = core->paid = 0;
    core->had = 0;
    core->length = more(more(driven_overhead(core), scaled(core, core->block.time)), jitter_draw(core));
}

static void message_send(struct driven_core *core, struct node *node, ker_time now,
                         const struct driven_send *send)
{
    struct driven_wire wire = {.kind = DRIVEN_MESSAGE,
                               .job = core->job_number,
                               .source = core->task,
                               .object = send->object,
                               .block = send->block,
                               .iteration = core->now.iteration + send->ahead,
                               .arrived = 1,
                               .bytes = send->bytes};
    core->sent_messages++;
    core->sent_bytes += send->bytes;
    driven_sent_add(core, TASK_SENT_POINT_TO_POINT, driven_towards(core, send->object), send->bytes);
    core->sends = core->driven->outside.turn != NULL;
    driven_post(core, node, now, &wire);
    core->sends = false;
}

/* Continues with the block until it has had so much of it; false: later. */
static bool work_until(struct driven_core *core, struct node *node, ker_time now, ker_time point)
{
    struct task_driven *d = core->driven;
    ker_time time = point - core->had;
    core->had = point;
    if (time == 0)
        return true;
    if (d->outside.work) {
        struct node_work work = {.core = core->core, .compute = time};
        if (d->outside.work(node, now, d->service, core->seat, &work))
            return true;
    } else {
        d->outside.timer(node, more(now, time), d->service, core->seat);
    }
    core->works = true;
    driven_job_of(core)->open++;
    return false;
}

/* Sends what is due; false: the block continues later. */
static bool block_proceed(struct driven_core *core, struct node *node, ker_time now)
{
    const struct driven_program *program = core->program;
    const struct node_model *model = &core->driven->model;
    ker_time begin = model->receive_overhead * messages_of(&core->block);
    for (; core->sent < core->block.sends; core->sent++) {
        struct driven_send send;
        program->class->send(program, core->now.object, core->now.block, core->sent, &send);
        if (send.ahead && is_last(core))
            continue;
        ker_time point = more(more(begin, scaled(core, send.at)), model->send_overhead * (core->paid + 1));
        if (!work_until(core, node, now, point))
            return false;
        core->paid++;
        message_send(core, node, now, &send);
    }
    return work_until(core, node, now, core->length) && core->leaving == 0;
}

static void block_count(struct driven_core *core, ker_time now)
{
    struct driven_sum *sum = &driven_job_of(core)->entry[core->block.entry];
    ker_time time = now - core->begun,
             overhead = core->driven->outside.turn ? time - core->length : driven_overhead(core);
    overhead = overhead < time ? overhead : time;
    core->blocks++;
    core->busy += time - overhead;
    core->overhead += overhead;
    core->finish = now;
    sum->count++;
    sum->messages += messages_of(&core->block);
    sum->time += (uint64_t)time;
    sum->longest = time > sum->longest ? time : sum->longest;
}

static void block_end(struct driven_core *core, struct node *node, ker_time now)
{
    const struct driven_program *program = core->program;
    struct driven_record *r = driven_record_find(core, core->now.object);
    const struct driven_block block = core->block;
    core->runs = false;
    block_count(core, now);
    driven_line_block(core, now);
    task_outside_touch(core->driven->outside.latest(node), now);
    r->load += now - core->begun;
    bool done = driven_ran(core, now, r, &core->now, &block),
         over = done && r->done == program->class->blocks(program, r->object),
         moves = done && block.moves != DRIVEN_NOWHERE && block.moves != core->task;
    if (moves && !(over && is_last(core))) {
        driven_leave(core, node, now, r, block.moves);
    } else if (over) {
        r->iteration++;
        driven_begin(core, now, r);
    }
    driven_balance(core, node, now);
}

/* Where messages take the processor, too, a core waits for its turn before it chooses: behind those that have
 * come meanwhile. */
static bool turn_had(struct driven_core *core, struct node *node, ker_time now)
{
    struct task_driven *d = core->driven;
    bool had = !d->outside.turn || core->granted;
    core->granted = false;
    if (had || core->asks)
        return had;
    core->asks = true;
    driven_job_of(core)->open++;
    d->outside.turn(node, now, d->service, core->seat);
    return false;
}

void driven_run(struct driven_core *core, struct node *node, ker_time now)
{
    while (core->runs || core->readies) {
        if (!core->runs && !turn_had(core, node, now))
            return;
        if (!core->runs)
            block_begin(core, now);
        if (!block_proceed(core, node, now))
            return;
        block_end(core, node, now);
    }
    core->granted = false;
}

void driven_start(struct driven_core *core, struct node *node, ker_time now)
{
    core->started = true;
    core->begins = core->finish = core->line.until = now;
    for (uint32_t i = core->first; i;) {
        struct driven_record *r = driven_record_at(core->driven, i);
        i = r->next;
        if (r->state == DRIVEN_HERE && r->waits)
            driven_begin(core, now, r);
    }
    driven_balance(core, node, now);
    driven_run(core, node, now);
}
