#!/bin/bash
# output.preset = "page": it is its keys, of which those that are given stay, and those that mean nothing are left out; the same on any number of ranks.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh

cat >"$t/c.cfg" <<'END_CFG'
topology: { kind = "torus"; extents = [3, 3]; bandwidth = "10 GB/s"; latency = "100 ns"; };
jobs = ( { name = "a"; program = "stencil"; extents = [3, 2]; steps = 4; bytes = "9 kB"; compute_time = "2 us"; allreduce_every = 2; },
         { name = "b"; program = "pingpong"; steps = 20; } );
output: { preset = "page"; period = "3 us"; };
END_CFG
sed 's/preset = "page"/calls = true; waits = true; critical_path = "16 MiB"; matrix = true; links_by_job = true; timeline = "perfetto"; timeline_bytes = "16 MiB"/' \
    "$t/c.cfg" >"$t/long.cfg"
series=(output.series.latency=total)
for kind in links switches adapters jobs traffic functions; do series+=("output.series.$kind=periods"); done
run -o "$t/a" "$t/c.cfg" && run -o "$t/b" "$t/long.cfg" "${series[@]}" && alike "$t/a" "$t/b" && [ -s "$t/a/links_by_job_series.csv" ]
check "it is its keys"
run -o "$t/a" "$t/c.cfg" output.waits=false output.matrix=false output.series.links=off && [ ! -e "$t/a/waits.csv" ] && [ ! -e "$t/a/critical_path.csv" ] &&
    [ ! -e "$t/a/matrix.csv" ] && [ ! -e "$t/a/link_series.csv" ] && [ -e "$t/a/switch_series.csv" ] &&
    run -o "$t/a" "$t/c.cfg" output.calls=false && [ ! -e "$t/a/function_series.csv" ] && [ -e "$t/a/switch_series.csv" ]
check "keys that are given stay, and what needs them goes"
sed 's/ period = "3 us";//' "$t/c.cfg" >"$t/once.cfg"
run -o "$t/a" "$t/once.cfg" && ! compgen -G "$t/a/*_series.csv" >"$t/err" && [ -s "$t/a/links_by_job.csv" ] && [ -s "$t/a/critical_path.csv" ]
check "no series without output.period"
run -o "$t/a" "$t/c.cfg" network.model=loggops && [ ! -e "$t/a/links_by_job.csv" ] && [ -s "$t/a/functions.csv" ]
check "LogGOPS: what means something there"
sed '/^jobs/,/^ /d' "$t/c.cfg" >"$t/traffic.cfg"
run -o "$t/a" "$t/traffic.cfg" traffic.pattern=uniform traffic.load=0.1 "run.end=9 us" && [ -s "$t/a/link_series.csv" ] && [ ! -e "$t/a/tasks.csv" ]
check "traffic alone"
"$m" --check "$t/c.cfg" output.waits=false >"$t/said" 2>"$t/err" && tr -s ' \n' ' ' <"$t/said" | grep -q 'preset output.preset = "page": .series.latency .matrix .links_by_job .calls .waits .timeline .timeline_bytes .series.links .* more instructions' &&
    grep -q 'links_by_job_series.csv gets' "$t/said"
check "--check names what is on and what it costs"
run -o "$t/a" "$t/c.cfg" output.preset=pages && false || grep -q 'output.preset: "pages" is none of: none, page' "$t/err"
check "another word is refused"
same_bits "the same bits"
