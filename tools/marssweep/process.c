/* process.c - a point's run in a process of its own: the program itself, without starting another one.
 *
 * It writes to DIR/part/KEY; that becomes DIR/runs/KEY (DIR/again/KEY for a point that has results already)
 * when it is complete, so that after any end there are whole folders and nothing else. What the run prints is
 * in DIR/part/KEY.log. It ends with the process that has started it.
 */
#include "tools/marssweep/sweep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void process_begin(const char *log)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out < 0)
        _exit(KER_RUN_FAILED);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
}

_Noreturn static void process_end(int status)
{
    fflush(NULL);
    _exit(status);
}

static int run(const struct sweep *s, const struct sweep_point *p, const char *folder, bool check)
{
    static const char *const own[] = {"partition.bind=no", "routing.check_work=1"};
    struct run_arguments args = {.file = s->file, .folder = folder, .quiet = true, .check = check};
    args.overrides = sweep_overrides_make(&p->words, &args.override_count);
    for (int i = 0; i < (check ? 2 : 1); i++)
        *KER_APPEND(args.overrides, args.override_count) = own[i];
    return run_execute(&args, ker_comm_alone(), ker_clock_ns(CLOCK_MONOTONIC));
}

/* What a run has printed stays with its results. */
static void log_move(const char *log, const char *folder)
{
    struct stat is;
    char *to = ker_format("%s/log.txt", folder);
    fflush(NULL);
    if (stat(log, &is) == 0 && is.st_size > 0)
        rename(log, to);
    else
        unlink(log);
    free(to);
}

_Noreturn void sweep_point_run(const struct sweep *s, const struct sweep_point *p)
{
    static struct ker_error error;
    char *part = sweep_folder_of(s, "part", p->key), *log = ker_format("%s.log", part),
         *to = sweep_folder_of(s, p->again || p->stale ? "again" : "runs", p->key);
    process_begin(log);
    if (p->again || p->stale)
        sweep_folder_need(s, "again");
    int status = run(s, p, part, false);
    if (status == KER_OK)
        status = sweep_folder_describe(s, p, part, &error);
    if (status == KER_OK) {
        log_move(log, part);
        if (rename(part, to) != 0)
            status = ker_fail(&error, KER_RUN_FAILED, "%s: cannot be renamed to %s", part, to);
    }
    if (error.status != KER_OK)
        fprintf(stderr, "marssweep: error: %s\n", error.text);
    process_end(status);
}

_Noreturn void sweep_point_check(const struct sweep *s, const struct sweep_point *p)
{
    process_begin("/dev/null");
    process_end(run(s, p, NULL, true));
}
