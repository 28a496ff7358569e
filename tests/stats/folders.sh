#!/bin/bash
# Whose results lie in a folder: one run at a time writes into it, summary.json has a checksum of each table, and a run that was killed,
# that failed or that found the disk full leaves a mark. What reads folders tells of all that.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
report=$(dirname "$marssim")/marsreport
[ -x "$report" ] || { echo "SKIP: marsreport is not built"; exit 0; }
cd "$work" || exit 2
cat >c.cfg <<'END'
topology: { kind = "star"; nodes = 8; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs = ({ program = "stencil"; extents = [8]; steps = 30; compute_time = "1 us"; });
output: { period = "10 us"; };
END
run() { "$marssim" -q "$@" partition.bind=no >out 2>err </dev/null; }
begun() { for _ in $(seq 600); do [ -e "$1/started.json" ] && return; sleep 0.05; done; } # FOLDER
long() { # FOLDER KEYS...: in the background, until it is killed
    "$marssim" -q -o "$1" "$top/configs/torus-uniform.cfg" "run.end=1000 s" "output.period=10 us" partition.bind=no "${@:2}" >out 2>long.err &
    pid=$!
    begun "$1"
}

# ---- one run at a time ----

long one
refused 'another run writes to one now: .*-o DIR.*wait' -o one c.cfg && [ -e one/started.json ] && [ -e one/periods.csv ] && [ ! -e one/tasks.csv ]
check "a second run into the folder of one that continues is refused, and touches nothing"
bounded_mpirun 60 -n 2 "$marssim" -q -o one c.cfg && false || grep -q 'another run writes' launcher
check "on two ranks, too"
"$report" one -o page.html >out 2>err; grep -q 'still running' <(tr '\\' '\n' <page.html)
check "marsreport says that it is still running"
kill -9 $pid; wait $pid 2>/dev/null
"$report" one -o page.html >out 2>err; grep -q 'was killed' <(tr '\\' '\n' <page.html)
check "and that it was killed, when it was"
run -o one c.cfg && [ ! -e one/started.json ] && [ ! -e one/failed.json ]
check "the next run may have the folder"
for n in 1 2 3; do # as a shell loop in the background does
    "$marssim" -q -o together c.cfg "jobs[0].steps=$n" output.tables=$([ $n = 2 ] && echo json || echo csv) partition.bind=no 2>err.$n & pids[$n]=$!
done
ended=0
for n in 1 2 3; do wait "${pids[$n]}" && ended=$((ended + 1)); done
[ $ended -ge 1 ] && "$report" together -o page.html >out 2>err && [ $((ended + $(cat err.* | grep -c 'another run writes'))) -eq 3 ]
check "of several at once each ends with its results or is refused"

# ---- checksums ----

(cd one && jq -r '.tables | to_entries[] | "\(.value.cksum) \(.value.bytes) \(.key)"' summary.json | sort >../listed && cksum ./*.csv | sed 's|\./||' | sort) >sums &&
    cmp listed sums >err && [ "$(wc -l <sums)" -gt 4 ]
check "summary.json has of each table what cksum prints"
for n in 2 3 5; do
    bounded_mpirun 60 -n $n "$marssim" -q -o "r$n" c.cfg partition.adapt=false partition.oversubscribe=true partition.bind=no &&
        cmp <(jq -S .tables one/summary.json) <(jq -S .tables "r$n/summary.json") || break
done 2>err
check "the same on 2, 3 and 5 ranks"
run -o save c.cfg 'run.checkpoint.at=["20 us"]' && run --resume save && cmp <(jq -S .tables one/summary.json) <(jq -S .tables save/summary.json) 2>err
check "and after --resume"
[ "$(jq -r '.run.id' one/summary.json r2/summary.json r3/summary.json | grep -Ec '^[0-9a-f]{16}$')" -eq 3 ] &&
    [ "$(jq -r '.run.id' one/summary.json r2/summary.json r3/summary.json | sort -u | wc -l)" -eq 3 ]
check "each run has an id of its own"
run -o other c.cfg 'jobs[0].steps=9' && cp other/tasks.csv one/ && ends 2 'one: tasks.csv is not the one that summary.json is of' "$report" one
check "marsreport refuses a folder with a table of another run, by name"

# ---- failed runs ----

# Two tasks that play ping-pong look at nothing for a long time, at signals neither.
cat >pingpong.cfg <<'END'
topology: { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs = ( { program = "pingpong"; steps = 4000000000L; } );
END
"$marssim" -q -o second pingpong.cfg "run.check_interval=1000 s" "output.period=100 s" partition.bind=no >out 2>long.err &
pid=$!
begun second
sleep 1; kill -TERM $pid; sleep 0.5; kill -TERM $pid; wait $pid 2>/dev/null
[ -e second/failed.json ] && [ ! -e second/started.json ] && [ ! -e second/summary.json ] && jq -e '.run.id' second/failed.json >/dev/null
check "a run that a second signal has ended is marked as failed"
run -o second c.cfg && [ ! -e second/failed.json ]
check "until the next one"
( ulimit -f 8; trap '' XFSZ; "$marssim" -q -o full c.cfg 'jobs[0].steps=3000' partition.bind=no >out 2>err )
[ $? -eq 1 ] && grep -q 'cannot write full/.*: File too large' err && [ -e full/failed.json ] && [ ! -e full/started.json ]
check "so is one that cannot write all of its results"
"$report" full -o page.html >out 2>err; grep -q 'has failed: .*cannot write' <(tr '\\' '\n' <page.html)
check "and marsreport says why"
for blocks in 0 8 24 40; do # what is written when the disk is full
    ( ulimit -f $blocks; trap '' XFSZ; "$marssim" -q -o h5 c.cfg output.hdf5=true 'jobs[0].steps=3000' partition.bind=no >out 2>err )
    status=$?
    [ $status -ge 1 ] && [ $status -le 2 ] && grep -q 'cannot write' err && [ ! -e h5/started.json ] || { echo "$blocks: $status" >>err && false; } || break
done
check "results.h5 on a full disk ends the run with a message"
[ "$number" -gt 0 ]
