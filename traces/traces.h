/* traces.h - what other folders may use of traces/: what a task does (op.h), and what a format of traces is.
 *
 * A format is a kind of the family "jobs[].format", whose operations are struct trace_format; its keys stand
 * with it. The table is in tasks/programs/trace.c. Whose score of a file or folder is highest has it; two of
 * equal score are an error that names both.
 */
#pragma once

#include "kernel/config/config.h"
#include "traces/files.h"
#include "traces/functions.h"
#include "traces/names.h"
#include "traces/numbered.h"
#include "traces/op.h"
#include "traces/repeat.h"

/* How sure a format is that something is a trace of it; numbers between these are good, too. */
enum trace_score {
    TRACE_SCORE_NONE,
    TRACE_SCORE_REST = 10,  /* nothing speaks for it, but its reader says what is wrong */
    TRACE_SCORE_NAME = 20,  /* what the file is called: damaged, its reader says what is wrong with it */
    TRACE_SCORE_LINE = 30,  /* a line that parses */
    TRACE_SCORE_MAGIC = 40, /* bytes, or names of files in a folder, that no other format has */
};

struct foreign_reader;

struct trace_format {
    const struct task_program_class *class; /* which needs not look whether jobs[].trace is given */
    int (*score)(const char *path);         /* enum trace_score; of what is not there, too */
    const struct foreign_reader
        *foreign; /* traces/foreign/foreign.h: marsconv needs no more; NULL: it is another sort */
};

/* Of liballprof and marstrace, for tests that open them by themselves. */
extern const struct task_program_class task_allprof_class, task_replay_class;

extern const struct ker_option trace_unknown_options[]; /* jobs[].unknown, of several formats */
extern const struct ker_option trace_store_options[];   /* jobs[].trace_memory */

/* Is it no folder, and does its name end so? */
bool trace_named(const char *path, const char *suffix);
/* The score of a file that begins as one of the format, or not, by the suffix of its name. */
static inline int trace_score(const char *path, bool known, int score, const char *suffix)
{
    return known ? score : trace_named(path, suffix) ? TRACE_SCORE_NAME : TRACE_SCORE_NONE;
}
/* The kind of the format that a trace has; NULL, with an error: nobody's, or two's alike. */
const struct ker_kind *trace_format_find(const struct ker_registry *, const char *path, struct ker_error *);
