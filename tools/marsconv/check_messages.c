/* check_messages.c - messages that nobody receives, or nobody sends.
 *
 * A channel is the messages of one communicator from one task to another with one tag: as many must be
 * received as are sent, with the same bytes, or with room for them. Receives of which the trace does not say
 * what came, from any source or with any tag, take what is left: first those that fit one source, then those
 * that fit one tag, then the others. MPI matches in order, so what is too much are a channel's last calls.
 */
#include "tools/marsconv/check.h"

#include <stdlib.h>

struct channel {
    uint64_t comm;
    int64_t from, tag;
    uint32_t to; /* the key up to here */
    uint64_t sends, receives, perhaps;
    uint64_t sent, got, room; /* bytes: of sends, of receives that say what came, of others */
    uint64_t unsure;          /* receives that do not say it */
    uint64_t last_send, last_receive;
};

KER_TABLE_KEY(static, kind, struct channel, to);

static struct channel *channel_of(struct check *c, const struct check_message *m)
{
    bool is_new, wild = m->from == CHECK_ANY || m->tag == CHECK_ANY;
    struct channel key = {
        .comm = m->comm ? m->comm : 1, .from = m->from, .tag = m->tag, .to = (uint32_t)m->to};
    if (ker_hash(key.comm ^ (uint64_t)key.to << 32) % c->parts != c->part || c->overflow)
        return NULL;
    struct ker_table *table = wild ? &c->wild : &c->channels;
    if (table->count >= CHECK_CHANNELS && !ker_table_find(&kind, table, &key) && c->parts < UINT32_MAX / 4) {
        c->overflow = true;
        return NULL;
    }
    struct channel *channel = ker_table_add(&kind, table, &key, &is_new);
    if (is_new)
        *channel = key;
    return channel;
}

void check_send(struct check *c, const struct check_message *m, bool taken_back)
{
    struct channel *channel = channel_of(c, m);
    if (!channel)
        return;
    channel->sends += taken_back ? (uint64_t)-1 : 1;
    channel->sent += taken_back ? (uint64_t)0 - m->bytes : m->bytes;
    channel->last_send = m->at;
}

void check_receive(struct check *c, const struct check_message *m, bool perhaps)
{
    struct channel *channel = channel_of(c, m);
    if (!channel)
        return;
    if (perhaps) {
        channel->perhaps++;
        return;
    }
    channel->receives++;
    channel->unsure += !m->certain;
    *(m->certain ? &channel->got : &channel->room) += m->bytes;
    channel->last_receive = m->at;
}

/* ---- the end ---- */

KER_ORDER_BY(channel_compare, struct channel, to, from, comm, tag)

/* Takes up to `count` of receives from any source or with any tag. */
static uint64_t wild_take(struct check *c, const struct channel *channel, bool any_from, bool any_tag,
                          uint64_t count)
{
    struct channel key = *channel;
    key.from = any_from ? CHECK_ANY : key.from;
    key.tag = any_tag ? CHECK_ANY : key.tag;
    struct channel *wild = ker_table_find(&kind, &c->wild, &key);
    if (!wild)
        return count;
    uint64_t taken = wild->receives < count ? wild->receives : count;
    wild->receives -= taken;
    count -= taken;
    taken = wild->perhaps < count ? wild->perhaps : count;
    wild->perhaps -= taken;
    return count - taken;
}

static void sends_check(struct check *c, const struct channel *h)
{
    uint64_t left = h->sends - h->receives;
    left -= h->perhaps < left ? h->perhaps : left;
    left = wild_take(c, h, false, true, left);
    left = wild_take(c, h, true, false, left);
    left = wild_take(c, h, true, true, left);
    if (left)
        check_found(
            c, (uint32_t)h->from, h->last_send,
            "%llu of %llu messages to task %u with tag %lld on communicator %016llx are not received; "
            "this is the last of them",
            (unsigned long long)left, (unsigned long long)h->sends, h->to, (long long)h->tag,
            (unsigned long long)h->comm);
}

static void bytes_check(struct check *c, const struct channel *h)
{
    if (h->unsure == 0 && h->got != h->sent)
        check_found(c, h->to, h->last_receive,
                    "the %llu messages from task %lld with tag %lld on communicator %016llx have %llu bytes "
                    "where they are sent, %llu where they are received; this is the last of them",
                    (unsigned long long)h->receives, (long long)h->from, (long long)h->tag,
                    (unsigned long long)h->comm, (unsigned long long)h->sent, (unsigned long long)h->got);
    else if (h->unsure == h->receives && h->room < h->sent)
        check_found(c, h->to, h->last_receive,
                    "the %llu messages from task %lld with tag %lld on communicator %016llx have %llu bytes, "
                    "and there is room for %llu; this is the last of the receives",
                    (unsigned long long)h->receives, (long long)h->from, (long long)h->tag,
                    (unsigned long long)h->comm, (unsigned long long)h->sent, (unsigned long long)h->room);
}

static void channel_check(struct check *c, const struct channel *h)
{
    if (h->receives > h->sends)
        check_found(c, h->to, h->last_receive,
                    "%llu of %llu receives from task %lld with tag %lld on communicator %016llx have no "
                    "message; this is the last of them",
                    (unsigned long long)(h->receives - h->sends), (unsigned long long)h->receives,
                    (long long)h->from, (long long)h->tag, (unsigned long long)h->comm);
    else if (h->sends > h->receives)
        sends_check(c, h);
    else if (h->receives > 0)
        bytes_check(c, h);
}

static void wild_check(struct check *c, const struct channel *h)
{
    char from[32] = "any source", tag[32] = "any tag";
    if (h->from != CHECK_ANY)
        snprintf(from, sizeof from, "task %lld", (long long)h->from);
    if (h->tag != CHECK_ANY)
        snprintf(tag, sizeof tag, "tag %lld", (long long)h->tag);
    if (h->receives)
        check_found(c, h->to, h->last_receive,
                    "%llu receives from %s with %s on communicator %016llx have no message; this is the last "
                    "of them",
                    (unsigned long long)h->receives, from, tag, (unsigned long long)h->comm);
}

void check_messages_end(struct check *c)
{
    void **all = ker_table_sorted(&kind, &c->channels, channel_compare);
    for (uint32_t i = 0; i < c->channels.count; i++)
        channel_check(c, all[i]);
    free(all);
    all = ker_table_sorted(&kind, &c->wild, channel_compare);
    for (uint32_t i = 0; i < c->wild.count; i++)
        wild_check(c, all[i]);
    free(all);
    ker_table_clear(&kind, &c->channels);
    ker_table_clear(&kind, &c->wild);
}
