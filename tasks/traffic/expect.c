/* expect.c - what --check expects of the traffic: the first messages of some sources stand for all.
 *
 * Open loops send as often as their law says, if the network carries that. In closed loops a message begins
 * when another has ended, which is how long it takes without others: they send no faster than that.
 */
#include "tasks/traffic/traffic.h"

#define SOURCES 256
#define FIRST 16 /* messages of each */

/* Messages of one node until the end, of which this is one. */
static double messages_of(const struct task_traffic *t, const struct task_traffic_node *n,
                          const struct net_offer *o, ker_time end, struct net_expected *sum)
{
    double span = (double)(ker_time_min(t->stop, end) - t->begin), most = (double)t->messages, each;
    if (t->arrival) {
        each = t->gap.mean_ps;
        sum->most |= t->load > 0.5; /* many networks carry no more */
    } else {
        struct net_alone there = sum->alone(sum->context, t->first + n->node, o->destination, o->bytes),
                         back = sum->alone(sum->context, o->destination, t->first + n->node, t->reply_bytes);
        double cores = node_model_cores(t->model, t->first + n->node), turn = (double)there.left;
        if (!t->pattern->phases)
            turn = (double)(there.there + back.there) / (t->outstanding * cores);
        each = turn > (double)there.left ? turn : (double)there.left;
        sum->most = true;
    }
    if (end == KER_TIME_MAX && t->stop == KER_TIME_MAX) { /* until something else ends the run */
        sum->more |= t->messages == UINT64_MAX;
        return t->messages == UINT64_MAX ? 0 : most;
    }
    return span <= 0 ? 0 : span / each < most ? span / each : most;
}

void task_traffic_expect(struct task_traffic *t, ker_time end, uint32_t part, uint32_t parts,
                         struct net_expected *sum)
{
    uint32_t sources = t->nodes < SOURCES ? t->nodes : SOURCES;
    bool replies = !t->arrival && !t->pattern->phases;
    for (uint32_t i = part; i < sources; i += parts) {
        struct task_traffic_node n;
        struct net_offer o[FIRST];
        uint32_t count = 0;
        task_traffic_node_init(t, &n, t->first + (uint32_t)((uint64_t)i * t->nodes / sources));
        while (count < FIRST && task_traffic_next(&n, &o[count]))
            count++;
        for (uint32_t k = 0; k < count; k++) {
            double times = messages_of(t, &n, &o[k], end, sum) * t->nodes / sources / count;
            net_expect(sum, t->first + n.node, o[k].destination, o[k].bytes, times);
            if (replies)
                net_expect(sum, o[k].destination, t->first + n.node, t->reply_bytes, times);
        }
    }
}
