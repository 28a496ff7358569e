/* requests.c - requests by number: the lowest that is free, so that each pass of a loop uses the same.
 *
 * Libraries hand out one handle for all requests that are complete from the start, so a handle may have many
 * numbers: the oldest is found first. While a call that may complete them is made, they are taken: each is
 * found once.
 */
#include "trc.h"

#include <sys/mman.h>

#define BUCKETS 4096
#define MOST ((size_t)1 << 22) /* requests at a time; further ones have number 0 */

static struct {
    struct trc_request *request; /* by number */
    uint64_t *used;              /* a bit for each number */
    uint32_t room, lowest;       /* word of `used` below which none is free */
    uint32_t highest;            /* of all numbers so far */
    struct bucket {
        uint32_t first, last;
    } bucket[BUCKETS];
} table;

uint64_t trc_request_changes;

static struct bucket *bucket_of(uintptr_t handle)
{
    return &table.bucket[(handle * 0x9e3779b97f4a7c15u) >> 40 & (BUCKETS - 1)];
}

/* Address space for all there may ever be, so that none moves while another thread looks at it; what is not
 * used takes no memory. */
static bool reserve(void)
{
    const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *requests = mmap(NULL, MOST * sizeof *table.request, protection, flags, -1, 0);
    void *used = mmap(NULL, MOST / 8, protection, flags, -1, 0);
    if (requests == MAP_FAILED || used == MAP_FAILED)
        return false;
    table.request = requests;
    table.used = used;
    table.used[0] = 1; /* no request has number 0 */
    table.room = MOST;
    return true;
}

static uint32_t number_take(void)
{
    uint32_t word = table.lowest;
    while (word < table.room / 64 && table.used[word] == ~(uint64_t)0)
        word++;
    table.lowest = word;
    if (word == table.room / 64 && (table.room > 0 || !reserve()))
        return 0;
    uint32_t bit = (uint32_t)__builtin_ctzll(~table.used[word]);
    table.used[word] |= (uint64_t)1 << bit;
    return word * 64 + bit;
}

static void link_last(uint32_t number)
{
    struct bucket *bucket = bucket_of(table.request[number].handle);
    table.request[number].next = 0;
    if (bucket->last)
        table.request[bucket->last].next = number;
    else
        bucket->first = number;
    bucket->last = number;
}

uint32_t trc_request_made(MPI_Request handle, int64_t room, bool persistent)
{
    if (handle == MPI_REQUEST_NULL)
        return 0;
    trc_lock();
    trc_request_changes++;
    uint32_t number = number_take();
    if (number) {
        table.highest = number > table.highest ? number : table.highest;
        table.request[number] = (struct trc_request){
            .handle = (uintptr_t)handle, .room = room, .receives = room >= 0, .persistent = persistent};
        link_last(number);
    }
    trc_unlock();
    return number;
}

uint32_t trc_request_take(MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL)
        return 0;
    trc_lock();
    struct bucket *bucket = bucket_of((uintptr_t)handle);
    uint32_t number = bucket->first, before = 0;
    for (; number && table.request[number].handle != (uintptr_t)handle; number = table.request[number].next)
        before = number;
    if (number) {
        *(before ? &table.request[before].next : &bucket->first) = table.request[number].next;
        if (bucket->last == number)
            bucket->last = before;
    }
    trc_unlock();
    return number;
}

uint32_t trc_request_seek(MPI_Request handle)
{
    uint32_t number = 0;
    trc_lock();
    for (uint32_t i = 1; i <= table.highest && !number; i++)
        if (table.used[i / 64] >> i % 64 & 1 && table.request[i].handle == (uintptr_t)handle)
            number = i;
    trc_unlock();
    return number;
}

void trc_request_give(uint32_t number)
{
    if (!number)
        return;
    trc_lock();
    struct bucket *bucket = bucket_of(table.request[number].handle);
    table.request[number].next = bucket->first;
    bucket->first = number;
    if (!bucket->last)
        bucket->last = number;
    trc_unlock();
}

void trc_request_freed(uint32_t number)
{
    if (!number)
        return;
    trc_lock();
    trc_request_changes++;
    table.used[number / 64] &= ~((uint64_t)1 << number % 64);
    if (number / 64 < table.lowest)
        table.lowest = number / 64;
    trc_unlock();
}

struct trc_request *trc_request_at(uint32_t number)
{
    return &table.request[number];
}
