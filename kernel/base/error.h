/* error.h - how errors travel.
 *
 * Bad input and failed runs are returned statuses. The function that knows first fills in the text (file,
 * line, key, what would be right); callers only pass the status on. On many ranks the program agrees on
 * the worst status (comm.h) and one rank prints one message. A broken invariant is not an error but an
 * assertion: ker_assert, which ends all ranks.
 */
#pragma once

#include <stdarg.h>
#include <stdio.h>

enum ker_status { /* also the exit status of the program */
                  KER_OK = 0,
                  KER_RUN_FAILED = 1, /* the run itself failed, e.g. a simulated deadlock */
                  KER_BAD_INPUT = 2,  /* refused before the first event */
};

struct ker_error {
    enum ker_status status;
    int count, printed; /* failures that ker_error_add was given; those of them in the text */
    char text[16384];   /* room for the table of who waits for whom */
};

/* Sets the text (the first error stays; later ones are ignored) and returns status. */
enum ker_status ker_fail(struct ker_error *error, enum ker_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What a function that takes arguments as printf does was called with behind `format`, in `text`, an array;
 * cut off where that has no room for all. */
#define KER_FORMATTED(text, format)                                                                          \
    do {                                                                                                     \
        va_list ker_arguments_;                                                                              \
        va_start(ker_arguments_, format);                                                                    \
        vsnprintf(text, sizeof(text), format, ker_arguments_);                                               \
        va_end(ker_arguments_);                                                                              \
    } while (0)

/* Adds another failure to those there are, as a line of its own: the first KER_MAX_ERRORS are printed, of the
 * rest how many they are. */
#define KER_MAX_ERRORS 10
void ker_error_add(struct ker_error *error, const struct ker_error *another);
/* After the last of them; returns the status of the first, or KER_OK. */
enum ker_status ker_error_close(struct ker_error *error);

/* One line on standard error: "marssim: warning: ...". Call it on the control rank only. */
void ker_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a run depends on is not there any more (a file that it reads has changed): says why on standard
 * error, and ends every rank. */
_Noreturn void ker_give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An invariant of ours: says where it broke and ends every rank. Checked in every build. */
#define ker_assert(condition) ((condition) ? (void)0 : ker_broken(#condition, __FILE__, __LINE__))
_Noreturn void ker_broken(const char *condition, const char *file, int line);

/* The same in debug builds only (make debug, make sanitize), for the hot path. */
#ifdef KER_DEBUG
#define ker_check(condition) ker_assert(condition)
#else
#define ker_check(condition) ((void)0)
#endif
