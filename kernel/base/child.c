/* child.c - see child.h. */
#include "kernel/base/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals end it, whatever the program does with them. */
static void child_alone(void)
{
    static const int signals[] = {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGPIPE};
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
}

FILE *ker_child_begin(void (*work)(FILE *out, void *context), void *context, pid_t *child)
{
    int end[2];
    *child = -1;
    if (pipe(end) != 0)
        return NULL;
    *child = fork();
    if (*child == 0) {
        FILE *out = fdopen(end[1], "wb");
        child_alone();
        if (out) {
            work(out, context);
            fflush(out);
        }
        _exit(!out);
    }
    close(end[1]);
    FILE *in = *child > 0 ? fdopen(end[0], "rb") : NULL;
    if (!in)
        close(end[0]);
    return in;
}

int ker_child_end(FILE *in, pid_t child)
{
    int status = 0;
    if (in)
        fclose(in);
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    return status;
}
