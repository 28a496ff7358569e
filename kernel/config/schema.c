/* schema.c - the JSON schema (draft 2020-12) of all configurations: one property for each key of the tables.
 *
 * A group becomes an object, a list of groups an array of objects; keys that no table has are refused. Types,
 * choices and ranges of numbers are those of the option; times, sizes and rates are texts, of which a pattern
 * says how they are written and the description between which values they lie. Which keys belong to which
 * kinds is in rules.c. Invariant: what the program accepts satisfies the schema.
 */
#include "kernel/config/schema.h"

#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static void bounds_write(struct ker_schema *s, const struct ker_option *option)
{
    const char *const names[] = {"minimum", "maximum"}, *const bounds[] = {option->minimum, option->maximum};
    struct ker_option plain = *option;
    struct ker_config_value value;
    char why[KER_WHY_BYTES];
    plain.minimum = plain.maximum = NULL;
    for (int i = 0; i < 2; i++) {
        if (!bounds[i] || !ker_config_value_parse(&plain, bounds[i], &value, why))
            continue;
        if (KER_TYPE_OF(option) == KER_TYPE_REAL)
            ker_json_real(&s->json, names[i], value.real);
        else if (KER_TYPE_OF(option) == KER_TYPE_INT)
            ker_json_int(&s->json, names[i], value.integer);
        else if (value.size <= INT64_MAX)
            ker_json_int(&s->json, names[i], (long long)value.size);
    }
}

static const char *meaning_of(const struct ker_schema *s, const struct ker_option *option, const char *name)
{
    const struct ker_kind *kind =
        option->kinds ? ker_registry_find(s->registry, option->kinds->key, name, NULL) : NULL;
    return kind ? kind->meaning : "";
}

/* enumDescriptions is what editors show beside each choice. */
static void choices_write(struct ker_schema *s, const struct ker_option *option)
{
    int lists = option->kinds ? 2 : 1;
    for (int meanings = 0; meanings < lists; meanings++) {
        const char *at = option->choices;
        size_t length;
        ker_json_open(&s->json, meanings ? "enumDescriptions" : "enum", '[');
        for (const char *word; (word = ker_piece_next(&at, "|", &length)) != NULL;) {
            char *name = ker_format("%.*s", (int)length, word);
            ker_json_text(&s->json, NULL, meanings ? meaning_of(s, option, name) : name);
            free(name);
        }
        ker_json_close(&s->json, "]");
    }
}

static void size_write(struct ker_schema *s, const struct ker_option *option)
{
    ker_json_open(&s->json, "anyOf", '[');
    ker_json_open(&s->json, NULL, '{');
    ker_json_text(&s->json, "type", "integer");
    if (!option->minimum)
        ker_json_int(&s->json, "minimum", 0);
    bounds_write(s, option);
    ker_json_close(&s->json, "}");
    ker_json_open(&s->json, NULL, '{');
    ker_json_text(&s->json, "$ref", "#/$defs/size");
    ker_json_close(&s->json, "}]");
}

/* What a single value has to be, in an object that is open. */
static void value_write(struct ker_schema *s, const struct ker_option *option)
{
    switch (KER_TYPE_OF(option)) {
    case KER_TYPE_BOOL:
        ker_json_text(&s->json, "type", "boolean");
        break;
    case KER_TYPE_INT:
    case KER_TYPE_REAL:
        ker_json_text(&s->json, "type", KER_TYPE_OF(option) == KER_TYPE_INT ? "integer" : "number");
        bounds_write(s, option);
        break;
    case KER_TYPE_TIME:
        ker_json_text(&s->json, "$ref", "#/$defs/time");
        break;
    case KER_TYPE_BYTES:
        size_write(s, option);
        break;
    case KER_TYPE_RATE:
        ker_json_text(&s->json, "$ref", "#/$defs/rate");
        break;
    case KER_TYPE_CHOICE:
        choices_write(s, option);
        break;
    default:
        ker_json_text(&s->json, "type", "string");
    }
}

static void fallback_write(struct ker_schema *s, const struct ker_option *option, const char *key,
                           const char *text)
{
    struct ker_config_value value;
    char why[KER_WHY_BYTES];
    enum ker_type type = KER_TYPE_OF(option);
    if (!ker_config_value_parse(option, text, &value, why) || type >= KER_TYPE_TIME)
        ker_json_text(&s->json, key, text);
    else if (type == KER_TYPE_BOOL)
        ker_json_bool(&s->json, key, value.truth);
    else if (type == KER_TYPE_INT)
        ker_json_int(&s->json, key, value.integer);
    else
        ker_json_real(&s->json, key, value.real);
}

static void default_write(struct ker_schema *s, const struct ker_option *option)
{
    char *item;
    if (!option->fallback)
        return;
    if (!KER_IS_LIST(option)) {
        fallback_write(s, option, "default", option->fallback);
        return;
    }
    ker_json_open(&s->json, "default", '[');
    for (int i = 0; (item = ker_config_list_item(option->fallback, i)) != NULL; i++) {
        fallback_write(s, option, NULL, item);
        free(item);
    }
    ker_json_close(&s->json, "]");
}

/* ---- keys ---- */

/* Its meaning; the range, where it cannot be checked; what it belongs to. */
static void description_write(struct ker_schema *s, const struct ker_option *option)
{
    enum ker_type type = KER_TYPE_OF(option);
    char range[200] = "", *only = ker_config_belongs_words(option);
    if (type == KER_TYPE_TIME || type == KER_TYPE_BYTES || type == KER_TYPE_RATE)
        ker_config_range_print(option, range, sizeof range);
    char *text =
        ker_format("%s%s%s%s%s%s", option->meaning ? option->meaning : "", *range ? " Range: " : "", range,
                   *range ? "." : "", *only ? " Only" : "", *only ? only + strlen("; only") : "");
    ker_json_text(&s->json, "description", text);
    free(text);
    free(only);
}

static void option_write(struct ker_schema *s, const struct ker_option *option, const char *name, bool former)
{
    ker_json_open(&s->json, name, '{');
    description_write(s, option);
    default_write(s, option);
    if (former)
        ker_json_bool(&s->json, "deprecated", true);
    if (KER_IS_LIST(option)) {
        ker_json_open(&s->json, "anyOf", '[');
        ker_json_open(&s->json, NULL, '{');
        ker_json_text(&s->json, "type", "array");
        ker_json_open(&s->json, "items", '{');
        value_write(s, option);
        ker_json_close(&s->json, "}}");
        ker_json_open(&s->json, NULL, '{');
        value_write(s, option);
        ker_json_close(&s->json, "}]");
    } else {
        value_write(s, option);
    }
    ker_json_close(&s->json, "}");
}

static void object_write(struct ker_schema *s, const char *prefix);

static void group_write(struct ker_schema *s, const char *prefix, const char *name, bool list)
{
    char *below = ker_format("%s%s%s.", prefix, name, list ? "[]" : "");
    ker_json_open(&s->json, name, '{');
    if (list) {
        ker_json_text(&s->json, "type", "array");
        ker_json_open(&s->json, "items", '{');
    }
    object_write(s, below);
    if (list) {
        ker_schema_rules(s, below);
        ker_json_close(&s->json, "}");
    }
    ker_json_close(&s->json, "}");
    free(below);
}

static void properties_write(struct ker_schema *s, const char *prefix)
{
    size_t length = strlen(prefix);
    KER_EACH_OPTION (option, s->tables) {
        if (strncmp(option->key, prefix, length) != 0)
            continue;
        const char *rest = option->key + length;
        size_t word = strcspn(rest, ".[");
        char *name = ker_format("%.*s", (int)word, rest);
        if (!rest[word])
            option_write(s, option, name, false);
        else if (ker_config_is_first(s->tables, option->key, length + word))
            group_write(s, prefix, name, rest[word] == '[');
        if (!rest[word] && option->formerly)
            option_write(s, option, option->formerly + length, true);
        free(name);
    }
}

/* The keys of a group, in an object that is open. */
static void object_write(struct ker_schema *s, const char *prefix)
{
    ker_json_text(&s->json, "type", "object");
    ker_json_bool(&s->json, "additionalProperties", false);
    ker_json_open(&s->json, "patternProperties", '{'); /* notes: see json.h */
    ker_json_open(&s->json, "^\\$", '{');
    ker_json_text(&s->json, "type", "string");
    ker_json_close(&s->json, "}}");
    ker_json_open(&s->json, "properties", '{');
    properties_write(s, prefix);
    ker_json_close(&s->json, "}");
}

/* ---- units ---- */

static void unit_write(struct ker_schema *s, const char *name, const char *(*unit)(int), bool bare)
{
    char *names = ker_format("%s", unit(0));
    for (int i = 1; unit(i); i++) {
        char *longer = ker_format("%s|%s", names, unit(i));
        free(names);
        names = longer;
    }
    char *pattern = ker_format("^\\s*\\+?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?\\s*(%s)%s\\s*$",
                               names, bare ? "?" : "");
    ker_json_open(&s->json, name, '{');
    ker_json_text(&s->json, "type", "string");
    ker_json_text(&s->json, "pattern", pattern);
    ker_json_close(&s->json, "}");
    free(names);
    free(pattern);
}

void ker_registry_schema(const struct ker_registry *registry, FILE *out)
{
    struct ker_schema s = {{.out = out}, registry, ker_registry_tables(registry)};
    ker_json_open(&s.json, NULL, '{');
    ker_json_text(&s.json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    ker_json_text(&s.json, "title", "configuration of marssim");
    ker_json_text(&s.json, "description",
                  "What marssim --schema knows of all keys, with the plugins that it was given.");
    object_write(&s, "");
    ker_schema_rules(&s, "");
    ker_json_open(&s.json, "$defs", '{');
    unit_write(&s, "time", ker_time_unit, false);
    unit_write(&s, "size", ker_bytes_unit, true);
    unit_write(&s, "rate", ker_rate_unit, false);
    ker_json_close(&s.json, "}}");
}
