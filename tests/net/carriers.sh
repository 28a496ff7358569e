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

# By hand (us): L 5, 1 MB at 1 GB/s, that is 1,000. What each of the receiving tasks has at its end.
goal() { messages_goal "$1" 8 "${@:2}"; } # FILE "FROM TO BYTES DELAY"...
by_hand() { finish_times "$1" "$2" 1000000 "$t/eight.cfg" "${@:3}"; } # NAME EXPECTED WORD...: in us
cat >"$t/eight.cfg" <<END
topology: { kind = "star"; nodes = 8; bandwidth = "10 GB/s"; latency = "50 ns"; };
network: { model = "bus"; latency = "5 us"; bandwidth = "1 GB/s"; };
mpi: { eager_limit = "20 MB"; };
jobs = ( { program = "trace"; format = "goal"; trace = "$t/eight.goal"; time_unit = "1 ns"; } );
END
goal "$t/eight.goal" "0 4 1000000 0" "1 5 1000000 0" "2 6 1000000 0" "3 7 1000000 0"
by_hand "one bus: one after the other" "1005 2005 3005 4005 1005 2005 3005 4005" network.buses=1
by_hand "two buses: two at a time" "1005 1005 2005 2005 1005 1005 2005 2005" network.buses=2
by_hand "three buses" "1005 1005 1005 2005 1005 1005 1005 2005" network.buses=3
by_hand "as many buses as messages: there as with simple" "1005 1005 1005 1005 1005 1005 1005 1005" network.buses=4
by_hand "pmac, one bus" "1005 2005 3005 4005 1005 2005 3005 4005" network.model=pmac network.buses=1
by_hand "pmac, two buses" "1005 1005 1505 2005 1005 1005 1505 2005" network.model=pmac network.buses=2
by_hand "links: nobody waits" "1000 1000 1000 1000 1005 1005 1005 1005" network.model=links
goal "$t/eight.goal" "0 4 3000000 0" "1 5 1000000 500000" "2 6 2000000 600000" "3 7 1000000 700000"
by_hand "two buses: the one that is free first" "3005 1505 3505 4005 3005 1505 3505 4005" network.buses=2
goal "$t/eight.goal" "0 4 1000000 0" "0 5 1000000 0" "0 6 1000000 0"
by_hand "one link out of a node" "3000 0 0 0 1005 2005 3005 0" network.model=links
by_hand "two links out of a node" "2000 0 0 0 1005 1005 2005 0" network.model=links network.out_links=2
goal "$t/eight.goal" "0 7 1000000 0" "1 7 1000000 0" "2 7 1000000 0"
by_hand "one link into a node" "1000 1000 1000 0 0 0 0 3005" network.model=links
jq -e '.result.message_latency_ps | .min == 1005000000 and .mean == 2005000000 and .max == 3005000000' "$t/hand/summary.json" >>"$t/err"
check "which has them after 1,005, 2,005 and 3,005"
by_hand "any number of links into a node" "1000 1000 1000 0 0 0 0 1005" network.model=links network.in_links=0
by_hand "pmac: three to one node" "1005 2005 3005 0 0 0 0 3005" network.model=pmac network.buses=9
# carrier.csv and bandwidth.csv of these (us): on two buses 0 at once, 0, 1,000, 1,000; the job ends at 2,005. Bandwidths: 1 MB in 1,005 and 2,005 us.
goal "$t/eight.goal" "0 4 1000000 0" "1 5 1000000 0" "2 6 1000000 0" "3 7 1000000 0"
run -o "$t/hand" "$t/eight.cfg" network.buses=2 &&
    [ "$(cat "$t/hand/carrier.csv")" = "kind,node,count,messages,bytes,busy_ps,busy_mean,wait_ps,wait_mean_ps,wait_max_ps,queue_mean_messages
buses,0,2,4,4000000,4000000000,1.995012,2000000000,500000000,1000000000,0.997506" ] &&
    awk -F, 'NR == 1 { next } { n++; if (!($1 <= bw[n] && bw[n] < $2 && $3 == 2)) exit 1 } END { exit n != 2 }
        BEGIN { bw[1] = 1e18 / 2005e6; bw[2] = 1e18 / 1005e6 }' "$t/hand/bandwidth.csv"
check "carrier.csv of two buses, bandwidth.csv"
goal "$t/eight.goal" "0 7 1000000 0" "1 7 1000000 0" "2 7 1000000 0"
run -o "$t/hand" "$t/eight.cfg" network.model=links &&
    [ "$(grep -c . "$t/hand/carrier.csv") $(grep '^in,7' "$t/hand/carrier.csv")" = "17 in,7,1,3,3000000,3000000000,0.998336,3000000000,1000000000,2000000000,0.998336" ] &&
    grep -q '^out,0,1,1,1000000,1000000000,0.332779,0,0,0,0.000000$' "$t/hand/carrier.csv"
check "carrier.csv of links"
# By distance: nodes 0 to 3 are a board (blocks of four), 0 to 7 a rack: 1 us and 2 GB/s inside a board, L as it is and 4 GB/s inside a rack.
goal "$t/eight.goal" "0 1 1000000 0" "2 6 1000000 0" "4 5 1000000 0"
near='network.classes=({within="board";nodes=4;latency="1 us";bandwidth="2 GB/s"},{within="rack";nodes=8;bandwidth="4 GB/s"})'
by_hand "simple by distance" "500 501 250 0 500 501 255 0" network.model=simple "$near"
by_hand "a bus by distance" "501 501 751 0 1251 1251 751 0" network.buses=1 "$near"
sed 's|^jobs|nodes = ( { name = "two"; list = "0"; out_links = 2; }, { name = "others"; in_links = 0; } );\njobs|' "$t/eight.cfg" >"$t/kinds.cfg"
goal "$t/eight.goal" "0 4 1000000 0" "0 5 1000000 0" "1 4 1000000 0" "1 6 1000000 0"
finish_times "links of kinds of nodes" "1000 2000 0 0 1005 1005 2005 0" 1000000 "$t/kinds.cfg" network.model=links
sed 's/"bus"/"simple"/' "$t/kinds.cfg" >"$t/none.cfg"
refused "nodes\[0\].out_links: means nothing" "$t/none.cfg"
check "refused: links of nodes where nobody waits for them"
refused "is behind one that is not smaller" "$t/eight.cfg" network.buses=1 'network.classes=({within="rack"},{within="board"})'
check "refused: classes that do not ascend"
refused "classes\[1\].nodes: is no multiple of 4" "$t/eight.cfg" network.buses=1 'network.classes=({within="board";nodes=4},{within="rack";nodes=6})'
check "refused: a rack that cuts boards"
refused "classes\[0\].within: is missing: board or rack" "$t/eight.cfg" network.buses=1 'network.classes=({nodes=4})'
check "refused: a class of nothing"
# LogGOPS without o, g and O, which counts all bytes but the first: as one link out and in, where nobody waits.
goal "$t/eight.goal" "0 4 1000001 0" "1 5 500001 300000"
run -o "$t/hand" "$t/eight.cfg" network.model=loggops loggops.L="5 us" loggops.o="0 ns" loggops.g="0 ns" "loggops.G=1 ns" "loggops.O=0 ns" loggops.S="20 MB"
lgp=$(cut -d, -f1-40 "$t/hand/tasks.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 6 || NR == 7 { print $at["finish_ps"] }')
goal "$t/eight.goal" "0 4 1000000 0" "1 5 500000 300000"
run -o "$t/hand" "$t/eight.cfg" network.model=links
[ -n "$lgp" ] && [ "$lgp" = "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 6 || NR == 7 { print $at["finish_ps"] }' "$t/hand/tasks.csv")" ]
check "one link out and in: LogGOPS without o, g and O"
refused "network.buses: is missing" "$t/eight.cfg"
check "refused: no number of buses"
refused "network.buses: too small" "$t/eight.cfg" network.buses=0
check "refused: no buses"
refused "2 ps are needed" "$t/eight.cfg" network.buses=1 network.latency="1 ps"
check "refused: no time to decide in"

# LAMMPS on 32 tasks. As many buses as messages that move at a time: every task as with simple, to the picosecond, where no send waits until it has left (which it
# has when it is there, of a bus). More buses make nothing slower by more than 1 % (dependent messages can be).
cat >"$t/lammps.cfg" <<END
topology: { kind = "fat_tree"; down = [4, 4, 2]; up = [1, 4, 4]; bandwidth = "12.5 GB/s"; latency = "50 ns"; };
network: { model = "simple"; latency = "600 ns"; bandwidth = "12.5 GB/s"; };
node: { send_overhead = "300 ns"; receive_overhead = "300 ns"; };
mpi: { eager_completion = "buffered"; };
jobs = ( { program = "trace"; trace = "$PWD/configs/traces/lammps-lj-32"; processor_factor = 0.05; } );
END
run -o "$t/simple" "$t/lammps.cfg" && run -o "$t/buses" "$t/lammps.cfg" network.model=bus network.buses=500 && cmp "$t/simple/tasks.csv" "$t/buses/tasks.csv" >>"$t/err"
check "LAMMPS with a bus for each message: simple, to the bit"
# Without a topology the same nodes do the same.
sed '/^topology/d' "$t/lammps.cfg" >"$t/bare.cfg"
run -o "$t/bare" "$t/bare.cfg" network.nodes=32 && cmp "$t/simple/tasks.csv" "$t/bare/tasks.csv" >>"$t/err"
check "LAMMPS on nodes without a topology: the same"
refused "topology.kind: is missing" "$t/bare.cfg"
check "refused: neither topology nor nodes"
refused "is beside a topology of 32 nodes: give one of them" "$t/lammps.cfg" network.nodes=16
check "refused: a topology, and another number of nodes"
refused '"none" is for network.model' "$t/bare.cfg" network.model=packet topology.kind=none
check "refused: packets on no topology"
before= slower=
for buses in 1 2 4 8 16 32; do
    run -o "$t/buses" "$t/lammps.cfg" network.model=bus network.buses=$buses && now=$(jq .result.jobs[0].finish_ps "$t/buses/summary.json") || now=
    [ -n "$now" ] && { [ -z "$before" ] || [ $((now * 100)) -le $((before * 101)) ]; } || slower="$slower $buses: $now after $before;"
    before=$now
done
verdict "$slower" "LAMMPS with 1 to 32 buses: more are no slower"

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
sed '/^topology/d' "$t/all.cfg" >"$t/bare.cfg"
all_alike "bus, with all of that on nodes without a topology" "$t/bare.cfg" network.nodes=64 network.model=bus network.buses=3
rm -rf "$t/one" && run -o "$t/one" "$t/all.cfg"
for order in backward shuffled; do
    rm -rf "$t/other"
    run -o "$t/other" "$t/all.cfg" engine.cell_order=$order && alike "$t/one" "$t/other" >>"$t/err" 2>&1
    check "cells $order: the same"
done

for model in "links" "bus network.buses=3" "pmac network.buses=5 network.out_links=0"; do
    rm -rf "$t"/one "$t"/other
    all_alike "${model%% *}, with all of that" "$t/all.cfg" network.model=$model
done

"$m" --check "$t/simple.cfg" >"$t/check" 2>"$t/err" && grep -q '^model      simple: a message of any size is one event' "$t/check" && ! grep -q deadlock "$t/check"
check "--check: no channels, no proof"
refused "network.latency: too small: must be" "$t/simple.cfg" network.latency="0 ps"
check "refused: no latency"
sed 's/model = "simple"/model = "packet"/' "$t/simple.cfg" >"$t/packet.cfg"
refused "network.latency: means nothing" "$t/packet.cfg"
check "refused: a key of another model"
refused "output.series.links" "$t/simple.cfg" output.period="1 us" output.series.links=periods
check "refused: links that there are not"
run -o "$t/hand" "$t/simple.cfg" output.matrix=true && [ "$(grep -c . "$t/hand/task_matrix.csv")" = 4 ] && [ ! -e "$t/hand/matrix.csv" ]
check "a matrix is of tasks, where nothing else is said"
