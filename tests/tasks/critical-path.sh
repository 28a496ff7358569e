#!/bin/bash
# The critical path (output.critical_path): it adds up to the job's finish time to the picosecond, without a gap; nothing else changes; the same on
# any number of ranks, in any order of cells, after a checkpoint, with room for some of it: tests/tasks/critical-path.sh
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
# Of one job: its rows add up to its path, which ends when the job does; each step begins where the next one ends; steps and rows say the same.
adds_up() { # FOLDER
    jq -e '.result.jobs[] | .finish_ps as $at | .critical_path | .to_ps == $at and .from_ps < $at and ([.kinds[]] | add) == $at - .from_ps and
        (.task_count > 10 or ([.tasks[].time_ps] | add) == $at - .from_ps) and (.functions | length > 2 and .[0].time_ps >= .[1].time_ps)' \
        "$1/summary.json" >"$t/jq" || return 1
    awk -F, -v from="$(jq '.result.jobs[0].critical_path.from_ps' "$1/summary.json")" -v to="$(jq '.result.jobs[0].finish_ps' "$1/summary.json")" '
        FNR == 1 { next }
        FILENAME ~ /steps.csv/ { if ($4 != (FNR == 2 ? to : begin) || $3 >= $4 || $2 != FNR - 2) { print "step " $2; bad = 1 }
            begin = $3; sum[$5, $8, $9] += $4 - $3; steps[$5, $8, $9]++; next }
        { if (sum[$2, $3, $4] != $6 || steps[$2, $3, $4] != $5 || $7 != to - from) { print "row " FNR; bad = 1 } rows++; all += $6 }
        END { exit bad || begin != from || all != to - from || rows == 0 }' "$1/critical_path_steps.csv" "$1/critical_path.csv" >"$t/sums" || { cat "$t/sums"; return 1; }
}
whole() { jq -e 'all(.result.jobs[].critical_path; .complete and .from_ps == 0 and .kinds.other_ps == 0)' "$1/summary.json" >"$t/jq"; }
same_result() { # FOLDER OTHER: but for what is collected
    local less='.result | del(.jobs[].critical_path)'
    cmp <(jq -S "$less" "$1/summary.json") <(jq -S "$less" "$2/summary.json") && cmp "$1/tasks.csv" "$2/tasks.csv" && cmp "$1/waits.csv" "$2/waits.csv"
}
lammps="configs/fat-tree-lammps.cfg output.waits=true $far" path=output.critical_path
run -o "$t/off" $lammps && [ ! -e "$t/off/critical_path.csv" ] && [ "$(jq '.result.jobs[0].critical_path' "$t/off/summary.json")" = null ]
check "off: nothing is there"
run -o "$t/on" $lammps $path="64 MB" && adds_up "$t/on" && whole "$t/on"
check "it adds up to the finish time, and is known back to the start"
same_result "$t/off" "$t/on"
check "nothing else changes"
all_alike "the whole path" $lammps $path="64 MB" "run.end=5 ms"
# Room for 30 pieces a task, and for one more than the least.
for room in 53760 30464; do
    run -o "$t/few" $lammps $path=$room && adds_up "$t/few" && jq -e '.result.jobs[0].critical_path | .from_ps > 0 and (.complete | not)' "$t/few/summary.json" >"$t/jq" &&
        cmp <(head -"$(wc -l <"$t/few/critical_path_steps.csv")" "$t/on/critical_path_steps.csv" | head -n -1) <(head -n -1 "$t/few/critical_path_steps.csv")
    check "with $room bytes in all it is the same as far as it goes"
done
all_alike "with room for some of it" $lammps $path=53760 "run.end=3 ms"
# Where routing leaves no choice a message counts for as many links as lie between its nodes, else for those of both nodes.
links_are() { # FOLDER EXPRESSION of messages m and links l of a pair
    awk -F, "NR == FNR { if (FNR > 1 && \$4) { m = \$5; l = \$4; all += $2; time += \$6 * ($2) / m } next }
        FNR > 1 { sum += \$8; sum_time += \$9; if (seen[\$2, \$3, \$4]++) bad = 1 } END { exit bad || !all || sum != all || sum_time != time }" \
        "$1/critical_path_pairs.csv" "$1/critical_path_links.csv"
}
links_are "$t/on" "2 * m"
check "where routing adapts, only the nodes' links are named"
run -o "$t/a" $lammps $path="64 MB" routing.algorithm=d_mod_k && links_are "$t/a" "l * m"
check "with d_mod_k all links are"
all_alike "with d_mod_k" $lammps $path="64 MB" routing.algorithm=d_mod_k "run.end=3 ms"
# A job that the run's end cuts off has a path from there, whatever its tasks do then, and says that it has not finished.
cut_off() { # FOLDER
    jq -e '.result.simulated_time_ps as $at | .result.jobs[0] | .finish_ps == null and (.critical_path | (.finished | not) and .to_ps == $at and
        .complete and ([.kinds[]] | add) == $at - .from_ps)' "$1/summary.json" >"$t/jq"
}
for at in 1ms 12ms 24999us; do
    run -o "$t/cut" $lammps $path="64 MB" run.end=$at && cut_off "$t/cut"
    check "a job cut off at $at has a path that adds up"
done
all_alike "a job cut off" $lammps $path="64 MB" run.end=2999us
# One way of moving messages after the other, with several tasks on a node, a network that is full, and adapters that resequence.
for settings in 'mpi.rendezvous="write"' 'mpi.progress="calls"' 'mpi.progress="thread" mpi.progress_cost="200ns"' \
    'mpi.match_time="20ns" mpi.eager_limit="64B"' 'mpi.eager_completion="buffered" node.send_overhead="300ns" node.receive_overhead="200ns"' \
    'node.doorbell="400ns" adapter.resequence=true'; do
    read -ra set <<<"$settings"
    run -o "$t/off" $lammps "${set[@]}" && run -o "$t/a" $lammps "${set[@]}" $path="64 MB" && adds_up "$t/a" && whole "$t/a" && same_result "$t/off" "$t/a"
    check "with $settings"
    all_alike "with $settings" $lammps "${set[@]}" $path="64 MB" "run.end=2 ms"
done
"$m" -q -o "$t/b" configs/fat-tree-lammps.cfg $path="64 MB" >"$t/err" 2>&1
grep -q "output.waits" "$t/err"
check "without output.waits it is refused, by name"
"$m" -q -o "$t/b" $lammps $path="28 kB" >"$t/err" 2>&1
[ $? = 2 ] && grep -q "give 28672 B" "$t/err"
check "too little room is refused, with what would do"
"$m" --check $lammps $path="64 MB" >"$t/out" 2>"$t/err" && grep -q "^path .*the last 35714 " "$t/out"
check "--check says how much it keeps"
jq -e '.result.jobs[0].critical_path | [.distances[].links] - [2, 4, 6] == [] and ([.distances[].time_ps] | add) == .kinds.transfer_ps + .kinds.handshake_ps + .kinds.contention_ps' "$t/on/summary.json" >"$t/jq"
check "messages are distinguished by their distance"
