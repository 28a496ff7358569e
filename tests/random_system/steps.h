/* steps.h - of random systems that skip: traces and schedules whose steps repeat. */
#pragma once

#include "tests/random_system/draw.h"

#include <sys/stat.h>

/* What the tasks of a ring do in each step. */
struct random_steps {
    uint32_t tasks, steps, shift, bytes;
    bool marks, reduces;
    uint32_t every;       /* an Allreduce in each of these */
    uint32_t low, spread; /* of computations, ns */
};

static struct random_steps random_steps(struct random_system *r, uint32_t most)
{
    struct random_steps s = {.tasks = 2 + draw(r, most < 8 ? most - 1 : 7),
                             .steps = r->repeats ? 1 + draw(r, 3) : 40 + draw(r, 60),
                             .bytes = draw(r, 2 * r->packet),
                             .marks = chance(r, 40),
                             .reduces = chance(r, 40),
                             .every = 1 + draw(r, 2),
                             .low = chance(r, 20) ? 0 : 1000 * draw(r, 20),
                             .spread = chance(r, 30) ? 0 : 3000};
    s.shift = 1 + draw(r, s.tasks - 1);
    return s;
}

/* A text of liballprof; times in us. */
static void steps_trace_task(struct random_system *r, const struct random_steps *s, uint32_t task, FILE *out)
{
    unsigned long now = 1000;
    uint32_t to = (task + s->shift) % s->tasks, from = (task + s->tasks - s->shift) % s->tasks;
    fprintf(out, "# htor's PMPI Tracer 1.0 Output File (time: usec)\nMPI_Init:-:8192:8192:%lu\n", now);
#define CALL(form, ...) fprintf(out, form ":%lu\n", now, __VA_ARGS__, now + 1), now++
    for (uint32_t i = 0; i < s->steps; i++) {
        now += (s->low + (s->spread ? draw(r, s->spread) : 0)) / 1000;
        if (s->marks)
            CALL("MPI_Pcontrol:%lu:%u", 2u);
        CALL("MPI_Isend:%lu:4096:%u:1,1,1:%u:7:777,%u,%u:8000", s->bytes, to, task, s->tasks);
        CALL("MPI_Recv:%lu:4096:%u:1,1,1:%u:7:777,%u,%u:0", s->bytes + 8, from, task, s->tasks);
        now += s->low / 2000;
        CALL("MPI_Wait:%lu:%u:0", 8000u);
        if (s->reduces && i % s->every == 0)
            CALL("MPI_Allreduce:%lu:4096:8192:%u:1,4,4:3:777,%u,%u", 1u, task, s->tasks);
    }
#undef CALL
    fprintf(out, "MPI_Finalize:%lu:-\n", now + 50);
}

/* A schedule of two cpus, which an operation joins in each step. */
static void steps_goal_task(struct random_system *r, const struct random_steps *s, uint32_t task, FILE *out)
{
    uint32_t to = (task + s->shift) % s->tasks, from = (task + s->tasks - s->shift) % s->tasks;
    fprintf(out, "rank %u {\nj0: calc 1\n", task);
    for (uint32_t i = 1; i <= s->steps; i++) {
        fprintf(out, "a%u: calc %u\n", i, s->low + (s->spread ? draw(r, s->spread) : 0));
        fprintf(out, "b%u: calc %u cpu 1\n", i, s->low);
        fprintf(out, "s%u: send %ub to %u tag 7\n", i, s->bytes, to);
        fprintf(out, "r%u: recv %ub from %u tag 7 cpu %u\n", i, s->bytes, from, s->marks);
        fprintf(out, "j%u: calc 0\na%u requires j%u\nb%u requires j%u\n", i, i, i - 1, i, i - 1);
        fprintf(out, "s%u %s a%u\nr%u requires b%u\n", i, s->reduces ? "irequires" : "requires", i, i, i);
        fprintf(out, "j%u requires s%u\nj%u requires r%u\nj%u requires a%u\n", i, i, i, i, i, i);
    }
    fprintf(out, "}\n");
}

/* In the place of other traces. */
static uint32_t random_steps_trace(struct random_system *r, uint32_t most)
{
    random_key(r, "trace with steps");
    bool goal = chance(r, 40);
    struct random_steps s = random_steps(r, most);
    char *path = ker_format("%s/%03d-%s.%s", r->folder, r->number, strrchr(r->group, ' ') + 1,
                            goal ? "goal" : "trace");
    FILE *out = goal ? fopen(path, "w") : NULL;
    if (goal)
        fprintf(out, "num_ranks %u\n", s.tasks);
    else
        mkdir(path, 0777);
    for (uint32_t task = 0; task < s.tasks; task++) {
        char *name = ker_format("%s/pmpi-trace-rank-%u.txt", path, task);
        FILE *own = goal ? out : fopen(name, "w");
        (goal ? steps_goal_task : steps_trace_task)(r, &s, task, own);
        if (!goal)
            fclose(own);
        free(name);
    }
    if (goal)
        fclose(out);
    put_text(r, "trace", path);
    free(path);
    r->trace = true;
    return s.tasks;
}
