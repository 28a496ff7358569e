/* settings.c - the keys output.timeline*, and what they choose. */
#include "stats/timelines/private.h"

#include <stdlib.h>
#include <string.h>

#define KEY "output.timeline"
#define SPARE 8192 /* bytes for the names of functions, which are not known before the run */

const struct ker_option stats_timeline_options[] = {
    {KEY, KER_TYPE_STRING | KER_TYPE_LIST, "none", .kinds = &stats_timelines,
     .meaning =
         "Write what tasks and links did when, in these formats; several in a list. See docs/timelines.md."},
    {KEY "_from", KER_TYPE_TIME, "0 ns", "0 ns", NULL, NULL, "Beginning of the time that is recorded.", KEY},
    {KEY "_to", KER_TYPE_TIME, NULL, "1 ps", NULL, NULL,
     "End of the time that is recorded. Absent: the end of the run.", KEY},
    {KEY "_bytes", KER_TYPE_BYTES, "256 MiB", "1 KiB", "1024 TiB", NULL,
     "The files of a format are not larger than this. Where there is more to say, calls and messages are "
     "sampled: the longer ones stay. During the run, each rank keeps up to 3.5 times as much in a "
     "temporary file.",
     KEY},
    {KEY "_tasks", KER_TYPE_STRING | KER_TYPE_LIST, "", NULL, NULL, NULL,
     "The tasks that are recorded: \"3\", \"0-7\", \"0-1023/16\" (every 16th), with the name of a job before "
     "them: \"weather:0-7\". Absent: all. A message is recorded when both of its tasks are.",
     KEY},
    {KEY "_links", KER_TYPE_STRING | KER_TYPE_LIST, "", NULL, NULL, NULL,
     "The links whose states are recorded (busy, stalled for credits, down): \"all\"; the name of a class of "
     "links (\"level 2\", \"x\", \"node\"); those that leave a switch or a node: \"switch 5\", \"switch "
     "0-7\", \"node 0-1023/16\", or its port 2 only: \"switch 5:2\". Absent: none.",
     KEY},
    {KEY "_messages", KER_TYPE_CHOICE, "program", NULL, NULL, "none|program|all",
     "Which messages are recorded: none; those that the program sends; those of collectives, too.", KEY},
    {KEY "_traced", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Beside each job that replays a trace of marstrace is what was traced: calls and computations at their "
     "own times, from the start of the job on.",
     KEY},
    {0},
};

bool stats_timeline_wanted(const struct ker_config *config)
{
    int count = ker_config_count(config, KEY);
    return count > 1 || (count == 1 && strcmp(ker_config_string_at(config, KEY, 0), "none") != 0);
}

void line_settings_release(struct line_settings *set)
{
    for (uint32_t i = 0; i < set->groups; i++)
        free(set->group[i].name);
    free(set->group);
    free(set->chosen);
}

/* ---- formats ---- */

static enum ker_status format_add(struct line_settings *set, const struct ker_config *config,
                                  const char *name, struct ker_error *error)
{
    const struct ker_registry *registry = ker_config_registry(config);
    const struct ker_kind *kind = ker_registry_find(registry, KEY, name, NULL);
    if (!kind || !kind->operations) {
        char *names = ker_registry_names(registry, KEY, NULL);
        ker_config_fail(config, error, KEY,
                        kind ? "\"%s\" is alone, or some of %s"
                             : "\"%s\" is no format; right would be some of %s",
                        name, names);
        free(names);
        return KER_BAD_INPUT;
    }
    const struct line_format *format = kind->operations;
    if (format->missing)
        return ker_config_fail(config, error, KEY, "%s: %s", name, format->missing);
    for (int i = 0; i < set->formats; i++)
        if (set->format[i] == kind)
            return ker_config_fail(config, error, KEY, "names %s twice", name);
    set->format[set->formats++] = kind;
    return KER_OK;
}

static enum ker_status formats_read(struct line_settings *set, const struct ker_config *config,
                                    struct ker_error *error)
{
    int count = ker_config_count(config, KEY);
    if (count > LINE_FORMATS)
        return ker_config_fail(config, error, KEY, "names %d formats: there are fewer", count);
    enum ker_status status = KER_OK;
    for (int i = 0; i < count && !status; i++)
        status = format_add(set, config, ker_config_string_at(config, KEY, i), error);
    return status;
}

/* ---- tasks ---- */

static enum ker_status groups_take(struct line_settings *set, const struct ker_config *config,
                                   const struct stats_group *group, uint32_t groups, struct ker_error *error)
{
    uint64_t tasks = 0;
    set->group = ker_alloc(((size_t)groups + 1) * sizeof *set->group);
    for (uint32_t i = 0; i < groups; i++) {
        set->group[set->groups++] = (struct line_group){.name = ker_format("%s", group[i].name),
                                                        .first = (uint32_t)tasks,
                                                        .tasks = group[i].tasks,
                                                        .traced = group[i].traced,
                                                        .link = group[i].link};
        set->links = group[i].link ? set->links : (uint32_t)tasks + group[i].tasks;
        tasks += group[i].tasks;
        if (tasks > UINT32_MAX)
            return ker_config_fail(config, error, KEY, "is for at most %u tasks", UINT32_MAX);
    }
    set->tasks = (uint32_t)tasks;
    set->chosen = ker_alloc((tasks / 64 + 1) * sizeof *set->chosen);
    return KER_OK;
}

bool stats_range_parse(const char *text, uint64_t *first, uint64_t *last, uint64_t *step)
{
    char rest[2] = "";
    *step = 1;
    if (strspn(text, "0123456789-/") != strlen(text) || strlen(text) > 30)
        return false;
    if (sscanf(text, "%lu-%lu/%lu%1s", first, last, step, rest) == 3)
        return *step > 0 && *last >= *first;
    if (strchr(text, '/'))
        return false;
    if (sscanf(text, "%lu-%lu%1s", first, last, rest) == 2)
        return *last >= *first;
    *last = 0;
    if (strchr(text, '-') || sscanf(text, "%lu%1s", first, rest) != 1)
        return false;
    *last = *first;
    return true;
}

static enum ker_status tasks_choose(struct line_settings *set, const struct ker_config *config,
                                    const char *text, struct ker_error *error)
{
    static const char key[] = KEY "_tasks";
    const char *colon = strrchr(text, ':');
    uint64_t first, last, step, most = 0;
    bool named = false;
    if (!stats_range_parse(colon ? colon + 1 : text, &first, &last, &step))
        return ker_config_fail(config, error, key,
                               "\"%s\" names no tasks; right would be \"3\", \"0-7\", \"0-1023/16\" or "
                               "\"JOB:0-7\"",
                               text);
    for (uint32_t i = 0; i < set->groups; i++) {
        const struct line_group *group = &set->group[i];
        size_t length = colon ? (size_t)(colon - text) : 0;
        if (group->link || (colon && (strncmp(group->name, text, length) != 0 || group->name[length])))
            continue;
        named = true;
        most = group->tasks > most ? group->tasks : most;
        for (uint64_t task = first; task <= last && task < group->tasks; task += step)
            set->chosen[(group->first + task) / 64] |= (uint64_t)1 << (group->first + task) % 64;
    }
    if (!named)
        return ker_config_fail(config, error, key, "\"%s\": there is no job of this name", text);
    if (last >= most)
        return ker_config_fail(config, error, key,
                               "\"%s\": there is no task %llu; tasks count from 0 to %llu", text,
                               (unsigned long long)last, (unsigned long long)most - 1);
    return KER_OK;
}

static enum ker_status tasks_read(struct line_settings *set, const struct ker_config *config,
                                  struct ker_error *error)
{
    int count = ker_config_count(config, KEY "_tasks");
    enum ker_status status = KER_OK;
    for (uint64_t task = count == 0 ? 0 : set->links; task < set->tasks; task++)
        set->chosen[task / 64] |= (uint64_t)1 << task % 64;
    for (int i = 0; i < count && !status; i++)
        status = tasks_choose(set, config, ker_config_string_at(config, KEY "_tasks", i), error);
    return status;
}

/* ---- all of it ---- */

static enum ker_status span_read(struct line_settings *set, const struct ker_config *config,
                                 struct ker_error *error)
{
    set->from = ker_config_time(config, KEY "_from");
    set->to = ker_config_has(config, KEY "_to") ? ker_config_time(config, KEY "_to") : KER_TIME_MAX;
    if (set->to <= set->from)
        return ker_config_fail(config, error, KEY "_to", "comes not after " KEY "_from");
    return KER_OK;
}

/* Without a record, and with names of functions of usual length. */
static enum ker_status budget_check(struct line_settings *set, const struct ker_config *config,
                                    struct ker_error *error)
{
    for (int i = 0; i < set->formats; i++) {
        const struct line_format *format = set->format[i]->operations;
        struct line_plan plan = {.group = set->group,
                                 .groups = set->groups,
                                 .tasks = set->tasks,
                                 .streams = 1,
                                 .chosen = set->chosen,
                                 .to = set->to,
                                 .from = set->from};
        uint64_t least = format->least(&plan) + SPARE;
        char text[32];
        if (least > set->bytes)
            return ker_config_fail(config, error, KEY "_bytes",
                                   "is too little for anything: %s needs at least %s for what is chosen",
                                   set->format[i]->name, ker_print_bytes(text, (double)least));
    }
    return KER_OK;
}

enum ker_status line_settings_read(struct line_settings *set, const struct ker_config *config,
                                   const struct stats_group *group, uint32_t groups, struct ker_error *error)
{
    enum ker_status status = formats_read(set, config, error);
    set->bytes = ker_config_bytes(config, KEY "_bytes");
    set->inner = ker_config_is(config, KEY "_messages", "all");
    set->messages = !ker_config_is(config, KEY "_messages", "none");
    status = status ?: span_read(set, config, error);
    status = status ?: groups_take(set, config, group, groups, error);
    status = status ?: tasks_read(set, config, error);
    return status ?: budget_check(set, config, error);
}
