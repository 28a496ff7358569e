/* hwloc.c - the structure of a node from hwloc's XML.
 *
 * hwloc reads the file, and everything is asked of the tree that it makes: so a file is as good as hwloc
 * finds it. A core's domain is the NUMA node of the fewest processing units that has all of the core's, the
 * first of several (where there is slow and fast memory, hwloc lists the usual one first). A bus is what
 * adapters share on the path to their socket: the bridge below the host bridge, or this one where there is no
 * other.
 *
 * Network adapters are the PCI devices with OpenFabrics devices (InfiniBand, RoCE, ...); in a file without
 * any, all network devices.
 */
#define _GNU_SOURCE
#include "nodes/structure/hwloc.h"
#include "nodes/structure/make.h"

#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 6 /* of an index */
#define RIGHT "right would be a file that lstopo --of xml of hwloc 2 has written"

/* ---- the file ---- */

/* NULL: hwloc 2 has written it. */
static char *version_wrong(const char *text)
{
    const char *topology = strstr(text, "<topology"), *end = topology ? strchr(topology, '>') : NULL;
    if (!end)
        return ker_format("is no description of a machine; " RIGHT);
    const char *version = strstr(topology, "version=\"");
    if (!version || version > end)
        return ker_format("is of hwloc 1; " RIGHT);
    version += strlen("version=\"");
    if (strncmp(version, "2.", 2) == 0)
        return NULL;
    int shown = (int)strcspn(version, "\"");
    return ker_format("is of version %.*s; " RIGHT " (with hwloc 3: --export-xml-flags v2)",
                      shown < 10 ? shown : 10, version);
}

/* Has the tag an attribute of this name that is not empty? */
static bool has_attribute(const char *tag, const char *end, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = tag; (p = memmem(p, (size_t)(end - p), name, length)) != NULL; p += length)
        if (p[-1] == ' ' && end - p > (ptrdiff_t)length + 3 && p[length] == '=' && p[length + 1] == '"' &&
            p[length + 2] != '"')
            return true;
    return false;
}

/* Is it numbered so high that hwloc would fill the memory with sets of this many? */
static bool index_wrong(const char *tag, const char *end)
{
    const char *at = memmem(tag, (size_t)(end - tag), " os_index=\"", 11);
    size_t digits = at ? strspn(at + 11, "0123456789") : 0;
    return at && (at[11 + digits] != '"' || digits > MOST_DIGITS);
}

/* hwloc takes for granted that whatever holds processing units or memory says which, and ends the program
 * where it does not. */
static char *sets_wrong(const char *text)
{
    static const char *const sets[] = {"cpuset", "complete_cpuset", "nodeset", "complete_nodeset"},
                             *const without[] = {"\"Bridge\"", "\"PCIDev\"", "\"OSDev\"", "\"Misc\""};
    unsigned line = 1;
    for (const char *p = text, *counted = text; (p = strstr(p, "<object ")) != NULL; p++) {
        const char *end = strchr(p, '>'), *type = end ? memmem(p, (size_t)(end - p), " type=", 6) : NULL;
        for (; counted < p; counted++)
            line += *counted == '\n';
        bool needs = type != NULL;
        for (size_t i = 0; needs && i < sizeof without / sizeof *without; i++)
            needs = strncmp(type + 6, without[i], strlen(without[i])) != 0;
        for (size_t i = 0; needs && i < sizeof sets / sizeof *sets; i++)
            if (!has_attribute(p, end, sets[i]))
                return ker_format("line %u: an object without %s; " RIGHT, line, sets[i]);
        if (!type)
            return ker_format("line %u: an object without a type; " RIGHT, line);
        if (needs && index_wrong(p, end))
            return ker_format("line %u: an object's os_index is none below 1000000; " RIGHT, line);
    }
    return NULL;
}

static hwloc_topology_t topology_read(const char *text, size_t bytes)
{
    hwloc_topology_t t;
    if (bytes >= INT32_MAX || hwloc_topology_init(&t) != 0)
        return NULL;
    hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_set_xmlbuffer(t, text, (int)bytes + 1) == 0 && hwloc_topology_load(t) == 0)
        return t;
    hwloc_topology_destroy(t);
    return NULL;
}

/* ---- sockets, domains, cores ---- */

static uint16_t socket_of(hwloc_topology_t t, hwloc_obj_t object)
{
    hwloc_obj_t socket = object->type == HWLOC_OBJ_PACKAGE
                             ? object
                             : hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE, object);
    return socket ? (uint16_t)socket->logical_index : 0;
}

/* The NUMA node of a core, by its logical index. */
static uint32_t memory_of(hwloc_topology_t t, hwloc_obj_t core)
{
    uint32_t best = 0;
    int least = INT32_MAX;
    for (hwloc_obj_t m = NULL; (m = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, m)) != NULL;) {
        int units = hwloc_bitmap_weight(m->cpuset);
        if (units < least && hwloc_bitmap_isincluded(core->cpuset, m->cpuset)) {
            least = units;
            best = m->logical_index;
        }
    }
    return best;
}

static char *counts_wrong(hwloc_topology_t t)
{
    int cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE),
        sockets = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE),
        memories = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE),
        units = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
    if (cores <= 0)
        return ker_format("has no cores: was it written with a filter, or on a machine that hides them?");
    if (memories <= 0)
        return ker_format("has no NUMA nodes; " RIGHT);
    if (units > NODE_MOST_UNITS)
        return ker_format("has %d hardware threads; at most %d", units, NODE_MOST_UNITS);
    if (sockets > NODE_MOST_PARTS || memories > NODE_MOST_PARTS)
        return ker_format("has %d packages and %d NUMA nodes; at most %d each", sockets, memories,
                          NODE_MOST_PARTS);
    return NULL;
}

static bool core_read(hwloc_topology_t t, struct node_core *core, hwloc_obj_t object)
{
    int threads = hwloc_get_nbobjs_inside_cpuset_by_type(t, object->cpuset, HWLOC_OBJ_PU);
    if (threads < 1)
        return false;
    *core = (struct node_core){.domain = (uint16_t)memory_of(t, object),
                               .socket = socket_of(t, object),
                               .threads = (uint16_t)threads,
                               .speed = NODE_SPEED};
    return true;
}

/* Domains are numbered as their NUMA nodes, but for those that no core has. */
static void domains_number(struct node_structure *s, uint32_t memories)
{
    uint16_t *number = ker_alloc(memories * sizeof *number);
    for (uint32_t i = 0; i < s->cores; i++)
        number[s->core[i].domain] = 1;
    for (uint32_t m = 0; m < memories; m++)
        if (number[m])
            number[m] = (uint16_t)s->domains++;
    s->domain_socket = ker_alloc(s->domains * sizeof *s->domain_socket);
    for (uint32_t i = s->cores; i-- > 0;) {
        s->core[i].domain = number[s->core[i].domain];
        s->domain_socket[s->core[i].domain] = s->core[i].socket;
    }
    free(number);
}

static char *cores_read(hwloc_topology_t t, struct node_structure *s)
{
    char *why = counts_wrong(t);
    if (why)
        return why;
    int sockets = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE);
    s->sockets = sockets > 0 ? (uint32_t)sockets : 1;
    s->cores = (uint32_t)hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
    s->throughput = NODE_SPEED;
    s->core = ker_alloc(s->cores * sizeof *s->core);
    for (uint32_t i = 0; i < s->cores; i++)
        if (!core_read(t, &s->core[i], hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, i)))
            return ker_format("core %u has no processing units; " RIGHT, i);
    domains_number(s, (uint32_t)hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE));
    return NULL;
}

static void kinds_read(hwloc_topology_t t, const struct node_structure *s, struct node_hwloc *h)
{
    int kinds = hwloc_cpukinds_get_nr(t, 0);
    if (kinds <= 0)
        return;
    h->core_kinds = (uint32_t)kinds;
    h->core_kind = ker_alloc(s->cores * sizeof *h->core_kind);
    for (uint32_t i = 0; i < s->cores; i++) {
        int kind = hwloc_cpukinds_get_by_cpuset(t, hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, i)->cpuset, 0);
        h->core_kind[i] = (uint16_t)(kind > 0 ? kind : 0);
    }
}

/* ---- adapters ---- */

struct found {
    hwloc_obj_t *device;
    uint32_t count;
};

/* An OS device of this type (name: NULL) or name below a PCI device. */
static hwloc_obj_t os_device(hwloc_obj_t pci, hwloc_obj_osdev_type_t type, const char *name)
{
    for (hwloc_obj_t o = pci->io_first_child; o; o = o->next_sibling)
        if (o->type == HWLOC_OBJ_OS_DEVICE && o->attr &&
            (name ? o->name && strcmp(o->name, name) == 0 : o->attr->osdev.type == type))
            return o;
    return NULL;
}

static void find_all(hwloc_topology_t t, struct found *f, hwloc_obj_osdev_type_t type)
{
    for (hwloc_obj_t pci = NULL; (pci = hwloc_get_next_pcidev(t, pci)) != NULL;)
        if (os_device(pci, type, NULL))
            *KER_APPEND(f->device, f->count) = pci;
}

static char *found_names(const struct found *f)
{
    char *names = ker_format("%s", "");
    for (uint32_t i = 0; i < f->count && i < 16; i++) {
        hwloc_obj_t o = os_device(f->device[i], HWLOC_OBJ_OSDEV_OPENFABRICS, NULL);
        if (!o)
            o = os_device(f->device[i], HWLOC_OBJ_OSDEV_NETWORK, NULL);
        char *longer = ker_format("%s%s%.40s", names, i ? ", " : "", o && o->name ? o->name : "?");
        free(names);
        names = longer;
    }
    return names;
}

static char *devices_find(hwloc_topology_t t, const struct node_hwloc *h, struct found *f)
{
    for (uint32_t i = 0; h->devices && i < h->adapters; i++) {
        hwloc_obj_t pci = NULL;
        while ((pci = hwloc_get_next_pcidev(t, pci)) != NULL && !os_device(pci, 0, h->devices[i]))
            ;
        if (!pci)
            return ker_format("has no PCI device with the OS device \"%.40s\"", h->devices[i]);
        hwloc_obj_osdev_type_t type = os_device(pci, 0, h->devices[i])->attr->osdev.type;
        if (type != HWLOC_OBJ_OSDEV_OPENFABRICS && type != HWLOC_OBJ_OSDEV_NETWORK)
            return ker_format(
                "has \"%.40s\", which is no network adapter: give adapter_devices that are (GPUs and "
                "disks mean nothing)",
                h->devices[i]);
        *KER_APPEND(f->device, f->count) = pci;
    }
    if (h->devices)
        return NULL;
    find_all(t, f, HWLOC_OBJ_OSDEV_OPENFABRICS);
    if (f->count == 0)
        find_all(t, f, HWLOC_OBJ_OSDEV_NETWORK);
    if (f->count == 0 || f->count == h->adapters)
        return NULL;
    char *names = found_names(f), *why;
    why = ker_format(
        "has %u network adapters (%s), but node.adapters is %u: give node.adapters = %u, or name those that "
        "are used by adapter_devices",
        f->count, names, h->adapters, f->count);
    free(names);
    return why;
}

/* What a device shares with others on the path to its socket. */
static hwloc_obj_t bus_of(hwloc_obj_t device)
{
    hwloc_obj_t bus = device;
    while (bus->parent && bus->parent->type == HWLOC_OBJ_BRIDGE &&
           (bus == device || bus->parent->attr->bridge.upstream_type != HWLOC_OBJ_BRIDGE_HOST))
        bus = bus->parent;
    return bus;
}

static void adapters_place(hwloc_topology_t t, struct node_structure *s, const struct found *f)
{
    hwloc_obj_t *bus = ker_alloc(f->count * sizeof(hwloc_obj_t));
    s->adapter_bus = ker_alloc(f->count * sizeof *s->adapter_bus);
    s->bus_socket = ker_alloc(f->count * sizeof *s->bus_socket);
    for (uint32_t i = 0; i < f->count; i++) {
        hwloc_obj_t own = bus_of(f->device[i]), place = hwloc_get_non_io_ancestor_obj(t, own);
        uint32_t b = 0;
        while (b < s->buses && bus[b] != own)
            b++;
        if (b == s->buses) {
            bus[s->buses] = own;
            s->bus_socket[s->buses++] = place ? socket_of(t, place) : 0;
        }
        s->adapter_bus[i] = (uint16_t)b;
    }
    free(bus);
}

bool node_structure_hwloc_here(struct node_structure *s, struct node_hwloc *h, const char *text, size_t bytes,
                               char **why)
{
    struct found f = {0};
    *s = (struct node_structure){.adapters = h->adapters};
    h->located = false;
    h->core_kinds = 0;
    h->core_kind = NULL;
    *why = version_wrong(text);
    if (!*why)
        *why = sets_wrong(text);
    if (*why)
        return false;
    hwloc_topology_t t = topology_read(text, bytes);
    if (!t) {
        *why = ker_format("cannot be read by hwloc %s; " RIGHT, HWLOC_VERSION);
        return false;
    }
    *why = cores_read(t, s);
    if (!*why)
        *why = devices_find(t, h, &f);
    if (!*why)
        kinds_read(t, s, h);
    h->located = !*why && f.count > 0;
    if (h->located)
        adapters_place(t, s, &f);
    free(f.device);
    hwloc_topology_destroy(t);
    if (*why)
        node_structure_release(s);
    return !*why;
}
