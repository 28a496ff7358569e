/* vl.c - among lanes: InfiniBand's VL arbitration tables (specification 1.3, volume 1, 7.6.9).
 *
 * An output has a table of high and one of low priority, each a list of lanes with weights in units of 64
 * bytes. The entry whose turn it is may send while any of its weight is left: its last packet may be larger
 * than that, and owes nothing afterwards. An entry whose lane has nothing that could be sent is passed over,
 * and has its whole weight again when its turn comes. High goes first, until vl_limit x 4,096 bytes of it
 * have gone since low had its chance; then one packet of low is sent, if there is any. A packet counts as
 * whole units.
 *
 * Invariant: every lane that there is has weight in one of the tables, so that choose() always finds one.
 */
#include "net/switch/vl.h"

#include <stdlib.h>
#include <string.h>

enum { LOW, HIGH };

/* Of an output; saved as it is. */
struct vl_state {
    uint32_t tables; /* which of struct vl */
    uint32_t high;   /* units of high priority sent since low had its chance */
    uint16_t left[2];
    uint8_t at[2];
    uint8_t chosen; /* by choose(), for the packet that is sent next: 1 + the table; 0: nothing */
    uint8_t spare;
};
_Static_assert(sizeof(struct vl_state) % 8 == 0, "a multiple of 8");

/* ---- turns ---- */

/* Whose turn it is of the lanes that are ready, and what is left of its weight; false: none is in the table.
 */
static inline bool turn_find(const struct vl_table *t, uint32_t ready, uint8_t *at, uint16_t *left)
{
    if (*left && ready >> t->entry[*at].lane & 1)
        return true;
    uint32_t i = *at;
    for (uint32_t n = 0; n < t->count; n++) {
        i = i + 1 < t->count ? i + 1 : 0;
        if (t->entry[i].weight && ready >> t->entry[i].lane & 1) {
            *at = (uint8_t)i;
            *left = t->entry[i].weight;
            return true;
        }
    }
    return false;
}

static unsigned vl_choose(const void *shared, void *state, uint32_t ready)
{
    struct vl_state *s = state;
    const struct vl_tables *t = &((const struct vl *)shared)->tables[s->tables];
    uint8_t at[2] = {s->at[LOW], s->at[HIGH]};
    uint16_t left[2] = {s->left[LOW], s->left[HIGH]};
    bool high = turn_find(&t->high, ready, &at[HIGH], &left[HIGH]), first = high && s->high < t->limit,
         low = !first && turn_find(&t->low, ready, &at[LOW], &left[LOW]);
    ker_check(high || low);
    if (!first && !low)
        s->high = 0; /* it had its chance */
    unsigned of = low ? LOW : HIGH;
    s->at[of] = at[of];
    s->left[of] = left[of];
    s->chosen = (uint8_t)(1 + of);
    return (low ? &t->low : &t->high)->entry[at[of]].lane;
}

static unsigned chosen_lane(const struct vl *vl, const struct vl_state *s)
{
    const struct vl_tables *t = &vl->tables[s->tables];
    return s->chosen == 1 + LOW ? t->low.entry[s->at[LOW]].lane : t->high.entry[s->at[HIGH]].lane;
}

static void vl_sent(const void *shared, void *state, unsigned channel, uint32_t bytes)
{
    struct vl_state *s = state;
    uint32_t units = (bytes + NET_VL_UNIT - 1) / NET_VL_UNIT;
    if (!s->chosen || chosen_lane(shared, s) != channel) /* it was alone; or what was chosen was not sent */
        vl_choose(shared, state, 1u << channel);
    unsigned of = s->chosen - 1u;
    s->left[of] = units < s->left[of] ? (uint16_t)(s->left[of] - units) : 0;
    s->high = of == HIGH ? s->high + units : 0;
    if (s->high > NET_VL_LIMIT_NONE * 64)
        s->high = NET_VL_LIMIT_NONE * 64; /* beyond every limit that there is */
    s->chosen = 0;
}

KER_ORDER_BY(port_order, struct route_output, switch_id, port, adapter)

/* At first every table begins with its first entry. */
static void vl_init(const void *shared, void *state, const struct net_lanes_output *output)
{
    const struct vl *vl = shared;
    struct vl_state *s = state;
    struct vl_port wanted = {
        .output = vl->ports ? route_output_of(vl->topology, output->adapter, output->id, output->port)
                            : (struct route_output){0}};
    const struct vl_port *own =
        bsearch(&wanted, &vl->tables[vl->count], vl->ports, sizeof wanted, port_order);
    *s = (struct vl_state){.tables = own ? own->tables : output->adapter};
    const struct vl_tables *t = &vl->tables[s->tables];
    s->at[LOW] = (uint8_t)(t->low.count ? t->low.count - 1 : 0);
    s->at[HIGH] = (uint8_t)(t->high.count ? t->high.count - 1 : 0);
}

/* ---- keys ---- */

static uint32_t weighted(const struct vl_table *t)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < t->count; i++)
        lanes |= t->entry[i].weight ? 1u << t->entry[i].lane : 0;
    return lanes;
}

static enum ker_status table_read(struct vl_table *t, const struct ker_config *c, const char *key,
                                  uint32_t channels, struct ker_error *error)
{
    char *wrong = net_vl_table_read(t, ker_config_string(c, key));
    for (uint32_t i = 0; i < t->count && !wrong; i++)
        if (t->entry[i].lane >= channels)
            wrong = ker_format("there is no lane %u: switch.channels x switch.classes makes %u, from 0 on",
                               t->entry[i].lane, channels);
    if (!wrong)
        return KER_OK;
    enum ker_status status = ker_config_fail(c, error, key, "%s", wrong);
    free(wrong);
    return status;
}

/* Lanes without weight. */
static uint32_t weightless(const struct vl_tables *t, uint32_t channels)
{
    return ((1u << channels) - 1) & ~(weighted(&t->low) | weighted(&t->high));
}

/* group: "switch" or "adapter", whose keys replace what is in `t` already. */
static enum ker_status tables_read(struct vl_tables *t, const struct ker_config *c, const char *group,
                                   uint32_t channels, struct ker_error *error)
{
    static const char *const names[] = {"vl_low", "vl_high"};
    enum ker_status status = KER_OK;
    for (int of = LOW; of <= HIGH && status == KER_OK; of++) {
        char *key = ker_format("%s.%s", group, names[of]);
        if (ker_config_has(c, key))
            status = table_read(of == HIGH ? &t->high : &t->low, c, key, channels, error);
        free(key);
    }
    char *limit = ker_format("%s.vl_limit", group);
    if (ker_config_has(c, limit))
        t->limit = net_vl_limit(ker_config_int(c, limit));
    free(limit);
    uint32_t never = weightless(t, channels);
    char *key = ker_format("%s.vl_low", group);
    if (status == KER_OK && never)
        status = ker_config_fail(c, error, key,
                                 "packets of lane %d would never leave: it has no weight there, nor in "
                                 "vl_high; give \"%d:64\", for example",
                                 __builtin_ctz(never), __builtin_ctz(never));
    free(key);
    return status;
}

static enum ker_status file_read(struct vl_file *f, const struct ker_config *config,
                                 const struct route_topology *topology, uint32_t channels,
                                 struct ker_error *error)
{
    if (!ker_config_has(config, "switch.vl_file"))
        return KER_OK;
    const char *path = ker_config_file(config, "switch.vl_file");
    char *text;
    size_t length;
    enum ker_status status = ker_input_read(ker_config_inputs(config), path, &text, &length, error);
    status = status ?: net_vl_file_read(f, topology, channels, path, text, length, error);
    free(text);
    return status;
}

/* What is said of one port, from `*at` on: its tables and its limit. */
static enum ker_status port_join(struct vl_port *port, const struct vl_file *f, uint32_t *at,
                                 const char *path, struct ker_error *error)
{
    *port = f->port[(*at)++];
    for (; *at < f->ports && port_order(port, &f->port[*at]) == 0; ++*at) {
        const struct vl_port *more = &f->port[*at];
        bool tables = more->tables != NET_VL_NO_TABLES && port->tables != NET_VL_NO_TABLES;
        if ((tables && more->tables != port->tables) ||
            (more->limit && port->limit && more->limit != port->limit))
            return ker_fail(error, KER_BAD_INPUT, "%s:%u: another %s of this port than in line %u", path,
                            more->line, tables ? "table" : "limit", port->line);
        port->tables = more->tables != NET_VL_NO_TABLES ? more->tables : port->tables;
        port->limit = more->limit ? more->limit : port->limit;
    }
    return KER_OK;
}

/* The number of equal tables; those of ports are behind the first two. */
static uint32_t tables_keep(struct vl **vl, const struct vl_tables *t)
{
    uint32_t i = (*vl)->count;
    while (i-- > 0)
        if (memcmp(&(*vl)->tables[i], t, sizeof *t) == 0)
            return i;
    *vl = ker_realloc(*vl, sizeof **vl + ((*vl)->count + 1) * sizeof *t);
    (*vl)->tables[(*vl)->count] = *t;
    return (*vl)->count++;
}

static int line_order(const void *left, const void *right)
{
    const struct vl_port *a = left, *b = right;
    int order = port_order(a, b);
    return order ? order : KER_ORDER(a, b, line);
}

/* Ports with what the file says of them; what it does not say is as the options have it. */
static enum ker_status ports_take(struct vl **vl, struct vl_file *f, const char *path, uint32_t channels,
                                  struct ker_error *error)
{
    uint32_t kept = 0;
    if (f->ports)
        qsort(f->port, f->ports, sizeof *f->port, line_order);
    for (uint32_t i = 0; i < f->ports;) {
        struct vl_port port;
        enum ker_status status = port_join(&port, f, &i, path, error);
        if (status != KER_OK)
            return status;
        const struct vl_tables *options = &(*vl)->tables[port.output.adapter];
        struct vl_tables t = port.tables == NET_VL_NO_TABLES ? *options : f->of_ports[port.tables];
        t.limit = port.limit ? port.limit : options->limit;
        uint32_t never = weightless(&t, channels);
        if (never)
            return ker_fail(error, KER_BAD_INPUT,
                            "%s:%u: packets of lane %d would never leave this port: it has no weight in its "
                            "tables (has the subnet quality of service, opensm -Q?); switch.channels x "
                            "switch.classes makes %u lanes",
                            path, port.line, __builtin_ctz(never), channels);
        port.tables = tables_keep(vl, &t);
        f->port[kept++] = port;
    }
    struct vl *v = *vl =
        ker_realloc(*vl, sizeof *v + (*vl)->count * sizeof *v->tables + kept * sizeof *f->port);
    v->ports = kept;
    if (kept)
        memcpy(&v->tables[v->count], f->port, kept * sizeof *f->port);
    return KER_OK;
}

static enum ker_status vl_read(void **shared, const struct ker_config *config,
                               const struct route_topology *topology, uint32_t channels,
                               struct ker_error *error)
{
    struct vl_file f = {.tables[0].limit = net_vl_limit(0), .tables[0].low.count = channels};
    struct vl *vl = *shared = ker_alloc(sizeof *vl + 2 * sizeof *vl->tables);
    *vl = (struct vl){.topology = topology, .count = 2};
    if (channels > NET_VL_LANES)
        return ker_config_fail(config, error, "switch.lanes",
                               "switch.channels x switch.classes makes %u lanes; InfiniBand has 15 for data",
                               channels);
    for (uint32_t lane = 0; lane < channels; lane++)
        f.tables[0].low.entry[lane] = (struct vl_entry){(uint8_t)lane, 64};
    f.tables[1] = f.tables[0];
    enum ker_status status = file_read(&f, config, topology, channels, error);
    if (status == KER_OK)
        status = tables_read(&f.tables[0], config, "switch", channels, error);
    if (!f.options)
        f.tables[1] = f.tables[0];
    if (status == KER_OK)
        status = tables_read(&f.tables[1], config, "adapter", channels, error);
    memcpy(vl->tables, f.tables, sizeof f.tables);
    if (status == KER_OK && f.ports)
        status = ports_take(&vl, &f, ker_config_file(config, "switch.vl_file"), channels, error);
    *shared = vl;
    net_vl_file_release(&f);
    return status;
}

static enum ker_status vl_levels(struct net_levels *levels, const struct ker_config *config,
                                 struct ker_error *error)
{
    struct vl_file f = {.levels = *levels};
    enum ker_status status;
    if (ker_config_has(config, "switch.sl2vl")) {
        char *wrong = net_vl_map_read(f.levels.lane[0], ker_config_string(config, "switch.sl2vl"));
        memcpy(f.levels.lane[1], f.levels.lane[0], sizeof f.levels.lane[0]);
        f.levels.mapped = true;
        status = wrong ? ker_config_fail(config, error, "switch.sl2vl", "%s", wrong) : KER_OK;
        free(wrong);
    } else {
        status = file_read(&f, config, NULL, NET_VL_LANES, error);
    }
    *levels = f.levels;
    net_vl_file_release(&f);
    return status;
}

static const struct ker_option options[] = {
    {"switch.vl_high", KER_TYPE_STRING, "", NULL, NULL, NULL,
     "VL arbitration table of high priority, as OpenSM writes it: \"LANE:WEIGHT,...\", weights of 0 to 255 "
     "in units of 64 bytes, at most 64 entries. A lane (virtual lane) is a channel: class x switch.channels "
     "+ virtual channel; it may be there several times; an entry of weight 0 is skipped."},
    {"switch.vl_low", KER_TYPE_STRING, NULL, NULL, NULL, NULL,
     "The table of low priority. Absent: all lanes in turn, 64 each."},
    {"switch.vl_limit", KER_TYPE_INT, "0", "0", "255", NULL,
     "How much of high priority may be sent while packets of low priority wait: this x 4,096 bytes, then one "
     "packet of low priority is sent. 0: one packet; 255: no bound."},
    {"switch.vl_file", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "An options file of OpenSM: tables and limits of switches and adapters from its lines qos_vlarb_high, "
     "qos_vlarb_low, qos_high_limit, and lanes of service levels from qos_sl2vl, and those with qos_swe_ and "
     "qos_ca_. The keys here replace what it says. Or, with topology.kind = \"fabric\", what smpquery vlarb "
     "and smpquery portinfo print of single ports, one after the other: these have their own tables and "
     "limits then, others those of the keys. Both may be in one file."},
    {"switch.sl2vl", KER_TYPE_STRING, NULL, NULL, NULL, NULL,
     "The class of each service level, from 0 on: with \"0,0,1,1\" a job of jobs[].priority 2 is in class 1, "
     "which with one virtual channel is its lane. Absent: qos_sl2vl of switch.vl_file, else each level is "
     "the class of its number."},
    {"adapter.vl_high", KER_TYPE_STRING, NULL, NULL, NULL, NULL,
     "The same table of adapters. Absent: as switches have it."},
    {"adapter.vl_low", KER_TYPE_STRING, NULL, NULL, NULL, NULL,
     "The same table of adapters. Absent: as switches have it."},
    {"adapter.vl_limit", KER_TYPE_INT, NULL, "0", "255", NULL,
     "The same of adapters. Absent: as switches have it."},
    {0}};

const struct ker_kind net_lanes_vl = {
    .name = "vl",
    .meaning = "InfiniBand's VL arbitration: two tables of lanes and weights",
    .operations = &(const struct net_lanes){.bytes = sizeof(struct vl_state),
                                            .read = vl_read,
                                            .levels = vl_levels,
                                            .init = vl_init,
                                            .choose = vl_choose,
                                            .sent = vl_sent},
    .options = KER_OPTIONS(options)};
