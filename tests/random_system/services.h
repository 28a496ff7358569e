/* services.h - of random systems: one or two services beside the traffic, which bounds the length of the run.
 */
#pragma once

#include "tests/random_system/traffic.h"

static void random_service(struct random_system *r, uint32_t number)
{
    random_key(r, number ? "second" : "first");
    uint32_t first = draw(r, r->nodes), every = 1 + draw(r, r->extreme ? r->nodes : 3);
    double period = random_span(r) * (50 + draw(r, 400));
    fprintf(
        r->out,
        "    { kind = \"heartbeat\"; name = \"beat%u\"; first_node = %u; every = %u; period = \"%.0f ps\"; "
        "bytes = \"%u B\"; priority = %u; }",
        number, first, every, period > 1000 ? period : 1000, draw(r, r->extreme ? 3 * r->packet : 100),
        draw(r, r->classes));
}

static void random_services(struct random_system *r)
{
    snprintf(r->group, sizeof r->group, "services");
    if (!random_flag(r, "services", 20))
        return;
    uint32_t count = random_flag(r, "two", 30) ? 2 : 1;
    fprintf(r->out, "services = (\n");
    for (uint32_t i = 0; i < count; i++) {
        random_service(r, i);
        fprintf(r->out, i + 1 < count ? ",\n" : "\n);\n");
    }
    r->group[0] = '\0';
}
