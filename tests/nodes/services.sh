#!/bin/bash
# Services of the configuration: tests/nodes/services.sh
#
# Heartbeats on all nodes and on some, together with MPI and synthetic traffic: equal results on any number of ranks, saved and resumed;
# round trips to the picosecond; wrong keys are refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
shown=log
cd "$work" || exit 2

run() { # RANKS FOLDER WORDS...
    local ranks=$1 folder=$2
    shift 2
    if [ "$ranks" -eq 1 ]; then "$marssim" -q -o "$folder" "$@" >log 2>&1
    else mpirun -n "$ranks" "$marssim" -q -o "$folder" "$@" partition.oversubscribe=true >log 2>&1; fi
}
same() { # FOLDER FOLDER
    local file
    [ "$(jq -S .result "$1/summary.json")" = "$(jq -S .result "$2/summary.json")" ] || return 1
    for file in "$1"/*.csv; do cmp "$file" "$2/$(basename "$file")" >>log || return 1; done
}
has() { jq -e "$2" "$1/summary.json" >/dev/null || { jq -c .result.services "$1/summary.json" >>log; return 1; }; }

# Two nodes on one switch, 100 ns from it at 1 GB/s, 50 ns through it, packets with no header. A question of 64 B takes 64 ns onto each link
# and nothing overlaps but the cut-through of the switch: 64 + 100 + 50 + 100 = 314 ns; and so does the answer: 628 ns. 10 us with a period
# of 1 us: node 0 asks at 1 ps, 1 us + 1 ps, ..., ten times; node 1 half a period later. Its last question, at 9.5 us, has no answer in time.
cat >star.cfg <<'END'
topology: { kind = "star"; nodes = 2; bandwidth = "1 GB/s"; latency = "100 ns"; };
switch: { delay = "50 ns"; };
adapter: { header = "0 B"; };
services = ( { kind = "heartbeat"; period = "1 us"; } );
run: { end = "10 us"; };
END
run 1 star star.cfg && has star '.result.services == [{name: "heartbeat", kind: "heartbeat", nodes: 2, sent: 20, answers: 19,
    round_trip_mean_ps: 628000, round_trip_max_ps: 628000}]'
check "a round trip to the picosecond"
[ "$(cat star/service_heartbeat.csv)" = "node,next_node,sent,answers,round_trip_mean_ps,round_trip_max_ps
0,1,10,10,628000,628000
1,0,10,9,628000,628000" ]
check "its table"
# One node asks itself: 200 ns and 64 B at 10 GB/s, 206.4 ns, there and back.
run 1 self star.cfg 'services[0].nodes=1' && has self '.result.services[0] | .sent == 10 and .round_trip_max_ps == 412800'
check "a service of one node asks itself"
# The measured span ends at 4 us: nothing begins then, and the run drains.
run 1 drain star.cfg run.measure="4 us" && has drain '.result.services[0] | .sent == 8 and .answers == 8'
check "it stops with the measured span: the run drains"

cat >all.cfg <<'END'
topology: { kind = "torus"; extents = [3, 4]; bandwidth = "10 GB/s"; latency = "50 ns"; };
node: { cores = 2; };
adapter: { packet_size = "1 KiB"; };
jobs = ( { program = "stencil"; extents = [4, 4]; tasks_per_node = 2; steps = 8; bytes = "3 KiB"; compute_time = "2 us"; } );
traffic: { pattern = "uniform"; load = 0.2; size = "1500 B"; };
services = ( { kind = "heartbeat"; period = "1700 ns"; },
             { kind = "heartbeat"; name = "storage"; first_node = 1; every = 5; period = "3 us"; bytes = "5000 B"; } );
output: { matrix = true; period = "5 us"; };
run: { end = "40 us"; };
END
cp all.cfg rails.cfg
sed -i 's/cores = 2;/cores = 2; adapters = 2; rail = "stripe"; stripe_size = "2 KiB";/' rails.cfg
for system in all rails; do
    run 1 $system.1 $system.cfg &&
        has $system.1 '.result.services[0].answers > 150 and .result.services[1].nodes == 3 and .result.jobs[0].messages > 100'
    check "$system: MPI, traffic and two services share nodes"
    for ranks in 2 3 5; do
        run $ranks $system.$ranks $system.cfg && same $system.1 $system.$ranks
        check "$system: $ranks ranks"
    done
    for order in backward shuffled; do
        run 1 $system.o $system.cfg engine.cell_order=$order && same $system.1 $system.o
        check "$system: cells $order"
    done
    run 2 $system.saved $system.cfg run.checkpoint.at='13 us' run.checkpoint.dir=$system.dir && run 3 $system.resumed --resume $system.dir &&
        same $system.1 $system.resumed
    check "$system: saved by 2 ranks, resumed by 3"
done
# With the application alone it tells how much the services and the traffic cost it.
run 1 alone all.cfg 'services=()' && [ "$(jq '.result | has("services")' alone/summary.json)" = false ] && [ ! -e alone/service_heartbeat.csv ]
check "without services nothing is said of them"
run 1 all.1 all.cfg output.services=false && [ ! -e all.1/service_heartbeat.csv ] && [ ! -e all.1/service_storage.csv ]
check "output.services"
"$marssim" --list >log && grep -q "^services of nodes" log && grep -q "  heartbeat " log
check "--list has the kinds"

bad() { # MESSAGE WORDS...
    local message=$1
    shift
    "$marssim" -q -o bad all.cfg "$@" >log 2>&1
    [ $? -eq 2 ] && grep -q -F -- "$message" log
    check "refused: $message"
}
bad 'services[0].kind: "heart" is none of: heartbeat' 'services[0].kind=heart'
bad 'services[0].kind: is missing; it is one of heartbeat' 'services=({})'
bad 'services[1].name: services[0] has the name "heartbeat" already' 'services[1].name=heartbeat'
bad 'services[1].name: "a/b" names a file' 'services[1].name=a/b'
bad 'services[0].first_node: node 12 of 12' 'services[0].first_node=12'
bad 'services[1].nodes: 4 nodes, but there are only 3' 'services[1].nodes=4'
bad 'services[0].priority: class 1 of 1' 'services[0].priority=1'
bad 'services[0].period: too small' 'services[0].period=1 ps'
bad 'services: at most 14 services' "services=($(printf '{kind="heartbeat";name="s%d"},' {1..15}){})"
bad 'output.services: means nothing' 'services=()' output.services=false
printf 'topology: { kind = "star"; nodes = 2; bandwidth = "1 GB/s"; latency = "100 ns"; };\nservices = ( { kind = "heartbeat"; } );\n' >endless.cfg
"$marssim" -q -o bad endless.cfg >log 2>&1
[ $? -eq 2 ] && grep -q "run.end: services never end" log
check "a run without an end is refused"
