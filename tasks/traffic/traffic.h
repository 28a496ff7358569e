/* traffic.h - synthetic traffic: who sends to whom, when, and how much (docs/traffic.md has the formulas).
 * Private to tasks/.
 *
 * A traffic is read once per rank and is the same on every rank, but for its counters. Each node of its group
 * has a state of 40 bytes. Every number drawn is a pure function of (seed, node, number of the message), so
 * that messages are the same on any partition, and an open-loop source queue needs no memory: it is replayed
 * on demand.
 *
 * Adding a pattern: a struct ker_kind in a file of its own, one line in the table of traffic.c.
 */
#pragma once

#include "nodes/nodes.h"
#include "tasks/traffic/permutation.h"

#define TASK_NOBODY UINT32_MAX

struct task_traffic;
struct task_traffic_node;

/* Nodes are numbered within the group, 0..nodes-1, everywhere in this header. */
/* Operations of a kind of the family "traffic.pattern"; traits: "phases", with that. */
struct task_traffic_pattern {
    uint64_t bytes; /* payload of a message where traffic.size says nothing; 0: 512 B */
    bool updates;   /* its messages are updates of a table, which are counted per second */
    bool phases;    /* all_to_all: always a closed loop, the next message starts when one has been injected */
    /* Reads and checks the pattern's own keys; may be NULL. */
    enum ker_status (*read)(struct task_traffic *, const struct ker_config *, const struct route_topology *,
                            struct ker_error *);
    /* Either: the one partner of a node (TASK_NOBODY: it does not send) */
    uint32_t (*partner)(const struct task_traffic *, uint32_t node);
    /* or: the destination of message `number`; words 2 and 3 of the bits are its to use. The node itself only
     * if self is set. */
    uint32_t (*draw)(const struct task_traffic *, uint32_t node, const struct ker_bits *, uint64_t number);
};
/* A row of the table: the kind ROW, task_pattern_ROW; keys: KER_OPTIONS(...) or NULL. */
#define TASK_TRAFFIC_PATTERN(row, text, keys, ...)                                                           \
    const struct ker_kind task_pattern_##row = {.name = #row,                                                \
                                                .meaning = (text),                                           \
                                                .operations =                                                \
                                                    &(const struct task_traffic_pattern){__VA_ARGS__},       \
                                                .options = (keys)}

/* ... of "traffic.arrival". */
struct task_traffic_arrival {
    enum ker_status (*read)(struct task_traffic *, const struct ker_config *,
                            struct ker_error *); /* may be NULL */
    /* Moves the node's clock to its next message; words 0 and 1 of the bits are its to use. */
    void (*advance)(const struct task_traffic *, struct task_traffic_node *, const struct ker_bits *);
};

/* ... of "traffic.size_law". */
struct task_traffic_size {
    /* Sets size.mean_bytes and size.mean_packets, too. */
    enum ker_status (*read)(struct task_traffic *, const struct ker_config *, struct ker_error *);
    uint64_t (*draw)(const struct task_traffic *, const struct ker_bits *); /* NULL: always size.bytes */
};

/* The nodes as a grid, when the topology is one: node = sum of coordinate x stride + its number at the
 * switch. */
struct task_traffic_grid {
    int dimensions; /* 0: no grid */
    uint32_t extent[8], stride[8];
    bool wrapped[8];
};

/* Source queues at a time, of this rank; the newest first. */
#define TASK_TRAFFIC_LOOKS 3
struct task_traffic_look {
    ker_time at;           /* 0: there was none */
    uint64_t waited;       /* ages of the sources' oldest messages */
    uint64_t growing, far; /* sources whose oldest message is old; so old that they are saturated */
};

struct task_traffic {
    const struct task_traffic_pattern *pattern;
    const char *pattern_name;
    const struct task_traffic_arrival *arrival; /* NULL: closed loop */
    const struct task_traffic_size *law;
    uint64_t seed;
    uint32_t service;      /* its number among the nodes' */
    uint32_t first, nodes; /* the group: nodes first .. first + nodes - 1 */
    uint32_t all_nodes;    /* of the system */
    uint64_t messages;     /* a node creates at most; UINT64_MAX: no limit */
    ker_time begin, stop;  /* messages are created in [begin, stop) */
    bool self;
    uint8_t priority;     /* class of its messages */
    uint32_t outstanding; /* per core, in phases per node; closed loop */
    const struct node_model *model;
    uint64_t reply_bytes;
    double load; /* open loop: as traffic.load, whatever key gave it */
    struct task_traffic_look look[TASK_TRAFFIC_LOOKS];
    struct {
        double mean_ps;
        ker_time whole_ps; /* the interval is whole_ps + fraction / 2^32 */
        uint32_t fraction;
        double off_ps, end_probability; /* bursts: mean pause after one, chance that a message ends it */
        ker_time burst_ps; /* between two messages of a burst: burst_ps + burst_fraction / 2^32 */
        uint32_t burst_fraction;
        double slot_factor; /* Bernoulli: 1 / log(1 - chance); whole_ps and fraction are the slot's */
    } gap;
    struct {
        uint64_t bytes, minimum, span; /* fixed, or least; span: number of values of the uniform law */
        double mean_bytes, mean_packets;
        double log_factor; /* exponential: 1 / log(1 - 1 / mean) */
        uint32_t packet_bytes;
        uint32_t count;
        uint64_t *value;     /* of a list */
        uint32_t *threshold; /* of a list: cumulated chance x 2^32; the last value takes the rest */
    } size;
    struct {
        uint32_t *hot;                  /* hotspots */
        uint32_t *sorted, sorted_count; /* with hotspot_senders: each of them once, in increasing order */
        uint32_t hot_count;
        uint64_t hot_threshold; /* fraction x 2^32 */
        uint32_t target, senders;
        uint32_t *group, *group_first,
            *member; /* adversarial: of a node; first of a group's in member, and the end; nodes by group */
        uint32_t groups, shift;
        uint32_t root; /* transpose by numbers: side of the square */
        struct task_permutation permutation;
        uint32_t *partner; /* of every node, by traffic.permutation_file; else NULL */
    } where;
    struct task_traffic_grid grid;
    /* Of a run that was forked: the laws of time before this one, in their order, each until its fork. */
    struct task_traffic **former;
    uint32_t formers, fork_purpose;
    ker_time until;   /* of a former one */
    uint64_t dropped; /* messages to the own node: they never enter the network (this rank's) */
};

/* The state of a node with traffic. */
struct task_traffic_node {
    struct task_traffic *shared;
    uint64_t drawn;           /* messages created so far: the number of the next draw */
    ker_time next_ps;         /* creation of the last one; with next_fraction / 2^32 ps */
    uint32_t next_fraction;   /* keeps periods exact that are no whole picoseconds */
    uint32_t node;            /* within the group */
    uint32_t partner;         /* of patterns with one partner */
    uint16_t law : 15;        /* of former laws, how many are over */
    uint16_t burst_ended : 1; /* the next gap is a pause */
    uint16_t renewed : 15;    /* gaps drawn that began at a fork */
    uint16_t begins : 1;      /* nothing was created yet, by this law */
};
_Static_assert(sizeof(struct task_traffic_node) == 40, "every node has one");

/* NULL when the configuration has no traffic.pattern. The model stays the caller's. */
enum ker_status task_traffic_new(struct task_traffic **, const struct ker_config *,
                                 const struct route_topology *, const struct node_model *, uint64_t seed,
                                 struct ker_error *);
void task_traffic_free(struct task_traffic *);
/* Is the node (numbered in the system) in the group? */
bool task_traffic_has(const struct task_traffic *, uint32_t node);
void task_traffic_node_init(struct task_traffic *, struct task_traffic_node *, uint32_t node);
/* Nodes that send. Walks over all of them for patterns with one partner. */
uint32_t task_traffic_senders(const struct task_traffic *);
/* Payload offered by open-loop traffic as a fraction of what all nodes of the system can inject; 0 for closed
 * loops. */
double task_traffic_offered(const struct task_traffic *, uint64_t injection_rate);

/* report.c. A look at the source queues of these nodes, between two instants. */
void task_traffic_look(struct task_traffic *, const struct task_traffic_node *, size_t count, ker_time at);
/* sums: this rank takes what was counted. */
void task_traffic_looks_state(struct task_traffic *, struct ker_chunk *, bool sums);
/* Collective: "traffic" of summary.json on rank 0. bytes_per_s: payload accepted; NAN: nothing was measured.
 */
json_t *task_traffic_report(struct task_traffic *, struct ker_comm *, ker_time warmup, double bytes_per_s);

/* former.c: the law of time of a run that was forked. Laws of former configurations are given in their order,
 * with the fork that ended each; then that these are all (a law that did not change ends at no fork). rate:
 * of the injection. */
enum ker_status task_traffic_former(struct task_traffic *, const struct ker_config *, uint64_t rate,
                                    ker_time until, struct ker_error *);
void task_traffic_formers_end(struct task_traffic *);
void task_traffic_formers_free(struct task_traffic *);
/* Moves the clock of an open-loop source to its next message, in a run that was forked; in any. */
void task_traffic_clock_former(struct task_traffic_node *, const struct ker_bits *);
static inline void task_traffic_clock(struct task_traffic_node *n, const struct ker_bits *bits)
{
    const struct task_traffic *t = n->shared;
    if (__builtin_expect(t->formers != 0, 0)) {
        task_traffic_clock_former(n, bits);
        return;
    }
    t->arrival->advance(t, n, bits);
    n->begins = false;
}
/* Is there a fork before traffic.stop that the source has not come to yet? */
bool task_traffic_more_laws(const struct task_traffic_node *);
/* node_service.renew */
bool task_traffic_renew(void *state, ker_time *created);

/* The next message of a node: creation, destination (numbered in the system), bytes. false: no more. */
bool task_traffic_next(struct task_traffic_node *, struct net_offer *);

/* The service of the nodes: open loop, requests and replies, or phases. State: struct task_traffic_node. */
const struct node_service *task_traffic_service(const struct task_traffic *);

/* For --check: adds what is expected of the sources that are of part `part` of `parts`, until the run's end.
 */
void task_traffic_expect(struct task_traffic *, ker_time end, uint32_t part, uint32_t parts,
                         struct net_expected *);

/* Reading of the parts, each in its own file. */
enum ker_status task_traffic_arrival_read(struct task_traffic *, const struct ker_config *, uint64_t rate,
                                          struct ker_error *);
enum ker_status task_traffic_size_read(struct task_traffic *, const struct ker_config *, struct ker_error *);
enum ker_status task_traffic_file_read(struct task_traffic *, const struct ker_config *, struct ker_error *);
void task_traffic_grid_init(struct task_traffic_grid *, const struct route_topology *);
extern const struct ker_kinds task_traffic_arrivals, task_traffic_sizes;

/* Keys of several patterns: ker_kind.options. */
extern const struct ker_option task_traffic_self_options[];  /* traffic.self, of a draw() that asks for it */
extern const struct ker_option task_traffic_shift_options[]; /* traffic.shift */

extern const struct ker_option task_traffic_options[];
