/* model.c - the key network.model, and what a run does by its value: the rows of struct run_model. */
#include "run/stages.h"

#include <string.h>

#define MODELS(KIND) KIND(net_packet_model) KIND(task_loggops_model)
KER_KINDS_TABLE(kinds, MODELS);
static const struct ker_kinds family = {"network.model", "models of the network", sizeof(struct net_carrier),
                                        kinds};

const struct ker_option run_model_options[] = {
    {.key = "network.model",
     .type = KER_TYPE_CHOICE,
     .fallback = "packet",
     .kinds = &family,
     .meaning =
         "What carries messages. All but loggops stand below nodes: jobs, MPI, services, traffic and what "
         "is inside a node are the same above them."},
    {.key = NULL},
};

static const struct run_model *const models[] = {&run_loggops_model, &run_nodes_model};

const struct run_model *run_model_of(const struct ker_config *config)
{
    size_t i = 0;
    while (models[i]->name && !ker_config_is(config, "network.model", models[i]->name))
        i++;
    return models[i];
}
