/* outside.c - where the MPI model meets the nodes and the jobs: nothing but hand-overs, so that tests can
 * leave it out. */
#include "tasks/mpi/mpi.h"

static const struct task_job *outside_job(const void *jobs, uint32_t job)
{
    return task_jobs_get(jobs, job);
}

static uint32_t outside_node(const void *jobs, uint32_t job, uint32_t task)
{
    return task_jobs_node(jobs, job, task);
}

static struct task_place outside_place(const void *jobs, uint32_t job, uint32_t task)
{
    return task_jobs_place(jobs, job, task);
}

static bool outside_work(struct node *node, ker_time now, uint32_t service, uint32_t number,
                         const struct node_work *work)
{
    return node_work(node, now, service, number, work);
}

void task_mpi_outside_works(struct task_mpi_outside *outside)
{
    outside->work = outside_work;
    outside->result = node_work_result;
}

struct task_mpi_outside task_mpi_outside_make(const struct task_jobs *jobs)
{
    return (struct task_mpi_outside){
        .send = node_send,
        .timer = node_timer,
        .latest = node_latest,
        .quiet = node_quiet,
        .job = outside_job,
        .node = outside_node,
        .seat = !task_jobs_each(jobs) || task_jobs_hosts(jobs) ? outside_place : NULL,
        .place = task_jobs_each(jobs) && task_jobs_hosts(jobs) ? outside_place : NULL,
        .jobs = jobs,
    };
}
