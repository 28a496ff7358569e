/* check_collectives.c - collectives: all tasks of a communicator make the same calls in the same order, with
 * the same root, operation and bytes where MPI wants that.
 *
 * Each task has a digest of its calls on each communicator, which must be that of the others. What tasks send
 * to each other in a call, and receive, is added to two sums over all tasks, which must be equal.
 */
#include "tools/marsconv/check.h"

#include <string.h>

static uint64_t text_digest(const char *text)
{
    uint64_t digest = 0;
    for (; *text; text++)
        digest = ker_hash(digest ^ (unsigned char)*text);
    return digest;
}

static uint64_t list_digest(const struct mars_value *list)
{
    uint64_t digest = list ? list->count : 0;
    for (uint32_t i = 0; list && i < list->count; i++)
        digest = ker_hash(digest ^ (uint64_t)list->list[i]);
    return digest;
}

/* Operations of MPI have the same name everywhere, those of programs need not. */
static uint64_t op_digest(const struct mars_record *r, const struct mars_task *about)
{
    int64_t number = mars_number(r, MARS_FIELD_op, 0);
    const struct mars_op *op = number > 0 && (uint64_t)number < about->ops ? about->op[number] : NULL;
    return !op || op->own ? 0 : text_digest(op->name);
}

struct check_collective check_collective_of(const struct conv_function *is, const struct mars_record *r,
                                            const struct mars_task *about, const struct mars_comm *comm)
{
    struct check_collective c = {is->base, is->request, is->persistent, -1, -1, 0};
    uint64_t list = 0;
    if (!comm->inter) { /* of two groups each has its own arguments */
        c.root = mars_number(r, MARS_FIELD_root, -1);
        if (is->equal == CONV_EQUAL_BYTES)
            c.bytes = mars_number(r, MARS_FIELD_bytes, -1);
        else if (is->equal == CONV_EQUAL_RECVBYTES)
            c.bytes = mars_number(r, MARS_FIELD_recvbytes, -1);
        else if (is->equal == CONV_EQUAL_EACH)
            list = list_digest(mars_list(r, MARS_FIELD_bytes_each));
        else if (is->equal == CONV_EQUAL_RECV_EACH)
            list = list_digest(mars_list(r, MARS_FIELD_recvbytes_each));
        list = ker_hash(list ^ op_digest(r, about));
    }
    c.digest = ker_hash(text_digest(is->base) ^ (uint64_t)is->request << 1 ^ (uint64_t)is->persistent);
    c.digest = ker_hash(c.digest ^ (uint64_t)c.root);
    c.digest = ker_hash(c.digest ^ (uint64_t)c.bytes) ^ list;
    return c;
}

static uint64_t pair_digest(uint64_t sequence, uint64_t from, uint64_t to, int64_t bytes)
{
    return ker_hash(ker_hash(sequence << 32 ^ from) ^ ker_hash(to + 1) ^ (uint64_t)bytes);
}

/* What one task and the root say of each other. */
static void rooted_pairs(const struct mars_record *r, const struct mars_comm *comm, uint64_t sequence,
                         bool gathers, uint64_t *own, uint64_t *all)
{
    enum mars_field mine = gathers ? MARS_FIELD_bytes : MARS_FIELD_recvbytes;
    enum mars_field one = gathers ? MARS_FIELD_recvbytes : MARS_FIELD_bytes;
    const struct mars_value *each = mars_list(r, gathers ? MARS_FIELD_recvbytes_each : MARS_FIELD_bytes_each);
    int64_t root = mars_number(r, MARS_FIELD_root, -1);
    if (root != comm->rank) {
        *own += pair_digest(sequence, (uint64_t)comm->rank, (uint64_t)root, mars_number(r, mine, -1));
        return;
    }
    for (uint32_t i = 0; i < comm->member.count; i++)
        if (i != (uint32_t)root) /* the root's own share need not be sent */
            *all += pair_digest(sequence, i, (uint64_t)root,
                                each && i < each->count ? each->list[i] : mars_number(r, one, -1));
}

/* Over each edge of the topology. Those between the same two tasks are distinguished by nothing: what is sent
 * over them is the same taken together. */
static void edges_pairs(const struct mars_record *r, const struct mars_comm *comm, uint64_t sequence,
                        uint64_t *sent, uint64_t *received)
{
    const struct mars_value *sends = mars_list(r, MARS_FIELD_bytes_each),
                            *receives = mars_list(r, MARS_FIELD_recvbytes_each);
    uint64_t me = (uint64_t)comm->rank;
    for (uint32_t i = 0; i < comm->in + comm->out && i < comm->neighbour.count; i++) {
        int32_t other = mars_rank_at(&comm->neighbour, i);
        bool in = i < comm->in;
        uint32_t at = in ? i : i - comm->in;
        const struct mars_value *each = in ? receives : sends;
        int64_t bytes = each && at < each->count
                            ? each->list[at]
                            : mars_number(r, in ? MARS_FIELD_recvbytes : MARS_FIELD_bytes, -1);
        if (other < 0)
            continue;
        uint64_t digest = pair_digest(sequence, in ? (uint64_t)other : me, in ? me : (uint64_t)other, bytes);
        *(in ? received : sent) += digest;
    }
}

void check_pairs_of(const struct conv_function *is, const struct mars_record *r, const struct mars_comm *comm,
                    uint64_t sequence, uint64_t *sent, uint64_t *received)
{
    const struct mars_value *sends = mars_list(r, MARS_FIELD_bytes_each),
                            *receives = mars_list(r, MARS_FIELD_recvbytes_each);
    if (comm->inter)
        return;
    if (is->equal == CONV_EQUAL_GATHER)
        rooted_pairs(r, comm, sequence, true, sent, received);
    if (is->equal == CONV_EQUAL_SCATTER)
        rooted_pairs(r, comm, sequence, false, received, sent);
    if (is->equal == CONV_EQUAL_NEIGHBOURS)
        edges_pairs(r, comm, sequence, sent, received);
    if (is->equal != CONV_EQUAL_PAIRS || !receives)
        return;
    if (!sends || sends->count == 0) /* in place */
        sends = receives;
    uint64_t me = (uint64_t)comm->rank;
    for (uint32_t i = 0; i < sends->count; i++)
        *sent += pair_digest(sequence, me, i, sends->list[i]);
    for (uint32_t i = 0; i < receives->count; i++)
        *received += pair_digest(sequence, i, me, receives->list[i]);
}

/* What one task's arguments must be among each other. */
static void own_check(struct check *c, const struct conv_task *task, const struct conv_record *record,
                      const struct conv_function *is, const struct mars_comm *comm)
{
    const struct mars_record *r = &record->call;
    uint64_t at = check_at(task, record->number);
    int64_t root = mars_number(r, MARS_FIELD_root, 0), bytes = mars_number(r, MARS_FIELD_bytes, -1);
    int64_t received = mars_number(r, MARS_FIELD_recvbytes, -1);
    static const enum mars_field lists[] = {MARS_FIELD_bytes_each, MARS_FIELD_recvbytes_each};
    bool neighbours = is->equal == CONV_EQUAL_NEIGHBOURS;
    if (comm->inter)
        return;
    if (root < 0 || root >= comm->member.count)
        check_found(c, task->about->number, at, "%s: its root is %lld in a communicator of %u",
                    r->function->name, (long long)root, comm->member.count);
    if (neighbours && comm->topology == MARS_PLAIN)
        check_found(c, task->about->number, at, "%s: its communicator has no topology", r->function->name);
    for (unsigned i = 0; i < 2; i++) {
        const struct mars_value *list = mars_list(r, lists[i]);
        uint32_t wanted = !neighbours ? comm->member.count : i == 0 ? comm->out : comm->in;
        if (list && list->count && list->count != wanted)
            check_found(c, task->about->number, at, "%s: %u counts %s %u", r->function->name, list->count,
                        neighbours ? "for neighbours, of which there are" : "in a communicator of", wanted);
    }
    if (is->equal == CONV_EQUAL_RECVBYTES && bytes >= 0 && received >= 0 && bytes != received)
        check_found(c, task->about->number, at, "%s: %lld bytes are sent to each, and %lld received",
                    r->function->name, (long long)bytes, (long long)received);
}

void check_collective(struct check *c, const struct conv_task *task, const struct conv_record *record,
                      const struct conv_function *is, struct check_sum *sum)
{
    const struct mars_record *r = &record->call;
    const struct mars_comm *comm = task->about->comm[mars_number(r, MARS_FIELD_comm, 0)];
    struct check_collective call = check_collective_of(is, r, task->about, comm);
    own_check(c, task, record, is, comm);
    sum->digest = ker_hash(sum->digest ^ call.digest);
    sum->calls++;
    if (is->equal >= CONV_EQUAL_GATHER) {
        struct check_comm *entry = check_comm_find(c, comm->id);
        if (entry)
            check_pairs_of(is, r, comm, sum->calls, &entry->sent, &entry->received);
    }
}

void check_sums_end(struct check *c, const struct conv_task *task, const struct check_sum *sum,
                    uint32_t comms)
{
    for (uint32_t i = 1; i < comms && i < task->about->comms; i++) {
        if (!task->about->comm[i])
            continue;
        struct check_comm *entry = check_comm_find(c, task->about->comm[i]->id);
        if (!entry)
            continue;
        if (!entry->called) {
            entry->called = true;
            entry->caller = task->about->number;
            entry->calls = sum[i].calls;
            entry->digest = sum[i].digest;
        } else if (entry->digest != sum[i].digest || entry->calls != sum[i].calls) {
            entry->differs = true;
            *KER_PUSH(c->differ, c->differs, c->differ_room) =
                (struct check_differ){entry->id, entry->caller, task->about->number};
        }
    }
}
