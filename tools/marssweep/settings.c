/* settings.c - what the group `sweep` of the configuration says, where the command line does not. */
#include "tools/marssweep/sweep.h"

#include <stdlib.h>

static void file_note(void *files, const char *path)
{
    json_object_set_new(files, path, json_true());
}

/* For what the command line has not said. */
static void texts_read(char ***text, size_t *texts, const struct ker_config *config, const char *key)
{
    for (int i = 0, count = *texts ? 0 : ker_config_count(config, key); i < count; i++)
        *KER_APPEND(*text, *texts) = ker_format("%s", ker_config_string_at(config, key, i));
}

static enum ker_status axes_read(struct sweep_axes *axes, const struct ker_config *config, const char *key,
                                 struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (int i = 0; i < ker_config_count(config, key) && status == KER_OK; i++)
        status = sweep_axis_parse(axes, ker_config_string_at(config, key, i), key, error);
    return status;
}

/* The tables that --alone compares: iterations of collectives, waits by function. */
static enum ker_status tables_want(struct sweep *s, const struct ker_config *config, struct ker_error *error)
{
    static const char *const table[] = {"output.collectives", "output.waits"};
    enum ker_status status = KER_OK;
    for (size_t i = 0; i < sizeof table / sizeof *table && status == KER_OK; i++)
        if (ker_config_means_key(config, table[i]) && !ker_config_has(config, table[i])) {
            char *word = ker_format("%s=true", table[i]);
            status = sweep_axis_parse(&s->axes, word, "--alone", error);
            free(word);
        }
    return status;
}

enum ker_status sweep_config_read(struct sweep *s, struct ker_error *error)
{
    struct ker_config *config;
    enum ker_status status = sweep_config_load(s, &s->config_words, &config, error);
    if (status != KER_OK)
        return status;
    ker_config_files(config, file_note, s->own_files);
    status = axes_read(&s->designs, config, "sweep.designs", error);
    status = status ?: axes_read(&s->axes, config, s->quick ? "sweep.quick" : "sweep.points", error);
    if (s->quick && ker_config_count(config, "sweep.quick") == 0)
        status = ker_fail(error, KER_BAD_INPUT, "--quick: %s says nothing of it (sweep.quick)", s->file);
    texts_read(&s->column, &s->columns, config, "sweep.columns");
    texts_read(&s->sql, &s->sqls, config, "sweep.sql");
    texts_read(&s->table, &s->tables, config, "sweep.tables");
    if (ker_config_has(config, "sweep.plot") && *ker_config_file(config, "sweep.plot"))
        s->plot = ker_format("%s", ker_config_file(config, "sweep.plot"));
    const char *against = ker_config_string(config, "sweep.against");
    if (*against)
        s->against = ker_format("%s", against);
    s->zip = ker_config_bool(config, "sweep.zip");
    s->saturation = ker_config_bool(config, "sweep.saturation");
    s->alone = ker_config_bool(config, "sweep.alone");
    s->seeds = ker_config_int(config, "sweep.seeds");
    if (status == KER_OK && s->alone)
        status = tables_want(s, config, error);
    s->precision = ker_config_real(config, "sweep.precision");
    ker_config_free(config);
    return status;
}
