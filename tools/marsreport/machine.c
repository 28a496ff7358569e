/* machine.c - the links of a machine as system.cfg describes it: of a run that has not ended, which has no
 * links.csv.
 *
 * Of the configuration only the topology is read, and how many adapters nodes have: what else is there does
 * not change who is joined to whom, and takes time (tables of routes) or files that need not be there any
 * more. Nothing is built whose size is not that of started.json, or beyond MOST_LINKS.
 */
#include "tools/marsreport/machine.h"

#include "routing/routing.h"

#include <libconfig.h>
#include <stdlib.h>

#define MOST_LINKS 4000000

/* ---- the configuration ---- */

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
    if (status == KER_OK)
        status = route_new(&topology, config, 0, &error);
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
