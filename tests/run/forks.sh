#!/bin/bash
# Forks: a run is resumed from a checkpoint with other values of some keys. What was before the fork stays, what
# comes behind it follows the new values, on any number of ranks; all other keys are refused by name.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
m=$marssim t=$work
run() { "$m" -q "$@" partition.bind=no; }
result() { jq -S "${2:-.result}" "$1/summary.json"; }
tables() { (cd "$1" && ls -- *.csv); }
equal() { # FOLDER FOLDER: results and all tables
    local f
    diff <(tables "$1") <(tables "$2") || return 1
    for f in $(tables "$1"); do cmp "$1/$f" "$2/$f" || return 1; done
    diff <(result "$1") <(result "$2") | head -5 | grep . && return 1
    return 0
}
near() { awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN { d = a > b ? a - b : b - a; exit !(d <= most * b) }'; }
fork() { # FOLDER FROM KEY=VALUE...
    run --resume "$2" -o "$1" "${@:3}"
}
fork_ranks() { # the same, on one rank and on three, cut by lot and with cells in any order
    local to=$1 from=$2
    shift 2
    run --resume "$from" -o "$to" "$@" || return 1
    rm -rf "$t/ranks"
    mpirun -n 3 "$m" -q --resume "$from" -o "$t/ranks" "$@" partition.oversubscribe=true partition.method=random \
        engine.cell_order=shuffled partition.bind=no 2>"$t/said" && equal "$to" "$t/ranks"
}
delivered() { # FOLDER FROM TO: bytes between two times, in picoseconds, from the rows
    awk -F, -v from="$2" -v to="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "bytes_delivered") c = i }
        NR > 1 && $1 > from && $1 <= to { sum += $c } END { print sum + 0 }' "$1/periods.csv"
}
until_fork() { awk -F, -v to="$2" 'NR == 1 || $1 <= to' "$1/periods.csv"; }

# ---- the load ----
# A torus of 64 nodes with 20 % load, saved at 10 us; 250 ns a row.
torus=(configs/torus-uniform.cfg topology.extents=4,4,4 "run.warmup=500 ns" "output.period=250 ns" traffic.load=0.2)
run -o "$t/a" "${torus[@]}" "run.end=30 us" "run.checkpoint.at=10 us" || exit 1
fork "$t/b" "$t/a" traffic.load=0.20 && equal "$t/a" "$t/b"
check "a fork that changes nothing is the run itself"
fork_ranks "$t/b" "$t/a" traffic.load=0.6 && cmp <(until_fork "$t/a" 10000000) <(until_fork "$t/b" 10000000)
check "before a fork of the load all is as it was"
# Some 40,000 packets from 11 us on: three times as many bytes, within the 1 % of Poisson's deviation (5 of 1/200).
before=$(delivered "$t/a" 11000000 30000000)
near "$(delivered "$t/b" 11000000 30000000)" $((3 * before)) 0.025
check "behind it three times the load delivers three times the bytes"
for arrival in periodic "burst traffic.burst_length=3" "bernoulli"; do
    # shellcheck disable=SC2086 # several keys
    run --resume "$t/a" -o "$t/c" traffic.load=0.4 traffic.arrival=${arrival// / } &&
        near "$(delivered "$t/c" 11000000 30000000)" $((2 * before)) 0.03
    check "and with arrival ${arrival%% *} twice the load twice the bytes"
done

# A load of 3 that the links cannot carry until 4 us, then next to nothing: what was created before the fork
# is delivered, message by message as if the sources had stopped, and no more.
run -o "$t/s" "${torus[@]}" traffic.load=3 traffic.stop='4 us' || exit 1
run -o "$t/d" "${torus[@]}" traffic.load=3 "run.end=8 us" "run.checkpoint.at=4 us" || exit 1
fork_ranks "$t/e" "$t/d" traffic.load=1e-9 "run.end=100 us" "run.checkpoint.at=6 us"
[ "$(result "$t/e" .result.messages_delivered)" -eq "$(result "$t/s" .result.messages_delivered)" ]
check "a backlog from before the fork does not vanish"
run --resume "$t/e" -o "$t/f" && equal "$t/e" "$t/f"
check "a fork is saved and continues, with a backlog from before it"
# 7 us is in the middle of the backlog of the first law, so that the second one creates nothing.
fork "$t/g" "$t/e" traffic.load=0.5 "run.end=60 us" && run -o "$t/h" "${torus[@]}" "run.end=60 us" traffic.load=0.5 &&
    near "$(delivered "$t/g" 40000000 60000000)" "$(delivered "$t/h" 40000000 60000000)" 0.03
check "a fork of a fork"
# Mean gaps of 40 us: nearly all sources have found that their next message comes behind traffic.stop.
run -o "$t/i" "${torus[@]}" traffic.load=0.001 "run.end=8 us" "run.checkpoint.at=4 us" traffic.stop='14 us' &&
    fork "$t/j" "$t/i" traffic.load=0.2 "run.end=14 us" && near "$(delivered "$t/j" 4000000 14000000)" $((before / 2)) 0.1
check "a source whose next message lay far ahead begins at the fork"

# ---- the end ----
# With a load that fills output queues: what is granted before the first end leaves behind it.
run -o "$t/k" "${torus[@]}" traffic.load=1 "run.end=10 us" "run.checkpoint.at=9999 ns" || exit 1
run -o "$t/n" "${torus[@]}" traffic.load=1 "run.end=12 us" || exit 1
fork "$t/l" "$t/k" "run.end=12 us" && equal "$t/n" "$t/l"
check "an end moved later is that of a run that had it"
fork "$t/l" "$t/a" "run.end=10001 ns" && run -o "$t/n" "${torus[@]}" "run.end=10001 ns" && equal "$t/n" "$t/l"
check "an end moved earlier, too"

# ---- output ----
fork "$t/l" "$t/a" "output.period=500 ns" output.matrix=true &&
    cmp <(awk -F, '$1 <= 10000000' "$t/a/periods.csv") <(awk -F, '$1 <= 10000000' "$t/l/periods.csv") &&
    [ "$(delivered "$t/a" 10000000 30000000)" -eq "$(delivered "$t/l" 10000000 30000000)" ] &&
    [ "$(awk -F, '$1 > 10000000 && NR > 1' "$t/l/periods.csv" | wc -l)" -eq 40 ]
check "rows of another length from the fork on"
run -o "$t/o" "${torus[@]}" "output.period=0 ns" "run.end=30 us" "run.checkpoint.at=10 us" &&
    fork "$t/l" "$t/o" "output.period=250 ns" && cmp <(awk -F, 'NR == 1 || $1 > 10000000' "$t/a/periods.csv") "$t/l/periods.csv"
check "rows that begin at the fork tell what comes behind it"

# ---- path selection ----
# A fat tree of 16 nodes on 4 switches below 4; every node sends to that 4 further on. By destination, flows share
# upward links by lot; an adaptive choice spreads them over all.
tree='topology: { kind = "fat_tree"; down = [4, 4]; up = [1, 4]; bandwidth = "10 GB/s"; latency = "50 ns"; };
routing: { algorithm = "adaptive"; }; adapter: { packet_size = "512 B"; };
traffic: { pattern = "shift"; shift = 4; load = 0.9; size = "512 B"; }; output: { period = "5 us"; };
run: { end = "60 us"; };'
echo "$tree" >"$t/tree.cfg"
run -o "$t/p" "$t/tree.cfg" routing.selection=destination "run.checkpoint.at=20 us" || exit 1
run -o "$t/q" "$t/tree.cfg" routing.selection=both || exit 1
fork "$t/r" "$t/p" routing.selection=destination && equal "$t/p" "$t/r" && fork_ranks "$t/r" "$t/p" routing.selection=both &&
    cmp <(until_fork "$t/p" 20000000) <(until_fork "$t/r" 20000000)
check "before a fork of the path selection all is as it was"
[ "$(delivered "$t/p" 40000000 60000000)" -lt "$(($(delivered "$t/q" 40000000 60000000) * 9 / 10))" ] &&
    [ "$(delivered "$t/r" 40000000 60000000)" -ge "$(delivered "$t/q" 40000000 60000000)" ]
check "behind it the tree carries what it carries with the new selection"
fork "$t/u" "$t/r" routing.selection=two routing.hysteresis='100 ns' routing.bias='5 ns' 2>/dev/null
refused "routing.bias" --resume "$t/p" -o "$t/u" routing.selection=both "routing.bias=5 ns"
check "a key that means nothing with the new selection is refused"

# ---- congestion control ----
# Six nodes send to one.
sed -e 's/pattern = "shift"; shift = 4;/pattern = "incast"; target = 0; senders = 6;/' "$t/tree.cfg" >"$t/hot.cfg"
ecn=("$t/hot.cfg" congestion.control=ecn "congestion.threshold=2 KiB" congestion.decrease=0.5)
run -o "$t/v" "${ecn[@]}" "run.checkpoint.at=30 us" && run -o "$t/w" "${ecn[@]}" "run.end=30 us" || exit 1
fork "$t/x" "$t/v" "congestion.threshold=2 KiB" "congestion.recovery=5000 ns" && equal "$t/v" "$t/x"
check "congestion control as it was is the run itself"
fork "$t/x" "$t/v" "congestion.threshold=1 TiB" && marked=$(result "$t/x" .result.congestion.marked_packets) &&
    [ "$marked" -gt 100 ] && [ "$marked" -eq "$(result "$t/w" .result.congestion.marked_packets)" ] &&
    [ "$marked" -lt "$(result "$t/v" .result.congestion.marked_packets)" ]
check "with another threshold nothing more is marked"
fork_ranks "$t/y" "$t/v" "congestion.threshold=1 TiB" "congestion.recovery=100 ns" congestion.increase=0.1 &&
    [ "$(delivered "$t/y" 40000000 60000000)" -gt "$((5 * $(delivered "$t/x" 40000000 60000000)))" ]
check "flows recover by the new keys"
# Nothing is marked any more, and rates grow by 0.001 a microsecond until 50 us; then they stay what they are.
fork "$t/y" "$t/v" "congestion.threshold=1 TiB" "congestion.recovery=1 us" "run.checkpoint.at=50 us" "output.period=1 us" &&
    fork "$t/z" "$t/y" "congestion.recovery=1 s" "run.end=80 us" &&
    near "$(delivered "$t/z" 60000000 80000000)" $((5 * $(delivered "$t/y" 48000000 52000000))) 0.15
check "what they have recovered before the fork stays"

# ---- a further job ----
# Two tasks play ping-pong over the torus from 0 on; two others join at 10 us, on nodes and cores beside them.
# The further job does nothing before its start: a run that had it from the beginning is the same.
cat >"$t/jobs.cfg" <<'C'
topology: { kind = "torus"; extents = [4, 4]; bandwidth = "10 GB/s"; latency = "50 ns"; };
node: { cores = 2; };
jobs: ( { program = "pingpong"; steps = 40; bytes = "20 KiB"; last_node = 1; } );
C
further=(jobs[1].program=pingpong jobs[1].steps=30 "jobs[1].bytes=4 KiB" jobs[1].last_node=3)
run -o "$t/A" "$t/jobs.cfg" "run.checkpoint.at=10 us" || exit 1
run -o "$t/B" "$t/jobs.cfg" "${further[@]}" "jobs[1].start=10 us" || exit 1
fork_ranks "$t/C" "$t/A" "${further[@]}" && equal "$t/B" "$t/C"
check "a further job starts at the fork"
run -o "$t/B" "$t/jobs.cfg" "${further[@]}" "jobs[1].start=12 us" || exit 1
fork "$t/C" "$t/A" "${further[@]}" "jobs[1].start=12 us" "run.checkpoint.at=13 us" && equal "$t/B" "$t/C" &&
    run --resume "$t/C" -o "$t/D" && equal "$t/B" "$t/D"
check "or later, and is saved like the others"
refused "jobs\[1\].start: comes before" --resume "$t/A" -o "$t/l" "${further[@]}" "jobs[1].start=9 us"
check "but not earlier"
fork "$t/C" "$t/A" "${further[@]/\[1\]/[new]}" && run -o "$t/B" "$t/jobs.cfg" "${further[@]/\[1\]/[new]}" "jobs[new].start=10 us" && equal "$t/B" "$t/C"
check "by a name of its own"
for key in "jobs[job0].enabled=false" "jobs[*].enabled=false" "jobs[*].steps=3"; do
    refused "jobs\[0\].[a-z]*: is fixed once a run has begun" --resume "$t/A" -o "$t/l" "$key"
    check "what has begun stays: $key"
done
# Without a job that the file has: saved, and resumed on three ranks.
sed 's/jobs: (/jobs: ( { name = "off"; program = "stencil"; extents = [2]; first_node = 9; },/' "$t/jobs.cfg" >"$t/off.cfg"
rm -rf "$t/C" "$t/D" && run -o "$t/C" "$t/off.cfg" "jobs[off].enabled=false" "run.checkpoint.at=10 us" && fork_ranks "$t/D" "$t/C" && equal "$t/C" "$t/D"
check "one that is switched off stays so"
# The first job of a run with traffic brings the MPI model to the nodes, and its keys. Traffic keeps its number.
run -o "$t/E" "${torus[@]}" "run.end=30 us" jobs[0].program=pingpong jobs[0].steps=5 "jobs[0].start=10 us" \
    "mpi.eager_limit=1 KiB" || exit 1
fork_ranks "$t/F" "$t/a" jobs[0].program=pingpong jobs[0].steps=5 "mpi.eager_limit=1 KiB" && equal "$t/E" "$t/F"
check "the first job of a run that had none"
# And more than the simple node, which begins then. Two services send to their own nodes: what is in flight there is as it was.
both=(jobs[0].program=stencil "jobs[0].extents=[8, 8]" "jobs[0].compute_time=3 us" "jobs[0].memory_bandwidth=20 GB/s" "node.controller_bandwidth=10 GB/s" node.noise.kind=random
    "node.noise.gap=20 us" "node.noise.length=700 ns" node.system_factor=2)
run -o "$t/G" "${torus[@]}" "run.end=30 us" "${both[@]}" "jobs[0].start=10 us" && fork_ranks "$t/H" "$t/a" "${both[@]}" && equal "$t/G" "$t/H"
check "with cores and memory that are shared from then on"
own=(topology.kind=star topology.nodes=1 "services=({kind=\"heartbeat\"; period=\"700 ns\"; bytes=\"4 KiB\";})" "run.end=30 us" "node.memory_bandwidth=1 GB/s")
printf 'topology = { bandwidth = "10 GB/s"; latency = "100 ns"; };\n' >"$t/own.cfg"
run -o "$t/I" "$t/own.cfg" "${own[@]}" "run.checkpoint.at=10 us" && run -o "$t/J" "$t/own.cfg" "${own[@]}" jobs[0].program=stencil "jobs[0].extents=[1]" \
    "jobs[0].start=10 us" "jobs[0].compute_time=3 us" "jobs[0].memory_bandwidth=20 GB/s" "node.controller_bandwidth=100 GB/s" &&
    run --resume "$t/I" -o "$t/K" jobs[0].program=stencil "jobs[0].extents=[1]" "jobs[0].compute_time=3 us" "jobs[0].memory_bandwidth=20 GB/s" \
        "node.controller_bandwidth=100 GB/s" && jq -e .result.node "$t/K/summary.json" >"$t/said" && cmp <(result "$t/J" .result.services) <(result "$t/K" .result.services) &&
    [ "$(jq .result.jobs[0].finish_ps "$t/K/summary.json")" = "$(jq .result.jobs[0].finish_ps "$t/J/summary.json")" ]
check "and what is copied inside a node at that time"

# ---- what is refused ----
for key in run.seed=7 run.warmup='1 us' routing.algorithm=valiant traffic.size='64 B' topology.latency='70 ns' \
    switch.buffer='32 KiB'; do
    refused "${key%%=*}: is fixed once a run has begun" --resume "$t/a" -o "$t/l2" "$key"
    check "${key%%=*} is refused by name"
done
refused "congestion.cnp_size: is fixed" --resume "$t/v" -o "$t/l2" "congestion.cnp_size=64 B"
check "so is a key of a kind"
refused "jobs\[0\].bytes: is fixed" --resume "$t/A" -o "$t/l2" "jobs[0].bytes=1 B"
check "and one of a job that has begun"
refused "routing.sticky: --resume" --resume "$t/a" -o "$t/l2" routing.sticky=flow
check "and the former name of one"
refused "run.end: comes before" --resume "$t/a" -o "$t/l2" "run.end=10 us"
check "an end before the fork is refused"
refused "traffic.laod" --resume "$t/a" -o "$t/l2" traffic.laod=0.3
check "a key that is none is refused"
[ ! -e "$t/l2" ]
check "what is refused writes nothing"
