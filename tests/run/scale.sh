#!/bin/bash
# What large systems cost in memory: tests/run/scale.sh
#
# Bounds are twice to three times what is used, and a fraction of what it would be if every rank held all of the system.
# Sanitizers use memory of their own: with them nothing is compared but results.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
cd "$work" || exit 2

cat >torus.cfg <<'END'
topology: { kind = "torus"; extents = [64, 64, 64]; bandwidth = "10 GB/s"; latency = "50 ns"; };
switch: { channels = 2; };
jobs = ( { program = "pingpong"; steps = 2; tasks = 2; placement = "strided"; stride = 1000; } );
END
plain=1
case $marssim in */sanitize/* | */debug/*) plain=0 ;; esac

peak() { # FOLDER MIB: the largest memory of all ranks together is at most this many MiB
    local bytes
    bytes=$(jq .run.peak_rss_bytes "$1/summary.json") || return 1
    echo "$bytes bytes, at most $2 MiB" >out
    [ $plain = 0 ] || [ "$bytes" -le $(($2 << 20)) ]
}
shown=out

# 262,144 switches with 1.6 KB each are 420 MB; what two tasks need of them is next to nothing. Nodes and the engine take 80 MB.
"$marssim" -q -o one torus.cfg >out 2>err
check "a ping-pong on 262,144 nodes"
peak one 160
check "memory of switches that nothing comes to is not touched"
[ ! -e one/links.csv ] && grep -q 'links.csv is left out: .* output.links = true writes it' err
check "a table beyond 100 MB is left out, and the key named"
[ "$(find one -name '*.tmp' | wc -l)" = 0 ]
check "and nothing of it is left behind"

mpirun -n 3 "$marssim" -q -o three torus.cfg partition.oversubscribe=true >out 2>err
check "the same on 3 ranks"
peak three 280
check "where each touches what comes to its own switches"
cmp <(jq -S .result one/summary.json) <(jq -S .result three/summary.json)
check "the same results"

sed -i 's/64, 64, 64/16, 16, 16/' torus.cfg
"$marssim" -q -o small torus.cfg 2>err && mpirun -n 3 "$marssim" -q -o ranks torus.cfg partition.oversubscribe=true 2>err
check "4,096 nodes on 1 and 3 ranks"
cmp small/links.csv ranks/links.csv && cmp <(jq -S .result small/summary.json) <(jq -S .result ranks/summary.json)
check "the same results"

# Saved after a few hops, before most switches have been made; resumed on 1 and 3 ranks.
"$marssim" -q -o saved torus.cfg run.checkpoint.at='["1 us"]' >out 2>err
check "a checkpoint of a system of which little is used"
"$marssim" -q --resume saved -o resumed >out 2>err && mpirun -n 3 "$marssim" -q --resume saved -o resumed3 partition.oversubscribe=true >out 2>err
check "resumed on 1 and 3 ranks"
cmp small/links.csv resumed/links.csv && cmp small/links.csv resumed3/links.csv
check "the same results as without"
mpirun -n 3 "$marssim" -q -o saved3 torus.cfg partition.oversubscribe=true run.checkpoint.at='["1 us"]' >out 2>err &&
    "$marssim" -q --resume saved3 -o again >out 2>err && mpirun -n 2 "$marssim" -q --resume saved3 -o again2 >out 2>err
check "saved by 3 ranks, resumed on 1 and 2"
cmp small/links.csv again/links.csv && cmp small/links.csv again2/links.csv
check "the same results as without"

# Little is used of racks that begin at blocks of their own (partition/tiles.h), two nodes at each switch.
cat >racks.cfg <<'END'
topology: { kind = "hierarchical"; nodes_per_switch = 2; groups = [4, 4, 24]; attach = ["switch", "group"];
    bandwidth = "10 GB/s"; latency = ["30 ns", "30 ns", "200 ns"]; };
switch: { channels = 4; };
engine: { block = 32; };
jobs = ( { program = "pingpong"; steps = 3; tasks = 2; placement = "strided"; stride = 333; } );
output: { links = true; };
END
"$marssim" -q -o racks racks.cfg 2>err
check "racks of which little is used"
for n in 2 3 5; do
    mpirun -n $n "$marssim" -q -o racks$n racks.cfg partition.oversubscribe=true 2>err && cmp racks/links.csv racks$n/links.csv &&
        cmp <(jq -S .result racks/summary.json) <(jq -S .result racks$n/summary.json)
    check "the same on $n ranks"
done
