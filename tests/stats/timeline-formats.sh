#!/bin/bash
# The formats of timelines: tests/stats/timeline-formats.sh
#
# Two tasks and one message in each format, by hand; then a job of 32 tasks, read by a program that is not ours (otf2-print) or by the
# format's grammar (tests/stats/paraver.awk); the same bytes on any number of ranks and after a resume; budgets that are kept.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
otf2=,otf2
"$marssim" --list | grep -q . && "$marssim" -q -o "$work/none" configs/star-pingpong.cfg jobs[0].steps=1 output.timeline=otf2 >"$work/out" 2>"$work/err" ||
    { grep -q 'built without OTF2' "$work/err" && otf2="" && echo "SKIP: the format otf2: this marssim was built without it"; }
command -v otf2-print >/dev/null || echo "SKIP: otf2-print is missing"
cd "$work" || exit 2

run() { # FOLDER WORD...
    timeout 300 "$marssim" -q -o "$@" >out 2>err </dev/null
}
same() { # WHAT: by hand, and as it is
    shown=$work/$1
    cmp "$1.by-hand" "$1" >err
    check "$2"
    shown=$work/err
}

# One round trip of 8 bytes over one switch: 10 ns link, 0 ns switch, 10 ns link, and 8 bytes at 1 GB/s take 8 ns: 28 ns one way.
cat >two.cfg <<'END'
topology: { kind = "star"; nodes = 2; bandwidth = "1 GB/s"; latency = "10 ns"; };
switch: { delay = "0 ns"; };
adapter: { header = "0 B"; };
jobs = ( { program = "pingpong"; name = "pp"; steps = 1; bytes = "8 B"; } );
END
run two two.cfg output.timeline=paraver$otf2
check "a message to and fro"

grep -v '^#' two/timeline.prv | sort >prv
sort >prv.by-hand <<'END'
2:1:1:1:1:0:50000001:3
1:1:1:1:1:0:8:3
3:1:1:1:1:0:0:2:1:2:1:28:28:8:0
2:2:1:2:1:0:50000001:2
1:2:1:2:1:0:28:3
2:1:1:1:1:8:50000001:0
2:1:1:1:1:8:50000001:2
1:1:1:1:1:8:56:3
2:2:1:2:1:28:50000001:0
2:2:1:2:1:28:50000001:3
1:2:1:2:1:28:36:3
3:2:1:2:1:28:28:1:1:1:1:56:56:8:0
2:2:1:2:1:36:50000001:0
2:2:1:2:1:36:50000003:1
2:2:1:2:1:36:50000003:0
2:1:1:1:1:56:50000001:0
2:1:1:1:1:56:50000003:1
2:1:1:1:1:56:50000003:0
END
same prv "paraver: states, events and communications"
[ "$(head -1 two/timeline.prv)" = "#Paraver (01/01/1970 at 00:00):56_ns:1(2):1:2(1:1,1:1)" ] && [ "$(awk -f "$top/tests/stats/paraver.awk" two/timeline.prv)" = "4 12 2" ]
check "the header, and the whole by the grammar"
awk '$1 == 9 { type = $2 } type == 50000001 && $2 ~ /^MPI_/ { print $1, $2 }' two/timeline.pcf | tr '\n' ' ' | grep -qx '2 MPI_Recv 3 MPI_Send '
check "the functions' values"

if [ "$otf2" ] && command -v otf2-print >/dev/null; then
    otf2-print two/timeline-otf2/traces.otf2 | awk '$1 ~ /^(ENTER|LEAVE|MPI_)/' | sed 's/  */ /g; s/ <[0-9]*>//g' | sort >otf2
    sort >otf2.by-hand <<'END'
ENTER 0 0 Region: "MPI_Send"
ENTER 0 0 Region: "waiting"
MPI_SEND 0 0 Receiver: 1 ("pp task 1"), Communicator: "pp", Tag: 0, Length: 8
ENTER 1 0 Region: "MPI_Recv"
ENTER 1 0 Region: "waiting"
LEAVE 0 8000 Region: "waiting"
LEAVE 0 8000 Region: "MPI_Send"
ENTER 0 8000 Region: "MPI_Recv"
ENTER 0 8000 Region: "waiting"
MPI_RECV 1 28000 Sender: 0 ("pp task 0"), Communicator: "pp", Tag: 0, Length: 8
LEAVE 1 28000 Region: "waiting"
LEAVE 1 28000 Region: "MPI_Recv"
ENTER 1 28000 Region: "MPI_Send"
ENTER 1 28000 Region: "waiting"
MPI_SEND 1 28000 Receiver: 0 ("pp task 0"), Communicator: "pp", Tag: 0, Length: 8
LEAVE 1 36000 Region: "waiting"
LEAVE 1 36000 Region: "MPI_Send"
ENTER 1 36000 Region: "MPI_Finalize"
LEAVE 1 36000 Region: "MPI_Finalize"
MPI_RECV 0 56000 Sender: 1 ("pp task 1"), Communicator: "pp", Tag: 0, Length: 8
LEAVE 0 56000 Region: "waiting"
LEAVE 0 56000 Region: "MPI_Recv"
ENTER 0 56000 Region: "MPI_Finalize"
LEAVE 0 56000 Region: "MPI_Finalize"
END
    same otf2 "otf2: regions and messages, as otf2-print reads them"
fi

# ---- a whole job ----

lammps=$top/configs/fat-tree-lammps.cfg
all="$far output.timeline=perfetto,paraver$otf2"
run one "$lammps" $all
check "a traced job"
messages=$(jq '[.traceEvents[] | select(.ph == "s")] | length' one/timeline.json)
calls=$(jq '[.traceEvents[] | select(.args.bytes != null and .ph == "X" or (.ph == "X" and (.name | startswith("MPI_"))))] | length' one/timeline.json)
waits=$(jq '[.traceEvents[] | select(.name == "waiting")] | length' one/timeline.json)
computations=$(jq '[.traceEvents[] | select(.name == "compute")] | length' one/timeline.json)
awk -f "$top/tests/stats/paraver.awk" one/timeline.prv >prv && [ "$(cut -d' ' -f2- prv)" = "$((2 * calls)) $messages" ]
check "paraver: the grammar holds, with as many calls and messages"
if [ "$otf2" ] && command -v otf2-print >/dev/null; then
    otf2-print one/timeline-otf2/traces.otf2 >otf2 2>err && [ ! -s err ] && [ "$(grep -c '^MPI_RECV' otf2)" -eq "$messages" ] &&
        [ "$(grep -c '^ENTER' otf2)" -eq $((calls + waits + computations)) ] && [ "$(grep -c '^LEAVE' otf2)" -eq "$(grep -c '^ENTER' otf2)" ]
    check "otf2: as many regions and messages"
fi
timelines() { # FOLDER: what is in its timelines
    (cd "$1" && find . -name 'timeline*' -type f -o -path './timeline-otf2/*' -type f | sort | xargs md5sum)
}
timelines one >one.sums
for ranks in 2 3 5; do
    timeout 300 mpirun -n $ranks "$marssim" -q -o "ranks" "$lammps" $all partition.oversubscribe=true partition.adapt=false >out 2>err &&
        timelines ranks | cmp - one.sums >>err
    check "the same bytes on $ranks ranks"
done
run saved "$lammps" $all run.checkpoint.at=13ms && timeout 300 mpirun -n 2 "$marssim" -q --resume saved/checkpoints -o ranks >out 2>err &&
    timelines ranks | cmp - one.sums >>err
check "and after a resume on two ranks"
rm -rf ranks saved

for bytes in 30000 1000000; do
    run budget "$lammps" $all output.timeline_bytes=$bytes
    for file in timeline.json 'timeline.p[rc]* timeline.row' ${otf2:+timeline-otf2}; do
        size=$(cd budget && find $file -type f -print0 | xargs -0 cat | wc -c)
        [ "$size" -le $bytes ] && [ "$size" -gt $((bytes / 5)) ]
        check "$file within $bytes bytes ($size)"
    done
    awk -f "$top/tests/stats/paraver.awk" budget/timeline.prv >prv && grep -q '^# marssim: sampled: ' budget/timeline.prv
    check "what is left is a trace for Paraver, and says that it is sampled"
done
if [ "$otf2" ] && command -v otf2-print >/dev/null; then
    otf2-print budget/timeline-otf2/traces.otf2 >otf2 2>err && [ ! -s err ] && strings budget/timeline-otf2/traces.otf2 | grep -q '^sampled: '
    check "and for otf2-print"
fi
run budget two.cfg && [ ! -e budget/timeline-otf2 ] && [ ! -e budget/timeline.prv ]
check "a run without timelines leaves none of an earlier run"
