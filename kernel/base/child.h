/* child.h - what a library does that may end the process, in a process of its own.
 *
 * The child does its work and ends; what it has to say it writes to a pipe. It says nothing on its standard
 * error, as that is the library's, leaves no core file, and is ended when it takes longer than its alarm().
 */
#pragma once

#include <stdio.h>
#include <sys/types.h>

/* The work's words, to be read; *child: its process. NULL: there is none to be had. */
FILE *ker_child_begin(void (*work)(FILE *out, void *context), void *context, pid_t *child);
/* Ends it, if it has not ended; `in` may be NULL. As waitpid() gives it. */
int ker_child_end(FILE *in, pid_t child);
