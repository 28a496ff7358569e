/* fromjson.c - a configuration in JSON becomes the same in libconfig's language, before text.c looks at it.
 *
 * The two differ in little: the outermost braces go, names lose their quotes, escapes are written otherwise.
 * Everything else is copied, so that it is judged as in any configuration. Invariant: the copy has as many
 * lines as the text up to any point, so that messages name the right one.
 */
#include "kernel/config/json.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    FILE *out;
    const char *name, *at;
    struct ker_error *error;
    int line, depth;
};

#define refuse(r, ...) refuse_at((r), ker_format(__VA_ARGS__))

static bool refuse_at(const struct reader *r, char *text)
{
    ker_fail(r->error, KER_BAD_INPUT, "%s:%d: %s", r->name, r->line, text);
    free(text);
    return false;
}

static void space_copy(struct reader *r)
{
    for (; isspace((unsigned char)*r->at); r->at++) {
        r->line += *r->at == '\n';
        fputc(*r->at, r->out);
    }
}

/* One character of a string, as libconfig writes it. */
static void put_code(struct reader *r, uint32_t code)
{
    if (code == '"' || code == '\\')
        fprintf(r->out, "\\%c", (char)code);
    else if (code < ' ')
        fprintf(r->out, "\\x%02x", (unsigned)code);
    else if (code < 0x80)
        fputc((int)code, r->out);
    else if (code < 0x800)
        fprintf(r->out, "%c%c", (int)(0xc0 | code >> 6), (int)(0x80 | (code & 0x3f)));
    else if (code < 0x10000)
        fprintf(r->out, "%c%c%c", (int)(0xe0 | code >> 12), (int)(0x80 | (code >> 6 & 0x3f)),
                (int)(0x80 | (code & 0x3f)));
    else
        fprintf(r->out, "%c%c%c%c", (int)(0xf0 | code >> 18), (int)(0x80 | (code >> 12 & 0x3f)),
                (int)(0x80 | (code >> 6 & 0x3f)), (int)(0x80 | (code & 0x3f)));
}

/* The four digits at `at`; false: there are none. */
static bool hexadecimal(const char *at, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        if (!isxdigit((unsigned char)at[i]))
            return false;
        *code =
            *code << 4 | (uint32_t)(isdigit((unsigned char)at[i]) ? at[i] - '0' : (at[i] | 32) - 'a' + 10);
    }
    return true;
}

/* \uD83D\uDE00 is one character. */
static bool unicode_copy(struct reader *r)
{
    uint32_t code, low;
    if (!hexadecimal(r->at + 1, &code) || code == 0)
        return refuse(r, "\\u is followed by four hexadecimal digits, which are not all 0");
    r->at += 5;
    if ((code & 0xfc00) == 0xd800 && r->at[0] == '\\' && r->at[1] == 'u' && hexadecimal(r->at + 2, &low) &&
        (low & 0xfc00) == 0xdc00) {
        code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
        r->at += 6;
    }
    put_code(r, code);
    return true;
}

static bool escape_copy(struct reader *r)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    r->at++;
    if (*r->at == 'u')
        return unicode_copy(r);
    const char *letter = *r->at ? strchr(letters, *r->at) : NULL;
    if (!letter)
        return refuse(r, "\\%c has no meaning in a string", *r->at ? *r->at : ' ');
    put_code(r, (uint32_t)meant[letter - letters]);
    r->at++;
    return true;
}

static bool string_copy(struct reader *r)
{
    fputc('"', r->out);
    for (r->at++; *r->at && *r->at != '"' && *r->at != '\n';) {
        if (*r->at == '\\' && !escape_copy(r))
            return false;
        else if (*r->at && !strchr("\\\"\n", *r->at))
            fputc(*r->at++, r->out);
    }
    if (*r->at != '"')
        return refuse(r, "the string is not closed on its line");
    fputc('"', r->out);
    r->at++;
    return true;
}

static const char *string_end(const char *at)
{
    for (at++; *at && *at != '"' && *at != '\n'; at++)
        at += *at == '\\' && at[1] && at[1] != '\n';
    return at;
}

/* "$schema": "...", with its comma. */
static bool note_skip(struct reader *r, const char *name_end)
{
    r->at = name_end + 1;
    space_copy(r); /* as it may have line ends */
    r->at++;       /* the colon */
    space_copy(r);
    if (*r->at != '"')
        return refuse(r, "a member whose name begins with $ is a text in quotes");
    r->at = string_end(r->at);
    r->at += *r->at == '"';
    space_copy(r);
    r->at += *r->at == ',';
    return true;
}

/* A string: a name when a colon follows it. */
static bool quoted_copy(struct reader *r)
{
    const char *end = string_end(r->at), *colon = end + 1;
    colon += *end ? strspn(colon, " \t\r\n\v\f") : 0;
    if (*end != '"' || *colon != ':')
        return string_copy(r);
    if (r->at[1] == '$')
        return note_skip(r, end);
    size_t length = (size_t)(end - r->at - 1), good = 0;
    while (good < length && (isalnum((unsigned char)r->at[1 + good]) || strchr("_-*", r->at[1 + good])))
        good++;
    if (length == 0 || good < length || !isalpha((unsigned char)r->at[1]))
        return refuse(r, "\"%.*s\" is no key", length < 60 ? (int)length : 60, r->at + 1);
    fprintf(r->out, "%.*s", (int)length, r->at + 1);
    r->at = end + 1;
    return true;
}

static bool token_copy(struct reader *r)
{
    const char *open = strchr("{[", *r->at), *close = strchr("}]", *r->at);
    if (*r->at == '"')
        return quoted_copy(r);
    if (*r->at == '#' || *r->at == '/')
        return refuse(r, "JSON has no comments; a member \"$comment\" may hold one");
    if (*r->at == ';' || *r->at == '=' || *r->at == '(' || *r->at == ')')
        return refuse(r, "\"%c\" has no meaning in JSON, which the brace at the beginning says this is",
                      *r->at);
    if (strncmp(r->at, "null", 4) == 0 && !isalnum((unsigned char)r->at[4]))
        return refuse(r, "null is no value: leave the key out");
    r->depth += (open != NULL) - (close != NULL);
    if (r->depth == 0 && *r->at != '}')
        return refuse(r, "\"%c\" does not match the \"{\" at the beginning", *r->at);
    if (!(open && r->depth == 1) && !(close && r->depth == 0))
        fputc(*r->at, r->out);
    r->at++;
    return true;
}

static bool text_copy(struct reader *r)
{
    space_copy(r);
    do {
        if (!token_copy(r))
            return false;
        space_copy(r);
    } while (*r->at && r->depth > 0);
    if (r->depth > 0)
        return refuse(r, "the \"{\" at the beginning is never closed");
    return !*r->at || refuse(r, "behind the last \"}\" nothing may follow");
}

enum ker_status ker_json_plain(char **plain, const char *name, const char *text, struct ker_error *error)
{
    size_t bytes;
    const char *begin = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
    *plain = NULL;
    if (begin[strspn(begin, " \t\r\n")] != '{')
        return KER_OK;
    struct reader r = {.name = name, .at = begin, .error = error, .line = 1};
    r.out = open_memstream(plain, &bytes);
    ker_assert(r.out);
    bool good = text_copy(&r);
    fclose(r.out);
    if (good)
        return KER_OK;
    free(*plain);
    *plain = NULL;
    return KER_BAD_INPUT;
}
