/* hwloc_child.c - hwloc reads a description of a machine in a process of its own.
 *
 * hwloc ends the program by an assertion, or worse, at some damaged files. So a child reads the file, and
 * writes what it has found to a pipe, as a chunk of saved state; what comes from there is looked at as a file
 * is, as the child may have had its memory overwritten. Every rank does the same with the same text
 * (ker_inputs_agree), and comes to the same.
 */
#include "kernel/state/state.h"
#include "nodes/structure/hwloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 60 /* that hwloc may take */
#define MOST_WHY 4096
#define RIGHT "; right would be a file that lstopo --of xml of hwloc 2 has written"

/* ---- what is found, both ways ---- */

/* This many numbers below `end`. */
static void numbers_state(struct ker_chunk *c, uint16_t **numbers, uint32_t count, uint32_t end)
{
    if (c->loads)
        *numbers = ker_alloc(count * sizeof **numbers);
    for (uint32_t i = 0; *numbers && i < count; i++)
        (*numbers)[i] = (uint16_t)ker_chunk_below(c, (*numbers)[i], end);
}

/* A number of parts, at least one. */
static uint32_t parts_state(struct ker_chunk *c, uint32_t parts, uint32_t most)
{
    return ker_chunk_below(c, parts - 1, most) + 1;
}

static void cores_state(struct ker_chunk *c, struct node_structure *s)
{
    s->cores = ker_chunk_count(c, s->cores, 3 * sizeof(uint32_t));
    c->bad |= s->cores == 0 || s->cores > NODE_MOST_UNITS;
    if (c->bad)
        s->cores = 0;
    if (c->loads)
        s->core = ker_alloc((s->cores + (size_t)1) * sizeof *s->core);
    uint64_t units = 0;
    for (uint32_t i = 0; i < s->cores; i++) {
        struct node_core *core = &s->core[i];
        core->domain = (uint16_t)ker_chunk_below(c, core->domain, s->domains);
        core->socket = (uint16_t)ker_chunk_below(c, core->socket, s->sockets);
        core->threads = (uint16_t)parts_state(c, core->threads, NODE_MOST_UNITS);
        core->speed = NODE_SPEED;
        units += core->threads;
    }
    c->bad |= units > NODE_MOST_UNITS;
}

static void structure_state(struct ker_chunk *c, struct node_structure *s, struct node_hwloc *h)
{
    s->sockets = parts_state(c, s->sockets, NODE_MOST_PARTS);
    s->domains = parts_state(c, s->domains, NODE_MOST_PARTS);
    s->throughput = NODE_SPEED;
    cores_state(c, s);
    numbers_state(c, &s->domain_socket, s->domains, s->sockets);
    h->located = ker_chunk_bool(c, h->located);
    if (h->located) {
        s->buses = parts_state(c, s->buses, s->adapters);
        numbers_state(c, &s->bus_socket, s->buses, s->sockets);
        numbers_state(c, &s->adapter_bus, s->adapters, s->buses);
    }
    h->core_kinds = ker_chunk_below(c, h->core_kinds, UINT16_MAX);
    if (h->core_kinds)
        numbers_state(c, &h->core_kind, s->cores, h->core_kinds);
}

static void why_state(struct ker_chunk *c, char **why)
{
    uint32_t length = ker_chunk_count(c, *why ? (uint32_t)strlen(*why) : 0, 1);
    c->bad |= length > MOST_WHY;
    if (c->loads && !c->bad)
        *why = ker_alloc(length + (size_t)1);
    if (length && !c->bad)
        ker_chunk_bytes(c, *why, length);
}

/* true: the text could be read. */
static bool answer_state(struct ker_chunk *c, struct node_structure *s, struct node_hwloc *h, char **why)
{
    bool read = ker_chunk_bool(c, *why == NULL);
    if (read)
        structure_state(c, s, h);
    else
        why_state(c, why);
    c->bad |= c->loads && c->at != c->bytes;
    return read;
}

/* ---- the child ---- */

struct asked {
    const struct node_hwloc *how;
    const char *text;
    size_t bytes;
};

static void answer(FILE *out, void *context)
{
    const struct asked *asked = context;
    struct node_hwloc h = *asked->how;
    struct node_structure s;
    struct ker_chunk c = {0};
    char *why = NULL;
    alarm(SECONDS);
    node_structure_hwloc_here(&s, &h, asked->text, asked->bytes, &why);
    ker_chunk_begin(&c, "hwloc", 1, 0);
    answer_state(&c, &s, &h, &why);
    fwrite(c.data, 1, c.at, out);
}

/* ---- the parent ---- */

static char *end_words(int status)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return ker_format("keeps hwloc busy for more than %d s: it is damaged" RIGHT, SECONDS);
    if (WIFSIGNALED(status))
        return ker_format("makes hwloc fail (%s): it is damaged" RIGHT, strsignal(WTERMSIG(status)));
    return ker_format("makes hwloc fail: it is damaged" RIGHT);
}

bool node_structure_hwloc(struct node_structure *s, struct node_hwloc *h, const char *text, size_t bytes,
                          char **why)
{
    struct asked asked = {h, text, bytes};
    struct ker_bytes said = {0};
    pid_t child;
    char block[4096];
    FILE *in = ker_child_begin(answer, &asked, &child);
    if (!in) {
        ker_child_end(NULL, child);
        *why = ker_format("is not read: there is no process to be had for it");
        return false;
    }
    for (size_t got; (got = fread(block, 1, sizeof block, in)) > 0;)
        ker_bytes_add(&said, block, got);
    int status = ker_child_end(in, child);
    struct ker_chunk c = {.loads = true, .data = said.byte, .bytes = said.used};
    *s = (struct node_structure){.adapters = h->adapters};
    h->located = false;
    h->core_kind = NULL;
    h->core_kinds = 0;
    *why = NULL;
    bool read = answer_state(&c, s, h, why);
    if (c.bad) {
        free(*why);
        *why = end_words(status);
        free(h->core_kind);
        h->core_kind = NULL;
        read = false;
    }
    if (!read)
        node_structure_release(s);
    free(said.byte);
    return read;
}
