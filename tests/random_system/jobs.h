/* jobs.h - of random systems: MPI, jobs with their programs and placements. */
#pragma once

#include "tasks/mpi/collectives/collective.h"
#include "tests/random_system/draw.h"
#include "tests/random_system/node.h"
#include "tests/random_system/steps.h"
#include "tests/random_system/storage.h"

/* ker_kind.of is "bcast|scatter". */
static bool algorithm_can(const struct ker_kind *algorithm, const char *collective)
{
    size_t length = strlen(collective);
    if (task_coll_asks(algorithm))
        return false;
    for (const char *at = algorithm->of; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, collective, length) == 0 && (at[length] == '|' || at[length] == '\0'))
            return true;
    return false;
}

/* "linear/ring": an algorithm for reduce and bcast inside nodes, perhaps one inside sockets, and one of the
 * collective's own between nodes, unless that is shared memory. */
static const char *random_levels(struct random_system *r, const char *name, const char *algorithm)
{
    static char text[128];
    static const char *const inside[] = {"linear",
                                         "binomial",
                                         "shared_memory",
                                         "shared_memory/shared_memory",
                                         "shared_memory_parts+shared_memory",
                                         "binomial/linear"};
    bool inside_only = strncmp(algorithm, "shared_memory", 13) == 0,
         alike = strcmp(name, "alltoall") == 0 && strcmp(algorithm, "bruck") == 0;
    const char *between = inside_only || alike ? "linear" : algorithm;
    const char *in = inside[draw(r, 6)];
    if (strchr(in, '+') && strcmp(name, "allreduce")) /* others do not go both up and down */
        in = "shared_memory";
    snprintf(text, sizeof text, "%s/%s", in, between);
    return text;
}

/* The algorithm, perhaps with parameters. */
static const char *random_parameters(struct random_system *r, const char *collective, const char *name)
{
    static char text[64];
    const struct task_coll_algorithm *form = NULL;
    for (const struct ker_kind *const *a = task_collectives.list; *a; a++)
        if (algorithm_can(*a, collective) && strcmp((*a)->name, name) == 0)
            form = (*a)->operations;
    if (form->fanout && chance(r, 50))
        snprintf(text, sizeof text, "%s(%s=%u, segment=%llu B)", name, form->fanout,
                 form->fanout_least + draw(r, 6), (unsigned long long)spread(r, 100, 1e5));
    else if (form->segments && chance(r, 50))
        snprintf(text, sizeof text, "%s(segment=%llu B)", name, (unsigned long long)spread(r, 100, 1e5));
    else
        return name;
    return text;
}

/* By a formula in the place of an algorithm; NULL: that stays. */
static const char *random_formula(struct random_system *r, unsigned collective)
{
    char key[64];
    snprintf(key, sizeof key, "%s by formula", task_coll_name(collective));
    if (task_coll_among_neighbours(collective) || !random_flag(r, key, 50))
        return NULL;
    static const char *const formulas[] = {"analytic_constant", "analytic_log", "analytic_linear", "ideal"};
    return formulas[draw(r, 4)];
}

/* Some collectives by any of the algorithms that can do them, from any size on. */
static void random_collectives(struct random_system *r)
{
    bool formulas = random_flag(r, "formulas", 30);
    fprintf(r->out, "    collectives: {\n");
    if (formulas) { /* at least one of them asks for the keys */
        fprintf(r->out, "        barrier = [\"analytic_log\"];\n");
        put_time(r, "latency", LIST("2 ps", "100 ns", "1 us", "20 us"), 2, 1e12);
        put_rate(r, "bandwidth", 8);
    }
    for (unsigned c = 0; c < TASK_COLL_COUNT; c++) {
        const char *list[16], *name = task_coll_name(c);
        int count = 0;
        for (const struct ker_kind *const *a = task_collectives.list; *a; a++)
            if (algorithm_can(*a, name))
                list[count++] = (*a)->name;
        list[count] = NULL;
        const char *algorithm = random_parameters(r, name, random_choice(r, name, list));
        if (task_coll_has_levels(c) && chance(r, 40))
            algorithm = random_levels(r, name, algorithm);
        const char *formula = formulas ? random_formula(r, c) : NULL;
        if (formulas && c == TASK_COLL_BARRIER)
            continue;
        if (formula)
            fprintf(r->out, "        %s = [\"%s\"];\n", name, formula);
        else if (chance(r, 40))
            fprintf(r->out, "        %s = [\"auto\", \"%s:%llu B:%u\"];\n", name, algorithm,
                    (unsigned long long)spread(r, 0, 1e5), draw(r, 10));
    }
    fprintf(r->out, "    };\n");
}

static void random_mpi(struct random_system *r)
{
    group_begin(r, "mpi");
    random_key(r, "eager_limit");
    static const uint32_t limits[] = {0, 1024, 8192, 1 << 20};
    uint64_t limit = r->extreme ? spread(r, 0, 1 << 30) : limits[draw(r, 4)];
    put_bytes(r, "eager_limit", r->plain ? 1 << 20 : limit);
    const char *completion =
        r->plain ? "sent" : random_choice(r, "eager_completion", LIST("sent", "buffered", "delivered"));
    put_text(r, "eager_completion", completion);
    if (strcmp(completion, "delivered") == 0)
        put_size(r, "inject_limit", 0, 1000, 0, 100000);
    put_choice(r, "rendezvous", LIST("read", "write"));
    put_choice(r, "copies", LIST("none", "unexpected", "buffered", "collectives", "all"));
    if (random_flag(r, "combining takes time", 40)) {
        if (random_flag(r, "by what combines", 40))
            fprintf(r->out, "    reduce_rate = [\"%u MB/s\", \"%u MB/s:sum\", \"%u MB/s:real:100 B\"];\n",
                    300 + draw(r, 9000), 300 + draw(r, 9000), 300 + draw(r, 9000));
        else
            put_rate(r, "reduce_rate", 8);
    }
    put_time(r, "match_time", LIST("0 ns", "0 ns", "1 ps", "7 ns", "150 ns"), 0, 1e9);
    const char *progress = random_choice(r, "progress", LIST("adapter", "calls", "thread"));
    put_text(r, "progress", progress);
    if (strcmp(progress, "thread") == 0)
        put_time(r, "progress_cost", LIST("0 ns", "1 ps", "300 ns", "2 us"), 0, 1e12);
    if (random_flag(r, "own class", 50))
        put_whole(r, "control_priority", 0, r->classes - 1, 0, r->classes - 1);
    if (random_flag(r, "own collectives", 40))
        random_collectives(r);
    group_end(r);
}

/* ---- programs ---- */

/* Where steps may be skipped there are many of them, which are small. */
static double packets_of(const struct random_system *r)
{
    return r->skips ? RANDOM_PACKETS / 20 : RANDOM_PACKETS;
}

static void put_steps(struct random_system *r, uint64_t usual_low, uint64_t usual_high, uint64_t low,
                      uint64_t high)
{
    uint64_t steps = random_whole(r, "steps", usual_low, usual_high, low, high);
    bool many = r->skips && !r->repeats;
    fprintf(r->out, "        steps = %llu;\n", (unsigned long long)(many ? 40 + 20 * steps : steps));
}

/* Extents with a product of at most `most`. */
static uint32_t random_stencil(struct random_system *r, uint32_t most)
{
    double limit = 0.5 * packets_of(r) / most * r->packet; /* six neighbours, two steps */
    int dimensions = (int)random_whole(r, "dimensions", 1, 3, 1, 5);
    uint32_t tasks = put_extents(r, "extents", dimensions, most > 1 ? 2 : 1, 1, 6, most);
    put_text(r, "neighbours", random_flag(r, "neighbours", 15) && dimensions < 4 ? "all" : "faces");
    put_flag(r, "periodic", 70);
    static const uint32_t sizes[] = {0, 100, 1024, 8192, 8193, 20480};
    random_key(r, "bytes");
    put_bytes(r, "bytes",
              r->extreme || r->packet < 64 ? spread(r, 0, limit) : sizes[draw(r, r->skips ? 2 : 6)]);
    put_steps(r, 1, 2, 1, 4);
    put_time(r, "compute_time", LIST("0 ns", "1 ns", "777 ns", "2 us"), 0, 1e13);
    uint64_t every = put_whole(r, "allreduce_every", 0, 2, 0, 5);
    if (every)
        put_size(r, "allreduce_bytes", 0, r->packet < 64 ? 3 * r->packet : 3000, 0, 3 * r->packet);
    return tasks;
}

static uint32_t random_weather(struct random_system *r, uint32_t most)
{
    random_key(r, "grid");
    uint32_t columns = between(r, 1, most < 6 ? most : 6),
             rows = between(r, 1, most / columns < 6 ? most / columns : 6);
    double limit = 0.2 * packets_of(r) / (columns * rows) * r->packet;
    fprintf(r->out, "        grid = [%u, %u];\n", columns, rows);
    put_size(r, "halo_bytes", 0, r->packet, 0, (uint64_t)limit);
    put_size(r, "transpose_bytes", 0, r->packet, 0, (uint64_t)limit);
    put_steps(r, 1, 2, 1, 3);
    put_time(r, "compute_time", LIST("0 ns", "1 ns", "777 ns", "2 us"), 0, 1e13);
    return columns * rows;
}

/* In the place of a weather model: its grid, and messages in rows and columns. */
static uint32_t random_grid(struct random_system *r, const char *program, uint32_t most)
{
    bool fft = strcmp(program, "fft") == 0, flat = fft && random_flag(r, "2-D", 30);
    random_key(r, "grid");
    uint32_t columns = between(r, 1, most < 6 ? most : 6),
             rows = flat ? 1 : between(r, 1, most / columns < 6 ? most / columns : 6);
    double limit = 0.2 * packets_of(r) / (columns * rows) * r->packet;
    if (flat)
        fprintf(r->out, "        grid = [%u];\n", columns);
    else
        fprintf(r->out, "        grid = [%u, %u];\n", columns, rows);
    if (fft) {
        uint32_t side = (uint32_t)floor(pow(limit * columns * rows / 16, flat ? 0.5 : 1.0 / 3));
        fprintf(r->out, "        points = [%u, %u", 1 + draw(r, side + 1), 1 + draw(r, side + 1));
        fprintf(r->out, flat ? "];\n" : ", %u];\n", 1 + draw(r, side + 1));
        put_flag(r, "inverse", 50);
    } else {
        put_whole(r, "blocks", 1, 3, 1, 5);
        fprintf(r->out, "        bytes = [\"%u B\", \"%u B\"];\n", draw(r, (uint32_t)(limit / 80) + 1),
                draw(r, (uint32_t)(limit / 80) + 1));
    }
    put_steps(r, 1, 2, 1, 3);
    put_time(r, "compute_time", LIST("0 ns", "1 ns", "777 ns", "2 us"), 0, 1e13);
    return columns * rows;
}

/* In the place of a halo exchange. */
static uint32_t random_sparse(struct random_system *r, uint32_t most)
{
    uint32_t tasks = (uint32_t)random_whole(r, "tasks", 2, most, 1, most),
             degree = (uint32_t)put_whole(r, "degree", 1, 4, 1, 8);
    uint32_t limit = (uint32_t)(0.3 * packets_of(r) / (tasks * degree) * r->packet),
             least = draw(r, limit + 1);
    fprintf(r->out, "        tasks = %u;\n        bytes = [\"%u B\", \"%u B\"];\n", tasks, least,
            least + draw(r, limit + 1));
    put_choice(r, "partners", LIST("step", "job"));
    put_steps(r, 1, 2, 1, 3);
    put_time(r, "compute_time", LIST("0 ns", "1 ns", "777 ns", "2 us"), 0, 1e13);
    put_whole(r, "allreduce_every", 0, 2, 0, 5);
    return tasks;
}

static uint32_t random_pingpong(struct random_system *r, uint32_t most)
{
    double limit = 2.0 * packets_of(r) / most * r->packet;
    uint32_t tasks = 2 * (uint32_t)random_whole(r, "tasks", 1, 1, 1, most / 2);
    fprintf(r->out, "        tasks = %u;\n", tasks);
    put_size(r, "bytes", 0, 3 * r->packet, 0, (uint64_t)limit);
    put_steps(r, 1, 4, 1, 20);
    return tasks;
}

/* In the place of a pingpong, so that systems with other programs stay as they are. */
static uint32_t random_collective(struct random_system *r, uint32_t most)
{
    double limit = 0.1 * packets_of(r) / most * r->packet;
    uint32_t tasks = (uint32_t)random_whole(r, "tasks", 2, most, 2, most);
    const char *call =
        random_choice(r, "collective",
                      LIST("barrier", "bcast", "allreduce", "reduce_scatter", "scan", "exchange", "incast"));
    bool plain = strcmp(call, "exchange") == 0 || strcmp(call, "incast") == 0;
    put_text(r, "collective", call);
    fprintf(r->out, "        tasks = %u;\n", tasks);
    random_key(r, "bytes");
    if (r->skips) /* other keys are refused */
        fprintf(r->out, "        bytes = \"%u B\";\n        iterations = %u;\n", draw(r, 2000),
                r->repeats ? 2 : 40 + draw(r, 60));
    else
        fprintf(r->out, "        bytes = [\"%u B\", \"%u B\"];\n", draw(r, 9),
                draw(r, 1 + (uint32_t)(limit / tasks)));
    if (!r->skips)
        put_whole(r, "iterations", 1, 3, 1, 4);
    put_whole(r, "warmup", 0, 1, 0, 2);
    put_choice(r, "sync", LIST("barrier", "none"));
    put_choice(r, "measure", LIST("own", "span"));
    if (!r->skips)
        put_choice(r, "align", LIST("0 ns", "1 us", "7777 ns"));
    put_choice(r, "pause", LIST("1 ns", "777 ns", "2 us"));
    if (plain && !r->skips && random_flag(r, "bursts", 50))
        put_choice(r, "burst", LIST("1 ps", "5 us"));
    return tasks;
}

static uint32_t random_trace(struct random_system *r, uint32_t most)
{
    if (r->skips)
        return random_steps_trace(r, most);
    bool eight = most >= 8 && r->packet < 4096, timed = random_flag(r, "timed calls", 30);
    r->trace = true;
    if (r->storage && random_flag(r, "calls on files", 60)) {
        fprintf(r->out, "        trace = \"%s/mars/files\";\n        processor_factor = 0;\n", r->traces);
        put_choice(r, "io", LIST("modelled", "traced"));
        return 4;
    }
    fprintf(r->out, "        trace = \"%s/%s\";\n        processor_factor = %.3f;\n", r->traces,
            timed   ? "mars/three"
            : eight ? "npb-is.S-8"
                    : "npb-ft.S-4",
            random_flag(r, "processor_factor", 30) ? 0.01
            : timed                                ? 0.001
                                                   : 0);
    if (timed) {
        put_text(r, "calls", "traced");
        return 3;
    }
    put_flag(r, "finalize_gap", 20);
    put_time(r, "poll_gap", LIST("10 us", "0 ns"), 0, 1e12);
    return eight ? 8 : 4;
}

/* Tasks that differ from their job: some in a row, and some of the others. */
static void random_factors(struct random_system *r, uint32_t tasks, bool moves)
{
    random_key(r, "task_factors");
    uint32_t last = draw(r, tasks), step = between(r, 1, 3);
    fprintf(r->out, "        task_factors = ( { tasks = \"0-%u:%u\"; processor_factor = %.2f; }", last, step,
            0.01 * draw(r, 300));
    if (moves && last + 1 < tasks)
        fprintf(r->out, ", { tasks = \"%u-%u\"; memory_factor = %.2f; }", last + 1, tasks - 1,
                0.01 * draw(r, 300));
    fprintf(r->out, " );\n");
}

static const char *random_name(struct random_system *r, uint32_t places)
{
    const char *program = random_choice(r, "program", LIST("stencil", "trace", "weather", "pingpong"));
    bool room = places >= (r->packet < 4096 ? 8 : 4) && r->packet >= 512;
    if (r->plain)
        program = random_choice(r, "program that blocks", LIST("trace", "pingpong", "wavefront"));
    if (r->skips && places >= 2 && random_flag(r, "a trace in its place", 40))
        return "trace";
    if ((strcmp(program, "trace") == 0 && !room) || places < 2)
        program = "stencil";
    if (strcmp(program, "pingpong") == 0 && random_flag(r, "collective in its place", r->plain ? 10 : 60))
        program = "collective";
    if (strcmp(program, "pingpong") == 0 && r->storage)
        program = "ior";
    if (strcmp(program, "weather") == 0 && random_flag(r, "a grid's other programs", 60))
        program = draw(r, 2) ? "fft" : "wavefront";
    if (strcmp(program, "stencil") == 0 && places >= 2 && random_flag(r, "sparse in its place", 25))
        program = "sparse";
    return program;
}

/* Returns how many tasks it has: at most this many as there are places. */
static uint32_t random_program(struct random_system *r, uint32_t places)
{
    const char *program = random_name(r, places);
    uint32_t room = r->skips ? 12 : 48, most = places < room ? places : room;
    put_text(r, "program", program);
    if (strcmp(program, "ior") == 0)
        return random_ior(r, most);
    if (strcmp(program, "collective") == 0)
        return random_collective(r, most);
    if (strcmp(program, "pingpong") == 0)
        return random_pingpong(r, most);
    put_choice(r, "compute_jitter", LIST("0 ns", "1 ps", "100 ns", "3 us"));
    bool moves = r->draws_memory && strcmp(program, "weather") != 0 && random_flag(r, "draws memory", 40);
    if (moves)
        put_rate(r, "memory_bandwidth", 20);
    if (moves && random_flag(r, "moves more", 40))
        put_real(r, "memory_factor", 0, 2, 0, 10);
    uint32_t tasks = strcmp(program, "trace") == 0     ? random_trace(r, most)
                     : strcmp(program, "weather") == 0 ? random_weather(r, most)
                     : strcmp(program, "stencil") == 0 ? random_stencil(r, most)
                     : strcmp(program, "sparse") == 0  ? random_sparse(r, most)
                                                       : random_grid(r, program, most);
    if (strcmp(program, "trace"))
        random_checkpoints(r);
    if (random_flag(r, "unlike tasks", 20))
        random_factors(r, tasks, moves);
    return tasks;
}

/* ---- placements ---- */

/* A job's part of the system. */
struct random_job {
    uint32_t number, first, nodes, per_node;
};

/* Nodes and cores of the job's part, each at most once, in any order. */
static void placement_file(struct random_system *r, const struct random_job *job, uint32_t tasks)
{
    char *path = ker_format("%s/%03d-%u.nodes", r->folder, r->number, job->number);
    uint32_t slots = job->nodes * job->per_node, *slot = malloc(slots * sizeof *slot);
    FILE *out = fopen(path, "w");
    ker_assert(out != NULL);
    random_key(r, "placement_file");
    for (uint32_t i = 0; i < slots; i++) {
        uint32_t at = draw(r, i + 1);
        slot[i] = slot[at];
        slot[at] = i;
    }
    for (uint32_t i = 0; i < tasks; i++)
        if (r->turns) /* there are fewer cores */
            fprintf(out, "%u\n", job->first + slot[i] / job->per_node);
        else
            fprintf(out, "%u %u\n", job->first + slot[i] / job->per_node, slot[i] % job->per_node);
    fclose(out);
    put_text(r, "placement_file", path);
    free(slot);
    free(path);
}

static void random_placement(struct random_system *r, const struct random_job *job, uint32_t tasks)
{
    /* Jobs that take what is free need no more nodes together than their parts have. */
    bool free_nodes = random_flag(r, "free nodes", 30);
    const char *placement =
        free_nodes ? random_choice(r, "placement", LIST("sequential", "strided", "random", "scattered"))
                   : random_choice(r, "placement", LIST("sequential", "strided", "random", "file"));
    put_text(r, "placement", placement);
    if (free_nodes) {
        fprintf(r->out, "        tasks_per_node = %u;\n", job->per_node);
        if (strcmp(placement, "random") == 0)
            put_whole(r, "placement_seed", 0, 99, 0, 99);
        if (strcmp(placement, "scattered") == 0)
            put_choice(r, "group", LIST("group", "board", "switch"));
        return;
    }
    if (strcmp(placement, "file") == 0) {
        placement_file(r, job, tasks);
        return;
    }
    fprintf(r->out, "        tasks_per_node = %u;\n        first_node = %u;\n        nodes = %u;\n",
            job->per_node, job->first, job->nodes);
    if (strcmp(placement, "strided") == 0)
        put_whole(r, "stride", 1, job->nodes < 3 ? job->nodes : 3, 1, job->nodes);
}

static void random_job(struct random_system *r, uint32_t number, uint32_t share)
{
    struct random_job job = {.number = number, .first = number * share, .nodes = share};
    snprintf(r->group, sizeof r->group, "jobs %u", number);
    r->indent = 8;
    job.per_node = (uint32_t)random_whole(r, "tasks_per_node", 1, r->units, 1, r->units);
    fprintf(r->out, "    {\n        name = \"job %u\";\n", number);
    if (number > 0)
        put_ps(r, "start", 1000.0 * (double)random_whole(r, "start", 0, 4999, 0, 1000000000));
    if (number > 0 && random_flag(r, "after another job", 25))
        fprintf(r->out, "        after = \"job %u\";\n", draw(r, number));
    r->repeats = random_flag(r, "repetitions", 20);
    uint32_t most = !r->repeats ? 1 : r->skips ? 80 : 3;
    put_whole(r, "repetitions", r->skips && r->repeats ? 40 : 1, most, 1, 1);
    put_whole(r, "priority", 0, r->classes - 1, 0, r->classes - 1);
    random_placement(r, &job, random_program(r, job.nodes * job.per_node));
    if (number == 2 && random_flag(r, "background", 50) && !r->skips) { /* the first two end the run */
        fprintf(r->out, "        background = true;\n");
        put_flag(r, "restart", 50);
    }
}

static void random_jobs(struct random_system *r)
{
    random_node(r);
    random_kinds(r);
    random_mpi(r);
    random_storage(r);
    uint32_t jobs = r->nodes >= 4 && random_flag(r, "several jobs", 50) ? 2 + draw(r, 2) : 1;
    fprintf(r->out, "jobs: (\n");
    for (uint32_t j = 0; j < jobs; j++) {
        random_job(r, j, r->nodes / jobs);
        fprintf(r->out, "    }%s\n", j + 1 < jobs ? "," : "");
    }
    fprintf(r->out, ");\n");
    r->group[0] = '\0';
}
