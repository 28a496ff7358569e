/* faults.c - links and switches that are down. */
#include "routing/shape.h"

bool route_link_alive(const struct route_shape *shape, uint32_t switch_id, uint32_t port)
{
    return shape->faults == NULL;
}
