#!/bin/bash
# Latency by part (output.series.latency): the parts add up to the latencies exactly, are what they must be in an empty network, change
# nothing else, and are the same on any number of ranks and after a checkpoint.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
# Sums from means, which are doubles: they must agree to a part of 10^12. Parts of packets are those of total_latency_ps, without the
# source queue those of packet_latency_ps; of messages those of message_latency_ps.
adds_up() { # FOLDER
    jq -e '.result as $r | $r.latency_parts as $p |
        def near($a; $b): (($a - $b) | fabs) <= ($b + 1) * 1e-12;
        def path: .injection_ps + .switches_ps + .links_ps + .ejection_ps;
        $p.packets.count == $r.total_latency_ps.count and $p.messages.count == $r.message_latency_ps.count and $p.packets.count > 0
        and near($p.packets | path; $r.packet_latency_ps.mean * $r.packet_latency_ps.count)
        and near($p.packets | .source_queue_ps + path; $r.total_latency_ps.mean * $r.total_latency_ps.count)
        and near($p.messages | .source_queue_ps + path + .resequencing_ps; $r.message_latency_ps.mean * $r.message_latency_ps.count)
        and ($p.packets | .switch_wait_ps <= .switches_ps and .contention_ps >= .switch_wait_ps
            and .contention_ps <= .switch_wait_ps + .source_queue_ps)' "$1/summary.json" >"$t/jq" || { jq -c .result.latency_parts "$1/summary.json"; return 1; }
}
same_result() { # FOLDER FOLDER: but for the parts
    cmp <(jq -S '.result | del(.latency_parts)' "$1/summary.json") <(jq -S '.result | del(.latency_parts)' "$2/summary.json") &&
        cmp "$1/links.csv" "$2/links.csv"
}
torus=(configs/torus-uniform.cfg topology.extents=4,4,4 "run.end=8 us" "output.period=1 us")
try() { # NAME ARGUMENTS
    run -o "$t/off" "${torus[@]}" "${@:2}" && run -o "$t/on" "${torus[@]}" "${@:2}" output.series.latency=periods &&
        adds_up "$t/on" && same_result "$t/on" "$t/off"
    check "$1"
}
try "a torus at its load" traffic.load=0.8
try "messages of several packets, and small ones, out of order" traffic.load=0.7 "traffic.size=5000 B" routing.algorithm=adaptive
try "with resequencing" traffic.load=0.7 "traffic.size=5000 B" routing.algorithm=adaptive adapter.resequence=true
try "store and forward, a limited sink" switch.forwarding=store_and_forward "switch.buffer=16 KiB" "adapter.ejection_rate=12 GB/s" traffic.load=0.6
try "FIFOs, priorities, headers for each hop" switch.queueing=fifo "adapter.header=16 B" routing.decided=source "routing.hop_bytes=4 B"
try "random paths" routing.algorithm=valiant
try "congestion control" congestion.control=ecn traffic.pattern=hotspot traffic.load=0.5
run -o "$t/a" configs/fat-tree-lammps.cfg output.series.latency=total && adds_up "$t/a"
check "a traced job on a fat tree, whose classes of links differ"
run -o "$t/a" configs/hierarchical-gups.cfg "run.end=20 us" output.series.latency=total && adds_up "$t/a"
check "a hierarchical network"

# One packet at a time: each switch takes its delay and no more, each link its latency.
run -o "$t/a" configs/torus-uniform.cfg topology.extents=4 routing.algorithm=minimal traffic.load=0.000001 "run.warmup=0 ns" "run.end=20 ms" \
    "topology.latency=70 ns" "switch.delay=33 ns" output.series.latency=total && adds_up "$t/a" &&
    jq -e '.result as $r | $r.latency_parts.packets | .count > 0 and .switch_wait_ps == 0 and .contention_ps == 0
        and .injection_ps == .count * 70000 and .ejection_ps == .count * (70000 + 20480)
        and .links_ps == ($r.hops.mean * .count - 2 * .count) * 70000 and .switches_ps == ($r.hops.mean * .count - .count) * 33000' \
        "$t/a/summary.json" >"$t/jq"
check "in an empty network the parts are those of the topology"

heavy=("${torus[@]}" traffic.load=0.9 "traffic.size=3000 B" routing.algorithm=adaptive adapter.resequence=true "adapter.ejection_rate=20 GB/s"
    output.series.latency=periods)
run -o "$t/a" "${heavy[@]}" && adds_up "$t/a"
check "all of it at once"
awk -F, 'NR > 1 { for (i = 3; i <= 11; i++) sum[$2, i] += $i } END { printf "%d %d %d %d\n", sum["packets", 3], sum["packets", 4], sum["messages", 6],
    sum["messages", 9] }' "$t/a/latency_series.csv" >"$t/sums"
jq -r '.result.latency_parts | "\(.packets.count) \(.packets.source_queue_ps) \(.messages.switches_ps) \(.messages.resequencing_ps)"' \
    "$t/a/summary.json" | cmp - "$t/sums"
check "the periods add up to the whole"
all_alike "all of it at once" "${heavy[@]}"
[ "$number" -gt 0 ]
