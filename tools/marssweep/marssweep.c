/* marssweep.c - the command line: many runs of one configuration, their table and figure. */
#include "tools/marssweep/sweep.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SEEDS = 300,
    POINTS,
    ZIP,
    QUICK,
    DATABASE,
    COLUMNS,
    AGAINST,
    SATURATION,
    PRECISION,
    MOST_SEEDS,
    ALONE,
    AGAIN,
    COLLECT,
    PAGES,
    SHARE,
    SLURM,
    MEMORY,
};

static const struct argp_option OPTIONS[] = {
    {"output", 'o', "DIR", 0, "write to DIR (default: results/NAME-sweep): table, figure, runs/", 0},
    {"db", DATABASE, "FILE", 0, "the database (default: DIR/sweep.sqlite)", 0},
    {"seeds", SEEDS, "N", 0, "run each point with the seeds 1 to N", 0},
    {"zip", ZIP, 0, 0, "keys change together, not each with each", 0},
    {"quick", QUICK, 0, 0, "sweep.quick of the configuration in place of sweep.points", 0},
    {"points", POINTS, "FILE", 0, "the points, one a line: KEY=VALUE...", 0},
    {"columns", COLUMNS, "NAME[:UNIT],...", 0,
     "figures of the summary for the table; list: show all there are", 0},
    {"against", AGAINST, "KEY=VALUE", 0,
     "columns with the ratio to the row of this VALUE whose other keys are the same", 0},
    {"saturation", SATURATION, 0, 0, "find the load of saturation, to 1 %, in place of given loads", 0},
    {"precision", PRECISION, "P", 0, "add seeds until all intervals are within P (0.01: 1 %) of the mean", 0},
    {"most-seeds", MOST_SEEDS, "N", 0, "but at most N (default: 30)", 0},
    {"alone", ALONE, 0, 0,
     "run each job alone, too, on the same nodes, and report its slowdown beside the others", 0},
    {"again", AGAIN, 0, 0, "run points that have results again: others are an error, and the old ones stay",
     0},
    {"jobs", 'j', "N", 0, "run N at a time (default: as many as there are cores, and as fit into memory)", 0},
    {"memory", MEMORY, "SIZE", 0, "memory for all runs together (default: what is free), like 8GiB", 0},
    {"collect", COLLECT, 0, 0, "run nothing: bring the folders of DIR into the database, table and figure",
     0},
    {"pages", PAGES, 0, 0, "write the page of each run, too, to which that of the sweep leads", 0},
    {"share", SHARE, "I/N", 0, "run only the share I (from 0) of N, without a database; then --collect", 0},
    {"slurm", SLURM, 0, 0, "run nothing: write an array job of Slurm", 0},
    {"quiet", 'q', 0, 0, "say nothing of each run", 0},
    {0}};

struct settings {
    struct sweep sweep;
    const char **word;
    size_t words;
    bool list;
};

static unsigned number_take(const char *argument, double least, double most, struct argp_state *state,
                            const char *what)
{
    char *end;
    double value = strtod(argument, &end);
    if (end == argument || *end || !(value >= least && value <= most) || value != floor(value))
        argp_error(state, "%s %s: expected a whole number from %g to %g", what, argument, least, most);
    return (unsigned)value;
}

/* NAME,NAME; commas inside brackets are names' own. */
static void columns_take(struct settings *set, const char *argument)
{
    for (const char *at = argument; *at;) {
        size_t length = 0;
        for (int depth = 0; at[length] && (depth > 0 || at[length] != ','); length++)
            depth += (at[length] == '[') - (at[length] == ']');
        if (length)
            *KER_APPEND(set->sweep.column, set->sweep.columns) = ker_format("%.*s", (int)length, at);
        at += length + (at[length] == ',');
    }
    set->list = strcmp(argument, "list") == 0;
    if (set->list)
        free(set->sweep.column[--set->sweep.columns]);
}

static void share_take(struct sweep *s, const char *argument, struct argp_state *state)
{
    int end = 0;
    if (sscanf(argument, "%u/%u%n", &s->share_number, &s->share_of, &end) != 2 || argument[end] ||
        s->share_number >= s->share_of)
        argp_error(state, "--share %s: expected I/N, I from 0 to N - 1", argument);
}

static void memory_take(struct sweep *s, const char *argument, struct argp_state *state)
{
    const char *why;
    if (ker_parse_bytes(argument, &s->memory, &why) != 0)
        argp_error(state, "--memory %s: %s", argument, why);
}

static bool *flag_of(struct sweep *s, int key)
{
    const struct {
        int key;
        bool *flag;
    } flags[] = {{QUICK, &s->quick}, {AGAIN, &s->again}, {COLLECT, &s->collect},
                 {SLURM, &s->slurm}, {PAGES, &s->pages}, {'q', &s->quiet}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].key == key)
            return flags[i].flag;
    return NULL;
}

/* Options that are keys of the group `sweep`, and are read and checked as such. */
static const char *key_of(int key)
{
    static const struct {
        int option;
        const char *key;
    } keys[] = {{ZIP, "sweep.zip"},     {SEEDS, "sweep.seeds"},           {AGAINST, "sweep.against"},
                {ALONE, "sweep.alone"}, {SATURATION, "sweep.saturation"}, {PRECISION, "sweep.precision"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].option == key)
            return keys[i].key;
    return NULL;
}

static error_t value_parse(int key, char *argument, struct argp_state *state)
{
    struct settings *set = state->input;
    struct sweep *s = &set->sweep;
    switch (key) {
    case 'o':
        return s->dir = argument, 0;
    case 'j':
        return s->jobs = number_take(argument, 1, 65536, state, "--jobs"), 0;
    case DATABASE:
        return s->db = argument, 0;
    case POINTS:
        return s->points_file = argument, 0;
    case MOST_SEEDS:
        return s->most_seeds = number_take(argument, 2, 100000, state, "--most-seeds"), 0;
    case COLUMNS:
        return columns_take(set, argument), 0;
    case SHARE:
        return share_take(s, argument, state), 0;
    case MEMORY:
        return memory_take(s, argument, state), 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct settings *set = state->input;
    struct sweep *s = &set->sweep;
    bool *flag = flag_of(s, key);
    if (flag)
        return *flag = true, 0;
    if (key_of(key))
        return sweep_word_set(&s->config_words, key_of(key), argument ? argument : "true"), 0;
    switch (key) {
    case ARGP_KEY_ARG:
        if (sweep_is_word(argument))
            *KER_APPEND(set->word, set->words) = argument;
        else if (s->file)
            argp_error(state, "%s: one configuration is swept, and %s is it", argument, s->file);
        else
            s->file = argument;
        return 0;
    case ARGP_KEY_END:
        if (!s->file)
            argp_error(state, "no configuration file given; for example: marssweep configs/torus-uniform.cfg "
                              "traffic.load=0.1:0.9:0.1 --seeds 3");
        if (s->collect + s->slurm + (s->share_of > 0) > 1 || (s->again && (s->collect || s->slurm)))
            argp_error(state, "--collect, --slurm, --share and --again are different things to do");
        return 0;
    default:
        return value_parse(key, argument, state);
    }
}

/* ---- the sweep ---- */

static char *dir_default(const char *file)
{
    const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file, *dot = strrchr(name, '.');
    return ker_format("results/%.*s-sweep", dot && dot != name ? (int)(dot - name) : (int)strlen(name), name);
}

/* Is it KEY=VALUES of a key that sweep.designs has? */
static bool design_named(const struct sweep *s, const char *word)
{
    for (size_t i = 0; i < s->designs.count; i++)
        if (strncmp(s->designs.axis[i].key, word, strcspn(word, "=")) == 0 &&
            strlen(s->designs.axis[i].key) == strcspn(word, "="))
            return true;
    return false;
}

/* Keys sweep.* are for the sweep itself; the rest, over those of the configuration, what is swept. */
static enum ker_status words_take(struct settings *set, struct ker_error *error)
{
    struct sweep *s = &set->sweep;
    enum ker_status status = KER_OK;
    for (size_t i = 0; i < set->words; i++)
        if (strncmp(set->word[i], "sweep.", 6) == 0) {
            char *key = ker_format("%.*s", (int)strcspn(set->word[i], "="), set->word[i]);
            sweep_word_set(&s->config_words, key, set->word[i] + strlen(key) + 1);
            free(key);
        }
    status = sweep_config_read(s, error);
    for (size_t i = 0; i < set->words && status == KER_OK; i++)
        if (strncmp(set->word[i], "sweep.", 6) != 0)
            status = sweep_axis_parse(design_named(s, set->word[i]) ? &s->designs : &s->axes, set->word[i],
                                      "command line", error);
    return status;
}

/* All points that are known before the first run, and which of them have results. */
static enum ker_status prepare(struct settings *set, struct ker_error *error)
{
    struct sweep *s = &set->sweep;
    enum ker_status status = words_take(set, error);
    if (status == KER_OK && (s->share_of || s->slurm) && (s->saturation || s->precision > 0))
        status = ker_fail(error, KER_BAD_INPUT,
                          "%s: --saturation and --precision choose points by the results of "
                          "others, so they run in one place",
                          s->slurm ? "--slurm" : "--share");
    status = status ?: sweep_search_begin(s, error);
    if (status == KER_OK && s->alone)
        status = sweep_alone_begin(s, error);
    status = status ?: sweep_dir_make(s, error);
    if (status == KER_OK && !s->share_of)
        status = sweep_store_open(&s->store, s->db, error);
    if (status == KER_OK && s->collect)
        status = sweep_store_collect(s, error);
    sweep_program_note(s);
    for (size_t i = 0; i < s->points && status == KER_OK; i++)
        status = sweep_resume(s, s->point[i], error);
    return status;
}

static enum ker_status results_write(struct settings *set, struct ker_error *error)
{
    struct sweep *s = &set->sweep;
    struct sweep_table table = {0};
    for (size_t i = 0; i < s->points && !s->saturates; i++)
        s->saturates = sweep_figure_there(&s->point[i]->figures, SWEEP_SATURATED);
    if (set->list) {
        sweep_columns_list(s, stdout);
        return KER_OK;
    }
    struct sqlite3 *db = sweep_store_database(s->store);
    enum ker_status status = sweep_table_make(s, &table, error);
    sweep_table_sort(s, &table);
    status = status ?: sweep_views_begin(s, db, error);
    if (status == KER_OK && s->alone)
        status = sweep_alone_store(s, db, error);
    if (status == KER_OK && s->tables)
        status = sweep_tables_store(s, db, error);
    if (status == KER_OK && table.rows > 0) {
        putchar('\n');
        if (!s->sqls)
            sweep_table_print(s, &table, stdout);
        status = s->sqls ? sweep_views_write(s, db, error) : sweep_csv_write(s, &table, db, error);
    }
    if (status == KER_OK && s->pages)
        sweep_reports_write(s);
    if (status == KER_OK && table.rows > 0)
        status = sweep_page_write(s, &table, error);
    s->paged = status == KER_OK && table.rows > 0;
    if (status == KER_OK && table.rows > 0)
        status = sweep_plot(s, &table, error);
    sweep_table_free(&table);
    if (status == KER_OK && s->alone)
        status = sweep_alone_write(s, db, stdout, error);
    if (s->saturation)
        putchar('\n');
    sweep_search_print(s, stdout);
    return status;
}

/* What is left over, and where everything is. */
static int conclude(const struct sweep *s)
{
    size_t done = 0, missing = 0;
    for (size_t i = 0; i < s->points; i++) {
        done += s->point[i]->state == SWEEP_DONE;
        missing += s->point[i]->state == SWEEP_LEFT || s->point[i]->state == SWEEP_WANTED;
    }
    static const char *const empty[] = {"part", "again"}; /* unless another share works there */
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        char *path = ker_format("%s/%s", s->dir, empty[i]);
        rmdir(path);
        free(path);
    }
    fflush(stdout);
    if (s->interrupted)
        fprintf(stderr, "marssweep: interrupted: %zu of %zu points are done; the same command continues\n",
                done, s->points);
    else if (missing)
        fprintf(stderr, "marssweep: %zu of %zu points have no results yet\n", missing, s->points);
    if (s->failed)
        fprintf(stderr, "marssweep: error: %zu of %zu points failed; messages: %s/failed\n", s->failed,
                s->points, s->dir);
    if (s->differ)
        fprintf(stderr, "marssweep: error: %zu points have other results than the database has\n", s->differ);
    if (!s->share_of)
        printf("\nresults     %s; database %s\n", s->dir, s->db);
    if (s->paged)
        printf("page        %s/page.html\n", s->dir);
    return s->interrupted ? 130 : s->failed || s->differ || missing ? 1 : 0;
}

static int sweep_do(struct settings *set, char **argv, struct ker_error *error)
{
    struct sweep *s = &set->sweep;
    enum ker_status status = prepare(set, error);
    if (status == KER_OK && s->slurm)
        return sweep_slurm_write(s, argv, error);
    if (status == KER_OK && !s->quiet)
        printf("sweep of %s: %zu points, %zu of them done before\n", s->file, s->points, s->before);
    if (status == KER_OK && s->collect && s->saturation)
        sweep_search_more(s, error);
    else if (status == KER_OK && !s->collect)
        status = sweep_pool_run(s, s->saturation || s->precision > 0 ? sweep_search_more : NULL, error);
    if (status == KER_OK && !s->share_of)
        status = results_write(set, error);
    return status == KER_OK ? conclude(s) : (int)status;
}

static void release(struct settings *set)
{
    struct sweep *s = &set->sweep;
    sweep_store_close(s->store);
    sweep_search_free(s);
    sweep_points_free(s);
    sweep_axes_free(&s->axes);
    sweep_axes_free(&s->designs);
    ker_free_all(s->column, s->columns);
    ker_free_all(s->sql, s->sqls);
    ker_free_all(s->table, s->tables);
    free(s->plot);
    free(set->word);
    free(s->against);
    sweep_words_free(&s->config_words);
    sweep_words_free(&s->bundled);
    json_decref(s->own_files);
    json_decref(s->digests);
}

int main(int argc, char **argv)
{
    static struct ker_error error;
    struct settings set = {
        .sweep = {
            .most_seeds = 30, .most_points = 1000000, .own_files = json_object(), .digests = json_object()}};
    struct sweep *s = &set.sweep;
    static const struct argp argp = {
        OPTIONS, parse, "FILE [KEY=VALUES...]",
        "Runs a configuration at many points, side by side, and writes one table with means and confidence "
        "intervals over seeds, and one figure.\vVALUES are A,B,C or FROM:TO:STEP; a value with commas of its "
        "own is in brackets: topology.extents=[4,4,4],[8,8,8]. Without VALUES the group sweep of the "
        "configuration says what is swept. Interrupted at any time, the same command continues.\n\nExit "
        "status: 0 done, 1 some points failed or have no results, 2 bad input, 130 interrupted."};
    argp_program_version = "marssweep of marssim " MARSSIM_VERSION;
    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, 0, NULL, &set) != 0)
        return 2;
    char *found = run_file_find(s->file, &error), *dir = s->dir ? NULL : dir_default(s->file), *db = NULL;
    int status = error.status;
    if (found) {
        s->file = found;
        s->dir = dir ? dir : s->dir;
        db = ker_format("%s/sweep.sqlite", s->dir);
        s->db = s->db ? s->db : db;
        status = sweep_do(&set, argv, &error);
    }
    if (error.status != KER_OK)
        fprintf(stderr, "marssweep: error: %s\n", error.text);
    release(&set);
    free(found);
    free(dir);
    free(db);
    return status;
}
