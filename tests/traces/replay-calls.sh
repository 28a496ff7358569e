#!/bin/bash
# Calls that take the times of the trace, less what they waited for other tasks: tests/traces/replay-calls.sh (marsconv --no-waits, jobs[].calls)
#
# Where the network takes no longer than the calls of the trace did, a replay ends when the traced run ended, to the nanosecond, whoever was
# late for whom. Programs that are traced here (phases, families) are compared on ranks, in any order of cells, after checkpoints.
set -u
cd "$(dirname "$0")/../.." || exit 2
nodes=4
. tests/lib-replay.sh
marsconv=$(dirname "$marssim")/marsconv

# Task 1's clock has another origin. The receive of task 0 waits 40 us for a send, the second send of task 1 (400,000 bytes) 100 us for its
# receive, and task 0 120 us in the reduction for task 1.
mkdir two
cat >two/pmpi-trace-rank-0.txt <<'END'
# htor's PMPI Tracer 0.9 Output File
MPI_Init:-:10:20:1000
MPI_Irecv:1010:4096:10:1,4,4:1:5:77,0,2:8192:1030
MPI_Send:1040:4096:10:1,4,4:1:5:77,0,2:1060
MPI_Wait:1070:8192:8200:1130
MPI_Recv:1300:4096:100000:1,4,4:1:6:77,0,2:8200:1500
MPI_Allreduce:1520:4096:8192:1:1,4,4:3:77,0,2:1700
MPI_Finalize:1900:-
END
cat >two/pmpi-trace-rank-1.txt <<'END'
# htor's PMPI Tracer 0.9 Output File
MPI_Init:-:10:20:500000
MPI_Irecv:500010:4096:10:1,4,4:0:5:77,1,2:8192:500040
MPI_Send:500110:4096:10:1,4,4:0:5:77,1,2:500125
MPI_Wait:500130:8192:8200:500140
MPI_Send:500200:4096:100000:1,4,4:0:6:77,1,2:500490
MPI_Allreduce:500640:4096:8192:1:1,4,4:3:77,1,2:500702
MPI_Finalize:500850:-
END
"$marsconv" --to mars --no-waits two t >err 2>&1 && "$marsconv" --check t >err 2>&1
check "waits are taken out of a trace, which is whole after that"
"$marstrace" --list t | awk '$3 ~ /^MPI_(Wait|Send|Recv|Allreduce)$/ { sub("time=", "", $5); t = t $1 ":" $3 ":" $5 " " } END { print t }' >err
[ "$(cat err)" = "0.0:MPI_Send:20000 0.0:MPI_Wait:20000 0.0:MPI_Recv:200000 0.0:MPI_Allreduce:60000 1.0:MPI_Send:15000 1.0:MPI_Wait:10000 1.0:MPI_Send:190000 1.0:MPI_Allreduce:62000 " ]
check "late senders, receivers and participants: what is left of each call"
everywhere "as traced" 'jobs[0].calls="traced"' 'jobs[0].clock="wall"'
[ "$(column finish_ps)" = "900000000 850000000 " ]
check "tasks end when they ended"
"$marssim" -q -o one replay.cfg 'jobs[0].calls="traced"' 'jobs[0].clock="wall"' 'topology.bandwidth="1000 GB/s"' 'topology.latency="1 ns"' >err 2>&1 &&
    [ "$(column finish_ps)" = "900000000 850000000 " ]
check "a faster network changes nothing: the trace does not say what its own took"
"$marssim" -q -o one replay.cfg 'jobs[0].calls="traced"' 'jobs[0].clock="wall"' 'topology.bandwidth="1 GB/s"' >err 2>&1 &&
    column finish_ps | awk '{ exit !($1 > 1050e6 && $1 < 1150e6 && $2 > 1000e6) }'
check "on a slower one the large message takes longer, and what follows is later"
"$marssim" -q -o one replay.cfg 'jobs[0].calls="traced"' 'jobs[0].clock="wall"' 'jobs[0].processor_factor=0.5' >err 2>&1 &&
    column finish_ps | awk '{ exit !($1 >= 450e6 && $1 < 500e6) }'
check "a processor twice as fast makes calls and computations shorter"
"$marssim" -q -o one replay.cfg 'jobs[0].clock="wall"' >err 2>&1 && column finish_ps | awk '{ exit !($1 < 700e6) }'
check "modelled calls take what the keys say"

# Clocks: task 1 came out of MPI_Init 300 us before task 0, so that its messages seem to come before they are sent.
sed 's/500000$/499700/' two/pmpi-trace-rank-1.txt >one.txt && mkdir skewed && cp two/pmpi-trace-rank-0.txt skewed && cp one.txt skewed/pmpi-trace-rank-1.txt
rm -rf t && "$marsconv" --to mars --no-waits skewed t >err 2>&1 &&
    "$marstrace" --list t | awk '$3 ~ /^MPI_(Wait|Recv|Allreduce)$/ { sub("time=", "", $5); if ($5 + 0 < 0 || $5 + 0 > 300000) bad = 1; n++ } END { exit bad || n != 5 }'
check "clocks that do not fit are moved"

mpicc -O1 -o phases "$top/tests/tools/tracer/phases.c" >err 2>&1 && mpicc -O1 -o families "$top/tests/tools/tracer/families.c" >err 2>&1 &&
    mpicc -O1 -o threads "$top/tests/tools/tracer/threads.c" -lpthread >err 2>&1
check "programs are built"
for program in phases families; do
    rm -rf traced t
    timeout 120 mpirun -n 4 "$marstrace" -o traced ./$program >err 2>&1 && "$marsconv" --to mars --no-waits traced t >err 2>&1 &&
        "$marsconv" --check t >err 2>&1
    check "$program: traced, and without waits"
    "$marsconv" --stats --json traced 2>err | jq '.functions[] | [.name, .calls, .bytes]' >a && "$marsconv" --stats --json t 2>err |
        jq '.functions[] | [.name, .calls, .bytes]' >b && cmp a b >err 2>&1
    check "$program: the same calls and bytes"
    everywhere "$program" 'jobs[0].calls="traced"'
done

# ---- refused ----

refuses() { # STATUS WORDS COMMAND...: with these words
    ends "$@"
    check "refused: $2"
}
refuses 2 "needs a trace without waits: marsconv --to mars --no-waits traced NEW" "$marssim" -q -o o replay.cfg 'jobs[0].trace="traced"' 'jobs[0].calls="traced"'
refuses 2 "means nothing in a trace of the format \"liballprof\"; marsconv --to mars may convert it" "$marssim" -q -o o replay.cfg 'jobs[0].trace="two"' 'jobs[0].calls="traced"'
refuses 2 "is none of: modelled, traced" "$marssim" -q -o o replay.cfg 'jobs[0].calls="measured"'
refuses 2 "--no-waits belongs to --to mars" "$marsconv" --no-waits --to goal traced u
refuses 2 "--no-waits belongs to --to mars" "$marsconv" --no-waits --cut tasks=0-0 --to mars traced u
timeout 120 mpirun -n 2 "$marstrace" -o many ./threads >err 2>&1
refuses 2 "task 0 has calls of 2 threads, whose waits cannot be taken out" "$marsconv" --no-waits --to mars many u
refuses 2 "it is there already" "$marsconv" --no-waits --to mars traced t
