/* path.c - critical paths of schedules, from what their tasks have recorded (record.h). */
#include "tasks/loggops/model.h"

#include "tasks/mpi/path.h"

static void own_fill(struct loggops_system *s, uint32_t index, struct task_path_own *own)
{
    struct loggops_process *p = &s->process[index];
    struct task_ring *ring = &s->records->of[index].ring;
    ker_time last = -1;
    for (unsigned cpu = 0; cpu < s->cpus; cpu++) {
        ker_time until = s->records->cpu[(size_t)index * s->cpus + cpu].until;
        ring->last = until > last ? (uint16_t)cpu : ring->last;
        last = until > last ? until : last;
    }
    *own = (struct task_path_own){.job = p->job,
                                  .task = loggops_rank(s, p) - s->job[p->job].first,
                                  .started = s->job[p->job].start,
                                  .finish = loggops_finish(s, p),
                                  .ring = ring,
                                  .active = -1};
}

static bool own_task(void *context, uint32_t index, struct task_path_own *own)
{
    struct loggops_system *s = context;
    if (!s->process || index >= s->count)
        return false;
    own_fill(s, index, own);
    return true;
}

static bool own_find(void *context, uint32_t job, uint32_t task, struct task_path_own *own)
{
    struct loggops_system *s = context;
    uint32_t index = s->job[job].first + task - s->first;
    if (!s->process || index >= s->count)
        return false;
    own_fill(s, index, own);
    return true;
}

enum ker_status loggops_path(struct loggops_system *s, const struct route_topology *topology,
                             struct ker_comm *comm, const struct stats_folder *folder, json_t *jobs,
                             struct ker_error *error)
{
    struct task_mpi_outside outside = task_mpi_outside_make(s->all);
    struct task_mpi_names names = {&outside, topology};
    struct task_path_source source = {s, s->jobs, KER_TIME_MAX, false, own_task, own_find};
    json_t *paths = NULL;
    enum ker_status status = task_path_write(&source, &names, comm, folder, &paths, error);
    for (size_t job = 0; paths && job < json_array_size(paths); job++)
        json_object_set(json_array_get(jobs, job), "critical_path", json_array_get(paths, job));
    json_decref(paths);
    return status;
}
