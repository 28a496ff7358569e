/* memory.c - allocation that ends the run instead of failing.
 *
 * Small blocks come from malloc. Reserved blocks of at least two megabytes are mapped by themselves, aligned
 * to the size of a huge page and offered to the kernel for huge pages (15 % of the run time of a large torus
 * in the prototypes); both kinds are zeroed. Whether a block was mapped follows from its size alone, so
 * ker_release needs the size it was reserved with and no header is kept before the block.
 */
#include "kernel/base/memory.h"

#include "kernel/base/end.h"
#include "kernel/base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define LINE_BYTES 64
#define HUGE_BYTES ((size_t)2 << 20)

#define KEPT_BYTES ((size_t)16 << 20) /* for writing results when memory is out */

static jmp_buf *refuge;
static void *kept;
static char lack[200];

void ker_memory_refuge(jmp_buf *to)
{
    if (to && !kept)
        kept = malloc(KEPT_BYTES);
    refuge = to;
}

const char *ker_memory_lack(void)
{
    return lack[0] ? lack : NULL;
}

void ker_memory_out(const char *format, ...)
{
    jmp_buf *to = refuge;
    KER_FORMATTED(lack, format);
    free(kept);
    kept = NULL;
    refuge = NULL;
    if (to)
        longjmp(*to, 1);
    fprintf(stderr, "marssim: error: out of memory: %s\n", lack);
    ker_end_all(KER_RUN_FAILED);
}

static _Noreturn void out_of_memory(size_t bytes)
{
    ker_memory_out("asked for %zu bytes, have %llu MiB at the peak", bytes,
                   (unsigned long long)(ker_peak_rss() >> 20));
}

void *ker_alloc(size_t bytes)
{
    void *block = calloc(1, bytes ? bytes : 1);
    if (!block)
        out_of_memory(bytes);
    return block;
}

void *ker_realloc(void *old, size_t bytes)
{
    void *block = realloc(old, bytes ? bytes : 1);
    if (!block)
        out_of_memory(bytes);
    return block;
}

void ker_free_each(void *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
}

void ker_free_all(void *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *block; /* of whatever type */
        memcpy(&block, (char *)list + i * sizeof block, sizeof block);
        free(block);
    }
    free(list);
}

char *ker_format(const char *format, ...)
{
    char small[256]; /* most texts fit, and are made once */
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(small, sizeof small, format, again);
    va_end(again);
    char *text = ker_alloc(length < 0 ? 1 : (size_t)length + 1);
    if (length >= (int)sizeof small)
        vsnprintf(text, (size_t)length + 1, format, arguments);
    else if (length > 0)
        memcpy(text, small, (size_t)length);
    va_end(arguments);
    return text;
}

static bool is_mapped(size_t bytes)
{
    return bytes >= HUGE_BYTES;
}

/* Maps one huge page more than needed and gives the ends back, so that the block begins at a huge page. */
static void *map_aligned(size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    char *base = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    size_t page = 4096, length = (bytes + page - 1) / page * page;
    size_t before = (HUGE_BYTES - (uintptr_t)base % HUGE_BYTES) % HUGE_BYTES;
    size_t after = (bytes + HUGE_BYTES + page - 1) / page * page - before - length;
    if (before)
        munmap(base, before);
    if (after)
        munmap(base + before + length, after);
    return base + before;
}

void *ker_reserve(size_t bytes)
{
    void *block;
    if (is_mapped(bytes)) {
        block = map_aligned(bytes);
        if (block) /* a wish; where it is not granted small pages serve */
            madvise(block, bytes, MADV_HUGEPAGE);
    } else {
        size_t lines = (bytes + LINE_BYTES - 1) / LINE_BYTES;
        block = aligned_alloc(LINE_BYTES, (lines ? lines : 1) * LINE_BYTES);
        if (block)
            memset(block, 0, (lines ? lines : 1) * LINE_BYTES);
    }
    if (!block)
        out_of_memory(bytes);
    return block;
}

void ker_release(void *block, size_t bytes)
{
    if (!block)
        return;
    if (is_mapped(bytes))
        munmap(block, bytes);
    else
        free(block);
}

void *ker_alloc_pages(size_t pages)
{
    void *block = aligned_alloc(KER_PAGE, pages * KER_PAGE);
    if (!block)
        out_of_memory(pages * KER_PAGE);
    return block;
}

void ker_forget(void *from, size_t bytes)
{
    uintptr_t page = KER_PAGE, begin = ((uintptr_t)from + page - 1) / page * page,
              end = ((uintptr_t)from + bytes) / page * page;
    if (end > begin)
        madvise((char *)from + (begin - (uintptr_t)from), end - begin, MADV_DONTNEED);
}

/* ---- memory that is used here and there ---- */

void *ker_map(size_t bytes)
{
    void *block = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        out_of_memory(bytes);
    return block;
}

void ker_unmap(void *block, size_t bytes)
{
    if (block)
        munmap(block, bytes ? bytes : 1);
}

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1; older ones refuse it */
#endif

void ker_sparse_init(struct ker_sparse *s, size_t bytes)
{
    *s = (struct ker_sparse){.bytes = bytes ? bytes : 1};
    s->base = map_aligned(s->bytes);
    if (!s->base)
        out_of_memory(bytes);
    s->used = ker_alloc((bytes / HUGE_BYTES + 1) * sizeof *s->used);
}

void ker_sparse_release(struct ker_sparse *s)
{
    if (s->base)
        munmap(s->base, s->bytes);
    free(s->used);
    *s = (struct ker_sparse){0};
}

/* Enough of a huge page is in use: its small pages become one. The last part of the memory is shorter, and
 * keeps them. */
static void sparse_join(struct ker_sparse *s, size_t part)
{
    char *at = s->base + part * HUGE_BYTES;
    if ((part + 1) * HUGE_BYTES > s->bytes)
        return;
    if (madvise(at, HUGE_BYTES, MADV_COLLAPSE))
        madvise(at, HUGE_BYTES, MADV_HUGEPAGE); /* then later, by the kernel's own measure */
}

/* The memory is dense when, at the rate until now, a third of it will be in use in the end; not before a
 * sixty-fourth is, here and there. A quarter of each part is enough, but parts differ. */
#define DENSE 64

/* Of huge pages from the start each byte is cleared once; of small ones that are joined, twice, and copied.
 */
static void sparse_join_all(struct ker_sparse *s)
{
    s->dense = true;
    madvise(s->base, s->bytes, MADV_HUGEPAGE);
    for (size_t part = 0; part < s->bytes / HUGE_BYTES; part++)
        if (s->used[part] > 0 && s->used[part] < HUGE_BYTES / 4)
            sparse_join(s, part);
}

void ker_sparse_use(struct ker_sparse *s, const void *block, size_t bytes, double done)
{
    size_t part = (size_t)((const char *)block - s->base) / HUGE_BYTES;
    if (s->dense)
        return;
    s->all += bytes;
    s->touched += s->used[part] == 0;
    if (s->all > s->bytes / DENSE && 3 * (double)s->all > done * (double)s->bytes &&
        s->touched > s->bytes / HUGE_BYTES * 3 / 4) {
        sparse_join_all(s);
        return;
    }
    if (s->used[part] >= HUGE_BYTES / 4)
        return;
    s->used[part] += (uint32_t)bytes;
    if (s->used[part] >= HUGE_BYTES / 4)
        sparse_join(s, part);
}

#define RANGE_BYTES (64ull << 30)
#define RANGE_LEAST (256ull << 20)
#define RANGE_SMALL_PAGES (8u << 20)

void *ker_reserve_range(size_t *bytes)
{
    void *range = MAP_FAILED;
    /* address limits (ulimit -v, some tools) may not allow that much: then less */
    for (*bytes = RANGE_BYTES; *bytes >= RANGE_LEAST; *bytes /= 2) {
        range =
            mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range != MAP_FAILED)
            break;
    }
    if (range == MAP_FAILED)
        out_of_memory(RANGE_LEAST);
    if (*bytes < RANGE_BYTES) { /* there are several ranges, and what is not in any */
        *bytes /= 4;
        munmap((char *)range + *bytes, 3 * *bytes);
    }
    madvise((char *)range + RANGE_SMALL_PAGES, *bytes - RANGE_SMALL_PAGES, MADV_HUGEPAGE);
    return range;
}

void ker_arena_init(struct ker_arena *arena)
{
    *arena = (struct ker_arena){0};
    arena->base = ker_reserve_range(&arena->bytes);
}

void ker_arena_release(struct ker_arena *arena)
{
    if (arena->base)
        munmap(arena->base, arena->bytes);
    *arena = (struct ker_arena){0};
}

static unsigned size_class(size_t bytes)
{
    return bytes <= 32 ? 5 : 64 - (unsigned)__builtin_clzll(bytes - 1);
}

void *ker_arena_take(struct ker_arena *arena, size_t bytes)
{
    unsigned class = size_class(bytes);
    void *block = arena->spare[class];
    if (block) {
        memcpy(&arena->spare[class], block, sizeof(void *));
        return block;
    }
    if (arena->used + ((size_t)1 << class) > arena->bytes)
        out_of_memory(bytes);
    block = arena->base + arena->used;
    arena->used += (size_t)1 << class;
    return block;
}

void *ker_arena_grow(struct ker_arena *arena, void *old, size_t old_bytes, size_t bytes)
{
    void *block = ker_arena_take(arena, bytes);
    if (old_bytes == 0)
        return block;
    memcpy(block, old, old_bytes);
    unsigned class = size_class(old_bytes);
    memcpy(old, &arena->spare[class], sizeof(void *));
    arena->spare[class] = old;
    return block;
}

void *ker_arena_extend(struct ker_arena *arena, size_t bytes)
{
    if (bytes > arena->bytes)
        out_of_memory(bytes);
    return arena->base;
}

/* VmHWM rather than getrusage: the latter keeps the peak of the program that called exec. */
uint64_t ker_peak_rss(void)
{
    unsigned long long kib = 0;
    char line[128];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %llu kB", &kib) == 1)
            break;
    if (status)
        fclose(status);
    if (!kib) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        kib = (unsigned long long)usage.ru_maxrss;
    }
    return kib * 1024;
}
