/* power.c - what a run has needed of energy: a sum over cores, memory, adapters and links.
 *
 * Each of them has two powers, in watts: busy and idle; it needs busy W x busy time + idle W x the other
 * time. A core (a hardware thread, where cores have several) is busy while it has work; an adapter while it
 * sends; a direction of a link while it transmits. A direction that has transmitted nothing needs
 * power.link_off, where that is given. Memory needs an energy for each byte that is moved through a
 * controller. All of it from time 0 to the end of the run. Links and adapters are counted in the measured
 * span: before and behind it they are taken as in it.
 */
#include "run/stages.h"

#define PACKETS "network.model=packet"

const struct ker_option run_power_options[] = {
    {"power.adapter_busy", KER_TYPE_REAL, "0", "0", "1000000", NULL, "Watts of an adapter that sends.",
     PACKETS},
    {"power.adapter_idle", KER_TYPE_REAL, "0", "0", "1000000", NULL, "Watts of one that does not.", PACKETS},
    {"power.link_busy", KER_TYPE_REAL, "0", "0", "1000000", NULL,
     "Watts of a direction of a link that transmits.", PACKETS},
    {"power.link_idle", KER_TYPE_REAL, "0", "0", "1000000", NULL, "Watts of one that does not.", PACKETS},
    {"power.link_off", KER_TYPE_REAL, NULL, "0", "1000000", NULL,
     "Watts of one that transmits nothing in the whole run, as it is switched off then. Absent: as idle.",
     PACKETS},
    {0},
};

static double watts(const struct run *run, const char *key)
{
    return ker_config_has(run->config, key) ? ker_config_real(run->config, key) : 0;
}

/* Of directions with this power; busy: a share of their time. */
static double power(double count, double busy, double busy_watts, double idle_watts)
{
    return count * (busy * busy_watts + (1 - busy) * idle_watts);
}

/* Busy time as a share of all of them. */
static double share(const struct run_use *use, ker_time span)
{
    return use->directions && span > 0 ? (double)use->busy / ((double)span * (double)use->directions) : 0;
}

json_t *run_power_json(const struct run *run, const struct run_use *links, const struct run_use *adapters,
                       const json_t *inside, ker_time span, ker_time at)
{
    const json_t *cores = json_object_get(inside, "cores"), *memory = json_object_get(inside, "controllers");
    double seconds = 1e-12 * (double)at, of[4];
    bool asked = run->model.power;
    for (const struct ker_option *o = run_power_options; o->key; o++)
        asked |= ker_config_has(run->config, o->key);
    if (!asked)
        return NULL;
    of[0] = seconds * power(json_number_value(json_object_get(cores, "count")),
                            json_number_value(json_object_get(cores, "busy")),
                            watts(run, "node.power.core_busy"), watts(run, "node.power.core_idle"));
    of[1] =
        1e-12 * json_number_value(json_object_get(memory, "bytes")) * watts(run, "node.power.memory_byte");
    of[2] = seconds * power((double)adapters->directions, share(adapters, span),
                            watts(run, "power.adapter_busy"), watts(run, "power.adapter_idle"));
    double idle = watts(run, "power.link_idle"),
           off = ker_config_has(run->config, "power.link_off") ? watts(run, "power.link_off") : idle;
    struct run_use all = {0};
    for (int i = 0; i < route_summarise(run->topology)->link_count; i++) {
        all.directions += links[i].directions;
        all.unused += links[i].unused;
        all.busy += links[i].busy;
    }
    of[3] = seconds * (power((double)all.directions, share(&all, span), watts(run, "power.link_busy"), idle) +
                       (double)all.unused * (off - idle));
    double sum = of[0] + of[1] + of[2] + of[3];
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "cores_j", of[0], "memory_j", of[1], "adapters_j",
                     of[2], "links_j", of[3], "energy_j", sum, "mean_w", seconds > 0 ? sum / seconds : 0.0);
}
