#!/bin/bash
# Input and output against ROMIO itself: tests/storage/romio.sh
#
# A small program writes and reads a file by Open MPI's ROMIO, and a preloaded library says what each task asks of the file system. The same program,
# traced by marstrace and replayed over one server, has to ask for the same: offsets, bytes, and their order; and so has an ior with as many tasks,
# aggregators and bytes.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
marstrace=$(dirname "$marssim")/marstrace
ompi_info 2>/dev/null | grep -q 'MCA io: romio321' || { echo "SKIP: this Open MPI has no romio321"; exit 0; }
mpicc -O1 -o "$t/access" tests/storage/romio/access.c && ${CC:-cc} -O1 -shared -fPIC -o "$t/trace.so" tests/storage/romio/trace.c -ldl || exit 1

cat >"$t/c.cfg" <<'END2'
topology: { kind = "star"; nodes = 9; bandwidth = "1 GB/s"; latency = "100 ns"; };
storage: { servers: { nodes = "8"; }; device: { kind = "memory"; rate = "1 GB/s"; }; layout: { stripe_size = "1 GiB"; }; chunk = "64 MiB"; };
output: { requests = true; };
END2
cat >"$t/ior.cfg" <<'END2'
@include "c.cfg"
jobs = ( { program = "ior"; tasks = 4; mode = "both"; collective_io = true; } );
END2
cat >"$t/replay.cfg" <<'END2'
@include "c.cfg"
jobs = ( { program = "trace"; trace = "traced"; } );
END2
# What the simulated tasks asked for, in its order. Pieces that one call has at one stride are one request there: so those of ROMIO are joined, too.
same_requests() { # TASKS AGGREGATORS
    local task join=$3
    for ((task = 0; task < $1; task++)); do
        awk -F, -v node="$task" '$3 == node && ($4 == "write" || $4 == "read") { print substr($4, 1, 1), $6, $7 }' "$t/out/requests.csv" >"$t/ours"
        touch "$t/log.$task"
        awk -v join="$join" 'function put() { if (n) print op, from, n * bytes; n = 0 }
            { if (join && n && $1 == op && $3 == bytes && (n == 1 || $2 - last == stride)) { stride = $2 - last; n++; last = $2; next }
              put(); op = $1; from = last = $2; bytes = $3; n = 1 } END { put() }' "$t/log.$task" >"$t/theirs"
        diff "$t/ours" "$t/theirs" >"$t/err" || return 1
    done
    [ -s "$t/log.0" ]
}
traced() { # TASKS AGGREGATORS BUFFER BLOCK BLOCKS PATTERN CALLS
    rm -rf "$t"/log.* "$t/data" "$t/traced"
    timeout 100 mpirun -n "$1" --mca io romio321 -x LD_PRELOAD="$t/trace.so" -x IO_LOG="$t/log" -x IO_FILE="$t/data" \
        "$marstrace" -o "$t/traced" "$t/access" "$t/data" "${@:2}" >"$t/err" 2>&1
}
replayed() { run -o "$t/out" "$t/replay.cfg" && same_requests "$1" "$2" "$([ "$7" = independent ] && echo 1)"; }
by_ior() {
    local words=('jobs[0].transfer='"$(($4 * $5)) B")
    [ "$6" = strided ] && words=('jobs[0].strided=true' "jobs[0].transfer=$4 B" "jobs[0].segments=$5")
    run -o "$t/out" "$t/ior.cfg" "jobs[0].tasks=$1" storage.collective.aggregators="$2" storage.collective.buffer="$3 B" "${words[@]}" &&
        same_requests "$1" "$2" ""
}
trials=("4 3 100000 65536 4 strided collective" "2 1 70000 50000 3 strided collective" "8 4 65536 30000 5 strided collective"
    "5 2 1000000 40000 7 strided collective" "4 2 100000 65536 4 whole collective" "7 4 33333 50001 1 whole collective")
for c in "${trials[@]}"; do
    # shellcheck disable=SC2086
    { traced $c && by_ior $c && replayed $c; }
    check "tasks, aggregators, buffer, block, blocks: $c"
done
trials=("4 2 50000 20000 6 holes collective" "8 3 30000 10000 9 indexed collective" "6 4 40000 8000 16 square collective" "5 2 25000 7000 5 uneven collective"
    "4 3 30000 20000 6 strided pointer" "3 2 20000 10000 7 indexed pointer" "4 4 50000 20000 6 strided automatic" "4 2 50000 20000 6 whole automatic"
    "4 2 50000 20000 6 whole independent" "8 2 50000 5000 40 strided independent" "3 2 50000 8000 6 indexed independent")
for c in "${trials[@]}"; do
    # shellcheck disable=SC2086
    { traced $c && replayed $c; }
    check "traced and replayed: $c"
done

# A collective write of eight tasks with pieces of other sizes, on several servers.
traced 8 3 30000 10000 9 indexed collective
cat >"$t/same.cfg" <<'END2'
topology: { kind = "star"; nodes = 11; bandwidth = "1 GB/s"; latency = "1 us"; };
storage: { servers: { nodes = "1,8-10"; cache_bytes = "64 kB"; }; device: { kind = "disk"; rate = "500 MB/s"; }; layout: { stripe_size = "7 kB"; stripe_count = 3; }; chunk = "4 kB"; };
jobs = ( { program = "trace"; trace = "traced"; } );
output: { requests = true; waits = true; };
END2
all_alike "a collective write" "$t/same.cfg"
