/* checksum.c - the checksum of a result file: that of the command cksum, so that nobody needs a program of
 * ours to compare.
 *
 * The CRC of POSIX: generator 0x04C11DB7, most significant bit first, over the bytes and then over their
 * number, least significant byte first and without leading zeros; complemented. Eight bytes are taken at a
 * time: row k of the table has the remainder of each byte when k zero bytes follow it.
 */
#include "stats/stats.h"

#include <stdlib.h>
#include <unistd.h>

#define GENERATOR 0x04C11DB7u
#define PIECE 16384 /* a multiple of 8, on the stack */

typedef uint32_t remainders[8][256];

static void remainders_make(remainders table)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        table[0][byte] = byte << 24;
        for (int bit = 0; bit < 8; bit++)
            table[0][byte] = table[0][byte] << 1 ^ (table[0][byte] >> 31) * GENERATOR;
    }
    for (int row = 1; row < 8; row++)
        for (uint32_t byte = 0; byte < 256; byte++)
            table[row][byte] = table[row - 1][byte] << 8 ^ table[0][table[row - 1][byte] >> 24];
}

static uint32_t bytes_add(remainders table, uint32_t sum, const unsigned char *at, size_t bytes)
{
    for (; bytes >= 8; bytes -= 8, at += 8) {
        uint64_t eight = 0;
        for (int i = 0; i < 8; i++)
            eight = eight << 8 | at[i];
        eight ^= (uint64_t)sum << 32;
        sum = 0;
        for (int row = 0; row < 8; row++)
            sum ^= table[row][eight >> 8 * row & 255];
    }
    for (; bytes > 0; bytes--)
        sum = sum << 8 ^ table[0][sum >> 24 ^ *at++];
    return sum;
}

json_t *stats_checksum_json(const char *folder, const char *name)
{
    struct ker_error error; /* nobody reads it */
    error.status = KER_OK;
    int file;
    char *path = ker_format("%s/%s", folder, name);
    ker_input_open(path, UINT64_MAX, &file, NULL, &error);
    free(path);
    if (file < 0)
        return NULL;
    uint32_t sum = 0;
    uint64_t all = 0;
    ssize_t got;
    unsigned char piece[PIECE];
    remainders table;
    remainders_make(table);
    while ((got = ker_input_piece(file, (char *)piece, PIECE)) > 0) {
        sum = bytes_add(table, sum, piece, (size_t)got);
        all += (uint64_t)got;
    }
    for (uint64_t rest = all; rest; rest >>= 8)
        sum = bytes_add(table, sum, &(unsigned char){rest & 255}, 1);
    close(file);
    return got < 0 ? NULL
                   : json_pack("{s:I, s:I}", "bytes", (json_int_t)all, "cksum", (json_int_t)(uint32_t)~sum);
}
