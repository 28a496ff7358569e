/* fabric.c - reads what ibnetdiscover prints of an InfiniBand subnet.
 *
 * A dump is a row of blocks, one for each switch (Switch), channel adapter (Ca) or router (Rt): some lines of keys, a
 * heading with the number of ports, then a line for each port with a cable:
 *
 *     switchguid=0x2c902004238a0(2c902004238a0)
 *     Switch  36 "S-0002c902004238a0"    # "leaf 1" enhanced port 0 lid 1 lmc 0
 *     [1]     "H-0002c903000e0b72"[1](2c903000e0b73)      # "node1 HCA-1" lid 4 4xQDR
 *
 *     caguid=0x2c903000e0b72
 *     Ca      2 "H-0002c903000e0b72"     # "node1 HCA-1"
 *     [1](2c903000e0b73)     "S-0002c902004238a0"[1]      # lid 4 lmc 0 "leaf 1" lid 1 4xQDR
 *
 * All lines are read first; then the devices are sorted by GUID, and each cable is looked up from its other end: both must
 * say the same, which is what finds dumps that were cut off or edited by half. Names may hold anything, also quotes: they end at
 * the last quote of their line.
 */
#include "routing/fabric.h"

#include "routing/shape.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PORTS 254 /* InfiniBand */
#define MAX_LMC 7
#define AGGREGATION_NODE "Mellanox Technologies Aggregation Node" /* in the switch: computes, but no job runs there */

enum kind { SWITCH = 'S', ADAPTER = 'H', ROUTER = 'R' };

struct device {
    uint64_t guid;
    uint32_t ports, line, lid, lmc, name;
    uint32_t first, cables; /* its ends of cables */
    uint32_t id;            /* of a switch */
    enum kind kind;
    bool left_out;
};

struct end { /* of a cable */
    uint64_t guid, peer_guid, peer_port_guid; /* guid: of this port, as peer_port_guid is of the other; 0 at switches */
    uint64_t rate;                            /* 0: unknown */
    uint32_t device, port, lid, lmc;          /* lid and lmc: only of adapters */
    uint32_t peer_port, peer_lid, line;
    enum kind peer_kind;
};

struct reader {
    struct route_graph *graph;
    struct route_subnet *subnet;
    struct ker_error *error;
    const char *file, *at, *end; /* what is still to be read */
    const char *p, *stop;        /* within a line */
    uint32_t line;
    struct device *device; /* in the order of the dump */
    uint32_t devices, devices_room;
    struct end *cable;
    uint32_t cables, cables_room;
    struct device **sorted; /* by kind and GUID */
    size_t names, names_room;
    uint64_t announced; /* switchguid, caguid or rtguid whose heading has not come yet */
    uint32_t announced_line;
    uint32_t seen[MAX_PORTS + 1]; /* of the last device: the line of each port */
};

#define LINE_FORMAT "%s:%u: "
#define LINE(r) (r)->file, (r)->line

static const struct speed {
    const char *name;
    uint64_t baud; /* of a lane; with the encoding's overhead taken off by num / den. HDR and on: net of error correction */
    uint32_t num, den;
} speeds[] = {
    {"SDR", 2500000000, 8, 10},     {"DDR", 5000000000, 8, 10},    {"QDR", 10000000000, 8, 10},
    {"FDR10", 10312500000, 64, 66}, {"FDR", 14062500000, 64, 66},  {"EDR", 25781250000, 64, 66},
    {"HDR", 50000000000, 1, 1},     {"NDR", 100000000000, 1, 1},   {"XDR", 200000000000, 1, 1},
};

uint64_t route_fabric_rate(const char *text, size_t length)
{
    static const uint32_t widths[] = {1, 2, 4, 8, 12};
    char wanted[16];
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t s = 0; s < sizeof speeds / sizeof *speeds; s++) {
            size_t made = (size_t)snprintf(wanted, sizeof wanted, "%ux%s", widths[w], speeds[s].name);
            if (made == length && memcmp(wanted, text, made) == 0)
                return widths[w] * (speeds[s].baud * speeds[s].num / 8) / speeds[s].den;
        }
    return 0;
}

/* The parts of a line: each takes what it stands for, or returns false and takes nothing that matters. */

static void take_blanks(struct reader *r)
{
    while (r->p < r->stop && (*r->p == ' ' || *r->p == '\t'))
        r->p++;
}

static bool take(struct reader *r, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(r->stop - r->p) < length || memcmp(r->p, text, length) != 0)
        return false;
    r->p += length;
    return true;
}

/* A word and the blanks after it. */
static bool take_word(struct reader *r, const char *text)
{
    const char *from = r->p;
    if (take(r, text) && (r->p == r->stop || *r->p == ' ' || *r->p == '\t')) {
        take_blanks(r);
        return true;
    }
    r->p = from;
    return false;
}

static bool take_number(struct reader *r, uint32_t *number)
{
    const char *from = r->p;
    *number = 0;
    for (; r->p < r->stop && *r->p >= '0' && *r->p <= '9'; r->p++)
        *number = *number > 99999999 ? 999999999 : *number * 10 + (uint32_t)(*r->p - '0');
    return r->p > from;
}

static bool take_hex(struct reader *r, uint64_t *number)
{
    const char *from = r->p;
    *number = 0;
    for (; r->p < r->stop && r->p - from < 17; r->p++) {
        char c = *r->p;
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0)
            break;
        *number = *number << 4 | (uint64_t)digit;
    }
    return r->p > from && r->p - from <= 16;
}

/* "S-0002c902004238a0" */
static bool take_id(struct reader *r, enum kind *kind, uint64_t *guid)
{
    if (!take(r, "\"") || r->p == r->stop || (*r->p != SWITCH && *r->p != ADAPTER && *r->p != ROUTER))
        return false;
    *kind = (enum kind)*r->p++;
    return take(r, "-") && take_hex(r, guid) && take(r, "\"");
}

/* [1], and in grouped dumps [1][ext 18] */
static bool take_port(struct reader *r, uint32_t *port)
{
    uint32_t outside;
    if (!take(r, "[") || !take_number(r, port) || !take(r, "]"))
        return false;
    return !take(r, "[ext ") || (take_number(r, &outside) && take(r, "]"));
}

/* (2c903000e0b73), which switches do not have. */
static bool take_port_guid(struct reader *r, uint64_t *guid)
{
    *guid = 0;
    take_blanks(r);
    return !take(r, "(") || (take_hex(r, guid) && take(r, ")"));
}

/* "node1 HCA-1", up to the line's last quote; NULL: not there. */
static const char *take_name(struct reader *r, size_t *length)
{
    const char *last = r->stop;
    while (last > r->p && last[-1] != '"')
        last--;
    if (last - r->p < 2 || *r->p != '"')
        return NULL;
    const char *name = r->p + 1;
    *length = (size_t)(last - 1 - name);
    r->p = last;
    take_blanks(r);
    return name;
}

/* A keyword and its number: lid 4 */
static bool take_setting(struct reader *r, const char *word, uint32_t *number)
{
    bool found = take_word(r, word) && take_number(r, number);
    take_blanks(r);
    return found;
}

static enum ker_status fail_form(struct reader *r, const char *what, const char *form)
{
    int shown = r->stop - r->p > 40 ? 40 : (int)(r->stop - r->p);
    if (shown == 0)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "%s ends too early; it should read: %s", LINE(r), what, form);
    return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "%s makes no sense from \"%.*s\" on; it should read: %s", LINE(r), what,
                    shown, r->p, form);
}

static uint32_t keep_name(struct reader *r, const char *name, size_t length)
{
    struct route_subnet *subnet = r->subnet;
    uint32_t at = (uint32_t)r->names;
    if (r->names + length + 1 > r->names_room) {
        r->names_room = 2 * r->names_room + length + 1024;
        subnet->names = ker_realloc(subnet->names, r->names_room);
    }
    memcpy(subnet->names + at, name, length);
    subnet->names[at + length] = 0;
    r->names += length + 1;
    return at;
}

static const char *kind_name(enum kind kind)
{
    return kind == SWITCH ? "Switch" : kind == ADAPTER ? "Ca" : "Rt";
}

static enum ker_status check_heading(struct reader *r, const struct device *device)
{
    if (device->ports < 1 || device->ports > MAX_PORTS)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "a device has 1 to %d ports, not %u", LINE(r), MAX_PORTS,
                        device->ports);
    if (device->lid > ROUTE_LID_MAX || device->lmc > MAX_LMC)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "lid %u lmc %u: LIDs end at %d, and lmc at %d", LINE(r), device->lid,
                        device->lmc, ROUTE_LID_MAX, MAX_LMC);
    if (r->announced && r->announced != device->guid)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "this heading is of 0x%llx, but line %u announces 0x%llx: something is missing between them",
                        LINE(r), (unsigned long long)device->guid, r->announced_line, (unsigned long long)r->announced);
    return KER_OK;
}

/* The word Switch, Ca or Rt is taken already. */
static enum ker_status read_heading(struct reader *r, enum kind kind)
{
    struct device device = {.line = r->line, .first = r->cables};
    const char *name = NULL;
    size_t length = 0;
    bool good = take_number(r, &device.ports);
    take_blanks(r);
    good = good && take_id(r, &device.kind, &device.guid) && device.kind == kind;
    take_blanks(r);
    good = good && take_word(r, "#") && (name = take_name(r, &length));
    if (good && kind == SWITCH)
        good = (take_word(r, "enhanced") || take_word(r, "base")) && take_word(r, "port") && take_word(r, "0") &&
               take_setting(r, "lid", &device.lid) && take_setting(r, "lmc", &device.lmc) && r->p == r->stop;
    if (!good)
        return fail_form(r, "the heading of a block",
                         kind == SWITCH ? "Switch 36 \"S-0002c902004238a0\" # \"name\" enhanced port 0 lid 1 lmc 0"
                                        : "Ca 2 \"H-0002c903000e0b72\" # \"name\"");
    enum ker_status status = check_heading(r, &device);
    if (status)
        return status;
    device.name = keep_name(r, name, length);
    device.left_out = kind == ROUTER || (kind == ADAPTER && strcmp(r->subnet->names + device.name, AGGREGATION_NODE) == 0);
    if (r->devices == r->devices_room) {
        r->devices_room = r->devices_room ? 2 * r->devices_room : 64;
        r->device = ker_realloc(r->device, r->devices_room * sizeof *r->device);
    }
    r->device[r->devices++] = device;
    r->announced = 0;
    memset(r->seen, 0, sizeof r->seen);
    return KER_OK;
}

/* Width and speed end a line, but for what -f and some gateways add. Older programs do not know the speeds of newer links. */
static bool take_rate(struct reader *r, uint64_t *rate)
{
    const char *from = r->p;
    *rate = 0;
    while (r->p < r->stop && *r->p != ' ' && *r->p != '\t')
        r->p++;
    size_t length = (size_t)(r->p - from);
    if (length == 0)
        return true;
    *rate = route_fabric_rate(from, length);
    if (*rate == 0 && !memchr(from, '?', length)) {
        r->p = from;
        return false;
    }
    take_blanks(r);
    if (r->p == r->stop || *r->p == '(' || take(r, "slot ") || take(r, "s=")) {
        r->p = r->stop;
        return true;
    }
    return false;
}

/* "[1]" is seen, nothing is taken. */
static bool take_cable(struct reader *r, const struct device *device, struct end *end)
{
    size_t length;
    if (!take_port(r, &end->port) || !take_port_guid(r, &end->guid))
        return false;
    take_blanks(r);
    if (!take_id(r, &end->peer_kind, &end->peer_guid) || !take_port(r, &end->peer_port) || !take_port_guid(r, &end->peer_port_guid))
        return false;
    take_blanks(r);
    if (!take_word(r, "#"))
        return false;
    if (device->kind != SWITCH && (!take_setting(r, "lid", &end->lid) || !take_setting(r, "lmc", &end->lmc)))
        return false;
    return take_name(r, &length) && take_setting(r, "lid", &end->peer_lid) && take_rate(r, &end->rate);
}

static enum ker_status check_cable(struct reader *r, const struct device *device, const struct end *end)
{
    if (end->port < 1 || end->port > device->ports)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "there is no port %u: line %u says the ports are 1 to %u", LINE(r),
                        end->port, device->line, device->ports);
    if (r->seen[end->port])
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "two cables in one port: line %u has port %u already", LINE(r),
                        r->seen[end->port], end->port);
    if (end->lid > ROUTE_LID_MAX || end->peer_lid > ROUTE_LID_MAX || end->lmc > MAX_LMC)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "a LID is too large (they end at %d), or lmc is (it ends at %d)", LINE(r),
                        ROUTE_LID_MAX, MAX_LMC);
    return KER_OK;
}

static enum ker_status read_cable(struct reader *r)
{
    if (r->devices == 0 || r->announced)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "a port without a heading (Switch, Ca or Rt) above it", LINE(r));
    struct device *device = &r->device[r->devices - 1];
    struct end end = {.device = r->devices - 1, .line = r->line};
    if (!take_cable(r, device, &end))
        return fail_form(r, "the line of a port",
                         device->kind == SWITCH ? "[1] \"H-0002c903000e0b72\"[1](2c903000e0b73) # \"name\" lid 4 4xQDR"
                                                : "[1](2c903000e0b73) \"S-0002c902004238a0\"[1] # lid 4 lmc 0 \"name\" lid 1 4xQDR");
    enum ker_status status = check_cable(r, device, &end);
    if (status)
        return status;
    r->seen[end.port] = r->line;
    if (r->cables == r->cables_room) {
        r->cables_room = r->cables_room ? 2 * r->cables_room : 256;
        r->cable = ker_realloc(r->cable, r->cables_room * sizeof *r->cable);
    }
    r->cable[r->cables++] = end;
    device->cables++;
    return KER_OK;
}

static enum ker_status fail_announced(struct reader *r)
{
    return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "after this line the heading (Switch, Ca or Rt) of 0x%llx is missing", r->file,
                    r->announced_line, (unsigned long long)r->announced);
}

/* switchguid=0x2c902004238a0(2c902004238a0) */
static enum ker_status read_announcement(struct reader *r)
{
    uint64_t guid;
    if (r->announced)
        return fail_announced(r);
    if (!take(r, "0x") || !take_hex(r, &guid) || guid == 0)
        return fail_form(r, "a GUID", "caguid=0x2c903000e0b72");
    r->announced = guid;
    r->announced_line = r->line;
    return KER_OK;
}

static enum ker_status read_line(struct reader *r)
{
    static const char *const ignored[] = {"#", "vendid=", "devid=", "sysimgguid=", "Chassis ", "Hostname:"};
    static const enum kind kinds[] = {SWITCH, ADAPTER, ROUTER};
    take_blanks(r);
    if (r->p == r->stop)
        return KER_OK;
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        if (take(r, ignored[i]))
            return KER_OK;
    if (take(r, "switchguid=") || take(r, "caguid=") || take(r, "rtguid="))
        return read_announcement(r);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (take_word(r, kind_name(kinds[i])))
            return r->p < r->stop && *r->p == ':' ? ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "this is a list, as ibnetdiscover -l and ibswitches "
                                                                                "make it; ibnetdiscover without options is needed",
                                           LINE(r))
                                : read_heading(r, kinds[i]);
    if (*r->p == '[')
        return read_cable(r);
    int shown = r->stop - r->p > 40 ? 40 : (int)(r->stop - r->p);
    return ker_fail(r->error, KER_BAD_INPUT,
                    LINE_FORMAT "\"%.*s\" is no line of an ibnetdiscover dump; they begin with Switch, Ca, Rt, a port in "
                                "brackets, vendid= and the like, or #",
                    LINE(r), shown, r->p);
}

static enum ker_status read_lines(struct reader *r)
{
    enum ker_status status = KER_OK;
    while (status == KER_OK && r->at < r->end) {
        const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
        r->p = r->at;
        r->stop = newline ? newline : r->end;
        r->at = newline ? newline + 1 : r->end;
        r->line++;
        while (r->stop > r->p && (r->stop[-1] == ' ' || r->stop[-1] == '\t' || r->stop[-1] == '\r'))
            r->stop--;
        status = read_line(r);
    }
    if (status == KER_OK && r->announced)
        status = fail_announced(r);
    return status;
}

static int compare_devices(const void *left, const void *right)
{
    const struct device *a = *(struct device *const *)left, *b = *(struct device *const *)right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->guid != b->guid)
        return a->guid < b->guid ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static enum ker_status sort_devices(struct reader *r)
{
    r->sorted = ker_alloc((r->devices + 1) * sizeof *r->sorted);
    for (uint32_t i = 0; i < r->devices; i++)
        r->sorted[i] = &r->device[i];
    qsort(r->sorted, r->devices, sizeof *r->sorted, compare_devices);
    for (uint32_t i = 1; i < r->devices; i++)
        if (r->sorted[i]->kind == r->sorted[i - 1]->kind && r->sorted[i]->guid == r->sorted[i - 1]->guid)
            return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "0x%llx has a block in line %u already", r->file, r->sorted[i]->line,
                            (unsigned long long)r->sorted[i]->guid, r->sorted[i - 1]->line);
    return KER_OK;
}

static struct device *find_device(const struct reader *r, enum kind kind, uint64_t guid)
{
    struct device wanted = {.kind = kind, .guid = guid};
    uint32_t low = 0, high = r->devices;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_devices(&r->sorted[middle], &(struct device *){&wanted}) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    struct device *found = low < r->devices ? r->sorted[low] : NULL;
    return found && found->kind == kind && found->guid == guid ? found : NULL;
}

static struct end *find_end(const struct reader *r, const struct device *device, uint32_t port)
{
    for (uint32_t i = 0; i < device->cables; i++)
        if (r->cable[device->first + i].port == port)
            return &r->cable[device->first + i];
    return NULL;
}

static const char *name_of(const struct reader *r, const struct device *device)
{
    return r->subnet->names + device->name;
}

/* What both ends say of the cable and of each other. */
static enum ker_status check_ends(struct reader *r, const struct end *end, const struct end *other)
{
    const struct device *device = &r->device[end->device];
    uint32_t lid = device->kind == SWITCH ? device->lid : end->lid;
    if (other->peer_kind != device->kind || other->peer_guid != device->guid || other->peer_port != end->port)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "this cable leads to port %u of \"%s\", but line %u says that another one is in that port", r->file,
                        end->line, end->peer_port, name_of(r, &r->device[other->device]), other->line);
    if (other->peer_lid != lid)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "the LID of \"%s\" is %u here, but %u in line %u", r->file, other->line,
                        name_of(r, device), other->peer_lid, lid, device->kind == SWITCH ? device->line : end->line);
    if (end->guid && other->peer_port_guid && end->guid != other->peer_port_guid)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "the GUID of port %u is 0x%llx here, but 0x%llx in line %u", r->file,
                        end->line, end->port, (unsigned long long)end->guid, (unsigned long long)other->peer_port_guid, other->line);
    if (end->rate && other->rate && end->rate != other->rate)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "width and speed differ from those at the cable's other end, line %u",
                        r->file, end->line, other->line);
    return KER_OK;
}

/* *other: the cable's other end. */
static enum ker_status check_end(struct reader *r, const struct end *end, struct end **other)
{
    const struct device *device = &r->device[end->device], *peer = find_device(r, end->peer_kind, end->peer_guid);
    if (!peer)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "the dump has no block of \"%c-%016llx\", to which this cable leads: was it "
                                                             "cut off?",
                        r->file, end->line, end->peer_kind, (unsigned long long)end->peer_guid);
    if (peer == device)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "a cable from \"%s\" to itself; remove the lines of both ends", r->file,
                        end->line, name_of(r, device));
    if (peer->kind != SWITCH && device->kind != SWITCH)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "a cable between two adapters, \"%s\" and \"%s\"; there must be a switch",
                        r->file, end->line, name_of(r, device), name_of(r, peer));
    *other = find_end(r, peer, end->peer_port);
    if (!*other)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "this cable's other end is missing: the block of \"%s\" (line %u) has no port %u; was the dump cut off?",
                        r->file, end->line, name_of(r, peer), peer->line, end->peer_port);
    return check_ends(r, end, *other);
}

struct lids {
    uint32_t first, last, line;
};

static int compare_lids(const void *left, const void *right)
{
    const struct lids *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* A LID belongs to one port. LID 0 is none: a port whose subnet manager does not know it. */
static enum ker_status check_lids(struct reader *r)
{
    struct lids *lids = ker_alloc((r->devices + r->cables + 1ull) * sizeof *lids);
    uint32_t count = 0;
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < r->devices; i++)
        if (r->device[i].lid)
            lids[count++] = (struct lids){r->device[i].lid, r->device[i].lid + (1u << r->device[i].lmc) - 1, r->device[i].line};
    for (uint32_t i = 0; i < r->cables; i++)
        if (r->cable[i].lid)
            lids[count++] = (struct lids){r->cable[i].lid, r->cable[i].lid + (1u << r->cable[i].lmc) - 1, r->cable[i].line};
    qsort(lids, count, sizeof *lids, compare_lids);
    for (uint32_t i = 1; i < count && status == KER_OK; i++)
        if (lids[i].first <= lids[i - 1].last)
            status = ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "LID %u is used twice: line %u has it, too", r->file, lids[i].line,
                              lids[i].first, lids[i - 1].line);
    free(lids);
    return status;
}

static void count_devices(struct reader *r)
{
    struct route_subnet *subnet = r->subnet;
    for (uint32_t i = 0; i < r->devices; i++) {
        struct device *device = &r->device[i];
        if (device->left_out)
            subnet->left_out++;
        else if (device->kind == SWITCH)
            device->id = subnet->switches++;
        else
            subnet->nodes += device->cables;
    }
    r->graph->switches = subnet->switches;
    r->graph->nodes = subnet->nodes;
    subnet->at_switch = ker_alloc((subnet->switches + 1) * sizeof *subnet->at_switch);
    subnet->node = ker_alloc((subnet->nodes + 1) * sizeof *subnet->node);
    r->graph->ports = ker_alloc((subnet->switches + 1) * sizeof *r->graph->ports);
    r->graph->node = ker_alloc((subnet->nodes + 1) * sizeof *r->graph->node);
    r->graph->edge = ker_alloc((r->cables / 2 + 1) * sizeof *r->graph->edge);
    for (uint32_t i = 0; i < r->devices; i++) {
        const struct device *device = &r->device[i];
        if (device->kind != SWITCH)
            continue;
        r->graph->ports[device->id] = device->ports;
        subnet->at_switch[device->id] = (struct route_subnet_switch){device->guid, device->lid, device->ports, device->line, device->name};
    }
}

static enum ker_status class_of(struct reader *r, const struct end *end, const struct end *other, ker_time latency, uint64_t rate,
                                const char *key, uint32_t *class)
{
    if (end->rate || other->rate)
        rate = end->rate ? end->rate : other->rate;
    if (rate == 0)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "width and speed of this link are not known to the dump; give them by %s",
                        r->file, end->line, key);
    *class = route_graph_class(r->graph, latency, rate);
    if (*class >= ROUTE_MAX_LINKS)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "more than %d different pairs of latency and bandwidth", r->file, end->line,
                        ROUTE_MAX_LINKS);
    return KER_OK;
}

static void add_edge(struct reader *r, const struct end *end, const struct end *other, uint32_t class)
{
    struct route_graph_edge edge = {.from = r->device[end->device].id, .to = r->device[other->device].id, .class = class, .count = 1,
                                    .line = end->line, .from_port = (uint16_t)end->port, .to_port = (uint16_t)other->port};
    if (edge.from > edge.to) {
        edge.from = r->device[other->device].id;
        edge.to = r->device[end->device].id;
        edge.from_port = (uint16_t)other->port;
        edge.to_port = (uint16_t)end->port;
    }
    r->graph->edge[r->graph->edges++] = edge;
}

/* Every cable once: between switches at the end that comes first in the dump, to an adapter at the adapter's. */
static enum ker_status join(struct reader *r, const struct route_fabric_defaults *defaults)
{
    uint32_t nodes = 0, class = 0;
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < r->cables && status == KER_OK; i++) {
        const struct end *end = &r->cable[i];
        const struct device *device = &r->device[end->device];
        struct end *other = NULL;
        status = check_end(r, end, &other);
        if (status || !other || device->left_out || r->device[other->device].left_out)
            continue;
        if (device->kind != SWITCH) {
            status = class_of(r, end, other, defaults->node_latency, defaults->node_rate, "topology.node_bandwidth", &class);
            if (status)
                break;
            r->graph->node[nodes] = (struct route_graph_node){r->device[other->device].id, class, (uint16_t)other->port};
            r->subnet->node[nodes++] = (struct route_subnet_node){end->guid ? end->guid : other->peer_port_guid, end->lid, end->line,
                                                                   device->name, (uint8_t)end->lmc, (uint8_t)end->port};
        } else if (other->line > end->line && r->device[other->device].kind == SWITCH) {
            status = class_of(r, end, other, defaults->latency, defaults->rate, "topology.bandwidth", &class);
            if (status == KER_OK)
                add_edge(r, end, other, class);
        }
    }
    return status;
}

static enum ker_status check_whole(struct reader *r)
{
    uint32_t first = 0;
    if (r->subnet->switches == 0 || r->subnet->nodes == 0)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "there are %u switches and %u nodes (cabled ports of adapters); at least one "
                                                             "of each is needed",
                        r->file, r->line ? r->line : 1, r->subnet->switches, r->subnet->nodes);
    if (route_graph_apart(r->graph, &first) == 0)
        return KER_OK;
    const struct route_subnet_switch *apart = &r->subnet->at_switch[first], *from = &r->subnet->at_switch[0];
    return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "no cables lead from the first switch \"%s\" (line %u) to this one, \"%s\"; all "
                                                         "switches must be connected",
                    r->file, apart->line, r->subnet->names + from->name, from->line, r->subnet->names + apart->name);
}

enum ker_status route_fabric_parse(struct route_graph *graph, struct route_subnet *subnet, const struct route_fabric_defaults *defaults,
                                   const char *name, const char *text, size_t length, struct ker_error *error)
{
    struct reader r = {.graph = graph, .subnet = subnet, .error = error, .file = name, .at = text, .end = text + length};
    *graph = (struct route_graph){0};
    *subnet = (struct route_subnet){0};
    if (length > INT32_MAX || (length && memchr(text, 0, length)))
        return ker_fail(error, KER_BAD_INPUT, "%s:1: this is no text file", name);
    enum ker_status status = read_lines(&r);
    if (status == KER_OK)
        status = sort_devices(&r);
    if (status == KER_OK) {
        count_devices(&r);
        status = join(&r, defaults);
    }
    if (status == KER_OK)
        status = check_lids(&r);
    if (status == KER_OK)
        status = check_whole(&r);
    if (status == KER_OK)
        route_graph_sort(graph);
    free(r.device);
    free(r.cable);
    free(r.sorted);
    return status;
}

/* A field of a table: quoted, as names have blanks and semicolons and may have commas and quotes. */
static void write_name(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name; name++) {
        if (*name == '"')
            fputc('"', out);
        fputc(*name, out);
    }
    fputc('"', out);
}

bool route_names_write(const struct route_shape *shape, FILE *out)
{
    const struct route_subnet *subnet = shape->subnet;
    if (!subnet)
        return false;
    fprintf(out, "kind,number,name,port,lid,guid\n");
    for (uint32_t i = 0; i < subnet->switches; i++) {
        const struct route_subnet_switch *s = &subnet->at_switch[i];
        fprintf(out, "switch,%u,", i);
        write_name(out, subnet->names + s->name);
        fprintf(out, ",0,%u,0x%016llx\n", s->lid, (unsigned long long)s->guid);
    }
    for (uint32_t i = 0; i < subnet->nodes; i++) {
        const struct route_subnet_node *node = &subnet->node[i];
        fprintf(out, "node,%u,", i);
        write_name(out, subnet->names + node->name);
        fprintf(out, ",%u,%u,0x%016llx\n", node->port, node->lid, (unsigned long long)node->guid);
    }
    return true;
}

void route_subnet_release(struct route_subnet *subnet)
{
    free(subnet->at_switch);
    free(subnet->node);
    free(subnet->names);
    *subnet = (struct route_subnet){0};
}
