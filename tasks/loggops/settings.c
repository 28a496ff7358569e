/* settings.c - the keys network.model and loggops.*. */
#include "tasks/loggops/loggops.h"

#include <ctype.h>
#include <string.h>

#define WITH "network.model=loggops"
#define ENDS "network.model=loggops or mpi.overheads=loggops"
#define NETWORK "mpi.overheads=loggops"
#define RATE_MOST ((uint64_t)1000000000000) /* picoseconds per byte: a second */

const struct ker_kind task_loggops_model = {
    .name = "loggops",
    .meaning = "LogGOPS: processes with cpus and adapters in the place of nodes, and a latency between them",
};

/* The table of models: a carrier of messages below nodes (net/carrier.h), or what is in the place of
 * nodes, which run/ knows (struct run_model). */
#define MODELS(KIND)                                                                                         \
    KIND(net_packet_model)                                                                                   \
    KIND(net_simple_model)                                                                                   \
    KIND(net_links_model)                                                                                    \
    KIND(net_bus_model)                                                                                      \
    KIND(net_pmac_model)                                                                                     \
    KIND(net_flow_model)                                                                                     \
    KIND(task_loggops_model)
KER_KINDS_TABLE(kinds, MODELS);
static const struct ker_kinds family = {"network.model", "models of the network", sizeof(struct net_carrier),
                                        kinds};

const struct ker_option loggops_options[] = {
    {"network.model", KER_TYPE_CHOICE, "packet", .kinds = &family,
     .meaning =
         "What carries messages. All but loggops are below nodes: jobs, MPI, services, traffic and what is "
         "inside a node are the same above them."},
    {"loggops.L", KER_TYPE_TIME, "2500 ns", NULL, "1000 s", NULL, "Latency between processes.", WITH},
    {"loggops.o", KER_TYPE_TIME, "1500 ns", NULL, "1000 s", NULL,
     "Time of the cpu for a message, at its sender and at its receiver.", ENDS},
    {"loggops.g", KER_TYPE_TIME, "1000 ns", NULL, "1000 s", NULL,
     "Least time between the beginnings of two messages at an adapter, in each direction.", ENDS},
    {"loggops.G", KER_TYPE_STRING, "6 ns", NULL, NULL, NULL,
     "Time of the adapter for each further byte of a message, \"0.04 ns\".", ENDS},
    {"loggops.O", KER_TYPE_STRING, "0 ns", NULL, NULL, NULL,
     "Time of the cpu for each further byte; at the receiver at least loggops.G.", ENDS},
    {"loggops.S", KER_TYPE_BYTES, "65535 B", NULL, NULL, NULL,
     "Longer messages wait until they are matched (mpi.rendezvous).", ENDS},
    {"loggops.rendezvous.o", KER_TYPE_TIME, NULL, NULL, "1000 s", NULL,
     "loggops.o of messages longer than loggops.S; absent: the same.", NETWORK},
    {"loggops.rendezvous.g", KER_TYPE_TIME, NULL, NULL, "1000 s", NULL,
     "loggops.g of messages longer than loggops.S; absent: the same.", NETWORK},
    {"loggops.rendezvous.G", KER_TYPE_STRING, NULL, NULL, NULL, NULL,
     "loggops.G of messages longer than loggops.S; absent: the same.", NETWORK},
    {"loggops.rendezvous.O", KER_TYPE_STRING, NULL, NULL, NULL, NULL,
     "loggops.O of messages longer than loggops.S; absent: the same.", NETWORK},
    {"loggops.nodes", KER_TYPE_INT, NULL, "1", "2147483647", NULL,
     "Nodes that tasks are placed on (jobs[].placement), for loggops.classes; absent: those of the topology, "
     "or one for each task.",
     WITH},
    {"loggops.faults", KER_TYPE_CHOICE | KER_TYPE_LIST, NULL, NULL, NULL, "dependencies|zero_bytes|sizes",
     "What LogGOPSim does wrong is done here, too, for comparisons with it: dependencies between cpus that "
     "take no time; messages of 0 bytes, whose length less one wraps around; receives that decide by their "
     "own size whether a message has waited.",
     WITH},
    {0},
};

bool task_loggops_wanted(const struct ker_config *config)
{
    return ker_config_is(config, "network.model", "loggops");
}

/* "0.04 ns": at most six decimals of a picosecond count. */
static bool rate_parse(const char *text, struct loggops_rate *rate)
{
    static const struct {
        const char *name;
        uint64_t millionths;
    } units[] = {{"ps", 1000000}, {"ns", 1000000000}, {"us", 1000000000000}, {"ms", 1000000000000000}};
    unsigned __int128 digits = 0, scale = 1;
    int count = 0, point = 0;
    for (; isdigit((unsigned char)*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = 1;
            continue;
        }
        digits = digits * 10 + (unsigned)(*text - '0');
        scale *= point ? 10 : 1;
        if (++count > 18)
            return false;
    }
    text += strspn(text, " ");
    for (size_t i = 0; count && i < sizeof units / sizeof *units; i++) {
        if (strcmp(text, units[i].name) != 0)
            continue;
        unsigned __int128 all = (digits * units[i].millionths + scale / 2) / scale;
        if (all / 1000000 > RATE_MOST)
            return false;
        *rate = (struct loggops_rate){(uint64_t)(all / 1000000), (uint64_t)(all % 1000000)};
        return true;
    }
    return false;
}

enum ker_status loggops_rate_read(struct loggops_rate *rate, const struct ker_config *config, const char *key,
                                  struct ker_error *error)
{
    if (rate_parse(ker_config_string(config, key), rate))
        return KER_OK;
    return ker_config_fail(
        config, error, key,
        "\"%s\" is no time per byte: give a number of up to 18 digits and ps, ns, us or ms, "
        "as \"0.04 ns\", at most one second",
        ker_config_string(config, key));
}

const char *const loggops_faults[LOGGOPS_FAULTS] = {"dependencies", "zero_bytes", "sizes"};

/* They want the instant in which all of it happens there, and one rank. */
static enum ker_status faults_read(unsigned *faults, const struct ker_config *config, struct ker_error *error)
{
    const char *key = "loggops.faults";
    for (int i = 0; ker_config_has(config, key) && i < ker_config_count(config, key); i++)
        for (unsigned fault = 0; fault < LOGGOPS_FAULTS; fault++)
            if (strcmp(ker_config_string_at(config, key, i), loggops_faults[fault]) == 0)
                *faults |= 1u << fault;
    if (*faults && !ker_config_is(config, "mpi.rendezvous", "instant"))
        return ker_config_fail(config, error, key, "is for mpi.rendezvous = \"instant\" only");
    return KER_OK;
}

enum ker_status loggops_settings(struct loggops_parameters *set, const struct ker_config *config,
                                 struct ker_error *error)
{
    static const struct ker_word ways[] = {
        {"instant", LOGGOPS_INSTANT}, {"read", LOGGOPS_READ}, {"write", LOGGOPS_WRITE}, {NULL, 0}};
    set->latency = ker_config_time(config, "loggops.L");
    set->overhead = ker_config_time(config, "loggops.o");
    set->gap = ker_config_time(config, "loggops.g");
    set->eager = ker_config_bytes(config, "loggops.S");
    set->rendezvous = (enum loggops_rendezvous)ker_config_number(config, "mpi.rendezvous", ways);
    enum ker_status status = loggops_rate_read(&set->per_byte, config, "loggops.G", error);
    status = status ?: loggops_rate_read(&set->busy, config, "loggops.O", error);
    return status ?: faults_read(&set->faults, config, error);
}
