/* allprof_format.h - the writing half of the format of liballprof, for its table of functions. */
#ifndef CONV_ALLPROF_FORMAT_H
#define CONV_ALLPROF_FORMAT_H

#include "tools/marsconv/conv.h"

bool apw_create(struct conv_sink *, struct mars_error *);
bool apw_begin(struct conv_sink *, const struct mars_task *, uint32_t thread, struct mars_error *);
bool apw_record(struct conv_sink *, const struct mars_task *, const struct conv_record *,
                struct mars_error *);
bool apw_end(struct conv_sink *, const struct mars_task *, struct mars_error *);
bool apw_finish(struct conv_sink *, bool fine, struct mars_error *);

#endif
