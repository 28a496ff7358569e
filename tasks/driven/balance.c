/* balance.c - balance steps: which objects move to a core's neighbours.
 *
 * Tasks form a ring. At a step a core whose objects all wait, and to which no more are coming, informs both
 * neighbours how long its objects have run since the step before; when it has heard the same of both, it
 * decides, sends objects, informs both how many, and its others continue. So neighbours are at most one step
 * ahead, and a core knows of every object that comes to it before the next step.
 *
 * neighbour: diffusion among three. A core above the mean of itself and its neighbours gives to those below
 * it, first to the one before it: of its objects, the longest first, each that is no longer than what is
 * still to be given. rotate: every object moves to the core behind, for tests of migration.
 */
#include "tasks/driven/model.h"

#include <stdlib.h>

static uint32_t sides_of(const struct driven_core *core)
{
    return core->program->tasks > 2 ? 2 : 1;
}

static uint32_t side_task(const struct driven_core *core, uint32_t side)
{
    uint32_t tasks = core->program->tasks;
    return (core->task + (side ? 1 : tasks - 1)) % tasks;
}

void driven_side_heard(struct driven_core *core, const struct driven_wire *wire)
{
    struct driven_sides *s = core->sides;
    uint32_t parity = wire->iteration % 2, side = wire->source == side_task(core, 0) ? 0 : 1;
    if (wire->kind == DRIVEN_LOAD) {
        s->heard[parity][side] = true;
        s->load[parity][side] = (ker_time)wire->number;
    } else {
        s->counted[parity][side] = true;
        s->coming += (int64_t)wire->number;
    }
}

static void side_tell(struct driven_core *core, struct node *node, ker_time now, enum driven_kind kind,
                      uint32_t side, uint64_t number)
{
    struct driven_wire wire = {.kind = kind,
                               .job = core->job_number,
                               .source = core->task,
                               .destination = side_task(core, side),
                               .iteration = core->sides->step,
                               .number = number};
    driven_wire_send(core, node, now, &wire, DRIVEN_CONTROL_BYTES);
}

static int load_compare(const void *a, const void *b)
{
    const struct driven_record *x = *(struct driven_record *const *)a, *y = *(struct driven_record *const *)b;
    return KER_ORDER(y, x, load) ?: KER_ORDER(x, y, object);
}

/* The objects that wait for this step, and not, as some that have come from a neighbour may, for the next
 * one; malloc'ed. */
static struct driven_record **waiting_list(const struct driven_core *core, uint32_t *count)
{
    uint64_t iteration = ((uint64_t)core->sides->step + 1) * core->program->balance_every;
    struct driven_record **list = ker_alloc((core->here + 1) * sizeof(struct driven_record *));
    *count = 0;
    for (uint32_t i = core->first; i;) {
        struct driven_record *r = driven_record_at(core->driven, i);
        if (r->state == DRIVEN_HERE && r->waits && r->iteration == iteration)
            list[(*count)++] = r;
        i = r->next;
    }
    return list;
}

static ker_time load_of(const struct driven_core *core)
{
    ker_time load = 0;
    for (uint32_t i = core->first; i;) {
        const struct driven_record *r = driven_record_at(core->driven, i);
        load += r->state == DRIVEN_HERE ? r->load : 0;
        i = r->next;
    }
    return load;
}

/* What is sent to each side, by the rule above. */
static void gifts_make(const struct driven_core *core, ker_time gift[2])
{
    const struct driven_sides *s = core->sides;
    ker_time own = s->own;
    const ker_time *load = s->load[s->step % 2];
    uint32_t sides = sides_of(core);
    __int128 sum = own;
    for (uint32_t i = 0; i < sides; i++)
        sum += load[i];
    ker_time mean = (ker_time)(sum / (sides + 1)), surplus = own > mean ? own - mean : 0;
    for (uint32_t i = 0; i < sides; i++) {
        ker_time lack = load[i] < mean ? mean - load[i] : 0;
        gift[i] = lack < surplus ? lack : surplus;
        surplus -= gift[i];
    }
}

/* Sends objects away; counts them by side. */
static void objects_send(struct driven_core *core, struct node *node, ker_time now, uint32_t sent[2])
{
    uint32_t count, last = sides_of(core) - 1;
    struct driven_record **list = waiting_list(core, &count);
    bool rotate = core->program->balance == DRIVEN_ROTATE;
    ker_time gift[2] = {0, 0};
    qsort(list, count, sizeof(struct driven_record *), load_compare);
    gifts_make(core, gift);
    for (uint32_t i = 0; i < count; i++) {
        struct driven_record *r = list[i];
        uint32_t side = rotate ? last : r->load && r->load <= gift[0] ? 0 : 1;
        if (!rotate && (!r->load || r->load > gift[side]))
            continue;
        gift[side] -= rotate ? 0 : r->load;
        sent[side]++;
        core->sides->waiting--;
        driven_leave(core, node, now, r, side_task(core, side));
    }
    free(list);
}

KER_ORDER_AT(object_compare, struct driven_record, object)

static void objects_go_on(struct driven_core *core, ker_time now)
{
    uint32_t count;
    struct driven_record **list = waiting_list(core, &count);
    qsort(list, count, sizeof(struct driven_record *), object_compare);
    for (uint32_t i = 0; i < count; i++) {
        list[i]->load = 0;
        core->sides->waiting--;
        driven_begin(core, now, list[i]);
    }
    free(list);
}

/* All that the step before has sent here has come, and everything waits. */
static bool all_wait(const struct driven_core *core)
{
    const struct driven_sides *s = core->sides;
    uint32_t before = (s->step + 1) % 2;
    for (uint32_t i = 0; s->step && i < sides_of(core); i++)
        if (!s->counted[before][i])
            return false;
    return s->coming == 0 && s->waiting == core->here;
}

static bool all_heard(const struct driven_core *core)
{
    const struct driven_sides *s = core->sides;
    for (uint32_t i = 0; i < sides_of(core); i++)
        if (!s->heard[s->step % 2][i])
            return false;
    return true;
}

static void step_take(struct driven_core *core, struct node *node, ker_time now)
{
    struct driven_sides *s = core->sides;
    uint32_t sent[2] = {0, 0};
    objects_send(core, node, now, sent);
    for (uint32_t i = 0; i < sides_of(core); i++) {
        side_tell(core, node, now, DRIVEN_COUNT, i, sent[i]);
        s->heard[s->step % 2][i] = false;
        s->counted[(s->step + 1) % 2][i] = false;
    }
    objects_go_on(core, now);
    s->step++;
    s->informed = false;
}

void driven_balance(struct driven_core *core, struct node *node, ker_time now)
{
    struct driven_sides *s = core->sides;
    uint32_t steps = s ? (core->program->iterations - 1) / core->program->balance_every : 0;
    while (s && s->step < steps && core->started) {
        if (!s->informed && !all_wait(core))
            return;
        if (!s->informed) {
            s->own = load_of(core);
            s->informed = true;
            for (uint32_t i = 0; i < sides_of(core); i++)
                side_tell(core, node, now, DRIVEN_LOAD, i, (uint64_t)s->own);
        }
        if (!all_heard(core))
            return;
        step_take(core, node, now);
    }
}
