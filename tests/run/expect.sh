#!/bin/bash
# What --check expects of a run: tests/run/expect.sh
#
# Messages exactly where programs say them; events within a factor of two of those of the shipped configurations, of every model of the network and of
# traffic of every sort; the same numbers on several ranks; JSON.
set -u
cd "$(dirname "$0")/../.." || exit 2
command -v jq >/dev/null || { echo "SKIP: jq is missing"; exit 0; }
. tests/lib-runs.sh

expected() { "$m" --check=json "$@" partition.bind=no 2>"$t/err" >"$t/json"; }
# The field of what is expected, as a whole number.
field() { jq ".expected.$1 | round" "$t/json"; }
# NAME CONFIGURATION KEYS...: events within a factor of two, memory too
near() {
    local name=$1
    shift
    rm -rf "$t/out"
    expected "$@" && run -o "$t/out" "$@" &&
        jq -n -e --slurpfile e "$t/json" --slurpfile s "$t/out/summary.json" '($e[0].expected.events / $s[0].run.events) as $r |
            ($e[0].expected.memory_bytes / $s[0].run.peak_rss_bytes) as $b | [$r, $b] | debug | $r > 0.5 and $r < 2 and $b > 0.3 and $b < 3' >>"$t/err" 2>&1
    check "$name: events and memory"
}

expected configs/star-pingpong.cfg && [ "$(field messages) $(field message_bytes) $(jq -r .expected.bound "$t/json")" = "2000 16000 about" ]
check "1,000 round trips of 8 bytes: 2,000 messages, 16,000 bytes"
# Of 16 tasks a ring has 2 messages a task and step; all to all in pairs 15; beyond the eager limit RTS, READ, DATA, FIN.
cat >"$t/c.cfg" <<'END'
topology: { kind = "star"; nodes = 16; bandwidth = "10 GB/s"; latency = "50 ns"; };
mpi: { eager_limit = "8 KiB"; collectives: { alltoall = ["pairwise"]; }; };
jobs = ( { program = "stencil"; extents = [16]; bytes = "1 KiB"; steps = 30; } );
END
expected "$t/c.cfg" && [ "$(field messages) $(field message_bytes)" = "960 983040" ]
check "a ring: 960 messages of 1 KiB"
expected "$t/c.cfg" 'jobs=({program="collective";collective="alltoall";tasks=16;bytes="100 kB";iterations=3;sync="none"})' &&
    [ "$(field messages) $(field message_bytes)" = "2880 72000000" ]
check "all to all in pairs, by rendezvous: 4 x 15 messages a task and iteration"
messages_goal "$t/four.goal" 16 "0 3 1000 0" "1 3 1000" "2 9 500"
expected "$t/c.cfg" "jobs=({program=\"trace\";format=\"goal\";trace=\"$t/four.goal\";time_unit=\"1 ns\"})" && [ "$(field messages) $(field message_bytes)" = "3 2500" ]
check "a schedule above nodes"
expected configs/torus-uniform.cfg && one=$(field messages) && timeout 120 mpirun -n 3 "$m" --check=json configs/torus-uniform.cfg \
    partition.oversubscribe=true partition.bind=no 2>>"$t/err" >"$t/json" && [ "$one $(field messages)" = "250000 250000" ]
check "512 sources at 25 GB/s x 0.4 / 512 B for 25 us: 250,000 messages, on 1 and 3 ranks"

for config in fat-tree-lammps star-pingpong dragonfly; do near "$config" configs/$config.cfg; done
near "torus-uniform" configs/torus-uniform.cfg run.end="10 us"
near "fabric" configs/fabric.cfg run.end="200 us"
near "fat-tree-gups" configs/fat-tree-gups.cfg run.warmup="0 ns" run.end="2 us"
near "hierarchical-gups, no faster than without others" configs/hierarchical-gups.cfg run.warmup="0 ns" run.end="10 us"
# At full load its links of level 2 carry an eighth of what is offered.
near "hierarchical-gups-65536, smaller, at a tenth of the load" configs/hierarchical-gups-65536.cfg topology.groups=8,2,5 run.end="6 us" traffic.load=0.1
expected configs/hierarchical-gups-65536.cfg topology.groups=8,2,5 run.end="6 us" && [ "$(jq -r .expected.bound "$t/json")" = "at most" ]
check "more than half of what nodes can send: at most"
near "torus-leanmd, smaller" configs/torus-leanmd.cfg topology.extents=4,4,4 'jobs=({program="leanmd";cells=[4,4,4];atoms=15000;steps=2;pair_time="5 ns"})'
cat >"$t/two.cfg" <<END
topology: { kind = "fat_tree"; down = [4, 4, 4]; up = [1, 4, 4]; bandwidth = "2.5 GB/s"; latency = "220 ns"; };
jobs = ( { program = "trace"; trace = "$PWD/configs/traces/lammps-lj-32"; placement = "random"; },
         { program = "stencil"; extents = [8, 4]; bytes = "20 KiB"; steps = 30; compute_time = "3 us"; allreduce_every = 2; } );
END
for model in packet simple links "bus network.buses=4" "pmac network.buses=4" flow; do near "${model%% *}" "$t/two.cfg" network.model=$model; done
near "simple, with overheads" "$t/two.cfg" network.model=simple node.send_overhead="300 ns" node.receive_overhead="300 ns"
sed 's/topology.*//; s/placement[^;]*;//' "$t/two.cfg" >"$t/processes.cfg"
near "loggops" "$t/processes.cfg" network.model=loggops

"$m" --check "$t/two.cfg" >"$t/out.txt" 2>"$t/err" && grep -q '^expected   about [0-9]*000 events, of [0-9]* messages with ' "$t/out.txt"
check "as text"
expected "$t/two.cfg" run.end="1 us" && [ "$(jq -r .expected.bound "$t/json")" = "at most" ]
check "jobs that the end of the run cuts off: at most"
expected "$t/two.cfg" "jobs[1].restart=true" "jobs[1].background=true" && [ "$(jq -r .expected.bound "$t/json")" = "at least" ]
check "a job that begins again and again: at least"
"$m" --check=much "$t/two.cfg" >"$t/out.txt" 2>"$t/err"
[ $? -ne 0 ] && grep -q -- '--check=much: there are --check, --check=full and --check=json' "$t/err"
check "refused: another word"
