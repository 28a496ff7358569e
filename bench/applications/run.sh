#!/bin/bash
# Applications on two tasks of this machine, predicted: bench/applications/run.sh [MARSSIM]
#
# marsbench measures this machine, and --fit makes keys of it. LAMMPS and a solver of the heat equation are traced; what their replay takes is compared with
# the wall time of runs that are not traced, from MPI_Init to MPI_Finalize. LAMMPS with other numbers of atoms is predicted from one trace, computation in
# proportion to atoms. Traced and other runs take turns, RUNS (5) times each, since a machine's speed changes with the hour: minima are compared with
# minima, medians with medians. RUN is put before mpirun: RUN="chrt -f 1" where something else wants the cores (and no run longer than a second then).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
marssim=$(readlink -f "${1:-$here/../../marssim}")
tools=$(dirname "$marssim")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export STOPWATCH=$work/times
mpicc -O2 -o jacobi "$here/jacobi.c" -lm
mpicc -O2 -shared -fPIC -o stopwatch.so "$here/stopwatch.c"
two() { ${RUN:-} mpirun -n 2 --bind-to core "$@" >said 2>&1 </dev/null || { cat said; exit 1; }; }

two "$tools/marsbench" -t 3ms -o points.csv
"$tools/marsbench" --fit --latency "1 us" --rate "12.5 GB/s" -m fitted.inc points.csv >fit 2>&1
sed -i 's/^node = {/node = { cores = 2;/' fitted.inc
cat >run.cfg <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "12.5 GB/s"; latency = "50 ns"; };
@include "fitted.inc"
jobs = ( { program = "trace"; trace = "trace"; tasks_per_node = 2; processor_factor = 1.0; } );
END

median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[1], v[int((NR + 1) / 2)], v[NR] }'; }
predict() { # WHAT TRACED-PROGRAM PROGRAM [FACTOR]: a row
    rm -f times predicted
    for _ in $(seq "${RUNS:-5}"); do
        rm -rf trace
        two "$tools/marstrace" -o trace $2
        LD_PRELOAD=$work/stopwatch.so two $3
        "$marssim" -q -o run run.cfg "jobs[0].processor_factor=${4:-1}"
        jq '.result.jobs[0].finish_ps / 1e12' run/summary.json >>predicted
    done
    mpi=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print 100 * (1 - $at["compute_ps"] / $at["finish_ps"]) }' run/tasks.csv)
    echo "$(median times) $(median predicted) $mpi" | awk -v what="$1" '{ printf "| %s | %.0f %% | %.4f, %.4f, %.4f | %.4f, %.4f, %.4f | %+.1f %% | %+.1f %% |\n",
        what, $7, $1, $2, $3, $4, $5, $6, 100 * ($4 / $1 - 1), 100 * ($5 / $2 - 1) }'
}
echo "| program | MPI | untraced s: min, median, max | predicted s: min, median, max | minima | medians |"
echo "| --- | --- | --- | --- | --- | --- |"
if command -v lmp >/dev/null; then
    lmp="lmp -in $here/in.lj -var steps 300 -var x"
    predict "LAMMPS, 4,096 atoms" "$lmp 8" "$lmp 8"
    predict "LAMMPS, 1,728 atoms, from the trace of 4,096" "$lmp 8" "$lmp 6" 0.421875
    predict "LAMMPS, 8,000 atoms, from the trace of 4,096" "$lmp 8" "$lmp 10" 1.953125
fi
predict "heat, 64 x 64, 40,000 steps" "./jacobi 64 40000" "./jacobi 64 40000"
predict "heat, 256 x 256, 6,000 steps" "./jacobi 256 6000" "./jacobi 256 6000"
predict "heat, 1,024 x 1,024, 400 steps" "./jacobi 1024 400" "./jacobi 1024 400"
