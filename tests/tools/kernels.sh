#!/bin/bash
# Small kernels that communicate as known codes do, traced and replayed: tests/tools/kernels.sh
#
# bench/kernels: conjugate gradients, V-cycles and a transform in C, a relaxation by planes in Fortran. How often each function is called, and
# with how many bytes, is known from the kernels; the trace, its sums by marsconv and the replay have the same. (How many bytes a call takes in
# the trace: bench/kernels/run.)
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
marstrace=$(dirname "$marssim")/marstrace marsconv=$(dirname "$marssim")/marsconv
[ -x "$marstrace" ] && [ -x "$marsconv" ] || { echo "SKIP: the tracer is not built"; exit 0; }
cd "$work" || exit 2
cat >replay.cfg <<'END'
topology: { kind = "star"; nodes = 16; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs: ( { program = "trace"; trace = "t"; } );
partition: { bind = "no"; };
END
mpicc -O2 -o kernels "$top/bench/kernels/kernels.c" >err 2>&1
check "the kernels are compiled"
fortran=
command -v mpif90 >/dev/null && mpif90 -O2 -o lu "$top/bench/kernels/lu.f90" >err 2>&1 && fortran=1
[ -n "$fortran" ] || echo "SKIP: there is no compiler for Fortran"

# KERNEL TASKS PASSES FUNCTION=CALLS/BYTES... (of all tasks)
kernel() {
    local name=$1 tasks=$2 passes=$3 program="./kernels $1"
    [ "$name" = lu ] && program=./lu
    shift 3
    rm -rf t out
    # shellcheck disable=SC2086 # a program and its first word
    timeout 120 mpirun -n "$tasks" "$marstrace" --profile -o t $program "$passes" >err 2>&1 && profile_of t 2>err | sort >profile &&
        cmp <(cut -d, -f1-4 t/profile.csv | sort) <(cut -d, -f1-4 profile | sort) >err
    check "$name on $tasks tasks: the trace has the calls and bytes that were counted"
    printf '%s\n' "$@" | sort >wanted
    awk -F, '$2 ~ /^MPI_/ { n[$2] += $3; b[$2] += $4 } END { for (f in n) print substr(f, 5) "=" n[f] "/" b[f] }' profile |
        grep -E "^($(cut -d= -f1 wanted | paste -sd '|'))=" | sort >got
    diff wanted got >err
    check "$name on $tasks tasks: calls and bytes"
    "$marsconv" --check t >err 2>&1 && "$marsconv" --stats --json t 2>err |
        jq -r '.functions[] | [.task, .function, .calls, .bytes, .time_ns] | @csv' | tr -d '"' | sort >stats &&
        diff <(grep MPI_ profile) stats >err
    check "$name on $tasks tasks: nothing is wrong, and marsconv's sums are the same"
    timeout 60 "$marssim" -q -o out replay.cfg >err 2>&1 && diff <(grep MPI_ profile) <(cut -d, -f1-5 out/calls.csv | grep MPI_ | sort) >err &&
        jq -e '.result.end_reason == "jobs done" and .result.jobs[0].unreceived == 0' out/summary.json >err
    check "$name on $tasks tasks: and so are those of the replay"
}
# cg, each pass: 25 steps, in each of which a task has log2(columns) exchanges of 11,200 bytes, twice as many of 8, and one of 11,200 with its
# transpose, unless it is on the diagonal of a square. 8 tasks have 4 columns.
kernel cg 4 2 Send=$((2 * 25 * (4 * 3 + 2)))/$((2 * 25 * (4 * (11200 + 16) + 2 * 11200))) Reduce=8/64 \
    Irecv=$((2 * 25 * (4 * 3 + 2)))/$((2 * 25 * (4 * (11200 + 16) + 2 * 11200))) Wait=$((2 * 25 * (4 * 3 + 2)))/0
kernel cg 8 1 Send=$((25 * 8 * (6 + 1)))/$((25 * 8 * (2 * (11200 + 16) + 11200))) Reduce=8/64
kernel cg 16 1 Send=$((25 * (16 * 6 + 12)))/$((25 * (16 * 2 * (11200 + 16) + 12 * 11200))) Reduce=16/128
# mg, each pass: faces of 32, 16, 8, 4, 2 points an edge, then of 4, 8, 16, 32, twice each, in log2(tasks) directions, at most 3, with two
# neighbours.
squares=$((32 * 32 + 16 * 16 + 8 * 8 + 4 * 4 + 2 * 2 + 2 * (4 * 4 + 8 * 8 + 16 * 16 + 32 * 32)))
kernel mg 4 3 Send=$((3 * 4 * 13 * 2 * 2))/$((3 * 4 * 2 * 2 * squares * 8)) Allreduce=12/96 Wait=$((3 * 4 * 13 * 2 * 2))/0
kernel mg 8 1 Send=$((8 * 13 * 3 * 2))/$((8 * 3 * 2 * squares * 8)) Allreduce=8/64
# ft, each pass: 8192 complex numbers of a task, shared out: 131,072 bytes, counted as those for each task.
kernel ft 4 5 Alltoall=20/$((20 * 131072 / 4)) Reduce=20/320
kernel ft 16 2 Alltoall=32/$((32 * 131072 / 16)) Reduce=32/512
# lu, each pass: 24 planes forward and 24 back, over each of the 2 x columns x rows edges of the grid one message of 480 bytes each; faces of
# 1,920 bytes to four neighbours, some of them none.
if [ -n "$fortran" ]; then
    kernel lu 4 3 Recv=$((3 * 48 * 4))/$((3 * 48 * 4 * 480)) Send=$((3 * (48 * 4 + 16)))/$((3 * (48 * 4 * 480 + 16 * 1920))) Allreduce=12/480
    kernel lu 16 1 Recv=$((48 * 24))/$((48 * 24 * 480)) Send=$((48 * 24 + 64))/$((48 * 24 * 480 + 64 * 1920)) Allreduce=16/640
fi
