/* scan.c - what a file says about communicators: the calls that make and free them, and between two of these
 * the first use of each handle. That is all that is needed to know which handle is which communicator. It
 * also counts messages per peer and digests the collectives, so that files that do not belong together are
 * found before the run (match.c).
 */
#include "traces/allprof/allprof.h"

#include "traces/numbered.h"

#include <stdlib.h>
#include <string.h>

/* Returns the place of the group, after adding it when it is new. */
static uint32_t seen_find(struct allprof_seen *seen, const struct allprof_group *group, bool *is_new)
{
    *is_new = false;
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct allprof_group *known = &seen->group[i];
        if (known->handle != group->handle || known->rank != group->rank || known->size != group->size)
            continue;
        if (i > 0) { /* frequent ones move to the front */
            struct allprof_group other = seen->group[i - 1];
            uint32_t mark = seen->mark[i];
            seen->group[i - 1] = *group;
            seen->group[i] = other;
            seen->mark[i] = seen->mark[i - 1];
            seen->mark[i - 1] = mark;
            return i - 1;
        }
        return i;
    }
    uint32_t mark_room = seen->room;
    KER_RESERVE(seen->group, seen->room, seen->count + (size_t)1);
    KER_RESERVE(seen->mark, mark_room, seen->room);
    ker_assert(seen->mark);
    *is_new = true;
    seen->group[seen->count] = *group;
    seen->mark[seen->count] = 0;
    return seen->count++;
}

static struct allprof_event *event_add(struct allprof_events *events, unsigned kind, uint32_t line)
{
    struct allprof_event *event = KER_PUSH(events->event, events->count, events->room);
    memset(event, 0, sizeof *event);
    event->kind = (uint8_t)kind;
    event->line = line;
    event->comm = -1;
    return event;
}

static const struct ker_table_kind tally_places = KER_TABLE_U64(struct allprof_tally_place); /* event, peer */

static struct allprof_tally *tally_find(struct allprof_tallies *tallies, uint32_t event, int32_t peer)
{
    bool is_new;
    struct allprof_tally_place key = {event + 1, (uint32_t)peer, (uint32_t)tallies->count};
    struct allprof_tally_place *place = ker_table_add(&tally_places, &tallies->places, &key, &is_new);
    if (is_new) {
        *place = key;
        *KER_PUSH(tallies->entry, tallies->count, tallies->room) =
            (struct allprof_tally){.event = event, .peer = peer};
    }
    return &tallies->entry[place->index];
}

static void traffic_add(struct allprof_traffic *a, const struct allprof_traffic *b)
{
    a->count += b->count;
    a->bytes += b->bytes;
    a->tags += b->tags;
    a->exact += b->exact;
}

void allprof_tally_add(struct allprof_tally *a, const struct allprof_tally *b)
{
    traffic_add(&a->send, &b->send);
    traffic_add(&a->receive, &b->receive);
    traffic_add(&a->given_up, &b->given_up);
    a->any_tag += b->any_tag;
    a->line = b->line > a->line ? b->line : a->line;
}

KER_ORDER_BY(tally_compare, struct allprof_tally, event, peer)

/* By event and peer, and each USE learns where its own lie. */
static void tallies_sort(struct allprof_tallies *tallies, struct allprof_events *events)
{
    if (tallies->count)
        qsort(tallies->entry, tallies->count, sizeof *tallies->entry, tally_compare);
    for (size_t i = 0; i < tallies->count; i++) {
        struct allprof_event *use = &events->event[tallies->entry[i].event];
        if (use->tallies++ == 0)
            use->tally = (uint32_t)i;
    }
}

static uint64_t hash(uint64_t value)
{
    value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93u;
    value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93u;
    return value ^ (value >> 32);
}

/* One half of a call: a message to or from `value`, one of MPI_Send_init and the like when it is started. */
static void message_count(struct allprof_scan *s, uint32_t event, const struct allprof_args *args,
                          bool second, bool receive, uint32_t line)
{
    int32_t peer = allprof_rank(s->rules, second ? args->peer2 : args->peer, args->group.size);
    int64_t tag = second ? args->tag2 : args->tag;
    bool first_bytes = !second || args->call->mode == 1; /* Sendrecv_replace has one buffer */
    uint64_t bytes = 0;
    if (peer == TASK_PROC_NULL || peer == INT32_MIN ||
        !allprof_bytes(first_bytes ? args->count : args->count2, first_bytes ? args->size : args->size2,
                       &bytes))
        return; /* refused later, when it is bad */
    uint64_t tags = hash((uint64_t)tag + 1);
    struct allprof_tally *tally = tally_find(&s->tallies, event, peer);
    s->count = (struct allprof_count){.tally = (uint32_t)(tally - s->tallies.entry) + 1,
                                      .receive = receive,
                                      .any_tag = receive && tag < 0,
                                      .bytes = bytes,
                                      .tags = tags,
                                      .exact = hash(tags ^ bytes)};
    if (args->call->kind != ALLPROF_SEND_INIT && args->call->kind != ALLPROF_RECV_INIT)
        allprof_count_again(&s->tallies, &s->count, line);
}

static void collective_count(struct allprof_event *use, const struct allprof_args *args)
{
    uint64_t what = args->call->mode * 65599u + (uint64_t)args->peer + 1, bytes = 0;
    int which = allprof_bytes_which(args);
    use->collectives++;
    use->digest = use->digest * ALLPROF_DIGEST_BASE + what;
    if (which && !strpbrk(args->call->layout, "lL")) /* those with lists differ from task to task */
        allprof_bytes(which == 2 ? args->count2 : args->count, which == 2 ? args->size2 : args->size, &bytes);
    uint64_t reduction =
        args->reduction >= 0 && args->reduction < 256 ? (uint64_t)args->reduction : 256; /* 256: an address */
    use->exact = use->exact * ALLPROF_DIGEST_BASE + hash(hash(what ^ (reduction << 48)) ^ bytes);
}

static void use_count(struct allprof_scan *s, uint32_t event, const struct allprof_args *args, uint32_t line)
{
    struct allprof_event *use = &s->events.event[event];
    switch (args->call->kind) {
    case ALLPROF_COLLECTIVE:
        collective_count(use, args);
        break;
    case ALLPROF_SEND:
    case ALLPROF_ISEND:
    case ALLPROF_SEND_INIT:
        message_count(s, event, args, false, false, line);
        break;
    case ALLPROF_RECV:
    case ALLPROF_IRECV:
    case ALLPROF_RECV_INIT:
        message_count(s, event, args, false, true, line);
        break;
    case ALLPROF_SENDRECV:
        message_count(s, event, args, false, false, line);
        message_count(s, event, args, true, true, line);
        break;
    default:
        break;
    }
}

uint32_t allprof_scan_line(struct allprof_scan *s, const struct allprof_args *args, uint32_t line)
{
    unsigned kind = args->call->kind;
    s->count.tally = 0;
    if (kind == ALLPROF_COMM_NEW || kind == ALLPROF_COMM_FREE) {
        bool is_free = kind == ALLPROF_COMM_FREE;
        struct allprof_event *event =
            event_add(&s->events, is_free ? ALLPROF_EVENT_FREE : ALLPROF_EVENT_NEW, line);
        event->variable = args->variable;
        event->group = args->group;
        event->colour = args->colour;
        event->key = args->key;
        event->create = args->call->mode;
        s->seen.count = 0;
        return (uint32_t)(s->events.count - 1);
    }
    if (!args->has_group)
        return 0;
    bool is_new;
    uint32_t place = seen_find(&s->seen, &args->group, &is_new);
    if (is_new) {
        event_add(&s->events, ALLPROF_EVENT_USE, line)->group = args->group;
        s->seen.mark[place] = (uint32_t)(s->events.count - 1);
    }
    use_count(s, s->seen.mark[place], args, line);
    return s->seen.mark[place];
}

void allprof_tallies_release(struct allprof_tallies *tallies)
{
    free(tallies->entry);
    tallies->entry = NULL;
    ker_table_release(&tallies->places);
}

void allprof_scan_end(struct allprof_scan *s)
{
    tallies_sort(&s->tallies, &s->events);
    ker_table_release(&s->tallies.places);
    free(s->seen.group);
    free(s->seen.mark);
    s->seen = (struct allprof_seen){0};
}

void allprof_scan_release(struct allprof_scan *s)
{
    free(s->seen.group);
    free(s->seen.mark);
    free(s->events.event);
    allprof_tallies_release(&s->tallies);
}
