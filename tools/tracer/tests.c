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

static struct trc_place places[TRC_FUNCTIONS];

static void place_know(unsigned number)
{
    const struct trc_function *function = &trc_function[number];
    struct trc_place found = {.known = true, .count = -1, .requests = -1, .flag = -1, .status = -1};
    for (int8_t i = 0; i < function->count; i++)
        switch (function->role[i] & 0xff) {
        case TRC_R_nreq:
            found.count = i;
            break;
        case TRC_R_reqio:
        case TRC_R_reqs:
            found.requests = i;
            break;
        case TRC_R_flag:
        case TRC_R_nout:
            found.flag = i;
            break;
        case TRC_R_fstatus:
        case TRC_R_wstatus:
        case TRC_R_statuses:
            found.status = i;
            found.statuses = (function->role[i] & 0xff) == TRC_R_statuses;
            break;
        default:
            break;
        }
    places[number] = found;
}

const struct trc_place *trc_place_of(unsigned function)
{
    if (!places[function].known)
        place_know(function);
    return &places[function];
}

static bool room(struct trc_tested *tested, size_t bytes)
{
    if (bytes > tested->room)
        tested->request = trc_grow(tested->request, &tested->room, bytes);
    return bytes <= tested->room;
}

/* What is not done each time: the function is asked for the first time, or more requests than ever. False: it
 * asks for none. */
static __attribute__((noinline)) bool prepared(struct trc_thread *t, unsigned function, const intptr_t *a)
{
    const struct trc_place *p = trc_place_of(function);
    int count = p->count < 0 ? 1 : (int)a[p->count];
    return count > 0 && room(&t->tested, (size_t)count * sizeof(MPI_Request));
}

bool trc_test_begin(struct trc_thread *t, unsigned function, intptr_t *a)
{
    const struct trc_place *p = &places[function];
    uint32_t count = p->known && p->count >= 0 ? (uint32_t)a[p->count] : 1;
    if (trc.many)
        return false;
    if (__builtin_expect(!p->known || count - 1 >= t->tested.room / sizeof(MPI_Request), 0)) {
        if (!prepared(t, function, a))
            return false;
        count = p->count < 0 ? 1 : (uint32_t)a[p->count];
    }
    const MPI_Request *request = (const MPI_Request *)a[p->requests];
    t->tested.request[0] = request[0]; /* mostly all */
    for (uint32_t i = 1; i < count; i++)
        t->tested.request[i] = request[i];
    t->tested.count = count;
    t->tested.function = function;
    t->tested.changes = trc_request_changes;
    t->tests = true;
    if ((MPI_Status *)a[p->status] == (p->statuses ? MPI_STATUSES_IGNORE : MPI_STATUS_IGNORE))
        a[p->status] = (intptr_t)trc_statuses(t, (int)count);
    return true;
}

static bool same(const struct trc_tested *one, const struct trc_tested *other)
{
    return one->function == other->function && one->changes == other->changes && one->count == other->count &&
           one->request[0] == other->request[0] &&
           (one->count == 1 || memcmp(one->request, other->request, one->count * sizeof *one->request) == 0);
}

struct trc_poll *trc_test_again(struct trc_thread *t, unsigned function, const intptr_t *a, int result)
{
    if (!trc.muted && result == MPI_SUCCESS && *(const int *)a[places[function].flag] == 0)
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
