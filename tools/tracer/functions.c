/* functions.c - the table of functions: those of functions.def that the installed mpi.h has, and those done
 * by hand. */
#include "trc.h"

#include "io.h"

_Static_assert(TRC_IO_CALLS == TRC_ALL - TRC_IO_FIRST, "a record for each call of POSIX");

const struct trc_function trc_function[TRC_ALL] = {
#include "table.inc"
    [TRC_Init] = {"MPI_Init", "MPI_Init", "", 0, 0, -1, -1, {0}},
    [TRC_Init_thread] = {"MPI_Init_thread", "MPI_Init_thread", "", 0, 0, -1, -1, {0}},
    [TRC_Finalize] = {"MPI_Finalize", "MPI_Finalize", "", 0, 0, -1, -1, {0}},
    [TRC_Abort] = {"MPI_Abort", "MPI_Abort comm value", "ii", 0, 2, 0, -1, {TRC_R_comm, TRC_R_int}},
    [TRC_Pcontrol] = {"MPI_Pcontrol", "MPI_Pcontrol value", "i", 0, 1, -1, -1, {TRC_R_int}},
    [TRC_IO_FIRST + TRC_IO_OPEN] = {"POSIX_open",
                                    "POSIX_open name$ value newfile",
                                    "",
                                    0,
                                    3,
                                    -1,
                                    -1,
                                    {TRC_R_name, TRC_R_number, TRC_R_number}},
    [TRC_IO_FIRST + TRC_IO_CLOSE] = {"POSIX_close", "POSIX_close file", "", 0, 1, -1, -1, {TRC_R_number}},
    [TRC_IO_FIRST + TRC_IO_READ] = {"POSIX_read",
                                    "POSIX_read file offset recvbytes got",
                                    "",
                                    0,
                                    4,
                                    -1,
                                    -1,
                                    {TRC_R_number, TRC_R_number, TRC_R_number, TRC_R_number}},
    [TRC_IO_FIRST + TRC_IO_WRITE] = {"POSIX_write",
                                     "POSIX_write file offset bytes got",
                                     "",
                                     0,
                                     4,
                                     -1,
                                     -1,
                                     {TRC_R_number, TRC_R_number, TRC_R_number, TRC_R_number}},
    [TRC_IO_FIRST + TRC_IO_PREAD] = {"POSIX_pread",
                                     "POSIX_pread file offset recvbytes got",
                                     "",
                                     0,
                                     4,
                                     -1,
                                     -1,
                                     {TRC_R_number, TRC_R_number, TRC_R_number, TRC_R_number}},
    [TRC_IO_FIRST + TRC_IO_PWRITE] = {"POSIX_pwrite",
                                      "POSIX_pwrite file offset bytes got",
                                      "",
                                      0,
                                      4,
                                      -1,
                                      -1,
                                      {TRC_R_number, TRC_R_number, TRC_R_number, TRC_R_number}},
    [TRC_IO_FIRST + TRC_IO_SEEK] =
        {"POSIX_lseek", "POSIX_lseek file offset", "", 0, 2, -1, -1, {TRC_R_number, TRC_R_number}},
    [TRC_IO_FIRST + TRC_IO_SYNC] = {"POSIX_fsync", "POSIX_fsync file", "", 0, 1, -1, -1, {TRC_R_number}},
};
