/* movie.c - link_series.csv: the loads of the drawing's elements in each frame.
 *
 * A frame is one period, or as many successive ones as keep all frames within MOST_BYTES. A direction's load
 * in a frame is its busy time over the frame's length; an element shows the highest of its directions. A load
 * is a byte: 255 is all the time, 0 is never, and what is busy at all is at least 1. Rows are sorted by time;
 * links without a row in a period did nothing.
 */
#include "tools/marsreport/scene.h"

#include <math.h>
#include <stdlib.h>

#define MOST_BYTES 4000000u /* of all frames in a page */

struct movie {
    struct rep_folder *folder;
    struct rep_links *links;
    const struct rep_scene *scene;
    struct rep_table *table;
    int time, kind, from, port, busy;
    struct rep_ends ends;
    size_t together;  /* periods in a frame */
    int64_t *busy_ps; /* by direction, in this frame */
    uint8_t *load;    /* by element */
    ker_time begun;   /* of the frame */
    rep_frame_function *each;
    void *context;
};

static bool movie_open(struct movie *m)
{
    m->table = rep_table_open(m->folder, "link_series");
    if (!m->table)
        return false;
    m->time = rep_table_need(m->table, "time_ps");
    m->kind = rep_table_need(m->table, "from_kind");
    m->from = rep_table_need(m->table, "from");
    m->port = rep_table_need(m->table, "from_port");
    m->busy = rep_table_need(m->table, "busy_ps");
    if (m->time >= 0 && m->kind >= 0 && m->from >= 0 && m->port >= 0 && m->busy >= 0)
        return true;
    rep_table_close(m->table);
    return false;
}

static void frame_close(struct movie *m, ker_time at)
{
    size_t elements = rep_scene_elements(m->scene);
    double length = (double)(at - m->begun);
    memset(m->load, 0, elements);
    for (size_t i = 0; i < m->links->count; i++) {
        double share = length > 0 ? (double)m->busy_ps[i] / length : 0;
        uint8_t load = m->busy_ps[i] == 0 ? 0 : (uint8_t)fmin(255, fmax(1, round(255 * share)));
        uint8_t *element = &m->load[m->links->link[i].element];
        *element = load > *element ? load : *element;
    }
    memset(m->busy_ps, 0, sizeof *m->busy_ps * m->links->count);
    m->each(m->context, m->begun, at, m->load);
    m->begun = at;
}

static void row_add(struct movie *m)
{
    int64_t id = rep_cell_integer(m->table, m->from);
    bool node = strcmp(rep_cell_text(m->table, m->kind), "node") == 0;
    const struct rep_link *k =
        id < 0 || id > UINT32_MAX
            ? NULL
            : rep_links_find(m->links, node, (uint32_t)id, (uint16_t)rep_cell_integer(m->table, m->port));
    int64_t *busy = k ? &m->busy_ps[k - m->links->link] : NULL;
    if (k && __builtin_add_overflow(*busy, rep_cell_integer(m->table, m->busy), busy))
        *busy = INT64_MAX; /* none of ours */
}

/* To the period of this time; frames that are over by then are closed. */
static void period_reach(struct movie *m, size_t *period, ker_time time)
{
    if (time < KER_TIME_MAX)
        rep_ends_reach(&m->ends, time);
    while (*period < m->ends.count && m->ends.at[*period] < time) {
        ++*period;
        if (*period % m->together == 0)
            frame_close(m, m->ends.at[*period - 1]);
    }
}

static void frames_make(struct movie *m)
{
    size_t period = 0;
    while (rep_table_next(m->table)) {
        ker_time at = rep_cell_integer(m->table, m->time);
        if (at < m->folder->from || at > m->folder->to)
            continue;
        period_reach(m, &period, at);
        row_add(m);
    }
    period_reach(m, &period, KER_TIME_MAX);
    if (m->ends.count % m->together)
        frame_close(m, m->ends.at[m->ends.count - 1]);
}

bool rep_movie_each(struct rep_folder *f, struct rep_links *l, const struct rep_scene *s, size_t most_bytes,
                    rep_frame_function *each, void *context)
{
    struct movie m = {.folder = f, .links = l, .scene = s, .each = each, .context = context, .together = 1};
    size_t elements = rep_scene_elements(s);
    if (!movie_open(&m))
        return false;
    bool any = rep_ends_find(f, &m.ends, "link_series");
    while (most_bytes && m.together < m.ends.count && m.ends.count / m.together * elements > most_bytes)
        m.together++;
    if (any) {
        m.begun = m.ends.begun;
        m.busy_ps = ker_alloc(sizeof *m.busy_ps * l->count);
        m.load = ker_alloc(elements);
        frames_make(&m);
    }
    rep_table_close(m.table);
    free(m.busy_ps);
    free(m.load);
    free(m.ends.at);
    return any;
}

/* ---- for the page ---- */

struct page_frames {
    ker_time begun;
    json_t *times, *loads;
    size_t elements;
};

static char *base64(const uint8_t *data, size_t length)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = ker_alloc((length + 2) / 3 * 4 + 1), *at = text;
    for (size_t i = 0; i < length; i += 3) {
        uint32_t bits = (uint32_t)data[i] << 16 | (i + 1 < length ? (uint32_t)data[i + 1] << 8 : 0) |
                        (i + 2 < length ? data[i + 2] : 0u);
        *at++ = digit[bits >> 18];
        *at++ = digit[bits >> 12 & 63];
        *at++ = i + 1 < length ? digit[bits >> 6 & 63] : '=';
        *at++ = i + 2 < length ? digit[bits & 63] : '=';
    }
    return text;
}

static void frame_keep(void *context, ker_time from, ker_time to, const uint8_t *load)
{
    struct page_frames *p = context;
    char *text = base64(load, p->elements);
    if (json_array_size(p->times) == 0)
        p->begun = from;
    json_array_append_new(p->times, json_integer(to));
    json_array_append_new(p->loads, json_string(text));
    free(text);
}

json_t *rep_movie_json(struct rep_folder *f, struct rep_links *l, const struct rep_scene *s)
{
    struct page_frames p = {0, json_array(), json_array(), rep_scene_elements(s)};
    bool any = rep_movie_each(f, l, s, MOST_BYTES, frame_keep, &p);
    json_t *movie = any ? json_pack("{s:I, s:O, s:O}", "begun_ps", (json_int_t)p.begun, "time_ps", p.times,
                                    "loads", p.loads)
                        : NULL;
    json_decref(p.times);
    json_decref(p.loads);
    return movie;
}
