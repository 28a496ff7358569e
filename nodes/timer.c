/* timer.c - timers of a node: notes of the engine to the node itself. */
#include "kernel/engine/post.h"
#include "nodes/private.h"

static inline void post(const struct node *n, ker_time when, uint32_t service, uint32_t number)
{
    struct ker_engine *engine = n->system->engine;
    uint32_t key = node_timer_key(service, number);
    ker_post_note(engine, (struct ker_address){n->self, engine->rank}, when, KER_TIMER, (uint16_t)(key >> 8),
                  (uint8_t)key, 0);
}

void node_timer_post(const struct node *n, ker_time when, uint32_t service, uint32_t number)
{
    post(n, when, service, number);
}

void node_timer(struct node *n, ker_time when, uint32_t service, uint32_t number)
{
    ker_assert(number <= UINT16_MAX);
    ker_check(n->system->services->at[service].service->timer);
    post(n, when, NODE_TIMER_SERVICE + service, number);
}
