/* fabric_bench.h - dumps of InfiniBand clusters as topologies, for the tests of routing/import/. */
#pragma once

#include "routing/import/import.h"
#include "routing/topology.h"
#include "tests/fabric_make.h"
#include "tests/route_walk.h"

#include <stdio.h>
#include <unistd.h>

#define FABRIC "topology: { kind = \"fabric\"; file = \"%s\"; latency = \"100 ns\"; %s}; %s"

/* A topology from the text of a dump; the file lives only while it is read. Messages call it "dump". */
static inline enum ker_status fabric_try(struct route_topology **topology, const char *text, const char *keys,
                                         const char *more, uint32_t channels, struct ker_error *error)
{
    char path[] = "/tmp/test_fabric_XXXXXX", config[512];
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    snprintf(config, sizeof config, FABRIC, path, keys, more);
    enum ker_status status = topology_try(topology, config, channels, error);
    unlink(path);
    return status;
}

static inline struct route_topology *fabric_make(const char *text, const char *more, uint32_t channels)
{
    struct route_topology *topology;
    struct ker_error error;
    if (fabric_try(&topology, text, "", more, channels, &error))
        fail_msg("%s", error.text);
    return topology;
}

/* The text that a plant's dump or tables are. */
__attribute__((noinline, unused)) static char *plant_text(const struct plant *p)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    plant_write(p, out);
    fclose(out);
    return text;
}

/* A full tree of 2 levels: `half` leaves with as many nodes, and as many spines; ports of leaves 1..half to
 * nodes, then up. */
static inline struct plant tree_plant(int half)
{
    struct plant p = {.switches = 2 * half, .ports = 2 * half, .adapters = half * half, .adapter_ports = 2};
    for (int leaf = 0; leaf < half; leaf++) {
        for (int i = 0; i < half; i++)
            plant_join(&p, leaf, i + 1, 1, leaf * half + i, 1, "4xQDR");
        for (int spine = 0; spine < half; spine++)
            plant_join(&p, leaf, half + 1 + spine, 0, half + spine, leaf + 1, "4xQDR");
    }
    return p;
}

static inline void check_pairs(const struct route_topology *topology, uint32_t channels, int times)
{
    uint32_t random = 7, nodes = route_summarise(topology)->endpoints;
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++)
            for (int i = 0; i < times && a != b; i++)
                assert_int_equal(walk_packet(topology, a, b, channels, &random),
                                 route_distance(topology, a, b));
}

/* ---- what is refused ---- */

/* Two switches with two cables, three nodes. Lines: switches at 4 and 10, adapters at 16, 19 and 22. */
static const char small[] = "# dump\n\n"
                            "switchguid=0xa0(a0)\n"
                            "Switch\t8 \"S-00000000000000a0\"\t\t# \"left\" enhanced port 0 lid 1 lmc 0\n"
                            "[1]\t\"H-0000000000000010\"[1](11) \t\t# \"node1 HCA-1\" lid 4 4xQDR\n"
                            "[2]\t\"H-0000000000000020\"[1](21) \t\t# \"node2 HCA-1\" lid 6 4xQDR\n"
                            "[7]\t\"S-00000000000000b0\"[7]\t\t# \"right\" lid 2 4xQDR\n"
                            "[8]\t\"S-00000000000000b0\"[8]\t\t# \"right\" lid 2 4xQDR\n"
                            "switchguid=0xb0(b0)\n"
                            "Switch\t8 \"S-00000000000000b0\"\t\t# \"right\" base port 0 lid 2 lmc 0\n"
                            "[1]\t\"H-0000000000000030\"[1](31) \t\t# \"node3 HCA-1\" lid 8 4xQDR\n"
                            "[7]\t\"S-00000000000000a0\"[7]\t\t# \"left\" lid 1 4xQDR\n"
                            "[8]\t\"S-00000000000000a0\"[8]\t\t# \"left\" lid 1 4xQDR\n"
                            "\n"
                            "caguid=0x10\n"
                            "Ca\t2 \"H-0000000000000010\"\t\t# \"node1 HCA-1\"\n"
                            "[1](11) \t\"S-00000000000000a0\"[1]\t\t# lid 4 lmc 1 \"left\" lid 1 4xQDR\n"
                            "caguid=0x20\n"
                            "Ca\t2 \"H-0000000000000020\"\t\t# \"node2 HCA-1\"\n"
                            "[1](21) \t\"S-00000000000000a0\"[2]\t\t# lid 6 lmc 1 \"left\" lid 1 4xQDR\n"
                            "caguid=0x30\n"
                            "Ca\t2 \"H-0000000000000030\"\t\t# \"node3 HCA-1\"\n"
                            "[1](31) \t\"S-00000000000000b0\"[1]\t\t# lid 8 lmc 1 \"right\" lid 2 4xQDR\n";

struct edit {
    const char *from, *to; /* the first `from` becomes `to`; to NULL: the text ends there */
    const char *line;      /* of the message, "4" */
    const char *message;   /* a part of it */
};

static inline char *edited(const char *text, const struct edit *edit)
{
    const char *at = strstr(text, edit->from);
    if (!at)
        fail_msg("no %s", edit->from);
    size_t head = (size_t)(at - text), room = strlen(text) + 200;
    char *made = malloc(room);
    snprintf(made, room, "%.*s%s%s", (int)head, text, edit->to ? edit->to : "",
             edit->to ? at + strlen(edit->from) : "");
    return made;
}

static inline void check_message(const struct edit *edit, enum ker_status status, const char *text)
{
    char place[24];
    snprintf(place, sizeof place, ":%s: ", edit->line);
    if (status != KER_BAD_INPUT || !strstr(text, edit->message) || !strstr(text, place))
        fail_msg("\"%s\" to \"%s\": expected line %s, ... %s ...; got: %s", edit->from,
                 edit->to ? edit->to : "(end)", edit->line, edit->message, status ? text : "no error");
}
