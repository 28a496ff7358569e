/* sparse.c - a random sparse exchange, from the configuration: each task sends to some others that are drawn
 * at random, and receives from as many.
 *
 * A step is Irecv and Isend of jobs[].degree messages each, one Waitall, computation, and every n steps an
 * Allreduce. Message k of a step goes from task t to p(t) with a permutation p of the tasks that is drawn
 * from run.seed, job, k and, with jobs[].partners = "step", the step: so both ends know it without a table
 * and without asking each other. Where p(t) is t there is none.
 *
 * Invariant: what the sender draws of a message the receiver draws, too.
 */
#include "tasks/programs/stages.h"
#include "tasks/traffic/traffic.h"

#include <stdlib.h>
#include <string.h>

struct task_program {
    struct task_stages stages;
    uint64_t seed;
    uint32_t purpose;
    bool anew;            /* partners are drawn for each step */
    uint64_t least, most; /* bytes of a message */
};

static void sparse_close(struct task_program *program)
{
    if (program)
        task_stages_release(&program->stages);
    free(program);
}

/* Of the message `number` of this task. */
static uint64_t bytes_draw(const struct task_program *program, uint32_t from, uint32_t number)
{
    struct ker_bits bits = ker_random_bits(program->seed, program->purpose, from, number);
    unsigned __int128 draw = (uint64_t)bits.word[0] << 32 | bits.word[1];
    return program->least + (uint64_t)(draw * (program->most - program->least + 1) >> 64);
}

/* A direction is a permutation. */
static bool sparse_halo(const struct task_program *program, uint32_t task, uint32_t step, uint32_t direction,
                        bool send, struct task_halo *halo)
{
    uint32_t number = (program->anew ? step * program->stages.directions : 0) + direction + 1;
    struct task_permutation p;
    task_permutation_init(&p, program->seed, program->purpose, number, (uint32_t)program->stages.world.size);
    halo->peer = send ? task_permutation_at(&p, task) : task_permutation_find(&p, task);
    halo->tag = direction;
    halo->bytes = program->least == program->most ? program->least
                                                  : bytes_draw(program, send ? task : halo->peer, number);
    return halo->peer != task;
}

static bool sparse_op(const struct task_program *program, uint32_t task, uint32_t stage, struct task_op *op)
{
    return task_stages_compute(&program->stages, program->stages.compute, op);
}

static const struct task_stages_kind sparse_stages = {.halo = sparse_halo, .op = sparse_op, .own_stages = 1};

static enum ker_status bytes_read(struct task_program *program, const struct ker_config *config,
                                  const char *path, struct ker_error *error)
{
    const char *key = TASK_KEY(path, "bytes");
    int count = ker_config_count(config, key);
    if (count > 2)
        return ker_config_fail(config, error, key,
                               "has %d values; one, or the least and the most, would be right", count);
    program->least = ker_config_bytes_at(config, key, 0);
    program->most = ker_config_bytes_at(config, key, count == 2);
    if (program->least > program->most)
        return ker_config_fail(config, error, key, "the first value is the least, the second the most");
    return KER_OK;
}

static enum ker_status sparse_open(struct task_program **opened, const struct ker_config *config,
                                   const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = ker_alloc(sizeof *program);
    const char *tasks = TASK_KEY(path, "tasks");
    *opened = program;
    if (!ker_config_has(config, tasks))
        return ker_config_fail(config, error, tasks, "is missing: how many tasks there are");
    if (ker_config_int(config, tasks) > INT32_MAX)
        return ker_config_fail(config, error, tasks, "is more than 2^31 - 1");
    program->stages.world.size = (int32_t)ker_config_int(config, tasks);
    uint64_t job = strtoul(path + strcspn(path, "0123456789"), NULL, 10); /* each has draws of its own */
    program->seed =
        (ker_config_means_key(config, "run.seed") ? (uint64_t)ker_config_int(config, "run.seed") : 0) +
        (job << 32);
    program->purpose = ker_purpose("jobs.pattern");
    program->anew = ker_config_is(config, TASK_KEY(path, "partners"), "step");
    uint32_t degree = (uint32_t)ker_config_int(config, TASK_KEY(path, "degree"));
    task_stages_init(&program->stages, &sparse_stages, config, path, degree, false);
    return bytes_read(program, config, path, error);
}

static const struct ker_option sparse_options[] = {
    {"jobs[].degree", KER_TYPE_INT, "4", "1", "10000", NULL,
     "sparse: to how many others each task sends in a step, and from how many it receives; some of them may "
     "be the same, or the task itself, to which nothing is sent."},
    {"jobs[].partners", KER_TYPE_CHOICE, "step", NULL, NULL, "step|job",
     "sparse: partners are drawn anew for each step, or once for the job; from run.seed."},
    {0},
};

const struct ker_kind task_program_sparse = {
    .name = "sparse",
    .meaning = "a random sparse exchange: each task sends to some others drawn at random (Irecv, Isend, "
               "Waitall, computation, Allreduce), any number of tasks",
    .traits = "computes",
    .operations = &(const struct task_program_class){TASK_STAGES_CLASS, .open = sparse_open,
                                                     .comms = task_stages_comms, .close = sparse_close},
    .options = KER_OPTIONS(sparse_options, task_bytes_options, task_steps_options, task_compute_options)};
