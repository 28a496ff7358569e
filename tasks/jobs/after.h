/* after.h - jobs that wait for others. Private to tasks/jobs/. */
#pragma once

#include "tasks/jobs/jobs.h"

/* When the settings of all are known: fills in which each waits for; fails when one could never begin. */
enum ker_status task_after_read(struct task_job *const *job, uint32_t count, const struct ker_config *,
                                struct ker_error *);
