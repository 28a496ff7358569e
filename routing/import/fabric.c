/* fabric.c - an InfiniBand subnet: from the devices of a dump to switches, endpoints and links.
 *
 * The devices are sorted by kind and GUID, and each cable is looked up from its other end: both must say the
 * same, which is what finds dumps that were cut off or edited by half.
 */
#include "routing/import/fabric_dump.h"

#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>

struct joiner {
    struct fabric_device *device; /* of the dump */
    struct fabric_end *cable;
    uint32_t devices, cables;
    struct route_graph *graph;
    struct route_subnet *subnet;
    const struct route_fabric_defaults *defaults;
    struct ker_lines in;           /* for messages only */
    struct fabric_device **sorted; /* by kind and GUID */
};

KER_ORDER_AT(compare_devices, struct fabric_device, kind, guid, line)

static enum ker_status sort_devices(struct joiner *j)
{
    j->sorted = ker_alloc((j->devices + 1) * sizeof *j->sorted);
    for (uint32_t i = 0; i < j->devices; i++)
        j->sorted[i] = &j->device[i];
    qsort(j->sorted, j->devices, sizeof *j->sorted, compare_devices);
    for (uint32_t i = 1; i < j->devices; i++)
        if (j->sorted[i]->kind == j->sorted[i - 1]->kind && j->sorted[i]->guid == j->sorted[i - 1]->guid)
            return ker_lines_fail_at(&j->in, j->sorted[i]->line, "0x%llx has a block in line %u already",
                                     (unsigned long long)j->sorted[i]->guid, j->sorted[i - 1]->line);
    return KER_OK;
}

static struct fabric_device *find_device(const struct joiner *j, enum fabric_kind kind, uint64_t guid)
{
    struct fabric_device wanted = {.kind = kind, .guid = guid};
    uint32_t low =
        KER_BISECT(i, 0, j->devices, compare_devices(&j->sorted[i], &(struct fabric_device *){&wanted}) < 0);
    struct fabric_device *found = low < j->devices ? j->sorted[low] : NULL;
    return found && found->kind == kind && found->guid == guid ? found : NULL;
}

static struct fabric_end *find_end(const struct joiner *j, const struct fabric_device *device, uint32_t port)
{
    for (uint32_t i = 0; i < device->cables; i++)
        if (j->cable[device->first + i].port == port)
            return &j->cable[device->first + i];
    return NULL;
}

static const char *name_of(const struct joiner *j, const struct fabric_device *device)
{
    return j->subnet->names + device->name;
}

/* What both ends say of the cable and of each other. */
static enum ker_status check_ends(struct joiner *j, const struct fabric_end *end,
                                  const struct fabric_end *other)
{
    const struct fabric_device *device = &j->device[end->device];
    uint32_t lid = device->kind == FABRIC_SWITCH ? device->lid : end->lid;
    if (other->peer_kind != device->kind || other->peer_guid != device->guid || other->peer_port != end->port)
        return ker_lines_fail_at(
            &j->in, end->line,
            "this cable leads to port %u of \"%s\", but line %u says that another one is in that port",
            end->peer_port, name_of(j, &j->device[other->device]), other->line);
    if (other->peer_lid != lid)
        return ker_lines_fail_at(&j->in, other->line, "the LID of \"%s\" is %u here, but %u in line %u",
                                 name_of(j, device), other->peer_lid, lid,
                                 device->kind == FABRIC_SWITCH ? device->line : end->line);
    if (end->guid && other->peer_port_guid && end->guid != other->peer_port_guid)
        return ker_lines_fail_at(
            &j->in, end->line, "the GUID of port %u is 0x%llx here, but 0x%llx in line %u", end->port,
            (unsigned long long)end->guid, (unsigned long long)other->peer_port_guid, other->line);
    if (end->rate && other->rate && end->rate != other->rate)
        return ker_lines_fail_at(&j->in, end->line,
                                 "width and speed differ from those at the cable's other end, line %u",
                                 other->line);
    return KER_OK;
}

/* *other: the cable's other end. */
static enum ker_status check_end(struct joiner *j, const struct fabric_end *end, struct fabric_end **other)
{
    const struct fabric_device *device = &j->device[end->device],
                               *peer = find_device(j, end->peer_kind, end->peer_guid);
    if (!peer)
        return ker_lines_fail_at(&j->in, end->line,
                                 "the dump has no block of \"%c-%016llx\", to which this cable leads: was it "
                                 "cut off?",
                                 end->peer_kind, (unsigned long long)end->peer_guid);
    if (peer->kind != FABRIC_SWITCH && device->kind != FABRIC_SWITCH)
        return ker_lines_fail_at(&j->in, end->line,
                                 "a cable between two adapters, \"%s\" and \"%s\"; there must be a switch",
                                 name_of(j, device), name_of(j, peer));
    *other = find_end(j, peer, end->peer_port);
    if (!*other)
        return ker_lines_fail_at(&j->in, end->line,
                                 "this cable's other end is missing: the block of \"%s\" (line %u) has no "
                                 "port %u; was the dump cut off?",
                                 name_of(j, peer), peer->line, end->peer_port);
    return check_ends(j, end, *other);
}

struct lids {
    uint32_t first, last, line;
};

KER_ORDER_BY(compare_lids, struct lids, first, line)

/* A LID belongs to one port. LID 0 is none: a port whose subnet manager does not know it. */
static enum ker_status check_lids(struct joiner *j)
{
    struct lids *lids = ker_alloc((j->devices + j->cables + 1ull) * sizeof *lids);
    uint32_t count = 0;
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < j->devices; i++)
        if (j->device[i].lid)
            lids[count++] = (struct lids){j->device[i].lid, j->device[i].lid + (1u << j->device[i].lmc) - 1,
                                          j->device[i].line};
    for (uint32_t i = 0; i < j->cables; i++)
        if (j->cable[i].lid)
            lids[count++] = (struct lids){j->cable[i].lid, j->cable[i].lid + (1u << j->cable[i].lmc) - 1,
                                          j->cable[i].line};
    qsort(lids, count, sizeof *lids, compare_lids);
    for (uint32_t i = 1; i < count && status == KER_OK; i++)
        if (lids[i].first <= lids[i - 1].last)
            status = ker_lines_fail_at(&j->in, lids[i].line, "LID %u is used twice: line %u has it, too",
                                       lids[i].first, lids[i - 1].line);
    free(lids);
    return status;
}

static bool is_loop(const struct joiner *j, const struct fabric_end *end)
{
    const struct fabric_device *device = &j->device[end->device];
    return end->peer_kind == device->kind && end->peer_guid == device->guid;
}

/* Cables that begin and end at the same device carry nothing. */
static void leave_out_loops(struct joiner *j)
{
    for (uint32_t i = 0; i < j->cables; i++) {
        if (!is_loop(j, &j->cable[i]))
            continue;
        if (j->subnet->loops++ == 0)
            j->subnet->loop_line = j->cable[i].line;
    }
}

static uint32_t endpoints_of(const struct joiner *j, const struct fabric_device *device)
{
    uint32_t endpoints = 0;
    for (uint32_t i = 0; i < device->cables; i++)
        endpoints += !is_loop(j, &j->cable[device->first + i]);
    return endpoints;
}

static void count_devices(struct joiner *j)
{
    struct route_subnet *subnet = j->subnet;
    for (uint32_t i = 0; i < j->devices; i++) {
        struct fabric_device *device = &j->device[i];
        if (device->left_out)
            subnet->left_out++;
        else if (device->kind == FABRIC_SWITCH)
            device->id = subnet->switches++;
        else
            subnet->endpoints += endpoints_of(j, device);
    }
    j->graph->switches = subnet->switches;
    j->graph->endpoints = subnet->endpoints;
    subnet->at_switch = ker_alloc((subnet->switches + 1) * sizeof *subnet->at_switch);
    subnet->endpoint = ker_alloc((subnet->endpoints + 1) * sizeof *subnet->endpoint);
    j->graph->ports = ker_alloc((subnet->switches + 1) * sizeof *j->graph->ports);
    j->graph->endpoint = ker_alloc((subnet->endpoints + 1) * sizeof *j->graph->endpoint);
    j->graph->edge = ker_alloc((j->cables / 2 + 1) * sizeof *j->graph->edge);
    for (uint32_t i = 0; i < j->devices; i++) {
        const struct fabric_device *device = &j->device[i];
        if (device->kind != FABRIC_SWITCH)
            continue;
        j->graph->ports[device->id] = device->ports;
        subnet->at_switch[device->id] = (struct route_subnet_switch){device->guid, device->lid, device->ports,
                                                                     device->line, device->name};
    }
}

static enum ker_status class_of(struct joiner *j, const struct fabric_end *end,
                                const struct fabric_end *other, bool endpoint, uint32_t *class)
{
    const struct route_fabric_defaults *defaults = j->defaults;
    uint64_t rate = end->rate     ? end->rate
                    : other->rate ? other->rate
                    : endpoint    ? defaults->node_rate
                                  : defaults->rate;
    if (rate == 0)
        return ker_lines_fail_at(&j->in, end->line,
                                 "width and speed of this link are not known to the dump; give them by %s",
                                 endpoint ? "topology.node_bandwidth" : "topology.bandwidth");
    *class = route_graph_class(j->graph, endpoint ? defaults->node_latency : defaults->latency, rate);
    if (*class >= ROUTE_MAX_LINKS)
        return ker_lines_fail_at(&j->in, end->line, "more than %d different pairs of latency and bandwidth",
                                 ROUTE_MAX_LINKS);
    return KER_OK;
}

static void add_edge(struct joiner *j, const struct fabric_end *end, const struct fabric_end *other,
                     uint32_t class)
{
    struct route_graph_edge edge = {.from = j->device[end->device].id,
                                    .to = j->device[other->device].id,
                                    .class = class,
                                    .count = 1,
                                    .line = end->line,
                                    .from_port = (uint16_t)end->port,
                                    .to_port = (uint16_t)other->port};
    if (edge.from > edge.to) {
        edge.from = j->device[other->device].id;
        edge.to = j->device[end->device].id;
        edge.from_port = (uint16_t)other->port;
        edge.to_port = (uint16_t)end->port;
    }
    j->graph->edge[j->graph->edges++] = edge;
}

static void add_endpoint(struct joiner *j, uint32_t endpoint, const struct fabric_end *end,
                         const struct fabric_end *other, uint32_t class)
{
    const struct fabric_device *device = &j->device[end->device];
    j->graph->endpoint[endpoint] =
        (struct route_graph_endpoint){j->device[other->device].id, class, (uint16_t)other->port};
    j->subnet->endpoint[endpoint] =
        (struct route_subnet_endpoint){end->guid ? end->guid : other->peer_port_guid,
                                       end->lid,
                                       end->line,
                                       device->name,
                                       (uint8_t)end->lmc,
                                       (uint8_t)end->port};
}

/* Every cable once: between switches at the end that comes first in the dump, to an adapter at the adapter's.
 */
static enum ker_status join(struct joiner *j)
{
    uint32_t endpoints = 0, class = 0;
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < j->cables && status == KER_OK; i++) {
        const struct fabric_end *end = &j->cable[i];
        const struct fabric_device *device = &j->device[end->device];
        struct fabric_end *other = NULL;
        if (is_loop(j, end))
            continue;
        status = check_end(j, end, &other);
        if (status || !other || device->left_out || j->device[other->device].left_out)
            continue;
        bool endpoint = device->kind != FABRIC_SWITCH;
        if (!endpoint && (other->line < end->line || j->device[other->device].kind != FABRIC_SWITCH))
            continue;
        status = class_of(j, end, other, endpoint, &class);
        if (status == KER_OK && endpoint)
            add_endpoint(j, endpoints++, end, other, class);
        else if (status == KER_OK)
            add_edge(j, end, other, class);
    }
    return status;
}

static enum ker_status check_whole(struct joiner *j, uint32_t lines)
{
    uint32_t first = 0;
    if (j->subnet->switches == 0 || j->subnet->endpoints == 0)
        return ker_lines_fail_at(
            &j->in, lines ? lines : 1,
            "there are %u switches and %u nodes (cabled ports of adapters); at least one of each is needed",
            j->subnet->switches, j->subnet->endpoints);
    if (route_graph_apart(j->graph, &first) == 0)
        return KER_OK;
    const struct route_subnet_switch *apart = &j->subnet->at_switch[first], *from = &j->subnet->at_switch[0];
    return ker_lines_fail_at(&j->in, apart->line,
                             "no cables lead from the first switch \"%s\" (line %u) to this one, \"%s\"; all "
                             "switches must be connected",
                             j->subnet->names + from->name, from->line, j->subnet->names + apart->name);
}

static enum ker_status subnet_join(struct joiner *j, uint32_t lines)
{
    enum ker_status status = sort_devices(j);
    if (status)
        return status;
    leave_out_loops(j);
    count_devices(j);
    status = join(j);
    status = status ?: check_lids(j);
    status = status ?: check_whole(j, lines);
    if (status == KER_OK)
        route_graph_sort(j->graph);
    return status;
}

enum ker_status route_fabric_parse(struct route_graph *graph, struct route_subnet *subnet,
                                   const struct route_fabric_defaults *defaults, const char *name,
                                   const char *text, size_t length, struct ker_error *error)
{
    struct joiner j = {.graph = graph, .subnet = subnet, .defaults = defaults};
    struct fabric_dump dump;
    *graph = (struct route_graph){0};
    *subnet = (struct route_subnet){0};
    ker_lines_init(&j.in, name, text, length, error);
    if (length > INT32_MAX)
        return ker_lines_fail_at(&j.in, 1, "the file is larger than 2 GiB");
    enum ker_status status = ker_lines_check(&j.in);
    if (status != KER_OK)
        return status;
    status = fabric_dump_read(&dump, subnet, name, text, length, error);
    if (status == KER_OK) {
        j.device = dump.device;
        j.cable = dump.cable;
        j.devices = dump.devices;
        j.cables = dump.cables;
        subnet->passed = dump.passed;
        subnet->passed_line = dump.passed_line;
        status = subnet_join(&j, dump.lines);
    }
    fabric_dump_release(&dump);
    free(j.sorted);
    return status;
}

void route_subnet_release(struct route_subnet *subnet)
{
    free(subnet->at_switch);
    free(subnet->endpoint);
    free(subnet->names);
    *subnet = (struct route_subnet){0};
}
