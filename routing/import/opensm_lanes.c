/* opensm_lanes.c - reads the service levels of paths, and the virtual lanes of service levels, of an
 * InfiniBand subnet.
 *
 * Levels come from opensm-path-records.dump of OpenSM's plugin dump_pr,
 *
 *     Channel Adapter 0x0002c903000e0b73, base LID 4, "node1 HCA-1", port 1
 *     # LID  : SL : MTU : RATE
 *     0x0006 : 1  : 4   : 3
 *
 * or from saquery PR, a block for every pair of LIDs of which three lines matter: dlid, slid, then sl. A
 * source is known by its base LID; pairs of what is no endpoint are passed over. Lanes come from
 * opensm-sl2vl.dump, a line for each pair of ports of a switch:
 *
 *     Switch 0x0002c902004238a0, base LID 2, "leaf 1"
 *     #in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
 *     1   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7
 */
#include "routing/import/import.h"

#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>

#define NO_LEVEL 255
#define NO_ENDPOINT UINT32_MAX

struct reader {
    struct ker_lines in;
    const struct route_opensm_text *of;
    struct ker_inputs *inputs;
    struct route_lanes *lanes;
    uint32_t *endpoint_of; /* per LID: 1 + endpoint, 0: no endpoint's */
    uint32_t columns;      /* of a row */
    uint8_t *level;        /* [source * columns + column] */
    uint32_t source;       /* of the section or block, NO_ENDPOINT: none of ours */
    uint64_t to;           /* LID */
    uint32_t at;           /* the switch of the section, its number; the subnet's switches: none */
};

static bool take_lid(struct ker_lines *in, uint64_t *lid)
{
    return ker_take(in, "0x") ? ker_take_digits(in, 16, lid) : ker_take_digits(in, 10, lid);
}

/* ---- service levels ---- */

/* An endpoint's first LID stands for it as a source. */
static uint32_t source_of(const struct reader *r, uint64_t lid)
{
    if (lid > ROUTE_LID_MAX || r->endpoint_of[lid] == 0 ||
        r->of->subnet->endpoint[r->endpoint_of[lid] - 1].lid != lid)
        return NO_ENDPOINT;
    return r->endpoint_of[lid] - 1;
}

static enum ker_status note_level(struct reader *r, uint64_t lid, uint64_t level)
{
    if (level >= ROUTE_LEVELS)
        return ker_lines_fail(&r->in, "service level %llu: they are 0 to %d", (unsigned long long)level,
                              ROUTE_LEVELS - 1);
    if (r->source == NO_ENDPOINT || lid > ROUTE_LID_MAX || r->endpoint_of[lid] == 0)
        return KER_OK;
    uint32_t endpoint = r->endpoint_of[lid] - 1, own = 1u << r->of->subnet->endpoint[endpoint].lmc;
    uint32_t path = (uint32_t)lid - r->of->subnet->endpoint[endpoint].lid;
    uint8_t *row = r->level + (size_t)r->source * r->columns + (size_t)endpoint * r->of->paths;
    if (r->of->paths == 1 && path == (r->of->path & (own - 1)))
        *row = (uint8_t)level;
    for (uint32_t i = path; r->of->paths > 1 && i < r->of->paths; i += own)
        row[i] = (uint8_t)level;
    return KER_OK;
}

/* "slid....................2"; *value may be hexadecimal. */
static bool take_field(struct reader *r, const char *name, uint64_t *value)
{
    const char *from = r->in.p;
    if (ker_take(&r->in, name) && ker_take(&r->in, "..")) {
        while (r->in.p < r->in.stop && *r->in.p == '.')
            r->in.p++;
        if (take_lid(&r->in, value))
            return true;
    }
    r->in.p = from;
    return false;
}

static enum ker_status fail_level(struct reader *r)
{
    return ker_lines_fail(&r->in,
                          "\"%.*s\" is no line of opensm-path-records.dump, nor of what saquery PR prints",
                          KER_LINE_REST(&r->in));
}

static enum ker_status read_level(struct reader *r)
{
    uint64_t lid, level;
    ker_take_blanks(&r->in);
    if (r->in.p == r->in.stop || *r->in.p == '#')
        return KER_OK;
    if (ker_take(&r->in, "PathRecord dump")) {
        r->source = NO_ENDPOINT;
        return KER_OK;
    }
    if (take_field(r, "dlid", &r->to))
        return KER_OK;
    if (take_field(r, "slid", &lid)) {
        r->source = source_of(r, lid);
        return KER_OK;
    }
    if (take_field(r, "sl", &level))
        return note_level(r, r->to, level);
    if (ker_text_find(r->in.p, (size_t)(r->in.stop - r->in.p), "..."))
        return KER_OK; /* other fields of a record */
    const char *from = r->in.p;
    if (ker_take(&r->in, "0x")) {
        bool good = ker_take_digits(&r->in, 16, &lid) && ker_take(&r->in, " : ");
        if (good && ker_take(&r->in, "UNREACHABLE"))
            return KER_OK;
        if (good && ker_take_digits(&r->in, 10, &level))
            return note_level(r, lid, level);
    } else if (ker_take_until(&r->in, ", base LID ") && take_lid(&r->in, &lid)) {
        r->source = source_of(r, lid);
        return KER_OK;
    }
    r->in.p = from;
    return fail_level(r);
}

/* Every pair of endpoints needs one. */
static enum ker_status levels_take(struct reader *r)
{
    const struct route_subnet *subnet = r->of->subnet;
    uint64_t missing = 0, first = 0, pairs = (uint64_t)subnet->endpoints * r->columns;
    for (uint64_t i = pairs; i-- > 0;)
        if (r->level[i] == NO_LEVEL && i / r->columns != i % r->columns / r->of->paths) {
            missing++;
            first = i;
        }
    if (missing)
        return ker_lines_fail_at(&r->in, r->in.line ? r->in.line : 1,
                                 "%llu of %llu pairs of nodes have no service level here; the first is from "
                                 "\"%s\" (LID %u) to LID %u",
                                 (unsigned long long)missing, (unsigned long long)(pairs - r->columns),
                                 subnet->names + subnet->endpoint[first / r->columns].name,
                                 subnet->endpoint[first / r->columns].lid,
                                 route_opensm_lid(r->of, (uint32_t)(first % r->columns)));
    for (uint32_t endpoint = 0; endpoint < subnet->endpoints; endpoint++)
        route_lanes_row(r->lanes, endpoint, r->columns, r->level + (size_t)endpoint * r->columns);
    return KER_OK;
}

/* ---- lanes ---- */

static enum ker_status read_lanes(struct reader *r)
{
    const struct route_subnet *subnet = r->of->subnet;
    uint8_t lane[ROUTE_LEVELS];
    uint32_t in, out, value;
    ker_take_blanks(&r->in);
    if (r->in.p == r->in.stop || *r->in.p == '#')
        return KER_OK;
    uint64_t guid;
    const char *from = r->in.p;
    if (ker_take_until(&r->in, " 0x") && ker_take_digits(&r->in, 16, &guid)) {
        r->at = subnet->switches;
        for (uint32_t s = 0; s < subnet->switches && *from == 'S'; s++)
            if (subnet->at_switch[s].guid == guid)
                r->at = s;
        return KER_OK;
    }
    r->in.p = from;
    bool good = ker_take_number(&r->in, &in);
    ker_take_blanks(&r->in);
    good = good && ker_take_number(&r->in, &out);
    ker_take_blanks(&r->in);
    good = good && ker_take(&r->in, ":");
    for (int i = 0; i < ROUTE_LEVELS && good; i++) {
        ker_take_blanks(&r->in);
        good = ker_take_number(&r->in, &value) && value < 16;
        lane[i] = (uint8_t)value;
    }
    if (!good || r->in.p != r->in.stop)
        return ker_lines_fail(&r->in, "a line reads: port in, port out, a colon, and %d lanes from 0 to 15",
                              ROUTE_LEVELS);
    if (r->at == subnet->switches)
        return KER_OK;
    if (in > subnet->at_switch[r->at].ports || out > subnet->at_switch[r->at].ports)
        return ker_lines_fail(&r->in, "ports %u and %u of switch \"%s\", which has %u", in, out,
                              subnet->names + subnet->at_switch[r->at].name, subnet->at_switch[r->at].ports);
    route_lanes_set(r->lanes, r->at, in, out, lane);
    return KER_OK;
}

/* ---- both ---- */

static enum ker_status read_file(struct reader *r, const char *path, enum ker_status (*line)(struct reader *),
                                 struct ker_error *error)
{
    char *text;
    enum ker_status status = ker_input_lines(r->inputs, path, &r->in, &text, error);
    while (status == KER_OK && ker_lines_next(&r->in))
        status = line(r);
    free(text);
    return status;
}

static enum ker_status levels_read(struct reader *r, const char *path, struct ker_error *error)
{
    const struct route_subnet *subnet = r->of->subnet;
    r->endpoint_of = route_subnet_lids(subnet, false);
    r->level = ker_alloc((size_t)subnet->endpoints * r->columns);
    r->source = NO_ENDPOINT;
    memset(r->level, NO_LEVEL, (size_t)subnet->endpoints * r->columns);
    enum ker_status status = read_file(r, path, read_level, error);
    status = status ?: levels_take(r);
    free(r->endpoint_of);
    free(r->level);
    return status;
}

static enum ker_status fail_gap(const struct route_opensm_text *of, const struct ker_config *config,
                                const struct route_lanes_gap *gap, struct ker_error *error)
{
    const struct route_subnet *subnet = of->subnet;
    return ker_config_fail(config, error, "routing.path_sl",
                           "packets from \"%s\" to LID %u have service level %u, but switch \"%s\" has no "
                           "virtual lane for it from port %u to port %u (routing.sl2vl)",
                           subnet->names + subnet->endpoint[gap->endpoint].name,
                           route_opensm_lid(of, gap->column), gap->level,
                           subnet->names + subnet->at_switch[gap->switch_id].name, gap->in, gap->out);
}

enum ker_status route_opensm_lanes_read(const struct route_opensm_text *of, struct route_table *table,
                                        const struct ker_config *config, struct ker_error *error)
{
    struct reader r = {.of = of,
                       .inputs = ker_config_inputs(config),
                       .columns = table->endpoints,
                       .at = of->subnet->switches};
    struct route_lanes_gap gap;
    uint8_t lane[ROUTE_LEVELS];
    bool mapped = ker_config_has(config, "routing.sl2vl");
    if (!ker_config_has(config, "routing.path_sl"))
        return KER_OK;
    for (int i = 0; i < ROUTE_LEVELS; i++)
        lane[i] = mapped ? ROUTE_NO_LANE : (uint8_t)i;
    r.lanes = table->lanes = route_lanes_new(of->topology, table->endpoints, lane);
    enum ker_status status = levels_read(&r, ker_config_file(config, "routing.path_sl"), error);
    if (status == KER_OK && mapped)
        status = read_file(&r, ker_config_file(config, "routing.sl2vl"), read_lanes, error);
    if (status == KER_OK && !route_lanes_settle(table, of->topology, &gap))
        status = fail_gap(of, config, &gap, error);
    return status;
}
