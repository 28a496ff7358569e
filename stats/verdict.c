/* verdict.c - what limits a run, in a sentence with its numbers, from the object `result` of its summary.
 *
 * In this order: source queues that grow, which is saturation, or a network that still fills; classes of
 * links whose busiest is busy nearly all of the time, then what is as full at their ends and in nodes; a job
 * that waits more than it computes; computation, or memory. Of the job also what else took its time, and the
 * task that the others wait for. The page of marsreport says the same. Without a network (LogGOPS) there is
 * the job only.
 *
 * What is said to limit must do so: faster links help where they are full. Links that are busy three quarters
 * of the time may limit nothing (requests that wait for their answers), and those that are idle most of the
 * time may be what a job waits for (messages one after the other): of these only what is measured is said.
 */
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

#define BUSY 0.9  /* a link that is as busy as this limits */
#define ALIKE 0.9 /* a class limits as well as the busiest when its links are on average so near to it */
#define WAITING 0.5
#define SHARE 0.1   /* of the tasks' time: less is not reported */
#define FILLS 0.03  /* of what enters the network stays there */
#define CHANCE 4.0  /* deviations that are taken for chance */
#define UNEVEN 1.25 /* the longest computation of a task over their mean */

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

bool stats_saturated(const json_t *result)
{
    return json_is_true(
        json_object_get(json_object_get(json_object_get(result, "traffic"), "source_queues"), "saturated"));
}

static const json_t *busiest_class(const json_t *result)
{
    const json_t *classes = json_object_get(result, "link_classes"), *most = NULL;
    for (size_t i = 0; i < json_array_size(classes); i++) {
        const json_t *c = json_array_get(classes, i);
        double by = number(c, "max_utilisation") - number(most, "max_utilisation");
        if (!most || by > 0 || (by == 0 && number(c, "mean_utilisation") > number(most, "mean_utilisation")))
            most = c;
    }
    return most;
}

static const json_t *longest_waiting(const json_t *result)
{
    const json_t *jobs = json_object_get(result, "jobs"), *most = NULL;
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        const json_t *job = json_array_get(jobs, i);
        if (json_object_get(job, "wait_share") &&
            (!most || number(job, "wait_share") > number(most, "wait_share")))
            most = job;
    }
    return most;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void saturated_tell(FILE *out, const json_t *result)
{
    const json_t *queues = json_object_get(json_object_get(result, "traffic"), "source_queues");
    fprintf(
        out,
        "saturated: the source queues of %.0f of %.0f nodes grow, by %.1f %% of the offered load (%.1f %%, "
        "accepted %.1f %%); latencies depend on the length of the run; ",
        number(queues, "growing"), number(queues, "sources"), 100 * number(queues, "growth"),
        100 * number(result, "offered_load"), 100 * number(result, "accepted_load"));
}

/* A network beyond saturation first fills its own buffers, which takes long where they are large: sources
 * that lose nothing then, but less arrives than is sent, by more than chance makes of this many messages. */
bool stats_fills(const json_t *result)
{
    const json_t *queues = json_object_get(json_object_get(result, "traffic"), "source_queues");
    double injected = number(result, "injected_load"), messages = number(result, "messages_delivered"),
           missing = injected > 0 ? 1 - number(result, "accepted_load") / injected : 0;
    return queues && messages > 0 && missing >= FILLS && missing >= CHANCE / sqrt(messages);
}

static void filling_tell(FILE *out, const json_t *result)
{
    fprintf(out,
            "the network fills: of what enters it %.1f %% stays there (offered %.1f %%, accepted %.1f %%); "
            "latencies depend on the length of the run; ",
            100 * (1 - number(result, "accepted_load") / number(result, "injected_load")),
            100 * number(result, "offered_load"), 100 * number(result, "accepted_load"));
}

static void links_tell(FILE *out, const json_t *links, bool limit)
{
    fprintf(out,
            limit ? "links of class %s are up to %.1f %% busy (%.1f %% on average)"
                  : "the busiest links, of class %s, are %.1f %% busy (%.1f %% on average)",
            text_of(links, "class"), 100 * number(links, "max_utilisation"),
            100 * number(links, "mean_utilisation"));
}

/* Others that are as full. */
static void further_tell(FILE *out, const json_t *result, const json_t *links)
{
    const json_t *classes = json_object_get(result, "link_classes");
    for (size_t i = 0; i < json_array_size(classes); i++) {
        const json_t *c = json_array_get(classes, i);
        if (c != links && number(c, "max_utilisation") >= BUSY &&
            number(c, "mean_utilisation") >= ALIKE * number(links, "mean_utilisation"))
            fprintf(out, ", those of class %s up to %.1f %% (%.1f %%)", text_of(c, "class"),
                    100 * number(c, "max_utilisation"), 100 * number(c, "mean_utilisation"));
    }
}

/* With output.waits: what it waited for most, where that is known of the most. */
static void cause_tell(FILE *out, const json_t *job)
{
    static const struct {
        const char *key, *words;
    } causes[] = {
        {"late_sender_ps", "late senders"},
        {"late_receiver_ps", "late receivers"},
        {"late_participants_ps", "late participants of collectives"},
        {"collective_steps_ps", "earlier steps of collectives"},
        {"handshake_ps", "handshakes"},
        {"contention_ps", "contention in the network"},
        {"transfer_ps", "transfers"},
        {"sending_ps", "its adapters to send"},
        {"matching_ps", "matching"},
        {"one_sided_ps", "one-sided messages"},
        {"service_ps", "services"},
    };
    const json_t *waits = json_object_get(job, "waits");
    size_t most = 0;
    for (size_t i = 1; i < sizeof causes / sizeof *causes; i++)
        if (number(waits, causes[i].key) > number(waits, causes[most].key))
            most = i;
    if (number(waits, causes[most].key) > number(waits, "other_ps") && number(waits, "wait_ps") > 0)
        fprintf(out, " (%.0f %% of that for %s)",
                100 * number(waits, causes[most].key) / number(waits, "wait_ps"), causes[most].words);
}

static double end_of(const json_t *result, const json_t *job)
{
    const json_t *finish = json_object_get(job, "finish_ps");
    return json_is_integer(finish) ? json_number_value(finish) : number(result, "simulated_time_ps");
}

/* A tenth or more of the tasks' time was in calls on files. */
static void files_tell(FILE *out, const json_t *result, const json_t *job)
{
    double time = 0, all = number(job, "tasks") * end_of(result, job);
    const char *operation;
    json_t *of;
    json_object_foreach(json_object_get(job, "io"), operation, of) time += number(of, "time_ps");
    if (all > 0 && time >= SHARE * all)
        fprintf(out, ", spends %.0f %% in calls on files", 100 * fmin(time / all, 1));
}

/* What took a tenth or more of the tasks' time beside computation and waiting, where nodes measure it. */
static void shares_tell(FILE *out, const json_t *job)
{
    static const struct {
        const char *key, *words;
    } shares[] = {{"stalled", "stalls %.0f %% for memory"},
                  {"preempted", "waits %.0f %% for cores"},
                  {"overhead", "spends %.0f %% on overheads"},
                  {"system", "spends %.0f %% in the operating system"},
                  {"away", "loses %.0f %% to noise"}};
    const json_t *all = json_object_get(job, "time_shares");
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double share = number(all, shares[i].key);
        if (share < SHARE)
            continue;
        fputs(", ", out);
        fprintf(out, shares[i].words, 100 * share);
    }
}

/* The task that computes longest, where the others must wait for it. */
static void late_tell(FILE *out, const json_t *result, const json_t *job)
{
    const json_t *imbalance = json_object_get(job, "imbalance");
    double times = number(imbalance, "max_over_mean");
    if (times >= UNEVEN && number(imbalance, "compute_max_ps") >= WAITING * end_of(result, job))
        fprintf(out, ", its task %.0f computes %.1f times as long as the mean of all",
                number(imbalance, "compute_max_task"), times);
}

static void job_tell(FILE *out, const json_t *result, const json_t *job)
{
    fprintf(out, "job %s waits %.0f %% of its tasks' time", text_of(job, "name"),
            100 * number(job, "wait_share"));
    if (number(job, "wait_share") >= SHARE)
        cause_tell(out, job);
    files_tell(out, result, job);
    shares_tell(out, job);
    late_tell(out, result, job);
}

/* What is as full as a link may be, beside the links: the ends of the network, the memory of nodes, file
 * servers (whose mean is not known). */
struct end {
    const char *key[2], *words;
};
static const struct end ends[] = {
    {{"ejection", NULL},
     "adapters take packets off at up to %.1f %% of adapter.ejection_rate (%.1f %% on average)"},
    {{"node", "controllers"}, "memory controllers are up to %.1f %% busy (%.1f %% on average)"},
    {{"node", "socket_links"}, "links between sockets are up to %.1f %% busy (%.1f %% on average)"},
    {{"node", "buses"}, "buses of nodes are up to %.1f %% busy (%.1f %% on average)"},
    {{"storage", NULL}, "devices of file servers are up to %.1f %% busy"},
};

static bool ends_tell(FILE *out, const json_t *result, const char *before)
{
    bool any = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const json_t *use = json_object_get(result, ends[i].key[0]);
        use = ends[i].key[1] ? json_object_get(use, ends[i].key[1]) : use;
        if (number(use, "max_utilisation") < BUSY)
            continue;
        fputs(any ? "; " : before, out);
        fprintf(out, ends[i].words, 100 * number(use, "max_utilisation"),
                100 * number(use, "mean_utilisation"));
        any = true;
    }
    return any;
}

/* A closed loop: each core has this many messages in flight, and waits for their answers. Both directions
 * count as messages. */
static void loop_tell(FILE *out, const json_t *result)
{
    double outstanding = number(json_object_get(result, "traffic"), "outstanding"),
           one_way = number(json_object_get(result, "message_latency_ps"), "mean");
    char trip[32];
    if (outstanding > 0 && one_way > 0 && !json_array_size(json_object_get(result, "services")))
        fprintf(out, "limited by %.0f message%s outstanding (traffic.outstanding) over a round trip of %s; ",
                outstanding, outstanding == 1 ? "" : "s", ker_print_time(trip, (ker_time)(2 * one_way)));
}

/* Nothing is full. */
static void waiting_tell(FILE *out, const json_t *result, const json_t *job, const json_t *links)
{
    bool waits = number(job, "wait_share") >= WAITING;
    double stalled = number(json_object_get(job, "time_shares"), "stalled"),
           computes = number(json_object_get(job, "time_shares"), "compute");
    if (job && !waits)
        fprintf(out, stalled > computes ? "memory: " : "computation: ");
    if (job)
        job_tell(out, result, job);
    if (!links)
        return;
    if (!job)
        loop_tell(out, result);
    fprintf(out, !job ? "no link is full: " : waits ? "; no link is full: " : ", and ");
    links_tell(out, links, false);
}

/* What was sent and whose latency nobody knows is not reported as zeros. */
static void nothing_tell(FILE *out, const json_t *result)
{
    bool packets = json_object_get(result, "packet_latency_ps") != NULL; /* not of whole messages */
    if (json_is_null(json_object_get(result, "accepted_load")))
        fprintf(out, "nothing was measured: the run ended before its warm-up was over (run.warmup); ");
    else if (number(result, "packets_injected") > 0 &&
             number(json_object_get(result, packets ? "packet_latency_ps" : "message_latency_ps"), "count") ==
                 0)
        fprintf(out,
                "no %s of the measured span arrived before the end of the run: its latency is not known; ",
                packets ? "packet" : "message");
}

char *stats_bottleneck_text(const json_t *result)
{
    const json_t *links = busiest_class(result), *job = longest_waiting(result);
    if (!links && !job)
        return NULL;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    ker_assert(out);
    nothing_tell(out, result);
    bool full = number(links, "max_utilisation") >= BUSY, saturated = stats_saturated(result);
    if (saturated)
        saturated_tell(out, result);
    else if (stats_fills(result))
        filling_tell(out, result);
    if (full) {
        links_tell(out, links, true);
        further_tell(out, result, links);
    }
    full |= ends_tell(out, result, full ? "; " : "");
    if (!full && saturated)
        links_tell(out, links, true);
    else if (!full)
        waiting_tell(out, result, job, links);
    if (job && (full || saturated)) {
        fprintf(out, "; ");
        job_tell(out, result, job);
    }
    ker_assert(!fclose(out));
    return text;
}

/* The parts of the path in falling order, those of a per cent or more. */
static void parts_tell(FILE *out, const json_t *kinds, double all)
{
    static const struct {
        const char *key, *words;
    } parts[] = {
        {"computation_ps", "computation"}, {"call_ps", "calls"},
        {"transfer_ps", "transfer"},       {"in_node_ps", "messages inside nodes"},
        {"contention_ps", "contention"},   {"handshake_ps", "handshakes"},
        {"sending_ps", "sending"},         {"matching_ps", "matching"},
        {"service_ps", "services"},        {"other_ps", "other"},
    };
    const size_t count = sizeof parts / sizeof *parts;
    bool printed[sizeof parts / sizeof *parts] = {false};
    for (const char *comma = "";; comma = ", ") {
        size_t most = count;
        for (size_t i = 0; i < count; i++)
            if (!printed[i] &&
                (most == count || number(kinds, parts[i].key) > number(kinds, parts[most].key)))
                most = i;
        if (most == count || number(kinds, parts[most].key) < 0.01 * all)
            return;
        printed[most] = true;
        fprintf(out, "%s%.0f %% %s", comma, 100 * number(kinds, parts[most].key) / all, parts[most].words);
    }
}

char *stats_path_text(const json_t *job)
{
    const json_t *path = json_object_get(job, "critical_path");
    double all = number(path, "to_ps") - number(path, "from_ps"), tasks = number(path, "task_count"),
           messages = number(path, "messages");
    if (!(all > 0))
        return NULL;
    char *text = NULL, from[32];
    size_t length;
    FILE *out = open_memstream(&text, &length);
    ker_assert(out);
    fprintf(out, "job %s: ", text_of(job, "name"));
    parts_tell(out, json_object_get(path, "kinds"), all);
    fprintf(out, "; through %.0f task%s by %.0f message%s, to %s task %.0f", tasks, tasks == 1 ? "" : "s",
            messages, messages == 1 ? "" : "s",
            json_is_false(json_object_get(path, "finished")) ? "the end of the run, which cuts it off, at"
                                                             : "the end of",
            number(path, "last_task"));
    if (!json_is_true(json_object_get(path, "complete")))
        fprintf(out, "; known from %s on (output.critical_path)",
                ker_print_time(from, (ker_time)number(path, "from_ps")));
    ker_assert(!fclose(out));
    return text;
}
