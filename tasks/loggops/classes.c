/* classes.c - parameters by distance: the key loggops.classes.
 *
 * A class is a size: processes stand in blocks of so many, as they are numbered, and what goes between two
 * processes of one block has its parameters. Classes ascend, each a multiple of the one before, so that
 * blocks lie in blocks; the smallest that has both processes counts.
 */
#include "tasks/loggops/model.h"

#include <stdlib.h>

#define WITH "network.model=loggops"

const struct ker_option loggops_class_options[] = {
    {"loggops.classes[].within", KER_TYPE_CHOICE, NULL, NULL, NULL, "core|node|board|rack",
     "Messages between processes of the same core, node, board or rack have the parameters of this group in "
     "place of loggops.L, o, g, G and O; the smallest that has both counts.",
     WITH},
    {"loggops.classes[].processes", KER_TYPE_INT, NULL, "1", "2147483647", NULL,
     "How many processes one holds: they are numbered through all jobs, and stand in blocks of this many. A "
     "multiple of the one before.",
     WITH},
    {"loggops.classes[].L", KER_TYPE_TIME, NULL, NULL, "1000 s", NULL,
     "As loggops.L, which it is when absent.", WITH},
    {"loggops.classes[].o", KER_TYPE_TIME, NULL, NULL, "1000 s", NULL,
     "As loggops.o, which it is when absent.", WITH},
    {"loggops.classes[].g", KER_TYPE_TIME, NULL, NULL, "1000 s", NULL,
     "As loggops.g, which it is when absent.", WITH},
    {"loggops.classes[].G", KER_TYPE_STRING, NULL, NULL, NULL, NULL, "As loggops.G, which it is when absent.",
     WITH},
    {"loggops.classes[].O", KER_TYPE_STRING, NULL, NULL, NULL, NULL, "As loggops.O, which it is when absent.",
     WITH},
    {0},
};

static const char *class_key(char *buffer, size_t room, uint32_t number, const char *name)
{
    snprintf(buffer, room, "loggops.classes[%u].%s", number, name);
    return buffer;
}
#define KEY(number, name) class_key((char[64]){0}, 64, number, name)

static void time_read(ker_time *time, const struct ker_config *config, const char *key)
{
    if (ker_config_has(config, key))
        *time = ker_config_time(config, key);
}

static enum ker_status rate_read(struct loggops_rate *rate, const struct ker_config *config, const char *key,
                                 struct ker_error *error)
{
    return ker_config_has(config, key) ? loggops_rate_read(rate, config, key, error) : KER_OK;
}

static enum ker_status class_read(struct loggops_system *s, uint32_t number, const struct ker_config *config,
                                  struct ker_error *error)
{
    static const struct ker_word levels[] = {{"core", 1}, {"node", 2}, {"board", 3}, {"rack", 4}, {NULL, 0}};
    struct loggops_class *c = &s->class[number], *smaller = number ? c - 1 : NULL;
    const char *within = KEY(number, "within"), *processes = KEY(number, "processes");
    if (!ker_config_has(config, within))
        return ker_config_fail(config, error, within, "is missing: core, node, board or rack");
    if (!ker_config_has(config, processes))
        return ker_config_fail(config, error, processes, "is missing: how many processes a %s holds",
                               ker_config_string(config, within));
    c->level = ker_config_number(config, within, levels);
    c->processes = (uint32_t)ker_config_int(config, processes);
    if (smaller && smaller->level >= c->level)
        return ker_config_fail(config, error, within,
                               "stands behind one that is not smaller; core, node, board, rack is the order");
    if (smaller && (c->processes % smaller->processes || c->processes == smaller->processes))
        return ker_config_fail(config, error, processes, "is no multiple of %u, which the one before holds",
                               smaller->processes);
    c->set = s->set;
    time_read(&c->set.latency, config, KEY(number, "L"));
    time_read(&c->set.overhead, config, KEY(number, "o"));
    time_read(&c->set.gap, config, KEY(number, "g"));
    enum ker_status status = rate_read(&c->set.per_byte, config, KEY(number, "G"), error);
    return status ? status : rate_read(&c->set.busy, config, KEY(number, "O"), error);
}

enum ker_status loggops_classes_read(struct loggops_system *s, const struct ker_config *config,
                                     struct ker_error *error)
{
    uint32_t count = (uint32_t)ker_config_count(config, "loggops.classes");
    s->class = ker_alloc(count * sizeof *s->class);
    for (; s->classes < count; s->classes++) {
        enum ker_status status = class_read(s, s->classes, config, error);
        if (status)
            return status;
    }
    return KER_OK;
}

const struct loggops_parameters *loggops_class_of(const struct loggops_system *s, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < s->classes; i++)
        if (a / s->class[i].processes == b / s->class[i].processes)
            return &s->class[i].set;
    return &s->set;
}

ker_time loggops_least(const struct loggops_system *s, bool overhead)
{
    ker_time least = s->set.latency + (overhead ? s->set.overhead : 0);
    for (uint32_t i = 0; i < s->classes; i++) {
        ker_time time = s->class[i].set.latency + (overhead ? s->class[i].set.overhead : 0);
        least = time < least ? time : least;
    }
    return least;
}
