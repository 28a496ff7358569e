/* fuzz_report.c - libFuzzer target for marsreport: the input is the files of a result folder, each behind a
 * line
 * "%NAME" with a name that marsreport reads. Whatever the bytes, there is an error with a text, or data that
 * can be written as JSON and read again, in which nothing could end the script element that it is in.
 */
#define _GNU_SOURCE /* memmem */
#include "tools/marsreport/report.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

static const char *const known[] = {"summary.json",
                                    "started.json",
                                    "point.json",
                                    "failed.json",
                                    "system.cfg",
                                    "periods.csv",
                                    "links.csv",
                                    "link_series.csv",
                                    "switches.csv",
                                    "switch_series.csv",
                                    "channel_series.csv",
                                    "channels.csv",
                                    "adapter_series.csv",
                                    "job_series.csv",
                                    "task_series.csv",
                                    "traffic_series.csv",
                                    "latency_series.csv",
                                    "matrix.csv",
                                    "matrix_series.csv",
                                    "rack_matrix.csv",
                                    "tasks.csv",
                                    "functions.csv",
                                    "waits.csv",
                                    "wait_functions.csv",
                                    "message_rates.csv",
                                    "message_size.csv",
                                    "packet_latency.csv",
                                    "critical_path.csv",
                                    "timeline.json",
                                    "names.csv",
                                    "results.h5",
                                    "task_matrix.csv",
                                    "core_series.csv",
                                    "memory_series.csv",
                                    "cores.csv",
                                    "memory.csv",
                                    "driven_entries.csv",
                                    "driven_cores.csv",
                                    "critical_path_steps.csv",
                                    "communicator_series.csv",
                                    "function_series.csv"};
#define KNOWN (sizeof known / sizeof *known)

static char folder[64]; /* one per process, on a memory file system where there is one */

static char *path_of(const char *name)
{
    return ker_format("%s/%s", folder, name);
}

static void file_write(const char *name, const uint8_t *data, size_t size)
{
    char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    ker_assert(file && fwrite(data, 1, size, file) == size);
    fclose(file);
    free(path);
}

/* The name behind '%', up to the end of the line; NULL: none that is known. */
static const char *name_at(const uint8_t *data, size_t length)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (strlen(known[i]) == length && memcmp(known[i], data, length) == 0)
            return known[i];
    return NULL;
}

static void files_write(const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size && data[at] == '%';) {
        const uint8_t *line = memchr(data + at, '\n', size - at);
        if (!line)
            return;
        size_t from = (size_t)(line - data) + 1, to = size;
        const uint8_t *next = memmem(data + from, size - from, "\n%", 2);
        if (next)
            to = (size_t)(next - data) + 1;
        const char *name = name_at(data + at + 1, from - at - 2);
        if (name)
            file_write(name, data + from, to - from);
        at = to;
    }
}

/* The page's file in two halves of a run: with the data, and without what makes it invalid. */
static void page_check(const json_t *data)
{
    json_error_t why;
    char *text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(17));
    ker_assert(text);
    json_t *again = json_loads(text, JSON_ALLOW_NUL, &why);
    ker_assert(again && json_is_string(json_object_get(again, "name")));
    json_decref(again);
    free(text);
    struct ker_error error = {.status = KER_OK};
    char *path = path_of("report.html");
    ker_assert(rep_page_write(path, data, &error) == KER_OK);
    FILE *page = fopen(path, "rb");
    static const char mark[] = "type=\"application/json\">";
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    for (ssize_t length; !found && page && (length = getline(&line, &room, page)) > 0;) {
        const char *from = strstr(line, mark);
        found = from != NULL;
        ker_assert(!found || strcmp(strchr(from, '<'), "</script>\n") == 0);
    }
    ker_assert(found);
    free(line);
    fclose(page);
    unlink(path);
    free(path);
}

static void report(const uint8_t *data, size_t size)
{
    static uint64_t runs;
    struct ker_error error = {.status = KER_OK};
    struct rep_folder f = {.to = KER_TIME_MAX};
    if (size % 5 == 0) { /* a span */
        f.from = (ker_time)size * 1000;
        f.to = f.from + 1000000;
    }
    enum ker_status status = rep_folder_open(&f, folder, &error);
    ker_assert((status == KER_OK) == (error.text[0] == '\0'));
    if (status == KER_OK) {
        json_t *all = rep_folder_data(&f);
        if (runs++ % 16 == 0)
            page_check(all);
        json_decref(all);
    }
    rep_folder_close(&f);
}

/* ---- changes: within one file, so that the others are still read ---- */

/* The section that holds a place: [*from, *to), behind its name. */
static void section_at(const uint8_t *data, size_t size, size_t place, size_t *from, size_t *to)
{
    size_t begin = place;
    while (begin > 0 && !(data[begin] == '%' && data[begin - 1] == '\n'))
        begin--;
    const uint8_t *line = memchr(data + begin, '\n', size - begin);
    *from = line ? (size_t)(line - data) + 1 : size;
    const uint8_t *next = *from < size ? memmem(data + *from, size - *from, "\n%", 2) : NULL;
    *to = next ? (size_t)(next - data) + 1 : size;
}

/* A number in the section becomes another one; 0: there is none, or no room. */
static size_t number_change(uint8_t *data, size_t size, size_t most, size_t from, size_t to, unsigned seed)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "-1",
                                          "2147483648",
                                          "4294967295",
                                          "9223372036854775807",
                                          "18446744073709551615",
                                          "1e308",
                                          "-0.5",
                                          "nan",
                                          "",
                                          "99999999999999999999999",
                                          "100000001",
                                          "0.1",
                                          "65536",
                                          "x",
                                          "\"",
                                          "null",
                                          "[]",
                                          "{}"};
    const char *text = numbers[seed % (sizeof numbers / sizeof *numbers)];
    size_t at = from + seed / 32 % (to - from), length = strlen(text), end;
    while (at < to && (data[at] < '0' || data[at] > '9'))
        at++;
    for (end = at; end < to && data[end] >= '0' && data[end] <= '9';)
        end++;
    if (at == to || size - (end - at) + length > most)
        return 0;
    memmove(data + at + length, data + end, size - end);
    memcpy(data + at, text, length);
    return size - (end - at) + length;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size_t from, to;
    if (size < 16)
        return LLVMFuzzerMutate(data, size, most);
    section_at(data, size, seed / 7 % size, &from, &to);
    if (from >= to)
        return LLVMFuzzerMutate(data, size, most);
    if (seed % 3) {
        size_t changed = number_change(data, size, most, from, to, seed / 3);
        if (changed)
            return changed;
    }
    /* the rest is put behind what has become of the section */
    size_t behind = size - to, room = most - behind - from;
    uint8_t *rest = ker_alloc(behind + 1), *part = ker_alloc(room + 1);
    memcpy(rest, data + to, behind);
    memcpy(part, data + from, to - from);
    size_t length = LLVMFuzzerMutate(part, to - from, room);
    memcpy(data + from, part, length);
    memcpy(data + from + length, rest, behind);
    free(rest);
    free(part);
    return from + length + behind;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!folder[0]) {
        strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz.XXXXXX" : P_tmpdir "/fuzz.XXXXXX");
        ker_assert(mkdtemp(folder) &&
                   (stderr = fopen("/dev/null", "w")) != NULL); /* of ours; sanitizers write to 2 */
    }
    files_write(data, size);
    report(data, size);
    for (size_t i = 0; i < KNOWN; i++) {
        char *path = path_of(known[i]);
        unlink(path);
        free(path);
    }
    return 0;
}
