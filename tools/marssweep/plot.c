/* plot.c - the figure: figure.svg, by gnuplot from figure.gp, which holds its data and may be changed.
 *
 * Of a sweep of traffic.load the two curves of the field: latency, and accepted load, against the load. Of
 * any other the first two columns, against the first key whose values are numbers, else against the first
 * key. A curve for each combination of the other keys; whiskers are the intervals; what is saturated is
 * marked, since its latency depends on the length of the run. Colours are Okabe and Ito's, distinguished with
 * any colour vision.
 */
#include "tools/marssweep/sweep.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PANELS 2
#define MOST_CURVES 24

struct curve {
    char *title;
    size_t *row, rows;
};

struct plot {
    const struct sweep *sweep;
    const struct sweep_table *table;
    FILE *out;
    size_t x; /* of the table's keys */
    bool numbers;
    struct curve *curve;
    size_t curves;
    const char **name; /* where x is no number: its values */
    size_t names;
};

static const char *word_at(const struct plot *p, size_t row, size_t key)
{
    const char *word = sweep_group_word(p->sweep, p->sweep->group[p->table->group[row]], p->table->key[key]);
    return word ? word : "";
}

static bool key_numbers(const struct plot *p, size_t key)
{
    for (size_t i = 0; i < p->table->rows; i++) {
        char *end;
        const char *word = word_at(p, i, key);
        strtod(word, &end);
        if (end == word)
            return false;
    }
    return true;
}

static void x_choose(struct plot *p)
{
    p->x = SIZE_MAX;
    for (size_t k = 0; k < p->table->keys; k++)
        if (strcmp(p->table->key[k], SWEEP_LOAD) == 0)
            p->x = k;
    for (size_t k = 0; k < p->table->keys && p->x == SIZE_MAX; k++)
        if (key_numbers(p, k))
            p->x = k;
    p->x = p->x == SIZE_MAX ? 0 : p->x;
    p->numbers = key_numbers(p, p->x);
}

static char *curve_title(const struct plot *p, size_t row)
{
    char *text = NULL;
    size_t length, others = 0;
    FILE *out = open_memstream(&text, &length);
    for (size_t k = 0; k < p->table->keys; k++)
        if (k != p->x)
            fprintf(out, "%s%s", others++ ? ", " : "", word_at(p, row, k));
    fclose(out);
    return text;
}

static void curves_make(struct plot *p)
{
    for (size_t i = 0; i < p->table->rows; i++) {
        char *title = curve_title(p, i);
        size_t c = 0;
        while (c < p->curves && strcmp(p->curve[c].title, title) != 0)
            c++;
        if (c == p->curves)
            *KER_APPEND(p->curve, p->curves) = (struct curve){.title = title};
        else
            free(title);
        *KER_APPEND(p->curve[c].row, p->curve[c].rows) = i;
    }
}

static double x_of(struct plot *p, size_t row)
{
    const char *word = word_at(p, row, p->x);
    if (p->numbers)
        return strtod(word, NULL);
    for (size_t i = 0; i < p->names; i++)
        if (strcmp(p->name[i], word) == 0)
            return (double)i;
    *KER_APPEND(p->name, p->names) = word;
    return (double)(p->names - 1);
}

/* Of gnuplot, in double quotes. */
static void quote(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('"', out);
}

static void data_write(struct plot *p, size_t panel, const struct sweep_column *column, double range[2])
{
    for (size_t c = 0; c < p->curves && c < MOST_CURVES; c++) {
        fprintf(p->out, "$p%zuc%zu << EOD\n", panel, c);
        for (size_t i = 0; i < p->curve[c].rows; i++) {
            const struct sweep_group *g = p->sweep->group[p->table->group[p->curve[c].row[i]]];
            struct sweep_value v = sweep_cell_of(p->sweep, p->table, g, column);
            double mean = v.mean / column->unit;
            if (isnan(mean))
                continue;
            fprintf(p->out, "%.10g %.10g %.10g %s\n", x_of(p, p->curve[c].row[i]), mean,
                    isnan(v.half) ? 0 : v.half / column->unit,
                    sweep_group_saturated(p->sweep, g) ? "1" : "NaN");
            range[0] = mean < range[0] ? mean : range[0];
            range[1] = mean > range[1] ? mean : range[1];
        }
        fprintf(p->out, "EOD\n");
    }
}

static void panel_write(struct plot *p, size_t panel, const struct sweep_column *column)
{
    double range[2] = {INFINITY, 0};
    bool saturated = false;
    data_write(p, panel, column, range);
    fprintf(p->out, "set ylabel ");
    quote(p->out, column->title);
    /* Latencies grow without a bound behind saturation. */
    fprintf(p->out, "\n%s\n",
            range[0] > 0 && range[1] > 20 * range[0] ? "set logscale y; set yrange [*:*]"
                                                     : "unset logscale y; set yrange [0:*]");
    fprintf(p->out, "plot ");
    for (size_t c = 0; c < p->curves && c < MOST_CURVES; c++) {
        fprintf(p->out, "%s$p%zuc%zu using 1:2:3 with yerrorlines linetype %zu title ", c ? ", " : "", panel,
                c, c + 1);
        quote(p->out, p->curve[c].title);
        fprintf(p->out,
                ", $p%zuc%zu using 1:($2*$4) with points linetype %zu pointtype 6 pointsize 1.8 notitle",
                panel, c, c + 1);
        for (size_t i = 0; i < p->curve[c].rows; i++)
            saturated |=
                sweep_group_saturated(p->sweep, p->sweep->group[p->table->group[p->curve[c].row[i]]]);
    }
    if (saturated)
        fprintf(p->out,
                ", NaN with points linecolor rgb '#404040' pointtype 6 pointsize 1.8 title 'saturated'");
    fprintf(p->out, "\n");
}

static void style_write(FILE *out, size_t panels)
{
    static const char *const colour[] = {"0072B2", "D55E00", "009E73", "CC79A7",
                                         "E69F00", "56B4E9", "000000", "7f7f7f"};
    static const int shape[] = {7, 5, 9, 13, 11, 3, 1, 2};
    fprintf(out, "set terminal svg size %d,440 dynamic font 'sans-serif,13' background 'white' noenhanced\n",
            panels > 1 ? 1100 : 760);
    fprintf(out, "set output 'figure.svg'\nset datafile separator ','\nset datafile missing ''\n"
                 "set key below center horizontal Left reverse samplen 2 spacing 1.2\n"
                 "set grid linecolor rgb '#d8d8d8' linewidth 0.7\nset border 3 linecolor rgb '#404040'\n"
                 "set tics nomirror\n");
    for (int i = 0; i < MOST_CURVES; i++)
        fprintf(out, "set linetype %d linecolor rgb '#%s' linewidth 2 pointtype %d dashtype %d\n", i + 1,
                colour[i % 8], shape[i % 8], i / 8 + 1);
}

/* The two columns that are drawn. */
static size_t panels_choose(const struct sweep_table *t, bool load, const struct sweep_column *panel[PANELS])
{
    size_t count = 0;
    for (size_t c = 0; load && c < t->columns; c++)
        if (strcmp(t->column[c].figure, "packet_latency_ps.mean") == 0)
            panel[count++] = &t->column[c];
    for (size_t c = 0; c < t->columns && count < PANELS; c++)
        if (count == 0 || panel[0] != &t->column[c])
            panel[count++] = &t->column[c];
    return count;
}

static void plot_write(struct plot *p)
{
    const struct sweep_column *panel[PANELS];
    const struct sweep_table *t = p->table;
    x_choose(p);
    curves_make(p);
    bool load = strcmp(t->key[p->x], SWEEP_LOAD) == 0;
    size_t panels = panels_choose(t, load, panel);
    style_write(p->out, panels);
    fprintf(p->out,
            "set datafile separator whitespace\nset offsets graph 0.03, graph 0.03, 0, 0\nset xlabel ");
    quote(p->out, t->key[p->x]);
    fprintf(p->out, "\n");
    for (size_t i = 0; i < t->rows; i++)
        x_of(p, i);
    for (size_t i = 0; i < p->names; i++) {
        fprintf(p->out, i ? "set xtics add (" : "set xrange [-0.5:%g]\nset xtics (", (double)p->names - 0.5);
        quote(p->out, p->name[i]);
        fprintf(p->out, " %zu)\n", i);
    }
    if (panels > 1)
        fprintf(p->out, "set multiplot layout 1,%zu\n", panels);
    for (size_t i = 0; i < panels; i++)
        panel_write(p, i, panel[i]);
}

/* gnuplot in the folder, its messages in gnuplot.log; its exit status, 127: there is none. */
static int gnuplot_run(const char *dir)
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int log = chdir(dir) == 0 ? open("gnuplot.log", O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
        if (log >= 0)
            dup2(log, STDERR_FILENO);
        execlp("gnuplot", "gnuplot", "figure.gp", (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

enum ker_status sweep_plot(const struct sweep *s, const struct sweep_table *t, struct ker_error *error)
{
    struct plot p = {.sweep = s, .table = t};
    char *own = NULL;
    size_t length;
    if (!s->plot && (t->keys == 0 || t->rows == 0))
        return KER_OK; /* one row: there is nothing to draw */
    if (s->plot && ker_input_read(NULL, s->plot, &own, &length, error) != KER_OK)
        return error->status;
    char *script = ker_format("%s/figure.gp", s->dir), *log = ker_format("%s/gnuplot.log", s->dir);
    p.out = fopen(script, "w");
    if (p.out && own) {
        style_write(p.out, 1);
        fputs(own, p.out);
    } else if (p.out)
        plot_write(&p);
    free(own);
    int status = p.out && fclose(p.out) == 0 ? gnuplot_run(s->dir) : -1;
    if (status == 127)
        fprintf(stderr,
                "marssweep: warning: no figure: gnuplot is missing (Debian: gnuplot-nox); then: gnuplot "
                "figure.gp in %s\n",
                s->dir);
    else if (status != 0)
        ker_fail(error, KER_RUN_FAILED, "%s: gnuplot failed; what it said is in %s", script, log);
    if (status == 0 || status == 127)
        unlink(log);
    for (size_t i = 0; i < p.curves; i++) {
        free(p.curve[i].title);
        free(p.curve[i].row);
    }
    KER_FREE(p.curve, p.name, script, log);
    return error->status;
}
