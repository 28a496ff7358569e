/* status.c - what SIGUSR1 asks for: how far the run is, and which links are the busiest now.
 *
 * "Now" is the time since the last status, or since the beginning of the measured span: the busy times of all
 * directions of links at the last status are kept on the control rank, in the order of the table of links,
 * eight bytes each.
 */
#include "run/stages.h"

#include <stdlib.h>

#define SHOWN 5

struct run_status {
    uint64_t *before; /* busy, by row */
    size_t rows, room;
    ker_time at; /* of the last status */
};

struct hottest {
    struct run_status *last;
    int busy_ps;
    size_t row;
    struct {
        uint64_t busy;
        char text[64];
    } link[SHOWN];
};

void run_status_free(struct run_status *s)
{
    if (s)
        free(s->before);
    free(s);
}

static void link_show(void *context, const struct stats_table *t, size_t row)
{
    struct hottest *h = context;
    struct run_status *s = h->last;
    uint64_t total = (uint64_t)stats_table_cell(t, row, h->busy_ps);
    if (h->row == s->rows)
        *KER_PUSH(s->before, s->rows, s->room) = 0;
    uint64_t busy = total - s->before[h->row];
    s->before[h->row++] = total;
    if (busy <= h->link[SHOWN - 1].busy)
        return;
    int place = SHOWN - 1;
    for (; place > 0 && busy > h->link[place - 1].busy; place--)
        h->link[place] = h->link[place - 1];
    h->link[place].busy = busy;
    stats_link_text(h->link[place].text, sizeof h->link[place].text, t, row);
}

static void tell(const struct run *run, const struct hottest *h, const struct net_totals *sum, ker_time at,
                 ker_time span)
{
    char now[32], end[32], length[32];
    fprintf(stderr, "marssim: status: %s", ker_print_time(now, at));
    if (run->end < KER_TIME_MAX)
        fprintf(stderr, " of %s", ker_print_time(end, run->end));
    fprintf(stderr, " simulated, %llu packets delivered of %llu injected, %llu messages\n",
            (unsigned long long)sum->packets_delivered, (unsigned long long)sum->packets_injected,
            (unsigned long long)sum->messages_delivered);
    if (h->link[0].busy == 0 || span <= 0)
        fprintf(stderr, "  no link was busy%s\n",
                at <= run->warmup ? ": nothing is measured before run.warmup" : "");
    else
        fprintf(stderr, "  busiest links in the last %s\n", ker_print_time(length, span));
    for (int i = 0; i < SHOWN && h->link[i].busy && span > 0; i++) {
        double share = (double)h->link[i].busy / (double)span; /* a packet in transit counts whole */
        fprintf(stderr, "  %-31s%6.1f %%\n", h->link[i].text, 100 * (share < 1 ? share : 1));
    }
    fflush(stderr);
}

/* Collective over the working ranks. */
static void hottest_find(const struct run *run, struct hottest *h, ker_time at)
{
    struct stats_table *table = run_links(run)->table(run->network, at);
    h->busy_ps = stats_table_find(table, "busy_ps", false);
    run_links(run)->show(run->network, table, run->working, &(struct stats_visitor){link_show, h});
    stats_table_free(table);
}

void run_status_tell(struct run *run, ker_time at)
{
    if (!run->status)
        run->status = ker_alloc(sizeof *run->status);
    struct run_status *last = run->status;
    struct net_totals t = run_totals(run);
    uint64_t v[3] = {t.packets_delivered, t.packets_injected, t.messages_delivered};
    ker_comm_sum_u64(run->working, v, 3);
    t.packets_delivered = v[0], t.packets_injected = v[1], t.messages_delivered = v[2];
    ker_time from = last->at > run->warmup ? last->at : run->warmup,
             to = at < run->measure_to ? at : run->measure_to;
    struct hottest h = {.last = last};
    if (run_links(run))
        hottest_find(run, &h, at);
    if (run->control)
        tell(run, &h, &t, at, to - from);
    last->at = at;
}
