/* function.c - what a function is, by its name for collectives, by its fields for all others.
 *
 * Of a collective "Bcast" there are MPI_Ibcast and MPI_Bcast_init, too.
 */
#include "tools/marsconv/conv.h"

#include "kernel/base/base.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t sort, equal;
} collectives[] = {
    {"Barrier", CONV_COLLECTIVE, CONV_EQUAL_NONE},
    {"Bcast", CONV_COLLECTIVE, CONV_EQUAL_BYTES},
    {"Gather", CONV_COLLECTIVE, CONV_EQUAL_GATHER},
    {"Gatherv", CONV_COLLECTIVE, CONV_EQUAL_GATHER},
    {"Scatter", CONV_COLLECTIVE, CONV_EQUAL_SCATTER},
    {"Scatterv", CONV_COLLECTIVE, CONV_EQUAL_SCATTER},
    {"Allgather", CONV_COLLECTIVE, CONV_EQUAL_RECVBYTES},
    {"Allgatherv", CONV_COLLECTIVE, CONV_EQUAL_RECV_EACH},
    {"Alltoall", CONV_COLLECTIVE, CONV_EQUAL_RECVBYTES},
    {"Alltoallv", CONV_COLLECTIVE, CONV_EQUAL_PAIRS},
    {"Alltoallw", CONV_COLLECTIVE, CONV_EQUAL_PAIRS},
    {"Reduce", CONV_COLLECTIVE, CONV_EQUAL_BYTES},
    {"Allreduce", CONV_COLLECTIVE, CONV_EQUAL_BYTES},
    {"Reduce_scatter", CONV_COLLECTIVE, CONV_EQUAL_EACH},
    {"Reduce_scatter_block", CONV_COLLECTIVE, CONV_EQUAL_BYTES},
    {"Scan", CONV_COLLECTIVE, CONV_EQUAL_BYTES},
    {"Exscan", CONV_COLLECTIVE, CONV_EQUAL_BYTES},
    {"Neighbor_allgather", CONV_COLLECTIVE, CONV_EQUAL_NEIGHBOURS},
    {"Neighbor_allgatherv", CONV_COLLECTIVE, CONV_EQUAL_NEIGHBOURS},
    {"Neighbor_alltoall", CONV_COLLECTIVE, CONV_EQUAL_NEIGHBOURS},
    {"Neighbor_alltoallv", CONV_COLLECTIVE, CONV_EQUAL_NEIGHBOURS},
    {"Neighbor_alltoallw", CONV_COLLECTIVE, CONV_EQUAL_NEIGHBOURS},
    {"Comm_dup", CONV_CREATE, CONV_EQUAL_NONE},
    {"Comm_dup_with_info", CONV_CREATE, CONV_EQUAL_NONE},
    {"Comm_idup", CONV_CREATE, CONV_EQUAL_NONE},
    {"Comm_idup_with_info", CONV_CREATE, CONV_EQUAL_NONE},
    {"Comm_create", CONV_CREATE, CONV_EQUAL_NONE},
    {"Comm_split", CONV_CREATE, CONV_EQUAL_NONE},
    {"Comm_split_type", CONV_CREATE, CONV_EQUAL_NONE},
    {"Cart_create", CONV_CREATE, CONV_EQUAL_NONE},
    {"Cart_sub", CONV_CREATE, CONV_EQUAL_NONE},
    {"Graph_create", CONV_CREATE, CONV_EQUAL_NONE},
    {"Dist_graph_create", CONV_CREATE, CONV_EQUAL_NONE},
    {"Dist_graph_create_adjacent", CONV_CREATE, CONV_EQUAL_NONE},
    {"Intercomm_create", CONV_CREATE, CONV_EQUAL_NONE},
    {"Intercomm_merge", CONV_CREATE, CONV_EQUAL_NONE},
    {"Comm_spawn", CONV_CREATE, CONV_EQUAL_NONE},
    {"Comm_spawn_multiple", CONV_CREATE, CONV_EQUAL_NONE},
    {"Comm_accept", CONV_CREATE, CONV_EQUAL_NONE},
    {"Comm_connect", CONV_CREATE, CONV_EQUAL_NONE},
    {"Win_create", CONV_CREATE, CONV_EQUAL_NONE},
    {"Win_allocate", CONV_CREATE, CONV_EQUAL_NONE},
    {"Win_allocate_shared", CONV_CREATE, CONV_EQUAL_NONE},
    {"Win_create_dynamic", CONV_CREATE, CONV_EQUAL_NONE},
    {"File_open", CONV_CREATE, CONV_EQUAL_NONE},
};

/* What stands behind a name: nothing, or _c, of large counts. */
static bool is_end(const char *text)
{
    return text[0] == 0 || strcmp(text, "_c") == 0;
}

static bool is_init(const char *text)
{
    return strncmp(text, "_init", 5) == 0 && is_end(text + 5);
}

/* Is `name` (behind "MPI_") a form of the collective `base`? */
static bool is_form(const char *name, const char *base, struct conv_function *is)
{
    size_t length = strlen(base);
    bool begins = strncmp(name, base, length) == 0;
    if (begins && is_end(name + length))
        return true;
    if (begins && is_init(name + length))
        return is->request = is->persistent = true;
    if (name[0] == 'I' && name[1] == tolower((unsigned char)base[0]) &&
        strncmp(name + 2, base + 1, length - 1) == 0 && is_end(name + 1 + length))
        return is->request = true;
    return false;
}

static bool has(const struct mars_function *f, enum mars_field field)
{
    return f->at[field] >= 0;
}

static struct conv_function by_fields(const struct mars_function *f, const char *name)
{
    static const enum mars_field passes[] = {MARS_FIELD_dest,      MARS_FIELD_source,   MARS_FIELD_root,
                                             MARS_FIELD_request,   MARS_FIELD_requests, MARS_FIELD_win,
                                             MARS_FIELD_target,    MARS_FIELD_message,  MARS_FIELD_newcomm,
                                             MARS_FIELD_newwin,    MARS_FIELD_bytes,    MARS_FIELD_bytes_each,
                                             MARS_FIELD_recvbytes, MARS_FIELD_file,     MARS_FIELD_newfile};
    struct conv_function is = {.base = name, .quiet = true, .request = has(f, MARS_FIELD_request)};
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        is.quiet = is.quiet && !has(f, passes[i]);
    const char *init = strstr(name, "_init");
    bool sends = has(f, MARS_FIELD_dest) && has(f, MARS_FIELD_bytes);
    bool receives = has(f, MARS_FIELD_source) && has(f, MARS_FIELD_recvbytes);
    is.persistent = is.request && init && is_init(init);
    is.sort = sends && receives ? CONV_EXCHANGE : sends ? CONV_SEND : receives ? CONV_RECV : CONV_LOCAL;
    if (is.sort == CONV_LOCAL && has(f, MARS_FIELD_requests) && has(f, MARS_FIELD_done))
        is.sort = CONV_COMPLETE;
    if (strcmp(name, "Start") == 0 || strcmp(name, "Startall") == 0)
        is.sort = CONV_START;
    /* Requests that they name, not that they make. */
    is.request = is.request && (is.sort == CONV_SEND || is.sort == CONV_RECV || is.sort == CONV_EXCHANGE ||
                                has(f, MARS_FIELD_target) || has(f, MARS_FIELD_file) ||
                                has(f, MARS_FIELD_message) || strcmp(name, "Grequest_start") == 0);
    return is;
}

static struct conv_function find(const struct mars_function *f)
{
    const char *name = strncmp(f->name, "MPI_", 4) == 0 ? f->name + 4 : f->name;
    if (has(f, MARS_FIELD_error)) /* refused: it did nothing */
        return (struct conv_function){.base = name, .sort = CONV_LOCAL};
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
        struct conv_function is = {
            .base = collectives[i].name, .sort = collectives[i].sort, .equal = collectives[i].equal};
        if (has(f, MARS_FIELD_comm) && is_form(name, collectives[i].name, &is)) {
            is.request = has(f, MARS_FIELD_request);
            return is;
        }
    }
    return by_fields(f, name);
}

const struct conv_function *conv_function(struct conv_functions *functions, const struct mars_function *f)
{
    size_t place = ker_hash((uintptr_t)f) >> 58; /* of 64 */
    if (functions->known[place].function != f) {
        functions->known[place].is = find(f);
        functions->known[place].function = f;
    }
    return &functions->known[place].is;
}

const struct conv_function *conv_function_of(struct conv_functions *functions,
                                             const struct conv_record *record)
{
    const struct conv_function *is = conv_function(functions, record->call.function);
    if (!record->assumed)
        return is;
    functions->unsized = *is;
    functions->unsized.equal = CONV_EQUAL_NONE;
    return &functions->unsized;
}
