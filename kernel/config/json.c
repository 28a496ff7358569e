/* json.c - JSON written piece by piece: a member a line, with commas between them. */
#include "kernel/config/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < ' ')
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

/* What is before a member. */
static void begin(struct ker_json *json, const char *key)
{
    if (json->depth)
        fprintf(json->out, "%s\n%*s", json->more ? "," : "", 2 * json->depth, "");
    if (key) {
        write_string(json->out, key);
        fputs(": ", json->out);
    }
    json->more = true;
}

void ker_json_open(struct ker_json *json, const char *key, char bracket)
{
    begin(json, key);
    fputc(bracket, json->out);
    json->depth++;
    json->more = false;
}

void ker_json_close(struct ker_json *json, const char *brackets)
{
    for (; *brackets; brackets++) {
        json->depth--;
        if (json->more)
            fprintf(json->out, "\n%*s", 2 * json->depth, "");
        fprintf(json->out, "%c%s", *brackets, json->depth ? "" : "\n");
        json->more = true;
    }
}

void ker_json_text(struct ker_json *json, const char *key, const char *text)
{
    begin(json, key);
    write_string(json->out, text);
}

void ker_json_bool(struct ker_json *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->out);
}

void ker_json_int(struct ker_json *json, const char *key, long long value)
{
    begin(json, key);
    fprintf(json->out, "%lld", value);
}

void ker_json_real(struct ker_json *json, const char *key, double value)
{
    begin(json, key);
    ker_real_print(json->out, value);
}

void ker_real_print(FILE *out, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}
