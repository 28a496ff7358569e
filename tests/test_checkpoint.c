/* test_checkpoint.c - a run that was saved, killed and resumed has the results of a run without interruption.
 *
 * Random systems of every kind (random_system.h). Each runs once as it is. Then it runs on one rank with
 * checkpoints and is ended by SIGKILL at a random moment, some times over, and resumed until it is done; and
 * it is saved at random times on two ranks, and resumed on one or three.
 *
 * CHECKPOINT_SYSTEMS=n takes that many systems, CHECKPOINT_FIRST=n begins with number n; after a failure the
 * folder is kept, and what is printed reproduces it.
 */
int marssim_main(int argc, char **argv);
#define main marssim_main
#include "marssim.c"
#undef main

#include "run/stages.h"
#include "tests/equal_bits.h"
#include "tests/random_system.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SYSTEMS 8
#define MOST_KILLS 4

struct test {
    char scratch[64];
    const char *program;
    bool failed;
    int resumed; /* runs that went on from a checkpoint */
};

static int setting(const char *name, int fallback)
{
    const char *text = getenv(name);
    return text ? atoi(text) : fallback;
}

static double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Runs a command of the shell, which replaces itself by the program; after `seconds` it is killed. Returns
 * the exit status; -1: killed. */
static int command_run(double seconds, const char *format, ...)
{
    char command[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    double until = clock_s() + seconds;
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (clock_s() > until)
            kill(child, SIGKILL);
        usleep(500);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define LOG "partition.bind=no </dev/null >>%s/log 2>&1"

static int64_t end_of(const char *folder)
{
    char *path = ker_format("%s/summary.json", folder);
    json_t *summary = json_load_file(path, 0, NULL);
    int64_t at = json_integer_value(json_object_get(json_object_get(summary, "result"), "simulated_time_ps"));
    json_decref(summary);
    free(path);
    return at;
}

static bool has_checkpoint(const char *folder)
{
    char *dir = ker_format("%s/checkpoints", folder), *newest = run_checkpoint_newest(dir);
    bool has = newest != NULL;
    free(newest);
    free(dir);
    return has;
}

static void judge(struct test *test, int number, const char *what, int status, const char *expected,
                  const char *folder)
{
    char where[512] = "";
    if (status == 0 && equal_results(expected, folder, where))
        return;
    test->failed = true;
    fprintf(stderr, "system %d, %s: status %d, %s\n", number, what, status, where);
}

/* Killed again and again, on one rank; then to the end. */
static void killed(struct test *test, struct ker_stream *stream, int number, double wall, int64_t end)
{
    char *base = ker_format("%s/%03d", test->scratch, number), *folder = ker_format("%s/k", base),
         *expected = ker_format("%s/a", base);
    ker_time period = end / (2 + ker_stream_below(stream, 30)) + 1;
    int status = -1;
    for (int kills = 0; status < 0; kills++) {
        double seconds = kills < MOST_KILLS ? wall * 1.2 * ker_stream_unit(stream) : 300;
        if (has_checkpoint(folder)) {
            test->resumed++;
            status = command_run(seconds, "exec '%s' -q --resume %s " LOG, test->program, folder, base);
        } else {
            status = command_run(seconds, "exec '%s' -q -o %s %s.cfg 'run.checkpoint.period=%lld ps' " LOG,
                                 test->program, folder, base, (long long)period, base);
        }
    }
    judge(test, number, "killed", status, expected, folder);
    free(expected);
    free(folder);
    free(base);
}

/* Saved on two ranks, and resumed on another number. */
static void moved(struct test *test, struct ker_stream *stream, int number, int64_t end)
{
    char *base = ker_format("%s/%03d", test->scratch, number), *folder = ker_format("%s/m", base),
         *expected = ker_format("%s/a", base);
    long long at = 1 + (long long)(ker_stream_unit(stream) * (double)end);
    int ranks = ker_stream_below(stream, 2) ? 3 : 1,
        status = command_run(300, "exec mpirun -n 2 '%s' -q -o %s %s.cfg 'run.checkpoint.at=%lld ps' " LOG,
                             test->program, folder, base, at, base);
    judge(test, number, "saved on two ranks", status, expected, folder);
    if (has_checkpoint(folder)) {
        test->resumed++;
        status = command_run(300,
                             "exec mpirun -n %d '%s' -q --resume %s -o %s/r partition.oversubscribe=true "
                             "partition.method=random engine.cell_order=shuffled " LOG,
                             ranks, test->program, folder, base, base);
        char *resumed = ker_format("%s/r", base);
        judge(test, number, "resumed on other ranks", status, expected, resumed);
        free(resumed);
    }
    free(expected);
    free(folder);
    free(base);
}

static void system_test(struct test *test, int number)
{
    char *base = ker_format("%s/%03d", test->scratch, number), *folder = ker_format("%s/a", base);
    struct ker_stream stream;
    ker_stream_init(&stream, (uint64_t)number, KER_PURPOSE_TEST, 8);
    bool failed = test->failed;
    test->failed = false;
    assert_int_equal(command_run(10, "mkdir -p %s", base), 0);
    double began = clock_s();
    if (command_run(300, "exec '%s' -q -o %s %s.cfg " LOG, test->program, folder, base, base) == 0) {
        double wall = clock_s() - began;
        int64_t end = end_of(folder);
        killed(test, &stream, number, wall, end);
        moved(test, &stream, number, end);
    }
    if (!test->failed)
        command_run(60, "rm -rf %s", base);
    test->failed |= failed;
    free(folder);
    free(base);
}

static void random_systems(void **state)
{
    struct test test = {.scratch = "/tmp/checkpoint-XXXXXX", .program = getenv("MARSSIM")};
    char *traces = realpath("tests/traces", NULL);
    int first = setting("CHECKPOINT_FIRST", 0), count = setting("CHECKPOINT_SYSTEMS", SYSTEMS);
    if (!test.program || !traces)
        fail_msg("MARSSIM is not set, or this is not the repository's top folder");
    assert_non_null(mkdtemp(test.scratch));
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    const struct ker_option **tables = run_option_tables();
    for (int i = first; i < first + count; i++) {
        random_system_write(i, test.scratch, traces, tables);
        system_test(&test, i);
    }
    free(tables);
    free(traces);
    print_message("%d systems, %d runs that were resumed\n", count, test.resumed);
    if (test.failed)
        fail_msg("kept: %s", test.scratch);
    command_run(60, "rm -rf %s", test.scratch);
    assert_true(test.resumed >= count / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_systems)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
