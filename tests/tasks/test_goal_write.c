/* test_goal_write.c - programs as GOAL schedules: what is written for calls, and that all of it can run. */
#include "tests/tasks/goal_files.h"

#include "tasks/graphs/graphs.h"
#include "tasks/jobs/jobs.h"
#include "tasks/mpi/mpi.h"
#include "traces/traces.h"

/* ---- a program of given calls ---- */

struct task_program {
    const struct task_op *const *op; /* of each task, up to FINALIZE */
    uint32_t *next, tasks;
    const struct task_comm *comm;
    int32_t comms;
};

static uint32_t given_tasks(const struct task_program *p)
{
    return p->tasks;
}

static const struct task_comm *given_comms(const struct task_program *p, int32_t *count)
{
    *count = p->comms;
    return p->comm;
}

static bool given_next(struct task_program *p, uint32_t own, struct task_op *op)
{
    *op = p->op[own][p->next[own]];
    p->next[own]++;
    return op->kind != TASK_OP_FINALIZE;
}

static const struct task_program_class given = {
    .tasks = given_tasks, .comms = given_comms, .next = given_next};

static struct task_coll_table collectives;

static int collectives_setup(void **state)
{
    const struct ker_option *tables[] = {task_job_options, mpi_options, NULL};
    struct ker_config *config;
    assert_int_equal(ker_config_parse(&config, "test", "", NULL, 0, tables, &error), KER_OK);
    assert_int_equal(task_coll_table_init(&collectives, config, &error), KER_OK);
    ker_config_free(config);
    return 0;
}

static int collectives_release(void **state)
{
    (void)state;
    task_coll_table_release(&collectives);
    return 0;
}

/* The schedule, malloc'ed. */
static enum ker_status write_given(char **text, size_t *bytes, const struct task_op *const *op,
                                   uint32_t tasks, const struct task_comm *comm, int32_t comms,
                                   struct goal_losses *losses)
{
    uint32_t next[16] = {0};
    struct task_program program = {op, next, tasks, comm, comms};
    FILE *out = open_memstream(text, bytes);
    memset(&error, 0, sizeof error);
    enum ker_status status = goal_write(out, &given, &program, &collectives, losses, &error);
    fclose(out);
    return status;
}

#define END                                                                                                  \
    {                                                                                                        \
        .kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"                                                     \
    }

static void expect_text(const struct task_op *op, const struct task_comm *comm, int32_t comms,
                        const char *expected)
{
    char *text;
    size_t bytes;
    struct goal_losses losses;
    static const struct task_op nothing[] = {END};
    const struct task_op *tasks[] = {op, nothing};
    enum ker_status status = write_given(&text, &bytes, tasks, 2, comm, comms, &losses);
    if (status != KER_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, KER_OK);
    char *whole = ker_format("num_ranks 2\n\nrank 0 {\n%s}\n\nrank 1 {\n}\n", expected);
    assert_string_equal(text, whole);
    graph_free(read_text(text, 1000, 2));
    free(whole);
    free(text);
}

static const struct task_comm world = {.size = 2};

/* Computation of 1.5 and 0.6 ns is one of 2 ns, and later 0.9 are one of 1: nothing is lost. What does not
 * block is waited for only by its begin, and what is waited for, together. */
static void test_messages(void **state)
{
    static const uint64_t both[] = {11, 12};
    const struct task_op op[] = {
        {.kind = TASK_OP_COMPUTE, .time = 1500},
        {.kind = TASK_OP_COMPUTE, .time = 600},
        {.kind = TASK_OP_IRECV, .peer = TASK_ANY, .tag = TASK_ANY, .bytes = 7, .request = 11},
        {.kind = TASK_OP_ISEND, .peer = 1, .tag = 5, .bytes = 8, .request = 12},
        {.kind = TASK_OP_SEND, .peer = TASK_PROC_NULL, .tag = 5, .bytes = 9},
        {.kind = TASK_OP_WAITALL, .requests = both, .request_count = 2},
        {.kind = TASK_OP_SEND, .peer = 1, .tag = 6, .bytes = 10},
        {.kind = TASK_OP_SENDRECV, .peer = 1, .tag = 1, .bytes = 1, .peer2 = 0, .tag2 = 2, .bytes2 = 2},
        {.kind = TASK_OP_SEND, .peer = 1, .tag = 3, .bytes = 0, .mode = TASK_MODE_BUFFERED},
        {.kind = TASK_OP_RECV, .peer = 1, .tag = 4, .bytes = 3},
        {.kind = TASK_OP_COMPUTE, .time = 900},
        END,
    };
    expect_text(op, &world, 1,
                "l1: calc 2\n"
                "l2: recv 7b from -1 tag -1\nl2 requires l1\n"
                "l3: send 8b to 1 tag 5\nl3 irequires l2\n"
                "l4: send 10b to 1 tag 6\nl4 irequires l3\nl4 requires l2\nl4 requires l3\n"
                "l5: recv 2b from 0 tag 2\nl5 requires l4\n"
                "l6: send 1b to 1 tag 1\nl6 irequires l5\n"
                "l7: send 0b to 1 tag 3\nl7 requires l5\nl7 requires l6\n"
                "l8: recv 3b from 1 tag 4\nl8 irequires l7\n"
                "l9: calc 1\nl9 requires l8\n");
}

/* A persistent request is waited for each time it was started; one that is freed, by nobody; tests that found
 * nothing and requests that are none, neither. */
static void test_requests(void **state)
{
    const struct task_op op[] = {
        {.kind = TASK_OP_SEND_INIT, .peer = 1, .tag = 5, .bytes = 8, .request = 3},
        {.kind = TASK_OP_WAIT, .request = 3},
        {.kind = TASK_OP_START, .request = 3},
        {.kind = TASK_OP_TEST, .request = 3, .outcome = 0},
        {.kind = TASK_OP_TEST, .request = 3, .outcome = 1},
        {.kind = TASK_OP_START, .request = 3},
        {.kind = TASK_OP_REQUEST_FREE, .request = 3},
        {.kind = TASK_OP_IRECV, .peer = 1, .tag = 5, .bytes = 8, .request = 3},
        {.kind = TASK_OP_WAITANY, .requests = (const uint64_t[]){0, 3, 99}, .request_count = 3, .outcome = 1},
        {.kind = TASK_OP_WAIT, .request = 3},
        {.kind = TASK_OP_COMPUTE, .time = 2000},
        END,
    };
    expect_text(op, &world, 1,
                "l1: send 8b to 1 tag 5\n"
                "l2: send 8b to 1 tag 5\nl2 irequires l1\nl2 requires l1\n"
                "l3: recv 8b from 1 tag 5\nl3 irequires l2\n"
                "l4: calc 2\nl4 irequires l3\nl4 requires l3\n");
}

/* Communicator 1 has the tasks in the other order: its rank 0 is task 1, and tags are 2^20 further on. What
 * continues beside a collective does not wait for it. */
static void test_communicators(void **state)
{
    static const int32_t turned[] = {1, 0};
    const struct task_comm comm[] = {{.size = 2}, {.size = 2, .member = turned}};
    const struct task_op op[] = {
        {.kind = TASK_OP_SEND, .comm = 1, .peer = 0, .tag = 5, .bytes = 8},
        {.kind = TASK_OP_SEND, .peer = 1, .tag = 5, .bytes = 8},
        {.kind = TASK_OP_ICOLLECTIVE,
         .comm = 1,
         .collective = TASK_COLL_BCAST,
         .peer = 1,
         .bytes = 4,
         .request = 1},
        {.kind = TASK_OP_COMPUTE, .time = 1000},
        {.kind = TASK_OP_WAIT, .request = 1},
        {.kind = TASK_OP_COLLECTIVE, .comm = 1, .collective = TASK_COLL_BCAST, .peer = 1, .bytes = 4},
        {.kind = TASK_OP_COMPUTE, .time = 1000},
        END,
    };
    expect_text(op, comm, 2,
                "l1: send 8b to 1 tag 1048581\n"
                "l2: send 8b to 1 tag 5\nl2 requires l1\n"
                "l3: send 4b to 1 tag 2164260864\nl3 requires l2\n" /* 2^31 + 2^24 */
                "l4: calc 1\nl4 requires l2\n"
                "l5: send 4b to 1 tag 2165309440\nl5 requires l4\nl5 requires l3\n" /* and 2^20 */
                "l6: calc 1\nl6 requires l5\n");
}

static void test_refused(void **state)
{
    static const uint64_t both[] = {1, 2};
    static const struct {
        struct task_op op;
        const char *expected;
    } bad[] = {
        {{.kind = TASK_OP_PUT, .call = "MPI_Put"},
         "task 0: MPI_Put cannot be said in GOAL: one-sided communication"},
        {{.kind = TASK_OP_CANCEL, .call = "MPI_Cancel"},
         "task 0: MPI_Cancel cannot be said in GOAL: a cancelled request"},
        {{.kind = TASK_OP_MRECV, .call = "MPI_Mrecv"},
         "task 0: MPI_Mrecv cannot be said in GOAL: a matched probe"},
        {{.kind = TASK_OP_COLLECTIVE_INIT, .call = "MPI_Bcast_init"},
         "task 0: MPI_Bcast_init cannot be said in GOAL: a persistent collective"},
        {{.kind = TASK_OP_START, .request = 7, .call = "MPI_Start"},
         "task 0: MPI_Start cannot be said in GOAL: a request that is none of a persistent message"},
        {{.kind = TASK_OP_WAITANY, .requests = both, .request_count = 2, .call = "MPI_Waitany"},
         "task 0: MPI_Waitany cannot be said in GOAL: the trace does not say which of the requests "
         "completed"},
        {{.kind = TASK_OP_SEND, .comm = 1, .peer = 1, .tag = 1 << 20, .call = "MPI_Send"},
         "task 0: MPI_Send cannot be said in GOAL: a tag of 2^20 or more, or more than 2048 communicators"},
    };
    const struct task_comm comm[] = {{.size = 2}, {.size = 2}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct task_op op[] = {{.kind = TASK_OP_IRECV, .peer = 1, .request = 1},
                                     {.kind = TASK_OP_IRECV, .peer = 1, .request = 2},
                                     bad[i].op,
                                     END};
        char *text;
        size_t bytes;
        struct goal_losses losses;
        assert_int_equal(write_given(&text, &bytes, (const struct task_op *[]){op}, 1, comm, 2, &losses),
                         KER_BAD_INPUT);
        assert_string_equal(error.text, bad[i].expected);
        free(text);
    }
}

/* ---- can it run? ---- */

struct run {
    const struct graph *graph;
    uint32_t **left; /* dependencies that are not met yet */
    struct item {
        uint32_t task, op;
    } * ready, *open; /* open: receives and messages that nobody has taken */
    size_t readies, ready_room, opens, open_room, done;
};

static void release(struct run *r, uint32_t task, const uint32_t *dependent, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (--r->left[task][dependent[i]] == 0)
            *KER_PUSH(r->ready, r->readies, r->ready_room) = (struct item){task, dependent[i]};
}

static void done(struct run *r, struct item item)
{
    const struct graph_task *t = &r->graph->task[item.task];
    r->done++;
    release(r, item.task, &t->dependent[t->op[item.op].first + t->op[item.op].on_begin],
            t->op[item.op].on_done);
}

static bool fits(const struct run *r, struct item send, struct item receive)
{
    const struct graph_op *s = &r->graph->task[send.task].op[send.op],
                          *v = &r->graph->task[receive.task].op[receive.op];
    return s->kind == GRAPH_SEND && v->kind == GRAPH_RECEIVE && s->peer == receive.task &&
           (v->peer == send.task || v->peer == GRAPH_ANY) && (v->tag == s->tag || v->tag == GRAPH_ANY);
}

/* Takes the first message or receive that fits, or stays open. */
static void match(struct run *r, struct item item)
{
    bool sends = r->graph->task[item.task].op[item.op].kind == GRAPH_SEND;
    for (size_t i = 0; i < r->opens; i++) {
        struct item other = r->open[i];
        if (!fits(r, sends ? item : other, sends ? other : item))
            continue;
        memmove(&r->open[i], &r->open[i + 1], (--r->opens - i) * sizeof *r->open);
        done(r, sends ? other : item);
        return;
    }
    *KER_PUSH(r->open, r->opens, r->open_room) = item;
}

/* Every operation runs, without time and whatever its size, and every message is received. */
static void expect_runs(const struct graph *g)
{
    struct run r = {.graph = g, .left = ker_alloc(g->count * sizeof *r.left)};
    size_t ops = 0;
    for (uint32_t t = 0; t < g->count; t++) {
        r.left[t] = ker_alloc(g->task[t].ops * sizeof *r.left[t]);
        ops += g->task[t].ops;
        for (uint32_t i = 0; i < g->task[t].ops; i++) {
            r.left[t][i] = g->task[t].op[i].before;
            if (!r.left[t][i])
                *KER_PUSH(r.ready, r.readies, r.ready_room) = (struct item){t, i};
        }
    }
    for (size_t i = 0; i < r.readies; i++) {
        struct item item = r.ready[i];
        const struct graph_task *t = &g->task[item.task];
        const struct graph_op *op = &t->op[item.op];
        release(&r, item.task, &t->dependent[op->first], op->on_begin);
        if (op->kind != GRAPH_RECEIVE)
            done(&r, item);
        if (op->kind != GRAPH_CALCULATION)
            match(&r, item);
    }
    assert_int_equal(r.done, ops);
    assert_int_equal(r.opens, 0);
    for (uint32_t t = 0; t < g->count; t++)
        free(r.left[t]);
    free(r.left);
    free(r.ready);
    free(r.open);
}

/* Every collective, of 1 to 9 tasks, blocking and not, with the last rank as its root. */
static void test_collectives(void **state)
{
    for (uint8_t c = 0; c < TASK_COLL_NEIGHBOR_ALLGATHER; c++)
        for (int32_t size = 1; size <= 9; size++)
            for (uint64_t bytes = 1; bytes <= 1 << 20; bytes <<= 20) {
                const struct task_comm comm = {.size = size};
                struct task_op op[] = {
                    {.kind = TASK_OP_ICOLLECTIVE,
                     .collective = c,
                     .peer = size - 1,
                     .bytes = bytes,
                     .bytes2 = bytes,
                     .request = 5},
                    {.kind = TASK_OP_COLLECTIVE,
                     .collective = c,
                     .peer = size - 1,
                     .bytes = bytes,
                     .bytes2 = bytes},
                    {.kind = TASK_OP_WAIT, .request = 5},
                    {.kind = TASK_OP_COMPUTE, .time = 5000},
                    END,
                };
                const struct task_op *tasks[9] = {op, op, op, op, op, op, op, op, op};
                char *text;
                size_t length;
                struct goal_losses losses;
                assert_int_equal(write_given(&text, &length, tasks, (uint32_t)size, &comm, 1, &losses),
                                 KER_OK);
                struct graph *g = read_text(text, 1000, (uint32_t)size);
                if (c == TASK_COLL_BARRIER &&
                    size == 2) /* 2 messages of each, twice, a wait, a computation */
                    assert_int_equal(g->task[0].ops, 6);
                expect_runs(g);
                graph_free(g);
                free(text);
            }
}

/* A real trace: all its messages are there. */
static void trace_check(const char *path, uint32_t tasks)
{
    const struct ker_option *tables[] = {task_job_options, mpi_options, NULL};
    struct ker_comm *alone = ker_comm_alone();
    struct ker_config *config;
    struct task_program *program;
    struct goal_losses losses;
    uint32_t own[] = {0, 1, 2, 3, 4, 5, 6, 7};
    char *text, *job = ker_format("jobs = ( { program = \"trace\"; trace = \"%s\"; } );", path);
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    memset(&error, 0, sizeof error);
    assert_int_equal(ker_config_parse(&config, "test", job, NULL, 0, tables, &error), KER_OK);
    assert_int_equal(task_allprof_class.open(&program, config, "jobs[0]", alone, &error), KER_OK);
    if (task_allprof_class.hand)
        assert_int_equal(task_allprof_class.hand(program, own, tasks, alone, &error), KER_OK);
    assert_int_equal(task_allprof_class.prepare(program, own, tasks, &error), KER_OK);
    assert_int_equal(goal_write(out, &task_allprof_class, program, &collectives, &losses, &error), KER_OK);
    fclose(out);
    struct graph *g = read_text(text, 1000, tasks);
    expect_runs(g);
    graph_free(g);
    task_allprof_class.close(program);
    ker_config_free(config);
    ker_comm_release(alone);
    free(text);
    free(job);
}

static void test_traces(void **state)
{
    trace_check("tests/traces/npb-ft.S-4", 4);
    trace_check("tests/traces/npb-is.S-8", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),      cmocka_unit_test(test_requests),
        cmocka_unit_test(test_communicators), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_collectives),   cmocka_unit_test(test_traces),
    };
    return cmocka_run_group_tests(tests, collectives_setup, collectives_release);
}
