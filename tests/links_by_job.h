/* links_by_job.h - for tests: the rows of links_by_job.csv add up to those of links.csv, those of the series
 * likewise. */
#pragma once

#include "kernel/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file whose rows begin with those columns that name a link, and with series the period before them. */
struct by_link {
    FILE *in;
    char *line, name[128];
    size_t room;
    int names, bytes,
        busy; /* columns; bytes below 0: as many from the end, as a job's name may have commas */
    uint64_t value[2];
};

static const char *by_link_cell(const char *line, int column)
{
    while (column-- > 0 && line)
        line = strchr(line, ',') ? strchr(line, ',') + 1 : NULL;
    return line ? line : "";
}

static bool by_link_next(struct by_link *f)
{
    if (getline(&f->line, &f->room, f->in) < 0)
        return false;
    const char *end = by_link_cell(f->line, f->names), *last = strrchr(f->line, ',');
    snprintf(f->name, sizeof f->name, "%.*s", (int)(end - f->line), f->line);
    if (f->bytes < 0) {
        for (int more = -f->bytes - 1; more > 0; more--)
            do
                last--;
            while (*last != ',');
        last++;
        f->value[0] = strtoull(last, NULL, 10);
        f->value[1] = strtoull(by_link_cell(last, 1), NULL, 10);
    } else {
        f->value[0] = strtoull(by_link_cell(f->line, f->bytes), NULL, 10);
        f->value[1] = strtoull(by_link_cell(f->line, f->busy), NULL, 10);
    }
    return true;
}

/* Both are in the same order. */
static bool by_link_equal(struct by_link *links, struct by_link *jobs, char where[512])
{
    bool more = by_link_next(jobs);
    while (by_link_next(links)) {
        uint64_t sum[2] = {0, 0};
        for (; more && strcmp(jobs->name, links->name) == 0; more = by_link_next(jobs))
            for (int i = 0; i < 2; i++)
                sum[i] += jobs->value[i];
        snprintf(where, 512, "link %s: its jobs have %llu bytes, %llu ps, it has %llu, %llu", links->name,
                 (unsigned long long)sum[0], (unsigned long long)sum[1], (unsigned long long)links->value[0],
                 (unsigned long long)links->value[1]);
        if (memcmp(sum, links->value, sizeof sum) != 0)
            return false;
    }
    snprintf(where, 512, "link %s of links_by_job is none of links.csv, or not in its order", jobs->name);
    return !more;
}

static bool by_link_files(const char *folder, bool series, char where[512])
{
    char *one = ker_format("%s/%s.csv", folder, series ? "link_series" : "links"),
         *other = ker_format("%s/links_by_job%s.csv", folder, series ? "_series" : "");
    struct by_link links = {.in = fopen(one, "r"),
                            .names = series ? 4 : 3,
                            .bytes = series ? 5 : 8,
                            .busy = series ? 6 : 9},
                   jobs = {.in = fopen(other, "r"), .names = links.names, .bytes = -2};
    bool equal =
        !links.in || !jobs.in ||
        (getline(&links.line, &links.room, links.in) > 0 && getline(&jobs.line, &jobs.room, jobs.in) > 0);
    if (equal && links.in && jobs.in) {
        jobs.bytes -= strstr(jobs.line, ",skipped_ps") != NULL; /* behind the others, of runs that skip */
        equal = by_link_equal(&links, &jobs, where);
    }
    for (int i = 0; i < 2; i++) {
        struct by_link *f = i ? &jobs : &links;
        if (f->in)
            fclose(f->in);
        free(f->line);
    }
    free(one);
    free(other);
    return equal;
}

/* Where there are these files: as CSV. */
static inline bool links_by_job_add_up(const char *folder, char where[512])
{
    return by_link_files(folder, false, where) && by_link_files(folder, true, where);
}
