/* fortran.c - the arguments of a Fortran call as those of the C call that means the same.
 *
 * Fortran programs call mpi_send_ (mpif.h and `use mpi`) or mpi_send_f08_, which do not call MPI_Send but
 * PMPI_Send, or inside the library. All arguments come by reference, handles are integers, indices count
 * from 1. They are passed on as they are; what is recorded is a C copy, made before the call of what goes in
 * and after it of what comes out.
 */
#include "trc.h"

#include <stdlib.h>
#include <string.h>

#define STATUS_INTS (sizeof(MPI_Status) / sizeof(MPI_Fint))

/* Addresses that have a meaning of their own: names of common blocks and variables. MPI_F_STATUS_IGNORE is
 * one more. */
#ifdef MPICH_VERSION
extern __attribute__((weak)) void *MPIR_F_MPI_IN_PLACE, *MPIR_F_MPI_BOTTOM;
extern __attribute__((weak)) int MPIR_F08_MPI_IN_PLACE, MPIR_F08_MPI_BOTTOM;
#define IN_PLACE &MPIR_F08_MPI_IN_PLACE, &MPIR_F_MPI_IN_PLACE ? MPIR_F_MPI_IN_PLACE : NULL
#define BOTTOM &MPIR_F08_MPI_BOTTOM, &MPIR_F_MPI_BOTTOM ? MPIR_F_MPI_BOTTOM : NULL
#define IGNORE &MPIR_F08_MPI_STATUS_IGNORE_OBJ, &MPIR_F08_MPI_STATUSES_IGNORE_OBJ
#else
extern __attribute__((weak)) int mpi_fortran_in_place_, mpi_fortran_in_place, mpi_fortran_bottom_,
    mpi_fortran_bottom, mpi_fortran_status_ignore_, mpi_fortran_status_ignore, mpi_fortran_statuses_ignore_,
    mpi_fortran_statuses_ignore;
#define IN_PLACE &mpi_fortran_in_place_, &mpi_fortran_in_place
#define BOTTOM &mpi_fortran_bottom_, &mpi_fortran_bottom
#define IGNORE                                                                                               \
    &mpi_fortran_status_ignore_, &mpi_fortran_status_ignore, &mpi_fortran_statuses_ignore_,                  \
        &mpi_fortran_statuses_ignore
#endif

static bool is_one(const void *address, const void *const *meant, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *meant; i++)
        if (meant[i] && address == meant[i])
            return true;
    return false;
}

static intptr_t buffer(const void *address)
{
    const void *const in_place[] = {IN_PLACE}, *const bottom[] = {BOTTOM};
    if (is_one(address, in_place, sizeof in_place))
        return (intptr_t)MPI_IN_PLACE;
    return is_one(address, bottom, sizeof bottom) ? (intptr_t)MPI_BOTTOM : (intptr_t)address;
}

bool trc_fortran_ignored(const void *status)
{
    const void *const ignore[] = {IGNORE, MPI_F_STATUS_IGNORE, MPI_F_STATUSES_IGNORE};
    return is_one(status, ignore, sizeof ignore);
}

/* Memory for one call, given out piece by piece; t->fortran does not move while it lasts. */
struct scratch {
    char *at, *end;
};

static void *piece(struct scratch *scratch, size_t bytes)
{
    char *at = scratch->at;
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > (size_t)(scratch->end - at))
        return NULL;
    scratch->at += bytes;
    return at;
}

static int64_t number(char class, const void *p)
{
    switch (class) {
    case 'a':
        return *(const MPI_Aint *)p;
    case 'o':
        return *(const MPI_Offset *)p;
    case 'c':
        return *(const MPI_Count *)p;
    default:
        return *(const MPI_Fint *)p;
    }
}

/* How much memory the arrays of a call take at most. */
static size_t wanted(const struct trc_function *function, void **p, const struct trc_comm *comm)
{
    size_t bytes = 1024;
    for (unsigned i = 0; i < function->count; i++)
        switch (function->role[i] & 0xff) {
        case TRC_R_nreq:
            bytes += (size_t)(*(MPI_Fint *)p[i] > 0 ? *(MPI_Fint *)p[i] : 0) *
                     (sizeof(MPI_Request) + 2 * sizeof(MPI_Status) + 2 * sizeof(int));
            break;
        case TRC_R_wtypes:
        case TRC_R_rwtypes:
            bytes += comm ? (comm->others + comm->in + comm->out + 2) * sizeof(MPI_Datatype) : 0;
            break;
        case TRC_R_name:
            bytes += (size_t)p[function->count] + 16;
            break;
        default:
            break;
        }
    return bytes;
}

static intptr_t text(struct scratch *scratch, const char *from, size_t length)
{
    while (length > 0 && from[length - 1] == ' ')
        length--;
    char *copy = piece(scratch, length + 1);
    if (!copy)
        return (intptr_t) "";
    memcpy(copy, from, length);
    copy[length] = 0;
    return (intptr_t)copy;
}

static intptr_t types(struct scratch *scratch, const MPI_Fint *from, uint32_t count)
{
    MPI_Datatype *copy = piece(scratch, count * sizeof *copy);
    for (uint32_t i = 0; copy && i < count; i++)
        copy[i] = PMPI_Type_f2c(from[i]);
    return (intptr_t)copy;
}

#define HANDLE(kind, convert)                                                                                \
    {                                                                                                        \
        kind *copy = piece(scratch, sizeof *copy);                                                           \
        *copy = convert(*(MPI_Fint *)p);                                                                     \
        return (intptr_t)copy;                                                                               \
    }

static intptr_t requests(struct scratch *scratch, const MPI_Fint *from, int64_t count)
{
    MPI_Request *copy = piece(scratch, (size_t)(count > 0 ? count : 0) * sizeof *copy);
    for (int64_t i = 0; copy && i < count; i++)
        copy[i] = PMPI_Request_f2c(from[i]);
    return (intptr_t)copy;
}

/* A handle that the call frees, or anything else. */
static intptr_t freed(struct scratch *scratch, unsigned role, char class, void *p)
{
    switch (role & 0xff) {
    case TRC_R_freecomm:
        HANDLE(MPI_Comm, PMPI_Comm_f2c)
    case TRC_R_freetype:
        HANDLE(MPI_Datatype, PMPI_Type_f2c)
    case TRC_R_freeop:
        HANDLE(MPI_Op, PMPI_Op_f2c)
    case TRC_R_freewin:
        HANDLE(MPI_Win, PMPI_Win_f2c)
    case TRC_R_freefile:
        HANDLE(MPI_File, PMPI_File_f2c)
    case TRC_R_msg:
        HANDLE(MPI_Message, PMPI_Message_f2c)
    default:
        return class == 'p' ? (intptr_t)p : (intptr_t)number(class, p);
    }
}

/* An argument that is looked at before the call. */
static intptr_t load(struct scratch *scratch, unsigned role, char class, void *p, int64_t count)
{
    switch (role & 0xff) {
    case TRC_R_none:
        return 0;
    case TRC_R_buf:
    case TRC_R_rbuf:
    case TRC_R_wbase:
        return buffer(p);
    case TRC_R_comm:
    case TRC_R_comm2:
        return (intptr_t)PMPI_Comm_f2c(*(MPI_Fint *)p);
    case TRC_R_type:
    case TRC_R_type1:
    case TRC_R_bothtype:
    case TRC_R_rtype:
    case TRC_R_vtype:
    case TRC_R_rvtype:
    case TRC_R_ttype:
    case TRC_R_etype:
    case TRC_R_ftype:
        return (intptr_t)PMPI_Type_f2c(*(MPI_Fint *)p);
    case TRC_R_info:
        return (intptr_t)PMPI_Info_f2c(*(MPI_Fint *)p);
    case TRC_R_op:
        return (intptr_t)PMPI_Op_f2c(*(MPI_Fint *)p);
    case TRC_R_group:
        return (intptr_t)PMPI_Group_f2c(*(MPI_Fint *)p);
    case TRC_R_win:
        return (intptr_t)PMPI_Win_f2c(*(MPI_Fint *)p);
    case TRC_R_file:
        return (intptr_t)PMPI_File_f2c(*(MPI_Fint *)p);
    case TRC_R_reqval:
        return (intptr_t)PMPI_Request_f2c(*(MPI_Fint *)p);
    case TRC_R_reqref:
    case TRC_R_cancelreq:
    case TRC_R_freereq:
    case TRC_R_startreq:
    case TRC_R_reqio:
        return requests(scratch, p, 1);
    case TRC_R_startreqs:
    case TRC_R_reqs:
        return requests(scratch, p, count);
    default:
        return freed(scratch, role, class, p);
    }
}

static bool is_status(unsigned role)
{
    role &= 0xff;
    return role == TRC_R_status || role == TRC_R_fstatus || role == TRC_R_wstatus || role == TRC_R_statuses ||
           role == TRC_R_iostatus;
}

static void loaded(struct trc_thread *t, unsigned which, void **p, intptr_t *a)
{
    const struct trc_function *function = &trc_function[which];
    const struct trc_comm *comm = NULL;
    int64_t count = 1;
    if (function->comm >= 0 && (function->role[function->comm] & 0xff) == TRC_R_comm)
        comm = trc_comm_of(PMPI_Comm_f2c(*(MPI_Fint *)p[function->comm]));
    size_t bytes = wanted(function, p, comm);
    if (bytes > t->fortran_room)
        t->fortran = trc_grow(t->fortran, &t->fortran_room, bytes);
    struct scratch scratch = {t->fortran, (char *)t->fortran + t->fortran_room};
    for (unsigned i = 0; i < function->count; i++) {
        unsigned role = function->role[i] & 0xff;
        if (role == TRC_R_nreq)
            count = *(MPI_Fint *)p[i];
        if (is_status(role)) { /* the C status, and the Fortran one that the caller did not want */
            size_t n = (size_t)(count > 0 ? count : 0) + 1;
            a[i] = (intptr_t)piece(&scratch, n * sizeof(MPI_Status));
            if (trc_fortran_ignored(p[i]))
                p[i] = piece(&scratch, n * sizeof(MPI_Status));
        } else if (role == TRC_R_wtypes || role == TRC_R_rwtypes) {
            bool receives = role == TRC_R_rwtypes;
            uint32_t n = !comm                              ? 0
                         : function->flags & TRC_NEIGHBOURS ? (receives ? comm->in : comm->out)
                                                            : comm->others;
            bool in_place = !receives && buffer(p[0]) == (intptr_t)MPI_IN_PLACE;
            a[i] = types(&scratch, p[i], in_place ? 0 : n);
        } else if (role == TRC_R_name) {
            a[i] = text(&scratch, p[i], (size_t)p[function->count]);
        } else {
            a[i] = load(&scratch, role, function->classes[i], p[i], count);
        }
    }
    t->fortran_used = (size_t)(scratch.at - (char *)t->fortran);
}

struct trc_thread *trc_fortran_enter(unsigned which, void **p, intptr_t *a)
{
    struct trc_thread *t = trc_enter_from(which, TRC_CALLER);
    if (!t)
        return NULL;
    loaded(t, which, p, a);
    if (trc_function[which].flags & TRC_BEFORE)
        trc_before(t, which, a);
    t->called = trc_wall();
    return t;
}

#define MADE(kind, convert)                                                                                  \
    {                                                                                                        \
        kind *copy = piece(scratch, sizeof *copy);                                                           \
        *copy = convert(*(MPI_Fint *)p);                                                                     \
        return (intptr_t)copy;                                                                               \
    }

/* An argument that the call has set. */
static intptr_t stored(struct scratch *scratch, unsigned role, void *p, intptr_t loaded)
{
    switch (role & 0xff) {
    case TRC_R_req:
    case TRC_R_rreq:
    case TRC_R_preq:
    case TRC_R_prreq:
    case TRC_R_ioreq:
        MADE(MPI_Request, PMPI_Request_f2c)
    case TRC_R_newcomm:
    case TRC_R_inewcomm:
    case TRC_R_parent:
        MADE(MPI_Comm, PMPI_Comm_f2c)
    case TRC_R_newop:
        MADE(MPI_Op, PMPI_Op_f2c)
    case TRC_R_newwin:
        MADE(MPI_Win, PMPI_Win_f2c)
    case TRC_R_newfile:
        MADE(MPI_File, PMPI_File_f2c)
    case TRC_R_newmsg:
        MADE(MPI_Message, PMPI_Message_f2c)
    case TRC_R_index: {
        int *index = piece(scratch, sizeof *index);
        *index = *(MPI_Fint *)p == MPI_UNDEFINED ? MPI_UNDEFINED : *(MPI_Fint *)p - 1;
        return (intptr_t)index;
    }
    default:
        return loaded;
    }
}

/* Which of the statuses have been set: all, or as many as completed. */
static void statuses_convert(const MPI_Fint *from, MPI_Status *to, int count)
{
    for (int i = 0; i < count; i++)
        PMPI_Status_f2c(from + (size_t)i * STATUS_INTS, to + i);
}

static void all_stored(struct trc_thread *t, unsigned which, void **p, intptr_t *a)
{
    const struct trc_function *function = &trc_function[which];
    struct scratch scratch = {(char *)t->fortran + t->fortran_used, (char *)t->fortran + t->fortran_room};
    int completed = 1, count = 1;
    bool found = true;
    for (unsigned i = 0; i < function->count; i++) {
        unsigned role = function->role[i] & 0xff;
        a[i] = stored(&scratch, role, p[i], a[i]);
        if (role == TRC_R_nreq)
            completed = count = *(MPI_Fint *)p[i];
        else if (role == TRC_R_nout)
            completed = *(MPI_Fint *)p[i];
        else if (role == TRC_R_flag)
            found = *(MPI_Fint *)p[i] != 0;
        else if (role == TRC_R_index)
            completed = 1;
        else if (role == TRC_R_indices && completed > 0 && completed <= count) {
            int *indices = piece(&scratch, (size_t)completed * sizeof *indices);
            for (int j = 0; indices && j < completed; j++)
                indices[j] = ((const MPI_Fint *)p[i])[j] - 1;
            a[i] = (intptr_t)indices;
        } else if (is_status(role) && found) {
            statuses_convert(p[i], (MPI_Status *)a[i], completed > count ? 0 : completed);
        }
    }
}

void trc_fortran_leave(struct trc_thread *t, unsigned which, void **p, intptr_t *a, const MPI_Fint *error)
{
    t->returned = trc_wall();
    all_stored(t, which, p, a);
    trc_record(t, which, a, trc_fortran_result(error));
}

void trc_fortran_converted(struct trc_thread *t, unsigned which, intptr_t *a)
{
    void *p[TRC_ARGUMENTS];
    for (unsigned i = 0; i < trc_function[which].count; i++)
        p[i] = (void *)a[i];
    loaded(t, which, p, a);
    all_stored(t, which, p, a);
}
