#!/bin/bash
# network.model = "flow": tests/net/flow.sh
#
# When flows end that share links, by hand; beside packets where buffers do not bind; with all that stands above on 1, 2, 3, 5 ranks, in every
# order of cells, saved and resumed in the middle of flows; what is wrong is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
command -v jq >/dev/null || { echo "SKIP: jq is missing"; exit 0; }
. tests/lib-runs.sh

goal() { messages_goal "$t/app.goal" "$@"; } # TASKS "FROM TO BYTES"...
system() { # TEXT...: $t/c.cfg
    printf '%s\n' "$@" 'mpi: { eager_limit = "1 GB"; };' \
        "jobs = ( { program = \"trace\"; format = \"goal\"; trace = \"$t/app.goal\"; time_unit = \"1 ns\"; } );" >"$t/c.cfg"
}
ends_at() { finish_times "$1" "$2" 1 "$t/c.cfg" "${@:3}"; } # NAME EXPECTED WORD...: in ps
star='topology: { kind = "star"; nodes = 5; bandwidth = "10 GB/s"; latency = "50 ns"; }; network: { model = "flow"; };'
# Three of 100 MB into node 3 have 10/3 GB/s each, 3,333,333,333 B/s: 30,000,000,003.000 000 3 ps, rounded up; then 50 ns until left, 100 ns until there. Node 0 sends
# 4 what is left of its link, 6,666,666,667 B/s: 14,999,999,999.25 ps.
goal 5 "0 3 100000000" "1 3 100000000" "2 3 100000000" "0 4 100000000"
system "$star"
ends_at "a star: 30, 30, 30 and 15 ms" "30000050004 30000050004 30000050004 30000100004 15000100000"
ends_at "small ones share nothing: 10 ms" "10000050000 10000050000 10000050000 10000100000 10000100000" network.flow_size="100 MB"
# With penalties node 3 has three flows, so that the two of node 0 lose 2 x 0.925 x 1.35 = 2.4975: 4,004,004,004 B/s at most, 24,975,000,000.025 ps to node 4; into
# node 3 one has 1 / (0.965 x 3) at most, 3,454,231,433 B/s, more than its share.
ends_at "InfiniBand's penalties" "30000050004 30000050004 30000050004 30000100004 24975100001" network.flow_penalty=infiniband
# Two flows of one source to two nodes: 2 x 0.925 = 1.85, 5,405,405,405 B/s, more than the 5,000,000,000 of their share. Two of one source to one: 2 x 0.965 x 1.
goal 5 "0 3 100000000" "0 4 100000000"
ends_at "penalties that do not bind" "20000050000 0 0 20000100000 20000100000" network.flow_penalty=infiniband
# Nodes n0 and n1 on one switch, n2 to n4 on the other, 4 GB/s between. n0 > n2 and n1 > n3 have 2 each, n4 > n2 has the 8 that n2 has left: 12.5 ms.
# 40 MB at 2 are there after 20 ms; then n0 has 4 for its last 60 MB: 35 ms.
cat >"$t/two.net" <<'END'
switch a
switch b
node n0 a 10ns 10GB/s
node n1 a 10ns 10GB/s
node n2 b 10ns 10GB/s
node n3 b 10ns 10GB/s
node n4 b 10ns 10GB/s
link a b 20ns 4GB/s
END
goal 5 "0 2 100000000" "1 3 40000000" "4 2 100000000"
system "topology: { kind = \"file\"; file = \"$t/two.net\"; }; network: { model = \"flow\"; };"
ends_at "two switches: 35, 20 and 12.5 ms" "35000020000 20000020000 35000040000 20000040000 12500010000"
# Three links of 10 in a row: 100 MB over all beside 50 MB over each: all have 5 and end the short ones after 10 ms; then the long one has 10: 15 ms.
cat >"$t/lot.net" <<'END'
switch a
switch b
switch c
switch d
node n0 a 10ns 100GB/s
node n1 d 10ns 100GB/s
node n2 a 10ns 100GB/s
node n3 b 10ns 100GB/s
node n4 b 10ns 100GB/s
node n5 c 10ns 100GB/s
node n6 c 10ns 100GB/s
node n7 d 10ns 100GB/s
link a b 20ns 10GB/s
link b c 20ns 10GB/s
link c d 20ns 10GB/s
END
goal 8 "0 1 100000000" "2 3 50000000" "4 5 50000000" "6 7 50000000"
system "topology: { kind = \"file\"; file = \"$t/lot.net\"; }; network: { model = \"flow\"; };"
ends_at "a parking lot: 15 and 10 ms" "15000040000 15000080000 10000020000 10000040000 10000020000 10000040000 10000020000 10000040000"

# A ring of four, 100 MB to the node opposite: its packets share both directions about alike, of a link of 5 GB/s beside nodes of 10; with routing.pinning all take one.
goal 4 "0 2 100000000"
system 'topology: { kind = "torus"; extents = [4]; bandwidth = "5 GB/s"; node_bandwidth = "10 GB/s"; latency = "50 ns"; };' 'network: { model = "flow"; };'
run -o "$t/flow" "$t/c.cfg" && jq -e '.result.jobs[0].finish_ps | . > 10e9 and . < 10.4e9' "$t/flow/summary.json" >/dev/null
check "both directions of a ring: 10 ms and what chance makes of it"

# Beside packets, where no buffer binds: 1 MB from each node to the one k further. On a torus of even extents packets of one message take both directions
# round a ring where these are as short (two columns further on a torus 4 x 4 x 4).
for system in "star 16 1" "star 16 5" "fat_tree 64 1" "fat_tree 64 17" "torus 75 1" "torus 75 17" "even_torus 64 2"; do
    set -- $system
    messages=()
    for ((i = 0; i < $2; i++)); do messages+=("$i $(((i + $3) % $2)) 1000000"); done
    goal "$2" "${messages[@]}"
    case $1 in
    star) system "topology: { kind = \"star\"; nodes = 16; bandwidth = \"10 GB/s\"; latency = \"50 ns\"; };" ;;
    *torus) system "topology: { kind = \"torus\"; extents = $([ $2 = 75 ] && echo "[5, 5, 3]" || echo "[4, 4, 4]"); bandwidth = \"10 GB/s\"; latency = \"50 ns\"; };" \
        'routing: { algorithm = "minimal"; };' ;;
    *) system "topology: { kind = \"fat_tree\"; down = [4, 4, 4]; up = [1, 4, 4]; bandwidth = \"10 GB/s\"; latency = \"50 ns\"; }; routing: { algorithm = \"d_mod_k\"; };" ;;
    esac
    run -o "$t/flow" "$t/c.cfg" network.model=flow && run -o "$t/packet" "$t/c.cfg" adapter.header="0 B" &&
        jq -n --slurpfile a "$t/flow/summary.json" --slurpfile b "$t/packet/summary.json" -e \
            '$a[0].result.jobs[0].finish_ps / $b[0].result.jobs[0].finish_ps | . > 0.97 and . < 1.03' >/dev/null
    check "$1, $3 further: within 3 % of packets"
done

# And all to one, all to all at once, all to all in pairs.
for system in "star incast" "star exchange" "star alltoall" "fat_tree incast" "fat_tree exchange" "fat_tree alltoall" "torus incast" "torus exchange" \
    "even_torus alltoall 400"; do
    set -- $system
    case $1 in
    star) tasks=16 topology='kind = "star"; nodes = 16;' ;;
    fat_tree) tasks=64 topology='kind = "fat_tree"; down = [4, 4, 4]; up = [1, 4, 4];' ;;
    torus) tasks=75 topology='kind = "torus"; extents = [5, 5, 3];' ;;
    even_torus) tasks=64 topology='kind = "torus"; extents = [4, 4, 4];' ;;
    esac
    cat >"$t/c.cfg" <<END
topology: { $topology bandwidth = "10 GB/s"; latency = "50 ns"; };
routing: { algorithm = "$([ $1 = fat_tree ] && echo d_mod_k || echo minimal)"; };
mpi: { eager_limit = "1 GB"; collectives: { alltoall = ["pairwise"]; }; };
jobs = ( { program = "collective"; collective = "$2"; tasks = $tasks; bytes = "${3:-100} kB"; iterations = 1; sync = "none"; } );
END
    run -o "$t/flow" "$t/c.cfg" network.model=flow && run -o "$t/packet" "$t/c.cfg" adapter.header="0 B" &&
        jq -n --slurpfile a "$t/flow/summary.json" --slurpfile b "$t/packet/summary.json" -e \
            '$a[0].result.jobs[0].finish_ps / $b[0].result.jobs[0].finish_ps | . > 0.97 and . < 1.03' >/dev/null
    check "$1, $2: within 3 % of packets"
done

cat >"$t/all.cfg" <<END
topology: { kind = "fat_tree"; down = [4, 4, 4]; up = [1, 4, 4]; bandwidth = "2.5 GB/s"; latency = "220 ns"; };
network: { model = "flow"; flow_size = "100 B"; };
routing: { algorithm = "adaptive"; };
node: { cores = 4; noise: { kind = "random"; gap = "40 us"; length = "2 us"; }; };
jobs = ( { name = "trace"; program = "trace"; trace = "$PWD/configs/traces/lammps-lj-32"; processor_factor = 0.05; placement = "random"; },
         { name = "ring"; program = "stencil"; extents = [16]; steps = 30; compute_time = "3 us"; first_node = 40; background = true; } );
traffic: { pattern = "uniform"; load = 0.1; size = "30 KiB"; outstanding = 0; };
services = ( { kind = "heartbeat"; period = "7 us"; every = 3; } );
output: { period = "100 us"; waits = true; series: { jobs = "periods"; traffic = "periods"; }; };
run: { end = "500 us"; };
END
all_alike "flows with penalties, with all that follows" "$t/all.cfg" network.flow_penalty=infiniband
rm -rf "$t/one"
all_alike "flows, with a trace, a generator, traffic, a service, noise and series" "$t/all.cfg"
for order in backward shuffled; do
    rm -rf "$t/other"
    run -o "$t/other" "$t/all.cfg" engine.cell_order=$order && alike "$t/one" "$t/other" >>"$t/err" 2>&1
    check "cells $order: the same"
done
sed 's/^topology.*/topology: { kind = "torus"; extents = [4, 4, 4]; bandwidth = "2.5 GB\/s"; latency = "220 ns"; };/; s/"adaptive"/"minimal"/' "$t/all.cfg" >"$t/even.cfg"
all_alike "flows in both directions of even rings, with all of that" "$t/even.cfg"
refused "network.latency: means nothing" "$t/all.cfg" network.latency="1 us"
check "refused: a latency beside that of the links"
refused "4 ps are needed" "$t/all.cfg" topology.latency="1 ps"
check "refused: no time to decide in"
