/* pool.c - runs side by side: as many as there are cores, and as fit into memory.
 *
 * A run needs what --check finds for the first point of its size: words of run.*, traffic.* and routing.* are
 * taken to change no size. Runs that have needed more raise it. The first run starts in any case.
 * Interrupted, it ends the runs, whose folders are not complete and go; what is complete stays.
 */
#define _GNU_SOURCE
#include "tools/marssweep/sweep.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct size_class {
    char *words;
    uint64_t bytes;
};

struct slot {
    pid_t pid;
    struct sweep_point *point;
    size_t class;
    int64_t begun_ns;
};

struct pool {
    struct sweep *sweep;
    struct slot *slot;
    size_t slots, slot_room, next;
    struct size_class *class;
    size_t classes;
    uint64_t memory, used;
    unsigned jobs;
};

static volatile sig_atomic_t stop;

static void stop_note(int signal)
{
    (void)signal;
    stop = 1;
}

/* ---- what there is ---- */

static unsigned cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static uint64_t memory_free(void)
{
    FILE *in = fopen("/proc/meminfo", "r");
    char line[128];
    unsigned long long kib = 0;
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    if (in)
        fclose(in);
    return kib ? kib * 1024 : UINT64_MAX;
}

/* ---- sizes ---- */

static bool sizes(const char *key)
{
    static const char *const no[] = {"run.", "traffic.", "routing.", "output.period"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (strncmp(key, no[i], strlen(no[i])) == 0)
            return false;
    return true;
}

static uint64_t check_bytes(const struct sweep *s, const struct sweep_point *p)
{
    struct rusage use;
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        sweep_point_check(s, p);
    if (pid < 0 || wait4(pid, &status, 0, &use) < 0)
        return 0;
    return (uint64_t)use.ru_maxrss * 1024;
}

static size_t class_of(struct pool *pool, const struct sweep_point *p)
{
    struct sweep_words own = {NULL, 0};
    for (size_t i = 0; i < p->words.count; i++)
        if (sizes(p->words.word[i].key))
            sweep_word_set(&own, p->words.word[i].key, p->words.word[i].value);
    char *text = sweep_words_text(&own);
    sweep_words_free(&own);
    for (size_t i = 0; i < pool->classes; i++)
        if (strcmp(pool->class[i].words, text) == 0) {
            free(text);
            return i;
        }
    uint64_t bytes = check_bytes(pool->sweep, p);
    *KER_APPEND(pool->class, pool->classes) = (struct size_class){text, bytes};
    return pool->classes - 1;
}

/* ---- runs ---- */

static uint64_t memory_used(const struct pool *pool)
{
    uint64_t used = 0;
    for (size_t i = 0; i < pool->slots; i++)
        used += pool->class[pool->slot[i].class].bytes;
    return used;
}

/* false: it has to wait until another has ended. */
static bool start(struct pool *pool, struct sweep_point *p)
{
    size_t class = class_of(pool, p);
    if (pool->slots > 0 && memory_used(pool) + pool->class[class].bytes > pool->memory)
        return false;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        sweep_point_run(pool->sweep, p);
    if (pid < 0)
        return false;
    p->state = SWEEP_RUNNING;
    *KER_PUSH(pool->slot, pool->slots, pool->slot_room) =
        (struct slot){pid, p, class, ker_clock_ns(CLOCK_MONOTONIC)};
    return true;
}

/* The last line of what it has printed. */
static void last_line(const char *path, char line[400])
{
    FILE *in = fopen(path, "r");
    char next[400];
    line[0] = '\0';
    while (in && fgets(next, sizeof next, in))
        if (next[0] != '\n')
            snprintf(line, 400, "%s", next);
    if (in)
        fclose(in);
    line[strcspn(line, "\n")] = '\0';
}

/* Its run did not come to an end. */
static void point_drop(const struct sweep *s, struct sweep_point *p)
{
    char *part = sweep_folder_of(s, "part", p->key);
    stats_folder_remove(part);
    p->state = SWEEP_WANTED;
    free(part);
}

static void failed(struct sweep *s, struct sweep_point *p, int status)
{
    char *part = sweep_folder_of(s, "part", p->key), *log = ker_format("%s.log", part),
         *to = ker_format("%s/failed/%s.log", s->dir, p->key), *text = sweep_point_text(p), line[400];
    last_line(log, line);
    if (!*line && WIFSIGNALED(status))
        snprintf(line, sizeof line, "ended by signal %d%s", WTERMSIG(status),
                 WTERMSIG(status) == SIGKILL ? " (memory may have been out: --jobs 1)" : "");
    const char *why = strncmp(line, "marssim: error: ", 16) == 0 ? line + 16 : line;
    sweep_folder_need(s, "failed");
    rename(log, to);
    stats_folder_remove(part);
    p->state = SWEEP_FAILED;
    s->failed++;
    fprintf(stderr, "marssweep: error: point %s: %s (all that it said: %s)\n", text, *why ? why : "failed",
            to);
    KER_FREE(part, log, to, text);
}

/* It has had results: the same ones, which is all that was asked, or others, which are kept beside. */
static enum ker_status again_settle(struct sweep *s, struct sweep_point *p, struct ker_error *error)
{
    char *folder = sweep_folder_of(s, "again", p->key), *there = sweep_folder_of(s, "runs", p->key),
         *other = sweep_folder_of(s, "differ", p->key);
    struct sweep_result result;
    enum ker_status status = KER_OK;
    if (sweep_folder_read(folder, &result)) {
        if (s->store)
            status = sweep_store_add(s->store, &result, p->stale ? there : other, p->stale, error);
        sweep_result_free(&result);
    }
    if (p->stale) {
        stats_folder_remove(there);
        rename(folder, there);
    } else if (status != KER_OK) {
        sweep_folder_need(s, "differ");
        stats_folder_remove(other);
        rename(folder, other);
    }
    stats_folder_remove(folder);
    free(folder);
    free(there);
    free(other);
    return status;
}

static enum ker_status results_take(struct sweep *s, struct sweep_point *p, struct ker_error *error)
{
    struct sweep_result result;
    enum ker_status status = p->again || p->stale ? again_settle(s, p, error) : KER_OK;
    char *folder = sweep_folder_of(s, "runs", p->key);
    if (status == KER_OK && sweep_folder_read(folder, &result)) {
        if (s->store && !p->again && !p->stale)
            status = sweep_store_add(s->store, &result, folder, false, error);
        sweep_figures_free(&p->figures);
        p->figures = result.figures;
        result.figures = (struct sweep_figures){NULL, 0};
        sweep_result_free(&result);
    }
    free(folder);
    return status;
}

static void ended(struct pool *pool, const struct slot *slot, int status)
{
    struct sweep *s = pool->sweep;
    struct sweep_point *p = slot->point;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) { /* the terminal's, for all of us */
        point_drop(s, p);
        stop = 1;
        return;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        failed(s, p, status);
        return;
    }
    struct ker_error *error = ker_alloc(sizeof *error);
    p->state = SWEEP_DONE;
    s->done++;
    if (results_take(s, p, error) != KER_OK) {
        fprintf(stderr, "marssweep: error: %s\n", error->text);
        s->differ++;
    }
    free(error);
    double peak = sweep_figure_of(&p->figures, "run.peak_rss_bytes");
    if (peak > (double)pool->class[slot->class].bytes)
        pool->class[slot->class].bytes = (uint64_t)peak;
    if (!s->quiet) {
        char *text = sweep_point_text(p);
        printf("%zu/%zu %s: %.1f s\n", s->before + s->done + s->failed, s->points, text,
               (double)(ker_clock_ns(CLOCK_MONOTONIC) - slot->begun_ns) / 1e9);
        fflush(stdout);
        free(text);
    }
}

static void wait_one(struct pool *pool)
{
    int status;
    pid_t pid = waitpid(-1, &status, 0);
    for (size_t i = 0; pid > 0 && i < pool->slots; i++)
        if (pool->slot[i].pid == pid) {
            struct slot slot = pool->slot[i];
            pool->slot[i] = pool->slot[--pool->slots];
            ended(pool, &slot, status);
            return;
        }
}

static void interrupt(struct pool *pool)
{
    for (size_t i = 0; i < pool->slots; i++)
        kill(pool->slot[i].pid, SIGKILL);
    for (size_t i = 0; i < pool->slots; i++) {
        waitpid(pool->slot[i].pid, NULL, 0);
        point_drop(pool->sweep, pool->slot[i].point);
    }
    pool->slots = 0;
    pool->sweep->interrupted = true;
}

static struct sweep_point *next_wanted(struct pool *pool)
{
    struct sweep *s = pool->sweep;
    while (pool->next < s->points && s->point[pool->next]->state != SWEEP_WANTED)
        pool->next++;
    return pool->next < s->points ? s->point[pool->next] : NULL;
}

static enum ker_status run_all(struct pool *pool, bool (*more)(struct sweep *, struct ker_error *),
                               struct ker_error *error)
{
    while (!stop) {
        struct sweep_point *p;
        while (!stop && pool->slots < pool->jobs && (p = next_wanted(pool)) != NULL && start(pool, p))
            ;
        if (!stop && pool->slots > 0)
            wait_one(pool);
        if (stop)
            break;
        if (more && !next_wanted(pool) && pool->slots < pool->jobs)
            more(pool->sweep, error);
        if (error->status != KER_OK || (pool->slots == 0 && !next_wanted(pool)))
            break;
    }
    interrupt(pool);
    pool->sweep->interrupted = stop;
    return error->status;
}

enum ker_status sweep_pool_run(struct sweep *s, bool (*more)(struct sweep *, struct ker_error *),
                               struct ker_error *error)
{
    struct sigaction act = {.sa_handler = stop_note}, old[2];
    struct pool pool = {
        .sweep = s, .jobs = s->jobs ? s->jobs : cores(), .memory = s->memory ? s->memory : memory_free()};
    sigaction(SIGINT, &act, &old[0]);
    sigaction(SIGTERM, &act, &old[1]);
    enum ker_status status = run_all(&pool, more, error);
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGTERM, &old[1], NULL);
    for (size_t i = 0; i < pool.classes; i++)
        free(pool.class[i].words);
    free(pool.class);
    free(pool.slot);
    return status;
}
