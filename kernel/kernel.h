/* kernel.h - what other folders may use of kernel/: a base for everything above, and the engine. */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include "kernel/base/array.h"
#include "kernel/base/bytes.h"
#include "kernel/base/child.h"
#include "kernel/base/clock.h"
#include "kernel/base/comm.h"
#include "kernel/base/error.h"
#include "kernel/base/input.h"
#include "kernel/base/lines.h"
#include "kernel/base/memory.h"
#include "kernel/base/pool.h"
#include "kernel/base/random.h"
#include "kernel/base/slabs.h"
#include "kernel/base/table.h"
#include "kernel/base/text.h"
#include "kernel/base/units.h"
#include "kernel/config/config.h"
#include "kernel/config/plugin.h"
#include "kernel/config/ranges.h"
#include "kernel/engine/engine.h"
#include "kernel/engine/request.h"
#include "kernel/engine/state.h"
#include "kernel/state/chunk.h"
#include "kernel/state/file.h"

#endif
