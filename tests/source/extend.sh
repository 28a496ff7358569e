#!/bin/bash
# CONTRIBUTING's recipes, done: tests/source/extend.sh
#
# A copy of the tree gets a kind of each sort: one new file of tests/source/extend, which is where it would be in the tree, and one
# line in a table; a panel of the page is a file alone. What changed is built, and the kinds run on 1 and 3 ranks with equal results.
set -u
cd "$(dirname "$0")/../.." || exit 2
program=$(readlink -f "${MARSSIM:-./marssim}")
built=$(dirname "$program")
[ -e "$built/flags" ] || { echo "SKIP: the program is not where it was built"; exit 0; }
case $built in *sanitize*) echo "SKIP: built without sanitisers already"; exit 0 ;; esac
. tests/lib-script.sh
shown=$work/log

mkdir -p "$work/build/release"
cp -pR Makefile marssim.c kernel stats routing partition net traces nodes storage tasks run plugin tools "$work"
(cd "$built" && tar cf - --exclude=tests --exclude=marssim .) | tar xf - -C "$work/build/release"
cp -R tests/source/extend/* "$work"
mkdir -p "$work/tests/source" && cp -R tests/source/extend "$work/tests/source"
cd "$work" || exit 2
line() { # FILE TABLE KIND: one line in a table
    sed -i "s/^#define $2(KIND)/& KIND($3)/" "$1" && grep -q "KIND($3)" "$1" && echo "$3" >>kinds
}
line routing/route.c TOPOLOGIES route_line
line tasks/traffic/traffic.c PATTERNS task_pattern_mirror
line tasks/traffic/time.c ARRIVALS task_arrival_even
line net/settings.c SELECTIONS net_select_by_source
line tasks/jobs/placement_read.c PLACEMENTS task_placement_backward
line tasks/traffic/size.c LAWS task_size_two
line tasks/jobs/options.c PROGRAMS task_program_relay
line tasks/jobs/options.c PROGRAMS task_program_script
line tasks/mpi/collectives/collective.c ALGORITHMS task_coll_kind_token
line net/settings.c ARBITERS net_arbiter_shortest
line net/settings.c LANES net_lanes_turns
line net/congestion/congestion.c METHODS net_congestion_pace
line partition/partition.c METHODS part_dealt
line nodes/services.c SERVICES node_rumour
[ "$(wc -l <kinds)" -eq 14 ] && [ "$(wc -l <kinds)" -eq "$(find tests/source/extend -name '*.c' | wc -l)" ]
check "one line in each table"
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u EXTRA make BUILD=build/release build/release/marssim >log 2>&1
check "it is built"
marssim=$work/build/release/marssim

equal() { # NAME FILE WORDS...: 1 and 3 ranks
    local name=$1
    shift
    "$marssim" -q -o one "$@" >log 2>&1 && mpirun -n 3 "$marssim" -q -o three "$@" partition.oversubscribe=true >log 2>&1 &&
        [ "$(jq -S .result one/summary.json)" = "$(jq -S .result three/summary.json)" ] && cmp -s one/links.csv three/links.csv &&
        [ "$(jq .result.packets_delivered one/summary.json)" -gt 20 ]
    check "$name: 1 and 3 ranks"
}
cat >line.cfg <<'END'
topology: { kind = "line"; length = 11; bandwidth = "10 GB/s"; latency = "50 ns"; };
traffic: { pattern = "mirror"; every = 3; load = 0.3; arrival = "even"; };
run: { end = "20 us"; };
END
equal "a topology, a pattern, an arrival" line.cfg
cat >tree.cfg <<'END'
topology: { kind = "fat_tree"; down = [4, 4]; up = [1, 2]; bandwidth = "10 GB/s"; latency = "50 ns"; };
routing: { algorithm = "adaptive"; selection = "by_source"; };
jobs = ( { program = "stencil"; extents = [10]; steps = 5; placement = "backward"; first_node = 2; } );
END
equal "a path selection, a placement" tree.cfg
cat >congested.cfg <<'END'
topology: { kind = "torus"; extents = [3, 3]; bandwidth = "1 GB/s"; latency = "50 ns"; };
traffic: { pattern = "hotspot"; hotspots = [0]; load = 0.9; size_law = "two"; small = "200 B"; };
switch: { arbitration = "shortest"; };
congestion: { control = "pace"; pace = "700 ns"; };
partition: { method = "dealt"; };
run: { end = "30 us"; };
END
equal "a size law, an arbiter, a congestion control, a partition" congested.cfg
"$marssim" -q -o other congested.cfg switch.arbitration=round_robin >log 2>&1 && ! cmp -s one/links.csv other/links.csv &&
    "$marssim" -q -o other congested.cfg congestion.pace="0 ns" >log 2>&1 && ! cmp -s one/links.csv other/links.csv
check "and each of them counts"
mpirun -n 3 "$marssim" --check congested.cfg partition.oversubscribe=true >log 2>&1 && grep -q " 9 links cut" log
check "the partition cuts every link in the first dimension"
saved() { # NAME FILE: saved in the middle by 3 ranks, and resumed by 2
    rm -rf dir && mpirun -n 3 "$marssim" -q -o part "$2" partition.oversubscribe=true run.checkpoint.at="$3" run.checkpoint.dir=dir >log 2>&1 &&
        mpirun -n 2 "$marssim" -q -o resumed --resume dir partition.oversubscribe=true >log 2>&1 &&
        [ "$(jq -S .result one/summary.json)" = "$(jq -S .result resumed/summary.json)" ] && cmp -s one/links.csv resumed/links.csv
    check "$1: saved by 3 ranks, resumed by 2"
}
saved "a congestion control" congested.cfg "14 us"
# Two jobs of two classes send all they have over one link: of its time the lanes have 1/4 and 3/4, whoever sends more.
cat >lanes.cfg <<'END'
topology: { kind = "star"; nodes = 5; bandwidth = "1 GB/s"; latency = "50 ns"; };
switch: { channels = 1; classes = 2; lanes = "turns"; weights = [1, 3]; output_queue = "2 KiB"; };
adapter: { packet_size = "2 KiB"; header = "0 B"; };
node: { cores = 2; };
mpi: { eager_limit = "100 MB"; };
jobs = ( { name = "low"; program = "script"; script = "low.txt"; placement = "file"; placement_file = "low.nodes"; },
         { name = "high"; program = "script"; script = "high.txt"; placement = "file"; placement_file = "high.nodes"; priority = 1; } );
END
printf '0 send 1 8192000\n1 recv 0\n' >low.txt
printf '0 send 1 8192000\n1 recv 0\n' >high.txt
printf '0\n4\n' >low.nodes; printf '1\n4\n' >high.nodes
equal "arbitration among lanes" lanes.cfg
jq -e '[.result.jobs[].finish_ps / 1e9] | .[0] > 16.3 and .[0] < 16.5 and .[1] > 10.8 and .[1] < 11.1' one/summary.json >log
check "the lanes have 1/4 and 3/4 of the link"
saved "arbitration among lanes" lanes.cfg "3 ms"
cat >jobs.cfg <<'END'
topology: { kind = "star"; nodes = 12; bandwidth = "1 GB/s"; latency = "50 ns"; };
node: { cores = 4; };
mpi: { collectives: { allreduce = "token"; }; };
jobs = ( { program = "relay"; tasks = 7; laps = 3; bytes = "3 KiB"; }, { program = "script"; script = "calls.txt"; first_node = 2; },
         { program = "stencil"; extents = [3]; steps = 4; allreduce_every = 1; allreduce_bytes = "1 KiB"; } );
services = ( { kind = "rumour"; }, { kind = "rumour"; name = "slow"; every = 2; fan = 1; } );
END
printf '%s\n' '# two tasks' '0 send 1 10000' '1 compute 5000' '1 recv 0' '1 send 0 1' '0 recv 1' >calls.txt
equal "a program, a trace format, a service" jobs.cfg
jq -e '.result | .jobs[0].messages == 21 and .jobs[1].messages == 2 and .jobs[2].messages == 48 and .services[0].told == 24 and .services[1].nodes == 6 and .services[1].told == 6' \
    one/summary.json >log && cmp one/service_rumour.csv three/service_rumour.csv
check "what they have done"
saved "a program, a trace format, a service" jobs.cfg "6 us"
printf '0 send 1 x\n' >calls.txt
"$marssim" -q -o bad jobs.cfg >log 2>&1
[ $? -eq 2 ] && grep -q 'calls.txt:1: how many bytes' log
check "a trace is refused by its line"
"$marssim" --help-config topology.length >log && grep -q "only with topology.kind = line" log
check "its key is explained"
"$marssim" -q line.cfg topology.kind=star >log 2>&1
[ $? -eq 2 ] && grep -q 'topology.nodes: is missing' log
check "and means nothing with another kind"
"$marssim" --list >log && for kind in line mirror even by_source backward two relay script token shortest pace dealt rumour; do
    grep -q "  $kind " log || echo "$kind"
done >missing && [ ! -s missing ]
check "--list has all"
for kind in line mirror relay token rumour; do "$marssim" --schema | grep -q "\"$kind\"" || echo "$kind"; done >missing && [ "$(cat missing)" = token ]
check "--schema has those that keys choose"
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u EXTRA make BUILD=build/release build/release/marsreport >log 2>&1 &&
    [ "$(grep -c '^  CC' log)" -lt 40 ] && build/release/marsreport -o page.html one >log 2>&1 &&
    [ "$(grep -oE '^ *id: "(topology|adapters|links)"' page.html | cut -d'"' -f2 | tr '\n' ' ')" = "topology adapters links " ] &&
    [ "$(grep -o '<script id="marssim-data" type="application/json">[^<]*' page.html | sed 's/^<[^>]*>//' | jq '.runs[0].links.rows | length')" -eq "$(($(wc -l <one/links.csv) - 1))" ]
check "a panel of the page, in its place and with its table"
