/* attempt.c - resolves the communicators of a trace, in several attempts if need be.
 *
 * Decisions about handles are made when tasks need them, by what is known then. One that looked good may lead
 * to a contradiction later: a communicator that some members never make, a handle that is nothing, collective
 * calls that differ. Then the last decisions are taken otherwise, one at a time, each in an attempt from the
 * start; what comes further than before is kept.
 */
#include "traces/allprof/comm.h"

#include <stdlib.h>
#include <string.h>

#define ATTEMPTS 200
#define WORK_LEAST                                                                                           \
    UINT64_C(100000000) /* steps that the search may take in any case, and more the longer the traces are */
#define WORK_PER_EVENT 1000u

/* r->flip has room for ATTEMPTS. */
static enum ker_status attempts_more(struct allprof_resolver *r, uint64_t best)
{
    struct allprof_flip *flip = r->flip;
    uint32_t call = r->calls, tries = 0;
    for (; call > 0 && tries < ATTEMPTS && r->work < r->work_limit; tries++) {
        uint64_t progress;
        uint32_t kept = r->flips++, variant = 1;
        if (flip[kept].call == call && tries > 0)
            variant = flip[kept].variant + 1;
        flip[kept] = (struct allprof_flip){call, variant};
        if (allprof_attempt(r, &progress) == KER_OK && r->flipped)
            return KER_OK;
        if (r->flipped && progress > best) { /* keep it, and look at what came after it */
            best = progress;
            call = r->calls;
            flip[r->flips % ATTEMPTS] = (struct allprof_flip){0};
            continue;
        }
        call -= !r->flipped;
        r->flips = kept;
    }
    return KER_BAD_INPUT;
}

enum ker_status allprof_comms_resolve(struct allprof_comms *comms, struct allprof_events *files,
                                      const struct allprof_tallies *tallies, uint32_t tasks,
                                      const char *folder, bool *lacks, struct ker_error *error)
{
    uint64_t progress;
    struct allprof_flip flip[ATTEMPTS] = {0};
    struct ker_error *trial = ker_alloc(sizeof *trial);
    struct allprof_resolver r = {.comms = comms,
                                 .files = files,
                                 .tallies = tallies,
                                 .tasks = tasks,
                                 .folder = folder,
                                 .error = trial,
                                 .flip = flip,
                                 .work_limit = WORK_LEAST};
    for (uint32_t i = 0; i < tasks; i++)
        r.work_limit += WORK_PER_EVENT * files[i].count;
    enum ker_status status = allprof_attempt(&r, &progress);
    *lacks = r.lacks;
    if (r.lacks)
        status = KER_OK;
    if (status != KER_OK) {
        struct ker_error *first = ker_alloc(sizeof *first);
        *first = *trial;
        status = attempts_more(&r, progress);
        if (status != KER_OK) /* the first attempt says best what is wrong */
            ker_fail(error, KER_BAD_INPUT, "%s", first->text);
        free(first);
    }
    free(trial);
    return status;
}
