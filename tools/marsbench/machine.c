/* machine.c - what was fitted, as keys of marssim. What was not found is left out. */
#include "tools/marsbench/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is assumed counts, too: the others were fitted beside it. */
static bool found(const struct bench_param *p)
{
    return p->state != BENCH_UNUSED && p->state != BENCH_AT_LEAST;
}

static struct bench_key *key_add(struct bench_key *key, size_t *keys, const char *name)
{
    struct bench_key *k = &key[(*keys)++];
    ker_assert(*keys <= BENCH_KEYS);
    snprintf(k->name, sizeof k->name, "%s", name);
    k->value[0] = 0;
    return k;
}

/* ["1.6 us", "1.8 us:256 B"], without the knots that no point has; the first one is that of the smallest
 * message. Behind the last knot it is level: straight lines continue, so one more has its value. */
static void list_add(struct bench_key *key, size_t *keys, const char *name, const struct bench_model *m,
                     const struct bench_knots *k)
{
    struct bench_key *to = key_add(key, keys, name);
    size_t at = 0, room = sizeof to->value;
    double ns = 0, last = 0;
    for (size_t i = 0; i < k->count; i++) {
        const struct bench_param *p = &m->param[k->first + i];
        if (p->state == BENCH_UNUSED)
            continue;
        ns = fmax(p->value, 0) * 1e3;
        last = at ? k->bytes[i] : 0;
        at += (size_t)snprintf(to->value + at, room - at, at ? ", \"%.1f ns:%.0f B\"" : "[\"%.1f ns\"", ns,
                               last);
    }
    if (last > 0)
        at += (size_t)snprintf(to->value + at, room - at, ", \"%.1f ns:%.0f B\"", ns, last + 1);
    snprintf(to->value + at, room - at, "]");
}

/* "24 GB/s", or ["24 GB/s", "20 GB/s:65536 B"]: without those that no point has. */
static void rates_add(struct bench_key *key, size_t *keys, const char *name, const struct bench_model *m,
                      const struct bench_knots *k)
{
    struct bench_key *to = key_add(key, keys, name);
    size_t room = sizeof to->value;
    size_t at = (size_t)snprintf(to->value, room, "[\"%.2f GB/s\"", 1e-3 / m->param[k->first].value);
    for (size_t i = 1; i < k->count; i++)
        if (m->param[k->first + i].state != BENCH_UNUSED)
            at += (size_t)snprintf(to->value + at, room - at, ", \"%.2f GB/s:%.0f B\"",
                                   1e-3 / m->param[k->first + i].value, k->bytes[i]);
    snprintf(to->value + at, room - at, "]");
}

static void rate_add(struct bench_key *key, size_t *keys, const char *name, const struct bench_param *p)
{
    snprintf(key_add(key, keys, name)->value, 64, "\"%.2f GB/s\"", 1e-3 / p->value);
}

static bool any(const struct bench_model *m, const struct bench_knots *k)
{
    for (size_t i = 0; i < k->count; i++)
        if (m->param[k->first + i].state != BENCH_UNUSED)
            return true;
    return false;
}

size_t bench_machine_keys(const struct bench_fit *f, struct bench_key key[BENCH_KEYS])
{
    const struct bench_model *m = &f->model;
    size_t keys = 0;
    bool between = any(m, &m->send), inside = any(m, &m->memory);
    if (between) {
        list_add(key, &keys, "node.send_overhead", m, &m->send);
        list_add(key, &keys, "node.receive_overhead", m, &m->receive);
    }
    if (inside)
        list_add(key, &keys, "node.memory_overhead", m, &m->memory);
    if (between || inside)
        strcpy(key_add(key, &keys, "node.overhead_between")->value, "\"lines\"");
    const struct bench_param *latency = &m->param[m->memory_latency], *socket = &m->param[m->socket_latency];
    if (inside && latency->state != BENCH_UNUSED)
        snprintf(key_add(key, &keys, "node.memory_latency")->value, 64, "\"%.1f ns\"",
                 fmax(latency->value, 0) * 1e3);
    if (found(socket) && socket->value > 0)
        snprintf(key_add(key, &keys, "node.socket_latency")->value, 64, "\"%.1f ns\"", socket->value * 1e3);
    /* Copies in a collective go at the rate of messages inside a node: that of the messages, where both are
     * known. */
    bool copies = found(&m->param[m->copy]);
    const struct bench_param *rate = &m->param[m->memory_rate];
    if (copies || (inside && rate->state != BENCH_UNUSED))
        rate_add(key, &keys, "node.memory_bandwidth",
                 inside && rate->state != BENCH_UNUSED ? rate : &m->param[m->copy]);
    bool reduces = false;
    for (size_t i = 0; i < m->reduce.count; i++)
        reduces |= found(&m->param[m->reduce.first + i]);
    if (reduces)
        rates_add(key, &keys, "mpi.reduce_rate", m, &m->reduce);
    if (copies)
        strcpy(key_add(key, &keys, "mpi.copies")->value, "\"collectives\"");
    snprintf(key_add(key, &keys, "mpi.eager_limit")->value, 64, "\"%.0f B\"", m->eager);
    if (m->rate.count > 1)
        rates_add(key, &keys, "adapter.injection_rate", m, &m->rate);
    return keys;
}

/* A value of the command line, as libconfig wants it. */
static void value_write(const char *value, FILE *out)
{
    char *end;
    bool plain = *value == '[' || *value == '"' || strcmp(value, "true") == 0 ||
                 strcmp(value, "false") == 0 || (strtod(value, &end), end != value && !*end);
    fprintf(out, plain ? "%s;\n" : "\"%s\";\n", value);
}

/* What was found, and what --key says. */
static void group_write(const struct bench_fit *f, const struct bench_key *key, size_t keys,
                        const char *group, FILE *out)
{
    size_t length = strlen(group), written = 0;
    for (size_t i = 0; i < keys + f->known.key_count; i++) {
        const char *name = i < keys ? key[i].name : f->known.keys[i - keys], *value = strchr(name, '=');
        if (strncmp(name, group, length) != 0 || name[length] != '.' || (i >= keys && !value))
            continue;
        name += length + 1;
        if (!written++)
            fprintf(out, "%s = {\n", group);
        fprintf(out, "    %.*s = ", (int)strcspn(name, "="), name);
        value_write(i < keys ? key[i].value : value + 1, out);
    }
    if (written)
        fputs("};\n", out);
}

bool bench_machine_write(const struct bench_fit *f, const char *from, FILE *out)
{
    struct bench_key key[BENCH_KEYS];
    size_t keys = bench_machine_keys(f, key);
    const struct bench_param *rate = &f->model.param[f->model.rate.first];
    char text[32];
    from = strrchr(from, '/') ? strrchr(from, '/') + 1 : from;
    fprintf(out,
            "# The ends of a machine, as marsbench --fit found them from %s: %zu points, condition %.3g.\n",
            from, f->used, f->condition);
    if (found(rate))
        fprintf(out, "# A stream between nodes has %s%s: for topology.bandwidth.\n",
                ker_print_rate(text, 1e6 / rate->value),
                rate->state == BENCH_GIVEN ? ", which was given" : "");
    for (size_t p = 0; p < f->model.params; p++)
        if (f->model.param[p].state == BENCH_UNDETERMINED)
            fprintf(out, "# Not determined by the points, but assumed: %s.\n", f->model.param[p].name);
    static const char *const groups[] = {"node", "mpi", "adapter"};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        group_write(f, key, keys, groups[g], out);
    return !ferror(out);
}
