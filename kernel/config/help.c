/* help.c - the configuration as resolved, and the reference of all keys.
 *
 * Both walk the tables, not the file. Tables are flat ("a.b", "a.c", "d[].e"); the resolved configuration
 * needs them as nested groups, so one level is printed by visiting all keys that begin with the level's
 * prefix, and opening each group at its first key. Invariant: what is written reads back as the same
 * configuration; defaults, and groups that were not given, are in comments.
 */
#define _GNU_SOURCE /* strcasestr */
#include "kernel/config/value.h"

#include "kernel/config/json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 100

struct writer {
    const struct ker_config *config;
    FILE *out;
};

static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", out);
        else if (c == '\t')
            fputs("\\t", out);
        else if (iscntrl(c))
            fprintf(out, "\\x%02x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

/* Files are written absolute: the configuration is written to another folder. */
static void write_file_name(FILE *out, const struct ker_config_node *node)
{
    char *absolute = *node->path ? realpath(node->path, NULL) : NULL;
    char *folder = absolute || !*node->path || node->path[0] == '/' ? NULL : realpath(".", NULL);
    char *guess = folder ? ker_format("%s/%s", folder, node->path) : NULL;
    write_string(out, absolute ? absolute : guess ? guess : node->path);
    free(absolute);
    free(folder);
    free(guess);
}

static void write_value(FILE *out, const struct ker_config_node *node)
{
    switch (node->kind) {
    case KER_NODE_BOOL:
        fputs(node->truth ? "true" : "false", out);
        break;
    case KER_NODE_INT:
        fprintf(out, "%lld", (long long)node->integer);
        break;
    case KER_NODE_REAL:
        ker_real_print(out, node->real);
        break;
    case KER_NODE_TEXT:
        if (node->path)
            write_file_name(out, node);
        else
            write_string(out, node->text);
        break;
    case KER_NODE_GROUP: /* not reached: options are values */
        break;
    case KER_NODE_LIST:
        fputs("[", out);
        for (int i = 0; i < node->count; i++) {
            fputs(i ? ", " : "", out);
            write_value(out, node->member[i]);
        }
        fputs("]", out);
        break;
    }
}

static bool is_quoted(const struct ker_option *option)
{
    return KER_TYPE_OF(option) >= KER_TYPE_TIME;
}

static void write_fallback(FILE *out, const struct ker_option *option)
{
    char *item;
    if (!KER_IS_LIST(option)) {
        const char *quote = is_quoted(option) ? "\"" : "";
        fputs(quote, out);
        fputs(option->fallback, out);
        fputs(quote, out);
        return;
    }
    fputs("[", out);
    for (int i = 0; (item = ker_config_list_item(option->fallback, i)) != NULL; i++) {
        fprintf(out, is_quoted(option) ? "%s\"%s\"" : "%s%s", i ? ", " : "", item);
        free(item);
    }
    fputs("]", out);
}

static void indent(const struct writer *writer, int depth, bool comment)
{
    while (depth-- > 0)
        fputs("    ", writer->out);
    if (comment)
        fputs("# ", writer->out);
}

static void write_option(const struct writer *writer, const struct ker_option *option, const char *name,
                         const struct ker_config_node *group, int depth)
{
    const struct ker_config_node *node = group ? ker_config_node_member(group, name, strlen(name)) : NULL;
    indent(writer, depth, !node);
    fputs(name, writer->out);
    if (node) {
        fputs(" = ", writer->out);
        write_value(writer->out, node);
        fputs(";\n", writer->out);
    } else if (option->fallback) {
        fputs(" = ", writer->out);
        write_fallback(writer->out, option);
        fputs("; default\n", writer->out);
    } else {
        fputs(": not given\n", writer->out);
    }
}

static void write_level(const struct writer *writer, const char *prefix, const struct ker_config_node *group,
                        int depth);

/* The keys below prefix + name, which is a group ("switch") or a list of groups ("jobs[]"). */
static void write_group(const struct writer *writer, const char *prefix, const char *name, bool list,
                        const struct ker_config_node *group, int depth)
{
    const struct ker_config_node *node = group ? ker_config_node_member(group, name, strlen(name)) : NULL;
    char *below = ker_format("%s%s%s.", prefix, name, list ? "[]" : "");
    indent(writer, depth, !node);
    fprintf(writer->out, "%s = %s%s\n", name, list ? "(" : "{", list && !node ? " );" : "");
    for (int i = 0; list && node && i < node->count; i++) {
        fprintf(writer->out, "%*s{\n", depth * 4 + 4, "");
        write_level(writer, below, node->member[i], depth + 2);
        fprintf(writer->out, "%*s}%s\n", depth * 4 + 4, "", i + 1 < node->count ? "," : "");
    }
    if (!list)
        write_level(writer, below, node, depth + 1);
    if (!list || node) {
        indent(writer, depth, !node);
        fputs(list ? ");\n" : "};\n", writer->out);
    }
    free(below);
}

static void write_level(const struct writer *writer, const char *prefix, const struct ker_config_node *group,
                        int depth)
{
    size_t length = strlen(prefix);
    for (ker_config_tables table = writer->config->tables; *table; table++)
        for (const struct ker_option *option = *table; option->key; option++) {
            if (strncmp(option->key, prefix, length) != 0)
                continue;
            const char *rest = option->key + length;
            size_t word = strcspn(rest, ".[");
            /* another key of the same group, as most are: it is not the first */
            bool behind = option != *table && strncmp(option[-1].key, option->key, length + word + 1) == 0;
            if (!rest[word]) {
                write_option(writer, option, rest, group, depth);
            } else if (!behind && ker_config_is_first(writer->config->tables, option->key, length + word)) {
                char *name = ker_format("%.*s", (int)word, rest);
                write_group(writer, prefix, name, rest[word] == '[', group, depth);
                free(name);
            }
        }
}

void ker_config_write(const struct ker_config *config, FILE *out)
{
    struct writer writer = {config, out};
    fputs("# The configuration as it ran; what was not given is in comments.\n", out);
    write_level(&writer, "", config->root, 0);
}

/* Words of the text, wrapped at WIDTH with `margin` spaces before each line. */
static void print_wrapped(FILE *out, const char *text, int margin)
{
    int column = 0;
    while (*text) {
        int word = (int)strcspn(text, " \n");
        if (column && column + 1 + word > WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        column += fprintf(out, "%*s%.*s", column ? 1 : margin, "", word, text);
        text += word;
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

static void print_type(const struct ker_option *option, char *buffer, size_t bytes)
{
    static const char *const names[][2] = {
        [KER_TYPE_BOOL] = {"true or false", "list of true or false"},
        [KER_TYPE_INT] = {"whole number", "list of whole numbers"},
        [KER_TYPE_REAL] = {"number", "list of numbers"},
        [KER_TYPE_TIME] = {"time", "list of times"},
        [KER_TYPE_BYTES] = {"size", "list of sizes"},
        [KER_TYPE_RATE] = {"rate", "list of rates"},
        [KER_TYPE_STRING] = {"text", "list of texts"},
        [KER_TYPE_CHOICE] = {"one of", "list of"},
        [KER_TYPE_FILE] = {"file name", "list of file names"},
    };
    size_t at = (size_t)snprintf(buffer, bytes, "%s", names[KER_TYPE_OF(option)][KER_IS_LIST(option)]);
    for (const char *c = option->choices ? option->choices : ""; *c; c += *c == '|') {
        int word = (int)strcspn(c, "|");
        if (at < bytes)
            at += (size_t)snprintf(buffer + at, bytes - at, "%s %.*s", c == option->choices ? "" : ",", word,
                                   c);
        c += word;
    }
}

static void print_option(const struct ker_option *option, FILE *out)
{
    char type[512], range[200];
    print_type(option, type, sizeof type);
    ker_config_range_print(option, range, sizeof range);
    char *only = ker_config_belongs_words(option);
    char *facts =
        ker_format("%s: %s%s%s; %s%s%s%s%s%s", option->key, type, *range ? ", " : "", range,
                   option->fallback ? "default " : "no default",
                   !option->fallback   ? ""
                   : *option->fallback ? option->fallback
                                       : "empty",
                   only, option->formerly ? "; formerly " : "", option->formerly ? option->formerly : "",
                   option->resume == KER_RESUME_FORK ? "; --resume may change it" : "");
    fputs("  ", out);
    print_wrapped(out, facts, 0);
    print_wrapped(out, option->meaning ? option->meaning : "", 6);
    free(facts);
    free(only);
}

static bool same_group(const char *a, const char *b)
{
    size_t length = strcspn(a, ".[");
    return strcspn(b, ".[") == length && strncmp(a, b, length) == 0;
}

/* The first key of the group of `key`, over all tables. */
static const char *first_of_group(ker_config_tables tables, const char *key)
{
    for (; *tables; tables++)
        for (const struct ker_option *option = *tables; option->key; option++)
            if (same_group(option->key, key))
                return option->key;
    return key;
}

static void print_group(ker_config_tables tables, const char *first, FILE *out)
{
    fprintf(out, "%.*s\n", (int)strcspn(first, ".["), first);
    for (; *tables; tables++)
        for (const struct ker_option *option = *tables; option->key; option++)
            if (same_group(option->key, first))
                print_option(option, out);
    fputc('\n', out);
}

void ker_config_help(const struct ker_option *const *tables, FILE *out)
{
    ker_config_tables_check(tables, true);
    KER_EACH_OPTION (option, tables)
        if (first_of_group(tables, option->key) == option->key)
            print_group(tables, option->key, out);
}

/* 0: the word is a group or key, 1: a part of a key, 2: of a meaning, 3: it is not there. */
static int how_found(const struct ker_option *option, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(option->key, word, length) == 0 &&
        (!option->key[length] || strchr(".[", option->key[length])))
        return 0;
    if (strcasestr(option->key, word))
        return 1;
    return option->meaning && strcasestr(option->meaning, word) ? 2 : 3;
}

enum ker_status ker_config_help_word(const struct ker_option *const *tables, const char *word, FILE *out,
                                     struct ker_error *error)
{
    bool found = false;
    for (int how = 0; how < 3 && !(how == 1 && found);
         how++) /* of this name alone; else also what has the word */
        KER_EACH_OPTION (option, tables) {
            if (how_found(option, word) != how)
                continue;
            print_option(option, out);
            found = true;
        }
    if (found)
        return KER_OK;
    char *near = ker_config_key_near(tables, word);
    ker_fail(error, KER_BAD_INPUT,
             "command line: --help-config %.60s: no group, key or meaning has this word%s%s%s", word,
             near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    free(near);
    return KER_BAD_INPUT;
}

char *ker_config_key_near(const struct ker_option *const *tables, const char *word)
{
    return ker_config_nearest(tables, word);
}
