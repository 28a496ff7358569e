/* check_again.c - where collectives differ: the two tasks are read again, side by side, to the first call on
 * the communicator that is not the same. Where only what tasks send each other does not fit, all are read
 * once more, with sums for each call.
 */
#include "tools/marsconv/check.h"

#include <stdlib.h>

#define AGAIN_MOST 100                 /* pairs of tasks that are read again */
#define CALLS_MOST (UINT64_C(1) << 20) /* of a communicator, for sums of each */

struct side { /* the collectives of a task on a communicator */
    struct conv_walk at;
    uint64_t id;
    const struct mars_comm *comm;
    uint64_t calls;
};

static bool side_open(struct side *s, struct check *c, uint32_t task, uint64_t id, struct mars_error *error)
{
    *s = (struct side){.id = id};
    return conv_walk_begin(&s->at, c->source, task, CONV_ALL, error);
}

/* The next one; false: none, or an error. */
static bool side_next(struct side *s, struct mars_error *error)
{
    while (conv_walk_next(&s->at, error)) {
        s->comm = mars_comm_at(s->at.task.about, conv_walk_number(&s->at, MARS_FIELD_comm, 0));
        if (s->comm && (s->comm->id ? s->comm->id : 1) == s->id &&
            (s->at.is->sort == CONV_COLLECTIVE || s->at.is->sort == CONV_CREATE)) {
            s->calls++;
            return true;
        }
    }
    return false;
}

static struct check_collective side_call(const struct side *s)
{
    return check_collective_of(s->at.is, &s->at.record.call, s->at.task.about, s->comm);
}

static void side_print(const struct side *s, char *text, size_t room)
{
    const struct check_collective call = side_call(s);
    size_t length = (size_t)snprintf(text, room, "%s", s->at.record.call.function->name);
    if (call.root >= 0 && length < room)
        length += (size_t)snprintf(text + length, room - length, ", root %lld", (long long)call.root);
    if (call.bytes >= 0 && length < room)
        snprintf(text + length, room - length, ", %lld bytes", (long long)call.bytes);
}

static bool two_compare(struct check *c, const struct check_differ *differ, struct mars_error *error)
{
    struct side *one = ker_alloc(sizeof *one), *other = ker_alloc(sizeof *other);
    char first[160], second[160];
    bool fine = side_open(one, c, differ->one, differ->id, error) &&
                side_open(other, c, differ->other, differ->id, error);
    bool a = false, b = false;
    while (fine) {
        a = side_next(one, error);
        b = side_next(other, error);
        if (!a || !b || side_call(one).digest != side_call(other).digest)
            break;
    }
    fine = fine && !error->text[0];
    if (fine && a && b) {
        side_print(other, first, sizeof first);
        side_print(one, second, sizeof second);
        check_found(c, differ->other, check_at(&other->at.task, other->at.record.number),
                    "%s, is collective %llu on communicator %016llx; task %u has there, as its call %llu, %s",
                    first, (unsigned long long)other->calls, (unsigned long long)differ->id, differ->one,
                    (unsigned long long)one->at.record.number, second);
    } else if (fine && (a || b)) {
        const struct side *more = a ? one : other;
        side_print(more, first, sizeof first);
        check_found(c, a ? differ->one : differ->other, check_at(&more->at.task, more->at.record.number),
                    "%s, is collective %llu on communicator %016llx; task %u has only %llu", first,
                    (unsigned long long)more->calls, (unsigned long long)differ->id,
                    a ? differ->other : differ->one, (unsigned long long)more->calls - 1);
    }
    conv_walk_end(&one->at);
    conv_walk_end(&other->at);
    free(one);
    free(other);
    return fine;
}

/* ---- what tasks send each other ---- */

/* The first call whose sums are not equal, and where task `first` makes it. */
static bool pairs_find(struct check *c, const struct check_comm *comm, struct mars_error *error)
{
    uint64_t calls = comm->calls, wrong = 0;
    uint64_t *sent = ker_alloc((calls + 1) * sizeof *sent), *received = ker_alloc((calls + 1) * sizeof *sent);
    struct side *s = ker_alloc(sizeof *s);
    bool fine = true;
    for (uint32_t i = 0; i < c->source->tasks && fine; i++) {
        fine = side_open(s, c, i, comm->id, error);
        while (fine && side_next(s, error))
            if (s->calls <= calls)
                check_pairs_of(s->at.is, &s->at.record.call, s->comm, s->calls, &sent[s->calls],
                               &received[s->calls]);
        conv_walk_end(&s->at);
        fine = fine && !error->text[0];
    }
    for (uint64_t i = calls; i > 0; i--)
        wrong = sent[i] != received[i] ? i : wrong;
    fine = fine && side_open(s, c, comm->caller, comm->id, error);
    while (fine && s->calls < wrong && side_next(s, error))
        ;
    if (fine && wrong)
        check_found(c, comm->caller, check_at(&s->at.task, s->at.record.number),
                    "%s: its counts at one task are not those at another; it is collective %llu on "
                    "communicator %016llx",
                    s->at.record.call.function->name, (unsigned long long)wrong,
                    (unsigned long long)comm->id);
    conv_walk_end(&s->at);
    free(s);
    free(sent);
    free(received);
    return fine;
}

static bool pairs_check(struct check *c, struct mars_error *error)
{
    bool fine = true;
    uint32_t count = c->comms.count;
    struct check_comm *copy = ker_alloc(count * sizeof *copy);
    uint32_t wrong = check_comms_unequal(c, copy);
    for (uint32_t i = 0; i < wrong && fine; i++) {
        if (copy[i].calls <= CALLS_MOST)
            fine = pairs_find(c, &copy[i], error);
        else
            check_found(
                c, copy[i].caller, 0,
                "the counts of collectives on communicator %016llx at one task are not those at another",
                (unsigned long long)copy[i].id);
    }
    free(copy);
    return fine;
}

bool check_again(struct check *c, struct mars_error *error)
{
    for (size_t i = 0; i < c->differs && i < AGAIN_MOST; i++)
        if (!two_compare(c, &c->differ[i], error))
            return false;
    for (size_t i = AGAIN_MOST; i < c->differs; i++)
        check_found(c, c->differ[i].other, 0,
                    "its collectives on communicator %016llx are not those of task %u",
                    (unsigned long long)c->differ[i].id, c->differ[i].one);
    return pairs_check(c, error);
}
