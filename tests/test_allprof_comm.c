/* Which handle is which communicator: grids of processes, duplicates, groups that are known by their use
 * only, and random programs whose traffic must come out as it was. */
#include "tasks/traces/allprof/allprof.h"

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
};

static uint32_t draw(struct world *w, uint32_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (uint32_t)((w->random >> 20) % below);
}

static void __attribute__((format(printf, 4, 5)))
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
static const char *group(const struct world *w, int32_t comm, int32_t rank, char *text)
{
    snprintf(text, 64, "%llu,%d,%d", (unsigned long long)w->comm[comm].handle[rank], rank,
             w->comm[comm].size);
    return text;
}
#define GROUP(w, comm, rank) group(w, comm, rank, (char[64]){0})

static void world_init(struct world *w, int32_t tasks, uint64_t seed)
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

static void world_release(struct world *w)
{
    for (int32_t i = 0; i < w->tasks; i++)
        free(w->task[i].text);
    free(w->task);
}

/* The new communicator of these members, whose variable each of them has given. */
static int32_t comm_new(struct world *w, int32_t size, const int32_t *member, const uint64_t *variable)
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
static uint64_t variable_at(struct world *w, int32_t task, uint32_t k)
{
    w->task[task].holds[k] = -1;
    return 8u * VARIABLES * 1000000u + (uint64_t)task * 8 * VARIABLES + k * 8u;
}

static void duplicate(struct world *w, int32_t parent, uint32_t k, int32_t *made)
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
static void split(struct world *w, int32_t parent, const int32_t *colour, const int32_t *key, uint32_t k,
                  const char *call, int32_t *made)
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
static void release(struct world *w, int32_t comm, bool copied)
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

static void message(struct world *w, int32_t comm, int32_t from, int32_t to, uint64_t bytes, int32_t tag)
{
    const struct comm *c = &w->comm[comm];
    say(w, c->member[from], comm, "MPI_Bsend:0:9:%llu:1,1,1:%d:%d:%s:0\n", (unsigned long long)bytes, to, tag,
        GROUP(w, comm, from));
    say(w, c->member[to], comm, "MPI_Recv:0:9:%llu:1,1,1:%d:%d:%s:99:0\n", (unsigned long long)bytes, from,
        tag, GROUP(w, comm, to));
}

static void reduce_all(struct world *w, int32_t comm, uint64_t bytes)
{
    const struct comm *c = &w->comm[comm];
    for (int32_t i = 0; i < c->size; i++)
        say(w, c->member[i], comm, "MPI_Allreduce:0:8:9:%llu:1,1,1:3:%s:0\n", (unsigned long long)bytes,
            GROUP(w, comm, i));
}

static void look(struct world *w, int32_t comm, int32_t rank)
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

static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 31)) * 0xd6e8feb86659fd93u;
    return value ^ (value >> 29);
}

/* A line's traffic: with whom. */
static uint64_t line_traffic(const struct task_op *op, int32_t size, const int32_t *member)
{
    uint64_t hash =
        mix(op->kind * 31u + op->collective + op->bytes * 1000003u + (uint64_t)(op->tag + 7) * 7919u);
    if (op->kind != TASK_OP_COLLECTIVE)
        return mix(hash + (uint64_t)member[op->peer]);
    for (int32_t i = 0; i < size; i++)
        hash = mix(hash + (uint64_t)member[i]);
    return hash;
}

static void task_compare(const struct world *w, struct found *f, const struct allprof_code *code,
                         int32_t task)
{
    struct allprof_reader reader = {.at = code->byte, .end = code->byte + code->used};
    struct task_op op;
    uint64_t is = 0, should = 0;
    while (allprof_reader_next(&reader, &op)) {
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
    free(reader.scratch);
}

static void world_read(struct world *w, struct found *f)
{
    char folder[] = P_tmpdir "/test_comm.XXXXXX";
    struct allprof_events files[MOST_TASKS] = {{0}};
    struct allprof_tallies tallies[MOST_TASKS] = {{0}};
    struct allprof_rules rules = {0};
    assert_non_null(mkdtemp(folder));
    *f = (struct found){.same_traffic = true, .same_comms = true};
    for (int32_t i = 0; i < w->tasks; i++) {
        char *path = ker_format("%s/pmpi-trace-rank-%d.txt", folder, i);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        say(w, i, -1, "MPI_Finalize:0:-\n");
        fwrite(w->task[i].text, 1, w->task[i].used, file);
        fclose(file);
        free(path);
    }
    for (uint32_t i = 0; i < (uint32_t)w->tasks && f->status == KER_OK; i++)
        f->status = allprof_scan(&files[i], &tallies[i], &rules, folder, i, &f->error);
    if (f->status == KER_OK)
        f->status = allprof_comms_resolve(&f->comms, files, tallies, (uint32_t)w->tasks, folder, &f->error);
    if (f->status == KER_OK)
        f->status = allprof_match_collectives(files, (uint32_t)w->tasks, &f->comms, folder, &f->error);
    for (uint32_t i = 0; i < (uint32_t)w->tasks; i++) {
        struct allprof_code code = {0};
        struct task_taken taken;
        if (f->status == KER_OK)
            f->status = allprof_parse(&code, &taken, &rules, folder, i, &files[i], &f->comms, &f->error);
        if (f->status == KER_OK)
            task_compare(w, f, &code, (int32_t)i);
        free(code.byte);
        free(files[i].event);
        allprof_tallies_release(&tallies[i]);
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

static void expect(struct world *w, bool doubt)
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

/* -- grids of processes -- */

/* Rows and columns of a square grid, made one after the other, as HPL makes them; task t is in row t / n. */
static void grid_split(struct world *w, int32_t n, const char *call, int32_t *row, int32_t *column)
{
    int32_t r[MOST_TASKS], c[MOST_TASKS];
    for (int32_t i = 0; i < n * n; i++) {
        r[i] = i / n;
        c[i] = i % n;
    }
    split(w, 0, r, c, 10, call, row);
    split(w, 0, c, r, 11, call, column);
}

/* The example of the bug: all use the columns first. */
static void test_columns_first(void **state)
{
    (void)state;
    static const char *const calls[] = {NULL, "MPI_Cart_sub"};
    for (int k = 0; k < 2; k++)
        for (int32_t n = 2; n <= 4; n++) {
            struct world w;
            int32_t row[MOST_TASKS], column[MOST_TASKS];
            world_init(&w, n * n, 1);
            grid_split(&w, n, calls[k], row, column);
            for (int32_t i = 0; i < n; i++)
                for (int32_t j = 0; j < n; j++) {
                    message(&w, column[i], j, (j + 1) % n, 100000, 1);
                    message(&w, row[i * n], j, (j + 1) % n, 8, 1);
                }
            expect(&w, false);
        }
}

/* HPL: panels along the rows, swaps along the columns, maxima by messages; some tasks begin with the rows,
 * others with the columns. */
static void test_hpl(void **state)
{
    (void)state;
    for (int32_t n = 2; n <= 4; n++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct world w;
            int32_t row[MOST_TASKS], column[MOST_TASKS];
            world_init(&w, n * n, seed);
            grid_split(&w, n, NULL, row, column);
            for (int32_t step = 0; step < 6; step++) {
                int32_t owner = step % n;
                for (int32_t i = 0; i < n; i++) { /* the column that owns the panel finds its pivots */
                    message(&w, column[owner], i, (i + 1) % n, 16, 4001);
                    if (draw(&w, 2))
                        look(&w, row[i * n], (int32_t)draw(&w, (uint32_t)n));
                }
                for (int32_t i = 0; i < n; i++)
                    for (int32_t j = 0; j + 1 < n; j++)
                        message(&w, row[i * n], (owner + j) % n, (owner + j + 1) % n,
                                1000u * (6u - (uint32_t)step), 1 + step);
                for (int32_t j = 0; j < n; j++)
                    for (int32_t i = 0; i < n; i++)
                        message(&w, column[j], i, (i + 1) % n, 500, 2001);
            }
            expect(&w, false);
        }
}

/* Only the diagonal task looks at its columns' handle first, and nothing but collectives tells them apart. */
static void test_collectives(void **state)
{
    (void)state;
    struct world w;
    int32_t row[MOST_TASKS], column[MOST_TASKS];
    world_init(&w, 9, 3);
    grid_split(&w, 3, NULL, row, column);
    look(&w, column[1], 1);
    for (int32_t i = 0; i < 3; i++) {
        reduce_all(&w, row[3 * i], 800);
        reduce_all(&w, column[i], 8);
    }
    expect(&w, false);
}

/* Two duplicates, which two tasks use first in different order. */
static void test_dups(void **state)
{
    (void)state;
    struct world w;
    int32_t a, b;
    world_init(&w, 2, 5);
    duplicate(&w, 0, 1, &a);
    duplicate(&w, 0, 2, &b);
    look(&w, b, 1);
    message(&w, a, 0, 1, 100000, 7);
    message(&w, b, 0, 1, 8, 7);
    struct found f;
    world_read(&w, &f);
    assert_true(f.status == KER_OK && f.same_traffic && f.doubts == 0);
    world_release(&w);
}

/* A communicator by group, and another made before it is used; one split by UNDEFINED; a split of a row. */
static void test_later_use(void **state)
{
    (void)state;
    struct world w;
    int32_t some[MOST_TASKS], half[MOST_TASKS], row[MOST_TASKS], column[MOST_TASKS], pair[MOST_TASKS], all;
    static const int32_t in[] = {-1, 0, -1, 0, 0, -1, -1, -1, 0}, order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    static const int32_t halves[] = {0, 0, 0, 0, 1, 1, 1, 1, -1}, reversed[] = {8, 7, 6, 5, 4, 3, 2, 1, 0};
    static const int32_t one[] = {0, 0, -1};
    world_init(&w, 9, 6);
    split(&w, 0, in, order, 1, "MPI_Comm_create", some);
    split(&w, 0, halves, reversed, 2, NULL, half);
    duplicate(&w, 0, 3, &all);
    reduce_all(&w, half[0], 16);
    reduce_all(&w, half[4], 16);
    reduce_all(&w, all, 4);
    reduce_all(&w, some[1], 16);
    message(&w, some[1], 0, 3, 77, 1);
    message(&w, half[0], 3, 0, 78, 1);
    grid_split(&w, 3, NULL, row, column);
    for (int32_t i = 0; i < 3; i++) {
        split(&w, row[3 * i], one, order, 4, NULL, pair);
        message(&w, row[3 * i], 0, 1, 300, 1);
        message(&w, pair[0], 1, 0, 30, 1);
        message(&w, column[i], 0, 2, 3, 1);
    }
    expect(&w, false);
}

/* PTRANS: the handles are copied, the variables used again, and all three communicators freed by other
 * variables; four times. */
static void test_copied_handles(void **state)
{
    (void)state;
    for (int32_t n = 2; n <= 4; n++) {
        struct world w;
        int32_t row[MOST_TASKS], column[MOST_TASKS], grid;
        world_init(&w, n * n, 8);
        for (int round = 0; round < 4; round++) {
            duplicate(&w, 0, 9, &grid);
            grid_split(&w, n, NULL, row, column);
            for (int32_t i = 0; i < n; i++) {
                reduce_all(&w, column[i], 64);
                reduce_all(&w, row[i * n], 8);
                message(&w, row[i * n], 0, 1, 5, 2);
            }
            for (int32_t i = 0; i < n; i++)
                release(&w, row[i * n], true);
            for (int32_t i = 0; i < n; i++)
                release(&w, column[i], true);
            release(&w, grid, true);
            reduce_all(&w, 0, 8);
        }
        expect(&w, false);
    }
}

/* Every task has the same rank in both of its communicators, and nothing but the order of use could tell them
 * apart: a doubt. */
static void test_doubt(void **state)
{
    (void)state;
    struct world w;
    int32_t first[MOST_TASKS], second[MOST_TASKS];
    static const int32_t colour_a[] = {0, 0, 1, 1}, colour_b[] = {0, 1, 0, 1}, key[] = {0, 1, 1, 0};
    world_init(&w, 4, 7);
    split(&w, 0, colour_a, key, 1, NULL, first);
    split(&w, 0, colour_b, key, 2, NULL, second);
    for (int32_t i = 0; i < 4; i += 3) {
        message(&w, first[i], 0, 1, 1000, 1);
        message(&w, second[i], 0, 1, 10, 1);
    }
    struct found f;
    world_read(&w, &f);
    assert_int_equal(f.status, KER_OK);
    assert_true(f.same_traffic); /* the oldest first, which is what it was */
    assert_true(f.doubts > 0);
    assert_non_null(
        strstr(f.doubt, "task 0 uses from line 5 on joins it with tasks 0, 1 or with tasks 0, 2"));
    world_release(&w);
    /* The same messages on both: no difference, no doubt. */
    world_init(&w, 4, 7);
    split(&w, 0, colour_a, key, 1, NULL, first);
    split(&w, 0, colour_b, key, 2, NULL, second);
    for (int32_t i = 0; i < 4; i += 3) {
        message(&w, first[i], 0, 1, 10, 1);
        message(&w, second[i], 0, 1, 10, 1);
    }
    expect(&w, false);
}

/* -- random programs -- */

static void random_step(struct world *w)
{
    int32_t colour[MOST_TASKS], key[MOST_TASKS], made[MOST_TASKS],
        parent = (int32_t)draw(w, (uint32_t)w->comms), one;
    uint32_t k = (uint32_t)w->comms;
    while (!w->comm[parent].alive || w->comm[parent].size < 2)
        parent = (int32_t)draw(w, (uint32_t)w->comms);
    const struct comm *p = &w->comm[parent];
    uint32_t what = draw(w, 16);
    if (w->comms > MOST_COMMS - MOST_TASKS - 1 && what < 4)
        what = 4;
    for (int32_t i = 0; i < p->size; i++) {
        colour[i] = (int32_t)draw(w, 4) - (int32_t)draw(w, 2);
        key[i] = draw(w, 3) ? i : (int32_t)draw(w, 5);
    }
    if (what == 0) {
        duplicate(w, parent, k, &one);
    } else if (what <= 2) {
        split(w, parent, colour, key, k, NULL, made);
    } else if (what == 3 && parent) {
        release(w, parent, false);
    } else if (what <= 5) {
        look(w, parent, (int32_t)draw(w, (uint32_t)p->size));
    } else if (what <= 8) {
        reduce_all(w, parent, 8u << draw(w, 3));
    } else {
        int32_t from = (int32_t)draw(w, (uint32_t)p->size), to = (int32_t)draw(w, (uint32_t)p->size);
        message(w, parent, from, to, 1 + draw(w, 4), (int32_t)draw(w, 3));
    }
}

/* The traffic is what it was, or a doubt is told; next to nothing is refused, though these programs are
 * nothing like real ones: the rest are those whose tasks make communicators in an order that only the whole
 * program explains. Of 4,000 programs 7 are refused. */
static void test_random(void **state)
{
    (void)state;
    const char *text = getenv("RANDOM_PROGRAMS"), *from = getenv("RANDOM_FIRST");
    uint64_t programs = text ? strtoull(text, NULL, 10) : 400, first = from ? strtoull(from, NULL, 10) : 1;
    uint64_t doubts = 0, wrong = 0, refused = 0, silent = 0;
    for (uint64_t seed = first; seed < first + programs; seed++) {
        struct world w;
        struct found f;
        world_init(&w, 2 + (int32_t)(seed % 8), seed);
        uint32_t steps = 5 + draw(&w, 120);
        for (uint32_t i = 0; i < steps; i++)
            random_step(&w);
        world_read(&w, &f);
        doubts += f.doubts > 0;
        wrong += f.status == KER_OK && !f.same_traffic;
        refused += f.status != KER_OK;
        if (f.status != KER_OK || (!f.same_traffic && !f.doubts)) {
            silent += f.status == KER_OK;
            print_message("program %llu: doubts %llu: %s %s\n", (unsigned long long)seed,
                          (unsigned long long)f.doubts, f.error.text, f.doubt);
        }
        world_release(&w);
    }
    print_message(
        "%llu programs: %llu with doubts, %llu with other traffic, of them %llu silent; %llu refused\n",
        (unsigned long long)programs, (unsigned long long)doubts, (unsigned long long)wrong,
        (unsigned long long)silent, (unsigned long long)refused);
    assert_int_equal(silent, 0);
    assert_true(refused * 100 <= programs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_first),  cmocka_unit_test(test_hpl),
        cmocka_unit_test(test_collectives),    cmocka_unit_test(test_dups),
        cmocka_unit_test(test_later_use),      cmocka_unit_test(test_doubt),
        cmocka_unit_test(test_copied_handles), cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
