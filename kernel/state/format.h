/* format.h - what writer.c and reader.c agree on. Private to kernel/state/. */
#pragma once

#include <stdint.h>

/* The number is of the format of frames; a machine of the other byte order finds another number. */
struct state_head {
    char magic[12];
    uint32_t format;
};
#define STATE_MAGIC "marssim  ck\n"
#define STATE_FORMAT 1u

/* bytes 0: the last frame; its digest is that of the number of all bytes before. */
struct state_frame {
    uint32_t bytes, stored;
    uint64_t digest[2];
};
#define STATE_FRAME_BYTES (1u << 20)

/* Before the bytes of a chunk. */
struct state_chunk {
    uint64_t id;
    uint32_t version, bytes;
    uint8_t name_bytes; /* without the 0; the name follows */
};
#define STATE_CHUNK_BYTES 17u
