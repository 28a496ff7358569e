/* scale.c - KEY*=FACTOR among a point's words: what the configuration has for KEY with the other words, each
 * number of it times FACTOR. KEY[2]*= and KEY[-1]*= mean one value of a list, counted from its end below 0.
 */
#include "tools/marssweep/sweep.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One number in the unit of its type; the key is of a type that has numbers. */
static char *scaled(const struct ker_config *c, const char *key, int type, int at, double factor)
{
    bool list = type & KER_TYPE_LIST;
    switch (type & ~KER_TYPE_LIST) {
    case KER_TYPE_INT:
        return ker_format("%.0f",
                          factor * (double)(list ? ker_config_int_at(c, key, at) : ker_config_int(c, key)));
    case KER_TYPE_TIME:
        return ker_format("%.0fps",
                          factor * (double)(list ? ker_config_time_at(c, key, at) : ker_config_time(c, key)));
    case KER_TYPE_BYTES:
        return ker_format(
            "%.0fB", factor * (double)(list ? ker_config_bytes_at(c, key, at) : ker_config_bytes(c, key)));
    case KER_TYPE_RATE:
        return ker_format("%.0fB/s",
                          factor * (double)(list ? ker_config_rate_at(c, key, at) : ker_config_rate(c, key)));
    default:
        return ker_format("%.12g",
                          factor * (list ? ker_config_real_at(c, key, at) : ker_config_real(c, key)));
    }
}

static bool has_numbers(const struct ker_option *option)
{
    int type = option ? option->type & ~KER_TYPE_LIST : KER_TYPE_STRING;
    return type == KER_TYPE_INT || type == KER_TYPE_REAL || type == KER_TYPE_TIME || type == KER_TYPE_BYTES ||
           type == KER_TYPE_RATE;
}

/* The value of one KEY*=FACTOR; malloc'ed, NULL: it cannot be. which: the value of the list, INT_MAX: all. */
static char *product_of(const struct ker_config *config, const char *key, int which, double factor,
                        const char **why)
{
    const struct ker_option *option =
        ker_config_option(ker_registry_tables(ker_config_registry(config)), key);
    char *text = NULL;
    size_t length;
    *why = !has_numbers(option) ? "is no key of numbers"
           : !ker_config_has(config, key) && !option->fallback
               ? "has no value in the configuration, which could be multiplied"
               : NULL;
    int count = *why ? 0 : option->type & KER_TYPE_LIST ? ker_config_count(config, key) : 1;
    if (!*why && (count == 0 || (which != INT_MAX && (which >= count || which < -count))))
        *why = "has no such value";
    if (*why)
        return NULL;
    FILE *out = open_memstream(&text, &length);
    for (int i = 0; i < count; i++) {
        bool meant = which == INT_MAX || i == (which < 0 ? which + count : which);
        char *one = scaled(config, key, option->type, i, meant ? factor : 1);
        fprintf(out, "%s%s", i ? "," : "", one);
        free(one);
    }
    fclose(out);
    return text;
}

static enum ker_status word_scale(struct sweep_words *words, const struct ker_config *config,
                                  const struct sweep_word *w, struct ker_error *error)
{
    int length = (int)strlen(w->key) - 1, which = INT_MAX, end = 0; /* without the asterisk */
    char *key = ker_format("%.*s", length, w->key), *bracket = strrchr(key, '['), *rest;
    if (bracket && sscanf(bracket, "[%d]%n", &which, &end) == 1 && end && !bracket[end])
        *bracket = '\0';
    double factor = strtod(w->value, &rest);
    const char *why = strstr(key, "[*]") ? "is of several members; name one" : NULL;
    char *own = ker_config_key_selected(config, key), *value = NULL;
    if (rest == w->value || *rest || !isfinite(factor) || factor < 0)
        why = "expected a FACTOR, a number from 0 on";
    if (!why)
        value = product_of(config, own ? own : key, which, factor, &why);
    if (value)
        sweep_word_set(words, key, value);
    else
        ker_fail(error, KER_BAD_INPUT, "%s=%s: %s: %s", w->key, w->value, key, why);
    free(own);
    free(value);
    free(key);
    return error->status;
}

static bool is_factor(const struct sweep_word *w)
{
    size_t length = strlen(w->key);
    return length > 1 && w->key[length - 1] == '*';
}

enum ker_status sweep_words_scale(const struct sweep *s, struct sweep_words *words, struct ker_error *error)
{
    struct sweep_words others = {NULL, 0};
    struct ker_config *config = NULL;
    for (size_t i = 0; i < words->count; i++)
        if (!is_factor(&words->word[i]))
            sweep_word_set(&others, words->word[i].key, words->word[i].value);
    if (others.count == words->count) {
        sweep_words_free(&others);
        return KER_OK;
    }
    enum ker_status status = sweep_config_load(s, &others, &config, error);
    bool loaded = status == KER_OK;
    for (size_t i = 0; i < words->count && status == KER_OK; i++)
        if (is_factor(&words->word[i]))
            status = word_scale(&others, config, &words->word[i], error);
    if (loaded)
        ker_config_free(config);
    sweep_words_free(words);
    *words = others;
    return status;
}
