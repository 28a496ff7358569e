/* dimemas.c - traces in the format "dimemas": text traces of Dimemas, as prv2dim, Extrae and MPIDtrace write.
 */
#include "traces/dimemas/dimemas.h"
#include "traces/traces.h"

#include <stdlib.h>

static int score(const char *path)
{
    struct ker_error ignored = {.status = KER_OK};
    struct ker_text text;
    bool known =
        ker_text_open(&text, path, NULL, &ignored) == KER_OK && ker_text_next(&text) &&
        (ker_take(&text.in, "#DIMEMAS:") || ker_take(&text.in, "/* \"SDDF") || ker_take(&text.in, "SDDFA") ||
         ker_take(&text.in, "\"CPU burst\"") || ker_take(&text.in, "\"NX "));
    ker_text_close(&text, false);
    return trace_score(path, known, TRACE_SCORE_MAGIC, ".dim");
}

static enum ker_status trace_open(struct foreign_trace *to, struct ker_error *error)
{
    to->own = ker_alloc(sizeof(struct dimemas_trace));
    return dimemas_index(to->own, to, error);
}

static enum ker_status task_read(const struct foreign_trace *trace, struct foreign_task *task,
                                 struct ker_error *error)
{
    return dimemas_task_read(trace->own, task, error);
}

static void trace_close(struct foreign_trace *to)
{
    dimemas_index_release(to->own, to->comms);
    free(to->own);
}

static const char *const doubts[] = {
    [DIMEMAS_DOUBT_SENDS] =
        "sends that do not block are never waited for in this format; the end of the task waits for them",
    [DIMEMAS_DOUBT_COUNTS] =
        "global operations with counts have their sums only; the counts are taken as equal",
    [DIMEMAS_DOUBTS] = NULL,
};

static const struct foreign_reader reader = {
    .name = "dimemas",
    .form = {.unit = 1, .lines = true},
    .doubt = doubts,
    .advice = "the global operations of the trace (records 10) show which",
    .open = trace_open,
    .read = task_read,
    .close = trace_close,
};

FOREIGN_CLASS(static, class, reader);

const struct ker_kind trace_format_dimemas = {.name = "dimemas",
                                              .meaning = "text traces of Dimemas",
                                              .operations =
                                                  &(const struct trace_format){&class, score, &reader},
                                              .options = KER_OPTIONS(trace_store_options)};
