/* opensm.c - reads the linear forwarding tables of an InfiniBand subnet's switches.
 *
 * One section for each switch, as OpenSM (opensm-lfts.dump), dump_lfts.sh, dump_fts and ibroute print them;
 * they differ in small things:
 *
 *     Unicast lids [0x0-0x9] of switch Lid 2 guid 0x0002c902004238a0 (leaf 1):
 *       Lid  Out   Destination
 *            Port     Info
 *     0x0004 001 : (Channel Adapter portguid 0x0002c903000e0b73: 'node1 HCA-1')
 *     0x0005 013 : (path #2 out of 2: portguid 0x0002c903000e0b73)
 *     2 valid lids dumped
 *
 * A switch is known by its GUID and a destination by its LID, both from the fabric dump; LIDs of switches and
 * of what the dump does not have are passed over. Tables of real clusters have entries that no packet meets
 * and that lead nowhere, or none at all: such an entry is none here. Where a packet does meet one, the text
 * is read once more, up to the line that is to blame.
 *
 * An endpoint with 2^lmc LIDs has as many columns in the table, side by side, when packets are to spread over
 * its paths.
 */
#include "routing/import/import.h"

#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>

#define DUMP_FTS_BLOCK 64 /* dump_fts leaves out the last LID when that is a multiple of it */

struct guid {
    uint64_t guid;
    uint32_t id;
};

struct reader {
    struct ker_lines in;
    const struct route_opensm_text *of;
    uint32_t *endpoint_of;                   /* per LID: 1 + endpoint, 0: no endpoint's */
    struct guid *by_guid;                    /* switches, sorted */
    uint32_t *section;                       /* per switch: line of its section, 0: none so far */
    uint8_t *port;                           /* the row */
    uint32_t *line_of;                       /* per LID, of the line that gave it in section `current_line` */
    uint32_t current, current_line, entries; /* the open section: switch, line (0: none), lines of LIDs */
    bool multicast;                          /* an open section of multicast tables, which are passed over */
    uint32_t probe_switch, probe_lid,
        probe_top; /* probe_lid 0: none; top: the last LID of the probed switch's section */
    route_opensm_take *take_row;
    void *context;
};

static const char *name_at(const struct reader *r, uint32_t name)
{
    return r->of->subnet->names + name;
}

static const char *switch_name(const struct reader *r, uint32_t id)
{
    return name_at(r, r->of->subnet->at_switch[id].name);
}

static bool take_lid(struct ker_lines *in, uint64_t *lid)
{
    return ker_take(in, "0x") ? ker_take_digits(in, 16, lid) : ker_take_digits(in, 10, lid);
}

bool route_opensm_recognise(const char *text, size_t length)
{
    return length && ker_text_find(text, length < 4096 ? length : 4096, "Unicast lids [") != NULL;
}

uint32_t route_opensm_paths(const struct route_subnet *subnet)
{
    uint32_t lmc = 0;
    for (uint32_t i = 0; i < subnet->endpoints; i++)
        if (subnet->endpoint[i].lmc > lmc)
            lmc = subnet->endpoint[i].lmc;
    return 1u << lmc;
}

uint32_t route_opensm_lid(const struct route_opensm_text *of, uint32_t column)
{
    const struct route_subnet_endpoint *endpoint = &of->subnet->endpoint[column / of->paths];
    return endpoint->lid + ((of->paths == 1 ? of->path : column % of->paths) & ((1u << endpoint->lmc) - 1));
}

static bool find_switch(const struct reader *r, uint64_t guid, uint32_t *id)
{
    uint32_t low = KER_BISECT(i, 0, r->of->subnet->switches, r->by_guid[i].guid < guid);
    if (low == r->of->subnet->switches || r->by_guid[low].guid != guid)
        return false;
    *id = r->by_guid[low].id;
    return true;
}

static enum ker_status fail_open(struct reader *r)
{
    return ker_lines_fail(&r->in,
                          "the table of switch \"%s\", begun in line %u, ends without \"... lids dumped\"; "
                          "was the dump cut off?",
                          switch_name(r, r->current), r->current_line);
}

/* "Unicast lids [" is taken. */
static enum ker_status open_section(struct reader *r)
{
    uint64_t guid, first, top = 0;
    if (r->current_line)
        return fail_open(r);
    bool ranged = take_lid(&r->in, &first) && ker_take(&r->in, "-") && take_lid(&r->in, &top);
    if (!ker_take_until(&r->in, "] of switch ") || !ker_take_until(&r->in, "guid 0x") ||
        !ker_take_digits(&r->in, 16, &guid) || r->in.p == r->in.stop)
        return ker_lines_fail(&r->in, "a table begins like this: Unicast lids [0x0-0x9] of switch Lid 2 guid "
                                      "0x0002c902004238a0 (name):");
    if (!find_switch(r, guid, &r->current))
        return ker_lines_fail(&r->in, "the fabric has no switch of GUID 0x%016llx", (unsigned long long)guid);
    if (r->section[r->current])
        return ker_lines_fail(&r->in, "switch \"%s\" has a table in line %u already",
                              switch_name(r, r->current), r->section[r->current]);
    r->section[r->current] = r->current_line = r->in.line;
    r->entries = 0;
    if (r->current == r->probe_switch && ranged)
        r->probe_top = (uint32_t)top;
    memset(r->port, 0, (size_t)r->of->subnet->endpoints * r->of->paths * sizeof *r->port);
    return KER_OK;
}

/* Can packets to this endpoint leave the switch by this port? */
static bool leads_on(const struct reader *r, uint32_t endpoint, uint32_t port)
{
    struct route_peer peer;
    if (port == 0 || port > r->of->subnet->at_switch[r->current].ports)
        return false;
    route_port(r->of->topology, r->current, port, &peer);
    return peer.kind == ROUTE_SWITCH || (peer.kind == ROUTE_ENDPOINT && peer.id == endpoint);
}

/* Why not. */
static enum ker_status fail_port(struct reader *r, uint32_t lid, uint32_t endpoint, uint32_t port)
{
    const char *name = name_at(r, r->of->subnet->endpoint[endpoint].name), *at = switch_name(r, r->current);
    uint32_t ports = r->of->subnet->at_switch[r->current].ports;
    struct route_peer peer;
    if (port == 0)
        return ker_lines_fail(&r->in, "LID 0x%04x, of \"%s\", leads to port 0, the switch's own management",
                              lid, name);
    if (port > ports)
        return ker_lines_fail(&r->in, "port %u of switch \"%s\", which has %u", port, at, ports);
    route_port(r->of->topology, r->current, port, &peer);
    if (peer.kind == ROUTE_NOTHING)
        return ker_lines_fail(&r->in, "port %u of switch \"%s\" leads nowhere: the fabric has no cable there",
                              port, at);
    return ker_lines_fail(&r->in, "LID 0x%04x is of \"%s\", but port %u of switch \"%s\" leads to \"%s\"",
                          lid, name, port, at, name_at(r, r->of->subnet->endpoint[peer.id].name));
}

/* Some forms say whose LID it is: then the fabric must agree. */
static enum ker_status check_owner(struct reader *r, uint32_t lid, uint32_t endpoint)
{
    const struct route_subnet_endpoint *n = &r->of->subnet->endpoint[endpoint];
    uint64_t guid;
    if (!ker_take_until(&r->in, "portguid 0x") || !ker_take_digits(&r->in, 16, &guid) || guid == 0 ||
        n->guid == 0 || guid == n->guid)
        return KER_OK;
    return ker_lines_fail(&r->in,
                          "LID 0x%04x is of port GUID 0x%llx here, but of 0x%llx (\"%s\") in the fabric: "
                          "dumps of different times?",
                          lid, (unsigned long long)guid, (unsigned long long)n->guid, name_at(r, n->name));
}

static void note(struct reader *r, uint32_t lid, uint32_t endpoint, uint8_t port)
{
    const struct route_subnet_endpoint *n = &r->of->subnet->endpoint[endpoint];
    uint32_t paths = r->of->paths, own = 1u << n->lmc, path = lid - n->lid;
    if (paths == 1 && path == (r->of->path & (own - 1)))
        r->port[endpoint] = port;
    for (uint32_t i = path; paths > 1 && i < paths; i += own)
        r->port[(size_t)endpoint * paths + i] = port;
}

/* Of an endpoint, with a port. */
static enum ker_status take_entry(struct reader *r, uint32_t lid, uint32_t port)
{
    uint32_t endpoint = r->endpoint_of[lid] - 1;
    enum ker_status status = check_owner(r, lid, endpoint);
    if (status)
        return status;
    if (leads_on(r, endpoint, port))
        note(r, lid, endpoint, (uint8_t)port);
    else if (r->current == r->probe_switch && lid == r->probe_lid)
        return fail_port(r, lid, endpoint, port);
    return KER_OK;
}

/* 0x0004 001 : (Channel Adapter portguid 0x0002c903000e0b73: 'node1 HCA-1') */
static enum ker_status read_entry(struct reader *r)
{
    uint64_t lid, port;
    const char *from = r->in.p;
    bool good = take_lid(&r->in, &lid);
    const char *gap = r->in.p;
    ker_take_blanks(&r->in);
    if (!good || r->in.p == gap || !ker_take_digits(&r->in, 10, &port) ||
        (r->in.p < r->in.stop && *r->in.p != ' ' && *r->in.p != '\t')) {
        r->in.p = from;
        return ker_lines_fail(&r->in, "\"%.*s\" makes no sense; a line reads: 0x0004 001 : (...)",
                              KER_LINE_REST(&r->in));
    }
    r->entries++;
    if (lid < 1 || lid > ROUTE_LID_MAX)
        return ker_lines_fail(&r->in, "LID 0x%llx: LIDs are 0x1 to 0x%x", (unsigned long long)lid,
                              ROUTE_LID_MAX);
    if (port > ROUTE_NO_PORT)
        return ker_lines_fail(&r->in, "port %llu: ports end at 254, and 255 means none",
                              (unsigned long long)port);
    if (r->line_of[lid] > r->current_line)
        return ker_lines_fail(&r->in, "LID 0x%04x has a port in line %u already", (unsigned)lid,
                              r->line_of[lid]);
    r->line_of[lid] = r->in.line;
    return r->endpoint_of[lid] && port != ROUTE_NO_PORT ? take_entry(r, (uint32_t)lid, (uint32_t)port)
                                                        : KER_OK;
}

/* "12 valid lids dumped" counts the lines; "12 lids dumped" of OpenSM is the highest LID. */
static enum ker_status close_section(struct reader *r, bool *closed)
{
    uint64_t count;
    const char *from = r->in.p;
    bool counted = false;
    *closed = ker_take_digits(&r->in, 10, &count) &&
              ((counted = ker_take(&r->in, " valid lids dumped")) || ker_take(&r->in, " lids dumped"));
    if (!*closed) {
        r->in.p = from;
        return KER_OK;
    }
    if (counted && count != r->entries)
        return ker_lines_fail(&r->in, "%llu LIDs are announced, but the table (line %u) has %u",
                              (unsigned long long)count, r->current_line, r->entries);
    if (r->take_row)
        r->take_row(r->context, &(struct route_opensm_row){r->current, r->current_line, r->port, r->in.at});
    r->current_line = 0;
    return KER_OK;
}

static enum ker_status read_line(struct reader *r)
{
    bool closed = false;
    ker_take_blanks(&r->in);
    if (r->in.p == r->in.stop || *r->in.p == '#')
        return KER_OK;
    if (ker_take(&r->in, "Unicast lids [")) {
        r->multicast = false;
        return open_section(r);
    }
    if (ker_take(&r->in, "Multicast mlids ")) {
        r->multicast = true;
        return r->current_line ? fail_open(r) : KER_OK;
    }
    if (r->multicast || ker_take(&r->in, "Lid  Out") || ker_take(&r->in, "Port     Info"))
        return KER_OK;
    if (!r->current_line)
        return ker_lines_fail(&r->in,
                              "\"%.*s\" outside a table; tables begin with: Unicast lids [...] of switch ...",
                              KER_LINE_REST(&r->in));
    enum ker_status status = close_section(r, &closed);
    return closed || status ? status : read_entry(r);
}

KER_ORDER_BY(compare_guids, struct guid, guid)

static enum ker_status index_subnet(struct reader *r)
{
    const struct route_subnet *subnet = r->of->subnet;
    for (uint32_t i = 0; i < subnet->switches; i++)
        r->by_guid[i] = (struct guid){subnet->at_switch[i].guid, i};
    qsort(r->by_guid, subnet->switches, sizeof *r->by_guid, compare_guids);
    for (uint32_t i = 0; i < subnet->endpoints; i++) {
        const struct route_subnet_endpoint *endpoint = &subnet->endpoint[i];
        if (endpoint->lid == 0)
            return ker_lines_fail_at(&r->in, 1,
                                     "\"%s\" has no LID (line %u of the fabric): no table can lead to it",
                                     name_at(r, endpoint->name), endpoint->line);
    }
    return KER_OK;
}

static enum ker_status read_all(struct reader *r)
{
    const struct route_subnet *subnet = r->of->subnet;
    r->endpoint_of = route_subnet_lids(subnet, false);
    r->line_of = ker_alloc((ROUTE_LID_MAX + 1) * sizeof *r->line_of);
    r->by_guid = ker_alloc(subnet->switches * sizeof *r->by_guid);
    r->section = ker_alloc(subnet->switches * sizeof *r->section);
    r->port = ker_alloc((size_t)subnet->endpoints * r->of->paths * sizeof *r->port);
    enum ker_status status = index_subnet(r);
    while (status == KER_OK && ker_lines_next(&r->in))
        status = read_line(r);
    return status == KER_OK && r->current_line ? fail_open(r) : status;
}

static void reader_release(struct reader *r)
{
    KER_FREE(r->endpoint_of, r->line_of, r->by_guid, r->section, r->port);
}

enum ker_status route_opensm_parse(const struct route_opensm_text *of, route_opensm_take *take_row,
                                   void *context, struct ker_error *error)
{
    struct reader r = {.of = of, .take_row = take_row, .context = context};
    ker_lines_init(&r.in, of->name, of->text, of->length, error);
    enum ker_status status = ker_lines_check(&r.in);
    status = status ?: read_all(&r);
    reader_release(&r);
    return status;
}

/* What there is to say when the line is not there. */
static void say_missing(struct reader *r, uint32_t column, uint32_t count)
{
    const struct route_subnet *subnet = r->of->subnet;
    const char *endpoint = name_at(r, subnet->endpoint[column / r->of->paths].name),
               *at = switch_name(r, r->probe_switch);
    bool last = r->probe_lid == r->probe_top && r->probe_lid % DUMP_FTS_BLOCK == 0;
    if (r->section[r->probe_switch] == 0)
        ker_lines_fail_at(&r->in, r->in.line ? r->in.line : 1,
                          "switch \"%s\", GUID 0x%016llx, has no table here, though packets to "
                          "\"%s\" come by it; was the dump cut off?",
                          at, (unsigned long long)subnet->at_switch[r->probe_switch].guid, endpoint);
    else
        ker_lines_fail_at(&r->in, r->section[r->probe_switch],
                          "the table of switch \"%s\" has no port for LID 0x%04x, of \"%s\", though "
                          "packets to it come by; %u such entr%s missing in all%s",
                          at, r->probe_lid, endpoint, count, count == 1 ? "y is" : "ies are",
                          last ? ". It is the last LID of the tables and a multiple of 64: dump_fts leaves "
                                 "that one out; use ibroute for each "
                                 "switch, or the opensm-lfts.dump that opensm -D 0x43 writes"
                               : "");
}

enum ker_status route_opensm_explain(const struct route_opensm_text *of, uint32_t switch_id, uint32_t column,
                                     uint32_t count, struct ker_error *error)
{
    struct reader r = {.of = of, .probe_switch = switch_id, .probe_lid = route_opensm_lid(of, column)};
    ker_lines_init(&r.in, of->name, of->text, of->length, error);
    if (read_all(&r) == KER_OK)
        say_missing(&r, column, count);
    reader_release(&r);
    return KER_BAD_INPUT;
}
