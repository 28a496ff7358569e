/* belongs.c - the one rule for keys that mean something only together with a choice of another key.
 *
 * struct ker_option.belongs says which: conditions joined by " & ", all of which must hold; a condition is
 * terms joined by " or ", one of which must. A term is KEY (given at all), KEY=a|b (has one of these values,
 * given or by default) or KEY!=a|b (has a value, and none of these). It holds only where KEY itself means
 * something, so that what belongs to a key that is not looked at is not looked at either. A "[]" in KEY
 * stands for the index of the key that belongs.
 *
 * A key given where its condition does not hold is refused, since the user believes that it acts. Only where
 * the command line overrides a choice of the file, as a series of runs does, the keys that went with the old
 * choice are a warning each.
 */
#include "kernel/config/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 8 /* of keys that belong to keys that belong ... */

/* The condition that does not hold. */
struct lack {
    char *condition, *path; /* as written; of the key that has it */
    bool overridden;        /* by the command line */
};

/* A key that is left out: a member of its group. */
struct left_out {
    struct ker_config_node *group, *member;
};

struct check {
    struct ker_config *config;
    struct ker_error *error;
    struct left_out *out;
    size_t outs;
    char **absent; /* keys that were said to be missing: once is enough */
    size_t absents;
};

/* Does the key have a value as the term wants it? What cannot be read is refused elsewhere and counts as
 * right. */
static bool term_value_holds(const struct ker_term *term, const struct ker_option *option,
                             const struct ker_config_node *node)
{
    struct ker_config_value value;
    char why[KER_WHY_BYTES];
    if (!option) /* a list of groups */
        return node && node->count > 0;
    if (term->kind == KER_TERM_GIVEN)
        return node != NULL;
    if (node ? !ker_config_value_read(option, node, &value, why) : !option->fallback)
        return node != NULL;
    if (!node)
        ker_config_value_parse(option, option->fallback, &value, why);
    return ker_term_lists(term, option, &value) == (term->kind == KER_TERM_IS);
}

static bool conditions_hold(const struct ker_config *config, const char *conditions, const char *path,
                            int depth, struct lack *lack);

static void lack_release(struct lack *lack)
{
    free(lack->condition);
    free(lack->path);
    *lack = (struct lack){0};
}

static bool term_holds(const struct ker_config *config, const struct ker_term *term, const char *path,
                       int depth, struct lack *lack)
{
    if (ker_config_place_find(config->tables, term->key) == KER_PLACE_UNKNOWN)
        return true; /* a part of the tables only, as tests load it */
    char *key = ker_config_with_indices(term->key, path);
    const struct ker_option *option = ker_config_option_find(config->tables, term->key);
    const struct ker_config_node *node = ker_config_tree_find(config->root, key, NULL);
    bool holds = term_value_holds(term, option, node);
    if (!holds)
        lack->overridden = node && !node->origin.file;
    else if (option && option->belongs)
        holds = conditions_hold(config, option->belongs, key, depth + 1, lack);
    free(key);
    return holds;
}

/* One of its terms holds. Of a single term that fails further on, the reason there is reported. */
static bool condition_holds(const struct ker_config *config, const char *condition, const char *path,
                            int depth, struct lack *lack)
{
    const char *at = condition;
    bool overridden = false;
    size_t length;
    *lack = (struct lack){0};
    for (const char *text; (text = ker_piece_next(&at, " or ", &length)) != NULL;) {
        struct ker_term term;
        lack_release(lack);
        ker_term_read(&term, text, length);
        if (term_holds(config, &term, path, depth, lack)) {
            lack_release(lack);
            return true;
        }
        overridden |= lack->overridden;
    }
    if (lack->condition && !strstr(condition, " or "))
        return false;
    lack_release(lack);
    *lack = (struct lack){ker_format("%s", condition), ker_format("%s", path), overridden};
    return false;
}

/* All conditions hold. Of those that do not, one that the command line has no part in is reported first. */
static bool conditions_hold(const struct ker_config *config, const char *conditions, const char *path,
                            int depth, struct lack *lack)
{
    const char *at = conditions;
    size_t length;
    ker_assert(depth < MAX_DEPTH);
    *lack = (struct lack){0};
    for (const char *text; (text = ker_piece_next(&at, " & ", &length)) != NULL;) {
        char *condition = ker_format("%.*s", (int)length, text);
        struct lack found;
        bool holds = condition_holds(config, condition, path, depth, &found);
        free(condition);
        if (holds)
            continue;
        bool first = !lack->condition || (lack->overridden && !found.overridden);
        lack_release(first ? lack : &found);
        if (first)
            *lack = found;
    }
    return !lack->condition;
}

bool ker_config_means(const struct ker_config *config, const struct ker_option *option, const char *path)
{
    struct lack lack = {0};
    bool means = !option->belongs || conditions_hold(config, option->belongs, path, 0, &lack);
    lack_release(&lack);
    return means;
}

/* ---- words ---- */

/* "a|b|c" as "a", "b" or "c", in quotes where the option's values are texts. */
static void print_values(FILE *out, const struct ker_option *option, const char *values, size_t length)
{
    const char *quote = KER_TYPE_OF(option) >= KER_TYPE_TIME ? "\"" : "";
    for (size_t at = 0; at < length;) {
        size_t word = strcspn(values + at, "|");
        word = word < length - at ? word : length - at;
        bool last = at + word == length;
        fprintf(out, "%s%s%.*s%s", at == 0 ? "" : last ? " or " : ", ", quote, (int)word, values + at, quote);
        at += word + 1;
    }
}

static void print_now(FILE *out, const struct ker_option *option, const struct ker_config_node *node)
{
    if (!node)
        print_values(out, option, option->fallback, strlen(option->fallback));
    else if (node->kind == KER_NODE_TEXT)
        fprintf(out, KER_TYPE_OF(option) >= KER_TYPE_TIME ? "\"%s\"" : "%s", node->text);
    else if (node->kind == KER_NODE_BOOL)
        fputs(node->truth ? "true" : "false", out);
    else if (node->kind == KER_NODE_INT)
        fprintf(out, "%lld", (long long)node->integer);
    else
        fprintf(out, "%g", node->real);
    if (!node)
        fputs(" (the default)", out);
}

/* One term that does not hold: what the other key is now. */
static void print_lacking_term(FILE *out, const struct ker_config *config, const struct ker_term *term,
                               const char *path)
{
    char *key = ker_config_with_indices(term->key, path);
    const struct ker_option *option = ker_config_option_find(config->tables, term->key);
    const struct ker_config_node *node = ker_config_tree_find(config->root, key, NULL);
    bool value = option && (node || option->fallback) && term->kind != KER_TERM_GIVEN;
    ker_assert(option || term->kind == KER_TERM_GIVEN); /* a list of groups has no value */
    fprintf(out, "means nothing %s %s", value ? "with" : "without", key);
    if (value) {
        fputs(" = ", out);
        print_now(out, option, node);
    }
    if (term->kind == KER_TERM_IS) {
        if (value)
            fputs("; it is for ", out);
        if (value && KER_TYPE_OF(option) != KER_TYPE_CHOICE)
            fputs(key, out);
        if (!value || KER_TYPE_OF(option) != KER_TYPE_CHOICE)
            fputs(" = ", out);
        print_values(out, option, term->values, term->length);
    }
    free(key);
}

static void print_lacking(FILE *out, const struct ker_config *config, const struct lack *lack)
{
    const char *at = lack->condition;
    size_t length;
    for (const char *text; (text = ker_piece_next(&at, " or ", &length)) != NULL;) {
        struct ker_term term;
        ker_term_read(&term, text, length);
        if (length == strlen(lack->condition)) {
            print_lacking_term(out, config, &term, lack->path);
            return;
        }
        char *key = ker_config_with_indices(term.key, lack->path);
        fprintf(out, "%s %s", text == lack->condition ? "means nothing without" : " or", key);
        if (term.kind != KER_TERM_GIVEN) {
            fputs(term.kind == KER_TERM_IS ? " = " : " other than ", out);
            print_values(out, ker_config_option_find(config->tables, term.key), term.values, term.length);
        }
        free(key);
    }
}

static char *lacking_words(const struct ker_config *config, const struct lack *lack)
{
    char *words = NULL;
    size_t bytes;
    FILE *out = open_memstream(&words, &bytes);
    ker_assert(out);
    print_lacking(out, config, lack);
    fclose(out);
    return words;
}

/* ---- all keys that are given ---- */

void ker_config_warn_once(struct ker_config *config, const char *key, char *text)
{
    for (int i = 0; i < config->warnings; i++)
        if (strcmp(config->warning[i].key, key) == 0) {
            free(text);
            return;
        }
    *KER_APPEND(config->warning, config->warnings) = (struct ker_config_warning){key, text};
}

static void leave_out(struct check *check, const struct ker_option *option, struct left_out out,
                      const char *path, const char *words)
{
    struct ker_config_origin at = out.member->origin;
    ker_config_warn_once(check->config, option->key,
                         ker_format("%s:%d: %s: is left out: it %s, as the command line has it", at.file,
                                    at.line, path, words));
    *KER_APPEND(check->out, check->outs) = out;
}

/* Has it been said before that the key which the condition begins with is not given? */
static bool said_before(struct check *check, const struct lack *lack)
{
    struct ker_term term;
    ker_term_read(&term, lack->condition, strcspn(lack->condition, " "));
    char *key = ker_config_with_indices(term.key, lack->path);
    const struct ker_option *option = ker_config_option_find(check->config->tables, term.key);
    bool absent = !ker_config_tree_find(check->config->root, key, NULL) && !(option && option->fallback),
         found = false;
    for (size_t i = 0; i < check->absents; i++)
        found |= strcmp(check->absent[i], key) == 0;
    if (!absent || found) {
        free(key);
        return found;
    }
    *KER_APPEND(check->absent, check->absents) = key;
    return false;
}

static void check_option(struct check *check, const struct ker_option *option, struct left_out out,
                         const char *path)
{
    struct lack lack = {0};
    struct ker_error one = {.status = KER_OK};
    if (!option->belongs || conditions_hold(check->config, option->belongs, path, 0, &lack))
        return;
    char *words = lacking_words(check->config, &lack);
    if (out.member->origin.file && lack.overridden) {
        leave_out(check, option, out, path, words);
    } else if (!said_before(check, &lack)) {
        ker_config_refuse(&one, out.member->origin, path, "%s; %s", words,
                          strstr(words, "without") ? "give that, too, or remove this" : "remove it");
        ker_error_add(check->error, &one);
    }
    free(words);
    lack_release(&lack);
}

static void check_members(struct check *check, struct ker_config_node *node, const char *path)
{
    for (int i = 0; i < node->count; i++) {
        char *inner = ker_config_member_path(path, node, i), *pattern = ker_config_pattern(inner);
        const struct ker_option *option = ker_config_option_find(check->config->tables, pattern);
        if (option)
            check_option(check, option, (struct left_out){node, node->member[i]}, inner);
        else if (node->member[i]->kind == KER_NODE_GROUP || node->member[i]->kind == KER_NODE_LIST)
            check_members(check, node->member[i], inner);
        free(pattern);
        free(inner);
    }
}

/* Nothing is taken out before all is checked: other keys may belong to it. */
void ker_config_belongs_check(struct ker_config *config, struct ker_error *error)
{
    struct check check = {.config = config, .error = error};
    check_members(&check, config->root, "");
    for (size_t i = 0; i < check.outs; i++)
        ker_config_node_remove(check.out[i].group, check.out[i].member);
    free(check.out);
    ker_free_all(check.absent, check.absents);
}

/* ---- the tables ---- */

/* What is wrong with a term. */
static const char *term_check(ker_config_tables tables, bool all, const char *text, size_t length)
{
    struct ker_term term;
    struct ker_config_value value;
    char why[KER_WHY_BYTES], *list;
    const char *at;
    bool good = true;
    ker_term_read(&term, text, length);
    const struct ker_option *option = ker_config_option_find(tables, term.key);
    if (!option || term.kind == KER_TERM_GIVEN)
        return option || !all || ker_config_place_find(tables, term.key) == KER_PLACE_GROUPS
                   ? NULL
                   : "names no key of the tables";
    at = list = ker_format("%.*s", (int)term.length, term.values);
    for (const char *word; (word = ker_piece_next(&at, "|", &length)) != NULL;) {
        char *one = ker_format("%.*s", (int)length, word);
        good = good && ker_config_value_parse(option, one, &value, why);
        free(one);
    }
    free(list);
    return good && !KER_IS_LIST(option) ? NULL : "names no value of that key";
}

const char *ker_config_belongs_wrong(ker_config_tables tables, bool all, const struct ker_option *option)
{
    const char *at = option->belongs ? option->belongs : "", *wrong = NULL;
    size_t length, term;
    for (const char *text; !wrong && (text = ker_piece_next(&at, " & ", &length)) != NULL;) {
        char *condition = ker_format("%.*s", (int)length, text);
        const char *inner = condition;
        for (const char *one; !wrong && (one = ker_piece_next(&inner, " or ", &term)) != NULL;)
            wrong = term_check(tables, all, one, term);
        free(condition);
    }
    return wrong;
}

char *ker_config_belongs_words(const struct ker_option *option)
{
    static const struct {
        const char *sign, *words;
    } signs[] = {{" & ", " and "}, {"!=", " other than "}, {"=", " = "}, {"|", ", "}};
    const char *text = option->belongs ? option->belongs : "";
    char *words = NULL;
    size_t bytes;
    FILE *out = open_memstream(&words, &bytes);
    ker_assert(out);
    fputs(*text ? "; only with " : "", out);
    while (*text) {
        size_t i = 0, count = sizeof signs / sizeof *signs;
        while (i < count && strncmp(text, signs[i].sign, strlen(signs[i].sign)) != 0)
            i++;
        if (i < count)
            fputs(signs[i].words, out);
        else
            fputc(*text, out);
        text += i < count ? strlen(signs[i].sign) : 1;
    }
    fclose(out);
    return words;
}
