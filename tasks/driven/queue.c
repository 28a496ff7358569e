/* queue.c - what is ready on a core: a binary heap by (priority, turn). Turns differ, so that its order is
 * total. */
#include "tasks/driven/model.h"

#include <stdlib.h>

static bool before(const struct driven_ready *a, const struct driven_ready *b)
{
    return a->priority != b->priority ? a->priority < b->priority : a->turn < b->turn;
}

static void rise(struct driven_core *core, uint32_t at)
{
    struct driven_ready one = core->ready[at];
    for (; at && before(&one, &core->ready[(at - 1) / 2]); at = (at - 1) / 2)
        core->ready[at] = core->ready[(at - 1) / 2];
    core->ready[at] = one;
}

static void sink(struct driven_core *core, uint32_t at)
{
    struct driven_ready one = core->ready[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < core->readies && before(&core->ready[child + 1], &core->ready[child]))
            child++;
        if (child >= core->readies || before(&one, &core->ready[child]))
            break;
        core->ready[at] = core->ready[child];
        at = child;
    }
    core->ready[at] = one;
}

void driven_queue_put(struct driven_core *core, const struct driven_ready *ready)
{
    *KER_PUSH(core->ready, core->readies, core->room) = *ready;
    rise(core, core->readies - 1);
    core->most = core->readies > core->most ? core->readies : core->most;
}

void driven_queue_take(struct driven_core *core, struct driven_ready *ready)
{
    *ready = core->ready[0];
    if (--core->readies) {
        core->ready[0] = core->ready[core->readies];
        sink(core, 0);
    }
}

void driven_queue_drop(struct driven_core *core, uint32_t object)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < core->readies; i++)
        if (core->ready[i].object != object)
            core->ready[kept++] = core->ready[i];
    if (kept == core->readies)
        return;
    core->readies = kept;
    for (uint32_t i = kept / 2; i-- > 0;)
        sink(core, i);
}
