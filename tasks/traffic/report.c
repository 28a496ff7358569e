/* report.c - what is said of the traffic: is it saturated, and how many updates GUPS makes.
 *
 * A source queue needs no memory, but the creation time of its oldest message is known: the last one drawn.
 * That age is 0 while the source keeps up, has a mean that does not change while the network does, and grows
 * with time when messages are created faster than they leave: the mean age grows by 6 ns in 100 ns when 6 %
 * of what is created stays behind. So looks at it at two times of the measured span show saturation; what
 * chance makes of it is bounded by a random walk: arrivals of n sources, one per `gap` on average, and as
 * many departures, deviate by sqrt(2 gap / (n span)).
 */
#include "tasks/traffic/traffic.h"

#include <math.h>

#define GROWTH                                                                                               \
    0.03 /* of the offered load: less is not distinguished from queues that still come to their length */
#define DEVIATIONS 4 /* of chance */
#define FAR 0.05     /* a single source: its oldest message is as old as this share of the time */

static double chance(const struct task_traffic *t, double sources, double span)
{
    double burst = t->gap.end_probability > 0 ? 1 / t->gap.end_probability : 1;
    return DEVIATIONS * sqrt(2 * burst * t->gap.mean_ps / (sources * span));
}

void task_traffic_look(struct task_traffic *t, const struct task_traffic_node *nodes, size_t count,
                       ker_time at)
{
    double span = (double)(at - t->begin), far = span * fmax(FAR, chance(t, 1, span));
    for (int i = TASK_TRAFFIC_LOOKS - 1; i > 0; i--)
        t->look[i] = t->look[i - 1];
    t->look[0] = (struct task_traffic_look){.at = at};
    for (size_t i = 0; i < count; i++) {
        const struct task_traffic_node *n = &nodes[i];
        if (n->partner == TASK_NOBODY || n->drawn == t->messages || n->next_ps >= ker_time_min(at, t->stop))
            continue;
        ker_time age = at - n->next_ps;
        t->look[0].waited += (uint64_t)age;
        t->look[0].growing += (double)age >= GROWTH * span;
        t->look[0].far += (double)age >= far;
    }
}

/* What two ranks saw at one time. */
static void look_join(struct task_traffic_look *sum, const struct task_traffic_look *one)
{
    sum->at = one->at > sum->at ? one->at : sum->at;
    sum->waited += one->waited;
    sum->growing += one->growing;
    sum->far += one->far;
}

void task_traffic_looks_state(struct task_traffic *t, struct ker_chunk *c, bool sums)
{
    for (int i = 0; i < TASK_TRAFFIC_LOOKS; i++) {
        struct task_traffic_look look = t->look[i];
        KER_CHUNK(c, look);
        if (!sums)
            look = (struct task_traffic_look){.at = look.at};
        if (c->loads)
            look_join(&t->look[i], &look);
    }
}

/* Over the ranks; a rank that came later knows nothing of looks before. */
static void looks_join(struct task_traffic *t, struct ker_comm *comm)
{
    for (int i = 0; i < TASK_TRAFFIC_LOOKS; i++) {
        struct task_traffic_look *l = &t->look[i];
        uint64_t v[] = {l->waited, l->growing, l->far};
        ker_comm_max_i64(comm, &l->at, 1);
        ker_comm_sum_u64(comm, v, 3);
        l->waited = v[0], l->growing = v[1], l->far = v[2];
    }
}

static void queues_add(const struct task_traffic *t, json_t *r, ker_time warmup)
{
    struct task_traffic_look none = {.at = t->begin}, last = t->look[0], first = none;
    for (int i = 1; i < TASK_TRAFFIC_LOOKS && first.at == none.at; i++)
        if (t->look[i].at > none.at && last.at - t->look[i].at >= (last.at - warmup) / 4)
            first = t->look[i];
    double sources = task_traffic_senders(t), span = (double)(last.at - first.at), growth = 0;
    if (span > 0)
        growth = ((double)last.waited - (double)first.waited) / sources / span;
    json_object_set_new(r, "traffic_load", json_real(t->load));
    json_object_set_new(
        r, "source_queues",
        json_pack("{s:f, s:I, s:o, s:f, s:b}", "sources", sources, "growing", (json_int_t)last.growing,
                  "growth", span > 0 ? json_real(growth) : json_null(), "oldest_mean_ps",
                  (double)last.waited / sources, "saturated",
                  span > 0 && (last.far || growth >= fmax(GROWTH, chance(t, sources, span)))));
}

json_t *task_traffic_report(struct task_traffic *t, struct ker_comm *comm, ker_time warmup,
                            double bytes_per_s)
{
    looks_join(t, comm);
    if (ker_comm_rank(comm) != 0)
        return NULL;
    json_t *r = json_pack("{s:s}", "pattern", t->pattern_name);
    if (t->pattern->updates)
        json_object_set_new(r, "updates_per_s",
                            isnan(bytes_per_s)
                                ? json_null()
                                : stats_ratio_json(bytes_per_s, t->size.mean_bytes + (double)t->reply_bytes));
    if (t->arrival)
        queues_add(t, r, warmup);
    else if (!t->pattern->phases)
        json_object_set_new(r, "outstanding", json_integer(t->outstanding));
    return r;
}
