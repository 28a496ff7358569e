/* When open-loop messages are created: Poisson, periodic, bursts, Bernoulli.
 *
 * A node's clock is whole picoseconds and, for gaps that are no whole picoseconds, a fraction in units of
 * 2^-32 ps, so that a period is kept exactly over any number of messages. Exponential gaps are rounded to
 * whole picoseconds each: rounding half up keeps their mean.
 *
 * The load counts all bytes on the wire, payload and headers, so that 1 is what the injection link can carry.
 */
#include "net/net.h"
#include "tasks/traffic/traffic.h"

#include <math.h>

#define LONGEST_PS 1e15 /* 1000 s: a longer mean gap is a slip, and sums of gaps must stay in 63 bits */

/* (0, 1]: its logarithm is finite. */
static double time_unit(const struct ker_bits *bits)
{
    return ker_random_unit(bits->word[0], bits->word[1]) + 0x1p-53;
}

static ker_time time_exponential(double mean_ps, const struct ker_bits *bits)
{
    return (ker_time)(-mean_ps * log(time_unit(bits)) + 0.5);
}

static void time_add(struct task_traffic_node *n, ker_time whole_ps, uint32_t fraction)
{
    uint32_t sum = n->next_fraction + fraction;
    n->next_ps += whole_ps + (sum < fraction);
    n->next_fraction = sum;
}

static void time_split(double gap_ps, ker_time *whole_ps, uint32_t *fraction)
{
    double whole = floor(gap_ps);
    *whole_ps = (ker_time)whole;
    *fraction = (uint32_t)((gap_ps - whole) * 0x1p32);
}

static void poisson_advance(const struct task_traffic *t, struct task_traffic_node *n,
                            const struct ker_bits *bits)
{
    n->next_ps += time_exponential(t->gap.mean_ps, bits);
}

static void periodic_advance(const struct task_traffic *t, struct task_traffic_node *n,
                             const struct ker_bits *bits)
{
    if (n->begins) {
        ker_time whole_ps;
        uint32_t fraction;
        time_split(t->gap.mean_ps * ker_random_unit(bits->word[0], bits->word[1]), &whole_ps, &fraction);
        time_add(n, whole_ps, fraction);
    } else {
        time_add(n, t->gap.whole_ps, t->gap.fraction);
    }
}

/* Equal gaps inside a burst; whether a message is the last of its burst is drawn with it (geometric length),
 * and the pause behind it is exponential. */
static void burst_advance(const struct task_traffic *t, struct task_traffic_node *n,
                          const struct ker_bits *bits)
{
    time_add(n, t->gap.burst_ps, t->gap.burst_fraction);
    if (n->burst_ended)
        n->next_ps += time_exponential(t->gap.off_ps, bits);
    struct ker_bits more = ker_random_bits(t->seed, KER_PURPOSE_TRAFFIC_TIME, t->first + n->node,
                                           (n->drawn + ((uint64_t)n->renewed << 40)) | UINT64_C(1) << 63);
    n->burst_ended = ker_random_unit(more.word[0], more.word[1]) < t->gap.end_probability;
}

/* Slots of equal length from the start on, the same for all nodes; in each a message is created with the same
 * chance. So the gap is a geometric number of slots. */
static void bernoulli_advance(const struct task_traffic *t, struct task_traffic_node *n,
                              const struct ker_bits *bits)
{
    double slots = floor(log(time_unit(bits)) * t->gap.slot_factor) + !n->begins;
    unsigned __int128 gap =
        (unsigned __int128)(uint64_t)slots * ((uint64_t)t->gap.whole_ps << 32 | t->gap.fraction);
    time_add(n, (ker_time)(gap >> 32), (uint32_t)gap);
}

static double time_wire_bytes(const struct task_traffic *t, const struct ker_config *config)
{
    return t->size.mean_bytes + t->size.mean_packets * net_packet_header(config);
}

static enum ker_status burst_read(struct task_traffic *t, const struct ker_config *config,
                                  struct ker_error *error)
{
    double length = ker_config_real(config, "traffic.burst_length");
    /* gap.off_ps holds the gap at load 1, as task_traffic_arrival_read left it. */
    double load = ker_config_real(config, "traffic.burst_load");
    double inside_ps = t->gap.off_ps / load;
    if (!(load > 0) || inside_ps > t->gap.mean_ps * (1 + 1e-9))
        return ker_config_fail(config, error, "traffic.burst_load", "%g is less than the mean load, %g", load,
                               t->gap.off_ps / t->gap.mean_ps);
    time_split(inside_ps, &t->gap.burst_ps, &t->gap.burst_fraction);
    t->gap.end_probability = 1 / length;
    t->gap.off_ps = fmax(0, length * (t->gap.mean_ps - inside_ps));
    if (t->gap.off_ps > LONGEST_PS)
        return ker_config_fail(config, error, "traffic.burst_length",
                               "makes pauses of %g s; at most 1000 s are possible", t->gap.off_ps / 1e12);
    return KER_OK;
}

/* gap.off_ps holds the gap at load 1, as task_traffic_arrival_read left it: a slot, unless the configuration
 * says otherwise. */
static enum ker_status bernoulli_read(struct task_traffic *t, const struct ker_config *config,
                                      struct ker_error *error)
{
    double slot_ps = ker_config_has(config, "traffic.slot") ? (double)ker_config_time(config, "traffic.slot")
                                                            : t->gap.off_ps;
    double chance = slot_ps / t->gap.mean_ps;
    if (chance > 1 + 1e-9)
        return ker_config_fail(config, error, "traffic.arrival",
                               "\"bernoulli\" makes one message every %g ns at most (a slot), but the mean "
                               "interval is %g ns; lower traffic.load, or use \"poisson\"",
                               slot_ps / 1e3, t->gap.mean_ps / 1e3);
    if (slot_ps < 1)
        return ker_config_fail(config, error, "traffic.arrival",
                               "\"bernoulli\" has slots of %g ps here, the time of a message on its "
                               "injection link; 1 ps at least is possible: give traffic.slot",
                               slot_ps);
    t->gap.slot_factor = chance < 1 ? 1 / log1p(-chance) : 0;
    time_split(slot_ps, &t->gap.whole_ps, &t->gap.fraction);
    return KER_OK;
}

static const struct ker_option burst_options[] = {
    {"traffic.burst_length", KER_TYPE_REAL, "8", "1", NULL, NULL,
     "Mean number of messages in a burst (geometric).", .resume = KER_RESUME_FORK},
    {"traffic.burst_load", KER_TYPE_REAL, "1", "0", NULL, NULL,
     "Load while a burst lasts, counted like traffic.load; at least that.", .resume = KER_RESUME_FORK},
    {0},
};

static const struct ker_option bernoulli_options[] = {
    {"traffic.slot", KER_TYPE_TIME, NULL, "1 ps", "1000 s", NULL,
     "Slot of the arrival bernoulli; absent: the time of a message of mean size on the injection link.",
     .resume = KER_RESUME_FORK},
    {0},
};

const struct ker_kind task_arrival_poisson = {
    .name = "poisson",
    .meaning = "exponential gaps",
    .operations = &(const struct task_traffic_arrival){NULL, poisson_advance}};
const struct ker_kind task_arrival_periodic = {
    .name = "periodic",
    .meaning = "equal gaps, each node with a phase of its own",
    .operations = &(const struct task_traffic_arrival){NULL, periodic_advance}};
const struct ker_kind task_arrival_burst = {
    .name = "burst",
    .meaning = "on and off: bursts of messages with exponential pauses",
    .operations = &(const struct task_traffic_arrival){burst_read, burst_advance},
    .options = KER_OPTIONS(burst_options)};
const struct ker_kind task_arrival_bernoulli = {
    .name = "bernoulli",
    .meaning = "in each slot of a message's time with the same chance; all nodes in step",
    .operations = &(const struct task_traffic_arrival){bernoulli_read, bernoulli_advance},
    .options = KER_OPTIONS(bernoulli_options)};

/* The table of arrivals: one line each. */
#define ARRIVALS(KIND)                                                                                       \
    KIND(task_arrival_poisson)                                                                               \
    KIND(task_arrival_periodic)                                                                              \
    KIND(task_arrival_burst)                                                                                 \
    KIND(task_arrival_bernoulli)
KER_KINDS_TABLE(arrival_kinds, ARRIVALS);
const struct ker_kinds task_traffic_arrivals = {"traffic.arrival", "arrivals",
                                                sizeof(struct task_traffic_arrival), arrival_kinds};

enum ker_status task_traffic_arrival_read(struct task_traffic *t, const struct ker_config *config,
                                          uint64_t rate, struct ker_error *error)
{
    bool has_load = ker_config_has(config, "traffic.load"),
         has_interval = ker_config_has(config, "traffic.interval");
    if (has_load == has_interval)
        return ker_config_fail(
            config, error, has_load ? "traffic.interval" : "traffic.pattern",
            has_load ? "give traffic.load or traffic.interval, not both"
                     : "give traffic.load or traffic.interval, or traffic.outstanding for a closed loop");
    double full_ps = time_wire_bytes(t, config) * 1e12 / (double)rate; /* between messages at load 1 */
    double load = has_load ? ker_config_real(config, "traffic.load") : 1;
    if (!(load > 0))
        return ker_config_fail(config, error, "traffic.load",
                               "must be more than 0; without traffic.pattern there is no traffic");
    t->gap.mean_ps = has_load ? full_ps / load : (double)ker_config_time(config, "traffic.interval");
    if (!(t->gap.mean_ps >= 1) || t->gap.mean_ps > LONGEST_PS)
        return ker_config_fail(config, error, has_load ? "traffic.load" : "traffic.interval",
                               "messages every %g s; between 1 ps and 1000 s is possible",
                               t->gap.mean_ps / 1e12);
    t->load = full_ps / t->gap.mean_ps;
    time_split(t->gap.mean_ps, &t->gap.whole_ps, &t->gap.fraction);
    t->gap.off_ps = full_ps;
    t->arrival = ker_config_operations(config, "traffic.arrival");
    return t->arrival->read ? t->arrival->read(t, config, error) : KER_OK;
}
