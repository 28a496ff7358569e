/* timeline.c - what cores did, for timelines: blocks by their entry method, waits between them, and messages
 * between objects of different cores.
 */
#include "tasks/driven/model.h"

static void call_show(struct driven_core *core, const char *function, ker_time begin, ker_time end,
                      bool waits)
{
    struct stats_wait wait = {begin, end};
    struct stats_call call = {.group = core->job_number,
                              .task = core->task,
                              .number = core->line.calls++,
                              .function = function,
                              .before = begin,
                              .begin = begin,
                              .end = end,
                              .peer = STATS_CALL_NOBODY,
                              .tag = STATS_CALL_NOBODY,
                              .comm = STATS_CALL_NOBODY,
                              .wait = &wait,
                              .waits = waits};
    stats_timeline_call(core->driven->timeline, &call);
}

void driven_line_block(struct driven_core *core, ker_time end)
{
    if (!core->line.shown)
        return;
    if (core->begun > core->line.until)
        call_show(core, "wait", core->line.until, core->begun, true);
    call_show(core, core->program->entry[core->block.entry].name, core->begun, end, false);
    core->line.until = end;
}

void driven_line_message(struct driven_core *core, uint32_t source, uint64_t bytes, ker_time sent,
                         ker_time now)
{
    struct stats_timeline *timeline = core->driven->timeline;
    if (!core->line.shown || !stats_timeline_messages(timeline, false) ||
        !stats_timeline_has(timeline, core->job_number, source))
        return;
    stats_timeline_message(timeline, &(struct stats_message){.group = core->job_number,
                                                             .source = source,
                                                             .destination = core->task,
                                                             .number = core->line.messages++,
                                                             .sent = sent,
                                                             .arrived = now,
                                                             .received = now,
                                                             .bytes = bytes});
}

void task_driven_record(struct task_driven *d, struct stats_timeline *timeline)
{
    d->timeline = timeline;
}

void task_driven_timeline_end(struct task_driven *d, ker_time end)
{
    for (uint32_t i = 0; i < d->cores; i++)
        if (d->core[i].runs && d->core[i].begun < end)
            driven_line_block(&d->core[i], end);
}
