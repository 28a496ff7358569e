#!/bin/bash
# Jobs that wait for others, and jobs that are repeated: tests/tasks/after.sh
#
# When they begin and end, to the picosecond; the same bits on any number of ranks, in every order of cells, and saved and resumed; what could never begin is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
shown=$t/err

# Two tasks that compute 1.5 us and exchange nothing: a step is 1.5 us and the time of a message of no bytes, which is the same each time.
cat >"$t/c.cfg" <<'CFG'
topology = { kind = "star"; nodes = 8; bandwidth = "10 GB/s"; latency = "10 ns"; };
jobs = (
    { name = "a"; program = "stencil"; extents = [2]; steps = 1; bytes = "1 KiB"; compute_time = "1500 ns"; },
    { name = "b"; program = "stencil"; extents = [2]; steps = 1; bytes = "1 KiB"; compute_time = "1500 ns"; after = "a"; repetitions = 3; },
    { name = "c"; program = "stencil"; extents = [2]; steps = 1; bytes = "1 KiB"; compute_time = "1500 ns"; after = ["b", "a"]; start = "4 us"; },
    { name = "d"; program = "stencil"; extents = [2]; steps = 1; bytes = "1 KiB"; compute_time = "1500 ns"; after = "a"; start = "10 us"; }
);
CFG
finish() { jq ".result.jobs[] | select(.name == \"$2\").finish_ps" "$1/summary.json"; }
run -o "$t/r" "$t/c.cfg" && step=$(finish "$t/r" a) && [ "$step" -gt 1500000 ] && [ "$step" -lt 2000000 ]
check "a step"
# a ends between 1 and 2 us: b begins at 2 us, and each of its three passes where the last has ended.
[ "$(finish "$t/r" b)" = $((2000000 + 3 * step)) ]
check "b begins at the next microsecond behind the end of a, and runs three times"
[ "$(jq '.result.jobs[1].passes' "$t/r/summary.json")" = 3 ] && [ "$(jq '.result.jobs[0] | has("passes")' "$t/r/summary.json")" = false ]
check "its passes are counted"
begin=$(((2000000 + 3 * step) / 1000000 * 1000000 + 1000000))
[ "$(finish "$t/r" c)" = $((begin + step)) ] && [ "$begin" -gt 4000000 ]
check "c begins behind b"
[ "$(finish "$t/r" d)" = $((10000000 + step)) ]
check "and d not before its start"
run -o "$t/r" "$t/c.cfg" run.check_interval="100 ns" && [ "$(finish "$t/r" b)" = $((step / 100000 * 100000 + 100000 + 3 * step)) ]
check "run.check_interval says how soon"
run -o "$t/r" "$t/c.cfg" "jobs[d].enabled=false" "jobs[b].background=true" "jobs[c].after=a" && [ "$(jq -r .result.end_reason "$t/r/summary.json")" = "jobs done" ] &&
    [ "$(jq '.result.jobs[1].passes' "$t/r/summary.json")" = 2 ]
check "a background job may wait, too, and is not waited for"

same_bits "jobs that wait for each other"
same_bits "with traffic beside them" traffic.pattern=uniform traffic.load=0.3 run.end="20 us"
same_bits "with waits, noise and a critical path" output.waits=true output.critical_path="1 MB" node.noise.kind=periodic node.noise.period="3 us" node.noise.length="100 ns"
all_alike "a trace twice, behind another" configs/fat-tree-lammps.cfg jobs[0].processor_factor=0 jobs[0].repetitions=2 jobs[1].program=stencil jobs[1].extents=8 \
    jobs[1].name=first "jobs[0].after=first" "run.end=3 ms" output.tasks=true

cat >"$t/goal.cfg" <<'CFG'
topology = { kind = "star"; nodes = 64; bandwidth = "10 GB/s"; latency = "10 ns"; };
jobs = ( { name = "a"; program = "leanmd"; cells = [3, 3, 3]; }, { name = "b"; program = "pingpong"; } );
CFG
refused "there is no job 'x'" -o "$t/n" "$t/c.cfg" 'jobs[b].after=x'
check "a job that does not exist is refused"
refused "job 'a' waits for itself" -o "$t/n" "$t/c.cfg" 'jobs[a].after=a'
check "a job that waits for itself is refused"
refused "jobs\[0\].after: job 'a' waits for itself: in the end for one that begins after it" -o "$t/n" "$t/c.cfg" 'jobs[a].after=c'
check "and a ring"
refused "starts again and again" -o "$t/n" "$t/c.cfg" 'jobs[a].background=true' 'jobs[a].restart=true'
check "one that never ends is not waited for"
refused "is message-driven, whose end is not waited for" -o "$t/n" "$t/goal.cfg" 'jobs[b].after=a'
check "nor a message-driven one"
refused "jobs\[0\].after: is possible for programs of MPI" -o "$t/n" "$t/goal.cfg" 'jobs[a].after=b'
check "which does not wait, either"
same_bits_run
