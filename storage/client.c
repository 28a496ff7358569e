/* client.c - the storage client of a node: tasks call it, and it asks the servers.
 *
 * A call is in parts, one for each server that it concerns; a part is in units, which are sent in their
 * order, at most a window of them without an answer: of a write the chunks, of a read requests, each for at
 * most STORE_PIECES pieces of the run, of a sync and an open one. A call is answered when all its parts are
 * done.
 *
 * Invariant: a part's number of units, and what each of them is, follows from the call alone.
 */
#include "storage/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
    uint32_t server, under_way;
    uint32_t answers, wanted; /* that came; that there are, of units whose last one has come */
    enum store_op op;
    uint32_t piece, chunk; /* of the next unit: the run's first piece in it; which chunk of these pieces */
    uint64_t left;         /* bytes of these pieces that are not sent; writes */
};

struct call {
    struct node_caller caller;
    struct store_call what;
    struct part *part;
    uint32_t parts, left; /* left: those that are not done; 0: the record is free */
    uint64_t bytes;       /* that were read */
};

/* A file that tasks of the node have opened. */
struct file {
    uint32_t number, servers, room;
    uint64_t exists;
    uint32_t *server; /* to which the node has written since the last sync: places, in increasing order */
};

struct client {
    const struct store_settings *shared;
    uint32_t node;
    struct call *call;
    struct file *file;
    uint32_t calls, files;
};

/* ---- files ---- */

static struct file *file_of(struct client *c, uint32_t number)
{
    for (uint32_t i = 0; i < c->files; i++)
        if (c->file[i].number == number)
            return &c->file[i];
    struct file *file = KER_APPEND(c->file, c->files);
    *file = (struct file){.number = number};
    return file;
}

static void file_wrote(struct file *file, uint32_t place)
{
    uint32_t at = file->servers;
    while (at && file->server[at - 1] > place)
        at--;
    if (at && file->server[at - 1] == place)
        return;
    (void)KER_PUSH(file->server, file->servers, file->room);
    memmove(&file->server[at + 1], &file->server[at], (file->servers - 1 - at) * sizeof *file->server);
    file->server[at] = place;
}

/* ---- units ---- */

/* The pieces of the run that the next unit is of. */
static struct store_run unit_run(const struct store_run *run, uint32_t piece)
{
    struct store_run some = *run;
    some.offset += piece * run->stride;
    some.count = run->count - piece < STORE_PIECES ? run->count - piece : STORE_PIECES;
    return some;
}

/* Goes on to pieces of which the part has something; false: there are none. */
static bool part_next(const struct client *c, const struct call *call, struct part *part)
{
    const struct store_layout *layout = &c->shared->layout;
    uint32_t place = store_layout_place(layout, call->what.file, part->server);
    for (; part->piece < call->what.run.count; part->piece += STORE_PIECES) {
        struct store_run run = unit_run(&call->what.run, part->piece);
        part->chunk = 0;
        if ((part->left = store_layout_bytes(layout, place, &run)) > 0)
            return true;
    }
    return false;
}

/* What describes the pieces, where it is more than the request itself has room for. */
static uint64_t list_bytes(const struct store_run *run)
{
    return run->count > 1 ? (uint64_t)run->count * STORE_PIECE_BYTES : 0;
}

static void send(const struct client *c, struct node *node, ker_time now, uint64_t token, uint32_t server,
                 const struct store_message *m, uint64_t bytes)
{
    const struct store_settings *s = c->shared;
    struct net_envelope envelope = {{token}};
    store_message_words(m, &envelope.word[1]);
    struct node_message message = {.destination = node_service_node(s->servers, server),
                                   .bytes = bytes,
                                   .envelope = &envelope,
                                   .core = node_service_node(s->servers, server) == c->node ? NODE_ANY_CORE
                                                                                            : s->core,
                                   .priority = s->setup->priority};
    node_send(node, now, NODE_TO(s->setup->service, s->servers->service), &message);
}

static void unit_send(struct client *c, struct node *node, ker_time now, uint32_t number, uint32_t index)
{
    struct call *call = &c->call[number];
    struct part *part = &call->part[index];
    struct store_message m = {call->what, part->chunk};
    uint64_t bytes = 0, token = number | (uint64_t)index << 32;
    m.call.op = part->op;
    if (part->op == STORE_READ || part->op == STORE_WRITE)
        m.call.run = unit_run(&call->what.run, part->piece);
    else
        m.call.run = (struct store_run){0};
    if (part->chunk == 0)
        bytes = list_bytes(&m.call.run);
    if (part->op == STORE_WRITE) {
        uint64_t chunk = part->left < c->shared->chunk ? part->left : c->shared->chunk;
        bytes += chunk;
        part->left -= chunk;
        part->chunk++;
    } else
        part->left = 0;
    part->under_way++;
    if (part->left == 0) {
        part->piece += STORE_PIECES;
        bool more = (part->op == STORE_READ || part->op == STORE_WRITE) && part_next(c, call, part);
        part->piece = more ? part->piece : UINT32_MAX;
    }
    send(c, node, now, token, part->server, &m, bytes);
}

static void call_ended(struct client *c, struct node *node, ker_time now, struct call *call)
{
    const struct node_service_setup *setup = c->shared->setup;
    bool writes = call->what.op == STORE_WRITE;
    const uint64_t words[NODE_ANSWER_WORDS] = {
        [STORE_ANSWER_BYTES] = writes ? call->what.run.bytes * call->what.run.count : call->bytes,
        [STORE_ANSWER_OP] = call->what.op};
    free(call->part);
    call->part = NULL;
    call->parts = 0;
    node_answer(node, now, setup->service, &call->caller, 0, words, setup->priority);
}

/* Sends what the window allows. */
static void part_goes_on(struct client *c, struct node *node, ker_time now, uint32_t number, uint32_t index)
{
    struct part *part = &c->call[number].part[index];
    while (part->piece != UINT32_MAX && part->under_way < c->shared->window)
        unit_send(c, node, now, number, index);
}

/* ---- calls ---- */

static void part_add(struct call *call, uint32_t server, enum store_op op)
{
    *KER_APPEND(call->part, call->parts) = (struct part){.server = server, .op = op};
}

/* Reads and writes: all servers that have something of the run; pieces are looked at only where there are
 * fewer stripes than servers. */
static void data_parts(struct client *c, struct call *call)
{
    const struct store_layout *layout = &c->shared->layout;
    struct file *file = file_of(c, call->what.file);
    for (uint32_t place = 0; place < layout->stripe_count; place++) {
        struct part part = {.server = store_layout_server(layout, call->what.file, place),
                            .op = call->what.op};
        if (!part_next(c, call, &part))
            continue;
        *KER_APPEND(call->part, call->parts) = part;
        if (part.op == STORE_WRITE)
            file_wrote(file, place);
    }
}

static void parts_make(struct client *c, struct call *call)
{
    const struct store_layout *layout = &c->shared->layout;
    struct file *file = file_of(c, call->what.file);
    uint32_t first = store_layout_server(layout, call->what.file, 0);
    switch (call->what.op) {
    case STORE_READ:
    case STORE_WRITE:
        call->what.exists = file->exists;
        data_parts(c, call);
        return;
    case STORE_OPEN:
        file->exists = call->what.exists;
        part_add(call, first, STORE_OPEN);
        return;
    default: /* CLOSE, SYNC */
        for (uint32_t i = 0; i < file->servers; i++)
            part_add(call, store_layout_server(layout, file->number, file->server[i]), STORE_SYNC);
        file->servers = 0;
        if (call->what.op == STORE_CLOSE)
            part_add(call, first, STORE_CLOSE);
    }
}

static void client_called(struct client *c, struct node *node, ker_time now, const struct net_message *m)
{
    uint32_t at = 0;
    while (at < c->calls && c->call[at].left)
        at++;
    if (at == c->calls)
        (void)KER_APPEND(c->call, c->calls);
    struct call *call = &c->call[at];
    *call = (struct call){.caller = node_caller_of(m), .what = store_call_of(&m->envelope.word[1])};
    parts_make(c, call);
    call->left = call->parts;
    if (call->left == 0) {
        call_ended(c, node, now, call);
        return;
    }
    for (uint32_t i = 0; i < call->parts; i++)
        part_goes_on(c, node, now, at, i);
}

/* A server's answer: a chunk that is written, or one that was read. The last one of a unit may come before
 * others: smaller ones are copied faster, and adapters are several. */
static void client_answered(struct client *c, struct node *node, ker_time now, const struct net_message *m)
{
    const uint64_t *word = &m->envelope.word[1];
    uint64_t token = m->envelope.word[0];
    uint32_t number = (uint32_t)token, index = (uint32_t)(token >> 32);
    struct call *call = &c->call[number];
    struct part *part = &call->part[index];
    call->bytes += word[STORE_BYTES];
    part->answers++;
    if (word[STORE_ANSWERS] == 0) {
        struct store_message ack = {{.op = STORE_ACK, .file = call->what.file}, (uint32_t)word[STORE_JOB]};
        send(c, node, now, 0, part->server, &ack, 0);
    } else {
        part->wanted += (uint32_t)word[STORE_ANSWERS];
        part->under_way--;
        part_goes_on(c, node, now, number, index);
    }
    if (part->under_way == 0 && part->answers == part->wanted && --call->left == 0)
        call_ended(c, node, now, call);
}

static void client_arrived(void *state, struct node *node, ker_time now, const struct net_message *m)
{
    struct client *c = state;
    if (node_message_from(m) == c->shared->servers->service)
        client_answered(c, node, now, m);
    else
        client_called(c, node, now, m);
}

static void client_pending(const void *state, uint64_t token, char *text, size_t room)
{
    const struct client *c = state;
    const char *comma = "";
    for (uint32_t i = 0; i < c->calls; i++)
        for (uint32_t k = 0; c->call[i].left && c->call[i].caller.token == token && k < c->call[i].parts;
             k++) {
            const struct part *part = &c->call[i].part[k];
            if (part->under_way == 0 && part->answers == part->wanted)
                continue;
            int used = snprintf(text, room, "%sserver %u on node %u", comma, part->server,
                                node_service_node(c->shared->servers, part->server));
            if (used < 0 || (size_t)used >= room)
                return;
            text += used;
            room -= (size_t)used;
            comma = ", ";
        }
}

static void client_init(void *state, void *shared, const struct node_service_setup *setup, uint32_t node)
{
    struct client *c = state;
    (void)setup;
    c->shared = shared;
    c->node = node;
}

static void client_release(void *state)
{
    struct client *c = state;
    for (uint32_t i = 0; i < c->calls; i++)
        free(c->call[i].part);
    for (uint32_t i = 0; i < c->files; i++)
        free(c->file[i].server);
    free(c->call);
    free(c->file);
}

/* ---- checkpoint ---- */

static void call_save(struct call *call, struct ker_chunk *c)
{
    struct store_call *w = &call->what;
    w->op = ker_chunk_below(c, w->op, STORE_ACK);
    KER_CHUNK(c, call->caller.token, call->caller.node, call->caller.service, w->file, w->exists, call->left,
              call->bytes);
    KER_CHUNK(c, w->run.offset, w->run.bytes, w->run.stride, w->run.count);
    uint32_t parts = ker_chunk_count(c, call->parts, sizeof *call->part / 2);
    for (uint32_t i = 0; i < parts && !c->bad; i++) {
        if (c->loads)
            part_add(call, 0, STORE_OPEN);
        struct part *p = &call->part[i];
        p->op = ker_chunk_below(c, p->op, STORE_ACK);
        KER_CHUNK(c, p->server, p->under_way, p->answers, p->wanted, p->piece, p->chunk, p->left);
    }
}

static void file_save(struct file *file, struct ker_chunk *c)
{
    KER_CHUNK(c, file->number, file->exists);
    uint32_t servers = ker_chunk_count(c, file->servers, sizeof *file->server);
    for (uint32_t i = 0; i < servers && !c->bad; i++) {
        if (c->loads)
            *KER_PUSH(file->server, file->servers, file->room) = 0;
        KER_CHUNK(c, file->server[i]);
    }
}

static void client_save(void *state, struct node *node, struct ker_chunk *chunk)
{
    struct client *c = state;
    (void)node;
    uint32_t calls = ker_chunk_count(chunk, c->calls, sizeof *c->call / 2),
             files = ker_chunk_count(chunk, c->files, 16);
    for (uint32_t i = 0; i < calls && !chunk->bad; i++) {
        if (chunk->loads)
            *KER_APPEND(c->call, c->calls) = (struct call){.left = 0};
        call_save(&c->call[i], chunk);
    }
    for (uint32_t i = 0; i < files && !chunk->bad; i++) {
        if (chunk->loads)
            *KER_APPEND(c->file, c->files) = (struct file){.number = 0};
        file_save(&c->file[i], chunk);
    }
}

const struct node_service_kind store_client = {.service = {.name = STORE_CLIENT,
                                                           .arrived = client_arrived,
                                                           .save = client_save,
                                                           .pending = client_pending,
                                                           .release = client_release},
                                               .shared_bytes = sizeof(struct store_settings),
                                               .state_bytes = sizeof(struct client),
                                               .answers = true,
                                               .read = store_settings_read,
                                               .init = client_init};
