/* run_marssim.h - for tests: runs the program on a small configuration and looks at its results.
 *
 * Each run has a scratch folder of its own, removed by run_release. The program is the one named by $MARSSIM
 * (tests/run-tests.sh sets it); it must succeed, or the test fails with the program's own message. Nothing is
 * cached: a run of a small system takes some hundredths of a second, most of it MPI_Init.
 */
#pragma once

#include <inttypes.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/csv.h"

struct run {
    char folder[64];
    json_t *summary;
};

static inline void run_write(const struct run *r, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* Makes the folder, so that files which the configuration names can be written into it. */
static inline void run_init(struct run *r)
{
    const char *base = getenv("TMPDIR");
    int length = snprintf(r->folder, sizeof r->folder, "%s/run-XXXXXX", base ? base : "/tmp");
    assert_true(length < (int)sizeof r->folder);
    assert_non_null(mkdtemp(r->folder));
    r->summary = NULL;
}

/* Runs `config`, which may name files in its own folder; may be called again with another configuration. */
static inline void run_go(struct run *r, const char *config)
{
    char command[512];
    json_error_t error;
    const char *program = getenv("MARSSIM");
    if (!program)
        fail_msg("MARSSIM is not set; run the tests by make check");
    run_write(r, "test.cfg", config);
    snprintf(command, sizeof command, "'%s' --quiet -o %s/out %s/test.cfg >%s/log 2>&1", program, r->folder,
             r->folder, r->folder);
    if (system(command)) {
        snprintf(command, sizeof command, "cat %s/log %s/test.cfg >&2", r->folder, r->folder);
        fail_msg("marssim failed%s", system(command) ? "" : " (see above)");
    }
    snprintf(command, sizeof command, "%s/out/summary.json", r->folder);
    json_decref(r->summary);
    r->summary = json_load_file(command, 0, &error);
    if (!r->summary)
        fail_msg("%s: %s", command, error.text);
}

/* A configuration made like printf's text. */
__attribute__((format(printf, 2, 3))) static inline void run_format(struct run *r, const char *format, ...)
{
    va_list arguments;
    char text[4096];
    va_start(arguments, format);
    assert_true(vsnprintf(text, sizeof text, format, arguments) < (int)sizeof text);
    va_end(arguments);
    run_go(r, text);
}

static inline void run_release(struct run *r)
{
    char command[96];
    json_decref(r->summary);
    snprintf(command, sizeof command, "rm -r %s", r->folder);
    assert_int_equal(system(command), 0);
}

/* A value of "result" by its path, e.g. "packet_latency_ps.mean". */
static inline json_t *run_value(const struct run *r, const char *path)
{
    char copy[128], *rest = copy, *key;
    json_t *at = json_object_get(r->summary, "result");
    snprintf(copy, sizeof copy, "%s", path);
    while ((key = strsep(&rest, ".")))
        at = json_object_get(at, key);
    if (!at)
        fail_msg("the results have no %s", path);
    return at;
}

static inline int64_t run_int(const struct run *r, const char *path)
{
    json_t *value = run_value(r, path);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static inline double run_real(const struct run *r, const char *path)
{
    return json_number_value(run_value(r, path));
}

struct run_link {
    char from_kind[8], to_kind[8], class[24];
    unsigned from, from_port, to, to_port;
    uint64_t packets, bytes, busy_ps;
    double utilisation, queue_mean_packets, input_mean_packets;
    uint64_t queue_max_bytes;
};

/* The rows of links.csv, malloc'ed. */
static inline struct run_link *run_links(const struct run *r, int *count)
{
    char path[96];
    snprintf(path, sizeof path, "%s/out/links.csv", r->folder);
    struct csv csv = csv_open(path);
    struct run_link *links = calloc(csv.rows + 1, sizeof *links);
    for (size_t i = 0; i < csv.rows; i++) {
        struct run_link *l = &links[i];
        snprintf(l->from_kind, sizeof l->from_kind, "%s", csv_text(&csv, i, "from_kind"));
        snprintf(l->to_kind, sizeof l->to_kind, "%s", csv_text(&csv, i, "to_kind"));
        snprintf(l->class, sizeof l->class, "%s", csv_text(&csv, i, "class"));
        l->from = (unsigned)csv_count(&csv, i, "from");
        l->from_port = (unsigned)csv_count(&csv, i, "from_port");
        l->to = (unsigned)csv_count(&csv, i, "to");
        l->to_port = (unsigned)csv_count(&csv, i, "to_port");
        l->packets = csv_count(&csv, i, "packets");
        l->bytes = csv_count(&csv, i, "bytes");
        l->busy_ps = csv_count(&csv, i, "busy_ps");
        l->utilisation = csv_real(&csv, i, "utilisation");
        l->queue_mean_packets = csv_real(&csv, i, "queue_mean_packets");
        l->queue_max_bytes = csv_count(&csv, i, "queue_max_bytes");
        l->input_mean_packets = csv_real(&csv, i, "input_mean_packets");
    }
    *count = (int)csv.rows;
    csv_free(&csv);
    return links;
}

#define assert_within(value, expected, tolerance)                                                            \
    do {                                                                                                     \
        double value_ = (value), expected_ = (expected), tolerance_ = (tolerance);                           \
        if (!(value_ >= expected_ - tolerance_ && value_ <= expected_ + tolerance_))                         \
            fail_msg("%s is %.6g, not %.6g +- %.3g", #value, value_, expected_, tolerance_);                 \
    } while (0)
