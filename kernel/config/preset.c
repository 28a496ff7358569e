/* preset.c - a choice that gives other keys values: a key GROUP.preset, of whose kinds the operations are the
 * words "KEY=VALUE" in the order in which they are given, NULL at the end. A key that was given keeps its
 * value, and one that means nothing with the rest stays absent. "CONDITIONS?KEY=VALUE" is for configurations
 * of which the conditions hold, in the words of struct ker_option.belongs.
 */
#include "kernel/config/value.h"

#include <stdlib.h>
#include <string.h>

static void word_apply(struct ker_config *config, const char *word, struct ker_error *error)
{
    const char *end = strchr(word, '?');
    char *conditions = end ? ker_format("%.*s", (int)(end - word), word) : NULL;
    struct ker_option holds = {.belongs = conditions};
    bool wanted = ker_config_means(config, &holds, "");
    free(conditions);
    word = end ? end + 1 : word;
    char *key = ker_format("%.*s", (int)strcspn(word, "="), word);
    if (wanted && !ker_config_has(config, key) && ker_config_means_key(config, key))
        ker_config_override_apply(config, word, error);
    free(key);
}

void ker_config_preset(struct ker_config *config, struct ker_error *error)
{
    KER_EACH_OPTION (option, config->tables) {
        const char *last = strrchr(option->key, '.');
        if (!last || strcmp(last, ".preset") != 0 || !ker_config_has(config, option->key))
            continue;
        const char *const *word = ker_config_kind(config, option->key)->operations;
        for (; word && *word; word++)
            word_apply(config, *word, error);
    }
}
