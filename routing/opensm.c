/* opensm.c - reads the linear forwarding tables of an InfiniBand subnet's switches.
 *
 * One section for each switch, as OpenSM (opensm-lfts.dump), dump_lfts.sh, dump_fts and ibroute print them; they differ in small things:
 *
 *     Unicast lids [0x0-0x9] of switch Lid 2 guid 0x0002c902004238a0 (leaf 1):
 *       Lid  Out   Destination
 *            Port     Info
 *     0x0004 001 : (Channel Adapter portguid 0x0002c903000e0b73: 'node1 HCA-1')
 *     0x0005 013 : (path #2 out of 2: portguid 0x0002c903000e0b73)
 *     2 valid lids dumped
 *
 * A switch is known by its GUID and a destination by its LID, both from the fabric dump; LIDs of switches and of what the dump
 * does not have are passed over. What is read is checked against the cables while its line is at hand; loops, which only all rows
 * together can have, at the end.
 *
 * A node with 2^lmc LIDs has as many columns in the table, side by side, when packets are to spread over its paths.
 */
#include "routing/opensm.h"

#include "routing/shape.h"
#include "routing/table.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_PORT 255 /* in a switch's table: discard */

struct guid {
    uint64_t guid;
    uint32_t id;
};

struct reader {
    const struct route_shape *shape;
    const struct route_subnet *subnet;
    struct ker_error *error;
    const char *file, *at, *end;
    const char *p, *stop; /* within a line */
    uint32_t line;
    uint32_t paths, path;
    uint32_t *node_of; /* per LID: 1 + node, 0: no node's */
    struct guid *by_guid; /* switches, sorted */
    uint32_t *section; /* per switch: line of its section, 0: none so far */
    uint16_t *port;    /* the row */
    uint32_t *line_of; /* per LID, of the line that gave it in section `current_line` */
    uint32_t current, current_line, entries; /* the open section: switch, line (0: none), lines of LIDs */
    bool multicast;                          /* an open section of multicast tables, which are passed over */
    route_opensm_take *take_row;
    void *context;
};

#define LINE_FORMAT "%s:%u: "
#define LINE(r) (r)->file, (r)->line
#define SHOWN(r) ((r)->stop - (r)->p > 40 ? 40 : (int)((r)->stop - (r)->p)), (r)->p

static const char *name_at(const struct reader *r, uint32_t name)
{
    return r->subnet->names + name;
}

static const char *switch_name(const struct reader *r)
{
    return name_at(r, r->subnet->at_switch[r->current].name);
}

static bool take(struct reader *r, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(r->stop - r->p) < length || memcmp(r->p, text, length) != 0)
        return false;
    r->p += length;
    return true;
}

/* Where `word` begins in the text, or NULL. */
static const char *find(const char *text, size_t length, const char *word)
{
    size_t wanted = strlen(word);
    for (const char *end = text + length, *p = text; (p = memchr(p, *word, (size_t)(end - p))); p++)
        if ((size_t)(end - p) < wanted)
            return NULL;
        else if (memcmp(p, word, wanted) == 0)
            return p;
    return NULL;
}

/* Goes behind the next `word` of the line. */
static bool seek(struct reader *r, const char *word)
{
    const char *found = find(r->p, (size_t)(r->stop - r->p), word);
    if (found)
        r->p = found + strlen(word);
    return found != NULL;
}

static void take_blanks(struct reader *r)
{
    while (r->p < r->stop && (*r->p == ' ' || *r->p == '\t'))
        r->p++;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* Up to 16 digits. */
static bool take_digits(struct reader *r, int base, uint64_t *number)
{
    const char *from = r->p;
    *number = 0;
    for (; r->p < r->stop && r->p - from < 17 && digit_of(*r->p) < base; r->p++)
        *number = *number * (uint64_t)base + (uint64_t)digit_of(*r->p);
    return r->p > from && r->p - from <= 16;
}

static bool take_lid(struct reader *r, uint64_t *lid)
{
    return take(r, "0x") ? take_digits(r, 16, lid) : take_digits(r, 10, lid);
}

bool route_opensm_recognise(const char *text, size_t length)
{
    return length && find(text, length < 4096 ? length : 4096, "Unicast lids [") != NULL;
}

uint32_t route_opensm_paths(const struct route_subnet *subnet)
{
    uint32_t lmc = 0;
    for (uint32_t i = 0; i < subnet->nodes; i++)
        if (subnet->node[i].lmc > lmc)
            lmc = subnet->node[i].lmc;
    return 1u << lmc;
}

static bool find_switch(const struct reader *r, uint64_t guid, uint32_t *id)
{
    uint32_t low = 0, high = r->subnet->switches;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->by_guid[middle].guid < guid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == r->subnet->switches || r->by_guid[low].guid != guid)
        return false;
    *id = r->by_guid[low].id;
    return true;
}

static enum ker_status check_row(struct reader *r)
{
    const struct route_subnet *subnet = r->subnet;
    uint32_t missing = 0, first = 0, lid = 0;
    for (uint32_t i = subnet->nodes * r->paths; i-- > 0;)
        if (r->port[i] == 0) {
            const struct route_subnet_node *node = &subnet->node[i / r->paths];
            missing++;
            first = i / r->paths;
            lid = node->lid + ((r->paths == 1 ? r->path : i % r->paths) & ((1u << node->lmc) - 1));
        }
    if (missing)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "the table of switch \"%s\" has no port for %u of %u LIDs of nodes; the first is 0x%04x, of \"%s\"",
                        LINE(r), switch_name(r), missing, subnet->nodes * r->paths, lid, name_at(r, subnet->node[first].name));
    r->take_row(r->context, &(struct route_opensm_row){r->current, r->current_line, r->port, r->at});
    return KER_OK;
}

static enum ker_status fail_open(struct reader *r)
{
    return ker_fail(r->error, KER_BAD_INPUT,
                    LINE_FORMAT "the table of switch \"%s\", begun in line %u, ends without \"... lids dumped\"; was the dump cut off?",
                    LINE(r), switch_name(r), r->current_line);
}

/* "Unicast lids [" is taken. */
static enum ker_status open_section(struct reader *r)
{
    uint64_t guid;
    if (r->current_line)
        return fail_open(r);
    if (!seek(r, "] of switch ") || !seek(r, "guid 0x") || !take_digits(r, 16, &guid) || r->p == r->stop)
        return ker_fail(r->error, KER_BAD_INPUT,
                        LINE_FORMAT "a table begins like this: Unicast lids [0x0-0x9] of switch Lid 2 guid 0x0002c902004238a0 (name):",
                        LINE(r));
    if (!find_switch(r, guid, &r->current))
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "the fabric has no switch of GUID 0x%016llx", LINE(r),
                        (unsigned long long)guid);
    if (r->section[r->current])
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "switch \"%s\" has a table in line %u already", LINE(r), switch_name(r),
                        r->section[r->current]);
    r->section[r->current] = r->current_line = r->line;
    r->entries = 0;
    memset(r->port, 0, (size_t)r->subnet->nodes * r->paths * sizeof *r->port);
    return KER_OK;
}

static enum ker_status check_port(struct reader *r, uint32_t lid, uint32_t node, uint32_t port)
{
    const char *name = name_at(r, r->subnet->node[node].name);
    uint32_t ports = r->subnet->at_switch[r->current].ports;
    struct route_peer peer;
    if (port == 0)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "LID 0x%04x, of \"%s\", leads to port 0, the switch's own management", LINE(r),
                        lid, name);
    if (port > ports)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "port %u of switch \"%s\", which has %u", LINE(r), port, switch_name(r), ports);
    route_port(r->shape, r->current, port, &peer);
    if (peer.kind == ROUTE_NOTHING)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "port %u of switch \"%s\" leads nowhere: the fabric has no cable there", LINE(r),
                        port, switch_name(r));
    if (peer.kind == ROUTE_NODE && peer.id != node)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "LID 0x%04x is of \"%s\", but port %u of switch \"%s\" leads to \"%s\"", LINE(r),
                        lid, name, port, switch_name(r), name_at(r, r->subnet->node[peer.id].name));
    return KER_OK;
}

/* Some forms say whose LID it is: then the fabric must agree. */
static enum ker_status check_owner(struct reader *r, uint32_t lid, uint32_t node)
{
    const struct route_subnet_node *n = &r->subnet->node[node];
    uint64_t guid;
    if (!seek(r, "portguid 0x") || !take_digits(r, 16, &guid) || guid == 0 || n->guid == 0 || guid == n->guid)
        return KER_OK;
    return ker_fail(r->error, KER_BAD_INPUT,
                    LINE_FORMAT "LID 0x%04x is of port GUID 0x%llx here, but of 0x%llx (\"%s\") in the fabric: dumps of different times?",
                    LINE(r), lid, (unsigned long long)guid, (unsigned long long)n->guid, name_at(r, n->name));
}

static void note(struct reader *r, uint32_t lid, uint32_t node, uint16_t port)
{
    const struct route_subnet_node *n = &r->subnet->node[node];
    uint32_t own = 1u << n->lmc, path = lid - n->lid;
    if (r->paths == 1 && path == (r->path & (own - 1)))
        r->port[node] = port;
    for (uint32_t i = path; r->paths > 1 && i < r->paths; i += own)
        r->port[(size_t)node * r->paths + i] = port;
}

/* 0x0004 001 : (Channel Adapter portguid 0x0002c903000e0b73: 'node1 HCA-1') */
static enum ker_status read_entry(struct reader *r)
{
    uint64_t lid, port;
    const char *from = r->p;
    bool good = take_lid(r, &lid);
    const char *gap = r->p;
    take_blanks(r);
    if (!good || r->p == gap || !take_digits(r, 10, &port) || (r->p < r->stop && *r->p != ' ' && *r->p != '\t')) {
        r->p = from;
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "\"%.*s\" makes no sense; a line reads: 0x0004 001 : (...)", LINE(r), SHOWN(r));
    }
    r->entries++;
    if (lid < 1 || lid > ROUTE_LID_MAX)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "LID 0x%llx: LIDs are 0x1 to 0x%x", LINE(r), (unsigned long long)lid, ROUTE_LID_MAX);
    if (port > NO_PORT)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "port %llu: ports end at 254, and 255 means none", LINE(r),
                        (unsigned long long)port);
    if (r->line_of[lid] > r->current_line)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "LID 0x%04x has a port in line %u already", LINE(r), (unsigned)lid,
                        r->line_of[lid]);
    r->line_of[lid] = r->line;
    if (r->node_of[lid] == 0 || port == NO_PORT)
        return KER_OK;
    uint32_t node = r->node_of[lid] - 1;
    enum ker_status status = check_port(r, (uint32_t)lid, node, (uint32_t)port);
    if (status == KER_OK)
        status = check_owner(r, (uint32_t)lid, node);
    if (status == KER_OK)
        note(r, (uint32_t)lid, node, (uint16_t)port);
    return status;
}

/* "12 valid lids dumped" counts the lines; "12 lids dumped" of OpenSM is the highest LID. */
static enum ker_status close_section(struct reader *r, bool *closed)
{
    uint64_t count;
    const char *from = r->p;
    bool counted = false;
    *closed = take_digits(r, 10, &count) && ((counted = take(r, " valid lids dumped")) || take(r, " lids dumped"));
    if (!*closed) {
        r->p = from;
        return KER_OK;
    }
    if (counted && count != r->entries)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "%llu LIDs are announced, but the table (line %u) has %u", LINE(r),
                        (unsigned long long)count, r->current_line, r->entries);
    enum ker_status status = check_row(r);
    r->current_line = 0;
    return status;
}

static enum ker_status read_line(struct reader *r)
{
    bool closed = false;
    take_blanks(r);
    if (r->p == r->stop || *r->p == '#')
        return KER_OK;
    if (take(r, "Unicast lids [")) {
        r->multicast = false;
        return open_section(r);
    }
    if (take(r, "Multicast mlids ")) {
        r->multicast = true;
        return r->current_line ? fail_open(r) : KER_OK;
    }
    if (r->multicast || take(r, "Lid  Out") || take(r, "Port     Info"))
        return KER_OK;
    if (!r->current_line)
        return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "\"%.*s\" outside a table; tables begin with: Unicast lids [...] of switch ...",
                        LINE(r), SHOWN(r));
    enum ker_status status = close_section(r, &closed);
    return closed || status ? status : read_entry(r);
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
    return status == KER_OK && r->current_line ? fail_open(r) : status;
}

static enum ker_status check_all_there(struct reader *r)
{
    uint32_t missing = 0, first = 0;
    for (uint32_t i = r->subnet->switches; i-- > 0;)
        if (r->section[i] == 0) {
            missing++;
            first = i;
        }
    if (missing == 0)
        return KER_OK;
    const struct route_subnet_switch *s = &r->subnet->at_switch[first];
    return ker_fail(r->error, KER_BAD_INPUT, LINE_FORMAT "%u of %u switches of the fabric have no table here; the first is \"%s\", GUID "
                                                         "0x%016llx; was the dump cut off?",
                    r->file, r->line ? r->line : 1, missing, r->subnet->switches, name_at(r, s->name), (unsigned long long)s->guid);
}

static int compare_guids(const void *left, const void *right)
{
    const struct guid *a = left, *b = right;
    return a->guid < b->guid ? -1 : a->guid > b->guid;
}

static enum ker_status index_subnet(struct reader *r)
{
    const struct route_subnet *subnet = r->subnet;
    for (uint32_t i = 0; i < subnet->switches; i++)
        r->by_guid[i] = (struct guid){subnet->at_switch[i].guid, i};
    qsort(r->by_guid, subnet->switches, sizeof *r->by_guid, compare_guids);
    for (uint32_t i = 0; i < subnet->nodes; i++) {
        const struct route_subnet_node *node = &subnet->node[i];
        if (node->lid == 0)
            return ker_fail(r->error, KER_BAD_INPUT, "%s:1: \"%s\" has no LID (line %u of the fabric): no table can lead to it", r->file,
                            name_at(r, node->name), node->line);
        for (uint32_t k = 0; k < 1u << node->lmc && node->lid + k <= ROUTE_LID_MAX; k++)
            r->node_of[node->lid + k] = i + 1;
    }
    return KER_OK;
}

enum ker_status route_opensm_parse(const struct route_shape *shape, const struct route_subnet *subnet, uint32_t paths, uint32_t path,
                                   const char *name, const char *text, size_t length, route_opensm_take *take_row, void *context,
                                   struct ker_error *error)
{
    struct reader r = {.shape = shape, .subnet = subnet, .error = error, .file = name, .at = text, .end = text + length,
                       .paths = paths, .path = path, .take_row = take_row, .context = context};
    if (length && memchr(text, 0, length < 4096 ? length : 4096))
        return ker_fail(error, KER_BAD_INPUT, "%s:1: this is no text file", name);
    r.node_of = ker_alloc((ROUTE_LID_MAX + 1) * sizeof *r.node_of);
    r.line_of = ker_alloc((ROUTE_LID_MAX + 1) * sizeof *r.line_of);
    r.by_guid = ker_alloc(subnet->switches * sizeof *r.by_guid);
    r.section = ker_alloc(subnet->switches * sizeof *r.section);
    r.port = ker_alloc((size_t)subnet->nodes * paths * sizeof *r.port);
    enum ker_status status = index_subnet(&r);
    if (status == KER_OK)
        status = read_lines(&r);
    if (status == KER_OK)
        status = check_all_there(&r);
    free(r.node_of);
    free(r.line_of);
    free(r.by_guid);
    free(r.section);
    free(r.port);
    return status;
}

/* From rows of ports to a table. */

/* Tables of large clusters are gigabytes of text: mapped, ranks share them, and what is read leaves memory. */
struct text {
    char *at;
    size_t length, released; /* released: so much of the beginning */
    bool mapped;
};

#define RELEASE_BYTES (1u << 24)

struct filling {
    const struct route_shape *shape;
    const char *file;
    struct text text;
    struct route_table *table;
    uint32_t paths, path, columns;
    uint32_t *set, *line; /* of the row being made; per switch: where its section begins */
};

static void text_forget(struct text *text, const char *rest)
{
    size_t done = (size_t)(rest - text->at) / RELEASE_BYTES * RELEASE_BYTES;
    if (!text->mapped || done == text->released)
        return;
    madvise(text->at + text->released, done - text->released, MADV_DONTNEED);
    text->released = done;
}

static void add_row(void *context, const struct route_opensm_row *row)
{
    struct filling *f = context;
    uint32_t set_of[NO_PORT] = {0}; /* number 0 is the empty set */
    for (uint32_t i = 0; i < f->columns; i++) {
        uint32_t *set = &set_of[row->port[i]];
        if (*set == 0) {
            struct route_peer peer;
            route_port(f->shape, row->switch_id, row->port[i], &peer);
            struct route_way way = {.port = row->port[i], .class = peer.kind == ROUTE_NODE ? ROUTE_TABLE_ANY : 0};
            *set = route_table_set_of(f->table, &way, 1);
        }
        f->set[i] = *set;
    }
    route_table_row(f->table, row->switch_id, f->set);
    f->line[row->switch_id] = row->line;
    text_forget(&f->text, row->rest);
}

/* The next switch on the way; UINT32_MAX: the node. */
static uint32_t follow(const struct filling *f, uint32_t switch_id, uint32_t column, uint16_t *port)
{
    const struct route_way *way;
    struct route_peer peer;
    uint32_t count = route_table_ways(f->table, switch_id, column, &way);
    ker_assert(count == 1);
    route_port(f->shape, switch_id, *port = way->port, &peer);
    return peer.kind == ROUTE_NODE ? UINT32_MAX : peer.id;
}

static enum ker_status fail_loop(const struct filling *f, uint32_t column, uint32_t from, struct ker_error *error)
{
    const struct route_subnet *subnet = f->shape->subnet;
    const struct route_subnet_node *node = &subnet->node[column / f->paths];
    uint32_t path = (f->paths > 1 ? column % f->paths : f->path) & ((1u << node->lmc) - 1);
    char text[400];
    size_t used = 0;
    uint32_t at = from;
    uint16_t port;
    do {
        const char *name = subnet->names + subnet->at_switch[at].name;
        uint32_t next = follow(f, at, column, &port);
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "\"%s\" port %u, ", name, port);
        at = next;
    } while (at != from);
    if (used >= sizeof text)
        snprintf(text + sizeof text - 6, 6, "..., ");
    return ker_fail(error, KER_BAD_INPUT, LINE_FORMAT "LID 0x%04x, of \"%s\", goes in a circle: %sand again", f->file, f->line[from],
                    node->lid + path, subnet->names + node->name, text);
}

/* Every column is a function from switch to switch; `seen` is where a walk was, 1 + the number of the walk. */
static enum ker_status check_loops(const struct filling *f, struct ker_error *error)
{
    uint32_t switches = f->table->switches;
    uint64_t *seen = ker_alloc(switches * sizeof *seen), walk = 0;
    enum ker_status status = KER_OK;
    for (uint32_t column = 0; column < f->columns && status == KER_OK; column++) {
        uint64_t first = walk + 1;
        for (uint32_t s = 0; s < switches && status == KER_OK; s++) {
            uint32_t at = s;
            uint16_t port;
            for (walk++; at != UINT32_MAX && seen[at] < first; at = follow(f, at, column, &port))
                seen[at] = walk;
            if (at != UINT32_MAX && seen[at] == walk)
                status = fail_loop(f, column, at, error);
        }
    }
    free(seen);
    return status;
}

static enum ker_status text_open(struct text *text, const char *path, struct ker_error *error)
{
    struct stat is;
    int file = open(path, O_RDONLY);
    *text = (struct text){0};
    if (file >= 0 && fstat(file, &is) == 0 && S_ISREG(is.st_mode) && is.st_size > 0) {
        void *at = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (at != MAP_FAILED)
            *text = (struct text){.at = at, .length = (size_t)is.st_size, .mapped = true};
    }
    if (file >= 0)
        close(file);
    if (!text->mapped)
        text->at = route_text_read(path, &text->length, error);
    return text->at ? KER_OK : KER_BAD_INPUT;
}

static void text_close(struct text *text)
{
    if (text->mapped)
        munmap(text->at, text->length);
    else
        free(text->at);
}

static enum ker_status fill(struct filling *f, struct ker_error *error)
{
    const struct route_subnet *subnet = f->shape->subnet;
    enum ker_status status = text_open(&f->text, f->file, error);
    if (status)
        return status;
    f->columns = subnet->nodes * f->paths;
    f->table = route_table_new(subnet->switches, f->columns);
    f->table->paths = f->paths;
    f->table->classes = 1;
    f->set = ker_alloc(f->columns * sizeof *f->set);
    f->line = ker_alloc(subnet->switches * sizeof *f->line);
    status = route_opensm_parse(f->shape, subnet, f->paths, f->path, f->file, f->text.at, f->text.length, add_row, f,
                                error);
    text_close(&f->text);
    if (status == KER_OK) {
        route_table_finish(f->table);
        status = check_loops(f, error);
    }
    free(f->set);
    free(f->line);
    return status;
}

/* By its first lines. A file that cannot be read is for the caller to report. */
static bool recognise_file(const char *path)
{
    char head[4096];
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t length = fread(head, 1, sizeof head, file);
    fclose(file);
    return route_opensm_recognise(head, length);
}

enum ker_status route_opensm_read(struct route_shape *shape, const struct ker_config *config, bool *taken, struct ker_error *error)
{
    struct filling f = {.shape = shape, .paths = 1};
    *taken = ker_config_has(config, "routing.table") && recognise_file(ker_config_file(config, "routing.table"));
    if (!*taken)
        return KER_OK;
    if (!shape->subnet)
        return ker_config_fail(config, error, "routing.table",
                               "is a file of OpenSM's; who its LIDs are is known only with topology.kind = \"fabric\"");
    int64_t path = ker_config_int(config, "routing.lmc_path");
    if (path < 0)
        f.paths = route_opensm_paths(shape->subnet);
    else
        f.path = (uint32_t)path;
    f.file = ker_config_file(config, "routing.table");
    enum ker_status status = fill(&f, error);
    shape->table = f.table;
    if (status == KER_OK)
        f.table->unproved = !ker_config_bool(config, "routing.allow_deadlock");
    return status;
}
