#!/bin/bash
# Several jobs with network.model = "loggops": schedules in GOAL and programs of MPI beside each other; where their tasks are placed, and
# parameters by that; equal on any number of ranks and after --resume; and what is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
cat >"$t/two.cfg" <<'CFG'
network: { model = "loggops"; };
loggops: { S = "10 kB"; };
node: { cores = 4; };
jobs: (
    { program = "schedule"; pattern = "dissemination"; commsize = 48; datasize = "8 B"; name = "a"; },
    { program = "stencil"; extents = [4, 2, 2]; steps = 3; bytes = "20 kB"; compute_time = "10 us"; allreduce_every = 2; name = "b"; }
);
CFG
column() { # FOLDER NAME: job, task, column
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $1, $2, $at }' "$t/$1/tasks.csv"
}
once() { # FOLDER ARGUMENTS
    rm -rf "${t:?}/$1"
    "$marssim" -q -o "$t/$1" "$t/two.cfg" "${@:2}" >"$t/err" 2>&1
}
same_times() { cmp <(column "$1" finish_ps) <(column "$2" finish_ps); } # FOLDER FOLDER

# Nodes of 4 tasks, boards of 2 nodes, racks of 8 nodes: in three ways.
L=('L="400 ns";o="100 ns"' 'L="700 ns"' 'L="1500 ns";G="3 ns"')
once blocks "loggops.classes=({within=\"node\";processes=4;${L[0]};},{within=\"board\";processes=8;${L[1]};},{within=\"rack\";processes=32;${L[2]};})"
check "blocks of processes"
places=(jobs[0].tasks_per_node=4 jobs[1].tasks_per_node=4 jobs[1].first_node=12)
once nodes loggops.nodes=16 "${places[@]}" "loggops.classes=({within=\"node\";${L[0]};},{within=\"board\";nodes=2;${L[1]};},{within=\"rack\";nodes=8;${L[2]};})"
check "blocks of nodes"
same_times blocks nodes >"$t/err" 2>&1
check "blocks of nodes are as blocks of processes"
topology=(topology.kind=hierarchical 'topology.groups=[2,4,2]' topology.nodes_per_switch=1 'topology.bandwidth="10 GB/s"' 'topology.latency="100 ns"')
once topology "${topology[@]}" "${places[@]}" "loggops.classes=({within=\"node\";${L[0]};},{within=\"board\";${L[1]};},{within=\"rack\";${L[2]};})"
same_times nodes topology >"$t/err" 2>&1
check "boards and racks of a topology are as blocks of nodes"
once plain
same_times nodes plain >"$t/err" 2>&1
verdict "$([ $? -eq 1 ] || echo "they are alike")" "without classes times are others"
[ "$(column nodes node | awk '$1 == "b" { print $3 }' | sort -n | uniq -c | awk '{ print $1 "x" $2 }' | tr '\n' ' ')" = "4x12 4x13 4x14 4x15 " ]
check "tasks.csv says where tasks are, those of programs ..."
[ "$(column nodes node | awk '$1 == "a" && $2 == 47 { print $3 }')" = 11 ]
check "... and those of schedules"

# Jobs that do not meet do not know of each other: the same, each alone.
awk '!/program = "stencil"/' "$t/two.cfg" | sed 's/name = "a"; },/name = "a"; }/' >"$t/a.cfg"
awk '!/program = "schedule"/' "$t/two.cfg" >"$t/b.cfg"
for job in a b; do
    "$marssim" -q -o "$t/$job" "$t/$job.cfg" >"$t/err" 2>&1
    cmp <(column plain finish_ps | grep "^$job ") <(column $job finish_ps) >>"$t/err" 2>&1
    check "job $job has the times that it has alone"
done

# Any number of ranks, and on from checkpoints.
params=("loggops.nodes=16|jobs[0].first_node=0|jobs[1].first_node=0|jobs[0].placement=random|jobs[0].tasks_per_node=3|loggops.classes=({within=\"node\";${L[0]};},{within=\"rack\";nodes=5;${L[2]};})"
    "mpi.rendezvous=write|jobs[0].pattern=\"linear_alltoall\"|jobs[0].datasize=20 kB|loggops.noise.kind=\"periodic\"|loggops.noise.period=\"50 us\"|loggops.noise.length=\"2 us\""
    "mpi.rendezvous=read|jobs[0].start=1 ms|jobs[0].pattern=\"stencil\"|jobs[0].sides=[6,4,2]|jobs[0].datasize=30 kB|mpi.progress=calls|loggops.G=0.3 ns"
    "loggops.L=0 ps|jobs[0].background=true")
for p in "${params[@]}"; do
    IFS='|' read -ra keys <<<"$p"
    [[ $p = *pattern*stencil* ]] && sed 's/commsize = 48; //' "$t/two.cfg" >"$t/now.cfg" || cp "$t/two.cfg" "$t/now.cfg"
    all_alike "both kinds (${p//|/, })" "$t/now.cfg" "${keys[@]}"
done

# What the run waits for.
once back jobs[0].background=true jobs[0].start="1 s"
verdict "$([ "$(jq .result.jobs[0].finish_ps "$t/back/summary.json")" = null ] && [ "$(jq .result.simulated_time_ps "$t/back/summary.json")" -lt 1000000000000 ] || echo "it was")" \
    "a schedule in the background is not waited for"
once back jobs[1].background=true jobs[1].steps=100000
verdict "$([ "$(jq .result.jobs[1].finish_ps "$t/back/summary.json")" = null ] && [ "$(jq .result.jobs[0].finish_ps "$t/back/summary.json")" -gt 0 ] || echo "it was")" \
    "a program in the background is not waited for"
printf 'num_ranks 2\nrank 0 {\nsend 8b to 1 tag 1\n}\nrank 1 {\nrecv 8b from 0 tag 2\n}\n' >"$t/stuck.goal"
printf 'network: { model = "loggops"; };\njobs: ( { program = "pingpong"; }, { program = "trace"; format = "goal"; trace = "stuck.goal"; name = "s"; } );\n' >"$t/stuck.cfg"
refuses() { # STATUS WORDS NAME ARGUMENTS
    ends "$1" "$2" "$marssim" -q -o "$t/o" "${@:4}"
    check "$3"
}
refuses 1 "job s, task 1: its receive got no message" "a schedule that cannot continue, beside a program" "$t/stuck.cfg"
refuses 0 "" "... in the background it ends no run" "$t/stuck.cfg" jobs[1].background=true
# Beside a job that never ends: found when nothing of the schedule moves any more, by any number of ranks, and after --resume.
printf 'num_ranks 3\nrank 0 {\na: calc 900000\nb: send 8b to 1 tag 1\nb requires a\n}\nrank 1 {\nrecv 8b from 0 tag 2\n}\nrank 2 {\nc: calc 1\nd: calc 2\nd requires c\n}\n' >"$t/late.goal"
cat >"$t/endless.cfg" <<'CFG'
network: { model = "loggops"; };
jobs: ( { program = "stencil"; extents = [3]; steps = 3; background = true; restart = true; }, { program = "trace"; format = "goal"; trace = "late.goal"; name = "s"; },
    { program = "schedule"; pattern = "dissemination"; commsize = 9; start = "5 ms"; name = "later"; } );
CFG
why=
halts() { [ "$1" -eq 1 ] && grep -q "job s, task 1: its receive got no message.*late.goal:8" "$t/err" && grep -q "no receive took the message" "$t/err" && ! grep -q later "$t/err"; }
for n in 1 2 3 5; do
    ranks $n -o "$t/o" "$t/endless.cfg"
    halts $? || why+=" $n ranks"
done
ranks 2 -o "$t/o" "$t/endless.cfg" "run.checkpoint.at=[500 us, 902 us]" run.checkpoint.keep=9
for folder in "$t"/o/checkpoints/checkpoint-*; do
    cp -r "$t/o" "$t/halfway"
    ranks 3 -o "$t/halfway" --resume "$folder"
    halts $? || why+=" ${folder##*-}"
    rm -rf "$t/halfway"
done
run -o "$t/o" "$t/endless.cfg" "loggops.L=0 ns" "loggops.o=0 ns"
halts $? || why+=" no time between processes"
[ "$(jq -r .result.end_reason "$t/o/summary.json")" = deadlock ] || why+=" end_reason"
verdict "$why" "a schedule that cannot continue ends a run with a job that would not end"
refuses 2 "in the background" "all jobs in the background" "$t/stuck.cfg" jobs[0].background=true jobs[1].background=true
refuses 2 "jobs\[1\].restart.*schedule" "a schedule that restarts" "$t/stuck.cfg" jobs[1].background=true jobs[1].restart=true

one='loggops.classes=({within='
refuses 2 "classes\[0\].processes: is missing.*loggops.nodes" "a class of nobody knows how many" "$t/two.cfg" "$one\"node\";})"
refuses 2 "classes\[0\].nodes.*is beside" "a class of processes and nodes" "$t/two.cfg" loggops.nodes=64 "$one\"board\";nodes=2;processes=3;})"
refuses 2 "classes\[0\].nodes.*is missing" "boards, but no topology" "$t/two.cfg" loggops.nodes=64 "$one\"board\";})"
refuses 2 "classes\[0\].nodes.*no block" "nodes of nodes" "$t/two.cfg" loggops.nodes=64 "$one\"node\";nodes=2;})"
refuses 2 "classes\[1\].nodes.*multiple of 2" "blocks across each other" "$t/two.cfg" loggops.nodes=64 "$one\"board\";nodes=2;},{within=\"rack\";nodes=3;})"
refuses 2 "loggops.nodes.*beside a topology" "nodes and a topology" "$t/two.cfg" loggops.nodes=64 "${topology[@]}"
refuses 2 "jobs\[0\].placement: 48 tasks do not fit on the 16 free nodes" "too few nodes" "$t/two.cfg" loggops.nodes=16
refuses 2 "node.cores is 4" "too few cores" "$t/two.cfg" loggops.nodes=16 "${places[@]:0:2}" jobs[0].first_node=0 jobs[1].first_node=11
refuses 2 "jobs\[0\].tasks_per_node" "places without nodes" "$t/two.cfg" jobs[0].tasks_per_node=2
refuses 2 "jobs\[0\].name\|rendezvous" "rendezvous in an instant with a program of MPI" "$t/two.cfg" mpi.rendezvous=instant
[ "$number" -gt 0 ]
