/* cores.h - what runs on the cores of a node and moves bytes through its memory: loads. Private to nodes/,
 * and only of nodes with more than the simple model (node_model.works).
 *
 * A load is a piece of work. It has a compute part, which continues at the speed of its core, and a flow
 * (flow.h); it has ended when both have. Speeds and rates change when a load of the node starts or a part of
 * one ends. Within an instant loads come and go as they like: speeds and rates are found once, at its end, as
 * they count from there on.
 */
#pragma once

#include "nodes/cores/flow.h"
#include "nodes/nodes.h"

enum node_load_kind {
    NODE_LOAD_FIRST, /* of two copies of a message: into the buffer */
    NODE_LOAD_COPY,  /* the second one, or the only one */
    NODE_LOAD_LOOP,  /* a message of the node to itself, through an adapter */
    NODE_LOAD_READ,  /* a packet, by an adapter */
    NODE_LOAD_WRITE, /* the same */
    NODE_LOAD_WORK,  /* of a service */
};

struct node_load {
    uint32_t next; /* of the node's; KER_NONE: it is the last */
    uint32_t core; /* that does it: a unit */
    uint8_t kind, service;
    uint32_t number;  /* of work: the service's; of a copy: in the order in which they began */
    uint32_t message; /* of a copy, and through an adapter: its index among what is delayed; of a packet: the
                         adapter */
    uint32_t speed;   /* of the compute part, in NODE_SPEED */
    unsigned __int128 left; /* of the compute part: ps x NODE_SPEED */
    uint64_t needs;         /* rate that its flow needs to keep up with the compute part at NODE_SPEED */
    ker_time compute;       /* all of the compute part, at NODE_SPEED */
    ker_time own, system;   /* of struct node_work */
    ker_time stalled, away, preempted; /* so far, as in struct node_worked */
    ker_time began, until; /* until: the compute part has ended then, and its core is there, which may be
                              later than now; KER_TIME_MAX: it has not */
    struct node_flow flow;
    /* slices.c: */
    uint32_t home; /* the unit of its task; core: the one that it has or had */
    bool goes;     /* it has its unit, which continues */
    bool waits;    /* in the line, for a unit */
    bool woken;    /* in this instant, as it asks for no more than that */
    bool spins;    /* no work: its owner waits, and keeps its unit; it ends when that has work */
    int64_t turn;  /* in the line: less is earlier */
    ker_time from; /* when its unit continues */
};

/* Work of a number of a service. */
struct node_owner {
    uint32_t number;
    uint8_t service;
    bool there; /* false: none */
};
/* Who has a unit, where tasks take turns. */
struct node_slot {
    struct node_owner owner, last; /* last: the present or the last one */
    ker_time since, from;          /* the slice began; the unit continues from then */
};

/* What the nodes of a rank share. */
struct node_memory {
    KER_POOL(struct node_load) loads;
    uint32_t domains, buses, resources; /* as many as any kind of node has; buses: where the first is */
    struct ker_shared *resource; /* of each kind: the controllers, by domain; then of each socket, if there
                                       are several, its link to the others: outwards, inwards; then of each
                                       bus, if they have a rate: to adapters, from them */
    struct node_flow **flow;     /* while rates are found */
    uint32_t flows;              /* room */
    struct node_cores *copy;     /* of the node that was asked for last (node_cores_at); NULL: none was */
};

/* What a unit has done so far. */
struct node_unit {
    ker_time computing, stalled; /* of work: its compute part continues; has ended, and its flow has not */
    ker_time away;               /* of work: detours delay its compute part */
    ker_time system;             /* of works whose home it is: what of computing was in the system */
    ker_time preempted;          /* of works whose home it is: they wait for a unit, or for its switch */
    ker_time spinning;           /* tasks that wait keep it */
    ker_time copying;            /* copies that it makes: beside what it works */
    ker_time busy;               /* with work, however much of it at a time */
    ker_time counted;            /* busy: until then */
};

/* What had been done at the end of the last period (series.c). */
struct node_last {
    struct node_unit *unit;
    node_bytes moved[]; /* by resource */
};

/* Of a node. */
struct node_cores {
    uint32_t first;  /* of its loads; KER_NONE: none */
    bool changed;    /* some part of a load has started or ended in this instant */
    ker_time since;  /* its loads are computed up to this time */
    ker_time armed;  /* a timer is set for this time, none for an earlier one; KER_TIME_MAX: none */
    uint32_t copies; /* that have begun */
    uint16_t *busy;  /* by core: loads that compute there */
    struct node_unit *unit;
    struct node_noise_core *noise; /* by core; NULL: none */
    struct node_slot *slot;        /* by unit; NULL: tasks do not take turns */
    int64_t front, back;           /* of the line: the turns at its ends */
    struct node_last *last;        /* NULL: there are no series */
    node_bytes moved[];            /* by resource */
};

static inline struct node_load *node_load_at(const struct node_memory *memory, uint32_t index)
{
    return &memory->loads.at[index];
}
/* Its controller is the resource of the domain's number. */
static inline uint32_t node_memory_link(const struct node_memory *memory, uint32_t socket, bool inwards)
{
    return memory->domains + 2 * socket + inwards;
}
static inline uint32_t node_memory_bus(const struct node_memory *memory, uint32_t bus, bool from_adapter)
{
    return memory->buses + 2 * bus + from_adapter;
}

/* cores.c */
struct node_memory *node_memory_new(const struct node_model *);
void node_memory_free(struct node_memory *);
void node_cores_attach(struct node *);
void node_cores_release(struct node *);
/* The node's timer. */
void node_cores_due(struct node *, ker_time now);
/* A load begins: next and speed need not be set; `left` and `until` are made from `compute`, `needs` from it
 * and from the flow. */
void node_load_start(struct node *, struct node_load *);
/* Takes out a load that has ended by now: copies first, in the order in which they began, then work by
 * (service, number). false: none has. */
bool node_load_take(struct node *, ker_time now, struct node_load *);
/* copy.c: the system's own, for one node at a time: with the node's units, and nothing else that it points
 * to. */
struct node_cores *node_cores_copy(const struct node *);
void node_cores_copy_free(struct node_cores *); /* takes NULL */
/* At the end of an instant. */
void node_cores_act(struct node *, ker_time now);
/* What has come of it by the time up to which loads are computed. */
struct node_worked node_load_result(const struct node_load *);

/* dma.c: only with node.lane_bandwidth */
/* For struct net_host. */
void node_dma_read(void *node, ker_time now, uint32_t port, uint32_t memory, uint64_t bytes, ker_time alone);
void node_dma_write(void *node, ker_time now, uint32_t port, uint32_t service, const struct net_envelope *,
                    uint64_t bytes, ker_time alone);
/* The domain that a message is read from, for net_send_from: of its core. */
uint32_t node_dma_memory(const struct node *, uint32_t core);
/* The flow runs between a domain's memory and a bus. */
void node_dma_between(const struct node *, struct node_flow *, uint32_t domain, uint32_t bus,
                      bool from_adapter);

/* What will have been done by then, if nothing begins or ends before: in node_cores_copy. */
const struct node_cores *node_cores_at(const struct node *, ker_time at);

/* Of a node's resource: bytes/s. */
uint64_t node_capacity(const struct node *, uint32_t resource);

/* report.c: what a resource is */
struct node_resource_name {
    uint32_t kind, number;
};
struct node_resource_name node_resource_name(const struct node_memory *, uint32_t resource);
const char *node_resource_text(const void *context, uint32_t kind); /* "controller"; for .text of a column */

/* copies.c */
/* With loopback: the time behind the adapter. */
ker_time node_loop_back(const struct node *);
/* How long it takes until the copying of such a message inside the node begins. */
ker_time node_copy_latency(const struct node *, uint32_t cores, uint64_t bytes, uint8_t queue);
/* It begins: a message that was delayed; its index is kept until it has been handed over. false: there is
 * nothing to copy. */
bool node_copy_begin(struct node *, ker_time now, uint32_t message);
/* A copy has ended. true: the message is there, and copied. */
bool node_copy_ended(struct node *, ker_time now, const struct node_load *);

/* slices.c: only where tasks take turns */
/* Work is about to begin. spun: what spun in its place, NULL: nothing. false: it has no unit yet, or one that
 * does not continue yet. */
bool node_slice_begin(struct node *, ker_time now, struct node_load *, const struct node_load *spun);
/* Has the unit an owner without any load? */
bool node_slice_idle(const struct node *, uint32_t unit);
/* At the end of an instant; true: some work has begun to continue, or stopped. */
bool node_slices_schedule(struct node *, ker_time now);
/* When that is to be done again at the latest. */
ker_time node_slices_next(const struct node *, ker_time now);
void node_slices_state(const struct node *, struct ker_chunk *);

/* away.c: only with noise */
/* When a unit's core has been there for so long, from `from` on, which is not before the time up to which
 * the loads are computed; or earlier, as node_noise_until says. */
ker_time node_away_until(const struct node *, uint32_t unit, ker_time from, ker_time length);
/* Of the time since then until now, what it has been away. */
ker_time node_away_time(const struct node *, uint32_t unit, ker_time now);
void node_away_state(const struct node *, struct ker_chunk *);

/* cores_state.c */
void node_cores_state(struct node *, struct ker_chunk *);
