#!/bin/bash
# Series of jobs and tasks: they add up to tasks.csv, are the same on any number of ranks and after a checkpoint, and cost no result.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
cat >"$t/sums.awk" <<'AWK'
BEGIN { FS = ","; split("compute_ps wait_ps send_wait_ps messages_sent bytes_sent messages_received bytes_received", name, " ") }
FNR == 1 { split("", column); for (i = 1; i <= NF; i++) column[$i] = i; file++; next }
{
    key = $column["job"] " " (by == "job" ? "" : $column["task"])
    for (i in name) { sum[file, key, i] += $column[name[i]]; known[key] = 1; seen[i] += $column[name[i]] }
}
END {
    for (key in known) for (i in name) if (sum[1, key, i] != sum[2, key, i]) {
        print key, name[i], sum[1, key, i], sum[2, key, i]; wrong = 1
    }
    exit wrong || !seen[4] || !seen[2]
}
AWK
lammps=(configs/fat-tree-lammps.cfg "$far" "output.period=17 us" output.series.jobs=periods output.series.tasks=periods output.series.traffic=periods)
run -o "$t/a" "${lammps[@]}" || { cat "$t/err"; exit 1; }
awk -v by=task -f "$t/sums.awk" "$t/a/tasks.csv" "$t/a/task_series.csv" && awk -v by=job -f "$t/sums.awk" "$t/a/tasks.csv" "$t/a/job_series.csv"
check "periods add up to tasks.csv, of tasks and of jobs"
[ "$(cut -d, -f1 "$t/a/job_series.csv" | sort -u | wc -l)" -gt 5 ] &&
    awk -F, 'NR > 1 && $4 + $5 + $6 > 17000000 { print; wrong = 1 } END { exit wrong }' "$t/a/task_series.csv"
check "no task computes and waits for longer than a period"
awk -F, 'FNR == 1 { split("", c); for (i = 1; i <= NF; i++) c[$i] = i; file++; next } file == 1 { m += $c["messages_sent"]; b += $c["bytes_sent"]; next }
    $c["kind"] != "both" { m -= $c["messages"]; b -= $c["bytes"]; kind[$c["kind"] $c["leaves_node"]] += $c["messages"] }
    END { exit m || b || !kind["point_to_point1"] || !kind["collective1"] }' "$t/a/tasks.csv" "$t/a/traffic_series.csv"
check "messages by kind are all that were sent"
# Number, bytes and deviation of each kind once more, from the messages of two timelines: those of the program, and all; four tasks to a node.
# What is in flight at the end is in no timeline: the last period is left out.
four=(configs/fat-tree-lammps.cfg "output.period=50 us" output.series.traffic=periods jobs[0].tasks_per_node=4 node.cores=4 output.timeline=perfetto
    output.timeline_bytes=1GB "run.end=9 ms")
for messages in program all; do
    run -o "$t/$messages" "${four[@]}" output.timeline_messages=$messages 2>"$t/err" &&
        jq -r '.traceEvents[] | select(.ph == "s") | [(.ts * 1e6 | round), .tid - 1, .args.to, .args.bytes] | @tsv' "$t/$messages/timeline.json" >"$t/$messages.msg"
done
cat >"$t/sizes.awk" <<'AWK'
BEGIN { FS = "[\t,]"; period = 50000000 }
FILENAME ~ /msg$/ {
    k = (FILENAME ~ /all/) " " int($1 / period) + 1 " " (int($2 / 4) != int($3 / 4)); n[k]++; bytes[k] += $4; squares[k] += $4 * $4
    next
}
FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
$1 < 9000000000 {
    k = int($1 / period + 0.5) " " $c["leaves_node"]; p = "0 " k; a = "1 " k
    more = $c["kind"] != "point_to_point"; less = $c["kind"] == "collective" # all; of these those of the program; both: all
    N = more ? n[a] - less * n[p] : n[p]; B = more ? bytes[a] - less * bytes[p] : bytes[p]; S = more ? squares[a] - less * squares[p] : squares[p]
    v = S / N - (B / N) ^ 2; d = v > 0 ? sqrt(v) : 0; kinds[$c["kind"] $c["leaves_node"]]; spread += d > 0; rows++
    if (N != $c["messages"] || B != $c["bytes"] || d - $c["size_deviation_bytes"] > 0.51 || $c["size_deviation_bytes"] - d > 0.51) { print $0, ":", N, B, d; wrong++ }
}
END { for (i in kinds) different++; print rows, spread, different; exit wrong > 0 || rows < 80 || spread < 40 || different != 6 }
AWK
awk -f "$t/sizes.awk" "$t/program.msg" "$t/all.msg" "$t/all/traffic_series.csv" >"$t/err"
check "number, bytes and deviation of each kind, of both and period are those of the messages in the timelines"
run -o "$t/b" "${lammps[@]}" output.series.jobs=off output.series.tasks=off output.series.traffic=off && cmp "$t/a/tasks.csv" "$t/b/tasks.csv" &&
    [ ! -e "$t/b/job_series.csv" ] && cmp <(jq -S .result "$t/a/summary.json") <(jq -S .result "$t/b/summary.json")
check "nothing else depends on them"
all_alike "jobs, tasks and traffic in periods" "${lammps[@]}" "run.end=3 ms"
# Two jobs, one that starts again and again, and an end in the middle of what they do.
two=(configs/star-pingpong.cfg "jobs[1].program=pingpong" "jobs[1].name=again" "jobs[1].tasks=2" "jobs[1].first_node=0" "jobs[0].first_node=0" "jobs[1].restart=true" "jobs[1].background=true" node.cores=2 "run.end=61234 ns"
    "output.period=7 us" output.series.jobs=periods output.series.tasks=periods)
run -o "$t/a" "${two[@]}" && awk -v by=task -f "$t/sums.awk" "$t/a/tasks.csv" "$t/a/task_series.csv" && grep -q again "$t/a/job_series.csv"
check "several jobs, with an end inside a period"
# Noise: what a computation has had so far is counted up to the end of each period, detours taken off.
noisy=(configs/star-pingpong.cfg "jobs[0].program=stencil" "jobs[0].extents=2" "jobs[0].steps=5" "jobs[0].bytes=3000 B" "jobs[0].compute_time=3 us"
    node.noise.kind=random "node.noise.length=100 ns" "node.noise.gap=100 ns" "output.period=500 ns" output.series.jobs=periods output.series.tasks=periods)
run -o "$t/a" "${noisy[@]}" && awk -v by=task -f "$t/sums.awk" "$t/a/tasks.csv" "$t/a/task_series.csv" &&
    awk -F, 'NR > 1 && $4 + $5 + $6 > 500000 { print; wrong = 1 } END { exit wrong || NR < 100 }' "$t/a/task_series.csv"
check "with noise no task computes and waits for longer than a period"
# Calls that take the times of their trace continue beyond the operation they began with.
cat >"$t/c.cfg" <<END
topology: { kind = "torus"; extents = [2, 1, 1, 1]; nodes_per_switch = 3; bandwidth = ["12.5 GB/s", "1 GB/s", "7.77 GB/s", "1 GB/s"]; latency = "1 ns"; };
output: { period = "500 ns"; series: { functions = "periods"; communicators = "periods"; jobs = "periods"; }; };
jobs: ( { program = "trace"; trace = "$PWD/tests/traces/mars/three"; processor_factor = 0.001; calls = "traced"; } );
END
tables="function_series communicator_series job_series periods"
rm -rf "$t/b"
run -o "$t/a" "$t/c.cfg" && run -o "$t/b" "$t/c.cfg" "run.checkpoint.period=4000600 ps" run.checkpoint.keep=1000 && equal "$t/a" "$t/b"
check "saving changes no series"
n=0 why=
for folder in "$t"/b/checkpoints/*; do
    n=$((n + 1))
    run --resume "$folder" -o "$t/c" && equal "$t/a" "$t/c" >>"$t/err" 2>&1 || why+=" ${folder##*-}"
done
[ $n -gt 20 ] || why+=" $n checkpoints only"
verdict "$why" "calls of a trace that take their own times: the same series after any checkpoint"
"$m" -q -o "$t/b" configs/torus-uniform.cfg output.series.jobs=periods "output.period=1 us" >"$t/err" 2>&1
[ $? -eq 2 ] && grep -q 'output.series.jobs.*jobs' "$t/err"
check "without jobs the key is refused"
"$m" -q -o "$t/b" configs/star-pingpong.cfg output.series.tasks=periods >"$t/err" 2>&1
[ $? -eq 2 ] && grep -q 'output.series.tasks.*output.period is 0' "$t/err"
check "nor without a period"
[ "$number" -gt 0 ]
