#!/bin/bash
# What marsconv makes of traces: tests/tools/marsconv.sh
#
# Small traces of tests/traces, and those of ../shared/traces where they are, are converted and replayed; the results must be the
# original's. Traces that are damaged are refused by name.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
marsconv=$(dirname "$marssim")/marsconv
[ -x "$marsconv" ] || { echo "SKIP: marsconv is not built"; exit 0; }
shared=$(readlink -f ../shared/traces)
cd "$work" || exit 2

cat >replay.cfg <<'EOF'
topology: { kind = "star"; nodes = 32; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs: ( { program = "trace"; trace = "t"; } );
partition: { bind = "no"; };
EOF
replay() { # TRACE OUT WORDS...: its result, and its tasks
    local trace=$1 out=$2
    shift 2
    rm -rf "$out"
    "$marssim" -q -o "$out" replay.cfg "jobs[0].trace=\"$trace\"" "$@" >err 2>&1 && jq -S .result "$out/summary.json" >"$out.json"
}
same() { # OUT OTHER
    diff "$1.json" "$2.json" >err && cmp "$1/tasks.csv" "$2/tasks.csv" >err
}

# ---- from liballprof ----

traces=("$top"/tests/traces/npb-*)
if [ -n "$shared" ] && [ -d "$shared" ]; then
    for archive in "$shared"/lammps-lj-8.tar.xz "$shared"/npb-mg.S-8.tar.xz "$shared"/npb-lu.S-4.tar.xz; do
        tar xf "$archive" && traces+=("$PWD/$(basename "$archive" .tar.xz)")
    done
else
    echo "SKIP: ../shared/traces is not there"
fi
for trace in "${traces[@]}"; do
    name=$(basename "$trace")
    "$marsconv" --to mars "$trace" "$name.mars" >err 2>&1 && replay "$trace" text && replay "$name.mars" mars && same text mars
    check "$name: the results of the converted trace are the same"
    for ranks in 2 3; do
        rm -rf ranks
        mpirun -n $ranks "$marssim" -q -o ranks replay.cfg "jobs[0].trace=\"$name.mars\"" partition.adapt=false partition.oversubscribe=true >err 2>&1 &&
            jq -S .result ranks/summary.json >ranks.json && same text ranks
        check "$name: and on $ranks ranks"
    done
done
"$marsconv" --to mars "$name.mars" folder.mars.d && "$marsconv" --to mars folder.mars.d twice.mars && cmp "$name.mars" twice.mars >err
check "one file, a folder, one file: the same bytes"

# ---- to GOAL: what is in it, tests/tasks/test_goal_write.c looks at ----

ft=$top/tests/traces/npb-ft.S-4
"$marsconv" --to goal "$ft" ft.goal >err 2>&1 && [ "$(head -n 1 ft.goal)" = "num_ranks 4" ] && [ "$(grep -c '^rank' ft.goal)" = 4 ] &&
    [ "$(grep -c ': send' ft.goal)" = "$(grep -c ': recv' ft.goal)" ] && grep -q ': calc [1-9]' ft.goal
check "a trace becomes a GOAL schedule, with as many sends as receives"
"$marsconv" --check ft.goal >out 2>err && grep -q 'nothing found' out &&
    [ "$("$marsconv" --stats --json ft.goal 2>>err | jq '[.functions[] | select(.function == "MPI_Send") | .calls] | add')" = "$(grep -c ': send' ft.goal)" ]
check "a schedule is checked, and summed up"
sed '0,/: send [0-9]*b to 1/s//: send 77b to 2/' ft.goal >other.goal
"$marsconv" --check other.goal >out 2>err
[ $? = 1 ] && grep -q '^other.goal:[0-9]*: .* have no message' out && grep -q '^other.goal:[0-9]*: .* are not received' out
check "what does not fit is found, with its line"
"$marsconv" --to mars ft.goal none.mars 2>err
[ $? = 2 ] && grep -q 'has no order of calls' err && [ ! -e none.mars ]
check "no trace is made of it"
"$marsconv" --to mars "$ft" ft.mars && "$marsconv" --to goal ft.mars mars.goal >err 2>&1 && diff ft.goal mars.goal >err
check "the same from either format"
cat >loggops.cfg <<'EOF'
network: { model = "loggops"; };
mpi: { rendezvous = "read"; };
jobs: ( { program = "trace"; trace = "ft.goal"; } );
EOF
for ranks in 1 3; do
    mpirun -n $ranks "$marssim" -q -o goal$ranks loggops.cfg >err 2>&1 &&
        [ "$(awk -F, 'NR > 1 { n += $5 } END { print n }' goal$ranks/tasks.csv)" = "$(grep -c ': send' ft.goal)" ]
    check "it runs over LogGOPS on $ranks ranks, with all its messages"
done
cmp goal1/tasks.csv goal3/tasks.csv >err
check "with the same results"
cp "$top/tests/fuzz/corpus/goal/two.bin" stuck.bin && chmod u+w stuck.bin && printf '\1' | dd of=stuck.bin bs=1 seek=114 conv=notrunc 2>err # the send's tag
"$marssim" -q -o stuck loggops.cfg "jobs[0].trace=$PWD/stuck.bin" >err 2>&1
[ $? = 1 ] && grep -q "task 1: its receive got no message: from task 0, tag 0, 8 bytes (.*stuck.bin, operation 0)" err
check "operations of a binary schedule that cannot run are named"
"$marsconv" --to goal "$top/tests/fuzz/corpus/goal/two.bin" binary.goal && printf '%s\n' "num_ranks 2" "" "rank 0 {" "l1: calc 7" \
    "l2: send 8b to 1" "l2 requires l1" "}" "" "rank 1 {" "l1: recv 8b from 0" "}" | diff - binary.goal >err &&
    "$marsconv" --to goal binary.goal again.goal && cmp binary.goal again.goal >err
check "a binary schedule becomes text, and that itself"
"$marsconv" --to goal "$ft" ft.goal >err 2>&1
[ $? = 2 ] && grep -q "^marsconv: error: ft.goal: it is there already" err
check "a schedule does not take another's place"
"$marsconv" --to goal "$ft/none" none.goal >err 2>&1
[ $? = 2 ] && grep -q "^marsconv: error: .*none" err && [ ! -e none.goal ]
check "no schedule of a trace that is not there"
"$marsconv" --to goal --cut tasks=0-1 "$ft" cut.goal >err 2>&1
[ $? = 2 ] && grep -q -- "--cut writes traces" err
check "no schedule of a part at once"

# A trace of marstrace.
if [ -x "$(dirname "$marssim")/marstrace" ]; then
    marstrace=$(dirname "$marssim")/marstrace
    mpicc -O1 -o ring "$top/tests/tools/tracer/ring.c" >err 2>&1 && mpirun -n 3 "$marstrace" --resolution 1us -o ring.trace ./ring 40 >err 2>&1
    began() { head -c 56 "$1/task-000002.mars" | tail -c 8 | od -An -tu8; } # the first block's time of day
    "$marsconv" --to mars ring.trace ring.copy && diff <("$marstrace" --list ring.trace) <("$marstrace" --list ring.copy) >err &&
        [ "$(began ring.trace)" = "$(began ring.copy)" ]
    check "a copy is the same, call by call, and begins at the same time of day"
fi

# ---- statistics ----

name=npb-is.S-8
"$marsconv" --stats --json "$top/tests/traces/$name" >stats 2>err && jq -e . stats >/dev/null &&
    [ "$(jq '[.functions[] | select(.function == "MPI_Alltoallv") | .calls] | add' stats)" -eq \
        "$(cat "$top/tests/traces/$name"/* | grep -c '^MPI_Alltoallv:')" ] &&
    [ "$(jq .calls stats)" -eq "$(cat "$top/tests/traces/$name"/* | grep -c '^MPI_')" ] && [ "$(jq .tasks stats)" -eq 8 ]
check "calls are counted"
"$marsconv" --stats --json "$name.mars" >converted 2>err &&
    [ "$(jq -c '[.functions, .matrix, .message_sizes, .times, .phases]' stats)" = \
        "$(jq -c '[.functions, .matrix, .message_sizes, .times, .phases]' converted)" ]
check "and the converted trace has the same"

# Three tasks: 0 sends twice to 1, and twice, by a persistent request, to 2.
task() { # NUMBER: its lines come on standard input
    mkdir -p small
    { echo "# htor's PMPI Tracer 1.0 Output File"; echo "MPI_Init:-:1:2:100"; cat; echo "MPI_Finalize:9000:-"; } >small/pmpi-trace-rank-"$1".txt
}
world() { echo "7000000,$1,3"; }
task 0 <<EOF
MPI_Send:110:1:10:1,4,4:1:5:$(world 0):120
MPI_Send:130:1:0:1,4,4:1:5:$(world 0):140
MPI_Send_init:150:1:3:1,4,4:2:6:$(world 0):64:160
MPI_Start:170:64:180
MPI_Wait:190:64:1:200
MPI_Start:210:64:220
MPI_Wait:230:64:1:240
MPI_Request_free:250:64:260
MPI_Barrier:270:$(world 0):280
EOF
task 1 <<EOF
MPI_Recv:110:1:10:1,4,4:0:5:$(world 1):1:120
MPI_Recv:130:1:10:1,4,4:-1:-1:$(world 1):1:140
MPI_Barrier:270:$(world 1):280
EOF
task 2 <<EOF
MPI_Irecv:110:1:3:1,4,4:0:6:$(world 2):64:120
MPI_Irecv:130:1:3:1,4,4:0:6:$(world 2):72:140
MPI_Waitall:150:2:64:0:160
MPI_Barrier:270:$(world 2):280
EOF
"$marsconv" --to mars small small.mars >err 2>&1 && replay small text && replay small.mars mars && same text mars
check "persistent requests: the same results"
"$marsconv" --stats --json small >stats 2>err &&
    [ "$(jq -c '[.matrix[] | [.from, .to, .messages, .bytes]]' stats)" = '[[0,1,2,40],[0,2,2,24]]' ] &&
    [ "$(jq -c '[.message_sizes[] | [.least_bytes, .most_bytes, .messages]]' stats)" = '[[0,0,1],[8,15,2],[32,63,1]]' ] &&
    [ "$(jq -c '[.times[0].compute_ns, .times[0].mpi_ns, .balance.least_task]' stats)" = '[90000,90000,0]' ] &&
    [ "$(jq -c '[.phases[] | [.times, .calls, .text]]' stats)" = \
        '[[1,9,"2 MPI_Send, MPI_Send_init, MPI_Start, MPI_Wait, MPI_Start, MPI_Wait, MPI_Request_free, MPI_Barrier"]]' ]
check "messages, sizes, computation and phases are those of the text"
"$marsconv" --stats small >out 2>err && grep -q '3 tasks' out && grep -q '^  MPI_Start  *2  *0  *2 ' out
check "as text, too"

# ---- check ----

found() { # WHAT STATUS PATTERN TRACE: its exit status, and a line on standard output
    timeout 60 "$marsconv" --check "$4" >out 2>err
    [ $? -eq "$2" ] && grep -q -e "$3" out || { cat out >>err; false; }
    check "found: $1"
}
timeout 60 "$marsconv" --check small >out 2>err && grep -q '^nothing found' out
check "nothing is found in a trace that is right"
doctored() { # FILE SED-WORDS...: a copy of the small trace
    rm -rf doctored
    cp -R small doctored
    sed -i "${@:2}" doctored/pmpi-trace-rank-"$1".txt
}
doctored 1 -e 4d
found "a message that nobody receives" 1 'rank-0.txt:4: 1 of 2 messages to task 1 with tag 5' doctored
doctored 0 -e '3,4d'
found "a receive without a message" 1 'rank-1.txt:3: 1 of 1 receives from task 0 with tag 5' doctored
doctored 2 -e 's/:1:3:1,4,4:0:6/:1:2:1,4,4:0:6/'
found "too little room" 1 'rank-2.txt:4: the 2 messages from task 0 with tag 6 .* have 24 bytes, and there is room for 16' doctored
doctored 2 -e 5d
found "a request that never completes" 1 'rank-2.txt:3: MPI_Irecv: its request, 1, never completes' doctored
doctored 2 -e '4s/72:140/64:140/' -e '5s/:2:/:1:/'
found "a variable that is used twice" 1 'rank-2.txt:4: MPI_Request_free: its variable gets another request; it holds that of line 3' doctored
doctored 0 -e '/MPI_Barrier/d'
found "a collective that one does not make" 1 'rank-[012].txt:[0-9]*: .*' doctored
doctored 0 -e 's/^MPI_Send:/MPI_Sent:/'
timeout 60 "$marsconv" --check doctored >out 2>err
[ $? -eq 2 ] && grep -q 'rank-0.txt:3: the call MPI_Sent is not known' err
check "what cannot be read is an error"

if [ -x "$(dirname "$marssim")/marstrace" ]; then
    mpicc -O1 -o agree "$top/tests/tools/tracer/agree.c" >err 2>&1
    # Of a run with these words, and one in which task 1 is of a run with others.
    agree() { # FOLDER WORDS...
        rm -rf "$1"
        mpirun -n 3 "$marstrace" -o "$1" ./agree "${@:2}" >err 2>&1
    }
    mixed() { # WORDS...
        agree other "$@" && rm -rf mixed && cp -R right mixed && cp other/task-000001.mars mixed
    }
    agree right 0 64 a 8 3 2 1 && "$marsconv" --check right >out 2>err && grep -q '^nothing found' out
    check "a program's trace is right"
    mixed 2 64 a 8 3 2 1
    found "another root" 1 'mixed: task 1, call 5: MPI_Bcast, root 2, 64 bytes, is collective 2 .*; task 0 has there, as its call 5, MPI_Bcast, root 0, 64 bytes' mixed
    mixed 0 65 a 8 3 2 1
    found "other bytes" 1 'mixed: task 1, call 5: MPI_Bcast, root 0, 65 bytes, is collective 2 .*, MPI_Bcast, root 0, 64 bytes' mixed
    mixed 0 64 r 8 3 2 1
    found "another collective" 1 'mixed: task 1, call 6: MPI_Reduce, root 0, 4 bytes, is collective 3 .*, MPI_Allreduce, 4 bytes' mixed
    mixed 0 64 a 9 3 2 1
    found "other counts of an Alltoallv" 1 'mixed: task 0, call 7: MPI_Alltoallv: its counts at one task' mixed
    mixed 0 64 a 8 4 2 1
    found "another tag" 1 'mixed: task 0, call 10: 1 of 1 messages to task 1 with tag 3' mixed
    mixed 0 64 a 8 3 0 1
    found "a communicator that cannot be" 1 'mixed: task 1: communicator [0-9]* .* members\|communicator .* has 3 members that are tasks; 1 tasks have it' mixed
    mixed 0 64 a 8 3 2 0
    found "a send that nobody waits for" 1 'mixed: task 1, call 10: MPI_Isend: its request, 2, never completes' mixed
    mpicc -O1 -o edges "$top/tests/tools/tracer/edges.c" >err 2>&1
    edges() { # FOLDER WORDS...
        rm -rf "$1"
        mpirun -n 4 "$marstrace" -o "$1" ./edges "${@:2}" >err 2>&1
    }
    edges right 100 30 && "$marsconv" --check right >out 2>err && grep -q '^nothing found' out
    check "collectives among neighbours that are right"
    edges other 101 30 && rm -rf mixed && cp -R right mixed && cp other/task-000001.mars mixed
    found "other bytes between neighbours in a grid" 1 'mixed: task 0, call 5: MPI_Neighbor_allgather: its counts at one task' mixed
    edges other 100 31 && rm -rf mixed && cp -R right mixed && cp other/task-000003.mars mixed
    found "other counts between neighbours in a graph" 1 'mixed: task 0, call 7: MPI_Neighbor_alltoallv: its counts at one task' mixed
    mpicc -O1 -o epochs "$top/tests/tools/tracer/epochs.c" >err 2>&1
    epochs() { # FOLDER WORDS...
        rm -rf "$1"
        timeout 60 mpirun -n 3 "$marstrace" -o "$1" ./epochs "${@:2}" >err 2>&1
    }
    epochs right 2 1 none && "$marsconv" --check right >out 2>err && grep -q '^nothing found' out
    check "one-sided calls that are right"
    while read -r wrong text; do
        epochs wrong 2 1 "$wrong"
        found "one-sided: $wrong" 1 "wrong: task 0, call [0-9]*: $text" wrong
    done <<'END'
unlock MPI_Win_unlock: the memory of 1 is not locked
put MPI_Put: there is no epoch for 1: no lock, fence, or start before
flush MPI_Win_flush: there is no epoch for 1
complete MPI_Win_complete: there is no start before
twice MPI_Win_lock: the memory of 1 is locked already
END
    epochs other 3 1 none && rm -rf mixed && cp -R right mixed && cp other/task-000001.mars mixed
    found "another number of fences" 1 'mixed: task 1, .*: window 1: 3 fences, and 2 of task 0' mixed
    epochs other 2 2 none && cp other/task-000001.mars mixed
    found "posts for others than those that start" 1 "window 1 of a communicator: its tasks' MPI_Win_post are not those" mixed
    timeout -k 5 60 mpirun -n 3 "$marstrace" -o dead ./ring 2000 1 >err 2>&1 # mpirun itself may hang when a task has died
    found "a task that died" 1 'dead: task [0-2], call [0-9]*: the task did not come to MPI_Finalize' dead
fi

# ---- cut ----

part_of() { # TRACE PART: into part.mars, where nothing is found, and which is replayed
    rm -f part.mars
    "$marsconv" --to mars --cut "$2" "$1" part.mars >err 2>&1 && "$marsconv" --check part.mars >>err && replay part.mars part &&
        jq -e '.end_reason == "jobs done" and .jobs[0].unreceived == 0' part.json >>err
}
part_of small time=20us: && "$marsconv" --stats --json part.mars >stats &&
    [ "$(jq -c '[.matrix[] | [.from, .to, .messages, .bytes]]' stats)" = '[[0,1,1,0],[0,2,1,12]]' ] &&
    [ "$(jq -c '[.times[] | .compute_ns]' stats)" = '[80000,140000,130000]' ]
check "by time: messages that are sent and received in the part, and the computation of it"
for trace in "${traces[@]}"; do
    name=$(basename "$trace")
    rm -rf whole.json && "$marsconv" --to mars --cut time=: "$name.mars" whole.mars >err 2>&1 && replay "$name.mars" all && replay whole.mars whole &&
        same all whole && rm whole.mars && part_of "$name.mars" time=2ms:8ms && part_of "$trace" time=:9ms && part_of "$name.mars" time=4ms:
    check "$name: all of it is what it was, and parts of it can be replayed"
    part_of "$name.mars" tasks=1-3 && "$marsconv" --stats --json part.mars >part.stats && "$marsconv" --stats --json "$name.mars" >stats &&
        [ "$(jq -c '[.matrix[] | [.from + 1, .to + 1, .messages, .bytes]]' part.stats)" = \
            "$(jq -c '[.matrix[] | select(.from >= 1 and .from <= 3 and .to >= 1 and .to <= 3) | [.from, .to, .messages, .bytes]]' stats)" ]
    check "$name: three tasks, and what they say to each other"
done
name=npb-is.S-8
"$marsconv" --cut tasks=0-1 small part.d >err 2>&1 && replay part.d part && [ -e part.d/task-000001.mars ] && [ ! -e part.d/task-000002.mars ]
check "a part is a trace of marstrace, of whatever the whole is"

# ---- what is refused ----

refuses() { # WHAT WORDS ARGUMENTS...
    ends 2 "$2" "$marsconv" "${@:3}"
    check "refused: $1"
}
refuses "an unknown option" 'unrecognized option' --fast small
refuses "an unknown format" 'expected a format that is written' --to csv small out.mars
refuses "nothing to do" 'what is to be done' small
refuses "a part that is none" 'expected time=A:B' --cut 5-9 small out.mars
refuses "a time that is none" 'expected time=A:B' --cut time=5parsec: small out.mars
refuses "tasks that are not there" 'small has 3 tasks, 0 to 2' --cut tasks=1-3 small out.mars
refuses "two things at a time" 'one at a time' --stats --cut time=: small
refuses "two names for one" 'expected one trace' --stats small small
refuses "a place that is taken" 'it is there already' --to mars small small
refuses "no trace" 'no trace here' --stats /
refuses "no such file" 'No such file' --stats missing
cp "$name.mars" bad.mars
printf '\377\377\377\377' | dd of=bad.mars bs=1 seek=117 conv=notrunc 2>/dev/null
refuses "a damaged block" 'bad.mars, block at byte' --stats bad.mars
cp "$name.mars" bad.mars
printf '\011' | dd of=bad.mars bs=1 seek=8 conv=notrunc 2>/dev/null
refuses "a version or head that is not right" 'bad.mars' --stats bad.mars
"$marsconv" --to mars "$top/tests/traces/$name" folder 2>err
rm folder/task-000003.mars
refuses "a task that is missing" 'task 3 is missing' --to mars folder again
cp -R small missing.d
rm missing.d/pmpi-trace-rank-1.txt
refuses "a text that is missing" 'missing.d.*pmpi-trace-rank-1' --stats missing.d
cp -R small cut
sed -i '$d' cut/pmpi-trace-rank-1.txt
refuses "a text that was cut" 'pmpi-trace-rank-1.txt:5: .*truncated' --to mars cut again
[ ! -e again ]
check "nothing is left of what could not be converted"
for bytes in 1 17 80 300 1000; do
    head -c $bytes "$name.mars" >cut.mars
    timeout 60 "$marsconv" --stats cut.mars >out 2>err
    [ $? -le 2 ] && grep -q 'cut.mars' err
    check "a file of which $bytes bytes are left is told by its name"
done
