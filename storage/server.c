/* server.c - a file server: requests that wait for a thread, a cache, a device, and what goes back to
 * clients.
 *
 * A write is answered chunk by chunk: with a cache when it has found room in memory, otherwise when the
 * device has it. A read is answered in chunks as the device brings them, with at most so many under way as
 * the window says; the client acknowledges each but the last. A sync is answered when what the server held of
 * the file at that time is on the device.
 *
 * Invariant: bytes received = bytes on the device + those that were there already when they were joined
 * (overlapped) + those that are held and wait for the device (held) or for room (not received yet).
 */
#include "storage/private.h"

#include <stdlib.h>
#include <string.h>

/* What somebody waits for. */
struct job {
    struct node_caller caller;
    enum store_op op;            /* READ, WRITE, SYNC; CLOSE: a read that is sent; OPEN: the record is free */
    uint32_t file, left;         /* operations of the device that it waits for */
    uint64_t before;             /* SYNC: those with a smaller number */
    uint64_t ready, sent;        /* READ: bytes that are read, and on their way */
    uint32_t under_way, answers; /* chunks that are not acknowledged; that were sent */
};

/* What the server has of a file. */
struct file {
    uint32_t number;
    uint32_t writes; /* that wait for the device, or are there */
    uint64_t end;    /* of what has been written, where it lies here */
};

struct request {
    struct node_caller caller;
    uint64_t word[STORE_WORDS];
};
struct requests {
    struct request *at;
    uint32_t count, room;
};

struct server {
    struct store_counts counts; /* first: a row of storage.csv is a state */
    const struct store_settings *shared;
    struct store_head head;
    struct store_queue queue, running;
    struct job *job;
    struct file *file;
    uint32_t jobs, files, files_room, busy; /* busy: channels of the device, as the bits of `channels` */
    uint32_t threads;                       /* that work on requests: thread i on working.at[i] */
    struct requests waiting, working, full; /* for a thread; at one; for room in the cache */
    uint64_t *channel;                      /* bits: which are busy */
    uint64_t next;
    ker_time began; /* the device is busy since then */
    struct store_logged *log;
    uint64_t logged;
    struct store_totals last; /* at the end of the last period */
};

#define THREAD 0x8000u /* timers: of a thread; below: of a channel */

static uint32_t channels(const struct server *s)
{
    return s->shared->device.channels;
}

/* ---- files ---- */

static struct file *file_of(struct server *s, uint32_t number)
{
    uint32_t low = KER_BISECT(i, 0, s->files, s->file[i].number < number);
    if (low == s->files || s->file[low].number != number) {
        (void)KER_PUSH(s->file, s->files, s->files_room);
        memmove(&s->file[low + 1], &s->file[low], (s->files - 1 - low) * sizeof *s->file);
        s->file[low] = (struct file){.number = number};
    }
    return &s->file[low];
}

/* ---- jobs: from 1 on ---- */

static uint32_t job_new(struct server *s, const struct job *job)
{
    uint32_t at = 0;
    while (at < s->jobs && s->job[at].op != STORE_OPEN)
        at++;
    if (at == s->jobs)
        (void)KER_APPEND(s->job, s->jobs);
    s->job[at] = *job;
    return at + 1;
}

static void answer(const struct server *s, struct node *node, ker_time now, const struct node_caller *to,
                   uint64_t bytes, uint32_t job, uint32_t answers)
{
    const struct node_service_setup *setup = s->shared->setup;
    struct net_envelope envelope = {{to->token}};
    envelope.word[1 + STORE_ANSWERS] = answers;
    envelope.word[1 + STORE_JOB] = job;
    envelope.word[1 + STORE_BYTES] = bytes;
    struct node_message m = {.destination = to->node,
                             .bytes = bytes,
                             .envelope = &envelope,
                             .core = to->node == s->counts.node ? NODE_ANY_CORE : s->shared->core,
                             .priority = setup->priority};
    if (to->node == s->counts.node)
        m.queue = NODE_QUEUE_ONCE;
    node_send(node, now, NODE_TO(setup->service, to->service), &m);
}

/* Of a read: what has come from the device goes on in whole chunks, the rest behind the last of it. */
static void read_send(struct server *s, struct node *node, ker_time now, uint32_t number)
{
    struct job *job = &s->job[number - 1];
    bool all = job->left == 0;
    while (job->op == STORE_READ && job->under_way < s->shared->window) {
        uint64_t there = job->ready - job->sent, bytes = there < s->shared->chunk ? there : s->shared->chunk;
        bool last = all && bytes == there;
        if (bytes < s->shared->chunk && !last)
            return;
        job->sent += bytes;
        job->under_way++;
        if (last) { /* the record stays until all others are acknowledged */
            job->under_way--;
            job->op = job->under_way ? STORE_CLOSE : STORE_OPEN;
        }
        job->answers++;
        answer(s, node, now, &job->caller, bytes, number, last ? job->answers : 0);
    }
}

static void read_acknowledged(struct server *s, struct node *node, ker_time now, uint32_t number)
{
    struct job *job = &s->job[number - 1];
    if (--job->under_way == 0 && job->op == STORE_CLOSE)
        job->op = STORE_OPEN;
    read_send(s, node, now, number);
}

/* An operation that it waits for has been done. */
static void job_goes_on(struct server *s, struct node *node, ker_time now, uint32_t number, uint64_t bytes)
{
    struct job *job = &s->job[number - 1];
    job->left--;
    if (job->op == STORE_READ) {
        job->ready += bytes;
        read_send(s, node, now, number);
    } else if (job->left == 0) {
        job->op = STORE_OPEN;
        answer(s, node, now, &job->caller, 0, number, 1);
    }
}

/* ---- the device ---- */

static void device_begin(struct server *s, struct node *node, ker_time now)
{
    struct store_pick pick;
    while (s->busy < channels(s)) {
        uint32_t at = s->running.count, channel = 0;
        if (!store_queue_pick(&s->queue, s->shared->policy, &s->head, s->shared->granularity, &s->running,
                              &pick))
            return;
        while (s->channel[channel / 64] >> channel % 64 & 1)
            channel++;
        s->channel[channel / 64] |= (uint64_t)1 << channel % 64;
        enum store_seek seek;
        ker_time time = s->shared->device.kind->time(&s->shared->device, &s->head, pick.file, pick.offset,
                                                     pick.bytes, &seek);
        uint64_t parts = 0;
        for (; at < s->running.count; at++) {
            struct store_io *io = &s->running.io[at];
            io->channel = (uint16_t)channel;
            uint64_t wait = (uint64_t)(now - io->came);
            parts += io->bytes;
            s->counts.waited += wait;
            s->counts.wait_max = wait > s->counts.wait_max ? wait : s->counts.wait_max;
        }
        s->began = s->busy++ ? s->began : now;
        s->counts.total.operations++;
        s->counts.total.seeks[seek]++;
        s->counts.total.merged += pick.taken - 1;
        *(pick.writes ? &s->counts.total.device_written : &s->counts.total.device_read) += pick.bytes;
        s->counts.total.overlapped += pick.writes ? parts - pick.bytes : 0;
        node_timer(node, now + (time ? time : 1), s->shared->setup->service, channel);
    }
}

/* Those who wait for a write of this file with this number. */
static void synced(struct server *s, struct node *node, ker_time now, const struct store_io *io)
{
    file_of(s, io->file)->writes--;
    for (uint32_t i = 0; i < s->jobs; i++)
        if (s->job[i].op == STORE_SYNC && s->job[i].file == io->file && io->number < s->job[i].before)
            job_goes_on(s, node, now, i + 1, 0);
}

static void full_admit(struct server *s, ker_time now, struct node *node);

static void device_done(struct server *s, struct node *node, ker_time now, uint32_t channel)
{
    struct store_queue *r = &s->running;
    struct store_queue done = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->io[i].channel == channel)
            *KER_PUSH(done.io, done.count, done.room) = r->io[i];
        else
            r->io[kept++] = r->io[i];
    r->count = kept;
    s->channel[channel / 64] &= ~((uint64_t)1 << channel % 64);
    if (--s->busy == 0)
        s->counts.total.busy_ps += (uint64_t)(now - s->began);
    for (uint32_t i = 0; i < done.count; i++) {
        const struct store_io *io = &done.io[i];
        if (io->writes) {
            s->counts.held -= io->bytes;
            synced(s, node, now, io);
        }
        if (io->job)
            job_goes_on(s, node, now, io->job, io->bytes);
    }
    free(done.io);
    full_admit(s, now, node);
    device_begin(s, node, now);
}

/* An extent as operations, of which none is larger than the device takes. Returns how many. */
static uint32_t io_add(struct server *s, ker_time now, uint32_t file, uint64_t offset, uint64_t bytes,
                       bool writes, uint32_t job)
{
    uint32_t count = 0;
    for (uint64_t part; bytes; bytes -= part, offset += part, count++) {
        part = bytes < s->shared->granularity ? bytes : s->shared->granularity;
        store_queue_add(&s->queue, s->shared->policy,
                        &(struct store_io){.number = s->next++,
                                           .came = now,
                                           .offset = offset,
                                           .bytes = part,
                                           .file = file,
                                           .job = job,
                                           .writes = writes});
    }
    s->counts.queue_max = s->queue.count > s->counts.queue_max ? s->queue.count : s->counts.queue_max;
    return count;
}

/* ---- requests ---- */

static struct store_extents extents_of(const struct server *s, const struct store_call *call)
{
    const struct store_layout *layout = &s->shared->layout;
    return (struct store_extents){layout, call->run, store_layout_place(layout, call->file, s->counts.number),
                                  0};
}

/* Of a chunk: its bytes here. */
static uint64_t chunk_bytes(const struct server *s, const struct store_message *m)
{
    struct store_extents at = extents_of(s, &m->call);
    uint64_t all = store_layout_bytes(at.layout, at.place, &m->call.run), skip = m->chunk * s->shared->chunk;
    return all - skip < s->shared->chunk ? all - skip : s->shared->chunk;
}

static void write_begin(struct server *s, struct node *node, ker_time now, const struct request *request)
{
    struct store_message m = store_message_of(request->word);
    struct store_extents at = extents_of(s, &m.call);
    uint64_t skip = m.chunk * s->shared->chunk, left = chunk_bytes(s, &m), offset, bytes;
    uint32_t job = 0, count = 0;
    struct file *file = file_of(s, m.call.file);
    s->counts.total.written += left;
    s->counts.held += left;
    s->counts.cache_max = s->counts.held > s->counts.cache_max ? s->counts.held : s->counts.cache_max;
    if (!s->shared->policy->caches)
        job = job_new(s, &(struct job){.caller = request->caller, .op = STORE_WRITE, .file = m.call.file});
    while (left && store_extents_next(&at, &offset, &bytes)) {
        uint64_t over = skip < bytes ? skip : bytes;
        skip -= over;
        bytes -= over;
        bytes = bytes < left ? bytes : left;
        left -= bytes;
        count += io_add(s, now, m.call.file, offset + over, bytes, true, job);
        file->end = bytes && offset + over + bytes > file->end ? offset + over + bytes : file->end;
    }
    file->writes += count;
    if (job)
        s->job[job - 1].left = count;
    else
        answer(s, node, now, &request->caller, 0, 0, 1);
}

/* Has the cache room for it? */
static bool has_room(const struct server *s, const struct request *request)
{
    struct store_message m = store_message_of(request->word);
    return !s->shared->policy->caches || s->counts.held + chunk_bytes(s, &m) <= s->shared->cache;
}

static void full_admit(struct server *s, ker_time now, struct node *node)
{
    uint32_t done = 0;
    while (done < s->full.count && has_room(s, &s->full.at[done]))
        write_begin(s, node, now, &s->full.at[done++]);
    s->full.count -= done;
    if (done)
        memmove(s->full.at, s->full.at + done, s->full.count * sizeof *s->full.at);
}

static void read_begin(struct server *s, struct node *node, ker_time now, const struct request *request)
{
    struct store_message m = store_message_of(request->word);
    struct store_extents at = extents_of(s, &m.call);
    const struct store_layout *layout = &s->shared->layout;
    uint64_t end = file_of(s, m.call.file)->end,
             existed = layout->kind->below(layout, at.place, m.call.exists), offset, bytes;
    uint32_t job =
                 job_new(s, &(struct job){.caller = request->caller, .op = STORE_READ, .file = m.call.file}),
             count = 0;
    end = existed > end ? existed : end;
    while (store_extents_next(&at, &offset, &bytes)) {
        bytes = offset >= end ? 0 : end - offset < bytes ? end - offset : bytes;
        count += io_add(s, now, m.call.file, offset, bytes, false, job);
        s->counts.total.read += bytes;
    }
    s->job[job - 1].left = count;
    if (count == 0)
        read_send(s, node, now, job);
}

static void sync_begin(struct server *s, struct node *node, ker_time now, const struct request *request)
{
    struct store_message m = store_message_of(request->word);
    uint32_t left = file_of(s, m.call.file)->writes;
    if (left == 0)
        answer(s, node, now, &request->caller, 0, 0, 1);
    else
        job_new(s, &(struct job){request->caller, STORE_SYNC, m.call.file, left, .before = s->next});
}

static void request_log(struct server *s, ker_time now, const struct request *request)
{
    struct store_message m = store_message_of(request->word);
    struct store_extents at = extents_of(s, &m.call);
    bool moves = m.call.op == STORE_READ || m.call.op == STORE_WRITE;
    uint64_t offset = 0, bytes = 0, skip = m.call.op == STORE_WRITE ? m.chunk * s->shared->chunk : 0;
    while (moves && store_extents_next(&at, &offset, &bytes) && skip >= bytes)
        skip -= bytes;
    struct store_logged row = {.time = now,
                               .number = (uint64_t)s->counts.number << 40 | s->logged,
                               .offset = offset + skip,
                               .server = s->counts.number,
                               .client = request->caller.node,
                               .file = m.call.file,
                               .op = m.call.op};
    if (moves)
        row.bytes = m.call.op == STORE_WRITE ? chunk_bytes(s, &m)
                                             : store_layout_bytes(&s->shared->layout, at.place, &m.call.run);
    *KER_APPEND(s->log, s->logged) = row;
}

static void request_do(struct server *s, struct node *node, ker_time now, const struct request *request)
{
    switch (store_message_of(request->word).call.op) {
    case STORE_WRITE:
        if (s->full.count || !has_room(s, request))
            *KER_PUSH(s->full.at, s->full.count, s->full.room) = *request;
        else
            write_begin(s, node, now, request);
        break;
    case STORE_READ:
        read_begin(s, node, now, request);
        break;
    case STORE_SYNC:
        sync_begin(s, node, now, request);
        break;
    default: /* OPEN, CLOSE */
        answer(s, node, now, &request->caller, 0, 0, 1);
    }
    device_begin(s, node, now);
}

/* Processor time for it. */
static ker_time request_cost(const struct server *s, const struct request *request)
{
    struct store_message m = store_message_of(request->word);
    if (m.call.op == STORE_OPEN)
        return s->shared->open_time;
    return m.call.op == STORE_WRITE && m.chunk ? 0 : s->shared->request_time;
}

/* Threads take what waits; what costs nothing needs none. */
static void threads_begin(struct server *s, struct node *node, ker_time now)
{
    while (s->waiting.count && s->threads < s->shared->threads) {
        uint32_t thread = 0;
        while (s->working.at[thread].caller.service != UINT32_MAX)
            thread++;
        s->working.at[thread] = s->waiting.at[0];
        memmove(s->waiting.at, s->waiting.at + 1, --s->waiting.count * sizeof *s->waiting.at);
        s->threads++;
        node_timer(node, now + request_cost(s, &s->working.at[thread]), s->shared->setup->service,
                   THREAD + thread);
    }
}

static void server_arrived(void *state, struct node *node, ker_time now, const struct net_message *m)
{
    struct server *s = state;
    struct request request = {.caller = node_caller_of(m)};
    memcpy(request.word, &m->envelope.word[1], sizeof request.word);
    struct store_message message = store_message_of(request.word);
    if (message.call.op == STORE_ACK) {
        read_acknowledged(s, node, now, message.chunk);
        return;
    }
    s->counts.total.requests += message.call.op != STORE_WRITE || message.chunk == 0;
    if (s->shared->logs)
        request_log(s, now, &request);
    if (request_cost(s, &request) == 0) {
        request_do(s, node, now, &request);
        return;
    }
    *KER_PUSH(s->waiting.at, s->waiting.count, s->waiting.room) = request;
    threads_begin(s, node, now);
}

static void server_timer(void *state, struct node *node, ker_time now, uint32_t number)
{
    struct server *s = state;
    if (number < THREAD) {
        device_done(s, node, now, number);
        return;
    }
    struct request request = s->working.at[number - THREAD];
    s->working.at[number - THREAD].caller.service = UINT32_MAX;
    s->threads--;
    request_do(s, node, now, &request);
    threads_begin(s, node, now);
}

static void server_init(void *state, void *shared, const struct node_service_setup *setup, uint32_t node)
{
    struct server *s = state;
    s->shared = shared;
    s->counts.node = node;
    s->counts.number = node_service_member(setup, node);
    s->channel = ker_alloc((channels(s) + 63) / 64 * sizeof *s->channel);
    s->working.count = s->shared->threads;
    s->working.at = ker_alloc(s->working.count * sizeof *s->working.at);
    for (uint32_t i = 0; i < s->working.count; i++)
        s->working.at[i].caller.service = UINT32_MAX;
}

/* What the header of this file says of bytes. */
static void bytes_check(const struct server *s)
{
    const struct store_totals *t = &s->counts.total;
    uint64_t waits = 0;
    for (uint32_t i = 0; i < s->queue.count; i++)
        waits += s->queue.io[i].writes ? s->queue.io[i].bytes : 0;
    ker_assert(t->written == t->device_written + t->overlapped + waits);
}

static void server_release(void *state)
{
    struct server *s = state;
    bytes_check(s);
    KER_FREE(s->queue.io, s->running.io, s->job, s->file, s->waiting.at, s->working.at, s->full.at,
             s->channel, s->log);
}

/* ---- checkpoint ---- */

static void requests_save(struct requests *r, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, r->count, sizeof *r->at);
    if (c->loads)
        r->count = 0;
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        if (c->loads)
            *KER_PUSH(r->at, r->count, r->room) = (struct request){.caller = {0}};
        struct request *q = &r->at[i];
        KER_CHUNK(c, q->caller.token, q->caller.node, q->caller.service, q->word);
    }
}

static void jobs_save(struct server *s, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, s->jobs, 16);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        if (c->loads)
            *KER_APPEND(s->job, s->jobs) = (struct job){.left = 0};
        struct job *j = &s->job[i];
        j->op = ker_chunk_below(c, j->op, STORE_ACK);
        KER_CHUNK(c, j->caller.token, j->caller.node, j->caller.service, j->file, j->left, j->before,
                  j->ready, j->sent, j->under_way, j->answers);
    }
    count = ker_chunk_count(c, s->files, 16);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        if (c->loads)
            *KER_PUSH(s->file, s->files, s->files_room) = (struct file){.number = 0};
        KER_CHUNK(c, s->file[i].number, s->file[i].writes, s->file[i].end);
    }
}

static void log_save(struct server *s, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, (uint32_t)s->logged, sizeof *s->log / 2);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        if (c->loads)
            *KER_APPEND(s->log, s->logged) = (struct store_logged){.time = 0};
        struct store_logged *row = &s->log[i];
        row->op = ker_chunk_below(c, row->op, STORE_ACK);
        KER_CHUNK(c, row->time, row->number, row->offset, row->bytes, row->server, row->client, row->file);
    }
}

static void server_save(void *state, struct node *node, struct ker_chunk *c)
{
    struct server *s = state;
    (void)node;
    KER_CHUNK(c, s->head.end, s->head.file);
    s->head.moved = ker_chunk_bool(c, s->head.moved);
    store_io_save(&s->queue, c);
    store_io_save(&s->running, c);
    jobs_save(s, c);
    requests_save(&s->waiting, c);
    requests_save(&s->working, c);
    requests_save(&s->full, c);
    log_save(s, c);
    c->bad |= s->working.count != s->shared->threads;
    ker_chunk_bytes(c, s->channel, (channels(s) + 63) / 64 * sizeof *s->channel);
    KER_CHUNK(c, s->busy, s->threads, s->next, s->began, s->counts, s->last);
}

/* ---- what it has counted ---- */

static void series_add(void *state, ker_time at, struct stats_table *table)
{
    struct server *s = state;
    struct store_period row = {
        at, s->counts.node, s->counts.number, s->queue.count, s->counts.held, s->counts.total};
    row.total.busy_ps += s->busy ? (uint64_t)(at - s->began) : 0;
    stats_series_since(store_series.name, (uint64_t *)&row.total, (uint64_t *)&s->last,
                       sizeof row.total / sizeof(uint64_t));
    if (row.queue || row.held || row.total.requests || row.total.busy_ps)
        stats_table_add(table, &row);
}

static bool server_logs(const void *shared)
{
    return ((const struct store_settings *)shared)->logs;
}

static void log_add(const void *state, struct stats_table *table)
{
    const struct server *s = state;
    for (uint64_t i = 0; i < s->logged; i++)
        stats_table_add(table, &s->log[i]);
}

const struct node_service_kind store_server = {.service = {.name = "storage",
                                                           .arrived = server_arrived,
                                                           .timer = server_timer,
                                                           .save = server_save,
                                                           .release = server_release},
                                               .shared_bytes = sizeof(struct store_settings),
                                               .state_bytes = sizeof(struct server),
                                               .read = store_settings_read,
                                               .init = server_init,
                                               .table = &store_table,
                                               .series_key = "output.series.storage",
                                               .series = &store_series,
                                               .series_add = series_add,
                                               .log = &store_log,
                                               .logs = server_logs,
                                               .log_add = log_add};
