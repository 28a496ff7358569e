/* fuzz_marsconv.c - libFuzzer target for what marsconv does with traces: the first byte says what is done;
 * then comes a trace of marstrace of one or two tasks (mars_frames.h; the length of the first is before
 * them), or texts of liballprof, separated by a line "%". Whatever the bytes, there is an error with a text,
 * or a result; a trace that was written can be read again, and what was cut has nothing that --check finds
 * unless the whole has.
 */
#define _GNU_SOURCE
#include "tests/fuzz/mars_frames.h"
#include "tools/marsconv/conv.h"

#include "kernel/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TASKS 3
static const struct conv_options options = {0};
static char folder[64]; /* scratch */

static void folder_remove(const char *path)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        static const char *const names[] = {"%s/task-%06u.mars", "%s/pmpi-trace-rank-%u.txt"};
        for (int j = 0; j < 2; j++) {
            char *name = j ? ker_format(names[1], path, i) : ker_format(names[0], path, i);
            unlink(name);
            free(name);
        }
    }
    unlink(path);
    rmdir(path);
}

/* What was written can be read. */
static void again(const char *path)
{
    struct mars_error error = {0};
    struct conv_source source;
    FILE *to = fopen("/dev/null", "w");
    if (conv_open(&source, path, &options, &error))
        conv_stats_of(&source, true, to, &error);
    if (error.text[0])
        fprintf(stderr, "%s\n", error.text);
    ker_assert(!error.text[0]);
    conv_close(&source);
    fclose(to);
}

static void convert(struct conv_source *source, bool file, const char *cut)
{
    struct mars_error error = {0};
    struct conv_losses losses = {0};
    char *path = ker_format("%s/out%s", folder, file ? ".mars" : "");
    struct conv_sink sink = {.path = path, .losses = &losses};
    folder_remove(path);
    conv_write(source, &sink, cut, &error);
    if (!error.text[0])
        again(path);
    for (uint32_t i = 0; i < losses.count; i++)
        free(losses.loss[i].text);
    free(losses.loss);
    folder_remove(path);
    free(path);
}

static void use(struct conv_source *source, unsigned what)
{
    static const char *const cuts[] = {"time=:", "time=1us:2us", "time=100ns:", "tasks=0-0", "tasks=0-1"};
    struct mars_error error = {0};
    uint64_t findings;
    FILE *to = fopen("/dev/null", "w");
    bool fine = true;
    if (what % 8 == 0)
        fine = conv_stats_of(source, what & 8, to, &error);
    else if (what % 8 == 1)
        fine = conv_check_of(source, to, &findings, &error);
    else if (what % 8 == 2)
        convert(source, what & 8, NULL);
    else
        convert(source, what & 8, cuts[what % 8 - 3]);
    ker_assert(fine == (error.text[0] == 0));
    fclose(to);
}

static void use_mars(const uint8_t *data, size_t size, unsigned what)
{
    static uint8_t file[FRAMED_BYTES];
    struct mars_error error = {0};
    struct mars_trace *trace = NULL;
    if (size < 6 || size > 32768)
        return;
    size_t first = data[0] + 256u * data[1], at;
    data += 2, size -= 2;
    bool two = what & 16 && first >= 2 && first + 2 <= size;
    at = frames_make(file, data, two ? first : size);
    if (two)
        at = frames_task(file, at, 1, data + first, size - first);
    if (!mars_trace_open_memory(&trace, "input", file, at, &error))
        return;
    struct conv_source source = {.format = &conv_mars,
                                 .path = "input",
                                 .options = &options,
                                 .tasks = mars_trace_tasks(trace),
                                 .own = trace};
    use(&source, what);
    conv_close(&source);
}

static void use_text(const uint8_t *data, size_t size, unsigned what)
{
    struct mars_error error = {0};
    struct conv_source source;
    char *path = ker_format("%s/in", folder);
    mkdir(path, 0777);
    for (uint32_t task = 0; task < TASKS; task++) {
        const uint8_t *stop = size >= 3 ? memmem(data, size, "\n%\n", 3) : NULL;
        size_t bytes = stop ? (size_t)(stop - data) + 1 : size;
        char *name = ker_format("%s/pmpi-trace-rank-%u.txt", path, task);
        FILE *to = fopen(name, "w");
        ker_assert(to && fwrite(data, 1, bytes, to) == bytes);
        fclose(to);
        free(name);
        if (!stop)
            break;
        data += bytes + 2;
        size -= bytes + 2;
    }
    if (conv_open(&source, path, &options, &error))
        use(&source, what);
    conv_close(&source);
    folder_remove(path);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/marsconv.XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        ker_assert(mkdtemp(folder));
    }
    if (size < 4)
        return 0;
    if (data[0] & 128)
        use_text(data + 1, size - 1, data[0]);
    else
        use_mars(data + 1, size - 1, data[0]);
    return 0;
}
