/* config_bench.h - a table of options, and configurations for it, for the tests of kernel/config/. */
#pragma once

#include "kernel/config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct ker_option switch_options[] = {
    {"switch.channels", KER_TYPE_INT, "2", "1", "64", NULL, "Virtual channels per port."},
    {"switch.delay", KER_TYPE_TIME, "20 ns", "1 ns", "1 s", NULL, "From the head's arrival to the request."},
    {"switch.buffer", KER_TYPE_BYTES, "4 KiB", "1", NULL, NULL, "Input buffer per channel."},
    {"switch.rate", KER_TYPE_RATE, "25 GB/s", NULL, "1 TB/s", NULL, "Of its ports."},
    {"switch.arbiter", KER_TYPE_CHOICE, "round_robin", NULL, NULL, "round_robin|oldest|random",
     "Who is next."},
    {0},
};

static const struct ker_option other_options[] = {
    {"run.seed", KER_TYPE_INT, "1", NULL, NULL, NULL, "Seed."},
    {"run.load", KER_TYPE_REAL, NULL, "0", "1", NULL, "Offered load."},
    {"run.quiet", KER_TYPE_BOOL, "false", NULL, NULL, NULL, "Say less."},
    {"topology.extents", KER_TYPE_INT | KER_TYPE_LIST, "4,4,4", "1", "65536", NULL,
     "Switches per dimension."},
    {"topology.bandwidth", KER_TYPE_RATE | KER_TYPE_LIST, "24 GB/s, 5 GB/s", NULL, NULL, NULL, "Per level."},
    {"topology.weights", KER_TYPE_REAL | KER_TYPE_LIST, "", NULL, NULL, NULL, "Weights."},
    {"topology.names", KER_TYPE_STRING | KER_TYPE_LIST, "x,y", NULL, NULL, NULL, "Names."},
    {"jobs[].name", KER_TYPE_STRING, "", NULL, NULL, NULL, "For messages."},
    {"jobs[].enabled", KER_TYPE_BOOL, "true", NULL, NULL, NULL, "Is it there?"},
    {"jobs[].tasks", KER_TYPE_INT, NULL, "1", NULL, NULL, "Number of tasks."},
    {"jobs[].trace", KER_TYPE_FILE, NULL, NULL, NULL, NULL, "Folder of the trace."},
    {"jobs[].mpi.eager", KER_TYPE_BYTES, "8 KiB", NULL, NULL, NULL, "Largest eager message."},
    {"route.how", KER_TYPE_CHOICE, "short", NULL, NULL, "short|long|drawn", "How."},
    {"route.weights", KER_TYPE_CHOICE, "none", NULL, NULL, "none|file", "Of links.", "route.how=short"},
    {"route.file", KER_TYPE_STRING, NULL, NULL, NULL, NULL, "The weights.", "route.weights=file"},
    {"route.candidates", KER_TYPE_INT, "1", NULL, NULL, NULL, "Drawn.",
     "route.how=long|drawn & run.quiet=false"},
    {"route.bias", KER_TYPE_INT, NULL, NULL, NULL, NULL, "Of the candidates.",
     "route.candidates!=1 or run.load"},
    {"node.cores", KER_TYPE_INT, "1", NULL, NULL, NULL, "Of a node.", "jobs"},
    {"jobs[].kind", KER_TYPE_CHOICE, NULL, NULL, NULL, "wave|tree", "Of a job."},
    {"jobs[].depth", KER_TYPE_INT, "1", NULL, NULL, NULL, "Of the tree.", "jobs[].kind=tree"},
    {0},
};

static const struct ker_option *const tables[] = {switch_options, other_options, NULL};

static inline struct ker_config *parse_with(const char *text, const char *const *overrides, int count)
{
    struct ker_config *config = NULL;
    struct ker_error error = {.status = KER_OK};
    if (ker_config_parse(&config, "dir/a.cfg", text, overrides, count, tables, &error))
        fail_msg("refused: %s", error.text);
    return config;
}

static inline struct ker_config *parse(const char *text)
{
    return parse_with(text, NULL, 0);
}

/* The text is refused with exactly this message. */
static inline void refused_with(const char *text, const char *const *overrides, int count,
                                const char *message)
{
    struct ker_config *config = NULL;
    struct ker_error error = {.status = KER_OK};
    enum ker_status status = ker_config_parse(&config, "a.cfg", text, overrides, count, tables, &error);
    assert_null(config);
    assert_int_equal(status, KER_BAD_INPUT);
    assert_int_equal(error.status, KER_BAD_INPUT);
    assert_string_equal(error.text, message);
}

static inline void refused(const char *text, const char *message)
{
    refused_with(text, NULL, 0, message);
}

static inline char *written(const struct ker_config *config)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    ker_config_write(config, out);
    fclose(out);
    return text;
}
