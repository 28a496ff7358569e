/* end.c - the end of all ranks at once, for whoever finds that nothing can continue: a broken invariant, no
 * memory.
 *
 * It needs no communicator and no memory, and uses nothing else of kernel/.
 */
#include "kernel/base/end.h"

#include <mpi.h>
#include <stdlib.h>

void ker_end_all(int status)
{
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    if (started)
        MPI_Finalized(&ended);
    if (started && !ended)
        MPI_Abort(MPI_COMM_WORLD,
                  status < 0 ? 134 : status); /* 128 + SIGABRT, what a shell shows for abort() */
    if (status < 0)
        abort();
    exit(status);
}
