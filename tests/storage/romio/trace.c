/* trace.c - preloaded: what a process reads from and writes to the file $IO_FILE, "w OFFSET BYTES" a line, in
 * $IO_LOG.RANK. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(int fd, char what, long long offset, size_t bytes)
{
    static FILE *out;
    char link[64], name[512], *rank = getenv("OMPI_COMM_WORLD_RANK");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0)
        return;
    name[length] = '\0';
    if (strcmp(name, getenv("IO_FILE")))
        return;
    if (!out) {
        snprintf(name, sizeof name, "%s.%s", getenv("IO_LOG"), rank ? rank : "x");
        out = fopen(name, "a");
        setvbuf(out, NULL, _IOLBF, 0);
    }
    fprintf(out, "%c %lld %zu\n", what, offset, bytes);
}

#define CALL(name, parameters, arguments, what, where)                                                       \
    ssize_t name parameters                                                                                  \
    {                                                                                                        \
        static ssize_t(*next) parameters;                                                                    \
        if (!next)                                                                                           \
            next = (ssize_t(*) parameters)dlsym(RTLD_NEXT, #name);                                           \
        if (fd > 2)                                                                                          \
            say(fd, what, (long long)(where), bytes);                                                        \
        return next arguments;                                                                               \
    }
CALL(pwrite, (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at), 'w', at)
CALL(pwrite64, (int fd, const void *from, size_t bytes, off64_t at), (fd, from, bytes, at), 'w', at)
CALL(pread, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at), 'r', at)
CALL(pread64, (int fd, void *to, size_t bytes, off64_t at), (fd, to, bytes, at), 'r', at)
CALL(write, (int fd, const void *from, size_t bytes), (fd, from, bytes), 'w', lseek(fd, 0, SEEK_CUR))
CALL(read, (int fd, void *to, size_t bytes), (fd, to, bytes), 'r', lseek(fd, 0, SEEK_CUR))
