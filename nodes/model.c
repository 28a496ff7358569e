/* model.c - the first node model: constants from the configuration and two closed forms.
 *
 * A message inside a node takes memory_latency + bytes / memory_rate, whatever else the memory bus does:
 * copies do not slow each other down. Computation scales with one factor. Both are pure functions, so that
 * results cannot depend on who asks.
 */
#include "nodes/nodes.h"

#include <math.h>

const struct ker_option node_options[] = {
    {"node.cores", KER_TYPE_INT, "1", "1", "65000", NULL,
     "Cores of a node: at most this many tasks run on it.", "jobs or traffic.outstanding!=0"},
    {"node.send_overhead", KER_TYPE_TIME, "0 ns", NULL, "1 s", NULL,
     "Processor time a task spends for each message it sends.", "jobs"},
    {"node.receive_overhead", KER_TYPE_TIME, "0 ns", NULL, "1 s", NULL,
     "Processor time a task spends for each message it has received, when the call that waits for it "
     "returns.",
     "jobs"},
    {"node.doorbell", KER_TYPE_TIME, "0 ns", NULL, "1 s", NULL,
     "Time from the task's call until the adapter knows of the message; the processor goes on meanwhile.",
     "jobs"},
    {"node.memory_latency", KER_TYPE_TIME, "200 ns", NULL, "1 s", NULL,
     "Time of an empty message between two tasks of one node.", "jobs"},
    {"node.memory_bandwidth", KER_TYPE_RATE, "10 GB/s", "1 kB/s", NULL, NULL,
     "Bandwidth of a message between two tasks of one node.", "jobs"},
    {0},
};

enum ker_status node_model_init(struct node_model *model, const struct ker_config *config,
                                struct ker_error *error)
{
    model->cores = (uint32_t)ker_config_int(config, "node.cores");
    model->send_overhead = ker_config_time(config, "node.send_overhead");
    model->receive_overhead = ker_config_time(config, "node.receive_overhead");
    model->doorbell = ker_config_time(config, "node.doorbell");
    model->memory_latency = ker_config_time(config, "node.memory_latency");
    model->memory_rate = ker_config_rate(config, "node.memory_bandwidth");
    if (model->memory_rate == 0)
        return ker_config_fail(config, error, "node.memory_bandwidth", "must be greater than 0");
    return KER_OK;
}

ker_time node_compute(const struct node_model *model, ker_time time, double factor)
{
    (void)model;
    if (factor == 1.0)
        return time; /* exact, also above 2^53 ps */
    double scaled = (double)time * factor;
    return scaled < 0x1p62 ? (ker_time)llround(scaled)
                           : (ker_time)1 << 62; /* 53 days: adding it to a time cannot overflow */
}

ker_time node_copy(const struct node_model *model, uint64_t bytes)
{
    return model->memory_latency + ker_serialisation(bytes, model->memory_rate);
}
