/* Descriptions of machines: any text is either refused with a message, or a node in which all that is named
 * is there. */
#include "nodes/structure/hwloc.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct node_structure *s, const struct node_hwloc *h)
{
    ker_assert(s->sockets > 0 && s->domains > 0 && s->cores > 0 && s->adapters == h->adapters);
    ker_assert(h->located == (s->adapter_bus != NULL));
    for (uint32_t i = 0; i < s->domains; i++)
        ker_assert(s->domain_socket[i] < s->sockets);
    for (uint32_t i = 0; i < s->cores; i++)
        ker_assert(s->core[i].domain < s->domains && s->core[i].socket < s->sockets &&
                   s->core[i].threads > 0 && (!h->core_kind || h->core_kind[i] < h->core_kinds));
    for (uint32_t i = 0; h->located && i < s->adapters; i++)
        ker_assert(s->adapter_bus[i] < s->buses && s->bus_socket[s->adapter_bus[i]] < s->sockets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct node_structure s;
    struct node_hwloc h = {.adapters = 2};
    char *why, *text = malloc(size + 1);
    ker_assert(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    if (node_structure_hwloc(&s, &h, text, size, &why)) {
        ker_assert(!why);
        check(&s, &h);
        node_structure_release(&s);
        free(h.core_kind);
    } else {
        ker_assert(why && *why && !s.core && !s.adapter_bus && !h.core_kind);
        free(why);
    }
    free(text);
    return 0;
}
