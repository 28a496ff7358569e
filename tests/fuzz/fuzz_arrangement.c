/* fuzz_arrangement.c - libFuzzer target for the reader of global arrangements: whatever the bytes, it returns
 * links that are the same from both ends and join two groups, or an error with a text. */
#include "routing/topologies/arrangement.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { GROUPS = 4, SWITCHES = 3, LINKS = 2, PORTS = SWITCHES * LINKS };
    uint32_t peer[GROUPS * PORTS];
    struct arrangement a = {.groups = GROUPS, .switches = SWITCHES, .h = LINKS, .ports = PORTS, .peer = peer};
    struct ker_error error = {0};
    memset(peer, UINT8_MAX, sizeof peer);
    enum ker_status status = arrangement_parse(&a, "input", (const char *)data, size, &error);
    ker_assert(status == error.status && (status == KER_OK) == (error.text[0] == 0));
    for (uint32_t i = 0; i < GROUPS * PORTS; i++)
        ker_assert(peer[i] == ARRANGEMENT_NONE ||
                   (peer[i] < GROUPS * PORTS && peer[peer[i]] == i && peer[i] / PORTS != i / PORTS));
    return 0;
}
