/* posix.c - calls of POSIX input and output as records: what libmarstrace-io hands over.
 *
 * They are recorded like those of MPI, under names of their own: POSIX_read and so on. A file is numbered
 * when it is opened, or first used (standard input, output and error).
 */
#include "trc.h"

#include "io.h"

#define DESCRIPTOR ((uintptr_t)1 << 48) /* apart from handles of MPI's files */

TRC_EXPORT void *marstrace_io_enter(unsigned call);
TRC_EXPORT void marstrace_io_leave(void *thread, const struct trc_io *io);

void *marstrace_io_enter(unsigned call)
{
    bool asks = trc.on && trc.io && trc_me && !trc_me->inside; /* the MPI library reads and writes much */
    return asks ? trc_enter_from(TRC_IO_FIRST + call, TRC_CALLER) : NULL;
}

static uintptr_t key_of(const struct trc_io *io)
{
    return DESCRIPTOR | (unsigned)io->file;
}

void marstrace_io_leave(void *thread, const struct trc_io *io)
{
    struct trc_thread *t = thread;
    bool failed = io->got < 0;
    intptr_t file = 0;
    t->returned = trc_wall();
    if (io->call == TRC_IO_OPEN)
        file = failed ? 0 : trc_thing_made(TRC_FILES, key_of(io));
    else
        file = trc_thing_of(TRC_FILES, key_of(io));
    if (io->call == TRC_IO_CLOSE)
        trc_thing_freed(TRC_FILES, key_of(io));
    /* As the words of these functions in functions.c want them. */
    const intptr_t open_[] = {(intptr_t)io->path, io->bytes, file};
    const intptr_t other[] = {file, io->offset, io->bytes, failed ? 0 : io->got};
    t->io_bytes = (io->call >= TRC_IO_READ && io->call <= TRC_IO_PWRITE) ? io->bytes : -1;
    trc_record(t, TRC_IO_FIRST + io->call, io->call == TRC_IO_OPEN ? open_ : other, MPI_SUCCESS);
}
