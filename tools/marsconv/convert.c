/* convert.c - a trace from one format into another: task by task, record by record. */
#include "tools/marsconv/conv.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool all_copy(struct conv_source *source, struct conv_sink *sink, struct mars_error *error)
{
    bool fine = conv_sink_create(sink, error);
    for (uint32_t i = 0; fine && i < source->tasks; i++)
        fine = conv_copy(source, sink, i, NULL, error);
    return fine;
}

void conv_write(struct conv_source *source, struct conv_sink *sink, const char *cut, struct mars_error *error)
{
    struct stat stat_;
    if (stat(sink->path, &stat_) == 0) {
        mars_fail(error, "%s: it is there already; a trace is written to a new place", sink->path);
        return;
    }
    bool fine = cut                         ? conv_cut(source, sink, cut, error)
                : source->options->no_waits ? conv_no_waits(source, sink, error)
                                            : all_copy(source, sink, error);
    conv_sink_finish(sink, fine, error);
}

int conv_convert(const char *from, const char *to, const char *cut, const struct conv_options *options)
{
    struct mars_error error = {0};
    struct conv_source source = {0};
    struct conv_losses losses = {0};
    struct conv_sink sink = {.path = to, .losses = &losses};
    if (conv_open(&source, from, options, &error)) {
        if (source.format->sums)
            mars_fail(&error,
                      "%s: a GOAL schedule has no order of calls, so it becomes no trace; --stats, "
                      "--check and --to goal read it",
                      from);
        else
            conv_write(&source, &sink, cut, &error);
    }
    conv_losses_print(&losses, to);
    conv_close(&source);
    if (!error.text[0])
        return 0;
    fprintf(stderr, "marsconv: error: %s\n", error.text);
    return 2;
}
