/* vl.h - VL arbitration tables (switch.lanes = "vl"), for those who read them. Private to net/switch/. */
#ifndef NET_VL_H
#define NET_VL_H

#include "net/switch/private.h"

#define NET_VL_LANES 15u   /* for data; the sixteenth is management's */
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

/* What all outputs share. */
struct vl {
    struct vl_tables tables[2]; /* of switches, of adapters */
};

/* Reads "LANE:WEIGHT,..."; returns what is wrong with it, malloc'ed; NULL: nothing. */
char *net_vl_table_read(struct vl_table *, const char *text);
/* vl_limit as units. */
uint32_t net_vl_limit(int64_t limit);

#endif
