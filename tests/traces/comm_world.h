/* comm_world.h - programs of many tasks that make communicators, written as liballprof traces, and which
 * communicator the reader takes each handle for. */
#pragma once

#include "traces/allprof/allprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST_TASKS 16
#define MOST_COMMS 400
#define MOST_LINES 4000
#define VARIABLES 512

/* A program that runs, its trace, and which communicator each line means. */
struct comm {
    int32_t size, member[MOST_TASKS];
    uint64_t handle[MOST_TASKS], variable[MOST_TASKS]; /* per rank */
    bool alive;
};

struct task {
    char *text;
    size_t used, room;
    uint32_t lines;
    int32_t truth[MOST_LINES]; /* per line: communicator, -1: none */
    int32_t holds[VARIABLES];  /* per variable: the communicator that was made in it last, -1: none or
                                  MPI_COMM_NULL */
    uint64_t next_handle, freed[MOST_COMMS]; /* handles that are given out again, the last first */
    int32_t freed_count;
};

struct world {
    int32_t tasks;
    struct task *task;
    struct comm comm[MOST_COMMS];
    int32_t comms;
    uint64_t random;
    bool requests; /* in random programs: cancelled and persistent ones, too */
};

static inline uint32_t draw(struct world *w, uint32_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (uint32_t)((w->random >> 20) % below);
}

static inline void __attribute__((format(printf, 4, 5)))
say(struct world *w, int32_t task, int32_t comm, const char *format, ...)
{
    struct task *t = &w->task[task];
    va_list list;
    KER_RESERVE(t->text, t->room, t->used + 512);
    va_start(list, format);
    t->used += (size_t)vsnprintf(t->text + t->used, t->room - t->used, format, list);
    va_end(list);
    t->truth[++t->lines] = comm;
    ker_assert(t->lines < MOST_LINES - 2);
}

/* "handle,rank,size" of a member. */
static inline const char *group(const struct world *w, int32_t comm, int32_t rank, char *text)
{
    snprintf(text, 64, "%llu,%d,%d", (unsigned long long)w->comm[comm].handle[rank], rank,
             w->comm[comm].size);
    return text;
}

#define GROUP(w, comm, rank) group(w, comm, rank, (char[64]){0})

static inline void world_init(struct world *w, int32_t tasks, uint64_t seed)
{
    *w =
        (struct world){.tasks = tasks, .random = seed * 0x9e3779b97f4a7c15u + 88172645463325252u, .comms = 1};
    w->task = ker_alloc((size_t)tasks * sizeof *w->task);
    w->comm[0] = (struct comm){.size = tasks, .alive = true};
    for (int32_t i = 0; i < tasks; i++) {
        w->task[i].next_handle = 90000000u + (uint64_t)draw(w, 1000) * 100000u;
        w->comm[0].member[i] = i;
        w->comm[0].handle[i] = 7000000u + (uint64_t)i;
        say(w, i, -1, "# htor's PMPI Tracer 1.0\n");
        say(w, i, -1, "MPI_Init:-:1:1:0\n");
    }
}

static inline void world_release(struct world *w)
{
    for (int32_t i = 0; i < w->tasks; i++)
        free(w->task[i].text);
    free(w->task);
}

/* The new communicator of these members, whose variable each of them has given. */
static inline int32_t comm_new(struct world *w, int32_t size, const int32_t *member, const uint64_t *variable)
{
    ker_assert(w->comms < MOST_COMMS);
    struct comm *comm = &w->comm[w->comms];
    *comm = (struct comm){.size = size, .alive = true};
    for (int32_t i = 0; i < size; i++) {
        struct task *t = &w->task[member[i]];
        comm->member[i] = member[i];
        comm->variable[i] = variable[member[i]];
        t->holds[variable[member[i]] / 8 % VARIABLES] = w->comms;
        comm->handle[i] =
            t->freed_count ? t->freed[--t->freed_count] : (t->next_handle += 64 * (1 + draw(w, 9)));
    }
    return w->comms++;
}

/* The place of a variable in a task, as programs have them: the k-th of an array. */
static inline uint64_t variable_at(struct world *w, int32_t task, uint32_t k)
{
    w->task[task].holds[k] = -1;
    return 8u * VARIABLES * 1000000u + (uint64_t)task * 8 * VARIABLES + k * 8u;
}

static inline void duplicate(struct world *w, int32_t parent, uint32_t k, int32_t *made)
{
    const struct comm *p = &w->comm[parent];
    uint64_t variable[MOST_TASKS];
    for (int32_t i = 0; i < p->size; i++) {
        variable[p->member[i]] = variable_at(w, p->member[i], k);
        say(w, p->member[i], parent, "MPI_Comm_dup:0:%s:%llu:0\n", GROUP(w, parent, i),
            (unsigned long long)variable[p->member[i]]);
    }
    *made = comm_new(w, p->size, p->member, variable);
}

/* Members by colour and key of each rank; shown: the trace tells colour and key, else it looks like this
 * call. */
static inline void split(struct world *w, int32_t parent, const int32_t *colour, const int32_t *key,
                         uint32_t k, const char *call, int32_t *made)
{
    struct comm p = w->comm[parent];
    uint64_t variable[MOST_TASKS];
    bool done[MOST_TASKS] = {false};
    for (int32_t i = 0; i < p.size; i++) {
        variable[p.member[i]] = variable_at(w, p.member[i], k);
        if (!call)
            say(w, p.member[i], parent, "MPI_Comm_split:0:%s:%d:%d:%llu:0\n", GROUP(w, parent, i), colour[i],
                key[i], (unsigned long long)variable[p.member[i]]);
        else
            say(w, p.member[i], parent, "%s:0:%s:77:%llu:0\n", call, GROUP(w, parent, i),
                (unsigned long long)variable[p.member[i]]);
    }
    for (int32_t i = 0; i < p.size; i++)
        made[i] = -1;
    for (int32_t i = 0; i < p.size; i++) {
        int32_t order[MOST_TASKS], member[MOST_TASKS], count = 0;
        if (colour[i] < 0 || done[i])
            continue;
        for (int32_t j = i; j < p.size; j++)
            if (colour[j] == colour[i]) {
                int32_t at = count++;
                for (done[j] = true; at > 0 && key[order[at - 1]] > key[j]; at--)
                    order[at] = order[at - 1];
                order[at] = j;
            }
        for (int32_t j = 0; j < count; j++)
            member[j] = p.member[order[j]];
        int32_t comm = comm_new(w, count, member, variable);
        for (int32_t j = 0; j < count; j++)
            made[order[j]] = comm;
    }
}

/* Copied: from another variable than it was made in; so it is when another one was made there since. */
static inline void release(struct world *w, int32_t comm, bool copied)
{
    struct comm *c = &w->comm[comm];
    for (int32_t i = 0; i < c->size; i++)
        copied = copied || w->task[c->member[i]].holds[c->variable[i] / 8 % VARIABLES] != comm;
    for (int32_t i = 0; i < c->size; i++) {
        struct task *t = &w->task[c->member[i]];
        say(w, c->member[i], -1, "MPI_Comm_free:0:%llu:0\n",
            (unsigned long long)(copied ? 4000000000u + (uint64_t)comm : c->variable[i]));
        t->freed[t->freed_count++] = c->handle[i];
    }
    c->alive = false;
}

static inline void message(struct world *w, int32_t comm, int32_t from, int32_t to, uint64_t bytes,
                           int32_t tag)
{
    const struct comm *c = &w->comm[comm];
    say(w, c->member[from], comm, "MPI_Bsend:0:9:%llu:1,1,1:%d:%d:%s:0\n", (unsigned long long)bytes, to, tag,
        GROUP(w, comm, from));
    say(w, c->member[to], comm, "MPI_Recv:0:9:%llu:1,1,1:%d:%d:%s:99:0\n", (unsigned long long)bytes, from,
        tag, GROUP(w, comm, to));
}

/* A message, or none, by calls that name a request: WHAT is MPI_Isend, MPI_Recv_init, ...; *variable: its. */
static inline void request(struct world *w, const char *what, int32_t comm, int32_t rank, int32_t peer,
                           uint64_t bytes, int32_t tag, uint64_t *variable)
{
    *variable = 5000000000u + w->task[w->comm[comm].member[rank]].lines * 8u;
    say(w, w->comm[comm].member[rank], comm, "%s:0:9:%llu:1,1,1:%d:%d:%s:%llu:0\n", what,
        (unsigned long long)bytes, peer, tag, GROUP(w, comm, rank), (unsigned long long)*variable);
}

/* MPI_Start, MPI_Cancel, ... of it, which have these arguments behind the variable. */
static inline void ask(struct world *w, const char *what, int32_t comm, int32_t rank, uint64_t variable,
                       const char *arguments)
{
    say(w, w->comm[comm].member[rank], -1, "%s:0:%llu%s:0\n", what, (unsigned long long)variable, arguments);
}

/* A receive that nothing is sent to. */
static inline void give_up(struct world *w, int32_t comm, int32_t rank, int32_t peer, uint64_t bytes,
                           int32_t tag)
{
    uint64_t variable;
    request(w, "MPI_Irecv", comm, rank, peer, bytes, tag, &variable);
    ask(w, "MPI_Cancel", comm, rank, variable, "");
    bool waits = draw(w, 2);
    ask(w, waits ? "MPI_Wait" : "MPI_Request_free", comm, rank, variable, waits ? ":9" : "");
}

/* Persistent at both ends, started this many times. */
static inline void messages(struct world *w, int32_t comm, int32_t from, int32_t to, uint64_t bytes,
                            int32_t tag, int times)
{
    uint64_t send, receive;
    request(w, "MPI_Send_init", comm, from, to, bytes, tag, &send);
    request(w, "MPI_Recv_init", comm, to, from, bytes, tag, &receive);
    for (int i = 0; i < times; i++) {
        ask(w, "MPI_Start", comm, from, send, "");
        ask(w, "MPI_Start", comm, to, receive, "");
        ask(w, "MPI_Wait", comm, from, send, ":9");
        ask(w, "MPI_Wait", comm, to, receive, ":9");
    }
}

static inline void reduce_all(struct world *w, int32_t comm, uint64_t bytes)
{
    const struct comm *c = &w->comm[comm];
    for (int32_t i = 0; i < c->size; i++)
        say(w, c->member[i], comm, "MPI_Allreduce:0:8:9:%llu:1,1,1:3:%s:0\n", (unsigned long long)bytes,
            GROUP(w, comm, i));
}

static inline void look(struct world *w, int32_t comm, int32_t rank)
{
    say(w, w->comm[comm].member[rank], comm, "MPI_Comm_rank:0:%s:9:0\n", GROUP(w, comm, rank));
}

/* -- what the reader makes of it -- */

struct found {
    struct allprof_comms comms;
    struct ker_error error;
    enum ker_status status;
    uint64_t doubts;
    char doubt[512];
    bool same_traffic; /* as the truth */
    bool same_comms;   /* every line has the right members */
};

static inline uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 31)) * 0xd6e8feb86659fd93u;
    return value ^ (value >> 29);
}

/* A line's traffic: with whom. */
static inline uint64_t line_traffic(const struct task_op *op, int32_t size, const int32_t *member)
{
    uint64_t hash =
        mix(op->kind * 31u + op->collective + op->bytes * 1000003u + (uint64_t)(op->tag + 7) * 7919u);
    if (op->kind != TASK_OP_COLLECTIVE)
        return mix(hash + (uint64_t)(op->peer < 0 ? op->peer : member[op->peer]));
    for (int32_t i = 0; i < size; i++)
        hash = mix(hash + (uint64_t)member[i]);
    return hash;
}

static inline void task_compare(const struct world *w, struct found *f, const struct trace_code *code,
                                const struct allprof_events *events, int32_t task)
{
    int32_t *comm = ker_alloc(events->count * sizeof *comm);
    for (size_t i = 0; i < events->count; i++)
        comm[i] = events->event[i].comm;
    struct trace_reader reader = {.code = code, .comm = comm};
    trace_reader_seek(&reader, 0, 0);
    struct task_op op;
    uint64_t is = 0, should = 0;
    while (trace_reader_next(&reader, &op)) {
        int32_t truth = op.line < MOST_LINES ? w->task[task].truth[op.line] : -1;
        if (truth < 0 || op.kind == TASK_OP_COMPUTE)
            continue;
        const struct task_comm *got = &f->comms.comm[op.comm];
        int32_t member[MOST_TASKS];
        for (int32_t i = 0; i < got->size; i++)
            member[i] = task_comm_task(got, i);
        const struct comm *wanted = &w->comm[truth];
        f->same_comms = f->same_comms && got->size == wanted->size &&
                        memcmp(member, wanted->member, (size_t)got->size * sizeof *member) == 0;
        is += line_traffic(&op, got->size, member);
        should += line_traffic(&op, wanted->size, wanted->member);
    }
    f->same_traffic = f->same_traffic && is == should;
    trace_reader_release(&reader);
    free(comm);
}

static inline void world_write(struct world *w, const char *folder)
{
    for (int32_t i = 0; i < w->tasks; i++) {
        char *path = ker_format("%s/pmpi-trace-rank-%d.txt", folder, i);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        say(w, i, -1, "MPI_Finalize:0:-\n");
        fwrite(w->task[i].text, 1, w->task[i].used, file);
        fclose(file);
        free(path);
    }
}

static inline void world_read(struct world *w, struct found *f)
{
    char folder[] = P_tmpdir "/test_comm.XXXXXX";
    struct trace_code code[MOST_TASKS] = {{0}};
    struct trace_store store;
    struct allprof_scan scan[MOST_TASKS] = {{0}};
    struct allprof_events files[MOST_TASKS] = {{0}};
    struct allprof_tallies tallies[MOST_TASKS] = {{0}};
    struct allprof_rules rules = {0};
    struct task_taken taken;
    bool lacks;
    assert_non_null(mkdtemp(folder));
    *f = (struct found){.same_traffic = true, .same_comms = true};
    trace_store_init(&store, UINT64_MAX, allprof_form);
    world_write(w, folder);
    for (uint32_t i = 0; i < (uint32_t)w->tasks && f->status == KER_OK; i++) {
        code[i].store = &store;
        f->status = allprof_parse(&code[i], &taken, &scan[i], &rules, folder, i, &f->error);
        files[i] = scan[i].events;
        tallies[i] = scan[i].tallies;
    }
    if (f->status == KER_OK)
        f->status =
            allprof_comms_resolve(&f->comms, files, tallies, (uint32_t)w->tasks, folder, &lacks, &f->error);
    if (f->status == KER_OK)
        f->status = allprof_match_collectives(files, (uint32_t)w->tasks, &f->comms, folder, &f->error);
    for (uint32_t i = 0; i < (uint32_t)w->tasks; i++) {
        if (f->status == KER_OK)
            task_compare(w, f, &code[i], &files[i], (int32_t)i);
        trace_code_release(&code[i]);
        allprof_scan_release(&scan[i]);
    }
    for (int32_t i = 0; i < w->tasks && !getenv("KEEP_TRACE"); i++) {
        char *path = ker_format("%s/pmpi-trace-rank-%d.txt", folder, i);
        unlink(path);
        free(path);
    }
    rmdir(folder);
    f->doubts = f->comms.doubts;
    memcpy(f->doubt, f->comms.doubt, sizeof f->doubt);
    allprof_comms_release(&f->comms);
}

static inline void expect(struct world *w, bool doubt)
{
    struct found f;
    world_read(w, &f);
    if (f.status != KER_OK || !f.same_traffic || (f.doubts > 0) != doubt)
        print_error("%s%s\n", f.error.text, f.doubt);
    assert_int_equal(f.status, KER_OK);
    assert_int_equal(f.doubts > 0, doubt);
    assert_true(doubt || f.same_traffic);
    world_release(w);
}
