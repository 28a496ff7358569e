/* cut_about.c - the definitions of a task in a trace that was cut: tasks are numbered again, communicators
 * have the members that are left.
 */
#include "tools/marsconv/cut_write.h"

#include <stdlib.h>
#include <string.h>

/* Members that are left, and what the rank of each is now (-1: gone). */
static struct mars_ranks members_cut(const struct cut *cut, const struct mars_ranks *old, int32_t **map)
{
    int32_t *kept = ker_alloc((old->count + 1ull) * sizeof *kept), left = 0;
    *map = ker_alloc((old->count + 1ull) * sizeof **map);
    for (uint32_t i = 0; i < old->count; i++) {
        int32_t task = mars_rank_at(old, i);
        bool has = task >= 0 && cut_has(cut, task);
        (*map)[i] = has ? left : -1;
        if (has)
            kept[left++] = task - (int32_t)cut->first;
    }
    struct mars_ranks ranks = conv_ranks_of(kept, (uint32_t)left);
    free(kept);
    return ranks;
}

static void comm_cut(struct cut_writing *w, uint32_t number)
{
    const struct mars_comm *old = w->at.task.about->comm[number];
    struct mars_comm *c = ker_alloc(sizeof *c);
    struct cut_map *map = &w->map[number];
    *c = (struct mars_comm){.id = old->id, .parent = old->parent, .inter = old->inter};
    map->size = old->member.count;
    map->remote_size = old->inter ? old->remote.count : 0;
    c->member = members_cut(w->cut, &old->member, &map->rank);
    if (old->inter)
        c->remote = members_cut(w->cut, &old->remote, &map->remote);
    c->rank = map->rank[old->rank];
    if (c->rank <
        0) { /* a trace may say anything: the task is not among those that it is said to be one of */
        int32_t own = (int32_t)(w->at.task.about->number - w->cut->first);
        free(c->member.run);
        c->member = conv_ranks_of(&own, 1);
        c->rank = 0;
    }
    if (old->topology != MARS_PLAIN && c->member.count) { /* what is left of a grid is none */
        int32_t *neighbour = ker_alloc((old->neighbour.count + 1ull) * sizeof *neighbour);
        for (uint32_t i = 0; i < old->neighbour.count; i++) {
            int32_t rank = mars_rank_at(&old->neighbour, i);
            neighbour[i] = rank >= 0 && (uint32_t)rank < map->size ? map->rank[rank] : -1;
        }
        c->topology = MARS_DIST_GRAPH;
        c->in = old->in;
        c->out = old->out;
        c->neighbour = conv_ranks_of(neighbour, old->neighbour.count);
        free(neighbour);
    }
    w->comm[number] = c;
}

/* Readers may add definitions with each record. */
void cut_about_sync(struct cut_writing *w)
{
    const struct mars_task *about = w->at.task.about;
    w->about = *about;
    w->about.threads = w->begun;
    w->about.ended = true;
    w->about.info = w->info;
    w->about.infos = w->infos + w->infos_own;
    if (w->cut->by_time)
        return;
    if (about->comms > w->comms) {
        size_t more = about->comms - w->comms;
        w->comm = ker_realloc(w->comm, about->comms * sizeof *w->comm);
        w->map = ker_realloc(w->map, about->comms * sizeof *w->map);
        memset(w->comm + w->comms, 0, more * sizeof *w->comm);
        memset(w->map + w->comms, 0, more * sizeof *w->map);
        w->comms = about->comms;
    }
    for (uint32_t i = w->comms_cut; i < about->comms; i++) /* some may be defined before lower ones */
        if (about->comm[i] && !w->comm[i])
            comm_cut(w, i);
    while (w->comms_cut < about->comms && (w->comms_cut == 0 || w->comm[w->comms_cut]))
        w->comms_cut++;
    w->about.number = about->number - w->cut->first;
    w->about.comm = w->comm;
    w->about.comms = w->comms;
}

/* All but what is said of threads, which are not those of the whole. */
void cut_about_begin(struct cut_writing *w)
{
    const struct mars_task *about = w->at.task.about;
    snprintf(w->tasks, sizeof w->tasks, "%u", w->cut->last - w->cut->first + 1);
    w->info = ker_alloc((about->infos + 2ull * about->threads + 1) * sizeof *w->info);
    for (uint32_t i = 0; i < about->infos; i++) {
        bool tasks = !w->cut->by_time && strcmp(about->info[i].key, "tasks") == 0;
        if (strncmp(about->info[i].key, "thread-", 7) == 0)
            continue;
        w->info[w->infos].key = about->info[i].key;
        w->info[w->infos++].value = tasks ? w->tasks : about->info[i].value;
    }
    cut_about_sync(w);
}

static void info_add(struct cut_writing *w, uint32_t thread, const char *what, uint64_t number)
{
    uint32_t at = w->infos + w->infos_own++;
    w->info[at].key = ker_format("thread-%u-%s", thread, what);
    w->info[at].value = ker_format("%llu", (unsigned long long)number);
}

void cut_about_threads(struct cut_writing *w)
{
    for (uint32_t i = 1; i < w->threads; i++) {
        const struct cut_thread *t = &w->thread[i];
        if (!t->begun)
            continue;
        info_add(w, t->number, "after", t->after_cut == UINT64_MAX ? w->calls : t->after_cut);
        if (t->ended_cut != UINT64_MAX)
            info_add(w, t->number, "ended", t->ended_cut);
    }
}

void cut_about_end(struct cut_writing *w)
{
    for (uint32_t i = 0; i < w->comms; i++) {
        if (w->comm[i]) {
            free(w->comm[i]->member.run);
            free(w->comm[i]->remote.run);
            free(w->comm[i]->neighbour.run);
        }
        free(w->comm[i]);
        free(w->map[i].rank);
        free(w->map[i].remote);
    }
    for (uint32_t i = w->infos; i < w->infos + w->infos_own; i++) {
        free(w->info[i].key);
        free(w->info[i].value);
    }
    free(w->comm);
    free(w->map);
    free(w->info);
}

/* Has it this name, requests and what became of them, and no other fields? */
static bool completes(const struct mars_function *f, const char *name)
{
    return strcmp(f->name, name) == 0 && f->fields == 2 && f->at[MARS_FIELD_requests] >= 0 &&
           f->at[MARS_FIELD_done] >= 0;
}

/* A function of the task with these fields (none, or those of a completion); when it has none, a new one
 * behind all that a reader may add. */
#define ADDED 4000
const struct mars_function *cut_function(struct cut_writing *w, const char *name, const char *fields)
{
    struct mars_task *about = w->at.task.about;
    for (uint32_t i = 0; i < about->functions; i++) {
        const struct mars_function *f = about->function[i];
        if (f && (*fields ? completes(f, name) : f->fields == 0 && strcmp(f->name, name) == 0))
            return f;
    }
    const struct mars_function *added =
        conv_function_add(about, about->functions > ADDED ? about->functions : ADDED, name, fields);
    cut_about_sync(w);
    return added;
}
