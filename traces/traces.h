/* traces.h - what other folders may use of traces/: what a task does (op.h), and the formats that the program
 * "trace" is made of, with a class and keys for each. */
#ifndef TRACES_H
#define TRACES_H

#include "traces/names.h"
#include "traces/op.h"

extern const struct task_program_class task_allprof_class, task_replay_class, task_simgrid_class,
    task_otf2_class, task_dimemas_class;
extern const struct ker_option task_allprof_options[], task_replay_options[], task_simgrid_options[],
    task_otf2_options[], trace_store_options[];

/* Does the file begin as one of this format? */
bool mars_trace_known(const char *path);
bool simgrid_trace_known(const char *path);
bool dimemas_trace_known(const char *path);
bool otf2_trace_known(const char *path); /* a folder with such a file, too */

#endif
