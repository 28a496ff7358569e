#!/bin/bash
# Checkpoints with network.model = "loggops", of programs of MPI, schedules in GOAL and patterns: a run that goes on from any of them, on
# another number of ranks, has the results of one that was not interrupted.
set -u
cd "$(dirname "$0")/.." || exit 2
command -v jq >/dev/null || { echo "SKIP: jq is missing"; exit 0; }
. tests/lib-script.sh
marsconv=$(dirname "$marssim")/marsconv
t=$work
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

same() { # FOLDER
    cmp <(jq -S .result "$t/one/summary.json") <(jq -S .result "$t/$1/summary.json") &&
        diff -rq "$t/one" "$t/$1" | grep -v 'system.cfg\|summary\.\|checkpoints' | { ! grep .; }
}
goes_on() { # NAME CONFIGURATION ARGUMENTS: saved on two ranks, resumed on 1, 2 and 3
    local name=$1 why= end at ranks=0 folder
    local run=("$t/$2" partition.bind=no partition.oversubscribe=true "${@:3}")
    rm -rf "$t/one" "$t/saved"
    "$marssim" -q -o "$t/one" "${run[@]}" >"$t/err" 2>&1 || why="one rank: exit status $?"
    end=$(jq .result.simulated_time_ps "$t/one/summary.json")
    at=$(for part in 1 3 5 6; do printf '"%d ps",' $((end * part / 7)); done)
    timeout 60 mpirun -n 2 "$marssim" -q -o "$t/saved" "${run[@]}" "run.checkpoint.at=[${at%,}]" run.checkpoint.keep=9 >"$t/err" 2>&1 || why+=" saving: exit status $?"
    same saved >"$t/err" 2>&1 || why+=" saving changes results"
    for folder in "$t"/saved/checkpoints/*; do
        ranks=$((ranks % 3 + 1))
        rm -rf "$t/on"
        cp -r "$t/saved" "$t/on"
        timeout 60 mpirun -n $ranks "$marssim" -q -o "$t/on" --resume "$folder" >"$t/err" 2>&1 || why+=" ${folder##*-}, $ranks ranks: exit status $?"
        same on >"$t/err" 2>&1 || why+=" ${folder##*-}, $ranks ranks: differs"
    done
    [ -n "$(ls "$t/saved/checkpoints")" ] || why+=" no checkpoints"
    verdict "$why" "$name"
}
collected=(output.waits=true 'output.timeline=["perfetto"]' "output.period=100 us" output.series.jobs=periods output.series.tasks=periods
    output.calls=true output.matching=true)
goes_on "programs, read, all that is collected" stencil.cfg "${collected[@]}"
goes_on "programs, write, progress by a thread" stencil.cfg mpi.rendezvous=write mpi.progress=thread "mpi.progress_cost=100 ns" "mpi.match_time=10 ns"
goes_on "programs without time between them" stencil.cfg "loggops.L=0 ns" mpi.progress=calls
goes_on "a trace" trace.cfg jobs[0].trace="$trace" "loggops.S=1 kB"
goes_on "a schedule, periods" trace.cfg jobs[0].trace="$t/is.goal" "loggops.S=1 kB" "output.period=300 us"
goes_on "a schedule, rendezvous in an instant" trace.cfg jobs[0].trace="$t/is.goal" "loggops.S=1 kB" mpi.rendezvous=instant
goes_on "patterns, long lists" pattern.cfg
goes_on "patterns, write, noise" pattern.cfg mpi.rendezvous=write 'loggops.noise.kind="periodic"' 'loggops.noise.period="50 us"' 'loggops.noise.length="2 us"'

last=$(ls -d "$t"/saved/checkpoints/* | tail -n 1)
head -c 700 "$last/part-0" >"$t/cut" && cp "$t/cut" "$last/part-0"
timeout 60 "$marssim" -q -o "$t/on" --resume "$last" >"$t/err" 2>&1
verdict "$([ $? -eq 2 ] && grep -q "part-0" "$t/err" || echo "status and message")" "a part that was cut short is refused by its name"
timeout 60 "$marssim" -q -o "$t/on" --resume "$(ls -d "$t"/saved/checkpoints/* | head -n 1)" "loggops.L=1 us" >"$t/err" 2>&1
verdict "$([ $? -eq 2 ] && grep -q "loggops.L" "$t/err" || echo "status and message")" "another L is refused"
[ "$number" -gt 0 ]
