/* expect.c - --check: how many events a run is expected to have, and how much memory, as text or JSON.
 *
 * Who sends counts messages (task_system_expect), the carrier makes events of them. That is an estimate:
 * within a factor of two of what the shipped configurations have (docs/validation.md).
 */
#include "run/stages.h"

#include <math.h>

#define PARTS 1000   /* of one, in sums of integers over the ranks */
#define EVENT_NS 200 /* of a processor: 100 to 300 in the shipped configurations */

static struct net_alone alone(const void *context, uint32_t from, uint32_t to, uint64_t bytes)
{
    const struct run *run = context;
    return run->carrier->expect(run->network, from, to, bytes);
}

/* Three digits of it. */
static uint64_t about(double number)
{
    double unit = number < 1000 ? 1 : pow(10, floor(log10(number)) - 2);
    return (uint64_t)(round(number / unit) * unit);
}

/* Collective: over all ranks, on the first. */
static void expected_sum(struct run *run, struct net_expected *e)
{
    uint64_t sum[] = {(uint64_t)(e->events * PARTS), (uint64_t)(e->messages * PARTS),
                      (uint64_t)(e->bytes * PARTS), e->more, e->most};
    ker_comm_sum_u64(run->comm, sum, 5);
    e->events = (double)sum[0] / PARTS;
    e->messages = (double)sum[1] / PARTS;
    e->bytes = (double)sum[2] / PARTS;
    e->more = sum[3] || run->listed;
    e->most = sum[4];
}

static const char *bound_of(const struct net_expected *e)
{
    return e->more == e->most ? "about" : e->more ? "at least" : "at most";
}

void run_expect(struct run *run, uint64_t memory, double event_ns, struct net_expected *e)
{
    if (run->working)
        task_system_expect(run->tasks, run->end, (uint32_t)ker_comm_rank(run->working),
                           (uint32_t)ker_comm_size(run->working), e);
    expected_sum(run, e);
    if (!run->control)
        return;
    char a[32], b[32];
    double cpu = e->events * event_ns / 1e9;
    if (run->args->check_json) {
        json_t *o = json_pack("{s:{s:s, s:f, s:f, s:f, s:f, s:I}}", "expected", "bound", bound_of(e),
                              "events", e->events, "messages", e->messages, "message_bytes", e->bytes,
                              "cpu_s", cpu, "memory_bytes", (json_int_t)memory);
        if (run->topology)
            json_object_set_new(o, "network", run_network_json(run));
        json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        putchar('\n');
        json_decref(o);
        return;
    }
    printf(
        "expected   %s %llu events, of %llu messages with %s: some %.2g s of one processor, %s of memory\n",
        bound_of(e), (unsigned long long)about(e->events), (unsigned long long)about(e->messages),
        ker_print_bytes(a, e->bytes), cpu, ker_print_bytes(b, (double)memory));
}

void run_network_expect(struct run *run)
{
    struct net_expected e = {.alone = alone, .context = run};
    uint64_t memory =
        ker_peak_rss() +
        (run->carrier->later_bytes && run->network ? run->carrier->later_bytes(run->network) : 0);
    ker_comm_sum_u64(run->comm, &memory, 1);
    run_expect(run, memory, EVENT_NS, &e);
}
