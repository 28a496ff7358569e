/* partition.file: a partition made by hand or by another program.
 *
 * One rank number a line, line by line for vertex 0, 1, 2, ...; empty lines and what follows a # do not
 * count. Every number is checked here, with its line, so that nothing behind it has to doubt a rank.
 */
#include "partition/parts.h"

#include <stdlib.h>
#include <unistd.h>

struct reader {
    struct ker_lines in;
    uint32_t vertices, ranks, filled;
};

static enum ker_status read_line(struct reader *reader, uint32_t *rank)
{
    struct ker_lines *in = &reader->in;
    const char *begin = in->p;
    uint32_t value;
    if (!ker_take_u32(in, &value) || (ker_take_blanks(in), in->p < in->stop)) {
        in->p = begin;
        return ker_lines_fail(in, "'%.*s' is no rank; a line holds one number from 0 to %u",
                              KER_LINE_REST(in), reader->ranks - 1);
    }
    if (value >= reader->ranks)
        return ker_lines_fail(in, "rank %u does not exist; this run can use ranks 0 to %u", value,
                              reader->ranks - 1);
    if (reader->filled == reader->vertices)
        return ker_lines_fail(in,
                              "more ranks than the %u vertices of this network (switches first, then "
                              "nodes where they are divided too)",
                              reader->vertices);
    rank[reader->filled++] = value;
    return KER_OK;
}

enum ker_status part_file_check(const struct ker_config *config, struct ker_error *error)
{
    if (!ker_config_has(config, "partition.file"))
        return ker_config_fail(
            config, error, "partition.file",
            "is missing; partition.method = \"file\" needs a file with one rank number a line");
    struct ker_error why = {.status = KER_OK};
    int file;
    if (ker_input_open(ker_config_file(config, "partition.file"), KER_INPUT_WHOLE, &file, NULL, &why) !=
        KER_OK)
        return ker_config_fail(config, error, "partition.file", "%s", why.text);
    close(file);
    return KER_OK;
}

enum ker_status part_split_file(const struct part_graph *graph, uint32_t ranks,
                                const struct ker_config *config, uint32_t *rank, struct ker_error *error)
{
    if (part_file_check(config, error) != KER_OK)
        return KER_BAD_INPUT;
    struct reader reader = {.vertices = graph->vertices, .ranks = ranks};
    const char *path = ker_config_file(config, "partition.file");
    char *text; /* of no input: it changes no result */
    enum ker_status status = ker_input_lines(NULL, path, &reader.in, &text, error);
    while (status == KER_OK && ker_lines_next_full(&reader.in))
        status = read_line(&reader, rank);
    free(text);
    if (status == KER_OK && reader.filled < graph->vertices)
        status = ker_lines_fail_at(&reader.in, reader.in.line ? reader.in.line : 1,
                                   "%u ranks for the %u vertices of this network (switches first, then nodes "
                                   "where they are divided too)",
                                   reader.filled, graph->vertices);
    return status;
}
