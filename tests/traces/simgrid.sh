#!/bin/bash
# Time-independent traces of SimGrid: the trace of a program by smpirun and that by marstrace say the same; times and requests by hand; the same
# results on any ranks and after checkpoints; what cannot be read or known is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
nodes=8
. tests/lib-replay.sh

cp -r "$top/tests/traces/simgrid" .
simgrid='jobs[0].trace="simgrid/ring.ti"'
everywhere "a trace by smpirun" "$simgrid"
[ "$(grep -c warning err)" -eq 0 ]
check "a resumed run warns no more"

# ---- as marstrace has it ----

mpicc -O1 -Wall -Werror -o ring simgrid/ring.c >err 2>&1 && mpirun -n 4 "$marstrace" -o t ./ring >err 2>&1 &&
    "$marssim" -q -o mars replay.cfg >err 2>&1 && "$marssim" -q -o one replay.cfg "$simgrid" >err 2>&1
check "the program is traced by marstrace and replayed"
[ "$(grep -c 'warning: trace .*(4 of 4 tasks)' err)" -eq 2 ] && grep -q 'taken as those of MPI_COMM_WORLD' err
check "what was assumed is told once"
same_counts one mars
check "the same messages, bytes and calls of every task"
converted "a trace by smpirun" simgrid/ring.ti

# ---- by hand ----

cat >hand.txt <<'END'
# version: 1.0
0 init
1 init
0 irecv 1 3 8 6
0 test 1 0 3
0 compute 1e6
0 test 1 0 3
0 sleep 0.5e-3
0 finalize
1 compute 2e6
1 send 0 3 8 6
1 finalize
END
"$marssim" -q -o one replay.cfg jobs[0].trace=hand.txt >err 2>&1 && read -r first second <<<"$(column finish_ps)" &&
    # the message leaves after 2 ms, and half a millisecond follows on it
    [ "$first" -gt 2500000000 ] && [ "$first" -lt 2510000000 ] && [ "$second" -ge 2000000000 ] && [ "$second" -lt 2010000000 ]
check "the last test of a request has completed it, the tests before have not"
"$marssim" -q -o one replay.cfg jobs[0].trace=hand.txt jobs[0].flop_rate=4e9 >err 2>&1 && read -r first second <<<"$(column compute_ps)" &&
    [ "$first" -eq 750000000 ] && [ "$second" -eq 500000000 ]
check "computations go by jobs[].flop_rate"
everywhere "one file of all tasks" jobs[0].trace=hand.txt
converted "one file of all tasks" hand.txt
marsconv=$(dirname "$marssim")/marsconv
"$marsconv" --stats --json --key flop_rate=4e9 hand.txt 2>err | jq -e '[.times[].compute_ns] == [750000, 500000]' >err 2>&1
check "marsconv takes keys of the format"
"$marsconv" --stats --key time_unit=1ns hand.txt >out 2>err
[ $? -eq 2 ] && grep -q 'jobs\[0\].time_unit: means nothing' err
check "and refuses those of others"
"$marsconv" --cut tasks=0-0 hand.txt part >out 2>err
[ $? -eq 0 ] && [ -e part/task-000000.mars ] && [ ! -e part/task-000001.mars ]
check "a part of a trace of SimGrid is one of marstrace"
printf '%s\n' '0 barrier' '1 compute 1' >differ.txt
"$marsconv" --check differ.txt >out 2>err
[ $? -eq 1 ] && grep -q 'differ.txt.*do not all call the same' out err
check "--check finds collectives that differ"
"$marsconv" --check 'simgrid/ring/rank-0.txt' >out 2>err
[ $? -eq 2 ] && grep -q 'rank-0.txt' err
check "a trace that cannot be read is no finding"
"$marssim" -q -o explicit replay.cfg jobs[0].trace=hand.txt 'jobs[0].format="simgrid"' >err 2>&1 && same explicit
check "the same when the format is named"
cat >again.txt <<'END'
0 irecv 1 3 8 6
0 test 1 0 3
0 irecv 1 3 16 6
0 wait 1 0 3
0 isend 1 3 5 -1
1 send 0 3 8 6
1 compute 1e6
1 send 0 3 16 6
1 recv 0 3 5 -1
END
"$marssim" -q -o one replay.cfg jobs[0].trace=again.txt 'jobs[0].derived_bytes="240 B"' >err 2>&1 && grep -q 'never waited for' err &&
    [ "$(column bytes_sent)" = "1200 24 " ] && [ "$(column messages_received)" = "2 1 " ]
check "a request of the same names means that the test before was the last; elements of derived datatypes"

# ---- what is refused ----

refuses() { # WHAT WORDS ARGUMENTS...
    ends 2 "$2" mpirun -n 2 "$marssim" -q -o refused replay.cfg "${@:3}"
    check "refused: $1"
}
lines() { # WHAT PATTERN LINE...: one file of all tasks, the first line apart
    local what=$1 pattern=$2
    shift 2
    printf '%s\n' '0 init' "$@" >bad.txt
    refuses "$what" "$pattern" jobs[0].trace=bad.txt 'jobs[0].format="simgrid"'
}
lines "a file that was cut" 'bad.txt:2: task 0 ends here without finalize' '0 compute 5'
lines "a cut line" 'bad.txt:2: isend: 2 numbers where "RANK TAG ELEMENTS DATATYPE"' '0 isend 0 4'
lines "an unknown action" 'bad.txt:2: dance: this is no action that is known' '0 dance 4'
lines "an action behind the end" 'bad.txt:3: send: an action behind finalize' '0 finalize' '0 send 0 1 1 1'
lines "a rank that is none" 'bad.txt:2: send: the rank is 7; a whole number from 0 to 0' '0 send 7 1 1 1'
lines "a word that is no number" 'bad.txt:2: send: its word 3 is no number' '0 send 0 1 one 1'
lines "a line without a task" 'bad.txt:2: the number of a task is expected, not "send 0 1' 'send 0 1 1 1'
lines "a datatype that is none" 'bad.txt:2: send: datatype 77 is none' '0 send 0 1 1 77'
lines "a derived datatype" 'bad.txt:2: send: a derived datatype.*jobs\[\].derived_bytes' '0 send 0 1 1 -1'
lines "a message that is too long" 'a message can have 0 to 1 TiB' '0 send 0 1 1e12 0'
lines "a wait for nothing" 'bad.txt:2: wait: no request from 0 to 0 with tag 3' '0 wait 0 0 3'
lines "persistent requests" 'bad.txt:2: startall: persistent requests' '0 Startall'
lines "a test of it is not said which" 'bad.txt:2: testany: which requests' '0 testany'
lines "one-sided communication" 'bad.txt:2: win_fence: one-sided' '0 Win_fence'
lines "negative flops" 'bad.txt:2: compute: -5; it cannot be negative' '0 compute -5'
lines "counts for other tasks" 'bad.txt:2: alltoallv: 3 numbers; with 1 tasks it has 6' '0 alltoallv 1 1 1'
lines "a root that is none" 'bad.txt:2: bcast: the root is 3' '0 bcast 1 3 1'
lines "too many tasks in one file" 'bad.txt:2: init: task 4000000000 in the one file' '4000000000 init'
printf '%s\n' '0 barrier' '1 barrier' '0 bcast 4 1 1' '1 bcast 4 0 1' >bad.txt
refuses "collectives that do not fit" 'do not all call the same.*taken as those of the world' jobs[0].trace=bad.txt
sed -i 's/rank-2/rank-9/' simgrid/ring.ti
refuses "a missing file" 'ring.ti:3: there is no file "ring/rank-9.txt"' "$simgrid" 'jobs[0].format="simgrid"'
sed -i 's/rank-9/rank-1/' simgrid/ring.ti
refuses "a file of another task" 'rank-1.txt:1: init: a line of task 1 in the file that the list names for task 2' "$simgrid"
: >empty.txt
refuses "an empty file" 'empty.txt: neither a list' jobs[0].trace=empty.txt 'jobs[0].format="simgrid"'
refuses "a key of another format" 'jobs\[0\].time_unit: means nothing' jobs[0].trace=hand.txt 'jobs[0].time_unit="1 ns"'
refuses "a folder" 'simgrid' jobs[0].trace=simgrid 'jobs[0].format="simgrid"'
