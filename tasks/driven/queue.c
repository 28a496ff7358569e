/* queue.c - what is ready on a core: a binary heap by (priority, turn). Turns differ, so that its order is
 * total. */
#include "tasks/driven/model.h"

#include <stdlib.h>

static bool before(const struct driven_ready *a, const struct driven_ready *b)
{
    return a->priority != b->priority ? a->priority < b->priority : a->turn < b->turn;
}

void driven_queue_put(struct driven_core *core, const struct driven_ready *ready)
{
    KER_HEAP_PUT(core->ready, core->readies, core->room, *ready, before);
    core->most = core->readies > core->most ? core->readies : core->most;
}

void driven_queue_take(struct driven_core *core, struct driven_ready *ready)
{
    *ready = KER_HEAP_TAKE(core->ready, core->readies, before);
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
    KER_HEAP_MAKE(core->ready, core->readies, before);
}
