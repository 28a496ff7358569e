/* tests.c - tests of requests (Test, Testall, Testany, Testsome), which programs make by the million until
 * something has completed.
 *
 * While nothing does, requests and table are as they were, and their numbers need not be looked up: the same
 * test of the same handles, with no request made or freed since, is one more of the poll that it was the last
 * time. Else the numbers are looked up behind the call, from a copy of the handles. That is too late where
 * several threads call at a time: another one may by then have been given a handle that was completed here.
 */
#include "trc.h"

#include <string.h>

static bool room(struct trc_tested *tested, size_t bytes)
{
    if (bytes > tested->room)
        tested->request = trc_grow(tested->request, &tested->room, bytes);
    return bytes <= tested->room;
}

bool trc_test_begin(struct trc_thread *t, unsigned function, const MPI_Request *request, int count)
{
    size_t bytes = count > 0 ? (size_t)count * sizeof *request : 0;
    if (trc.many || bytes == 0 || !room(&t->tested, bytes))
        return false;
    memcpy(t->tested.request, request, bytes);
    t->tested.count = (uint32_t)count;
    t->tested.function = function;
    t->tested.changes = trc_request_changes;
    t->tests = true;
    return true;
}

static bool found_nothing(const struct trc_function *function, const intptr_t *a)
{
    for (unsigned i = 0; i < function->count; i++)
        if (function->role[i] == TRC_R_flag || function->role[i] == TRC_R_nout)
            return *(const int *)a[i] == 0;
    return false;
}

static bool same(const struct trc_tested *one, const struct trc_tested *other)
{
    return one->function == other->function && one->changes == other->changes && one->count == other->count &&
           memcmp(one->request, other->request, one->count * sizeof *one->request) == 0;
}

struct trc_poll *trc_test_again(struct trc_thread *t, unsigned function, const intptr_t *a, int result)
{
    if (!trc.muted && result == MPI_SUCCESS && found_nothing(&trc_function[function], a))
        for (uint32_t i = 0; i < t->polls; i++)
            if (same(&t->poll[i].tested, &t->tested))
                return &t->poll[i];
    trc_requests_take(t, t->tested.request, (int)t->tested.count);
    return NULL;
}

void trc_test_known(struct trc_thread *t, struct trc_poll *poll)
{
    poll->tested.function = TRC_ALL;
    if (!t->tests || !room(&poll->tested, t->tested.count * sizeof *t->tested.request))
        return;
    memcpy(poll->tested.request, t->tested.request, t->tested.count * sizeof *t->tested.request);
    poll->tested.count = t->tested.count;
    poll->tested.changes = t->tested.changes;
    poll->tested.function = t->tested.function;
}
