/* files.c - a file server, by the recipes of CONTRIBUTING.md alone: tasks write and read one shared file by
 * calls of their node's client, which cuts it into stripes over the servers. A server's disk does one request
 * after the other: it seeks where the request does not go on from the last one, then moves bytes. Of what
 * nobody has written nothing is read: the first word of an answer says how many bytes there were.
 */
#include <marssim/plugin.h>

#include <stdlib.h>
#include <string.h>

enum file_op { FILE_WRITE, FILE_READ };

/* What an envelope says behind the token: the words of a task's call, and of a client's request. */
struct request {
    uint64_t op, offset, bytes;
};

static struct request request_of(const struct net_message *m)
{
    return (struct request){m->envelope.word[1], m->envelope.word[2], m->envelope.word[3]};
}

/* ---- servers ---- */

struct disks {
    const struct node_service_setup *setup;
    ker_time seek;
    uint64_t rate;
};
struct waiting {
    struct node_caller caller;
    struct request request;
};
struct disk {
    const struct disks *shared;
    struct waiting *queue; /* the first is at the disk */
    uint32_t count, node;
    uint64_t end, written; /* where the last request ended, and the file does */
    uint64_t requests, seeks, bytes;
};

static const struct ker_option disk_options[] = {
    {"services[].seek", KER_TYPE_TIME, "1 ms", NULL, "1 s", NULL, "file_server: before what is elsewhere."},
    {"services[].rate", KER_TYPE_RATE, "100 MB/s", "1 kB/s", NULL, NULL, "file_server: of the disk."},
    {0}};

static enum ker_status disks_read(void *shared, const struct node_service_setup *setup,
                                  struct ker_error *error)
{
    *(struct disks *)shared =
        (struct disks){setup, ker_config_time(setup->config, node_service_key(setup, "seek").text),
                       ker_config_rate(setup->config, node_service_key(setup, "rate").text)};
    return KER_OK;
}

static void disk_init(void *state, void *shared, const struct node_service_setup *setup, uint32_t node)
{
    *(struct disk *)state = (struct disk){.shared = shared, .node = node, .end = UINT64_MAX};
}

static void disk_begin(struct disk *d, struct node *node, ker_time now)
{
    struct request *r = &d->queue[0].request;
    bool seeks = r->offset != d->end;
    uint64_t there = d->written > r->offset ? d->written - r->offset : 0;
    if (r->op == FILE_READ && r->bytes > there)
        r->bytes = there;
    d->end = r->offset + r->bytes;
    d->written = d->end > d->written && r->op == FILE_WRITE ? d->end : d->written;
    d->requests++;
    d->seeks += seeks;
    d->bytes += r->bytes;
    ker_time time = (seeks ? d->shared->seek : 0) + ker_serialisation(r->bytes, d->shared->rate);
    node_timer(node, now + (time ? time : 1), d->shared->setup->service, 0);
}

static void disk_arrived(void *state, struct node *node, ker_time now, const struct net_message *m)
{
    struct disk *d = state;
    *KER_APPEND(d->queue, d->count) = (struct waiting){node_caller_of(m), request_of(m)};
    if (d->count == 1)
        disk_begin(d, node, now);
}

static void disk_timer(void *state, struct node *node, ker_time now, uint32_t number)
{
    struct disk *d = state;
    const struct node_service_setup *setup = d->shared->setup;
    struct waiting done = d->queue[0];
    memmove(d->queue, d->queue + 1, --d->count * sizeof *d->queue);
    const uint64_t count[NODE_ANSWER_WORDS] = {done.request.bytes};
    node_answer(node, now, setup->service, &done.caller, done.request.op == FILE_READ ? count[0] : 0, count,
                setup->priority);
    if (d->count)
        disk_begin(d, node, now);
}

static void disk_save(void *state, struct node *node, struct ker_chunk *chunk)
{
    struct disk *d = state;
    uint32_t count = ker_chunk_count(chunk, d->count, sizeof *d->queue);
    for (uint32_t i = 0; i < count && !chunk->bad; i++) {
        if (chunk->loads)
            *KER_APPEND(d->queue, d->count) = (struct waiting){.request = {0}};
        KER_CHUNK(chunk, d->queue[i]);
    }
    KER_CHUNK(chunk, d->end);
    KER_CHUNK(chunk, d->written);
    KER_CHUNK(chunk, d->requests);
    KER_CHUNK(chunk, d->seeks);
    KER_CHUNK(chunk, d->bytes);
}

static void disk_release(void *state)
{
    free(((struct disk *)state)->queue);
}

#define COLUMNS(COLUMN)                                                                                      \
    COLUMN(node, "", U32, SAME, row->node, "the node")                                                       \
    COLUMN(requests, "", U64, SUM, row->requests, "requests that have reached the disk")                     \
    COLUMN(seeks, "", U64, SUM, row->seeks, "of them, where it had to seek")                                 \
    COLUMN(bytes, "bytes", U64, SUM, row->bytes, "written and read")

static uint64_t row_key(const void *row)
{
    return ((const struct disk *)row)->node;
}

STATS_OWN_SCHEMA(table, struct disk, COLUMNS, row_key, "service_file_server", "One row per server.")

/* ---- clients: a call is as many requests as it has stripes; the first word of these is the call's place ---
 */

struct clients {
    const struct node_service_setup *setup, *servers;
    uint64_t stripe;
};
struct open_call {
    struct node_caller caller;
    uint64_t left, bytes;              /* requests that are not answered; of answers. left 0: free */
    uint64_t count[NODE_ANSWER_WORDS]; /* the first: written or read */
};
struct client {
    const struct clients *shared;
    struct open_call *call;
    uint32_t calls;
};

static const struct ker_option client_options[] = {
    {"services[].servers", KER_TYPE_STRING, "file_server", NULL, NULL, NULL, "file_client: the servers."},
    {"services[].stripe", KER_TYPE_BYTES, "64 KiB", "1 B", NULL, NULL, "file_client: of a file."},
    {0}};

static enum ker_status clients_read(void *shared, const struct node_service_setup *setup,
                                    struct ker_error *error)
{
    struct clients *c = shared;
    c->setup = setup;
    c->stripe = ker_config_bytes(setup->config, node_service_key(setup, "stripe").text);
    return node_service_find(&c->servers, setup, "servers", error);
}

static void client_init(void *state, void *shared, const struct node_service_setup *setup, uint32_t node)
{
    ((struct client *)state)->shared = shared;
}

static void client_request(const struct client *c, struct node *node, ker_time now, uint64_t call,
                           const struct request *r)
{
    const struct clients *all = c->shared;
    uint64_t stripe = r->offset / all->stripe;
    uint32_t server = (uint32_t)(stripe % all->servers->members);
    uint64_t offset = stripe / all->servers->members * all->stripe + r->offset % all->stripe;
    struct net_envelope envelope = {{call, r->op, offset, r->bytes}};
    struct node_message m = {.destination = node_service_node(all->servers, server),
                             .bytes = r->op == FILE_WRITE ? r->bytes : 0,
                             .envelope = &envelope,
                             .core = NODE_ANY_CORE,
                             .priority = all->setup->priority};
    node_send(node, now, NODE_TO(all->setup->service, all->servers->service), &m);
}

static void client_called(struct client *c, struct node *node, ker_time now, const struct net_message *m)
{
    struct request rest = request_of(m);
    uint32_t at = 0;
    while (at < c->calls && c->call[at].left)
        at++;
    if (at == c->calls)
        KER_APPEND(c->call, c->calls);
    c->call[at] = (struct open_call){.caller = node_caller_of(m)};
    while (rest.bytes || !c->call[at].left) {
        uint64_t room = c->shared->stripe - rest.offset % c->shared->stripe;
        struct request one = {rest.op, rest.offset, rest.bytes < room ? rest.bytes : room};
        client_request(c, node, now, at, &one);
        c->call[at].left++;
        rest.offset += one.bytes;
        rest.bytes -= one.bytes;
    }
}

static void client_arrived(void *state, struct node *node, ker_time now, const struct net_message *m)
{
    struct client *c = state;
    const struct node_service_setup *own = c->shared->setup;
    if (node_message_from(m) != c->shared->servers->service) {
        client_called(c, node, now, m);
        return;
    }
    struct open_call *call = &c->call[m->envelope.word[0]];
    call->bytes += m->bytes;
    call->count[0] += m->envelope.word[1];
    if (--call->left == 0)
        node_answer(node, now, own->service, &call->caller, call->bytes, call->count, own->priority);
}

static void client_save(void *state, struct node *node, struct ker_chunk *chunk)
{
    struct client *c = state;
    uint32_t count = ker_chunk_count(chunk, c->calls, sizeof *c->call);
    for (uint32_t i = 0; i < count && !chunk->bad; i++) {
        if (chunk->loads)
            *KER_APPEND(c->call, c->calls) = (struct open_call){.left = 0};
        KER_CHUNK(chunk, c->call[i]);
    }
}

static void client_release(void *state)
{
    free(((struct client *)state)->call);
}

/* ---- tasks: each writes its part of the file in records, waits for all others, and reads it back, or on to
 * the end of the file, which a read that is short shows ---- */

struct own_task {
    uint32_t task;
    uint64_t done, before, last; /* operations; last: MPI_Finalize's number, or UINT64_MAX, not known */
    uint64_t words[TASK_CALL_WORDS];
};
struct task_program {
    uint32_t tasks;
    uint64_t records, bytes, read; /* read: of each, to the end; 0: its records */
    struct task_called called;
    struct task_comm world;
    struct own_task *own;
};

static const struct ker_option writer_options[] = {
    {"jobs[].client", KER_TYPE_STRING, "file_client", NULL, NULL, NULL, "file_writers: the service."},
    {"jobs[].records", KER_TYPE_INT, "1", "1", "1000000", NULL, "file_writers: of each task."},
    {"jobs[].record", KER_TYPE_BYTES, "1 MiB", "1 B", NULL, NULL, "file_writers: of a record."},
    {"jobs[].read", KER_TYPE_BYTES, "0 B", NULL, NULL, NULL,
     "file_writers: of a read, with which a task goes on to the end of the file; 0: records."},
    {0}};

static enum ker_status writers_open(struct task_program **opened, const struct ker_config *config,
                                    const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *p = *opened = ker_alloc(sizeof *p);
    if (!ker_config_has(config, TASK_KEY(path, "tasks")))
        return ker_config_fail(config, error, TASK_KEY(path, "tasks"), "is missing");
    p->tasks = (uint32_t)ker_config_int(config, TASK_KEY(path, "tasks"));
    p->records = (uint64_t)ker_config_int(config, TASK_KEY(path, "records"));
    p->bytes = ker_config_bytes(config, TASK_KEY(path, "record"));
    p->read = ker_config_bytes(config, TASK_KEY(path, "read"));
    p->called = (struct task_called){ker_config_string(config, TASK_KEY(path, "client")), "client"};
    p->world = (struct task_comm){.size = (int32_t)p->tasks};
    return KER_OK;
}

static void writers_close(struct task_program *p)
{
    if (p)
        free(p->own);
    free(p);
}

static uint32_t writers_tasks(const struct task_program *p)
{
    return p->tasks;
}

static const struct task_comm *writers_comms(const struct task_program *p, int32_t *count)
{
    *count = 1;
    return &p->world;
}

static bool writers_service(const struct task_program *p, uint32_t index, struct task_called *called)
{
    *called = p->called;
    return index == 0;
}

static enum ker_status writers_prepare(struct task_program *p, const uint32_t *own_tasks, uint32_t count,
                                       struct ker_error *error)
{
    p->own = ker_alloc(count * sizeof *p->own);
    for (uint32_t i = 0; i < count; i++)
        p->own[i] =
            (struct own_task){.task = own_tasks[i], .last = p->read ? UINT64_MAX : 2 * p->records + 1};
    return KER_OK;
}

static void writers_answered(struct task_program *p, uint32_t number, const struct task_answer *answer)
{
    struct own_task *own = &p->own[number];
    if (p->read && own->done > p->records + 1 && answer->words[0] < p->read)
        own->last = own->done;
}

static bool writers_next(struct task_program *p, uint32_t number, struct task_op *op)
{
    struct own_task *own = &p->own[number];
    uint64_t at = own->before = own->done++;
    if (at == p->records || at >= own->last) {
        bool ends = at > p->records;
        *op = (struct task_op){.kind = ends ? TASK_OP_FINALIZE : TASK_OP_COLLECTIVE,
                               .collective = TASK_COLL_BARRIER,
                               .call = ends ? "MPI_Finalize" : "MPI_Barrier"};
        return at <= own->last;
    }
    bool reads = at > p->records;
    uint64_t record = reads ? at - p->records - 1 : at, size = reads && p->read ? p->read : p->bytes;
    own->words[0] = reads ? FILE_READ : FILE_WRITE;
    own->words[1] = own->task * p->records * p->bytes + record * size;
    own->words[2] = size;
    *op = (struct task_op){.kind = TASK_OP_CALL,
                           .bytes = reads ? 0 : p->bytes,
                           .words = own->words,
                           .call = reads ? "read" : "write"};
    return true;
}

static void writers_position(struct task_program *p, uint32_t number, struct ker_chunk *chunk)
{
    struct own_task *own = &p->own[number];
    KER_CHUNK(chunk, own->before);
    KER_CHUNK(chunk, own->last);
    own->done = chunk->loads ? own->before : own->done;
    chunk->bad |= !p->read && own->before > 2 * p->records + 2;
}

/* ---- what there is ---- */

static const struct ker_kind server = {
    .name = "file_server",
    .meaning = "writes and reads on a disk, one request after the other",
    .operations = &(const struct node_service_kind){.service = {.name = "file_server",
                                                                .arrived = disk_arrived,
                                                                .timer = disk_timer,
                                                                .save = disk_save,
                                                                .release = disk_release},
                                                    .shared_bytes = sizeof(struct disks),
                                                    .state_bytes = sizeof(struct disk),
                                                    .read = disks_read,
                                                    .init = disk_init,
                                                    .table = &table},
    .options = KER_OPTIONS(disk_options)};
static const struct ker_kind client = {
    .name = "file_client",
    .meaning = "cuts what tasks write and read into stripes over file servers",
    .operations = &(const struct node_service_kind){.service = {.name = "file_client",
                                                                .arrived = client_arrived,
                                                                .save = client_save,
                                                                .release = client_release},
                                                    .shared_bytes = sizeof(struct clients),
                                                    .state_bytes = sizeof(struct client),
                                                    .answers = true,
                                                    .read = clients_read,
                                                    .release = NULL,
                                                    .init = client_init},
    .options = KER_OPTIONS(client_options)};
static const struct ker_kind writers = {.name = "file_writers",
                                        .meaning = "tasks that write a file together and read it back",
                                        .operations =
                                            &(const struct task_program_class){.open = writers_open,
                                                                               .tasks = writers_tasks,
                                                                               .comms = writers_comms,
                                                                               .prepare = writers_prepare,
                                                                               .next = writers_next,
                                                                               .close = writers_close,
                                                                               .position = writers_position,
                                                                               .service = writers_service,
                                                                               .answered = writers_answered},
                                        .options = KER_OPTIONS(writer_options)};
static const struct ker_kind *const services[] = {&server, &client, NULL};
static const struct ker_kind *const programs[] = {&writers, NULL};
MARSSIM_PLUGIN(MARSSIM_BRINGS("services[].kind", struct node_service_kind, services),
               MARSSIM_BRINGS("jobs[].program", struct task_program_class, programs));
