/* vl_file.c - VL arbitration tables from an options file of OpenSM (switch.vl_file).
 *
 * Of its lines "NAME VALUE" those of quality of service are read: qos_vlarb_high, qos_vlarb_low,
 * qos_high_limit and qos_sl2vl; with qos_swe_ or qos_ca_ in front of the rest they are for ports of switches,
 * or of adapters, and go before the others. "(null)" is as if it were not there. Lanes that the ports do not
 * have here are left out, as hardware leaves them out.
 */
#include "kernel/base/base.h"
#include "net/switch/vl.h"

#include <stdlib.h>
#include <string.h>

/* A table as a file gives it, without lanes from `channels` on. */
static enum ker_status table_take(struct ker_lines *l, struct vl_table *t, uint32_t channels,
                                  const char *value)
{
    char *wrong = net_vl_table_read(t, value);
    if (wrong) {
        enum ker_status status = ker_lines_fail(l, "%s", wrong);
        free(wrong);
        return status;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->entry[i].lane < channels)
            t->entry[kept++] = t->entry[i];
    t->count = kept;
    return KER_OK;
}

static enum ker_status limit_take(struct ker_lines *l, uint32_t *limit, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 0);
    if (end == value || *end || number > 255)
        return ker_lines_fail(l, "\"%.12s\" is no limit of high priority, 0 to 255", value);
    *limit = net_vl_limit((int64_t)number);
    return KER_OK;
}

/* A class has the lane of its number. */
static enum ker_status map_check(struct ker_lines *l, uint32_t channels, const char *value)
{
    for (uint32_t level = 0; level < 16 && *value; level++) {
        char *end;
        unsigned long lane = strtoul(value, &end, 0);
        if (end == value || (*end && *end != ',') || lane > 15)
            return ker_lines_fail(l, "\"%.12s\" is no list of 16 lanes, such as 0,1,2", value);
        if (lane != level && level < channels)
            return ker_lines_fail(l,
                                  "service level %u has lane %lu; here a class has the lane of its number: "
                                  "give jobs the class of their lane, and leave this line out",
                                  level, lane);
        value = *end ? end + 1 : end;
    }
    return KER_OK;
}

/* One of the lines for this sort of ports, whose names begin with `prefix`. */
static enum ker_status line_take(struct ker_lines *l, const char *prefix, struct vl_tables *t,
                                 uint32_t channels, bool *found)
{
    const char *name, *rest;
    size_t length, bytes = strlen(prefix);
    if (!ker_take_text(l, &name, &length) || length < bytes || memcmp(name, prefix, bytes) != 0)
        return KER_OK;
    *found = true;
    name += bytes;
    length -= bytes;
    rest = l->p;
    char *key = ker_format("%.*s", (int)length, name),
         *value = ker_format("%.*s", (int)(l->stop - rest), rest);
    enum ker_status status = KER_OK;
    if (strcmp(value, "(null)") != 0 && *value) {
        if (strcmp(key, "vlarb_high") == 0)
            status = table_take(l, &t->high, channels, value);
        else if (strcmp(key, "vlarb_low") == 0)
            status = table_take(l, &t->low, channels, value);
        else if (strcmp(key, "high_limit") == 0)
            status = limit_take(l, &t->limit, value);
        else if (strcmp(key, "sl2vl") == 0)
            status = map_check(l, channels, value);
    }
    free(key);
    free(value);
    return status;
}

enum ker_status net_vl_file_read(struct vl_tables tables[2], uint32_t channels, const char *file,
                                 const char *text, size_t length, struct ker_error *error)
{
    static const char *const prefixes[2][2] = {{"qos_", "qos_swe_"}, {"qos_", "qos_ca_"}};
    struct ker_lines l;
    bool found = false;
    ker_lines_init(&l, file, text, length, error);
    enum ker_status status = ker_lines_check(&l);
    for (int i = 0; i < 4 && status == KER_OK; i++) {
        ker_lines_init(&l, file, text, length, error);
        while (status == KER_OK && ker_lines_next_full(&l))
            status = line_take(&l, prefixes[i / 2][i % 2], &tables[i / 2], channels, &found);
    }
    if (status == KER_OK && !found)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: has no line that begins with qos_, as the options file of OpenSM has them "
                        "(opensm -c FILE writes one)",
                        file);
    return status;
}
