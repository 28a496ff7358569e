/* table.c - the option tables: finding a key, the key that may have been meant, and whether a table is
 * sound.
 *
 * A key of the tables is a pattern: "jobs[].tasks". What stands before a point is a group, what stands before
 * [] a list of groups. A table is part of the program, so what is wrong in it is an assertion, found in the
 * first test that loads any configuration.
 */
#include "kernel/config/value.h"

#include "kernel/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORD 64

char *ker_config_pattern(const char *path)
{
    char *pattern = ker_alloc(strlen(path) + 1), *to = pattern;
    for (; *path; path++) {
        *to++ = *path;
        if (*path == '[')
            path += strcspn(path, "]") - 1;
    }
    return pattern;
}

const struct ker_option *ker_config_option_find(ker_config_tables tables, const char *pattern)
{
    for (; *tables; tables++)
        for (const struct ker_option *option = *tables; option->key; option++)
            if (strcmp(option->key, pattern) == 0)
                return option;
    return NULL;
}

enum ker_config_place ker_config_place_find(ker_config_tables tables, const char *pattern)
{
    size_t length = strlen(pattern);
    for (; *tables; tables++)
        for (const struct ker_option *option = *tables; option->key; option++) {
            if (strncmp(option->key, pattern, length) != 0)
                continue;
            if (option->key[length] == '\0')
                return KER_PLACE_OPTION;
            if (option->key[length] == '.')
                return KER_PLACE_GROUP;
            if (option->key[length] == '[')
                return KER_PLACE_GROUPS;
        }
    return KER_PLACE_UNKNOWN;
}

/* One row of the table of distances at a time. */
int ker_config_distance(const char *a, const char *b)
{
    int row[MAX_WORD + 1];
    int length_a = (int)strnlen(a, MAX_WORD), length_b = (int)strnlen(b, MAX_WORD);
    for (int j = 0; j <= length_b; j++)
        row[j] = j;
    for (int i = 1; i <= length_a; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length_b; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            int insert = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < insert ? change : insert;
        }
    }
    return row[length_b];
}

/* What stands behind the last point. */
static const char *last_word(const char *key)
{
    const char *point = strrchr(key, '.');
    return point ? point + 1 : key;
}

/* The right word in the wrong group, or forgotten group, is as near as two letters. */
static int distance(const char *candidate, const char *pattern)
{
    int whole = ker_config_distance(candidate, pattern);
    int words = 2 + 2 * ker_config_distance(last_word(candidate), last_word(pattern));
    return whole < words ? whole : words;
}

/* The path's indices stand in the empty brackets of the pattern. */
char *ker_config_with_indices(const char *pattern, const char *path)
{
    char *text = ker_alloc(strlen(pattern) + strlen(path) + 1), *to = text;
    for (; *pattern; pattern++) {
        *to++ = *pattern;
        if (*pattern != '[')
            continue;
        path += strcspn(path, "[");
        if (*path)
            for (path++; *path && *path != ']'; path++)
                *to++ = *path;
    }
    return text;
}

struct candidate {
    const char *pattern;
    char best[256];
    int distance;
};

static void consider(struct candidate *found, const char *key, size_t length)
{
    char candidate[sizeof found->best] = "";
    if (length >= sizeof candidate)
        return;
    memcpy(candidate, key, length);
    candidate[length] = '\0';
    int far = distance(candidate, found->pattern);
    int limit = (int)strlen(last_word(candidate)) / 3 + 1; /* nearer than this */
    if (far < found->distance && far <= (limit > 2 ? limit : 2)) {
        found->distance = far;
        memcpy(found->best, candidate, sizeof candidate);
    }
}

/* Is the pattern that of something in the group of this name? "routing.x" is in "routing". */
static bool stands_in(const char *pattern, const char *group, size_t length)
{
    return strncmp(pattern, group, length) == 0 && (pattern[length] == '.' || pattern[length] == '[');
}

char *ker_config_nearest(ker_config_tables tables, const char *path)
{
    char *pattern = ker_config_pattern(path);
    struct candidate found = {.pattern = pattern, .distance = MAX_WORD};
    for (; *tables && strlen(pattern) < MAX_WORD; tables++)
        for (const struct ker_option *option = *tables; option->key; option++) {
            const char *key = option->key;
            for (size_t i = 0; key[i]; i++)
                /* Groups may be meant, too, but not the one in which the unknown key stands. */
                if ((key[i] == '.' || key[i] == '[') && !stands_in(pattern, key, i))
                    consider(&found, key, i);
            consider(&found, key, strlen(key));
        }
    free(pattern);
    return found.best[0] ? ker_config_with_indices(found.best, path) : NULL;
}

static _Noreturn void broken(const struct ker_option *option, const char *what, const char *why)
{
    char *text = ker_format("option %s: %s: %s", option->key, what, why);
    ker_broken(text, __FILE__, __LINE__);
}

static void check_fallback(const struct ker_option *option)
{
    char why[KER_WHY_BYTES];
    struct ker_config_value value;
    if (!option->fallback)
        return;
    if (!KER_IS_LIST(option) && !ker_config_value_parse(option, option->fallback, &value, why))
        broken(option, "default", why);
    for (int i = 0; KER_IS_LIST(option); i++) {
        char *item = ker_config_list_item(option->fallback, i);
        if (!item)
            break;
        if (!ker_config_value_parse(option, item, &value, why))
            broken(option, "default", why);
        free(item);
    }
}

void ker_config_tables_check(ker_config_tables tables, bool all)
{
    char why[KER_WHY_BYTES];
    struct ker_config_value value;
    for (ker_config_tables table = tables; *table; table++)
        for (const struct ker_option *option = *table; option->key; option++) {
            if (ker_config_option_find(tables, option->key) != option)
                broken(option, "key", "stands in the tables twice");
            if ((KER_TYPE_OF(option) == KER_TYPE_CHOICE) != (option->choices != NULL))
                broken(option, "choices", "are for KER_TYPE_CHOICE, and needed there");
            struct ker_option plain = *option; /* bounds are read without bounds */
            plain.minimum = plain.maximum = NULL;
            if ((option->minimum && !ker_config_value_parse(&plain, option->minimum, &value, why)) ||
                (option->maximum && !ker_config_value_parse(&plain, option->maximum, &value, why)))
                broken(option, "range", why);
            check_fallback(option);
            const char *wrong = ker_config_belongs_wrong(tables, all, option);
            if (wrong)
                broken(option, option->belongs, wrong);
        }
}
