#!/bin/bash
# Timelines as files: tests/stats/timelines.sh
#
# Two tasks and one message, whose times are known by hand; the same bytes on any number of ranks and after a resume; budgets that are kept;
# a choice of tasks and times; bad input. All of it in Perfetto's JSON: the other formats are tests/stats/timeline-formats.sh.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
cd "$work" || exit 2

run() { # FOLDER WORD...
    timeout 300 "$marssim" -q -o "$@" >out 2>err </dev/null
}
no() { refused "$1" -o refused "${@:2}"; } # WORDS WORD...: refused, and standard error says so

# One round trip of 8 bytes over one switch: 10 ns link, 0 ns switch, 10 ns link, and 8 bytes at 1 GB/s take 8 ns: 28 ns one way.
cat >two.cfg <<'END'
topology: { kind = "star"; nodes = 2; bandwidth = "1 GB/s"; latency = "10 ns"; };
switch: { delay = "0 ns"; };
adapter: { header = "0 B"; };
jobs = ( { program = "pingpong"; name = "pp"; steps = 1; bytes = "8 B"; } );
END

# ---- perfetto ----

run two two.cfg output.timeline=perfetto
check "a message to and fro"
jq -c '.traceEvents[] | select(.ph == "X" and .dur > 0) | [.tid, .name, .ts, .dur]' two/timeline.json >calls
cat >calls.by-hand <<'END'
[1,"MPI_Send",0,0.008]
[1,"waiting",0,0.008]
[2,"MPI_Recv",0,0.028]
[2,"waiting",0,0.028]
[1,"MPI_Recv",0.008,0.048]
[1,"waiting",0.008,0.048]
[2,"MPI_Send",0.028,0.008]
[2,"waiting",0.028,0.008]
END
shown=calls
cmp calls.by-hand calls >err
check "calls and waits have their times"
jq -c '.traceEvents[] | select(.ph == "s") | [.tid, .ts, .args]' two/timeline.json >messages
cat >messages.by-hand <<'END'
[1,0,{"to":1,"bytes":8,"tag":0,"comm":0,"arrived":0.028,"received":0.028}]
[2,0.028,{"to":0,"bytes":8,"tag":0,"comm":0,"arrived":0.056,"received":0.056}]
END
shown=messages
cmp messages.by-hand messages >err
check "and so have the messages"
shown=$work/err
[ "$(jq -c '[.traceEvents[] | select(.ph == "f") | [.tid, .ts]]' two/timeline.json)" = "[[2,0.027999],[1,0.055999]]" ]
check "whose arrows end inside the calls that receive them"
[ "$(jq -r '.result.timelines[0] | "\(.format) \(.file) \(.records == .of) \(.note)"' two/summary.json)" = \
    "perfetto timeline.json true $(jq -r .otherData.note two/timeline.json)" ]
check "the summary says that nothing is missing"

# ---- a whole job ----

lammps=$top/configs/fat-tree-lammps.cfg
all="$far output.timeline=perfetto output.timeline_messages=all"
run one "$lammps" $all
check "a traced job"
# Every call takes place where the one before has ended; the sums are those of calls.csv.
jq -r '.traceEvents[] | select(.ph == "X" and .name != "waiting") | [.tid, .ts, .dur] | @tsv' one/timeline.json |
    awk '{ if (($1 in end) && (end[$1] - $2 > 1e-6 || $2 - end[$1] > 1e-6)) bad++; end[$1] = $2 + $3 } END { exit bad > 0 || NR < 100000 }'
check "calls and computations follow each other without gap"
jq -r '.traceEvents[] | select(.ph == "X" and .name == "MPI_Wait") | [.tid - 1, .dur] | @tsv' one/timeline.json |
    awk '{ n[$1]++; t[$1] += $2 * 1000 } END { for (i in n) printf "%d %d %.0f\n", i, n[i], t[i] }' | sort -n >waits
awk -F, '$2 == "MPI_Wait" { printf "%d %d %.0f\n", $1, $3, $6 }' one/calls.csv | sort -n >waits.csv
paste -d' ' waits waits.csv | awk '$1 != $4 || $2 != $5 || ($3 - $6) ^ 2 > 4 { exit 1 } END { if (NR < 8) exit 1 }'
check "the calls of a function are those of calls.csv, with their time"
[ "$(jq '[.traceEvents[] | select(.ph == "s")] | length' one/timeline.json)" -eq "$(jq '.result.jobs[0].messages' one/summary.json)" ]
check "every message that the job sent is there"
for ranks in 2 3 5; do
    timeout 300 mpirun -n $ranks "$marssim" -q -o "ranks$ranks" "$lammps" $all partition.oversubscribe=true partition.adapt=false >out 2>err &&
        cmp one/timeline.json "ranks$ranks/timeline.json" >>err
    check "the same bytes on $ranks ranks"
done
run saved "$lammps" $all run.checkpoint.at=9ms,17ms run.checkpoint.keep=9 && cmp one/timeline.json saved/timeline.json >>err
check "checkpoints change nothing"
timeout 300 mpirun -n 2 "$marssim" -q --resume saved/checkpoints/checkpoint-*17000000000 -o resumed partition.oversubscribe=true >out 2>err &&
    cmp one/timeline.json resumed/timeline.json >>err
check "nor does a resume on two ranks"
rm -rf ranks3 ranks5 saved resumed

# ---- budgets ----

for bytes in 20000 300000 5000001; do
    run "budget" "$lammps" $all output.timeline_bytes=$bytes && [ "$(stat -c %s budget/timeline.json)" -le $bytes ] &&
        [ "$(stat -c %s budget/timeline.json)" -gt $((bytes / 4)) ] && jq -e '.otherData.note | startswith("sampled: ")' budget/timeline.json >out &&
        [ "$(jq '.result.timelines[0].bytes' budget/summary.json)" -eq "$(stat -c %s budget/timeline.json)" ]
    check "a budget of $bytes bytes is kept, and mostly used"
done
timeout 300 mpirun -n 2 "$marssim" -q -o budget2 "$lammps" $all output.timeline_bytes=5000001 partition.adapt=false >out 2>err &&
    cmp budget/timeline.json budget2/timeline.json >>err
check "the same records are chosen on two ranks"

# ---- tasks and times ----

run some "$lammps" output.timeline=perfetto output.timeline_tasks=0-3,9 output.timeline_from=5ms output.timeline_to=6ms
jq -e '[.traceEvents[] | select(.ph == "X" and .name != "waiting")] | (map(.tid) | unique) == [1,2,3,4,10] and all(.ts < 6000 and .ts + .dur >= 5000)' some/timeline.json >out
check "five tasks in one millisecond"
jq -e '[.traceEvents[] | select(.ph == "s") | .args.to] | unique == [0,1,2,3,9] or (length > 0 and all(. < 4 or . == 9))' some/timeline.json >out
check "and the messages between them"

# ---- bad input ----

no 'no format; right would be some of none, perfetto' two.cfg output.timeline=vampir
check "a format that is none"
no 'is alone' two.cfg 'output.timeline=["none", "perfetto"]'
check "none, and another"
no 'twice' two.cfg 'output.timeline=["perfetto", "perfetto"]'
check "a format twice"
no 'output.timeline_to: comes not after' two.cfg output.timeline=perfetto output.timeline_from=3us output.timeline_to=3us
check "a span without length"
no 'output.timeline_from: lies behind the end of the run' two.cfg output.timeline=perfetto output.timeline_from=3us run.end=3us
check "a span behind the end"
no 'there is no task 2; tasks count from 0 to 1' two.cfg output.timeline=perfetto output.timeline_tasks=0-2
check "a task that is not there"
no 'no job of this name' two.cfg output.timeline=perfetto output.timeline_tasks=qq:1
check "a job that is not there"
for text in 1-0 0/2 a 0-1/0 -1 1- "" 0--1 pp: 99999999999999999999; do
    no 'output.timeline_tasks' two.cfg output.timeline=perfetto "output.timeline_tasks=[\"$text\"]"
    check "\"$text\" names no tasks"
done
no 'too little for anything' two.cfg output.timeline=perfetto output.timeline_bytes=2000
check "a budget without room for anything"
run late two.cfg output.timeline=perfetto output.timeline_from=1s && grep -q 'nothing was recorded' err && jq -e . late/timeline.json >out
check "a span behind what happens is told, and the file can be read"
