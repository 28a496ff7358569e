/* memory.h - allocation that cannot fail quietly: when memory is out, every function goes to the refuge that
 * was given, so that what has been measured can still be written, or ends all ranks with a message. */
#pragma once

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where to go (longjmp) when memory is out from now on; NULL: nowhere. Once there, none is set any more, and
 * some memory that was kept for this is free. What the interrupted work has changed is half done. */
void ker_memory_refuge(jmp_buf *);
/* What was asked for when memory ran out; NULL: it has not. */
const char *ker_memory_lack(void);
/* Memory is out, for a reason of the caller's. */
_Noreturn void ker_memory_out(const char *format, ...) __attribute__((format(printf, 1, 2)));

void *ker_alloc(size_t bytes);                       /* zeroed; free() frees it; bytes may be 0 */
void *ker_realloc(void *old, size_t bytes);          /* new part not zeroed */
void ker_free_all(void *list, size_t count);         /* an array of that many blocks, and what it lists */
void ker_free_each(void *const *list, size_t count); /* what it lists only */
/* free() of each of these. */
#define KER_FREE(...)                                                                                        \
    ker_free_each((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
char *ker_format(const char *format, ...) __attribute__((format(printf, 1, 2))); /* malloc'ed */
/* Zeroed, aligned to 64 bytes; large blocks ask for huge pages and are given back by ker_release. */
void *ker_reserve(size_t bytes);
void ker_release(void *block, size_t bytes);
/* Not zeroed, aligned to KER_PAGE; what nobody has touched may cost nothing. free() frees it. */
#define KER_PAGE ((size_t)4096)
void *ker_alloc_pages(size_t pages);
/* The whole pages among these bytes are given back; what is read there afterwards is 0. */
void ker_forget(void *from, size_t bytes);
/* Zeroed pages of which those that nobody writes to cost nothing. ker_alloc does not promise that: where the
 * heap has been in use it clears them. ker_unmap ends it. */
void *ker_map(size_t bytes);
void ker_unmap(void *block, size_t bytes); /* block may be NULL */
/* Zeroed memory of which perhaps only a part is ever used, here and there: what nobody has touched costs
 * nothing. It begins on small pages; each 2 MiB get a huge page when a quarter of them is said to be in use,
 * and all of them as soon as it is seen that a third of the memory is going to be. */
struct ker_sparse {
    char *base; /* aligned to 2 MiB */
    size_t bytes;
    size_t all, touched; /* in use: bytes; 2 MiB of which some are */
    uint32_t *used;      /* of each 2 MiB, bytes; from a quarter on no more is counted */
    bool dense;          /* all have huge pages */
};
void ker_sparse_init(struct ker_sparse *, size_t bytes);
void ker_sparse_release(struct ker_sparse *);
/* done: of the time in which more of it is taken into use, the share that has passed; 1: not known. */
void ker_sparse_use(struct ker_sparse *, const void *block, size_t bytes, double done);
/* Address space to be touched as it is used, up to 64 GiB; *bytes: how much it is. Huge pages are asked for
 * beyond the first few MiB, so that small runs stay small. munmap() ends it. */
void *ker_reserve_range(size_t *bytes);

/* Many growing arrays close together, on huge pages as soon as there are many: blocks of powers of two from
 * one reserved range; what is given back is kept for its size. Not zeroed. */
struct ker_arena {
    char *base;
    size_t bytes, used;
    void *spare[48]; /* by the logarithm of the size */
};
void ker_arena_init(struct ker_arena *);
void ker_arena_release(struct ker_arena *);
void *ker_arena_take(struct ker_arena *, size_t bytes);
/* Moves a block of old_bytes (0: none) into one of bytes. */
void *ker_arena_grow(struct ker_arena *, void *old, size_t old_bytes, size_t bytes);
/* The first `bytes` of the range, for an arena with one block only, which never moves. */
void *ker_arena_extend(struct ker_arena *, size_t bytes);

uint64_t ker_peak_rss(void); /* of this process, bytes */
