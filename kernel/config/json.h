/* json.h - JSON, written piece by piece; and read: the same configuration as in libconfig's language. Inside
 * kernel/ only. */
#pragma once

#include "kernel/config/text.h"

#include <stdbool.h>
#include <stdio.h>

struct ker_json {
    FILE *out;
    int depth;
    bool more; /* something is before the next member */
};

/* A member of an object has a key, one of an array NULL. */
void ker_json_open(struct ker_json *, const char *key, char bracket); /* '{' or '[' */
void ker_json_close(struct ker_json *, const char *brackets);         /* '}' or ']' of each that ends here */
void ker_json_text(struct ker_json *, const char *key, const char *text);
void ker_json_bool(struct ker_json *, const char *key, bool);
void ker_json_int(struct ker_json *, const char *key, long long);
void ker_json_real(struct ker_json *, const char *key, double);
/* Enough digits to read the same bits; a point or exponent, so that it stays no integer. */
void ker_real_print(FILE *out, double value);

/* A configuration written in JSON, that is, one that begins with a brace, as libconfig has it, on the same
 * lines: malloc'ed. Members whose names begin with "$" ("$schema", "$comment") are left out. *plain is NULL
 * when the text is no JSON. `name` is in messages. */
enum ker_status ker_json_plain(char **plain, const char *name, const char *text, struct ker_error *error);
