/* periods.c - snapshots of the whole system at regular simulated times.
 *
 * Every rank hands over its totals so far; they are summed over the ranks, and rank 0 writes the difference
 * to the row before. Summing totals rather than differences keeps the ranks free of any memory of earlier
 * rows. Unlike the other files this one is written in place and flushed row by row: it can be watched, and
 * survives whatever ends the run.
 */
#include "stats/file.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>

#define LIMBS 4 /* of 32 bits: see quantity.c */

struct stats_periods {
    struct ker_comm *comm;
    FILE *stream; /* NULL on other ranks */
    char *path;
    struct stats_period last; /* of all ranks, on rank 0 */
    int why;                  /* errno of the first failed write */
};

enum ker_status stats_periods_open(struct stats_periods **periods, struct ker_comm *comm, const char *folder,
                                   struct ker_error *error)
{
    struct stats_periods *p = *periods = ker_alloc(sizeof *p);
    p->comm = comm;
    if (ker_comm_rank(comm) != 0)
        return KER_OK;
    p->path = ker_format("%s/periods.csv", folder);
    p->stream = fopen(p->path, "w");
    if (!p->stream)
        return stats_file_fail(p->path, errno, error);
    fputs("time_ps,packets_injected,packets_delivered,packets_in_flight,bytes_delivered,"
          "packet_latency_mean_ps\n",
          p->stream);
    if (fflush(p->stream))
        p->why = errno;
    return KER_OK;
}

static void row_write(FILE *out, const struct stats_period *now, const struct stats_period *last)
{
    uint64_t delivered = now->packets_delivered - last->packets_delivered;
    stats_write_u64(out, (uint64_t)now->time, ',');
    stats_write_u64(out, now->packets_injected - last->packets_injected, ',');
    stats_write_u64(out, delivered, ',');
    stats_write_u64(out, now->packets_injected - now->packets_delivered, ',');
    stats_write_u64(out, now->bytes_delivered - last->bytes_delivered, ',');
    if (delivered) {
        unsigned __int128 latency = now->latency_ps - last->latency_ps;
        stats_write_u64(out, (uint64_t)((latency * 2 + delivered) / ((unsigned __int128)delivered * 2)),
                        '\n');
    } else {
        stats_write_text(out, "", '\n');
    }
}

void stats_periods_add(struct stats_periods *periods, const struct stats_period *totals)
{
    uint64_t word[3 + LIMBS] = {totals->packets_injected, totals->packets_delivered, totals->bytes_delivered};
    for (int i = 0; i < LIMBS; i++)
        word[3 + i] = (uint32_t)(totals->latency_ps >> (32 * i));
    ker_comm_sum_u64(periods->comm, word, 3 + LIMBS);
    if (!periods->stream)
        return;
    struct stats_period now = {totals->time, word[0], word[1], word[2], 0};
    for (int i = 0; i < LIMBS; i++)
        now.latency_ps += (unsigned __int128)word[3 + i] << (32 * i);
    row_write(periods->stream, &now, &periods->last);
    periods->last = now;
    if (fflush(periods->stream) && !periods->why)
        periods->why = errno;
}

enum ker_status stats_periods_close(struct stats_periods *periods, struct ker_error *error)
{
    if (!periods)
        return KER_OK;
    enum ker_status status = KER_OK;
    if (periods->stream && fclose(periods->stream) && !periods->why)
        periods->why = errno;
    if (periods->why)
        status = stats_file_fail(periods->path, periods->why, error);
    free(periods->path);
    free(periods);
    return status;
}
