/* ahead.c - what requests turn out to be of.
 *
 * The archive says of a receive only when it is complete where it came from, and of a collective that does
 * not block which it was. So a task's events are read twice: here first.
 */
#include "traces/otf2/otf2.h"

#include <stdlib.h>

struct active {
    uint64_t used; /* 1 */
    uint64_t request;
    size_t at; /* in `of` */
};

KER_TABLE_KEY(static, active_kind, struct active, request);

static void request_made(struct otf2_ahead *a, const struct otf2_event *event)
{
    bool is_new;
    struct active key = {1, event->request, a->count};
    struct active *entry = ker_table_add(&active_kind, &a->active, &key, &is_new);
    *entry = key;
    *KER_PUSH(a->of, a->count, a->room) = (struct otf2_event){.kind = OTF2_REFUSED};
}

void otf2_ahead_add(struct otf2_ahead *a, const struct otf2_event *event)
{
    if (event->kind == OTF2_IRECV_REQUEST || event->kind == OTF2_REQUEST)
        request_made(a, event);
    if (event->kind != OTF2_IRECV && event->kind != OTF2_COMPLETE && event->kind != OTF2_CANCELLED)
        return;
    struct active key = {.used = 1, .request = event->request};
    struct active *entry = ker_table_find(&active_kind, &a->active, &key);
    if (!entry)
        return;
    a->of[entry->at] = *event;
    ker_table_drop(&active_kind, &a->active, entry);
}

void otf2_ahead_release(struct otf2_ahead *a)
{
    free(a->of);
    ker_table_release(&a->active);
    *a = (struct otf2_ahead){0};
}
