/* The reader of partition.file, on a ring of eight switches and three ranks. */
#define _GNU_SOURCE
#include "partition/partition.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ker_option *const tables[] = {part_options, NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t first[] = {0, 2, 4, 6, 8, 10, 12, 14, 16};
    static uint32_t to[] = {1, 7, 2, 0, 3, 1, 4, 2, 5, 3, 6, 4, 7, 5, 0, 6};
    static ker_time delay[] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
    static uint32_t load[] = {1, 1, 1, 1, 1, 1, 1, 1}, group[8];
    const struct part_graph graph = {8, first, to, delay, load, group};

    int fd = memfd_create("partition", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    char *text = ker_format("partition: { method = \"file\"; file = \"/proc/self/fd/%d\"; };", fd);
    struct ker_error error = {0};
    struct ker_config *config;
    if (ker_config_parse(&config, "fuzz.cfg", text, NULL, 0, tables, &error) != KER_OK)
        abort();
    struct part_result result;
    enum ker_status status = part_graph_split(&result, &graph, 3, config, &error);
    if (status != KER_OK && (status != KER_BAD_INPUT || error.text[0] == 0))
        abort(); /* refused without a word */
    part_result_release(&result);
    ker_config_free(config);
    free(text);
    close(fd);
    return 0;
}
