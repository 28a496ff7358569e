/* base.h - what everything else is on: errors, memory, units, random numbers, ranks, files, text; arrays
 * that grow, pools and hash tables. */
#pragma once

#include "kernel/base/array.h"
#include "kernel/base/bytes.h"
#include "kernel/base/child.h"
#include "kernel/base/clock.h"
#include "kernel/base/comm.h"
#include "kernel/base/error.h"
#include "kernel/base/flag.h"
#include "kernel/base/heap.h"
#include "kernel/base/input.h"
#include "kernel/base/lines.h"
#include "kernel/base/memory.h"
#include "kernel/base/order.h"
#include "kernel/base/pool.h"
#include "kernel/base/random.h"
#include "kernel/base/share.h"
#include "kernel/base/slabs.h"
#include "kernel/base/table.h"
#include "kernel/base/text.h"
#include "kernel/base/units.h"
