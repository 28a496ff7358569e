/* sound.c - whether the option tables are sound in themselves.
 *
 * A table is part of the program, so what is wrong in it is an assertion: found by --help-config, which tests
 * call, and when a plug-in is loaded. Not at each start of the program, of which it would be a tenth.
 */
#include "kernel/config/value.h"

#include <stdlib.h>
#include <string.h>

static _Noreturn void broken(const struct ker_option *option, const char *what, const char *why)
{
    char *text = ker_format("option %s: %s: %s", option->key, what, why);
    ker_broken(text, __FILE__, __LINE__);
}

static void check_fallback(const struct ker_option *option)
{
    char why[KER_WHY_BYTES];
    struct ker_config_value value;
    if (!option->fallback)
        return;
    if (!KER_IS_LIST(option) && !ker_config_value_parse(option, option->fallback, &value, why))
        broken(option, "default", why);
    for (int i = 0; KER_IS_LIST(option); i++) {
        char *item = ker_config_list_item(option->fallback, i);
        if (!item)
            break;
        if (!ker_config_value_parse(option, item, &value, why))
            broken(option, "default", why);
        free(item);
    }
}

/* A former name is no key of now, and differs in the last word alone. */
static bool former_sound(ker_config_tables tables, const struct ker_option *option)
{
    const char *point = strrchr(option->key, '.');
    return !ker_config_option_find(tables, option->formerly) &&
           (!point || strncmp(option->formerly, option->key, (size_t)(point + 1 - option->key)) == 0);
}

static int key_order(const void *a, const void *b)
{
    return strcmp((*(const struct ker_option *const *)a)->key, (*(const struct ker_option *const *)b)->key);
}

/* Each key is there once. In their order, since there are hundreds and each start of the program asks. */
static void check_keys(ker_config_tables tables)
{
    const struct ker_option **all = NULL;
    size_t count = 0, room = 0;
    KER_EACH_OPTION (option, tables)
        *KER_PUSH(all, count, room) = option;
    if (count)
        qsort(all, count, sizeof *all, key_order);
    for (size_t i = 1; i < count; i++)
        if (strcmp(all[i - 1]->key, all[i]->key) == 0)
            broken(all[i], "key", "is in the tables twice");
    free(all);
}

void ker_config_tables_check(ker_config_tables tables, bool all)
{
    check_keys(tables);
    char why[KER_WHY_BYTES];
    struct ker_config_value value;
    const char *condition = NULL; /* of the option before: those of a kind share one */
    KER_EACH_OPTION (option, tables) {
        if ((KER_TYPE_OF(option) == KER_TYPE_CHOICE) != (option->choices != NULL))
            broken(option, "choices", "are for KER_TYPE_CHOICE, and needed there");
        struct ker_option plain = *option; /* bounds are read without bounds */
        plain.minimum = plain.maximum = NULL;
        if ((option->minimum && !ker_config_value_parse(&plain, option->minimum, &value, why)) ||
            (option->maximum && !ker_config_value_parse(&plain, option->maximum, &value, why)))
            broken(option, "range", why);
        check_fallback(option);
        if (option->formerly && !former_sound(tables, option))
            broken(option, "formerly", "is a key of now, or one of another group");
        const char *wrong =
            option->belongs == condition ? NULL : ker_config_belongs_wrong(tables, all, option);
        condition = option->belongs;
        if (wrong)
            broken(option, option->belongs, wrong);
    }
}
