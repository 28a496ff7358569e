#!/bin/bash
# Who was found by a receive from any source: tests/traces/replay-wildcards.sh
#
# A master answers whoever asks it, in all the forms that MPI has for that, with messages above and below the eager limit. The replay takes
# whom the trace has found, or who comes first in the simulation, and then the answers go there.
set -u
cd "$(dirname "$0")/../.." || exit 2
nodes=8
. tests/lib-replay.sh
marsconv=$(dirname "$marssim")/marsconv

trace() { # TASKS BYTES: into t
    rm -rf t && mpirun -n "$1" "$marstrace" -o t ./found "$2" >err 2>&1
}
mpicc -O1 -o found "$top/tests/tools/tracer/found.c" >err 2>&1 && trace 4 20000
check "a program that answers whom it finds is traced"
everywhere "whom the trace found"
cp -r one traced
everywhere "who comes first" 'jobs[0].wildcards="simulated"'
everywhere "who comes first, when calls make progress" 'jobs[0].wildcards="simulated"' 'mpi.progress="calls"' 'jobs[0].trace_memory="0 B"'

# As many calls and messages, but in another order: the master's receives, and whom it sends to.
sums() { awk -F, 'NR > 1 {print $2, $3}' "$1/calls.csv" | sort | awk '{n[$1] += $2} END {for (f in n) if (f != "MPI_Waitsome") print f, n[f]}' | sort; }
diff <(sums one) <(sums traced) >err && ! cmp -s one/tasks.csv traced/tasks.csv
check "as many calls either way (but those of MPI_Waitsome, one for each that it finds), at other times"

"$marsconv" --check t >out 2>err && grep -q '^[1-9][0-9]* calls take what any source sends; [1-9][0-9]* calls depend on whom they found$' out &&
    grep -q '^nothing found' out
check "marsconv --check says how many calls depend on it"
"$marsconv" --to mars t copy.mars >err 2>&1 && "$marssim" -q -o copy replay.cfg 'jobs[0].trace="copy.mars"' >err 2>&1 && cmp traced/tasks.csv copy/tasks.csv
check "marsconv carries it"

for setting in "2 100 read" "3 1000 write" "5 65536 write" "8 100000 read"; do
    read -r tasks bytes rendezvous <<<"$setting"
    trace "$tasks" "$bytes"
    for key in traced simulated; do
        timeout 60 "$marssim" -q -o one replay.cfg "mpi.rendezvous=\"$rendezvous\"" "jobs[0].wildcards=\"$key\"" >err 2>&1 &&
            mpirun -n 2 "$marssim" -q -o ranks replay.cfg "mpi.rendezvous=\"$rendezvous\"" "jobs[0].wildcards=\"$key\"" \
                engine.cell_order=shuffled >err 2>&1 && same ranks >err 2>&1
        check "$tasks tasks, $bytes bytes, $rendezvous: $key"
    done
done
refused 'jobs.0..wildcards' -o refused replay.cfg 'jobs[0].wildcards="first"'
check "refused: another word"
