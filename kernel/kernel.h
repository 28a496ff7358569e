/* kernel.h - the face of kernel/: a base for everything above, and the engine. */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include "kernel/comm.h"
#include "kernel/config.h"
#include "kernel/engine.h"
#include "kernel/error.h"
#include "kernel/input.h"
#include "kernel/lines.h"
#include "kernel/memory.h"
#include "kernel/random.h"
#include "kernel/request.h"
#include "kernel/units.h"

#endif
