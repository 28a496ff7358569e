/* scene.h - the machine as a drawing: places (switches, nodes, groups of them), frames around them, lines
 * between them, and which direction of which link colours what. Inside tools/marsreport/.
 *
 * layout.c says where switches and nodes lie; scene.c puts the links in. A direction of a link
 * colours the half of the line next to its sender. Links inside a place, and those that the layout does not
 * draw as lines, colour their sender's place, each class of links for itself. A line or place shows the
 * busiest of its links.
 */
#pragma once

#include "tools/marsreport/report.h"

#define REP_NOWHERE UINT32_MAX
enum { REP_MOST_CLASSES = 64, REP_MOST_DIMENSIONS = 8 };

/* A direction of a link, a row of links.csv. */
struct rep_link {
    uint32_t from, to;
    uint16_t from_port;
    bool from_node, to_node;
    uint8_t class;
    float utilisation;
    uint32_t element; /* of the scene: what it colours */
};

struct rep_links {
    struct rep_link *link;
    size_t count, room;
    char *class[REP_MOST_CLASSES];
    unsigned classes;
    uint32_t switches, nodes; /* the highest ids + 1 */
    uint32_t switch_names, node_names;
    char **switch_name, **node_name; /* NULL: the topology has none; single names may be NULL */
    size_t *by_end;                  /* indices, ordered by (from_node, from, from_port) */
};

/* False: there is no links.csv. */
bool rep_links_read(struct rep_folder *, struct rep_links *);
void rep_links_release(struct rep_links *);
/* NULL: there is none. */
struct rep_link *rep_links_find(const struct rep_links *, bool from_node, uint32_t from, uint16_t port);
/* The busiest directions, with what else is known of them: {"columns": [names], "rows": [[...]],
 * "left_out": n}. */
json_t *rep_hot_json(struct rep_folder *);
/* Switches' neighbours, as lists one after the other. Freed by rep_neighbours_release. */
struct rep_neighbours {
    size_t *first; /* switches + 1 */
    uint32_t *to;
    uint32_t *switch_of; /* by node */
};
void rep_neighbours_make(struct rep_neighbours *, const struct rep_links *);
void rep_neighbours_release(struct rep_neighbours *);

/* What system.cfg says of the topology; kind "" when it is not known. */
struct rep_shape {
    char kind[32];
    int dimensions;                       /* of the lists below */
    uint32_t extent[REP_MOST_DIMENSIONS]; /* torus: extents; fat tree: down; hierarchical: groups */
    uint32_t up[REP_MOST_DIMENSIONS];     /* fat tree */
    uint32_t leaves;                      /* dragonfly+: of a group, its first switches; else 0 */
    uint32_t switches;                    /* as these make it */
};
void rep_shape_read(struct rep_folder *, struct rep_shape *);

/* ---- machine.c: the links of a machine without links.csv ---- */

typedef void rep_machine_link(void *context, const struct rep_link *, const char *class,
                              const char *from_name);
/* Calls `each` for every direction of every link of the machine that system.cfg and started.json are of, in
 * the order of links.csv, their utilisation 0; from_name: NULL where there are no names. False: it is not
 * known; a note says why where there is more to say than that a file is not there. measured_from: run.warmup.
 */
bool rep_machine_each(struct rep_folder *, rep_machine_link *each, void *context, ker_time *measured_from);

/* ---- scene.c ---- */

struct rep_place {
    float x, y, size;
    uint32_t count; /* switches or nodes in it */
    bool node;
    char *label;
};
struct rep_frame {
    float x, y, w, h;
    char *label;
};
struct rep_line {
    uint32_t a, b; /* places, a < b */
    uint8_t class;
    uint32_t count[2]; /* directions from a, from b */
    float load[2];
    uint32_t from[2]; /* the sender of the busiest of them, and its port */
    uint16_t port[2];
};
struct rep_scene {
    const char *shape; /* in words */
    char *text;        /* how to read it */
    struct rep_place *place;
    uint32_t places, place_room;
    struct rep_frame *frame;
    uint32_t frames, frame_room;
    uint32_t *of_switch, *of_node; /* the places */
    uint32_t *slice;               /* by place, NULL: all alike; lines join places of one slice only */
    bool nodes_hidden; /* they are no places: the link of each adapter lies in its switch's place */
    bool no_lines;     /* links colour places only */
    float width, height;
    struct rep_line *line;
    uint32_t lines, line_room;
    unsigned classes;
    float *hidden; /* by class, then by place */
};

struct rep_scene *rep_scene_make(struct rep_folder *, struct rep_links *);
void rep_scene_free(struct rep_scene *);
json_t *rep_scene_json(const struct rep_scene *, const struct rep_links *);
/* Elements: a line has two, then come the classes of the places. */
static inline uint32_t rep_scene_elements(const struct rep_scene *s)
{
    return 2 * s->lines + s->classes * s->places;
}

/* ---- layout.c: `side` is how many places may be in a row, or lie in all; smaller from try to try ---- */

struct rep_layout_input {
    const struct rep_links *links;
    const struct rep_shape *shape;
    uint32_t side;
    bool lines; /* false: there would be too many, whatever `side` is */
};
void rep_layout(struct rep_scene *, const struct rep_layout_input *);

/* ---- movie.c ---- */

/* Calls `each` with the loads of the elements (255: busy all the time) in each frame: a period of
 * link_series.csv, or, where all frames would be more than most_bytes (0: any), as many as need be. False:
 * there are none. */
typedef void rep_frame_function(void *context, ker_time from, ker_time to, const uint8_t *load);
bool rep_movie_each(struct rep_folder *, struct rep_links *, const struct rep_scene *, size_t most_bytes,
                    rep_frame_function *, void *context);
/* The same for the page: {"time_ps": [ends], "loads": [base64]}; NULL: there are none. */
json_t *rep_movie_json(struct rep_folder *, struct rep_links *, const struct rep_scene *);

/* ---- jobs.c ---- */

/* {"names": [jobs], "place", "job", "nodes": lists of one length, by place}; NULL: there are no tasks. */
json_t *rep_jobs_json(struct rep_folder *, const struct rep_scene *, const struct rep_links *);

/* [{"job", "load": of each element by what it carries of the job, in 1/10000}] of links_by_job.csv; NULL:
 * there is none. */
json_t *rep_carried_json(struct rep_folder *, const struct rep_scene *, const struct rep_links *);

/* ---- where.c ---- */

/* Of a page with `hot` and `series`: {"links": {"switch 3 port 5": [kind and number of its other end, class,
 * half line or -1]}, "switch_of": by node, "of_switch", "of_node": places, all three as differences;
 * "names"}. The scene may be NULL. */
json_t *rep_where_json(const json_t *data, const struct rep_links *, const struct rep_scene *);

/* ---- matrix.c ---- */

/* Who sends to whom: between nodes, boards, racks, and tasks of a job, each as far as it was collected:
 * [{"level", "job", "count", "together", "side", "cells", "frames"}]; see there. */
json_t *rep_matrices_json(struct rep_folder *, uint32_t nodes);
/* Over how many links: {"rows": [[links, messages, bytes]], "every"}; NULL: there is no matrix.csv. */
json_t *rep_distance_json(struct rep_folder *, const struct rep_links *);
