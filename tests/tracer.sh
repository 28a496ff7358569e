#!/bin/bash
# The tracer on real programs: tests/tracer.sh
#
# Small programs of tests/tracer/ are compiled and run under mpirun and marstrace; their traces must say what the programs did.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/lib-script.sh
marstrace=$(dirname "$marssim")/marstrace
cd "$work" || exit 2

mpicc -O1 -o ring "$top/tests/tracer/ring.c" >err 2>&1
check "the program is built"

# ---- the whole way ----

mpirun -n 3 "$marstrace" -o t --profile ./ring 5 >err 2>&1
check "three tasks are traced"
"$marstrace" --list t >list 2>err
# 5 passes of Irecv, Isend, Waitall, Allreduce; Init, rank, size, split, free, Finalize
[ "$(grep -c '^[012]\.0 ' list)" -eq $((3 * (5 * 4 + 6))) ]
check "every call is there"
[ "$(grep -c 'MPI_Isend .* bytes=2048 .* dest=1 tag=7 comm=1 request=2$' list)" -eq 5 ]
check "task 0 sends to task 1"
# The receive is of any source and is answered by the left neighbour; the send is none.
[ "$(grep -c '^1\.0 .*MPI_Waitall .*requests=\[1,2\] done=\[0,0,7,2048,1,-5,0,0\]$' list)" -eq 5 ]
check "the source that a wildcard found"
cut -d, -f1-4 t/profile.csv | sort >counted
"$marstrace" --profile t 2>err | cut -d, -f1-4 | sort >read
cmp counted read >err 2>&1 && grep -q '^2,MPI_Isend,5,10240$' read
check "the trace has the calls and bytes that were counted"

"$marstrace" --merge t -o t.mars 2>err && "$marstrace" --list t.mars 2>>err | cmp - list >>err 2>&1
check "merged, it says the same"

# ---- what is cut, or dies ----

head -c $(($(stat -c %s t.mars) - 20)) t.mars >cut.mars
"$marstrace" --list cut.mars 2>err | cmp -s - list && grep -q 'it was cut' err
check "without its index it is read, with a warning"
mpirun -n 3 "$marstrace" -o dead ./ring 2000 1 >err 2>&1
"$marstrace" --list dead >list 2>err
grep -q 'task 1 did not come to its end' err && [ "$(grep -c '^1\.0 .*MPI_Isend' list)" -eq 2000 ]
check "a killed task leaves all it did"
[ ! -s err ] || sed -i '/did not come to its end/d' err

# ---- bad input ----

refused() { # TEXT COMMAND...: status 2, and the text on standard error
    "${@:2}" >/dev/null 2>err
    [ $? -eq 2 ] && grep -q -- "$1" err
}
refused "no such program" "$marstrace" ./missing && refused "expected 1ns" "$marstrace" --resolution 5 ./ring &&
    refused "expected cpu or wall" "$marstrace" --clock sun ./ring && refused "needs -o" "$marstrace" --merge t
check "bad options are refused"
refused "not a trace" "$marstrace" --list ring && refused "no files task-" "$marstrace" --list /
check "so is what is no trace"
cp t.mars bad.mars
printf '\x07' | dd of=bad.mars bs=1 seek=8 conv=notrunc status=none
refused "damaged: the checksum of its head" "$marstrace" --list bad.mars
check "and a damaged head"
cp t.mars bad.mars
printf 'xxxx' | dd of=bad.mars bs=1 seek=200 conv=notrunc status=none
refused "block at byte" "$marstrace" --list bad.mars
check "and a damaged block, named by its place"
rm t/task-000001.mars
refused "task 1 is missing" "$marstrace" --list t
check "and a missing task"
