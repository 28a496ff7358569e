/* Rule files of Open MPI: any text is either refused with a message or a list of rules that all have an
 * algorithm of their collective, or none. */
#include "tasks/jobs/jobs.h"
#include "tasks/mpi/collectives/collective.h"
#include "tasks/mpi/mpi.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ker_config *config;
    struct task_coll_rules rules = {0};
    struct ker_error error = {0};
    const struct ker_option *const tables[] = {task_job_options, mpi_options, NULL};
    if (!config)
        ker_assert(ker_config_parse(&config, "fuzz", "", NULL, 0, tables, &error) == KER_OK);
    enum ker_status status = task_coll_tuned_parse(&rules, config, "fuzz", (const char *)data, size, &error);
    ker_assert(status == KER_OK || (status == KER_BAD_INPUT && error.text[0] != 0));
    for (uint32_t i = 0; status == KER_OK && i < rules.count; i++) {
        const struct task_coll_rule *rule = &rules.rule[i];
        const struct ker_kind *algorithm = rule->choice.algorithm;
        ker_assert(rule->collective < TASK_COLL_COUNT && rule->min_tasks >= 0);
        ker_assert(!algorithm ||
                   task_coll_find(config, rule->collective, algorithm->name).algorithm == algorithm);
    }
    free(rules.rule);
    return 0;
}
