/* cut_any.c - which message a receive of any source or tag got, where the trace does not say it.
 *
 * The sends to such a task on such a communicator, and its receives there, are taken in the order of their
 * times since MPI_Init returned, and matched as MPI does, as if a message came when it is sent. So each
 * receive has a message that was sent before it was over, if the tasks' clocks began together, and what is
 * cut by these numbers has an order in which it can run. In the part the receives ask for any as before.
 */
#include "tools/marsconv/cut.h"

#include <stdlib.h>

struct event {
    uint64_t at_ns;
    int64_t from, tag;      /* of a receive -1: any */
    size_t order, result;   /* result: of a receive of any, its number among these */
    bool sends, any, taken; /* taken: it has its partner, or is a receive that got nothing */
};

struct any { /* what one task receives on one communicator */
    uint64_t comm;
    uint32_t task;
    unsigned pass;
    struct event *event;
    size_t events, events_room;
    struct got {
        int64_t from, tag; /* from -1: nothing */
    } * got;
    size_t gots, next;
};

KER_TABLE_KEY(static, kind, struct any, task);

static struct any *any_find(const struct cut *cut, uint64_t comm, uint32_t task)
{
    return ker_table_find(&kind, &cut->anys, &(struct any){.comm = comm, .task = task});
}

void cut_any_mark(struct cut *cut, uint64_t comm, uint32_t task)
{
    bool is_new;
    struct any key = {.comm = comm, .task = task}, *any = ker_table_add(&kind, &cut->anys, &key, &is_new);
    if (is_new)
        *any = key;
}

size_t cut_any_note(struct cut *cut, const struct cut_channel *c, int64_t from, bool sends, uint64_t at_ns)
{
    struct any *any = any_find(cut, c->comm, c->to);
    if (!any)
        return 0;
    bool is_any = !sends && (from < 0 || c->tag < 0);
    *KER_PUSH(any->event, any->events, any->events_room) =
        (struct event){at_ns, from, c->tag, any->events, is_any ? any->gots++ : 0, sends, is_any, !sends};
    return any->events - 1;
}

void cut_any_came(struct cut *cut, uint64_t comm, uint32_t task, size_t number)
{
    struct any *any = any_find(cut, comm, task);
    if (any && number < any->events)
        any->event[number].taken = false;
}

/* ---- matching ---- */

static int event_compare(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    return KER_ORDER(x, y, at_ns) ?: KER_ORDER(y, x, sends) ?: KER_ORDER(x, y, order);
}

static bool fits(const struct event *receive, const struct event *send)
{
    return (receive->from < 0 || receive->from == send->from) &&
           (receive->tag < 0 || receive->tag == send->tag);
}

static void matched(struct any *any, struct event *receive, struct event *send)
{
    receive->taken = send->taken = true;
    if (receive->any)
        any->got[receive->result] = (struct got){send->from, send->tag};
}

/* The event at `at` gets the first fitting one of the other side that waits: those behind `since` (by side:
 * before it nothing waits) and before `at`. */
static void event_match(struct any *any, size_t at, size_t since[2])
{
    struct event *event = any->event, *now = &event[at];
    size_t *first = &since[!now->sends];
    while (*first < at && (event[*first].sends == now->sends || event[*first].taken))
        ++*first;
    for (size_t i = *first; i < at && !now->taken; i++)
        if (event[i].sends != now->sends && !event[i].taken &&
            (now->sends ? fits(&event[i], now) : fits(now, &event[i])))
            matched(any, now->sends ? &event[i] : now, now->sends ? now : &event[i]);
}

static void any_match(struct any *any)
{
    size_t since[2] = {0, 0};
    any->got = ker_alloc((any->gots + 1) * sizeof *any->got);
    for (size_t i = 0; i < any->gots; i++)
        any->got[i].from = -1;
    qsort(any->event, any->events, sizeof *any->event, event_compare);
    for (size_t i = 0; i < any->events; i++)
        if (!any->event[i].taken)
            event_match(any, i, since);
    free(any->event);
    any->event = NULL;
    any->events = any->events_room = 0;
}

void cut_any_match(struct cut *cut)
{
    struct any *any = NULL;
    while ((any = ker_table_next(&kind, &cut->anys, any)))
        any_match(any);
}

bool cut_any_next(struct cut *cut, uint64_t comm, uint32_t task, unsigned pass, uint32_t *from, int64_t *tag)
{
    struct any *any = any_find(cut, comm, task);
    if (!any)
        return false;
    if (any->pass != pass)
        any->next = 0;
    any->pass = pass;
    if (any->next >= any->gots || any->got[any->next++].from < 0)
        return false;
    *from = (uint32_t)any->got[any->next - 1].from;
    *tag = any->got[any->next - 1].tag;
    return true;
}

void cut_any_release(struct cut *cut)
{
    struct any *any = NULL;
    while ((any = ker_table_next(&kind, &cut->anys, any))) {
        free(any->event);
        free(any->got);
    }
    ker_table_release(&cut->anys);
}
