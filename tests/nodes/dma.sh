#!/bin/bash
# Adapters that read and write memory: the same results on 1, 2, 3 and 5 ranks and after checkpoints with packets half read and half written, for
# every choice of adapters; every byte counted once; what cannot be is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
cat >"$t/base.cfg" <<'END2'
topology = { kind = "torus"; extents = [3, 3]; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 6; sockets = 2; adapters = 3; lane_bandwidth = "250 MB/s"; socket_bandwidth = "3 GB/s"; controller_bandwidth = "9 GB/s"; };
adapter = { packet_size = "1 kB"; buffer = "8 kB"; };
jobs = ( { program = "stencil"; extents = [7, 7]; steps = 6; compute_time = "20 us"; bytes = "9 kB"; tasks_per_node = 6; compute_jitter = "9 us";
           memory_bandwidth = "4 GB/s"; allreduce_every = 3; allreduce_bytes = "800 B"; } );
services = ( { kind = "heartbeat"; period = "7 us"; bytes = "4 kB"; } );
END2
for rail in nearest stripe least round_robin; do
    { cat "$t/base.cfg"; echo 'output: { cores = true; series: { adapters = "total"; }; };'; } >"$t/c.cfg"
    keys=(node.rail=$rail)
    [ $rail = stripe ] && keys+=(node.stripe_size="2 kB")
    [ $rail = least ] && keys+=(node.loopback=true node.bus_latency="170 ns" node.doorbell="13 ns" adapter.ejection_rate="7 GB/s")
    [ $rail = round_robin ] && keys+=(node.loopback=true node.buses=2 node.domains=3 node.noise.kind=periodic node.noise.period="11 us" node.noise.length="700 ns")
    same_bits "$rail" "${keys[@]}"
done

# Each byte of a message to another node is read once and written once; so is one that goes through the adapter to its own node.
moved() { # FOLDER KIND: bytes of all controllers or buses
    jq ".result.node.$2.bytes" "$1/summary.json"
}
sed 's/memory_bandwidth = "4 GB\/s";//; /^services/d' "$t/base.cfg" >"$t/q.cfg"
quiet=(node.rail=nearest)
run -o "$t/q" "$t/q.cfg" "${quiet[@]}" node.single_copy_size="0 B" &&
    [ "$(moved "$t/q" buses)" = $(($(jq .result.bytes_delivered "$t/q/summary.json") * 2)) ]
check "between nodes, buses move what is delivered, out and in"
inside=$(($(moved "$t/q" controllers) - $(moved "$t/q" buses)))
run -o "$t/l" "$t/q.cfg" "${quiet[@]}" node.loopback=true && [ "$(moved "$t/l" buses)" = "$(moved "$t/l" controllers)" ] &&
    [ "$(moved "$t/l" buses)" = $((inside + 2 * $(jq .result.bytes_delivered "$t/l/summary.json"))) ]
check "with loopback what stays inside a node, too"
# Synthetic traffic has no tasks: what it sends is in the memory of the adapter's socket.
cat >"$t/s.cfg" <<'END2'
topology = { kind = "torus"; extents = [4, 4]; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { lane_bandwidth = "100 MB/s"; };
traffic = { pattern = "uniform"; load = 0.8; size = "4 kB"; };
run = { measure = "50 us"; };
END2
run -o "$t/s" "$t/s.cfg" && jq -e '.result | .injected_load == 0.16 and .accepted_load > 0.12 and .node.buses.max_utilisation <= 1' "$t/s/summary.json" >"$t/out"
check "traffic without tasks goes no faster than buses do"

refused "node.lane_bandwidth: too small" -o "$t/r" "$t/base.cfg" "node.lane_bandwidth=0 GB/s"
check "a bus without bandwidth is refused"
sed 's/lane_bandwidth = "250 MB\/s";//' "$t/base.cfg" >"$t/without.cfg"
for key in node.bus_lanes=4 node.loopback=true; do
    refused "${key%=*}: means nothing without node.lane_bandwidth" -o "$t/r" "$t/without.cfg" $key
    check "$key without a bandwidth of lanes is refused"
done
refused "adapter.buffer" -o "$t/r" "$t/base.cfg" "adapter.buffer=1 kB"
check "a receive buffer that holds no packet is refused"
