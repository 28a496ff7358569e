/* functions.c - the table of functions: those of mpi.table that the installed mpi.h has, and those done by
 * hand. */
#include "trc.h"

const struct trc_function trc_function[TRC_ALL] = {
#include "table.inc"
    [TRC_Init] = {"MPI_Init", "MPI_Init", "", 0, 0, -1, -1, {0}},
    [TRC_Init_thread] = {"MPI_Init_thread", "MPI_Init_thread", "", 0, 0, -1, -1, {0}},
    [TRC_Finalize] = {"MPI_Finalize", "MPI_Finalize", "", 0, 0, -1, -1, {0}},
    [TRC_Abort] = {"MPI_Abort", "MPI_Abort comm value", "ii", 0, 2, 0, -1, {TRC_R_comm, TRC_R_int}},
    [TRC_Pcontrol] = {"MPI_Pcontrol", "MPI_Pcontrol value", "i", 0, 1, -1, -1, {TRC_R_int}},
};
