/* stats_print.c - what --stats has counted, as text and as JSON; docs/marsconv.md says what the names mean.
 *
 * JSON is written piece by piece: the matrix of many tasks would be large as a tree.
 */
#include "tools/marsconv/stats.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

struct balance {
    uint64_t least, most, sum, longest;
    uint32_t least_task, most_task;
};

static struct balance balance_of(const struct stats *s)
{
    struct balance b = {.least = UINT64_MAX};
    for (uint32_t i = 0; i < s->source->tasks; i++) {
        uint64_t compute = s->task[i].compute_ns;
        if (compute < b.least) {
            b.least = compute;
            b.least_task = i;
        }
        if (compute > b.most) {
            b.most = compute;
            b.most_task = i;
        }
        b.sum += compute;
        b.longest = s->task[i].time_ns > b.longest ? s->task[i].time_ns : b.longest;
    }
    return b;
}

static double mean(uint64_t sum, uint32_t count)
{
    return (double)sum / count;
}

/* ---- text ---- */

static int name_compare(const void *a, const void *b)
{
    const struct stats_function *x = *(struct stats_function *const *)a,
                                *y = *(struct stats_function *const *)b;
    return strcmp(x->name, y->name) ?: KER_ORDER(x, y, task);
}

static void sum_print(const char *name, const struct stats_sum *sum, uint32_t having, uint32_t tasks,
                      FILE *to)
{
    uint64_t least = having < tasks ? 0 : sum->least;
    fprintf(to, "  %-28s %12llu %12llu %12llu %16llu %14.6f\n", name, (ull)sum->calls, (ull)least,
            (ull)sum->most, (ull)sum->bytes, (double)sum->time_ns * 1e-9);
}

static void functions_print(const struct stats *s, FILE *to)
{
    const struct stats_function **all = ker_alloc(s->functions * sizeof *all);
    for (size_t i = 0; i < s->functions; i++)
        all[i] = &s->function[i];
    if (s->functions)
        qsort(all, s->functions, sizeof *all, name_compare);
    fprintf(to, "\n  %-28s %12s %12s %12s %16s %14s\n", "function", "calls", "least", "most of a task",
            "bytes", "time s");
    for (size_t i = 0, next; i < s->functions; i = next) {
        struct stats_sum sum = {.least = UINT64_MAX};
        for (next = i; next < s->functions && strcmp(all[next]->name, all[i]->name) == 0; next++) {
            sum.calls += all[next]->calls;
            sum.bytes += all[next]->bytes;
            sum.time_ns += all[next]->time_ns;
            sum.least = all[next]->calls < sum.least ? all[next]->calls : sum.least;
            sum.most = all[next]->calls > sum.most ? all[next]->calls : sum.most;
        }
        sum_print(all[i]->name, &sum, (uint32_t)(next - i), s->source->tasks, to);
    }
    free(all);
}

static uint64_t size_least(unsigned size)
{
    return size ? UINT64_C(1) << (size - 1) : 0;
}

static uint64_t size_most(unsigned size)
{
    return size ? size_least(size) + (size_least(size) - 1) : 0;
}

static void sizes_print(const struct stats *s, FILE *to)
{
    fprintf(to, "\n  messages of bytes %28s %16s\n", "messages", "bytes");
    for (unsigned i = 0; i < STATS_SIZES; i++)
        if (s->messages[i])
            fprintf(to, "  %12llu to %-12llu %16llu %16llu\n", (ull)size_least(i), (ull)size_most(i),
                    (ull)s->messages[i], (ull)s->bytes[i]);
}

#define PAIRS_SHOWN 20
#define COMMS_SHOWN 20

static int busy_compare(const void *a, const void *b)
{
    const struct stats_pair *x = a, *y = b;
    return KER_ORDER(y, x, bytes) ?: KER_ORDER(x, y, from, to);
}

static void matrix_print(const struct stats *s, FILE *to)
{
    struct stats_pair *pair = ker_alloc(s->pairs * sizeof *pair);
    if (s->pairs)
        memcpy(pair, s->pair, s->pairs * sizeof *pair);
    if (s->pairs)
        qsort(pair, s->pairs, sizeof *pair, busy_compare);
    fprintf(to, "\n  %zu pairs of tasks with messages; most bytes:\n  %10s %10s %16s %16s\n", s->pairs,
            "from", "to", "messages", "bytes");
    for (size_t i = 0; i < s->pairs && i < PAIRS_SHOWN; i++)
        fprintf(to, "  %10u %10u %16llu %16llu\n", pair[i].from, pair[i].to, (ull)pair[i].messages,
                (ull)pair[i].bytes);
    free(pair);
}

static void comms_print(const struct stats *s, FILE *to)
{
    fprintf(to, "\n  %zu communicators\n  %16s %10s %16s %16s\n", s->comms, "id", "size", "calls", "bytes");
    for (size_t i = 0; i < s->comms && i < COMMS_SHOWN; i++)
        fprintf(to, "  %016llx %10u %16llu %16llu%s\n", (ull)s->comm[i].id, s->comm[i].size,
                (ull)s->comm[i].calls, (ull)s->comm[i].bytes,
                s->comm[i].inter ? " (between two groups)" : "");
    if (s->comms > COMMS_SHOWN)
        fprintf(to, "  and %zu more\n", s->comms - COMMS_SHOWN);
}

static void phases_print(const struct stats_phases *p, FILE *to)
{
    fprintf(to,
            "\n  phases of task 0, from one collective of all tasks to the next\n  %10s %14s %14s  calls\n",
            "times", "time s", "compute s");
    for (uint32_t i = 0; i < p->kinds; i++)
        fprintf(to, "  %10llu %14.6f %14.6f  %s\n", (ull)p->kind[i].count, (double)p->kind[i].time_ns * 1e-9,
                (double)p->kind[i].compute_ns * 1e-9, p->kind[i].text);
    if (p->others)
        fprintf(to, "  %10llu of other kinds\n", (ull)p->others);
}

bool stats_print(const struct stats *s, FILE *to)
{
    struct balance b = balance_of(s);
    uint32_t tasks = s->source->tasks;
    fprintf(to, "%s: a trace of %s, %u tasks, %.6f s\n", s->source->path, s->source->name, tasks,
            (double)b.longest * 1e-9);
    fprintf(to, "  computation of a task: least %.6f s (task %u), mean %.6f s, most %.6f s (task %u)\n",
            (double)b.least * 1e-9, b.least_task, mean(b.sum, tasks) * 1e-9, (double)b.most * 1e-9,
            b.most_task);
    functions_print(s, to);
    sizes_print(s, to);
    matrix_print(s, to);
    comms_print(s, to);
    phases_print(&s->phases, to);
    return fflush(to) == 0 && !ferror(to);
}

/* ---- JSON ---- */

static void string_print(const char *text, FILE *to)
{
    fputc('"', to);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(to, "\\%c", *c);
        else if (*c < ' ' || *c >= 127) /* names of files need not be UTF-8 */
            fprintf(to, "\\u%04x", *c);
        else
            fputc(*c, to);
    }
    fputc('"', to);
}

static void functions_json(const struct stats *s, FILE *to)
{
    fputs(",\n\"functions\": [", to);
    for (size_t i = 0; i < s->functions; i++) {
        const struct stats_function *f = &s->function[i];
        fprintf(to, "%s\n{\"task\": %u, \"function\": ", i ? "," : "", f->task);
        string_print(f->name, to);
        fprintf(to, ", \"calls\": %llu, \"bytes\": %llu, \"time_ns\": %llu}", (ull)f->calls, (ull)f->bytes,
                (ull)f->time_ns);
    }
    fputc(']', to);
}

static void messages_json(const struct stats *s, FILE *to)
{
    const char *comma = "";
    fputs(",\n\"message_sizes\": [", to);
    for (unsigned i = 0; i < STATS_SIZES; i++) {
        if (!s->messages[i])
            continue;
        fprintf(to, "%s\n{\"least_bytes\": %llu, \"most_bytes\": %llu, \"messages\": %llu, \"bytes\": %llu}",
                comma, (ull)size_least(i), (ull)size_most(i), (ull)s->messages[i], (ull)s->bytes[i]);
        comma = ",";
    }
    fputs("],\n\"matrix\": [", to);
    for (size_t i = 0; i < s->pairs; i++)
        fprintf(to, "%s\n{\"from\": %u, \"to\": %u, \"messages\": %llu, \"bytes\": %llu}", i ? "," : "",
                s->pair[i].from, s->pair[i].to, (ull)s->pair[i].messages, (ull)s->pair[i].bytes);
    fputc(']', to);
}

/* Members as runs of equal steps. */
static void comms_json(const struct stats *s, FILE *to)
{
    fputs(",\n\"communicators\": [", to);
    for (size_t i = 0; i < s->comms; i++) {
        const struct stats_comm *c = &s->comm[i];
        fprintf(to, "%s\n{\"id\": \"%016llx\", \"size\": %u, \"inter\": %s, \"members\": [", i ? "," : "",
                (ull)c->id, c->size, c->inter ? "true" : "false");
        for (uint32_t j = 0; j < c->member.runs; j++) {
            uint32_t end = j + 1 < c->member.runs ? c->member.run[j + 1].start : c->member.count;
            fprintf(to, "%s{\"first\": %d, \"step\": %d, \"count\": %u}", j ? ", " : "",
                    c->member.run[j].first, c->member.run[j].step, end - c->member.run[j].start);
        }
        fprintf(to, "], \"calls\": %llu, \"bytes\": %llu}", (ull)c->calls, (ull)c->bytes);
    }
    fputc(']', to);
}

static void tasks_json(const struct stats *s, FILE *to)
{
    struct balance b = balance_of(s);
    fprintf(to,
            ",\n\"balance\": {\"least_ns\": %llu, \"least_task\": %u, \"mean_ns\": %.1f, \"most_ns\": %llu, "
            "\"most_task\": %u}",
            (ull)b.least, b.least_task, mean(b.sum, s->source->tasks), (ull)b.most, b.most_task);
    fputs(",\n\"times\": [", to);
    for (uint32_t i = 0; i < s->source->tasks; i++) {
        const struct stats_task *t = &s->task[i];
        fprintf(to,
                "%s\n{\"task\": %u, \"time_ns\": %llu, \"compute_ns\": %llu, \"away_ns\": %llu, \"mpi_ns\": "
                "%llu, \"polled_ns\": %llu}",
                i ? "," : "", i, (ull)t->time_ns, (ull)t->compute_ns, (ull)t->away_ns, (ull)t->mpi_ns,
                (ull)t->polled_ns);
    }
    fputc(']', to);
}

static void phases_json(const struct stats_phases *p, FILE *to)
{
    fputs(",\n\"phases\": [", to);
    for (uint32_t i = 0; i < p->kinds; i++) {
        fprintf(to,
                "%s\n{\"times\": %llu, \"calls\": %llu, \"time_ns\": %llu, \"compute_ns\": %llu, \"text\": ",
                i ? "," : "", (ull)p->kind[i].count, (ull)p->kind[i].calls, (ull)p->kind[i].time_ns,
                (ull)p->kind[i].compute_ns);
        string_print(p->kind[i].text, to);
        fputc('}', to);
    }
    fprintf(to, "],\n\"phases_of_other_kinds\": %llu", (ull)p->others);
}

bool stats_print_json(const struct stats *s, FILE *to)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < s->functions; i++)
        calls += s->function[i].calls;
    fputs("{\"trace\": ", to);
    string_print(s->source->path, to);
    fprintf(to, ", \"format\": \"%s\", \"tasks\": %u, \"calls\": %llu, \"time_ns\": %llu", s->source->name,
            s->source->tasks, (ull)calls, (ull)balance_of(s).longest);
    functions_json(s, to);
    messages_json(s, to);
    comms_json(s, to);
    tasks_json(s, to);
    phases_json(&s->phases, to);
    fputs("}\n", to);
    return fflush(to) == 0 && !ferror(to);
}
