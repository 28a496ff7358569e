/* record.c - from the arguments of a call to its shape: what is called and with what, as functions.def says.
 *
 * The words of a function are visited in order, and each appends its fields. Addresses, counts and
 * datatypes are remembered until the word that closes their side.
 */
#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void list_put(struct trc_call *c, const int *value, int64_t count)
{
    int64_t last = 0;
    if (!value || count < 0 || !trc_room(c, (uint64_t)count))
        count = 0;
    c->t->at = mars_put(c->t->at, (uint64_t)count);
    for (int64_t i = 0; i < count; last = value[i++])
        trc_put(c, value[i] - last);
}

void trc_text_put(struct trc_call *c, const char *text)
{
    size_t bytes = text ? strlen(text) : 0;
    if (!trc_room(c, bytes / MARS_VARINT_MOST + 1))
        bytes = 0;
    c->t->at = mars_put(c->t->at, bytes);
    memcpy(c->t->at, text ? text : "", bytes);
    c->t->at += bytes;
}

static void group_put(struct trc_call *c, MPI_Group group)
{
    int count = 0;
    int32_t *member = trc_group_members(group, &count);
    list_put(c, member, member ? count : 0);
    free(member);
}

/* The words that remember; some leave a field, too. */
static bool remembered(struct trc_call *c, unsigned role, intptr_t argument)
{
    switch (role & 0xff) {
    case TRC_R_none:
    case TRC_R_nreq:
    case TRC_R_freetype:
    case TRC_R_index:
    case TRC_R_nout:
    case TRC_R_indices:
        return true;
    case TRC_R_buf:
        c->buffer = (const void *)argument;
        return true;
    case TRC_R_rbuf:
        c->rbuffer = (const void *)argument;
        return true;
    case TRC_R_wbase:
        trc_put(c, trc_page_of((const void *)argument));
        return true;
    case TRC_R_n:
        c->n = argument;
        return true;
    case TRC_R_rn:
        c->rn = argument;
        return true;
    case TRC_R_tn:
        c->tn = argument;
        return true;
    case TRC_R_parts:
        trc_put(c, c->parts = argument);
        return true;
    case TRC_R_rparts:
        trc_put(c, c->rparts = argument);
        return true;
    case TRC_R_len:
        c->length = argument;
        return true;
    case TRC_R_ns:
        c->counts = argument;
        c->large = role & TRC_LARGE;
        return true;
    case TRC_R_rns:
        c->rcounts = argument;
        c->rlarge = role & TRC_LARGE;
        return true;
    default:
        return false;
    }
}

/* A file is opened with a pointer at its end. */
static bool appends(intptr_t mode)
{
    return mode & MPI_MODE_APPEND && !(mode & MPI_MODE_SEQUENTIAL);
}

/* Windows and files. */
static bool thing(struct trc_call *c, unsigned role, intptr_t argument)
{
    switch (role & 0xff) {
    case TRC_R_newwin:
        trc_put(c, c->failed ? 0 : trc_thing_made(TRC_WINDOWS, (uintptr_t) * (MPI_Win *)argument));
        return true;
    case TRC_R_win:
        trc_put(c, trc_thing_of(TRC_WINDOWS, (uintptr_t)argument));
        return true;
    case TRC_R_newfile:
        trc_put(c, c->failed ? 0 : trc_thing_made(TRC_FILES, (uintptr_t) * (MPI_File *)argument));
        trc_put(c, !c->failed && appends(c->a[2]) ? trc_file_position(*(MPI_File *)argument) : -1);
        return true;
    case TRC_R_file:
        trc_put(c, trc_thing_of(TRC_FILES, (uintptr_t)argument));
        return true;
    case TRC_R_etype:
        trc_put(c, trc_type_of((MPI_Datatype)argument)->number);
        return true;
    case TRC_R_ftype:
        trc_put(c, trc_type_viewed((MPI_Datatype)argument));
        return true;
    case TRC_R_info:
        trc_hints_put(c, (MPI_Info)argument);
        return true;
    case TRC_R_whence:
        trc_put(c, trc_constant(role, argument));
        trc_put(c, c->function == &trc_function[TRC_File_seek] && !c->failed
                       ? trc_file_position((MPI_File)c->a[0])
                       : -1);
        return true;
    default:
        return false;
    }
}

/* Handles that are given or made. */
static bool handle(struct trc_call *c, unsigned role, intptr_t argument)
{
    switch (role & 0xff) {
    case TRC_R_comm:
        trc_put(c, c->comm->number);
        return true;
    case TRC_R_comm2:
        trc_put(c, trc_comm_of((MPI_Comm)argument)->number);
        return true;
    case TRC_R_newcomm:
        trc_put(c, c->failed ? 0 : trc_comm_made(*(MPI_Comm *)argument, c->comm)->number);
        return true;
    case TRC_R_inewcomm:
        trc_put(c, c->failed
                       ? 0
                       : trc_comm_copied(*(MPI_Comm *)argument, (MPI_Comm)c->a[c->function->comm])->number);
        return true;
    case TRC_R_parent:
        trc_put(c, c->failed ? 0 : trc_comm_of(*(MPI_Comm *)argument)->number);
        return true;
    case TRC_R_freecomm:
    case TRC_R_freeop:
    case TRC_R_freewin:
    case TRC_R_freefile:
    case TRC_R_msg:
        trc_put(c, c->t->numbers_before);
        return true;
    case TRC_R_op:
        trc_put(c, trc_op_of((MPI_Op)argument));
        return true;
    case TRC_R_newop:
        trc_put(c, c->failed ? 0 : trc_op_of(*(MPI_Op *)argument));
        return true;
    case TRC_R_group:
        group_put(c, (MPI_Group)argument);
        return true;
    default:
        return false;
    }
}

static void plain(struct trc_call *c, unsigned role, intptr_t argument)
{
    const struct trc_type *type;
    switch (role & 0xff) {
    case TRC_R_dest:
    case TRC_R_source:
    case TRC_R_target:
    case TRC_R_root:
        trc_put(c, trc_peer((int)argument));
        break;
    case TRC_R_tag:
    case TRC_R_rtag:
        trc_put(c, argument == MPI_ANY_TAG ? -1 : argument);
        break;
    case TRC_R_ttype:
        type = trc_type_of((MPI_Datatype)argument);
        trc_put(c, c->tn * (int64_t)type->size);
        trc_put(c, type->number);
        break;
    case TRC_R_lock:
    case TRC_R_assert:
    case TRC_R_amode:
    case TRC_R_color:
    case TRC_R_splittype:
        trc_put(c, trc_constant(role, argument));
        break;
    case TRC_R_ints:
        list_put(c, (const int *)argument, c->length);
        break;
    case TRC_R_name:
        trc_text_put(c, (const char *)argument);
        break;
    default: /* int, part, lastpart, wsize, wunit, tdisp, offset */
        trc_put(c, argument);
    }
}

static void field(struct trc_call *c, unsigned role, intptr_t argument)
{
    if (remembered(c, role, argument) || trc_completion(c, role, argument) || handle(c, role, argument) ||
        thing(c, role, argument))
        return;
    switch (role & 0xff) {
    case TRC_R_type:
    case TRC_R_type1:
    case TRC_R_bothtype:
    case TRC_R_rtype:
    case TRC_R_vtype:
    case TRC_R_rvtype:
    case TRC_R_wtypes:
    case TRC_R_rwtypes:
        trc_side(c, role, argument);
        break;
    default:
        plain(c, role, argument);
    }
}

static void function_define(unsigned number)
{
    uint8_t data[600], *at = mars_put(data, number);
    char refused[128];
    const char *schema = trc_function[number % TRC_ALL].schema;
    if (number >= TRC_ALL) {
        snprintf(refused, sizeof refused, "%s bytes recvbytes error", trc_function[number % TRC_ALL].name);
        schema = refused;
    }
    size_t bytes = strlen(schema);
    memcpy(at, schema, bytes);
    trc_define(MARS_DEFINE_FUNCTION, data, (size_t)(at + bytes - data));
    trc.defined[number] = true;
}

static int class_of(int result)
{
    int class = MPI_SUCCESS;
    return result != MPI_SUCCESS && PMPI_Error_class(result, &class) == MPI_SUCCESS ? class : result;
}

/* Classes of errors by which a call has done nothing: what it was given means nothing. 0: it may have. */
static int refusal(int class)
{
    static const int classes[] = {MPI_ERR_BUFFER,   MPI_ERR_COUNT, MPI_ERR_TYPE,    MPI_ERR_TAG,
                                  MPI_ERR_COMM,     MPI_ERR_RANK,  MPI_ERR_REQUEST, MPI_ERR_ROOT,
                                  MPI_ERR_GROUP,    MPI_ERR_OP,    MPI_ERR_ARG,     MPI_ERR_DIMS,
                                  MPI_ERR_TOPOLOGY, MPI_ERR_WIN,   MPI_ERR_DISP};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (class == classes[i])
            return class;
    return 0;
}

/* In place of the shape of a call that was refused: its bytes, and why. */
#define LEFT (-1) /* by a jump */
static void shape_refused(struct trc_thread *t, unsigned number, int class)
{
    if (!trc.defined[TRC_ALL + number])
        function_define(TRC_ALL + number);
    t->at = mars_put(t->key, (uint64_t)(TRC_ALL + number) << 1);
    t->at = mars_put_signed(mars_put_signed(t->at, t->sent), t->received);
    t->at = mars_put_signed(t->at, class);
}

static void shape_left(struct trc_thread *t, unsigned number)
{
    struct trc_call c = {.t = t};
    t->at = t->key;
    t->sent = t->received = -1;
    t->nothing = false;
    if (trc_room(&c, 0))
        shape_refused(t, number, LEFT);
}

static void shape_make(struct trc_thread *t, unsigned number, const intptr_t *a, int result)
{
    const struct trc_function *function = &trc_function[number];
    struct trc_call c = {.t = t, .function = function, .a = a, .parts = 1, .rparts = 1, .flag = true};
    int error = number < TRC_IO_FIRST ? class_of(result) : MPI_SUCCESS;
    c.in_status = error == MPI_ERR_IN_STATUS;
    c.truncated = error == MPI_ERR_TRUNCATE; /* the message has come all the same */
    c.failed = error != MPI_SUCCESS && !c.truncated && !c.in_status;
    c.found = c.indices = c.index = -1;
    if (!trc.defined[number])
        function_define(number);
    t->at = t->key;
    t->sent = t->received = -1;
    t->nothing = false;
    if (!trc_room(&c, 0))
        return;
    t->at = mars_put(t->at, (uint64_t)number << 1);
    if (function->comm >= 0 && (function->role[function->comm] & 0xff) == TRC_R_comm)
        c.comm = trc_comm_of((MPI_Comm)a[function->comm]);
    if (function->root >= 0 && c.comm) {
        c.other_group = a[function->root] == MPI_ROOT;
        c.at_root = c.comm->inter ? c.other_group : a[function->root] == c.comm->rank;
    }
    for (unsigned i = 0; i < function->count; i++) {
        unsigned role = function->role[i] & 0xff;
        if (role == TRC_R_index)
            c.index = c.found = (int)i;
        else if (role == TRC_R_nout)
            c.found = (int)i;
        else if (role == TRC_R_indices)
            c.indices = (int)i;
    }
    for (unsigned i = 0; i < function->count; i++)
        field(&c, function->role[i], a[i]);
    int class = c.failed ? refusal(error) : 0;
    if (class)
        shape_refused(t, number, class);
}

/* ---- and what becomes of it ---- */

/* Polls are kept back until something else is called; those of one shape become one. What the thread did not
 * run between them was spent in waiting. */
static void poll_add(struct trc_thread *t, struct trc_poll *poll, const struct mars_times *times)
{
    poll->polls.count++;
    poll->polls.rest += times->gap - times->away;
    poll->returned = t->returned;
    poll->times.duration += times->duration;
    poll->away += times->away;
    for (unsigned j = 0; j < trc_counters; j++)
        poll->counted[j] += times->counted[j];
}

static bool poll_keep(struct trc_thread *t, unsigned number, size_t bytes, const struct mars_times *times)
{
    struct trc_poll *poll = t->poll;
    uint32_t i = 0;
    while (i < t->polls && (poll[i].bytes != bytes || memcmp(poll[i].shape, t->key, bytes) != 0))
        i++;
    if (i == TRC_POLL_SHAPES)
        return false;
    poll += i;
    if (i < t->polls) {
        poll_add(t, poll, times);
        trc_test_known(t, poll);
        trc_light_allow(t, poll, times);
        return true;
    }
    if (bytes > poll->room)
        poll->shape = trc_grow(poll->shape, &poll->room, bytes);
    if (bytes > poll->room)
        return false;
    memcpy(poll->shape, t->key, bytes);
    poll->bytes = bytes;
    poll->times = *times;
    poll->returned = t->returned;
    memcpy(poll->counted, times->counted, sizeof poll->counted);
    poll->times.counted = poll->counted;
    poll->polls = (struct mars_polls){1, 0};
    poll->away = 0;
    memset(&poll->quick, 0, sizeof poll->quick);
    poll->asked.way = TRC_WAYS;
    poll->asked.function = number;
    poll->asked.untimed = 0;
    trc_test_known(t, poll);
    t->polls++;
    return true;
}

/* When the record that is being written was over, less what was between its polls: so its end is right. */
static __thread int64_t over;

static uint64_t time_of_day(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - (uint64_t)(trc_wall() - over);
}

static uint64_t own_of(struct trc_thread *t, int64_t end, const struct mars_times *times, uint64_t rest)
{
    if (trc.thread_count < 2)
        return 0;
    return trc_thread_own(t, end, times->gap + times->duration + rest);
}

void trc_polls_write(struct trc_thread *t)
{
    for (uint32_t i = 0; i < t->polls; i++) {
        struct trc_poll *poll = &t->poll[i];
        poll->shape[0] |= poll->polls.count > 1;
        poll->times.duration += poll->away;
        over = poll->returned - (int64_t)poll->polls.rest;
        poll->times.own = own_of(t, poll->returned, &poll->times, poll->polls.rest);
        mars_writer_call(t->writer, poll->shape, poll->bytes, &poll->times,
                         poll->polls.count > 1 ? &poll->polls : NULL, time_of_day);
    }
    t->polls = 0;
}

/* Processors' counters agree up to some ns only. */
static uint64_t time_between(int64_t from, int64_t to)
{
    return to > from ? (uint64_t)(to - from) : 0;
}

/* The end of a call that is one more of a poll. Tests are no calls by which regions begin or end. */
static void again_keep(struct trc_thread *t, unsigned number, struct trc_poll *again)
{
    uint64_t gap = time_between(t->back, t->enter);
    struct mars_times times = {.gap = gap,
                               .away = t->away < gap ? t->away : gap,
                               .duration = time_between(t->called, t->returned),
                               .counted = t->counted};
    t->sum[number].calls++;
    t->sum[number].ns += times.duration;
    poll_add(t, again, &times);
    trc_light_allow(t, again, &times);
    t->tests = false;
    trc_clock_back(t);
    t->inside = false;
}

static bool again_kept(struct trc_thread *t, unsigned number, const intptr_t *a, int result)
{
    struct trc_poll *again = t->tests ? trc_test_again(t, number, a, result) : NULL;
    if (again)
        again_keep(t, number, again);
    return again;
}

/* Into the trace, and the sums. */
static void keep(struct trc_thread *t, unsigned number, struct mars_times *times)
{
    struct trc_sum *sum = &t->sum[number];
    sum->calls++;
    sum->ns += times->duration;
    size_t bytes = (size_t)(t->at - t->key);
    sum->bytes += (uint64_t)(t->sent >= 0 ? t->sent : t->received >= 0 ? t->received : 0);
    /* A look at the time between polls is a part of polling. */
    if ((t->nothing || (number == TRC_Wtime && t->polls)) && poll_keep(t, number, bytes, times))
        return;
    if (t->polls)
        trc_polls_write(t);
    over = t->returned;
    times->own = own_of(t, over, times, 0);
    mars_writer_call(t->writer, t->key, bytes, times, NULL, time_of_day);
}

/* a NULL: the call was left by a jump. */
static __attribute__((noinline)) void record(struct trc_thread *t, unsigned number, const intptr_t *a,
                                             int result)
{
    struct mars_times times = {
        .gap = time_between(t->back, t->enter), .away = t->away, .counted = t->counted};
    t->recording = true;
    if (a)
        shape_make(t, number, a, result);
    else
        shape_left(t, number);
    times.duration = time_between(t->called, t->returned);
    if (trc.muted) { /* if it is the first of the region */
        times.gap = times.away = 0;
        memset(t->counted, 0, sizeof t->counted);
    }
    if (number >= TRC_IO_FIRST)
        t->sent = t->io_bytes;
    if (a)
        trc_region_passed(number, a);
    if (!trc.muted)
        keep(t, number, &times);
    if (a)
        trc_region_left(number, a);
    t->tests = false;
    trc_clock_back(t);
    t->inside = t->recording = false;
}

void trc_record_left(struct trc_thread *t)
{
    t->returned = trc_wall();
    for (uint32_t i = t->numbers; i-- > 0;)
        trc_request_give(t->number[i]);
    t->numbers = 0;
    record(t, t->function, NULL, MPI_SUCCESS);
}

void trc_after(struct trc_thread *t, unsigned number, const intptr_t *a, int result)
{
    t->returned = trc_wall();
    if (!again_kept(t, number, a, result))
        record(t, number, a, result);
}

void trc_record(struct trc_thread *t, unsigned number, const intptr_t *a, int result)
{
    if (!again_kept(t, number, a, result))
        record(t, number, a, result);
}
