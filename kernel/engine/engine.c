/* engine.c - rounds of ranks and the windows in them; see engine.h.
 *
 * In a round each rank handles the windows (window.c) that nothing from another rank can reach any more; then
 * all agree on how far the next may go (exchange.c). Invariant: no window crosses a time at which all ranks
 * may have to be: a check, a request from outside, the end.
 */
#include "kernel/engine/engine_private.h"
#include "kernel/engine/request.h"

#include <stdlib.h>

#define NOT_HELD (-1)
#define BLOCK_SHIFT 8
#define MOST_BLOCKS 512 /* larger systems have larger blocks: chunks belong to one slot of one block, and */
#define MOST_SHIFT 14   /* records that are few to a chunk waste memory and time */
#define PROGRESS_WINDOWS 256
#define SETTLE_WINDOWS 64
#define CHECKS_PER_ROUND 64
#define CHEAP_BUCKETS 1024 /* of the wheel: 12 KiB */

uint32_t ker_engine_block(uint32_t largest_cell)
{
    uint32_t shift = BLOCK_SHIFT;
    while ((1u << shift) < largest_cell)
        shift++;
    ker_assert(shift <= 16);
    return 1u << shift;
}

/* A whole number of windows in what another rank leaves between its doings and this one's. */
static ker_time grid_of(const struct ker_engine_setup *setup, ker_time into)
{
    ker_time grid = ker_time_min(setup->lookahead, into);
    if (into != KER_TIME_MAX) {
        ker_time windows = into / grid, rest = into % grid;
        if (rest >
            grid / 8) /* a small rest is better wasted than spread: it would nearly halve short windows */
            windows++;
        if (windows * grid > into)
            grid = into / windows;
    }
    grid = ker_time_min(grid, UINT32_MAX); /* offsets inside a window are 32 bits */
    for (int i = 0; i < KER_CHECK_INTERVALS; i++)
        if (setup->check_interval[i])
            grid = ker_time_min(grid, setup->check_interval[i]);
    return grid;
}

static uint32_t block_of(uint32_t largest_cell, uint32_t components)
{
    uint32_t block = ker_engine_block(largest_cell);
    while (block < 1u << MOST_SHIFT && components / block > MOST_BLOCKS)
        block *= 2;
    return block;
}

uint32_t ker_engine_usual_block(uint32_t components)
{
    return block_of(1, components);
}

static uint32_t block_shift_of(const struct ker_engine_setup *setup)
{
    uint32_t shift = 0, least = setup->tiles.count > 1 ? setup->tiles.block
                                                       : block_of(setup->largest_cell, setup->components);
    ker_assert(least >= KER_LEAST_BLOCK);
    while (1u << shift < least)
        shift++;
    return shift;
}

/* How far the wheel is to reach. What lies beyond it costs several times as much, as most ends of
 * computations would; where there are few blocks, many slots are cheap. */
static ker_time reach_of(const struct engine_private *p, ker_time grid)
{
    uint32_t blocks = (p->setup.components >> p->block_shift) + 1;
    ker_time needed = p->setup.reach + (p->tiles.windows + 2) * grid, cheap = CHEAP_BUCKETS / blocks * grid;
    return needed > cheap ? needed : cheap;
}

static struct exchange *exchange_make(const struct ker_engine_setup *setup)
{
    const struct exchange_setup own = {.comm = setup->comm,
                                       .channel = setup->channel,
                                       .channels = setup->channels,
                                       .yield = setup->yield,
                                       .hosts = setup->hosts,
                                       .part_bytes = setup->part_bytes};
    return exchange_new(&own);
}

struct ker_engine *ker_engine_new(const struct ker_engine_setup *setup)
{
    struct ker_engine *e = ker_alloc(sizeof *e);
    struct engine_private *p = ker_alloc(sizeof *p);
    ker_assert(setup->lookahead > 0);
    e->private = p;
    p->setup = *setup;
    p->request_at = KER_TIME_MAX;
    e->exchange = exchange_make(setup);
    p->into = exchange_lookahead(e->exchange);
    ker_time grid = grid_of(setup, p->into);
    p->span = engine_whole_span(setup, grid);
    if (p->into == KER_TIME_MAX && ker_comm_size(setup->comm) > 1 && setup->request_interval)
        p->into = setup->request_interval; /* so that it hears of requests */
    p->block_shift = block_shift_of(setup);
    uint32_t block = 1u << p->block_shift;
    tiles_make(&p->tiles, &setup->tiles, setup->components, (setup->components >> p->block_shift) + 1, grid,
               p->into);
    wheel_init(&e->wheel, setup->components, p->block_shift, grid, reach_of(p, grid), setup->arena_bytes);
    e->rank = (uint32_t)ker_comm_rank(setup->comm);
    e->component = ker_reserve(sizeof *e->component * ((size_t)setup->components + block));
    p->begins = setup->largest_cell > 1 ? ker_alloc((size_t)setup->components + block + 1) : NULL;
    p->count = ker_alloc(sizeof *p->count * block);
    e->hold = NOT_HELD;
    trial_begin(&p->trial, setup->trial && ker_comm_size(setup->comm) > 1);
    return e;
}

void ker_engine_abandon(struct ker_engine *e)
{
    wheel_abandon(&e->wheel);
    exchange_abandon(e->exchange);
}

void ker_engine_free(struct ker_engine *e)
{
    struct engine_private *p = e->private;
    wheel_release(&e->wheel);
    exchange_free(e->exchange);
    tiles_release(&p->tiles);
    ker_release(e->component, sizeof *e->component * ((size_t)p->setup.components + (1u << p->block_shift)));
    free(p->begins);
    free(p->count);
    free(p->item);
    free(p->spare);
    free(p->order);
    free(p);
    free(e->inner);
    free(e);
}

uint32_t ker_engine_tiles(const struct ker_engine *e, uint32_t *windows)
{
    *windows = e->private->tiles.windows;
    return e->private->tiles.count;
}

uint32_t ker_engine_rank(const struct ker_engine *e)
{
    return e->rank;
}

ker_time ker_engine_window(const struct ker_engine *e)
{
    return e->wheel.grid;
}

ker_time ker_engine_handled(const struct ker_engine *e)
{
    return e->handled;
}

const struct ker_counts *ker_engine_counts(const struct ker_engine *e)
{
    return &e->counts;
}

void *ker_engine_component(const struct ker_engine *e, uint32_t index)
{
    return e->component[index].state;
}

void ker_engine_set(struct ker_engine *e, uint32_t index, const struct ker_class *class, void *state,
                    bool begins_cell)
{
    ker_assert(index < e->private->setup.components);
    e->component[index] = (struct ker_component){state, class};
    if (e->private->begins)
        e->private->begins[index] = begins_cell;
    e->private->foresees |= class->foresee != NULL;
}

/* The earliest this rank can have pending: exact enough to agree on, never too late. */
static ker_time engine_next(const struct ker_engine *e)
{
    if (e->private->broken)
        return e->private->done_until;
    ker_time next = wheel_next(&e->wheel);
    if (next == KER_TIME_MAX)
        return e->hold >= e->private->done_until ? e->hold : next;
    return next > e->private->done_until ? next : e->private->done_until;
}

static void progress_show(struct ker_engine *e)
{
    struct engine_private *p = e->private;
    if (p->setup.progress && p->progress_countdown-- == 0) {
        p->setup.progress(p->setup.context, p->done_until, e->counts.records);
        p->progress_countdown = PROGRESS_WINDOWS;
    }
}

/* Components may count ahead, but not what an end of the run could cut off: up to the next multiple of some
 * windows, or to the boundary before it. Where a request makes an end that was not foreseen, it lies behind
 * what any rank has finalised. */
static void settle(struct ker_engine *e, ker_time start, ker_time boundary)
{
    struct engine_private *p = e->private;
    ker_time span = SETTLE_WINDOWS * e->wheel.grid;
    p->final = ker_time_min(ker_time_later(start / span * span, span), boundary);
    if (p->setup.settle)
        p->setup.settle(p->setup.context, p->final);
}

/* Handles windows until `limit` (lowered by what is sent meanwhile) or `boundary`. */
static void round_run(struct ker_engine *e, ker_time limit, ker_time boundary)
{
    struct engine_private *p = e->private;
    for (;;) {
        ker_time start = wheel_next(&e->wheel);
        if (start == KER_TIME_MAX || (ker_request_pending() && p->setup.requested))
            break;
        ker_time end = ker_time_min(start + e->wheel.grid, boundary);
        ker_time sent = exchange_sent(e->exchange);
        limit = ker_time_min(limit, ker_time_later(sent, p->into));
        if (end > limit || start >= boundary)
            break;
        if (end <= p->done_until) /* only what was left over by a boundary, not yet due */
            break;
        if (end > p->final)
            settle(e, start, boundary);
        engine_windows_run(e, start, limit, ker_time_min(boundary, p->final));
        progress_show(e);
    }
}

/* Nothing reaches this rank before the earliest of the others and the delay of a channel. Where this rank is
 * the earliest itself it goes no further than to where the next of them is, or all may go: else it would be
 * ahead of them by a channel's delay, they could do nothing until they had overtaken it in turn, and ranks
 * with much to do would take turns for the rest of the run, each idle while another works. */
static ker_time round_limit(const struct exchange_bounds *b, ker_time into)
{
    ker_time together = ker_time_later(b->all, into);
    return b->others > together ? b->others : together;
}

/* When memory is out in the middle of a window, the rank gives up what is in flight, and has room to write
 * what it has counted. */
static void round_try(struct ker_engine *e, ker_time limit, ker_time boundary)
{
    struct engine_private *p = e->private;
    jmp_buf refuge;
    int64_t begun = trial_work_begin(&p->trial);
    p->broken = exchange_broken(e->exchange);
    if (!p->broken && setjmp(refuge) == 0) {
        ker_memory_refuge(&refuge);
        round_run(e, limit, boundary);
    } else {
        p->broken = true;
        exchange_break(e->exchange);
        wheel_abandon(&e->wheel);
    }
    ker_memory_refuge(NULL);
    trial_work_end(&p->trial, begun);
}

/* ---- check times ---- */

/* The next check of every interval after `time`. Intervals are independent of each other, so that one more
 * does not move the checks of another. */
static void checks_begin(struct engine_private *p, ker_time time)
{
    for (int i = 0; i < KER_CHECK_INTERVALS; i++) {
        ker_time interval = p->setup.check_interval[i];
        p->check[i] = interval ? ker_time_later(time / interval * interval, interval) : KER_TIME_MAX;
    }
    while (p->check_at < p->setup.check_at_count && p->setup.check_at[p->check_at] <= time)
        p->check_at++;
}

static ker_time check_next(const struct engine_private *p)
{
    ker_time next = p->check_at < p->setup.check_at_count ? p->setup.check_at[p->check_at] : KER_TIME_MAX;
    for (int i = 0; i < KER_CHECK_INTERVALS; i++)
        next = ker_time_min(next, p->check[i]);
    return next;
}

/* The check at `time` is done; nothing happens before `all`. */
static void checks_advance(struct engine_private *p, ker_time time, ker_time all)
{
    for (int i = 0; i < KER_CHECK_INTERVALS; i++)
        if (p->check[i] == time) {
            ker_time interval = p->setup.check_interval[i], since = p->setup.check_every[i] ? time : all;
            p->check[i] = ker_time_later(since / interval * interval, interval);
        }
    if (p->check_at < p->setup.check_at_count && p->setup.check_at[p->check_at] == time)
        p->check_at++;
}

/* The checks up to `until`, but no more than CHECKS_PER_ROUND: before the next all ranks are to hear of
 * requests. */
static enum checked {
    CHECKED,
    CHECKS_LEFT,
    CHECK_ENDS
} checks_do(struct engine_private *p, ker_time until, ker_time all)
{
    ker_time check;
    for (int done = 0; (check = check_next(p)) <= until; done++) {
        if (done == CHECKS_PER_ROUND)
            return CHECKS_LEFT;
        p->checked = check;
        if (p->setup.check(p->setup.context, check))
            return CHECK_ENDS;
        bool posted = p->posted;
        p->posted = false;
        checks_advance(p, check, posted ? check : all);
        if (posted)
            return CHECKS_LEFT;
    }
    return CHECKED;
}

/* ---- requests and the run ---- */

/* final: how far any rank has gone. */
static void requests_add(struct engine_private *p, unsigned requests, ker_time final)
{
    if (p->requests == 0 && p->setup.requested) {
        ker_time interval = p->setup.request_interval, since = final / interval * interval;
        p->request_at = since == final ? since : ker_time_later(since, interval);
        p->request_at = ker_time_min(p->request_at, check_next(p));
    }
    p->requests |= requests;
}

/* Ends a round. What is asked of a rank from outside is sent to all; they act on it at the first time that
 * none has passed. */
static struct exchange_bounds round_end(struct ker_engine *e)
{
    struct engine_private *p = e->private;
    ker_time passed = p->final > p->checked ? p->final : p->checked;
    unsigned asked = (p->setup.requested ? ker_request_take() : 0) | (p->broken ? KER_REQUEST_MEMORY : 0);
    struct trial_round round = {p->trial.work, p->trial.exchanged, (uint32_t)(e->counts.records - p->told)};
    struct exchange_own own = {engine_next(e), p->done_until, passed, asked, round};
    struct exchange_bounds bounds;
    int64_t begun = trial_exchange_begin(&p->trial);
    exchange_round(e->exchange, &e->wheel, &own, &bounds, &e->counts.sent);
    trial_exchange_end(&p->trial, begun, bounds.round);
    p->told = e->counts.records;
    e->counts.critical += bounds.round.records;
    e->counts.epochs++;
    if (bounds.requests)
        requests_add(p, bounds.requests, bounds.final);
    return bounds;
}

/* The time of the requests has come. true: they end the run. */
static bool requests_serve(struct ker_engine *e)
{
    struct engine_private *p = e->private;
    ker_time at = p->request_at;
    unsigned requests = p->requests;
    p->request_at = KER_TIME_MAX;
    p->requests = 0;
    return p->setup.requested(p->setup.context, requests, at);
}

void ker_engine_posted(struct ker_engine *e)
{
    e->private->posted = true;
}

ker_time ker_engine_quiet(const struct ker_engine *e)
{
    return e->private->quiet;
}

void ker_engine_hold(struct ker_engine *e)
{
    ker_hold(e, KER_TIME_MAX - 1);
}

enum ker_end ker_engine_run(struct ker_engine *e, ker_time *at)
{
    struct engine_private *p = e->private;
    checks_begin(p, p->checked);
    for (;;) {
        struct exchange_bounds bounds = round_end(e);
        bool out = bounds.requests & KER_REQUEST_MEMORY;
        if (out || bounds.all == KER_TIME_MAX) {
            ker_comm_max_i64(p->setup.comm, &e->last_action, 1);
            *at = e->last_action;
            return out ? KER_END_MEMORY : KER_END_DRAINED;
        }
        if (!p->requests && trial_lost(&p->trial, p->setup.comm, &e->counts)) { /* requests come first */
            if (!p->setup.requested || !trial_keeps(&e->counts))
                return KER_END_TRIAL;
            requests_add(p, KER_REQUEST_ALONE, bounds.final);
        }
        *at = ker_time_min(
            p->setup.end, p->request_at); /* checks come first: what they record belongs to the time before */
        p->quiet = bounds.all;
        enum checked checked = checks_do(p, ker_time_min(bounds.all, *at), bounds.all);
        if (checked == CHECKS_LEFT)
            continue;
        if (checked == CHECK_ENDS) {
            *at = p->checked;
            return KER_END_CHECK;
        }
        if (e->hold <= bounds.all)
            e->hold = NOT_HELD; /* reached, after what is done below */
        if (bounds.all >= p->setup.end && *at == p->setup.end)
            return KER_END_TIME;
        if (bounds.all >= p->request_at && requests_serve(e))
            return KER_END_REQUEST;
        ker_time boundary = ker_time_min(ker_time_min(check_next(p), p->setup.end), p->request_at);
        round_try(e, round_limit(&bounds, p->into), boundary);
        progress_show(e);
    }
}
