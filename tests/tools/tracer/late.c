/* late.c - a stand-in for a busy machine in tests/tools/tracer.sh: a thread that loses the processor while it
 * reads its CPU clock. Linked into the program it is before the C library's: each third reading waits, in
 * turn before and behind it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void others_run(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, 0);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*whole)(clockid_t, struct timespec *);
    static __thread unsigned readings;
    if (!whole)
        whole = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    if (clock != CLOCK_THREAD_CPUTIME_ID)
        return whole(clock, now);
    readings++;
    if (readings % 6 == 0)
        others_run();
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (readings % 6 == 3)
        others_run();
    return result;
}
