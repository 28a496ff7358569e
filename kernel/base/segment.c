/* segment.c - shared memory of POSIX; see segment.h.
 *
 * The name is removed as soon as all have opened it, so that nothing is left behind however the run ends. The
 * memory is taken at once (posix_fallocate): where it is scarce the ranks hear of it here, and not by a
 * signal when they write.
 *
 * A window of MPI (MPI_Win_allocate_shared) does the same by a dozen collectives that wait polling, each of
 * which takes milliseconds where other processes are busy.
 */
#include "kernel/base/segment.h"

#include "kernel/base/clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void *file_map(int file, size_t bytes)
{
    void *block = file < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    return block == MAP_FAILED ? NULL : block;
}

void *segment_make(size_t bytes, struct segment_name *name)
{
    snprintf(name->text, sizeof name->text, "/marssim-%ld-%llx", (long)getpid(),
             (unsigned long long)ker_clock_ns(CLOCK_REALTIME));
    int file = shm_open(name->text, O_RDWR | O_CREAT | O_EXCL, 0600);
    bool taken = file >= 0 && posix_fallocate(file, 0, (off_t)bytes) == 0;
    void *block = file_map(file, bytes);
    if (taken && block)
        return block;
    segment_close(block, bytes);
    if (file >= 0)
        segment_forget(name);
    name->text[0] = '\0';
    return NULL;
}

void *segment_open(size_t bytes, const struct segment_name *name)
{
    return name->text[0] ? file_map(shm_open(name->text, O_RDWR, 0), bytes) : NULL;
}

void segment_forget(const struct segment_name *name)
{
    if (name->text[0])
        shm_unlink(name->text);
}

void segment_close(void *block, size_t bytes)
{
    if (block)
        munmap(block, bytes);
}
