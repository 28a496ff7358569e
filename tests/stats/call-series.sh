#!/bin/bash
# MPI functions and communicators in periods (output.series.functions, .communicators): what all periods have adds up to functions.csv, however
# long they are; nothing else changes; the same on any number of ranks, in any order of cells, after a checkpoint: tests/stats/call-series.sh
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
sums() { # TABLE: of each function or communicator, over all periods
    awk -F, 'NR > 1 { for (i = 4; i <= 7; i++) sum[$3, i] += $i; of[$3] }
        END { for (one in of) printf "%s %.0f %.0f %.0f %.0f\n", one, sum[one, 4], sum[one, 5], sum[one, 6], sum[one, 7] }' "$1" | LC_ALL=C sort
}
same() { cmp "$1/function_series.csv" "$2/function_series.csv" && cmp "$1/communicator_series.csv" "$2/communicator_series.csv"; }
both=(output.series.functions=periods output.series.communicators=periods)
lammps=(configs/fat-tree-lammps.cfg "$far" "output.period=170 us" "${both[@]}")
run -o "$t/a" "${lammps[@]}" && [ "$(cut -d, -f1 "$t/a/function_series.csv" | uniq | wc -l)" -gt 100 ] &&
    sums "$t/a/function_series.csv" | awk -F'[ ,]' 'FILENAME == "-" { calls[$1] = $2; bytes[$1] = $3; next }
        FNR > 1 && (calls[$1] ? $3 != calls[$1] || ($1 ~ /Send|recv|Allreduce|Bcast/ && $4 != bytes[$1]) : $6 > 0) { print; bad = 1 }
        { n += calls[$1] > 0 } END { exit bad || n < 8 }' - "$t/a/functions.csv" >"$t/err"
check "calls and bytes add up to functions.csv, which has those besides that take no time"
sums "$t/a/function_series.csv" | awk -F'[ ,]' 'FILENAME == "-" { time[$1] = $4 / 1000; wait[$1] = $5 / 1000; next }
    FNR > 1 { d = $6 - time[$1]; w = $7 - wait[$1]; if (d > 16 || d < -16 || w > 16 || w < -16) { print $0, time[$1], wait[$1]; bad = 1 } n++ } END { exit bad || !n }' - "$t/a/functions.csv" >"$t/err"
check "so do times and waits, which that has in whole ns of each task"
run -o "$t/one" "${lammps[@]}" "output.period=1 s" && [ "$(cut -d, -f1 "$t/one/function_series.csv" | uniq | wc -l)" = 2 ] &&
    cmp <(sums "$t/a/function_series.csv") <(sums "$t/one/function_series.csv") && cmp <(sums "$t/a/communicator_series.csv") <(sums "$t/one/communicator_series.csv")
check "to the picosecond the same as one period that has all"
run -o "$t/f" "${lammps[@]}" output.series.communicators=off && cmp "$t/a/function_series.csv" "$t/f/function_series.csv" && [ ! -e "$t/f/communicator_series.csv" ] &&
    run -o "$t/c" "${lammps[@]}" output.series.functions=off && cmp "$t/a/communicator_series.csv" "$t/c/communicator_series.csv" && [ ! -e "$t/c/function_series.csv" ]
check "each is the same without the other"
run -o "$t/off" "${lammps[@]:0:3}" && for file in tasks.csv calls.csv functions.csv links.csv; do cmp "$t/a/$file" "$t/off/$file" || break; done &&
    cmp <(jq -S .result "$t/a/summary.json") <(jq -S .result "$t/off/summary.json") && [ ! -e "$t/off/function_series.csv" ]
check "nothing else changes"
# Calls that name no communicator are those that wait for requests, and a few others.
[ "$(sums "$t/a/communicator_series.csv" | awk '{ n += $2 } END { print n }')" = \
    "$(awk -F, 'NR > 1 && $1 !~ /^MPI_(Wait|Test|Init|Finalize|Cart_(get|shift|rank|coords|sub)|Comm_(rank|size|free|get)|Initialized|Finalized|Get|Type|Wtime)/ { n += $3 } END { print n }' "$t/a/functions.csv")" ]
check "communicators have all calls that name one"
# NPB FT: all but the 32 calls of MPI_Alltoall are on MPI_COMM_WORLD.
ft=("${lammps[@]}" jobs[0].trace=../tests/traces/npb-ft.S-4)
run -o "$t/ft" "${ft[@]}" && [ "$(sums "$t/ft/communicator_series.csv" | cut -d' ' -f1-2 | tr '\n' ' ')" = "0 44 1 32 " ] &&
    [ "$(sums "$t/ft/communicator_series.csv" | sed -n 's/^1 //p')" = "$(sums "$t/ft/function_series.csv" | sed -n 's/^MPI_Alltoall //p')" ]
check "a communicator of the program's own has what was called on it"
all_alike "calls and communicators in periods" "${lammps[@]}" "run.end=3 ms"
"$m" --check "${lammps[@]}" >"$t/out" 2>"$t/err" && grep -q "function_series.csv gets" "$t/out" && grep -q "communicator_series.csv gets" "$t/out"
check "--check says what they cost"
run -o "$t/b" "${lammps[@]}" output.calls=false
[ $? = 2 ] && grep -q "output.series.communicators.*output.calls is false" "$t/err"
check "without calls being counted they are refused"
run -o "$t/b" configs/star-pingpong.cfg output.series.functions=periods
[ $? = 2 ] && grep -q "output.series.functions.*output.period is 0" "$t/err"
check "so they are without a period"
run -o "$t/b" configs/torus-uniform.cfg output.series.functions=periods "output.period=1 us"
[ $? = 2 ] && grep -q "output.series.functions.*jobs" "$t/err"
check "and without jobs"
run -o "$t/b" configs/star-pingpong.cfg "output.period=5 us" "${both[@]}" && [ "$(wc -l <"$t/b/function_series.csv")" -gt 2 ] && grep -q MPI_Send "$t/b/function_series.csv"
check "jobs that were not traced have them, too"
