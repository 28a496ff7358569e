/* jobs.h - inside net/: what links carry of each job (output.links_by_job).
 *
 * A packet says in the lower bits of its message's number whose it is (net.h: NET_JOB_BITS). A direction
 * counts by job what its port or adapter counts, by the same rules, so that its jobs add up to it. With it
 * every transmission takes the slow path of the statistics; without it nothing is asked.
 */
#pragma once

#include "net/ahead.h"
#include "net/links.h"
#include "net/state.h"

/* Of a direction and a job. */
struct net_job_use {
    uint64_t bytes, busy; /* as in struct net_port */
    uint64_t before[2];   /* both at the end of the last period */
};

/* For each of these directions one for each job by itself, then one for all others; zeroed. */
struct net_job_use *net_job_uses_new(const struct net_network *, uint32_t directions);

/* number: of a message. */
static inline struct net_job_use *net_job_use(const struct net_network *net, struct net_job_use *uses,
                                              uint32_t number)
{
    uint32_t job = number % (1u << NET_JOB_BITS);
    return &uses[job < net->jobs ? job : net->jobs];
}

static inline void net_job_count(struct net_job_use *use, uint64_t bytes, uint64_t busy)
{
    use->bytes += bytes;
    use->busy += busy;
}

/* A packet has begun to leave a node. */
void net_job_inject(struct net_adapter *, const struct net_packet *, ker_time now, ker_time wire);
/* A transmission that is known ahead begins before `at`: `sign` times what lies before is as if it had been
 * in former periods. */
void net_job_ahead(const struct net_network *, const struct net_ahead *, struct net_job_use *, ker_time at,
                   uint64_t sign);
/* Rows of a direction in the period that ends at `at`. */
void net_jobs_add(struct stats_table *, const struct net_direction *, ker_time at);
/* Collective: links_by_job.csv. */
void net_jobs_write(const struct net_network *, struct ker_comm *, const struct stats_folder *,
                    struct ker_error *);
/* Of so many directions. A fork may bring further jobs. */
void net_jobs_state(const struct net_network *, struct net_job_use *, uint32_t directions,
                    struct ker_chunk *);

extern const struct stats_schema net_jobs_schema, net_job_series_schema;
