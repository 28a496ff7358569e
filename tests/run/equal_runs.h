/* equal_runs.h - the runs of test_equal_bits: which systems, in which variants, and one of them. Who includes
 * it has marssim_main and defines _GNU_SOURCE. */
#pragma once

#include "kernel/base/base.h"

#include <ftw.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define RANDOM_SYSTEMS 40
#else
#define RANDOM_SYSTEMS (setting("LONG", 0) ? 460 : 80)
#endif
#define RUN_SECONDS                                                                                          \
    300 /* a run that takes longer hangs: most take some hundredths, but the machine may be very busy */
#define MOST_OVERRIDES 5
#define MOST_KEYS 40

#define MOST_WINDOWS 2000 /* of a system, unless LONG=1; up to twice as many are fine */

struct variant {
    int ranks;
    const char *override[MOST_OVERRIDES];
    int third; /* 1 to 3: of the systems, unless LONG=1; 0: all of them */
    int saves; /* after this many hundredths of the run; 0: never */
    int from; /* continues from what this variant has saved, which is one of fewer ranks, or before; 0: begins
               */
    bool case_too; /* of the cases of scripts */
};

#define OVERSUBSCRIBE "partition.oversubscribe=true" /* all ranks work, however few cores there are */

/* The first is what the others must equal. */
static const struct variant variants[] = {
    {1, {NULL}},
    {1, {"engine.cell_order=backward", "engine.block=8"}, .case_too = true},
    {1, {"engine.cell_order=shuffled", "engine.block=16"}, .case_too = true},
    {1, {"engine.block=8"}},
    {1, {"engine.cell_order=shuffled", "engine.cells=switch"}},
    {1, {"engine.cell_order=backward", "engine.cells=group"}},
    {2, {"engine.block=8"}},
    {2, {"partition.method=random", "engine.cells=switch", "engine.cell_order=shuffled"}, .case_too = true},
    {3, {"engine.cells=group", "engine.hosts=3", OVERSUBSCRIBE}, 1},
    {3, {"partition.method=random", "engine.cell_order=backward", OVERSUBSCRIBE}, .case_too = true},
    {5, {"partition.method=random", "engine.hosts=2", OVERSUBSCRIBE}, 2},
    {5, {"engine.block=8"}, .case_too = true}, /* on fewer cores than that some ranks sleep */
    {5, {"engine.cells=switch", "engine.cell_order=shuffled", "engine.hosts=5", OVERSUBSCRIBE}, 3},
    {8, {"engine.hosts=3", OVERSUBSCRIBE}, 1},
    {1, {"engine.cell_order=shuffled"}, 1, .saves = 17},
    {1, {"engine.block=16"}, 1, .saves = 38, .from = 14},
    {2, {"partition.method=random", OVERSUBSCRIBE}, 1, .saves = 61, .from = 15},
    {3, {"engine.cell_order=shuffled", "partition.method=random", OVERSUBSCRIBE}, 1, .saves = 83, .from = 16},
    {5, {"partition.method=random", OVERSUBSCRIBE}, 1, .from = 17},
};
#define VARIANTS ((int)(sizeof variants / sizeof *variants))

/* What makes shipped configurations short. */
static const struct {
    const char *name, *override[MOST_OVERRIDES];
} shorter[] = {
    {"fat-tree-lammps.cfg", {"run.end=3 ms"}},
    {"torus-uniform.cfg", {"topology.extents=4,4,4", "run.warmup=500 ns", "run.end=3 us"}},
    {"hierarchical-gups.cfg", {"run.warmup=0 ns", "run.end=500 ns"}},
    {"dragonfly.cfg", {"run.warmup=1 us", "run.end=4 us"}},
    {"fat-tree-gups.cfg", {"run.warmup=0 ns", "run.end=400 ns"}},
    {"fabric.cfg", {"run.warmup=0 ns", "run.end=40 us"}},
    {"hierarchical-gups-65536.cfg", {"topology.groups=8,2,5", "run.end=2 us"}},
};

struct system {
    char *file;
    char *name;           /* of its folder */
    char *title;          /* of a case */
    char *key[MOST_KEYS]; /* of a case: KEY=VALUE for all its runs, ended by NULL */
};

struct plan {
    char *scratch;
    bool cases; /* of a script, instead of all that are found */
    struct system *system;
    int systems;
};

/* ---- which systems ---- */

static int setting(const char *name, int fallback)
{
    const char *text = getenv(name);
    return text ? atoi(text) : fallback;
}

static void plan_add(struct plan *plan, char *file, char *name)
{
    plan->system = ker_realloc(plan->system, sizeof *plan->system * (size_t)(plan->systems + 1));
    plan->system[plan->systems++] = (struct system){.file = file, .name = name};
}

/* SCRATCH/cases, as tests/lib-runs.sh writes it, a case a line: its name, a configuration, KEY=VALUE; tabs
 * between them. */
static bool plan_cases(struct plan *plan)
{
    char *path = ker_format("%s/cases", plan->scratch), *line = NULL, *word;
    FILE *in = fopen(path, "r");
    size_t room = 0;
    while (in && getline(&line, &room, in) > 0) {
        char *rest = line, *name = strsep(&rest, "\t\n"), *file = strsep(&rest, "\t\n");
        ker_assert(file != NULL);
        plan_add(plan, ker_format("%s", file), ker_format("%03d", plan->systems));
        struct system *system = &plan->system[plan->systems - 1];
        system->title = ker_format("%s", name);
        for (int keys = 0; (word = strsep(&rest, "\t\n"));)
            if (*word) {
                ker_assert(keys < MOST_KEYS - 1);
                system->key[keys++] = ker_format("%s", word);
            }
    }
    plan->cases = in != NULL;
    if (in)
        fclose(in);
    free(line);
    free(path);
    return plan->cases;
}

/* The same in the test and in its workers; works in the repository's top folder. */
static struct plan plan_make(const char *scratch)
{
    struct plan plan = {.scratch = ker_format("%s", scratch)};
    if (plan_cases(&plan))
        return plan;
    glob_t found = {0};
    int first = setting("EQUAL_BITS_FIRST", 0), count = setting("EQUAL_BITS_SYSTEMS", RANDOM_SYSTEMS);
    if (first == 0) {
        glob("configs/*.cfg", 0, NULL, &found);
        glob("tests/run/equal_bits/*.cfg", GLOB_APPEND, NULL, &found);
        for (size_t i = 0; i < found.gl_pathc; i++)
            plan_add(&plan, ker_format("%s", found.gl_pathv[i]),
                     ker_format("%s", strrchr(found.gl_pathv[i], '/') + 1));
        globfree(&found);
    }
    for (int i = first; i < first + count; i++)
        plan_add(&plan, ker_format("%s/%03d.cfg", scratch, i), ker_format("%03d", i));
    return plan;
}

static void plan_free(struct plan *plan)
{
    for (int i = 0; i < plan->systems; i++) {
        for (int k = 0; plan->system[i].key[k]; k++)
            free(plan->system[i].key[k]);
        free(plan->system[i].title);
        free(plan->system[i].file);
        free(plan->system[i].name);
    }
    free(plan->system);
    free(plan->scratch);
}

static int removes(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    return remove(path);
}

static void folder_remove(const char *folder)
{
    nftw(folder, removes, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- one run ---- */

#define MOST_ARGUMENTS (2 * MOST_OVERRIDES + MOST_KEYS + 6)

struct run {
    const struct plan *plan;
    const struct system *system;
    const struct variant *variant;
    int number;   /* of the variant */
    char end[64]; /* "": its own */
    char at[64];  /* when it saves; "": never */
    char *former; /* folder that it continues from; NULL: it begins */
};

/* All runs of a number of ranks are numbered: system by system, variant by variant. False: there is no such
 * run. */
static bool run_find(struct run *run, const struct plan *plan, int ranks, int number)
{
    int of_ranks = 0, at[VARIANTS];
    for (int v = 0; v < VARIANTS; v++)
        if (variants[v].ranks == ranks)
            at[of_ranks++] = v;
    if (number >= of_ranks * plan->systems)
        return false;
    int variant = at[number % of_ranks];
    *run = (struct run){plan, &plan->system[number / of_ranks], &variants[variant], variant};
    return true;
}

static bool run_wanted(const struct run *run)
{
    int third = run->variant->third, system = (int)(run->system - run->plan->system);
    if (run->plan->cases) /* the reference is there */
        return run->variant->case_too || run->variant->saves || run->variant->from;
    if (setting("EQUAL_BITS_SAVED", 0))
        return run->number == 0 || run->variant->saves || run->variant->from;
    if ((run->variant->saves || run->variant->from) && strncmp(run->system->file, "tests/", 6) == 0)
        return true;
    return third == 0 || system % 3 == third - 1 || setting("LONG", 0);
}

static char *run_folder(const struct run *run, int variant)
{
    return ker_format("%s/%s/%d", run->plan->scratch, run->system->name, variant);
}

/* When it saves, and what it continues from, by the end of the reference: false: there is nothing to continue
 * from. */
static bool run_states(struct run *run)
{
    const struct variant *v = run->variant;
    char *reference = run_folder(run, 0), *path = ker_format("%s/summary.json", reference);
    if (v->saves) {
        json_t *summary = json_load_file(path, 0, NULL);
        json_int_t end =
            json_integer_value(json_object_get(json_object_get(summary, "result"), "simulated_time_ps"));
        snprintf(run->at, sizeof run->at, "run.checkpoint.at=%lld ps",
                 1 + (long long)(end * 0.01 * v->saves));
        json_decref(summary);
    }
    free(path);
    free(reference);
    if (!v->from)
        return true;
    run->former = run_folder(run, v->from);
    path = ker_format("%s/checkpoints/checkpoint-*", run->former);
    glob_t found = {0};
    bool there = glob(path, 0, NULL, &found) == 0;
    globfree(&found);
    free(path);
    return there;
}

static int run_arguments(const struct run *run, const char **argument)
{
    int count = 0;
    if (run->former)
        argument[count++] = "--resume";
    argument[count++] = run->former ? run->former : run->system->file;
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter && !run->former; i++)
        for (int k = 0; !run->plan->cases && k < MOST_OVERRIDES &&
                        strcmp(shorter[i].name, run->system->name) == 0 && shorter[i].override[k];
             k++)
            argument[count++] = shorter[i].override[k];
    for (int k = 0; !run->former && run->system->key[k]; k++)
        argument[count++] = run->system->key[k];
    if (run->plan->cases && run->variant->ranks > 1)
        argument[count++] = "partition.adapt=false", argument[count++] = OVERSUBSCRIBE;
    for (int k = 0; k < MOST_OVERRIDES && run->variant->override[k]; k++)
        argument[count++] = run->variant->override[k];
    if (run->end[0] && !run->former)
        argument[count++] = run->end;
    if (run->at[0])
        argument[count++] = run->at;
    return count;
}

/* How to do it by hand. */
static void run_print(const struct run *run, FILE *out)
{
    const char *argument[MOST_ARGUMENTS];
    int count = run_arguments(run, argument);
    if (run->variant->ranks > 1)
        fprintf(out, "mpirun -n %d ", run->variant->ranks);
    fprintf(out, "marssim");
    for (int i = 0; i < count; i++)
        fprintf(out, " '%s'", argument[i]);
    fprintf(out, "\n");
}

static int run_do(const struct run *run, const char *folder)
{
    const char *argument[MOST_ARGUMENTS + 6] = {"marssim", "-q", "-o", folder};
    int count = 4 + run_arguments(run, argument + 4);
    argument[count++] = "partition.bind=no"; /* other tests run beside this one */
    argument[count] = NULL;
    alarm(RUN_SECONDS);
    int status = marssim_main(count, (char **)argument);
    alarm(0);
    return status;
}
