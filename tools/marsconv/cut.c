/* cut.c - a part of a trace, by time or by tasks.
 *
 * By time the trace is read twice: first all tasks, to count in each channel and on each communicator what
 * comes before the part and what is inside; then task by task, to decide which messages are kept, and to
 * write. A trace that does not say what receives of any source got is read twice more, to find that out.
 */
#include "tools/marsconv/cut.h"

#include <stdlib.h>
#include <string.h>

static bool time_parse(const char *text, uint64_t *ns)
{
    const char *why;
    ker_time time;
    if (ker_parse_time(text, &time, &why) != 0 || time < 0)
        return false;
    *ns = (uint64_t)(time / KER_NS);
    return true;
}

static bool number_parse(const char *text, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return end != text && *end == 0 && *text != '-' && value < UINT32_MAX;
}

static bool cut_parse(struct cut *cut, const char *text, struct mars_error *error)
{
    bool fine = false;
    char *first = ker_format("%s", strchr(text, '=') ? strchr(text, '=') + 1 : ""), *second;
    cut->by_time = strncmp(text, "time=", 5) == 0;
    second = strchr(first, cut->by_time ? ':' : '-');
    if (second) {
        *second++ = 0;
        if (cut->by_time) {
            cut->to_ns = UINT64_MAX / 4;
            fine = (*first == 0 || time_parse(first, &cut->from_ns)) &&
                   (*second == 0 || time_parse(second, &cut->to_ns)) && cut->from_ns < cut->to_ns;
        } else {
            fine = strncmp(text, "tasks=", 6) == 0 && number_parse(first, &cut->first) &&
                   number_parse(second, &cut->last) && cut->first <= cut->last;
        }
    }
    free(first);
    return fine || mars_fail(error,
                             "--cut %s: expected time=A:B, like time=10ms:1.5s (either may be left out), or "
                             "tasks=A-B, like tasks=0-7",
                             text);
}

/* Does the trace say what receives of any got? marstrace does, what was converted from other formats not. */
static bool is_complete(struct conv_source *source, bool *complete, struct mars_error *error)
{
    struct conv_task task;
    bool fine = conv_task_open(&task, source, 0, error);
    *complete = fine && !mars_task_info(task.about, "tracer");
    conv_task_close(&task);
    return fine;
}

/* Which message each receive of any got. */
static bool any_find(struct cut *cut, struct conv_source *source, struct mars_error *error)
{
    bool fine = true;
    for (uint32_t i = 0; i < source->tasks && fine; i++)
        fine = cut_walk(cut, source, i, CUT_MARK, NULL, error);
    for (uint32_t i = 0; i < source->tasks && fine && cut->anys.count; i++)
        fine = cut_walk(cut, source, i, CUT_NOTE, NULL, error);
    if (fine)
        cut_any_match(cut);
    return fine;
}

bool cut_any_prepare(struct cut *cut, struct conv_source *source, struct mars_error *error)
{
    bool complete = true;
    return is_complete(source, &complete, error) && (complete || any_find(cut, source, error));
}

bool conv_cut(struct conv_source *source, struct conv_sink *sink, const char *text, struct mars_error *error)
{
    struct cut cut = {.losses = sink->losses};
    struct cut_kept kept = {0};
    if (!cut_parse(&cut, text, error))
        return false;
    if (!cut.by_time && cut.last >= source->tasks)
        return mars_fail(error, "--cut %s: %s has %u tasks, 0 to %u", text, source->path, source->tasks,
                         source->tasks - 1);
    uint32_t first = cut.by_time ? 0 : cut.first, last = cut.by_time ? source->tasks - 1 : cut.last;
    bool fine = cut_any_prepare(&cut, source, error);
    for (uint32_t i = first; i <= last && fine && cut.by_time; i++)
        fine = cut_walk(&cut, source, i, CUT_COUNT, NULL, error);
    fine = fine && conv_sink_create(sink, error);
    for (uint32_t i = first; i <= last && fine; i++) {
        kept.messages = 0;
        fine = cut_walk(&cut, source, i, CUT_DECIDE, &kept, error) &&
               cut_task_write(&cut, source, sink, i, &kept, error);
    }
    free(kept.message);
    cut_any_release(&cut);
    cut_release(&cut);
    return fine;
}
