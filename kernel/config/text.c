/* text.c - one pass over the text before libconfig sees it.
 *
 * libconfig 1.5 (Debian 12) cuts integers to 32 bits without a word unless they carry an L, ends the program
 * when an included file is a directory, and answers most mistakes with "syntax error". So the text is copied
 * token by token: integers get their L (one beyond 64 bits is refused), [ ] becomes ( ) so that [1, 0.5] is a
 * list like any other, included files are put in place, and strings, comments and brackets that are not
 * closed are reported here.
 *
 * Invariant: every line of the copy has an entry in `origin` that says which file and line it came from.
 */
#include "kernel/config/text.h"

#include "kernel/config/json.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_BYTES ((size_t)64 << 20)
#define READ_BYTES ((size_t)16 << 10) /* at a time */
#define MAX_INCLUDES 10
#define MAX_NESTING 32

struct bracket {
    char kind;
    struct ker_config_origin at;
};

struct scanner {
    struct ker_config_text *out;
    struct ker_error *error;
    const char *at;
    struct ker_config_origin here;
    struct bracket *bracket; /* shared by a file and its includes */
    int *open;
    int depth; /* of includes */
};

static enum ker_status scan(struct scanner *s, const char *text);

#define refuse(s, ...) refuse_at((s)->error, (s)->here, __VA_ARGS__)

__attribute__((format(printf, 3, 4))) static enum ker_status
refuse_at(struct ker_error *error, struct ker_config_origin at, const char *format, ...)
{
    char text[1024];
    KER_FORMATTED(text, format);
    return ker_fail(error, KER_BAD_INPUT, "%s:%d: %s", at.file, at.line, text);
}

static void put_line(struct ker_config_text *out, struct ker_config_origin origin)
{
    *KER_PUSH(out->origin, out->lines, out->line_room) = origin;
}

static void put(struct scanner *s, char c)
{
    struct ker_config_text *out = s->out;
    KER_RESERVE(out->text, out->room, out->length + 2);
    out->text[out->length++] = c;
    out->text[out->length] = '\0';
    if (c == '\n')
        put_line(out, s->here);
}

/* Copies one character of the source. */
static void copy(struct scanner *s)
{
    char c = *s->at++;
    s->here.line += c == '\n';
    put(s, c);
}

static enum ker_status copy_string(struct scanner *s)
{
    struct ker_config_origin begin = s->here;
    copy(s);
    while (*s->at && *s->at != '"') {
        if (*s->at == '\\' && s->at[1])
            copy(s);
        copy(s);
    }
    if (!*s->at)
        return refuse_at(s->error, begin, "the string that begins here is never closed");
    copy(s);
    return KER_OK;
}

/* Comments are left out, their line ends stay. */
static enum ker_status skip_comment(struct scanner *s)
{
    struct ker_config_origin begin = s->here;
    if (s->at[0] == '#' || s->at[1] == '/') {
        while (*s->at && *s->at != '\n')
            s->at++;
        return KER_OK;
    }
    for (s->at += 2; *s->at && !(s->at[0] == '*' && s->at[1] == '/'); s->at++)
        if (*s->at == '\n') {
            s->here.line++;
            put(s, '\n');
        }
    if (!*s->at)
        return refuse_at(s->error, begin, "the comment that begins here is never closed");
    s->at += 2;
    put(s, ' ');
    return KER_OK;
}

/* Length of the integer at text, 0 when it is a floating-point number or no number. */
static size_t integer_length(const char *text, bool *hexadecimal)
{
    size_t sign = *text == '-' || *text == '+', length = sign;
    *hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && isxdigit((unsigned char)text[2]);
    if (*hexadecimal) {
        for (length = 2; isxdigit((unsigned char)text[length]);)
            length++;
        return length;
    }
    while (isdigit((unsigned char)text[length]))
        length++;
    const char *behind = text + length;
    size_t e = behind[0] == 'e' || behind[0] == 'E';
    size_t signs = e && (behind[1] == '-' || behind[1] == '+');
    if (length == sign || *behind == '.' || (e && isdigit((unsigned char)behind[1 + signs])))
        return 0;
    return length;
}

/* A word behind a number is a unit, unless it is the name of the next setting. The length of both together,
 * 0: none. */
static size_t unit_length(const char *text)
{
    char *end;
    strtod(text, &end);
    const char *word = end + strspn(end, " \t");
    if (end == text || !isalpha((unsigned char)*word) || (*word == 'L' && !isalpha((unsigned char)word[1])))
        return 0;
    const char *stop = word;
    while (isalnum((unsigned char)*stop) || (*stop && strchr("/_-", *stop)))
        stop++;
    const char *behind = stop + strspn(stop, " \t\r\n");
    return *behind && strchr("=:", *behind) ? 0 : (size_t)(stop - text);
}

static enum ker_status copy_number(struct scanner *s)
{
    bool hexadecimal;
    size_t length = unit_length(s->at);
    if (length)
        return refuse(s, "%.*s: a value with a unit is in quotes: \"%.*s\"", length < 60 ? (int)length : 60,
                      s->at, length < 60 ? (int)length : 60, s->at);
    length = integer_length(s->at, &hexadecimal);
    if (!length) { /* copied up to its end, so that its digits are not taken for integers */
        copy(s);
        while (isalnum((unsigned char)*s->at) || *s->at == '.' ||
               ((*s->at == '-' || *s->at == '+') && (s->at[-1] == 'e' || s->at[-1] == 'E')))
            copy(s);
        return KER_OK;
    }
    errno = 0;
    if (hexadecimal ? strtoull(s->at, NULL, 16) > INT64_MAX : (strtoll(s->at, NULL, 10), errno == ERANGE))
        return refuse(s, "%.*s does not fit in 64 bits", length < 60 ? (int)length : 60, s->at);
    for (size_t i = 0; i < length; i++)
        copy(s);
    while (*s->at == 'L')
        s->at++;
    put(s, 'L');
    return KER_OK;
}

static enum ker_status copy_bracket(struct scanner *s)
{
    static const char opening[] = "{([", closing[] = "})]";
    const char *open = strchr(opening, *s->at), *close = strchr(closing, *s->at);
    if (open && *s->open == MAX_NESTING)
        return refuse(s, "brackets are nested deeper than %d", MAX_NESTING);
    if (open) {
        s->bracket[(*s->open)++] = (struct bracket){*s->at, s->here};
    } else {
        if (*s->open == 0)
            return refuse(s, "\"%c\" closes nothing", *s->at);
        const struct bracket *last = &s->bracket[--*s->open];
        if (last->kind != opening[close - closing])
            return refuse(s, "\"%c\" does not match the \"%c\" of %s:%d", *s->at, last->kind, last->at.file,
                          last->at.line);
    }
    put(s, *s->at == '[' ? '(' : *s->at == ']' ? ')' : *s->at);
    s->at++;
    return KER_OK;
}

/* Adds a file name for origins to point at. */
static const char *name_file(struct ker_config_text *text, char *name)
{
    *KER_APPEND(text->file, text->files) = name;
    return name;
}

char *ker_config_path_join(const char *base, const char *path)
{
    const char *slash = strrchr(base, '/');
    if (!slash || path[0] == '/' || path[0] == '\0')
        return ker_format("%s", path);
    return ker_format("%.*s%s", (int)(slash - base + 1), base, path);
}

static enum ker_status open_file(FILE **file, const char *path, bool regular, struct ker_error *error)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return ker_fail(error, KER_BAD_INPUT, "%s: is a directory; a configuration file is expected", path);
    if (regular && stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return ker_fail(error, KER_BAD_INPUT, "%s: is no regular file", path);
    *file = fopen(path, "r");
    if (!*file && strncmp(path, "/dev/fd/", 8) == 0)
        return ker_fail(
            error, KER_BAD_INPUT,
            "%s: cannot be read: %s; a process substitution does not pass through mpirun: give a file, or "
            "/dev/stdin",
            path, strerror(errno));
    if (!*file && strcmp(path, "-") == 0)
        return ker_fail(error, KER_BAD_INPUT, "-: is no file; standard input is read by the name /dev/stdin");
    if (!*file)
        return *path
                   ? ker_fail(error, KER_BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno))
                   : ker_fail(error, KER_BAD_INPUT, "command line: the configuration file has an empty name");
    return KER_OK;
}

/* The whole file as a string, malloc'ed. */
static enum ker_status read_file(char **text, const char *path, bool regular, struct ker_error *error)
{
    FILE *file = NULL;
    size_t length = 0, room = 0;
    char *bytes = NULL;
    *text = NULL;
    if (open_file(&file, path, regular, error) || !file)
        return KER_BAD_INPUT;
    for (size_t got = 1; got > 0 && length <= MAX_BYTES; length += got) {
        KER_RESERVE(bytes, room, length + READ_BYTES + 1);
        got = fread(bytes + length, 1, READ_BYTES, file);
    }
    bytes[length] = '\0';
    bool failed = ferror(file);
    fclose(file);
    if (failed)
        ker_fail(error, KER_BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    else if (length > MAX_BYTES)
        ker_fail(error, KER_BAD_INPUT, "%s: larger than 64 MiB; a configuration file is expected", path);
    else if (memchr(bytes, '\0', length))
        ker_fail(error, KER_BAD_INPUT, "%s: holds a zero byte; a text file is expected", path);
    else {
        *text = bytes;
        return KER_OK;
    }
    free(bytes);
    return KER_BAD_INPUT;
}

/* The path of "@include "path"", malloc'ed; NULL when it is written wrong. */
static char *include_path(struct scanner *s)
{
    s->at += strlen("@include");
    s->at += strspn(s->at, " \t");
    size_t length = *s->at == '"' ? strcspn(s->at + 1, "\"\n") : 0;
    if (!length || s->at[1 + length] != '"')
        return NULL;
    char *path = ker_format("%.*s", (int)length, s->at + 1);
    s->at += length + 2;
    return path;
}

static enum ker_status include(struct scanner *s)
{
    char *path = include_path(s), *text;
    if (!path)
        return refuse(s, "a file name in quotes is expected, as in @include \"node.cfg\"");
    struct ker_error inner = {.status = KER_OK};
    struct scanner next = *s;
    next.here = (struct ker_config_origin){name_file(s->out, ker_config_path_join(s->here.file, path)), 1};
    next.depth++;
    free(path);
    if (next.depth > MAX_INCLUDES)
        return refuse(s, "files include each other more than %d deep", MAX_INCLUDES);
    if (read_file(&text, next.here.file, true, &inner))
        return refuse(s, "included file %s", inner.text);
    put(&next, '\n');
    enum ker_status status = scan(&next, text);
    free(text);
    put(s, '\n');
    return status;
}

static void copy_word(struct scanner *s)
{
    while (isalnum((unsigned char)*s->at) || (*s->at && strchr("-_*", *s->at)))
        copy(s);
}

static enum ker_status scan_token(struct scanner *s)
{
    char c = *s->at;
    if (c == '"')
        return copy_string(s);
    if (c == '#' || (c == '/' && (s->at[1] == '/' || s->at[1] == '*')))
        return skip_comment(s);
    if (strchr("{}()[]", c))
        return copy_bracket(s);
    if (strncmp(s->at, "@include", 8) == 0)
        return include(s);
    if (isalpha((unsigned char)c) || c == '*')
        copy_word(s);
    else if (isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.')
        return copy_number(s);
    else if (c == '\r')
        s->at++;
    else if (isspace((unsigned char)c) || strchr("=:;,", c))
        copy(s);
    else
        return refuse(
            s, isprint((unsigned char)c) ? "\"%c\" has no meaning here" : "byte 0x%02x has no meaning here",
            (unsigned char)c);
    return KER_OK;
}

static enum ker_status scan_tokens(struct scanner *s)
{
    if (strncmp(s->at, "\xef\xbb\xbf", 3) == 0) /* byte order mark */
        s->at += 3;
    while (*s->at) {
        if (s->out->length > MAX_BYTES)
            return refuse(s, "with all it includes, the configuration is larger than 64 MiB");
        if (scan_token(s))
            return KER_BAD_INPUT;
    }
    return KER_OK;
}

static enum ker_status scan(struct scanner *s, const char *text)
{
    char *plain;
    enum ker_status status = ker_json_plain(&plain, s->here.file, text, s->error);
    s->at = plain ? plain : text;
    status = status ?: scan_tokens(s);
    free(plain);
    return status;
}

enum ker_status ker_config_text_parse(struct ker_config_text *out, const char *name, const char *text,
                                      struct ker_error *error)
{
    struct bracket bracket[MAX_NESTING];
    int open = 0;
    memset(out, 0, sizeof *out);
    struct scanner s = {.out = out, .error = error, .bracket = bracket, .open = &open};
    s.here = (struct ker_config_origin){name_file(out, ker_format("%s", name)), 1};
    put_line(out, s.here);
    put(&s, ' '); /* so that there is a text, however empty the file */
    enum ker_status status = scan(&s, text);
    if (!status && open)
        status = refuse_at(error, bracket[open - 1].at, "the \"%c\" that opens here is never closed",
                           bracket[open - 1].kind);
    return status;
}

enum ker_status ker_config_text_read(char **text, const char *path, struct ker_error *error)
{
    return read_file(text, path, false, error);
}

enum ker_status ker_config_text_load(struct ker_config_text *out, const char *path, struct ker_error *error)
{
    char *text;
    memset(out, 0, sizeof *out);
    if (read_file(&text, path, false, error))
        return KER_BAD_INPUT;
    enum ker_status status = ker_config_text_parse(out, path, text, error);
    free(text);
    return status;
}

void ker_config_text_release(struct ker_config_text *text)
{
    ker_free_all(text->file, text->files);
    free(text->origin);
    free(text->text);
    memset(text, 0, sizeof *text);
}

struct ker_config_origin ker_config_text_origin(const struct ker_config_text *text, unsigned line)
{
    size_t index = line > 0 ? line - 1 : 0;
    return text->origin[index < text->lines ? index : text->lines - 1];
}
