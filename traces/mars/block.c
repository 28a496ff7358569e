/* block.c - heads, block headers and sections: where bytes lie, and what is checked when they are read.
 *
 * Of a section nothing is believed but what its zstd frame says and bears out: it is unpacked up to the size
 * that precedes it, and has to end there.
 */
#include "traces/mars/block.h"

#include "traces/mars/varint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define SECTION_MOST ((size_t)1 << 28)

bool mars_fail(struct mars_error *error, const char *format, ...)
{
    if (error && !error->text[0]) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return false;
}

uint32_t mars_crc(const uint8_t *data, size_t bytes)
{
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                       0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = ~0u;
    for (size_t i = 0; i < bytes; i++) {
        crc = crc >> 4 ^ table[(crc ^ data[i]) & 15];
        crc = crc >> 4 ^ table[(crc ^ data[i] >> 4) & 15];
    }
    return ~crc;
}

/* Letters without the 0 that ends a text. */
static void letters_put(uint8_t *to, const char *text)
{
    for (; *text; text++)
        *to++ = (uint8_t)*text;
}

void mars_head_put(uint8_t head[MARS_HEAD_BYTES], enum mars_file_kind kind)
{
    letters_put(head, MARS_MAGIC);
    mars_store(head + 8, MARS_VERSION, 2);
    mars_store(head + 10, (uint64_t)kind, 2);
    mars_store(head + 12, mars_crc(head, 12), 4);
}

bool mars_head_known(const uint8_t *data, size_t bytes)
{
    return bytes >= 8 && memcmp(data, MARS_MAGIC, 8) == 0;
}

bool mars_head_get(const uint8_t *data, size_t bytes, enum mars_file_kind *kind, const char *name,
                   struct mars_error *error)
{
    if (!mars_head_known(data, bytes))
        return mars_fail(error, "%s: not a trace of marstrace (it begins otherwise)", name);
    if (bytes < MARS_HEAD_BYTES)
        return mars_fail(error, "%s: cut inside its head, at byte %zu", name, bytes);
    unsigned version = (unsigned)mars_load(data + 8, 2);
    *kind = (enum mars_file_kind)mars_load(data + 10, 2);
    if (mars_crc(data, 12) != mars_load(data + 12, 4))
        return mars_fail(error, "%s: damaged: the checksum of its head is wrong", name);
    if (version != MARS_VERSION)
        return mars_fail(error, "%s: version %u of the trace format; this program reads version %d", name,
                         version, MARS_VERSION);
    if (*kind != MARS_FILE_TASK && *kind != MARS_FILE_MERGED)
        return mars_fail(error, "%s: a trace file of kind %d, which this program does not know", name,
                         (int)*kind);
    return true;
}

void mars_block_put(uint8_t header[MARS_BLOCK_BYTES], const struct mars_block *block)
{
    memset(header, 0, MARS_BLOCK_BYTES);
    letters_put(header, MARS_BLOCK_MAGIC);
    header[8] = block->kind;
    mars_store(header + 10, block->thread, 2);
    mars_store(header + 12, block->task, 4);
    mars_store(header + 16, block->sequence, 4);
    mars_store(header + 20, block->records, 4);
    mars_store(header + 24, block->payload_bytes, 4);
    mars_store(header + 32, block->start_ns, 8);
    mars_store(header + 40, block->before, 8);
    mars_store(header + 48, block->elapsed, 8);
    mars_store(header + 56, block->calls, 8);
    mars_store(header + 4, mars_crc(header + 8, MARS_BLOCK_BYTES - 8), 4);
}

bool mars_block_get(const uint8_t *data, size_t bytes, struct mars_block *block)
{
    if (bytes < MARS_BLOCK_BYTES || memcmp(data, MARS_BLOCK_MAGIC, 4) != 0 ||
        mars_crc(data + 8, MARS_BLOCK_BYTES - 8) != mars_load(data + 4, 4))
        return false;
    *block = (struct mars_block){.kind = data[8],
                                 .thread = (uint16_t)mars_load(data + 10, 2),
                                 .task = (uint32_t)mars_load(data + 12, 4),
                                 .sequence = (uint32_t)mars_load(data + 16, 4),
                                 .records = (uint32_t)mars_load(data + 20, 4),
                                 .payload_bytes = (uint32_t)mars_load(data + 24, 4),
                                 .start_ns = mars_load(data + 32, 8),
                                 .before = mars_load(data + 40, 8),
                                 .elapsed = mars_load(data + 48, 8),
                                 .calls = mars_load(data + 56, 8)};
    return block->payload_bytes <= MARS_PAYLOAD_MOST;
}

/* ---- made ---- */

void mars_payload_init(struct mars_payload *payload, int level)
{
    *payload = (struct mars_payload){.level = level};
}

void mars_payload_release(struct mars_payload *payload)
{
    free(payload->data);
    ZSTD_freeCCtx(payload->zstd);
    *payload = (struct mars_payload){0};
}

static bool room_for(uint8_t **data, size_t *room, size_t wanted)
{
    if (wanted <= *room)
        return true;
    size_t more = *room + *room / 2 + 4096;
    more = more > wanted ? more : wanted;
    uint8_t *larger = realloc(*data, more);
    if (!larger)
        return false;
    *data = larger;
    *room = more;
    return true;
}

void mars_payload_begin(struct mars_payload *payload)
{
    payload->bytes = MARS_BLOCK_BYTES;
}

void mars_payload_section(struct mars_payload *payload, enum mars_section_kind kind, const void *data,
                          size_t bytes)
{
    size_t bound = ZSTD_compressBound(bytes);
    if (bytes == 0 || payload->bad)
        return;
    if (!payload->zstd) {
        payload->zstd = ZSTD_createCCtx();
        if (payload->zstd) {
            ZSTD_CCtx_setParameter(payload->zstd, ZSTD_c_compressionLevel, payload->level);
            ZSTD_CCtx_setParameter(payload->zstd, ZSTD_c_checksumFlag, 1);
        }
    }
    if (!payload->zstd ||
        !room_for(&payload->data, &payload->room, payload->bytes + 3 * MARS_VARINT_MOST + bound)) {
        payload->bad = true;
        return;
    }
    /* The frame first, behind the most that its lengths can take; then moved up to them. */
    uint8_t *start = payload->data + payload->bytes, *frame = start + 3 * MARS_VARINT_MOST;
    size_t stored = ZSTD_compress2(payload->zstd, frame, bound, data, bytes);
    if (ZSTD_isError(stored)) {
        payload->bad = true;
        return;
    }
    uint8_t *at = mars_put(mars_put(mars_put(start, (uint64_t)kind), bytes), stored);
    memmove(at, frame, stored);
    payload->bytes = (size_t)(at - payload->data) + stored;
}

bool mars_payload_end(struct mars_payload *payload, struct mars_block *block)
{
    bool fine = !payload->bad && room_for(&payload->data, &payload->room, MARS_BLOCK_BYTES);
    payload->bad = false;
    if (!fine)
        return false;
    block->payload_bytes = (uint32_t)(payload->bytes - MARS_BLOCK_BYTES);
    mars_block_put(payload->data, block);
    return true;
}

/* ---- read ---- */

void mars_sections_release(struct mars_sections *sections)
{
    free(sections->data);
    ZSTD_freeDCtx(sections->zstd);
    *sections = (struct mars_sections){0};
}

static bool section_get(struct mars_sections *sections, struct mars_bytes *from, struct mars_error *error)
{
    uint64_t kind = mars_get(from), bytes = mars_get(from), stored = mars_get(from);
    const uint8_t *frame = mars_get_bytes(from, stored);
    if (from->bad || kind > 255 || sections->count == MARS_SECTIONS)
        return mars_fail(error, "a section does not fit into its block");
    if (kind >= MARS_SECTION_PACKED && kind <= MARS_SECTION_PACKED_LAST)
        return mars_fail(error,
                         "its times are packed, which is no longer read: merge the files of its tasks again");
    if (bytes > SECTION_MOST || sections->bytes + bytes > SECTION_MOST ||
        ZSTD_getFrameContentSize(frame, stored) != bytes)
        return mars_fail(error, "a section of %llu bytes is not as long as it says",
                         (unsigned long long)bytes);
    if (!sections->zstd)
        sections->zstd = ZSTD_createDCtx();
    if (!sections->zstd || !room_for(&sections->data, &sections->room, sections->bytes + bytes + 1))
        return mars_fail(error, "no memory for a section of %llu bytes", (unsigned long long)bytes);
    uint8_t *to = sections->data + sections->bytes; /* never NULL */
    sections->section[sections->count].kind = (uint8_t)kind;
    sections->section[sections->count].at = sections->bytes;
    sections->section[sections->count++].bytes = bytes;
    sections->bytes += bytes;
    size_t got = ZSTD_decompressDCtx(sections->zstd, to, bytes, frame, stored);
    return !ZSTD_isError(got) || mars_fail(error, "a section cannot be unpacked: %s", ZSTD_getErrorName(got));
}

bool mars_sections_get(struct mars_sections *sections, const uint8_t *payload, size_t bytes,
                       struct mars_error *error)
{
    struct mars_bytes from = {payload, payload ? payload + bytes : payload, false};
    sections->count = 0;
    sections->bytes = 0;
    while (from.at < from.end)
        if (!section_get(sections, &from, error))
            return false;
    return true;
}

const uint8_t *mars_section(const struct mars_sections *sections, enum mars_section_kind kind, size_t *bytes)
{
    *bytes = 0;
    for (uint32_t i = 0; i < sections->count; i++)
        if (sections->section[i].kind == kind) {
            *bytes = sections->section[i].bytes;
            return sections->data + sections->section[i].at;
        }
    return (const uint8_t *)"";
}
