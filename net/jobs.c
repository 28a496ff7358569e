/* jobs.c - what links carry of each job; see jobs.h. */
#include "net/jobs.h"

struct net_job_use *net_job_uses_new(const struct net_network *net, uint32_t directions)
{
    return net->jobs ? ker_alloc(sizeof(struct net_job_use) * (net->jobs + 1) * directions) : NULL;
}

void net_job_inject(struct net_adapter *a, const struct net_packet *p, ker_time now, ker_time wire)
{
    a->more->job = (uint8_t)(p->message % (1u << NET_JOB_BITS));
    net_job_count(net_job_use(a->net, a->more->jobs, a->more->job), net_measures(a->net, now) ? p->bytes : 0,
                  net_measured_part(a->net, now, wire));
}

void net_job_ahead(const struct net_network *net, const struct net_ahead *t, struct net_job_use *uses,
                   ker_time at, uint64_t sign)
{
    struct net_job_use *use = net_job_use(net, uses, t->job);
    if (t->leave >= at)
        return;
    use->before[0] += sign * t->bytes;
    use->before[1] += sign * net_measured_part(net, t->leave, ker_time_min(t->wire, at - t->leave));
}

/* ---- rows ---- */

struct row {
    const struct net_direction *d;
    ker_time at;
    uint32_t job;
    struct {
        uint64_t bytes, busy;
    } use;
};

static const char *job_text(const void *network, uint32_t job)
{
    const struct net_network *net = network;
    return job < net->jobs ? net->job_name(net->job_names, job) : "(others)";
}

/* clang-format off */
#define FROM_COLUMNS(COLUMN) \
    COLUMN(from_kind, "", TEXT, SAME, row->d->from.node, "the sending end: `node` or `switch`", \
           .text = net_link_kind_text, .text_bytes = 8) \
    COLUMN(from, "", U32, SAME, row->d->from.id, "its id") \
    COLUMN(from_port, "", U16, SAME, row->d->from.port, "its port; a node has port 0 only")
#define USE_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, \
           "the job's name; `(others)`: synthetic traffic, services, notices of congestion, and with more " \
           "than 15 jobs those behind the first 15", \
           .text = job_text) \
    COLUMN(bytes, "bytes", U64, SUM, row->use.bytes, "its bytes on the wire, headers included") \
    COLUMN(busy_ps, "ps", U64, SUM, row->use.busy, "time spent transmitting them")
#define JOB_COLUMNS(COLUMN) \
    FROM_COLUMNS(COLUMN) \
    COLUMN(to_kind, "", TEXT, SAME, row->d->to.node, "the receiving end: `node` or `switch`", \
           .text = net_link_kind_text, .text_bytes = 8) \
    COLUMN(to, "", U32, SAME, row->d->to.id, "its id") \
    COLUMN(to_port, "", U16, SAME, row->d->to.port, "its port") \
    COLUMN(class, "", TEXT, SAME, row->d->class, "the class of links it belongs to, as in links.csv", \
           .text = net_link_class_text) \
    USE_COLUMNS(COLUMN)
#define JOB_SERIES_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", U64, SAME, row->at, "end of the period") \
    FROM_COLUMNS(COLUMN) \
    USE_COLUMNS(COLUMN)
/* clang-format on */

static uint64_t row_key(const void *from)
{
    const struct row *row = from;
    return row->d->order << NET_JOB_BITS | row->job;
}

STATS_SCHEMA(
    net_jobs_schema, struct row, JOB_COLUMNS, row_key, "links_by_job",
    "One row for each job of which a direction of a link has carried anything in the measured span, in "
    "the order of links.csv, then of the jobs. The rows of a direction add up to its row there.")
STATS_SCHEMA(
    net_job_series_schema, struct row, JOB_SERIES_COLUMNS, row_key, "links_by_job_series",
    "One row for each job of which a direction of a link has carried anything in a period, by period, then "
    "in the order of links_by_job.csv. The rows of a direction add up to its row in link_series.csv.")

/* The jobs of a direction are all that it has carried. */
static void sum_check(const struct net_direction *d)
{
    uint64_t bytes = 0, busy = 0;
    for (uint32_t job = 0; job <= d->net->jobs; job++) {
        bytes += d->jobs[job].bytes;
        busy += d->jobs[job].busy;
    }
    ker_check(bytes == (d->port ? net_port_counts(d->net, d->port).bytes : d->adapter->bytes));
    ker_check(busy == (d->port ? net_port_counts(d->net, d->port).busy : d->adapter->busy));
}

void net_jobs_add(struct stats_table *table, const struct net_direction *d, ker_time at)
{
    const struct net_adapter *a = d->adapter;
    ker_time beyond = a && a->wire && a->link_free > at ? a->link_free - at : 0;
    for (uint32_t job = 0; job <= d->net->jobs; job++) {
        struct net_job_use *use = &d->jobs[job];
        bool last = a && net_job_use(d->net, d->jobs, a->more->job) == use;
        struct row row = {d, at, job, {use->bytes, use->busy}};
        row.use.busy -= last ? net_measured_part(d->net, at, beyond) : 0;
        stats_series_since("links_by_job_series", &row.use.bytes, use->before, 2);
        if (row.use.bytes | row.use.busy)
            stats_table_add(table, &row);
    }
}

static void all_add(void *context, struct stats_table *table, const struct net_direction *d)
{
    if (!d->jobs)
        return;
    sum_check(d);
    for (uint32_t job = 0; job <= d->net->jobs; job++)
        if (d->jobs[job].bytes | d->jobs[job].busy)
            stats_table_add(table, &(struct row){d, 0, job, {d->jobs[job].bytes, d->jobs[job].busy}});
}

static void row_write(void *writer, const struct stats_table *table, size_t row)
{
    stats_writer_row(writer, table, row);
}

void net_jobs_write(const struct net_network *net, struct ker_comm *comm, const struct stats_folder *folder,
                    struct ker_error *error)
{
    struct stats_table *table = stats_table_new(&net_jobs_schema, net, 0);
    struct stats_writer *writer =
        ker_comm_rank(comm) == 0 ? stats_writer_open(table, folder, NULL, error) : NULL;
    net_directions_show(net, table, comm, &(struct net_directions){.add = all_add},
                        &(struct stats_visitor){row_write, writer});
    stats_writer_close(writer, error);
    stats_table_free(table);
}

/* ---- saved state ---- */

void net_jobs_state(const struct net_network *net, struct net_job_use *uses, uint32_t directions,
                    struct ker_chunk *c)
{
    uint32_t saved = ker_chunk_u32(c, net->jobs);
    c->bad |= saved > net->jobs;
    for (uint32_t d = 0; d < directions && net->jobs && !c->bad; d++)
        for (uint32_t job = 0; job <= saved; job++)
            KER_CHUNK(c, uses[(size_t)d * (net->jobs + 1) + (job < saved ? job : net->jobs)]);
}
