/* test_equal_bits.c - promise 1: a run has the same result on any number of ranks, whatever the partition,
 * the cells and their order.
 *
 * Systems are the configurations in configs/ (shortened) and tests/run/equal_bits/, and RANDOM_SYSTEMS random
 * ones. Each is run once as it is on one rank; that is what all variants must equal. Starting MPI takes
 * longer than most of these runs, so one process set per number of ranks (this program again, as --worker)
 * runs all systems one after the other and compares as it goes. A worker that dies is started again behind
 * the run that killed it.
 *
 * A few of the random systems continue for this many windows that they would take most of the time: they are
 * cut short by run.end. What exchanges by messages, and so waits in MPI, is done with a third of the systems
 * each. LONG=1 does everything.
 *
 * --cases FOLDER does the same with configurations of a script, all in full (tests/lib-runs.sh): FOLDER/cases
 * has them, and what is printed is the script's report.
 *
 * EQUAL_BITS_SYSTEMS=n takes that many random systems, EQUAL_BITS_FIRST=n begins with number n,
 * EQUAL_BITS_RANKS=n takes only one rank and n, EQUAL_BITS_SAVED=1 takes only the runs that are saved and
 * resumed, RANDOM_SYSTEM_ALL=1 has random systems collect all they can, EQUAL_BITS_KEEP=1 keeps all results;
 * after a failure they are kept anyway, and what is printed reproduces it.
 */
#define _GNU_SOURCE /* nftw */
int marssim_main(int argc, char **argv);
#define main marssim_main
#include "marssim.c"
#undef main

#include "tests/equal_bits.h"
#include "tests/random_system.h"
#include "tests/run/equal_runs.h"
#include "traces/allprof/allprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST_CRASHES 5

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

/* Where a system is cut, for all that run it later. */
static char *end_path(const struct run *run)
{
    return ker_format("%s/%s.end", run->plan->scratch, run->system->name);
}

static void end_read(struct run *run)
{
    char *path = end_path(run);
    FILE *file = fopen(path, "r");
    if (file && !fgets(run->end, sizeof run->end, file))
        run->end[0] = '\0';
    if (file)
        fclose(file);
    free(path);
}

/* Of a run in `folder` that took too many windows: as much of its time as should take MOST_WINDOWS. False: it
 * need not be cut. */
static bool end_choose(struct run *run, const char *folder)
{
    char *path = ker_format("%s/summary.json", folder);
    json_t *summary = json_load_file(path, 0, NULL);
    double windows = json_number_value(json_object_get(json_object_get(summary, "run"), "windows"));
    const json_t *result = json_object_get(summary, "result");
    double time_ps = json_number_value(json_object_get(result, "simulated_time_ps"));
    /* with an end nothing is skipped */
    bool skips = json_is_true(json_object_get(json_object_get(result, "skip"), "skipped"));
    json_decref(summary);
    free(path);
    if (windows <= (skips ? 10 : 2) * MOST_WINDOWS)
        return false;
    snprintf(run->end, sizeof run->end, "run.end=%.0f ps", time_ps * MOST_WINDOWS / windows);
    return true;
}

/* The reference; where it is too long, again and shorter, until it is short: windows are not spread evenly.
 * What does not run with an end of its own (a warm-up is longer, say) is left as it is. */
static int reference_do(struct run *run, const char *folder)
{
    int status = run_do(run, folder);
    if (status != KER_OK || setting("LONG", 0) || run->plan->cases)
        return status;
    while (end_choose(run, folder))
        if (run_do(run, folder) != KER_OK) {
            run->end[0] = '\0';
            return run_do(run, folder);
        }
    if (!run->end[0])
        return status;
    char *path = end_path(run);
    FILE *file = fopen(path, "w");
    ker_assert(file != NULL);
    fputs(run->end, file);
    fclose(file);
    free(path);
    return status;
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
    if (run->plan->cases)
        fprintf(report, "%s %s\n", equal ? "equal" : "unlike", run->system->name);
    if (!equal) {
        fprintf(report, "differs: ");
        run_print(run, report);
        fprintf(report, "  %s\n", where);
        fflush(report);
    } else if (!setting("EQUAL_BITS_KEEP", 0)) {
        if (run->number != 0 && !run->at[0])
            folder_remove(folder);
        if (run->former)
            folder_remove(run->former);
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
    allprof_alone = 0;
    if (ker_comm_init(&comm, &argc, &argv, &error) != KER_OK || ker_comm_size(comm) != ranks)
        return 1;
    bool control = ker_comm_rank(comm) == 0;
    struct plan plan = plan_make(argv[2]);
    FILE *report = control ? report_open(plan.scratch, ranks, "a") : NULL;
    char *at = ker_format("at-%d", ranks);
    struct run run;
    for (int number = atoi(argv[4]); run_find(&run, &plan, ranks, number); number++) {
        if (!run_wanted(&run))
            continue;
        char *folder = run_folder(&run, run.number);
        if (control)
            text_write(plan.scratch, at, number);
        end_read(&run);
        if (run_states(&run)) {
            int status = run.number == 0 ? reference_do(&run, folder) : run_do(&run, folder);
            if (control)
                run_judge(&run, folder, status, report);
        } else if (report && plan.cases) {
            fprintf(report, "unsaved %s\n", run.system->name);
        }
        free(run.former);
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
        if (strncmp(line, "equal ", 6) != 0 && strncmp(line, "un", 2) != 0)
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

/* None of the random systems is refused, and nothing deadlocks; where steps may be skipped in ten or more, a
 * third does so. */
static void systems_run(void **state)
{
    struct test *test = *state;
    int count[3] = {0}, random_refused = 0, skips = 0, skipped = 0;
    for (int i = 0; i < test->plan.systems; i++) {
        char *name = ker_format("%s.status", test->plan.system[i].name);
        int status = text_read(test->plan.scratch, name);
        bool random = strspn(name, "0123456789") == strlen(test->plan.system[i].name);
        free(name);
        if (status >= 0 && status < 3)
            count[status]++;
        random_refused += random && status == KER_BAD_INPUT;
        if (random) {
            char *folder = ker_format("%s/%s/0", test->plan.scratch, test->plan.system[i].name);
            bool may = false;
            skipped += steps_skipped(folder, &may);
            skips += may;
            free(folder);
        }
        if (status == KER_RUN_FAILED || (random && status == KER_BAD_INPUT))
            fprintf(stderr, "%s ends with %d\n", test->plan.system[i].file, status);
    }
    print_message("%d systems ran, %d were refused; of %d that may skip steps %d did\n", count[KER_OK],
                  count[KER_BAD_INPUT], skips, skipped);
    test->failed |= count[KER_RUN_FAILED] > 0 || random_refused > 0;
    assert_int_equal(count[KER_RUN_FAILED], 0);
    assert_int_equal(random_refused, 0);
    assert_true(skips < 10 || 3 * skipped >= skips);
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

/* ---- the cases of a script ---- */

/* Runs with these words in the reports of all ranks. */
static int case_count(const struct plan *plan, const char *word, const char *name)
{
    static const int ranks[] = {1, 2, 3, 5};
    char *wanted = ker_format("%s %s\n", word, name), *line = NULL;
    size_t room = 0;
    int count = 0;
    for (int i = 0; i < 4; i++) {
        FILE *report = report_open(plan->scratch, ranks[i], "r");
        while (report && getline(&line, &room, report) > 0)
            count += strcmp(line, wanted) == 0;
        if (report)
            fclose(report);
    }
    free(line);
    free(wanted);
    return count;
}

/* A line for each case; a run that did not end has no line in any report. Where the run was over before the
 * time to save at, there is nothing to resume from. */
static int cases_run(const char *scratch)
{
    struct plan plan = plan_make(scratch);
    int wanted = 0, failed = 0, resumes = 0, resumed = 0;
    static const int ranks[] = {1, 2, 3, 5};
    mpirun_prepare();
    for (int v = 0; v < VARIANTS; v++)
        wanted += variants[v].case_too || variants[v].saves || variants[v].from,
            resumes += variants[v].from > 0;
    for (int i = 0; i < 4; i++)
        if (!worker_start(&plan, ranks[i], 0))
            failed = 1, log_print(scratch, ranks[i]);
    for (int i = 0; i < plan.systems; i++) {
        const char *name = plan.system[i].name;
        int equal = case_count(&plan, "equal", name), unsaved = case_count(&plan, "unsaved", name);
        bool good = equal + unsaved == wanted;
        failed |= !good;
        resumed += resumes - unsaved;
        printf("%s %s: the same on 1, 2, 3 and 5 ranks, in every order of cells, resumed %d times\n",
               good ? "ok" : "not ok", plan.system[i].title, resumes - unsaved);
        if (!good)
            printf("    %d of %d runs are equal\n", equal, wanted - unsaved);
    }
    if (!resumed)
        failed = 1, printf("not ok none was resumed\n");
    fflush(stdout);
    for (int i = 0; i < 4 && failed; i++)
        report_print(&plan, ranks[i]);
    plan_free(&plan);
    return failed;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rank),    cmocka_unit_test(systems_run), cmocka_unit_test(two_ranks),
        cmocka_unit_test(three_ranks), cmocka_unit_test(five_ranks),  cmocka_unit_test(eight_ranks),
    };
    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return worker(argc, argv);
    if (argc == 3 && strcmp(argv[1], "--cases") == 0)
        return cases_run(argv[2]);
    return cmocka_run_group_tests(tests, test_open, test_close);
}
