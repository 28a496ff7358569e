/* phases.c - what a program does again and again.
 *
 * A phase is what the first task does from the return of one blocking collective on all tasks to that of the
 * next. Two phases are of one kind when they call the same functions in the same order; local calls, and how
 * often was polled, do not matter.
 */
#include "tools/marsconv/stats.h"

#include <stdlib.h>
#include <string.h>

/* What has been called `repeat` times is added to the text. */
static void repeat_flush(struct stats_phases *p)
{
    size_t length = strlen(p->text), room = sizeof p->text - length;
    if (p->repeat == 0)
        return;
    if (room < sizeof p->last + 32) {
        if (room > 8 && (length < 4 || strcmp(p->text + length - 3, "...") != 0))
            strcat(p->text, ", ...");
    } else if (p->repeat == 1) {
        snprintf(p->text + length, room, "%s%s", length ? ", " : "", p->last);
    } else {
        snprintf(p->text + length, room, "%s%llu %s", length ? ", " : "", (unsigned long long)p->repeat,
                 p->last);
    }
    p->repeat = 0;
}

static void phase_close(struct stats_phases *p)
{
    uint32_t i = 0;
    repeat_flush(p);
    while (i < p->kinds && p->kind[i].hash != p->hash)
        i++;
    if (i == PHASES_MOST) {
        p->others++;
    } else {
        struct stats_phase *kind = &p->kind[i];
        if (i == p->kinds)
            p->kind[p->kinds++] = (struct stats_phase){.hash = p->hash, .text = ker_format("%s", p->text)};
        kind->count++;
        kind->calls += p->calls;
        kind->time_ns += p->time_ns;
        kind->compute_ns += p->compute_ns;
    }
    p->hash = p->calls = p->time_ns = p->compute_ns = 0;
    p->text[0] = p->last[0] = 0;
}

void stats_phase_add(struct stats_phases *p, const struct conv_record *record, bool quiet, bool ends)
{
    const struct mars_record *r = &record->call;
    const char *name = r->function->name;
    uint64_t gap = record->first ? 0 : r->gap_ns;
    p->time_ns += gap + r->duration_ns + r->rest_ns;
    p->compute_ns += gap - (r->away_ns < gap ? r->away_ns : gap);
    if (quiet)
        return;
    p->calls += r->polls;
    if (strncmp(p->last, name, sizeof p->last - 1) != 0 || p->repeat == 0) {
        repeat_flush(p);
        snprintf(p->last, sizeof p->last, "%s", name);
    }
    p->repeat++;
    for (const char *c = name; *c; c++)
        p->hash = ker_hash(p->hash ^ (unsigned char)*c);
    if (ends)
        phase_close(p);
}

void stats_phase_end(struct stats_phases *p)
{
    if (p->calls > 0)
        phase_close(p);
}
