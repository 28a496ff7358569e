/* light.c - polls that are made again and again without a look at the clock.
 *
 * A program that waits for others tests its requests by the million. Three readings of the clock take several
 * times as long as such a test, and keep the processor from continuing with loads in progress. So while
 * one of the polls that are being kept back is repeated, and has lately taken less than DURATION_MOST at
 * intervals of less than GAP_MOST, only one of several is timed: after n of its polls n / 2 are counted only,
 * LIGHT_MOST at most. The time from the last timed call to the next is shared out: to each poll in between
 * what those that were timed and quick took on average, and what then was between them; what the thread did
 * not run to the polls; and all the rest to the computation before the call that is timed next; so no time is
 * lost. If the call that ends it is a poll that found something, which is only known when it is over, the
 * rest is its own.
 *
 * A rest that is longer than all that was expected says that the averages are not to be trusted: some of the
 * next polls are timed each, twice as many each time it happens again, DISTRUST_MOST at most.
 */
#include "light.h"

#include <string.h>

#define DURATION_MOST 200 /* ns */
#define GAP_MOST 1000
#define LIGHT_MOST 1024
#define DISTRUST_LEAST 16
#define DISTRUST_MOST 1000

__thread struct trc_light trc_light;

void trc_light_allow(struct trc_thread *t, struct trc_poll *poll, const struct mars_times *times)
{
    t->light = poll;
    if (trc.many || trc.thread_count > 1 || t->counts || times->gap > GAP_MOST ||
        times->duration > DURATION_MOST)
        return;
    poll->quick.count++;
    poll->quick.duration += times->duration;
    poll->quick.gaps += times->gap;
    if (t->distrust > 0) {
        t->distrust--;
        return;
    }
    uint64_t half = poll->polls.count / 2;
    t->allowed = half < LIGHT_MOST ? (uint32_t)half : LIGHT_MOST;
    for (uint32_t i = 0; i < t->polls; i++)
        t->poll[i].asked.untimed = t->allowed;
}

static uint64_t passed(const struct trc_thread *t, const struct trc_poll *poll)
{
    return t->allowed - poll->asked.untimed;
}

/* What the polls of one kind that were not timed take, inside and between them, if they are as their like. */
static uint64_t expected(const struct trc_thread *t, const struct trc_poll *poll, uint64_t *inside)
{
    uint64_t count = poll->quick.count ? poll->quick.count : 1;
    *inside = passed(t, poll) * poll->quick.duration / count;
    return *inside + passed(t, poll) * poll->quick.gaps / count;
}

static void share_out(struct trc_thread *t, struct trc_poll *poll, uint64_t inside, uint64_t away,
                      uint64_t rest)
{
    struct trc_sum *sum = &t->sum[poll->asked.function];
    sum->calls += passed(t, poll);
    sum->ns += inside;
    poll->polls.count += passed(t, poll);
    poll->times.duration += inside;
    poll->away += away;
    poll->polls.rest += rest;
    t->back += (int64_t)(inside + away + rest);
    poll->returned = t->back;
}

static void trust(struct trc_thread *t, uint64_t work, uint64_t sum)
{
    if (work > sum && work - sum > sum + GAP_MOST) {
        t->doubt = t->doubt < DISTRUST_LEAST ? DISTRUST_LEAST : 2 * t->doubt;
        if (t->doubt > DISTRUST_MOST)
            t->doubt = DISTRUST_MOST;
        t->distrust = t->doubt;
    } else if (t->allowed == LIGHT_MOST) {
        t->doubt /= 2;
    }
}

bool trc_light_inside(const struct trc_thread *t)
{
    for (uint32_t i = 0; i < t->polls; i++)
        if (t->poll[i].asked.inside)
            return true;
    return false;
}

/* t->enter is now, t->away of the time since t->back. What is left between them is the computation before the
 * next call. */
void trc_light_over(struct trc_thread *t)
{
    uint64_t all = t->enter > t->back ? (uint64_t)(t->enter - t->back) : 0;
    uint64_t away = t->away < all ? t->away : all, work = all - away, sum = 0, inside;
    bool any = false;
    for (uint32_t i = 0; t->allowed > 0 && i < t->polls; i++) {
        any |= passed(t, &t->poll[i]) > 0;
        sum += expected(t, &t->poll[i], &inside);
    }
    if (any)
        trust(t, work, sum);
    for (uint32_t i = 0; any && i < t->polls; i++) {
        struct trc_poll *poll = &t->poll[i];
        if (passed(t, poll) == 0)
            continue;
        uint64_t both = expected(t, poll, &inside), whole = both;
        if (sum > work) { /* less than expected for all */
            both = both * work / sum;
            inside = whole ? inside * both / whole : 0;
        }
        share_out(t, poll, inside, away, both - inside);
        t->away = away = 0;
    }
    t->allowed = 0;
    t->light = NULL;
    trc_light = (struct trc_light){{NULL}, {NULL}};
}

/* ---- how a poll was asked ---- */

static bool is_fortran(enum trc_way way)
{
    return way % 3 != 0;
}

/* Fortran passes by reference what C passes by value: these are compared, too. */
static bool by_value(unsigned role)
{
    role &= 0xff;
    return role == TRC_R_nreq || role == TRC_R_source || role == TRC_R_tag || role == TRC_R_comm ||
           role == TRC_R_reqval;
}

static void known(struct trc_poll *poll)
{
    size_t one = is_fortran(poll->asked.way) ? sizeof(MPI_Fint) : sizeof(MPI_Request);
    *(poll->asked.bytes > one ? &trc_light.list[poll->asked.way] : &trc_light.poll[poll->asked.way]) = poll;
}

/* Is it what was asked? The count comes before the handles. */
static bool same_asked(const struct trc_asked *asked, enum trc_way way, const intptr_t *a)
{
    const struct trc_function *function = &trc_function[asked->function];
    if (asked->way != way || asked->changes != trc_request_changes)
        return false;
    for (unsigned j = 0, values = 0; j < function->count; j++)
        if (by_value(function->role[j]) &&
            (is_fortran(way) ? *(const MPI_Fint *)a[j] != asked->value[values++] : asked->given[j] != a[j]))
            return false;
    return asked->bytes == 0 || trc_same_handles((const char *)a[asked->list], asked->handles, asked->bytes);
}

/* The caller may want no status: then there is one of the poll's own. In Fortran it takes as much as in C. */
static bool status_get(struct trc_asked *asked, const struct trc_place *place, intptr_t given)
{
    const MPI_Status *none = place->statuses ? MPI_STATUSES_IGNORE : MPI_STATUS_IGNORE;
    asked->status = (void *)given;
    if (!(is_fortran(asked->way) ? trc_fortran_ignored((void *)given) : given == (intptr_t)none))
        return true;
    size_t bytes = asked->count * sizeof(MPI_Status);
    if (bytes > asked->spare_room)
        asked->spare = trc_grow(asked->spare, &asked->spare_room, bytes);
    asked->status = asked->spare;
    return bytes <= asked->spare_room;
}

/* Addresses may be others each time. */
static bool addresses_take(struct trc_asked *asked, const intptr_t *given)
{
    const struct trc_place *place = trc_place_of(asked->function);
    memcpy(asked->given, given, trc_function[asked->function].count * sizeof *given);
    memcpy(asked->match, asked->given, sizeof asked->match);
    asked->flag = (const int *)given[place->flag];
    return place->status < 0 || status_get(asked, place, given[place->status]);
}

struct trc_poll *trc_light_find(enum trc_way way, const intptr_t *a)
{
    struct trc_thread *t = trc_me;
    for (uint32_t i = 0; trc.thread_count < 2 && i < t->polls; i++) {
        struct trc_asked *asked = &t->poll[i].asked;
        if (asked->untimed > 0 && same_asked(asked, way, a) && addresses_take(asked, a)) {
            known(&t->poll[i]);
            return &t->poll[i];
        }
    }
    return NULL;
}

static bool handles_copy(struct trc_asked *asked, int argument, const intptr_t *given)
{
    asked->bytes = 0;
    if (argument < 0)
        return true;
    asked->list = (uint8_t)argument;
    asked->bytes = asked->count * (is_fortran(asked->way) ? sizeof(MPI_Fint) : sizeof(MPI_Request));
    if (asked->bytes > asked->room)
        asked->handles = trc_grow(asked->handles, &asked->room, asked->bytes);
    if (asked->bytes > asked->room)
        return false;
    memcpy(asked->handles, (const void *)given[argument], asked->bytes);
    memcpy(&asked->handle, asked->handles, is_fortran(asked->way) ? sizeof(MPI_Fint) : sizeof(MPI_Request));
    return true;
}

void trc_light_learn(struct trc_thread *t, enum trc_way way, const intptr_t *given)
{
    struct trc_poll *poll = t->light;
    struct trc_asked *asked = &poll->asked;
    const struct trc_function *function = &trc_function[asked->function];
    const struct trc_place *place = trc_place_of(asked->function);
    if (place->requests >= 0 && poll->tested.function != asked->function)
        return;
    asked->way = way;
    asked->thread = t;
    asked->count = place->requests >= 0 ? poll->tested.count : 1;
    asked->changes = trc_request_changes;
    for (unsigned i = 0, values = 0; is_fortran(way) && i < function->count; i++)
        if (by_value(function->role[i]))
            asked->value[values++] = *(const MPI_Fint *)given[i];
    if (!handles_copy(asked, place->requests, given) || !addresses_take(asked, given))
        asked->way = TRC_WAYS;
    else if (t->allowed > 0)
        known(poll);
}

/* It may be making one of them: what that needs stays. */
void trc_light_revoke(struct trc_thread *t)
{
    for (uint32_t i = 0; i < t->polls; i++)
        memset(t->poll[i].asked.match, 0, sizeof t->poll[i].asked.match);
}

int trc_light_spent(struct trc_poll *poll)
{
    enum trc_way way = poll->asked.way;
    trc_light.poll[way] = trc_light.list[way] = NULL;
    return MPI_SUCCESS;
}

int trc_light_found(struct trc_poll *poll, int result)
{
    const struct trc_asked *asked = &poll->asked;
    struct trc_thread *t = asked->thread;
    const struct trc_place *place = trc_place_of(asked->function);
    intptr_t a[TRC_ARGUMENTS];
    unsigned number = asked->function;
    int64_t gap = poll->quick.count ? (int64_t)(poll->quick.gaps / poll->quick.count) : 0;
    t->inside = true;
    poll->asked.inside = NULL;
    trc_clock_entered(t);
    t->returned = t->enter;
    trc_light_over(t);
    t->enter = t->called = t->returned - t->back < gap ? t->returned : t->back + gap;
    memcpy(a, asked->given, sizeof asked->given);
    if (place->status >= 0)
        a[place->status] = (intptr_t)asked->status;
    if (is_fortran(asked->way))
        trc_fortran_converted(t, number, a);
    trc_requests_take(t, poll->tested.request, place->requests >= 0 ? (int)asked->count : 0);
    trc_record(t, number, a, result);
    return result;
}
