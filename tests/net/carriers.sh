#!/bin/bash
# Carriers of messages below nodes: tests/net/carriers.sh
#
# network.model = "simple", and a carrier of a plug-in: times by hand, to the picosecond; a trace, a generator, synthetic traffic and a
# service above them on 1, 2, 3 and 5 ranks and in every order of cells, saved and resumed; what is wrong is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
command -v jq >/dev/null || { echo "SKIP: jq is missing"; exit 0; }
. tests/lib-runs.sh

# 1 MB at 1 GB/s and 5 us: there after 1,005 us, sent after 1,000 us. Three tasks send one each to the fourth at once: no one waits.
cat >"$t/three.goal" <<'END'
num_ranks 4
rank 0 { l1: send 1000000b to 3 tag 0 }
rank 1 { l1: send 1000000b to 3 tag 1 }
rank 2 { l1: send 1000000b to 3 tag 2 }
rank 3 {
l1: recv 1000000b from 0 tag 0
l2: recv 1000000b from 1 tag 1
l3: recv 1000000b from 2 tag 2
}
END
cat >"$t/simple.cfg" <<END
topology: { kind = "star"; nodes = 4; bandwidth = "10 GB/s"; latency = "50 ns"; };
network: { model = "simple"; latency = "5 us"; bandwidth = "1 GB/s"; };
mpi: { eager_limit = "2 MB"; };
jobs = ( { program = "trace"; format = "goal"; trace = "$t/three.goal"; time_unit = "1 ns"; } );
END
run -o "$t/hand" "$t/simple.cfg" && jq -e '.result.jobs[0].finish_ps == 1005000000 and .result.message_latency_ps.max == 1005000000' "$t/hand/summary.json" >/dev/null
check "simple: 1,005 us, however many"

# Everything that stands above a carrier, together.
cat >"$t/all.cfg" <<END
topology: { kind = "fat_tree"; down = [4, 4, 4]; up = [1, 4, 4]; bandwidth = "12.5 GB/s"; latency = "20 ns"; };
network: { model = "simple"; latency = "900 ns"; bandwidth = "5 GB/s"; };
node: { cores = 4; noise: { kind = "random"; gap = "40 us"; length = "2 us"; }; };
jobs = ( { name = "trace"; program = "trace"; trace = "$PWD/configs/traces/lammps-lj-32"; processor_factor = 0.05; placement = "random"; },
         { name = "ring"; program = "stencil"; extents = [16]; steps = 30; compute_time = "3 us"; first_node = 40; background = true; } );
traffic: { pattern = "uniform"; load = 0.05; size = "3 KiB"; outstanding = 0; };
services = ( { kind = "heartbeat"; period = "7 us"; every = 3; } );
output: { period = "100 us"; waits = true; series: { jobs = "periods"; traffic = "periods"; }; };
run: { end = "900 us"; };
END
all_alike "simple, with a trace, a generator, traffic, a service, noise and series" "$t/all.cfg"
for order in backward shuffled; do
    rm -rf "$t/other"
    run -o "$t/other" "$t/all.cfg" engine.cell_order=$order && alike "$t/one" "$t/other" >>"$t/err" 2>&1
    check "cells $order: the same"
done

refused "network.latency: too small: must be" "$t/simple.cfg" network.latency="0 ps"
check "refused: no latency"
sed 's/model = "simple"/model = "packet"/' "$t/simple.cfg" >"$t/packet.cfg"
refused "network.latency: means nothing" "$t/packet.cfg"
check "refused: a key of another model"
refused "output.series.links" "$t/simple.cfg" output.period="1 us" output.series.links=periods
check "refused: links that there are not"
