/* rails.h - of random systems: several adapters at each node. */
#pragma once

#include "tests/random_system/routing.h"

/* Can the adapters hang as drawn, at two nodes or more? */
static bool random_possible(struct random_system *r)
{
    struct ker_config *config = NULL;
    struct route_topology *topology = NULL;
    struct ker_error error = {.status = KER_OK};
    fflush(r->out);
    ker_assert(ker_config_load(&config, r->path, (const char **)r->overrides, r->override_count, r->tables,
                               &error) == KER_OK);
    bool possible = route_new(&topology, config, 16, &error) == KER_OK;
    possible = possible && route_hosts(route_summarise(topology)) > 1;
    if (topology)
        route_free(topology);
    ker_config_free(config);
    return possible;
}

/* After the topology: the settings that make a node of some of its adapters, kept as overrides for the probes
 * that follow. Where they cannot hang as drawn, they hang in planes. */
static void random_rails(struct random_system *r)
{
    r->adapters = 1;
    snprintf(r->group, sizeof r->group, "rails");
    if (!random_flag(r, "rails", r->rich ? 100 : 35))
        return;
    r->adapters = (uint32_t)random_whole(r, "adapters", 2, 4, 2, 9);
    const char *rails = random_choice(r, "kind", LIST("plane", "spread", "same"));
    if (r->rail_tree)
        rails = "spread";
    const char *rail = random_choice(r, "rail", LIST("fixed", "round_robin", "least", "stripe", "nearest"));
    if (r->plain)
        rail = random_choice(r, "rail of a core", LIST("fixed", "nearest"));
    r->striped = strcmp(rail, "stripe") == 0;
    r->overrides[r->override_count++] = ker_format("node.adapters=%u", r->adapters);
    r->overrides[r->override_count++] = ker_format("topology.rails=%s", rails);
    r->overrides[r->override_count++] = ker_format("node.rail=%s", rail);
    if (r->striped) {
        random_key(r, "stripe_size");
        static const uint32_t usual[] = {1, 1024, 8192};
        r->overrides[r->override_count++] =
            ker_format("node.stripe_size=%llu B",
                       (unsigned long long)(r->extreme ? spread(r, 1, 1e6) : usual[draw(r, 3)]));
    }
    if (!random_possible(r)) {
        free(r->overrides[1]);
        r->overrides[1] = ker_format("topology.rails=plane");
    }
}

/* GROUP.KEY=VALUE, when it is of this group. */
static void rails_line(const char *setting, const char *group, FILE *out)
{
    if (strncmp(setting, group, strlen(group)) != 0)
        return;
    const char *key = setting + strlen(group), *value = strchr(key, '=') + 1;
    const char *quote = strspn(value, "0123456789") == strlen(value) ? "" : "\"";
    fprintf(out, "    %.*s = %s%s%s;\n", (int)(value - 1 - key), key, quote, value, quote);
}

/* At the end: writes them into the configuration, each into its group. */
static void random_rails_write(struct random_system *r)
{
    if (r->override_count == 0)
        return;
    size_t bytes = 0;
    char *text = NULL;
    FILE *in = fopen(r->path, "r");
    ker_assert(in != NULL && getdelim(&text, &bytes, 0, in) > 0);
    fclose(in);
    FILE *out = fopen(r->path, "w");
    ker_assert(out != NULL);
    const char *place[] = {strstr(text, "topology: {"), strstr(text, "\nnode: {")};
    place[1] += place[1] != NULL;
    if (!place[1]) /* a group of its own, first */
        fprintf(out, "node: {\n");
    for (int i = 0; i < r->override_count && !place[1]; i++)
        rails_line(r->overrides[i], "node.", out);
    if (!place[1])
        fprintf(out, "};\n");
    for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
        fprintf(out, "%.*s", (int)(strchr(at, '\n') + 1 - at), at);
        for (int i = 0; i < r->override_count; i++)
            if (at == place[0] || at == place[1])
                rails_line(r->overrides[i], at == place[0] ? "topology." : "node.", out);
    }
    fclose(out);
    free(text);
    for (int i = 0; i < r->override_count; i++)
        free(r->overrides[i]);
}
