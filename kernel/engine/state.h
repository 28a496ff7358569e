/* state.h - what an engine has pending, saved and loaded.
 *
 * It can be saved where all ranks stand at one simulated time: in ker_engine_setup.check and .requested. All
 * batches between ranks have arrived then, and no cell runs, so that everything lies in the wheel. Each
 * record is written for the component that it is addressed to, by class and id (ker_class.id), with the
 * extension of its event. Any number of ranks can load them in any order: a record is known by its time and
 * where it arrives, never by when it was posted.
 */
#ifndef KERNEL_ENGINE_STATE_H
#define KERNEL_ENGINE_STATE_H

#include "kernel/engine/engine.h"
#include "kernel/state/file.h"

#define KER_ENGINE_STATES 2 /* loaders of an engine */

/* Of this rank: everything that is pending, and when the model was last seen to do something. */
void ker_engine_save(struct ker_engine *, struct ker_state_writer *);

/* Where a component lives, for loading; false: on another rank. `class` is ker_class.name. */
typedef bool ker_engine_find(void *context, const char *class, uint32_t id, uint32_t *index);

struct ker_engine_loading {
    struct ker_engine *engine;
    ker_engine_find *find;
    void *context;
    ker_time at;
};

/* The engine, whose components have been set, begins at `at`: what is pending so far is dropped. Then the
 * files of all ranks are read, by every rank, with these among the loaders. */
void ker_engine_restart(struct ker_engine *, ker_time at);
void ker_engine_loaders(struct ker_engine_loading *, struct ker_state_loader loaders[KER_ENGINE_STATES]);

#endif
