#!/bin/bash
# What detours do on dragonflies: bench/detours.sh [SEEDS]
#
# Dragonflies of 72 and 1,056 nodes, packets of 1 and 4 KiB, global links of 100 and 500 ns, one process at a time: rows of CSV with the
# latency at a low load and the load accepted at a high one, uniform and adversarial, each with the share of packets on detours.
# docs/routing.md has the table. SYSTEMS, PACKETS, CABLES and ROUTINGS (words, in ROUTINGS "name:bias" or "name", with "," before more keys)
# choose; MARSSIM names the program, LOADS, SPAN_US, OVERRIDES as below.
set -u
seeds=${1:-1}
program=${MARSSIM:-./marssim}
dir=$(mktemp -d) || exit 1
trap 'rm -r "$dir"' EXIT
span=${SPAN_US:-40}

simulate() { # SYSTEM KIB CABLE ROUTING PATTERN LOAD SEED: mean latency in ns, accepted load, share of detours
    local groups="[4, 9]" nodes=2 algorithm=${4%%[:,]*} bias=
    [ "$1" = 72 ] || groups="[8, 33]" nodes=4
    [[ $4 != *:* ]] || { bias=${4#*:}; bias="routing.bias=${bias%%,*}"; }
    cat >"$dir/run.cfg" <<END
topology: { kind = "hierarchical"; groups = $groups; nodes_per_switch = $nodes; bandwidth = "10 GB/s"; latency = ["10 ns", "$3 ns"]; };
routing: { algorithm = "$algorithm"; };
switch: { channels = 6; buffer = "$((16 * $2)) KiB"; output_queue = "$((8 * $2)) KiB"; delay = "50 ns"; };
adapter: { packet_size = "$2 KiB"; header = "0 B"; };
traffic: { pattern = "$5"; load = $6; size = "$2 KiB"; };
run: { warmup = "$span us"; measure = "$span us"; drain = false; seed = $7; };
output: { links = false; histograms = false; };
END
    nice "$program" -q -o "$dir/out" "$dir/run.cfg" $bias $([[ $4 != *,* ]] || echo "${4#*,}" | tr ',' ' ') ${OVERRIDES:-} || exit 1
    jq -r '.result | .routes as $r | [(.packet_latency_ps.mean // 0) / 1000, .accepted_load,
        (if $r then $r.detour / ([$r.detour + $r.minimal, 1] | max) else 0 end)] | map(tostring) | join(",")' "$dir/out/summary.json"
}

echo "nodes,packet_kib,cable_ns,routing,pattern,load,seed,latency_ns,accepted,detours"
for system in ${SYSTEMS:-72 1056}; do
    for kib in ${PACKETS:-1 4}; do
        for cable in ${CABLES:-100 500}; do
            # two latencies and four packets, in ps: beside the default of eight latencies
            less=$((2000 * cable + 4 * 102400 * kib))ps
            for routing in ${ROUTINGS:-minimal valiant ugal par ugal_piggyback ugal:$less par:$less ugal_piggyback:$less}; do
                for at in ${LOADS:-uniform,0.5 uniform,0.9 adversarial,0.3 adversarial,0.5}; do
                    for seed in $(seq "$seeds"); do
                        echo "$system,$kib,$cable,${routing//,/ },$at,$seed,$(simulate $system $kib $cable $routing ${at/,/ } $seed)"
                    done
                done
            done
        done
    done
done
