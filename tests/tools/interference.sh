#!/bin/bash
# Four jobs beside each other on 1,024 nodes, a trace and three generators: placed at random, contiguously and by group without any hand-made file, each
# alone, too, on the same nodes; who slows down whom, and on which links they meet.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
sweep=$(dirname "$marssim")/marssweep
[ -x "$sweep" ] || { echo "SKIP: there is no marssweep"; exit 0; }

cat >"$work/four.cfg" <<CFG
topology: { kind = "fat_tree"; down = [16, 8, 8]; up = [1, 4, 4]; bandwidth = "12.5 GB/s"; latency = "50 ns"; };
routing: { algorithm = "adaptive"; };
output: { links_by_job = true; waits = true; };
jobs = ( { name = "lammps"; program = "trace"; trace = "$PWD/configs/traces/lammps-lj-32"; processor_factor = 0; },
         { name = "fft"; program = "fft"; points = [128, 128, 128]; grid = [16, 16]; steps = 1; compute_time = "60 us"; },
         { name = "transport"; program = "wavefront"; grid = [16, 16]; blocks = 2; bytes = ["6 kB", "4 kB"]; steps = 1; compute_time = "160 us"; },
         { name = "graph"; program = "sparse"; tasks = 350; degree = 6; bytes = ["1 kB", "32 kB"]; steps = 10; compute_time = "20 us"; } );
CFG
cd "$work" || exit 2
"$sweep" -q -o all four.cfg 'jobs[*].placement=random,contiguous,by_group' --alone >out 2>err && [ "$(find all/runs -name summary.json | wc -l)" = 15 ]
check "no placement is refused"
slowdown() { # PLACEMENT JOB: of its time to the end
    awk -F, -v at="$1" -v job="$2" '$1 ~ at && $3 == job && $4 == "finished" { print $NF }' all/slowdown.csv
}
table=$(for placement in random contiguous by_group; do for job in lammps fft transport graph; do slowdown $placement $job; done; done)
[ "$(wc -l <<<"$table")" = 12 ] && awk '$1 < 0.9 { exit 1 }' <<<"$table"
check "a slowdown of each job under each placement"
more() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }
more "$(slowdown random lammps)" 1.05 && more "$(slowdown random fft)" 1.05 && more 1.02 "$(slowdown contiguous lammps)" && more 1.001 "$(slowdown by_group lammps)"
check "at random they slow each other down, in groups of their own they do not"

# Links between switches that carry something, and those of them that carry two jobs or more.
meetings() { awk -F, 'NR > 1 && $1 == "switch" && $4 == "switch" { jobs[$2 "." $3]++ } END { for (l in jobs) { n++; two += jobs[l] > 1 } print n, two + 0 }' "$1/links_by_job.csv"; }
shared() { # PLACEMENT: the run of all jobs
    for folder in all/runs/*; do
        jq -e ".words[\"jobs[*].placement\"] == \"$1\" and ([.words | keys[] | select(test(\"start\"))] | length) == 0" "$folder/point.json" >/dev/null && echo "$folder"
    done
}
read -r used met <<<"$(meetings "$(shared by_group)")"
[ "$used" -gt 100 ] && [ "$met" = 0 ]
check "in groups of their own no link carries two jobs"
read -r used met <<<"$(meetings "$(shared random)")"
[ "$met" -gt $((used / 2)) ]
check "at random most links carry several"
