/* machine.c - the machine as system.cfg describes it: its shape for the drawing, and, of a run that has not
 * ended and so has no links.csv, its links.
 *
 * Of the configuration only the topology is read, and how many adapters nodes have: what else is there does
 * not change who is joined to whom, and takes time (tables of routes) or files that need not be there any
 * more. Nothing is built whose size is not that of started.json, or beyond MOST_LINKS.
 */
#include "tools/marsreport/scene.h"

#include "routing/routing.h"

#include <libconfig.h>
#include <stdlib.h>

#define MOST_LINKS 4000000

/* ---- its shape, as far as a drawing needs it ----
 *
 * Read by libconfig itself, not as a configuration of this program: one of a newer version may have keys that
 * this one does not know, and its files and plugins need not be there any more. What does not make the number
 * of switches that links.csv has (several planes, for instance) is drawn as any graph.
 */

static int list_read(const config_setting_t *topology, const char *name, uint32_t to[REP_MOST_DIMENSIONS])
{
    const config_setting_t *list = topology ? config_setting_get_member(topology, name) : NULL;
    int count = list ? config_setting_length(list) : 0;
    if (count > REP_MOST_DIMENSIONS)
        return 0;
    for (int i = 0; i < count; i++) {
        long long value = config_setting_get_int64_elem(list, i);
        if (value < 1 || value > INT32_MAX)
            return 0;
        to[i] = (uint32_t)value;
    }
    return count;
}

static int member_int(const config_setting_t *topology, const char *name)
{
    int value = 0;
    config_setting_lookup_int(topology, name, &value);
    return value;
}

/* radix and levels are another way to write down and up. */
static void tree_read(const config_setting_t *topology, struct rep_shape *s)
{
    int radix = member_int(topology, "radix"), levels = member_int(topology, "levels");
    s->dimensions = list_read(topology, "down", s->extent);
    if (s->dimensions && list_read(topology, "up", s->up) != s->dimensions)
        s->dimensions = 0;
    if (!s->dimensions && radix > 1 && levels > 0 && levels <= REP_MOST_DIMENSIONS) {
        s->dimensions = levels;
        for (int i = 0; i < levels; i++) {
            s->extent[i] = (uint32_t)(i + 1 == levels ? radix : radix / 2);
            s->up[i] = (uint32_t)(i == 0 ? 1 : radix / 2);
        }
    }
    uint64_t sum = 0;
    for (int level = 0; level < s->dimensions; level++) {
        uint64_t count = 1;
        for (int i = 0; i < s->dimensions; i++)
            count = count > UINT32_MAX ? count : count * (i <= level ? s->up[i] : s->extent[i]);
        sum += count;
    }
    s->switches = sum > UINT32_MAX ? 0 : (uint32_t)sum;
}

static void product_read(const config_setting_t *topology, const char *name, struct rep_shape *s)
{
    uint64_t product = 1;
    s->dimensions = list_read(topology, name, s->extent);
    for (int i = 0; i < s->dimensions; i++)
        product = product > UINT32_MAX ? product : product * s->extent[i];
    s->switches = s->dimensions == 0 || product > UINT32_MAX ? 0 : (uint32_t)product;
}

static void shape_set(struct rep_shape *s, int dimensions, const long long *extent)
{
    long long product = 1;
    for (int i = 0; i < dimensions; i++) {
        if (extent[i] < 1 || extent[i] > UINT32_MAX / product)
            return;
        product *= extent[i];
        s->extent[i] = (uint32_t)extent[i];
    }
    s->dimensions = dimensions;
    s->switches = (uint32_t)product;
}

/* Groups of a dragonfly with this many global links each, where they are not given: one for each group_links.
 */
static long long groups_of(const config_setting_t *topology, long long links)
{
    long long groups = member_int(topology, "groups"), each = member_int(topology, "group_links");
    return groups > 0 ? groups : links / (each > 0 ? each : 1) + 1;
}

/* [a, groups] of a dragonfly, [a / rows, rows, groups] of one with rows. */
static void dragonfly_read(const config_setting_t *topology, struct rep_shape *s)
{
    long long a = member_int(topology, "a"), rows = member_int(topology, "rows"),
              groups = groups_of(topology, a * member_int(topology, "h"));
    if (rows > 1)
        shape_set(s, 3, (long long[]){a / rows, rows, groups});
    else
        shape_set(s, 2, (long long[]){a, groups});
}

/* Leaves and spines of the groups. */
static void dragonfly_plus_read(const config_setting_t *topology, struct rep_shape *s)
{
    long long spines = member_int(topology, "spines");
    shape_set(s, 2,
              (long long[]){member_int(topology, "leaves") + spines,
                            groups_of(topology, spines * member_int(topology, "h"))});
    s->leaves = (uint32_t)member_int(topology, "leaves");
}

/* Two halves of q columns of q switches. */
static void slim_fly_read(const config_setting_t *topology, struct rep_shape *s)
{
    long long q = member_int(topology, "q");
    shape_set(s, 3, (long long[]){q, q, 2});
}

/* q + 1 racks of q switches, and one in a rack of its own. */
static void polarfly_read(const config_setting_t *topology, struct rep_shape *s)
{
    long long q = member_int(topology, "q");
    shape_set(s, 2, (long long[]){q, q + 2});
    s->switches -= s->switches ? (uint32_t)q - 1 : 0;
}

static void extents_shape_read(const config_setting_t *topology, struct rep_shape *s)
{
    product_read(topology, "extents", s);
}

static void groups_shape_read(const config_setting_t *topology, struct rep_shape *s)
{
    product_read(topology, "groups", s);
}

/* Pods of nodes with as many leaves as a node has adapters, and spines, as a fat tree of two levels. */
static void rail_read(const config_setting_t *topology, struct rep_shape *s)
{
    const config_setting_t *node = config_setting_get_member(config_setting_parent(topology), "node");
    long long adapters = node ? member_int(node, "adapters") : 1,
              leaves = member_int(topology, "pods") * (adapters > 0 ? adapters : 1),
              nodes = member_int(topology, "pod_nodes"), spines = member_int(topology, "spines");
    if (leaves < 1 || nodes < 1 || spines < 1 || leaves + spines > UINT32_MAX)
        return;
    s->dimensions = 2;
    s->extent[0] = (uint32_t)nodes;
    s->extent[1] = (uint32_t)leaves;
    s->up[0] = 1;
    s->up[1] = (uint32_t)spines;
    s->switches = (uint32_t)(leaves + spines);
}

static void star_read(const config_setting_t *topology, struct rep_shape *s)
{
    s->switches = 1;
}

static const struct {
    const char *kind;
    void (*read)(const config_setting_t *, struct rep_shape *);
} shapes[] = {{"fat_tree", tree_read},
              {"rail_fat_tree", rail_read},
              {"torus", extents_shape_read},
              {"hyperx", extents_shape_read},
              {"hierarchical", groups_shape_read},
              {"dragonfly", dragonfly_read},
              {"dragonfly_plus", dragonfly_plus_read},
              {"slim_fly", slim_fly_read},
              {"polarfly", polarfly_read},
              {"star", star_read}};

void rep_shape_read(struct rep_folder *f, struct rep_shape *s)
{
    size_t length = 0;
    char *text = rep_file_read(f, "system.cfg", &length);
    config_t config;
    *s = (struct rep_shape){.kind = ""};
    config_init(&config);
    if (text && config_read_string(&config, text) != CONFIG_TRUE)
        rep_note(f, true, "system.cfg:%d: %s; the machine is drawn as any graph", config_error_line(&config),
                 config_error_text(&config));
    const config_setting_t *topology = text ? config_lookup(&config, "topology") : NULL;
    const char *kind;
    if (topology && config_setting_lookup_string(topology, "kind", &kind)) {
        snprintf(s->kind, sizeof s->kind, "%s", kind);
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            if (strcmp(kind, shapes[i].kind) == 0)
                shapes[i].read(topology, s);
    }
    config_destroy(&config);
    free(text);
}

/* ---- the configuration of its links ---- */

static void keep_only(config_setting_t *group, const char *const *names)
{
    for (int i = config_setting_length(group); i-- > 0;) {
        const char *name = config_setting_name(config_setting_get_elem(group, (unsigned)i));
        const char *const *kept = names;
        while (*kept && strcmp(*kept, name) != 0)
            kept++;
        if (!*kept)
            config_setting_remove_elem(group, (unsigned)i);
    }
}

/* system.cfg without all else, malloc'ed; NULL: there is none, or it is damaged. */
static char *topology_text(struct rep_folder *f)
{
    static const char *const groups[] = {"topology", "node", "run", NULL},
                             *const of_node[] = {"adapters", NULL}, *const of_run[] = {"warmup", NULL};
    size_t length = 0;
    char *text = rep_file_read(f, "system.cfg", &length), *kept = NULL;
    config_t config;
    config_init(&config);
    if (text && config_read_string(&config, text) == CONFIG_TRUE && config_lookup(&config, "topology.kind")) {
        config_setting_t *node = config_lookup(&config, "node"), *run = config_lookup(&config, "run");
        FILE *to = open_memstream(&kept, &length);
        keep_only(config_root_setting(&config), groups);
        if (node && config_setting_is_group(node))
            keep_only(node, of_node);
        if (run && config_setting_is_group(run))
            keep_only(run, of_run);
        config_write(&config, to);
        fclose(to);
    }
    config_destroy(&config);
    free(text);
    return kept;
}

static int64_t started(const struct rep_folder *f, const char *name)
{
    return json_integer_value(json_object_get(json_object_get(f->started, "result"), name));
}

/* NULL: it cannot be known, and a note says why. */
static struct route_topology *topology_make(struct rep_folder *f, const char *text, ker_time *measured_from)
{
    struct route_topology *topology = NULL;
    struct ker_config *config = NULL;
    struct ker_error error = {.status = KER_OK};
    const struct ker_option **tables = run_option_tables();
    enum ker_status status = ker_config_parse(&config, "system.cfg", text, NULL, 0, tables, &error);
    status = status ?: route_new(&topology, config, 0, &error);
    if (status == KER_OK)
        *measured_from = ker_config_time(config, "run.warmup");
    if (status != KER_OK)
        rep_note(f, false, "The machine is not drawn: %s", error.text);
    ker_config_free(config);
    free(tables);
    return status == KER_OK ? topology : NULL;
}

static bool sizes_agree(const struct rep_folder *f, const struct route_summary *sum)
{
    return started(f, "switches") == sum->switches && started(f, "links") == (int64_t)sum->links &&
           started(f, "nodes") == (int64_t)route_hosts(sum);
}

/* ---- its links ---- */

static void switch_show(const struct route_topology *t, uint32_t id, rep_machine_link *each, void *context)
{
    const struct route_summary *sum = route_summarise(t);
    uint32_t ports = route_ports(t, id);
    for (uint32_t p = 0; p < ports; p++) {
        struct route_peer peer;
        route_port(t, id, p, &peer);
        if (peer.kind == ROUTE_NOTHING)
            continue;
        struct rep_link link = {.from = id, .from_port = (uint16_t)p, .to = peer.id};
        link.to_node = peer.kind == ROUTE_ENDPOINT;
        if (link.to_node)
            link.to /= sum->adapters;
        each(context, &link, sum->link[peer.link].name, route_name(t, false, id));
    }
}

static void endpoint_show(const struct route_topology *t, uint32_t id, rep_machine_link *each, void *context)
{
    const struct route_summary *sum = route_summarise(t);
    struct rep_link link = {
        .from_node = true, .from = id / sum->adapters, .from_port = (uint16_t)(id % sum->adapters)};
    struct route_peer peer;
    uint16_t port;
    route_attachment(t, id, &link.to, &port);
    route_port(t, link.to, port, &peer);
    each(context, &link, sum->link[peer.link].name, route_name(t, true, link.from));
}

bool rep_machine_each(struct rep_folder *f, rep_machine_link *each, void *context, ker_time *measured_from)
{
    struct rep_shape shape;
    int64_t links = started(f, "links");
    if (links < 1 || links > MOST_LINKS)
        return false;
    rep_shape_read(f, &shape);
    char *text = topology_text(f);
    bool known = text && (shape.switches == 0 || started(f, "switches") % shape.switches == 0); /* planes */
    struct route_topology *t = known ? topology_make(f, text, measured_from) : NULL;
    free(text);
    bool shown = t && sizes_agree(f, route_summarise(t));
    const struct route_summary *sum = t ? route_summarise(t) : NULL;
    for (uint32_t i = 0; shown && i < sum->switches; i++)
        switch_show(t, i, each, context);
    for (uint32_t i = 0; shown && i < sum->endpoints; i++)
        endpoint_show(t, i, each, context);
    if (t)
        route_free(t);
    return shown;
}
