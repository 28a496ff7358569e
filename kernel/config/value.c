/* value.c - one value of an option, from the file or from the text of a default.
 *
 * Both end in the same range check, so a default, a bound and a user's value are read alike. Integers
 * without unit are refused for times and rates, since a bare 100 would be guessed at; sizes may be bare, they
 * are bytes.
 */
#include "kernel/config/registry.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define say(why, ...) (snprintf(why, KER_WHY_BYTES, __VA_ARGS__), false)

static const char *type_wanted(enum ker_type type)
{
    static const char *const wanted[] = {
        [KER_TYPE_BOOL] = "true or false",
        [KER_TYPE_INT] = "a whole number",
        [KER_TYPE_REAL] = "a number",
        [KER_TYPE_TIME] = "a time, as in \"100 ns\"",
        [KER_TYPE_BYTES] = "a size, as in \"4 KiB\"",
        [KER_TYPE_RATE] = "a rate, as in \"25 GB/s\"",
        [KER_TYPE_STRING] = "a text in quotes",
        [KER_TYPE_CHOICE] = "one of the choices, in quotes",
        [KER_TYPE_FILE] = "a file name in quotes",
    };
    return wanted[type];
}

/* "a|b|c" as "a, b, c". */
static void print_choices(const char *choices, char *buffer, size_t bytes)
{
    size_t at = 0;
    for (; *choices && at + 3 < bytes; choices++)
        if (*choices == '|') {
            buffer[at++] = ',';
            buffer[at++] = ' ';
        } else {
            buffer[at++] = *choices;
        }
    buffer[at] = '\0';
}

/* A whole number that is beyond 64 bits, which is a text so far. */
static bool is_too_large(const char *text)
{
    char *end;
    errno = 0;
    strtoll(text, &end, 10);
    return errno == ERANGE && *end == '\0';
}

/* Is it one of them? Else the nearest is in `near`: empty when every one differs in more than half of its
 * letters. */
bool ker_config_choice(const char *choices, const char *text, char near[64])
{
    int best = 4;
    near[0] = '\0';
    if (ker_word_in(choices, '|', text, strlen(text)))
        return true;
    for (const char *at = choices; *at;) {
        size_t length = strcspn(at, "|");
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        int distance = ker_config_distance(word, text);
        if (distance < best && 2 * distance <= (int)length + 1) {
            best = distance;
            memcpy(near, word, sizeof word);
        }
        at += length + (at[length] == '|');
    }
    return false;
}

static bool parse_choice(const struct ker_option *option, const char *text, char *why)
{
    char near[64], all[512];
    if (ker_config_choice(option->choices, text, near))
        return true;
    print_choices(option->choices, all, sizeof all);
    const char *hint = ker_config_value_hint(option->key, text);
    if (hint)
        return say(why, "\"%.60s\" is none of: %s; %s", text, all, hint);
    if (near[0])
        return say(why, "\"%.60s\" is none of: %s; did you mean \"%s\"?", text, all, near);
    return say(why, "\"%.60s\" is none of: %s", text, all);
}

static bool parse_unit(enum ker_type type, const char *text, struct ker_config_value *value, char *why)
{
    const char *reason = "";
    int failed = type == KER_TYPE_TIME    ? ker_parse_time(text, &value->time, &reason)
                 : type == KER_TYPE_BYTES ? ker_parse_bytes(text, &value->size, &reason)
                                          : ker_parse_rate(text, &value->size, &reason);
    return failed ? say(why, "\"%.60s\": %s", text, reason) : true;
}

/* Names are in messages and in files of lines. */
static bool is_printable(const char *text, char *why)
{
    for (const char *at = text; *at; at++)
        if (iscntrl((unsigned char)*at))
            return say(why,
                       "holds the control character 0x%02x, behind \"%.*s\"; printable ones would be right",
                       (unsigned)*at, at - text < 60 ? (int)(at - text) : 60, text);
    return true;
}

/* The text without its range. */
static bool parse_plain(const struct ker_option *option, const char *text, struct ker_config_value *value,
                        char *why)
{
    enum ker_type type = KER_TYPE_OF(option);
    char *end = NULL;
    if (!is_printable(text, why))
        return false;
    errno = 0;
    value->text = text;
    switch (type) {
    case KER_TYPE_BOOL:
        value->truth = strcmp(text, "true") == 0;
        return value->truth || strcmp(text, "false") == 0 ||
               say(why, "true or false is expected, not \"%.60s\"", text);
    case KER_TYPE_INT:
        value->integer = strtoll(text, &end, 0);
        return (end != text && !*end && errno == 0) ||
               say(why, "a whole number is expected, not \"%.60s\"", text);
    case KER_TYPE_REAL:
        value->real = strtod(text, &end);
        return (end != text && !*end && isfinite(value->real)) ||
               say(why, "a number is expected, not \"%.60s\"", text);
    case KER_TYPE_TIME:
    case KER_TYPE_BYTES:
    case KER_TYPE_RATE:
        return parse_unit(type, text, value, why);
    case KER_TYPE_CHOICE:
        return parse_choice(option, text, why);
    default:
        return true;
    }
}

int ker_config_value_compare(const struct ker_option *option, const struct ker_config_value *a,
                             const struct ker_config_value *b)
{
    switch (KER_TYPE_OF(option)) {
    case KER_TYPE_BOOL:
        return a->truth != b->truth;
    case KER_TYPE_CHOICE:
    case KER_TYPE_STRING:
    case KER_TYPE_FILE:
        return strcmp(a->text, b->text) != 0;
    case KER_TYPE_INT:
        return (a->integer > b->integer) - (a->integer < b->integer);
    case KER_TYPE_REAL:
        return (a->real > b->real) - (a->real < b->real);
    case KER_TYPE_TIME:
        return (a->time > b->time) - (a->time < b->time);
    default:
        return (a->size > b->size) - (a->size < b->size);
    }
}

void ker_config_range_print(const struct ker_option *option, char *buffer, size_t bytes)
{
    const char *minimum = option->minimum, *maximum = option->maximum;
    if (minimum && maximum)
        snprintf(buffer, bytes, "%s to %s", minimum, maximum);
    else if (minimum || maximum)
        snprintf(buffer, bytes, "at %s %s", minimum ? "least" : "most", minimum ? minimum : maximum);
    else
        buffer[0] = '\0';
}

/* As it was given, or nearly so. */
static void print_value(const struct ker_option *option, const struct ker_config_value *value, char *buffer,
                        size_t bytes)
{
    if (value->text)
        snprintf(buffer, bytes, "%s", value->text);
    else if (KER_TYPE_OF(option) == KER_TYPE_REAL)
        snprintf(buffer, bytes, "%g", value->real);
    else
        snprintf(buffer, bytes, "%lld", (long long)value->integer);
}

static bool in_range(const struct ker_option *option, const struct ker_config_value *value, char *why)
{
    struct ker_config_value bound = {0};
    bool below = option->minimum && parse_plain(option, option->minimum, &bound, why) &&
                 ker_config_value_compare(option, value, &bound) < 0;
    bool above = option->maximum && parse_plain(option, option->maximum, &bound, why) &&
                 ker_config_value_compare(option, value, &bound) > 0;
    char range[200], given[64];
    if (!below && !above)
        return true;
    ker_config_range_print(option, range, sizeof range);
    print_value(option, value, given, sizeof given);
    return say(why, "too %s: must be %s, not %s", below ? "small" : "large", range, given);
}

bool ker_config_value_parse(const struct ker_option *option, const char *text, struct ker_config_value *value,
                            char *why)
{
    memset(value, 0, sizeof *value);
    return parse_plain(option, text, value, why) && in_range(option, value, why);
}

static const char *kind_name(enum ker_node_kind kind)
{
    static const char *const names[] = {
        [KER_NODE_GROUP] = "a group { }",  [KER_NODE_LIST] = "a list",
        [KER_NODE_BOOL] = "true or false", [KER_NODE_INT] = "a bare number",
        [KER_NODE_REAL] = "a bare number", [KER_NODE_TEXT] = "a text",
    };
    return names[kind];
}

static bool read_integer(enum ker_type type, int64_t integer, struct ker_config_value *value, char *why)
{
    value->integer = integer;
    value->real = (double)integer;
    value->size = (uint64_t)integer;
    if (type == KER_TYPE_BYTES && integer < 0)
        return say(why, "a size must not be negative");
    return true;
}

bool ker_config_value_read(const struct ker_option *option, const struct ker_config_node *node,
                           struct ker_config_value *value, char *why)
{
    enum ker_type type = KER_TYPE_OF(option);
    bool number = node->kind == KER_NODE_INT || node->kind == KER_NODE_REAL, done = false;
    bool wants_text = type >= KER_TYPE_TIME;
    memset(value, 0, sizeof *value);
    if ((type == KER_TYPE_TIME || type == KER_TYPE_RATE) && number)
        return say(why, "give a unit, as in \"%s\"", type == KER_TYPE_TIME ? "100 ns" : "25 GB/s");
    if (node->kind == KER_NODE_INT &&
        (type == KER_TYPE_INT || type == KER_TYPE_REAL || type == KER_TYPE_BYTES)) {
        if (!read_integer(type, node->integer, value, why))
            return false;
        done = true;
    } else if (node->kind == KER_NODE_REAL && type == KER_TYPE_REAL) {
        value->real = node->real;
        if (!isfinite(node->real))
            return say(why, "the number is too large");
        done = true;
    } else if (node->kind == KER_NODE_BOOL && type == KER_TYPE_BOOL) {
        value->truth = node->truth;
        done = true;
    } else if (node->kind == KER_NODE_TEXT && wants_text) {
        if (!parse_plain(option, node->text, value, why))
            return false;
        done = true;
    }
    if (!done && node->kind == KER_NODE_TEXT)
        return say(why, "%s is expected, not %s \"%.60s\"", type_wanted(type),
                   type == KER_TYPE_INT && is_too_large(node->text) ? "one as large as" : "the text",
                   node->text);
    if (!done && node->kind == KER_NODE_REAL)
        return say(why, "%s is expected, not %.9g", type_wanted(type), node->real);
    if (!done)
        return say(why, "%s is expected, not %s", type_wanted(type), kind_name(node->kind));
    return in_range(option, value, why);
}

/* Where the item that begins at `at` ends: at a comma outside of quotes and brackets, or at the end. */
static const char *item_end(const char *at)
{
    int depth = 0;
    bool quoted = false;
    for (; *at && (quoted || depth > 0 || *at != ','); at++) {
        if (*at == '\\' && quoted && at[1])
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (strchr("([{", *at) != NULL) - (strchr(")]}", *at) != NULL);
    }
    return at;
}

char *ker_config_list_item(const char *list, int index)
{
    const char *at = list;
    while (isspace((unsigned char)*at))
        at++;
    if (!*at)
        return NULL;
    for (; index > 0; index--) {
        at = item_end(at);
        if (!*at)
            return NULL;
        at++;
    }
    const char *end = item_end(at);
    while (isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    return ker_format("%.*s", end > at ? (int)(end - at) : 0, at);
}
