/* options.c - the keys run.* and engine.*, and the tables of all options and of all results. */
#include "run/stages.h"

#include "plugin/plugin.h"

const struct ker_option run_options[] = {
    {"run.seed", KER_TYPE_INT, "1", "0", NULL, NULL, "Seed of all random streams."},
    {"run.end", KER_TYPE_TIME, NULL, "1 ps", NULL, NULL,
     "Simulated time at which the run ends, whatever is still in flight.", .resume = KER_RESUME_FORK},
    {"run.warmup", KER_TYPE_TIME, "0 ns", NULL, NULL, NULL,
     "Nothing is measured before this simulated time."},
    {"run.measure", KER_TYPE_TIME, NULL, "1 ps", NULL, NULL,
     "Length of the measured span; then synthetic sources stop. Absent: to the end of the run."},
    {"run.drain", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "With run.measure: continue until everything sent has arrived. false: end with the measured span.",
     "run.measure"},
    {"run.packets", KER_TYPE_INT, NULL, "1", NULL, NULL,
     "End after at least this many packets have been delivered.", .resume = KER_RESUME_FORK},
    {"run.confidence", KER_TYPE_REAL, NULL, "0.000001", "1", NULL,
     "End when the confidence interval of the mean packet latency is at most this fraction of it on either "
     "side (batch means)."},
    {"run.confidence_level", KER_TYPE_REAL, "0.95", "0.5", "0.9999", NULL, "Level of that interval.",
     "run.confidence"},
    {"run.batch", KER_TYPE_TIME, "10 us", "1 ps", "1000000 s", NULL, "Length of a batch for run.confidence.",
     "run.confidence"},
    {"run.check_interval", KER_TYPE_TIME, "1 us", "1 ps", "1000000 s", NULL,
     "Packet counts, finished jobs and signals are looked at only at multiples of this simulated time."},
    {"engine.cell_order", KER_TYPE_CHOICE, "forward", NULL, NULL, "forward|backward|shuffled",
     "Order in which cells are visited in a window. A debug option: results must not depend on it.",
     .resume = KER_RESUME_FREE},
    {"engine.cells", KER_TYPE_CHOICE, "single", NULL, NULL, "single|switch|group",
     "What is one cell: a component, a switch with its nodes, or a natural group of switches with theirs. "
     "Results do not depend on it.",
     .resume = KER_RESUME_FREE},
    {"engine.block", KER_TYPE_INT, "0", "0", "65536", NULL,
     "Components of one block of the engine, a power of two from 8 on (else the next), where natural groups "
     "of switches are handled several windows at a time; 0: as suits. A test of small systems: results do "
     "not depend on it.",
     .resume = KER_RESUME_FREE},
    {"engine.hosts", KER_TYPE_INT, "0", "0", "1000000", NULL,
     "Ranks exchange as if they were on this many hosts, with consecutive ranks on each; 0: as they are. A "
     "test of runs on many hosts: results do not depend on it.",
     .resume = KER_RESUME_FREE},
    {0},
};

/* What marssweep makes of a configuration; a run takes no notice. */
static const struct ker_option sweep_options[] = {
    {"sweep.points", KER_TYPE_STRING | KER_TYPE_LIST, "", NULL, NULL, NULL,
     "What marssweep runs: \"KEY=A,B,C\" or \"KEY=FROM:TO:STEP\", each with each. A run by marssim takes no "
     "notice of sweep.*.",
     .resume = KER_RESUME_FREE},
    {"sweep.designs", KER_TYPE_STRING | KER_TYPE_LIST, "", NULL, NULL, NULL,
     "\"@NAME=LABEL{KEY=VALUES ...},...\", which sweep.points and other designs name as \"@NAME\".",
     .resume = KER_RESUME_FREE},
    {"sweep.quick", KER_TYPE_STRING | KER_TYPE_LIST, "", NULL, NULL, NULL,
     "In place of sweep.points with marssweep --quick: a few points, to see whether it works.",
     .resume = KER_RESUME_FREE},
    {"sweep.sql", KER_TYPE_FILE | KER_TYPE_LIST, "", NULL, NULL, NULL,
     "Files that create views of the database, from its view points; each is written as VIEW.csv, in place "
     "of the table.",
     .resume = KER_RESUME_FREE},
    {"sweep.tables", KER_TYPE_STRING | KER_TYPE_LIST, "", NULL, NULL, NULL,
     "Tables of the runs, such as \"tasks\" or \"links\", whose rows those views can read, each with the "
     "number of its point.",
     .resume = KER_RESUME_FREE},
    {"sweep.plot", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "Commands of gnuplot for the figure, which run in the folder of the results.",
     .resume = KER_RESUME_FREE},
    {"sweep.zip", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "The keys of sweep.points change together, in place of each with each.", .resume = KER_RESUME_FREE},
    {"sweep.seeds", KER_TYPE_INT, "0", "0", "100000", NULL,
     "Each point is run with the seeds 1 to this; 0: as run.seed says.", .resume = KER_RESUME_FREE},
    {"sweep.columns", KER_TYPE_STRING | KER_TYPE_LIST, "", NULL, NULL, NULL,
     "Figures of summary.json for the table of marssweep, \"NAME\" or \"NAME:UNIT\".",
     .resume = KER_RESUME_FREE},
    {"sweep.against", KER_TYPE_STRING, "", NULL, NULL, NULL,
     "\"KEY=VALUE\": columns with the ratio to the row of this value whose other keys are the same.",
     .resume = KER_RESUME_FREE},
    {"sweep.precision", KER_TYPE_REAL, "0", "0", "1", NULL,
     "Seeds are added until each interval is within this share of its mean; 0: none are.",
     .resume = KER_RESUME_FREE},
    {"sweep.saturation", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "marssweep finds the load of saturation in place of running given loads.", .resume = KER_RESUME_FREE},
    {"sweep.alone", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "marssweep runs each job alone, too, and reports its slowdown beside the others.",
     .resume = KER_RESUME_FREE},
    {0},
};

const struct ker_option **run_option_tables(void)
{
    const struct ker_option *const lower[] = {
        ker_plugin_options,     run_options,      sweep_options, run_power_options, run_floor_options,
        run_checkpoint_options, run_skip_options, route_options, net_options,       net_congestion_options};
    const struct ker_option *const upper[] = {node_service_options,   store_options, stats_options,
                                              stats_timeline_options, part_options,  NULL};
    const struct ker_option **tables = NULL;
    size_t count = 0;
    for (size_t i = 0; i < sizeof lower / sizeof *lower; i++)
        *KER_APPEND(tables, count) = lower[i];
    for (size_t i = 0; task_option_tables[i]; i++)
        *KER_APPEND(tables, count) = task_option_tables[i];
    for (size_t i = 0; i < sizeof upper / sizeof *upper; i++)
        *KER_APPEND(tables, count) = upper[i];
    return tables;
}

const struct stats_schema **run_tables(const struct node_service_list *services)
{
    const struct stats_schema *const *const folders[] = {net_tables, task_tables, stats_tables, node_tables,
                                                         store_tables};
    const struct stats_schema **tables = NULL;
    size_t count = 0;
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++)
        for (size_t i = 0; folders[f][i]; i++)
            *KER_APPEND(tables, count) = folders[f][i];
    const struct stats_schema *own;
    for (uint32_t i = 0; (own = node_service_list_table(services, i)) != NULL; i++)
        *KER_APPEND(tables, count) = own;
    *KER_APPEND(tables, count) = &run_steps_schema;
    *KER_APPEND(tables, count) = NULL;
    return tables;
}

const struct ker_size run_plugin_sizes[] = {MARSSIM_STRUCTURES(MARSSIM_SIZE){NULL, 0}};
