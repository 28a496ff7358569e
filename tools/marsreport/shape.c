/* shape.c - what system.cfg says of the topology, as far as a drawing needs it.
 *
 * Read by libconfig itself, not as a configuration of this program: one of a newer version may have keys that
 * this one does not know, and its files and plugins need not be there any more. What does not make the number
 * of switches that links.csv has (several planes, for instance) is drawn as any graph.
 */
#include "tools/marsreport/scene.h"

#include <libconfig.h>
#include <stdlib.h>

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

/* [a, groups] of a dragonfly, whose groups are a h + 1 where they are not given. */
static void dragonfly_read(const config_setting_t *topology, struct rep_shape *s)
{
    long long a = member_int(topology, "a"), h = member_int(topology, "h"),
              groups = member_int(topology, "groups");
    groups = groups > 0 ? groups : a * h + 1;
    if (a < 1 || h < 1 || groups > UINT32_MAX / a)
        return;
    s->dimensions = 2;
    s->extent[0] = (uint32_t)a;
    s->extent[1] = (uint32_t)groups;
    s->switches = s->extent[0] * s->extent[1];
}

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
        if (strcmp(kind, "fat_tree") == 0)
            tree_read(topology, s);
        else if (strcmp(kind, "torus") == 0)
            product_read(topology, "extents", s);
        else if (strcmp(kind, "hierarchical") == 0)
            product_read(topology, "groups", s);
        else if (strcmp(kind, "dragonfly") == 0)
            dragonfly_read(topology, s);
        else if (strcmp(kind, "star") == 0)
            s->switches = 1;
    }
    config_destroy(&config);
    free(text);
}
