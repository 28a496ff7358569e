#!/bin/bash
# Collectives that do not block, persistent ones, and those among neighbours, traced and replayed: tests/traces/replay-collectives.sh
#
# tests/tools/tracer/collectives.c makes the same calls in each form: all forms are to send the same messages. With many calls under way at once the
# results are the same on any ranks, in any order of cells, and after checkpoints in the middle of them.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
marstrace=$(dirname "$marssim")/marstrace
[ -x "$marstrace" ] || { echo "SKIP: the tracer is not built"; exit 0; }
cd "$work" || exit 2

cat >replay.cfg <<'END'
topology: { kind = "star"; nodes = 6; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs: ( { program = "trace"; trace = "t"; } );
partition: { bind = "no"; adapt = false; oversubscribe = true; };
END

replayed() { # NAME TASKS MPIRUN PROGRAM ARGUMENTS...: the messages and bytes of each task in NAME.sent
    local name=$1 tasks=$2 mpirun=$3
    shift 3
    timeout 120 "$mpirun" -n "$tasks" "$marstrace" -o "$name" "$@" >err 2>&1 &&
        timeout 60 "$marssim" -q -o "$name-out" replay.cfg "jobs[0].trace=\"$name\"" >err 2>&1 &&
        awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next}
            {print $at["task"], $at["messages_sent"], $at["bytes_sent"], $at["messages_received"], $at["bytes_received"]}' \
            "$name-out/tasks.csv" >"$name.sent"
}

same() { # ONE OTHER
    [ -s "$1.sent" ] && cmp "$1.sent" "$2.sent" >err 2>&1
}

mpicc -O1 -o collectives "$top/tests/tools/tracer/collectives.c" >err 2>&1
for tasks in 2 5; do
    replayed "blocking$tasks" $tasks mpirun ./collectives blocking
    check "$tasks tasks: blocking collectives are traced and replayed"
    replayed "nonblocking$tasks" $tasks mpirun ./collectives nonblocking && same "blocking$tasks" "nonblocking$tasks"
    check "$tasks tasks: those that do not block send the same messages"
done
replayed overlap 5 mpirun ./collectives overlap
check "many at once, completed in another order"
# In each communicator two calls more: in the world a barrier by dissemination (3 rounds), and an Allreduce by doubling (4 + 1: task 0 sends
# once, 1 three times, the others twice); in the halves of 3 and 2 tasks alike: 2 and 1 rounds; 2 + 1: 1, 2, 1; 2: 1 each. Ranks in the halves
# go down: 4, 2, 0 and 3, 1.
cat >more <<'END'
0 7 8
1 8 16
2 9 16
3 7 12
4 8 12
END
paste -d ' ' blocking5.sent overlap.sent | awk '{print $1, $7 - $2, $8 - $3}' >got
cmp got more >err 2>&1
check "and nothing more than the two blocking calls between them"

if command -v mpicc.mpich >/dev/null && [ -e "${marstrace%/*}/libmarstrace-mpich.so" ]; then
    mpicc.mpich -O1 -o collectives-mpich "$top/tests/tools/tracer/collectives.c" >err 2>&1
    replayed twice 3 mpirun.mpich ./collectives-mpich blocking twice
    check "each twice, under MPICH"
    replayed persistent 3 mpirun.mpich ./collectives-mpich persistent twice && same twice persistent
    check "persistent ones that are started twice send the same messages"
else
    echo "SKIP: marssim was built without MPICH (mpich, libmpich-dev)"
fi

equal() { # FOLDER OTHER
    [ "$(jq -S .result "$1/summary.json")" = "$(jq -S .result "$2/summary.json")" ] && cmp "$1/tasks.csv" "$2/tasks.csv"
}
for mode in calls thread; do
    rm -rf "$mode-out"
    "$marssim" -q -o $mode-out replay.cfg 'jobs[0].trace="overlap"' "mpi.progress=\"$mode\"" "mpi.eager_limit=\"100 B\"" >err 2>&1 &&
        [ "$(cut -d, -f2,9-12 $mode-out/tasks.csv)" = "$(cut -d, -f2,9-12 overlap-out/tasks.csv)" ]
    check "mpi.progress = $mode: the same messages"
done
cp replay.cfg adapter.cfg
for run in "adapter overlap" "adapter persistent" "calls overlap" "thread overlap"; do
    read -r mode name <<<"$run"
    [ -e "$name/task-000000.mars" ] || continue
    cp adapter.cfg replay.cfg
    [ $mode = adapter ] || echo "mpi: { progress = \"$mode\"; eager_limit = \"100 B\"; };" >>replay.cfg
    [ $mode != thread ] || sed -i 's/progress =/progress_cost = "200 ns"; &/' replay.cfg
    rm -rf "$name-out"
    "$marssim" -q -o "$name-out" replay.cfg "jobs[0].trace=\"$name\"" >err 2>&1
    for variant in "1 shuffled" "2 forward" "3 backward" "5 shuffled"; do
        read -r ranks order <<<"$variant"
        timeout 120 mpirun -n "$ranks" "$marssim" -q -o ranks replay.cfg "jobs[0].trace=\"$name\"" "engine.cell_order=$order" >err 2>&1 &&
            equal "$name-out" ranks >err 2>&1
        check "$name, $mode: the same on $ranks ranks, cells $order"
    done
    end=$(jq .result.simulated_time_ps "$name-out/summary.json")
    for part in 9 5 3 2; do # of 16
        rm -rf saved resumed
        "$marssim" -q -o saved replay.cfg "jobs[0].trace=\"$name\"" "run.checkpoint.at=[\"$((end * part / 16)) ps\"]" >err 2>&1 &&
            timeout 120 mpirun -n 2 "$marssim" -q -o resumed --resume saved/checkpoints/* >err 2>&1 && equal "$name-out" resumed >err 2>&1
        check "$name, $mode: the same after a checkpoint at $part/16"
    done
done
