/* slurm.c - an array job: each of its tasks is marssweep --share I/N with the same words, on the cores of one
 * task, which writes folders only; marssweep --collect makes the database, the table and the figure of them.
 */
#define _GNU_SOURCE
#include "tools/marssweep/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TASKS 1000 /* Slurm's MaxArraySize is 1,001 where nobody has changed it */

static void word_write(FILE *out, const char *word)
{
    fputs(" '", out);
    for (; *word; word++)
        fprintf(out, *word == '\'' ? "'\\''" : "%c", *word);
    fputc('\'', out);
}

/* The program and its words, without --slurm. */
static void command_write(FILE *out, char **argv, const char *more)
{
    char *path = realpath("/proc/self/exe", NULL);
    fprintf(out, "'%s' %s", path ? path : argv[0], more);
    for (char **word = argv + 1; *word; word++)
        if (strncmp(*word, "--sl", 4) != 0)
            word_write(out, *word);
    fputc('\n', out);
    free(path);
}

enum ker_status sweep_slurm_write(const struct sweep *s, char **argv, struct ker_error *error)
{
    char *path = ker_format("%s/sweep.sbatch", s->dir), *here = realpath(".", NULL);
    size_t wanted = 0;
    for (size_t i = 0; i < s->points; i++)
        wanted += s->point[i]->state == SWEEP_WANTED;
    size_t tasks = wanted < MOST_TASKS ? wanted : MOST_TASKS;
    FILE *out = tasks ? fopen(path, "w") : NULL;
    if (tasks == 0)
        ker_fail(error, KER_BAD_INPUT, "--slurm: all %zu points are done", s->points);
    else if (!out)
        ker_fail(error, KER_BAD_INPUT, "%s: %s", path, strerror(errno));
    else {
        fprintf(
            out,
            "#!/bin/bash\n# %zu points; written by marssweep. Options of the partition and of time go here.\n"
            "#SBATCH --job-name=sweep\n#SBATCH --array=0-%zu\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n"
            "#SBATCH --output=/dev/null\ncd '%s' || exit 2\n",
            wanted, tasks - 1, here ? here : ".");
        char *share = ker_format("--share=$SLURM_ARRAY_TASK_ID/%zu -q", tasks);
        command_write(out, argv, share);
        free(share);
        if (fclose(out) != 0)
            ker_fail(error, KER_RUN_FAILED, "%s: cannot be written", path);
        printf("sbatch %s\n# and when it has ended:\n", path);
        command_write(stdout, argv, "--collect");
    }
    free(path);
    free(here);
    return error->status;
}
