/* test_signals.c - a run that is ended from outside has the results of one with run.end at that time:
 * signals, which may reach any rank at any moment (before the first event, in between, again, and while
 * results are written), and memory that is out. */
#define _GNU_SOURCE
#include "tests/run/run_process.h"

/* The process of a rank; 0: not there yet. */
static pid_t rank_process(const struct process *p, int rank)
{
    if (p->ranks == 1)
        return p->pid;
    char *path = ker_format("%s/%s.pid.%d", scratch, p->folder, rank);
    FILE *in = fopen(path, "r");
    int pid = 0;
    if (in && fscanf(in, "%d", &pid) != 1)
        pid = 0;
    if (in)
        fclose(in);
    free(path);
    return pid;
}

/* Has the process a handler for SIGTERM? */
static bool handles(pid_t pid)
{
    char *path = ker_format("/proc/%d/status", pid), line[256];
    unsigned long long caught = 0;
    FILE *in = pid ? fopen(path, "r") : NULL;
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "SigCgt: %llx", &caught) == 1)
            break;
    if (in)
        fclose(in);
    free(path);
    return caught >> (SIGTERM - 1) & 1;
}

static void wait_ready(const struct process *p)
{
    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = 0; !handles(rank_process(p, rank)); i++) {
            assert_true(i < SECONDS * 200);
            pause_ms(5);
        }
}

/* Until the process sleeps, and continues to. */
static void wait_asleep(const struct process *p)
{
    char *path = ker_format("/proc/%d/stat", p->pid);
    for (int i = 0, asleep = 0; asleep < 20; i++) {
        char state = 0;
        FILE *in = fopen(path, "r");
        assert_non_null(in);
        if (fscanf(in, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        fclose(in);
        asleep = state == 'S' ? asleep + 1 : 0;
        assert_true(i < SECONDS * 20);
        pause_ms(50);
    }
    free(path);
}

/* Until the run writes rows of periods.csv (which is after its beginning), at least this many. */
static void wait_rows(const struct process *p, int rows)
{
    char *path = path_of(p->folder, "/periods.csv");
    for (int i = 0, found = 0; found <= rows; i++) {
        assert_true(i < SECONDS * 200);
        pause_ms(5);
        FILE *in = fopen(path, "r");
        found = 0;
        for (int c = in ? fgetc(in) : EOF; c != EOF; c = fgetc(in))
            found += c == '\n';
        if (in)
            fclose(in);
    }
    free(path);
}

static bool said(const char *folder, const char *text)
{
    char *command = ker_format("grep -q '%s' %s/%s.log", text, scratch, folder);
    bool found = system(command) == 0;
    free(command);
    return found;
}

/* ---- signals ---- */

#define LONG_RUN "run: { end = \"1000 ms\"; };"

/* A signal to one rank (or, with -1, to the launcher) some way into a run. Into the first one: a signal
 * between the trial of the ranks and a new beginning ends the run at its beginning. */
static void signal_test(int ranks, int rank, int number, const char *more)
{
    char *file = config_write("long", TORUS);
    const char *words[] = {file, more, "partition.adapt=false", NULL},
               *ended[] = {file, more, "partition.adapt=false", "run.end=1000 ms", NULL};
    struct process p = start("signal", ranks, ended, -1);
    wait_rows(&p, rand() % 300);
    kill(rank < 0 ? p.pid : rank_process(&p, rank), number);
    int status = finish(&p);
    if (rank >= 0)
        assert_int_equal(status, 128 + number);
    assert_reason("signal", "interrupted");
    assert_like_end("signal", words);
    free(file);
}

static void test_one_rank(void **state)
{
    for (int i = 0; i < 4; i++)
        signal_test(1, 0, i % 2 ? SIGINT : SIGTERM, "run.check_interval=1 us");
    signal_test(1, 0, SIGTERM, "run.check_interval=1 ps");
}

static void test_any_rank(void **state)
{
    for (int ranks = 2; ranks <= 3; ranks++)
        for (int rank = 0; rank < ranks; rank++)
            signal_test(ranks, rank, rank % 2 ? SIGINT : SIGTERM, "partition.oversubscribe=true");
    signal_test(3, 1, SIGTERM, "engine.hosts=5");
}

/* More ranks than cores: the last one sleeps. */
static void test_sleeping_rank(void **state)
{
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > 8) {
        print_message("SKIP: too many cores to have a rank that sleeps\n");
        skip();
    }
    signal_test(cores + 1, cores, SIGTERM, "run.check_interval=1 us");
}

/* mpirun tells all its ranks to end, sleeps for a time that can be set (three times, whether they have ended
 * or not), and kills them. A busy machine needs more than the usual second. Its exit status is its own. */
static void test_launcher(void **state)
{
    setenv("OMPI_MCA_odls_base_sigkill_timeout", "8", 1);
    signal_test(2, -1, SIGTERM, "run.check_interval=1 us");
    unsetenv("OMPI_MCA_odls_base_sigkill_timeout");
}

/* Without anything that is checked at regular times. */
static void test_no_checks(void **state)
{
    char *file = config_write("plain", TORUS);
    const char *words[] = {file, "output.period=0 ns", "partition.adapt=false", NULL},
               *ended[] = {file, "output.period=0 ns", "partition.adapt=false", "run.end=1000 ms", NULL};
    for (int ranks = 1; ranks <= 2; ranks++) {
        struct process p = start("plain", ranks, ended, -1);
        wait_ready(&p);
        pause_ms(1500);
        kill(rank_process(&p, ranks - 1), SIGTERM);
        assert_int_equal(finish(&p), 143);
        assert_reason("plain", "interrupted");
        assert_like_end("plain", words);
    }
    free(file);
}

/* Two signals at once. Both wait while the process is stopped, so that they come as close together as the
 * machine can do; should it take the processor away just between them, that is seen by the second's message.
 */
static bool echoes(const struct process *p)
{
    kill(p->pid, SIGSTOP);
    kill(p->pid, SIGTERM);
    kill(p->pid, SIGINT);
    kill(p->pid, SIGCONT);
    pause_ms(1000);
    return waitpid(p->pid, NULL, WNOHANG) == 0;
}

static void test_second_signal(void **state)
{
    char *path,
        *file = config_write("long", "topology: { kind = \"star\"; nodes = 2; bandwidth = \"10 GB/s\"; "
                                     "latency = \"500 ns\"; }; jobs = ({ program = \"pingpong\"; "
                                     "steps = 4000000000L; });");
    const char *words[] = {file, "run.check_interval=1000 s", "output.period=100 s",
                           NULL}; /* the first signal would be seen to then */
    struct process p;
    bool goes_on = false;
    for (int tries = 0; tries < 3 && !goes_on; tries++) {
        p = start("second", 1, words, -1);
        wait_rows(&p, 0); /* the line with the columns' names */
        pause_ms(300);
        goes_on = echoes(&p);
    }
    assert_true(goes_on); /* an echo of the first is none of its own */
    kill(p.pid, SIGINT);
    assert_int_equal(finish(&p), 130);
    assert_true(said("second", "results are not complete"));
    path = path_of("second", "/summary.json");
    assert_int_not_equal(access(path, F_OK), 0);
    free(path);
    path = path_of("second", "/failed.json");
    assert_int_equal(access(path, F_OK), 0);
    free(path);
    free(file);
}

/* Rows without number, none of which anything happens before: the first signal is seen to between them, the
 * rank that it reaches and another one. */
static void test_many_checks(void **state)
{
    char *file =
        config_write("rows", "topology: { kind = \"star\"; nodes = 8; bandwidth = \"10 GB/s\"; latency = "
                             "\"500 ns\"; }; jobs = ({ program = \"stencil\"; extents = [2]; steps = 1; "
                             "compute_time = \"1000 s\"; });");
    const char *words[] = {file,
                           "output.period=1 ps",
                           "run.check_interval=1000 s",
                           "partition.adapt=false",
                           "partition.oversubscribe=true",
                           NULL};
    for (int ranks = 1; ranks <= 2; ranks++) {
        struct process p = start("rows", ranks, words, -1);
        wait_rows(&p, 300);
        kill(rank_process(&p, ranks - 1), SIGTERM);
        assert_int_equal(finish(&p), 143);
        assert_reason("rows", "interrupted");
    }
    free(file);
}

/* While the proof of freedom from deadlock takes its time. */
static void test_before_the_first_event(void **state)
{
    char *file =
        config_write("start", "topology: { kind = \"torus\"; extents = [40, 40, 40]; bandwidth = \"10 "
                              "GB/s\"; latency = \"100 ns\"; };"
                              "traffic: { pattern = \"uniform\"; load = 0.1; }; run: { end = \"1 us\"; };");
    const char *words[] = {file, "--check=full", NULL};
    for (int ranks = 1; ranks <= 2; ranks++) {
        struct process p = start("start", ranks, words, -1);
        wait_ready(&p);
        kill(ranks == 1 ? p.pid : rank_process(&p, 1), SIGTERM);
        assert_int_equal(finish(&p), 143);
        assert_true(said("start", "before the first event"));
    }
    free(file);
}

/* The summary goes into a pipe that is full: the run is in its report. */
static void test_while_writing(void **state)
{
    char *file = config_write("write", TORUS), block[4096] = {0};
    const char *words[] = {file, "run.end=5 us", NULL};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], block, sizeof block) > 0) {
    }
    fcntl(ends[1], F_SETFL, 0);
    struct process p = start("write", 1, words, ends[1]);
    wait_rows(&p, 7);
    wait_asleep(&p);
    kill(p.pid, SIGTERM);
    pause_ms(50);
    close(ends[1]);
    while (read(ends[0], block, sizeof block) > 0) {
    }
    close(ends[0]);
    assert_int_equal(finish(&p), 143);
    assert_reason("write", "end time");
    assert_int_equal(run("written", 1, words), 0);
    assert_same("written", "write");
    free(file);
}

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true /* wants more than any limit */
#else
#define SANITIZED false
#endif

/* Links that take a second hold more than there is memory for. */
static void test_memory(void **state)
{
    if (SANITIZED) {
        print_message("SKIP: memory cannot be limited beside AddressSanitizer\n");
        skip();
    }
    char *file = config_write(
        "memory",
        "topology: { kind = \"star\"; nodes = 16; bandwidth = \"100 GB/s\"; latency = \"1 s\"; };"
        "switch: { buffer = \"1 GiB\"; }; adapter: { packet_size = \"64 B\"; header = \"0 B\"; };"
        "traffic: { pattern = \"uniform\"; load = 1; size = \"64 B\"; }; run: { end = \"100 s\"; };");
    const char *words[] = {file, NULL};
    struct rlimit old, little;
    getrlimit(RLIMIT_AS, &old);
    little = (struct rlimit){1000 << 20, old.rlim_max};
    setrlimit(RLIMIT_AS, &little);
    struct process p = start("memory", 1, words, -1);
    setrlimit(RLIMIT_AS, &old);
    assert_int_equal(finish(&p), 1);
    assert_true(said("memory", "marssim: error: out of memory"));
    assert_reason("memory", "out of memory");
    free(file);
}

/* A rank that dies leaves nobody asleep: the others, which wait for it in the kernel, end with it. */
static void test_a_rank_dies(void **state)
{
    char *file = config_write("long", TORUS);
    const char *words[] = {file, "run.end=1000 ms", "partition.oversubscribe=true", NULL};
    for (int rank = 0; rank < 3; rank++) {
        struct process p = start("signal", 3, words, -1);
        wait_rows(&p, 20);
        kill(rank_process(&p, rank), SIGKILL);
        assert_int_not_equal(finish(&p), 0); /* within its SECONDS */
    }
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_rank),      cmocka_unit_test(test_any_rank),
        cmocka_unit_test(test_sleeping_rank), cmocka_unit_test(test_launcher),
        cmocka_unit_test(test_no_checks),     cmocka_unit_test(test_second_signal),
        cmocka_unit_test(test_many_checks),   cmocka_unit_test(test_before_the_first_event),
        cmocka_unit_test(test_while_writing), cmocka_unit_test(test_a_rank_dies),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
