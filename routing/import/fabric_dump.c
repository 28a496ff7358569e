/* fabric_dump.c - reads the lines of an ibnetdiscover dump: devices and ends of cables.
 *
 * A dump is a row of blocks, one for each switch (Switch), channel adapter (Ca) or router (Rt): some lines of
 * keys, a heading with the number of ports, then a line for each port with a cable:
 *
 *     switchguid=0x2c902004238a0(2c902004238a0)
 *     Switch  36 "S-0002c902004238a0"    # "leaf 1" enhanced port 0 lid 1 lmc 0
 *     [1]     "H-0002c903000e0b72"[1](2c903000e0b73)      # "node1 HCA-1" lid 4 4xQDR
 *
 *     caguid=0x2c903000e0b72
 *     Ca      2 "H-0002c903000e0b72"     # "node1 HCA-1"
 *     [1](2c903000e0b73)     "S-0002c902004238a0"[1]      # lid 4 lmc 0 "leaf 1" lid 1 4xQDR
 *
 * Names may hold anything, also quotes: they end at the last quote of their line. Grouped dumps (-g) have
 * lines of chassis between the blocks. What the tools print on standard error often is in the file as
 * well: such lines are passed over, and counted, before the first line of the dump; later only those that
 * begin as the tools' warnings do.
 */
#include "routing/import/fabric_dump.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PORTS 254 /* InfiniBand */
#define MAX_LMC 7
#define AGGREGATION_NODE                                                                                     \
    "Mellanox Technologies Aggregation Node" /* in the switch: computes, but no job runs there */

struct reader {
    struct ker_lines in;
    struct fabric_dump *dump;
    struct route_subnet *subnet;
    uint32_t devices_room, cables_room;
    size_t names, names_room;
    uint64_t announced; /* switchguid, caguid or rtguid whose heading has not come yet */
    uint32_t announced_line;
    uint32_t seen[MAX_PORTS + 1]; /* of the last device: the line of each port */
    bool begun;                   /* a line of a dump has been read */
};

static const struct speed {
    const char *name;
    uint64_t baud; /* of a lane; with the encoding's overhead taken off by num / den. HDR and on: net of error
                      correction */
    uint32_t num, den;
} speeds[] = {
    {"SDR", 2500000000, 8, 10},     {"DDR", 5000000000, 8, 10},   {"QDR", 10000000000, 8, 10},
    {"FDR10", 10312500000, 64, 66}, {"FDR", 14062500000, 64, 66}, {"EDR", 25781250000, 64, 66},
    {"HDR", 50000000000, 1, 1},     {"NDR", 100000000000, 1, 1},  {"XDR", 200000000000, 1, 1},
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

/* "S-0002c902004238a0" */
static bool take_id(struct reader *r, enum fabric_kind *kind, uint64_t *guid)
{
    if (!ker_take(&r->in, "\"") || r->in.p == r->in.stop ||
        (*r->in.p != FABRIC_SWITCH && *r->in.p != FABRIC_ADAPTER && *r->in.p != FABRIC_ROUTER))
        return false;
    *kind = (enum fabric_kind) * r->in.p++;
    return ker_take(&r->in, "-") && ker_take_digits(&r->in, 16, guid) && ker_take(&r->in, "\"");
}

/* [1], and in grouped dumps [1][ext 18] */
static bool take_port(struct reader *r, uint32_t *port)
{
    uint32_t outside;
    if (!ker_take(&r->in, "[") || !ker_take_number(&r->in, port) || !ker_take(&r->in, "]"))
        return false;
    return !ker_take(&r->in, "[ext ") || (ker_take_number(&r->in, &outside) && ker_take(&r->in, "]"));
}

/* (2c903000e0b73), which switches do not have. */
static bool take_port_guid(struct reader *r, uint64_t *guid)
{
    *guid = 0;
    ker_take_blanks(&r->in);
    return !ker_take(&r->in, "(") || (ker_take_digits(&r->in, 16, guid) && ker_take(&r->in, ")"));
}

/* "node1 HCA-1", up to the line's last quote; NULL: not there. */
static const char *take_name(struct reader *r, size_t *length)
{
    const char *last = r->in.stop;
    while (last > r->in.p && last[-1] != '"')
        last--;
    if (last - r->in.p < 2 || *r->in.p != '"')
        return NULL;
    const char *name = r->in.p + 1;
    *length = (size_t)(last - 1 - name);
    r->in.p = last;
    ker_take_blanks(&r->in);
    return name;
}

/* A keyword and its number: lid 4 */
static bool take_setting(struct reader *r, const char *word, uint32_t *number)
{
    bool found = ker_take_word(&r->in, word) && ker_take_number(&r->in, number);
    ker_take_blanks(&r->in);
    return found;
}

static enum ker_status fail_form(struct reader *r, const char *what, const char *form)
{
    if (r->in.p == r->in.stop)
        return ker_lines_fail(&r->in, "%s ends too early; it should read: %s", what, form);
    return ker_lines_fail(&r->in, "%s makes no sense from \"%.*s\" on; it should read: %s", what,
                          KER_LINE_REST(&r->in), form);
}

static uint32_t keep_name(struct reader *r, const char *name, size_t length)
{
    struct route_subnet *subnet = r->subnet;
    uint32_t at = (uint32_t)r->names;
    KER_RESERVE(subnet->names, r->names_room, r->names + length + 1);
    memcpy(subnet->names + at, name, length);
    subnet->names[at + length] = 0;
    r->names += length + 1;
    return at;
}

static const char *kind_name(enum fabric_kind kind)
{
    return kind == FABRIC_SWITCH ? "Switch" : kind == FABRIC_ADAPTER ? "Ca" : "Rt";
}

static enum ker_status check_heading(struct reader *r, const struct fabric_device *device)
{
    if (device->ports < 1 || device->ports > MAX_PORTS)
        return ker_lines_fail(&r->in, "a device has 1 to %d ports, not %u", MAX_PORTS, device->ports);
    if (device->lid > ROUTE_LID_MAX || device->lmc > MAX_LMC)
        return ker_lines_fail(&r->in, "lid %u lmc %u: LIDs end at %d, and lmc at %d", device->lid,
                              device->lmc, ROUTE_LID_MAX, MAX_LMC);
    if (r->announced && r->announced != device->guid)
        return ker_lines_fail(
            &r->in,
            "this heading is of 0x%llx, but line %u announces 0x%llx: something is missing between them",
            (unsigned long long)device->guid, r->announced_line, (unsigned long long)r->announced);
    return KER_OK;
}

/* The word Switch, Ca or Rt is taken already. */
static enum ker_status read_heading(struct reader *r, enum fabric_kind kind)
{
    struct fabric_device device = {.line = r->in.line, .first = r->dump->cables};
    const char *name = NULL;
    size_t length = 0;
    bool good = ker_take_number(&r->in, &device.ports);
    ker_take_blanks(&r->in);
    good = good && take_id(r, &device.kind, &device.guid) && device.kind == kind;
    ker_take_blanks(&r->in);
    good = good && ker_take_word(&r->in, "#") && (name = take_name(r, &length));
    if (good && kind == FABRIC_SWITCH)
        good = (ker_take_word(&r->in, "enhanced") || ker_take_word(&r->in, "base")) &&
               ker_take_word(&r->in, "port") && ker_take_word(&r->in, "0") &&
               take_setting(r, "lid", &device.lid) && take_setting(r, "lmc", &device.lmc) &&
               r->in.p == r->in.stop;
    if (!good)
        return fail_form(r, "the heading of a block",
                         kind == FABRIC_SWITCH
                             ? "Switch 36 \"S-0002c902004238a0\" # \"name\" enhanced port 0 lid 1 lmc 0"
                             : "Ca 2 \"H-0002c903000e0b72\" # \"name\"");
    enum ker_status status = check_heading(r, &device);
    if (status)
        return status;
    device.name = keep_name(r, name, length);
    device.left_out =
        kind == FABRIC_ROUTER ||
        (kind == FABRIC_ADAPTER && strcmp(r->subnet->names + device.name, AGGREGATION_NODE) == 0);
    *KER_PUSH(r->dump->device, r->dump->devices, r->devices_room) = device;
    r->announced = 0;
    memset(r->seen, 0, sizeof r->seen);
    return KER_OK;
}

/* Width and speed end a line, but for what -f and some gateways add. Older programs do not know the speeds of
 * newer links. */
static bool take_rate(struct reader *r, uint64_t *rate)
{
    const char *from = r->in.p;
    *rate = 0;
    while (r->in.p < r->in.stop && *r->in.p != ' ' && *r->in.p != '\t')
        r->in.p++;
    size_t length = (size_t)(r->in.p - from);
    if (length == 0)
        return true;
    *rate = route_fabric_rate(from, length);
    if (*rate == 0 && !memchr(from, '?', length)) {
        r->in.p = from;
        return false;
    }
    ker_take_blanks(&r->in);
    if (r->in.p == r->in.stop || *r->in.p == '(' || ker_take(&r->in, "slot ") || ker_take(&r->in, "s=")) {
        r->in.p = r->in.stop;
        return true;
    }
    return false;
}

/* "[1]" is seen, nothing is taken. */
static bool take_cable(struct reader *r, const struct fabric_device *device, struct fabric_end *end)
{
    size_t length;
    if (!take_port(r, &end->port) || !take_port_guid(r, &end->guid))
        return false;
    ker_take_blanks(&r->in);
    if (!take_id(r, &end->peer_kind, &end->peer_guid) || !take_port(r, &end->peer_port) ||
        !take_port_guid(r, &end->peer_port_guid))
        return false;
    ker_take_blanks(&r->in);
    if (!ker_take_word(&r->in, "#"))
        return false;
    if (device->kind != FABRIC_SWITCH &&
        (!take_setting(r, "lid", &end->lid) || !take_setting(r, "lmc", &end->lmc)))
        return false;
    return take_name(r, &length) && take_setting(r, "lid", &end->peer_lid) && take_rate(r, &end->rate);
}

static enum ker_status check_cable(struct reader *r, const struct fabric_device *device,
                                   const struct fabric_end *end)
{
    if (end->port < 1 || end->port > device->ports)
        return ker_lines_fail(&r->in, "there is no port %u: line %u says the ports are 1 to %u", end->port,
                              device->line, device->ports);
    if (r->seen[end->port])
        return ker_lines_fail(&r->in, "two cables in one port: line %u has port %u already",
                              r->seen[end->port], end->port);
    if (end->lid > ROUTE_LID_MAX || end->peer_lid > ROUTE_LID_MAX || end->lmc > MAX_LMC)
        return ker_lines_fail(&r->in, "a LID is too large (they end at %d), or lmc is (it ends at %d)",
                              ROUTE_LID_MAX, MAX_LMC);
    return KER_OK;
}

static enum ker_status read_cable(struct reader *r)
{
    if (r->dump->devices == 0 || r->announced)
        return ker_lines_fail(&r->in, "a port without a heading (Switch, Ca or Rt) above it");
    struct fabric_device *device = &r->dump->device[r->dump->devices - 1];
    struct fabric_end end = {.device = r->dump->devices - 1, .line = r->in.line};
    if (!take_cable(r, device, &end))
        return fail_form(
            r, "the line of a port",
            device->kind == FABRIC_SWITCH
                ? "[1] \"H-0002c903000e0b72\"[1](2c903000e0b73) # \"name\" lid 4 4xQDR"
                : "[1](2c903000e0b73) \"S-0002c902004238a0\"[1] # lid 4 lmc 0 \"name\" lid 1 4xQDR");
    enum ker_status status = check_cable(r, device, &end);
    if (status)
        return status;
    r->seen[end.port] = r->in.line;
    *KER_PUSH(r->dump->cable, r->dump->cables, r->cables_room) = end;
    device->cables++;
    return KER_OK;
}

static enum ker_status fail_announced(struct reader *r)
{
    return ker_lines_fail_at(&r->in, r->announced_line,
                             "after this line the heading (Switch, Ca or Rt) of 0x%llx is missing",
                             (unsigned long long)r->announced);
}

/* switchguid=0x2c902004238a0(2c902004238a0) */
static enum ker_status read_announcement(struct reader *r)
{
    uint64_t guid;
    if (r->announced)
        return fail_announced(r);
    if (!ker_take(&r->in, "0x") || !ker_take_digits(&r->in, 16, &guid) || guid == 0)
        return fail_form(r, "a GUID", "caguid=0x2c903000e0b72");
    r->announced = guid;
    r->announced_line = r->in.line;
    return KER_OK;
}

/* Lines that say nothing about the network, wherever they are. */
static bool is_ignored(struct reader *r)
{
    static const char *const ignored[] = {
        "#", "vendid=", "devid=", "sysimgguid=", "Chassis ", "Non-Chassis Nodes", "Hostname:"};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        if (ker_take(&r->in, ignored[i]))
            return true;
    return false;
}

static void pass_over(struct reader *r)
{
    if (r->dump->passed++ == 0)
        r->dump->passed_line = r->in.line;
}

static enum ker_status fail_line(struct reader *r)
{
    return ker_lines_fail(
        &r->in,
        "\"%.*s\" is no line of an ibnetdiscover dump; they begin with Switch, Ca, Rt, a port in "
        "brackets, vendid= and the like, or #",
        KER_LINE_REST(&r->in));
}

static enum ker_status read_line(struct reader *r)
{
    static const enum fabric_kind kinds[] = {FABRIC_SWITCH, FABRIC_ADAPTER, FABRIC_ROUTER};
    bool begun = r->begun;
    ker_take_blanks(&r->in);
    if (r->in.p == r->in.stop)
        return KER_OK;
    r->begun = true;
    if (is_ignored(r))
        return KER_OK;
    if (ker_take(&r->in, "switchguid=") || ker_take(&r->in, "caguid=") || ker_take(&r->in, "rtguid="))
        return read_announcement(r);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!ker_take_word(&r->in, kind_name(kinds[i])))
            continue;
        if (r->in.p < r->in.stop && *r->in.p == ':')
            return ker_lines_fail(&r->in, "this is a list, as ibnetdiscover -l and ibswitches make it; "
                                          "ibnetdiscover without options is needed");
        return read_heading(r, kinds[i]);
    }
    if (*r->in.p == '[')
        return read_cable(r);
    if (begun && !ker_take(&r->in, "ibwarn: ["))
        return fail_line(r);
    r->begun = begun;
    pass_over(r);
    return KER_OK;
}

enum ker_status fabric_dump_read(struct fabric_dump *dump, struct route_subnet *subnet, const char *file,
                                 const char *text, size_t length, struct ker_error *error)
{
    struct reader r = {.dump = dump, .subnet = subnet};
    enum ker_status status = KER_OK;
    *dump = (struct fabric_dump){0};
    ker_lines_init(&r.in, file, text, length, error);
    while (status == KER_OK && ker_lines_next(&r.in))
        status = read_line(&r);
    if (status == KER_OK && r.announced)
        status = fail_announced(&r);
    dump->lines = r.in.line;
    if (status || r.begun || dump->passed == 0)
        return status;
    ker_lines_init(&r.in, file, text, length, error); /* not one line of a dump */
    while (r.in.line < dump->passed_line)
        ker_lines_next(&r.in);
    return fail_line(&r);
}

void fabric_dump_release(struct fabric_dump *dump)
{
    free(dump->device);
    free(dump->cable);
    *dump = (struct fabric_dump){0};
}
