#!/bin/bash
# Ranks that are not worth it: tests/adapt.sh
#
# Two tasks on different ranks send each other one message after the other: a round of the ranks for a few records. Two ranks begin again
# as one, after 1,000 rounds at the latest; results, rows of periods.csv and warnings are those of one rank.
set -u
cd "$(dirname "$0")/.." || exit 2
command -v jq >/dev/null || { echo "SKIP: jq is missing"; exit 0; }
. tests/lib-script.sh
cd "$work" || exit 2

cat >pingpong.cfg <<'END'
topology: { kind = "torus"; extents = [5, 4]; bandwidth = "10 GB/s"; latency = "100 ns"; };
jobs: ( { program = "pingpong"; placement = "strided"; stride = 13; bytes = 100; steps = 20000; } );
output: { period = "1 ms"; };
partition: { bind = "no"; };
END
"$marssim" -q -o one pingpong.cfg >err 2>&1
check "one rank"
for adapt in true false; do

    mpirun -n 2 "$marssim" -q -o "$adapt" pingpong.cfg partition.adapt=$adapt >err 2>&1 &&
        [ "$(jq -S .result one/summary.json)" = "$(jq -S .result "$adapt/summary.json")" ] &&
        cmp one/periods.csv "$adapt/periods.csv" && cmp one/tasks.csv "$adapt/tasks.csv"
    check "two ranks, partition.adapt = $adapt: the results of one"
done
jq -e '.run.adapted == false and .run.working_ranks == 2' false/summary.json >/dev/null
check "without partition.adapt both ranks stay"
jq -e '.run.adapted and .run.working_ranks == 1' true/summary.json >/dev/null
check "with it one goes on, and who has simulated is told"
mpirun -n 2 "$marssim" -q -o warned pingpong.cfg run.warmup="900 s" run.end="1000 s" >err 2>&1
[ "$(grep -c "nothing was measured" err)" -eq 1 ]
check "a warning is said once"
mpirun -n 2 "$marssim" -q -o piped /dev/stdin <pingpong.cfg >err 2>&1 &&
    [ "$(jq -S .result one/summary.json)" = "$(jq -S .result piped/summary.json)" ] && jq -e '.run.adapted == false' piped/summary.json >/dev/null
check "a configuration from a pipe is read once"
