/* rules.c - the rules of the JSON schema: which keys belong to which choices of other keys.
 *
 * ker_option.belongs is conditions that must all hold, so each is a rule of its own: "if" it holds, "else"
 * these keys are not there, and a condition that many keys share is once. A rule is in the group that
 * holds all keys that it asks for: in the outermost one, or in the member of a list ("jobs[]."), which
 * `scope` names. As everywhere a term holds only where its own key means something. What cannot be expressed
 * by a schema (values with units that are equal though written otherwise, conditions that need both the
 * member and what is outside) counts as true: the program looks again.
 *
 * Kinds that another kind brings are rules, too: with this topology, these algorithms.
 */
#include "kernel/config/schema.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 8 /* of keys that belong to keys that belong ... */

static size_t list_length(const char *key) /* of "jobs[]." in "jobs[].tasks" */
{
    const char *last = NULL;
    for (const char *at = key; (at = strstr(at, "[].")) != NULL; at++)
        last = at;
    return last ? (size_t)(last + 3 - key) : 0;
}

/* Do all terms ask for keys of this scope? */
static bool in_scope(const char *condition, const char *scope)
{
    const char *at = condition;
    size_t length;
    bool all = true;
    for (const char *text; (text = ker_piece_next(&at, " or ", &length)) != NULL;) {
        struct ker_term term;
        ker_term_read(&term, text, length);
        size_t list = list_length(term.key);
        all = all && list == strlen(scope) && strncmp(term.key, scope, list) == 0;
    }
    return all;
}

typedef void leaf_write(struct ker_schema *, const char *name, const void *context);

/* {"properties": {"topology": {"properties": {"kind": LEAF}}}}, with all of it "required" if wanted. */
static void path_write(struct ker_schema *s, const char *key, const char *path, bool required,
                       leaf_write *leaf, const void *context)
{
    size_t length = strcspn(path, ".[");
    char *name = ker_format("%.*s", (int)length, path);
    ker_json_open(&s->json, key, '{');
    if (required) {
        ker_json_open(&s->json, "required", '[');
        ker_json_text(&s->json, NULL, name);
        ker_json_close(&s->json, "]");
    }
    ker_json_open(&s->json, "properties", '{');
    if (!path[length]) {
        leaf(s, name, context);
    } else if (path[length] == '.') {
        path_write(s, name, path + length + 1, required, leaf, context);
    } else {
        ker_json_open(&s->json, name, '{');
        path_write(s, "items", path + length + strlen("[]."), required, leaf, context);
        ker_json_close(&s->json, "}");
    }
    ker_json_close(&s->json, "}}");
    free(name);
}

/* ---- conditions ---- */

struct test {
    const struct ker_term *term;
    const struct ker_option *option; /* NULL: a list of groups */
};

static bool is_expressible(const struct ker_option *option)
{
    enum ker_type type = KER_TYPE_OF(option);
    return type != KER_TYPE_TIME && type != KER_TYPE_BYTES && type != KER_TYPE_RATE;
}

static void constant_write(struct ker_schema *s, const struct ker_option *option, const char *text)
{
    struct ker_config_value value;
    char why[KER_WHY_BYTES];
    enum ker_type type = KER_TYPE_OF(option);
    bool good = ker_config_value_parse(option, text, &value, why);
    ker_assert(good); /* sound.c has looked */
    if (type == KER_TYPE_BOOL)
        ker_json_bool(&s->json, NULL, value.truth);
    else if (type == KER_TYPE_INT)
        ker_json_int(&s->json, NULL, value.integer);
    else if (type == KER_TYPE_REAL)
        ker_json_real(&s->json, NULL, value.real);
    else
        ker_json_text(&s->json, NULL, text);
}

static void constants_write(struct ker_schema *s, const char *key, const struct test *test)
{
    char *list = ker_format("%.*s", (int)test->term->length, test->term->values);
    const char *at = list;
    size_t length;
    ker_json_open(&s->json, key, '{');
    ker_json_open(&s->json, "enum", '[');
    for (const char *word; (word = ker_piece_next(&at, "|", &length)) != NULL;) {
        char *one = ker_format("%.*s", (int)length, word);
        constant_write(s, test->option, one);
        free(one);
    }
    ker_json_close(&s->json, "]}");
    free(list);
}

static void test_write(struct ker_schema *s, const char *name, const void *context)
{
    const struct test *test = context;
    if (!test->option) {
        ker_json_open(&s->json, name, '{');
        ker_json_int(&s->json, "minItems", 1);
        ker_json_close(&s->json, "}");
    } else if (test->term->kind == KER_TERM_GIVEN) {
        ker_json_bool(&s->json, name, true);
    } else if (test->term->kind == KER_TERM_IS) {
        constants_write(s, name, test);
    } else {
        ker_json_open(&s->json, name, '{');
        constants_write(s, "not", test);
        ker_json_close(&s->json, "}");
    }
}

/* Does the term hold where its key is not given? */
static bool holds_absent(const struct test *test)
{
    struct ker_config_value value;
    char why[KER_WHY_BYTES];
    if (!test->option || test->term->kind == KER_TERM_GIVEN || !test->option->fallback ||
        !ker_config_value_parse(test->option, test->option->fallback, &value, why))
        return false;
    return ker_term_lists(test->term, test->option, &value) == (test->term->kind == KER_TERM_IS);
}

static void conditions_write(struct ker_schema *s, const char *belongs, const char *scope, int depth);

static void term_write(struct ker_schema *s, const char *key, const struct ker_term *term, const char *scope,
                       int depth)
{
    struct test test = {term, ker_config_option_find(s->tables, term->key)};
    const char *belongs = test.option ? test.option->belongs : NULL;
    ker_assert(depth < MAX_DEPTH);
    if (test.option && term->kind != KER_TERM_GIVEN && !is_expressible(test.option)) {
        ker_json_bool(&s->json, key, true);
        return;
    }
    if (belongs) {
        ker_json_open(&s->json, key, '{');
        ker_json_open(&s->json, "allOf", '[');
    }
    path_write(s, belongs ? NULL : key, term->key + strlen(scope), !holds_absent(&test), test_write, &test);
    if (belongs) {
        conditions_write(s, belongs, scope, depth + 1);
        ker_json_close(&s->json, "]}");
    }
}

/* Terms of which one must hold. */
static void condition_write(struct ker_schema *s, const char *key, const char *condition, const char *scope,
                            int depth)
{
    const char *at = condition;
    bool several = strstr(condition, " or ");
    size_t length;
    if (!in_scope(condition, scope)) {
        ker_json_bool(&s->json, key, true);
        return;
    }
    if (several) {
        ker_json_open(&s->json, key, '{');
        ker_json_open(&s->json, "anyOf", '[');
    }
    for (const char *text; (text = ker_piece_next(&at, " or ", &length)) != NULL;) {
        struct ker_term term;
        ker_term_read(&term, text, length);
        term_write(s, several ? NULL : key, &term, scope, depth);
    }
    if (several) {
        ker_json_close(&s->json, "]}");
    }
}

/* All of them, as members of an array. */
static void conditions_write(struct ker_schema *s, const char *belongs, const char *scope, int depth)
{
    size_t length;
    for (const char *text; (text = ker_piece_next(&belongs, " & ", &length)) != NULL;) {
        char *condition = ker_format("%.*s", (int)length, text);
        condition_write(s, NULL, condition, scope, depth);
        free(condition);
    }
}

/* ---- rules ---- */

static void forbidden_write(struct ker_schema *s, const char *name, const void *context)
{
    (void)context;
    ker_json_bool(&s->json, name, false);
}

static bool has_condition(const struct ker_option *option, const char *condition)
{
    const char *belongs = option->belongs ? option->belongs : "";
    size_t length;
    for (const char *text; (text = ker_piece_next(&belongs, " & ", &length)) != NULL;)
        if (strlen(condition) == length && strncmp(text, condition, length) == 0)
            return true;
    return false;
}

/* The first option that has the condition. */
static const struct ker_option *first_with(const struct ker_schema *s, const char *condition)
{
    KER_EACH_OPTION (option, s->tables)
        if (has_condition(option, condition))
            return option;
    return NULL;
}

static void rule_write(struct ker_schema *s, const char *condition, const char *scope)
{
    ker_json_open(&s->json, NULL, '{');
    ker_json_text(&s->json, "$comment", condition);
    condition_write(s, "if", condition, scope, 0);
    ker_json_open(&s->json, "else", '{');
    ker_json_open(&s->json, "allOf", '[');
    KER_EACH_OPTION (option, s->tables)
        if (has_condition(option, condition) && strncmp(option->key, scope, strlen(scope)) == 0) {
            path_write(s, NULL, option->key + strlen(scope), false, forbidden_write, NULL);
            if (option->formerly)
                path_write(s, NULL, option->formerly + strlen(scope), false, forbidden_write, NULL);
        }
    ker_json_close(&s->json, "]}}");
}

static void belongs_write(struct ker_schema *s, const struct ker_option *option, const char *scope)
{
    const char *belongs = option->belongs ? option->belongs : "";
    size_t length;
    for (const char *text; (text = ker_piece_next(&belongs, " & ", &length)) != NULL;) {
        char *condition = ker_format("%.*s", (int)length, text);
        if (in_scope(condition, scope) && first_with(s, condition) == option)
            rule_write(s, condition, scope);
        free(condition);
    }
}

/* ---- kinds that are brought ---- */

struct brought {
    const struct ker_kinds *family;
    const char *by; /* name of the kind that brings */
};

static void names_write(struct ker_schema *s, const char *name, const void *context)
{
    const struct brought *b = context;
    ker_json_open(&s->json, name, '{');
    ker_json_open(&s->json, "enum", '[');
    for (size_t i = 0; i < s->registry->members; i++) {
        const struct ker_member *m = &s->registry->member[i];
        if (m->family == b->family && (!m->of || ker_word_in(m->of, '|', b->by, strlen(b->by))))
            ker_json_text(&s->json, NULL, m->kind->name);
    }
    ker_json_close(&s->json, "]}");
}

/* The family whose kinds bring those of this one; NULL: none does. */
static const struct ker_kinds *bringing(const struct ker_schema *s, const struct ker_kinds *family)
{
    for (size_t i = 0; i < s->registry->members; i++)
        if (s->registry->member[i].family == family && s->registry->member[i].by)
            return s->registry->member[i].by;
    return NULL;
}

static void brought_write(struct ker_schema *s, const struct ker_option *option)
{
    const struct ker_kinds *by = option->kinds ? bringing(s, option->kinds) : NULL;
    for (size_t i = 0; by && i < s->registry->members; i++) {
        const struct ker_member *m = &s->registry->member[i];
        if (m->family != by)
            continue;
        char *condition = ker_format("%s=%s", by->key, m->kind->name);
        struct brought brought = {option->kinds, m->kind->name};
        ker_json_open(&s->json, NULL, '{');
        condition_write(s, "if", condition, "", 0);
        path_write(s, "then", option->key, false, names_write, &brought);
        ker_json_close(&s->json, "}");
        free(condition);
    }
}

/* Does anything in a scope belong to what is decided there? An empty allOf is no schema. */
static bool rules_any(const struct ker_schema *s, const char *scope)
{
    KER_EACH_OPTION (option, s->tables) {
        const char *belongs = option->belongs ? option->belongs : "";
        size_t length;
        if (strncmp(option->key, scope, strlen(scope)) != 0)
            continue;
        for (const char *text; (text = ker_piece_next(&belongs, " & ", &length)) != NULL;) {
            char *condition = ker_format("%.*s", (int)length, text);
            bool within = in_scope(condition, scope);
            free(condition);
            if (within)
                return true;
        }
    }
    return false;
}

void ker_schema_rules(struct ker_schema *s, const char *scope)
{
    if (*scope && !rules_any(s, scope))
        return;
    ker_json_open(&s->json, "allOf", '[');
    KER_EACH_OPTION (option, s->tables) {
        if (strncmp(option->key, scope, strlen(scope)) == 0)
            belongs_write(s, option, scope);
        if (!*scope && !strstr(option->key, "[]"))
            brought_write(s, option);
    }
    ker_json_close(&s->json, "]");
}
