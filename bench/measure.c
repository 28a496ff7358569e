/* measure.c - what a command costs: measure COMMAND [ARGUMENT ...]
 *
 * Runs it with its output thrown away (errors are shown) and prints one line: wall seconds, processor seconds
 * (user and system, of the process and of all it waited for), and the largest resident memory of one process
 * in bytes. bash's time has no memory, /usr/bin/time is not everywhere. Exit status: the command's.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void run(char **command)
{
    int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

int main(int argc, char **argv)
{
    struct timespec from, to;
    struct rusage used;
    int status;
    if (argc < 2) {
        fprintf(stderr, "usage: measure COMMAND [ARGUMENT ...]\n");
        return 2;
    }
    clock_gettime(CLOCK_MONOTONIC, &from);
    pid_t child = fork();
    if (child == 0)
        run(argv + 1);
    if (child < 0 || wait4(child, &status, 0, &used) < 0) {
        perror("measure");
        return 2;
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double wall = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    printf("%.3f %.3f %lld\n", wall, seconds(used.ru_utime) + seconds(used.ru_stime),
           (long long)used.ru_maxrss * 1024);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
