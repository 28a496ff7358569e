/* settings.c - the keys output.*, and which tables they are about. */
#include "stats/stats.h"

/* What output.series.KIND collects: in all or in each output.period, or in the latter only. */
#define SERIES(kind, words, ...)                                                                             \
    {                                                                                                        \
        "output.series." kind, KER_TYPE_CHOICE, "off", NULL, NULL, words, ##__VA_ARGS__                      \
    }
#define TOTALS(kind, ...) SERIES(kind, "off|total|periods", __VA_ARGS__)
#define PERIODS(kind, ...) SERIES(kind, "off|periods", __VA_ARGS__)

#define LINKS "network.model=@links"

/* What tools/marsreport shows: words of kernel/config/preset.c. Not what costs more than the rest together
 * (channels, tasks and matrices in periods), nor what makes more of nodes than the simple model (cores). */
static const char *const page_words[] = {
    "output.series.latency=total",
    "output.matrix=true",
    "output.links_by_job=true",
    "output.calls=true",
    "output.waits=true",
    "output.critical_path=16 MiB",
    "jobs?output.timeline=perfetto",
    "jobs?output.timeline_bytes=16 MiB",
    "output.period?output.series.links=periods",
    "output.period?output.series.switches=periods",
    "output.period?output.series.adapters=periods",
    "output.period?output.series.jobs=periods",
    "output.period?output.series.traffic=periods",
    "output.period & output.calls=true?output.series.functions=periods",
    "output.period?output.series.storage=periods",
    "output.period?output.series.congestion=periods",
    NULL,
};
static const struct ker_kind preset_none = {.name = "none", .meaning = "only what other keys ask for"},
                             preset_page = {.name = "page",
                                            .meaning = "what the page of marsreport shows",
                                            .operations = page_words};
static const struct ker_kind *const preset_kinds[] = {&preset_none, &preset_page, NULL};
static const struct ker_kinds presets = {"output.preset", "what is collected", sizeof *page_words,
                                         preset_kinds};

const struct ker_option stats_options[] = {
    {"output.preset", KER_TYPE_CHOICE, "none", NULL, NULL, NULL,
     "page: what the page of marsreport shows is collected: output.calls, .waits, .critical_path (16 MiB), "
     ".matrix, .links_by_job, .timeline (perfetto, 16 MiB), .series.latency and, with output.period, "
     ".series.links, .switches, .adapters, .jobs, .traffic, .functions, .storage and .congestion in periods; "
     "of these what means something with the rest. A key that is given keeps its value. marssim --check says "
     "what it costs.",
     .kinds = &presets},
    {"output.links", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "Write links.csv: packets, utilisation and queue occupancy of every direction of every link. Left out, "
     "with a warning, where it would be larger than 100 MB, unless this key is given.",
     .resume = KER_RESUME_FREE},
    {"output.links_by_job", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Write links_by_job.csv: bytes and busy time of every direction of every link by job, of the first 15 "
     "jobs by themselves and of all else together; with output.series.links = \"periods\" also "
     "links_by_job_series.csv. Takes 32 bytes of memory for each, and up to 5 % more instructions.",
     "jobs & " LINKS},
    {"output.tasks", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "Write tasks.csv: finish, compute and wait time of every task of every job. Left out like links.csv.",
     "jobs", .resume = KER_RESUME_FREE},
    {"output.calls", KER_TYPE_BOOL, NULL, NULL, NULL, NULL,
     "Write calls.csv and functions.csv: calls, bytes, traced time, simulated time and wait of every "
     "function that a task has called; about 1 KB of memory a task. Absent: of jobs that are traces (of all "
     "with output.series.functions or .communicators), and calls.csv is left out like links.csv.",
     "jobs"},
    {"output.waits", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Split waits by cause: late sender, late receiver, late participants of a collective, rendezvous "
     "handshake, contention in the network and others; writes waits.csv, wait_functions.csv, "
     "message_rates.csv, and jobs[].waits in summary.json. Collects what output.series.latency = \"total\" "
     "does, too; about 2 KB of memory a task.",
     "jobs"},
    {"output.critical_path", KER_TYPE_BYTES, "0 B", NULL, NULL, NULL,
     "Find the critical path of each job: which computations, calls and messages make its run time; writes "
     "critical_path.csv, critical_path_steps.csv, and jobs[].critical_path in summary.json. So much memory "
     "for what the tasks did last, over all of them (56 bytes a computation, call or wait that follows "
     "another one); what is older is forgotten, and the path ends there. 0: no path.",
     "output.waits=true or network.model=loggops"},
    {"output.matching", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "Write matching.csv: how long the queues of posted receives and unexpected messages of every task were. "
     "Left out like links.csv.",
     "jobs", .resume = KER_RESUME_FREE},
    {"output.collectives", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Write collectives.csv: each iteration of jobs whose program is \"collective\".", "jobs",
     .resume = KER_RESUME_FREE},
    {"output.services", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "Write service_NAME.csv for each service of services[] that counts something on its nodes. Left out "
     "like links.csv.",
     "services", .resume = KER_RESUME_FREE},
    {"output.cores", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Write cores.csv and memory.csv: what every core, memory controller and link between sockets did; "
     "where nodes have more than the simple model (docs/node.md).",
     "jobs & network.model=@nodes", .resume = KER_RESUME_FREE},
    {"output.histograms", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "Write packet_latency.csv and message_size.csv; of whole messages bandwidth.csv in the place of the "
     "former.",
     .resume = KER_RESUME_FREE},
    {"output.carrier", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "Write carrier.csv: how busy buses and links of nodes were, and how long messages waited for them. Left "
     "out like links.csv.",
     "network.model=links or network.model=bus", .resume = KER_RESUME_FREE},
    {"output.matrix", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Write how many messages and bytes each sends to each: matrix.csv of nodes, or what "
     "output.matrix_levels says. Memory grows with the number of pairs that talk.",
     .resume = KER_RESUME_FORK},
    {"output.matrix_levels", KER_TYPE_CHOICE | KER_TYPE_LIST, NULL, NULL, NULL, "node|board|rack|task",
     "Of whom there are matrices, for output.matrix and output.series.matrix: nodes (matrix.csv); boards "
     "(board_matrix.csv: the lowest groups of a hierarchical network; elsewhere the nodes at one switch); "
     "racks (rack_matrix.csv: the topology's groups: racks, pods, slabs); tasks of jobs (task_matrix.csv). "
     "Absent: nodes, or tasks where messages are no packets.",
     "output.matrix=true or output.series.matrix=periods"},
    {"output.tables", KER_TYPE_CHOICE, "csv", NULL, NULL, "csv|json",
     "Write tables as NAME.csv, or as NAME.json with unit and meaning of each column; periods.csv is always "
     "CSV.",
     .resume = KER_RESUME_FREE},
    {"output.period", KER_TYPE_TIME, "0 ns", "0 ns", NULL, NULL,
     "Write a row of periods.csv each time this much simulated time has passed; 0 writes none.",
     .resume = KER_RESUME_FORK},
    {"output.hdf5", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Write results.h5 (HDF5): all tables, also those that are left out as CSV for their size, and the "
     "series of output.series.*, which are not written as CSV then.",
     .resume = KER_RESUME_FIXED},
    TOTALS("links",
           "Collect of every direction of every link, beyond links.csv, the time without credits "
           "(credit_stall_ps in links.csv); in periods packets, bytes, utilisation and queues, too: "
           "link_series.csv.",
           LINKS),
    TOTALS("switches",
           "Collect of every switch packets, bytes, utilisation and queues of its outputs and "
           "their time without credits: switches.csv; in periods switch_series.csv, too.",
           LINKS),
    TOTALS("adapters",
           "Collect of every adapter of every node what it sends and receives, how long packets wait in it "
           "and its time without credits: adapters.csv; in periods adapter_series.csv, too.",
           LINKS),
    TOTALS("channels",
           "Collect of every virtual channel of every direction of every link packets, bytes, utilisation, "
           "queues and the time without credits: channels.csv; in periods channel_series.csv, too. Takes "
           "about 200 bytes of memory for each, and an event for each credit that is waited for.",
           LINKS),
    TOTALS("latency",
           "Split latencies by cause: source queue, injection, switches, links, ejection, resequencing: "
           "latency_parts in summary.json; in periods latency_series.csv, too.",
           LINKS),
    PERIODS("jobs", "job_series.csv: computation, waits, messages and bytes of each job in each period.",
            "jobs"),
    PERIODS("tasks", "task_series.csv: the same of each task.", "jobs"),
    PERIODS("traffic",
            "traffic_series.csv: number, bytes, mean and spread of the sizes of each job's messages in each "
            "period: point-to-point, collective, one-sided; inside a node or to another.",
            "jobs"),
    PERIODS(
        "functions",
        "function_series.csv: calls, bytes, time and waits of each MPI function and job in each period, of "
        "jobs whose calls are counted: all then, unless output.calls is false.",
        "jobs"),
    PERIODS("communicators",
            "communicator_series.csv: the same of the calls that name a communicator, by communicator.",
            "jobs"),
    PERIODS(
        "cores",
        "core_series.csv and memory_series.csv: what every core, memory controller and link between sockets "
        "did in each period, as in cores.csv and memory.csv. Nodes then have more than the simple model.",
        "jobs & network.model=@nodes"),
    PERIODS("storage",
            "storage_series.csv: what each file server, its device and its cache did in each period.",
            "storage.servers.nodes or storage.servers.count"),
    PERIODS(
        "congestion",
        "congestion_series.csv: notifications (BECNs) and index of each flow that was held back in a period.",
        "congestion.control=infiniband"),
    PERIODS("matrix", "The matrices of output.matrix_levels in each period: matrix_series.csv, "
                      "board_matrix_series.csv, rack_matrix_series.csv, task_matrix_series.csv."),
    {"output.series.bytes", KER_TYPE_BYTES, "4 GB", "1 MB", NULL, NULL,
     "The most that each file of a series may have. A run whose end is known and whose series could have "
     "more is refused; others stop writing them there, with a warning.",
     .resume = KER_RESUME_FREE},
    {0},
};

const struct stats_schema *const stats_tables[] = {&stats_packet_latency_schema,
                                                   &stats_message_size_schema,
                                                   &stats_bandwidth_schema,
                                                   &stats_matrix_node_schema,
                                                   &stats_matrix_node_series_schema,
                                                   &stats_matrix_board_schema,
                                                   &stats_matrix_board_series_schema,
                                                   &stats_matrix_rack_schema,
                                                   &stats_matrix_rack_series_schema,
                                                   &stats_periods_schema,
                                                   NULL};
