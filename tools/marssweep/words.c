/* words.c - lists of KEY=VALUE, and the configuration with them. */
#include "tools/marssweep/sweep.h"

#include <stdlib.h>
#include <string.h>

char *sweep_words_text(const struct sweep_words *w)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    for (size_t i = 0; i < w->count; i++)
        fprintf(out, "%s%s=%s", i ? " " : "", w->word[i].key, w->word[i].value);
    fclose(out);
    return text;
}

const char *sweep_word_of(const struct sweep_words *w, const char *key)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->word[i].key, key) == 0)
            return w->word[i].value;
    return NULL;
}

bool sweep_is_tag(const char *key)
{
    return key[0] == '@';
}

void sweep_word_set(struct sweep_words *w, const char *key, const char *value)
{
    size_t i = 0;
    while (i < w->count && strcmp(w->word[i].key, key) != 0)
        i++;
    if (i == w->count)
        *KER_APPEND(w->word, w->count) = (struct sweep_word){ker_format("%s", key), NULL};
    char *new_value = ker_format("%s", value); /* which may be the old one */
    free(w->word[i].value);
    w->word[i].value = new_value;
}

void sweep_words_copy(struct sweep_words *to, const struct sweep_words *from)
{
    for (size_t i = 0; i < from->count; i++)
        sweep_word_set(to, from->word[i].key, from->word[i].value);
}

void sweep_words_free(struct sweep_words *w)
{
    for (size_t i = 0; i < w->count; i++) {
        free(w->word[i].key);
        free(w->word[i].value);
    }
    free(w->word);
    *w = (struct sweep_words){NULL, 0};
}

static bool key_varies(const struct sweep *s, const char *key)
{
    const char *first = NULL;
    bool met = false;
    for (size_t p = 0; p < s->points; p++) {
        const char *own = s->point[p]->of ? NULL : sweep_word_of(&s->point[p]->words, key);
        if (s->point[p]->of)
            continue;
        if (met && strcmp(own ? own : "", first ? first : "") != 0)
            return true;
        first = own;
        met = true;
    }
    return false;
}

const char **sweep_keys_varied(const struct sweep *s)
{
    const char **key = NULL;
    struct sweep_words all = {NULL, 0};
    size_t count = 0;
    for (size_t p = 0; p < s->points; p++)
        for (size_t i = 0; !s->point[p]->of && i < s->point[p]->words.count; i++) {
            const char *own = s->point[p]->words.word[i].key;
            if (sweep_word_of(&all, own))
                continue;
            sweep_word_set(&all, own, "");
            const char *bundled = sweep_word_of(&s->bundled, own);
            if (!(bundled && *bundled) && key_varies(s, own))
                *KER_APPEND(key, count) = own;
        }
    sweep_words_free(&all);
    *KER_APPEND(key, count) = NULL;
    return key;
}

char *sweep_words_varied(const struct sweep *s, const struct sweep_words *words, const char *without)
{
    const char **varied = sweep_keys_varied(s);
    struct sweep_words own = {NULL, 0};
    for (size_t k = 0; varied[k]; k++)
        if (strcmp(varied[k], SWEEP_SEED) != 0 && !(without && strcmp(varied[k], without) == 0) &&
            sweep_word_of(words, varied[k]))
            sweep_word_set(&own, varied[k], sweep_word_of(words, varied[k]));
    char *text = sweep_words_text(&own);
    sweep_words_free(&own);
    free(varied);
    return text;
}

/* ---- of the configuration ---- */

const char **sweep_overrides_make(const struct sweep_words *words, int *count)
{
    const char **list = NULL;
    size_t n = 0;
    for (size_t i = 0; i < words->count; i++)
        if (!sweep_is_tag(words->word[i].key))
            *KER_APPEND(list, n) = ker_format("%s=%s", words->word[i].key, words->word[i].value);
    *count = (int)n;
    return list;
}

static void overrides_free(const char **list, int count)
{
    ker_free_all(list, count);
}

enum ker_status sweep_config_load(const struct sweep *s, const struct sweep_words *words,
                                  struct ker_config **config, struct ker_error *error)
{
    int count;
    const char **overrides = sweep_overrides_make(words, &count);
    const struct ker_option **tables = run_option_tables();
    struct ker_comm *comm = ker_comm_alone();
    enum ker_status status =
        ker_config_load_all(config, comm, s->file, overrides, count, tables, run_plugin_sizes, error);
    ker_comm_release(comm);
    free(tables);
    overrides_free(overrides, count);
    return status;
}
