/* axes.c - what is swept: values of keys, their products, and files of points.
 *
 * KEY=A,B,C lists values, KEY=FROM:TO[:STEP] counts (STEP is 1; numbers may have one unit). A comma inside
 * brackets or quotes divides nothing: topology.extents=[4,4,4],[8,8,8]. A key with one value is part of each
 * point, and changes nothing of how many there are. @NAME=LABEL{WORDS},... are designs that differ in several
 * keys: the table has their labels.
 */
#include "tools/marssweep/sweep.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_POINTS 1000000

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
    if (count > MOST_POINTS)
        return ker_fail(error, KER_BAD_INPUT, "%s: %s=%s: %g values; at most %d are possible", where,
                        axis->key, text, count, MOST_POINTS);
    for (unsigned i = 0; i < (unsigned)count; i++) /* 0.30000000000000004 is 0.3 */
        *KER_APPEND(axis->value, axis->count) = ker_format("%.12g%s", r->from + i * r->step, r->unit);
    return KER_OK;
}

/* The end of a value: the next comma that divides. */
static size_t value_length(const char *text)
{
    int depth = 0;
    bool quoted = false;
    size_t i = 0;
    for (; text[i] && (depth > 0 || quoted || text[i] != ','); i++) {
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
        size_t length = value_length(at);
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

static size_t key_length(const char *text)
{
    return strcspn(text, "=");
}

/* Words, divided by blanks. what: NULL: they are only looked at. */
static enum ker_status words_add(struct sweep_words *words, char *text, const char *where,
                                 struct ker_error *error)
{
    for (char *word; (word = strsep(&text, " \t\r")) != NULL;) {
        size_t length = key_length(word);
        if (!*word)
            continue;
        if (word[length] != '=' || length == 0)
            return ker_fail(error, KER_BAD_INPUT, "%s: \"%s\": expected KEY=VALUE", where, word);
        word[length] = '\0';
        sweep_word_set(words, word, word + length + 1);
    }
    return KER_OK;
}

/* LABEL{WORDS}: the label, and its words. */
static enum ker_status value_set(struct sweep_words *words, const char *key, const char *value,
                                 const char *where, struct ker_error *error)
{
    size_t label = sweep_is_tag(key) ? strcspn(value, "{") : strlen(value), length = strlen(value);
    char *own = ker_format("%.*s", (int)label, value);
    enum ker_status status = KER_OK;
    sweep_word_set(words, key, own);
    free(own);
    if (!value[label])
        return KER_OK;
    if (value[length - 1] != '}' || label == 0)
        return ker_fail(error, KER_BAD_INPUT, "%s: %s=%s: expected LABEL{KEY=VALUE ...}", where, key, value);
    own = ker_format("%.*s", (int)(length - label - 2), value + label + 1);
    status = words_add(words, own, where, error);
    free(own);
    return status;
}

/* The keys of designs: the table has their labels instead. */
static enum ker_status axis_check(struct sweep *s, const struct sweep_axis *axis, const char *where,
                                  struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (size_t i = 0; sweep_is_tag(axis->key) && i < axis->count && status == KER_OK; i++)
        status = value_set(&s->bundled, axis->key, axis->value[i], where, error);
    return status;
}

void sweep_axis_free(struct sweep_axis *axis)
{
    for (size_t i = 0; i < axis->count; i++)
        free(axis->value[i]);
    free(axis->value);
    free(axis->key);
}

enum ker_status sweep_axis_parse(struct sweep *s, const char *text, const char *where,
                                 struct ker_error *error)
{
    size_t length = key_length(text), i = 0;
    if (length == 0 || text[length] != '=')
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: \"%s\": expected KEY=VALUES, like traffic.load=0.1:0.9:0.1", where, text);
    struct sweep_axis axis = {.key = ker_format("%.*s", (int)length, text)};
    enum ker_status status = values_parse(&axis, text + length + 1, where, error);
    while (i < s->axes && strcmp(s->axis[i].key, axis.key) != 0)
        i++;
    if (i == s->axes)
        KER_APPEND(s->axis, s->axes);
    else
        sweep_axis_free(&s->axis[i]);
    s->axis[i] = axis;
    return status == KER_OK ? axis_check(s, &axis, where, error) : status;
}

/* ---- points ---- */

static enum ker_status zip_length(const struct sweep *s, size_t *length, struct ker_error *error)
{
    const struct sweep_axis *first = NULL;
    *length = 1;
    for (size_t i = 0; i < s->axes; i++) {
        const struct sweep_axis *a = &s->axis[i];
        if (a->count == 1)
            continue;
        if (first && a->count != first->count)
            return ker_fail(error, KER_BAD_INPUT,
                            "--zip: %s has %zu values and %s has %zu: keys that change together have as many",
                            first->key, first->count, a->key, a->count);
        first = a;
        *length = a->count;
    }
    return KER_OK;
}

/* Point number i of the product; the first axis changes last. */
static void product_words(const struct sweep *s, size_t i, struct sweep_words *words)
{
    size_t stride = 1;
    for (size_t a = 0; a < s->axes; a++)
        stride *= s->axis[a].count;
    for (size_t a = 0; a < s->axes; a++) {
        const struct sweep_axis *axis = &s->axis[a];
        stride /= axis->count;
        size_t which = s->zip ? (axis->count == 1 ? 0 : i) : i / stride % axis->count;
        value_set(words, axis->key, axis->value[which], "", NULL); /* they have been looked at */
    }
}

static enum ker_status product_length(const struct sweep *s, size_t *length, struct ker_error *error)
{
    *length = 1;
    for (size_t i = 0; i < s->axes; i++)
        if ((*length *= s->axis[i].count) > MOST_POINTS)
            return ker_fail(error, KER_BAD_INPUT, "more than %d points: are these the values that you mean?",
                            MOST_POINTS);
    return KER_OK;
}

/* The point of these words, once for each seed. */
static enum ker_status seeds_add(struct sweep *s, const struct sweep_words *words, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    if (s->seeds && sweep_word_of(words, SWEEP_SEED))
        return ker_fail(error, KER_BAD_INPUT, "--seeds: %s is given, too: one of the two says which seeds",
                        SWEEP_SEED);
    for (int64_t seed = 1; seed <= (s->seeds ? s->seeds : 1) && status == KER_OK; seed++) {
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

static enum ker_status product_make(struct sweep *s, struct ker_error *error)
{
    size_t length;
    enum ker_status status = s->zip ? zip_length(s, &length, error) : product_length(s, &length, error);
    for (size_t i = 0; i < length && status == KER_OK; i++) {
        struct sweep_words words = {NULL, 0};
        product_words(s, i, &words);
        status = seeds_add(s, &words, error);
        sweep_words_free(&words);
    }
    return status;
}

/* A line of a file of points: words, divided by blanks; those of the command line come first. */
static enum ker_status line_add(struct sweep *s, char *line, const char *where, struct ker_error *error)
{
    struct sweep_words words = {NULL, 0};
    enum ker_status status = KER_OK;
    product_words(s, 0, &words);
    line[strcspn(line, "#\n")] = '\0';
    bool empty = line[strspn(line, " \t\r")] == '\0';
    status = words_add(&words, line, where, error);
    if (status == KER_OK && !empty)
        status = seeds_add(s, &words, error);
    sweep_words_free(&words);
    return status;
}

static enum ker_status file_make(struct sweep *s, struct ker_error *error)
{
    char *text = NULL, *rest, *line;
    size_t length, number = 1, several = 0;
    for (size_t i = 0; i < s->axes; i++)
        several += s->axis[i].count > 1;
    if (several)
        return ker_fail(error, KER_BAD_INPUT,
                        "--points: the file has the points; keys beside it have one value");
    enum ker_status status = ker_input_read(NULL, s->points_file, &text, &length, error);
    for (rest = text; status == KER_OK && (line = strsep(&rest, "\n")) != NULL; number++) {
        char *where = ker_format("%s:%zu", s->points_file, number);
        status = line_add(s, line, where, error);
        free(where);
    }
    free(text);
    return status;
}

enum ker_status sweep_points_make(struct sweep *s, struct ker_error *error)
{
    enum ker_status status = s->points_file ? file_make(s, error) : product_make(s, error);
    if (status == KER_OK && s->points == 0)
        status =
            ker_fail(error, KER_BAD_INPUT, "%s: no points", s->points_file ? s->points_file : "command line");
    return status;
}
