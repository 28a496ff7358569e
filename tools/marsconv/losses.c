/* losses.c - what could not be said in a format, counted by its text, and printed at the end. */
#include "tools/marsconv/conv.h"

#include "kernel/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void conv_warn(const char *format, ...)
{
    char text[1024];
    KER_FORMATTED(text, format);
    fprintf(stderr, "marsconv: warning: %s\n", text);
}

void conv_lost(struct conv_losses *losses, uint64_t count, const char *format, ...)
{
    char text[256];
    uint32_t i = 0;
    KER_FORMATTED(text, format);
    while (i < losses->count && strcmp(losses->loss[i].text, text) != 0)
        i++;
    if (i == losses->count)
        *KER_APPEND(losses->loss, losses->count) = (struct conv_loss){ker_format("%s", text), 0};
    losses->loss[i].count += count;
}

void conv_losses_print(struct conv_losses *losses, const char *path)
{
    for (uint32_t i = 0; i < losses->count; i++) {
        conv_warn("%s: %s (%llu times)", path, losses->loss[i].text,
                  (unsigned long long)losses->loss[i].count);
        free(losses->loss[i].text);
    }
    free(losses->loss);
    *losses = (struct conv_losses){0};
}
