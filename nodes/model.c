/* model.c - what the configuration says of a node, and the two closed forms of the simple model.
 *
 * There a message inside a node takes memory_latency + bytes / memory_rate, whatever else the memory bus
 * does: copies do not slow each other down. Computation scales with one factor. Both are pure functions, so
 * that results cannot depend on who asks. What is more than that is in cores/.
 */
#include "nodes/nodes.h"

#include <math.h>

#define SEVERAL_SOCKETS "jobs or services & node.sockets!=1 or node.hwloc or nodes & network.model=@nodes"

const struct ker_option node_options[] = {
    {"node.cores", KER_TYPE_INT, "1", "1", "65000", NULL,
     "Cores of a node: at most as many tasks run on it as they have hardware threads (node.threads).",
     "jobs or traffic.outstanding!=0 or node.rail=fixed"},
    {"node.tasks", KER_TYPE_INT, NULL, "1", "65000", NULL,
     "Largest number of tasks that run on a node. Absent: as many as it has hardware threads. When there may "
     "be more they take turns: each has a core for node.quantum while others wait for one.",
     "jobs & network.model=@nodes"},
    {"node.quantum", KER_TYPE_TIME, "1 ms", "1 ps", "1000000 s", NULL,
     "How long a task has its core while others wait for one.", "node.tasks"},
    {"node.switch_cost", KER_TYPE_TIME, "1 us", "1 ps", "1 s", NULL,
     "How long a core does nothing when it changes from one task to another.", "node.tasks"},
    {"node.wakeup", KER_TYPE_CHOICE, "preempt", NULL, NULL, "preempt|queue",
     "A task that has waited for a message continues: at once, on the core of the task that had its core "
     "longest; or behind those that wait for a core.",
     "node.tasks"},
    {"node.waiting", KER_TYPE_CHOICE, "block", NULL, NULL, "block|spin",
     "A task that waits for a message leaves its core; or keeps it, as it polls, and takes its turns like "
     "one that computes.",
     "node.tasks"},
    {"node.rail", KER_TYPE_CHOICE, "auto", NULL, NULL, "auto|fixed|nearest|round_robin|least|stripe",
     "Which of its node's adapters a message takes: that of its task's core (as many cores to each adapter; "
     "synthetic traffic is of the cores in turn), the nearest to that core (on its socket), each in turn, "
     "the one with the least to send, or all of them at once, each a part. auto: the nearest where nodes "
     "have several sockets, else each in turn.",
     "node.adapters!=1"},
    {"node.stripe_size", KER_TYPE_BYTES, "64 KiB", "1", "1 TiB", NULL,
     "With rail = \"stripe\": messages from this size on go in parts; smaller ones take the adapters in "
     "turn.",
     "node.rail=stripe"},
    {"node.send_overhead", KER_TYPE_STRING | KER_TYPE_LIST, "0 ns", NULL, NULL, NULL,
     "Processor time a task spends for each message it sends; a list of TIME[:SIZE]: from which size on; "
     "with mpi.overheads = \"loggops\" loggops.o takes its place.",
     "jobs & network.model=@nodes & mpi.overheads!=loggops"},
    {"node.receive_overhead", KER_TYPE_STRING | KER_TYPE_LIST, "0 ns", NULL, NULL, NULL,
     "Processor time a task spends for each message it has received, when the call that waits for it "
     "returns; a list of TIME[:SIZE]; with mpi.overheads = \"loggops\" loggops.o takes its place.",
     "jobs & network.model=@nodes & mpi.overheads!=loggops"},
    {"node.memory_overhead", KER_TYPE_STRING | KER_TYPE_LIST, NULL, NULL, NULL, NULL,
     "The same for messages between two tasks of one node, at either end; a list of TIME[:SIZE]. Absent: "
     "node.send_overhead and node.receive_overhead.",
     "jobs & network.model=@nodes & mpi.overheads!=loggops"},
    {"node.overhead_between", KER_TYPE_CHOICE, "steps", NULL, NULL, "steps|lines",
     "Between the sizes of such a list: the time of the smaller one, or straight lines, of which the last "
     "continues.",
     "jobs & network.model=@nodes & mpi.overheads!=loggops"},
    {"node.doorbell", KER_TYPE_TIME, "0 ns", NULL, "1 s", NULL,
     "Time from the task's call until the adapter knows of the message; the processor continues meanwhile.",
     "jobs & network.model=@nodes"},
    {"node.bus_latency", KER_TYPE_TIME, "0 ns", NULL, "1 s", NULL,
     "Time that the bus between memory and adapter (PCIe) adds to a message, at the sender and at the "
     "receiver.",
     "jobs or services or traffic.outstanding!=0 & network.model=@nodes"},
    {"node.interrupt_latency", KER_TYPE_TIME, "0 ns", NULL, "1 s", NULL,
     "Time from when a message from another node is in memory until its receiver knows: an interrupt, or how "
     "long polling takes to find it.",
     "jobs or services or traffic.outstanding!=0 & network.model=@nodes"},
    {"node.loopback", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Messages between two tasks of one node pass through the adapter that is the nearest to the sender: "
     "over its bus and back, as those to other nodes do.",
     "node.lane_bandwidth & jobs or services"},
    {"node.memory_latency", KER_TYPE_TIME, "200 ns", NULL, "1 s", NULL,
     "Time of an empty message between two tasks of one node, or of a service to its own node.",
     "jobs or services"},
    {"node.memory_bandwidth", KER_TYPE_RATE, "10 GB/s", "1 kB/s", NULL, NULL,
     "Bandwidth of a message between two tasks of one node, or of a service to its own node.",
     "jobs or services"},
    {"node.socket_latency", KER_TYPE_TIME, "0 ns", NULL, "1 s", NULL,
     "How much longer than node.memory_latency a message takes to a task on another socket; and a message to "
     "another node from a task on another socket than its adapter.",
     SEVERAL_SOCKETS},
    {"node.domain_latency", KER_TYPE_TIME, "0 ns", NULL, "1 s", NULL,
     "How much longer than node.memory_latency a message takes to a task in another domain of the same "
     "socket.",
     "jobs or services & node.domains or node.hwloc or nodes & network.model=@nodes"},
    {"node.single_copy_size", KER_TYPE_BYTES, "0 B", NULL, NULL, NULL,
     "Messages inside a node from this size on are copied once, from the sender's memory to the receiver's; "
     "smaller ones twice, through a buffer in the sender's domain.",
     "jobs or services & network.model=@nodes"},
    {"node.single_copy_latency", KER_TYPE_TIME, "0 ns", NULL, "1 s", NULL,
     "How much longer a message takes that is copied once: for the system call, and for pinning pages.",
     "jobs or services & network.model=@nodes"},
    {"node.power.core_busy", KER_TYPE_REAL, "0", "0", "1000000", NULL,
     "Watts of a core (hardware thread) that has work (docs/node.md, Power).", "jobs & network.model=@nodes"},
    {"node.power.core_idle", KER_TYPE_REAL, "0", "0", "1000000", NULL, "Watts of one that has none.",
     "jobs & network.model=@nodes"},
    {"node.power.memory_byte", KER_TYPE_REAL, "0", "0", "1000000", NULL,
     "Picojoules for each byte that is moved through a memory controller.", "jobs & network.model=@nodes"},
    {0},
};

static const struct ker_word rail_words[] = {
    {"auto", NODE_RAIL_ROUND_ROBIN}, /* until the kinds are known */
    {"fixed", NODE_RAIL_FIXED},      {"nearest", NODE_RAIL_NEAREST}, {"round_robin", NODE_RAIL_ROUND_ROBIN},
    {"least", NODE_RAIL_LEAST},      {"stripe", NODE_RAIL_STRIPE},   {0}};

static enum ker_status cores_read(struct node_model *model, const struct ker_config *config,
                                  struct ker_error *error)
{
    enum ker_status status = node_rates_read(&model->rates, config, "node", error);
    model->loopback = ker_config_bool(config, "node.loopback");
    model->socket_latency = ker_config_time(config, "node.socket_latency");
    model->domain_latency = ker_config_time(config, "node.domain_latency");
    model->single_copy_size = ker_config_bytes(config, "node.single_copy_size");
    model->single_copy_latency = ker_config_time(config, "node.single_copy_latency");
    model->power = ker_config_has(config, "node.power.core_busy") ||
                   ker_config_has(config, "node.power.core_idle") ||
                   ker_config_has(config, "node.power.memory_byte");
    model->series = ker_config_means_key(config, "output.series.cores") &&
                    stats_collects_periods(config, "output.series.cores");
    model->by_job =
        ker_config_means_key(config, "output.links_by_job") && ker_config_bool(config, "output.links_by_job");
    model->works = node_rates_ask(&model->rates) || model->series || model->socket_latency ||
                   model->domain_latency || model->single_copy_size || model->single_copy_latency ||
                   model->units != model->cores || ker_config_has(config, "node.core_speeds") ||
                   !ker_config_is(config, "node.noise.kind", "none") || model->tasks || model->power;
    return status;
}

static enum ker_status overheads_read(struct node_model *model, const struct ker_config *config,
                                      struct ker_error *error)
{
    bool lines = ker_config_is(config, "node.overhead_between", "lines");
    enum ker_status status =
        ker_sizes_read(&model->send_sizes, config, "node.send_overhead", false, lines, error);
    if (status == KER_OK)
        status = ker_sizes_read(&model->receive_sizes, config, "node.receive_overhead", false, lines, error);
    if (status == KER_OK)
        status = ker_sizes_read(&model->memory_sizes, config, "node.memory_overhead", false, lines, error);
    model->send_overhead = ker_sizes_of(&model->send_sizes, 0);
    model->receive_overhead = ker_sizes_of(&model->receive_sizes, 0);
    model->sized = ker_sizes_vary(&model->send_sizes) || ker_sizes_vary(&model->receive_sizes) ||
                   model->memory_sizes.count > 0;
    return status;
}

enum ker_status node_model_init(struct node_model *model, const struct ker_config *config, uint32_t adapters,
                                struct ker_error *error)
{
    model->adapters = adapters;
    model->rail = (enum node_rail)ker_config_number(config, "node.rail", rail_words);
    model->stripe_size = ker_config_bytes(config, "node.stripe_size");
    if (model->rail == NODE_RAIL_STRIPE && ker_config_bool(config, "adapter.resequence"))
        return ker_config_fail(config, error, "adapter.resequence",
                               "a message in parts (node.rail = \"stripe\") has no place in the order of one "
                               "adapter's messages; use another node.rail");
    model->cores = (uint32_t)ker_config_int(config, "node.cores");
    model->units = model->cores * (uint32_t)ker_config_int(config, "node.threads");
    model->tasks = ker_config_has(config, "node.tasks") ? (uint32_t)ker_config_int(config, "node.tasks") : 0;
    model->quantum = ker_config_time(config, "node.quantum");
    model->switch_cost = ker_config_time(config, "node.switch_cost");
    model->preempts = ker_config_is(config, "node.wakeup", "preempt");
    model->spins = ker_config_is(config, "node.waiting", "spin");
    model->doorbell = ker_config_time(config, "node.doorbell");
    model->bus_latency = ker_config_time(config, "node.bus_latency");
    model->interrupt_latency = ker_config_time(config, "node.interrupt_latency");
    model->memory_latency = ker_config_time(config, "node.memory_latency");
    model->memory_rate = ker_config_rate(config, "node.memory_bandwidth");
    if (model->memory_rate == 0)
        return ker_config_fail(config, error, "node.memory_bandwidth", "must be greater than 0");
    enum ker_status status = overheads_read(model, config, error);
    return status ?: cores_read(model, config, error);
}

void node_model_kinds(struct node_model *model, const struct ker_config *config,
                      const struct node_kinds *kinds)
{
    model->kinds = kinds;
    for (uint32_t k = 0; k < node_kinds_count(kinds); k++) {
        const struct node_structure *s = &node_kinds_get(kinds, k)->structure;
        if (s->sockets > 1 && ker_config_is(config, "node.rail", "auto"))
            model->rail = NODE_RAIL_NEAREST;
        model->works |= s->units != s->cores;
        model->uneven |= s->adapters != model->adapters;
        for (uint32_t c = 0; c < s->cores; c++)
            model->works |= s->core[c].speed != NODE_SPEED;
    }
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
