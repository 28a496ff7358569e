/* end.h - the end of all ranks. Not for other folders. */
#pragma once

/* Ends all ranks when MPI runs, else this process; status -1 ends with abort(), so that a debugger stops
 * there. */
_Noreturn void ker_end_all(int status);
