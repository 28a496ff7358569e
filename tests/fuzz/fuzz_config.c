/* The configuration's reader: the bytes once as a file and, their first line, once as an override. What is
 * taken must survive being written and read again. */
#include "kernel/config/config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ker_option options[] = {
    {"g.flag", KER_TYPE_BOOL, "true", NULL, NULL, NULL, "A flag."},
    {"g.int", KER_TYPE_INT, "3", "-5", "100000000000", NULL, "An integer."},
    {"g.real", KER_TYPE_REAL, "0.5", "-1", "1e10", NULL, "A number."},
    {"g.time", KER_TYPE_TIME, "1 ns", "1 ps", "1 s", NULL, "A time."},
    {"g.bytes", KER_TYPE_BYTES, "1 KiB", "1", "1 GiB", NULL, "A size."},
    {"g.rate", KER_TYPE_RATE, "1 GB/s", "1 B/s", NULL, NULL, "A rate."},
    {"g.text", KER_TYPE_STRING, "", NULL, NULL, NULL, "A text."},
    {"g.kind", KER_TYPE_CHOICE, "a", NULL, NULL, "a|bb|ccc", "A choice."},
    {"g.file", KER_TYPE_FILE, NULL, NULL, NULL, NULL, "A file.", "g.kind=bb|ccc & l"},
    {"l[].ints", KER_TYPE_INT | KER_TYPE_LIST, "1,2", NULL, NULL, NULL, "Integers."},
    {"l[].times", KER_TYPE_TIME | KER_TYPE_LIST, "", NULL, NULL, NULL, "Times.", "l[].ints"},
    {"l[].m[].texts", KER_TYPE_STRING | KER_TYPE_LIST, "x", NULL, NULL, NULL, "Texts.", "g.int!=3 or g.file"},
    {0},
};
static const struct ker_option *const tables[] = {options, NULL};

static void use(struct ker_config *config)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    ker_config_write(config, out);
    fclose(out);
    struct ker_config *again;
    struct ker_error error = {.status = KER_OK};
    if (ker_config_parse(&again, "/again.cfg", text, NULL, 0, tables, &error) != KER_OK) {
        fprintf(stderr, "%s\n%s\n", error.text, text);
        abort();
    }
    if (ker_config_int(config, "g.int") != ker_config_int(again, "g.int") ||
        ker_config_real(config, "g.real") != ker_config_real(again, "g.real") ||
        ker_config_time(config, "g.time") != ker_config_time(again, "g.time") ||
        ker_config_count(config, "l") != ker_config_count(again, "l") ||
        strcmp(ker_config_string(config, "g.text"), ker_config_string(again, "g.text")) != 0)
        abort();
    ker_config_free(again);
    free(text);
}

static void try(const char *text, const char *const *overrides, int count)
{
    struct ker_config *config;
    struct ker_error error = {.status = KER_OK};
    enum ker_status status = ker_config_parse(&config, "fuzz.cfg", text, overrides, count, tables, &error);
    if (status == KER_OK) {
        use(config);
        ker_config_free(config);
    } else if (status != KER_BAD_INPUT || error.text[0] == '\0') {
        abort(); /* refused without a word */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    try(text, NULL, 0);
    text[strcspn(text, "\n")] = '\0';
    try("g: { int = 7; kind = \"bb\"; file = \"x\"; }; l = ( { ints = [1, 2]; times = \"1 ns\"; m = ( { "
        "texts = \"y\"; } ); } );",
        (const char *const[]){text}, 1);
    free(text);
    return 0;
}
