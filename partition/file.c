/* partition.file: a partition made by hand or by another program.
 *
 * One rank number a line, line by line for vertex 0, 1, 2, ...; empty lines and what follows a # do not
 * count. Every number is checked here, with its line, so that nothing behind it has to doubt a rank.
 */
#include "partition/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reader {
    const char *path;
    unsigned long line;
    uint32_t vertices, ranks, filled;
};

static enum ker_status read_line(struct reader *reader, char *text, uint32_t *rank, struct ker_error *error)
{
    char *end = strchr(text, '#');
    if (end)
        *end = 0;
    text += strspn(text, " \t\r\n");
    if (*text == 0)
        return KER_OK;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || errno || end[strspn(end, " \t\r\n")] != 0)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s:%lu: '%.*s' is no rank; a line holds one number from 0 to %u", reader->path,
                        reader->line, (int)strcspn(text, "\r\n"), text, reader->ranks - 1);
    if (value >= reader->ranks)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s:%lu: rank %llu does not exist; this run can use ranks 0 to %u", reader->path,
                        reader->line, value, reader->ranks - 1);
    if (reader->filled == reader->vertices)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s:%lu: more ranks than the %u vertices of this network (switches first, then "
                        "nodes where they are divided too)",
                        reader->path, reader->line, reader->vertices);
    rank[reader->filled++] = (uint32_t)value;
    return KER_OK;
}

enum ker_status part_file_check(const struct ker_config *config, struct ker_error *error)
{
    if (!ker_config_has(config, "partition.file"))
        return ker_config_fail(
            config, error, "partition.file",
            "is missing; partition.method = \"file\" needs a file with one rank number a line");
    struct ker_error why = {.status = KER_OK};
    int file = ker_input_open(ker_config_file(config, "partition.file"), KER_INPUT_WHOLE, NULL, &why);
    if (file < 0)
        return ker_config_fail(config, error, "partition.file", "%s", why.text);
    close(file);
    return KER_OK;
}

enum ker_status part_split_file(const struct part_graph *graph, uint32_t ranks,
                                const struct ker_config *config, uint32_t *rank, struct ker_error *error)
{
    if (part_file_check(config, error) != KER_OK)
        return KER_BAD_INPUT;
    struct reader reader = {ker_config_file(config, "partition.file"), 0, graph->vertices, ranks, 0};
    int file = ker_input_open(reader.path, KER_INPUT_WHOLE, NULL, error);
    FILE *in = file < 0 ? NULL : fdopen(file, "r");
    enum ker_status status = in ? KER_OK : KER_BAD_INPUT;
    char *text = NULL;
    size_t room = 0;
    while (status == KER_OK && getline(&text, &room, in) >= 0) {
        reader.line++;
        status = read_line(&reader, text, rank, error);
    }
    free(text);
    if (in)
        fclose(in);
    if (status == KER_OK && reader.filled < graph->vertices)
        status = ker_fail(error, KER_BAD_INPUT,
                          "%s: %u ranks for the %u vertices of this network (switches first, then nodes "
                          "where they are divided too)",
                          reader.path, reader.filled, graph->vertices);
    return status;
}
