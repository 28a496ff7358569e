#!/bin/bash
# Collective input and output against ROMIO itself: tests/storage/romio.sh
#
# A small program writes and reads a file collectively by Open MPI's ROMIO, and a preloaded library says what each aggregator asks of the file
# system. An ior with as many tasks, aggregators and bytes, over one server, has to ask for the same: offsets, bytes, and their order.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
ompi_info 2>/dev/null | grep -q 'MCA io: romio321' || { echo "SKIP: this Open MPI has no romio321"; exit 0; }
mpicc -O1 -o "$t/access" tests/storage/romio/access.c && ${CC:-cc} -O1 -shared -fPIC -o "$t/trace.so" tests/storage/romio/trace.c -ldl || exit 1

cat >"$t/c.cfg" <<'END'
topology: { kind = "star"; nodes = 9; bandwidth = "1 GB/s"; latency = "100 ns"; };
storage: { servers: { nodes = "8"; }; device: { kind = "memory"; rate = "1 GB/s"; }; layout: { stripe_size = "1 GiB"; }; chunk = "64 MiB"; };
jobs = ( { program = "ior"; tasks = 4; mode = "both"; collective_io = true; } );
output: { requests = true; };
END
same_requests() { # TASKS AGGREGATORS BUFFER BLOCK BLOCKS strided|whole
    local task words
    rm -f "$t"/log.* "$t/data"
    timeout 100 mpirun -n "$1" --mca io romio321 -x LD_PRELOAD="$t/trace.so" -x IO_LOG="$t/log" -x IO_FILE="$t/data" \
        "$t/access" "$t/data" "${@:2}" >"$t/err" 2>&1 || return 1
    words=('jobs[0].transfer='"$(($4 * $5)) B")
    [ "$6" = strided ] && words=('jobs[0].strided=true' "jobs[0].transfer=$4 B" "jobs[0].segments=$5")
    run -o "$t/out" "$t/c.cfg" "jobs[0].tasks=$1" storage.collective.aggregators="$2" storage.collective.buffer="$3 B" "${words[@]}" || return 1
    for ((task = 0; task < $1; task++)); do
        awk -F, -v node="$task" '$3 == node && ($4 == "write" || $4 == "read") { print substr($4, 1, 1), $6, $7 }' "$t/out/requests.csv" >"$t/ours"
        touch "$t/log.$task"
        [ "$task" -ge "$2" ] || [ -s "$t/ours" ] || return 1
        diff "$t/ours" "$t/log.$task" >"$t/err" || return 1
    done
}
trials=("4 3 100000 65536 4 strided" "2 1 70000 50000 3 strided" "8 4 65536 30000 5 strided" "5 2 1000000 40000 7 strided" "4 2 100000 65536 4 whole" "7 4 33333 50001 1 whole")
for c in "${trials[@]}"; do
    # shellcheck disable=SC2086
    same_requests $c
    check "tasks, aggregators, buffer, block, blocks: $c"
done
