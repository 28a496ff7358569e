/* config.c - loading a configuration: text (text.c), tree (tree.c), overrides and check (check.c).
 *
 * Invariant after a successful load: every value in the tree and every default reads without error, so that a
 * getter that fails is our own mistake.
 */
#include "kernel/config/config.h"

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
    KER_EACH_OPTION (option, config->tables) {
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

static enum ker_status build(struct ker_config **config, enum ker_status status, struct ker_config *made,
                             const char *const *overrides, int override_count, struct ker_error *error)
{
    status = status ?: ker_config_tree_parse(&made->root, &made->text, error);
    status = status ?: ker_config_plugins(made, overrides, override_count, error);
    if (!status)
        ker_config_former_rename(made, error);
    for (int i = 0; i < override_count && !status; i++) {
        struct ker_error one = {.status = KER_OK};
        ker_config_override_apply(made, overrides[i], &one);
        ker_error_add(error, &one);
    }
    if (!status)
        ker_config_former_rename(made, error);
    if (!status) {
        ker_config_check(made, error);
        ker_config_leave_out(made);
        if (error->status == KER_OK)
            ker_config_preset(made, error);
        ker_config_belongs_check(made, error);
        status = ker_error_close(error);
    }
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

/* What rank 0 reads and others cannot: whatever is there, but is no regular file, or is standard input. */
static bool is_stream(const char *path)
{
    struct stat is;
    bool device = strncmp(path, "/dev/", strlen("/dev/")) == 0; /* it may be a file: <system.cfg */
    return stat(path, &is) == 0 && (device || !S_ISREG(is.st_mode)) && !S_ISDIR(is.st_mode);
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
    status = status ?: ker_config_text_parse(&made->text, made->file, text, error);
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
