/* figures.c - every number of a summary, by its name; and of open-loop traffic `saturated`: 1 where source
 * queues grow, or the network fills.
 *
 * Names are paths: packet_latency_ps.mean, jobs[lammps].finish_ps, link_classes[node].mean_utilisation. A
 * member of a list is called by the first of its name, class, kind, collective or bytes, else by its index.
 */
#include "tools/marssweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void value_take(struct sweep_figures *f, const char *path, const json_t *value);

static void number_add(struct sweep_figures *f, const char *path, double value)
{
    *KER_APPEND(f->figure, f->count) = (struct sweep_figure){ker_format("%s", path), value};
}

static void members_take(struct sweep_figures *f, const char *path, const json_t *list)
{
    static const char *const names[] = {"name", "class", "kind", "collective", "bytes"};
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *member = json_array_get(list, i), *name = NULL;
        for (size_t n = 0; n < sizeof names / sizeof *names && !name; n++)
            name = json_object_get(member, names[n]);
        char *own = json_is_string(name) ? ker_format("%s[%s]", path, json_string_value(name))
                    : json_is_integer(name)
                        ? ker_format("%s[%lld]", path, (long long)json_integer_value(name))
                        : ker_format("%s[%zu]", path, i);
        value_take(f, own, member);
        free(own);
    }
}

static void value_take(struct sweep_figures *f, const char *path, const json_t *value)
{
    const char *key;
    json_t *member;
    if (json_is_object(value))
        json_object_foreach((json_t *)value, key, member)
        {
            char *own = *path ? ker_format("%s.%s", path, key) : ker_format("%s", key);
            value_take(f, own, member);
            free(own);
        }
    else if (json_is_array(value))
        members_take(f, path, value);
    else if (json_is_number(value))
        number_add(f, path, json_number_value(value));
    else if (json_is_boolean(value))
        number_add(f, path, json_is_true(value));
    else if (json_is_null(value))
        number_add(f, path, NAN);
}

static int figure_compare(const void *a, const void *b)
{
    return strcmp(((const struct sweep_figure *)a)->name, ((const struct sweep_figure *)b)->name);
}

void sweep_figures_sort(struct sweep_figures *f)
{
    if (f->count)
        qsort(f->figure, f->count, sizeof *f->figure, figure_compare);
}

void sweep_figures_take(struct sweep_figures *f, const json_t *summary)
{
    const json_t *result = json_object_get(summary, "result");
    value_take(f, "", result);
    value_take(f, "run", json_object_get(summary, "run"));
    if (json_object_get(json_object_get(result, "traffic"), "source_queues"))
        number_add(f, SWEEP_SATURATED, stats_saturated(result) || stats_fills(result));
    sweep_figures_sort(f);
}

void sweep_figures_free(struct sweep_figures *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->figure[i].name);
    free(f->figure);
    *f = (struct sweep_figures){NULL, 0};
}

static const struct sweep_figure *find(const struct sweep_figures *f, const char *name)
{
    struct sweep_figure wanted = {(char *)name, 0};
    return f->count ? bsearch(&wanted, f->figure, f->count, sizeof *f->figure, figure_compare) : NULL;
}

double sweep_figure_of(const struct sweep_figures *f, const char *name)
{
    const struct sweep_figure *figure = find(f, name);
    return figure ? figure->value : NAN;
}

bool sweep_figure_there(const struct sweep_figures *f, const char *name)
{
    return find(f, name) != NULL;
}
