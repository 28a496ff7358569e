#!/bin/bash
# What MPI allows and few programs do, traced and replayed: tests/traces/replay-corners.sh (tests/tools/tracer/corners.c)
set -u
cd "$(dirname "$0")/../.." || exit 2
nodes=4
. tests/lib-replay.sh
marsconv=$(dirname "$marssim")/marsconv

corners() { # MPICC MPIRUN
    rm -rf t program
    "$1" -O1 -w -o program "$top/tests/tools/tracer/corners.c" >err 2>&1 && timeout 120 "$2" -n 4 "$marstrace" --profile -o t ./program >err 2>&1
    check "$1: a program that goes to another folder is traced where it was begun"
    "$marstrace" --list t >list 2>err && grep -q '^0\.0 .*MPI_Testall .*requests=\[1,2,0\] flag=1 done=\[\]$' list &&
        [ "$(grep -c '^[0-3]\.0 .*MPI_Wait.* requests=\[1,2,0\] done=\[\]$' list)" -eq 20 ] && [ "$(grep -c '^0\.0 .*MPI_Waitall .*requests=\[1,2,0\] done=\[0,3,7,400,1,-5,0,0\]$' list)" -eq 2 ]
    check "requests that are inactive do not complete"
    cut -d, -f1-4 t/profile.csv | sort >counted && profile_of t 2>err | cut -d, -f1-4 | sort | cmp counted - >err 2>&1 &&
        grep -q '^0,MPI_Send,1,16777216000000000$' counted
    check "counts and bytes as they were counted; a huge message to nobody"
    everywhere "$1"
    everywhere "$1, mpi.progress = calls" 'mpi.progress="calls"'
    "$marsconv" --check t >out 2>err && grep -q '^nothing found' out
    check "marsconv --check finds nothing"
}
cut_part() { # PART
    rm -rf part.mars one
    "$marsconv" --cut "$1" t part.mars >err 2>&1 && "$marssim" -q -o one replay.cfg 'jobs[0].trace="part.mars"' >err 2>&1 &&
        jq -e '.result.end_reason == "jobs done" and .result.jobs[0].unreceived == 0' one/summary.json >err 2>&1
}
corners mpicc mpirun
# From the barrier on: what MPI_Comm_idup made is there, its request complete. Both sides of what has two groups are gone, or not.
barrier=$(awk '/^0\.0 .*MPI_Barrier/ { print $2 - 1 - init } /^0\.0 .*MPI_Init / { for (i = 4; i <= NF; i++) if ($i ~ /^time=/) init = $2 + substr($i, 6) }' list)
cut_part "time=${barrier}ns:" && "$marsconv" --check part.mars >out 2>err && "$marstrace" --list part.mars | grep -q '^0\.0 .*MPI_Wait .*requests=\[1\] done=\[0,-5,0,0\]'
check "a part behind MPI_Comm_idup: $barrier ns"
for tasks in 0-1 1-2 2-3; do
    cut_part "tasks=$tasks"
    check "tasks $tasks of two groups that talk"
done
if [ -e "${marstrace%/*}/libmarstrace-mpich.so" ]; then
    corners mpicc.mpich mpirun.mpich
fi
