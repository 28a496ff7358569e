/* nodes.h - the node: one component of the engine, with adapters and services, and what is delayed inside.
 *
 * A service is what runs on nodes: the MPI model, synthetic traffic. Any number share a node without knowing
 * each other: each has its own state there, and what comes back (messages, timers, copies) names the service
 * that it belongs to. A service talks to its node only, by the functions below; the node owns the adapters.
 *
 * What it costs inside a node is by default a simple model (struct node_model): a factor for the processor,
 * overheads per call, a memory copy between tasks of one node; nothing in a node slows anything else down,
 * and a service sets a timer for processor time. Where the configuration asks for more (node_model.works),
 * services hand processor work to their node, which shares its memory controllers among all that runs.
 */
#pragma once

#include "net/net.h"
#include "nodes/kinds.h"
#include "nodes/noise.h"

struct node; /* opaque */

/* ---- what a node costs ---- */

/* Which adapter a message takes: the choices of node.rail. */
enum node_rail {
    NODE_RAIL_FIXED,
    NODE_RAIL_NEAREST,
    NODE_RAIL_ROUND_ROBIN,
    NODE_RAIL_LEAST,
    NODE_RAIL_STRIPE
};

struct node_model {
    uint32_t cores, units, adapters; /* units: tasks that a node holds, with hardware threads */
    bool uneven;                     /* nodes of some kind have fewer adapters */
    enum node_rail rail;
    uint64_t stripe_size;                     /* messages of n bytes are sent in parts */
    ker_time send_overhead, receive_overhead; /* processor time per message sent, received, of 0 bytes */
    bool sized; /* they depend on more than that: of any size; of those inside the node, at either end: */
    struct ker_sizes send_sizes, receive_sizes, memory_sizes;
    ker_time doorbell; /* from the call to the adapter */
    ker_time direct;   /* node_message.direct takes at least this; 0: there is none */
    ker_time bus_latency,
        interrupt_latency;   /* between memory and adapter, in each direction; of what has come */
    bool loopback;           /* messages inside a node pass through an adapter */
    ker_time memory_latency; /* of a message between two tasks of one node */
    uint64_t memory_rate;    /* its bandwidth */
    uint32_t tasks;          /* that a node holds; 0: as many as its units. More than those take turns */
    ker_time quantum, switch_cost;
    bool preempts; /* who is woken takes a unit at once */
    bool spins;    /* who waits keeps its unit, and takes its turns */
    bool series;   /* output.series.cores: what cores and memory do in periods is asked for: */
    struct stats_series *core_series, *memory_series;
    bool by_job;             /* output.links_by_job: messages' numbers say their jobs */
    bool power;              /* node.power.*: energy of cores and memory is asked for */
    bool works;              /* more than the simple model: processor work is the node's (node_work) */
    struct node_rates rates; /* of nodes of no kind; kinds have their own */
    ker_time domain_latency, socket_latency; /* more than memory_latency: between domains, sockets */
    uint64_t single_copy_size;      /* messages of this many bytes are copied once, smaller ones twice */
    ker_time single_copy_latency;   /* of those that are copied once */
    const struct node_kinds *kinds; /* what nodes are made of; NULL where nobody asks */
};

/* adapters: of a node, as the topology has them. */
enum ker_status node_model_init(struct node_model *, const struct ker_config *, uint32_t adapters,
                                struct ker_error *);
/* From then on the kinds stay where they are. */
void node_model_kinds(struct node_model *, const struct ker_config *, const struct node_kinds *);
static inline uint32_t node_model_cores(const struct node_model *model, uint32_t node)
{
    return model->kinds ? node_structure_at(model->kinds, node)->cores : model->cores;
}
static inline const struct node_rates *node_model_rates(const struct node_model *model, uint32_t node)
{
    return model->kinds ? &node_kinds_get(model->kinds, node_kinds_of(model->kinds, node))->rates
                        : &model->rates;
}
/* Does it matter to the node which core a message comes from (node_message.core)? */
static inline bool node_model_asks_cores(const struct node_model *model)
{
    return model->rail <= NODE_RAIL_NEAREST;
}
/* Computation of `time` on the traced machine, on this one: rounded half up; factor 0 gives 0. */
ker_time node_compute(const struct node_model *, ker_time time, double factor);
/* Time for a message of `bytes` inside the node. */
ker_time node_copy(const struct node_model *, uint64_t bytes);

extern const struct ker_option node_options[]; /* node.cores, ... */

/* ---- services ---- */

/* Processor work: what a core is to do, and what has come of it.
 *
 * It has a compute part, of a time on the kind's usual core, and a memory part, of bytes that it moves
 * between the core and the memory of the core's domain; both begin at once. The compute part continues at the
 * speed of the core (node_thread_speed). The memory part draws what it needs to end with the compute part
 * (memory / compute, rounded up, times the speed), at most node.core_bandwidth, and at most its share of the
 * memory controller (cores/flow.h). The work has ended when both parts have: time = max(compute / speed,
 * memory / rate), as in the roofline model (Williams, Waterman, Patterson: Comm. ACM 52(4), 2009), with speed
 * and rate that change when something else in the node starts or ends. On a usual core, alone on a controller
 * that has enough, it takes `compute` exactly. */
struct node_work {
    uint32_t core; /* a unit of struct node_structure */
    ker_time compute;
    ker_time own;             /* the service's: how much of it is its own; handed back */
    ker_time system;          /* likewise: in the operating system */
    unsigned __int128 memory; /* bytes x 10^12; none, and no time: the core is only to be there */
};
struct node_worked {
    ker_time began;                /* when it was handed over */
    ker_time compute, own, system; /* as asked for */
    ker_time away;                 /* its compute part was delayed by so much: noise */
    ker_time preempted;            /* it waited for a core, or for one that turned to it */
    ker_time stalled; /* behind the end of its compute part, until its memory part had ended, too */
};

/* A compute part of length `compute` took `taken`: how much of that falls on `part` of it. taken x part /
 * compute, rounded down. */
static inline ker_time node_worked_share(ker_time taken, ker_time part, ker_time compute)
{
    if (part == compute)
        return taken;
    return (ker_time)((unsigned __int128)taken * (uint64_t)part / (uint64_t)compute);
}

/* Who waits for a service's answer: what that service keeps of a call until it has answered. */
struct node_caller {
    uint64_t token; /* the caller's own name for its call */
    uint32_t node, service;
};

/* What a service does. Every function may be NULL. `state` is the service's own for this node; all but offer
 * and lost are called at the node's instant `now`, and the node is brought up to date after each of them: it
 * delivers what is due inside the node, then has one service do one step, until neither is left. */
struct node_service {
    const char *name;
    /* Once, at time 0, before anything else; services in the order in which they were added. On a node where
     * the service came with a fork: at the time of the fork. */
    void (*start)(void *state, struct node *, ker_time now);
    /* At the time of a fork, on a node where the service was before: something may have come to it. */
    void (*forked)(void *state, struct node *, ker_time now);
    /* A message to this service is whole: from another node, or copied inside this one; from which service
     * says node_message_from. */
    void (*arrived)(void *state, struct node *, ker_time now, const struct net_message *);
    /* The message sent with this cookie has left (the source buffer is reusable). Follows arrived() without
     * settling when the message stayed inside the node. */
    void (*sent)(void *state, struct node *, ker_time now, uint64_t cookie);
    /* It will have left at `when`, and nobody looks before: true, sent() need not be called. Nothing may be
     * sent. NULL: that is never so. */
    bool (*leaves)(void *state, struct node *, ker_time when, uint64_t cookie);
    /* A timer set by node_timer. */
    void (*timer)(void *state, struct node *, ker_time now, uint32_t number);
    /* It has had the work of this number. Works that end at one instant come in the order of (service,
     * number), before timers. */
    void (*worked)(void *state, struct node *, ker_time now, uint32_t number, const struct node_worked *);
    /* One step of what can continue now; false: nothing can after it. The state begins with a uint32_t: 0, it
     * has nothing to do. */
    bool (*step)(void *state, struct node *, ker_time now);
    /* Open-loop source: its next message: created, destination (a node), priority, bytes. Called again when
     * the one before has been injected. false: none, and none later. */
    bool (*offer)(void *state, struct net_offer *);
    /* A fork with another law: one of its offers has not joined the adapter's queue, and was to be created at
     * the time of the fork or later. When it is created now; false: not at all. In the order of creation. */
    bool (*renew)(void *state, ker_time *created);
    /* See net_host.lost. shared: as given to node_services_add. */
    void (*lost)(void *shared, const struct net_envelope *);
    /* Does what does the works of this number wait for something? With node.waiting = "spin" it keeps its
     * core as if it worked. NULL: nothing ever does. */
    bool (*waits)(void *state, uint32_t number);
    /* With node.lane_bandwidth: the core whose task a message with this envelope is for: its domain's memory
     * is written to. NULL: that of the adapter's socket. */
    uint32_t (*receiver)(void *state, const struct net_envelope *);
    /* The job that a message with this envelope, to another node, is of. NULL: of none. */
    uint32_t (*job)(const struct net_envelope *);
    /* Checkpoint: saves what the service holds of this node, or loads it (chunk->loads) into the state as it
     * was attached; start is not called then. NULL: it holds nothing. */
    void (*save)(void *state, struct node *, struct ker_chunk *);
    /* For reports: what the call of this token waits for, as "server 3 on node 9"; or nothing. */
    void (*pending)(const void *state, uint64_t token, char *text, size_t room);
    /* Of services[] only: frees what the state owns besides its own bytes. */
    void (*release)(void *state);
};

#define NODE_MAX_SERVICES 16

/* The services of a run. A service's number is its place: the same on every rank, and in all runs resumed
 * from a checkpoint, where services are known by their names. */
struct node_services {
    uint32_t count;
    struct {
        char name[KER_CHUNK_NAME];
        const struct node_service *service; /* NULL: it has a number, but was not added yet */
        void *shared;
    } at[NODE_MAX_SERVICES];
};
/* Returns its number. name: NULL, or of a service that may be there several times. */
uint32_t node_services_add(struct node_services *, const char *name, const struct node_service *,
                           void *shared);
/* Names and numbers, for a checkpoint. Loaded before any service is added. */
void node_services_state(struct node_services *, struct ker_chunk *);
/* The name of one that has a number and was not added; NULL: none. */
const char *node_services_missing(const struct node_services *);

/* ---- for services, while one of their functions is called ---- */

struct node_message {
    uint32_t destination; /* node; may be this one */
    uint64_t bytes;
    const struct net_envelope *envelope; /* may be NULL */
    uint64_t cookie;                     /* != 0: sent() is called with it */
    ker_time delay;                      /* until the adapter knows of it, or its copying begins */
    uint32_t core; /* of the sending task; NODE_ANY_CORE: of the cores in turn; NODE_BY_ADAPTER; to this node
                      itself, where node_model.works: NODE_CORES or NODE_ANY_CORE */
    bool direct;   /* beside the network: it is there after `delay`, at least node_model.direct; without bytes
                      and cookie */
    uint8_t priority, queue; /* as in struct net_send; to this node itself they mean nothing, but
                                NODE_QUEUE_ONCE: copied once, without node.single_copy_latency */
};
#define NODE_QUEUE_ONCE 0xfe
#define NODE_ANY_CORE UINT32_MAX
#define NODE_ADAPTER 0x40000000u /* that adapter, whatever node.rail says; and its core */
#define NODE_BY_ADAPTER(adapter, core) (NODE_ADAPTER | (adapter) << 16 | ((core)&UINT16_MAX))
#define NODE_ON_BUS 0x20000000u /* within nodes/: it is on the bus: of that adapter, or of all */
#define NODE_COPIED 0xfffe0000u /* likewise, to this node itself: nothing is left to copy */
#define NODE_CORES(from, to) ((uint32_t)(from) | (uint32_t)(to) << 16) /* of sender and receiver */
/* In the place of the sender's number: to another service, of this node or of another one, which has to run
 * there; sent() remains the sender's. */
#define NODE_TO(sender, service) ((uint32_t)(service) | ((uint32_t)(sender) ^ (uint32_t)(service)) << 4)
_Static_assert(NODE_MAX_SERVICES == 16, "two services fit into net_message.service");
static inline uint32_t node_message_from(const struct net_message *m)
{
    return (m->service ^ m->service >> 4) & (NODE_MAX_SERVICES - 1);
}
/* Sends a message to the same service of another node, or copies it inside this one (node_copy,
 * cores/copies.c). */
void node_send(struct node *, ker_time now, uint32_t service, const struct node_message *);

#define NODE_ANSWER_WORDS (sizeof(struct net_envelope) / sizeof(uint64_t) - 1)

/* A call is a message that wants an answer: its envelope begins with the caller's token. */
static inline struct node_caller node_caller_of(const struct net_message *m)
{
    return (struct node_caller){m->envelope.word[0], m->source, node_message_from(m)};
}
/* Answers, now or later: a message of this many bytes, whose envelope has the token and behind it these words
 * (NULL: zeros). */
void node_answer(struct node *, ker_time now, uint32_t service, const struct node_caller *, uint64_t bytes,
                 const uint64_t words[NODE_ANSWER_WORDS], uint8_t priority);
/* What a call of the service waits for; an empty text: nobody knows. */
void node_pending(const struct node *, uint32_t service, uint64_t token, char *text, size_t room);
/* Calls timer(number) at `when` > now; number < 65536. Cannot be cancelled: the service ignores stale ones.
 * A node's timers of one instant come in the order of (service, number); two of the same are both delivered
 * and nothing distinguishes them. */
void node_timer(struct node *, ker_time when, uint32_t service, uint32_t number);

/* Only where node_model.works: work for a core, of which worked() will report. number: of the service's works
 * on this node that have not ended no two have the same. Works of one core do not wait for each other.
 * Returns true when it has been had at once, which is work of no time for a core that is there: nothing is
 * reported then.
 */
bool node_work(struct node *, ker_time now, uint32_t service, uint32_t number, const struct node_work *);

/* What will have come by then of one that has not ended, if nothing begins or ends before. false: there is
 * none. */
bool node_work_result(const struct node *, uint32_t service, uint32_t number, ker_time at,
                      struct node_worked *);

/* Something visible in the model happened: simulated_time_ps is the latest of these (deliveries are counted
 * by the network itself). */
void node_touch(struct node *, ker_time when);
ker_time *node_latest(struct node *); /* where that is kept, of all nodes of the rank */
/* While a timer of a service is served: would the node do nothing before its next step? */
bool node_quiet(const struct node *);

/* ---- for the program ---- */

struct node_system; /* the nodes of a rank */

/* The services are all known, and stay the caller's. */
struct node_system *node_system_new(const struct node_model *, const struct node_noise *,
                                    const struct node_services *, const struct net_carrier *,
                                    struct ker_engine *);
void node_system_free(struct node_system *); /* before its network */
/* For net_carrier.build. */
struct net_host node_system_host(struct node_system *);
/* After it. state[i x services + s]: of service s on the i-th node of this rank (net_own_nodes); NULL: the
 * service does not run there. */
void node_system_attach(struct node_system *, struct net_network *, uint32_t nodes, void *const *state);
/* At the end of a drained run in which nothing was lost; a static text of what is wrong, or NULL. */
const char *node_system_conserved(const struct node_system *);

/* At the end of the run: what runs is counted until then. */
void node_system_end(struct node_system *, ker_time at); /* NULL: a rank without nodes */
/* Collective, behind that: on rank 0 {cores, memory}, NULL where nodes are simple and on other ranks; writes
 * cores.csv and memory.csv into the folder (NULL: none). key: as in stats_writer_open. */
json_t *node_system_report(struct node_system *, const struct node_model *, struct ker_comm *, ker_time at,
                           const struct stats_folder *, const char *key, struct ker_error *);

/* What cores and memory do in periods (output.series.cores), where the model wants them, which is to stay
 * where it is, before there are nodes; the rows of the period that ends at this time (system: NULL on a rank
 * without nodes). */
void node_series_want(struct node_model *, struct stats_series_files *);
void node_series_add(const struct node_system *, ker_time at);

/* Saved state: everything of this rank's nodes and of the services on them; and who loads it, of all ranks,
 * into nodes that have been attached. */
#define NODE_STATES 2 /* loaders */
void node_system_save(struct node_system *, struct ker_state_writer *);
void node_loaders(struct node_system *, struct ker_state_loader loaders[NODE_STATES]);
/* Forks, when everything has been loaded: services start where they are new, and are notified where they are
 * not; offers that were to be created at `at` or later are renewed. */
void node_system_forked(struct node_system *, ker_time at);
void node_system_renew(struct node_system *, ker_time at);

#include "nodes/service.h"
