/* test_path_proof.c - that the critical path is what makes the run time, by runs of changed programs.
 *
 * Without any contention, with matching that does not depend on time, the end of a run is a maximum of sums
 * of times. So a computation on the path that becomes longer by d lengthens the run by d; one that is not on
 * it may become shorter, or longer by 1 ps, without a change; and messages that all take 1 ps longer lengthen
 * the run by as many ps as there are messages on the path. Programs are random, times are different from each
 * other, so that no two paths are equally long. (Not so with node.receive_overhead: a message that comes
 * sooner may have to be paid for before something more urgent is done.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_net.h"
#include "tasks/mpi/path.h"
#include "tasks/mpi/state.h"

#define TASKS 5
#define PHASES 8
#define OPS_MOST 64

struct program {
    struct task_op op[TASKS][OPS_MOST];
    uint32_t ops[TASKS];
    const char *settings;
};

/* ---- random programs ---- */

struct dice {
    uint64_t seed, drawn;
};

static uint32_t draw(struct dice *dice, uint32_t below)
{
    return ker_random_below(ker_random_bits(dice->seed, KER_PURPOSE_TEST, 0, dice->drawn++).word[0], below);
}

static void add(struct program *p, uint32_t task, struct task_op op)
{
    assert_true(p->ops[task] < OPS_MOST);
    p->op[task][p->ops[task]++] = op;
}

static void compute(struct program *p, struct dice *dice, uint32_t task)
{
    add(p, task,
        (struct task_op){.kind = TASK_OP_COMPUTE, .time = 1 + draw(dice, 6000000), .call = "computation"});
}

static uint64_t size(struct dice *dice)
{
    static const uint64_t sizes[] = {0, 8, 1000, 8192, 8193, 100000};
    return sizes[draw(dice, sizeof sizes / sizeof *sizes)];
}

/* All tasks send to the one `by` further on. */
static void shift(struct program *p, struct dice *dice)
{
    uint32_t by = 1 + draw(dice, TASKS - 1), way = draw(dice, 2);
    uint64_t bytes = size(dice);
    for (uint32_t i = 0; i < TASKS; i++) {
        int32_t to = (int32_t)((i + by) % TASKS), from = (int32_t)((i + TASKS - by) % TASKS);
        struct task_op
            both = {.kind = TASK_OP_SENDRECV,
                    .peer = to,
                    .bytes = bytes,
                    .peer2 = from,
                    .bytes2 = bytes,
                    .call = "MPI_Sendrecv"},
            send = {.kind = TASK_OP_ISEND, .peer = to, .bytes = bytes, .request = 1, .call = "MPI_Isend"},
            receive = {
                .kind = TASK_OP_IRECV, .peer = from, .bytes = bytes, .request = 2, .call = "MPI_Irecv"};
        if (way == 0) {
            add(p, i, both);
            continue;
        }
        add(p, i, send);
        compute(p, dice, i);
        add(p, i, receive);
        compute(p, dice, i);
        for (uint64_t request = 1; request <= 2; request++)
            add(p, i, (struct task_op){.kind = TASK_OP_WAIT, .request = request, .call = "MPI_Wait"});
    }
}

/* A message goes through all of them. */
static void chain(struct program *p, struct dice *dice)
{
    uint32_t first = draw(dice, TASKS);
    uint64_t bytes = size(dice);
    unsigned mode = draw(dice, 2) ? TASK_MODE_STANDARD : TASK_MODE_SYNCHRONOUS;
    for (uint32_t k = 0; k < TASKS; k++) {
        uint32_t i = (first + k) % TASKS;
        if (k > 0)
            add(p, i,
                (struct task_op){.kind = TASK_OP_RECV,
                                 .peer = (int32_t)((i + TASKS - 1) % TASKS),
                                 .bytes = bytes,
                                 .call = "MPI_Recv"});
        compute(p, dice, i);
        if (k + 1 < TASKS)
            add(p, i,
                (struct task_op){.kind = TASK_OP_SEND,
                                 .peer = (int32_t)((i + 1) % TASKS),
                                 .bytes = bytes,
                                 .mode = (uint8_t)mode,
                                 .call = "MPI_Send"});
    }
}

static void collective(struct program *p, struct dice *dice)
{
    static const uint8_t kinds[] = {TASK_COLL_BARRIER, TASK_COLL_BCAST, TASK_COLL_REDUCE, TASK_COLL_ALLREDUCE,
                                    TASK_COLL_ALLTOALL};
    struct task_op op = {.collective = kinds[draw(dice, sizeof kinds)], .bytes = size(dice), .request = 3};
    bool waits = draw(dice, 2);
    op.peer = (int32_t)draw(dice, TASKS);
    op.kind = waits ? TASK_OP_COLLECTIVE : TASK_OP_ICOLLECTIVE;
    op.call = waits ? "a collective" : "one that does not block";
    for (uint32_t i = 0; i < TASKS; i++) {
        add(p, i, op);
        if (waits)
            continue;
        compute(p, dice, i);
        add(p, i, (struct task_op){.kind = TASK_OP_WAIT, .request = 3, .call = "MPI_Wait"});
    }
}

static void program_make(struct program *p, uint64_t seed)
{
    static const char *const settings[] = {"", "mpi: { rendezvous = \"write\"; };",
                                           "mpi: { eager_completion = \"buffered\"; };",
                                           "node: { send_overhead = \"211 ns\"; doorbell = \"31 ns\"; };"};
    struct dice dice = {.seed = seed};
    *p = (struct program){.settings = settings[draw(&dice, 4)]};
    for (uint32_t phase = 0; phase < PHASES; phase++) {
        for (uint32_t i = 0; i < TASKS; i++)
            if (draw(&dice, 2))
                compute(p, &dice, i);
        uint32_t which = draw(&dice, 3);
        (which == 0 ? shift : which == 1 ? chain : collective)(p, &dice);
    }
    for (uint32_t i = 0; i < TASKS; i++)
        add(p, i, (struct task_op){.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"});
}

/* ---- runs ---- */

/* Which computations are on the path. */
struct marks {
    const struct program *program;
    bool on[TASKS][OPS_MOST];
};

/* The task's computations from `first` on that take exactly so long, whatever calls of no time are between
 * them; 0: there are none, else the end. */
static uint32_t computed(const struct task_op *op, uint32_t ops, uint32_t first, ker_time time)
{
    for (uint32_t i = first; i < ops && time > 0; i++)
        if (op[i].kind == TASK_OP_COMPUTE && (time -= op[i].time) == 0)
            return i + 1;
    return 0;
}

/* Times are drawn from this many that sums of some of them are different, too. */
static void mark(void *context, const struct task_path_step *step)
{
    struct marks *m = context;
    const struct task_op *op = m->program->op[step->task];
    uint32_t ops = m->program->ops[step->task], first = 0, end = 0;
    if (step->kind != TASK_PATH_COMPUTATION)
        return;
    for (; first < ops && !end; first += !end)
        end = op[first].kind == TASK_OP_COMPUTE ? computed(op, ops, first, step->end - step->begin) : 0;
    assert_true(end > first);
    for (uint32_t i = first; i < end; i++)
        m->on[step->task][i] |= op[i].kind == TASK_OP_COMPUTE;
}

static struct task_path_result run(const struct program *p, ker_time latency, struct marks *marks)
{
    struct fake_net net;
    struct ker_error error = {0};
    struct task_names functions = {0};
    struct task_path_result result;
    struct marks none = {.program = p};
    const struct task_op *ops[TASKS];
    char settings[400];
    snprintf(settings, sizeof settings, "output: { waits = true; critical_path = \"1 MB\"; }; %s",
             p->settings);
    for (uint32_t i = 0; i < TASKS; i++)
        ops[i] = p->op[i];
    fake_open(&net, TASKS, 1, settings);
    net.latency = latency;
    assert_int_equal(task_mpi_path_read(net.mpi, net.config, TASKS, &error), KER_OK);
    fake_play(&net, ops);
    struct task_path_source source = task_path_tasks(net.mpi, 1, 0);
    struct ker_comm *alone = ker_comm_alone();
    task_path_functions(&source, &functions, alone);
    task_path_walk(&source, alone, &functions, &(struct task_path_visitor){mark, marks ? marks : &none},
                   &result);
    assert_true(result.there && result.whole);
    ker_comm_release(alone);
    task_names_release(&functions);
    fake_close(&net);
    return result;
}

static ker_time with(struct program *p, uint32_t task, uint32_t at, ker_time more)
{
    struct program changed = *p;
    changed.op[task][at].time += more;
    return run(&changed, KER_US, NULL).finish;
}

static void test_proof(void **state)
{
    (void)state;
    uint32_t on = 0, off = 0, messages = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct program p;
        program_make(&p, seed);
        struct marks marks = {.program = &p};
        struct task_path_result base = run(&p, KER_US, &marks);
        ker_time end = base.finish;
        for (uint32_t i = 0; i < TASKS; i++)
            for (uint32_t k = 0; k < p.ops[i]; k++) {
                if (p.op[i][k].kind != TASK_OP_COMPUTE)
                    continue;
                ker_time time = p.op[i][k].time;
                if (marks.on[i][k]) {
                    assert_int_equal(with(&p, i, k, 1000), end + 1000);
                    assert_true(with(&p, i, k, -(time > 10 ? 10 : time)) < end);
                    on++;
                } else {
                    assert_int_equal(with(&p, i, k, -time), end);
                    assert_int_equal(with(&p, i, k, 1), end);
                    off++;
                }
            }
        assert_int_equal(run(&p, KER_US + 1, NULL).finish, end + (ker_time)base.messages);
        assert_int_equal(run(&p, KER_US - 1, NULL).finish, end - (ker_time)base.messages);
        messages += (uint32_t)base.messages;
    }
    print_message("%u computations on the path, %u not, %u messages\n", on, off, messages);
    assert_true(on > 100 && off > 100 && messages > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_proof)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
