/* opensm_table.c - makes a routing table of an InfiniBand subnet's forwarding tables.
 *
 * Rows of ports become sets of one path as they are read. Then every path is followed from all switches with
 * endpoints (table_check.c): what is wrong where no packet comes by does not matter.
 */
#include "routing/import/import.h"

#include "routing/tables/make.h"
#include "routing/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Tables of large clusters are gigabytes of text: mapped, ranks share them, and what is read leaves memory.
 */
struct text {
    char *at;
    size_t length, released;  /* released: so much of the beginning */
    struct ker_digest digest; /* of what was released */
};

#define RELEASE_BYTES (1u << 24)

struct filling {
    struct route_opensm_text of;
    struct text text;
    struct route_table *table;
    uint32_t columns;
    uint32_t *set, *line; /* of the row being made; per switch: where its section begins, 0: it has none */
};

static void text_forget(struct text *text, const char *rest)
{
    size_t done = (size_t)(rest - text->at) / RELEASE_BYTES * RELEASE_BYTES;
    if (done == text->released)
        return;
    ker_digest_add(&text->digest, text->at + text->released, done - text->released);
    madvise(text->at + text->released, done - text->released, MADV_DONTNEED);
    text->released = done;
}

static void add_row(void *context, const struct route_opensm_row *row)
{
    struct filling *f = context;
    uint32_t set_of[ROUTE_NO_PORT] = {0}; /* number 0 is the empty set */
    for (uint32_t i = 0; i < f->columns; i++) {
        uint32_t *set = &set_of[row->port[i]];
        if (*set == 0 && row->port[i]) {
            struct route_peer peer;
            route_port(f->of.topology, row->switch_id, row->port[i], &peer);
            struct route_hop hop = {.port = row->port[i],
                                    .class = peer.kind == ROUTE_ENDPOINT ? ROUTE_TABLE_ANY : 0};
            *set = route_table_set_of(f->table, &hop, 1);
        }
        f->set[i] = *set;
    }
    route_table_row(f->table, row->switch_id, f->set);
    f->line[row->switch_id] = row->line;
    text_forget(&f->text, row->rest);
}

static enum ker_status say_missing(void *context, uint32_t switch_id, uint32_t column, uint32_t count,
                                   struct ker_error *error)
{
    const struct filling *f = context;
    return route_opensm_explain(&f->of, switch_id, column, count, error);
}

static enum ker_status say_loop(void *context, const uint32_t *switches, uint32_t count, uint32_t column,
                                struct ker_error *error)
{
    const struct filling *f = context;
    const struct route_subnet *subnet = f->of.subnet;
    char text[400];
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = subnet->names + subnet->at_switch[switches[i]].name;
        const struct route_hop *hop;
        route_table_hops(f->table, switches[i], column, &hop);
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "\"%s\" port %u, ", name, hop->port);
    }
    if (used >= sizeof text)
        snprintf(text + sizeof text - 6, 6, "..., ");
    return ker_fail(error, KER_BAD_INPUT, "%s:%u: LID 0x%04x, of \"%s\", leads in a circle: %sand again",
                    f->of.name, f->line[switches[0]], route_opensm_lid(&f->of, column),
                    subnet->names + subnet->endpoint[column / f->of.paths].name, text);
}

static enum ker_status text_open(struct text *text, const char *path, struct ker_error *error)
{
    uint64_t bytes;
    int file;
    *text = (struct text){0};
    enum ker_status status = ker_input_open(path, KER_INPUT_MOST, &file, &bytes, error);
    if (status != KER_OK)
        return status;
    void *at =
        mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, file, 0); /* not empty: it has been recognised */
    int why = errno;
    close(file);
    if (at == MAP_FAILED)
        return ker_fail(error, KER_BAD_INPUT, "%s: cannot be read: %s", path, strerror(why));
    *text = (struct text){.at = at, .length = (size_t)bytes};
    return KER_OK;
}

/* Registers it, too. */
static void text_close(struct text *text, struct ker_inputs *inputs, const char *path)
{
    ker_digest_add(&text->digest, text->at + text->released, text->length - text->released);
    ker_input_add(inputs, path, &text->digest);
    munmap(text->at, text->length);
}

static enum ker_status fill(struct filling *f, struct ker_inputs *inputs, bool *safe, struct ker_error *error)
{
    const struct route_table_source source = {
        .file = f->of.name, .missing = say_missing, .loop = say_loop, .context = f};
    enum ker_status status = text_open(&f->text, f->of.name, error);
    if (status)
        return status;
    f->of.text = f->text.at;
    f->of.length = f->text.length;
    f->columns = f->of.subnet->endpoints * f->of.paths;
    f->table = route_table_new(f->of.subnet->switches, f->columns);
    f->table->paths = f->of.paths;
    f->table->classes = 1;
    f->set = ker_alloc(f->columns * sizeof *f->set);
    f->line = ker_alloc(f->of.subnet->switches * sizeof *f->line);
    status = route_opensm_parse(&f->of, add_row, f, error);
    route_table_finish(f->table);
    status = status ?: route_table_check(f->of.topology, f->table, &source, safe, error);
    text_close(&f->text, inputs, f->of.name);
    free(f->set);
    free(f->line);
    return status;
}

/* By its first lines. A file that cannot be read is for the caller to report. */
static bool recognise_file(const char *path)
{
    char head[4096];
    struct ker_error ignored = {.status = KER_OK};
    int file;
    if (ker_input_open(path, KER_INPUT_MOST, &file, NULL, &ignored) != KER_OK)
        return false;
    ssize_t length = read(file, head, sizeof head);
    close(file);
    return length > 0 && route_opensm_recognise(head, (size_t)length);
}

enum ker_status route_opensm_read(struct route_topology *topology, const struct ker_config *config,
                                  bool *taken, struct ker_error *error)
{
    struct filling f = {.of = {.topology = topology, .subnet = topology->subnet, .paths = 1}};
    bool safe = false;
    *taken =
        ker_config_has(config, "routing.table") && recognise_file(ker_config_file(config, "routing.table"));
    if (!*taken)
        return KER_OK;
    if (!topology->subnet)
        return ker_config_fail(
            config, error, "routing.table",
            "is a file of OpenSM's; who its LIDs are is known only with topology.kind = \"fabric\"");
    int64_t path = ker_config_int(config, "routing.lmc_path");
    if (path < 0)
        f.of.paths = route_opensm_paths(topology->subnet);
    else
        f.of.path = (uint32_t)path;
    f.of.name = ker_config_file(config, "routing.table");
    enum ker_status status = fill(&f, ker_config_inputs(config), &safe, error);
    topology->table = f.table;
    status = status ?: route_opensm_lanes_read(&f.of, f.table, config, error);
    if (status == KER_OK)
        f.table->unproved = (!safe || f.table->lanes) && !ker_config_bool(config, "routing.allow_deadlock");
    return status;
}
