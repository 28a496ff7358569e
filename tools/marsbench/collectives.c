/* collectives.c - collectives of all tasks, as benchmarks time them: a barrier, then the call; the largest of
 * the tasks' own times is a sample.
 *
 * Which algorithm the library takes cannot be asked. It is what the user forces by its environment, and is
 * named by
 * --algorithm, or read from the variables of Open MPI's component tuned and of MPICH; otherwise "default".
 */
#include "tools/marsbench/measure.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int call(struct bench_run *r, int which, int bytes);

/* Names of tuned's algorithms from number 1 on, a blank between two. */
static const struct collective {
    const char *name, *tuned;
    bool block;
} COLLECTIVES[] = {
    {"barrier", "linear double_ring recursive_doubling dissemination two_proc binomial", false},
    {"bcast",
     "linear chain pipeline split_binary binary binomial knomial scatter_allgather scatter_allgather_ring",
     false},
    {"reduce", "linear chain pipeline binary binomial in_order_binary rabenseifner", false},
    {"allreduce", "linear binomial recursive_doubling ring segmented_ring rabenseifner", false},
    {"gather", "linear binomial linear_sync", true},
    {"scatter", "linear binomial linear_nb", true},
    {"allgather", "linear bruck recursive_doubling ring neighbor two_proc", true},
    {"alltoall", "linear pairwise modified_bruck linear_sync two_proc", true},
    {"reduce_scatter_block", "linear recursive_doubling recursive_halving butterfly", true},
};
#define COUNT ((int)(sizeof COLLECTIVES / sizeof *COLLECTIVES))

/* bytes: of a block where there are blocks. */
static int call(struct bench_run *r, int which, int bytes)
{
    int n = bytes / 4;
    switch (which) {
    case 0:
        return MPI_Barrier(r->comm);
    case 1:
        return MPI_Bcast(r->to, n, MPI_INT32_T, 0, r->comm);
    case 2:
        return MPI_Reduce(r->from, r->to, n, MPI_INT32_T, MPI_SUM, 0, r->comm);
    case 3:
        return MPI_Allreduce(r->from, r->to, n, MPI_INT32_T, MPI_SUM, r->comm);
    case 4:
        return MPI_Gather(r->from, n, MPI_INT32_T, r->to, n, MPI_INT32_T, 0, r->comm);
    case 5:
        return MPI_Scatter(r->from, n, MPI_INT32_T, r->to, n, MPI_INT32_T, 0, r->comm);
    case 6:
        return MPI_Allgather(r->from, n, MPI_INT32_T, r->to, n, MPI_INT32_T, r->comm);
    case 7:
        return MPI_Alltoall(r->from, n, MPI_INT32_T, r->to, n, MPI_INT32_T, r->comm);
    default:
        return MPI_Reduce_scatter_block(r->from, r->to, n, MPI_INT32_T, MPI_SUM, r->comm);
    }
}

/* A number of tuned's, or a name. */
static bool environment_name(const struct collective *c, char *name, size_t room)
{
    char variable[80], upper[32];
    size_t length = strlen(c->name);
    snprintf(variable, sizeof variable, "OMPI_MCA_coll_tuned_%s_algorithm", c->name);
    const char *value = getenv(variable), *rules = getenv("OMPI_MCA_coll_tuned_use_dynamic_rules");
    if (value && rules && strcmp(rules, "0") != 0 && strcmp(value, "0") != 0) {
        const char *at = c->tuned;
        for (long number = strtol(value, NULL, 10); at && number > 1; number--)
            at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL;
        if (isdigit((unsigned char)*value) && at)
            snprintf(name, room, "%.*s", (int)strcspn(at, " "), at);
        else
            snprintf(name, room, "%s", value);
        return true;
    }
    for (size_t i = 0; i <= length; i++)
        upper[i] = (char)toupper((unsigned char)c->name[i]);
    snprintf(variable, sizeof variable, "MPIR_CVAR_%s_INTRA_ALGORITHM", upper);
    if (!(value = getenv(variable)) || strcmp(value, "auto") == 0)
        return false;
    snprintf(name, room, "%s", value);
    return true;
}

static void name_find(const struct bench_settings *s, const struct collective *c, char *name, size_t room)
{
    size_t length = strlen(c->name);
    for (size_t i = 0; i < s->algorithms; i++)
        if (strncmp(s->algorithm[i], c->name, length) == 0 && s->algorithm[i][length] == '=') {
            snprintf(name, room, "%s", s->algorithm[i] + length + 1);
            return;
        }
    if (!environment_name(c, name, room))
        snprintf(name, room, "default");
}

static void size_measure(struct bench_run *run, const struct bench_point *point, int which, int bytes)
{
    double sample[BENCH_MOST_TURNS], slowest[BENCH_MOST_TURNS];
    call(run, which, bytes);
    MPI_Barrier(run->comm);
    double begin = MPI_Wtime();
    call(run, which, bytes);
    int turns = (int)bench_turns(run, MPI_Wtime() - begin);
    MPI_Bcast(&turns, 1, MPI_INT, 0, run->comm);
    for (int i = 0; i < turns; i++) {
        MPI_Barrier(run->comm);
        begin = MPI_Wtime();
        call(run, which, bytes);
        sample[i] = (MPI_Wtime() - begin) * 1e6;
    }
    MPI_Reduce(sample, slowest, turns, MPI_DOUBLE, MPI_MAX, 0, run->comm);
    bench_take(run, point, slowest, (size_t)turns);
}

void bench_collectives(struct bench_run *run)
{
    for (int c = 0; c < COUNT; c++) {
        struct bench_point point = {.where = BENCH_NODE, .nodes = run->nodes, .per_node = run->per_node};
        strcpy(point.collective, COLLECTIVES[c].name);
        name_find(run->settings, &COLLECTIVES[c], point.algorithm, sizeof point.algorithm);
        uint64_t bytes;
        for (uint32_t i = 0; (bytes = bench_size(run->settings, i)) > 0; i++) {
            uint64_t block = COLLECTIVES[c].block ? bytes / (uint64_t)run->size / 4 * 4 : bytes / 4 * 4;
            if (c > 0 && block == 0)
                continue;
            point.bytes = c == 0 ? 0 : COLLECTIVES[c].block ? block * (uint64_t)run->size : block;
            size_measure(run, &point, c, (int)block);
            if (c == 0)
                break;
        }
    }
}
