/* Descriptions of machines: any text is either refused with a message, or a node in which all that is named
 * is there. Most inputs are read in this process, so that coverage is seen and many are tried; where hwloc
 * would end the process by an assertion, the input is left, and what hwloc held is lost. Some are read as the
 * program reads them, in a process of hwloc's own. */
#include "nodes/structure/hwloc.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define APART 4096 /* one input of this many goes to a process of its own */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __assert_fail(const char *what, const char *file, unsigned line, const char *function);

static jmp_buf refuge;
static volatile bool asserts;

/* In the place of the C library's, for hwloc, too. */
void __assert_fail(const char *what, const char *file, unsigned line, const char *function)
{
    if (asserts)
        longjmp(refuge, 1);
    fprintf(stderr, "%s:%u: %s: %s\n", file, line, function, what);
    abort();
}

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

static void answer_check(bool read, struct node_structure *s, struct node_hwloc *h, char *why)
{
    if (read) {
        ker_assert(!why);
        check(s, h);
        node_structure_release(s);
        free(h->core_kind);
    } else {
        ker_assert(why && *why && !s->core && !s->adapter_bus && !h->core_kind);
        free(why);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t inputs;
    struct node_structure s;
    struct node_hwloc h = {.adapters = (uint32_t)size % 4 + 1};
    char *why, *text = malloc(size + 1);
    ker_assert(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    if (++inputs % APART == 0) {
        bool read = node_structure_hwloc(&s, &h, text, size, &why);
        answer_check(read, &s, &h, why);
    } else if (setjmp(refuge) == 0) {
        asserts = true;
        bool read = node_structure_hwloc_here(&s, &h, text, size, &why);
        asserts = false;
        answer_check(read, &s, &h, why);
    }
    asserts = false;
    free(text);
    return 0;
}
