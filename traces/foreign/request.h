/* request.h - requests in traces that have no handles of them: what waits and tests name. */
#pragma once

#include "traces/foreign/foreign.h"

/* The requests of a task that are outstanding, for all that the trace says. They are named by source,
 * destination and tag, or other numbers; several may have one name. */
struct foreign_request {
    int32_t source, destination, tag; /* what waits and tests name */
    uint64_t id;
    uint64_t test;         /* place of the last test of it in the store; UINT64_MAX: none */
    uint32_t before, next; /* in the order of their calls; 0: none */
    uint32_t same;         /* the next with the same names */
};
struct foreign_requests {
    struct foreign_request *request; /* from 1 on */
    uint32_t used, spare;            /* spare: the first of those that are free, by `next` */
    uint32_t first, last, count;     /* outstanding */
    size_t room;
    struct ker_table named; /* the first and last of each name */
    uint32_t any;           /* how many are done, but it is not known which */
    uint64_t ids;
    bool guessed; /* a test was taken to have completed its request */
    uint64_t *list;
    size_t list_room;
};
/* A new one; its id. */
uint64_t foreign_request_new(struct foreign_requests *, struct foreign_task *, int32_t source,
                             int32_t destination, int32_t tag);
/* The oldest of a name; NULL: there is none. */
struct foreign_request *foreign_request_find(struct foreign_requests *, int32_t source, int32_t destination,
                                             int32_t tag);
/* It is outstanding still, after its last test. */
void foreign_request_again(struct foreign_request *, struct foreign_task *);
/* It is done with. */
void foreign_request_done(struct foreign_requests *, struct foreign_request *);
/* All that are outstanding, as a list of ids that lives until the next call. */
const uint64_t *foreign_request_all(struct foreign_requests *, uint32_t *count);
void foreign_request_none(struct foreign_requests *); /* all are done with */
/* One of them is, which is not known. */
void foreign_request_one(struct foreign_requests *);
/* The task ends: the last test of a request that was not waited for has completed it. Puts MPI_Finalize, and
 * returns how many others there are. */
uint32_t foreign_request_end(struct foreign_requests *, struct foreign_task *, uint32_t line);
void foreign_requests_release(struct foreign_requests *);
