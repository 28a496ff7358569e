/* vl.h - VL arbitration tables (switch.lanes = "vl"), for those who read them. Private to net/switch/. */
#ifndef NET_VL_H
#define NET_VL_H

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

/* What all outputs share. */
struct vl {
    struct vl_tables tables[2]; /* of switches, of adapters */
};

/* vl_text.c. Reads "LANE:WEIGHT,..."; returns what is wrong with it, malloc'ed; NULL: nothing. */
char *net_vl_table_read(struct vl_table *, const char *text);
/* vl_file.c: replaces what an options file of OpenSM has of the tables of switches and of adapters. */
enum ker_status net_vl_file_read(struct vl_tables tables[2], uint32_t channels, const char *file,
                                 const char *text, size_t length, struct ker_error *);
/* vl_limit as units. */
uint32_t net_vl_limit(int64_t limit);

#endif
