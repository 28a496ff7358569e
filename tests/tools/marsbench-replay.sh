#!/bin/bash
# marsbench, measured, fitted, traced and replayed: tests/tools/marsbench-replay.sh
#
# marsbench measures two tasks of this machine and fits it; its own ping-pongs are traced and replayed in the fitted simulator. What stands in the files is
# checked; how near they are depends on what else this machine does, and is printed: docs/marsbench.md has the
# figures of a quiet one. LONG=1 does all sizes.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 2
. tests/lib-script.sh
bench=$(dirname "$marssim")/marsbench
tracer=$(dirname "$marssim")/marstrace
command -v mpirun >/dev/null || { echo "SKIP: mpirun is missing"; exit 0; }
cd "$work" || exit 2
shown=err
mkdir trace
export OMPI_MCA_mpi_yield_when_idle=1 # beside other tests
two() { # two tasks
    timeout 300 mpirun -n 2 "$@" >out 2>err </dev/null
}

sizes="8 2048 65536"
most=64KiB
[ -z "${LONG:-}" ] || { sizes=$(for i in $(seq 3 22); do echo $((1 << i)); done) && most=4MiB; }
two "$bench" -s "${STARTS:-2}" -t "${POINT:-500us}" --most "$most" -o points.csv
check "marsbench measures two tasks"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { seen[$at["quantity"]]++; if ($at["quantity"] != "eager_limit" && !($at["min_us"] > 0 && $at["median_us"] >= $at["min_us"])) { print; bad++ } }
    $at["quantity"] == "pingpong" && $at["starts"] != '"${STARTS:-2}"' && $at["bytes"] ~ /^(8|2048|65536)$/ { print; bad++ }
    END { split("pingpong stream send_overhead receive_overhead eager_limit copy reduce triad collective", name, " ")
        for (i in name) if (!(name[i] in seen)) { print "no " name[i]; bad++ }
        exit bad > 0 }' points.csv >err
check "its table has all quantities, and medians that are not below minima"
[ "$(awk -F, '$1 == "collective" { print $3 }' points.csv | sort -u | xargs)" = "allgather allreduce alltoall barrier bcast gather reduce reduce_scatter_block scatter" ]
check "and nine collectives"
cat >net.cfg <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "12.5 GB/s"; latency = "50 ns"; };
END
"$bench" --fit --latency "1 us" --rate "12.5 GB/s" --system net.cfg --rounds 0 -m fitted.inc points.csv >fit 2>err
check "it is fitted"
# How near depends on the load while it was measured, so that only the rows are looked at.
awk '$1 == "pingpong" && $2 == "core" { rows++; error = $(NF - 1); sub(/%/, "", error); sum += error < 0 ? -error : error } END { print sum / rows; exit !(rows > 5 && sum >= 0) }' fit >err
check "and simulated"
sed -i 's/^node = {/node = { cores = 2;/' fitted.inc

replay() { # BYTES: traced by marsbench and replayed: "measured simulated", microseconds
    two "$tracer" -o "trace/$1" "$bench" --only messages --least "$1" --most "$1" -s 1 -t "${POINT:-500us}" -o traced.csv || return 1
    printf '@include "net.cfg"\n@include "fitted.inc"\njobs = ( { program = "trace"; trace = "trace/%s"; tasks_per_node = 2; } );\n' "$1" >run.cfg
    "$marssim" -q -o run run.cfg output.timeline=perfetto 2>err || return 1
    # Task 0 sends again when a round trip is over; in a stream it does not call MPI_Send.
    jq -r --argjson bytes "$1" '[.traceEvents[] | select(.name == "MPI_Send" and .tid == 1 and .args.bytes == $bytes) | .ts] | sort
        | [range(1; length) as $i | .[$i] - .[$i - 1]] | sort | .[length / 2 | floor] / 2' run/timeline.json >simulated
    echo "$(awk -F, -v bytes="$1" '$1 == "pingpong" && $7 == bytes { print $10 }' points.csv) $(cat simulated)"
}
for bytes in $sizes; do
    both=$(replay "$bytes")
    check "$bytes bytes are traced and replayed"
    awk -v both="$both" 'BEGIN { split(both, us, " "); exit !(us[2] > 0.05 && us[2] < 1e6) }'
    check "and take a time: measured and simulated $both us"
    [ -z "${LONG:-}" ] || awk -v b="$bytes" -v both="$both" 'BEGIN { split(both, us, " "); printf "# %8d %10.3f %10.3f %+6.1f %%\n", b, us[1], us[2], 100 * (us[2] / us[1] - 1) }'
done

# Four tasks on two nodes, as far as marsbench knows: who is on a node is what MPI_Comm_split_type says.
cat >nodes.c <<'END'
#include <mpi.h>
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, rank / 2, key, part);
}
END
if mpicc -shared -fPIC -o nodes.so nodes.c 2>err; then
    LD_PRELOAD=$work/nodes.so timeout 300 mpirun -n 4 "$bench" -s 1 -t 100us --least 64 --most 256KiB --only messages --only overheads -o nodes.csv >out 2>err </dev/null
    check "messages between nodes are measured, too"
    [ "$(awk -F, '$1 == "pingpong" { print $2, $5, $6 }' nodes.csv | sort -u | xargs)" = "core 1 2 node 2 1" ]
    check "as those of two tasks, each alone on its node"
    "$bench" --fit --system net.cfg --rounds 1 -m nodes.inc nodes.csv >fit 2>err && grep -q 'send_overhead = \[' nodes.inc && grep -q 'memory_overhead = \[' nodes.inc
    check "and give overheads of their own"
fi
