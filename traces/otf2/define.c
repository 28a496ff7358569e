/* define.c - tasks and communicators from the definitions of an archive. */
#include "traces/otf2/otf2.h"

#include <stdlib.h>
#include <string.h>

/* All definitions begin with their ids, of 8 bytes (locations) or 4. */
#define SORT4(list, count) qsort(list, count, sizeof *(list), ker_order_u32)
#define FIND4(list, count, id) bsearch(&(id), list, count, sizeof *(list), ker_order_u32)

const struct otf2_location *otf2_location_find(const struct otf2_trace *trace, uint64_t id)
{
    if (trace->locations == 0)
        return NULL;
    return bsearch(&id, trace->location, trace->locations, sizeof *trace->location, ker_order_u64);
}

const struct otf2_region *otf2_region_find(const struct otf2_trace *trace, uint32_t id)
{
    return trace->regions ? FIND4(trace->region, trace->regions, id) : NULL;
}

const struct otf2_comm *otf2_comm_find(const struct otf2_trace *trace, uint32_t id)
{
    return trace->comms ? FIND4(trace->comm, trace->comms, id) : NULL;
}

/* Groups of several types may have one id. */
static const struct otf2_group *group_find(const struct otf2_trace *trace, uint32_t id, uint8_t type)
{
    const struct otf2_group *found = trace->groups ? FIND4(trace->group, trace->groups, id) : NULL;
    if (!found)
        return NULL;
    while (found > trace->group && found[-1].id == id)
        found--;
    for (; found < trace->group + trace->groups && found->id == id; found++)
        if (found->type == type)
            return found;
    return NULL;
}

void otf2_release(struct otf2_trace *trace)
{
    for (uint32_t i = 0; i < trace->texts; i++)
        free(trace->text[i].text);
    for (uint32_t i = 0; i < trace->groups; i++)
        free(trace->group[i].member);
    KER_FREE(trace->text, trace->group, trace->location, trace->region, trace->comm, trace->creator);
}

/* ---- tasks ---- */

static enum ker_status tasks_find(struct otf2_trace *trace, struct foreign_trace *to, struct ker_error *error)
{
    const struct otf2_group *group = NULL;
    for (uint32_t i = 0; i < trace->groups && !group; i++)
        if (trace->group[i].type == OTF2_GROUP_LOCATIONS)
            group = &trace->group[i];
    if (!group || group->count == 0)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: the archive does not define which locations talk by MPI (a group of the type "
                        "COMM_LOCATIONS and the paradigm MPI): no tasks are known",
                        trace->path);
    if (group->count > FOREIGN_TASKS_MOST)
        return ker_fail(error, KER_BAD_INPUT, "%s: %u tasks; there can be %u", trace->path, group->count,
                        FOREIGN_TASKS_MOST);
    to->tasks = group->count;
    trace->task = group->member;
    for (uint32_t i = 0; i < group->count; i++)
        if (!otf2_location_find(trace, group->member[i]))
            return ker_fail(error, KER_BAD_INPUT,
                            "%s: task %u is location %llu, of which there is no definition", trace->path, i,
                            (unsigned long long)group->member[i]);
    return KER_OK;
}

/* ---- communicators ---- */

/* Are they tasks, each at most once? *world: all of them, in their order. */
static bool members_check(const struct otf2_group *group, uint32_t tasks, bool *seen, bool *world)
{
    bool fine = group->count > 0;
    *world = group->count == tasks;
    for (uint32_t i = 0; i < group->count && fine; i++) {
        fine = group->member[i] < tasks && !seen[group->member[i]];
        if (fine)
            seen[group->member[i]] = true;
        *world = *world && group->member[i] == i;
    }
    for (uint32_t i = 0; i < group->count; i++)
        if (group->member[i] < tasks)
            seen[group->member[i]] = false;
    return fine;
}

static enum ker_status comm_define(struct otf2_trace *trace, struct foreign_trace *to, struct otf2_comm *comm,
                                   bool *seen, bool *has_world, struct ker_error *error)
{
    const struct otf2_group *group = group_find(trace, comm->group, OTF2_GROUP_RANKS);
    bool world;
    if (comm->kind == OTF2_COMM_BETWEEN)
        return KER_OK;
    comm->kind = group_find(trace, comm->group, OTF2_GROUP_SELF) ? OTF2_COMM_SELF : OTF2_COMM_OTHER;
    if (!group)
        return KER_OK;
    if (!members_check(group, to->tasks, seen, &world))
        return ker_fail(
            error, KER_BAD_INPUT,
            "%s: communicator %u has the members of group %u, which are not all of them different "
            "tasks from 0 to %u",
            trace->path, comm->id, comm->group, to->tasks - 1);
    comm->kind = OTF2_COMM_RANKS;
    comm->index = 0;
    if (world && !*has_world) {
        *has_world = true;
        return KER_OK;
    }
    comm->index = to->comms++;
    trace->members += group->count;
    return KER_OK;
}

/* The job's, as the definitions were numbered. */
static void comms_make(const struct otf2_trace *trace, struct foreign_trace *to)
{
    int32_t *members = to->members = ker_alloc((trace->members + 1) * sizeof *members);
    to->comm = ker_alloc((size_t)to->comms * sizeof *to->comm);
    to->comm[0] = (struct task_comm){.size = (int32_t)to->tasks};
    for (uint32_t i = 0; i < trace->comms; i++) {
        const struct otf2_comm *comm = &trace->comm[i];
        if (comm->kind != OTF2_COMM_RANKS || comm->index == 0)
            continue;
        const struct otf2_group *group = group_find(trace, comm->group, OTF2_GROUP_RANKS);
        to->comm[comm->index] = (struct task_comm){.size = (int32_t)group->count, .member = members};
        for (uint32_t m = 0; m < group->count; m++)
            *members++ = (int32_t)group->member[m];
    }
}

static enum ker_status comms_find(struct otf2_trace *trace, struct foreign_trace *to, struct ker_error *error)
{
    bool *seen = ker_alloc(to->tasks * sizeof *seen), has_world = false;
    enum ker_status status = KER_OK;
    trace->members = 0;
    for (uint32_t i = 0; i < trace->comms && status == KER_OK; i++)
        status = comm_define(trace, to, &trace->comm[i], seen, &has_world, error);
    free(seen);
    if (status == KER_OK)
        comms_make(trace, to);
    return status;
}

/* ---- regions ---- */

/* Which are functions of MPI; and what the sizes of collectives are, if the writer is known. */
static void regions_name(struct otf2_trace *trace)
{
    bool eztrace = false;
    for (uint32_t i = 0; i < trace->regions; i++) {
        struct otf2_region *region = &trace->region[i];
        const struct otf2_text *text = trace->texts ? FIND4(trace->text, trace->texts, region->name) : NULL;
        region->text = text ? text->text : "";
        region->function = otf2_function_find(region->text);
        region->mpi = region->mpi || region->function;
        eztrace = eztrace || strcmp(region->text, "EZTrace finalize") == 0;
    }
    if (trace->sizes == OTF2_SIZES_UNKNOWN && trace->creator && strncmp(trace->creator, "Score-P", 7) == 0)
        trace->sizes = OTF2_SIZES_TOTAL;
    if (trace->sizes == OTF2_SIZES_UNKNOWN && eztrace)
        trace->sizes = OTF2_SIZES_EACH;
}

enum ker_status otf2_define(struct otf2_trace *trace, struct foreign_trace *to, struct ker_error *error)
{
    if (trace->resolution == 0)
        return ker_fail(error, KER_BAD_INPUT, "%s: the archive does not define its clock", trace->path);
    if (trace->locations)
        qsort(trace->location, trace->locations, sizeof *trace->location, ker_order_u64);
    if (trace->regions)
        SORT4(trace->region, trace->regions);
    if (trace->texts)
        SORT4(trace->text, trace->texts);
    if (trace->groups)
        SORT4(trace->group, trace->groups);
    if (trace->comms)
        SORT4(trace->comm, trace->comms);
    regions_name(trace);
    enum ker_status status = tasks_find(trace, to, error);
    return status ?: comms_find(trace, to, error);
}
