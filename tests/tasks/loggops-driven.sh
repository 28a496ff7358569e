#!/bin/bash
# Message-driven programs with network.model = "loggops": times derived by hand, the same results on any number of ranks and after --resume, beside
# programs of MPI and schedules, and what is refused.
#
# A message of n bytes takes o = 1500 ns of its sender's cpu, is at its receiver o + L = 4000 ns after its begin, and takes the cpu there for
# o + (n - 1) 6 ns as soon as that is free: 1000 bytes 7494 ns, 8 bytes 1542 ns, a control message of 32 bytes 1686 ns.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
. tests/lib-driven.sh
cat >"$t/one.cfg" <<'CFG'
network: { model = "loggops"; };
loggops: { L = "2500 ns"; o = "1500 ns"; g = "1000 ns"; G = "6 ns"; O = "0 ns"; S = "100 B"; };
jobs: ( { program = "trace"; format = "driven"; } );
CFG
program_run() { run -o "$t/o" "$t/one.cfg" "$@"; }
# 4 us of the block, 1.5 for the message, 6 more; it comes at 8 us and is in at 15.494: longer than loggops.S it waits for nobody.
is "11500000 18494000" "a message takes the cpu of both" <<<"$one"
verdict "$([ "$(column overhead_ps driven_cores)$(column busy_ps driven_cores)$(column wait_ps)" = "1500000 7494000 10000000 3000000 0 8000000 " ] ||
    cat "$t/o/driven_cores.csv")" "time is in blocks, for messages, or waited"
# From 1 us: 8 of the block, the message comes at 13 and is in at 20.494.
is "22500000 26494000" "a slower processor, and a later start" jobs[0].processor_factor=2 "jobs[0].start=1 us" <<<"$one"
# At its end: the block is done when the message has left; O is the sender's, too. 10 us + 1.5 + 999 x 2; it comes at 14 us.
is "13498000 24494000" "a block ends when its last message has left" "loggops.O=2 ns" <<<"${one/4us/10us}"
is "13000000" "a message on one core: there at once, and costs nothing" <<<"$(sed 's/tasks 2/tasks 1/; s/on 1/on 0/' <<<"$one")"
# At 20 us two messages have come, at 8 and at 14.5. The cpu takes in both, until 34.988, then the more urgent one's block is first, 2 us and 1.5 for
# its answer; then the other. The answer comes at 40.988 and is in at 42.53.
is "47530000 41488000" "a core takes in what has come, then chooses" <<<"$two"
is "50530000 41488000" "what is alike comes in its order" <<<"${two//priority -1/priority 2}"
# Each tells the other its load: task 1, which has nothing, at 0: that is in at 5.686 us. Then task 0 sends its object, which comes at 9.686 and is in
# at 17.18, and how many those are when its adapter is free again, 6.994 us later: that comes at 16.68, before the object's core has its turn, and
# takes the cpu until 18.866; then 1 us.
is "1000000 19866000" "a balance step: rotate" <<'END'
driven 1
tasks 2
iterations 2
balance every 1 rotate
entry w
object a on 0 bytes 1000B
block s entry w time 1us
END

# ---- the same bits ----

cat >"$t/md.cfg" <<'CFG'
network: { model = "loggops"; };
loggops: { S = "1 kB"; };
jobs: ( { program = "leanmd"; cells = [4, 3, 5]; tasks = 60; atoms = 2000; steps = 6; gradient = 1.0; balance_every = 2; compute_jitter = "300 ns"; name = "md"; },
        { program = "stencil"; extents = [12]; steps = 5; bytes = "3 kB"; compute_time = "20 us"; name = "mpi"; },
        { program = "schedule"; pattern = "dissemination"; commsize = 9; datasize = 4000; start = "30 us"; name = "goal"; } );
output: { series: { jobs = "periods"; tasks = "periods"; matrix = "periods"; }; period = "50 us"; timeline = ["perfetto", "paraver"]; matrix = true; matrix_levels = ["task"]; };
CFG
all_alike "molecules, balanced, beside MPI and a schedule" "$t/md.cfg"
verdict "$(awk -F, 'NR > 1 {came += $12; went += $13} END {if (came != went || came < 20) print came " came, " went " went"}' "$t/one/driven_cores.csv")" "objects have moved"
jq -e '[.traceEvents[] | select(.name == "interact" or .name == "integrate" or .name == "wait") | .name] | unique | length == 3' "$t/one/timeline.json" >"$t/jq"
check "the timeline shows entry methods and waits"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["wait_ps"] < 0 || $at["wait_ps"] + $at["compute_ps"] > $at["finish_ps"] { exit 1 }' "$t/one/tasks.csv"
check "no time is counted twice"
jobs='jobs=({program="leanmd";cells=[3,3,4];tasks=20;tasks_per_node=4;placement="random";atoms=900;steps=4;balance_every=1;balance="rotate";computes="near";})'
all_alike "molecules, rotated, on nodes, noise" "$t/md.cfg" "$jobs" node.cores=4 loggops.nodes=6 'loggops.classes=({within="node";L="300 ns";o="100 ns";})' \
    'loggops.noise.kind="periodic"' 'loggops.noise.period="50 us"' 'loggops.noise.length="2 us"'
jobs='jobs=({program="leanmd";cells=[3,3,4];atoms=900;steps=4;balance_every=2;start="7 us";})'
all_alike "molecules, o = 0, G of fractions" "$t/md.cfg" "$jobs" "loggops.o=0 ns" "loggops.g=3 us" "loggops.G=0.04 ns" "loggops.O=0.3 ns"
all_alike "molecules, nothing costs anything but L" "$t/md.cfg" "$jobs" "loggops.L=1 ps" "loggops.o=0 ns" "loggops.g=0 ns" "loggops.G=0 ns"
all_alike "molecules, nothing costs anything" "$t/md.cfg" "$jobs" "loggops.L=0 ps" "loggops.o=0 ns" "loggops.g=0 ns" "loggops.G=0 ns"

# ---- what waits for ever ----

printf 'driven 1\ntasks 2\nentry w\nobject here on 0\nblock x entry w\nblock y entry w after x\nsend 1B to there.z\nobject there on 1\nblock z entry w\nsend 1B to here.x\n' >"$t/ring"
for n in 1 2; do
    ranks $n -o "$t/o" "$t/one.cfg" jobs[0].trace="$t/ring"
    [ $? -eq 1 ] && grep -q '2 objects wait for messages' "$t/err" && grep -q ' here .* 5 .*block x, iteration 0: 0 of 1 messages have come' "$t/err"
    check "objects that wait for ever are named, on $n"
done
refuses() { # WORDS NAME ARGUMENTS
    refused "$1" -o "$t/r" "$t/md.cfg" "${@:3}"
    check "refused: $2"
}
refuses "node.send_overhead: means nothing" "overheads of the packet model" "$jobs" "node.send_overhead=1 us"
refuses "mpi.rendezvous.*instant" "rendezvous in an instant" "$jobs" mpi.rendezvous=instant
refuses "output.waits: message-driven jobs make no calls" "waits in calls of MPI" "$jobs" output.waits=true
refuses "output.critical_path" "a critical path" "$jobs" "output.critical_path=1 MB"
[ "$number" -gt 0 ]
