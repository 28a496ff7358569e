#!/bin/bash
# Text traces of Dimemas in both forms: what becomes of each record by hand, the same results on any ranks and after checkpoints, and
# what is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
nodes=8
. tests/lib-replay.sh

cat >three.dim <<'END'
#DIMEMAS:"three.dim":1,000000000000200:3(1,1,1),2,0
d:1:1:3:0:1:2
d:1:2:2:2:0
1:0:0:0.001000000
2:0:0:1:-1:100:7:1:0
3:0:0:2:-1:50:8:1:1
20:0:0:50000001:31
1:0:0:0.0005
3:0:0:2:-1:50:8:1:2
10:0:0:1:1:0:0:0:64:1
10:0:0:11:2:0:0:8:8:1
10:0:0:8:1:0:0:16:16:1
1:1:0:0.002
3:1:0:0:-1:100:7:1:0
10:1:0:1:1:1:0:64:0:1
10:1:0:8:1:0:0:16:16:1
1:2:0:0.0001
2:2:0:0:-1:50:8:1:2
10:2:0:1:1:0:0:0:64:1
10:2:0:11:2:0:0:8:8:1
10:2:0:8:1:0:0:16:16:1
s:200:400:500
END
everywhere "the newer form" jobs[0].trace=three.dim
"$marssim" -q -o one replay.cfg jobs[0].trace=three.dim >err 2>&1
grep -q 'sends that do not block' err
check "what was assumed is told"
[ "$(column compute_ps)" = "1500000000 2000000000 100000000 " ]
check "bursts are computations of their seconds"
# Task 1 is the root of the broadcast: it sends to both. Allreduce between 0 and 2, alltoall of 16 bytes.
[ "$(column messages_received | wc -w)" -eq 3 ] && jq -e '.result.jobs[0].bytes == 100 + 50 + 2 * 64 + 2 * 8 + 6 * 16' one/summary.json >err
check "messages and collectives have their bytes"

# The same as MPIDtrace writes it, with definitions in front.
{
    printf '%s\n' '/* "SDDF-A" */ ;;' '#1:' '"CPU burst" {' 'int "taskid";' 'int "thid";' 'double "time";' '};;' ''
    sed -n 's/^d:1:\([0-9]*\):\([0-9]*\):\(.*\)/"communicator" { \1, [\2] { \3 } };;/p; s/^1:\(.*\)/"CPU burst" { \1 };;/p
        s/^2:\([^:]*:[^:]*:[^:]*\):-1\(.*\)/"NX send" { \1\2 };;/p; s/^3:\([^:]*:[^:]*:[^:]*\):-1\(.*\)/"NX recv" { \1\2 };;/p
        s/^10:\(.*\):1$/"global OP" { \1 };;/p; s/^20:\(.*\)/"user event" { \1 };;/p' three.dim |
        sed '/^"communicator/! s/:/, /g; /^"communicator/ s/:/, /g'
} >three.trf
"$marssim" -q -o older replay.cfg jobs[0].trace=three.trf >err 2>&1
[ "$(jq -S .result one/summary.json)" = "$(jq -S .result older/summary.json)" ] && cmp one/calls.csv older/calls.csv >err 2>&1
check "the older form says the same"
converted "the newer form" three.dim
converted "the older form" three.trf
"$(dirname "$marssim")/marsconv" --to mars --no-waits three.dim none.mars >out 2>err
[ $? -eq 2 ] && grep -q 'three.dim: traces of the format dimemas do not say how long calls took' err && [ ! -e none.mars ]
check "waits cannot be taken out of it"

refuses() { # WHAT WORDS LINE...: without its other lines behind them
    printf '%s\n' '#DIMEMAS:"bad":1,0:2(1,1),1' 'd:1:1:2:0:1' "${@:3}" >bad.dim
    ends 2 "bad.dim.*$2" mpirun -n 2 "$marssim" -q -o refused replay.cfg jobs[0].trace=bad.dim
    check "refused: $1"
}
refuses "a file that was cut between tasks" 'no records of task 1' '1:0:0:0.1'
refuses "a record that was cut" ':3: a record of 4 numbers where "2:TASK:THREAD' '2:0:0:1:100'
refuses "an unknown record" ':3: records of type 77 are not read' '77:0:0:1'
refuses "a task that is none" ':3: task 5, of 2' '1:5:0:1'
refuses "a second thread" ':3: the thread is 1' '1:0:1:0.5'
refuses "a partner that is none" ':4: the partner is 9' '1:1:0:1' '2:0:0:9:100:7:1:0'
refuses "a communicator that is not defined" ':4: communicator 8, which is not defined' '1:1:0:1' '2:0:0:1:100:7:8:0'
refuses "a wait for nothing" ':4: a wait for a receive that is not in flight' '1:1:0:1' '3:0:0:1:100:7:1:2'
refuses "an operation that is none" ':3: the operation is 99' '10:0:0:99:1:0:0:8:8:1'
refuses "no root" 'MPI_Bcast: the tasks of the communicator do not say who its root is' '10:0:0:1:1:5:0:8:8:1' '10:1:0:1:1:5:0:8:8:1'
refuses "a negative burst" ':3: a CPU burst of -1' '1:0:0:-1' '1:1:0:1'
refuses "no number" ':3: "x" is no number' '1:0:0:x'
refuses "members that are none" 'a communicator has task 7 as a member' 'd:1:3:2:0:7' '1:0:0:1' '1:1:0:1'
refuses "a communicator that was cut" ':3: a communicator of 3 members with 1' 'd:1:3:3:0'
refuses "a communicator that is defined twice" ':4: communicator 3 is defined twice' 'd:1:3:1:0' 'd:1:3:1:1'
refuses "collectives that do not fit" 'do not all call the same' '10:0:0:0:1:0:0:0:0:1' '1:1:0:1'
timeout 60 "$marssim" -q -o refused replay.cfg jobs[0].trace=three.dim 'jobs[0].time_unit="1 ns"' >out 2>err
[ $? -eq 2 ] && grep -q 'jobs\[0\].time_unit: means nothing' err
check "refused: a key of another format"
