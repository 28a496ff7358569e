#!/bin/bash
# Archives in OTF2: a program traced as Score-P does it and by marstrace says the same; the same results on any ranks and after checkpoints; what
# is missing in an archive, or cannot be read, is refused by name.
set -u
cd "$(dirname "$0")/../.." || exit 2
nodes=8
. tests/lib-replay.sh
pkg-config --exists otf2 || { echo "SKIP: the OTF2 library is missing"; exit 0; }

# shellcheck disable=SC2046 # flags, one word each
mpicc -O1 -Wall -Werror -o traced "$top/tests/traces/simgrid/ring.c" "$top/tests/traces/otf2/tracer.c" $(pkg-config --cflags --libs otf2) >err 2>&1 &&
    mpicc -O1 -o ring "$top/tests/traces/simgrid/ring.c" >err 2>&1 && mpirun -n 4 ./traced even >err 2>&1 &&
    mpirun -n 4 "$marstrace" -o t ./ring even >err 2>&1
check "a program is traced both ways"
archive='jobs[0].trace="otf2-archive/traces.otf2"'
everywhere "an archive" "$archive"
"$marssim" -q -o mars replay.cfg >err 2>&1 && "$marssim" -q -o one replay.cfg "$archive" >err 2>&1
check "both are replayed"
grep -q 'they are taken as equal' err
check "what was assumed is told"
same_counts one mars
check "the same messages, bytes and calls of every task"
converted "an archive" otf2-archive/traces.otf2
marsconv=$(dirname "$marssim")/marsconv
"$marsconv" --stats --json otf2-archive 2>err | jq -e '[.functions[] | select(.function == "MPI_Recv" or .function == "MPI_Bcast") | .time_ns] | length > 0 and all(. > 0)' >err 2>&1
check "calls have their times for marsconv, too"
"$marsconv" --to mars --no-waits otf2-archive none.mars >err 2>&1 && "$marssim" -q -o waits replay.cfg 'jobs[0].trace="none.mars"' 'jobs[0].calls="traced"' >err 2>&1
check "waits can be taken out of it"
awk -F, 'NR > 1 && $5 <= 0 {bad = 1} END {exit bad}' one/calls.csv
check "calls have the time that they took"
"$marssim" -q -o folder replay.cfg 'jobs[0].trace="otf2-archive"' 'jobs[0].format="otf2"' >err 2>&1 && same folder
check "the same by the folder of the archive"

# ---- another writer ----

rm -rf otf2-archive
OTF2_TEST_CREATOR=somebody mpirun -n 3 ./traced >err 2>&1
refuses() { # WHAT WORDS ARGUMENTS...
    ends 2 "$2" mpirun -n 2 "$marssim" -q -o refused replay.cfg "${@:3}"
    check "refused: $1"
}
refuses "sizes of a writer that is not known" 'event [0-9]*, MPI_Bcast: what the sizes of MPI_Bcast mean.*jobs\[\].collective_sizes' "$archive"
"$marssim" -q -o one replay.cfg "$archive" 'jobs[0].collective_sizes="total"' >err 2>&1
check "they are told by jobs[].collective_sizes"
refuses "the other reading, which does not fit" 'do not all call the same' "$archive" 'jobs[0].collective_sizes="each"'

# ---- collectives that do not block, without a record ----

rm -rf silent && mkdir silent && (cd silent && OTF2_TEST_SILENT=1 mpirun -n 3 ../traced even >../err 2>&1)
silent='jobs[0].trace="silent/otf2-archive"'
refuses "a collective without a record" 'MPI_I[a-z]*: a collective without a record: .*jobs\[\].unknown' "$silent"
"$marssim" -q -o one replay.cfg "$silent" 'jobs[0].unknown="compute"' >err 2>&1 && grep -q 'calls that cannot be read are taken as computation' err &&
    [ "$(grep -c MPI_Iallreduce one/calls.csv)" -eq 3 ]
check "it is taken as computation, and counted as a call"
everywhere "such an archive" "$silent" 'jobs[0].unknown="compute"'
"$marsconv" --to mars --key unknown=compute silent/otf2-archive silent.mars >err 2>&1 && "$marssim" -q -o mars replay.cfg 'jobs[0].trace="silent.mars"' >err 2>&1 &&
    cmp <(cut -d, -f1-14 one/tasks.csv) <(cut -d, -f1-14 mars/tasks.csv) >err 2>&1 # but for the waits that are left out before MPI_Finalize
check "and converted"

# ---- what is refused ----

refuses "a key of another format" 'jobs\[0\].time_unit: means nothing' "$archive" 'jobs[0].time_unit="1 ns"'
cp -r otf2-archive cut
size=$(stat -c %s cut/traces/1.evt)
truncate -s $((size - 300)) cut/traces/1.evt
refuses "events that were cut" 'cut/traces.otf2: .*location 1' 'jobs[0].trace="cut"' 'jobs[0].collective_sizes="total"'
cp -r otf2-archive missing
rm missing/traces/1.evt
refuses "events that are missing" 'missing/traces.otf2: the events of location 1 cannot be read' 'jobs[0].trace="missing"' 'jobs[0].collective_sizes="total"'
cp -r otf2-archive bare
rm bare/traces.def
refuses "an archive without definitions" 'bare/traces.otf2: .*definitions' 'jobs[0].trace="bare"'
mkdir nothing
refuses "a folder without an archive" 'nothing: neither the anchor file' 'jobs[0].trace="nothing"' 'jobs[0].format="otf2"'
head -c 20 otf2-archive/traces.otf2 >short.otf2
refuses "an anchor file that was cut" 'short.otf2' 'jobs[0].trace="short.otf2"'
