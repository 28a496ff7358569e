/* config.c - loading a configuration, and the getters.
 *
 * Load: text (config_text.c), tree (config_tree.c), overrides and check (config_check.c). Getters find the
 * key in the tables and in the tree each time: they are for set-up, a few microseconds each. Invariant after
 * a successful load: every value in the tree and every default reads without error, so a getter that fails is
 * our own mistake.
 */
#include "kernel/config/config.h"

#include "kernel/base/array.h"
#include "kernel/config/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void keep(struct ker_config *config, const struct ker_option *option, int index, const char *text)
{
    bool file = KER_TYPE_OF(option) == KER_TYPE_FILE;
    char *kept = file ? ker_config_path_join(config->file, text) : ker_format("%s", text);
    *KER_APPEND(config->kept, config->kept_count) = (struct ker_config_kept){option, index, kept};
}

/* Defaults that are no substring of their table: file names, and texts in lists. */
static void keep_fallbacks(struct ker_config *config)
{
    for (ker_config_tables table = config->tables; *table; table++)
        for (const struct ker_option *option = *table; option->key; option++) {
            enum ker_type type = KER_TYPE_OF(option);
            char *item;
            if (!option->fallback)
                continue;
            if (option->type == KER_TYPE_FILE)
                keep(config, option, -1, option->fallback);
            if (!KER_IS_LIST(option) || type < KER_TYPE_STRING)
                continue;
            for (int i = 0; (item = ker_config_list_item(option->fallback, i)) != NULL; i++) {
                keep(config, option, i, item);
                free(item);
            }
        }
}

static const char *kept_text(const struct ker_config *config, const struct ker_option *option, int index)
{
    for (int i = 0; i < config->kept_count; i++)
        if (config->kept[i].option == option && config->kept[i].index == index)
            return config->kept[i].text;
    return "";
}

static enum ker_status build(struct ker_config **config, enum ker_status status, struct ker_config *made,
                             const char *const *overrides, int override_count, struct ker_error *error)
{
    if (!status)
        status = ker_config_tree_parse(&made->root, &made->text, error);
    if (!status)
        status = ker_config_plugins(made, overrides, override_count, error);
    if (!status)
        ker_config_former_rename(made, error);
    for (int i = 0; i < override_count && !status; i++) {
        struct ker_error one = {.status = KER_OK};
        char *override = ker_config_former_override(made, overrides[i]);
        ker_config_override(made->root, override, made->tables, &one);
        ker_error_add(error, &one);
        free(override);
    }
    if (!status)
        ker_config_former_rename(made, error);
    if (!status)
        status = ker_config_check(made, error);
    if (!status)
        keep_fallbacks(made);
    if (status)
        ker_config_free(made);
    *config = status ? NULL : made;
    return status;
}

static struct ker_config *config_new(const char *file, ker_config_tables tables)
{
    struct ker_config *config = ker_alloc(sizeof *config);
    config->file = ker_format("%s", file);
    config->inputs = ker_inputs_new();
    config->registry = ker_registry_new(tables);
    config->tables = ker_registry_tables(config->registry);
    return config;
}

/* A file without any settings is taken for another file than was meant. */
static enum ker_status not_empty(struct ker_config **config, enum ker_status status, const char *path,
                                 struct ker_error *error)
{
    if (status != KER_OK || (*config)->root->count > 0)
        return status;
    ker_config_free(*config);
    *config = NULL;
    return ker_fail(error, KER_BAD_INPUT, "%s: holds no settings; a configuration file is expected", path);
}

enum ker_status ker_config_load(struct ker_config **config, const char *path, const char *const *overrides,
                                int override_count, const struct ker_option *const *tables,
                                struct ker_error *error)
{
    struct ker_config *made = config_new(path, tables);
    enum ker_status status = ker_config_text_load(&made->text, path, error);
    return not_empty(config, build(config, status, made, overrides, override_count, error), path, error);
}

/* With all that it includes, comments excepted. */
static void text_register(struct ker_config *config)
{
    struct ker_digest digest = {0};
    ker_digest_add(&digest, config->text.text, config->text.length);
    ker_input_add(config->inputs, config->file, &digest);
}

/* What rank 0 reads and others cannot: whatever is there, but is no regular file. */
static bool is_stream(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode);
}

/* Rank 0's text on all ranks, malloc'ed; NULL everywhere when it could not be read, with the error on rank 0.
 */
static enum ker_status text_hand_on(char **text, struct ker_comm *comm, const char *path,
                                    struct ker_error *error)
{
    bool control = ker_comm_rank(comm) == 0;
    *text = NULL;
    enum ker_status status = ker_comm_worst(comm, control ? ker_config_text_read(text, path, error) : KER_OK);
    if (status != KER_OK)
        return status;
    int64_t bytes = control ? (int64_t)strlen(*text) + 1 : 0;
    ker_comm_broadcast(comm, &bytes, sizeof bytes);
    if (!control)
        *text = ker_alloc((size_t)bytes);
    ker_comm_broadcast(comm, *text, (size_t)bytes);
    return KER_OK;
}

/* "/dev/stdin" is called "stdin": without a folder, so that the files it names are looked for in the working
 * directory. */
static void stream_name(struct ker_config *config)
{
    size_t folder = strlen("/dev/"), length = strlen(config->file);
    if (strncmp(config->file, "/dev/", folder) != 0)
        return;
    memmove(config->file, config->file + folder, length - folder + 1);
    for (char *slash = config->file; (slash = strchr(slash, '/')) != NULL;)
        *slash = ' ';
}

static enum ker_status text_load_all(struct ker_config *made, struct ker_comm *comm, const char *path,
                                     struct ker_error *error)
{
    int64_t stream = ker_comm_rank(comm) == 0 && is_stream(path);
    ker_comm_broadcast(comm, &stream, sizeof stream);
    if (!stream)
        return ker_config_text_load(&made->text, path, error);
    char *text;
    enum ker_status status = text_hand_on(&text, comm, path, error);
    stream_name(made);
    if (status == KER_OK)
        status = ker_config_text_parse(&made->text, made->file, text, error);
    free(text);
    return status;
}

enum ker_status ker_config_load_all(struct ker_config **config, struct ker_comm *comm, const char *path,
                                    const char *const *overrides, int override_count,
                                    const struct ker_option *const *tables, const struct ker_size *sizes,
                                    struct ker_error *error)
{
    struct ker_config *made = config_new(path, tables);
    made->sizes = sizes;
    enum ker_status status = text_load_all(made, comm, path, error);
    if (status == KER_OK)
        text_register(made);
    enum ker_status same = ker_inputs_agree(made->inputs, comm, error);
    enum ker_status worst = ker_comm_worst(comm, same != KER_OK ? same : status);
    if (worst == KER_OK)
        return not_empty(config, build(config, status, made, overrides, override_count, error), path, error);
    ker_config_free(made);
    *config = NULL;
    return worst;
}

enum ker_status ker_config_parse_run(struct ker_config **config, const char *name, const char *text,
                                     const char *const *overrides, int override_count,
                                     const struct ker_option *const *tables, const struct ker_size *sizes,
                                     struct ker_error *error)
{
    struct ker_config *made = config_new(name, tables);
    made->sizes = sizes;
    enum ker_status status = ker_config_text_parse(&made->text, name, text, error);
    return build(config, status, made, overrides, override_count, error);
}

enum ker_status ker_config_parse(struct ker_config **config, const char *name, const char *text,
                                 const char *const *overrides, int override_count,
                                 const struct ker_option *const *tables, struct ker_error *error)
{
    return ker_config_parse_run(config, name, text, overrides, override_count, tables, NULL, error);
}

static void files_visit(const struct ker_config_node *node, void (*visit)(void *, const char *),
                        void *context)
{
    if (node->path && *node->path)
        visit(context, node->path);
    for (int i = 0; i < node->count; i++)
        files_visit(node->member[i], visit, context);
}

void ker_config_files(const struct ker_config *config, void (*visit)(void *context, const char *path),
                      void *context)
{
    for (int i = 0; i < config->text.files; i++)
        visit(context, config->text.file[i]);
    files_visit(config->root, visit, context);
}

void ker_config_free(struct ker_config *config)
{
    if (!config)
        return;
    for (int i = 0; i < config->kept_count; i++)
        free(config->kept[i].text);
    free(config->kept);
    for (int i = 0; i < config->warnings; i++)
        free(config->warning[i].text);
    free(config->warning);
    ker_config_node_free(config->root);
    ker_config_text_release(&config->text);
    ker_inputs_free(config->inputs);
    ker_registry_free(config->registry);
    free(config->file);
    free(config);
}

const struct ker_option *ker_config_option(const struct ker_option *const *tables, const char *key)
{
    char *pattern = ker_config_pattern(key);
    const struct ker_option *option = ker_config_option_find(tables, pattern);
    free(pattern);
    return option;
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

static _Noreturn void misused(const char *key, const char *what)
{
    char *text = ker_format("configuration key %s: %s", key, what);
    ker_broken(text, "a getter of kernel/config/config.h", 0);
}

static const struct ker_option *option_of(const struct ker_config *config, const char *key)
{
    char *pattern = ker_config_pattern(key);
    const struct ker_option *option = ker_config_option_find(config->tables, pattern);
    free(pattern);
    return option;
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
    const struct ker_option *option = option_of(config, key);
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
    const struct ker_option *option = option_of(config, key);
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
    if (!is_choice(option_of(config, key)->choices, word))
        misused(key, "is never what it is compared with");
    return strcmp(value, word) == 0;
}

const struct ker_kind *ker_config_kind(const struct ker_config *config, const char *key)
{
    const char *value = value_of(config, key, ONE(CHOICE), -1).text;
    const struct ker_option *option = option_of(config, key);
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
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct ker_config_node *node = ker_config_tree_find(config->root, key, &last);
    if (!node && (!last || last == config->root)) /* not even its group is given: no line to point at */
        return ker_fail(error, KER_BAD_INPUT, "%s: %.200s: %s", config->file, key, text);
    return ker_config_refuse(error, (node ? node : last)->origin, key, "%s", text);
}
