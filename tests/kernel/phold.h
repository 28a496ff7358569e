/* phold.h - a model of random components for the engine's tests, and the simplest simulator that can run it.
 *
 * Components are on boards of BOARD. Whatever arrives at a component continues to a random one: after at
 * least SHORT on the same board, at least LONG elsewhere, mostly in whole multiples of these so that many
 * records meet in one instant. Credits, timers and wake-ups come along. Every component folds all it sees, in
 * the order in which it sees it, into a hash. So the sum of the hashes says whether an engine kept the order
 * of engine.h. The oracle is a list that is searched for its least record, without cells, windows or ranks.
 */
#pragma once

#include "kernel/engine/post.h"

#include <stdlib.h>
#include <string.h>

#define PHOLD_BOARD 5u
#define PHOLD_BLOCK 8u /* components of a block where there are tiles; a board begins with one */
#define PHOLD_SHORT ((ker_time)70)
#define PHOLD_LONG ((ker_time)1000)
#define PHOLD_MEET 64 /* arrivals of one component in one instant, at most */

struct phold_record {
    ker_time time;
    uint32_t to, amount;
    uint16_t port;
    uint8_t channel, kind;
    uint64_t value, extra;
};

struct phold;

struct phold_component {
    struct phold *world;
    struct ker_stream stream;
    uint64_t hash, credits;
    uint64_t waiting[PHOLD_MEET];
    uint32_t id, count;
    uint8_t sequence;
};

/* What the model does. */
struct phold_rules {
    uint32_t components, starts, lives; /* records begin at `starts` components and move on `lives` times */
    uint32_t far_percent;               /* this many go 10,000 times as far ahead */
    ker_time end, check_interval[2];    /* 0: none */
    uint32_t reach;  /* boards on either side that a component sends to, in a ring of boards; 0: to all */
    uint64_t enough; /* a check ends the run when this many have arrived; 0: never */
};

/* How it is run; none of this may matter. */
struct phold_way {
    enum ker_cell_order order;
    bool boards;    /* a board is one cell */
    bool scattered; /* a board's components on different ranks */
    bool rows;      /* a rank has boards that follow each other */
    int spread;     /* ranks that get components, 0: all */
    bool reversed;  /* local indices run against the ids */
    uint32_t tiles; /* boards of a tile; 0: none; with `boards` in a row only */
    bool row;       /* tiles are in a row */
    int shrink;     /* lookahead and epoch are given this many times smaller than they are; 0: not */
    int hosts;      /* as many; 0: as they are */
    size_t part;    /* bytes of a message between ranks, 0: as long as can be */
};

struct phold {
    struct phold_rules rules;
    struct phold_component *component; /* all; only this rank's are used */
    struct ker_address *address;
    struct ker_engine *engine; /* NULL: the oracle */
    struct ker_comm *comm;
    struct phold_record *list;
    size_t count, room;
    uint64_t arrived, checks; /* checks: hash over what they saw */
};

/* What all ways must agree on. */
struct phold_result {
    uint64_t digest, arrived, checks;
    ker_time at;
    enum ker_end why;
};

static uint64_t phold_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

/* ---- posting ---- */

static void phold_post_engine(struct phold *w, const struct phold_record *r)
{
    if (r->kind != KER_ARRIVAL) {
        ker_post_note(w->engine, w->address[r->to], r->time, r->kind, r->port, r->channel, r->amount);
        return;
    }
    uint32_t extension = 0;
    if (r->extra) {
        uint64_t bytes[KER_EXTENSION_BYTES / 8] = {r->extra};
        if (r->extra & 2) /* all of it matters */
            bytes[KER_EXTENSION_BYTES / 8 - 1] = ~r->extra;
        extension = ker_extension_new(w->engine, bytes);
    }
    struct ker_event *event = ker_post_event(w->engine, w->address[r->to], r->time, r->port, r->channel);
    event->flags = r->extra ? KER_FLAG_EXTENSION : 0;
    memset(event->payload, 0, sizeof event->payload);
    event->payload[0] = r->value;
    event->payload[5] = extension;
}

static void phold_post(struct phold *w, struct phold_record r)
{
    if (w->engine) {
        phold_post_engine(w, &r);
        return;
    }
    *KER_PUSH(w->list, w->count, w->room) = r;
}

/* ---- the model ---- */

static ker_time phold_delay(struct phold_component *c, uint32_t to)
{
    ker_time least = to / PHOLD_BOARD == c->id / PHOLD_BOARD ? PHOLD_SHORT : PHOLD_LONG;
    ker_time delay = least * (1 + ker_stream_below(&c->stream, 4));
    if (ker_stream_below(&c->stream, 4) == 0)
        delay += ker_stream_below(&c->stream, 2000);
    if (ker_stream_below(&c->stream, 100) < c->world->rules.far_percent)
        delay += 10000 * PHOLD_LONG;
    return delay;
}

static uint32_t phold_boards(const struct phold_rules *rules)
{
    return (rules->components + PHOLD_BOARD - 1) / PHOLD_BOARD;
}

/* A component of a board, which may have fewer than the others. */
static uint32_t phold_on_board(struct phold_component *c, uint32_t board)
{
    uint32_t first = board * PHOLD_BOARD, left = c->world->rules.components - first;
    return first + ker_stream_below(&c->stream, left < PHOLD_BOARD ? left : PHOLD_BOARD);
}

/* Half stay on their board. */
static uint32_t phold_target(struct phold_component *c)
{
    const struct phold_rules *rules = &c->world->rules;
    uint32_t board = c->id / PHOLD_BOARD, boards = phold_boards(rules), reach = rules->reach;
    if (ker_stream_below(&c->stream, 2))
        return phold_on_board(c, board);
    if (reach == 0)
        return ker_stream_below(&c->stream, rules->components);
    return phold_on_board(c, (board + boards - reach + ker_stream_below(&c->stream, 2 * reach + 1)) % boards);
}

static bool phold_reaches(const struct phold_rules *rules, uint32_t from, uint32_t to)
{
    uint32_t boards = phold_boards(rules), apart = (to / PHOLD_BOARD + boards - from / PHOLD_BOARD) % boards;
    return rules->reach == 0 || apart <= rules->reach || boards - apart <= rules->reach;
}

static void phold_forward(struct phold_component *c, ker_time now, uint64_t value)
{
    struct phold *w = c->world;
    uint32_t to = phold_target(c), other = phold_target(c);
    if (value & 0xffff) /* lives left */
        phold_post(w, (struct phold_record){.time = now + phold_delay(c, to),
                                            .to = to,
                                            .port = (uint16_t)c->id,
                                            .channel = c->sequence++,
                                            .kind = KER_ARRIVAL,
                                            .value = value - 1,
                                            .extra = ker_stream_below(&c->stream, 3) ? 0 : value | 1});
    if (ker_stream_below(&c->stream, 2)) /* one port: credits of an instant add up */
        phold_post(w, (struct phold_record){.time = now + phold_delay(c, other),
                                            .to = other,
                                            .kind = KER_CREDIT,
                                            .amount = ker_stream_next(&c->stream)});
    if (ker_stream_below(&c->stream, 4) == 0)
        phold_post(w, (struct phold_record){.time = now + 1 + ker_stream_below(&c->stream, 3000),
                                            .to = c->id,
                                            .port = c->sequence++,
                                            .kind = KER_TIMER,
                                            .amount = (uint32_t)value});
    if (ker_stream_below(&c->stream, 4) == 0)
        phold_post(w, (struct phold_record){.time = now + 1 + ker_stream_below(&c->stream, 3000),
                                            .to = c->id,
                                            .kind = KER_WAKE});
}

static void phold_take(struct phold_component *c, ker_time now, uint32_t place, uint64_t value,
                       uint64_t extra)
{
    c->hash = phold_mix(phold_mix(phold_mix(phold_mix(c->hash, (uint64_t)now), place), value), extra);
    ker_assert(c->count < PHOLD_MEET);
    c->waiting[c->count++] = value;
    c->world->arrived++;
}

static void phold_note(void *self, struct ker_engine *e, ker_time now, enum ker_record_kind kind,
                       uint16_t port, uint8_t channel, uint32_t amount)
{
    struct phold_component *c = self;
    if (kind == KER_CREDIT)
        c->credits += amount;
    else if (kind == KER_TIMER)
        c->hash = phold_mix(phold_mix(phold_mix(c->hash, (uint64_t)now), port), amount);
}

static void phold_act(void *self, struct ker_engine *e, ker_time now)
{
    struct phold_component *c = self;
    if (c->credits)
        c->hash = phold_mix(phold_mix(c->hash, (uint64_t)now), c->credits);
    c->credits = 0;
    for (uint32_t i = 0; i < c->count; i++)
        phold_forward(c, now, c->waiting[i]);
    c->count = 0;
}

static void phold_arrival(void *self, struct ker_engine *e, const struct ker_event *event)
{
    uint64_t extra = 0;
    if (event->flags & KER_FLAG_EXTENSION) {
        uint64_t bytes[KER_EXTENSION_BYTES / 8];
        ker_extension_read(e, (uint32_t)event->payload[5], bytes);
        extra = bytes[0];
        ker_assert(bytes[KER_EXTENSION_BYTES / 8 - 1] == (extra & 2 ? ~extra : 0));
        ker_extension_free(e, (uint32_t)event->payload[5]);
    }
    ker_touch(e, event->time);
    phold_take(self, event->time, (uint32_t)event->port << 8 | event->channel, event->payload[0], extra);
}

/* An instant with one record only. */
static void phold_arrival_alone(void *self, struct ker_engine *e, const struct ker_event *event)
{
    phold_arrival(self, e, event);
    phold_act(self, e, event->time);
}

static void phold_note_alone(void *self, struct ker_engine *e, ker_time now, enum ker_record_kind kind,
                             uint16_t port, uint8_t channel, uint32_t amount)
{
    phold_note(self, e, now, kind, port, channel, amount);
    phold_act(self, e, now);
}

static const struct ker_class phold_class = {.name = "phold",
                                             .arrival = phold_arrival,
                                             .note = phold_note,
                                             .act = phold_act,
                                             .arrival_alone = phold_arrival_alone,
                                             .note_alone = phold_note_alone,
                                             .head_bytes = sizeof(struct phold_component)};

static uint64_t phold_digest(const struct phold *w, int rank)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < w->rules.components; i++)
        if (!w->address || w->address[i].rank == (uint32_t)rank)
            sum += phold_mix(w->component[i].hash, i + 1);
    return sum;
}

static void phold_init(struct phold *w, const struct phold_rules *rules)
{
    *w = (struct phold){.rules = *rules, .component = ker_alloc(sizeof *w->component * rules->components)};
    for (uint32_t i = 0; i < rules->components; i++) {
        w->component[i].world = w;
        w->component[i].id = i;
        ker_stream_init(&w->component[i].stream, 5, KER_PURPOSE_TEST, i);
    }
}

static void phold_start(struct phold *w, uint32_t component)
{
    if (component % (w->rules.components / w->rules.starts) == 0)
        phold_post(w, (struct phold_record){.time = component % 3 ? 0 : PHOLD_LONG,
                                            .to = component,
                                            .kind = KER_ARRIVAL,
                                            .port = UINT16_MAX,
                                            .value = (uint64_t)component << 16 | w->rules.lives});
}

static bool phold_check(void *context, ker_time at)
{
    struct phold *w = context;
    uint64_t sum[2] = {phold_digest(w, w->comm ? ker_comm_rank(w->comm) : 0), w->arrived};
    if (w->comm)
        ker_comm_sum_u64(w->comm, sum, 2);
    w->checks = phold_mix(phold_mix(w->checks, (uint64_t)at), sum[0]);
    return w->rules.enough && sum[1] >= w->rules.enough;
}

/* ---- the oracle ---- */
static bool phold_before(const struct phold_record *a, const struct phold_record *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->to != b->to)
        return a->to < b->to;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->port != b->port ? a->port < b->port : a->channel < b->channel;
}

static size_t phold_least(const struct phold *w)
{
    size_t least = 0;
    for (size_t i = 1; i < w->count; i++)
        if (phold_before(&w->list[i], &w->list[least]))
            least = i;
    return least;
}

static ker_time phold_boundary(const struct phold_rules *rules, ker_time after)
{
    ker_time first = KER_TIME_MAX;
    for (int i = 0; i < 2; i++) {
        ker_time interval = rules->check_interval[i],
                 next = interval ? (after / interval + 1) * interval : KER_TIME_MAX;
        first = next < first ? next : first;
    }
    return first;
}

/* Is the run over before `time`? */
static bool phold_over(struct phold *w, ker_time time, ker_time *check, struct phold_result *result)
{
    for (; time >= *check && *check <= w->rules.end; *check = phold_boundary(&w->rules, *check))
        if (phold_check(w, *check)) {
            result->at = *check;
            result->why = KER_END_CHECK;
            return true;
        }
    if (time < w->rules.end)
        return false;
    result->at = w->rules.end;
    result->why = KER_END_TIME;
    return true;
}

static struct phold_result phold_oracle(const struct phold_rules *rules)
{
    struct phold w;
    struct phold_result result = {.why = KER_END_DRAINED};
    ker_time check = phold_boundary(rules, 0);
    phold_init(&w, rules);
    for (uint32_t i = 0; i < rules->components; i++)
        phold_start(&w, i);
    while (w.count) {
        struct phold_record r = w.list[phold_least(&w)];
        struct phold_component *c = &w.component[r.to];
        if (phold_over(&w, r.time, &check, &result))
            break;
        while (w.count) { /* the component's instant */
            size_t i = phold_least(&w);
            struct phold_record next = w.list[i];
            if (next.time != r.time || next.to != r.to)
                break;
            w.list[i] = w.list[--w.count];
            if (next.kind == KER_ARRIVAL) {
                result.at = next.time;
                phold_take(c, next.time, (uint32_t)next.port << 8 | next.channel, next.value, next.extra);
            } else {
                phold_note(c, NULL, next.time, next.kind, next.port, next.channel, next.amount);
            }
        }
        phold_act(c, NULL, r.time);
    }
    result.digest = phold_digest(&w, 0);
    result.arrived = w.arrived;
    result.checks = w.checks;
    free(w.list);
    free(w.component);
    return result;
}
