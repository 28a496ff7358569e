#!/bin/bash
# The way between memory and adapter: what it adds to a message to the picosecond, equal results on 1, 2, 3 and 5 ranks and after
# checkpoints with messages on it, for every choice of adapters.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
time_of() { # WORD...: the simulated time
    run -o "$t/p" "$t/p.cfg" "$@" && jq .result.simulated_time_ps "$t/p/summary.json"
}

# 10 messages in each direction, one after the other: each takes the bus at its sender and at its receiver, and then the interrupt.
printf '0 2\n1 2\n' >"$t/places"
cat >"$t/p.cfg" <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 4; sockets = 2; };
jobs = ( { program = "pingpong"; tasks = 2; bytes = [100]; steps = 10; placement = "file"; placement_file = "places"; } );
END
base=$(time_of)
[ "$(time_of "node.bus_latency=300 ns" "node.interrupt_latency=501 ps")" = $((base + 20 * (2 * 300000 + 501))) ]
check "bus and interrupt, to the picosecond"
# Core 2 is on socket 1, the adapter on socket 0: each message crosses once, at its sender.
[ "$(time_of "node.socket_latency=70 ns")" = $((base + 20 * 70000)) ]
check "an adapter on another socket"
# With two adapters the nearest one is on the core's own socket; and the other one, if it is said to be there.
[ "$(time_of node.adapters=2 "node.socket_latency=70 ns")" = "$(time_of node.adapters=2)" ]
check "the nearest adapter"
[ "$(time_of node.adapters=2 "node.socket_latency=70 ns" node.adapter_sockets=0,0)" = $(($(time_of node.adapters=2) + 20 * 70000)) ]
check "no adapter on the core's socket"

cat >"$t/c.cfg" <<'END'
topology = { kind = "torus"; extents = [3, 3]; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 6; sockets = 2; adapters = 3; bus_latency = "1300 ns"; interrupt_latency = "2 us"; stripe_size = "2 kB"; };
jobs = ( { program = "stencil"; extents = [7, 7]; steps = 6; compute_time = "20 us"; bytes = "3 kB"; tasks_per_node = 6;
           compute_jitter = "9 us"; allreduce_every = 3; allreduce_bytes = "800 B"; } );
services = ( { kind = "heartbeat"; period = "7 us"; } );
END
for rail in nearest stripe least round_robin; do
    words=("node.rail=$rail")
    [ $rail = stripe ] || sed 's/ stripe_size = "2 kB";//' "$t/c.cfg" >"$t/d.cfg"
    [ $rail = stripe ] && cp "$t/c.cfg" "$t/d.cfg"
    [ $rail = least ] && words+=("node.socket_latency=90 ns")
    all_alike "$rail" "$t/d.cfg" "${words[@]}"
done
