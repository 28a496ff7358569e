/* memory.h - allocation that cannot fail quietly: every function ends the run with a message when memory is out. */
#ifndef KERNEL_MEMORY_H
#define KERNEL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

void *ker_alloc(size_t bytes);                     /* zeroed; free() frees it; bytes may be 0 */
void *ker_realloc(void *old, size_t bytes);        /* new part not zeroed */
char *ker_format(const char *format, ...) __attribute__((format(printf, 1, 2))); /* malloc'ed */
/* Zeroed, aligned to 64 bytes; large blocks ask for huge pages and are given back by ker_release. */
void *ker_reserve(size_t bytes);
void ker_release(void *block, size_t bytes);
uint64_t ker_peak_rss(void); /* of this process, bytes */

#endif
