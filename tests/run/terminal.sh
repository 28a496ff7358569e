#!/bin/bash
# What a run says on the terminal: tests/run/terminal.sh
#
# The bottleneck, saturation and spans that are not steady; a line of progress every ten seconds into a file; SIGUSR1, which changes no result.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
cd "$work" || exit 2

# ---- what limits ----

flat() { tr '\n' ' ' <"$1" | tr -s ' '; } # lines of a summary as one
tree="$top/configs/fat-tree-gups.cfg topology.down=4,4 topology.up=1,4 run.warmup=2us run.end=6us"
"$marssim" -q -o thin $tree topology.taper=0.25 >out 2>err
flat thin/summary.txt | grep -q 'bottleneck saturated: the source queues of 16 of 16 nodes grow, by [67][0-9.]* % of the offered load (100.0 %, accepted [23][0-9.]* %); latencies depend on the length of the run; links of class level 2 are up to'
check "a thin tree is saturated at level 2"
"$marssim" -q -o light $tree traffic.load=0.2 >out 2>err
flat light/summary.txt | grep -q 'updates [0-9.]* GUPS.* bottleneck no link is full: the busiest links, of class' && [ ! -s err ]
check "a light load is not limited by links"
# 16 nodes x 25 GB/s x the accepted share, 64 bytes each
[ "$(jq '.result | (.traffic.updates_per_s / (.accepted_load * 16 * 25e9 / 64) * 1e9 | round) == 1e9 and .traffic.traffic_load == 0.2' light/summary.json)" = true ]
check "an update is a message"
# At 8 % above what it accepts; and below, for any seed, and a run ten times as long.
queues() { # WORDS...: growth in per cent, and whether that is saturation
    rm -rf queues && "$marssim" -q -o queues $tree topology.taper=0.25 "$@" >out 2>err && jq -r '.result.traffic.source_queues | "\(.saturated) \(.growth * 100 | round)"' queues/summary.json
}
[[ $(queues traffic.load=0.34 run.end=60us) == "true "[5-9] ]]
check "a network that accepts a little less than is offered is saturated"
for seed in 1 2 3; do
    [ "$(queues traffic.load=0.3 run.seed=$seed)$(queues traffic.load=0.2 run.seed=$seed traffic.arrival=burst)" = "false 0false 0" ]
    check "one that keeps up is not (seed $seed)"
done
# Buffers that are large take up what does not arrive: sources lose nothing as long as they fill.
[[ $(queues traffic.load=0.5 switch.buffer=1MiB run.end=30us) == "false "* ]] && flat queues/summary.txt | grep -q 'bottleneck the network fills: of what enters it [2-5][0-9.]* % stays there' &&
    queues traffic.load=0.2 switch.buffer=1MiB run.end=30us >out && ! grep -q fills queues/summary.txt
check "beyond saturation large buffers fill first, and the summary says so"
[ "$(queues traffic.load=0.1 traffic.start=5us)" = "false 0" ]
check "nor one whose traffic begins late"
queues traffic.load=1.25 >queued && grep -q "^true" queued && grep -q "warning: traffic.load: the traffic is 1.25 times what the injection links can carry" err
check "a load above 1 is warned of"
queues adapter.header=64B traffic.load=0.2 >queued && flat queues/summary.txt | grep -q "load offered 10.00 %, accepted [0-9.]* % of the injection bandwidth as payload; traffic.load is 0.2 of each sender's, headers included"
check "a load that counts headers says so"

# Closed loops: 16 nodes, each with 4 in flight; by Little's law, updates per second times the round trip are 64.
sed "/load = 1.0/d" "$top/configs/fat-tree-gups.cfg" >loop.cfg
"$marssim" -q -o loop ${tree/*.cfg/loop.cfg} traffic.outstanding=4 >out 2>err
flat loop/summary.txt | grep -q "bottleneck limited by 4 messages outstanding (traffic.outstanding) over a round trip of [0-9.]* ns; no link is full"
check "a closed loop is limited by what may be outstanding"
jq -e '.result | .traffic.updates_per_s * 2 * .message_latency_ps.mean / 1e12 | . > 63 and . < 65' loop/summary.json >out
check "which follows Little's law"

# Buffers that cannot fill their links: what the warning says is what the simulation carries, and the least buffer that it names is enough.
cat >long.cfg <<'END'
topology: { kind = "torus"; extents = [2]; wrap = false; bandwidth = "100 GB/s"; latency = "500 ns"; };
switch: { channels = 1; output_queue = "64 KiB"; };
traffic: { pattern = "shift"; load = 1.0; size = "64 KiB"; };
run: { warmup = "50 us"; end = "250 us"; };
END
carried() { # the share that links of class x carry, in per cent, is that of the warning
    rm -rf long && "$marssim" -q -o long long.cfg "$@" >out 2>err &&
        [ "$(grep -o 'class x carries at most [0-9]* %' err | tr -dc 0-9)" = "$(jq '.result.link_classes[0].max_utilisation * 100 | round' long/summary.json)" ]
}
for keys in "switch.channels=1" "switch.buffer=16KiB" "switch.delay=200ns" "switch.credit_delay=300ns" "switch.forwarding=store_and_forward switch.buffer=32KiB" "adapter.packet_size=1KiB" \
    "topology.bandwidth=25GB/s switch.buffer=16KiB" "routing.pinning=flow switch.channels=4"; do
    carried $keys
    check "a buffer that is too small for its link carries what the warning says: $keys"
done
"$marssim" --check long.cfg >out 2>err && grep -q "x carries at most 57 % of 100 GB/s: switch.buffer holds 15 packets on each of 1 channel, 26.4 are in flight in a credit round trip of 1.091 us; 111456 B or more would do" err &&
    "$marssim" -q -o long long.cfg switch.buffer=111456B >out 2>err && [ ! -s err ] && [ "$(jq '.result.link_classes[0].max_utilisation > 0.99' long/summary.json)" = true ]
check "the buffer that it names fills the link"
for config in "$top"/configs/*.cfg; do "$marssim" --check "$config" 2>&1 | grep "carries at most"; done >out
[ ! -s out ]
check "no configuration that is shipped has such buffers"

# Nothing measured is not zero.
"$marssim" -q -o none $tree run.end=2001ns topology.latency=20us >out 2>err
flat none/summary.txt | grep -q "bottleneck no packet of the measured span arrived before the end of the run: its latency is not known" &&
    jq -e '.result | .packet_latency_ps.count == 0 and .packet_latency_ps.mean == null and .packet_latency_ps.p99 == null and .hops.mean == null' none/summary.json >out
check "without a packet that arrived no latency is said"
"$marssim" -q -o cold "$top/configs/star-pingpong.cfg" run.warmup=1s >out 2>err
flat cold/summary.txt | grep -q "load accepted - of .* bottleneck nothing was measured: the run ended before its warm-up was over (run.warmup)" &&
    jq -e '.result | .accepted_load == null and .link_classes[0].mean_utilisation == null' cold/summary.json >out && [ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "utilisation") at = i } NR > 1 && $at != ""' cold/links.csv)" = "" ]
check "nor a load before the warm-up was over"

"$marssim" -q -o traced "$top/configs/fat-tree-lammps.cfg" >out 2>err
costless="mpi calls take no processor time (node.send_overhead, node.receive_overhead; or mpi.overheads = .loggops.), nor do reductions: small messages are 5 to 15 times faster"
sed "/^node: {/,/^};/d; /^mpi: {/,/^};/d; s|\"traces/|\"$top/configs/traces/|" "$top/configs/fat-tree-lammps.cfg" >costless.cfg
"$marssim" --check costless.cfg >out 2>err
"$marssim" -q -o costless costless.cfg run.end=1ms 2>err
flat costless/summary.txt | grep -q "$costless" && flat out | grep -q "$costless"
check "calls of MPI that cost nothing are told"
free=""
for keys in "fat-tree-lammps.cfg" "fat-tree-lammps.cfg mpi.overheads=loggops mpi.rendezvous=read" "torus-leanmd.cfg" "torus-uniform.cfg"; do
    "$marssim" --check "$top/configs/"$keys >out 2>err || free="$keys: $(cat err)"
    ! grep -q "^mpi " out || free=$keys
done
verdict "$free" "but not where they do, or where there are none"
flat traced/summary.txt | grep -q 'bottleneck computation: job lammps waits 3[0-9] % of its tasks. time'
check "a job that computes is"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 { w += $at["wait_ps"] + $at["send_wait_ps"]; c += $at["compute_ps"] }
    END { printf "%.6f\n", w / (w + c) }' traced/tasks.csv >a && jq -r '.result.jobs[0].wait_share * 1e6 | round / 1e6' traced/summary.json | xargs printf '%.6f\n' | diff - a >err
check "its share is that of tasks.csv"

# What is known to limit is what the sentence names: a task with three times the work, adapters that take a third of what a link brings, 12 tasks that draw
# 216 GB/s from controllers of 20.
cat >halo.cfg <<'END'
topology: { kind="fat_tree"; radix=4; levels=3; bandwidth="12.5 GB/s"; latency="100 ns"; };
jobs: ( { name="halo"; program="stencil"; tasks=12; extents=[12]; bytes="64 KiB"; steps=10; compute_time="100 us"; } );
END
named() { # WORDS KEYS...: the bottleneck of this run
    local words=$1
    shift
    rm -rf named && "$marssim" -q -o named halo.cfg "$@" >out 2>err && flat named/summary.txt | grep -q "bottleneck $words"
}
named "job halo waits [0-9]* % of its tasks' time (.* for late senders), its task 5 computes 2.6 times as long as the mean of all; no link" \
    'jobs[0].task_factors=({tasks="5"; processor_factor=3.0;})' output.waits=true
check "a task that the others wait for"
named "computation: job halo waits [0-9]* % of its tasks' time, and the" && ! flat named/summary.txt | grep -q "its task [0-9]"
check "and none where all compute alike"
named "adapters take packets off at up to 9[0-9.]* % of adapter.ejection_rate ([0-9.]* % on average); job halo waits 100 %" 'adapter.ejection_rate=4 GB/s' jobs[0].compute_time=0us jobs[0].bytes=1MiB &&
    [ "$(jq '.result.ejection | [.adapters, (.max_utilisation * 1e6 | round)] | tostring' named/summary.json)" = "\"[16,$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $at["to_kind"] == "node" && $at["bytes"] > most { most = $at["bytes"] } END { printf "%.0f\n", 1e6 * most / 4e9 * 1e12 / '"$(jq .result.simulated_time_ps named/summary.json)"' }' named/links.csv)]\"" ]
check "adapters that are slower than their links"
memory=(node.cores=6 'node.controller_bandwidth=20 GB/s' 'jobs[0].memory_bandwidth=18 GB/s' jobs[0].tasks_per_node=6 jobs[0].bytes=8)
named "memory controllers are up to [0-9.]* % busy ([0-9.]* % on average); job halo waits [0-9]* % .*, stalls 8[0-9] % for memory" "${memory[@]}"
check "memory that all cores share"
[ "$(jq '.result.jobs[0] | (.wait_share * 1e9 | round) == ((.time_shares | .wait + .send_wait) * 1e9 | round)' named/summary.json)" = true ]
check "the share of waiting is one of stalls, too"
named "job halo waits [0-9]* % of its tasks' time" network.model=loggops
check "above LogGOPS it is told of the jobs"

# ---- steady or not ----

full="$top/configs/torus-uniform.cfg topology.extents=8,8 run.warmup=0ns run.end=25us traffic.load=0.9 run.confidence=0.0001 run.batch=1us"
"$marssim" -q -o full $full >out 2>err
jq -e '.result.confidence.steady == false and .result.confidence.batches >= 9' full/summary.json >out && grep -q 'the measured span was not steady: packets took .* longer run.warmup than 0 ps' err
check "a network that still fills is not steady"
"$marssim" -q -o calm $full run.warmup=5us traffic.load=0.3 >out 2>err && jq -e '.result.confidence.steady' calm/summary.json >out && [ ! -s err ]
check "one at a light load is, without a word"
for ranks in 2 3 5; do
    mpirun -n $ranks "$marssim" -q -o "full$ranks" $full partition.oversubscribe=true >out 2>err
    diff <(jq .result full/summary.json) <(jq .result "full$ranks/summary.json") >err
    check "the same on $ranks ranks"
done

# ---- progress and SIGUSR1 ----

# Long enough for any machine: it is ended from outside.
long="$top/configs/torus-uniform.cfg topology.extents=8,8 run.end=1s partition.adapt=false"
wait_for() { # WORDS FILE: until they are there
    local i
    for ((i = 0; i < 600; i++)); do grep -q -s -e "$1" "$2" && return 0; sleep 0.1; done
    return 1
}
# What lasts ten seconds is slept through: the run stands still meanwhile and leaves the processor to others.
stand_still() { # PROCESS SECONDS
    sleep 0.5 && kill -STOP "$1" && sleep "$2" && kill -CONT "$1"
}
"$marssim" -o lines $long >out 2>lines.err &
run=$!
stand_still $run 10
wait_for 'marssim: .* of 1 s ' lines.err
check "a line of progress every ten seconds where there is no terminal"
kill -USR1 $run
wait_for 'marssim: status: .* of 1 s simulated, [0-9]* packets delivered of' lines.err && wait_for 's[0-9]*.[0-9]* > s[0-9]* .* %' lines.err
check "SIGUSR1: how far it is, and the busiest links"
kill -TERM $run
wait $run
[ $? -eq 143 ] && ! grep -q $'\r' lines.err
check "and it continues until it is ended"
"$marssim" -q -o quiet $long >out 2>quiet.err &
run=$!
stand_still $run 11
sleep 0.5
kill -TERM $run
wait $run
[ ! -s quiet.err ]
check "no line with --quiet"

# A run that ends with its jobs is as far as these are in their steps.
"$marssim" -o jobs halo.cfg jobs[0].steps=4000000000 >out 2>jobs.err &
run=$!
stand_still $run 10
wait_for 'marssim: [0-9.]* [mu]*s simulated  [0-9]* %' jobs.err
check "the percentage of a run that ends with its jobs"
kill -TERM $run
wait $run

# Asked many times, the results are those of a run that nobody asked.
short="$top/configs/hierarchical-gups.cfg run.end=30us partition.oversubscribe=true"
"$marssim" -q -o alone $short output.period="1 us" >out 2>err
for ranks in 1 2; do
    rm -f ranks
    mpirun -n $ranks bash -c 'echo $$ >>ranks; exec "$@"' - "$marssim" -q -o "asked$ranks" $short output.period="1 us" >out 2>asked.err &
    run=$!
    wait_for 000000, "asked$ranks/periods.csv" # its signals are taken over
    while kill -USR1 $(cat ranks) 2>/dev/null; do sleep 0.1; done
    wait $run
    grep -q 'marssim: status:' asked.err && diff <(jq .result alone/summary.json) <(jq .result "asked$ranks/summary.json") >err && cmp alone/links.csv "asked$ranks/links.csv" >err
    check "SIGUSR1 changes no result on $ranks ranks"
done
