/* request.c - signals become bits; see request.h.
 *
 * The handler calls only what POSIX allows there: clock_gettime, write, rename, _exit, and a lock-free atomic
 * operation.
 */
#include "kernel/engine/request.h"

#include "kernel/base/comm_mpi.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TAG_REQUEST 32766
#define ECHO_NS 200000000

volatile unsigned ker_request_bits;

static const int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
#define SIGNALS ((int)(sizeof signals / sizeof *signals))

static struct sigaction before[SIGNALS];
static volatile sig_atomic_t running, control, asked;
static int64_t first;
static char *mark[2];          /* its names: before, after */
static uint64_t passed, heard; /* messages about requests */

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody listens */
}

/* Of a signal that a launcher sends to all its processes, or a terminal to all of the foreground, the control
 * rank reports alone. */
static bool tells(const siginfo_t *info)
{
    return control || (info->si_pid != 0 && info->si_pid != getppid());
}

static bool is_echo(void)
{
    int64_t now = ker_clock_ns(CLOCK_MONOTONIC);
    if (!asked)
        first = now;
    return asked && now - first < ECHO_NS;
}

void ker_request_ask(unsigned bits)
{
    __atomic_fetch_or(&ker_request_bits, bits, __ATOMIC_RELAXED);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    if (number == SIGUSR1 || number == SIGUSR2) {
        ker_request_ask(number == SIGUSR1 ? KER_REQUEST_STATUS : KER_REQUEST_CHECKPOINT);
        return;
    }
    bool echo = is_echo();
    if (!running && tells(info))
        say("marssim: ended by a signal before the first event: nothing was simulated\n");
    else if (running && asked && !echo && tells(info))
        say("marssim: ended at once by a second signal: results are not complete\n");
    if (!running || (asked && !echo)) {
        if (mark[0])
            rename(mark[0], mark[1]); /* of several ranks the first does it */
        _exit(128 + number);
    }
    asked = 1;
    ker_request_ask(number == SIGINT ? KER_REQUEST_INTERRUPT : KER_REQUEST_TERMINATE);
}

static void pass_over(int number)
{
}

void ker_request_early(void)
{
    static const int ends_nothing[] = {SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_handler = pass_over, .sa_flags = SA_RESTART}, is;
    for (int i = 0; i < 2; i++) {
        sigaction(ends_nothing[i], NULL, &is);
        if (is.sa_handler == SIG_DFL)
            sigaction(ends_nothing[i], &action, NULL);
    }
}

void ker_request_listen(struct ker_comm *comm)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&action.sa_mask, signals[i]);
    control = ker_comm_rank(comm) == 0;
    running = asked = 0;
    ker_request_bits = 0;
    passed = heard = 0;
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void ker_request_release(void)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
}

void ker_request_open(void)
{
    running = 1;
}

void ker_request_mark(char *from, char *to)
{
    char *former[2] = {mark[0], mark[1]};
    mark[0] = NULL; /* first: a signal may come now */
    mark[1] = to;
    mark[0] = from;
    free(former[0]);
    free(former[1]);
}

unsigned ker_request_take(void)
{
    return __atomic_exchange_n(&ker_request_bits, 0, __ATOMIC_RELAXED);
}

int ker_request_status(unsigned bits)
{
    if (bits & KER_REQUEST_TERMINATE)
        return 128 + SIGTERM;
    return bits & KER_REQUEST_INTERRUPT ? 128 + SIGINT : 0;
}

void ker_request_pass(struct ker_comm *comm)
{
    unsigned bits = ker_request_take();
    if (!bits)
        return;
    MPI_Send(&bits, 1, MPI_UNSIGNED, 0, TAG_REQUEST, ker_comm_mpi(comm));
    passed++;
}

static void hear_one(struct ker_comm *comm)
{
    unsigned bits;
    MPI_Recv(&bits, 1, MPI_UNSIGNED, MPI_ANY_SOURCE, TAG_REQUEST, ker_comm_mpi(comm), MPI_STATUS_IGNORE);
    __atomic_fetch_or(&ker_request_bits, bits, __ATOMIC_RELAXED);
    heard++;
}

void ker_request_hear(struct ker_comm *comm)
{
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG_REQUEST, ker_comm_mpi(comm), &there, MPI_STATUS_IGNORE);
    if (there)
        hear_one(comm);
}

void ker_request_settle(struct ker_comm *comm)
{
    uint64_t all = passed;
    ker_comm_sum_u64(comm, &all, 1);
    while (ker_comm_rank(comm) == 0 && heard < all)
        hear_one(comm);
}
