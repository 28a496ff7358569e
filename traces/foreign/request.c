/* request.c - which request a wait or a test is for.
 *
 * The trace names a request by source, destination and tag: the oldest one of these names is meant. It does
 * not say whether a test has completed it. If the request is waited for or tested later, the test has not.
 * If another one of the same names is made first, or the task ends, it has.
 */
#include "traces/foreign/request.h"

#include <stdlib.h>

struct name {
    uint64_t used; /* 1 */
    int32_t source, destination, tag;
    uint32_t first, last;
};

KER_TABLE_KEY(static, name_kind, struct name, tag);

static struct name *name_find(const struct foreign_requests *all, int32_t source, int32_t destination,
                              int32_t tag)
{
    struct name key = {1, source, destination, tag, 0, 0};
    return ker_table_find(&name_kind, &all->named, &key);
}

struct foreign_request *foreign_request_find(struct foreign_requests *all, int32_t source,
                                             int32_t destination, int32_t tag)
{
    const struct name *name = name_find(all, source, destination, tag);
    return name ? &all->request[name->first] : NULL;
}

static void name_add(struct foreign_requests *all, uint32_t number)
{
    const struct foreign_request *r = &all->request[number];
    bool is_new;
    struct name key = {1, r->source, r->destination, r->tag, number, number};
    struct name *name = ker_table_add(&name_kind, &all->named, &key, &is_new);
    if (is_new)
        *name = key;
    else
        all->request[name->last].same = number;
    name->last = number;
}

void foreign_request_none(struct foreign_requests *all)
{
    all->used = all->spare = all->first = all->last = all->count = all->any = 0;
    ker_table_clear(&name_kind, &all->named);
}

/* It is the oldest of its name. */
void foreign_request_done(struct foreign_requests *all, struct foreign_request *r)
{
    uint32_t number = (uint32_t)(r - all->request);
    struct name *name = name_find(all, r->source, r->destination, r->tag);
    ker_assert(name && name->first == number);
    if (r->same)
        name->first = r->same;
    else
        ker_table_drop(&name_kind, &all->named, name);
    if (r->before)
        all->request[r->before].next = r->next;
    else
        all->first = r->next;
    if (r->next)
        all->request[r->next].before = r->before;
    else
        all->last = r->before;
    r->next = all->spare;
    all->spare = number;
    all->count--;
    if (all->any && all->any >= all->count)
        foreign_request_none(all);
}

static void test_completed(struct foreign_requests *all, struct foreign_request *r, struct foreign_task *t)
{
    trace_code_decide(t->code, r->test, 1, 0);
    foreign_request_done(all, r);
}

uint64_t foreign_request_new(struct foreign_requests *all, struct foreign_task *t, int32_t source,
                             int32_t destination, int32_t tag)
{
    struct foreign_request *before = foreign_request_find(all, source, destination, tag);
    if (before && before->test != UINT64_MAX) {
        test_completed(all, before, t);
        all->guessed = true;
    }
    KER_RESERVE(all->request, all->room, (size_t)all->used + 2);
    ker_assert(all->request);
    uint32_t number = all->spare;
    if (number)
        all->spare = all->request[number].next;
    else
        number = ++all->used;
    struct foreign_request *r = &all->request[number];
    *r = (struct foreign_request){.source = source,
                                  .destination = destination,
                                  .tag = tag,
                                  .id = ++all->ids,
                                  .test = UINT64_MAX,
                                  .before = all->last};
    if (all->last)
        all->request[all->last].next = number;
    else
        all->first = number;
    all->last = number;
    all->count++;
    name_add(all, number);
    return r->id;
}

void foreign_request_again(struct foreign_request *r, struct foreign_task *t)
{
    if (r->test != UINT64_MAX && !trace_code_undo(t->code, r->test))
        trace_code_decide(t->code, r->test, 0, 0);
    r->test = UINT64_MAX;
}

const uint64_t *foreign_request_all(struct foreign_requests *all, uint32_t *count)
{
    KER_RESERVE(all->list, all->list_room, (size_t)all->count + 1);
    *count = 0;
    for (uint32_t i = all->first; i; i = all->request[i].next)
        all->list[(*count)++] = all->request[i].id;
    return all->list;
}

void foreign_request_one(struct foreign_requests *all)
{
    if (++all->any >= all->count)
        foreign_request_none(all);
}

uint32_t foreign_request_end(struct foreign_requests *all, struct foreign_task *t, uint32_t line)
{
    uint32_t left = 0;
    for (uint32_t i = all->first; i; i = all->request[i].next)
        if (all->request[i].test != UINT64_MAX)
            trace_code_decide(t->code, all->request[i].test, 1, 0);
        else
            left++;
    foreign_put(t, &(struct task_op){.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize", .line = line});
    foreign_count(t, "MPI_Finalize", 0, 0);
    return left > all->any ? left - all->any : 0;
}

void foreign_requests_release(struct foreign_requests *all)
{
    free(all->request);
    free(all->list);
    ker_table_release(&all->named);
}
