/* fail.c - what is wrong with an event. */
#include "traces/otf2/otf2.h"

enum ker_status otf2_task_fail(struct otf2_task *t, const struct otf2_event *event, const char *format, ...)
{
    char text[512];
    KER_FORMATTED(text, format);
    return t->status = ker_fail(t->error, KER_BAD_INPUT, "%s: location %llu (task %u), event %llu%s%s: %s",
                                t->trace->path, (unsigned long long)t->location, t->out->task,
                                (unsigned long long)event->number, t->outer ? ", " : "",
                                t->outer ? t->outer->text : "", text);
}

enum ker_status otf2_task_unknown(struct otf2_task *t, const struct otf2_event *event, const char *why)
{
    if (!t->trace->unknown)
        return otf2_task_fail(t, event,
                              "%s; jobs[].unknown = \"compute\" takes such calls as computation of the time "
                              "they took",
                              why);
    t->out->doubts |= 1u << OTF2_DOUBT_UNKNOWN;
    t->unknown = true;
    return KER_OK;
}
