#!/bin/bash
# The messages of real collectives, judged by Open MPI's own monitoring of its messages (pml_monitoring): tests/tasks/judge.sh
#
# tests/tools/tracer/judged.c runs each collective under the tracer and under the monitoring at once, by the algorithm that Open MPI is told to take.
# What it sent, messages and bytes for each pair of tasks, is to be what the replay of that trace sends by the algorithm of the same name, in
# several sizes, roots and numbers of tasks. JUDGE_TASKS="2 3 4 5 9": these numbers of tasks for all (recursive_doubling of calls that do not
# block is not libnbc's where they are no power of two).
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
marstrace=$(dirname "$marssim")/marstrace
[ -x "$marstrace" ] || { echo "SKIP: the tracer is not built"; exit 0; }
command -v ompi_info >/dev/null && ompi_info 2>/dev/null | grep -q "MCA pml: monitoring" ||
    { echo "SKIP: Open MPI has no pml_monitoring here"; exit 0; }
cd "$work" || exit 2
mpicc -O1 -o judged "$top/tests/tools/tracer/judged.c" >err 2>&1
check "the program is built"

# messages COLLECTIVE TASKS "MCA PARAMETERS" OURS BYTES...: theirs and mine, each "FROM TO MESSAGES BYTES".
messages() {
    local op=$1 tasks=$2 mca=$3 ours=$4
    local name=${op#i}
    shift 4
    rm -rf t out mon.*
    # shellcheck disable=SC2086 # lists of words
    timeout 120 mpirun -n "$tasks" --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename ./mon \
        --mca coll_tuned_use_dynamic_rules 1 --mca coll ^han,adapt,sm $mca "$marstrace" -o t ./judged $full "$op" "$@" </dev/null >err 2>&1 || return
    awk '$1 == "I" || $1 == "E" {print $2, $3, $6, $4}' mon.* | sort -n -k1,1 -k2,2 >theirs
    cat >replay.cfg <<END
topology: { kind = "star"; nodes = $tasks; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs: ( { program = "trace"; trace = "t"; } );
mpi: { eager_limit = "1 GiB"; collectives: { $name = "$ours"; }; };
output: { matrix = true; };
partition: { bind = "no"; adapt = false; };
END
    timeout 60 "$marssim" -q -o out replay.cfg >err 2>&1 &&
        awk -F, 'NR > 1 {print $1, $2, $3, $4}' out/matrix.csv | sort -n -k1,1 -k2,2 >mine
}

# judged COLLECTIVE OURS TASKS "MCA PARAMETERS" [BYTES...]
judged() {
    local op=$1 ours=$2 numbers=${JUDGE_TASKS:-$3} mca=$4 tasks
    shift 4
    for tasks in $numbers; do
        messages "$op" "$tasks" "$mca" "$ours" "${@-}" && [ -s theirs ] && diff theirs mine >err
        check "$op by $ours on $tasks tasks"
    done
}
tuned() { # COLLECTIVE NUMBER...: the algorithms of Open MPI's component tuned
    while [ $# -gt 0 ]; do
        printf ' --mca coll_tuned_%s_algorithm %s' "$1" "$2"
        shift 2
    done
}
segments() { printf ' --mca coll_tuned_%s_algorithm_segmentsize 1000' "$1"; }
libnbc() { printf ' --mca coll_libnbc_%s_algorithm %s' "$@"; }

sizes="0 13 1680 20000"
full=
# shellcheck disable=SC2086
{
    judged barrier linear "7" "$(tuned barrier 1)" 1 1
    judged barrier recursive_doubling "7 8" "$(tuned barrier 3)" 1 1
    judged barrier dissemination "7" "$(tuned barrier 4)" 1 1
    judged barrier binomial "7" "$(tuned barrier 6)" 1 1
    judged bcast linear "7" "$(tuned bcast 1)" $sizes
    judged bcast binomial "7" "$(tuned bcast 6)" $sizes
    judged bcast binary "7 8" "$(tuned bcast 5)" $sizes
    judged bcast knomial "7" "$(tuned bcast 7)" $sizes
    judged bcast "knomial(radix=3, segment=1 kB)" "9" "$(tuned bcast 7) --mca coll_tuned_bcast_algorithm_knomial_radix 3 $(segments bcast)" $sizes
    judged bcast "chain(chains=3, segment=1 kB)" "9" "$(tuned bcast 2) --mca coll_tuned_bcast_algorithm_chain_fanout 3 $(segments bcast)" $sizes
    judged bcast "chain(segment=1 kB)" "7" "$(tuned bcast 3) $(segments bcast)" $sizes
    judged bcast scatter_allgather "7 8 5" "$(tuned bcast 8)" $sizes
    judged bcast scatter_allgather_ring "7" "$(tuned bcast 9)" $sizes
    judged reduce linear "7" "$(tuned reduce 1)" $sizes
    judged reduce linear_blocking "7" "$(tuned reduce 1)" $sizes
    judged reduce "chain(chains=3, segment=1 kB)" "9" "$(tuned reduce 2) --mca coll_tuned_reduce_algorithm_chain_fanout 3 $(segments reduce)" $sizes
    judged reduce "chain(segment=1 kB)" "7" "$(tuned reduce 3) $(segments reduce)" $sizes
    judged reduce binary "7 8" "$(tuned reduce 4)" $sizes
    judged reduce in_order_binary "7 8 9" "$(tuned reduce 6)" $sizes
    judged reduce binomial "7" "$(tuned reduce 5)" $sizes
    judged reduce rabenseifner "7 8" "$(tuned reduce 7)" $sizes
    judged allreduce linear "7" "$(tuned allreduce 1 reduce 1 bcast 1)" $sizes
    judged allreduce binomial "7" "$(tuned allreduce 2 reduce 5 bcast 6)" $sizes
    judged allreduce recursive_doubling "7 8" "$(tuned allreduce 3)" $sizes
    judged allreduce ring "7" "$(tuned allreduce 4)" $sizes
    judged allreduce rabenseifner "7 8" "$(tuned allreduce 6)" $sizes
    judged gather linear "7" "$(tuned gather 1)" $sizes
    judged gather binomial "7" "$(tuned gather 2)" $sizes
    judged scatter linear "7" "$(tuned scatter 3)" $sizes
    judged scatter linear_blocking "7" "$(tuned scatter 1)" $sizes
    judged scatter binomial "7" "$(tuned scatter 2)" $sizes
    judged allgather bruck "7" "$(tuned allgather 2)" $sizes
    judged allgather recursive_doubling "7 8" "$(tuned allgather 3)" $sizes
    judged allgather neighbor "7 8 2" "$(tuned allgather 5)" $sizes
    judged allgather ring "7" "$(tuned allgather 4)" $sizes
    judged allgatherv neighbor "8" "$(tuned allgatherv 4)" $sizes
    judged allgatherv ring "7" "$(tuned allgatherv 3)" $sizes
    judged alltoall linear "7" "$(tuned alltoall 1)" $sizes
    judged alltoall pairwise "7" "$(tuned alltoall 2)" $sizes
    judged alltoall bruck "7" "$(tuned alltoall 3)" $sizes
    judged alltoallv linear "7" "$(tuned alltoallv 1)" $sizes
    judged alltoallv pairwise "7" "$(tuned alltoallv 2)" $sizes
    judged reduce_scatter recursive_halving "7 8" "$(tuned reduce_scatter 2)" $sizes
    judged reduce_scatter ring "7" "$(tuned reduce_scatter 3)" $sizes
    judged reduce_scatter_block recursive_halving "7 8" "$(tuned reduce_scatter_block 3)" $sizes
    judged scan linear "7" "$(tuned scan 1)" $sizes
    judged scan recursive_doubling "7" "$(tuned scan 2)" $sizes
    judged exscan linear "7" "$(tuned exscan 1)" $sizes
    judged exscan recursive_doubling "7" "$(tuned exscan 2)" $sizes
    # Calls that do not block, by the component libnbc. It sends the empty messages of calls without bytes, but none of the v-forms; here all
    # forms are alike. So without empty ones:
    sizes="13 1680 20000" full=full
    judged gatherv linear "7" "" $sizes
    judged scatterv linear "7" "" $sizes
    judged ibarrier dissemination "7" "" 1 1
    judged iallgather linear "7" "$(libnbc iallgather 1)" $sizes
    judged iallgather recursive_doubling "8" "$(libnbc iallgather 2)" $sizes
    judged iallgatherv linear "7" "" $sizes
    judged ialltoall linear "7" "" $sizes
    judged ialltoallv linear "7" "" $sizes
    judged iallreduce recursive_doubling "8" "$(libnbc iallreduce 4)" $sizes
    judged iscan linear "7" "$(libnbc iscan 1)" $sizes
}
# Among neighbours in a grid (the monitoring takes all topologies for grids). Making it costs Open MPI and the model different messages, so
# these are taken off.
beside() { # FROM: the lines of FROM without those of FROM.before; messages to oneself are in no matrix.csv
    awk 'NR == FNR {messages[$1 " " $2] = $3; bytes[$1 " " $2] = $4; next}
        $1 != $2 {pair = $1 " " $2; if ($3 != messages[pair]) print pair, $3 - messages[pair], $4 - bytes[pair]}' "$1.before" "$1"
}
for op in neighbor_allgather neighbor_alltoall neighbor_alltoallv ineighbor_alltoall; do
    for tasks in ${JUDGE_TASKS:-5}; do
        messages $op "$tasks" "" linear && cp theirs theirs.before && cp mine mine.before &&
            messages $op "$tasks" "" linear 13 1680 20000 && beside theirs >theirs.beside && beside mine >mine.beside &&
            [ -s theirs.beside ] && diff theirs.beside mine.beside >err
        check "$op on $tasks tasks"
    done
done
