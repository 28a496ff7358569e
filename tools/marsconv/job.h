/* job.h - the job that replays a trace, without a simulation: what a reader of the simulator makes of it. */
#pragma once

#include "tools/marsconv/conv.h"

#include "traces/traces.h"

struct conv_job {
    struct ker_config *config;
    struct ker_comm *alone;
    const struct task_program_class *class;
    struct task_program *program;         /* all tasks are its own */
    const struct foreign_reader *foreign; /* set before: it shall report times (traces/foreign/foreign.h) */
};
/* format: jobs[].format. conv_options.key has more keys of the job. To be closed whatever it returns. */
enum ker_status conv_job_open(struct conv_job *, const char *path, const char *format,
                              const struct conv_options *, struct ker_error *);
void conv_job_close(struct conv_job *);
