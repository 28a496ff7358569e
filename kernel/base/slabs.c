/* slabs.c - see slabs.h. Invariant: a page is in the list `empty` when it has no record, in `partial` of its
 * size when it has some and room for more, and else in none; but the only page of a size with room stays
 * there when it loses its last record, so that taking and giving one does not prepare a page each time. Spare
 * pages come first in `empty`. One record of each size that was given is not given to its page: taking and
 * giving one by one looks at no page.
 */
#include "kernel/base/slabs.h"

#include "kernel/base/array.h"
#include "kernel/base/error.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_UNITS (1u << KER_SLAB_PAGE_SHIFT)
#define CHUNK_UNITS (1u << KER_SLAB_CHUNK_SHIFT)
#define CHUNK_PAGES (CHUNK_UNITS / PAGE_UNITS)
#define TRIM_LEAST 256u /* spare pages: 1 MiB */
_Static_assert(PAGE_UNITS *KER_SLAB_UNIT == KER_PAGE, "pages can be given back");

void ker_slabs_release(struct ker_slabs *s)
{
    for (uint32_t i = 0; i < s->chunks; i++)
        free(s->chunk[i]);
    free(s->chunk);
    free(s->page);
    *s = (struct ker_slabs){0};
}

/* ---- lists of pages ---- */

static void list_add(struct ker_slabs *s, uint32_t *list, uint32_t page)
{
    s->page[page].next = *list;
    s->page[page].before = 0;
    if (*list)
        s->page[*list - 1].before = page + 1;
    *list = page + 1;
}

static void list_remove(struct ker_slabs *s, uint32_t *list, uint32_t page)
{
    const struct ker_slab_page *p = &s->page[page];
    if (p->before)
        s->page[p->before - 1].next = p->next;
    else
        *list = p->next;
    if (p->next)
        s->page[p->next - 1].before = p->before;
}

/* ---- records ---- */

/* A free record begins with the next one's first unit. */
static uint8_t *record(struct ker_slabs *s, uint32_t page, uint32_t unit)
{
    return ker_slabs_at(s, (page << KER_SLAB_PAGE_SHIFT) + unit);
}

static void pages_grow(struct ker_slabs *s)
{
    ker_assert(s->pages < (UINT32_MAX >> KER_SLAB_PAGE_SHIFT) - CHUNK_PAGES);
    KER_RESERVE(s->page, s->page_room, s->pages + CHUNK_PAGES);
    *KER_APPEND(s->chunk, s->chunks) = ker_alloc_pages(CHUNK_PAGES);
    s->pages += CHUNK_PAGES;
    for (uint32_t page = s->pages; page-- > s->pages - CHUNK_PAGES;) {
        s->page[page] = (struct ker_slab_page){0};
        list_add(s, &s->empty, page);
    }
}

/* An empty page gets this size. */
static void page_prepare(struct ker_slabs *s, unsigned units)
{
    if (!s->empty)
        pages_grow(s);
    uint32_t page = s->empty - 1;
    list_remove(s, &s->empty, page);
    if (s->page[page].units)
        s->spare--;
    else if (s->forgotten) {
        s->forgotten--;
        s->regained++;
    }
    s->used++;
    s->page[page].units = (uint8_t)units;
    s->page[page].first = 0;
    for (uint32_t unit = 0; unit < PAGE_UNITS; unit += units)
        *record(s, page, unit) = (uint8_t)(unit + units < PAGE_UNITS ? unit + units : KER_SLAB_FULL);
    list_add(s, &s->partial[units - 1], page);
}

/* Gives the memory of all spare pages back, those that follow each other at once. */
static void slabs_trim(struct ker_slabs *s)
{
    for (uint32_t page = 0, run = 0; page < s->pages; page++) {
        struct ker_slab_page *p = &s->page[page];
        bool spare = p->units && !p->live && p->first == KER_SLAB_FULL;
        if (spare) {
            p->units = 0;
            run++;
        }
        if (run && (!spare || page % CHUNK_PAGES == CHUNK_PAGES - 1)) {
            ker_forget(record(s, page + spare - run, 0), run * KER_PAGE);
            run = 0;
        }
    }
    s->forgotten += s->spare;
    s->spare = 0;
}

static __attribute__((noinline)) uint32_t page_take(struct ker_slabs *s, unsigned units)
{
    uint32_t *list = &s->partial[units - 1];
    if (!*list)
        page_prepare(s, units);
    uint32_t page = *list - 1;
    struct ker_slab_page *p = &s->page[page];
    uint32_t unit = p->first;
    p->first = *record(s, page, unit);
    p->live++;
    if (p->first == KER_SLAB_FULL)
        list_remove(s, list, page);
    return (page << KER_SLAB_PAGE_SHIFT) + unit;
}

/* Calls nothing but at its end. */
uint32_t ker_slabs_take(struct ker_slabs *s, unsigned units)
{
    uint32_t kept = s->kept[units - 1];
    if (!kept)
        return page_take(s, units);
    s->kept[units - 1] = 0;
    return kept - 1;
}

static __attribute__((noinline)) void page_give(struct ker_slabs *s, uint32_t index)
{
    uint32_t page = index >> KER_SLAB_PAGE_SHIFT;
    struct ker_slab_page *p = &s->page[page];
    uint32_t *list = &s->partial[p->units - 1];
    if (p->first == KER_SLAB_FULL)
        list_add(s, list, page);
    *(uint8_t *)ker_slabs_at(s, index) = p->first;
    p->first = (uint8_t)(index & (PAGE_UNITS - 1));
    p->live--;
    if (p->live == 0 && (p->next || p->before)) {
        list_remove(s, list, page);
        list_add(s, &s->empty, page);
        p->first = KER_SLAB_FULL;
        s->used--;
        if (++s->spare > TRIM_LEAST + s->regained && s->spare > s->used / 8)
            slabs_trim(s);
    }
}

void ker_slabs_give(struct ker_slabs *s, uint32_t index)
{
    uint32_t *kept = &s->kept[ker_slabs_units(s, index) - 1];
    if (*kept)
        page_give(s, index);
    else
        *kept = index + 1;
}
