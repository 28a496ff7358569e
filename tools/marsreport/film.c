/* film.c - draws the machine with the loads of each period: the same drawing as in marsreport's page.
 *
 * The half of a line next to its sender has the colour of what it sends; a place that of the busiest of its
 * links that are no lines. Colours go from idle to the highest load of any frame, but at least to a tenth.
 */
#include "tools/marsreport/film.h"

#include <cairo.h>
#include <math.h>
#include <stdlib.h>

enum { COLOURS = 10, TOP = 44, MARGIN = 18, SHADES = 32 };

/* As in page/colours.js. */
static const unsigned char light[COLOURS][3] = {
    {226, 230, 236}, {247, 214, 120}, {252, 165, 10}, {243, 120, 25}, {221, 81, 58},
    {188, 55, 84},   {147, 38, 103},  {106, 23, 110}, {66, 10, 104},  {22, 11, 57}};
static const unsigned char dark[COLOURS][3] = {{52, 62, 76},   {84, 30, 112},  {120, 28, 109}, {155, 41, 100},
                                               {188, 55, 84},  {221, 81, 58},  {243, 120, 25}, {252, 165, 10},
                                               {246, 215, 70}, {252, 255, 164}};

struct film {
    const struct film_settings *set;
    const struct rep_scene *scene;
    struct film_out *out;
    cairo_surface_t *image;
    cairo_t *c;
    double scale, left, top;
    unsigned highest; /* load of any frame, 255: all the time */
    size_t frames;
    const char *name;
    struct ker_error *error;
    enum ker_status status;
};

static void colour(const struct film *f, double share)
{
    const unsigned char(*list)[3] = f->set->dark ? dark : light;
    double at = fmax(0, fmin(1, share)) * (COLOURS - 1), part;
    int i = at >= COLOURS - 1 ? COLOURS - 2 : (int)at;
    part = at - i;
    double rgb[3];
    for (int k = 0; k < 3; k++)
        rgb[k] = (list[i][k] + (list[i + 1][k] - list[i][k]) * part) / 255;
    cairo_set_source_rgb(f->c, rgb[0], rgb[1], rgb[2]);
}

static void ink(const struct film *f, double strength)
{
    double ground = f->set->dark ? 0.09 : 1, text = f->set->dark ? 0.93 : 0.1,
           grey = ground + (text - ground) * strength;
    cairo_set_source_rgb(f->c, grey, grey, grey);
}

static void frames_draw(const struct film *f)
{
    cairo_set_font_size(f->c, 11);
    cairo_set_line_width(f->c, 1);
    for (uint32_t i = 0; i < f->scene->frames; i++) {
        const struct rep_frame *r = &f->scene->frame[i];
        double x = f->left + f->scale * (double)r->x, y = f->top + f->scale * (double)r->y;
        ink(f, 0.25);
        cairo_rectangle(f->c, x, y, f->scale * (double)r->w, f->scale * (double)r->h);
        if (r->w > 0)
            cairo_stroke(f->c);
        cairo_new_path(f->c);
        char *label = ker_format("%s", r->label), *rest = label;
        ink(f, 0.7);
        for (int line = 0; rest && (r->w == 0 || f->scale * (double)r->w > 7.0 * (double)strlen(label));
             line++) {
            cairo_move_to(f->c, x, r->w > 0 ? y - 3 : y + 14 * line);
            cairo_show_text(f->c, strsep(&rest, "\n"));
        }
        free(label);
    }
}

/* Halves of one shade make one path, the idle ones first. */
static void lines_draw(const struct film *f, const uint8_t *load)
{
    const struct rep_scene *s = f->scene;
    cairo_set_line_width(f->c, s->lines > 6000 ? 0.7 : s->lines > 1500 ? 1 : 1.7);
    for (int shade = 0; shade <= SHADES; shade++) {
        for (uint32_t half = 0; half < 2 * s->lines; half++) {
            const struct rep_line *line = &s->line[half / 2];
            if ((int)ceil(SHADES * (double)load[half] / f->highest) != shade)
                continue;
            const struct rep_place *from = &s->place[half % 2 ? line->b : line->a],
                                   *to = &s->place[half % 2 ? line->a : line->b];
            double x = f->left + f->scale * (double)from->x, y = f->top + f->scale * (double)from->y;
            cairo_move_to(f->c, x, y);
            cairo_line_to(f->c, (x + f->left + f->scale * (double)to->x) / 2,
                          (y + f->top + f->scale * (double)to->y) / 2);
        }
        colour(f, (double)shade / SHADES);
        cairo_stroke(f->c);
    }
}

/* The busiest of the links that colour the place; -1: none does. */
static int place_load(const struct rep_scene *s, const uint8_t *load, uint32_t place)
{
    int most = -1;
    for (unsigned c = 0; c < s->classes; c++) {
        int of =
            s->hidden[(size_t)c * s->places + place] < 0 ? -1 : load[2 * s->lines + c * s->places + place];
        most = of > most ? of : most;
    }
    return most;
}

static void places_draw(const struct film *f, const uint8_t *load)
{
    for (uint32_t i = 0; i < f->scene->places; i++) {
        const struct rep_place *p = &f->scene->place[i];
        double side = fmax(2.2, f->scale * (double)p->size), x = f->left + f->scale * (double)p->x,
               y = f->top + f->scale * (double)p->y;
        int most = place_load(f->scene, load, i);
        if (most < 0)
            ink(f, 0.6);
        else
            colour(f, (double)most / f->highest);
        if (p->node)
            cairo_arc(f->c, x, y, side / 2, 0, 6.2831853);
        else
            cairo_rectangle(f->c, x - side / 2, y - side / 2, side, side);
        cairo_fill(f->c);
    }
}

/* The name, the time, and what colours mean. */
static void head_draw(const struct film *f, ker_time from, ker_time to)
{
    char a[32], b[32], text[128];
    ink(f, 1);
    cairo_set_font_size(f->c, 16);
    cairo_move_to(f->c, MARGIN, 28);
    cairo_show_text(f->c, f->name);
    snprintf(text, sizeof text, "%s to %s", ker_print_time(a, from), ker_print_time(b, to));
    cairo_move_to(f->c, f->set->width * 0.42, 28);
    cairo_show_text(f->c, text);
    double x = f->set->width - 260;
    for (int i = 0; i < 120; i++) {
        colour(f, i / 119.0);
        cairo_rectangle(f->c, x + 34 + i, 16, 1.2, 12);
        cairo_fill(f->c);
    }
    ink(f, 0.8);
    cairo_set_font_size(f->c, 12);
    cairo_move_to(f->c, x, 27);
    cairo_show_text(f->c, "idle");
    snprintf(text, sizeof text, "%.0f %% busy", 100.0 * f->highest / 255);
    cairo_move_to(f->c, x + 162, 27);
    cairo_show_text(f->c, text);
}

static void frame_draw(void *context, ker_time from, ker_time to, const uint8_t *load)
{
    struct film *f = context;
    if (f->status != KER_OK)
        return;
    ink(f, 0);
    cairo_paint(f->c);
    frames_draw(f);
    lines_draw(f, load);
    places_draw(f, load);
    head_draw(f, from, to);
    cairo_surface_flush(f->image);
    f->status = film_out_frame(f->out, cairo_image_surface_get_data(f->image),
                               cairo_image_surface_get_stride(f->image), f->error);
}

static void frame_look(void *context, ker_time from, ker_time to, const uint8_t *load)
{
    struct film *f = context;
    for (uint32_t i = 0; i < rep_scene_elements(f->scene); i++)
        f->highest = load[i] > f->highest ? load[i] : f->highest;
    f->frames++;
}

static void canvas_open(struct film *f)
{
    double width = f->set->width - 2.0 * MARGIN, height = f->set->height - TOP - 2.0 * MARGIN,
           wide = fmax(1, (double)f->scene->width), high = fmax(1, (double)f->scene->height);
    f->image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, f->set->width, f->set->height);
    f->c = cairo_create(f->image);
    cairo_select_font_face(f->c, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    f->scale = fmin(width / wide, height / high);
    f->left = MARGIN + (width - f->scale * wide) / 2;
    f->top = TOP + MARGIN + (height - f->scale * high) / 2;
}

static enum ker_status film_draw(struct film *f, struct rep_folder *folder, struct rep_links *links)
{
    if (!rep_movie_each(folder, links, f->scene, 0, frame_look, f))
        return ker_fail(
            f->error, KER_BAD_INPUT,
            "%s: there is no link_series.csv, or nothing in it: run marssim with output.period and "
            "output.series.links=periods",
            folder->path);
    char *path = NULL;
    int rate = f->set->rate ? f->set->rate : (int)fmax(2, fmin(30, (double)f->frames / 15));
    f->highest = f->highest < 26 ? 26 : f->highest;
    f->out = film_out_open(f->set, rate, &path, f->error);
    if (f->out) {
        canvas_open(f);
        rep_movie_each(folder, links, f->scene, 0, frame_draw, f);
        cairo_destroy(f->c);
        cairo_surface_destroy(f->image);
        enum ker_status closed = film_out_close(f->out, f->error);
        f->status = f->status ? f->status : closed;
    } else {
        f->status = f->error->status;
    }
    if (f->status == KER_OK)
        printf("%s\n", path);
    free(path);
    return f->status;
}

static const char *no_links(const struct rep_folder *f)
{
    const char *network =
        json_string_value(json_object_get(json_object_get(f->summary, "result"), "network"));
    return !f->summary
               ? "there is no links.csv, which is written when a run ends, and its machine is not known"
           : network && strncmp(network, "LogGOPS", 7) == 0
               ? "a run above LogGOPS has no links to show"
               : "there is no links.csv: output.links = true writes it";
}

enum ker_status film_make(const struct film_settings *set, bool *damaged, struct ker_error *error)
{
    struct rep_folder folder = {.from = 0, .to = KER_TIME_MAX, .tells = true};
    struct rep_links links = {.link = NULL};
    enum ker_status status = rep_folder_open(&folder, set->folder, error);
    if (status == KER_OK && !rep_links_read(&folder, &links))
        status = ker_fail(error, KER_BAD_INPUT, "%s: %s", set->folder, no_links(&folder));
    struct rep_scene *scene = status == KER_OK ? rep_scene_make(&folder, &links) : NULL;
    if (status == KER_OK && !scene)
        status = ker_fail(error, KER_BAD_INPUT, "%s: its machine cannot be drawn", set->folder);
    const char *network = json_string_value(json_object_get(
        json_object_get(folder.summary ? folder.summary : folder.started, "result"), "network"));
    char *name =
        ker_format("%s%s", network ? network : set->folder, folder.summary ? "" : " (has not ended)");
    struct film film = {.set = set, .scene = scene, .name = name, .error = error};
    status = status ?: film_draw(&film, &folder, &links);
    free(name);
    *damaged = folder.damaged;
    rep_scene_free(scene);
    rep_links_release(&links);
    rep_folder_close(&folder);
    return status;
}
