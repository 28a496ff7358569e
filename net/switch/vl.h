/* vl.h - VL arbitration tables (switch.lanes = "vl"), for those who read them. Private to net/switch/. */
#pragma once

#include "net/switch/private.h"

#define NET_VL_LANES 15u /* for data; the sixteenth is management's */
#define NET_VL_UNIT 64u  /* bytes of a weight of 1 */
#define NET_VL_LIMIT_NONE 255u
#define NET_VL_ENTRIES 64u /* of a table */

struct vl_entry {
    uint8_t lane, weight; /* weight: units of 64 bytes */
};

struct vl_table {
    uint32_t count;
    struct vl_entry entry[NET_VL_ENTRIES];
};

struct vl_tables {
    struct vl_table low, high;
    uint32_t limit; /* units of high priority until low has its chance */
};

/* Of a port that a text of smpquery names. */
#define NET_VL_NO_TABLES UINT32_MAX
struct vl_port {
    struct route_output output;
    uint32_t line, tables; /* of what is said of it; which tables, or NET_VL_NO_TABLES: a limit only */
    uint32_t limit;        /* as in struct vl_tables; 0: not given */
};

/* What all outputs share: one block of memory, ports behind the tables. */
struct vl {
    const struct route_topology *topology;
    uint32_t count, ports;     /* ports: sorted by output */
    struct vl_tables tables[]; /* of switches, of adapters, of single ports */
};

/* What a file has. */
struct vl_file {
    struct vl_tables tables[2];            /* of switches, of adapters */
    struct net_levels levels;              /* likewise */
    bool options;                          /* it has lines of an options file */
    struct vl_tables *of_ports;            /* different ones; limits 0 */
    struct vl_port *port;                  /* as they are found; tables: of those */
    uint32_t of_ports_count, ports, named; /* named: with those that are not of this network */
};

/* vl_text.c. Reads "LANE:WEIGHT,..."; returns what is wrong with it, malloc'ed; NULL: nothing. */
char *net_vl_table_read(struct vl_table *, const char *text);
/* "0,0,1,1", lanes of service levels; those that it does not name have NET_NO_LANE. */
char *net_vl_map_read(uint8_t lane[NET_LEVELS], const char *text);
/* vl_limit as units. */
uint32_t net_vl_limit(int64_t limit);
/* vl_file.c: replaces what an options file of OpenSM has of tables and levels, and adds the ports of what
 * smpquery prints; topology: NULL: ports do not matter. */
enum ker_status net_vl_file_read(struct vl_file *, const struct route_topology *, uint32_t channels,
                                 const char *name, const char *text, size_t length, struct ker_error *);
void net_vl_file_release(struct vl_file *);
/* vl_ports.c: the second of these. */
enum ker_status net_vl_ports_read(struct vl_file *, const struct route_topology *, uint32_t channels,
                                  struct ker_lines *);
