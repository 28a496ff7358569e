/* direct.c - messages from node to node that pass beside the network: they take the time that they say.
 *
 * Each is an event to its node, told from those of the carrier by its port. What comes to a node in an
 * instant waits until all of it is there, and is handed up in the order of what it says: the keys of these
 * events are equal, and two that say the same are the same to the service.
 */
#include "kernel/engine/post.h"
#include "nodes/private.h"

#include <stdlib.h>
#include <string.h>

struct direct {
    ker_time time;
    uint32_t component;
    uint16_t port;
    uint8_t channel, flags;
    uint32_t source;
    uint8_t service, unused[3];
    ker_time created;
    uint64_t unused_words[3];
    uint32_t extension, more;
};
_Static_assert(sizeof(struct direct) == sizeof(struct ker_event), "a message is an event");

void node_direct_send(struct node *n, ker_time now, uint32_t service, const struct node_message *m)
{
    struct node_system *system = n->system;
    ker_time due = now + m->delay;
    ker_assert(m->bytes == 0 && m->cookie == 0 && m->envelope && m->delay >= system->model.direct);
    if (m->destination == n->id) {
        struct node_delayed d = {.service = (uint8_t)service,
                                 .queue = NODE_COMES,
                                 .has_envelope = true,
                                 .destination = n->id,
                                 .core = n->id,
                                 .created = now,
                                 .cookie = (uint64_t)now,
                                 .envelope = *m->envelope};
        node_delayed_add(n, due, &d);
        return;
    }
    uint64_t word[KER_EXTENSION_BYTES / 8] = {0};
    memcpy(word, m->envelope->word, sizeof m->envelope->word);
    struct ker_address to = system->carrier.node_at(system->network, m->destination);
    struct direct *d = (struct direct *)ker_post_event(system->engine, to, due, NODE_PORT_DIRECT, 0);
    d->flags = KER_FLAG_EXTENSION;
    d->source = n->id;
    d->service = (uint8_t)service;
    d->created = now;
    d->extension = ker_extension_new(system->engine, word);
}

void node_direct_arrived(struct node *n, const struct ker_event *event)
{
    struct node_system *system = n->system;
    const struct direct *d = (const struct direct *)event;
    uint64_t word[KER_EXTENSION_BYTES / 8];
    struct net_message *m = KER_PUSH(system->fresh, system->fresh_count, system->fresh_room);
    *m = (struct net_message){
        .source = d->source, .destination = n->id, .created = d->created, .service = d->service};
    ker_extension_read(system->engine, d->extension, word);
    ker_extension_free(system->engine, d->extension);
    memcpy(m->envelope.word, word, sizeof m->envelope.word);
}

static int fresh_compare(const void *a, const void *b)
{
    const struct net_message *x = a, *y = b;
    if (x->service != y->service)
        return x->service < y->service ? -1 : 1;
    return memcmp(&x->envelope, &y->envelope, sizeof x->envelope);
}

uint32_t node_direct_sort(struct node_system *system)
{
    uint32_t count = system->fresh_count;
    qsort(system->fresh, count, sizeof *system->fresh, fresh_compare);
    system->fresh_count = 0; /* what is handed up comes to no other node at once */
    return count;
}
