/* waits_found.c - when messages and collectives began and ended, and who waited for whom.
 *
 * A receive waits from when its call began until the send began; a send that is over after its receive was
 * posted, until that; a collective until the last of those began it whom the task waits for. What remains of
 * a call is what it takes by itself.
 *
 * Clocks of tasks differ by some us, or by anything when they ran on several hosts. Where something would
 * have come before what it waits for, the later task's clock is moved on, until there is no such thing: the
 * least shifts that make the order of the trace possible.
 */
#include "tools/marsconv/waits.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 100u /* of moving clocks; clocks that run differently may need no end of them */

struct channel {
    struct cut_channel is;
    struct got {
        int64_t posted, over;
    } * got;
    int64_t *sent;
    size_t sends, send_room, gots, got_room;
    size_t next[2]; /* of CUT_WAITS: received, sent */
};

struct member {
    uint32_t task;
    uint8_t waits_for;
    bool root, left;
    int64_t enter, over;
};

struct collective {
    uint64_t comm, which, sequence;
    struct member *member;
    size_t members, room;
    int64_t last, root; /* when the last member, and the root, entered */
};

struct wait {
    uint64_t number; /* of the record */
    uint32_t thread;
    int64_t ns;
};

struct waits {
    struct ker_table channels, collectives, waits;
    bool time_of_day;
    uint32_t tasks;
    int64_t offset[]; /* by task: what is added to its clock */
};

KER_TABLE_KEY(static, channel_kind, struct channel, is);
KER_TABLE_KEY(static, collective_kind, struct collective, sequence);
KER_TABLE_KEY(static, wait_kind, struct wait, thread);

struct waits *waits_new(uint32_t tasks, bool time_of_day)
{
    struct waits *w = ker_alloc(sizeof *w + tasks * sizeof w->offset[0]);
    w->tasks = tasks;
    w->time_of_day = time_of_day;
    return w;
}

void waits_free(struct waits *w)
{
    for (struct channel *c = NULL; w && (c = ker_table_next(&channel_kind, &w->channels, c));) {
        free(c->got);
        free(c->sent);
    }
    for (struct collective *c = NULL; w && (c = ker_table_next(&collective_kind, &w->collectives, c));)
        free(c->member);
    if (w) {
        ker_table_release(&w->channels);
        ker_table_release(&w->collectives);
        ker_table_release(&w->waits);
    }
    free(w);
}

struct waits_call waits_call_of(const struct waits *w, const struct conv_task *task,
                                const struct conv_record *record, uint64_t at_ns)
{
    int64_t ns = (int64_t)(record->call.duration_ns + record->call.rest_ns);
    int64_t enter = w->time_of_day ? (int64_t)record->over_ns - ns : (int64_t)at_ns;
    return (struct waits_call){task->about->number, record->thread, record->number, enter, enter + ns};
}

/* The call has waited for what was there at `until`. */
static void waited(struct waits *w, const struct waits_call *call, int64_t until)
{
    int64_t ns = until - call->enter, most = call->over - call->enter;
    bool is_new;
    if (ns <= 0)
        return;
    struct wait key = {.number = call->number, .thread = call->thread},
                *wait = ker_table_add(&wait_kind, &w->waits, &key, &is_new);
    if (is_new)
        *wait = key;
    ns = ns < most ? ns : most;
    wait->ns = ns > wait->ns ? ns : wait->ns;
}

/* ---- messages ---- */

static struct channel *channel_of(struct waits *w, const struct cut_channel *is)
{
    bool is_new;
    struct channel *c = ker_table_add(&channel_kind, &w->channels, is, &is_new);
    if (is_new)
        *c = (struct channel){.is = *is};
    return c;
}

/* A time of one task by the clock of the other. */
static int64_t seen(const struct waits *w, uint32_t from, uint32_t by, int64_t at)
{
    return at + w->offset[from] - w->offset[by];
}

size_t waits_message(struct waits *w, enum cut_pass pass, const struct cut_channel *is, bool sends,
                     int64_t begun, const struct waits_call *call)
{
    struct channel *c = channel_of(w, is);
    if (pass == CUT_TIMES) {
        if (sends)
            *KER_PUSH(c->sent, c->sends, c->send_room) = begun;
        else
            *KER_PUSH(c->got, c->gots, c->got_room) = (struct got){begun, call->over};
        return 0;
    }
    size_t number = c->next[sends]++;
    if (!sends && number < c->sends)
        waited(w, call, seen(w, is->from, is->to, c->sent[number]));
    return number;
}

void waits_sent(struct waits *w, enum cut_pass pass, const struct cut_channel *is, size_t number,
                const struct waits_call *call)
{
    if (pass != CUT_WAITS)
        return;
    const struct channel *c = channel_of(w, is);
    int64_t posted = number < c->gots ? seen(w, is->to, is->from, c->got[number].posted) : INT64_MAX;
    if (posted <= call->over) /* else it did not wait for that */
        waited(w, call, posted);
}

/* ---- collectives ---- */

void waits_collective_of(struct waits_collective *c, const struct conv_function *is,
                         const struct mars_comm *comm, const struct mars_record *record)
{
    bool root = mars_number(record, MARS_FIELD_root, -1) == (int64_t)comm->rank;
    c->root = root;
    c->waits_for = WAITS_NOBODY;
    if (comm->inter || task_coll_among_neighbours(is->collective))
        return;
    switch (is->collective) {
    case TASK_COLL_BCAST:
    case TASK_COLL_SCATTER:
    case TASK_COLL_SCATTERV:
        c->waits_for = root ? WAITS_NOBODY : WAITS_ROOT;
        break;
    case TASK_COLL_REDUCE:
    case TASK_COLL_GATHER:
    case TASK_COLL_GATHERV:
        c->waits_for = root ? WAITS_ALL : WAITS_NOBODY;
        break;
    case TASK_COLL_SCAN:
    case TASK_COLL_EXSCAN:
        break;
    default:
        if (strcmp(is->base, "Comm_accept") != 0 && strcmp(is->base, "Comm_connect") != 0)
            c->waits_for = WAITS_ALL;
    }
}

static struct collective *collective_of(struct waits *w, const struct waits_collective *is)
{
    bool is_new;
    struct collective key = {.comm = is->comm, .which = is->which, .sequence = is->sequence},
                      *c = ker_table_add(&collective_kind, &w->collectives, &key, &is_new);
    if (is_new)
        *c = key;
    return c;
}

void waits_enter(struct waits *w, enum cut_pass pass, const struct waits_collective *is,
                 const struct waits_call *call)
{
    if (pass != CUT_TIMES)
        return;
    struct collective *c = collective_of(w, is);
    *KER_PUSH(c->member, c->members, c->room) = (struct member){
        .task = call->task, .waits_for = is->waits_for, .root = is->root, .enter = call->enter};
}

void waits_leave(struct waits *w, enum cut_pass pass, const struct waits_collective *is,
                 const struct waits_call *call)
{
    struct collective *c = collective_of(w, is);
    if (pass == CUT_TIMES) { /* a task enters before it leaves: it is the last member that there is */
        struct member *m = c->members ? &c->member[c->members - 1] : NULL;
        if (m && m->task == call->task) {
            m->left = true;
            m->over = call->over;
        }
    } else if (is->waits_for != WAITS_NOBODY && c->members) {
        waited(w, call, (is->waits_for == WAITS_ALL ? c->last : c->root) - w->offset[call->task]);
    }
}

/* ---- clocks ---- */

static bool moved(struct waits *w, uint32_t task, int64_t over, int64_t waited_for)
{
    if (over + w->offset[task] >= waited_for)
        return false;
    w->offset[task] = waited_for - over;
    return true;
}

static bool channel_align(struct waits *w, const struct channel *c)
{
    bool any = false;
    for (size_t i = 0; i < c->sends && i < c->gots; i++)
        any |= moved(w, c->is.to, c->got[i].over, c->sent[i] + w->offset[c->is.from]);
    return any;
}

static bool collective_align(struct waits *w, struct collective *c)
{
    bool any = false;
    c->last = c->root = INT64_MIN / 4;
    for (size_t i = 0; i < c->members; i++) {
        int64_t enter = c->member[i].enter + w->offset[c->member[i].task];
        c->last = enter > c->last ? enter : c->last;
        c->root = c->member[i].root ? enter : c->root;
    }
    for (size_t i = 0; i < c->members; i++) {
        const struct member *m = &c->member[i];
        if (m->left && m->waits_for != WAITS_NOBODY)
            any |= moved(w, m->task, m->over, m->waits_for == WAITS_ALL ? c->last : c->root);
    }
    return any;
}

/* The shifts are the least ones, whatever the order in which the tables hand out what they have. */
void waits_align(struct waits *w)
{
    bool any = true;
    for (unsigned round = 0; any && round < ROUNDS; round++) {
        any = false;
        for (struct channel *c = NULL; (c = ker_table_next(&channel_kind, &w->channels, c));)
            any |= channel_align(w, c);
        for (struct collective *c = NULL; (c = ker_table_next(&collective_kind, &w->collectives, c));)
            any |= collective_align(w, c);
    }
}

uint64_t waits_of(const struct waits *w, uint32_t thread, uint64_t number)
{
    const struct wait *wait =
        ker_table_find(&wait_kind, &w->waits, &(struct wait){.number = number, .thread = thread});
    return wait ? (uint64_t)wait->ns : 0;
}

void waits_forget(struct waits *w)
{
    ker_table_release(&w->waits);
    w->waits = (struct ker_table){0};
}
