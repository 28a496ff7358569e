/* route_walk.h - what the routing tests share: topologies from a text, and walks over them. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "routing/routing.h"

#include <stdlib.h>
#include <string.h>

/* What every topology needs and few tests care about. */
#define LINKS "bandwidth = \"25 GB/s\"; latency = \"100 ns\"; "
#define TOPOLOGY(kind, more) "topology: { kind = \"" kind "\"; " more " }; "
#define ADAPTIVE "routing: { algorithm = \"adaptive\"; }; "

static inline enum ker_status topology_try(struct route_topology **topology, const char *text,
                                           uint32_t channels, struct ker_error *error)
{
    const struct ker_option *const tables[] = {route_options, NULL};
    struct ker_config *config = NULL;
    *topology = NULL;
    *error = (struct ker_error){0};
    enum ker_status status = ker_config_parse(&config, "test.cfg", text, NULL, 0, tables, error);
    if (status)
        return status;
    status = route_new(topology, config, channels, error);
    ker_config_free(config);
    return status;
}

static inline struct route_topology *topology_make(const char *text, uint32_t channels)
{
    struct route_topology *topology;
    struct ker_error error;
    if (topology_try(&topology, text, channels, &error))
        fail_msg("%s\n%s", text, error.text);
    return topology;
}

/* A small generator of the tests' own: xorshift. */
static inline uint32_t test_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* What the algorithm says in short, where it does, is what it says at length. */
static inline void short_forms_check(const struct route_topology *topology, uint32_t at,
                                     const struct route_packet *packet, const struct route_choice *choices,
                                     int count)
{
    route_next_function *decided = route_decided_function(topology);
    route_range_function *in_range = route_range_function_of(topology);
    struct route_choice one;
    if (decided && decided(topology, route_coordinate(topology, at), at, packet, &one)) {
        assert_int_equal(count, 1);
        assert_memory_equal(&one, choices, sizeof one);
    }
    route_hop_function *hop = route_hop_function_of(topology);
    uint64_t in = (uint64_t)packet->state << 24 | (uint32_t)packet->in_port << 8 | packet->in_channel,
             next =
                 hop ? hop(topology, route_coordinate(topology, at), packet->address, in, packet->chance) : 0;
    route_straight_function *straight = route_straight_function_of(topology);
    const struct route_straight on =
        straight ? straight(topology, packet->in_port) : (struct route_straight){0};
    if ((route_coordinate(topology, at) ^ packet->address) & on.mask)
        next = (uint64_t)packet->state << 32 | route_straight_hop(&on, packet->in_channel);
    if (next) {
        uint32_t alike = choices->channel_count, first = alike ? choices->first_channel : choices->channel;
        assert_int_equal(count, 1);
        assert_int_equal(next, (uint64_t)choices->state << 32 | (uint32_t)choices->port << 16 | first << 8 |
                                   (alike ? alike : 1));
    }
    const struct route_range range =
        in_range ? in_range(topology, route_coordinate(topology, at), packet->address, route_draw(packet))
                 : (struct route_range){0};
    if (range.count == 0)
        return;
    assert_int_equal(count, range.count);
    for (uint32_t i = 0; i < range.count; i++) {
        struct route_choice same = {.port = (uint16_t)(range.low + (range.first + i) % range.count),
                                    .channel = range.first_channel,
                                    .first_channel = range.first_channel,
                                    .channel_count = range.channel_count};
        assert_memory_equal(&same, &choices[i], sizeof same);
    }
}

/* Sends one packet along choices picked at random among all offered; returns the links it crossed. */
static inline uint32_t walk_packet(const struct route_topology *topology, uint32_t source,
                                   uint32_t destination, uint32_t channels, uint32_t *random)
{
    struct route_packet packet = {.address = route_address(topology, destination),
                                  .source = source,
                                  .destination = destination,
                                  .chance = test_random(random)};
    route_next_function *next = route_function(topology);
    struct route_peer peer;
    uint32_t at, links = 1;
    route_attachment(topology, source, &at, &packet.in_port);
    for (;; packet.hops++) {
        struct route_choice choices[ROUTE_MAX_CHOICES];
        int count = next(topology, route_coordinate(topology, at), at, &packet, choices);
        assert_in_range(count, 1, ROUTE_MAX_CHOICES);
        short_forms_check(topology, at, &packet, choices, count);
        struct route_choice pick = choices[test_random(random) % (uint32_t)count];
        assert_true(pick.port < route_ports(topology, at));
        assert_true(pick.channel < channels);
        route_port(topology, at, pick.port, &peer);
        links++;
        if (peer.kind == ROUTE_ENDPOINT)
            break;
        assert_int_equal(peer.kind, ROUTE_SWITCH);
        assert_true(links < 1100);
        at = peer.id;
        packet.in_port = peer.port;
        packet.in_channel = pick.channel; /* any of those that are alike */
        if (pick.channel_count > 1)
            packet.in_channel = (uint8_t)(pick.first_channel + test_random(random) % pick.channel_count);
        packet.state = pick.state;
    }
    assert_int_equal(peer.id, destination);
    return links;
}
