/* vl_ports.c - VL arbitration tables of single ports, as smpquery prints them (switch.vl_file).
 *
 *     # VLArbitration tables: Lid 12 port 3 LowCap 8 HighCap 8
 *     # Low priority VL Arbitration Table:
 *     VL    : |0x0 |0x1 |
 *     WEIGHT: |0x40|0xA |
 *     # High priority VL Arbitration Table:
 *     ...
 *
 * is what "smpquery vlarb 12 3" prints (more than 32 entries: further pairs of lines); limits of high
 * priority are in what "smpquery portinfo 12 3" prints, behind "# Port info: Lid 12 port 3". A file holds any
 * number of both, in any order; other lines are passed over. Entries without weight, and of lanes that there
 * are not here, do nothing and are left out.
 */
#include "kernel/base/base.h"
#include "net/switch/vl.h"

#include <stdlib.h>
#include <string.h>

enum { NONE, TABLES, INFO }; /* what the lines are about */

struct reader {
    struct vl_file *f;
    const struct route_topology *topology;
    struct ker_lines *l;
    uint32_t *lids;
    uint32_t channels;
    int part;
    bool ours, rows; /* the port is of this network; it has tables */
    struct vl_port port;
    struct vl_tables tables;
    struct vl_table *table;    /* the one of the heading; NULL: none yet */
    uint32_t cap[2], given[2]; /* entries of low and high that the port has, that were there */
    uint32_t lanes, lanes_line;
    uint64_t lane[NET_VL_ENTRIES]; /* which wait for their weights */
};

/* The index of equal tables. Ports differ little: the last ones are tried first. */
static uint32_t tables_keep(struct vl_file *f, const struct vl_tables *t)
{
    uint32_t i = f->of_ports_count;
    while (i-- > 0)
        if (memcmp(&f->of_ports[i], t, sizeof *t) == 0)
            return i;
    *KER_APPEND(f->of_ports, f->of_ports_count) = *t;
    return f->of_ports_count - 1;
}

static enum ker_status block_end(struct reader *r)
{
    if (r->lanes)
        return ker_lines_fail_at(r->l, r->lanes_line,
                                 "no WEIGHT line follows these lanes; was the text cut off?");
    if (r->part == TABLES && memcmp(r->cap, r->given, sizeof r->cap) != 0)
        return ker_lines_fail_at(
            r->l, r->port.line,
            "the port has %u entries of low and %u of high priority, here are %u and %u: was "
            "the text cut off?",
            r->cap[0], r->cap[1], r->given[0], r->given[1]);
    if (r->part != NONE && r->ours && (r->rows || r->port.limit)) {
        r->port.tables = r->rows ? tables_keep(r->f, &r->tables) : NET_VL_NO_TABLES;
        *KER_APPEND(r->f->port, r->f->ports) = r->port;
    }
    r->part = NONE;
    return KER_OK;
}

/* The rest of "# VLArbitration tables: Lid 12 port 3 ...". */
static enum ker_status block_begin(struct reader *r, int part)
{
    uint32_t lid, port;
    enum ker_status status = block_end(r);
    if (status != KER_OK)
        return status;
    if (!ker_take_until(r->l, "Lid ") || !ker_take_number(r->l, &lid) || !ker_take(r->l, " port ") ||
        !ker_take_number(r->l, &port))
        return ker_lines_fail(r->l,
                              "a port is named by its LID, \"Lid 12 port 3\": ask by it, as in smpquery "
                              "vlarb 12 3");
    bool caps = ker_take(r->l, " LowCap ") && ker_take_number(r->l, &r->cap[0]) &&
                (ker_take(r->l, " HighCap ") || ker_take(r->l, " High Cap ")) &&
                ker_take_number(r->l, &r->cap[1]);
    if (part == TABLES && !caps)
        return ker_lines_fail(r->l, "it ends with how many entries the port has: LowCap 8 HighCap 8");
    memset(r->given, 0, sizeof r->given);
    r->part = part;
    r->rows = false;
    r->table = NULL;
    r->port = (struct vl_port){.line = r->l->line};
    memset(&r->tables, 0, sizeof r->tables);
    r->f->named++;
    if (!r->topology)
        return KER_OK;
    if (!r->lids && !(r->lids = route_lids(r->topology)))
        return ker_lines_fail(r->l, "ports are known by their LIDs with topology.kind = \"fabric\" only");
    return route_lid_output(r->topology, r->lids, r->l, lid, port, &r->port.output, &r->ours);
}

/* "|0x0 |0x1 |", up to `most`. */
static enum ker_status row_take(struct reader *r, uint64_t *value, uint32_t *count, uint64_t most)
{
    struct ker_lines *l = r->l;
    if (!r->table)
        return ker_lines_fail(l, "which table is this? \"# VLArbitration tables: Lid 12 port 3\" and \"# Low "
                                 "priority VL Arbitration Table:\" come before it");
    for (*count = 0; ker_take(l, "|") && l->p < l->stop; ker_take_blanks(l), (*count)++) {
        if (*count == NET_VL_ENTRIES || !ker_take(l, "0x") || !ker_take_digits(l, 16, &value[*count]) ||
            value[*count] > most)
            break;
    }
    return l->p < l->stop || !*count
               ? ker_lines_fail(l, "\"%.*s\": a row is |0x0 |0x1 | ..., at most 64 numbers up to 0x%llx",
                                KER_LINE_REST(l), (unsigned long long)most)
               : KER_OK;
}

static enum ker_status lanes_take(struct reader *r)
{
    if (r->lanes)
        return block_end(r);
    r->lanes_line = r->l->line;
    return row_take(r, r->lane, &r->lanes, 15);
}

static enum ker_status weights_take(struct reader *r)
{
    uint64_t weight[NET_VL_ENTRIES];
    uint32_t count = 0;
    enum ker_status status = row_take(r, weight, &count, 255);
    if (status != KER_OK)
        return status;
    if (count != r->lanes)
        return ker_lines_fail(r->l, "%u weights of %u lanes; a line of as many lanes comes before it", count,
                              r->lanes);
    for (uint32_t i = 0; i < count; i++) {
        if (!weight[i] || r->lane[i] >= r->channels)
            continue;
        if (r->table->count == NET_VL_ENTRIES)
            return ker_lines_fail(r->l, "has more than %u entries", NET_VL_ENTRIES);
        r->table->entry[r->table->count++] = (struct vl_entry){(uint8_t)r->lane[i], (uint8_t)weight[i]};
    }
    r->given[r->table == &r->tables.high] += count;
    r->rows = true;
    r->lanes = 0;
    return KER_OK;
}

static enum ker_status limit_take(struct reader *r)
{
    uint32_t limit;
    while (ker_take(r->l, "."))
        ;
    if (!ker_take_number(r->l, &limit) || limit > 255 || r->l->p < r->l->stop)
        return ker_lines_fail(r->l, "a limit of high priority is a number from 0 to 255");
    r->port.limit = net_vl_limit(limit);
    return KER_OK;
}

static enum ker_status line_take(struct reader *r)
{
    struct ker_lines *l = r->l;
    ker_take_blanks(l);
    if (ker_take(l, "# VLArbitration tables:"))
        return block_begin(r, TABLES);
    if (ker_take(l, "# Port info:"))
        return block_begin(r, INFO);
    if (ker_take(l, "# Low priority VL Arbitration Table") && r->part == TABLES)
        r->table = &r->tables.low;
    else if (ker_take(l, "# High priority VL Arbitration Table") && r->part == TABLES)
        r->table = &r->tables.high;
    else if (ker_take(l, "VL    : "))
        return lanes_take(r);
    else if (ker_take(l, "WEIGHT: "))
        return weights_take(r);
    else if (r->part == INFO && ker_take(l, "VLHighLimit:"))
        return limit_take(r);
    return KER_OK;
}

enum ker_status net_vl_ports_read(struct vl_file *f, const struct route_topology *topology, uint32_t channels,
                                  struct ker_lines *l)
{
    struct reader r = {.f = f, .topology = topology, .channels = channels, .l = l};
    enum ker_status status = KER_OK;
    while (status == KER_OK && ker_lines_next(l))
        status = line_take(&r);
    if (status == KER_OK)
        status = block_end(&r);
    free(r.lids);
    return status;
}
