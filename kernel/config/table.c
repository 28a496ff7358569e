/* table.c - the option tables: finding a key, and the key that may have been meant.
 *
 * A key of the tables is a pattern: "jobs[].tasks". What is before a point is a group, what is before
 * [] a list of groups.
 */
#include "kernel/config/value.h"

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
            if (option->key[0] == pattern[0] && strcmp(option->key, pattern) == 0)
                return option;
    return NULL;
}

enum ker_config_place ker_config_place_find(ker_config_tables tables, const char *pattern)
{
    size_t length = strlen(pattern);
    for (; *tables; tables++)
        for (const struct ker_option *option = *tables; option->key; option++) {
            if (option->key[0] != pattern[0] || strncmp(option->key, pattern, length) != 0)
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

bool ker_config_is_first(ker_config_tables tables, const char *key, size_t length)
{
    for (; *tables; tables++)
        for (const struct ker_option *option = *tables; option->key; option++)
            if (option->key[0] == key[0] && strncmp(option->key, key, length) == 0 &&
                strchr(".[", option->key[length]))
                return option->key == key;
    return false;
}

const char *ker_config_last_word(const char *key)
{
    const char *point = strrchr(key, '.');
    return point ? point + 1 : key;
}

/* The right word in the wrong group, or forgotten group, is as near as two letters. */
static int distance(const char *candidate, const char *pattern)
{
    int whole = ker_config_distance(candidate, pattern);
    int words = 2 + 2 * ker_config_distance(ker_config_last_word(candidate), ker_config_last_word(pattern));
    return whole < words ? whole : words;
}

/* The path's indices are in the empty brackets of the pattern. */
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
    int limit = (int)strlen(ker_config_last_word(candidate)) / 3 + 1; /* nearer than this */
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
                /* Groups may be meant, too, but not the one in which the unknown key is. */
                if ((key[i] == '.' || key[i] == '[') && !stands_in(pattern, key, i))
                    consider(&found, key, i);
            consider(&found, key, strlen(key));
        }
    free(pattern);
    return found.best[0] ? ker_config_with_indices(found.best, path) : NULL;
}
