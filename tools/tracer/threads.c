/* threads.c - what only programs have whose threads call MPI: when threads begin and end, beside the calls of
 * the first thread, and what the tracer itself takes, so that times of threads can be compared.
 *
 * A thread is seen at its first call. Who made it is not known, nor when; the first thread is taken for that,
 * at its last call before. What passed since is the thread's first computation, of which it ran what its CPU
 * clock says, which counts from its birth. A thread that ends says how many calls the first one had made by
 * then. What threads run that never call, or behind their last call, is known all together only.
 */
#include "trc.h"

#include <pthread.h>
#include <stdio.h>

static struct trc_thread *first_thread;
static int64_t begun_all, begun_first; /* CPU time of the process and of the first thread */
static pthread_key_t ending;

#define OTHERS_LEAST 10000000 /* ns; less is not reported, nor is what is less than a twentieth of all */

static uint64_t calls_of(const struct trc_thread *t)
{
    uint64_t calls = 0;
    for (unsigned i = 0; i < TRC_ALL; i++)
        calls += __atomic_load_n(&t->sum[i].calls, __ATOMIC_RELAXED);
    return calls;
}

static void tell(const struct trc_thread *t, const char *what, unsigned long long number)
{
    char key[48];
    snprintf(key, sizeof key, "thread-%u-%s", t->thread, what);
    trc_info(key, "%llu", number);
}

static void ended(void *thread)
{
    struct trc_thread *t = thread;
    t->ran = trc.two_clocks ? t->back_cpu : trc_clock_ran();
    if (trc.on)
        tell(t, "ended", calls_of(first_thread));
}

static void ending_make(void)
{
    pthread_key_create(&ending, ended);
}

void trc_thread_follow(struct trc_thread *t, struct trc_thread *first, int64_t seen, int64_t ran)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int64_t since = seen - first->back;
    pthread_once(&once, ending_make);
    pthread_setspecific(ending, t);
    tell(t, "after", calls_of(first));
    if (since > 0) {
        t->back -= since;
        t->back_cpu -= ran < since ? ran : since; /* an older thread ran before that, too */
    }
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0, 0};
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void trc_threads_begin(struct trc_thread *first)
{
    first_thread = first;
    begun_all = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    begun_first = clock_ns(first->cpu);
}

void trc_threads_end(void)
{
    int64_t all = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_all, others = all + begun_first;
    for (const struct trc_thread *t = trc.threads; t; t = t->next)
        others -= t->ran >= 0 ? t->ran : clock_ns(t->cpu);
    if (others < OTHERS_LEAST || others < all / 20)
        return;
    trc_info("other_threads_ns", "%lld", (long long)others);
    if (trc.rank == 0)
        trc_warn("threads that do not call MPI, or no more, ran for %.3f s, which are in no computation; "
                 "with --clock wall those that wait for them compute",
                 1e-9 * (double)others);
}

uint64_t trc_thread_own(struct trc_thread *t, int64_t end, uint64_t given)
{
    int64_t before = t->over;
    t->over = end;
    if (!before) /* from here on with several threads: the block begins again, with the time of day */
        mars_writer_flush(t->writer);
    int64_t own = before ? end - before - (int64_t)given : 0;
    return own > 0 ? (uint64_t)own : 0;
}
