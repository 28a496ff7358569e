/* function.c - what a function is, by its name for collectives (traces/functions.def), by its fields for all
 * others. */
#include "tools/marsconv/conv.h"

#include "kernel/base/base.h"

#include <string.h>

static const uint8_t equal[TASK_COLL_COUNT] = {
    [TASK_COLL_BCAST] = CONV_EQUAL_BYTES,
    [TASK_COLL_GATHER] = CONV_EQUAL_GATHER,
    [TASK_COLL_GATHERV] = CONV_EQUAL_GATHER,
    [TASK_COLL_SCATTER] = CONV_EQUAL_SCATTER,
    [TASK_COLL_SCATTERV] = CONV_EQUAL_SCATTER,
    [TASK_COLL_ALLGATHER] = CONV_EQUAL_RECVBYTES,
    [TASK_COLL_ALLGATHERV] = CONV_EQUAL_RECV_EACH,
    [TASK_COLL_ALLTOALL] = CONV_EQUAL_RECVBYTES,
    [TASK_COLL_ALLTOALLV] = CONV_EQUAL_PAIRS,
    [TASK_COLL_REDUCE] = CONV_EQUAL_BYTES,
    [TASK_COLL_ALLREDUCE] = CONV_EQUAL_BYTES,
    [TASK_COLL_REDUCE_SCATTER] = CONV_EQUAL_EACH,
    [TASK_COLL_REDUCE_SCATTER_BLOCK] = CONV_EQUAL_BYTES,
    [TASK_COLL_SCAN] = CONV_EQUAL_BYTES,
    [TASK_COLL_EXSCAN] = CONV_EQUAL_BYTES,
    [TASK_COLL_NEIGHBOR_ALLGATHER] = CONV_EQUAL_NEIGHBOURS,
    [TASK_COLL_NEIGHBOR_ALLGATHERV] = CONV_EQUAL_NEIGHBOURS,
    [TASK_COLL_NEIGHBOR_ALLTOALL] = CONV_EQUAL_NEIGHBOURS,
    [TASK_COLL_NEIGHBOR_ALLTOALLV] = CONV_EQUAL_NEIGHBOURS,
};

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
    is.persistent = is.request && init && (strcmp(init, "_init") == 0 || strcmp(init, "_init_c") == 0);
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

/* Do all tasks of its communicator make it? */
static bool by_all(const struct trace_function *f)
{
    bool group = f->sort == TRACE_CREATE_GROUP && strcmp(f->name, "MPI_Comm_create_group") == 0;
    return f->sort == TRACE_CREATE || f->sort == TRACE_WINDOW_MAKE ||
           (f->sort == TRACE_CREATE_GROUP && !group);
}

static struct conv_function find(const struct mars_function *f)
{
    const struct trace_function *known = trace_function_find(f->name);
    const char *name = strncmp(f->name, "MPI_", 4) == 0 ? f->name + 4 : f->name;
    struct conv_function is = {.base = name, .sort = CONV_LOCAL, .collective = TASK_COLL_COMM};
    if (has(f, MARS_FIELD_error)) /* refused: it did nothing */
        return is;
    bool all = known && by_all(known), file = has(f, MARS_FIELD_newfile);
    if (!has(f, MARS_FIELD_comm) || !(all || file || (known && known->sort == TRACE_COLLECTIVE)))
        return by_fields(f, name);
    is.request = has(f, MARS_FIELD_request);
    is.sort = all || file ? CONV_CREATE : CONV_COLLECTIVE;
    if (is.sort == CONV_CREATE)
        return is;
    is.base = trace_function_blocking(known)->name + 4;
    is.collective = known->more;
    is.equal = equal[known->more];
    is.persistent = known->op == TASK_OP_COLLECTIVE_INIT;
    return is;
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
