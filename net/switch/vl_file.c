/* vl_file.c - VL arbitration tables and lanes of service levels from an options file of OpenSM
 * (switch.vl_file).
 *
 * Of its lines "NAME VALUE" those of quality of service are read: qos_vlarb_high, qos_vlarb_low,
 * qos_high_limit and qos_sl2vl; with qos_swe_ or qos_ca_ in front of the rest they are for ports of switches,
 * or of adapters, and are used before the others. "(null)", and a limit of -1, are as if they were not there;
 * after "qos TRUE" they are what OpenSM takes then. A lane that ports do not have becomes its number modulo
 * how many they have, as OpenSM makes it, where max_op_vls says how many; entries of lanes that there are not
 * here are left out. What smpquery prints may be in the file, too (vl_ports.c).
 */
#include "kernel/base/base.h"
#include "net/switch/vl.h"

#include <stdlib.h>
#include <string.h>

enum { HIGH, LOW, LIMIT, MAP, KEYS };
static const char *const key[KEYS] = {"vlarb_high", "vlarb_low", "high_limit", "sl2vl"};
static const char *const prefix[] = {"qos_", "qos_swe_", "qos_ca_"};

/* What OpenSM takes where its file does not say (man opensm). */
static const char defaults[] = "qos_high_limit 0\n"
                               "qos_vlarb_high 0:4\n"
                               "qos_vlarb_low 1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4\n"
                               "qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7\n";

/* What the last line of a name says. */
struct setting {
    const char *value;
    int length;
    uint32_t line; /* 0: there is none */
};

struct options {
    struct setting of[3][KEYS], lanes;
    bool found, on; /* there is a line of such a file; it says "qos TRUE" */
};

static bool is_named(const char *name, size_t length, const char *before, const char *rest)
{
    size_t first = strlen(before);
    return length == first + strlen(rest) && memcmp(name, before, first) == 0 &&
           memcmp(name + first, rest, length - first) == 0;
}

static enum ker_status options_find(struct options *o, struct ker_lines *l)
{
    const char *name;
    size_t length;
    while (ker_lines_next_full(l)) {
        struct setting *s = NULL;
        if (!ker_take_text(l, &name, &length))
            continue;
        if (is_named(name, length, "max_op_vls", ""))
            s = &o->lanes;
        for (int i = 0; i < 3 * KEYS; i++)
            if (is_named(name, length, prefix[i / KEYS], key[i % KEYS]))
                s = &o->of[i / KEYS][i % KEYS];
        bool ours = length > 4 && memcmp(name, "qos_", 4) == 0;
        if (ours && memchr(name, '=', length))
            return ker_lines_fail(l, "\"%.*s\": a blank is between name and value, as OpenSM reads it",
                                  length > 40 ? 40 : (int)length, name);
        o->found |= s || ours;
        int rest = (int)(l->stop - l->p);
        o->on |= is_named(name, length, "qos", "") && is_named(l->p, (size_t)rest, "TRUE", "");
        if (s && rest && !is_named(l->p, (size_t)rest, "(null)", "") &&
            !is_named(l->p, (size_t)rest, "-1", ""))
            *s = (struct setting){l->p, rest, l->line};
    }
    return KER_OK;
}

static void defaults_take(struct options *o)
{
    struct options own = {0};
    struct ker_lines l;
    ker_lines_init(&l, "", defaults, sizeof defaults - 1, NULL);
    options_find(&own, &l);
    for (int of = 0; of < KEYS && o->on; of++)
        if (!o->of[0][of].line)
            o->of[0][of] = own.of[0][of];
}

static char *number_read(uint32_t *number, const char *value, uint32_t least, uint32_t most, const char *what)
{
    char *end;
    unsigned long n = strtoul(value, &end, 0);
    *number = (uint32_t)n;
    return end == value || *end || n < least || n > most
               ? ker_format("\"%.12s\" is no %s, %u to %u", value, what, least, most)
               : NULL;
}

/* A table as a file gives it, without lanes from `channels` on. */
static char *table_take(struct vl_table *t, const char *value, uint32_t mask, uint32_t channels)
{
    char *wrong = net_vl_table_read(t, value);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->count; i++)
        if ((t->entry[i].lane & mask) < channels)
            t->entry[kept++] = (struct vl_entry){(uint8_t)(t->entry[i].lane & mask), t->entry[i].weight};
    t->count = kept;
    return wrong;
}

static enum ker_status setting_take(struct vl_file *f, int i, int of, const struct setting *s, uint32_t mask,
                                    uint32_t channels, struct ker_lines *l)
{
    if (!s->line)
        return KER_OK;
    char *value = ker_format("%.*s", s->length, s->value), *wrong = NULL;
    struct vl_tables *t = &f->tables[i];
    if (of == LIMIT) {
        wrong = number_read(&t->limit, value, 0, 255, "limit of high priority");
        t->limit = net_vl_limit(t->limit);
    } else if (of == MAP) {
        wrong = net_vl_map_read(f->levels.lane[i], value);
        for (uint32_t k = 0; k < NET_LEVELS; k++)
            if (f->levels.lane[i][k] != NET_NO_LANE)
                f->levels.lane[i][k] &= mask;
        f->levels.mapped = true;
    } else {
        wrong = table_take(of == HIGH ? &t->high : &t->low, value, mask, channels);
    }
    enum ker_status status = wrong ? ker_lines_fail_at(l, s->line, "%s", wrong) : KER_OK;
    free(value);
    free(wrong);
    return status;
}

static enum ker_status options_take(struct vl_file *f, const struct options *o, uint32_t channels,
                                    struct ker_lines *l)
{
    uint32_t code = 5; /* 1: one lane, 2: two, 3: four, 4: eight, 5: fifteen */
    enum ker_status status = KER_OK;
    if (o->lanes.line) {
        char *value = ker_format("%.*s", o->lanes.length, o->lanes.value),
             *wrong = number_read(&code, value, 1, 5, "code of operational lanes");
        status =
            wrong ? ker_lines_fail_at(l, o->lanes.line, "%s (1: one lane, 2: two, 3: four, 4: eight)", wrong)
                  : KER_OK;
        free(value);
        free(wrong);
    }
    for (int i = 0; i < 4 * KEYS && status == KER_OK; i++) {
        int ports = i / KEYS / 2, from = i / KEYS % 2 ? 1 + ports : 0;
        status =
            setting_take(f, ports, i % KEYS, &o->of[from][i % KEYS], (1u << (code - 1)) - 1, channels, l);
    }
    return status;
}

enum ker_status net_vl_file_read(struct vl_file *f, const struct route_topology *topology, uint32_t channels,
                                 const char *name, const char *text, size_t length, struct ker_error *error)
{
    struct options o = {0};
    struct ker_lines l;
    ker_lines_init(&l, name, text, length, error);
    enum ker_status status = ker_lines_check(&l);
    if (status == KER_OK) {
        status = options_find(&o, &l);
        defaults_take(&o);
        f->options = o.found;
    }
    if (status == KER_OK)
        status = options_take(f, &o, channels, &l);
    ker_lines_init(&l, name, text, length, error);
    if (status == KER_OK)
        status = net_vl_ports_read(f, topology, channels, &l);
    if (status == KER_OK && !f->options && !f->named)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: has no line that begins with qos_, as the options file of OpenSM has them "
                        "(opensm -c FILE writes one), nor a table as smpquery vlarb LID PORT prints it",
                        name);
    return status;
}

void net_vl_file_release(struct vl_file *f)
{
    free(f->of_ports);
    free(f->port);
}
