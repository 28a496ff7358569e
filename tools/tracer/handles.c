/* handles.c - what handles stand for, by numbers that mean the same until the end of the trace.
 *
 * A communicator's id is the same at all its members and differs from all others', without any message: it is
 * a hash of the id of the communicator it was made from, of its group (ranks in the world, in order), and of
 * how many with these two were made before; its members have all seen the same ones, since what makes
 * communicators is called by all of them in one order. An intercommunicator's comes from both groups. One
 * whose making was not seen (before the wrappers were there) gets its id from its group alone.
 */
#include "trc.h"

#include <stdlib.h>
#include <string.h>

/* A group and its members' numbers; never freed, so that nobody has to lock the list to read it. */
struct numbered {
    struct numbered *next;
    MPI_Group group;
    int32_t *number;
    int count;
};

static struct {
    struct numbered *groups; /* whose members' numbers are known; the first is the world */
    struct trc_map comm, made, type, op, thing[TRC_THINGS];
    uint32_t comms, types, ops, things[TRC_THINGS];
    struct trc_comm none;
    struct trc_type no_type;
    uintptr_t last_comm, last_type;
    const struct trc_comm *last_comm_is;
    const struct trc_type *last_type_is;
} known;

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 29) * 0x94d049bb133111ebu;
    return x ^ x >> 32;
}

/* ---- communicators ---- */

void trc_group_known(MPI_Group group, int32_t *number, int count)
{
    struct numbered *one = malloc(sizeof *one), **at = &known.groups;
    if (!one)
        return;
    *one = (struct numbered){NULL, group, number, count};
    trc_lock();
    while (*at)
        at = &(*at)->next;
    __atomic_store_n(at, one, __ATOMIC_RELEASE);
    trc_unlock();
}

/* Those members that are in the known group, and not known yet. */
static void members_find(MPI_Group group, int count, const int *own, int *found, int32_t *number,
                         const struct numbered *in)
{
    int missing = 0;
    for (int i = 0; i < count; i++)
        missing += number[i] < 0;
    if (!missing)
        return;
    PMPI_Group_translate_ranks(group, count, own, in->group, found);
    for (int i = 0; i < count; i++)
        if (number[i] < 0 && found[i] >= 0 && found[i] < in->count)
            number[i] = in->number[found[i]];
}

int32_t *trc_group_members(MPI_Group group, int *count)
{
    PMPI_Group_size(group, count);
    int n = *count;
    int *own = malloc(2 * ((size_t)n + 1) * sizeof *own);
    int32_t *number = malloc(((size_t)n + 1) * sizeof *number);
    if (!own || !number) {
        free(own);
        free(number);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        own[i] = i;
        number[i] = -1;
    }
    for (const struct numbered *in = known.groups; n > 0 && in; in = in->next)
        members_find(group, n, own, own + n, number, in);
    free(own);
    return number;
}

static uint64_t members_hash(const int32_t *member, int count)
{
    uint64_t hash = (uint64_t)count;
    for (int i = 0; i < count; i++)
        hash = mix(hash, (uint64_t)(uint32_t)member[i]);
    return hash;
}

/* How many of these two there were before. */
static uint64_t made_before(uint64_t key)
{
    uintptr_t count = trc_map_get(&known.made, (uintptr_t)key);
    trc_map_set(&known.made, (uintptr_t)key, count + 1);
    return count;
}

struct members {
    int32_t *own, *other;
    int size, others;
    int32_t *neighbour; /* in, then out */
    int in, out;
    int32_t *dims;
    int dim_count, topology;
};

static void cart_get(MPI_Comm comm, struct members *m)
{
    int n = 0, *place;
    PMPI_Cartdim_get(comm, &n);
    place = malloc(3 * ((size_t)n + 1) * sizeof *place);
    m->dims = malloc(2 * ((size_t)n + 1) * sizeof *m->dims);
    m->neighbour = malloc(4 * ((size_t)n + 1) * sizeof *m->neighbour);
    if (!place || !m->dims || !m->neighbour) {
        free(place);
        return;
    }
    int *extent = place + n, *periodic = extent + n;
    PMPI_Cart_get(comm, n, extent, periodic, place);
    m->dim_count = 2 * n;
    m->in = m->out = 2 * n;
    for (int i = 0; i < n; i++) {
        int down = MPI_PROC_NULL, up = MPI_PROC_NULL;
        m->dims[2 * i] = extent[i];
        m->dims[2 * i + 1] = periodic[i] != 0;
        PMPI_Cart_shift(comm, i, 1, &down, &up);
        m->neighbour[2 * i] = m->neighbour[2 * n + 2 * i] = down < 0 ? -1 : down;
        m->neighbour[2 * i + 1] = m->neighbour[2 * n + 2 * i + 1] = up < 0 ? -1 : up;
    }
    free(place);
}

static void graph_get(MPI_Comm comm, struct members *m)
{
    int rank, n = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &n);
    m->neighbour = malloc(2 * ((size_t)n + 1) * sizeof *m->neighbour);
    if (!m->neighbour)
        return;
    PMPI_Graph_neighbors(comm, rank, n, m->neighbour);
    memcpy(m->neighbour + n, m->neighbour, (size_t)n * sizeof *m->neighbour);
    m->in = m->out = n;
}

static void dist_graph_get(MPI_Comm comm, struct members *m)
{
    int in = 0, out = 0, weighted, *weight;
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    size_t n = (size_t)(in + out) + 1;
    m->neighbour = malloc(n * sizeof *m->neighbour);
    weight = malloc(n * sizeof *weight);
    if (m->neighbour && weight) {
        PMPI_Dist_graph_neighbors(comm, in, m->neighbour, weight, out, m->neighbour + in, weight + in);
        m->in = in;
        m->out = out;
    }
    free(weight);
}

static void members_get(MPI_Comm comm, bool inter, struct members *m)
{
    MPI_Group group;
    int topology = MPI_UNDEFINED;
    PMPI_Comm_group(comm, &group);
    m->own = trc_group_members(group, &m->size);
    PMPI_Group_free(&group);
    if (inter) {
        PMPI_Comm_remote_group(comm, &group);
        m->other = trc_group_members(group, &m->others);
        PMPI_Group_free(&group);
        return;
    }
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        m->topology = 1;
        cart_get(comm, m);
    } else if (topology == MPI_GRAPH) {
        m->topology = 2;
        graph_get(comm, m);
    } else if (topology == MPI_DIST_GRAPH) {
        m->topology = 3;
        dist_graph_get(comm, m);
    }
}

static void comm_define(const struct trc_comm *comm, uint32_t parent, const struct members *m)
{
    uint8_t *data = malloc(64 + MARS_RANKS_MOST(m->size) + MARS_RANKS_MOST(m->others) +
                           MARS_RANKS_MOST(m->in + m->out) + MARS_RANKS_MOST(m->dim_count)),
            *at;
    if (!data)
        return;
    at = mars_put(data, comm->number);
    mars_store(at, comm->id, 8);
    at = mars_put(at + 8, (comm->inter ? MARS_COMM_INTER : 0) | (unsigned)m->topology << 1);
    at = mars_put(at, parent);
    at = mars_put_signed(at, comm->rank);
    at = mars_ranks_put(at, m->own, (uint32_t)m->size);
    if (comm->inter)
        at = mars_ranks_put(at, m->other, (uint32_t)m->others);
    if (m->topology) {
        at = mars_put(mars_put(at, (uint64_t)m->in), (uint64_t)m->out);
        at = mars_ranks_put(at, m->neighbour, (uint32_t)(m->in + m->out));
        at = mars_ranks_put(at, m->dims, (uint32_t)m->dim_count);
    }
    trc_define(MARS_DEFINE_COMM, data, (size_t)(at - data));
    free(data);
}

static uint64_t id_of(const struct trc_comm *comm, const struct trc_comm *parent, const struct members *m)
{
    uint64_t from = parent ? parent->id : 0, key;
    if (comm->inter) {
        uint64_t other = members_hash(m->other, m->others);
        key = mix(comm->group < other ? comm->group : other, comm->group < other ? other : comm->group);
    } else {
        key = mix(from, comm->group);
    }
    return mix(key, made_before(key));
}

static struct trc_comm *comm_enter(MPI_Comm handle, const struct trc_comm *parent, const struct members *m,
                                   bool inter)
{
    struct trc_comm *comm = (struct trc_comm *)trc_map_get(&known.comm, (uintptr_t)handle);
    if (!comm)
        comm = malloc(sizeof *comm);
    if (!comm)
        return NULL;
    *comm = (struct trc_comm){.number = ++known.comms, .size = (uint32_t)m->size, .inter = inter};
    comm->others = inter ? (uint32_t)m->others : comm->size;
    comm->in = (uint32_t)m->in;
    comm->out = (uint32_t)m->out;
    comm->group = m->own ? members_hash(m->own, m->size) : 0;
    comm->id = id_of(comm, parent, m);
    for (int i = 0; m->own && i < m->size; i++)
        if (m->own[i] == trc.rank)
            comm->rank = i;
    if (m->own && (!inter || m->other))
        comm_define(comm, parent ? parent->number : 0, m);
    trc_map_set(&known.comm, (uintptr_t)handle, (uintptr_t)comm);
    known.last_comm_is = NULL;
    return comm;
}

/* `asked` is of the same tasks as the handle, or the handle itself. */
static const struct trc_comm *comm_add(MPI_Comm handle, MPI_Comm asked, const struct trc_comm *parent)
{
    struct members m = {0};
    int inter = 0;
    if (handle == MPI_COMM_NULL)
        return &known.none;
    PMPI_Comm_test_inter(asked, &inter);
    members_get(asked, inter, &m);
    trc_lock();
    const struct trc_comm *comm = comm_enter(handle, parent, &m, inter);
    trc_unlock();
    free(m.own);
    free(m.other);
    free(m.neighbour);
    free(m.dims);
    return comm ? comm : &known.none;
}

const struct trc_comm *trc_comm_made(MPI_Comm handle, const struct trc_comm *parent)
{
    return comm_add(handle, handle, parent);
}

const struct trc_comm *trc_comm_copied(MPI_Comm handle, MPI_Comm parent)
{
    return comm_add(handle, parent, trc_comm_of(parent));
}

const struct trc_comm *trc_comm_of(MPI_Comm handle)
{
    if (known.last_comm_is && known.last_comm == (uintptr_t)handle)
        return known.last_comm_is;
    if (handle == MPI_COMM_NULL)
        return &known.none;
    trc_lock();
    const struct trc_comm *comm = (const struct trc_comm *)trc_map_get(&known.comm, (uintptr_t)handle);
    trc_unlock();
    if (!comm)
        comm = trc_comm_made(handle, NULL);
    if (!trc.many) {
        known.last_comm = (uintptr_t)handle;
        known.last_comm_is = comm;
    }
    return comm;
}

void trc_comm_freed(MPI_Comm handle)
{
    trc_lock();
    void *comm = (void *)trc_map_get(&known.comm, (uintptr_t)handle);
    if (comm) {
        trc_map_remove(&known.comm, (uintptr_t)handle);
        free(comm);
    }
    known.last_comm_is = NULL;
    trc_request_changes++; /* a probe with this handle is another one from now on */
    trc_unlock();
}

/* ---- datatypes ---- */

/* Numbers of our own: the libraries' differ. 0 is named, 1 ... in the order of the MPI standard. */
static int combiner_of(MPI_Datatype type)
{
    const int combiners[] = {MPI_COMBINER_NAMED,    MPI_COMBINER_DUP,           MPI_COMBINER_CONTIGUOUS,
                             MPI_COMBINER_VECTOR,   MPI_COMBINER_HVECTOR,       MPI_COMBINER_INDEXED,
                             MPI_COMBINER_HINDEXED, MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK,
                             MPI_COMBINER_STRUCT,   MPI_COMBINER_SUBARRAY,      MPI_COMBINER_DARRAY,
                             MPI_COMBINER_F90_REAL, MPI_COMBINER_F90_COMPLEX,   MPI_COMBINER_F90_INTEGER,
                             MPI_COMBINER_RESIZED};
    int integers, addresses, types, combiner = -1;
    if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS)
        for (unsigned i = 0; i < sizeof combiners / sizeof *combiners; i++)
            if (combiners[i] == combiner)
                return (int)i;
    return 63;
}

static void type_define(MPI_Datatype handle, const struct trc_type *type)
{
    uint8_t data[6 * MARS_VARINT_MOST + MPI_MAX_OBJECT_NAME], *at;
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_get_extent(handle, &lower, &extent);
    PMPI_Type_get_name(handle, name, &length);
    at = mars_put(mars_put(data, type->number), type->size);
    at = mars_put_signed(mars_put_signed(at, lower), extent);
    at = mars_put(at, (uint64_t)combiner_of(handle));
    memcpy(at, name, (size_t)length);
    trc_define(MARS_DEFINE_TYPE, data, (size_t)(at + length - data));
}

const struct trc_type *trc_type_of(MPI_Datatype handle)
{
    if (known.last_type_is && known.last_type == (uintptr_t)handle)
        return known.last_type_is;
    if (handle == MPI_DATATYPE_NULL)
        return &known.no_type;
    trc_lock();
    struct trc_type *type = (struct trc_type *)trc_map_get(&known.type, (uintptr_t)handle);
    if (!type && (type = malloc(sizeof *type))) {
        MPI_Count size = 0;
        PMPI_Type_size_x(handle, &size);
        *type = (struct trc_type){++known.types, false, size > 0 ? (uint64_t)size : 0};
        trc_map_set(&known.type, (uintptr_t)handle, (uintptr_t)type);
        type_define(handle, type);
    }
    trc_unlock();
    if (type && !trc.many) {
        known.last_type = (uintptr_t)handle;
        known.last_type_is = type;
    }
    return type ? type : &known.no_type;
}

uint32_t trc_type_viewed(MPI_Datatype handle)
{
    struct trc_type *type = NULL;
    uint32_t number = trc_type_of(handle)->number;
    if (handle == MPI_DATATYPE_NULL)
        return number;
    trc_lock();
    type = (struct trc_type *)trc_map_get(&known.type, (uintptr_t)handle);
    if (type && !type->mapped) {
        type->mapped = true;
        trc_map_define(number, handle);
    }
    trc_unlock();
    return number;
}

void trc_type_freed(MPI_Datatype handle)
{
    trc_lock();
    void *type = (void *)trc_map_get(&known.type, (uintptr_t)handle);
    trc_map_remove(&known.type, (uintptr_t)handle);
    free(type);
    known.last_type_is = NULL;
    trc_unlock();
}

/* ---- operations ---- */

static const char *op_name(MPI_Op op)
{
    const struct {
        MPI_Op op;
        const char *name;
    } names[] = {{MPI_SUM, "MPI_SUM"},         {MPI_MAX, "MPI_MAX"},       {MPI_MIN, "MPI_MIN"},
                 {MPI_PROD, "MPI_PROD"},       {MPI_LAND, "MPI_LAND"},     {MPI_BAND, "MPI_BAND"},
                 {MPI_LOR, "MPI_LOR"},         {MPI_BOR, "MPI_BOR"},       {MPI_LXOR, "MPI_LXOR"},
                 {MPI_BXOR, "MPI_BXOR"},       {MPI_MAXLOC, "MPI_MAXLOC"}, {MPI_MINLOC, "MPI_MINLOC"},
                 {MPI_REPLACE, "MPI_REPLACE"}, {MPI_NO_OP, "MPI_NO_OP"}};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].op == op)
            return names[i].name;
    return NULL;
}

uint32_t trc_op_of(MPI_Op handle)
{
    if (handle == MPI_OP_NULL)
        return 0;
    trc_lock();
    uint32_t number = (uint32_t)trc_map_get(&known.op, (uintptr_t)handle);
    if (!number) {
        uint8_t data[64], *at;
        const char *name = op_name(handle), *text = name ? name : "own";
        int commutes = 1;
        number = ++known.ops;
        trc_map_set(&known.op, (uintptr_t)handle, number);
        if (!name)
            PMPI_Op_commutative(handle, &commutes);
        at = mars_put(mars_put(data, number), (commutes ? MARS_OP_COMMUTES : 0) | (name ? 0 : MARS_OP_OWN));
        memcpy(at, text, strlen(text));
        trc_define(MARS_DEFINE_OP, data, (size_t)(at + strlen(text) - data));
    }
    trc_unlock();
    return number;
}

void trc_op_freed(MPI_Op handle)
{
    trc_lock();
    trc_map_remove(&known.op, (uintptr_t)handle);
    trc_unlock();
}

/* ---- what needs no more than a number ---- */

uint32_t trc_thing_made(enum trc_thing thing, uintptr_t handle)
{
    trc_lock();
    uint32_t number = ++known.things[thing];
    trc_map_set(&known.thing[thing], handle, number);
    trc_unlock();
    return number;
}

uint32_t trc_thing_of(enum trc_thing thing, uintptr_t handle)
{
    trc_lock();
    uint32_t number = (uint32_t)trc_map_get(&known.thing[thing], handle);
    trc_unlock();
    return number ? number : trc_thing_made(thing, handle);
}

void trc_thing_freed(enum trc_thing thing, uintptr_t handle)
{
    trc_lock();
    trc_map_remove(&known.thing[thing], handle);
    trc_unlock();
}

void trc_handles_begin(void)
{
    MPI_Group world;
    int32_t *number = malloc(((size_t)trc.size + 1) * sizeof *number);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; number && i < trc.size; i++)
        number[i] = trc.first + i;
    if (number)
        trc_group_known(world, number, trc.size);
    known.things[TRC_PAGES] = 1; /* of MPI_IN_PLACE */
    trc_comm_made(MPI_COMM_WORLD, NULL);
    trc_comm_made(MPI_COMM_SELF, NULL);
}
