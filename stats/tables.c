/* tables.c - the tables of the result folder as CSV: links, tasks, histograms.
 *
 * Columns are named with their unit and described in docs/results.md. Every number is an integer or a
 * quotient of integers rounded in integers, so files are the same bytes on any number of ranks.
 */
#include "stats/file.h"
#include "stats/stats.h"

static void link_write(FILE *out, const struct stats_link *link, const char *class_name, uint64_t span,
                       struct stats_names names)
{
    stats_write_text(out, link->from_is_node ? "node" : "switch", ',');
    stats_write_u64(out, link->from, ',');
    stats_write_u64(out, link->from_port, ',');
    stats_write_text(out, link->to_is_node ? "node" : "switch", ',');
    stats_write_u64(out, link->to, ',');
    stats_write_u64(out, link->to_port, ',');
    stats_write_text(out, class_name, ',');
    stats_write_u64(out, link->packets, ',');
    stats_write_u64(out, link->bytes, ',');
    stats_write_u64(out, link->busy_ps, ',');
    stats_write_ratio(out, link->busy_ps, span, ',');
    stats_write_ratio(out, link->queue_ps, span, ',');
    stats_write_u64(out, link->queue_max_bytes, ',');
    stats_write_ratio(out, link->input_ps, span, names.of ? ',' : '\n');
    if (names.of) {
        stats_write_text(out, names.of(names.context, link->from_is_node, link->from), ',');
        stats_write_text(out, names.of(names.context, link->to_is_node, link->to), '\n');
    }
}

enum ker_status stats_links_write(const char *folder, const struct stats_link *links, size_t count,
                                  const char *const *class_names, ker_time span, struct stats_names names,
                                  struct ker_error *error)
{
    struct stats_file file;
    enum ker_status status = stats_file_open(&file, folder, "links.csv", error);
    if (status)
        return status;
    fputs("from_kind,from,from_port,to_kind,to,to_port,class,packets,bytes,busy_ps,utilisation,"
          "queue_mean_packets,queue_max_bytes,input_mean_packets",
          file.stream);
    fputs(names.of ? ",from_name,to_name\n" : "\n", file.stream);
    uint64_t divisor = span > 0 ? (uint64_t)span : 0;
    for (size_t i = 0; i < count; i++)
        link_write(file.stream, &links[i], class_names[links[i].link_class], divisor, names);
    return stats_file_commit(&file, error);
}

static void task_write(FILE *out, const struct stats_task *task, const char *job_name,
                       struct stats_names names)
{
    stats_write_text(out, job_name, ',');
    stats_write_u64(out, task->task, ',');
    stats_write_u64(out, task->node, ',');
    stats_write_u64(out, task->core, ',');
    if (task->finish != KER_TIME_MAX) /* else it never finished: the column stays empty */
        stats_write_u64(out, (uint64_t)task->finish, ',');
    else
        stats_write_text(out, "", ',');
    stats_write_u64(out, (uint64_t)task->compute, ',');
    stats_write_u64(out, (uint64_t)task->wait, ',');
    stats_write_u64(out, (uint64_t)task->send_wait, ',');
    stats_write_u64(out, task->messages_sent, ',');
    stats_write_u64(out, task->bytes_sent, ',');
    stats_write_u64(out, task->messages_received, ',');
    stats_write_u64(out, task->bytes_received, ',');
    stats_write_u64(out, task->passes, ',');
    stats_write_u64(out, (uint64_t)task->poll_gap, ',');
    stats_write_u64(out, (uint64_t)task->finalize_gap, names.of ? ',' : '\n');
    if (names.of)
        stats_write_text(out, names.of(names.context, true, task->node), '\n');
}

enum ker_status stats_tasks_write(const char *folder, const struct stats_task *tasks, size_t count,
                                  const char *const *job_names, struct stats_names names,
                                  struct ker_error *error)
{
    struct stats_file file;
    enum ker_status status = stats_file_open(&file, folder, "tasks.csv", error);
    if (status)
        return status;
    fputs("job,task,node,core,finish_ps,compute_ps,wait_ps,send_wait_ps,messages_sent,bytes_sent,"
          "messages_received,bytes_received,passes,poll_gap_ps,finalize_gap_ps",
          file.stream);
    fputs(names.of ? ",node_name\n" : "\n", file.stream);
    for (size_t i = 0; i < count; i++)
        task_write(file.stream, &tasks[i], job_names[tasks[i].job], names);
    return stats_file_commit(&file, error);
}

enum ker_status stats_histogram_write(const char *folder, const char *name, const char *quantity,
                                      const struct stats_quantity *q, struct ker_error *error)
{
    struct stats_file file;
    enum ker_status status = stats_file_open(&file, folder, name, error);
    if (status)
        return status;
    fprintf(file.stream, "%s_from,%s_below,count,count_up_to_here\n", quantity, quantity);
    uint64_t reached = 0;
    for (unsigned bin = 0; reached < q->count && bin < STATS_BINS; bin++) {
        if (!q->bin[bin])
            continue;
        reached += q->bin[bin];
        stats_write_u64(file.stream, stats_bin_low(bin), ',');
        stats_write_u64(file.stream, stats_bin_low(bin + 1), ','); /* UINT64_MAX ends the last bin */
        stats_write_u64(file.stream, q->bin[bin], ',');
        stats_write_u64(file.stream, reached, '\n');
    }
    return stats_file_commit(&file, error);
}
