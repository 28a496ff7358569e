/* sides.c - the send side and the receive side of a call: bytes with datatypes resolved.
 *
 * What means nothing here (away from the root, MPI_IN_PLACE) is not looked at, since programs may pass
 * anything there.
 */
#include "call.h"

int64_t trc_page_of(const void *address)
{
    if (!address)
        return 0;
    if (address == MPI_IN_PLACE)
        return 1;
    return trc_thing_of(TRC_PAGES, (uintptr_t)address >> 12);
}

static void side_put(struct trc_call *c, int64_t bytes, int64_t type, int64_t page)
{
    trc_put(c, bytes);
    trc_put(c, type);
    trc_put(c, page);
}

static void send_side(struct trc_call *c, MPI_Datatype handle, int64_t count)
{
    if (c->buffer == MPI_IN_PLACE && c->function->flags & TRC_TWO_SIDES) {
        side_put(c, -1, 0, 1);
        return;
    }
    const struct trc_type *type = trc_type_of(handle);
    int64_t bytes = count * (int64_t)type->size;
    c->t->sent = (c->t->sent > 0 ? c->t->sent : 0) + bytes;
    side_put(c, bytes, type->number, trc_page_of(c->buffer));
}

static void receive_side(struct trc_call *c, MPI_Datatype handle, int64_t count)
{
    if (c->rbuffer == MPI_IN_PLACE) {
        side_put(c, -1, 0, 1);
        return;
    }
    const struct trc_type *type = trc_type_of(handle);
    int64_t bytes = count * (int64_t)type->size;
    c->t->received = (c->t->received > 0 ? c->t->received : 0) + bytes;
    side_put(c, bytes, type->number, trc_page_of(c->rbuffer));
}

/* How many counts there are on a side. */
static int64_t counts_of(const struct trc_call *c, bool receives)
{
    if (!c->comm)
        return 0;
    if (c->function->flags & TRC_NEIGHBOURS)
        return receives ? c->comm->in : c->comm->out;
    return c->function->flags & TRC_REDUCES ? c->comm->size : c->comm->others;
}

/* The bytes for each task, of one datatype or one for each (types not 0). */
static void each(struct trc_call *c, bool receives, intptr_t counts, bool large, MPI_Datatype one,
                 intptr_t types)
{
    int64_t count = counts_of(c, receives), last = 0, sum = 0, *total;
    if (!trc_room(c, (uint64_t)count + 1))
        count = 0;
    c->t->at = mars_put(c->t->at, (uint64_t)count);
    const struct trc_type *type = types ? NULL : trc_type_of(one);
    for (int64_t i = 0; i < count; i++) {
        int64_t n = large ? ((const MPI_Count *)counts)[i] : ((const int *)counts)[i];
        if (types)
            type = n ? trc_type_of(((const MPI_Datatype *)types)[i]) : NULL;
        int64_t bytes = type ? n * (int64_t)type->size : 0;
        trc_put(c, bytes - last);
        last = bytes;
        sum += bytes;
    }
    total = receives ? &c->t->received : &c->t->sent;
    if (count > 0)
        *total = (*total > 0 ? *total : 0) + sum;
    if (!types)
        trc_put(c, type->number);
    trc_put(c, trc_page_of(receives ? c->rbuffer : c->buffer));
}

static void each_none(struct trc_call *c, bool in_place, bool types)
{
    c->t->at = mars_put(c->t->at, 0);
    if (!types)
        trc_put(c, 0);
    trc_put(c, in_place);
}

static bool means_nothing(const struct trc_call *c, unsigned role)
{
    if (c->comm && c->comm->inter && c->function->root >= 0 && c->a[c->function->root] == MPI_PROC_NULL)
        return true;
    return (role & TRC_ROOT_ONLY && !c->at_root) || (role & TRC_NOT_ROOT && c->other_group);
}

void trc_side(struct trc_call *c, unsigned role, intptr_t argument)
{
    bool none = means_nothing(c, role), in_place = c->buffer == MPI_IN_PLACE;
    switch (role & 0xff) {
    case TRC_R_type:
        if (none)
            side_put(c, -1, 0, 0);
        else
            send_side(c, (MPI_Datatype)argument, c->n * c->parts);
        break;
    case TRC_R_type1:
        send_side(c, (MPI_Datatype)argument, 1);
        break;
    case TRC_R_bothtype:
        c->rbuffer = c->buffer;
        send_side(c, (MPI_Datatype)argument, c->n);
        receive_side(c, (MPI_Datatype)argument, c->n);
        break;
    case TRC_R_rtype:
        if (none)
            side_put(c, -1, 0, 0);
        else
            receive_side(c, (MPI_Datatype)argument, c->rn * c->rparts);
        break;
    case TRC_R_vtype:
    case TRC_R_wtypes:
        in_place = in_place && c->function->flags & TRC_TWO_SIDES;
        if (none || in_place)
            each_none(c, in_place, (role & 0xff) == TRC_R_wtypes);
        else
            each(c, false, c->counts, c->large, (MPI_Datatype)argument,
                 (role & 0xff) == TRC_R_wtypes ? argument : 0);
        break;
    default: /* rvtype, rwtypes */
        if (none)
            each_none(c, false, (role & 0xff) == TRC_R_rwtypes);
        else
            each(c, true, c->rcounts, c->rlarge, (MPI_Datatype)argument,
                 (role & 0xff) == TRC_R_rwtypes ? argument : 0);
    }
}
