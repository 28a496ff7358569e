/* mars.h - traces of marstrace, for those outside: written by the tracer and marsconv, read by the replay and
 * the tools. */
#pragma once

#include "traces/mars/define.h"
#include "traces/mars/map.h"
#include "traces/mars/pieces.h"
#include "traces/mars/reader.h"
#include "traces/mars/varint.h"
#include "traces/mars/writer.h"
