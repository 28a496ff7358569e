/* test_checkpoint.c - a run that was saved, killed and resumed has the results of a run without interruption.
 *
 * Random systems of every kind (random_system.h). Each runs once as it is. Then it runs with checkpoints and
 * is ended by SIGKILL at a random moment, some times over, and resumed until it is done, each time on as many
 * ranks as are drawn; it is saved at a random time on two ranks, and resumed on one or three; and from there
 * it continues as a fork (another load, path selection, end, or a further job), on one rank and on three,
 * which are equal.
 *
 * CHECKPOINT_RANKS=n draws up to n ranks for the runs that are killed. CHECKPOINT_SYSTEMS=n takes that many
 * systems, CHECKPOINT_SECONDS=n no further one after n seconds, CHECKPOINT_FIRST=n begins with number n;
 * after a failure the folder is kept, and what is printed reproduces it.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SYSTEMS 8
#define MOST_KILLS 4
#define LONGEST_S 300

struct test {
    char scratch[64];
    const char *program;
    bool failed;
    int resumed, forked; /* runs that went on from a checkpoint */
};

static int setting(const char *name, int fallback)
{
    const char *text = getenv(name);
    return text ? atoi(text) : fallback;
}

/* Kills all ranks of a launcher, or the process itself; nothing gets a chance to clean up. */
static void kill_all(pid_t pid)
{
    char *path = ker_format("/proc/%d/task/%d/children", pid, pid);
    FILE *in = fopen(path, "r");
    for (int rank; in && fscanf(in, "%d", &rank) == 1;)
        kill(rank, SIGKILL);
    if (in)
        fclose(in);
    kill(pid, SIGKILL);
    free(path);
}

/* A command of the shell that replaces itself by the program. */
static pid_t command_start(const char *format, va_list arguments)
{
    char command[2048];
    vsnprintf(command, sizeof command, format, arguments);
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return child;
}

/* Its exit status; -1: killed, `seconds` after the file `gone` is not there any more (NULL: from now on). */
static int command_wait(pid_t child, const char *gone, double seconds)
{
    double until = gone ? 0 : ker_clock_s() + seconds, latest = ker_clock_s() + LONGEST_S;
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (until == 0 && access(gone, F_OK) != 0)
            until = ker_clock_s() + seconds;
        if ((until > 0 && ker_clock_s() > until) || ker_clock_s() > latest)
            kill_all(child);
        usleep(500);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int command_run(double seconds, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pid_t child = command_start(format, arguments);
    va_end(arguments);
    return command_wait(child, NULL, seconds);
}

/* A run into this folder, killed so long after it has begun: a run removes first what tables are there. */
static int run_kill(const char *folder, double seconds, const char *format, ...)
{
    char *table = ker_format("%s/links.csv", folder);
    va_list arguments;
    mkdir(folder, 0777);
    close(open(table, O_WRONLY | O_CREAT, 0666));
    va_start(arguments, format);
    pid_t child = command_start(format, arguments);
    va_end(arguments);
    int status = command_wait(child, table, seconds);
    free(table);
    return status;
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

/* Killed again and again, each time on as many ranks as are drawn; then to the end. */
static void killed(struct test *test, struct ker_stream *stream, int number, double wall, int64_t end)
{
    char *base = ker_format("%s/%03d", test->scratch, number), *folder = ker_format("%s/k", base),
         *expected = ker_format("%s/a", base);
    ker_time period = end / (2 + ker_stream_below(stream, 30)) + 1;
    int status = -1, most = setting("CHECKPOINT_RANKS", number % 4 == 3 ? 3 : 1);
    for (int kills = 0; status < 0 && kills < 50; kills++) {
        int ranks = 1 + (int)ker_stream_below(stream, (uint32_t)most);
        double seconds =
            kills < MOST_KILLS ? wall * (ranks > 1 ? 5 : 1.2) * ker_stream_unit(stream) : LONGEST_S;
        char launcher[32] = "";
        if (ranks > 1)
            snprintf(launcher, sizeof launcher, "mpirun -n %d ", ranks);
        if (has_checkpoint(folder)) {
            test->resumed++;
            status = run_kill(folder, seconds, "exec %s'%s' -q --resume %s partition.oversubscribe=true " LOG,
                              launcher, test->program, folder, base);
        } else {
            status = run_kill(folder, seconds,
                              "exec %s'%s' -q -o %s %s.cfg 'run.checkpoint.period=%lld ps' "
                              "partition.oversubscribe=true " LOG,
                              launcher, test->program, folder, base, (long long)period, base);
        }
    }
    judge(test, number, "killed", status, expected, folder);
    free(expected);
    free(folder);
    free(base);
}

/* What is changed at the fork: a KEY=VALUE or several, as words of the shell. */
static char *fork_words(struct ker_stream *stream, int64_t end)
{
    static const char *const selections[] = {"queue", "credits", "two", "random", "flow", "round_robin"};
    uint32_t job;
    switch (ker_stream_below(stream, 4)) {
    case 0:
        return ker_format("traffic.load=%.3f", 0.05 + ker_stream_unit(stream));
    case 1:
        return ker_format("routing.selection=%s", selections[ker_stream_below(stream, 6)]);
    case 2:
        return ker_format("'run.end=%lld ps'",
                          (long long)(end + 1 + (int64_t)ker_stream_below(stream, 100000000)));
    default: /* a number that is not the next one is refused */
        job = ker_stream_below(stream, 2);
        return ker_format("jobs[%u].program=pingpong jobs[%u].last_node=1", job, job);
    }
}

/* From its checkpoint of two ranks on as another run, on one rank and on three. What has no such key, or no
 * core for a job, refuses it. */
static void forked(struct test *test, struct ker_stream *stream, int number, int64_t end)
{
    char *base = ker_format("%s/%03d", test->scratch, number), *words = fork_words(stream, end),
         *one = ker_format("%s/f", base), *three = ker_format("%s/g", base);
    int status = command_run(LONGEST_S, "exec '%s' -q --resume %s/m -o %s %s " LOG, test->program, base, one,
                             words, base);
    if (status == 0) {
        test->forked++;
        status = command_run(LONGEST_S,
                             "exec mpirun -n 3 '%s' -q --resume %s/m -o %s %s partition.oversubscribe=true "
                             "partition.method=random " LOG,
                             test->program, base, three, words, base);
        judge(test, number, words, status, one, three);
    } else if (status != KER_BAD_INPUT && status != KER_RUN_FAILED) {
        test->failed = true;
        fprintf(stderr, "system %d, a fork with %s: status %d\n", number, words, status);
    }
    free(three);
    free(one);
    free(words);
    free(base);
}

/* Saved on two ranks, and resumed on another number. */
static void moved(struct test *test, struct ker_stream *stream, int number, int64_t end)
{
    char *base = ker_format("%s/%03d", test->scratch, number), *folder = ker_format("%s/m", base),
         *expected = ker_format("%s/a", base);
    long long at = 1 + (long long)(ker_stream_unit(stream) * (double)end);
    int ranks = ker_stream_below(stream, 2) ? 3 : 1,
        status = command_run(
            LONGEST_S,
            "exec mpirun -n 2 '%s' -q -o %s %s.cfg 'run.checkpoint.at=%lld ps' partition.adapt=false " LOG,
            test->program, folder, base, at, base);
    judge(test, number, "saved on two ranks", status, expected, folder);
    if (has_checkpoint(folder)) {
        test->resumed++;
        status = command_run(LONGEST_S,
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
    double began = ker_clock_s();
    int status = command_run(LONGEST_S, "exec '%s' -q -o %s %s.cfg " LOG, test->program, folder, base, base);
    if (status < 0 || status > 2) { /* neither refused nor failed for a reason: a signal, a sanitizer */
        fprintf(stderr, "system %d: status %d, see %s/log\n", number, status, base);
        test->failed = true;
    }
    if (status == 0) {
        double wall = ker_clock_s() - began;
        int64_t end = end_of(folder);
        killed(test, &stream, number, wall, end);
        moved(test, &stream, number, end);
        if (number % 2)
            forked(test, &stream, number, end);
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
    double until = ker_clock_s() + setting("CHECKPOINT_SECONDS", 1000000);
    for (int i = 0; i < count; i++) {
        if (ker_clock_s() > until)
            count = i;
        else {
            random_system_write(first + i, test.scratch, traces, tables);
            system_test(&test, first + i);
        }
    }
    free(tables);
    free(traces);
    print_message("systems %d to %d, %d runs that were resumed, %d forks\n", first, first + count - 1,
                  test.resumed, test.forked);
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
