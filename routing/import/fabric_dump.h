/* fabric_dump.h - private to routing/fabric*.c: an ibnetdiscover dump as it is there. */
#pragma once

#include "routing/import/import.h"

enum fabric_kind { FABRIC_SWITCH = 'S', FABRIC_ADAPTER = 'H', FABRIC_ROUTER = 'R' };

struct fabric_device {
    uint64_t guid;
    uint32_t ports, line, lid, lmc, name;
    uint32_t first, cables; /* its ends of cables */
    uint32_t id;            /* of a switch */
    enum fabric_kind kind;
    bool left_out;
};

struct fabric_end { /* of a cable */
    uint64_t guid, peer_guid,
        peer_port_guid; /* guid: of this port, as peer_port_guid is of the other; 0 at switches */
    uint64_t rate;      /* 0: unknown */
    uint32_t device, port, lid, lmc; /* lid and lmc: only of adapters */
    uint32_t peer_port, peer_lid, line;
    enum fabric_kind peer_kind;
};

struct fabric_dump {
    struct fabric_device *device; /* in the order of the dump */
    struct fabric_end *cable;
    uint32_t devices, cables, lines;
    uint32_t passed, passed_line; /* lines that are not a dump's: how many, the first */
};

/* Reads all lines; names go to the subnet. Release the dump also after an error. */
enum ker_status fabric_dump_read(struct fabric_dump *, struct route_subnet *, const char *file,
                                 const char *text, size_t length, struct ker_error *);
void fabric_dump_release(struct fabric_dump *);
