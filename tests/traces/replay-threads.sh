#!/bin/bash
# Programs whose threads call MPI, traced and replayed: tests/traces/replay-threads.sh
#
# tests/tools/tracer/streams.c: threads that send at a time, that wait for each other's requests, with collectives of their own and in turn. Calls
# and bytes are those of the profile, all that is sent is received, and the results are the same on any ranks, in any order of cells, and
# after checkpoints in the middle.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
marstrace=$(dirname "$marssim")/marstrace marsconv=$(dirname "$marssim")/marsconv
[ -x "$marstrace" ] || { echo "SKIP: the tracer is not built"; exit 0; }
cd "$work" || exit 2

cat >replay.cfg <<'EOF'
topology: { kind = "star"; nodes = 6; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs: ( { program = "trace"; trace = "t"; } );
partition: { bind = "no"; adapt = false; oversubscribe = true; };
EOF

column() { # FILE NAME: the sum of a column
    awk -F, -v name="$2" 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next} {sum += $at[name]} END {printf "%d", sum}' "$1"
}
replayed() { # NAME TASKS MPIRUN PROGRAM ARGUMENTS...
    local name=$1 tasks=$2 mpirun=$3
    shift 3
    timeout 120 "$mpirun" -n "$tasks" "$marstrace" -o "$name" "$@" >err 2>&1 &&
        timeout 60 "$marssim" -q -o "$name-out" replay.cfg "jobs[0].trace=\"$name\"" >err 2>&1 &&
        diff <(profile_of "$name" 2>>err | sort) <(cut -d, -f1-5 "$name-out/calls.csv" | sort) >err &&
        [ "$(column "$name-out/tasks.csv" messages_sent)" -eq "$(column "$name-out/tasks.csv" messages_received)" ] &&
        [ "$(column "$name-out/tasks.csv" bytes_sent)" -eq "$(column "$name-out/tasks.csv" bytes_received)" ]
}
threads() { # FOLDER TASK: how many threads of a task called
    "$marstrace" --list "$1" | sed -n "s/^$2\.\([0-9]*\) .*/\1/p" | sort -u | wc -l
}

mpicc -O1 -fopenmp -o streams "$top/tests/tools/tracer/streams.c" -lpthread >err 2>&1
check "the program is built"
for tasks in 2 3; do
    replayed "multiple$tasks" $tasks mpirun ./streams multiple && [ "$(threads "multiple$tasks" 1)" -eq 5 ]
    check "$tasks tasks with three threads, then three others: calls and bytes of the profile, all is received"
done
# Of each task, per pass of 60: a message of 3000 bytes less the pass, one of 10 or 40000 in turn, one of 100; and one of 77. An exchange of
# all tasks by rings or doubling comes besides: 23 sums, 4 duplicates, 4 barriers, 4 sums and a broadcast or two in turn.
awk -F, '$2 == "MPI_Isend" { n++; bad += $3 != 121 || $4 != 60 * 3000 - 59 * 30 + 30 * 10 + 30 * 40000 + 77 } END { exit n != 3 || bad }' multiple3-out/calls.csv
check "what was sent"
replayed serialized 3 mpirun ./streams serialized && [ "$(threads serialized 0)" -eq 3 ]
check "one call at a time"
replayed funneled 3 mpirun ./streams funneled && [ "$(threads funneled 0)" -eq 1 ]
check "threads that compute only"
mpicc -O1 -o threads "$top/tests/tools/tracer/threads.c" -lpthread >err 2>&1 && replayed two 3 mpirun ./threads
check "two threads with messages of their own"
if command -v mpicc.mpich >/dev/null && [ -e "${marstrace%/*}/libmarstrace-mpich.so" ]; then
    mpicc.mpich -O1 -fopenmp -o streams-mpich "$top/tests/tools/tracer/streams.c" -lpthread >err 2>&1 && replayed mpich 3 mpirun.mpich ./streams-mpich multiple
    check "under MPICH"
else
    echo "SKIP: marssim was built without MPICH (mpich, libmpich-dev)"
fi

equal() { # FOLDER OTHER
    [ "$(jq -S .result "$1/summary.json")" = "$(jq -S .result "$2/summary.json")" ] && cmp "$1/tasks.csv" "$2/tasks.csv" &&
        cmp "$1/calls.csv" "$2/calls.csv"
}
for run in "multiple3 adapter" "multiple3 calls" "serialized thread"; do
    read -r name mode <<<"$run"
    sed "s/trace = \"t\"/trace = \"$name\"/" replay.cfg >run.cfg
    echo "mpi: { progress = \"$mode\"; eager_limit = \"2 KiB\"; match_time = \"20 ns\"; }; node: { send_overhead = \"300 ns\"; receive_overhead = \"200 ns\"; };" >>run.cfg
    rm -rf one
    "$marssim" -q -o one run.cfg >err 2>&1
    check "$name, $mode: with overheads and rendezvous"
    for variant in "1 shuffled" "2 forward" "3 backward" "5 shuffled"; do
        read -r ranks order <<<"$variant"
        timeout 120 mpirun -n "$ranks" "$marssim" -q -o ranks run.cfg "engine.cell_order=$order" >err 2>&1 && equal one ranks >err 2>&1
        check "$name, $mode: the same on $ranks ranks, cells $order"
    done
    timeout 120 mpirun -n 3 "$marssim" -q -o ranks run.cfg partition.adapt=true >err 2>&1 && equal one ranks >err 2>&1
    check "$name, $mode: the same when ranks give up"
    end=$(jq .result.simulated_time_ps one/summary.json) at=
    for part in 1 3 5 8 11 14; do # of 16
        at+="\"$((end * part / 16)) ps\","
    done
    rm -rf saved
    "$marssim" -q -o saved run.cfg "run.checkpoint.at=[${at%,}]" >err 2>&1 && equal one saved >err 2>&1
    check "$name, $mode: the same with checkpoints"
    for saved in saved/checkpoints/*; do
        rm -rf resumed
        timeout 120 mpirun -n 2 "$marssim" -q -o resumed --resume "$saved" >err 2>&1 && equal one resumed >err 2>&1
        check "$name, $mode: the same from $(basename "$saved")"
    done
done

# Many operations do not stay in memory; a background job does it all again.
TMPDIR=$PWD "$marssim" -q -o spilled replay.cfg 'jobs[0].trace="multiple3"' 'jobs[0].trace_memory="0 B"' >err 2>&1 && equal multiple3-out spilled >err 2>&1
check "operations in a file"
cat >again.cfg <<'EOF'
topology: { kind = "star"; nodes = 6; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs: ( { program = "pingpong"; steps = 2000; bytes = "8 KiB"; nodes = 2; },
        { program = "trace"; trace = "serialized"; processor_factor = 0.0; first_node = 2; nodes = 3; background = true; restart = true; } );
partition: { bind = "no"; };
EOF
"$marssim" -q -o again again.cfg >err 2>&1 && awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next} $1 == "job1" {n++; bad += $at["passes"] < 2} END {exit n != 3 || bad}' again/tasks.csv
check "a background job begins again"

# ---- what cannot be right ----

cp -r multiple3 torn
rm -f torn/task-000001.mars && ! "$marssim" -q -o x replay.cfg 'jobs[0].trace="torn"' 2>err && grep -q 'task 1' err
check "a missing task is refused"

