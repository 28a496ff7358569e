/* timelines.c - output.timeline: recorded by every rank that simulates, written when the run has ended. */
#include "run/stages.h"

#include <stdlib.h>

/* Its span must be able to hold anything. */
static enum ker_status span_check(struct run *run)
{
    char text[32];
    if (run->end == KER_TIME_MAX || ker_config_time(run->config, "output.timeline_from") < run->end)
        return KER_OK;
    return ker_config_fail(run->config, &run->error, "output.timeline_from",
                           "lies behind the end of the run, %s: nothing would be recorded",
                           ker_print_time(text, run->end));
}

static bool traced(const struct run *run)
{
    return ker_config_bool(run->config, "output.timeline_traced");
}

/* The links are behind the jobs. */
static void timeline_new(struct run *run, struct stats_group *group, uint32_t jobs)
{
    const char *const *name;
    uint32_t links = run_links(run) ? run_links(run)->tracks(run->network, &name) : 0, count = jobs;
    if (links)
        group[count++] = (struct stats_group){.name = "links", .tasks = links, .link = name};
    if (count)
        stats_timeline_new(&run->timeline, run->config, group, count, &run->error);
    else
        ker_config_fail(run->config, &run->error, "output.timeline",
                        "there is no job whose tasks it could show; output.timeline_links chooses links");
}

void run_timeline_make(struct run *run)
{
    if (!stats_timeline_wanted(run->config) || span_check(run))
        return;
    uint32_t count;
    struct stats_group *group = task_system_groups(run->tasks, traced(run), &count);
    if (traced(run) && (count == 0 || !group[count - 1].traced))
        ker_config_fail(
            run->config, &run->error, "output.timeline_traced",
            "there is no job that replays a trace of marstrace: of others it is not known when they "
            "called what");
    else
        timeline_new(run, group, count);
    free(group);
    if (!run->timeline)
        return;
    task_system_record(run->tasks, run->timeline);
    if (run_links(run))
        run_links(run)->record(run->network, run->timeline);
}

void run_timeline_print(const struct run *run)
{
    const char *const *name;
    char a[32], b[32], c[32];
    uint64_t file, links = run_links(run) ? run_links(run)->tracks(run->network, &name) : 0;
    if (!run->timeline)
        return;
    uint64_t bytes = stats_timeline_cost(run->timeline, &file);
    printf("timeline   %s of memory on each rank, at most %s of a temporary file",
           ker_print_bytes(a, (double)bytes), ker_print_bytes(b, (double)file));
    if (links)
        printf("; %s more for states of %llu links",
               ker_print_bytes(c, (double)run_links(run)->tracks_bytes(run->network)),
               (unsigned long long)links);
    putchar('\n');
}

json_t *run_timeline_write(struct run *run, ker_time end)
{
    if (!run->working || !run->timeline)
        return NULL;
    task_system_timeline_end(run->tasks, end);
    if (run->control && traced(run))
        task_system_traced(run->tasks, run->timeline, &end, &run->error);
    return stats_timeline_write(run->timeline, run->working, run->folder.path, end, &run->error);
}
