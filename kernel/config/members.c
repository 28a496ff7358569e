/* members.c - what the files of the registry share: lists of words in a text, and finding a family. */
#include "kernel/config/registry.h"

#include <stdlib.h>
#include <string.h>

bool ker_word_in(const char *list, char separator, const char *word, size_t length)
{
    const char divide[] = {separator, '\0'};
    while (list && *list) {
        size_t one = strcspn(list, divide);
        if (one == length && strncmp(list, word, length) == 0)
            return true;
        list += one + (list[one] == separator);
    }
    return false;
}

char *ker_word_add(char *list, const char *word, size_t length)
{
    if (ker_word_in(list, '|', word, length))
        return list;
    size_t before = list ? strlen(list) + 1 : 0; /* with what divides */
    list = ker_realloc(list, before + length + 1);
    if (before)
        list[before - 1] = '|';
    memcpy(list + before, word, length);
    list[before + length] = '\0';
    return list;
}

const struct ker_kinds *ker_family_find(const struct ker_registry *r, const char *key)
{
    for (size_t i = 0; i < r->families; i++)
        if (strcmp(r->family[i]->key, key) == 0)
            return r->family[i];
    return NULL;
}
