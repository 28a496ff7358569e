/* poll.h - tests and probes that are repeated: is a call the same as the one before? */
#pragma once

#include "traces/allprof/allprof.h"

/* A call that may be repeated until it finds something; all 0: none. */
struct poll {
    uint64_t variable;          /* of the first request */
    int64_t count, peer, tag;   /* requests; Iprobe's source and tag */
    struct allprof_group group; /* Iprobe's */
};

static inline bool polls_equal(const struct poll *a, const struct poll *b)
{
    return a->count > 0 && a->variable == b->variable && a->count == b->count && a->peer == b->peer &&
           a->tag == b->tag && a->group.handle == b->group.handle && a->group.rank == b->group.rank &&
           a->group.size == b->group.size;
}

static inline struct poll poll_of(const struct allprof_args *args)
{
    unsigned kind = args->call->kind;
    if (kind == ALLPROF_IPROBE)
        return (struct poll){.count = 1, .peer = args->peer, .tag = args->tag, .group = args->group};
    if (kind != ALLPROF_TEST && kind != ALLPROF_TEST_SOME)
        return (struct poll){0};
    return (struct poll){.variable = args->variable,
                         .count = args->call->layout[0] == 'a' ? args->variables : 1};
}
