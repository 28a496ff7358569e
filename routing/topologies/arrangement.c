/* arrangement.c - global links of dragonflies: made by a rule, or read.
 *
 * A rule says for link number k which group it leads to; its other end is the link there that leads back in
 * the same round. All is kept as two tables: where each port leads, and which ports lead to a group. Both
 * have as many entries as there are global links, and some.
 */
#include "routing/topologies/arrangement.h"

#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PORTS (1u << 26) /* global, of all groups */

const struct ker_option arrangement_options[] = {
    {"topology.h", KER_TYPE_INT, NULL, "1", "65535", NULL,
     "Dragonfly: global links of each switch. Dragonfly plus: of each spine."},
    {"topology.arrangement", KER_TYPE_CHOICE, NULL, NULL, NULL, "absolute|relative|circulant|file",
     "Dragonfly, dragonfly plus: which group a global link leads to. absolute: the links of a group, in "
     "blocks of its switches, lead to groups 0, 1, ... without its own; relative: to those 1, 2, ... further "
     "on; circulant: 1 further on, 1 back, 2 further on, ...; file: as topology.arrangement_file says. "
     "Absent: absolute; dragonfly without rows: relative, with the links dealt to the switches one by one."},
    {"topology.arrangement_file", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "A line for each global link: group, switch (dragonfly plus: spine) of it, group, switch of it; # "
     "begins a comment.",
     "topology.arrangement=file"},
    {"topology.group_links", KER_TYPE_INT, NULL, "1", "65535", NULL,
     "With an arrangement (or rows): links between each two groups; absent: as many as the global links of a "
     "group divided by the other groups. Where they are fewer than there are ports, the rest is unused."},
    {0},
};

/* ---- by a rule ---- */

/* To which group link k of a round leads, and the number of the link that leads back. */
static uint32_t absolute_to(uint32_t groups, uint32_t group, uint32_t k, uint32_t *back)
{
    uint32_t to = k + (k >= group);
    *back = group - (group > to);
    return to;
}

static uint32_t relative_to(uint32_t groups, uint32_t group, uint32_t k, uint32_t *back)
{
    *back = groups - 2 - k;
    return (group + k + 1) % groups;
}

/* With an even number of groups the last link leads to the group opposite, whose last one leads back. */
static uint32_t circulant_to(uint32_t groups, uint32_t group, uint32_t k, uint32_t *back)
{
    uint32_t by = k / 2 + 1;
    *back = 2 * by == groups ? k : k ^ 1;
    return (group + (k % 2 ? groups - by : by)) % groups;
}

/* Where number k of the n links of a group is: in blocks, dealt evenly to its switches. */
static uint32_t port_of(const struct arrangement *a, uint64_t k, uint64_t n)
{
    uint64_t s = k * a->switches / n, first = (s * n + a->switches - 1) / a->switches;
    return (uint32_t)(s * a->h + (k - first));
}

typedef uint32_t rule(uint32_t groups, uint32_t group, uint32_t k, uint32_t *back);

static void rule_apply(struct arrangement *a, rule *to, uint32_t rounds)
{
    uint32_t others = a->groups - 1, n = rounds * others;
    for (uint32_t g = 0; g < a->groups; g++)
        for (uint32_t k = 0; k < n; k++) {
            uint32_t back, there = to(a->groups, g, k % others, &back);
            a->peer[(uint64_t)g * a->ports + port_of(a, k, n)] =
                there * a->ports + port_of(a, k - k % others + back, n);
        }
}

/* ---- from a file ---- */

/* The next unused port of a switch; false: all are used. */
static bool port_take(const struct arrangement *a, uint32_t group, uint32_t s, uint32_t *port)
{
    uint32_t first = group * a->ports + s * a->h;
    for (*port = first; *port < first + a->h; ++*port)
        if (a->peer[*port] == ARRANGEMENT_NONE)
            return true;
    return false;
}

static enum ker_status line_read(const struct arrangement *a, struct ker_lines *in)
{
    uint32_t word[4], port[2];
    for (int i = 0; i < 4; i++) {
        ker_take_blanks(in);
        if (!ker_take_u32(in, &word[i]) || word[i] >= (i % 2 ? a->switches : a->groups))
            return ker_lines_fail(
                in, "a line reads: GROUP SWITCH GROUP SWITCH, groups 0 to %u and switches 0 to %u",
                a->groups - 1, a->switches - 1);
    }
    if (ker_lines_end(in) != KER_OK)
        return KER_BAD_INPUT;

    if (word[0] == word[2])
        return ker_lines_fail(in, "a global link joins two groups, not group %u with itself", word[0]);
    for (int i = 0; i < 2; i++) {
        uint32_t group = word[2 * i], s = word[2 * i + 1];
        if (!port_take(a, group, s, &port[i]))
            return ker_lines_fail(in, "switch %u of group %u has topology.h = %u global links already", s,
                                  group, a->h);
    }
    a->peer[port[0]] = port[1];
    a->peer[port[1]] = port[0];
    return KER_OK;
}

enum ker_status arrangement_parse(struct arrangement *a, const char *name, const char *text, size_t length,
                                  struct ker_error *error)
{
    struct ker_lines in;
    enum ker_status status = KER_OK;
    ker_lines_init(&in, name, text, length, error);
    while (status == KER_OK && ker_lines_next_full(&in))
        status = line_read(a, &in);
    return status;
}

static enum ker_status file_read(struct arrangement *a, const struct ker_config *config,
                                 struct ker_error *error)
{
    static const char key[] = "topology.arrangement_file";
    enum ker_status status = route_key_require(config, key, error);
    char *text = NULL;
    size_t length = 0;
    if (status != KER_OK)
        return status;
    const char *path = ker_config_file(config, key);
    status = ker_input_read(ker_config_inputs(config), path, &text, &length, error);
    status = status ?: arrangement_parse(a, path, text, length, error);
    free(text);
    return status;
}

/* ---- both ---- */

static enum ker_status lanes_list(struct arrangement *a, const struct ker_config *config,
                                  struct ker_error *error)
{
    uint64_t pairs = (uint64_t)a->groups * a->groups;
    uint32_t *count = ker_alloc(pairs * sizeof *count);
    ker_assert(a->ports > 0);
    for (uint64_t i = 0; i < (uint64_t)a->groups * a->ports; i++)
        if (a->peer[i] != ARRANGEMENT_NONE) {
            uint32_t n = ++count[i / a->ports * a->groups + a->peer[i] / a->ports];
            a->lanes = n > a->lanes ? n : a->lanes;
            a->links++;
        }
    a->links /= 2;
    for (uint64_t i = 0; i < pairs; i++)
        if (count[i] == 0 && i / a->groups != i % a->groups) {
            free(count);
            return ker_config_fail(config, error, "topology.arrangement_file",
                                   "has no link between groups %u and %u; every two groups need one",
                                   (uint32_t)(i / a->groups), (uint32_t)(i % a->groups));
        }
    a->lane = ker_alloc(pairs * a->lanes * sizeof *a->lane);
    memset(a->lane, UINT8_MAX, pairs * a->lanes * sizeof *a->lane);
    memset(count, 0, pairs * sizeof *count);
    for (uint64_t i = 0; i < (uint64_t)a->groups * a->ports; i++)
        if (a->peer[i] != ARRANGEMENT_NONE) {
            uint64_t pair = i / a->ports * a->groups + a->peer[i] / a->ports;
            a->lane[pair * a->lanes + count[pair]++] = (uint32_t)(i % a->ports);
        }
    free(count);
    return KER_OK;
}

/* The nearest numbers of groups that divide n links evenly: "3, 5 and 9". */
static void possible_print(char *text, size_t room, uint64_t n, uint64_t asked)
{
    uint64_t below = asked, above = asked;
    while (below > 2 && (below > n + 1 || n % (below - 1)))
        below--;
    while (above < n + 1 && n % (above - 1))
        above++;
    if (above > n + 1 || below == above)
        snprintf(text, room, "%llu is", (unsigned long long)below);
    else
        snprintf(text, room, "%llu and %llu are", (unsigned long long)below, (unsigned long long)above);
}

static enum ker_status groups_read(struct arrangement *a, const struct ker_config *config, bool by_file,
                                   uint64_t *rounds, struct ker_error *error)
{
    static const char key[] = "topology.groups", links_key[] = "topology.group_links";
    bool given = ker_config_has(config, links_key);
    uint64_t ports = (uint64_t)a->switches * a->h, groups = ports + 1;
    *rounds = given ? (uint64_t)ker_config_int(config, links_key) : 1;
    if (ker_config_count(config, key) > 1)
        return ker_config_fail(config, error, key, "is one number here: how many groups");
    if (ker_config_has(config, key))
        groups = (uint64_t)ker_config_int_at(config, key, 0);
    else if (given)
        groups = ports / *rounds + 1;
    if (ports * groups > MOST_PORTS)
        return ker_config_fail(config, error, key, "of %llu, with %llu global links each, are too many",
                               (unsigned long long)groups, (unsigned long long)ports);
    a->groups = (uint32_t)groups;
    a->ports = (uint32_t)ports;
    if (groups < 2)
        return ker_config_fail(config, error, key, "of %llu are too few: global links join at least 2",
                               (unsigned long long)groups);
    if (given && *rounds * (groups - 1) > ports)
        return ker_config_fail(
            config, error, links_key,
            "of %llu to each of %llu other groups are more than the %llu global links of a group; at "
            "most %llu are possible",
            (unsigned long long)*rounds, (unsigned long long)groups - 1, (unsigned long long)ports,
            (unsigned long long)(ports / (groups - 1)));
    if (given || by_file)
        return KER_OK;
    *rounds = ports / (groups - 1);
    if (*rounds && ports % (groups - 1) == 0)
        return KER_OK;
    char text[64];
    possible_print(text, sizeof text, ports, groups);
    return ker_config_fail(
        config, error, key,
        "of %llu does not divide the %llu global links of a group evenly among the others; %s "
        "possible, or fewer links by topology.group_links",
        (unsigned long long)groups, (unsigned long long)ports, text);
}

enum ker_status arrangement_read(struct arrangement *a, const struct ker_config *config, uint32_t switches,
                                 const char *which, struct ker_error *error)
{
    static const char key[] = "topology.arrangement";
    const char *name = ker_config_has(config, key) ? ker_config_string(config, key) : which;
    uint64_t rounds;
    enum ker_status status = route_key_require(config, "topology.h", error);
    if (status != KER_OK)
        return status;
    a->switches = switches;
    a->h = (uint32_t)ker_config_int(config, "topology.h");
    bool by_file = strcmp(name, "file") == 0;
    status = groups_read(a, config, by_file, &rounds, error);
    if (status != KER_OK)
        return status;
    uint64_t bytes = (uint64_t)a->groups * a->ports * sizeof *a->peer;
    a->peer = ker_alloc(bytes);
    memset(a->peer, UINT8_MAX, bytes);
    if (by_file)
        status = file_read(a, config, error);
    else
        rule_apply(a,
                   strcmp(name, "absolute") == 0   ? absolute_to
                   : strcmp(name, "relative") == 0 ? relative_to
                                                   : circulant_to,
                   (uint32_t)rounds);
    return status == KER_OK ? lanes_list(a, config, error) : status;
}

static void arrangement_release(struct arrangement *a)
{
    free(a->peer);
    free(a->lane);
}

/* ---- topologies of such groups ---- */

void arranged_port(const struct route_topology *topology, uint32_t switch_id, uint32_t base, uint32_t port,
                   uint8_t link, struct route_peer *peer)
{
    const struct arranged *g = arranged_of(topology);
    const struct arrangement *a = &g->arrangement;
    uint32_t to = a->peer[switch_id / g->size * a->ports + (switch_id % g->size - g->first) * a->h + port];
    *peer = (struct route_peer){.kind = ROUTE_NOTHING};
    if (to != ARRANGEMENT_NONE)
        *peer = (struct route_peer){ROUTE_SWITCH, link, (uint16_t)(base + to % a->h),
                                    to / a->ports * g->size + g->first + to % a->ports / a->h};
}

uint32_t arranged_group(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id / arranged_of(topology)->size;
}

uint32_t arranged_groups(const struct route_topology *topology)
{
    return arranged_of(topology)->arrangement.groups;
}

void arranged_release(struct route_topology *topology)
{
    arrangement_release(&((struct arranged *)topology)->arrangement);
}
