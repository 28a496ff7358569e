/* factors.h - tasks that differ from their job, jobs[].task_factors. Private to tasks/jobs/. */
#pragma once

#include "tasks/jobs/jobs.h"

/* Into job->factors, when the job's own factors and its number of tasks are known; path: "jobs[2]". */
enum ker_status task_factors_read(struct task_job *, const struct ker_config *, const char *path,
                                  struct ker_error *);
