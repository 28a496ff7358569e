/* gantt.c - timeline.json (docs/timelines.md): what tasks did when, for the Gantt chart.
 *
 * Events are one in a line. Of each job, and of the links, a row says which shares of their time all its
 * tasks were in what; of more tracks than there is room for each job keeps its first ones, as many as the
 * others. Of more spans or messages than the page has room for the longest of each track are kept, as many of
 * each (so that links, whose states are short, are seen beside tasks), the earlier one of two that last the
 * same. Times are picoseconds: the file's microseconds have six decimals at most.
 */
#include "tools/marsreport/report.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_SPANS = 60000,
    MOST_MESSAGES = 30000,
    MOST_TRACKS = 2048,
    MOST_NAMES = 4096,
    MOST_GROUPS = 256, /* with a row of their own */
    BINS = 400,        /* of such a row */
};

struct span {
    int64_t begin, duration;
    uint64_t bytes;
    uint32_t track, to;   /* to: of messages; the name of others */
    uint32_t longer;      /* of its track */
    uint32_t cause, task; /* of a wait, + 1: the name of its cause, whom it was for; 0: not known */
};

/* A process of the file: a job, or the links. */
struct group {
    json_t *name;
    int64_t pid;
    uint32_t tracks, kept;
    double *time; /* by what it is, then by bin */
};
enum what { COMPUTE, CALL, WAIT, BUSY, STALLED, DOWN, WHATS };
static const char *const what_name[WHATS] = {"compute", "calls", "waiting", "busy", "stalled", "down"};

struct spans {
    struct span *span;
    size_t count, room, all;
};

struct gantt {
    struct rep_folder *folder;
    struct spans spans, messages;
    json_t *tracks, *names;  /* tracks: "P:T" -> number; names: name -> number */
    json_t *labels, *called; /* of the tracks; the names in the order of their numbers */
    struct group *group;
    size_t groups, group_room, line;
    struct {
        uint32_t group, place; /* place: among those kept, UINT32_MAX: it is not */
    } * track;
    size_t track_count, track_room;
};

static int64_t ps_of(const json_t *event, const char *key)
{
    double us = json_number_value(json_object_get(event, key));
    return us > 4e12 || us < 0 ? 0 : (int64_t)llround(us * 1e6); /* two of them can be added */
}

/* The number of a text in an object of numbers; a new one where there is room. */
static uint32_t number_of(json_t *numbers, const char *text, size_t most)
{
    const json_t *known = json_object_get(numbers, text);
    if (known)
        return (uint32_t)json_integer_value(known);
    size_t next = json_object_size(numbers);
    if (next >= most)
        return UINT32_MAX;
    json_object_set_new(numbers, text, json_integer((json_int_t)next));
    return (uint32_t)next;
}

static uint32_t track_of(struct gantt *g, const json_t *event, int64_t thread)
{
    char key[64];
    snprintf(key, sizeof key, "%lld:%lld", (long long)json_integer_value(json_object_get(event, "pid")),
             (long long)thread);
    const json_t *known = json_object_get(g->tracks, key);
    return known ? (uint32_t)json_integer_value(known) : UINT32_MAX;
}

/* Threads follow their process. */
static void meta_take(struct gantt *g, const json_t *event, const char *name)
{
    char key[64];
    const char *text = json_string_value(json_object_get(json_object_get(event, "args"), "name"));
    int64_t pid = json_integer_value(json_object_get(event, "pid"));
    snprintf(key, sizeof key, "%lld:%lld", (long long)pid,
             (long long)json_integer_value(json_object_get(event, "tid")));
    struct group *last = g->groups ? &g->group[g->groups - 1] : NULL;
    if (text && strcmp(name, "process_name") == 0) {
        *KER_PUSH(g->group, g->groups, g->group_room) = (struct group){.name = json_string(text), .pid = pid};
    } else if (text && strcmp(name, "thread_name") == 0 && last && last->pid == pid &&
               !json_object_get(g->tracks, key)) {
        json_object_set_new(g->tracks, key, json_integer((json_int_t)g->track_count));
        KER_PUSH(g->track, g->track_count, g->track_room)->group = (uint32_t)g->groups - 1;
        last->tracks++;
        json_array_append_new(g->labels, json_pack("[O, s]", last->name, text));
    }
}

static bool inside(const struct gantt *g, int64_t begin, int64_t end)
{
    return end >= g->folder->from && begin <= g->folder->to;
}

static uint32_t name_of(struct gantt *g, const char *name)
{
    uint32_t number = number_of(g->names, name, MOST_NAMES);
    if (json_object_size(g->names) > json_array_size(g->called))
        json_array_append_new(g->called, json_string(name));
    return number;
}

static void span_take(struct gantt *g, const json_t *event, const char *name)
{
    const json_t *of = json_object_get(event, "args"), *task = json_object_get(of, "task");
    const char *cause = json_string_value(json_object_get(of, "cause"));
    struct span s = {.begin = ps_of(event, "ts"),
                     .duration = ps_of(event, "dur"),
                     .bytes = (uint64_t)json_integer_value(json_object_get(of, "bytes")),
                     .track = track_of(g, event, json_integer_value(json_object_get(event, "tid"))),
                     .to = name_of(g, name)};
    if (cause)
        s.cause = name_of(g, cause) + 1;
    if (task)
        s.task = (uint32_t)json_integer_value(task) + 1;
    if (s.track != UINT32_MAX && s.to != UINT32_MAX && inside(g, s.begin, s.begin + s.duration))
        *KER_PUSH(g->spans.span, g->spans.count, g->spans.room) = s;
}

static void message_take(struct gantt *g, const json_t *event)
{
    const json_t *of = json_object_get(event, "args");
    struct span s = {.begin = ps_of(event, "ts"),
                     .duration = ps_of(of, "received") - ps_of(event, "ts"),
                     .bytes = (uint64_t)json_integer_value(json_object_get(of, "bytes")),
                     .track = track_of(g, event, json_integer_value(json_object_get(event, "tid"))),
                     .to = track_of(g, event, json_integer_value(json_object_get(of, "to")) + 1)};
    if (s.track != UINT32_MAX && s.to != UINT32_MAX && inside(g, s.begin, s.begin + s.duration))
        *KER_PUSH(g->messages.span, g->messages.count, g->messages.room) = s;
}

static void event_take(struct gantt *g, const json_t *event)
{
    const char *phase = json_string_value(json_object_get(event, "ph")),
               *name = json_string_value(json_object_get(event, "name"));
    if (!phase || !name)
        return;
    if (*phase == 'M')
        meta_take(g, event, name);
    else if (*phase == 'X')
        span_take(g, event, name);
    else if (*phase == 's')
        message_take(g, event);
}

/* False: the line is no event, as it should be. The two lines of the head, and the last one, are none. */
static bool line_take(struct gantt *g, char *text, size_t length)
{
    json_error_t why;
    while (length && (text[length - 1] == '\n' || text[length - 1] == ','))
        length--;
    if (g->line <= 2 || length == 0 || text[0] == ']')
        return true;
    json_t *event = json_loadb(text, length, 0, &why);
    if (event)
        event_take(g, event);
    json_decref(event);
    return event != NULL;
}

static int by_length(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return KER_ORDER(y, x, duration) ?: KER_ORDER(x, y, begin, track);
}

static int by_track(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return KER_ORDER(x, y, track) ?: by_length(a, b);
}

static int by_place(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return KER_ORDER(x, y, longer) ?: by_length(a, b);
}

/* The longest of each track come first. */
static void longest_first(struct spans *s)
{
    qsort(s->span, s->count, sizeof *s->span, by_track);
    for (size_t i = 1; i < s->count; i++)
        s->span[i].longer = s->span[i].track == s->span[i - 1].track ? s->span[i - 1].longer + 1 : 0;
    qsort(s->span, s->count, sizeof *s->span, by_place);
}

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return KER_ORDER(x, y, begin) ?: KER_ORDER(y, x, duration) ?: KER_ORDER(x, y, track);
}

/* The longest, by their beginning; {"count" of all, "track", "to", "begin", "duration", "bytes"}, and of
 * spans "why": [place in these lists, cause, task + 1], one behind the other. */
static json_t *spans_json(struct spans *s, size_t most)
{
    json_t *track = json_array(), *to = json_array(), *begin = json_array(), *duration = json_array(),
           *bytes = json_array(), *why = json_array();
    if (s->count > most) {
        longest_first(s);
        s->count = most;
    }
    if (s->count)
        qsort(s->span, s->count, sizeof *s->span, by_begin);
    for (size_t i = 0; i < s->count; i++) {
        json_array_append_new(track, json_integer(s->span[i].track));
        json_array_append_new(to, json_integer(s->span[i].to));
        json_array_append_new(begin, json_integer(s->span[i].begin));
        json_array_append_new(duration, json_integer(s->span[i].duration));
        json_array_append_new(bytes, json_integer((json_int_t)s->span[i].bytes));
        if (!s->span[i].cause)
            continue;
        json_array_append_new(why, json_integer((json_int_t)i));
        json_array_append_new(why, json_integer(s->span[i].cause - 1));
        json_array_append_new(why, json_integer(s->span[i].task));
    }
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "all", (json_int_t)s->all, "track", track, "to",
                     to, "begin", begin, "duration", duration, "bytes", bytes, "why", why);
}

/* ---- which tracks stay ---- */

/* As many of each group, those that a small one leaves being for the others. */
static void tracks_share(struct gantt *g)
{
    size_t room = MOST_TRACKS, full = 0;
    while (full < g->groups && room >= g->groups - full) {
        size_t each = room / (g->groups - full);
        full = 0;
        for (size_t i = 0; i < g->groups; i++) {
            struct group *k = &g->group[i];
            size_t more = k->tracks - k->kept < each ? k->tracks - k->kept : each;
            k->kept += (uint32_t)more;
            room -= more;
            full += k->kept == k->tracks;
        }
    }
}

static void spans_keep(const struct gantt *g, struct spans *s, bool messages)
{
    size_t kept = 0;
    s->all = s->count;
    for (size_t i = 0; i < s->count; i++) {
        struct span one = s->span[i];
        one.track = g->track[one.track].place;
        one.to = messages ? g->track[one.to].place : one.to;
        if (one.track != UINT32_MAX && (!messages || one.to != UINT32_MAX))
            s->span[kept++] = one;
    }
    s->count = kept;
}

/* How many are left out. */
static size_t tracks_keep(struct gantt *g)
{
    json_t *labels = json_array();
    uint32_t *used = ker_alloc(sizeof *used * (g->groups + 1));
    tracks_share(g);
    for (size_t i = 0; i < g->track_count; i++) {
        uint32_t group = g->track[i].group;
        bool kept = used[group]++ < g->group[group].kept;
        g->track[i].place = kept ? (uint32_t)json_array_size(labels) : UINT32_MAX;
        if (kept)
            json_array_append(labels, json_array_get(g->labels, i));
    }
    free(used);
    json_decref(g->labels);
    g->labels = labels;
    spans_keep(g, &g->spans, false);
    spans_keep(g, &g->messages, true);
    return g->track_count - json_array_size(labels);
}

/* ---- a row of each group ---- */

static enum what what_of(const struct gantt *g, uint32_t name)
{
    const char *text = json_string_value(json_array_get(g->called, name));
    for (int i = 0; i < WHATS; i++)
        if (i != CALL && text && strcmp(text, what_name[i]) == 0)
            return (enum what)i;
    return CALL;
}

static void span_add(struct group *k, const struct span *s, enum what what, int64_t from, double bin)
{
    double begin = (double)(s->begin - from) / bin, end = begin + (double)s->duration / bin;
    if (!k->time)
        k->time = ker_alloc(sizeof *k->time * WHATS * BINS);
    for (int i = (int)begin; i < BINS && i < end; i++)
        k->time[what * BINS + i] += fmin(end, i + 1) - fmax(begin, i);
    if (what == WAIT) /* inside its call */
        for (int i = (int)begin; i < BINS && i < end; i++)
            k->time[CALL * BINS + i] -= fmin(end, i + 1) - fmax(begin, i);
}

static json_t *group_json(const struct group *k)
{
    json_t *one = json_pack("{s:O, s:I}", "name", k->name, "rows", (json_int_t)k->tracks);
    for (int what = 0; what < WHATS; what++) {
        json_t *list = json_array();
        bool any = false;
        for (int i = 0; i < BINS; i++) {
            long share = lround(1000 * k->time[what * BINS + i] / k->tracks);
            any |= share > 0;
            json_array_append_new(list, json_integer(share > 0 ? share : 0));
        }
        if (any)
            json_object_set(one, what_name[what], list);
        json_decref(list);
    }
    return one;
}

/* {"from", "to", "jobs": [{"name", "rows": how many, "compute", "waiting", ...: per mille in each bin}]}. */
static json_t *groups_json(struct gantt *g)
{
    int64_t from = INT64_MAX, to = 0;
    for (size_t i = 0; i < g->spans.count; i++) {
        const struct span *s = &g->spans.span[i];
        from = s->begin < from ? s->begin : from;
        to = s->begin + s->duration > to ? s->begin + s->duration : to;
    }
    enum what *what = ker_alloc(sizeof *what * (json_array_size(g->called) + 1));
    for (uint32_t i = 0; i < json_array_size(g->called); i++)
        what[i] = what_of(g, i);
    for (size_t i = 0; i < g->spans.count; i++) {
        const struct span *s = &g->spans.span[i];
        uint32_t group = g->track[s->track].group;
        if (group < MOST_GROUPS)
            span_add(&g->group[group], s, what[s->to], from, fmax(1, (double)(to - from)) / BINS);
    }
    free(what);
    json_t *jobs = json_array();
    for (size_t i = 0; i < g->groups && i < MOST_GROUPS; i++)
        if (g->group[i].time)
            json_array_append_new(jobs, group_json(&g->group[i]));
    return json_pack("{s:I, s:I, s:o}", "from", (json_int_t)(from > to ? 0 : from), "to", (json_int_t)to,
                     "jobs", jobs);
}

static bool lines_read(struct gantt *g)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = rep_file_open(g->folder, "timeline.json");
    bool sound = true;
    if (!file)
        return false;
    for (ssize_t length; sound && (length = getline(&text, &room, file)) > 0;) {
        g->line++;
        sound = line_take(g, text, (size_t)length);
    }
    if (!sound)
        rep_note(g->folder, true, "timeline.json:%zu: is no event; what follows is left out", g->line);
    fclose(file);
    free(text);
    return g->spans.count > 0 || g->messages.count > 0 || sound;
}

static void gantt_release(struct gantt *g)
{
    for (size_t i = 0; i < g->groups; i++) {
        json_decref(g->group[i].name);
        free(g->group[i].time);
    }
    json_decref(g->tracks);
    json_decref(g->names);
    json_decref(g->labels);
    json_decref(g->called);
    KER_FREE(g->group, g->track, g->spans.span, g->messages.span);
}

json_t *rep_gantt_json(struct rep_folder *f)
{
    struct gantt g = {.folder = f,
                      .tracks = json_object(),
                      .names = json_object(),
                      .labels = json_array(),
                      .called = json_array()};
    json_t *gantt = NULL;
    if (lines_read(&g)) {
        json_t *groups = groups_json(&g);
        size_t left_out = tracks_keep(&g);
        gantt = json_pack("{s:O, s:O, s:o, s:o, s:o, s:I}", "tracks", g.labels, "names", g.called, "groups",
                          groups, "spans", spans_json(&g.spans, MOST_SPANS), "messages",
                          spans_json(&g.messages, MOST_MESSAGES), "tracks_left_out", (json_int_t)left_out);
    }
    gantt_release(&g);
    return gantt;
}
