/* view.c - which bytes of a file a view shows: see files.h. */
#include "traces/replay/files.h"

#define FAR ((uint64_t)1 << 62)

static struct mars_map_run map_run(const struct store_run *run)
{
    return (struct mars_map_run){.offset = (int64_t)run->offset,
                                 .stride = (int64_t)run->stride,
                                 .bytes = run->bytes,
                                 .count = run->count,
                                 .outer = 1};
}

static bool joined(struct store_run *last, const struct store_run *next)
{
    struct mars_map_run run = map_run(last), other = map_run(next);
    if (run.count + other.count > STORE_RUN_MOST || !mars_map_join(&run, &other))
        return false;
    *last = (struct store_run){last->offset, run.bytes, (uint64_t)run.stride, (uint32_t)run.count};
    return true;
}

static void add(struct replay_runs *runs, uint64_t offset, uint64_t bytes, uint64_t stride, uint64_t count)
{
    runs->steps++;
    while (count && bytes) {
        uint32_t some = count < STORE_RUN_MOST ? (uint32_t)count : STORE_RUN_MOST;
        struct store_run run = {offset, bytes, some > 1 ? stride : 0, some};
        if (some > 1 && stride == bytes)
            run = (struct store_run){offset, bytes * some, 0, 1};
        if (!runs->count || !joined(&runs->run[runs->count - 1], &run))
            *KER_PUSH(runs->run, runs->count, runs->room) = run;
        runs->bytes += bytes * some;
        count -= some;
        offset += some * stride;
    }
}

/* `bytes` of the pieces of a run, from the byte `at` of them on. */
static void row_add(struct replay_runs *runs, uint64_t offset, const struct mars_map_run *r, uint64_t at,
                    uint64_t bytes)
{
    uint64_t stride = (uint64_t)r->stride, piece = at / r->bytes, before = at % r->bytes;
    if (before) {
        uint64_t most = r->bytes - before, some = bytes < most ? bytes : most;
        add(runs, offset + piece * stride + before, some, 0, 1);
        bytes -= some;
        piece++;
    }
    uint64_t whole = bytes / r->bytes;
    add(runs, offset + piece * stride, r->bytes, stride, whole);
    add(runs, offset + (piece + whole) * stride, bytes % r->bytes, 0, 1);
}

/* Likewise, where they come several times. */
static void run_add(struct replay_runs *runs, uint64_t base, const struct mars_map_run *r, uint64_t at,
                    uint64_t bytes)
{
    uint64_t row = r->bytes * r->count;
    for (uint64_t i = at / row; bytes && runs->steps < REPLAY_STEPS_MOST; i++) {
        uint64_t in = at % row, some = row - in < bytes ? row - in : bytes;
        row_add(runs, base + (uint64_t)r->offset + i * (uint64_t)r->outer_stride, r, in, some);
        bytes -= some;
        at = 0;
    }
}

/* A filetype of one run that goes on in its next copy. */
static bool endless(const struct replay_view *view, struct mars_map_run *run)
{
    *run = view->map->run[0];
    if (view->map->runs != 1 || run->outer != 1 ||
        (run->count > 1 && run->count * (uint64_t)run->stride != view->extent))
        return false;
    run->stride = run->count > 1 ? run->stride : (int64_t)view->extent;
    return true;
}

static void copies_add(const struct replay_view *view, uint64_t at, uint64_t bytes, struct replay_runs *runs)
{
    const struct mars_map *map = view->map;
    uint64_t base = view->displacement + at / view->size * view->extent, in = at % view->size;
    for (; bytes && runs->steps < REPLAY_STEPS_MOST; base += view->extent, in = 0)
        for (uint32_t i = 0; i < map->runs && bytes; i++) {
            const struct mars_map_run *r = &map->run[i];
            uint64_t all = r->bytes * r->count * r->outer, some = in < all ? all - in : 0;
            some = some < bytes ? some : bytes;
            if (some)
                run_add(runs, base, r, in, some);
            in = in < all ? 0 : in - all;
            bytes -= some;
        }
}

static bool lies(const struct replay_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        const struct store_run *r = &runs->run[i];
        uint64_t last = r->offset + (r->count - 1) * r->stride;
        if (r->offset > FAR || last > FAR || r->bytes > FAR || (r->count > 1 && r->stride == 0))
            return false;
    }
    return runs->steps < REPLAY_STEPS_MOST;
}

bool replay_view_runs(const struct replay_view *view, uint64_t at, uint64_t bytes, struct replay_runs *runs)
{
    struct mars_map_run run;
    runs->count = runs->steps = 0;
    runs->bytes = 0;
    if (bytes == 0)
        return true;
    if (view->size == 0 || (at + bytes) / view->size >= FAR / (view->extent + 1) || at + bytes > FAR)
        return false;
    if (!view->map)
        add(runs, view->displacement + at, bytes, 0, 1);
    else if (endless(view, &run))
        row_add(runs, view->displacement + (uint64_t)run.offset, &run, at, bytes);
    else
        copies_add(view, at, bytes, runs);
    return lies(runs);
}

bool replay_runs_overlap(const struct replay_runs *runs)
{
    uint64_t end = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const struct store_run *r = &runs->run[i];
        if (r->offset < end || (r->count > 1 && r->stride < r->bytes))
            return true;
        end = store_run_end(r);
    }
    return false;
}

uint64_t replay_run_first(const struct store_run *r, uint64_t x)
{
    if (x <= r->offset)
        return r->offset;
    uint64_t piece = r->count > 1 ? (x - r->offset) / r->stride : 0, begin = r->offset + piece * r->stride;
    if (piece < r->count && x < begin + r->bytes)
        return x;
    return piece + 1 < r->count ? begin + r->stride : UINT64_MAX;
}

uint64_t replay_run_last(const struct store_run *r, uint64_t x)
{
    if (x <= r->offset)
        return 0;
    uint64_t piece = r->count > 1 ? (x - 1 - r->offset) / r->stride : 0;
    piece = piece < r->count ? piece : r->count - 1;
    uint64_t end = r->offset + piece * r->stride + r->bytes;
    return end < x ? end : x;
}
