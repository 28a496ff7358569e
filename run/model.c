/* model.c - what a run does by network.model: the rows of struct run_model. */
#include "run/stages.h"

static const struct run_model *const models[] = {&run_loggops_model, &run_nodes_model};

const struct run_model *run_model_of(const struct ker_config *config)
{
    size_t i = 0, last = sizeof models / sizeof *models - 1; /* the last stands for all carriers */
    while (i < last && !ker_config_is(config, "network.model", models[i]->name))
        i++;
    return models[i];
}
