/* clock.c - when a call came in and went back, and how much of a computation the thread did not run.
 *
 * Reading a thread's CPU clock costs a system call, some 400 ns. So it is read only when the thread has been
 * descheduled since it was last known: the kernel then clears the field rseq_cs that each thread registers
 * with it (restartable sequences, see rseq(2) and linux/rseq.h), so we leave the address of a sequence there
 * in which the thread never is, and look whether it is still there. As long as it is, CPU time has passed
 * like wall time.
 *
 * known_wall and known_cpu are a moment at which both clocks were read together. A thread that loses the
 * processor between the two readings would count what others ran as its own, or the reverse: readings that
 * are much further apart than they need be are taken again.
 */
#define _GNU_SOURCE
#include "trc.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAS_RSEQ 1
#endif

#define RSEQ_WANTED 20 /* bytes of struct rseq */

static __thread struct {
    int64_t known_wall, known_cpu;
    int64_t apart; /* of two readings of wall time with one of the CPU clock between them, at least */
    bool rseq;
} cpu __attribute__((tls_model("initial-exec")));

int64_t trc_clock_ran(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef HAS_RSEQ
/* A sequence of one byte in which no thread ever is, and the place to which it would be sent, with the
 * signature that the kernel wants to see before it. Nothing of it is run. */
#define TEXT_OF(x) TEXT_OF_(x)
#define TEXT_OF_(x) #x
__asm__(".pushsection .text\n"
        ".balign 16\n"
        "trc_sequence_code: .long 0\n"
        ".long " TEXT_OF(RSEQ_SIG) "\n"
                                   "trc_sequence_abort: .long 0\n"
                                   ".popsection\n");
extern const char trc_sequence_code[], trc_sequence_abort[];

/* struct rseq: two words of 4 bytes, then rseq_cs. */
static volatile uint64_t *own_rseq_cs(void)
{
    return (volatile uint64_t *)((char *)__builtin_thread_pointer() + __rseq_offset + 8);
}

static struct rseq_cs sequence __attribute__((aligned(32)));

static bool undisturbed(void)
{
    return *own_rseq_cs() == (uintptr_t)&sequence;
}

static void watch(void)
{
    *own_rseq_cs() = (uintptr_t)&sequence;
}

/* Does the kernel clear it when the thread waits? */
static bool rseq_works(void)
{
    if (__rseq_size < RSEQ_WANTED || getenv("MARSTRACE_NO_RSEQ"))
        return false;
    sequence.start_ip = (uintptr_t)trc_sequence_code;
    sequence.post_commit_offset = 1;
    sequence.abort_ip = (uintptr_t)trc_sequence_abort;
    int tries = 100; /* on a busy machine the thread may lose the processor between these lines */
    do
        watch();
    while (!undisturbed() && --tries);
    if (!tries)
        return false;
    /* Under real-time scheduling a short sleep may be over before it begins. */
    for (long ns = 1000; ns <= 1000000 && undisturbed(); ns *= 10)
        nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
    return !undisturbed();
}
#else
static bool undisturbed(void)
{
    return false;
}
static void watch(void)
{
}
static bool rseq_works(void)
{
    return false;
}
#endif

const char *trc_clock_way(void)
{
    return !trc.two_clocks ? "wall" : cpu.rseq ? "rseq" : "read";
}

#define READINGS 10 /* at most */

/* Nothing else ran between two readings that are so far apart. */
static bool together(int64_t apart)
{
    return apart <= 4 * cpu.apart + 1000;
}

/* Reads both clocks at one moment; returns the CPU time at *begun, when wall time was first read. */
static int64_t clocks_read(int64_t *begun)
{
    int64_t first = 0;
    for (int i = 0; i < READINGS; i++) {
        if (cpu.rseq)
            watch();
        int64_t before = trc_wall();
        cpu.known_cpu = trc_clock_ran();
        cpu.known_wall = trc_wall();
        int64_t apart = cpu.known_wall - before;
        if (apart < cpu.apart)
            cpu.apart = apart;
        if (i == 0) {
            first = cpu.known_cpu - (together(apart) ? apart : cpu.apart);
            *begun = before;
        }
        if (together(apart))
            break;
    }
    return first;
}

/* The thread's CPU time at `wall`, which is now, or was when the thread had the processor last. */
static int64_t cpu_at(int64_t wall)
{
    if (cpu.rseq && undisturbed())
        return cpu.known_cpu + (wall - cpu.known_wall);
    int64_t begun, ran = clocks_read(&begun);
    return together(begun - wall) ? ran - (begun - wall) : ran;
}

void trc_clock_begin(struct trc_thread *t)
{
    if (trc.two_clocks) {
        int64_t begun;
        cpu.rseq = rseq_works();
        if (!cpu.rseq && t->thread == 0 && trc.rank == 0 && !getenv("MARSTRACE_NO_RSEQ"))
            trc_warn(
                "there are no restartable sequences: the CPU clock is read at each call, which takes 1 us");
        cpu.apart = INT64_MAX / 8;
        for (int i = 0; i < READINGS; i++)
            clocks_read(&begun);
    }
    trc_clock_back(t);
}

/* The program calls: what has it computed since it got back the processor from us? */
void trc_clock_entered(struct trc_thread *t)
{
    t->enter = trc_wall();
    t->away = 0;
    if (t->counts)
        trc_counters_entered(t);
    if (!trc.two_clocks)
        return;
    int64_t ran = cpu_at(t->enter) - t->back_cpu, gap = t->enter - t->back;
    t->away = ran < gap ? (uint64_t)(gap - (ran > 0 ? ran : 0)) : 0;
}

/* It continues. */
void trc_clock_back(struct trc_thread *t)
{
    if (t->counts)
        trc_counters_back(t);
    t->back = trc_wall();
    if (trc.two_clocks)
        t->back_cpu = cpu_at(t->back);
}
