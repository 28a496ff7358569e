/* mars_bench.h - for tests of the replay: a trace of one task, written by the tracer's own writer. */
#pragma once

#include "traces/mars/mars.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct trace {
    char path[64];
    int file;
    struct mars_writer *writer; /* of definitions, then of calls */
};

static inline uint64_t time_of_day(void)
{
    return 0;
}

static inline void define(struct mars_writer *writer, unsigned number, const char *text)
{
    uint8_t data[200], *at = mars_put(data, number);
    size_t bytes = strlen(text);
    memcpy(at, text, bytes);
    mars_writer_define(writer, MARS_DEFINE_FUNCTION, data, (size_t)(at + bytes - data));
}

static inline struct mars_writer *writer_new(const struct trace *t, uint16_t thread)
{
    struct mars_writer_setup setup = {
        .file = t->file, .path = t->path, .thread = thread, .resolution_ns = 1, .level = 1};
    struct mars_writer *writer = mars_writer_new(&setup);
    assert_non_null(writer);
    return writer;
}

/* A call whose fields are these numbers; lists with their lengths before them. */
static inline void call(struct trace *t, unsigned function, unsigned count, const int64_t *fields)
{
    static const struct mars_times times;
    uint8_t shape[400], *at = mars_put(shape, function << 1);
    for (unsigned i = 0; i < count; i++)
        at = mars_put_signed(at, fields[i]);
    mars_writer_call(t->writer, shape, (size_t)(at - shape), &times, NULL, time_of_day);
}
#define CALL(t, function, ...)                                                                               \
    call(t, function, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* Begins with definitions: these functions by their numbers, NULL is none, and a world of one task. */
static inline void trace_defines(struct trace *t, const char *const *function, size_t functions)
{
    static const char unit[] = "resolution_ns=1";
    uint8_t head[MARS_HEAD_BYTES], comm[100], *at = mars_put(comm, 1);
    strcpy(t->path, P_tmpdir "/test_replay.XXXXXX.mars");
    t->file = mkostemps(t->path, 5, O_APPEND);
    assert_true(t->file >= 0);
    mars_head_put(head, MARS_FILE_TASK);
    assert_int_equal(write(t->file, head, sizeof head), sizeof head);
    t->writer = writer_new(t, MARS_DEFINITIONS);
    mars_writer_define(t->writer, MARS_DEFINE_INFO, (const uint8_t *)unit, sizeof unit - 1);
    for (size_t i = 0; i < functions; i++)
        if (function[i])
            define(t->writer, (unsigned)i, function[i]);
    mars_store(at, 7, 8); /* the world: one task, itself */
    at = mars_put_signed(mars_put(mars_put(at + 8, 0), 0), 0);
    at = mars_ranks_put(at, &(int32_t){0}, 1);
    mars_writer_define(t->writer, MARS_DEFINE_COMM, comm, (size_t)(at - comm));
}

static inline void trace_calls(struct trace *t)
{
    assert_true(mars_writer_close(t->writer));
    t->writer = writer_new(t, 0);
}

static inline void trace_end(struct trace *t)
{
    assert_true(mars_writer_close(t->writer));
    close(t->file);
}
