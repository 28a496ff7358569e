/* client.c - where the MPI model meets the network and the jobs: nothing but hand-overs, so that tests can
 * leave it out. */
#include "tasks/mpi/mpi.h"

static void client_start(struct net_node *net, ker_time now)
{
    task_mpi_node_start(net_node_client(net), net, now);
}

static void client_arrived(struct net_node *net, ker_time now, const struct net_message *message)
{
    task_mpi_node_arrived(net_node_client(net), net, now, message);
}

static void client_sent(struct net_node *net, ker_time now, uint64_t cookie)
{
    task_mpi_node_sent(net_node_client(net), net, now, cookie);
}

static void client_timer(struct net_node *net, ker_time now, uint32_t timer)
{
    task_mpi_node_timer(net_node_client(net), net, now, timer);
}

const struct net_client task_mpi_client = {
    .name = "mpi",
    .start = client_start,
    .arrived = client_arrived,
    .sent = client_sent,
    .timer = client_timer,
};

static const struct task_job *outside_job(const void *jobs, uint32_t job)
{
    return task_jobs_get(jobs, job);
}

static uint32_t outside_node(const void *jobs, uint32_t job, uint32_t task)
{
    return task_jobs_node(jobs, job, task);
}

struct task_mpi_outside task_mpi_outside_make(const struct task_jobs *jobs)
{
    return (struct task_mpi_outside){
        .send = net_send,
        .timer = net_timer,
        .touch = net_node_touch,
        .job = outside_job,
        .node = outside_node,
        .jobs = jobs,
    };
}
