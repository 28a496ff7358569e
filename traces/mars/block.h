/* block.h - the pieces a trace file is made of; docs/trace-format.md describes them byte by byte.
 *
 * A file is a head and blocks. A block is a header of MARS_BLOCK_BYTES with a checksum of its own, and a
 * payload of sections, each a zstd frame with zstd's checksum. Blocks stand for themselves: a file that was
 * cut can be read up to its last whole block, and blocks can be read in any order.
 *
 * Nothing in this folder's codec needs MPI or the simulator: it is also linked into the library that is
 * loaded into traced programs. So errors are texts, and running out of memory is one of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARS_VERSION 2
#define MARS_HEAD_BYTES 16
#define MARS_BLOCK_BYTES 64
#define MARS_MAGIC "marstrc\n"
#define MARS_BLOCK_MAGIC "mBlk"
#define MARS_SECTIONS 20                      /* of a block, at most */
#define MARS_PAYLOAD_MOST ((uint32_t)1 << 28) /* bytes */

struct mars_error {
    char text[1024];
};
/* Fills in the text, if there is none yet; returns false. */
bool mars_fail(struct mars_error *, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum mars_file_kind { MARS_FILE_TASK = 1, MARS_FILE_MERGED = 2 };

void mars_head_put(uint8_t head[MARS_HEAD_BYTES], enum mars_file_kind kind);
/* Is it the beginning of a trace file, of whatever version? */
bool mars_head_known(const uint8_t *data, size_t bytes);
/* `name` is the file's, for the error's text. */
bool mars_head_get(const uint8_t *data, size_t bytes, enum mars_file_kind *kind, const char *name,
                   struct mars_error *error);

enum mars_block_kind {
    MARS_BLOCK_CALLS = 1,
    MARS_BLOCK_DEFINITIONS = 2,
    MARS_BLOCK_END = 3,   /* of a task: it came to its end */
    MARS_BLOCK_INDEX = 4, /* of a merged file; the file's last */
};

struct mars_block {
    uint8_t kind;
    uint16_t thread;
    uint32_t task, sequence; /* of the blocks of this kind, task and thread, from 0 */
    uint32_t records, payload_bytes;
    uint64_t start_ns; /* time of day when its first record's computation began */
    uint64_t before;   /* calls in earlier blocks */
    uint64_t elapsed;  /* time of the records of earlier blocks, in units of the resolution */
    uint64_t calls;    /* in this one, each poll counted */
};

void mars_block_put(uint8_t header[MARS_BLOCK_BYTES], const struct mars_block *block);
/* False: these are no 64 bytes of a block's header. */
bool mars_block_get(const uint8_t *data, size_t bytes, struct mars_block *block);

enum mars_section_kind {
    MARS_SECTION_SHAPES = 1,   /* what is called and with what, each once */
    MARS_SECTION_ORDER = 2,    /* which shape comes when */
    MARS_SECTION_GAP = 3,      /* computation before each call */
    MARS_SECTION_AWAY = 4,     /* of that, not on a processor */
    MARS_SECTION_DURATION = 5, /* of each call */
    MARS_SECTION_POLLS = 6,    /* of folded polls */
    MARS_SECTION_COUNTERS = 7,
    MARS_SECTION_DEFINITIONS = 8,
    MARS_SECTION_INDEX = 9,
    MARS_SECTION_GAP_BITS = 10, /* times.h: the sections above have the classes */
    MARS_SECTION_AWAY_BITS = 11,
    MARS_SECTION_DURATION_BITS = 12,
    MARS_SECTION_OWN = 13,    /* between the record before and this one's end, and in none of its times */
    MARS_SECTION_PACKED = 14, /* to 17: times as merged files had them for a while; refused */
    MARS_SECTION_PACKED_LAST = 17,
};

/* Payloads being made. */
struct mars_payload {
    uint8_t *data;
    size_t bytes, room;
    void *zstd; /* its context */
    int level;
    bool bad; /* no memory */
};
void mars_payload_init(struct mars_payload *, int level);
void mars_payload_release(struct mars_payload *);
/* Begins a new block: leaves room for the header. */
void mars_payload_begin(struct mars_payload *);
void mars_payload_section(struct mars_payload *, enum mars_section_kind, const void *data, size_t bytes);
/* Fills in the header; the block is then data[0 ... bytes). False: no memory. */
bool mars_payload_end(struct mars_payload *, struct mars_block *);

/* Payloads being read: the sections, unpacked into one growing buffer. */
struct mars_sections {
    struct {
        uint8_t kind;
        size_t at, bytes; /* in `data` */
    } section[MARS_SECTIONS];
    uint32_t count;
    uint8_t *data;
    size_t bytes, room;
    void *zstd;
};
void mars_sections_release(struct mars_sections *);
bool mars_sections_get(struct mars_sections *, const uint8_t *payload, size_t bytes,
                       struct mars_error *error);
/* The bytes of a section, 0 when the block has no such; never NULL. */
const uint8_t *mars_section(const struct mars_sections *, enum mars_section_kind, size_t *bytes);

/* CRC-32 (polynomial 0x04C11DB7 reflected), as zlib's. */
uint32_t mars_crc(const uint8_t *data, size_t bytes);
