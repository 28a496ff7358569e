/* move.c - objects that move from core to core, and who knows where they are.
 *
 * An object takes with it, as messages of their own, what has come for its blocks and was not used. It counts
 * how often it has moved, and so does everything that says where it is: news replaces what is older. A
 * message carries what its sender knew: a core that the object has left after that hands it on, one to which
 * it is still in transit keeps it until the object comes. So a message is never handed back and forth, and
 * reaches the object after as many hand-overs as it had moves that the sender did not know of, at most.
 */
#include "tasks/driven/model.h"

void driven_tell(struct driven_core *core, struct node *node, ker_time now, uint32_t task,
                 const struct driven_record *r)
{
    struct driven_wire wire = {.kind = DRIVEN_LOCATION,
                               .job = core->job_number,
                               .source = core->task,
                               .destination = task,
                               .object = r->object,
                               .moves = r->moves,
                               .number = r->state == DRIVEN_AWAY ? r->where : core->task};
    driven_wire_send(core, node, now, &wire, DRIVEN_CONTROL_BYTES);
}

void driven_located(struct driven_core *core, const struct driven_wire *wire)
{
    struct driven_record *r = driven_record_find(core, wire->object);
    if (!r)
        r = driven_record_new(core, wire->object, DRIVEN_AWAY);
    else if (r->state != DRIVEN_AWAY || r->moves >= wire->moves)
        return;
    r->moves = wire->moves;
    r->where = (uint32_t)wire->number;
}

static void opens_send(struct driven_core *core, struct node *node, ker_time now, struct driven_record *r)
{
    struct task_driven *d = core->driven;
    while (r->open) {
        struct driven_open *o = driven_open_at(d, r->open);
        struct driven_wire wire = {.kind = DRIVEN_OPEN,
                                   .job = core->job_number,
                                   .source = core->task,
                                   .destination = r->where,
                                   .object = r->object,
                                   .block = o->block,
                                   .iteration = o->iteration,
                                   .moves = r->moves,
                                   .arrived = o->arrived,
                                   .after = o->after,
                                   .run = o->run,
                                   .bytes = o->bytes};
        driven_wire_send(core, node, now, &wire, o->bytes);
        driven_open_drop(d, o);
    }
}

void driven_leave(struct driven_core *core, struct node *node, ker_time now, struct driven_record *r,
                  uint32_t task)
{
    struct driven_wire wire = {.kind = DRIVEN_OBJECT,
                               .job = core->job_number,
                               .source = core->task,
                               .destination = task,
                               .object = r->object,
                               .iteration = r->iteration,
                               .moves = ++r->moves,
                               .after = r->done,
                               .run = r->waits};
    r->state = DRIVEN_AWAY;
    r->where = task;
    r->load = 0;
    r->waits = false;
    core->here--;
    core->went++;
    driven_queue_drop(core, r->object);
    driven_wire_send(core, node, now, &wire, core->program->class->bytes(core->program, r->object));
    opens_send(core, node, now, r);
}

void driven_came(struct driven_core *core, struct node *node, ker_time now, const struct driven_wire *wire)
{
    const struct driven_class *class = core->program->class;
    struct driven_record *r = driven_record_find(core, wire->object);
    uint32_t home = class->home(core->program, wire->object);
    if (!r)
        r = driven_record_new(core, wire->object, DRIVEN_HERE);
    r->state = DRIVEN_HERE;
    r->moves = wire->moves;
    r->iteration = wire->iteration;
    r->done = wire->after;
    r->waits = wire->run;
    r->load = 0;
    core->here++;
    core->came++;
    if (core->sides)
        core->sides->coming--;
    if (home != core->task && home != wire->source)
        driven_tell(core, node, now, home, r);
    if (r->waits)
        driven_begin(core, now, r);
    else if (r->done == class->blocks(core->program, r->object))
        r->iteration++, driven_begin(core, now, r);
    else
        driven_resume(core, now, r);
}
