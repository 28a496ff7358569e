#!/bin/bash
# Waits told apart (output.waits): the parts add up to the waits of tasks.csv to the picosecond, nothing else changes, all is the same on any
# number of ranks, in any order of cells and after a checkpoint: tests/tasks/waits.sh
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
# By the names of the columns; waits.csv has one row for each of tasks.csv, in the same order.
adds_up() { # FOLDER
    awk -F, 'FNR == 1 { delete at; for (i = 1; i <= NF; i++) at[$i] = i; next }
        FILENAME ~ /tasks.csv/ { wait[$at["job"], $at["task"]] = $at["wait_ps"] + $at["send_wait_ps"]; tasks++; next }
        { sum = 0; for (i = at["wait_ps"] + 1; i <= at["other_ps"]; i++) sum += $i
          if (sum != $at["wait_ps"] || sum != wait[$1, $2]) { print "task " $2 ": " sum " " $at["wait_ps"] " " wait[$1, $2]; bad = 1 }
          rows++; all += sum }
        END { exit bad || rows != tasks || all == 0 }' "$1/tasks.csv" "$1/waits.csv" >"$t/sums" || { cat "$t/sums"; return 1; }
    awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { sum[$1] += $at["wait_ps"] } END { for (job in sum) printf "%s %.0f\n", job, sum[job] }' \
        "$1/wait_functions.csv" | sort >"$t/functions"
    jq -r '.result.jobs[] | "\(.name) \(.waits.wait_ps)"' "$1/summary.json" | sort | cmp - "$t/functions"
}
same_result() { # FOLDER OTHER: but for what is collected
    local less='.result | del(.latency_parts, .jobs[].waits)'
    cmp <(jq -S "$less" "$1/summary.json") <(jq -S "$less" "$2/summary.json") && cmp "$1/tasks.csv" "$2/tasks.csv" && cmp "$1/links.csv" "$2/links.csv"
}
lammps="configs/fat-tree-lammps.cfg $far"
run -o "$t/off" $lammps && [ ! -e "$t/off/waits.csv" ] && [ "$(jq '.result.jobs[0].waits' "$t/off/summary.json")" = null ]
check "off: nothing is there"
run -o "$t/on" $lammps output.waits=true && adds_up "$t/on"
check "the parts of each task add up to its waits, those of functions to the job's"
same_result "$t/off" "$t/on"
check "nothing else changes"
jq -e '.result.jobs[0].waits | .late_sender_ps > 0 and .late_receiver_ps > 0 and .late_participants_ps > 0 and .handshake_ps > 0 and .contention_ps > 0
    and .one_sided_ps == 0 and .matching_ps == 0 and .other_ps == 0' "$t/on/summary.json" >"$t/jq"
check "a real trace has of all that it can have, and of nothing else"
jq -r '.result.jobs[0] | "\(.messages - .unreceived) \(.bytes)"' "$t/on/summary.json" >"$t/sent"
awk -F, 'NR > 1 { messages += $3; bytes += $4; if ($4 >= 2 * $2 * $3 && $2 > 0 || $4 < $2 * $3) bad = 1
    off = $6 - $4 * 1e12 / $5; if (off > 1 || off < -1) bad = 1 }
    END { printf "%.0f %.0f\n", messages, bytes; exit bad }' "$t/on/message_rates.csv" | cmp - "$t/sent"
check "the bandwidths are of all messages, each in its class, and bytes over time"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { c = $at["compute_ps"]; sum += c; n++; if (c > max) { max = c; task = $at["task"] } }
    END { printf "%.0f %d %.0f\n", max, task, int(sum / n) }' "$t/on/tasks.csv" >"$t/compute"
jq -r '.result.jobs[0].imbalance | "\(.compute_max_ps) \(.compute_max_task) \(.compute_mean_ps)"' "$t/off/summary.json" | cmp - "$t/compute"
check "the imbalance is that of the computations of tasks.csv"
all_alike "waits" $lammps output.waits=true "run.end=5 ms"
# One way of moving messages after the other, with several tasks on a node, a network that is full, and adapters that resequence.
for settings in 'mpi.rendezvous="write"' 'mpi.progress="calls"' 'mpi.progress="thread" mpi.progress_cost="200ns"' \
    'mpi.match_time="20ns" mpi.eager_limit="64B"' 'mpi.eager_completion="buffered"' 'node.doorbell="400ns" adapter.resequence=true'; do
    read -ra set <<<"$settings"
    run -o "$t/off" $lammps "${set[@]}" && run -o "$t/a" $lammps "${set[@]}" output.waits=true && adds_up "$t/a" && same_result "$t/off" "$t/a"
    check "with $settings"
    all_alike "with $settings" $lammps "${set[@]}" output.waits=true "run.end=2 ms"
done
jq -e '.result.jobs[0].waits.sending_ps > 0' "$t/on/summary.json" >"$t/jq"
check "sends wait until their messages have left"
# Without them ends of sends need no records (tasks/mpi/foreseen.c): whenever the run ends, with MPI that costs time or not, with series.
for settings in 'node.send_overhead="0.6us"' 'node.send_overhead="0ns" node.receive_overhead="0ns"' \
    'node.send_overhead="0ns" node.receive_overhead="0ns" node.cores=2 jobs[0].tasks_per_node=2 output.period="50us" output.series.jobs="periods" output.series.functions="periods"'; do
    read -ra set <<<"$settings"
    for end in 153us 1234us 4321us 1s; do
        run -o "$t/off" $lammps "${set[@]}" run.end="$end" && run -o "$t/a" $lammps "${set[@]}" run.end="$end" output.waits=true &&
            same_result "$t/off" "$t/a" && cmp "$t/off/calls.csv" "$t/a/calls.csv" &&
            { [ ! -e "$t/off/function_series.csv" ] || cmp "$t/off/function_series.csv" "$t/a/function_series.csv"; }
        check "nothing else changes with $settings until $end"
    done
    all_alike "without records of ends with $settings" $lammps "${set[@]}" "run.end=2 ms"
done
# A timeline keeps the names of messages whose answers carry times.
run -o "$t/a" $lammps 'output.timeline=["perfetto"]' && run -o "$t/b" $lammps 'output.timeline=["perfetto"]' output.waits=true &&
    sed 's/,"args":{"cause":"[^}]*}//' "$t/b/timeline.json" | cmp "$t/a/timeline.json" -
check "the timeline is the same, but for the causes of waits"
jq -e --slurpfile s "$t/b/summary.json" '[.traceEvents[] | select(.name == "waiting")] as $w | ($w | length > 100) and all($w[]; .args.cause and .args.task != .tid - 1) and
    ($s[0].result.jobs[0].waits as $parts | all($w[]; $parts[(.args.cause | gsub("steps of a collective"; "collective_steps") | gsub(" "; "_")) + "_ps"] > 0))' "$t/b/timeline.json" >"$t/jq"
check "each wait has a cause that its job has, and is for another task"
jq -e '(reduce (.traceEvents[] | select(.ph == "s")) as $m ({}; .["\($m.tid - 1) \($m.args.to)"] += [$m.ts])) as $sent | [.traceEvents[] | select(.args.cause? == "late sender")] | length > 10 and
    all(.[]; . as $w | $sent["\($w.args.task) \($w.tid - 1)"] | any(.[]; . > $w.ts and . < $w.ts + $w.dur))' "$t/b/timeline.json" >"$t/jq"
check "a late sender has sent while it was waited for"
"$m" -q -o "$t/b" configs/torus-uniform.cfg output.waits=true >"$t/err" 2>&1
grep -q "output.waits" "$t/err"
check "without jobs the key means nothing, which is said"
