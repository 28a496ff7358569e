/* test_equal_bits.c - promise 1: a run has the same result on any number of ranks, whatever the partition,
 * the cells and their order.
 *
 * Systems are the configurations in configs/ (shortened) and tests/equal_bits/, and RANDOM_SYSTEMS random
 * ones. Each is run once as it is on one rank; that is what all variants must equal. Starting MPI takes
 * longer than most of these runs, so one process set per number of ranks (this program again, as --worker)
 * runs all systems one after the other and compares as it goes. A worker that dies is started again behind
 * the run that killed it.
 *
 * EQUAL_BITS_SYSTEMS=n takes that many random systems, EQUAL_BITS_FIRST=n begins with number n,
 * EQUAL_BITS_RANKS=n takes only one rank and n, EQUAL_BITS_KEEP=1 keeps all results; after a failure they are
 * kept anyway, and what is printed reproduces it.
 */
#define _GNU_SOURCE /* nftw */
int marssim_main(int argc, char **argv);
#define main marssim_main
#include "marssim.c"
#undef main

#include "tests/equal_bits.h"
#include "tests/random_system.h"

#include <ftw.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef __SANITIZE_ADDRESS__
#define RANDOM_SYSTEMS 40
#else
#define RANDOM_SYSTEMS 230
#endif
#define RUN_SECONDS                                                                                          \
    300 /* a run that takes longer hangs: most take some hundredths, but the machine may be very busy */
#define MOST_CRASHES 5
#define MOST_OVERRIDES 5

struct variant {
    int ranks;
    const char *override[MOST_OVERRIDES];
};

#define OVERSUBSCRIBE "partition.oversubscribe=true" /* all ranks work, however few cores there are */

/* The first is what the others must equal. */
static const struct variant variants[] = {
    {1, {NULL}},
    {1, {"engine.cell_order=backward"}},
    {1, {"engine.cell_order=shuffled"}},
    {1, {"engine.cell_order=shuffled", "engine.cells=switch"}},
    {1, {"engine.cell_order=backward", "engine.cells=group"}},
    {2, {NULL}},
    {2, {"partition.method=random", "engine.cells=switch", "engine.cell_order=shuffled"}},
    {3, {"engine.cells=group", "engine.hosts=3", OVERSUBSCRIBE}},
    {3, {"partition.method=random", "engine.cell_order=backward", OVERSUBSCRIBE}},
    {5, {"partition.method=random", "engine.hosts=2", OVERSUBSCRIBE}},
    {5, {NULL}}, /* on fewer cores than that some ranks sleep */
    {5, {"engine.cells=switch", "engine.cell_order=shuffled", "engine.hosts=5", OVERSUBSCRIBE}},
    {8, {"engine.hosts=3", OVERSUBSCRIBE}},
};
#define VARIANTS ((int)(sizeof variants / sizeof *variants))

/* What makes shipped configurations short. */
static const struct {
    const char *name, *override[MOST_OVERRIDES];
} shorter[] = {
    {"fat-tree-lammps.cfg", {"run.end=3 ms"}},
    {"torus-uniform.cfg", {"topology.extents=4,4,4", "run.warmup=500 ns", "run.end=3 us"}},
    {"hierarchical-gups.cfg", {"run.warmup=0 ns", "run.end=500 ns"}},
    {"fat-tree-gups.cfg", {"run.warmup=0 ns", "run.end=400 ns"}},
    {"fabric.cfg", {"run.warmup=0 ns", "run.end=40 us"}},
    {"hierarchical-gups-65536.cfg", {"topology.groups=8,2,5", "run.end=2 us"}},
};

struct system {
    char *file;
    char *name; /* of its folder */
};

struct plan {
    char *scratch;
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
    plan->system[plan->systems++] = (struct system){file, name};
}

/* The same in the test and in its workers; works in the repository's top folder. */
static struct plan plan_make(const char *scratch)
{
    struct plan plan = {.scratch = ker_format("%s", scratch)};
    glob_t found = {0};
    int first = setting("EQUAL_BITS_FIRST", 0), count = setting("EQUAL_BITS_SYSTEMS", RANDOM_SYSTEMS);
    if (first == 0) {
        glob("configs/*.cfg", 0, NULL, &found);
        glob("tests/equal_bits/*.cfg", GLOB_APPEND, NULL, &found);
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

struct run {
    const struct plan *plan;
    const struct system *system;
    const struct variant *variant;
    int number; /* of the variant */
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

static char *run_folder(const struct run *run, int variant)
{
    return ker_format("%s/%s/%d", run->plan->scratch, run->system->name, variant);
}

static int run_arguments(const struct run *run, const char **argument)
{
    int count = 0;
    argument[count++] = run->system->file;
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
        for (int k = 0;
             k < MOST_OVERRIDES && strcmp(shorter[i].name, run->system->name) == 0 && shorter[i].override[k];
             k++)
            argument[count++] = shorter[i].override[k];
    for (int k = 0; k < MOST_OVERRIDES && run->variant->override[k]; k++)
        argument[count++] = run->variant->override[k];
    return count;
}

/* How to do it by hand. */
static void run_print(const struct run *run, FILE *out)
{
    const char *argument[2 * MOST_OVERRIDES + 1];
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
    const char *argument[2 * MOST_OVERRIDES + 8] = {"marssim", "-q", "-o", folder};
    int count = 4 + run_arguments(run, argument + 4);
    argument[count++] = "partition.bind=no"; /* other tests run beside this one */
    argument[count] = NULL;
    alarm(RUN_SECONDS);
    int status = marssim_main(count, (char **)argument);
    alarm(0);
    return status;
}

/* ---- the worker ---- */

static void text_write(const char *scratch, const char *name, int number)
{
    char *path = ker_format("%s/%s", scratch, name);
    FILE *file = fopen(path, "w");
    ker_assert(file != NULL);
    fprintf(file, "%d\n", number);
    fclose(file);
    free(path);
}

static int text_read(const char *scratch, const char *name)
{
    char *path = ker_format("%s/%s", scratch, name);
    FILE *file = fopen(path, "r");
    int number = -1;
    if (file && fscanf(file, "%d", &number) != 1)
        number = -1;
    if (file)
        fclose(file);
    free(path);
    return number;
}

/* On rank 0: what is wrong goes to the report; what is right is removed. */
static void run_judge(const struct run *run, const char *folder, int status, FILE *report)
{
    char where[512] = "", *expected = run_folder(run, 0), *name = ker_format("%s.status", run->system->name);
    bool equal = true;
    if (run->number == 0) {
        text_write(run->plan->scratch, name, status);
    } else {
        int wanted = text_read(run->plan->scratch, name);
        equal = status == wanted;
        if (!equal)
            snprintf(where, sizeof where, "exit status %d, expected %d", status, wanted);
        else if (status != KER_BAD_INPUT)
            equal = equal_results(expected, folder, where);
    }
    if (!equal) {
        fprintf(report, "differs: ");
        run_print(run, report);
        fprintf(report, "  %s\n", where);
        fflush(report);
    } else if (run->number != 0 && !setting("EQUAL_BITS_KEEP", 0)) {
        folder_remove(folder);
    }
    free(expected);
    free(name);
}

static FILE *report_open(const char *scratch, int ranks, const char *mode)
{
    char *path = ker_format("%s/report-%d", scratch, ranks);
    FILE *report = fopen(path, mode);
    free(path);
    return report;
}

/* --worker SCRATCH RANKS FIRST: all runs of this number of ranks, beginning with FIRST. Its comm stays open,
 * so that the runs do not end MPI. */
static int worker(int argc, char **argv)
{
    struct ker_comm *comm;
    struct ker_error error = {.status = KER_OK};
    ker_assert(argc == 5);
    int ranks = atoi(argv[3]);
    if (ker_comm_init(&comm, &argc, &argv, &error) != KER_OK || ker_comm_size(comm) != ranks)
        return 1;
    bool control = ker_comm_rank(comm) == 0;
    struct plan plan = plan_make(argv[2]);
    FILE *report = control ? report_open(plan.scratch, ranks, "a") : NULL;
    char *at = ker_format("at-%d", ranks);
    struct run run;
    for (int number = atoi(argv[4]); run_find(&run, &plan, ranks, number); number++) {
        char *folder = run_folder(&run, run.number);
        if (control)
            text_write(plan.scratch, at, number);
        int status = run_do(&run, folder);
        if (control)
            run_judge(&run, folder, status, report);
        free(folder);
    }
    if (report)
        fclose(report);
    free(at);
    plan_free(&plan);
    ker_comm_release(comm);
    return 0;
}

/* ---- the test ---- */

struct test {
    struct plan plan;
    bool failed;
};

static void log_print(const char *scratch, int ranks)
{
    char *command = ker_format("tail -n 20 %s/log-%d >&2", scratch, ranks);
    if (system(command) != 0)
        fprintf(stderr, "no log\n");
    free(command);
}

/* Runs the worker from `number` on; true: to the end. */
static bool worker_start(const struct plan *plan, int ranks, int number)
{
    char self[4096], *mpirun = ranks > 1 ? ker_format("mpirun -n %d", ranks) : ker_format("env");
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ker_assert(length > 0);
    self[length] = '\0';
    char *command = ker_format("%s '%s' --worker %s %d %d </dev/null >>%s/log-%d 2>&1", mpirun, self,
                               plan->scratch, ranks, number, plan->scratch, ranks);
    fflush(NULL);
    bool good = system(command) == 0;
    free(command);
    free(mpirun);
    return good;
}

static int report_print(const struct plan *plan, int ranks)
{
    FILE *report = report_open(plan->scratch, ranks, "r");
    char *line = NULL;
    size_t room = 0;
    int differences = 0;
    while (report && getline(&line, &room, report) > 0) {
        differences += strncmp(line, "differs", 7) == 0;
        fputs(line, stderr);
    }
    free(line);
    if (report)
        fclose(report);
    return differences;
}

static void ranks_test(void **state, int ranks)
{
    struct test *test = *state;
    char *at = ker_format("at-%d", ranks);
    struct run run;
    int crashes = 0, number = 0;
    if (ranks > 1 && setting("EQUAL_BITS_RANKS", ranks) != ranks)
        skip();
    while (crashes < MOST_CRASHES && !worker_start(&test->plan, ranks, number)) {
        crashes++;
        number = text_read(test->plan.scratch, at);
        fprintf(stderr, "crashed or hung: ");
        if (number < 0 || !run_find(&run, &test->plan, ranks, number++))
            break;
        run_print(&run, stderr);
        log_print(test->plan.scratch, ranks);
    }
    free(at);
    int differences = report_print(&test->plan, ranks);
    test->failed |= crashes || differences;
    assert_int_equal(crashes, 0);
    assert_int_equal(differences, 0);
}

static void one_rank(void **state)
{
    ranks_test(state, 1);
}

static void two_ranks(void **state)
{
    ranks_test(state, 2);
}

static void three_ranks(void **state)
{
    ranks_test(state, 3);
}

static void five_ranks(void **state)
{
    ranks_test(state, 5);
}

static void eight_ranks(void **state)
{
    ranks_test(state, 8);
}

/* None of the random systems is refused, and nothing deadlocks. */
static void systems_run(void **state)
{
    struct test *test = *state;
    int count[3] = {0}, random_refused = 0;
    for (int i = 0; i < test->plan.systems; i++) {
        char *name = ker_format("%s.status", test->plan.system[i].name);
        int status = text_read(test->plan.scratch, name);
        bool random = strspn(name, "0123456789") == strlen(test->plan.system[i].name);
        free(name);
        if (status >= 0 && status < 3)
            count[status]++;
        random_refused += random && status == KER_BAD_INPUT;
        if (status == KER_RUN_FAILED || (random && status == KER_BAD_INPUT))
            fprintf(stderr, "%s ends with %d\n", test->plan.system[i].file, status);
    }
    print_message("%d systems ran, %d were refused\n", count[KER_OK], count[KER_BAD_INPUT]);
    test->failed |= count[KER_RUN_FAILED] > 0 || random_refused > 0;
    assert_int_equal(count[KER_RUN_FAILED], 0);
    assert_int_equal(random_refused, 0);
}

/* What the Makefile sets, for a test that is started by hand; and no rank spins while others have work. */
static void mpirun_prepare(void)
{
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

static int test_open(void **state)
{
    static struct test test;
    char scratch[] = "/tmp/equal-bits-XXXXXX";
    char *traces = realpath("tests/traces", NULL);
    if (!traces || !mkdtemp(scratch)) {
        fprintf(stderr, "run this in the repository's top folder\n");
        return -1;
    }
    mpirun_prepare();
    test.plan = plan_make(scratch);
    const struct ker_option **tables = run_option_tables();
    int first = setting("EQUAL_BITS_FIRST", 0), count = setting("EQUAL_BITS_SYSTEMS", RANDOM_SYSTEMS);
    for (int i = first; i < first + count; i++)
        random_system_write(i, scratch, traces, tables);
    free(tables);
    free(traces);
    *state = &test;
    return 0;
}

static int test_close(void **state)
{
    struct test *test = *state;
    if (test->failed || setting("EQUAL_BITS_KEEP", 0))
        fprintf(stderr, "kept: %s\n", test->plan.scratch);
    else
        folder_remove(test->plan.scratch);
    plan_free(&test->plan);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rank),    cmocka_unit_test(systems_run), cmocka_unit_test(two_ranks),
        cmocka_unit_test(three_ranks), cmocka_unit_test(five_ranks),  cmocka_unit_test(eight_ranks),
    };
    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return worker(argc, argv);
    return cmocka_run_group_tests(tests, test_open, test_close);
}
