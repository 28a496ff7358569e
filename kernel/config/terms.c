/* terms.c - the conditions of struct ker_option.belongs, taken apart: "A & B", where A is "x or y", and x a
 * term. */
#include "kernel/config/value.h"

#include <stdlib.h>
#include <string.h>

void ker_term_read(struct ker_term *term, const char *text, size_t length)
{
    size_t key = strcspn(text, "!=");
    key = key < length ? key : length;
    ker_assert(key > 0 && key < KER_TERM_KEY);
    memcpy(term->key, text, key);
    term->key[key] = '\0';
    term->kind = key == length ? KER_TERM_GIVEN : text[key] == '!' ? KER_TERM_IS_NOT : KER_TERM_IS;
    term->values = text + key + (size_t)term->kind;
    term->length = term->kind == KER_TERM_GIVEN ? 0 : length - key - (size_t)term->kind;
}

const char *ker_piece_next(const char **text, const char *separator, size_t *length)
{
    const char *begin = *text, *end = strstr(begin, separator);
    if (!*begin)
        return NULL;
    *length = end ? (size_t)(end - begin) : strlen(begin);
    *text = end ? end + strlen(separator) : begin + *length;
    return begin;
}

bool ker_term_lists(const struct ker_term *term, const struct ker_option *option,
                    const struct ker_config_value *value)
{
    struct ker_config_value other;
    char why[KER_WHY_BYTES], *list = ker_format("%.*s", (int)term->length, term->values);
    const char *at = list;
    bool found = false;
    size_t length;
    for (const char *word; !found && (word = ker_piece_next(&at, "|", &length)) != NULL;) {
        char *one = ker_format("%.*s", (int)length, word);
        found = ker_config_value_parse(option, one, &other, why) &&
                ker_config_value_compare(option, value, &other) == 0;
        free(one);
    }
    free(list);
    return found;
}
