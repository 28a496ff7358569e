#!/bin/bash
# Jobs that take free nodes: tests/tasks/allocation.sh
#
# Which nodes each placement takes of what earlier jobs leave, jobs that name their nodes, shared nodes, seeds, what does not fit; and a
# job alone on the nodes that it has beside others.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
cd "$work" || exit 2
# Nine groups of four switches with two nodes each: group g has the nodes 8 g to 8 g + 7.
cat >system.cfg <<'END'
topology: { kind = "dragonfly"; p = 2; a = 4; h = 2; bandwidth = "10 GB/s"; latency = "50 ns"; };
jobs: ( { name = "a"; program = "stencil"; extents = [12]; steps = 2; },
        { name = "b"; program = "stencil"; extents = [10]; steps = 2; },
        { name = "c"; program = "stencil"; extents = [6]; steps = 2; } );
END

nodes() { # JOB: of its tasks, in results/tasks.csv
    awk -F, -v job="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["job"] == job { printf "%s%s", n++ ? " " : "", $at["node"] }' results/tasks.csv
}
placed() { # NAME EXPECTED ("a: 0 1|b: 2 3") WORD...: where the tasks are
    local name=$1 wanted=$2 job found=""
    shift 2
    rm -rf results
    "$marssim" -q -o results system.cfg "$@" >out 2>err || { verdict "exit status $?" "$name"; return; }
    for job in $(grep -o '[a-z]*:' <<<"$wanted" | tr -d :); do found="$found${found:+|}$job: $(nodes "$job")"; done
    verdict "$([ "$found" = "$wanted" ] || echo "$found")" "$name"
}

placed "sequential jobs are behind each other" "a: $(echo {0..11})|b: $(echo {12..21})|c: $(echo {22..27})"
placed "a job that names its nodes has them, wherever it is" "a: $(echo {0..3} {10..17})|b: $(echo {18..27})|c: 4 5 6 7 8 9" 'jobs[c].first_node=4' 'jobs[c].nodes=6'
placed "strided counts along the free nodes" "a: $(echo {0..11})|b: 12 15 18 21 24 27 30 33 36 39" 'jobs[b].placement=strided' 'jobs[b].stride=3'
placed "contiguous takes the first run that is long enough" "b: $(echo {18..27})|c: $(echo {0..5})" 'jobs[a].first_node=6' 'jobs[b].placement=contiguous' 'jobs[c].placement=contiguous'
placed "by_group takes whole groups, and their other nodes, too" "a: $(echo {0..11})|b: $(echo {16..25})|c: 12 13 14 15 32 33" 'jobs[b].placement=by_group'
placed "by_group of switches" "a: $(echo {1..12})|b: $(echo {14..23})|c: 0 13 $(echo {24..27})" 'jobs[a].first_node=1' 'jobs[a].nodes=12' 'jobs[b].placement=by_group' 'jobs[b].group=switch'
placed "scattered takes one of each group in turn" "a: $(echo {0..11})|b: 12 16 24 32 40 48 56 64 13 17" 'jobs[b].placement=scattered'
placed "several tasks to a node" "a: 0 0 0 0 1 1 1 1 2 2 2 2|b: 3 3 3 3 4 4 4 4 5 5|c: $(echo {6..11})" node.cores=4 'jobs[a].tasks_per_node=4' 'jobs[b].tasks_per_node=4'
placed "as many as a node has cores" "a: 0 0 0 1 1 1 2 2 2 3 3 3|b: 4 4 4 5 5 5 6 6 6 7|c: $(echo {8..13})" node.cores=3 'jobs[a].fill=cores' 'jobs[b].fill=cores'
placed "jobs that share nodes take the same" "a: $(echo {0..11})|b: $(echo {0..9})|c: $(echo {12..17})" node.cores=2 'jobs[a].share=true' 'jobs[b].share=true'

random() { # of a and b, with these words
    "$marssim" -q -o results system.cfg 'jobs[a].placement=random' 'jobs[b].placement=random' "$@" >out 2>err && echo "$(nodes a)|$(nodes b)"
}
both=$(random) seeded=$(random 'jobs[b].placement_seed=7')
[ "$(tr ' |' '\n\n' <<<"$both" | sort -u | wc -l)" -eq 22 ]
check "random jobs have no node in common"
[ "${both%|*}" = "${seeded%|*}" ] && [ "${both#*|}" != "${seeded#*|}" ]
check "a seed of its own moves one job only"
"$marssim" -q -o results system.cfg 'jobs[a].placement=random' 'jobs[b].enabled=false' 'jobs[c].enabled=false' >out 2>err && [ "$(nodes a)" = "${both%|*}" ]
check "the first job is where it would be alone"

for ranks in 1 2 3 5; do
    rm -rf results
    timeout 120 mpirun -n $ranks "$marssim" -q -o results system.cfg 'jobs[a].placement=random' 'jobs[b].placement=by_group' 'jobs[c].placement=scattered' \
        partition.oversubscribe=true >out 2>err && sed -n '/^  "result"/,/^  }/p' results/summary.json | cat - results/tasks.csv >ranks.$ranks
done
cmp -s ranks.1 ranks.2 && cmp -s ranks.1 ranks.3 && cmp -s ranks.1 ranks.5
check "the same on 1, 2, 3 and 5 ranks"

refused "jobs\[1\].placement: 70 tasks do not fit on the 60 free nodes of its range or kind: 60 of 72 nodes are free: job 'a' has 12" system.cfg 'jobs[b].extents=70'
check "what does not fit says what is free, and who has the rest"
refused "the longest run of free nodes has 30; 60 of 72 nodes are free" system.cfg 'jobs[a].first_node=30' 'jobs[b].placement=contiguous' 'jobs[b].extents=31'
check "no run is long enough"
refused "groups of which no job has a node have 56" system.cfg 'jobs[b].placement=by_group' 'jobs[b].extents=57'
check "no whole groups are left"
refused "cores" system.cfg 'jobs[a].share=true' 'jobs[b].share=true'
check "jobs that share nodes need cores"
refused "jobs.*group" system.cfg 'jobs[b].group=switch'
check "a group means nothing to a sequential job"
