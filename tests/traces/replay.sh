#!/bin/bash
# Programs that marstrace has traced, replayed: tests/traces/replay.sh
#
# Small programs of tests/tools/tracer/ are run under the tracer, and their traces by the simulator: as many messages and bytes as the program
# sent, the same results on any ranks and after a checkpoint, from a folder and from one file.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
marstrace=$(dirname "$marssim")/marstrace
[ -x "$marstrace" ] || { echo "SKIP: the tracer is not built"; exit 0; }
cd "$work" || exit 2

cat >replay.cfg <<'END'
topology: { kind = "star"; nodes = 4; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs: ( { program = "trace"; trace = "t"; } );
partition: { bind = "no"; };
END
mpicc -O1 -o ring "$top/tests/tools/tracer/ring.c" >err 2>&1 && mpirun -n 3 "$marstrace" --profile -o t ./ring 40 >err 2>&1
check "a program is traced"
cp -r t ring-t
"$marssim" -q -o one replay.cfg >err 2>&1
check "its trace is replayed"

# 40 messages of 2 KiB from each task. Each Allreduce of 8 bytes is among tasks 0 and 2; the split is an exchange among all, of 8 bytes.
sent() { # TASK
    awk -F, -v t="$1" 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next} $2 == t {print $at["messages_sent"], $at["bytes_sent"]}' one/tasks.csv
}
read -r messages bytes <<<"$(sent 1)"
[ "$messages" -eq 42 ] && [ "$bytes" -eq $((40 * 2048 + 16)) ]
check "messages and bytes of a task without partner in the Allreduce"
read -r messages bytes <<<"$(sent 0)"
[ "$messages" -eq 82 ] && [ "$bytes" -eq $((40 * 2048 + 40 * 8 + 16)) ]
check "and of one with a partner"

# What has been called: the table of the tracer itself, while the program ran, with simulated time beside it. Live, Finalize has no time yet.
profiled() { # FOLDER PROFILE
    [ "$(head -1 "$1/calls.csv")" = task,function,calls,bytes,time_ns,simulated_ns,wait_ns ] &&
        diff <(cut -d, -f1-5 "$1/calls.csv" | sort) <(sort "$2")
}
profile_of t >profile.csv 2>err && profiled one profile.csv >err &&
    diff <(cut -d, -f1-4 profile.csv | sort) <(cut -d, -f1-4 t/profile.csv | sort) >err
check "calls.csv has the calls, bytes and traced times of the profile"
awk -F, 'NR > 1 && ($2 == "MPI_Comm_rank" || $2 == "MPI_Irecv") { bad += $6 != 0; seen++ }
    NR > 1 { bad += $7 > $6 } $2 == "MPI_Waitall" { wait += $7 } END { exit !(seen == 6 && !bad && wait > 0) }' one/calls.csv
check "and simulated times: none of what does not last, waits of what waits"
awk -F, 'NR == FNR { if (FNR > 1) { calls[$2] += $3; time[$2] += $5; wait[$2] += $7; tasks[$2]++ } next }
    FNR > 1 { rows++; bad += $2 != tasks[$1] || $3 != calls[$1] || $5 != time[$1] || $7 != wait[$1] }
    END { exit !(rows == length(tasks) && !bad) }' one/calls.csv one/functions.csv
check "functions.csv has their sums"

same() { # FOLDER
    [ "$(jq -S .result one/summary.json)" = "$(jq -S .result "$1/summary.json")" ] && cmp one/tasks.csv "$1/tasks.csv" &&
        cmp one/calls.csv "$1/calls.csv" && cmp one/functions.csv "$1/functions.csv"
}
for ranks in 2 3; do
    mpirun -n $ranks "$marssim" -q -o ranks replay.cfg partition.adapt=false partition.oversubscribe=true >err 2>&1 && same ranks
    check "$ranks ranks: the same"
done
"$marstrace" --merge t -o t.mars >err 2>&1 && "$marssim" -q -o merged replay.cfg 'jobs[0].trace="t.mars"' >err 2>&1 && same merged
check "from one file: the same"
"$marssim" -q -o file replay.cfg 'jobs[0].trace_memory="0 B"' >err 2>&1 && same file
check "its operations in a temporary file: the same"
half=$(jq '.result.simulated_time_ps / 2 | floor' one/summary.json)
"$marssim" -q -o saved replay.cfg "run.checkpoint.at=[\"$half ps\"]" >err 2>&1 &&
    mpirun -n 2 "$marssim" -q -o resumed --resume saved/checkpoints/* partition.adapt=false >err 2>&1 && same resumed
check "after a checkpoint, on other ranks: the same"
"$marssim" -q -o wall replay.cfg 'jobs[0].clock="wall"' >err 2>&1 &&
    paste -d, one/tasks.csv wall/tasks.csv | awk -F, 'NR > 1 {n = NF / 2; bad += $(6 + n) < $6} END {exit bad > 0}'
check "by the wall's clock there is not less computation than by the processor's"

trace_refused() { # WHAT PATTERN ARGUMENTS...
    refused "$2" -o refused replay.cfg "${@:3}"
    check "refused: $1"
}
size=$(stat -c %s t.mars)
mkdir short dead
cp t/task-000000.mars t/task-000001.mars short
trace_refused "a file is missing" 'are files missing' 'jobs[0].trace="short"'
cp t/task-000002.mars short/task-000002.mars && head -c 30 t/task-000001.mars >short/task-000001.mars
trace_refused "a file of a folder that was cut" 'short/task-000001.mars: there is no whole block in it' 'jobs[0].trace="short"'
cp t/task-000001.mars short && head -c 16 t/task-000002.mars >short/task-000002.mars
trace_refused "the last file" 'short/task-000002.mars: there is no whole block in it' 'jobs[0].trace="short"'
for ranks in 1 2; do
    head -c $((size - 20)) t.mars >index.mars
    mpirun -n $ranks "$marssim" -q -o cut replay.cfg 'jobs[0].trace="index.mars"' partition.oversubscribe=true >err 2>&1 && cmp one/tasks.csv cut/tasks.csv >>err 2>&1 &&
        [ "$(grep -c 'warning: .*index.mars: it was cut: it has no index; read up to byte' err)" -eq 1 ]
    check "a file without its index is read, with a warning, $ranks ranks"
done
head -c $((size / 2)) t.mars >half.mars
trace_refused "a file that was cut" 'half.mars' 'jobs[0].trace="half.mars"'
cp t.mars bad.mars
printf '\377\377\377\377' | dd of=bad.mars bs=1 seek=117 conv=notrunc 2>/dev/null
trace_refused "a damaged file" 'bad.mars' 'jobs[0].trace="bad.mars"'
cp t.mars header.mars # of a block that the index names
printf '\377' | dd of=header.mars bs=1 seek=56 conv=notrunc 2>/dev/null
trace_refused "a damaged header" 'byte 16 (task 0): its header is damaged' 'jobs[0].trace="header.mars"'
timeout -k 5 60 mpirun -n 3 "$marstrace" -o dead ./ring 20 1 >err 2>&1 # mpirun itself may hang when a task has died
trace_refused "a task that died" 'task [0-2] did not come to MPI_Finalize' 'jobs[0].trace="dead"'
trace_refused "another format" 'no trace here' 'jobs[0].format="liballprof"'

# ---- families of calls, each by a program of its own ----

family() { # NAME MPICC MPIRUN TASKS ARGUMENTS...: traced, replayed, on ranks, after a checkpoint; results in one/
    local name=$1 cc=$2 run=$3 tasks=$4
    shift 4
    rm -rf t
    "$cc" -O1 -Wall -Werror -o program "$top/tests/tools/tracer/$name.c" >err 2>&1 && "$run" -n "$tasks" "$marstrace" -o t ./program "$@" >err 2>&1
    check "$name is traced with $cc"
    equal "$name"
}
equal() { # NAME ARGUMENTS...: of the simulator; t is replayed
    local name=$1 end at
    shift
    rm -rf one ranks saved resumed
    "$marssim" -q -o one replay.cfg "$@" >err 2>&1
    check "$name: it is replayed"
    for ranks in 2 3 5; do
        mpirun -n $ranks "$marssim" -q -o ranks replay.cfg partition.adapt=false partition.oversubscribe=true "$@" >err 2>&1 && same ranks
        check "$name: the same on $ranks ranks"
    done
    end=$(jq '.result.simulated_time_ps' one/summary.json)
    at=$(for part in 1 2 3 4 5 6 7 8 9; do printf '"%d ps",' $((end * part / 10)); done)
    "$marssim" -q -o saved replay.cfg "run.checkpoint.at=[${at%,}]" "$@" >err 2>&1 && same saved
    check "$name: the same with checkpoints"
    for saved in saved/checkpoints/*; do
        mpirun -n 2 "$marssim" -q -o resumed --resume "$saved" partition.adapt=false partition.oversubscribe=true >err 2>&1 && same resumed || break
    done
    check "$name: the same after each of them"
}

family matched mpicc mpirun 3 3
read -r messages bytes <<<"$(sent 1)"
[ "$messages" -eq $((3 * (2 + 2))) ] && [ "$bytes" -eq $((3 * 40100)) ]
check "messages that probes found: as many, and their bytes"
if [ -e "${marstrace%/*}/libmarstrace-mpich.so" ]; then
    family matched mpicc.mpich mpirun.mpich 3 3
    read -r messages bytes <<<"$(sent 1)"
    [ "$messages" -eq $((3 * (4 + 2))) ] && [ "$bytes" -eq $((3 * 71100)) ]
    check "those of calls that send and receive with one request"
else
    echo "SKIP: marssim was built without MPICH (mpich, libmpich-dev)"
fi

# A program that is ended by one of its tasks: MPI_Abort says so in the trace, a signal does not. Each task does what its trace has, and may
# wait for what no trace has.
mpicc -O1 -o abort "$top/tests/tools/tracer/abort.c" >err 2>&1
for signal in "" 1; do
    rm -rf t && timeout -k 5 60 mpirun -n 3 "$marstrace" -o t ./abort 3 $signal >err 2>&1
    equal "a task ends its job${signal:+ by dying}" ${signal:+'jobs[0].died="end"'}
    jq -e ".result.end_reason == \"jobs done\" and .result.jobs[0].aborted.code == ${signal:+null #} 7" one/summary.json >err 2>&1
    check "and the summary says how"
    profile_of t >profile.csv 2>err && profiled one profile.csv >err
    check "and its calls are those of the profile"
done
# Who has had fewer messages than the others have recorded leaves these waiting, until nothing continues: they end where they began to wait,
# which periods have counted.
mv t fewer && timeout -k 5 60 mpirun -n 3 "$marstrace" -o t ./abort 30 1 >err 2>&1
cp fewer/task-000001.mars* t/
"$marssim" -q -o one replay.cfg 'jobs[0].died="end"' "output.period=1 us" output.series.{jobs,tasks,functions,communicators}=periods >err 2>&1 &&
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["task"] == 2 { cut += $c["passes"] == 0 } END { exit !cut }' one/tasks.csv &&
    awk -F, 'NR > 1 && $4 + $5 + $6 > 1000000 { bad++ } END { exit bad || NR < 50 }' one/task_series.csv
check "waits of tasks that a dead one leaves behind make no wrong rows"

# In a pass a task sends 71,791 bytes in 20 messages, those that others ask of it among them (tests/tools/tracer/windows.c), 2 of 8 bytes in each of
# 4 exchanges (three windows, one communicator), and 2 in each of 7 barriers (4 fences, 3 MPI_Win_free).
family windows mpicc mpirun 3 2
read -r messages bytes <<<"$(sent 2)"
[ "$messages" -eq $((2 * (20 + 8 + 14))) ] && [ "$bytes" -eq $((2 * (71791 + 64))) ] && jq -e '.result.jobs[0].unreceived == 0' one/summary.json >/dev/null
check "one-sided calls: as many messages and bytes"
equal "one-sided calls, mpi.progress = calls" 'mpi.progress="calls"'
equal "one-sided calls, mpi.progress = thread" 'mpi.progress="thread"' 'mpi.progress_cost="300 ns"'
if [ -e "${marstrace%/*}/libmarstrace-mpich.so" ]; then
    family windows mpicc.mpich mpirun.mpich 3 1
    read -r messages bytes <<<"$(sent 0)"
    [ "$messages" -eq 42 ] && [ "$bytes" -eq 71855 ]
    check "and under MPICH"
fi

# By hand: on a star of 10 GB/s links of 7 ns and a switch of 50 ns, a packet of b bytes takes 64 ns + b / (10 bytes per ns): empty ones, of 24
# bytes, 66.4 ns; of 1,000 bytes of payload 166.4; each full one before the last adds 102.4.
sed 's/latency = "500 ns"; };/latency = "7 ns"; };\nswitch: { delay = "50 ns"; };\nadapter: { packet_size = "1000 B"; header = "24 B"; };/' replay.cfg >star.cfg
mpicc -O1 -o windows "$top/tests/tools/tracer/windows.c" >err 2>&1
takes() { # PS CALL BYTES: what a pass of it takes, from the difference of eleven passes and one
    local ps=() passes
    for passes in 1 11; do
        rm -rf t && mpirun -n 2 "$marstrace" -o t ./windows "$2" $passes "$3" >err 2>&1 &&
            "$marssim" -q -o exact star.cfg 'jobs[0].processor_factor=0' >err 2>&1
        ps+=("$(jq '.result.jobs[0].finish_ps' exact/summary.json)")
    done
    echo "$2 $3: $(((ps[1] - ps[0]) / 10)) ps in place of $1" >err
    [ $((ps[1] - ps[0])) -eq $((10 * $1)) ]
    check "$2 of $3 bytes takes $1 ps"
}
takes $((166400 + 66400)) put 1000 # and DONE
takes $((166400 + 2 * 102400 + 66400)) put 3000
takes $((66400 + 166400)) get 1000
takes $((66400 + 2 * 102400 + 64000 + 52400)) get 2500
takes $((64000 + 3200 + 64000 + 2800)) swap 4 # 8 bytes there, 4 back
takes $((66400 + 66400 + 2400)) lock 0        # LOCK and GRANT; the next LOCK goes behind UNLOCK

# Between two groups, of 2 and of 3 tasks. What makes the two communicators is an exchange of 8 bytes among all 5 tasks each time: 3 messages and
# 32 bytes (8, 16, 8). A broadcast goes straight to the three tasks of the other group.
mpicc -O1 -Wall -Werror -o inter "$top/tests/tools/tracer/inter.c" >err 2>&1
five="topology.nodes=5"
between() { # WHAT: "MESSAGES BYTES" of each task, without those of the exchanges
    rm -rf t && mpirun -n 5 "$marstrace" -o t ./inter "$1" >err 2>&1 && "$marssim" -q -o one replay.cfg $five >err 2>&1
    for task in 0 1 2 3 4; do
        read -r messages bytes <<<"$(sent $task)"
        echo -n "$((messages - 6)) $((bytes - 64)); "
    done
}
[ "$(between messages)" = "4 20300; 4 20300; 3 20200; 3 20200; 3 20200; " ]
check "messages between two groups"
[ "$(between alltoall)" = "3 30; 3 30; 2 20; 2 20; 2 20; " ]
check "all to all between two groups"
[ "$(between bcast)" = "0 0; 3 90000; 0 0; 0 0; 0 0; " ]
check "a broadcast to the other group"
rm -rf t && mpirun -n 5 "$marstrace" -o t ./inter >err 2>&1
equal "all calls between two groups" $five
jq -e '.result.jobs[0].unreceived == 0' one/summary.json >/dev/null
check "and nothing is left over"
if [ -e "${marstrace%/*}/libmarstrace-mpich.so" ]; then
    rm -rf t && mpicc.mpich -O1 -o inter-mpich "$top/tests/tools/tracer/inter.c" >err 2>&1 && mpirun.mpich -n 5 "$marstrace" -o t ./inter-mpich >err 2>&1
    equal "the same, traced under MPICH" $five
fi
mpicc -O1 -w -o families "$top/tests/tools/tracer/families.c" >err 2>&1 && mpirun -n 4 "$marstrace" -o all ./families >err 2>&1
timeout 60 "$marssim" -q -o all-out replay.cfg 'jobs[0].trace="all"' >err 2>&1 &&
    jq -e '.result.end_reason == "jobs done"' all-out/summary.json >/dev/null
check "every family is replayed"
profile_of all >profile.csv 2>err && profiled all-out profile.csv >err &&
    awk -F, '$2 == "MPI_File_open" { n++; bad += $6 != $5 || $7 != 0 } END { exit !(n == 4 && !bad) }' all-out/calls.csv
check "every family is counted as in the profile; a call that is computation takes its traced time"
[ "$(awk -F, 'NR > 1 && $2 ~ /^MPI_File_/ { sum += $5 } END { printf "%.0f", sum * 1000 }' all-out/calls.csv)" = "$(jq '.result.jobs[0].file_time_ps' all-out/summary.json)" ] &&
    grep -q 'computation, of all tasks, that stands for calls on files: [0-9.]* [mu]*s' all-out/summary.txt
check "the summary says how much that is"

# A job that starts again and again counts all its passes, one that is none of a trace only when it is asked for; after a checkpoint, too.
cat >passes.cfg <<'END'
topology: { kind = "star"; nodes = 6; bandwidth = "1 GB/s"; latency = "500 ns"; };
node: { send_overhead = "30 ns"; receive_overhead = "20 ns"; };
jobs: ( { program = "pingpong"; steps = 20; bytes = "1 MiB"; nodes = 2; },
        { program = "trace"; trace = "ring-t"; processor_factor = 0.0; first_node = 2; nodes = 3; background = true; restart = true; } );
partition: { bind = "no"; };
END
"$marssim" -q -o passes passes.cfg >err 2>&1 &&
    awk -F, '$8 != "job" { bad += $8 != "job1"; if ($1 == 0 && $2 == "MPI_Init") begun = $3; if ($1 == 0 && $2 == "MPI_Waitall") waits = $3 }
        END { exit !(!bad && begun > 2 && waits == 40 * begun) }' passes/calls.csv
check "all passes of a job that restarts"
"$marssim" -q -o passes passes.cfg output.calls=true >err 2>&1 && grep -q '^0,MPI_Recv,20,20971520,,.*,job0$' passes/calls.csv
check "generators, when they are asked for: no traced time"
third=$(jq '.result.simulated_time_ps / 3 | floor' passes/summary.json)
"$marssim" -q -o saved2 passes.cfg output.calls=true "run.checkpoint.at=[\"$third ps\",\"$((2 * third)) ps\"]" >err 2>&1 &&
    mpirun -n 3 "$marssim" -q -o resumed2 --resume saved2/checkpoints/checkpoint-*$third partition.adapt=false \
        partition.oversubscribe=true "run.checkpoint.at=[\"$((2 * third)) ps\"]" >err 2>&1 &&
    "$marssim" -q -o resumed3 --resume resumed2 >err 2>&1 &&
    cmp passes/calls.csv resumed2/calls.csv && cmp passes/calls.csv resumed3/calls.csv && cmp passes/functions.csv resumed3/functions.csv
check "after a checkpoint, and after another: the same"
"$marssim" -q -o none passes.cfg output.calls=false >err 2>&1 && [ ! -e none/calls.csv ] && [ ! -e none/functions.csv ]
check "output.calls = false: no such tables"

# Tasks that do not agree about their collectives: the end of a run in which all wait, if it were not said before.
mpicc -O1 -o roots "$top/tests/tools/tracer/roots.c" >err 2>&1 && mpirun -n 3 "$marstrace" -o first ./roots 0 >err 2>&1 &&
    mpirun -n 3 "$marstrace" -o second ./roots 1 >err 2>&1 && cp second/task-000001.mars first/
"$marssim" -q -o roots-out replay.cfg 'jobs[0].trace="second"' >err 2>&1
check "a broadcast from task 1"
for ranks in 1 3; do
    mpirun -n $ranks "$marssim" -q -o roots-out replay.cfg 'jobs[0].trace="first"' partition.oversubscribe=true >err 2>&1
    [ $? -eq 2 ] && [ "$(grep -c 'first: the 3 tasks of the world, of which task 0 is the first, do not all call the same collectives' err)" -eq 1 ]
    check "one task has another root, $ranks ranks: refused"
done
mpicc -O1 -o agree "$top/tests/tools/tracer/agree.c" >err 2>&1
for words in "0 200 r 4 3 0 1" "0 100 a 4 3 0 1"; do # bytes of the broadcast; another reduction
    rm -rf first second
    # shellcheck disable=SC2086 # several words
    mpirun -n 3 "$marstrace" -o first ./agree 0 100 r 4 3 0 1 >err 2>&1 && mpirun -n 3 "$marstrace" -o second ./agree $words >err 2>&1 &&
        cp second/task-000002.mars first/
    "$marssim" -q -o agree-out replay.cfg 'jobs[0].trace="second"' >err 2>&1
    check "agree $words"
    "$marssim" -q -o agree-out replay.cfg 'jobs[0].trace="first"' >err 2>&1
    [ $? -eq 2 ] && grep -q 'do not all call the same collectives with the same roots and sizes' err
    check "one task with these words and the others with others: refused"
done

# ---- calls that MPI refused ----

mpicc -O1 -w -o refused "$top/tests/tools/tracer/refused.c" >err 2>&1 && rm -rf t && mpirun -n 3 "$marstrace" --profile -o t ./refused >err 2>&1 &&
    [ "$("$marstrace" --list t | grep -c '^[012]\.0 .*MPI_\(Send\|Bcast\|Irecv\|Isend\) .* bytes=[-0-9]* recvbytes=[-0-9]* error=')" -eq 12 ] &&
    cut -d, -f1-4 t/profile.csv | sort >counted && profile_of t 2>err >profile.csv && cut -d, -f1-4 profile.csv | sort | cmp counted - >>err 2>&1
check "calls that MPI refused are traced with their errors"
"$(dirname "$marssim")/marsconv" --check t >out 2>err && grep -q '^nothing found' out
check "and found to be nothing wrong"
rm -rf one && "$marssim" -q -o one replay.cfg >err 2>&1 && profiled one profile.csv >err && [ "$(sent 0)" = "1 4" ] && [ "$(sent 1)" = "0 0" ] &&
    mpirun -n 3 "$marssim" -q -o three replay.cfg >err 2>&1 && cmp one/calls.csv three/calls.csv >err 2>&1 && cmp one/tasks.csv three/tasks.csv >err 2>&1
check "and do nothing in the replay, on one rank and on three"

# ---- messages that are longer than the buffer they are received into, where errors return ----

truncated() { # MPICC MPIRUN: ten receives are cut off; the trace has their source and tag, and so many bytes as there was room for
    "$1" -O1 -o truncated "$top/tests/tools/tracer/truncated.c" >err 2>&1 && rm -rf t && timeout 60 "$2" -n 2 "$marstrace" --profile -o t ./truncated >out 2>err &&
        [ "$(cat out)" = "10 0" ] && "$marstrace" --list t >list 2>err &&
        [ "$(grep -c '^1\.0 .*MPI_\(Recv\|Mrecv\|Sendrecv\) .* from=0 got_tag=1\{0,1\}[045] got=40$' list)" -eq 6 ] &&
        [ "$(grep -c '^1\.0 .*MPI_\(Wait\|Waitall\) .* done=\[0,0,1\{0,1\}[12],40' list)" -eq 4 ] &&
        profile_of t >profile.csv 2>err &&
        ! "$(dirname "$marssim")/marsconv" --check t >found 2>err && [ "$(grep -c '40 where they are received' found)" -eq 10 ]
}
replay_truncated() { # the whole messages are sent
    rm -rf one three && "$marssim" -q -o one replay.cfg >err 2>&1 && profiled one profile.csv >err && [ "$(sent 0 | cut -d' ' -f2)" -eq $((4 * (5 * 20 + 10 + 5 * 100000 + 10))) ] &&
        mpirun -n 3 "$marssim" -q -o three replay.cfg >err 2>&1 && cmp one/calls.csv three/calls.csv >err 2>&1 && cmp one/tasks.csv three/tasks.csv >err 2>&1
}
truncated mpicc mpirun
check "receives that were cut off are traced as such"
replay_truncated
check "and replayed, on one rank and on three"
if [ -e "${marstrace%/*}/libmarstrace-mpich.so" ]; then
    truncated mpicc.mpich mpirun.mpich && replay_truncated
    check "and under MPICH"
fi
