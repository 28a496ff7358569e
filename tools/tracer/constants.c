/* constants.c - constants of MPI as docs/trace-format.md numbers them, since libraries number them in their
 * own ways. */
#include "call.h"

static int64_t bits(intptr_t value, const int *bit, unsigned count)
{
    int64_t result = 0;
    for (unsigned i = 0; i < count; i++)
        if (value & bit[i])
            result |= (int64_t)1 << i;
    return result;
}

int64_t trc_constant(unsigned role, intptr_t value)
{
    static const int asserts[] = {MPI_MODE_NOCHECK, MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOPRECEDE,
                                  MPI_MODE_NOSUCCEED};
    static const int modes[] = {MPI_MODE_RDONLY,      MPI_MODE_RDWR,       MPI_MODE_WRONLY,
                                MPI_MODE_CREATE,      MPI_MODE_EXCL,       MPI_MODE_DELETE_ON_CLOSE,
                                MPI_MODE_UNIQUE_OPEN, MPI_MODE_SEQUENTIAL, MPI_MODE_APPEND};
    switch (role & 0xff) {
    case TRC_R_lock:
        return value == MPI_LOCK_EXCLUSIVE ? 1 : 2;
    case TRC_R_assert:
        return bits(value, asserts, sizeof asserts / sizeof *asserts);
    case TRC_R_amode:
        return bits(value, modes, sizeof modes / sizeof *modes);
    case TRC_R_whence:
        return value == MPI_SEEK_SET ? 0 : value == MPI_SEEK_CUR ? 1 : 2;
    case TRC_R_color:
        return value == MPI_UNDEFINED ? -1 : value;
    default: /* splittype */
        return value == MPI_UNDEFINED ? -1 : value == MPI_COMM_TYPE_SHARED ? 1 : 0;
    }
}
