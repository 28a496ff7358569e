/* getters.c - what a configuration says.
 *
 * A getter finds the key in the tables and in the tree each time: they are for set-up, a few microseconds
 * each. Everything has been checked before (config.c): a key that is in no table, or of another type, is a
 * broken invariant.
 */
#include "kernel/config/config.h"

#include "kernel/config/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct ker_option *ker_config_option(const struct ker_option *const *tables, const char *key)
{
    char *pattern = ker_config_pattern(key);
    const struct ker_option *option = ker_config_option_find(tables, pattern);
    free(pattern);
    return option;
}

const char *ker_key(char text[KER_KEY_BYTES], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, KER_KEY_BYTES, format, arguments);
    va_end(arguments);
    return text;
}

bool ker_config_means_key(const struct ker_config *config, const char *key)
{
    const struct ker_option *option = ker_config_option(config->tables, key);
    return option && ker_config_means(config, option, key);
}

struct ker_inputs *ker_config_inputs(const struct ker_config *config)
{
    return config->inputs;
}

void ker_config_warn(const struct ker_config *config)
{
    for (int i = 0; i < config->warnings; i++)
        ker_warn("%s", config->warning[i].text);
}

static const char *kept_text(const struct ker_config *config, const struct ker_option *option, int index)
{
    for (int i = 0; i < config->kept_count; i++)
        if (config->kept[i].option == option && config->kept[i].index == index)
            return config->kept[i].text;
    return "";
}

static _Noreturn void misused(const char *key, const char *what)
{
    char *text = ker_format("configuration key %s: %s", key, what);
    ker_broken(text, "a getter of kernel/config/config.h", 0);
}

bool ker_config_has(const struct ker_config *config, const char *key)
{
    char *pattern = ker_config_pattern(key);
    enum ker_config_place place = ker_config_place_find(config->tables, pattern);
    free(pattern);
    if (place == KER_PLACE_UNKNOWN)
        misused(key, "is in no table");
    return ker_config_tree_find(config->root, key, NULL) != NULL;
}

static int count_fallback(const char *list)
{
    int count = 0;
    char *item;
    while ((item = ker_config_list_item(list, count)) != NULL) {
        free(item);
        count++;
    }
    return count;
}

int ker_config_count(const struct ker_config *config, const char *key)
{
    const struct ker_option *option = ker_config_option(config->tables, key);
    const struct ker_config_node *node = ker_config_tree_find(config->root, key, NULL);
    if (option && !KER_IS_LIST(option))
        misused(key, "is no list");
    if (!option && ker_config_has(config, key) && node->kind != KER_NODE_LIST)
        misused(key, "is no list");
    if (node)
        return node->kind == KER_NODE_LIST ? node->count : 1;
    return option && option->fallback ? count_fallback(option->fallback) : 0;
}

/* The node of a value, NULL when the default holds. */
static const struct ker_config_node *value_node(const struct ker_config *config,
                                                const struct ker_option *option, const char *key, int index)
{
    const struct ker_config_node *node = ker_config_tree_find(config->root, key, NULL);
    bool list = node && KER_IS_LIST(option) && node->kind == KER_NODE_LIST;
    if (KER_IS_LIST(option) && (index < 0 || index >= ker_config_count(config, key)))
        misused(key, "has fewer members");
    return list ? node->member[index] : node;
}

static const struct ker_option *option_must(const struct ker_config *config, const char *key, bool list)
{
    const struct ker_option *option = ker_config_option(config->tables, key);
    if (!option)
        misused(key, "is in no table");
    if (KER_IS_LIST(option) != list)
        misused(key, list ? "is no list" : "is a list");
    return option;
}

/* index -1: a key that is no list. types is a set of 1 << enum ker_type. */
static struct ker_config_value value_of(const struct ker_config *config, const char *key, unsigned types,
                                        int index)
{
    const struct ker_option *option = option_must(config, key, index >= 0);
    const struct ker_config_node *node = value_node(config, option, key, index);
    struct ker_config_value value = {0};
    char why[KER_WHY_BYTES], *item = NULL;
    const char *fallback = option->fallback;
    bool good;
    if (!(types & 1u << KER_TYPE_OF(option)))
        misused(key, "is of another type");
    if (!node && !fallback)
        misused(key, "is not given and has no default; ask ker_config_has first");
    if (node)
        good = ker_config_value_read(option, node, &value, why);
    else if (index < 0)
        good = ker_config_value_parse(option, fallback, &value, why);
    else
        good = ker_config_value_parse(option, item = ker_config_list_item(fallback, index), &value, why);
    if (!good)
        misused(key, why);
    free(item);
    return value;
}

#define ONE(type) (1u << KER_TYPE_##type)

bool ker_config_bool(const struct ker_config *config, const char *key)
{
    return value_of(config, key, ONE(BOOL), -1).truth;
}

int64_t ker_config_int(const struct ker_config *config, const char *key)
{
    return value_of(config, key, ONE(INT), -1).integer;
}

double ker_config_real(const struct ker_config *config, const char *key)
{
    return value_of(config, key, ONE(REAL), -1).real;
}

ker_time ker_config_time(const struct ker_config *config, const char *key)
{
    return value_of(config, key, ONE(TIME), -1).time;
}

uint64_t ker_config_bytes(const struct ker_config *config, const char *key)
{
    return value_of(config, key, ONE(BYTES), -1).size;
}

uint64_t ker_config_rate(const struct ker_config *config, const char *key)
{
    return value_of(config, key, ONE(RATE), -1).size;
}

const char *ker_config_string(const struct ker_config *config, const char *key)
{
    return value_of(config, key, ONE(STRING) | ONE(CHOICE), -1).text;
}

/* Is the word one of "a|b|c"? */
static bool is_choice(const char *choices, const char *word)
{
    size_t length = strlen(word);
    for (; *choices; choices += *choices == '|') {
        size_t one = strcspn(choices, "|");
        if (one == length && strncmp(choices, word, length) == 0)
            return true;
        choices += one;
    }
    return false;
}

bool ker_config_is(const struct ker_config *config, const char *key, const char *word)
{
    const char *value = value_of(config, key, ONE(CHOICE), -1).text;
    if (!is_choice(ker_config_option(config->tables, key)->choices, word))
        misused(key, "is never what it is compared with");
    return strcmp(value, word) == 0;
}

const struct ker_kind *ker_config_kind(const struct ker_config *config, const char *key)
{
    const char *value = value_of(config, key, ONE(CHOICE), -1).text;
    const struct ker_option *option = ker_config_option(config->tables, key);
    if (!option->kinds)
        misused(key, "does not choose among kinds");
    return ker_registry_find(config->registry, option->kinds->key, value, NULL);
}

const void *ker_config_operations(const struct ker_config *config, const char *key)
{
    return ker_config_kind(config, key)->operations;
}

int ker_config_number(const struct ker_config *config, const char *key, const struct ker_word *words)
{
    const char *value = value_of(config, key, ONE(CHOICE), -1).text;
    while (words->name && strcmp(words->name, value) != 0)
        words++;
    if (!words->name)
        misused(key, "has a choice without a number");
    return words->number;
}

const struct ker_registry *ker_config_registry(const struct ker_config *config)
{
    return config->registry;
}

/* A text that lives as long as the configuration; of a file, the path to open. */
static const char *text_of(const struct ker_config *config, const char *key, int index)
{
    const struct ker_option *option = option_must(config, key, index >= 0);
    const struct ker_config_node *node = value_node(config, option, key, index);
    if (!node)
        return kept_text(config, option, index);
    return KER_TYPE_OF(option) == KER_TYPE_FILE ? node->path : node->text;
}

const char *ker_config_file(const struct ker_config *config, const char *key)
{
    value_of(config, key, ONE(FILE), -1); /* asserts */
    return text_of(config, key, -1);
}

int64_t ker_config_int_at(const struct ker_config *config, const char *key, int index)
{
    return value_of(config, key, ONE(INT), index).integer;
}

double ker_config_real_at(const struct ker_config *config, const char *key, int index)
{
    return value_of(config, key, ONE(REAL), index).real;
}

ker_time ker_config_time_at(const struct ker_config *config, const char *key, int index)
{
    return value_of(config, key, ONE(TIME), index).time;
}

uint64_t ker_config_bytes_at(const struct ker_config *config, const char *key, int index)
{
    return value_of(config, key, ONE(BYTES), index).size;
}

uint64_t ker_config_rate_at(const struct ker_config *config, const char *key, int index)
{
    return value_of(config, key, ONE(RATE), index).size;
}

bool ker_config_bool_at(const struct ker_config *config, const char *key, int index)
{
    return value_of(config, key, ONE(BOOL), index).truth;
}

const char *ker_config_string_at(const struct ker_config *config, const char *key, int index)
{
    value_of(config, key, ONE(STRING) | ONE(CHOICE) | ONE(FILE), index); /* asserts */
    return text_of(config, key, index);
}

enum ker_status ker_config_fail(const struct ker_config *config, struct ker_error *error, const char *key,
                                const char *format, ...)
{
    struct ker_config_node *last;
    char text[sizeof error->text];
    KER_FORMATTED(text, format);
    struct ker_config_node *node = ker_config_tree_find(config->root, key, &last);
    if (!node && (!last || last == config->root)) /* not even its group is given: no line to point at */
        return ker_fail(error, KER_BAD_INPUT, "%s: %.200s: %s", config->file, key, text);
    return ker_config_refuse(error, (node ? node : last)->origin, key, "%s", text);
}
