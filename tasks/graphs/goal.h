/* goal.h - what the files of the reader of GOAL schedules share: the words of the text, and the two forms. */
#pragma once

#include "tasks/graphs/graph.h"

#define GOAL_MOST_RANKS (UINT32_MAX / 2)

/* ---- the words of the text, taken from lines ---- */

/* Goes to the next statement, past comments and empty lines: the rest of the line begins with it, perhaps
 * the one that followed the last statement in its line. False: there is none, or a failure (the text's
 * status). */
bool goal_next(struct ker_text *);
/* A label: a letter or _, then also digits. */
bool goal_take_label(struct ker_lines *, const char **label, size_t *length);
/* "WORD" and the blanks around it, in front of a number; false: takes only blanks. */
bool goal_take_key(struct ker_lines *, const char *word);
/* Decimal digits up to a number, with no blank in front; else KER_BAD_INPUT, which says what is wrong. */
enum ker_status goal_number(struct ker_lines *, const char *what, uint64_t most, uint64_t *number);

/* KER_BAD_INPUT for a label that rank `rank` has not defined up to the current line: whether it does so later
 * on, or another rank does. */
enum ker_status goal_label_missing(struct ker_lines *, const char *label, size_t length, uint32_t rank);

/* ---- the two forms: as graph_goal_tasks and graph_goal_read ---- */

bool goal_text_known(const char *file);
enum ker_status goal_text_tasks(const char *file, uint32_t *tasks, struct ker_error *);
enum ker_status goal_text_read(struct graph **, const char *file, const struct graph_form *, uint32_t first,
                               uint32_t count, struct ker_error *);

/* The open file, of this many bytes, begins like a binary one. The name is for messages and registration. */
bool goal_is_binary(int file);
enum ker_status goal_binary_tasks(const char *name, int file, uint64_t bytes, uint32_t *tasks,
                                  struct ker_error *);
enum ker_status goal_binary_read(struct graph **, const char *name, int file, uint64_t bytes,
                                 const struct graph_form *, uint32_t first, uint32_t count,
                                 struct ker_error *);
