/* gantt.c - timeline.json (docs/timelines.md): what tasks did when, for the Gantt chart.
 *
 * Events are one in a line. Of more spans or messages than the page has room for the longest of each track
 * are kept, as many of each (so that links, whose states are short, are seen beside tasks), the earlier one
 * of two that last the same. Times are picoseconds: the file's microseconds have six decimals at most.
 */
#include "tools/marsreport/report.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SPANS = 60000, MOST_MESSAGES = 30000, MOST_TRACKS = 2048, MOST_NAMES = 4096 };

struct span {
    int64_t begin, duration;
    uint64_t bytes;
    uint32_t track, to; /* to: of messages; the name of others */
    uint32_t longer;    /* of its track */
};

struct spans {
    struct span *span;
    size_t count, room, all;
};

struct gantt {
    struct rep_folder *folder;
    struct spans spans, messages;
    json_t *tracks, *names, *jobs; /* tracks: "P:T" -> number; names: name -> number; jobs: "P" -> name */
    json_t *labels, *called;       /* of the tracks; the names in the order of their numbers */
    size_t line, beyond;           /* beyond: tracks that there is no room for */
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

static void meta_take(struct gantt *g, const json_t *event, const char *name)
{
    char pid[32], key[64];
    const char *text = json_string_value(json_object_get(json_object_get(event, "args"), "name"));
    snprintf(pid, sizeof pid, "%lld", (long long)json_integer_value(json_object_get(event, "pid")));
    snprintf(key, sizeof key, "%s:%lld", pid, (long long)json_integer_value(json_object_get(event, "tid")));
    if (!text)
        return;
    if (strcmp(name, "process_name") == 0) {
        json_object_set_new(g->jobs, pid, json_string(text));
    } else if (strcmp(name, "thread_name") == 0 && number_of(g->tracks, key, MOST_TRACKS) != UINT32_MAX) {
        const char *job = json_string_value(json_object_get(g->jobs, pid));
        json_array_append_new(g->labels, json_pack("[s, s]", job ? job : "", text));
    } else {
        g->beyond += strcmp(name, "thread_name") == 0;
    }
}

static bool inside(const struct gantt *g, int64_t begin, int64_t end)
{
    return end >= g->folder->from && begin <= g->folder->to;
}

static void span_take(struct gantt *g, const json_t *event, const char *name)
{
    struct span s = {
        .begin = ps_of(event, "ts"),
        .duration = ps_of(event, "dur"),
        .bytes = (uint64_t)json_integer_value(json_object_get(json_object_get(event, "args"), "bytes")),
        .track = track_of(g, event, json_integer_value(json_object_get(event, "tid"))),
        .to = number_of(g->names, name, MOST_NAMES)};
    if (json_object_size(g->names) > json_array_size(g->called))
        json_array_append_new(g->called, json_string(name));
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
    if (x->duration != y->duration)
        return x->duration > y->duration ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

static int by_track(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->track != y->track ? (x->track < y->track ? -1 : 1) : by_length(a, b);
}

static int by_place(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->longer != y->longer ? (x->longer < y->longer ? -1 : 1) : by_length(a, b);
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
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->duration != y->duration)
        return x->duration > y->duration ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

/* The longest, by their beginning; {"count" of all, "track", "to", "begin", "duration", "bytes"}. */
static json_t *spans_json(struct spans *s, size_t most)
{
    json_t *track = json_array(), *to = json_array(), *begin = json_array(), *duration = json_array(),
           *bytes = json_array();
    s->all = s->count;
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
    }
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "all", (json_int_t)s->all, "track", track, "to", to,
                     "begin", begin, "duration", duration, "bytes", bytes);
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

json_t *rep_gantt_json(struct rep_folder *f)
{
    struct gantt g = {.folder = f,
                      .tracks = json_object(),
                      .names = json_object(),
                      .jobs = json_object(),
                      .labels = json_array(),
                      .called = json_array()};
    json_t *gantt = NULL;
    if (lines_read(&g))
        gantt = json_pack("{s:O, s:O, s:o, s:o, s:I}", "tracks", g.labels, "names", g.called, "spans",
                          spans_json(&g.spans, MOST_SPANS), "messages",
                          spans_json(&g.messages, MOST_MESSAGES), "tracks_left_out", (json_int_t)g.beyond);
    json_decref(g.tracks);
    json_decref(g.names);
    json_decref(g.jobs);
    json_decref(g.labels);
    json_decref(g.called);
    free(g.spans.span);
    free(g.messages.span);
    return gantt;
}
