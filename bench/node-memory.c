/* node-memory.c - how fast kernels move bytes on one core, or on two at a time: node-memory MIB SECONDS
 * KERNEL:CORE [KERNEL:CORE ...]
 *
 * A thread for each, bound to its core, passes over arrays of its own of MIB MiB each, piece by piece, until
 * SECONDS have gone by; all begin together. Printed for each: kernel, core, bytes per second of wall time,
 * and of its CPU time. Bytes are those between core and memory: of a store its line is read before, too
 * (McCalpin's STREAM does not count that). A kernel without bytes counts its operations. Arrays have to be
 * much larger than the caches.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PIECE 32768 /* numbers */

static double triad(double *a, const double *b, const double *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + 3.0 * c[i];
    return a[0];
}

static double copy(double *a, const double *b, const double *c, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i += 8) {
        for (size_t k = 0; k < 8; k++)
            a[i + k] = b[i + k];
        __asm__ volatile("" ::: "memory"); /* no call of memcpy, which may store past the caches */
    }
    return a[0];
}

static double sum(double *a, const double *b, const double *c, size_t n)
{
    double total[8] = {0};
    (void)a;
    (void)c;
    for (size_t i = 0; i < n; i += 8)
        for (size_t k = 0; k < 8; k++)
            total[k] += b[i + k];
    return total[0] + total[1] + total[2] + total[3] + total[4] + total[5] + total[6] + total[7];
}

/* This many multiplications and additions for each number. */
static inline double mixed(double *a, const double *b, size_t n, int times)
{
    for (size_t i = 0; i < n; i += 8) {
        double x[8];
        memcpy(x, b + i, sizeof x);
        for (int t = 0; t < times; t++)
            for (size_t k = 0; k < 8; k++)
                x[k] = x[k] * 0.999 + 1e-3;
        memcpy(a + i, x, sizeof x);
    }
    return a[0];
}

static double mix8(double *a, const double *b, const double *c, size_t n)
{
    (void)c;
    return mixed(a, b, n, 8);
}

static double mix96(double *a, const double *b, const double *c, size_t n)
{
    (void)c;
    return mixed(a, b, n, 96);
}

/* In the first cache. */
static double compute(double *a, const double *b, const double *c, size_t n)
{
    (void)b;
    (void)c;
    for (size_t i = 0; i < n; i += 512)
        mixed(a, a, 512, 8);
    return a[0];
}

static const struct kernel {
    const char *name;
    double (*run)(double *, const double *, const double *, size_t);
    unsigned bytes; /* of memory for each number; 0: none */
} kernels[] = {{"triad", triad, 32}, {"copy", copy, 24},   {"sum", sum, 8},
               {"mix8", mix8, 24},   {"mix96", mix96, 24}, {"compute", compute, 0}};

struct worker {
    const struct kernel *kernel;
    int core;
    size_t numbers;
    double seconds, wall, cpu, done, result;
    pthread_barrier_t *begin;
};

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *array_make(size_t numbers)
{
    void *at =
        mmap(NULL, numbers * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        perror("node-memory: mmap");
        exit(1);
    }
    madvise(at, numbers * sizeof(double), MADV_HUGEPAGE);
    double *array = at;
    for (size_t i = 0; i < numbers; i++)
        array[i] = 1;
    return array;
}

static void *work(void *argument)
{
    struct worker *w = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(w->core, &set);
    sched_setaffinity(0, sizeof set, &set);
    double *a = array_make(w->numbers), *b = array_make(w->numbers), *c = array_make(w->numbers);
    pthread_barrier_wait(w->begin);
    double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    size_t at = 0;
    do {
        w->result += w->kernel->run(a + at, b + at, c + at, PIECE);
        w->done += PIECE;
        at = at + 2 * PIECE <= w->numbers ? at + PIECE : 0;
    } while (now(CLOCK_MONOTONIC) < wall + w->seconds);
    w->wall = now(CLOCK_MONOTONIC) - wall;
    w->cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    return NULL;
}

static int worker_make(struct worker *w, const char *text, double mib, double seconds,
                       pthread_barrier_t *begin)
{
    char name[32] = "";
    *w = (struct worker){.seconds = seconds, .begin = begin};
    if (sscanf(text, "%31[a-z0-9]:%d", name, &w->core) != 2)
        return 0;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, name) == 0)
            w->kernel = &kernels[i];
    w->numbers = (size_t)(mib * 131072) / PIECE * PIECE;
    return w->kernel && w->core >= 0 && w->numbers >= PIECE && seconds > 0;
}

int main(int argc, char **argv)
{
    int workers = argc - 3;
    struct worker worker[16];
    pthread_t thread[16];
    pthread_barrier_t begin;
    if (workers < 1 || workers > 16) {
        fprintf(stderr, "usage: node-memory MIB SECONDS KERNEL:CORE [KERNEL:CORE ...]\n");
        return 2;
    }
    pthread_barrier_init(&begin, NULL, (unsigned)workers);
    for (int i = 0; i < workers; i++)
        if (!worker_make(&worker[i], argv[3 + i], atof(argv[1]), atof(argv[2]), &begin)) {
            fprintf(stderr, "node-memory: \"%s\" is no KERNEL:CORE\n", argv[3 + i]);
            return 2;
        }
    for (int i = 0; i < workers; i++)
        pthread_create(&thread[i], NULL, work, &worker[i]);
    for (int i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < workers; i++) {
        const struct worker *w = &worker[i];
        double moved = w->done * (w->kernel->bytes ? w->kernel->bytes : 1);
        printf("%s %d %.0f %.0f\n", w->kernel->name, w->core, moved / w->wall, moved / w->cpu);
    }
    return 0;
}
