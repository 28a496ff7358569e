/* merge.h - the records of all ranks in one order, on rank 0. Inside stats/timelines/. */
#pragma once

#include "stats/timelines/store.h"

/* Collective: rank 0 visits every record from `level` on in its order, one after the other. rename: functions
 * by this rank's numbers -> by those of all. Rank 0 holds a batch of each rank. */
void line_merge(struct line_store *, uint8_t level, const uint16_t *rename, struct ker_comm *,
                void (*visit)(void *context, const struct line_record *), void *context);
