/* oracle.c - all that may be drawn: one combination of answers after the other, like the digits of a number.
 *
 * The questions of a combination depend on the answers before them; those that are asked again get the same
 * answer.
 */
#include "routing/proof/check.h"

#include "routing/topology.h"

uint32_t route_oracle_pick(struct route_oracle *o, uint32_t salt, uint32_t count)
{
    for (int i = 0; i < o->picks; i++)
        if (o->salt[i] == salt && o->count[i] == count)
            return o->value[i];
    ker_assert(o->picks < ROUTE_ORACLE_PICKS);
    o->salt[o->picks] = salt;
    o->count[o->picks] = count;
    o->value[o->picks] = 0;
    return o->value[o->picks++];
}

bool route_oracle_advance(struct route_oracle *o)
{
    while (o->picks > 0 && o->value[o->picks - 1] + 1 == o->count[o->picks - 1])
        o->picks--;
    if (o->picks == 0)
        return false;
    o->value[o->picks - 1]++;
    return true;
}
