/* pieces.c - a result file that grows during the run, as part of a checkpoint: its bytes, in chunks.
 */
#include "stats/series.h"

#include <stdlib.h>

#define PIECE_BYTES (1u << 20)

void stats_file_save(const char *path, struct ker_state_writer *writer, const char *chunk, uint64_t *number,
                     void (*head)(void *context, struct ker_chunk *, bool begins), void *context)
{
    FILE *in = path ? fopen(path, "r") : NULL;
    char *piece = ker_alloc(PIECE_BYTES);
    size_t bytes = 0;
    bool begins = true;
    do {
        struct ker_chunk *c = ker_state_begin(writer, chunk, 1, (*number)++);
        head(context, c, begins);
        bytes = in ? fread(piece, 1, PIECE_BYTES, in) : 0;
        ker_chunk_bytes(c, piece, bytes);
        ker_state_end(writer);
        begins = false;
    } while (bytes == PIECE_BYTES);
    free(piece);
    if (in)
        fclose(in);
}
