/* run_process.h - marssim and mpirun as processes of a test, which may signal them, and what two runs must
 * have in common. Who includes it defines _GNU_SOURCE first. */
#pragma once

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

static inline char *path_of(const char *folder, const char *name)
{
    return ker_format("%s/%s%s", scratch, folder, name);
}

static inline void pause_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* The words of mpirun, when there are several ranks; each writes its process number into a file. The fourth
 * and the last of them are to be freed. */
static inline int launcher_words(const struct process *p, char **word)
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
static inline struct process start(const char *folder, int ranks, const char *const *words, int output)
{
    struct process p = {0, ranks, folder};
    char *word[MOST_WORDS];
    int n = launcher_words(&p, word), launcher = n, quiet = output < 0;
    word[n++] = getenv("MARSSIM") ? getenv("MARSSIM") : "build/release/marssim";
    if (quiet)
        word[n++] = "-q";
    word[n++] = "-o";
    char *results = path_of(folder, "");
    word[n++] = results;
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
    free(results);
    if (launcher) {
        free(word[3]);
        free(word[launcher - 1]);
    }
    return p;
}

/* The exit status as a shell shows it. */
static inline int finish(const struct process *p)
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

static inline int run(const char *folder, int ranks, const char *const *words)
{
    struct process p = start(folder, ranks, words, -1);
    return finish(&p);
}

/* ---- results ---- */

static inline json_t *result_of(const char *folder)
{
    char *path = path_of(folder, "/summary.json");
    json_t *summary = json_load_file(path, 0, NULL),
           *result = json_incref(json_object_get(summary, "result"));
    json_decref(summary);
    free(path);
    return result;
}

static inline void assert_reason(const char *folder, const char *reason)
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
static inline void assert_same(const char *expected, const char *folder)
{
    static const char *const tables[] = {"links.csv",        "tasks.csv",     "packet_latency.csv",
                                         "message_size.csv", "matrix.csv",    "periods.csv",
                                         "calls.csv",        "functions.csv", "matching.csv"};
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
static inline void assert_like_end(const char *folder, const char *const *words)
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

static inline char *config_write(const char *name, const char *text)
{
    char *path = path_of(name, ".cfg");
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    return path;
}

/* ---- conditions ---- */

/* Slow links behind fast ones and deep queues: much is in transit when the run ends. */
#define TORUS                                                                                                \
    "topology: { kind = \"torus\"; extents = [4, 4, 4]; bandwidth = [\"10 GB/s\", \"3.3 GB/s\", \"25 "       \
    "GB/s\"]; latency = \"100 ns\"; };"                                                                      \
    "switch: { output_queue = \"64 KiB\"; }; traffic: { pattern = \"uniform\"; load = 0.9; size = \"10 "     \
    "KiB\"; };"                                                                                              \
    "output: { matrix = true; period = \"700 ns\"; };"

/* ---- memory ---- */

static inline int scratch_open(void **state)
{
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
    srand((unsigned)time(NULL));
    return mkdtemp(scratch) ? 0 : -1;
}

static inline int scratch_close(void **state)
{
    char *command = ker_format("rm -rf %s", scratch);
    int status = system(command);
    free(command);
    return status;
}
