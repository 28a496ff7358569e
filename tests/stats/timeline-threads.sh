#!/bin/bash
# Timelines of tasks whose threads call MPI: tests/stats/timeline-threads.sh
#
# Every thread has a line of its own in each format, where one call follows another; the calls are those of calls.csv; programs that are not
# ours, or the format's grammar, read the files; the same bytes on any number of ranks, after a resume, and after a run that was killed.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
marstrace=$(dirname "$marssim")/marstrace
[ -x "$marstrace" ] || { echo "SKIP: the tracer is not built"; exit 0; }
cd "$work" || exit 2
formats='"perfetto","paraver"'
"$marssim" --check "$top/configs/fat-tree-lammps.cfg" output.timeline=otf2 >err 2>&1 && formats+=',"otf2"'
cat >run.cfg <<END
topology: { kind = "star"; nodes = 6; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs: ( { program = "trace"; trace = "t"; } );
mpi: { eager_limit = "2 KiB"; };
node: { send_overhead = "300 ns"; receive_overhead = "200 ns"; };
partition: { bind = "no"; adapt = false; oversubscribe = true; };
output: { timeline = [$formats]; timeline_messages = "all"; };
END
same() { # FOLDER OTHER
    for file in timeline.json timeline.prv timeline.pcf timeline.row; do cmp "$1/$file" "$2/$file" || return 1; done
    [ ! -d "$1/timeline-otf2" ] || diff -r "$1/timeline-otf2" "$2/timeline-otf2"
}

mpicc -O1 -fopenmp -o streams "$top/tests/tools/tracer/streams.c" -lpthread >err 2>&1 && timeout 120 mpirun -n 2 "$marstrace" -o t ./streams multiple >err 2>&1 &&
    "$marssim" -q -o one run.cfg >err 2>&1
check "two tasks with several threads"
[ "$(jq '[.traceEvents[] | select(.ph == "X") | .tid] | unique | length' one/timeline.json)" -eq 10 ]
check "perfetto: each thread has a line"
jq -e '[.traceEvents[] | select(.name == "thread_name") | .args.name] | (index("task 1") != null) and (index("task 1, thread 4") != null) and length == 10' one/timeline.json >err
check "with its name"
jq -r '.traceEvents[] | select(.ph == "X" and .name != "waiting") | [.tid, .ts, .dur] | @tsv' one/timeline.json |
    awk '{ if (($1 in end) && end[$1] - $2 > 1e-6) { print; bad++ } end[$1] = $2 + $3; n++ } END { exit bad > 0 || n < 1000 }' >err
check "on which one call follows another"
jq -r '.traceEvents[] | select(.ph == "X" and .args) | "\((.tid - 1) % 2),\(.name)"' one/timeline.json | sort | uniq -c | awk '{ print $2 "," $1 }' | sort >calls
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $1 "," $2 "," $at["calls"] }' one/calls.csv | sort >calls.csv
[ "$(wc -l <calls)" -gt 15 ] && [ -z "$(join -t '|' -v 1 calls calls.csv)" ]
check "with the calls of calls.csv"
awk -f "$top/tests/stats/paraver.awk" one/timeline.prv >err && grep -q '^LEVEL THREAD SIZE 10$' one/timeline.row &&
    awk -F: '/^1:/ { t[$4 ":" $5]++ } END { for (i in t) n++; exit n != 10 }' one/timeline.prv
check "paraver: its grammar, and a thread each"
if [ -d one/timeline-otf2 ] && command -v otf2-print >/dev/null; then
    otf2-print one/timeline-otf2/traces.otf2 >otf2 2>err && [ ! -s err ] && [ "$(awk '$1 == "ENTER" { print $2 }' otf2 | sort -u | wc -l)" -eq 10 ] &&
        [ "$(grep -c ^ENTER otf2)" -eq "$(grep -c ^LEAVE otf2)" ]
    check "otf2: otf2-print reads it, a location each"
fi
for ranks in 2 3 5; do
    timeout 120 mpirun -n $ranks "$marssim" -q -o two run.cfg engine.cell_order=shuffled >err 2>&1 && same one two >>err 2>&1
    check "the same bytes on $ranks ranks"
done
end=$(jq .result.simulated_time_ps one/summary.json)
"$marssim" -q -o saved run.cfg "run.checkpoint.at=[\"$((end / 3)) ps\",\"$((end * 7 / 9)) ps\"]" run.checkpoint.keep=9 >err 2>&1 && same one saved >>err 2>&1
check "the same with checkpoints"
for saved in saved/checkpoints/*; do
    timeout 120 mpirun -n 2 "$marssim" -q --resume "$saved" -o resumed >err 2>&1 && same one resumed >>err 2>&1
    check "the same from $(basename "$saved")"
done
# A run that stops for good behind a checkpoint: the folder that it leaves has no half timeline, and the one that continues has all of it.
long=(jobs[0].processor_factor=40.0 "output.timeline_bytes=300 kB" "output.period=50 us" output.series.tasks=periods output.series.traffic=periods)
"$marssim" -q -o whole run.cfg "${long[@]}" >err 2>&1
check "a longer run"
end=$(jq .result.simulated_time_ps whole/summary.json)
("$marssim" -q -o killed run.cfg "${long[@]}" "run.checkpoint.at=[\"$((end / 2)) ps\"]" run.checkpoint.keep=9 >err 2>&1 & echo $! >pid; wait) 2>/dev/null &
for _ in $(seq 600); do ls killed/checkpoints/checkpoint-*/index >out 2>&1 && break; sleep 0.05; done
kill -9 "$(cat pid)" 2>/dev/null; wait
timeout 120 mpirun -n 3 "$marssim" -q --resume killed -o gone-on >err 2>&1 && same whole gone-on >>err 2>&1 &&
    cmp whole/task_series.csv gone-on/task_series.csv && cmp whole/traffic_series.csv gone-on/traffic_series.csv &&
    cmp <(jq -S .result whole/summary.json) <(jq -S .result gone-on/summary.json)
check "timelines and series of a run that was killed and continues on three ranks"

# ---- traced beside simulated ----

pair=(run.cfg 'output.timeline_traced=true' 'jobs[0].start="5 us"')
"$marssim" -q -o pair "${pair[@]}" >err 2>&1
check "what was traced beside what is simulated"
jq -e '[.traceEvents[] | select(.name == "process_name") | .args.name] == ["job0", "job0 (traced)"]' pair/timeline.json >err
check "perfetto: a process each"
# Of the traced calls count and time are those of the profile, but for MPI_Init, most of which lies before the beginning.
jq -r '.traceEvents[] | select(.ph == "X" and .pid == 2 and .name != "compute" and (.name | startswith("MPI_Init") | not)) |
    [(.tid - 1) % 2, .name, .dur] | @tsv' pair/timeline.json |
    awk '{ n[$1 "," $2]++; t[$1 "," $2] += $3 * 1000 } END { for (i in n) printf "%s,%d,%.0f\n", i, n[i], t[i] }' | sort >traced
profile_of t | awk -F, 'NR > 1 && $2 !~ /^MPI_Init/ { print $1 "," $2 "," $3 "," $5 }' | sort >profile
[ "$(wc -l <profile)" -gt 20 ] && cmp <(cut -d, -f1-3 traced) <(cut -d, -f1-3 profile) >err 2>&1
check "with the calls of the profile"
paste -d, traced profile | awk -F, '{ d = $4 - $8; if (d < 0) d = -d; if (d > 0.02 * $8 + 2000) { print; bad++ } } END { exit bad > 0 }' >err
check "and their times"
jq -r '.traceEvents[] | select(.ph == "X" and .pid == 2) | [.tid, .ts, .dur] | @tsv' pair/timeline.json |
    awk '{ if (($1 in end) && end[$1] - $2 > 1e-6) { print; bad++ } end[$1] = $2 + $3; if (min == "" || $2 < min) min = $2 }
        END { exit bad > 0 || min != 5 }' >err
check "one behind the other, from the start of the job on"
"$marssim" -q -o alone run.cfg 'jobs[0].start="5 us"' >err 2>&1 && cmp <(jq -c '.traceEvents[] | select(.pid == 1 and .ph == "X")' pair/timeline.json) \
    <(jq -c '.traceEvents[] | select(.pid == 1 and .ph == "X")' alone/timeline.json)
check "the simulated ones are what they are alone"
awk -f "$top/tests/stats/paraver.awk" pair/timeline.prv >err && grep -q '^LEVEL THREAD SIZE 20$' pair/timeline.row
check "paraver: an application each"
if [ -d pair/timeline-otf2 ] && command -v otf2-print >/dev/null; then
    otf2-print pair/timeline-otf2/traces.otf2 >otf2 2>err && [ ! -s err ] && [ "$(awk '$1 == "ENTER" { print $2 }' otf2 | sort -u | wc -l)" -eq 20 ]
    check "otf2: otf2-print reads it"
fi
for ranks in 2 3 5; do
    timeout 120 mpirun -n $ranks "$marssim" -q -o two "${pair[@]}" >err 2>&1 && same pair two >>err 2>&1
    check "the same bytes on $ranks ranks"
done
rm -rf saved resumed
"$marssim" -q -o saved "${pair[@]}" "run.checkpoint.at=[\"200 us\"]" >err 2>&1 &&
    timeout 120 mpirun -n 2 "$marssim" -q --resume saved -o resumed >err 2>&1 && same pair resumed >>err 2>&1
check "and after a resume"
"$marssim" -q -o few "${pair[@]}" 'output.timeline=["perfetto"]' 'output.timeline_tasks=["1"]' "output.timeline_bytes=60 kB" >err 2>&1 &&
    [ "$(stat -c %s few/timeline.json)" -le 60000 ] && jq -e '([.traceEvents[] | select(.ph == "X") | .pid] | unique) == [1, 2] and
        all(.traceEvents[] | select(.ph == "X") | .tid; . % 2 == 0)' few/timeline.json >err
check "of chosen tasks, within a budget"
"$marssim" -q -o no "$top/configs/star-pingpong.cfg" output.timeline=perfetto output.timeline_traced=true 2>err
[ $? -eq 2 ] && grep -q 'output.timeline_traced: there is no job that replays a trace of marstrace' err
check "without such a trace it is refused"
