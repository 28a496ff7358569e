#!/bin/bash
# Checkpoints with network.model = "loggops", of programs of MPI, schedules in GOAL and patterns: a run on several ranks, and one that continues from any
# of them on another number of ranks, has the results of one that was not interrupted.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
marsconv=$(dirname "$marssim")/marsconv
cat >"$t/stencil.cfg" <<'CFG'
network: { model = "loggops"; };
loggops: { S = "10 kB"; };
jobs: (
    { program = "stencil"; extents = [3, 2, 2]; steps = 4; bytes = "20 kB"; compute_time = "10 us"; allreduce_every = 2; compute_jitter = "3 us"; },
    { program = "weather"; grid = [4, 2]; steps = 2; start = "70 us"; name = "w"; }
);
CFG
cat >"$t/trace.cfg" <<'CFG'
network: { model = "loggops"; };
jobs: ( { program = "trace"; } );
CFG
cat >"$t/pattern.cfg" <<'CFG'
network: { model = "loggops"; };
loggops: { S = "1 kB"; };
jobs: ( { program = "schedule"; pattern = "linear_alltoall"; commsize = 70; datasize = 100; },
    { program = "schedule"; pattern = "stencil"; sides = [3, 3]; timesteps = 4; datasize = 2000; timestep = "3 us"; } );
CFG
trace=$(readlink -f tests/traces/npb-is.S-8)
"$marsconv" --to goal "$trace" "$t/is.goal" >"$t/err" 2>&1
check "marsconv makes a schedule"

collected=(output.waits=true 'output.timeline=["perfetto"]' "output.period=100 us" output.series.jobs=periods output.series.tasks=periods
    output.calls=true output.matching=true)
all_alike "programs, read, all that is collected" "$t/stencil.cfg" "${collected[@]}"
all_alike "programs, write, progress by a thread" "$t/stencil.cfg" mpi.rendezvous=write mpi.progress=thread "mpi.progress_cost=100 ns" "mpi.match_time=10 ns"
all_alike "programs without time between them" "$t/stencil.cfg" "loggops.L=0 ns" mpi.progress=calls
all_alike "a trace, pinned buffers" "$t/trace.cfg" jobs[0].trace="$trace" "loggops.S=1 kB" "jobs[0].pinning_time=20 us" "jobs[0].pinning_per_byte=3 ns"
all_alike "a schedule, periods" "$t/trace.cfg" jobs[0].trace="$t/is.goal" "loggops.S=1 kB" "output.period=300 us"
all_alike "a schedule, rendezvous in an instant" "$t/trace.cfg" jobs[0].trace="$t/is.goal" "loggops.S=1 kB" mpi.rendezvous=instant
cat >"$t/faults.awk" <<'AWK'
BEGIN { # several cpus, which wait for each other
    print "num_ranks 3"
    for (i = 0; i < 3; i++) {
        printf "rank %d {\n", i
        for (j = 0; j < 60; j++) {
            printf "c%d: calc %d cpu %d\ns%d: send %db to %d tag %d cpu %d\nr%d: recv %db from %d tag %d\n", j, (j * 37 + i) % 90 * 1000, j % 3, j,
                j % 5 * 400, (i + 1) % 3, j, (j + i) % 3, j, j % 7 * 300, (i + 2) % 3, j
            printf "s%d requires c%d\n", j, j
            if (j) printf "c%d requires r%d\n", j, j - 1
        }
        print "}"
    }
}
AWK
awk -f "$t/faults.awk" >"$t/faults.goal"
all_alike "a schedule with LogGOPSim's faults" "$t/trace.cfg" jobs[0].trace="$t/faults.goal" "jobs[0].time_unit=1 ps" "loggops.S=1 kB" mpi.rendezvous=instant \
    'loggops.faults=["dependencies", "zero_bytes"]'
all_alike "patterns, long lists" "$t/pattern.cfg"
all_alike "patterns, write, noise" "$t/pattern.cfg" mpi.rendezvous=write 'loggops.noise.kind="periodic"' 'loggops.noise.period="50 us"' 'loggops.noise.length="2 us"'

run -o "$t/saved" "$t/pattern.cfg" run.checkpoint.at="200 us"
last=$(ls -d "$t"/saved/checkpoints/* | tail -n 1)
head -c 700 "$last/part-0" >"$t/cut" && cp "$t/cut" "$last/part-0"
timeout 60 "$marssim" -q -o "$t/on" --resume "$last" >"$t/err" 2>&1
verdict "$([ $? -eq 2 ] && grep -q "part-0" "$t/err" || echo "status and message")" "a part that was cut short is refused by its name"
timeout 60 "$marssim" -q -o "$t/on" --resume "$(ls -d "$t"/saved/checkpoints/* | head -n 1)" "loggops.L=1 us" >"$t/err" 2>&1
verdict "$([ $? -eq 2 ] && grep -q "loggops.L" "$t/err" || echo "status and message")" "another L is refused"
[ "$number" -gt 0 ]
