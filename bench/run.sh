#!/bin/bash
# The measurements of bench/README.md: bench/run.sh PROGRAM [WORKLOAD ...]
#
# Runs every workload (or those named; `bench/run.sh list` names them) several times and prints a table of medians in
# markdown, and whether each goal is reached. Other simulators and other versions: bench/against. Also written: the
# table to results/bench/table.md, every single run to results/bench/runs.csv, instructions to instructions.csv there. QUICK=1: small ones, once each, a minute.
# A missed goal is no failure: exit status 1 is for runs that fail, or whose results differ where they must not.
set -u
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

workloads=$(grep -v '^#' bench/workloads)

# Goals on one workload: name | figure | at least or at most | value. Figures: columns below, per_cpu_s (packet-hops),
# events_per_cpu_s.
goals='
torus-dense       | per_cpu_s        | >= | 5e6
torus-sparse      | per_cpu_s        | >= | 3.5e6
gups-65536        | wall_s           | <= | 60
gups-65536        | memory           | <= | 4294967296
s-torus-524288    | wall_s           | <= | 600
s-torus-524288    | memory           | <= | 8589934592
check-1048576     | wall_s           | <= | 20
pingpong          | events_per_cpu_s | >= | 1e6
pingpong-short    | events_per_cpu_s | >= | 1e6
'
# Goals on two: name | figure | name | relation | value of the quotient.
pairs='
torus-dense       | wall_s    | torus-dense-2  | >= | 1.7
torus-sparse      | wall_s    | torus-sparse-2 | >= | 1.7
torus-dense-16    | per_cpu_s | torus-dense    | ~  | 0.3
torus-dense-64    | per_cpu_s | torus-dense    | ~  | 0.3
torus-sparse-16   | per_cpu_s | torus-sparse   | ~  | 0.3
torus-sparse-64   | per_cpu_s | torus-sparse   | ~  | 0.3
route-torus       | per_cpu_s | route-torus-a     | <= | 1.3
route-sparse      | per_cpu_s | route-sparse-a    | <= | 1.3
route-fat-tree    | per_cpu_s | route-fat-tree-a  | <= | 1.3
route-dragonfly   | per_cpu_s | route-dragonfly-u | <= | 1.3
route-dragonfly   | per_cpu_s | route-dragonfly-p | <= | 1.3
route-dragonfly   | per_cpu_s | route-dragonfly-b | <= | 1.3
pingpong-2        | wall_s    | pingpong       | <= | 3
pingpong-short-2  | wall_s    | pingpong-short | <= | 3
demo-32           | wall_s    | demo-2         | <= | 5
'
# Must have the same result object.
same='torus-dense=torus-dense-2 torus-sparse=torus-sparse-2 pingpong=pingpong-2 pingpong-short=pingpong-short-2 demo-2=demo-32'

if [ "${1:-}" = list ]; then
    awk -F'|' 'NF > 1 {gsub(/ /, "", $1); print $1}' <<<"$workloads"
    exit 0
fi
program=${1:?usage: bench/run.sh PROGRAM [WORKLOAD ...]}
shift
wanted=" $* "
out=results/bench
mkdir -p "$out"
measure=$out/measure
${CC:-gcc} -O2 -std=gnu17 -o "$measure" bench/measure.c || exit 2
echo "workload,ranks,wall_s,cpu_s,memory,packet_hops,events" >"$out/runs.csv"
status=0

chosen() { # NAME IN_QUICK
    [ "$wanted" != "  " ] && { [[ $wanted == *" $1 "* ]]; return; }
    [ "$2" = - ] && return 1
    [ -z "${QUICK:-}" ] || [ "$2" = y ]
}

number() { # KEY FILE: an integer of summary.json's run
    local n
    n=$(sed -n "/\"run\": {/,\$s/^ *\"$1\": \([0-9]*\),*\$/\1/p" "$2" 2>/dev/null)
    echo "${n:-0}"
}

# One run: a line of runs.csv, and the checksum of its result beside it.
run_once() { # NAME RANKS ARGUMENTS...
    local name=$1 ranks=$2 folder=$out/$1 launcher=() cost peak
    shift 2
    [ "$ranks" -gt 1 ] && launcher=(mpirun -n "$ranks")
    rm -rf "$folder"
    if ! cost=$("$measure" "${launcher[@]}" "$program" --quiet -o "$folder" "$@"); then
        echo "$name: failed: ${launcher[*]} $program $*" >&2
        status=1
        return
    fi
    peak=$(number peak_rss_bytes "$folder/summary.json") # of all ranks; a single process is measured from outside
    [ "$ranks" -gt 1 ] && [ "$peak" -gt 0 ] && cost="${cost% *} $peak"
    echo "$name,$ranks,${cost// /,},$(number packet_hops "$folder/summary.json"),$(number events "$folder/summary.json")" >>"$out/runs.csv"
    [ -e "$folder/summary.json" ] && sed '/"run": {/,$d' "$folder/summary.json" | cksum >"$out/$name.sum"
}

results_compare() {
    local pair a b
    for pair in $same; do
        a=$out/${pair%=*}.sum b=$out/${pair#*=}.sum
        [ -e "$a" ] && [ -e "$b" ] && ! cmp -s "$a" "$b" && echo "$pair: the results differ" >&2 && status=1
    done
}

rm -f "$out"/*.sum
while IFS='|' read -r name ranks times quick arguments; do
    name=${name// /} ranks=${ranks// /} times=${times// /} quick=${quick// /}
    [ -n "$name" ] && chosen "$name" "$quick" || continue
    [ -n "${QUICK:-}" ] && times=1
    [ -t 2 ] && printf '\r\033[K%s' "$name" >&2
    read -ra arguments <<<"$arguments"
    for ((i = 0; i < times; i++)); do
        run_once "$name" "$ranks" "${arguments[@]}"
    done
done <<<"$workloads"
[ -t 2 ] && printf '\r\033[K' >&2
results_compare
bench/instructions.sh $(awk -F, 'NR > 1 && !seen[$1]++ {print $1}' "$out/runs.csv") >"$out/instructions.csv"
echo "$goals" >"$out/goals" && echo "$pairs" >"$out/pairs"
awk -f bench/table.awk "$out/goals" "$out/pairs" "$out/instructions.csv" "$out/runs.csv" | tee "$out/table.md"
exit $status
