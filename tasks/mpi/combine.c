/* combine.c - how fast a task combines vectors: mpi.reduce_rate, by their size, operation and class of
 * datatypes.
 *
 * Of the entries that fit a reduction the last one counts. The first one is for all but operations of the
 * program's own and derived datatypes, whose speed nothing says: where a trace has some, they want an entry
 * that names them. What is not known of a reduction (0) fits the entries that do not ask for it.
 */
#include "tasks/mpi/state.h"

#include <string.h>

static const struct {
    const char *word;
    uint8_t code; /* enum task_combine */
} words[] = {
    {"sum", TASK_COMBINE_SUM},         {"prod", TASK_COMBINE_PROD},       {"min", TASK_COMBINE_MIN},
    {"max", TASK_COMBINE_MAX},         {"logical", TASK_COMBINE_LOGICAL}, {"bitwise", TASK_COMBINE_BITWISE},
    {"loc", TASK_COMBINE_LOC},         {"own", TASK_COMBINE_OWN},         {"integer", TASK_COMBINE_INTEGER},
    {"real", TASK_COMBINE_REAL},       {"complex", TASK_COMBINE_COMPLEX}, {"pair", TASK_COMBINE_PAIR},
    {"derived", TASK_COMBINE_DERIVED},
};

static bool word_take(const char *text, uint8_t *code)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint8_t part = words[i].code & TASK_COMBINE_OPERATION ? TASK_COMBINE_OPERATION : TASK_COMBINE_TYPE;
        if (strcmp(text, words[i].word) == 0 && !(*code & part)) {
            *code |= words[i].code;
            return true;
        }
    }
    return false;
}

/* "8 GB/s", "4 GB/s:prod", "2 GB/s:sum:complex", "9 GB/s:1 MiB". */
static enum ker_status rate_read(struct task_combine_rates *rates, const struct ker_config *config, int index,
                                 struct ker_error *error)
{
    static const char key[] = "mpi.reduce_rate";
    const char *text = ker_config_string_at(config, key, index), *why = "at least 1 kB/s";
    char copy[96], *rest = copy;
    uint64_t rate, from = 0;
    uint8_t code = 0;
    snprintf(copy, sizeof copy, "%s", text);
    const char *first = strsep(&rest, ":"), *word;
    bool fine = ker_parse_rate(first, &rate, &why) == 0 && rate >= 1000;
    while (fine && (word = strsep(&rest, ":"))) {
        bool size = from == 0 && ker_parse_bytes(word, &from, &why) == 0 && from > 0;
        fine = size || word_take(word, &code);
        why = "no size, operation or datatype, or two of a kind";
    }
    for (uint32_t i = 0; i < rates->count && fine; i++) {
        why = "a second rate for the same";
        fine = rates->of[i].code != code || rates->of[i].from != from;
    }
    if (!fine)
        return ker_config_fail(
            config, error, key,
            "\"%s\": %s; right would be \"8 GB/s\", or with a size, an operation (sum, prod, min, "
            "max, logical, bitwise, loc, own) or a datatype (integer, real, complex, pair, "
            "derived): \"2 GB/s:sum:complex\"",
            text, why);
    if (index == 0 && (code || from))
        return ker_config_fail(config, error, key, "\"%s\": the first rate is for all reductions", text);
    rates->of[rates->count].rate = rate;
    rates->of[rates->count].from = from;
    rates->of[rates->count++].code = code;
    return KER_OK;
}

enum ker_status task_combine_read(struct task_combine_rates *rates, const struct ker_config *config,
                                  struct ker_error *error)
{
    int count = ker_config_has(config, "mpi.reduce_rate") ? ker_config_count(config, "mpi.reduce_rate") : 0;
    enum ker_status status = KER_OK;
    if (count > TASK_COMBINE_RATES)
        return ker_config_fail(config, error, "mpi.reduce_rate", "%d rates; at most %d", count,
                               TASK_COMBINE_RATES);
    for (int i = 0; status == KER_OK && i < count; i++)
        status = rate_read(rates, config, i, error);
    return status;
}

uint64_t task_combine_rate(const struct task_mpi *mpi, uint8_t code, uint64_t bytes)
{
    const struct task_combine_rates *rates = &mpi->combine;
    uint8_t operation = code & TASK_COMBINE_OPERATION, type = code & TASK_COMBINE_TYPE;
    bool unusual = operation == TASK_COMBINE_OWN || type == TASK_COMBINE_DERIVED;
    for (uint32_t i = rates->count; i-- > 0;) {
        uint8_t asked = rates->of[i].code & TASK_COMBINE_OPERATION,
                of = rates->of[i].code & TASK_COMBINE_TYPE;
        if (bytes < rates->of[i].from || (asked && asked != operation) || (of && of != type) ||
            (unusual && asked != TASK_COMBINE_OWN && of != TASK_COMBINE_DERIVED))
            continue;
        return rates->of[i].rate;
    }
    return 0;
}

enum ker_status task_mpi_combines(const struct task_mpi *mpi, const char *job, uint8_t unusual,
                                  struct ker_error *error)
{
    if (!mpi->combine.count || !unusual)
        return KER_OK;
    bool own = unusual & TASK_COMBINES_OWN && !task_combine_rate(mpi, TASK_COMBINE_OWN, 0),
         derived = unusual & TASK_COMBINES_DERIVED && !task_combine_rate(mpi, TASK_COMBINE_DERIVED, 0);
    if (!own && !derived)
        return KER_OK;
    return ker_fail(error, KER_BAD_INPUT,
                    "mpi.reduce_rate: job %s has reductions %s, whose speed no rate says; add one of them: "
                    "\"1 GB/s:%s\"",
                    job, own ? "by an operation of the program's own" : "of a derived datatype",
                    own ? "own" : "derived");
}
