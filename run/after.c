/* after.c - jobs that begin when others have ended (jobs[].after): at the first check time behind the end.
 *
 * There all ranks are at one time, and by sums over them they know which jobs have ended. What begins is
 * posted there; the engine is informed, since it had agreed on nothing being due.
 */
#include "run/stages.h"

ker_time run_after_interval(const struct run *run)
{
    return task_system_dependent(run->tasks) ? run->interval : 0;
}

void run_after_hold(struct run *run)
{
    if (run_after_interval(run))
        ker_engine_hold(run->engine);
}

void run_after_look(struct run *run, ker_time at)
{
    if (task_system_release(run->tasks, run->working, at, run_skip_until(run)))
        ker_engine_posted(run->engine);
}
