/* refusal.h - what tests of bad input ask of a message. */
#pragma once

#include "kernel/base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Bad input, and these words in the message, which is shown if they are not. */
static inline void assert_refused(enum ker_status status, const struct ker_error *error, const char *words)
{
    if (status != KER_BAD_INPUT)
        fail_msg("status %d, not refused for: %s", status, words);
    if (!strstr(error->text, words))
        fail_msg("got: %s\nexpected: %s", error->text, words);
}
