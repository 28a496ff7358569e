/* Works that share one core under drawn noise: when each ends, and how long its core was away from it,
 * against a count picosecond by picosecond.
 *
 * A core of 4 threads that together do 1.7 times what one does has 4 works, which begin at different times
 * and compute for different ones, some of them inside detours. In each picosecond in which the core is there
 * every work that computes continues at the speed of as many threads as there are; in the others it is away
 * from all that have begun and not ended. A work ends when nothing is left and the core is there.
 */
#include "nodes/nodes.h"
#include "tests/run_marssim.h"

#define WORKS 4
static const struct {
    ker_time start, compute;
} work[WORKS] = {{0, 2500000}, {700000, 1234567}, {900001, 1}, {1500000, 3300001}};

static const char *const laws[] = {"fixed", "exponential", "pareto"};
static const struct {
    const char *gap, *length;
    ker_time gap_ps, length_ps;
} detours[] = {{"300 ns", "90 ns", 300 * KER_NS, 90 * KER_NS},
               {"100 ns", "150 ns", 100 * KER_NS, 150 * KER_NS}};

struct count {
    ker_time end[WORKS], away[WORKS];
};

static struct count count(const struct node_noise *noise, const struct node_structure *s)
{
    struct count c = {0};
    struct node_noise_core core = {0};
    uint64_t left[WORKS];
    uint32_t ended = 0;
    for (int i = 0; i < WORKS; i++)
        left[i] = (uint64_t)work[i].compute * NODE_SPEED;
    for (ker_time now = 0; ended < WORKS; now++) {
        bool there = node_noise_until(noise, &core, 0, 0, now, 0) == now;
        uint32_t busy = 0;
        for (int i = 0; i < WORKS; i++) {
            if (there && !left[i] && !c.end[i]) {
                c.end[i] = now;
                ended++;
            }
            busy += work[i].start <= now && left[i];
        }
        uint32_t speed = busy ? node_thread_speed(s, 0, busy) : 0;
        for (int i = 0; i < WORKS; i++) {
            if (now < work[i].start || c.end[i])
                continue;
            c.away[i] += !there;
            left[i] -= there ? (left[i] < speed ? left[i] : speed) : 0;
        }
    }
    return c;
}

static void compare(struct run *r, const struct count *c)
{
    char path[96];
    snprintf(path, sizeof path, "%s/out/tasks.csv", r->folder);
    struct csv csv = csv_open(path);
    assert_int_equal(csv.rows, WORKS);
    for (size_t i = 0; i < WORKS; i++) {
        assert_int_equal(csv_count(&csv, i, "finish_ps"), c->end[i]);
        assert_int_equal(csv_count(&csv, i, "away_ps"), c->away[i]);
    }
    csv_free(&csv);
}

static void several_works_on_a_core(void **state)
{
    struct run r;
    run_init(&r);
    struct node_core core = {.threads = 4, .speed = NODE_SPEED};
    const struct node_structure s = {.cores = 1, .units = 4, .throughput = 1700000, .core = &core};
    for (size_t law = 0; law < sizeof laws / sizeof *laws; law++)
        for (size_t d = 0; d < sizeof detours / sizeof *detours; d++)
            for (uint64_t seed = 1; seed <= (getenv("LONG") ? 3 : 1); seed++) {
                struct node_noise noise = {.kind = NODE_NOISE_RANDOM,
                                           .law = (enum node_noise_lengths)law,
                                           .gap = detours[d].gap_ps,
                                           .length = detours[d].length_ps,
                                           .shape = 1.5,
                                           .seed = seed,
                                           .purpose = ker_purpose("node.noise")};
                char jobs[1024] = "";
                for (int i = 0, at = 0; i < WORKS; i++)
                    at += snprintf(jobs + at, sizeof jobs - (size_t)at,
                                   "%s{ program = \"stencil\"; first_node = 0; extents = [1]; steps = 1; "
                                   "start = \"%lld ps\"; "
                                   "compute_time = \"%lld ps\"; }",
                                   i ? ", " : "", (long long)work[i].start, (long long)work[i].compute);
                run_format(
                    &r,
                    "topology = { kind = \"star\"; nodes = 2; bandwidth = \"10 GB/s\"; latency = \"100 ns\"; "
                    "};\n"
                    "node = { cores = 1; threads = 4; thread_throughput = 1.7;\n"
                    "noise = { kind = \"random\"; gap = \"%s\"; length = \"%s\"; lengths = \"%s\"; %s }; };\n"
                    "run = { seed = %d; };\njobs = ( %s );\n",
                    detours[d].gap, detours[d].length, laws[law], law == 2 ? "shape = 1.5;" : "", (int)seed,
                    jobs);
                struct count c = count(&noise, &s);
                compare(&r, &c);
            }
    run_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(several_works_on_a_core)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
