#!/bin/bash
# Ends of sends that are foreseen (tasks/mpi/foreseen.c) change nothing: drawn traces with waits for any of several, all and single ones between
# computations, long and short, give what they give with output.waits, where each end is a record: tests/tasks/foreseen.sh
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
cat >"$t/drawn.cfg" <<'END'
topology: { kind = "torus"; extents = [4, 2]; bandwidth = "1 GB/s"; latency = "100 ns"; };
switch: { channels = 2; buffer = "32 KiB"; delay = "90 ns"; };
adapter: { packet_size = "2 KiB"; };
mpi: { eager_limit = "16 KiB"; };
jobs: ( { name = "drawn"; program = "trace"; trace = "drawn.mars"; } );
END
# Traces of liballprof: tasks in a ring send to their neighbours and wait in one of four ways, with computations of 0 to 60 us between.
draw() { # SEED FOLDER
    awk -v seed="$1" -v folder="$2" '
function maybe(most) { return int(rand() * 2) * int(rand() * most) }
function post(name, bytes, peer, tag) { printf "MPI_%s:%d:1:%d:1,1,1:%d:%d:%s:%d:%d\n", name, time, bytes, peer, tag, world, 800 + 8 * n++, time >file }
function wait(any) { printf "MPI_Wait%s:%d:%d:800:1:%s%d\n", any ? "any" : "all", time, n, any ? "55:" : "", time + 1 >file; time++ }
BEGIN {
    srand(seed); tasks = 8; rounds = 40
    for (r = 0; r < rounds; r++) { bytes[r] = int(exp(rand() * 11)) + 1; both[r] = rand() < 0.5; form[r] = int(rand() * 4); blocking[r] = rand() < 0.3 }
    for (task = 0; task < tasks; task++) {
        file = folder "/pmpi-trace-rank-" task ".txt"; time = 100; world = "0," task "," tasks
        left = (task + tasks - 1) % tasks; right = (task + 1) % tasks
        print "# htor\x27s PMPI Tracer 1.0 Output File\n# time: then\n\nMPI_Init:-:1:2:100\nMPI_Comm_size:100:" world ":5:100" >file
        for (r = 0; r < rounds; r++) {
            time += int(rand() * rand() * 60); n = 0
            for (k = 0; blocking[r] && k < 2; k++) {
                if ((task + k) % 2 == 0) printf "MPI_Send:%d:1:%d:1,1,1:%d:%d:%s:%d\n", time, bytes[r], right, r, world, time + 1 >file
                else printf "MPI_Recv:%d:1:%d:1,1,1:%d:%d:%s:7:%d\n", time, bytes[r], left, r, world, time + 1 >file
                time += 1 + maybe(30)
            }
            if (blocking[r]) continue
            post("Irecv", bytes[r], left, r); post("Isend", bytes[r], right, r)
            if (both[r]) { post("Irecv", bytes[rounds - 1 - r], right, 100 + r); post("Isend", bytes[rounds - 1 - r], left, 100 + r) }
            time += maybe(20)
            if (form[r] == 2)
                for (i = n - 1; i >= 0; i--) { printf "MPI_Wait:%d:%d:1:%d\n", time, 800 + 8 * i, time + 1 >file; time += 1 + maybe(30) }
            for (i = 0; form[r] == 1 && i < n || form[r] == 3 && i < 1; i++) { wait(1); time += maybe(30) }
            if (form[r] % 3 == 0) wait(0)
        }
        print "MPI_Finalize:" time + 10 ":-" >file
    }
}'
}
result() { jq -S '.result | del(.latency_parts, .jobs[].waits)' "$1/summary.json"; }
records=0 fewer=0
for seed in $(seq 1 12); do
    mkdir "$t/text" && draw "$seed" "$t/text" && "$(dirname "$marssim")/marsconv" --to mars "$t/text" "$t/drawn.mars" >"$t/conv" 2>&1 || { cat "$t/conv"; false; }
    check "seed $seed is written"
    for settings in '' 'topology.bandwidth="0.1GB/s"' 'topology.bandwidth="0.1GB/s" mpi.eager_limit="64B"' 'mpi.eager_completion="buffered"' \
        'node.send_overhead="0.3us" node.receive_overhead="0.3us"' 'node.cores=2 jobs[0].tasks_per_node=2'; do
        read -ra set <<<"$settings"
        run -o "$t/a" "$t/drawn.cfg" ${set[@]+"${set[@]}"} && run -o "$t/b" "$t/drawn.cfg" ${set[@]+"${set[@]}"} output.waits=true &&
            cmp <(result "$t/a") <(result "$t/b") && cmp "$t/a/tasks.csv" "$t/b/tasks.csv" && cmp "$t/a/calls.csv" "$t/b/calls.csv" &&
            cmp "$t/a/links.csv" "$t/b/links.csv"
        check "seed $seed with ${settings:-nothing else}"
        records=$((records + $(jq .run.events "$t/b/summary.json"))) fewer=$((fewer + $(jq .run.events "$t/a/summary.json")))
    done
    [ "$seed" -lt 12 ] && rm -r "$t/text" "$t/drawn.mars"
done
[ "$fewer" -lt "$records" ]
check "some ends are foreseen"
all_alike "foreseen ends" "$t/drawn.cfg" 'topology.bandwidth="0.1GB/s"'
