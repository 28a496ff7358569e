/* points.c - CSV files of measured points, by the names of their columns.
 *
 * The first line names the columns, in any order; those that mean nothing here are passed over. A cell may
 * be in double quotes. Without a column `quantity` all rows are collectives, as in PICO's files; what each
 * quantity needs is checked row by row, so that a message names the line.
 */
#include "tools/marsbench/points.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const bench_quantity_names[BENCH_QUANTITIES] = {
    "collective", "pingpong", "stream", "send_overhead", "receive_overhead",
    "copy",       "triad",    "reduce", "eager_limit"};
const char *const bench_where_names[BENCH_WHERES] = {"core", "socket", "node"};

int bench_curve_order(const struct bench_point *a, const struct bench_point *b)
{
    int order = (int)a->quantity - (int)b->quantity;
    order = order ? order : (int)a->where - (int)b->where;
    order = order ? order : strcmp(a->collective, b->collective);
    order = order ? order : strcmp(a->algorithm, b->algorithm);
    order = order ? order : strcmp(a->key, b->key);
    order = order ? order : (a->nodes > b->nodes) - (a->nodes < b->nodes);
    return order ? order : (a->per_node > b->per_node) - (a->per_node < b->per_node);
}

enum column { QUANTITY, WHERE, COLLECTIVE, ALGORITHM, NODES, PER_NODE, BYTES, MIN, KEY, COLUMNS };
static const char *const NAMES[COLUMNS] = {"quantity",       "where", "collective", "algorithm", "nodes",
                                           "ranks_per_node", "bytes", "min_us",     "key"};

#define MOST_CELLS 64
struct cell {
    const char *text;
    size_t length;
};

/* The cells of the current line; their number, at most MOST_CELLS. */
static size_t cells_split(struct ker_lines *l, struct cell *cell)
{
    size_t count = 0;
    const char *p = l->p;
    while (count < MOST_CELLS) {
        const char *begin = p;
        if (p < l->stop && *p == '"') {
            begin = ++p;
            while (p < l->stop && *p != '"')
                p++;
            cell[count++] = (struct cell){begin, (size_t)(p - begin)};
            while (p < l->stop && *p != ',')
                p++;
        } else {
            while (p < l->stop && *p != ',')
                p++;
            cell[count++] = (struct cell){begin, (size_t)(p - begin)};
        }
        if (p >= l->stop)
            break;
        p++;
    }
    return count;
}

static bool cell_is(const struct cell *c, const char *text)
{
    return c->length == strlen(text) && memcmp(c->text, text, c->length) == 0;
}

/* Which of some words a cell is; -1: none. */
static int cell_word(const struct cell *c, const char *const *word, int words)
{
    for (int i = 0; i < words; i++)
        if (cell_is(c, word[i]))
            return i;
    return -1;
}

/* A number that is not negative. */
static bool cell_number(const struct cell *c, double *number)
{
    char text[40], *end;
    if (c->length == 0 || c->length >= sizeof text || !isdigit((unsigned char)c->text[0]))
        return false;
    memcpy(text, c->text, c->length);
    text[c->length] = 0;
    *number = strtod(text, &end);
    return *end == 0 && isfinite(*number) && text[1] != 'x' && text[1] != 'X';
}

struct reader {
    struct ker_lines in;
    const struct bench_select *select;
    size_t selects;
    int place[COLUMNS];   /* where the column is; -1: nowhere */
    size_t *select_place; /* of each selection */
};

static enum ker_status heads_read(struct reader *r, const struct cell *head, size_t heads)
{
    for (int c = 0; c < COLUMNS; c++) {
        r->place[c] = -1;
        for (size_t i = 0; i < heads; i++)
            if (cell_is(&head[i], NAMES[c]))
                r->place[c] = (int)i;
    }
    for (size_t s = 0; s < r->selects; s++) {
        size_t i = 0;
        while (i < heads && !cell_is(&head[i], r->select[s].column))
            i++;
        if (i == heads)
            return ker_lines_fail(&r->in, "there is no column %s to select rows by", r->select[s].column);
        r->select_place[s] = i;
    }
    for (int c = 0; c < COLUMNS; c++) {
        bool collective = c == COLLECTIVE || c == ALGORITHM || c == NODES;
        if (r->place[c] < 0 && (c == BYTES || c == MIN || (collective && r->place[QUANTITY] < 0)))
            return ker_lines_fail(
                &r->in,
                "there is no column %s; needed are bytes and min_us, and collective, algorithm "
                "and nodes where no column quantity says what a row is",
                NAMES[c]);
    }
    return KER_OK;
}

/* The number in a column, within bounds; absent where the column is not there or the cell is empty. */
static enum ker_status number_read(struct reader *r, const struct cell *cell, enum column c, double absent,
                                   double least, double most, double *number)
{
    *number = absent;
    if (r->place[c] < 0 || cell[r->place[c]].length == 0)
        return KER_OK;
    const struct cell *at = &cell[r->place[c]];
    if (!cell_number(at, number) || *number < least || *number > most)
        return ker_lines_fail(&r->in, "%s: %.*s: expected a number, %g to %g", NAMES[c],
                              at->length > 40 ? 40 : (int)at->length, at->text, least, most);
    return KER_OK;
}

static enum ker_status word_read(struct reader *r, const struct cell *cell, enum column c, int words,
                                 const char *const *word, int absent, int *which)
{
    *which = absent;
    if (r->place[c] < 0 || cell[r->place[c]].length == 0)
        return KER_OK;
    const struct cell *at = &cell[r->place[c]];
    if ((*which = cell_word(at, word, words)) < 0) {
        char all[160] = "";
        for (int i = 0; i < words; i++)
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", word[i]);
        return ker_lines_fail(&r->in, "%s: %.*s: expected one of %s", NAMES[c],
                              at->length > 40 ? 40 : (int)at->length, at->text, all);
    }
    return KER_OK;
}

static enum ker_status text_read(struct reader *r, const struct cell *cell, enum column c, char *to,
                                 size_t room)
{
    const struct cell *at = r->place[c] < 0 ? NULL : &cell[r->place[c]];
    if (!at || at->length == 0)
        return KER_OK;
    if (at->length >= room)
        return ker_lines_fail(&r->in, "%s: a text of %zu characters: at most %zu", NAMES[c], at->length,
                              room - 1);
    for (size_t i = 0; i < at->length; i++) {
        unsigned char one = (unsigned char)at->text[i];
        if (c == KEY ? one < ' ' || one == '"' : !isalnum(one) && !strchr("_-./+", one))
            return ker_lines_fail(&r->in, "%s: %s", NAMES[c],
                                  c == KEY ? "KEY=VALUE has no control characters and double quotes"
                                           : "a name has letters, digits and _-./+ only");
    }
    memcpy(to, at->text, at->length);
    to[at->length] = 0;
    return KER_OK;
}

static enum ker_status numbers_read(struct reader *r, const struct cell *cell, struct bench_point *p)
{
    double nodes, per_node, bytes;
    if (number_read(r, cell, NODES, 2, 1, 1e7, &nodes) ||
        number_read(r, cell, PER_NODE, 1, 1, 1e5, &per_node) ||
        number_read(r, cell, BYTES, -1, 0, 1e15, &bytes) || number_read(r, cell, MIN, 0, 0, 1e12, &p->min_us))
        return KER_BAD_INPUT;
    if (bytes < 0)
        return ker_lines_fail(&r->in, "bytes is empty");
    if (p->min_us <= 0 && p->quantity != BENCH_EAGER)
        return ker_lines_fail(&r->in, "min_us: a time greater than 0 is needed");
    p->nodes = (uint32_t)nodes;
    p->per_node = (uint32_t)per_node;
    p->bytes = (uint64_t)bytes;
    return KER_OK;
}

static enum ker_status row_read(struct reader *r, struct bench_points *points, const struct cell *cell)
{
    for (size_t s = 0; s < r->selects; s++)
        if (!cell_is(&cell[r->select_place[s]], r->select[s].value))
            return KER_OK;
    struct bench_point p = {0};
    int quantity, where;
    if (word_read(r, cell, QUANTITY, BENCH_QUANTITIES, bench_quantity_names, BENCH_COLLECTIVE, &quantity) ||
        word_read(r, cell, WHERE, BENCH_WHERES, bench_where_names, BENCH_NODE, &where) ||
        text_read(r, cell, COLLECTIVE, p.collective, sizeof p.collective) ||
        text_read(r, cell, ALGORITHM, p.algorithm, sizeof p.algorithm) ||
        text_read(r, cell, KEY, p.key, sizeof p.key))
        return KER_BAD_INPUT;
    p.quantity = (enum bench_quantity)quantity;
    p.where = (enum bench_where)where;
    if (numbers_read(r, cell, &p))
        return KER_BAD_INPUT;
    if (p.quantity == BENCH_COLLECTIVE && (!p.collective[0] || !p.algorithm[0]))
        return ker_lines_fail(&r->in, "a collective needs its name and that of its algorithm");
    *KER_PUSH(points->point, points->count, points->room) = p;
    return KER_OK;
}

static enum ker_status csv_parse(struct reader *r, struct bench_points *points)
{
    struct cell cell[MOST_CELLS];
    size_t heads = cells_split(&r->in, cell);
    enum ker_status status = heads_read(r, cell, heads);
    while (status == KER_OK && ker_lines_next(&r->in)) {
        if (r->in.p == r->in.stop)
            continue;
        size_t cells = cells_split(&r->in, cell);
        if (cells != heads)
            return ker_lines_fail(&r->in, "%zu cells, but the first line names %zu columns", cells, heads);
        status = row_read(r, points, cell);
    }
    return status;
}

enum ker_status bench_csv_parse(struct bench_points *points, const struct ker_lines *in,
                                const struct bench_select *select, size_t selects)
{
    struct reader r = {.in = *in, .select = select, .selects = selects};
    r.select_place = ker_alloc((selects + 1) * sizeof *r.select_place);
    enum ker_status status = csv_parse(&r, points);
    free(r.select_place);
    return status;
}

bool bench_points_write(const struct bench_points *points, FILE *out)
{
    fputs("quantity,where,collective,algorithm,nodes,ranks_per_node,bytes,iterations,starts,min_us,median_us,"
          "p90_us,spread,key\n",
          out);
    for (size_t i = 0; i < points->count; i++) {
        const struct bench_point *p = &points->point[i];
        fprintf(out, "%s,%s,%s,%s,%u,%u,%llu,%llu,%u,%.6g,%.6g,%.6g,%.4f,%s%s%s\n",
                bench_quantity_names[p->quantity], bench_where_names[p->where], p->collective, p->algorithm,
                p->nodes, p->per_node, (unsigned long long)p->bytes, (unsigned long long)p->iterations,
                p->starts, p->min_us, p->median_us, p->p90_us, p->spread, *p->key ? "\"" : "", p->key,
                *p->key ? "\"" : "");
    }
    return !ferror(out);
}

void bench_points_release(struct bench_points *points)
{
    free(points->point);
    *points = (struct bench_points){0};
}
