/* fuzz_allprof.c - libFuzzer target for the reader of traces: the input is the files of one to four tasks,
 * separated by a line "%". Whatever the bytes, the reader returns operations with valid ranks and
 * communicators, or an error with a text. */
#define _GNU_SOURCE /* memmem */
#include "traces/allprof/allprof.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUZZ_TASKS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *file_path(const char *folder, uint32_t task)
{
    return ker_format("%s/pmpi-trace-rank-%u.txt", folder, task);
}

static uint32_t files_write(const char *folder, const uint8_t *data, size_t size)
{
    uint32_t tasks = 0;
    for (size_t from = 0; tasks == 0 || (from < size && tasks < FUZZ_TASKS); tasks++) {
        const uint8_t *stop = size - from >= 3 ? memmem(data + from, size - from, "\n%\n", 3) : NULL;
        size_t to = stop ? (size_t)(stop - data) + 1 : size;
        char *path = file_path(folder, tasks);
        FILE *file = fopen(path, "w");
        ker_assert(file && fwrite(data + from, 1, to - from, file) == to - from);
        fclose(file);
        free(path);
        from = to + 2;
    }
    return tasks;
}

static void ops_check(const struct trace_code *code, const struct allprof_events *events,
                      const struct allprof_comms *comms, uint32_t task)
{
    int32_t *comm = ker_alloc(events->count * sizeof *comm);
    for (size_t i = 0; i < events->count; i++)
        comm[i] = events->event[i].comm;
    struct trace_reader reader = {.code = code, .comm = comm};
    trace_reader_seek(&reader, 0, 0);
    struct task_op op = {0};
    while (trace_reader_next(&reader, &op)) {
        ker_assert(op.comm >= 0 && op.comm < comms->count && op.call);
        ker_assert(op.kind == TASK_OP_COMPUTE || op.kind == TASK_OP_FINALIZE || op.request ||
                   op.request_count || task_comm_rank(&comms->comm[op.comm], (int32_t)task) >= 0);
        ker_assert(op.peer >= -2 && op.peer < comms->comm[op.comm].size);
    }
    ker_assert(op.kind == TASK_OP_FINALIZE);
    trace_reader_release(&reader);
    free(comm);
}

static enum ker_status messages_match(const struct allprof_events *files,
                                      const struct allprof_tallies *tallies, uint32_t tasks,
                                      const struct allprof_comms *comms, const char *folder,
                                      struct ker_error *error)
{
    struct allprof_flow *flow = NULL, wrong;
    struct allprof_uses uses;
    size_t count = 0, room = 0;
    allprof_uses_make(&uses, files, tasks);
    for (uint32_t i = 0; i < tasks; i++)
        allprof_flow_add(&flow, &count, &room, i, tallies[i].entry, tallies[i].count,
                         uses.use + uses.first[i], comms);
    enum ker_status status = allprof_match_messages(flow, count, comms, folder, &wrong, error);
    allprof_uses_release(&uses);
    free(flow);
    return status;
}

/* in_file: what operations there are lies in a temporary file. */
static void tasks_read(const char *folder, uint32_t tasks, bool in_file)
{
    struct trace_store store;
    struct trace_code code[FUZZ_TASKS] = {{0}};
    struct allprof_scan scan[FUZZ_TASKS] = {{0}};
    struct allprof_events files[FUZZ_TASKS] = {{0}};
    struct allprof_tallies tallies[FUZZ_TASKS] = {{0}};
    struct allprof_comms comms = {0};
    struct allprof_rules rules = {0};
    struct task_taken taken;
    struct ker_error error = {0};
    enum ker_status status = KER_OK;
    bool lacks;
    trace_store_init(&store, in_file ? 0 : UINT64_MAX, allprof_form);
    for (uint32_t i = 0; i < tasks && status == KER_OK; i++) {
        code[i].store = &store;
        status = allprof_parse(&code[i], &taken, &scan[i], &rules, folder, i, &error);
        files[i] = scan[i].events;
        tallies[i] = scan[i].tallies;
    }
    if (status == KER_OK)
        status = allprof_comms_resolve(&comms, files, tallies, tasks, folder, &lacks, &error);
    if (status == KER_OK)
        status = allprof_match_collectives(files, tasks, &comms, folder, &error);
    if (status == KER_OK)
        status = messages_match(files, tallies, tasks, &comms, folder, &error);
    for (uint32_t i = 0; i < tasks && status == KER_OK; i++)
        ops_check(&code[i], &files[i], &comms, i);
    ker_assert(status == error.status && (status == KER_OK) == (error.text[0] == 0));
    for (uint32_t i = 0; i < tasks; i++) {
        allprof_scan_release(&scan[i]);
        trace_code_release(&code[i]);
    }
    trace_store_release(&store);
    allprof_comms_release(&comms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[64]; /* one per process, on a memory file system where there is one */
    if (!folder[0]) {
        strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz.XXXXXX" : P_tmpdir "/fuzz.XXXXXX");
        ker_assert(mkdtemp(folder));
    }
    uint32_t tasks = files_write(folder, data, size);
    tasks_read(folder, tasks, size % 2 == 1);
    for (uint32_t i = 0; i < tasks; i++) {
        char *path = file_path(folder, i);
        unlink(path);
        free(path);
    }
    return 0;
}
