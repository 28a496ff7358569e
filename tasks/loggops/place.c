/* place.c - which processes there are, and where: jobs one after the other, and ranks likewise. */
#include "tasks/loggops/model.h"

uint32_t loggops_job_of(const struct loggops_system *s, uint32_t process)
{
    return KER_BISECT(i, 1, s->jobs, s->job[i].first <= process) - 1;
}

/* The first process of a rank. */
static uint32_t first_of(const struct loggops_system *s, uint32_t rank)
{
    uint32_t each = s->processes / s->ranks, more = s->processes % s->ranks;
    return rank * each + (rank < more ? rank : more);
}

void loggops_spread(struct loggops_system *s, uint32_t rank, uint32_t ranks)
{
    s->ranks = ranks;
    s->first = rank < ranks ? first_of(s, rank) : s->processes;
    s->count = rank < ranks ? first_of(s, rank + 1) - s->first : 0;
}

struct ker_address loggops_address(const struct loggops_system *s, uint32_t process)
{
    if (process >= s->first && process < s->first + s->count)
        return (struct ker_address){s->together ? 0 : process - s->first, ker_engine_rank(s->engine)};
    uint32_t each = s->processes / s->ranks, more = s->processes % s->ranks, large = more * (each + 1);
    uint32_t rank = process < large ? process / (each + 1) : more + (process - large) / each;
    return (struct ker_address){process - first_of(s, rank), rank};
}
