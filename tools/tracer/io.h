/* io.h - what libmarstrace-io reports to libmarstrace of a call of POSIX input or output. */
#pragma once

#include <stdint.h>

enum trc_io_call {
    TRC_IO_OPEN,
    TRC_IO_CLOSE,
    TRC_IO_READ,
    TRC_IO_WRITE,
    TRC_IO_PREAD,
    TRC_IO_PWRITE,
    TRC_IO_SEEK,
    TRC_IO_SYNC,
    TRC_IO_CALLS
};

struct trc_io {
    enum trc_io_call call;
    const char *path; /* OPEN */
    int file;         /* descriptor; -1: OPEN failed */
    int64_t offset;   /* of READ and WRITE where there is one, otherwise -1; SEEK: where it led to */
    int64_t bytes;    /* asked for; OPEN: 0 to read, 1 to write, 2 both */
    int64_t got;      /* bytes; below 0: it failed */
};
