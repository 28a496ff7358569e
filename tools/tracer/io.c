/* io.c - libmarstrace-io: POSIX input and output between MPI_Init and MPI_Finalize, loaded with --io before
 * the tracer's library.
 *
 * It is a library of its own, so that programs traced without --io keep the C library's functions untouched.
 * Each wrapper asks the tracer whether the call is the program's (not MPI's, and not the tracer's), makes it,
 * and has it recorded. Open files are numbered like those of MPI. What stdio does inside the C library is
 * seen as fread, fwrite and so on; the printf and scanf families are not.
 */
#define _GNU_SOURCE
#include "io.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#undef fread
#undef fwrite

#define EXPORT __attribute__((visibility("default")))

/* The tracer's, when it is there. */
extern __attribute__((weak)) void *marstrace_io_enter(unsigned call);
extern __attribute__((weak)) void marstrace_io_leave(void *thread, const struct trc_io *io);

/* The C library's function of this name; *(void **) since a function's address is no object's in C. */
#define NEXT(name)                                                                                           \
    static __typeof__(name) *next;                                                                           \
    if (!next)                                                                                               \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

#define ENTER(call) void *thread = marstrace_io_enter ? marstrace_io_enter(call) : NULL

static void leave(void *thread, struct trc_io io)
{
    int saved = errno;
    if (thread)
        marstrace_io_leave(thread, &io);
    errno = saved;
}

/* Where what has been read or written began; -1: it is no file that has places. */
static int64_t place(void *thread, int file, int64_t got)
{
    NEXT(lseek);
    off_t at = thread && got >= 0 ? next(file, 0, SEEK_CUR) : -1;
    return at >= 0 ? at - got : -1;
}

static int64_t stream_place(void *thread, FILE *file, size_t got)
{
    off_t at = thread ? ftello(file) : -1;
    return at >= 0 ? (int64_t)at - (int64_t)got : -1;
}

#define OPEN(name)                                                                                           \
    EXPORT int name(const char *path, int flags, ...)                                                        \
    {                                                                                                        \
        va_list arguments;                                                                                   \
        va_start(arguments, flags);                                                                          \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;                         \
        va_end(arguments);                                                                                   \
        NEXT(name);                                                                                          \
        ENTER(TRC_IO_OPEN);                                                                                  \
        int file = next(path, flags, mode);                                                                  \
        leave(thread, (struct trc_io){TRC_IO_OPEN, path, file, -1, flags & O_ACCMODE, file});                \
        return file;                                                                                         \
    }
OPEN(open)
OPEN(open64)

EXPORT int close(int file)
{
    NEXT(close);
    ENTER(TRC_IO_CLOSE);
    int result = next(file);
    leave(thread, (struct trc_io){TRC_IO_CLOSE, NULL, file, -1, 0, result});
    return result;
}

EXPORT ssize_t read(int file, void *to, size_t bytes)
{
    NEXT(read);
    ENTER(TRC_IO_READ);
    ssize_t got = next(file, to, bytes);
    leave(thread, (struct trc_io){TRC_IO_READ, NULL, file, place(thread, file, got), (int64_t)bytes, got});
    return got;
}

EXPORT ssize_t write(int file, const void *from, size_t bytes)
{
    NEXT(write);
    ENTER(TRC_IO_WRITE);
    ssize_t got = next(file, from, bytes);
    leave(thread, (struct trc_io){TRC_IO_WRITE, NULL, file, place(thread, file, got), (int64_t)bytes, got});
    return got;
}

#define PREAD(name, offset_type)                                                                             \
    EXPORT ssize_t name(int file, void *to, size_t bytes, offset_type offset)                                \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        ENTER(TRC_IO_PREAD);                                                                                 \
        ssize_t got = next(file, to, bytes, offset);                                                         \
        leave(thread, (struct trc_io){TRC_IO_PREAD, NULL, file, offset, (int64_t)bytes, got});               \
        return got;                                                                                          \
    }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

#define PWRITE(name, offset_type)                                                                            \
    EXPORT ssize_t name(int file, const void *from, size_t bytes, offset_type offset)                        \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        ENTER(TRC_IO_PWRITE);                                                                                \
        ssize_t got = next(file, from, bytes, offset);                                                       \
        leave(thread, (struct trc_io){TRC_IO_PWRITE, NULL, file, offset, (int64_t)bytes, got});              \
        return got;                                                                                          \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define LSEEK(name, offset_type)                                                                             \
    EXPORT offset_type name(int file, offset_type offset, int whence)                                        \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        ENTER(TRC_IO_SEEK);                                                                                  \
        offset_type at = next(file, offset, whence);                                                         \
        leave(thread, (struct trc_io){TRC_IO_SEEK, NULL, file, at, 0, at});                                  \
        return at;                                                                                           \
    }
LSEEK(lseek, off_t)
LSEEK(lseek64, off64_t)

EXPORT int fsync(int file)
{
    NEXT(fsync);
    ENTER(TRC_IO_SYNC);
    int result = next(file);
    leave(thread, (struct trc_io){TRC_IO_SYNC, NULL, file, -1, 0, result});
    return result;
}

#define FOPEN(name)                                                                                          \
    EXPORT FILE *name(const char *path, const char *mode)                                                    \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        ENTER(TRC_IO_OPEN);                                                                                  \
        FILE *file = next(path, mode);                                                                       \
        int access = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;                      \
        leave(thread,                                                                                        \
              (struct trc_io){TRC_IO_OPEN, path, file ? fileno(file) : -1, -1, access, file ? 0 : -1});      \
        return file;                                                                                         \
    }
FOPEN(fopen)
FOPEN(fopen64)

EXPORT int fclose(FILE *file)
{
    NEXT(fclose);
    ENTER(TRC_IO_CLOSE);
    int number = file ? fileno(file) : -1, result = next(file);
    leave(thread, (struct trc_io){TRC_IO_CLOSE, NULL, number, -1, 0, result});
    return result;
}

EXPORT size_t fread(void *to, size_t size, size_t count, FILE *file)
{
    NEXT(fread);
    ENTER(TRC_IO_READ);
    size_t got = next(to, size, count, file);
    leave(thread, (struct trc_io){TRC_IO_READ, NULL, fileno(file), stream_place(thread, file, size * got),
                                  (int64_t)(size * count), (int64_t)(size * got)});
    return got;
}

EXPORT size_t fwrite(const void *from, size_t size, size_t count, FILE *file)
{
    NEXT(fwrite);
    ENTER(TRC_IO_WRITE);
    size_t got = next(from, size, count, file);
    leave(thread, (struct trc_io){TRC_IO_WRITE, NULL, fileno(file), stream_place(thread, file, size * got),
                                  (int64_t)(size * count), (int64_t)(size * got)});
    return got;
}
