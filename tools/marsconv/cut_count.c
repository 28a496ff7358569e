/* cut_count.c - what comes before the part and what is inside, in each channel and on each communicator; what
 * both sides, or all tasks, have inside is kept.
 */
#include "tools/marsconv/cut.h"

struct channel {
    struct cut_channel key;
    uint64_t sent[2], received[2];      /* before, inside */
    uint64_t sends_seen, receives_seen; /* inside, while it is decided */
};

KER_TABLE_KEY(static, channel_kind, struct channel, key);

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

KER_TABLE_KEY(static, comm_kind, struct comm, which);

void cut_collectives_add(struct cut *cut, uint64_t id, uint64_t which, uint64_t before, uint64_t inside)
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
