/* turns_plugin.c - weighted turns among lanes, as a plugin for the random systems (tests/random_system/):
 * what is built in has no state that would have to be saved. */
#include "plugin/plugin.h"
#include "tests/source/extend/net/switch/turns.c"

static const struct ker_kind *const lanes[] = {&net_lanes_turns, NULL};
MARSSIM_PLUGIN(MARSSIM_BRINGS("switch.lanes", struct net_lanes, lanes));
