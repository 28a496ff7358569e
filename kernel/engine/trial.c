/* trial.c - see trial.h. */
#include "kernel/engine/trial.h"

#include <time.h>

/* What several ranks save are the records that one does while another does more; an exchange takes as long as
 * 7 to 16 records. After this many epochs with at most so few of them in each it is plain that one rank is
 * faster: known from counts, in a millisecond or two. Any later part of a run may have less to do than its
 * beginning, and parts of both kinds may take turns: what is lost is added up, less what is gained again, and
 * is too much when it is what it takes to continue as one rank, and a quarter of all that has been gained. */
#define COUNT_EPOCHS 1000
#define FIRST_SAVED 9
#define SAVED_RECORDS 14
#define LOST_RECORDS 30000
#define LOST_OF_GAINED 4

/* What has been done is worth to be kept from here on, in records: before, a new beginning costs less than
 * what it takes to save and load. */
#define KEPT_RECORDS 100000

/* Reading the clocks takes about as long as an exchange: behind as many epochs only one in 8 is measured, and
 * stands for as many. Multiples of the golden section meet no period of what is simulated. */
#define MEASURED_ALL 1000
#define MEASURED_IN 8

static uint32_t weight_of(uint32_t round)
{
    return round <= MEASURED_ALL ? 1 : round * 2654435769u < UINT32_MAX / MEASURED_IN ? MEASURED_IN : 0;
}

/* A single exchange counts at most this many times the shortest. */
#define EXCHANGE_MOST 8

/* Are fewer ranks worth a new beginning? One rank needs less than all have worked: it runs several windows as
 * one, and sends nothing. Measured on runs that do both, a quarter to a third less. So several ranks
 * must seem faster by a fifth; but at the first look, when a run may not have filled yet, they may seem
 * slower by a twentieth. */
static bool is_lost(int64_t worked, int64_t together, bool first)
{
    return first ? worked + worked / 20 < together : worked < together + together / 5;
}

static uint32_t nanoseconds(int64_t time)
{
    return time < 0 ? 0 : time > UINT32_MAX ? UINT32_MAX : (uint32_t)time;
}

void trial_begin(struct trial *t, bool wanted)
{
    *t = (struct trial){.look = wanted ? 0 : -1,
                        .clock = INT64_MAX,
                        .least = UINT32_MAX,
                        .count_at = wanted ? COUNT_EPOCHS : 0};
    for (int i = 0; wanted && i < 16; i++) {
        int64_t from = ker_clock_ns(CLOCK_THREAD_CPUTIME_ID),
                cost = ker_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
        t->clock = cost < t->clock ? cost : t->clock;
    }
}

int64_t trial_work_begin(const struct trial *t)
{
    return t->weight ? ker_clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
}

void trial_work_end(struct trial *t, int64_t begun)
{
    t->work = t->weight ? nanoseconds(ker_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun - t->clock) : 0;
    t->worked += (int64_t)t->work * t->weight;
}

int64_t trial_exchange_begin(struct trial *t)
{
    t->weight_before = t->weight;
    t->weight = trial_runs(t) ? weight_of(++t->round) : 0;
    return t->weight ? ker_clock_ns(CLOCK_MONOTONIC) : 0;
}

void trial_exchange_end(struct trial *t, int64_t begun, struct trial_round agreed)
{
    t->exchanged = t->weight ? nanoseconds(ker_clock_ns(CLOCK_MONOTONIC) - begun) : 0;
    if (!t->weight_before)
        return;
    t->least = agreed.exchange && agreed.exchange < t->least ? agreed.exchange : t->least;
    int64_t most = t->least == UINT32_MAX ? 0 : (int64_t)t->least * EXCHANGE_MOST;
    t->together += t->weight_before * (agreed.work + (agreed.exchange < most ? agreed.exchange : most));
}

/* Of the epochs since the last count. */
static bool is_thin(struct trial *t, struct ker_comm *comm, const struct ker_counts *counts)
{
    uint64_t all = counts->records - t->counted.records, most = counts->critical - t->counted.critical,
             epochs = counts->epochs - t->counted.epochs;
    t->counted = *counts;
    t->count_at += COUNT_EPOCHS;
    ker_comm_sum_u64(comm, &all, 1);
    if (counts->epochs == COUNT_EPOCHS && all <= most + epochs * FIRST_SAVED)
        return true;
    uint64_t several = most + epochs * SAVED_RECORDS, gained = all > several ? all - several : 0;
    t->gained += gained;
    t->lost = t->lost + (all < several ? several - all : 0) - (gained < t->lost ? gained : t->lost);
    return t->lost > LOST_RECORDS + t->gained / LOST_OF_GAINED;
}

bool trial_keeps(const struct ker_counts *counts)
{
    return counts->critical + counts->epochs * SAVED_RECORDS > KEPT_RECORDS;
}

bool trial_lost(struct trial *t, struct ker_comm *comm, const struct ker_counts *counts)
{
    static const int64_t looks[] = {2000000, 8000000, 32000000,
                                    128000000}; /* what a new beginning can cost */
    bool lost = counts->epochs == t->count_at && is_thin(t, comm, counts);
    if (!lost && trial_runs(t) && t->together >= looks[t->look]) {
        bool first = t->look == 0;
        t->look = t->look + 1 < (int)(sizeof looks / sizeof *looks) ? t->look + 1 : -1;
        uint64_t worked = (uint64_t)t->worked;
        ker_comm_sum_u64(comm, &worked, 1);
        lost = is_lost((int64_t)worked, t->together, first);
    }
    if (lost) { /* is said once: it may be that the state cannot be saved */
        t->look = -1;
        t->count_at = 0;
    }
    return lost;
}
