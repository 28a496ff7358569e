/* summary.c - the summary people read, made from the JSON that programs read.
 *
 * Each block prints one object of the JSON, and is left out when the object is not there. Lines have at most
 * 80 columns; names that are too long are cut. Links are ranked by integers, ties by their order number: the
 * same ten on any number of ranks.
 */
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

enum {
    MAX_JOBS = 8,     /* rows of the table of jobs */
    MAX_CLASSES = 12, /* and of that of link classes */
};
#define WIDER 1.6 /* than what was asked for: it is said then; what single steps vary by is within that */

static uint64_t get_count(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static double get_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* 1234567 as "1,234,567"; buffer of 32. */
static char *print_count(char *buffer, uint64_t value)
{
    char plain[24];
    int digits = snprintf(plain, sizeof plain, "%llu", (unsigned long long)value);
    char *at = buffer;
    for (int i = 0; i < digits; i++) {
        if (i && (digits - i) % 3 == 0)
            *at++ = ',';
        *at++ = plain[i];
    }
    *at = '\0';
    return buffer;
}

/* A count, or "-" where the object has none. */
static char *print_field(char *buffer, const json_t *object, const char *key)
{
    return json_object_get(object, key) ? print_count(buffer, get_count(object, key)) : strcpy(buffer, "-");
}

/* 3.21 M; three digits are all that a rate deserves. */
static char *print_short(char *buffer, double value)
{
    static const char *const prefix[] = {"", " k", " M", " G", " T"};
    int p = 0;
    for (; value >= 999.5 && p < 4; p++)
        value /= 1000;
    snprintf(buffer, 32, "%.3g%s", value, prefix[p]);
    return buffer;
}

static char *print_ps(char *buffer, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_null(value) || !value)
        return strcpy(buffer, "-");
    if (json_is_real(value))
        return ker_print_time(buffer, (ker_time)(json_real_value(value) + 0.5));
    return ker_print_time(buffer, json_integer_value(value));
}

static void write_system(FILE *out, const json_t *result)
{
    char a[32], b[32], c[32];
    const char *network = json_string_value(json_object_get(result, "network"));
    const char *reason = json_string_value(json_object_get(result, "end_reason"));
    if (network)
        fprintf(out, "network     %.68s\n", network);
    fprintf(out, "system      %s nodes, %s switches, %s links\n", print_count(a, get_count(result, "nodes")),
            print_count(b, get_count(result, "switches")), print_count(c, get_count(result, "links")));
    fprintf(out, "simulated   %s", print_ps(a, result, "simulated_time_ps"));
    if (reason)
        fprintf(out, ", ended by: %.45s", reason);
    putc('\n', out);
}

/* What was not simulated, or why all was. */
static void write_skip(FILE *out, const json_t *result)
{
    const json_t *skip = json_object_get(result, "skip");
    const char *reason = json_string_value(json_object_get(skip, "reason"));
    char a[32], b[32], c[32];
    double half = 0.5 * (get_number(skip, "high_ps") - get_number(skip, "low_ps"));
    bool skipped = json_is_true(json_object_get(skip, "skipped"));
    if (skipped)
        fprintf(out, "estimated   %s, %g %% interval %s to %s, %.3g %% of steps simulated\n",
                print_ps(a, skip, "time_ps"), 100 * get_number(skip, "level"), print_ps(b, skip, "low_ps"),
                print_ps(c, skip, "high_ps"), 100 * get_number(skip, "share_simulated"));
    if (half > WIDER * get_number(skip, "precision") * get_number(skip, "time_ps"))
        fprintf(out,
                "            that is wider than run.skip.precision = %g: windows differ by more than\n"
                "            the steps in them, and more of them (run.skip.windows) make it narrower\n",
                get_number(skip, "precision"));
    if (skipped)
        fputs("            packets, bytes and all other sums below are estimated, too: of all steps\n", out);
    if (reason) {
        char *text = ker_format("%s skipped, because %s", skipped ? "no more was" : "not", reason);
        stats_wrapped_write(out, "", 12, text);
        free(text);
    }
}

static char *print_percent(char *buffer, const json_t *share)
{
    snprintf(buffer, 32, json_is_number(share) ? "%.2f %%" : "-", 100 * json_number_value(share));
    return buffer;
}

/* As payload; and as traffic.load counts, headers included, where that is another number. */
static void write_load(FILE *out, const json_t *result)
{
    const json_t *accepted = json_object_get(result, "accepted_load"),
                 *traffic = json_object_get(result, "traffic");
    double offered = get_number(result, "offered_load"), load = get_number(traffic, "traffic_load");
    char a[32];
    if (accepted && offered > 0)
        fprintf(out, "load        offered %.2f %%, accepted %s of the injection bandwidth%s\n", 100 * offered,
                print_percent(a, accepted), load > 0 && fabs(load - offered) > 5e-5 ? " as payload;" : "");
    else if (accepted)
        fprintf(out, "load        accepted %s of the injection bandwidth\n", print_percent(a, accepted));
    if (load > 0 && fabs(load - offered) > 5e-5)
        fprintf(out, "            traffic.load is %.4g of each sender's, headers included\n", load);
    if (json_is_number(json_object_get(traffic, "updates_per_s")))
        fprintf(out, "updates     %.4g GUPS: 10^9 updates per second, each a message\n",
                1e-9 * get_number(traffic, "updates_per_s"));
}

static void write_traffic(FILE *out, const json_t *result)
{
    char a[32], b[32], c[32];
    fprintf(out, "packets     %s injected, %s delivered\n",
            print_count(a, get_count(result, "packets_injected")),
            print_count(b, get_count(result, "packets_delivered")));
    const json_t *lost = json_object_get(result, "lost_packets");
    if (lost)
        fprintf(out, "faults      %s packets without a path, %s at dead switches, %s not sent\n",
                print_count(a, get_count(lost, "no_way")), print_count(b, get_count(lost, "dead_switch")),
                print_count(c, get_count(lost, "not_sent")));
    if (json_object_get(result, "lost_head_life"))
        fprintf(out, "dropped     %s packets that were first of a queue too long, %s too long in a switch\n",
                print_count(a, get_count(result, "lost_head_life")),
                print_count(b, get_count(result, "lost_packet_life")));
    fprintf(out, "messages    %s delivered, %s\n", print_count(a, get_count(result, "messages_delivered")),
            ker_print_bytes(c, get_number(result, "bytes_delivered")));
    const json_t *hops = json_object_get(result, "hops");
    if (hops)
        fprintf(out, "hops        mean %.2f, max %s\n", get_number(hops, "mean"),
                print_count(a, get_count(hops, "max")));
    const json_t *routes = json_object_get(result, "routes");
    uint64_t detours = get_count(routes, "detour"), all = detours + get_count(routes, "minimal");
    if (all)
        fprintf(out, "detours     taken by %.2f %% of the packets measured: %s of %s\n",
                100 * (double)detours / (double)all, print_count(a, detours), print_count(b, all));
    write_load(out, result);
}

void stats_wrapped_write(FILE *out, const char *head, int columns, const char *text)
{
    const char *at = text;
    while (at && *at) {
        size_t length = strlen(at), most = 80 - (size_t)columns, cut = length;
        if (length > most)
            for (cut = most; cut > 1 && at[cut] != ' ';)
                cut--;
        fprintf(out, "%-*s%.*s\n", columns, head, (int)cut, at);
        at += cut + (at[cut] == ' ');
        head = "";
    }
}

void stats_verdict_write(FILE *out, const json_t *result)
{
    char *text = stats_bottleneck_text(result);
    const json_t *job;
    size_t i;
    stats_wrapped_write(out, "bottleneck", 12, text);
    free(text);
    json_array_foreach(json_object_get(result, "jobs"), i, job)
    {
        text = stats_path_text(job);
        stats_wrapped_write(out, "path", 12, text);
        free(text);
    }
    if (json_object_get(result, "mpi_overheads"))
        stats_wrapped_write(out, "mpi", 12, STATS_MPI_FREE);
}

static void write_latency_row(FILE *out, const json_t *result, const char *key, const char *name)
{
    static const char *const columns[] = {"mean", "deviation", "p50", "p99", "max"};
    const json_t *latency = json_object_get(result, key);
    if (!get_count(latency, "count"))
        return;
    char text[32];
    fprintf(out, "  %-20s", name);
    for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++)
        fprintf(out, "%11s", print_ps(text, latency, columns[i]));
    putc('\n', out);
}

static void write_latency(FILE *out, const json_t *result)
{
    if (!get_count(json_object_get(result, "packet_latency_ps"), "count"))
        return;
    fprintf(out, "\n%-22s%11s%11s%11s%11s%11s\n", "latency", "mean", "deviation", "p50", "p99", "max");
    write_latency_row(out, result, "packet_latency_ps", "network");
    write_latency_row(out, result, "total_latency_ps", "with source queue");
    write_latency_row(out, result, "message_latency_ps", "whole messages");
    write_latency_row(out, result, "control_wait_ps", "control at adapter");
}

static void write_confidence(FILE *out, const json_t *result)
{
    const json_t *confidence = json_object_get(result, "confidence"),
                 *width = json_object_get(confidence, "half_width");
    if (json_is_number(width))
        fprintf(out, "  network mean within +- %.2g %% at %g %%, by %llu batches\n",
                100 * json_number_value(width), 100 * get_number(confidence, "level"),
                (unsigned long long)get_count(confidence, "batches"));
    else if (confidence)
        fprintf(out, "  no confidence interval: %llu batches\n",
                (unsigned long long)get_count(confidence, "batches"));
}

/* Utilisation by class of link; few networks have more than eight. */
static void write_classes(FILE *out, const json_t *result)
{
    const json_t *classes = json_object_get(result, "link_classes");
    char a[32];
    if (!json_array_size(classes))
        return;
    fprintf(out, "\n%-33s%11s%11s%11s\n", "links by class", "directions", "mean use", "highest");
    for (size_t i = 0; i < json_array_size(classes) && i < MAX_CLASSES; i++) {
        const json_t *c = json_array_get(classes, i);
        fprintf(out, "  %-31.31s%11s%9.2f %%%9.2f %%\n", json_string_value(json_object_get(c, "class")),
                print_count(a, get_count(c, "directions")), 100 * get_number(c, "mean_utilisation"),
                100 * get_number(c, "max_utilisation"));
    }
    if (json_array_size(classes) > MAX_CLASSES)
        fprintf(out, "  and %zu more: see summary.json\n", json_array_size(classes) - MAX_CLASSES);
}

static void write_job(FILE *out, const json_t *job)
{
    char tasks[32], finish[32] = "never", messages[32], bytes[32] = "-";
    const char *name = json_string_value(json_object_get(job, "name"));
    const json_t *finish_ps = json_object_get(job, "finish_ps");
    if (json_is_integer(finish_ps) && json_integer_value(finish_ps) >= 0)
        print_ps(finish, job, "finish_ps");
    if (json_object_get(job, "bytes"))
        ker_print_bytes(bytes, get_number(job, "bytes"));
    fprintf(out, "  %-20.20s%11s%14s%16s%14s\n", name ? name : "", print_field(tasks, job, "tasks"), finish,
            print_field(messages, job, "messages"), bytes);
}

/* What it has written and read, and the bandwidth from the first call to the end of the last one. */
static void write_files(FILE *out, const json_t *job)
{
    static const char *const operations[][2] = {{"write", "written"}, {"read", "read"}};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const json_t *of = json_object_get(json_object_get(job, "io"), operations[i][0]);
        char bytes[32], span[32], rate[32];
        if (of)
            fprintf(out, "    files %s: %s in %s, %s/s\n", operations[i][1],
                    ker_print_bytes(bytes, get_number(of, "bytes")), print_ps(span, of, "span_ps"),
                    ker_print_bytes(rate, get_number(of, "bytes_per_s")));
    }
}

/* What is said of a job below its row, where there is something to say. */
static void write_job_notes(FILE *out, const json_t *job)
{
    char a[32], b[32], c[32];
    if (json_object_get(job, "passes"))
        fprintf(out, "    passes complete: %s\n", print_field(a, job, "passes"));
    if (get_count(job, "poll_gap_ps") || get_count(job, "finalize_gap_ps"))
        fprintf(out,
                "    traced time that is left out, all tasks: %s before MPI_Finalize, %s between tests\n",
                print_ps(a, job, "finalize_gap_ps"), print_ps(b, job, "poll_gap_ps"));
    write_files(out, job);
    const json_t *estimated = json_object_get(job, "estimated");
    if (json_object_get(estimated, "low_ps"))
        fprintf(out, "    estimated, %g %% interval %s to %s; %s of its steps were simulated\n",
                100 * get_number(estimated, "level"), print_ps(a, estimated, "low_ps"),
                print_ps(b, estimated, "high_ps"), print_field(c, estimated, "simulated_steps"));
    if (get_count(job, "file_time_ps"))
        fprintf(out, "    computation, of all tasks, that stands for calls on files: %s\n",
                print_ps(a, job, "file_time_ps"));
}

static void write_jobs(FILE *out, const json_t *result)
{
    const json_t *jobs = json_object_get(result, "jobs");
    size_t count = json_array_size(jobs);
    if (!count)
        return;
    fprintf(out, "\n%-22s%11s%14s%16s%14s\n", "job", "tasks", "finished at", "messages", "bytes");
    for (size_t i = 0; i < count && i < MAX_JOBS; i++) {
        write_job(out, json_array_get(jobs, i));
        write_job_notes(out, json_array_get(jobs, i));
    }
    if (count > MAX_JOBS)
        fprintf(out, "  and %zu more: see summary.json\n", count - MAX_JOBS);
}

/* What it is, then its sums. */
static void write_service(FILE *out, json_t *service)
{
    char a[32];
    const char *name, *separator = ": ";
    json_t *value;
    fprintf(out, "  %s, %s nodes", json_string_value(json_object_get(service, "name")),
            print_field(a, service, "nodes"));
    json_object_foreach(service, name, value)
    {
        size_t length = strlen(name);
        if (!json_is_number(value) || strcmp(name, "nodes") == 0)
            continue;
        bool time = length > 3 && strcmp(name + length - 3, "_ps") == 0;
        fprintf(out, "%s%.*s %s", separator, (int)(time ? length - 3 : length), name,
                time ? print_ps(a, service, name) : print_field(a, service, name));
        separator = ", ";
    }
    fputc('\n', out);
}

static void write_services(FILE *out, const json_t *result)
{
    const json_t *services = json_object_get(result, "services");
    if (json_array_size(services))
        fputs("\nservices\n", out);
    for (size_t i = 0; i < json_array_size(services); i++)
        write_service(out, json_array_get(services, i));
}

/* "s12.3 > s13" and the class, 31 columns. */
static void write_link(FILE *out, const struct stats_table *t, size_t row)
{
    char text[64];
    fprintf(out, "  %s", stats_link_text(text, sizeof text, t, row));
}

static void write_links(FILE *out, const struct stats_busiest *busiest, ker_time span)
{
    const size_t *busy, *queued;
    int busy_count, queued_count;
    const struct stats_table *t = stats_busiest_rows(busiest, false, &busy, &busy_count);
    stats_busiest_rows(busiest, true, &queued, &queued_count);
    int busy_ps = stats_table_find(t, "busy_ps", false),
        waiting = stats_table_find(t, "queue_mean_packets", false);
    if (!busy_count || span <= 0)
        return;
    fprintf(out, "\n%-33s%7s", "busiest links", "busy");
    if (queued_count)
        fprintf(out, "  %-31s%7s", "longest queues", "packets");
    putc('\n', out);
    for (int i = 0; i < busy_count; i++) {
        write_link(out, t, busy[i]);
        fprintf(out, "%6.1f %%", 100 * ((double)stats_table_cell(t, busy[i], busy_ps) / (double)span));
        if (i < queued_count) {
            write_link(out, t, queued[i]);
            fprintf(out, "%8.3g", (double)stats_table_cell(t, queued[i], waiting) / (double)span);
        }
        putc('\n', out);
    }
}

static void write_power(FILE *out, const json_t *result)
{
    const json_t *p = json_object_get(result, "power");
    double all = p ? get_number(p, "energy_j") : 0, percent = all > 0 ? 100 / all : 0;
    if (p)
        fprintf(out,
                "\npower       %.6g W on average, %.6g J: cores %.1f %%, memory %.1f %%, adapters %.1f %%, "
                "links %.1f %%\n",
                get_number(p, "mean_w"), all, percent * get_number(p, "cores_j"),
                percent * get_number(p, "memory_j"), percent * get_number(p, "adapters_j"),
                percent * get_number(p, "links_j"));
}

static void write_run(FILE *out, const json_t *run)
{
    if (!run)
        return;
    char a[32], b[32], c[32];
    double wall_s = get_number(run, "wall_s");
    uint64_t ranks = get_count(run, "ranks");
    fprintf(out, "\nrun         %s rank%s, %.2f s wall, %.2f s cpu, %s, imbalance %.2f\n",
            print_count(a, ranks), ranks == 1 ? "" : "s", wall_s, get_number(run, "cpu_s"),
            ker_print_bytes(b, get_number(run, "peak_rss_bytes")), get_number(run, "imbalance"));
    fprintf(out, "speed       %s events/s, %s packet-hops/s",
            print_short(a, wall_s > 0 ? get_number(run, "events") / wall_s : 0),
            print_short(b, get_number(run, "packet_hops_per_s")));
    fprintf(out, ", %s windows\n", print_count(c, get_count(run, "windows")));
}

char *stats_summary_text(const json_t *summary, const struct stats_busiest *links, ker_time span)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    ker_assert(out);
    const json_t *result = json_object_get(summary, "result");
    write_system(out, result);
    write_skip(out, result);
    write_traffic(out, result);
    stats_verdict_write(out, result);
    write_latency(out, result);
    write_confidence(out, result);
    write_jobs(out, result);
    write_services(out, result);
    write_classes(out, result);
    if (links)
        write_links(out, links, span);
    write_power(out, result);
    write_run(out, json_object_get(summary, "run"));
    ker_assert(!fclose(out));
    return text;
}
