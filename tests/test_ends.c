/* test_ends.c - whatever ends a run, the results are those of a run with run.end at that time: packets,
 * confidence, finished jobs, and signals, which may reach any rank at any moment: before the first event, in
 * between, again, and while results are written. And when memory is out, what was measured is written.
 */
#define _GNU_SOURCE
#include "tests/equal_bits.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST_WORDS 40
#define SECONDS 120 /* longer than anything here takes */

static char scratch[] = "/tmp/test-ends-XXXXXX";

/* ---- processes ---- */

struct process {
    pid_t pid;
    int ranks;
    const char *folder; /* in scratch: results, log, and the processes of the ranks */
};

static char *path_of(const char *folder, const char *name)
{
    return ker_format("%s/%s%s", scratch, folder, name);
}

static void pause_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* The words of mpirun, when there are several ranks; each writes its process number into a file. */
static int launcher_words(const struct process *p, char **word)
{
    int n = 0;
    if (p->ranks == 1)
        return 0;
    word[n++] = "mpirun";
    word[n++] = "-q";
    word[n++] = "-n";
    word[n++] = ker_format("%d", p->ranks);
    word[n++] = "sh";
    word[n++] = "-c";
    word[n++] =
        ker_format("echo $$ >%s/%s.pid.$OMPI_COMM_WORLD_RANK; exec \"$0\" \"$@\"", scratch, p->folder);
    return n;
}

/* Runs marssim with `words` behind "-q -o FOLDER"; output: a descriptor, or -1 for the log. */
static struct process start(const char *folder, int ranks, const char *const *words, int output)
{
    struct process p = {0, ranks, folder};
    char *word[MOST_WORDS];
    int n = launcher_words(&p, word), quiet = output < 0;
    word[n++] = getenv("MARSSIM") ? getenv("MARSSIM") : "build/release/marssim";
    if (quiet)
        word[n++] = "-q";
    word[n++] = "-o";
    word[n++] = path_of(folder, "");
    for (int i = 0; words[i]; i++)
        word[n++] = (char *)words[i];
    word[n] = NULL;
    char *log = path_of(folder, ".log"),
         *clean = ker_format("rm -rf %s/%s %s/%s.pid.*", scratch, folder, scratch, folder);
    assert_int_equal(system(clean), 0);
    free(clean);
    fflush(NULL);
    p.pid = fork();
    if (p.pid == 0) {
        int to = quiet ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666) : output;
        dup2(to, 1);
        dup2(quiet ? to : open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
        dup2(open("/dev/null", O_RDONLY), 0);
        signal(SIGINT, SIG_DFL);
        execvp(word[0], word);
        _exit(127);
    }
    free(log);
    return p;
}

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

/* Until the run writes rows of periods.csv (which is after its beginning), at least so many. */
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

/* The exit status as a shell shows it. */
static int finish(const struct process *p)
{
    int status;
    for (int i = 0; waitpid(p->pid, &status, WNOHANG) == 0; i++) {
        if (i == SECONDS * 100)
            kill(p->pid, SIGKILL);
        assert_true(i <= SECONDS * 100);
        pause_ms(10);
    }
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run(const char *folder, int ranks, const char *const *words)
{
    struct process p = start(folder, ranks, words, -1);
    return finish(&p);
}

/* ---- results ---- */

static json_t *result_of(const char *folder)
{
    char *path = path_of(folder, "/summary.json");
    json_t *summary = json_load_file(path, 0, NULL),
           *result = json_incref(json_object_get(summary, "result"));
    json_decref(summary);
    free(path);
    return result;
}

static void assert_reason(const char *folder, const char *reason)
{
    json_t *result = result_of(folder);
    if (!result) {
        char *command = ker_format("cat %s/%s.log; ls -l %s/%s", scratch, folder, scratch, folder);
        fail_msg("no result: %d", system(command));
    }
    assert_string_equal(json_string_value(json_object_get(result, "end_reason")), reason);
    json_decref(result);
}

/* All but the reason of the end, and what is told only where run.confidence is given. */
static void assert_same(const char *expected, const char *folder)
{
    static const char *const tables[] = {"links.csv",        "tasks.csv",  "packet_latency.csv",
                                         "message_size.csv", "matrix.csv", "periods.csv"};
    json_t *a = result_of(expected), *b = result_of(folder);
    char where[512] = "", *one = path_of(expected, ""), *other = path_of(folder, "");
    for (int i = 0; i < 2; i++) {
        json_object_del(i ? a : b, "end_reason");
        json_object_del(i ? a : b, "confidence");
    }
    bool same = equal_json(a, b, "result", where);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && same; i++)
        same = equal_tables(one, other, tables[i], where);
    if (!same)
        fail_msg("%s and %s: %s", expected, folder, where);
    json_decref(a);
    json_decref(b);
    free(one);
    free(other);
}

/* The run of `words` that ended in `folder` before its time, again with run.end there: the same. */
static void assert_like_end(const char *folder, const char *const *words)
{
    const char *again[MOST_WORDS];
    int n = 0;
    json_t *result = result_of(folder);
    assert_non_null(result);
    char *end = ker_format("run.end=%lld ps",
                           (long long)json_integer_value(json_object_get(result, "simulated_time_ps")));
    for (; words[n]; n++)
        again[n] = words[n];
    again[n++] = end;
    again[n] = NULL;
    assert_int_equal(run("end", 1, again), 0);
    assert_same("end", folder);
    free(end);
    json_decref(result);
}

static char *config_write(const char *name, const char *text)
{
    char *path = path_of(name, ".cfg");
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    return path;
}

static bool said(const char *folder, const char *text)
{
    char *command = ker_format("grep -q '%s' %s/%s.log", text, scratch, folder);
    bool found = system(command) == 0;
    free(command);
    return found;
}

/* ---- conditions ---- */

/* Slow links behind fast ones and deep queues: much is on its way when the run ends. */
#define TORUS                                                                                                \
    "topology: { kind = \"torus\"; extents = [4, 4, 4]; bandwidth = [\"10 GB/s\", \"3.3 GB/s\", \"25 "       \
    "GB/s\"]; latency = \"100 ns\"; };"                                                                      \
    "switch: { output_queue = \"64 KiB\"; }; traffic: { pattern = \"uniform\"; load = 0.9; size = \"10 "     \
    "KiB\"; };"                                                                                              \
    "output: { matrix = true; period = \"700 ns\"; };"

static void condition_test(const char *text, const char *condition, const char *more, const char *reason)
{
    char *file = config_write("condition", text);
    const char *with[] = {file, more, condition, NULL}, *without[] = {file, more, NULL};
    assert_int_equal(run("condition", 1, with), 0);
    assert_reason("condition", reason);
    assert_like_end("condition", without);
    assert_int_equal(run("condition2", 2, with), 0);
    assert_same("condition", "condition2");
    free(file);
}

static void test_packets(void **state)
{
    condition_test(TORUS, "run.packets=3000", "run.check_interval=2100 ns", "packets");
    condition_test(TORUS, "run.packets=500", "run.warmup=777 ns", "packets");
}

static void test_confidence(void **state)
{
    condition_test(TORUS, "run.confidence=0.9", "run.warmup=777 ns", "confidence");
}

static void test_jobs_done(void **state)
{
    static const char jobs[] =
        TORUS "jobs: ({ program = \"stencil\"; extents = [4, 4]; bytes = \"20 KiB\"; steps = 3; });";
    char *file = config_write("jobs", jobs);
    const char *words[] = {file, NULL};
    assert_int_equal(run("jobs", 1, words), 0);
    assert_reason("jobs", "jobs done");
    assert_like_end("jobs", words);
    free(file);
}

static void test_faulty(void **state)
{
    condition_test(TORUS "faults: { link_rate = 0.1; switch_rate = 0.05; unreachable = \"drop\"; at = \"1 "
                         "us\"; spread = \"3 us\"; };",
                   "run.packets=2000", "run.check_interval=500 ns", "packets");
}

/* ---- signals ---- */

#define LONG_RUN "run: { end = \"1000 ms\"; };"

/* A signal to one rank (or, with -1, to the launcher) some way into a run. */
static void signal_test(int ranks, int rank, int number, const char *more)
{
    char *file = config_write("long", TORUS);
    const char *words[] = {file, more, NULL}, *ended[] = {file, more, "run.end=1000 ms", NULL};
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
    signal_test(3, 1, SIGTERM, "engine.exchange=messages");
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
    const char *words[] = {file, "output.period=0 ns", NULL},
               *ended[] = {file, "output.period=0 ns", "run.end=1000 ms", NULL};
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

static void test_second_signal(void **state)
{
    char *file = config_write("long", TORUS LONG_RUN), *path;
    const char *words[] = {file, "run.check_interval=1000 s",
                           NULL}; /* the first signal would be seen to then */
    struct process p = start("second", 1, words, -1);
    wait_rows(&p, 3);
    kill(p.pid, SIGTERM);
    pause_ms(50);
    kill(p.pid, SIGTERM); /* an echo of the first */
    pause_ms(1000);
    assert_int_equal(waitpid(p.pid, NULL, WNOHANG), 0);
    kill(p.pid, SIGINT);
    assert_int_equal(finish(&p), 130);
    assert_true(said("second", "results are not complete"));
    path = path_of("second", "/summary.json");
    assert_int_not_equal(access(path, F_OK), 0);
    free(path);
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

/* The summary goes into a pipe that is full: the run stands in its report. */
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
    pause_ms(1000);
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

/* ---- memory ---- */

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true /* wants more than any limit */
#else
#define SANITIZED false
#endif

/* Links that take a second hold more than there is memory for. */
static void test_memory(void **state)
{
    char *file = config_write(
        "memory",
        "topology: { kind = \"star\"; nodes = 16; bandwidth = \"100 GB/s\"; latency = \"1 s\"; };"
        "switch: { buffer = \"1 GiB\"; }; adapter: { packet_size = \"64 B\"; header = \"0 B\"; };"
        "traffic: { pattern = \"uniform\"; load = 1; size = \"64 B\"; }; run: { end = \"100 s\"; };");
    const char *words[] = {file, NULL};
    struct rlimit old, little;
    if (SANITIZED) {
        print_message("SKIP: memory cannot be limited beside AddressSanitizer\n");
        skip();
    }
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

static int scratch_open(void **state)
{
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
    srand((unsigned)time(NULL));
    return mkdtemp(scratch) ? 0 : -1;
}

static int scratch_close(void **state)
{
    char *command = ker_format("rm -rf %s", scratch);
    int status = system(command);
    free(command);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets),
        cmocka_unit_test(test_confidence),
        cmocka_unit_test(test_jobs_done),
        cmocka_unit_test(test_faulty),
        cmocka_unit_test(test_one_rank),
        cmocka_unit_test(test_any_rank),
        cmocka_unit_test(test_sleeping_rank),
        cmocka_unit_test(test_launcher),
        cmocka_unit_test(test_no_checks),
        cmocka_unit_test(test_second_signal),
        cmocka_unit_test(test_before_the_first_event),
        cmocka_unit_test(test_while_writing),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
