/* noise.c - detours of cpus under LogGOPS, by LogGOPSim's law (nodes/noise.h): of a message that is o alone,
 * not the time of its further bytes. A delay is a function of the process, the time and the length; nothing
 * is counted.
 */
#include "tasks/loggops/model.h"

#define WITH "network.model=loggops & loggops.noise.kind"

const struct ker_option loggops_noise_options[] = {
    {"loggops.noise.kind", KER_TYPE_CHOICE, "none", NULL, NULL, "none|trace|periodic",
     "What delays cpus from outside: nothing, detours of a trace, or one in each period.",
     "network.model=loggops"},
    {"loggops.noise.trace", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "Detours as LogGOPSim reads them: a line each with begin and length in nanoseconds, ascending; # begins "
     "a comment. The end of the last is where they begin again.",
     WITH "=trace"},
    {"loggops.noise.period", KER_TYPE_TIME, "1 ms", "1 ps", "1000000 s", NULL,
     "From the begin of a detour to that of the next.", WITH "=periodic"},
    {"loggops.noise.length", KER_TYPE_TIME, "10 us", "0 ps", "1000000 s", NULL,
     "How long each takes; less than the period.", WITH "=periodic"},
    {"loggops.noise.begin", KER_TYPE_CHOICE, "random", NULL, NULL, "random|same",
     "Where in the trace or period processes are at time 0: each somewhere, drawn from run.seed, or all at "
     "loggops.noise.phase.",
     WITH "!=none"},
    {"loggops.noise.phase", KER_TYPE_TIME, "0 ns", NULL, "1000000 s", NULL,
     "How long after the begin of the trace or period time 0 is.", "loggops.noise.begin=same"},
    {0},
};

enum ker_status loggops_noise_read(struct loggops_noise *n, const struct ker_config *config,
                                   struct ker_error *error)
{
    const char *kind = "loggops.noise.kind";
    if (ker_config_is(config, kind, "none"))
        return KER_OK;
    n->seed = (uint64_t)ker_config_int(config, "run.seed");
    n->purpose = ker_purpose("loggops.noise");
    n->same = ker_config_is(config, "loggops.noise.begin", "same");
    n->phase = n->same ? ker_config_time(config, "loggops.noise.phase") : 0;
    if (ker_config_is(config, kind, "trace"))
        return node_detours_read(&n->detours, config, "loggops.noise.trace", error);
    return node_detours_periodic(&n->detours, config, "loggops.noise.period", "loggops.noise.length", error);
}

void loggops_noise_free(struct loggops_noise *n)
{
    node_detours_free(&n->detours);
    *n = (struct loggops_noise){0};
}

ker_time loggops_noise_delay(const struct loggops_noise *n, uint32_t process, ker_time from, ker_time length)
{
    ker_time phase = n->same ? n->phase : node_detours_place(&n->detours, n->seed, n->purpose, process);
    return node_detours_delay(&n->detours, phase, from, length);
}
