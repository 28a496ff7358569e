/* light.c - polls that are made again and again without a look at the clock.
 *
 * A program that waits for others tests its requests by the million. Three readings of the clock take several
 * times as long as such a test, and keep the processor from going on with loads that are under way. So while
 * one of the polls that are being kept back is repeated, and has lately taken less than DURATION_MOST at
 * intervals of less than GAP_MOST, only one of several is timed: after n of its polls n / 2 are counted only,
 * LIGHT_MOST at most. The time from the last timed call to the next is shared out: to each poll in between
 * what those that were timed and quick took on average, and what then was between them; what the thread did
 * not run to the polls; and all the rest to the computation before the call that is timed next; so no time is
 * lost. If the call that ends it is a poll that found something, which is only known when it is over, the
 * rest is its own.
 *
 * A rest that is longer than all that was expected says that the averages are not to be trusted: the next
 * DISTRUST polls are timed each.
 */
#include "trc.h"

#define DURATION_MOST 200 /* ns */
#define GAP_MOST 1000
#define LIGHT_MOST 64
#define DISTRUST 1000

void trc_light_allow(struct trc_thread *t, struct trc_poll *poll, const struct mars_times *times)
{
    t->unread = 0;
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
    t->unread = half < LIGHT_MOST ? (uint32_t)half : LIGHT_MOST;
}

/* What the polls of one kind that were not timed take, inside and between them, if they are as their like. */
static uint64_t expected(const struct trc_poll *poll, uint64_t *inside)
{
    uint64_t count = poll->quick.count ? poll->quick.count : 1;
    *inside = poll->passed * poll->quick.duration / count;
    return *inside + poll->passed * poll->quick.gaps / count;
}

static void share_out(struct trc_thread *t, struct trc_poll *poll, uint64_t inside, uint64_t away,
                      uint64_t rest)
{
    struct trc_sum *sum = &t->sum[poll->tested.function];
    sum->calls += poll->passed;
    sum->ns += inside;
    poll->polls.count += poll->passed;
    poll->times.duration += inside;
    poll->away += away;
    poll->polls.rest += rest;
    t->back += (int64_t)(inside + away + rest);
    poll->returned = t->back;
    poll->passed = 0;
}

/* t->enter is now, t->away of the time since t->back. What is left between them is the computation before the
 * next call. */
void trc_light_over(struct trc_thread *t)
{
    uint64_t all = t->enter > t->back ? (uint64_t)(t->enter - t->back) : 0;
    uint64_t away = t->away < all ? t->away : all, work = all - away, sum = 0, inside;
    for (uint32_t i = 0; i < t->polls; i++)
        sum += expected(&t->poll[i], &inside);
    if (work - (work < sum ? work : sum) > sum + GAP_MOST)
        t->distrust = DISTRUST;
    for (uint32_t i = 0; i < t->polls; i++) {
        struct trc_poll *poll = &t->poll[i];
        if (poll->passed == 0)
            continue;
        uint64_t both = expected(poll, &inside), whole = both;
        if (sum > work) { /* less than expected for all */
            both = both * work / sum;
            inside = whole ? inside * both / whole : 0;
        }
        share_out(t, poll, inside, away, both - inside);
        away = 0;
    }
    t->away = 0;
    t->passed = t->unread = 0;
}

void trc_light_end(struct trc_thread *t, unsigned number, const intptr_t *a, int result)
{
    struct trc_poll *poll = t->light;
    if (result == MPI_SUCCESS && *t->light_flag == 0) {
        poll->passed++;
        t->passed++;
        t->unread--;
        t->inside = false;
        return;
    }
    int64_t gap = poll->quick.count ? (int64_t)(poll->quick.gaps / poll->quick.count) : 0;
    trc_clock_entered(t);
    t->returned = t->enter;
    trc_light_over(t);
    t->enter = t->called = t->returned - t->back < gap ? t->returned : t->back + gap;
    trc_requests_take(t, poll->tested.request, (int)poll->tested.count);
    trc_record(t, number, a, result);
}
