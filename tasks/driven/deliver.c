/* deliver.c - messages to objects, and what becomes ready by them.
 *
 * What has come for a block is counted where its object is, or where it will come to; a block is put into the
 * core's queue by the event that it still needed: a message, the end of another block, the beginning of its
 * iteration, or the arrival of its object. Invariant: a block of an object that is here, of the iteration
 * that has begun, is in the queue as often as it may run and has not.
 */
#include "tasks/driven/model.h"

static void block_ready(struct driven_core *core, ker_time now, const struct driven_record *r,
                        struct driven_open *o, const struct driven_block *block)
{
    struct driven_ready ready = {.priority = core->program->entry[block->entry].priority,
                                 .object = r->object,
                                 .block = o->block,
                                 .iteration = o->iteration,
                                 .turn = core->turns++,
                                 .since = now};
    o->queued++;
    driven_queue_put(core, &ready);
}

static void block_consider(struct driven_core *core, ker_time now, const struct driven_record *r,
                           struct driven_open *o)
{
    struct driven_block block;
    if (r->state != DRIVEN_HERE || r->waits || o->iteration != r->iteration)
        return;
    core->program->class->block(core->program, r->object, o->block, o->iteration, &block);
    if (o->after < block.after)
        return;
    if (!block.each && o->queued == 0 && o->arrived == block.messages)
        block_ready(core, now, r, o, &block);
    while (block.each && o->queued < o->arrived)
        block_ready(core, now, r, o, &block);
}

void driven_take(struct driven_core *core, ker_time now, struct driven_record *r,
                 const struct driven_wire *wire)
{
    struct driven_open *o = driven_open_get(core, r, wire->block, wire->iteration);
    o->arrived += wire->arrived;
    o->after += wire->after;
    o->run += wire->run;
    o->queued += wire->run;
    o->bytes += wire->bytes;
    block_consider(core, now, r, o);
}

void driven_resume(struct driven_core *core, ker_time now, struct driven_record *r)
{
    uint32_t next;
    for (uint32_t i = r->open; i; i = next) {
        struct driven_open *o = driven_open_at(core->driven, i);
        next = o->next;
        block_consider(core, now, r, o);
    }
}

/* Blocks become ready in the order of their numbers, first those that need nothing. */
static void iteration_begin(struct driven_core *core, ker_time now, struct driven_record *r)
{
    const struct driven_program *program = core->program;
    uint32_t blocks = program->class->blocks(program, r->object);
    r->waits = false;
    for (uint32_t b = 0; b < blocks; b++) {
        struct driven_block block;
        program->class->block(program, r->object, b, r->iteration, &block);
        if (block.messages == 0 && block.after == 0)
            block_consider(core, now, r, driven_open_get(core, r, b, r->iteration));
    }
    driven_resume(core, now, r);
}

void driven_begin(struct driven_core *core, ker_time now, struct driven_record *r)
{
    const struct driven_program *program = core->program;
    r->done = 0;
    if (r->iteration == program->iterations) {
        driven_job_of(core)->unfinished--;
        core->driven->unfinished -= !core->job->background;
    } else if (!r->waits && core->sides && r->iteration % program->balance_every == 0) {
        r->waits = true;
        core->sides->waiting++;
    } else {
        iteration_begin(core, now, r);
    }
}

bool driven_ran(struct driven_core *core, ker_time now, struct driven_record *r,
                const struct driven_ready *ready, const struct driven_block *block)
{
    const struct driven_class *class = core->program->class;
    struct driven_open *o = driven_open_get(core, r, ready->block, ready->iteration);
    o->run++;
    if (block->each && o->run < block->messages)
        return false;
    driven_open_drop(core->driven, o);
    r->done++;
    for (uint32_t i = 0; i < block->followers; i++) {
        uint32_t follower = class->follower(core->program, r->object, ready->block, i);
        o = driven_open_get(core, r, follower, ready->iteration);
        o->after++;
        block_consider(core, now, r, o);
    }
    return true;
}

uint32_t driven_towards(const struct driven_core *core, uint32_t object)
{
    const struct driven_record *r = driven_record_find(core, object);
    if (!r)
        return core->program->class->home(core->program, object);
    return r->state == DRIVEN_AWAY ? r->where : core->task;
}

void driven_post(struct driven_core *core, struct node *node, ker_time now, const struct driven_wire *wire)
{
    struct driven_record *r = driven_record_find(core, wire->object);
    struct driven_wire to = *wire;
    if (r && r->state != DRIVEN_AWAY) {
        core->received_messages += wire->kind == DRIVEN_MESSAGE;
        core->received_bytes += wire->kind == DRIVEN_MESSAGE ? wire->bytes : 0;
        core->local += wire->source == core->task;
        driven_take(core, now, r, wire);
        return;
    }
    to.destination = driven_towards(core, wire->object);
    to.moves = r ? r->moves : 0;
    driven_wire_send(core, node, now, &to, wire->bytes);
}
