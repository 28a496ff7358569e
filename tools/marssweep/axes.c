/* axes.c - what is swept: values of keys, their products, and files of points.
 *
 * KEY=A,B,C lists values, KEY=FROM:TO[:STEP] counts (STEP is 1; numbers may have one unit). A comma inside
 * brackets or quotes divides nothing: topology.extents=[4,4,4],[8,8,8]. A key with one value is part of each
 * point, and changes nothing of how many there are. @NAME=LABEL{WORDS},... are designs that differ in several
 * keys: the table has their labels. WORDS are like those outside, with values and designs of their own, so
 * that each design may be a sweep; later words replace earlier ones of the same key.
 */
#include "tools/marssweep/sweep.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_VALUES 1000000

bool sweep_is_word(const char *text)
{
    return strchr(text, '=') && text[strcspn(text, "/=[")] != '/' && access(text, F_OK) != 0;
}

/* ---- values ---- */

struct range {
    double from, to, step;
    const char *unit;
};

/* "0.1:0.9:0.1", "1us:5us:2us", "1:5"; false: it is none. The last unit is the unit of all. */
static bool range_parse(const char *text, struct range *r)
{
    double number[3];
    const char *unit[3] = {"", "", ""};
    size_t length[3] = {0};
    int count = 0;
    for (const char *at = text;; at++) {
        char *end;
        if (count == 3 || isspace((unsigned char)*at))
            return false;
        number[count] = strtod(at, &end);
        if (end == at || !isfinite(number[count]))
            return false;
        unit[count] = end;
        length[count] = strcspn(end, ":");
        if (strspn(end, " ") +
                strspn(end + strspn(end, " "), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/") !=
            length[count])
            return false;
        at = end + length[count];
        count++;
        if (*at == '\0')
            break;
    }
    for (int i = 0; i + 1 < count; i++)
        if (length[i] &&
            (length[i] != length[count - 1] || strncmp(unit[i], unit[count - 1], length[i]) != 0))
            return false;
    *r = (struct range){number[0], number[1], count == 3 ? number[2] : 1, unit[count - 1]};
    return count > 1;
}

static enum ker_status range_add(struct sweep_axis *axis, const struct range *r, const char *text,
                                 const char *where, struct ker_error *error)
{
    if (!(r->step > 0) || r->from > r->to)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: %s=%s: no values: from %g to %g in steps of %g (FROM:TO:STEP, upwards)", where,
                        axis->key, text, r->from, r->to, r->step);
    double count = floor((r->to - r->from) / r->step * (1 + 1e-12) + 1e-9) + 1;
    if (count > MOST_VALUES)
        return ker_fail(error, KER_BAD_INPUT, "%s: %s=%s: %g values; at most %d are possible", where,
                        axis->key, text, count, MOST_VALUES);
    for (unsigned i = 0; i < (unsigned)count; i++) /* 0.30000000000000004 is 0.3 */
        *KER_APPEND(axis->value, axis->count) = ker_format("%.12g%s", r->from + i * r->step, r->unit);
    return KER_OK;
}

/* The end of a value: the next of these that divides. */
static size_t value_length(const char *text, const char *ends)
{
    int depth = 0;
    bool quoted = false;
    size_t i = 0;
    for (; text[i] && (depth > 0 || quoted || !strchr(ends, text[i])); i++) {
        quoted ^= text[i] == '"';
        depth += !quoted && text[i] && strchr("[({", text[i]);
        depth -= !quoted && depth > 0 && strchr("])}", text[i]);
    }
    return i;
}

static enum ker_status values_parse(struct sweep_axis *axis, const char *text, const char *where,
                                    struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (const char *at = text; status == KER_OK; at++) {
        at += strspn(at, " \t\r\n");
        size_t length = value_length(at, ",");
        char *value = ker_format("%.*s", (int)length, at);
        struct range range;
        if (length == 0)
            status =
                ker_fail(error, KER_BAD_INPUT, "%s: %s=%s: a value is empty (KEY=A,B,C or KEY=FROM:TO:STEP)",
                         where, axis->key, text);
        else if (range_parse(value, &range))
            status = range_add(axis, &range, value, where, error);
        else
            *KER_APPEND(axis->value, axis->count) = ker_format("%s", value);
        free(value);
        at += length;
        if (*at == '\0')
            break;
    }
    return status;
}

/* KEY=VALUES; @NAME alone: the values of sweep.designs, which are looked up later. */
static enum ker_status axis_make(struct sweep_axis *axis, const char *text, const char *where,
                                 struct ker_error *error)
{
    size_t length = strcspn(text, "=");
    axis->key = ker_format("%.*s", (int)length, text);
    if (!text[length] && sweep_is_tag(text) && text[1])
        return KER_OK;
    if (length == 0 || text[length] != '=')
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: \"%s\": expected KEY=VALUES, like traffic.load=0.1:0.9:0.1", where, text);
    return values_parse(axis, text + length + 1, where, error);
}

static void axis_free(struct sweep_axis *axis)
{
    ker_free_all(axis->value, axis->count);
    free(axis->key);
}

enum ker_status sweep_axis_parse(struct sweep_axes *axes, const char *text, const char *where,
                                 struct ker_error *error)
{
    struct sweep_axis axis = {NULL, NULL, 0};
    size_t i = 0;
    enum ker_status status = axis_make(&axis, text, where, error);
    while (i < axes->count && strcmp(axes->axis[i].key, axis.key) != 0)
        i++;
    if (i == axes->count)
        KER_APPEND(axes->axis, axes->count);
    else
        axis_free(&axes->axis[i]);
    axes->axis[i] = axis;
    return status;
}

void sweep_axes_free(struct sweep_axes *axes)
{
    for (size_t i = 0; i < axes->count; i++)
        axis_free(&axes->axis[i]);
    free(axes->axis);
    *axes = (struct sweep_axes){NULL, 0};
}

/* "KEY=VALUES KEY=VALUES", divided by blanks outside brackets and quotes and not behind a comma. */
static enum ker_status axes_parse(struct sweep_axes *axes, const char *text, const char *where,
                                  struct ker_error *error)
{
    enum ker_status status = KER_OK;
    while (status == KER_OK && *(text += strspn(text, " \t\r\n"))) {
        size_t length = value_length(text, " \t\r\n");
        while (text[length] && text[length - 1] == ',') {
            length += strspn(text + length, " \t\r\n");
            length += value_length(text + length, " \t\r\n");
        }
        char *word = ker_format("%.*s", (int)length, text);
        status = sweep_axis_parse(axes, word, where, error);
        free(word);
        text += length;
    }
    return status;
}

/* ---- points ---- */

/* What is left to be multiplied: axes from one on, and then those of the products around. */
struct rest {
    const struct sweep_axis *axis;
    size_t axes;
    const struct rest *then;
    const char *where;
    unsigned depth; /* of designs inside designs */
};

#define DEEPEST 16

static enum ker_status points_fail(const struct sweep *s, struct ker_error *error)
{
    return ker_fail(error, KER_BAD_INPUT, "more than %zu points: are these the values that you mean?",
                    s->most_points);
}

/* The point of these words, once for each seed. */
static enum ker_status seeds_add(struct sweep *s, const struct sweep_words *words, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    if (s->seeds && sweep_word_of(words, SWEEP_SEED))
        return ker_fail(error, KER_BAD_INPUT, "--seeds: %s is given, too: one of the two says which seeds",
                        SWEEP_SEED);
    s->counted += s->seeds ? (size_t)s->seeds : 1;
    if (s->counted > s->most_points)
        return points_fail(s, error);
    for (int64_t seed = 1; !s->counts && seed <= (s->seeds ? s->seeds : 1) && status == KER_OK; seed++) {
        struct sweep_words own = {NULL, 0};
        struct sweep_point *point;
        char number[24];
        sweep_words_copy(&own, words);
        snprintf(number, sizeof number, "%lld", (long long)seed);
        if (s->seeds)
            sweep_word_set(&own, SWEEP_SEED, number);
        status = sweep_point_add(s, &own, &point, error);
    }
    return status;
}

static enum ker_status product_add(struct sweep *, const struct sweep_words *, const struct rest *,
                                   struct ker_error *);

/* One value: LABEL{WORDS} adds the product of its words to that of all that is left. */
static enum ker_status value_add(struct sweep *s, const struct sweep_words *words, const char *key,
                                 const char *value, unsigned depth, const struct rest *then,
                                 struct ker_error *error)
{
    size_t label = sweep_is_tag(key) ? strcspn(value, "{") : strlen(value), length = strlen(value);
    struct sweep_words own = {NULL, 0};
    struct sweep_axes inner = {NULL, 0};
    enum ker_status status = KER_OK;
    if (value[label] && (value[length - 1] != '}' || label == 0))
        return ker_fail(error, KER_BAD_INPUT, "%s: %s=%s: expected LABEL{KEY=VALUES ...}", then->where, key,
                        value);
    char *text = ker_format("%.*s", (int)label, value),
         *more = value[label] ? ker_format("%.*s", (int)(length - label - 2), value + label + 1) : NULL;
    sweep_words_copy(&own, words);
    sweep_word_set(&own, key, text);
    if (more)
        status = depth < DEEPEST
                     ? axes_parse(&inner, more, then->where, error)
                     : ker_fail(error, KER_BAD_INPUT, "%s: %s is inside itself", then->where, key);
    struct rest rest = {inner.axis, inner.count, then, then->where, depth + 1};
    status = status ?: product_add(s, &own, &rest, error);
    sweep_axes_free(&inner);
    sweep_words_free(&own);
    free(text);
    free(more);
    return status;
}

static const struct sweep_axis *design_of(const struct sweep *s, const char *key)
{
    for (size_t i = 0; i < s->designs.count; i++)
        if (strcmp(s->designs.axis[i].key, key) == 0)
            return &s->designs.axis[i];
    return NULL;
}

/* These words with each value of the first axis, and so on; the first axis changes last. */
static enum ker_status product_add(struct sweep *s, const struct sweep_words *words, const struct rest *rest,
                                   struct ker_error *error)
{
    if (rest->axes == 0)
        return rest->then ? product_add(s, words, rest->then, error) : seeds_add(s, words, error);
    struct rest then = *rest;
    size_t count = 1;
    for (size_t i = 0; i < rest->axes && count <= s->most_points; i++)
        count *= rest->axis[i].count ? rest->axis[i].count : 1;
    if (count > s->most_points)
        return points_fail(s, error);
    const struct sweep_axis *axis = then.axis++;
    then.axes--;
    if (axis->count == 0 && (axis = design_of(s, axis->key)) == NULL)
        return ker_fail(error, KER_BAD_INPUT, "%s: %s: sweep.designs has no such values", rest->where,
                        rest->axis->key);
    /* A key of designs that always has one value there: the table has their labels instead. */
    bool bundles = rest->depth && axis->count == 1 && !sweep_is_tag(axis->key);
    const char *before = sweep_word_of(&s->bundled, axis->key);
    sweep_word_set(&s->bundled, axis->key, bundles && (!before || *before) ? "yes" : "");
    enum ker_status status = KER_OK;
    for (size_t i = 0; i < axis->count && status == KER_OK; i++)
        status = value_add(s, words, axis->key, axis->value[i], rest->depth, &then, error);
    return status;
}

/* Number i of those that change together. */
static enum ker_status zip_add(struct sweep *s, size_t i, const char *where, struct ker_error *error)
{
    struct sweep_words none = {NULL, 0};
    struct sweep_axis *one = ker_alloc((s->axes.count + 1) * sizeof *one);
    for (size_t a = 0; a < s->axes.count; a++) {
        one[a] = s->axes.axis[a];
        if (one[a].count > 1)
            one[a] = (struct sweep_axis){one[a].key, one[a].value + i, 1};
    }
    struct rest rest = {one, s->axes.count, NULL, where, 0};
    enum ker_status status = product_add(s, &none, &rest, error);
    free(one);
    return status;
}

static enum ker_status zip_make(struct sweep *s, const char *where, struct ker_error *error)
{
    const struct sweep_axis *first = NULL;
    enum ker_status status = KER_OK;
    for (size_t i = 0; i < s->axes.count; i++) {
        const struct sweep_axis *a = &s->axes.axis[i];
        if (a->count <= 1)
            continue;
        if (first && a->count != first->count)
            return ker_fail(error, KER_BAD_INPUT,
                            "--zip: %s has %zu values and %s has %zu: keys that change together have as many",
                            first->key, first->count, a->key, a->count);
        first = a;
    }
    for (size_t i = 0; i < (first ? first->count : 1) && status == KER_OK; i++)
        status = zip_add(s, i, where, error);
    return status;
}

/* A line of a file of points: words, divided by blanks; those of the command line come first. */
static enum ker_status line_add(struct sweep *s, char *line, const char *where, struct ker_error *error)
{
    struct sweep_words none = {NULL, 0};
    struct sweep_axes own = {NULL, 0};
    line[strcspn(line, "#\n")] = '\0';
    enum ker_status status = axes_parse(&own, line, where, error);
    struct rest rest = {own.axis, own.count, NULL, where, 0},
                all = {s->axes.axis, s->axes.count, &rest, where, 0};
    if (status == KER_OK && own.count)
        status = product_add(s, &none, &all, error);
    sweep_axes_free(&own);
    return status;
}

static enum ker_status file_make(struct sweep *s, struct ker_error *error)
{
    char *text = NULL, *rest, *line;
    size_t length, number = 1;
    enum ker_status status = ker_input_read(NULL, s->points_file, &text, &length, error);
    for (rest = text; status == KER_OK && (line = strsep(&rest, "\n")) != NULL; number++) {
        char *where = ker_format("%s:%zu", s->points_file, number);
        status = line_add(s, line, where, error);
        free(where);
    }
    free(text);
    return status;
}

static enum ker_status points_walk(struct sweep *s, const char *where, struct ker_error *error)
{
    struct sweep_words none = {NULL, 0};
    struct rest rest = {s->axes.axis, s->axes.count, NULL, where, 0};
    s->counted = 0;
    return s->points_file ? file_make(s, error)
           : s->zip       ? zip_make(s, where, error)
                          : product_add(s, &none, &rest, error);
}

/* They are counted first: resolving each of too many takes long. */
enum ker_status sweep_points_make(struct sweep *s, struct ker_error *error)
{
    const char *where = s->points_file ? s->points_file : "what is swept";
    s->counts = true;
    enum ker_status status = points_walk(s, where, error);
    s->counts = false;
    if (status == KER_OK && s->counted == 0)
        return ker_fail(error, KER_BAD_INPUT, "%s: no points", where);
    return status == KER_OK ? points_walk(s, where, error) : status;
}
