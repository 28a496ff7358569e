/* goal_files.h - what the tests of GOAL schedules share: files of given bytes, reading them, and looking at
 * operations. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "tasks/graphs/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct ker_error error;

/* A file of these bytes; its path, malloc'ed. It is closed by its number. */
static inline char *text_file(const char *text, size_t bytes, int *file)
{
    *file = memfd_create("goal", 0);
    assert_true(*file >= 0 && write(*file, text, bytes) == (ssize_t)bytes);
    return ker_format("/proc/self/fd/%d", *file);
}

static inline enum ker_status read_unit(struct graph **graph, const char *path, uint64_t unit, uint32_t first,
                                        uint32_t count)
{
    struct graph_form form = {.path = "jobs[0]", .unit = unit};
    memset(&error, 0, sizeof error);
    return graph_goal_read(graph, path, &form, first, count, &error);
}

static inline struct graph *read_good(const char *path, uint64_t unit, uint32_t first, uint32_t count)
{
    struct graph *graph;
    enum ker_status status = read_unit(&graph, path, unit, first, count);
    if (status != KER_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, KER_OK);
    assert_int_equal(graph->count, count);
    return graph;
}

static inline struct graph *read_text(const char *text, uint64_t unit, uint32_t tasks)
{
    int file;
    char *path = text_file(text, strlen(text), &file);
    struct graph *graph = read_good(path, unit, 0, tasks);
    close(file);
    free(path);
    return graph;
}

static inline void expect_op(const struct graph_task *task, uint32_t number, const struct graph_op *expected)
{
    const struct graph_op *op = &task->op[number];
    assert_true(number < task->ops);
    assert_int_equal(op->kind, expected->kind);
    assert_true(op->amount == expected->amount);
    if (op->kind != GRAPH_CALCULATION) {
        assert_int_equal(op->peer, expected->peer);
        assert_int_equal(op->tag, expected->tag);
    }
    assert_int_equal(op->cpu, expected->cpu);
    assert_int_equal(op->nic, expected->nic);
    assert_int_equal(op->before, expected->before);
    assert_int_equal(op->on_begin, expected->on_begin);
    assert_int_equal(op->on_done, expected->on_done);
    assert_int_equal(op->line, expected->line);
}
