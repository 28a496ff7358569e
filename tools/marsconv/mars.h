/* mars.h - the two halves of the format of marstrace. */
#ifndef CONV_MARS_H
#define CONV_MARS_H

#include "tools/marsconv/conv.h"

bool conv_mars_create(struct conv_sink *, struct mars_error *);
bool conv_mars_begin(struct conv_sink *, const struct mars_task *, uint32_t thread, struct mars_error *);
bool conv_mars_put(struct conv_sink *, const struct mars_task *, const struct conv_record *,
                   struct mars_error *);
bool conv_mars_end(struct conv_sink *, const struct mars_task *, struct mars_error *);
bool conv_mars_finish(struct conv_sink *, bool fine, struct mars_error *);

#endif
