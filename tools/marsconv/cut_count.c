/* cut_count.c - what comes before the part and what is inside, in each channel and on each communicator; what
 * both sides, or all tasks, have inside is kept.
 */
#include "tools/marsconv/cut.h"

struct channel {
    struct cut_channel key;
    uint64_t sent[2], received[2];      /* before, inside */
    uint64_t sends_seen, receives_seen; /* inside, while it is decided */
};

uint64_t cut_channel_hash(const void *key)
{
    const struct cut_channel *c = key;
    return ker_hash(c->comm ^ ker_hash((uint64_t)c->from << 32 ^ c->to) ^ (uint64_t)c->tag << 7);
}

bool cut_channel_same(const void *entry, const void *key)
{
    const struct cut_channel *a = entry, *b = key;
    return a->comm == b->comm && a->from == b->from && a->to == b->to && a->tag == b->tag;
}

static const struct ker_table_kind channel_kind = {sizeof(struct channel), cut_channel_hash,
                                                   cut_channel_same};

static struct channel *channel_of(struct cut *cut, const struct cut_channel *key)
{
    bool is_new;
    struct channel *c = ker_table_add(&channel_kind, &cut->channels, key, &is_new);
    if (is_new)
        c->key = *key;
    return c;
}

void cut_message_count(struct cut *cut, const struct cut_channel *key, bool sends, enum cut_place place)
{
    struct channel *c = place != CUT_AFTER ? channel_of(cut, key) : NULL;
    if (c)
        ++*(sends ? &c->sent[place] : &c->received[place]);
}

bool cut_message_kept(struct cut *cut, const struct cut_channel *key, bool sends)
{
    struct channel *c = channel_of(cut, key);
    uint64_t number = sends ? c->sent[0] + c->sends_seen++ : c->received[0] + c->receives_seen++;
    return number >= c->sent[0] && number >= c->received[0] && number < c->sent[0] + c->sent[1] &&
           number < c->received[0] + c->received[1];
}

bool cut_message_next(const struct cut *cut, const struct cut_channel *key)
{
    const struct channel *c = ker_table_find(&channel_kind, &cut->channels, key);
    uint64_t number = c ? c->received[0] + c->receives_seen : 0;
    return c && number >= c->sent[0] && number < c->sent[0] + c->sent[1] &&
           number < c->received[0] + c->received[1];
}

/* ---- collectives ---- */

struct comm { /* the range of its collectives that all make inside */
    uint64_t id, which, low, high;
};

static uint64_t comm_hash(const void *key)
{
    const struct comm *c = key;
    return ker_hash(c->id ^ ker_hash(c->which));
}

static bool comm_same(const void *entry, const void *key)
{
    const struct comm *a = entry, *b = key;
    return a->id == b->id && a->which == b->which;
}

static const struct ker_table_kind comm_kind = {sizeof(struct comm), comm_hash, comm_same};

void cut_collectives_tell(struct cut *cut, uint64_t id, uint64_t which, uint64_t before, uint64_t inside)
{
    bool is_new;
    struct comm key = {.id = id, .which = which, .low = before, .high = before + inside};
    struct comm *comm = ker_table_add(&comm_kind, &cut->comms, &key, &is_new);
    if (is_new)
        *comm = key;
    comm->low = key.low > comm->low ? key.low : comm->low;
    comm->high = key.high < comm->high ? key.high : comm->high;
}

bool cut_collective(const struct cut *cut, uint64_t id, uint64_t which, uint64_t sequence, bool creates)
{
    const struct comm *comm =
        ker_table_find(&comm_kind, &cut->comms, &(struct comm){.id = id, .which = which});
    if (!cut->by_time)
        return true;
    return comm && sequence < comm->high && (creates || sequence >= comm->low);
}

void cut_release(struct cut *cut)
{
    ker_table_release(&cut->channels);
    ker_table_release(&cut->comms);
}
