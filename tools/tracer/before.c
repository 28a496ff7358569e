/* before.c - what has to be looked at before a call, since the call changes it: requests that it may
 * complete, handles that it frees; and statuses for callers that want none. */
#include "trc.h"

void trc_requests_take(struct trc_thread *t, const MPI_Request *request, int count)
{
    t->numbers = 0;
    if (count <= 0)
        return;
    if ((size_t)count * sizeof *t->number > t->number_room)
        t->number = trc_grow(t->number, &t->number_room, (size_t)count * sizeof *t->number);
    if (t->number_room < (size_t)count * sizeof *t->number)
        return;
    for (int i = 0; i < count; i++)
        t->number[i] = trc_request_take(request[i]);
    t->numbers = (uint32_t)count;
}

MPI_Status *trc_statuses(struct trc_thread *t, int count)
{
    size_t bytes = ((size_t)(count > 0 ? count : 0) + 1) * sizeof *t->status;
    if (bytes > t->status_room)
        t->status = trc_grow(t->status, &t->status_room, bytes);
    return t->status;
}

/* Handles that the call frees: their numbers, while they mean something. */
static void freed(struct trc_thread *t, unsigned role, intptr_t argument)
{
    switch (role & 0xff) {
    case TRC_R_freecomm:
        t->numbers_before = trc_comm_of(*(MPI_Comm *)argument)->number;
        trc_comm_freed(*(MPI_Comm *)argument);
        break;
    case TRC_R_freetype:
        trc_type_freed(*(MPI_Datatype *)argument);
        break;
    case TRC_R_freeop:
        t->numbers_before = trc_op_of(*(MPI_Op *)argument);
        trc_op_freed(*(MPI_Op *)argument);
        break;
    case TRC_R_freewin:
        t->numbers_before = trc_thing_of(TRC_WINDOWS, (uintptr_t) * (MPI_Win *)argument);
        trc_thing_freed(TRC_WINDOWS, (uintptr_t) * (MPI_Win *)argument);
        break;
    case TRC_R_freefile:
        t->numbers_before = trc_thing_of(TRC_FILES, (uintptr_t) * (MPI_File *)argument);
        trc_thing_freed(TRC_FILES, (uintptr_t) * (MPI_File *)argument);
        break;
    case TRC_R_msg:
        t->numbers_before = trc_thing_of(TRC_MESSAGES, (uintptr_t) * (MPI_Message *)argument);
        trc_thing_freed(TRC_MESSAGES, (uintptr_t) * (MPI_Message *)argument);
        break;
    default:
        break;
    }
}

void trc_before(struct trc_thread *t, unsigned number, intptr_t *a)
{
    const struct trc_function *function = &trc_function[number];
    int count = 1;
    if (function->flags & TRC_TESTS && trc_test_begin(t, number, a))
        return; /* so little that it may count as the call's */
    for (unsigned i = 0; i < function->count; i++)
        switch (function->role[i] & 0xff) {
        case TRC_R_nreq:
            count = (int)a[i];
            break;
        case TRC_R_reqio:
        case TRC_R_reqs:
        case TRC_R_startreq:
        case TRC_R_startreqs:
            trc_requests_take(t, (const MPI_Request *)a[i], count);
            break;
        case TRC_R_cancelreq:
        case TRC_R_freereq:
            trc_requests_take(t, (const MPI_Request *)a[i], 1);
            break;
        case TRC_R_status:
        case TRC_R_fstatus:
        case TRC_R_wstatus:
        case TRC_R_iostatus:
            if ((MPI_Status *)a[i] == MPI_STATUS_IGNORE)
                a[i] = (intptr_t)trc_statuses(t, 1);
            break;
        case TRC_R_statuses:
            if ((MPI_Status *)a[i] == MPI_STATUSES_IGNORE)
                a[i] = (intptr_t)trc_statuses(t, count);
            break;
        default:
            break;
        }
    for (unsigned i = 0; i < function->count; i++)
        freed(t, function->role[i], a[i]);
    t->called = trc_wall();
}
