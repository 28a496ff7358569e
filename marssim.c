/* marssim.c - the program: its command line. One run is simulation.c. */
#include "simulation.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "Write results to DIR (default: results/NAME of the configuration)", 0},
    {"check", 'c', "full", OPTION_ARG_OPTIONAL, "Read, build, partition, prove freedom from deadlock, report sizes and memory, and stop; full: "
     "prove it to the end however long it takes", 0},
    {"write-table", 't', "FILE", 0, "Write the ways of the configured routing to FILE as a table, and stop", 0},
    {"quiet", 'q', NULL, 0, "No progress line and no summary", 0},
    {"list", 'l', NULL, 0, "List topologies, algorithms, traffic patterns, programs, ...", 0},
    {"help-config", 'H', NULL, 0, "List every configuration key", 0},
    {"help", '?', NULL, 0, "Give this help list", -1},
    {"usage", 'u', NULL, 0, "Give a short usage message", -1},
    {"version", 'V', NULL, 0, "Print the version", -1},
    {0},
};

static error_t option_parse(int key, char *text, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->err_stream = NULL; /* the message is getopt's; "Try --help" stands in it already, see arguments_read */
        break;
    case '?':
        a->help = ARGP_HELP_STD_HELP & ~(unsigned)(ARGP_HELP_EXIT_OK | ARGP_HELP_EXIT_ERR);
        break;
    case 'u':
        a->help = ARGP_HELP_USAGE;
        break;
    case 'V':
        a->version = true;
        break;
    case 'o':
        a->folder = text;
        break;
    case 'c':
        a->check = true;
        a->check_full = text != NULL;
        if (text && strcmp(text, "full") != 0) {
            if (a->control)
                fprintf(stderr, "marssim: error: command line: --check=%s: there are --check and --check=full\n", text);
            return EINVAL;
        }
        break;
    case 't':
        a->table = text;
        break;
    case 'q':
        a->quiet = true;
        break;
    case 'l':
        a->list = true;
        break;
    case 'H':
        a->help_config = true;
        break;
    case ARGP_KEY_ARG:
        if (!a->file)
            a->file = text;
        else
            a->overrides[a->override_count++] = text;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options, option_parse, "FILE [key.path=value ...]",
    "Simulates a high-performance computer: traced MPI tasks on multicore nodes on a packet-level network."
    "\vRun it alone or under mpirun -n N: the results are the same. Exit status: 0 done, 1 the run failed, 2 bad input.",
    NULL, NULL, NULL};

/* All ranks read the same words, so all fail alike. argp must not end the process: MPI would complain that a rank never
 * called MPI_Finalize. Only the control rank speaks; argv[0] is how getopt's messages begin. */
static enum ker_status arguments_read(struct arguments *a, int argc, char **argv)
{
    char begin[] = "marssim: error: command line (see marssim --help)";
    char **words = ker_alloc(sizeof *words * (size_t)(argc + 2));
    for (int i = 0; i < argc; i++)
        words[i] = i ? argv[i] : begin;
    unsigned quiet = a->control ? 0 : ARGP_NO_ERRS;
    bool failed = argp_parse(&parser, argc, words, ARGP_NO_EXIT | ARGP_NO_HELP | quiet, NULL, a) != 0;
    free(words);
    if (failed || a->help || a->version || a->list || a->help_config || a->file)
        return failed ? KER_BAD_INPUT : KER_OK;
    if (a->control)
        fprintf(stderr, "marssim: error: command line: no configuration file given; for example: marssim configs/fat-tree-lammps.cfg "
                "(--help lists the options)\n");
    return KER_BAD_INPUT;
}

/* All ranks were given the same words: mpirun can give each others, and the hosts may have other versions. */
static enum ker_status words_agree(struct ker_comm *comm, int argc, char **argv, struct ker_error *error)
{
    struct ker_inputs *inputs = ker_inputs_new();
    char *words = ker_format("%s", "marssim " MARSSIM_VERSION);
    for (int i = 1; i < argc; i++) {
        char *longer = ker_format("%s %s", words, argv[i]);
        free(words);
        words = longer;
    }
    ker_input_add_text(inputs, "command line", words);
    ker_inputs_agree(inputs, comm, error);
    ker_inputs_free(inputs);
    free(words);
    return ker_comm_agree(comm, error);
}

static void list_print(void)
{
    route_list(stdout);
    net_list(stdout);
    task_list(stdout);
    part_list(stdout);
}

int main(int argc, char **argv)
{
    struct arguments args = {0};
    struct ker_comm *comm;
    struct ker_error error = {0};
    struct timespec started;
    clock_gettime(CLOCK_MONOTONIC, &started);
    if (ker_comm_init(&comm, &argc, &argv, &error) != KER_OK) {
        fprintf(stderr, "marssim: error: %s\n", error.text);
        return KER_RUN_FAILED;
    }
    args.overrides = ker_alloc(sizeof *args.overrides * (size_t)(argc + 1));
    args.control = ker_comm_rank(comm) == 0;
    ker_request_listen(comm);
    int status = words_agree(comm, argc, argv, &error);
    if (status == KER_OK)
        status = arguments_read(&args, argc, argv);
    if (status == KER_OK && (args.help || args.version)) {
        if (args.control && args.help)
            argp_help(&parser, stdout, args.help, (char[]){"marssim"});
        else if (args.control)
            puts("marssim " MARSSIM_VERSION);
    } else if (status == KER_OK && (args.list || args.help_config)) {
        const struct ker_option **tables = simulation_option_tables();
        if (args.control && args.help_config)
            ker_config_help(tables, stdout);
        if (args.control && args.list)
            list_print();
        free(tables);
    } else if (status == KER_OK) {
        struct simulation *s = simulation_new(&args, comm, started);
        status = simulation_run(s);
        simulation_free(s);
    }
    free(args.overrides);
    ker_request_release();
    ker_comm_release(comm);
    return status;
}
