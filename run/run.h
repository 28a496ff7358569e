/* run.h - one run of the program, from the configuration to the results; what marssim.c sees of it. */
#pragma once

#include "net/net.h"
#include "partition/partition.h"
#include "run/tasks/tasks.h"
#include "stats/stats.h"
#include "storage/storage.h"
#include "tasks/loggops/loggops.h"
#include "traces/traces.h"

#define MARSSIM_VERSION "0.1.0"

/* What the command line asks of a run. */
struct run_arguments {
    const char *file, *folder, *table, *links, *resume;
    const char **overrides;
    int override_count;
    bool check, check_full, check_json, quiet;
};

/* Collective: all stages on all ranks; the first that fails ends the run with one message. started_ns: of the
 * process. Returns the exit status: enum ker_status, or what a signal that ended the run makes of it. */
int run_execute(const struct run_arguments *, struct ker_comm *, int64_t started_ns);

/* The configuration of this name in the current folder, else among those that are shipped; malloc'ed. */
char *run_file_find(const char *path, struct ker_error *error);
/* Lists the shipped ones on standard output, or copies one with what it needs to the current folder. */
enum ker_status run_example(const char *name, struct ker_error *error);

/* All option tables, NULL at the end; malloc'ed. */
const struct ker_option **run_option_tables(void);
/* All tables that a run may write, with those of its services (NULL: of all kinds there are), NULL at the
 * end; malloc'ed. */
const struct stats_schema **run_tables(const struct node_service_list *);
/* For ker_plugin_load; name NULL at the end. */
extern const struct ker_size run_plugin_sizes[];
