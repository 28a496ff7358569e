/* Placement files: any text is either refused with a message or a table of nodes and cores that exist. */
#include "tasks/jobs/placement.h"

#include <stdlib.h>

#define NODES 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct task_place *places = NULL;
    uint32_t count = 0;
    bool has_cores;
    struct ker_error error = {0};
    enum ker_status status =
        task_placement_parse("fuzz", (const char *)data, size, NODES, &places, &count, &has_cores, &error);
    ker_assert(status == KER_OK || (status == KER_BAD_INPUT && error.text[0] != 0));
    if (status == KER_OK)
        ker_assert(count > 0);
    for (uint32_t i = 0; status == KER_OK && i < count; i++)
        ker_assert(places[i].node < NODES && (has_cores || places[i].core == 0));
    if (status == KER_OK)
        free(places);
    return 0;
}
