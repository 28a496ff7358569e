#!/bin/bash
# network.model = "loggops": times derived by hand, the same results on any number of ranks and in any order of processes, with every way
# of rendezvous and parameters down to 0, and what is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-script.sh
t=$work
cat >"$t/l.cfg" <<'CFG'
network: { model = "loggops"; };
jobs: ( { program = "trace"; format = "goal"; time_unit = "1 ps"; } );
CFG
run() { "$marssim" -q -o "$t/o" "$t/l.cfg" "$@" 2>"$t/err"; }
finish() { cut -d, -f3 "$t/o/tasks.csv" | tail -n +2 | tr '\n' ' '; }
small=("loggops.L=1000 ps" "loggops.o=10 ps" "loggops.g=20 ps" "loggops.G=1 ps" "loggops.O=2 ps" "loggops.S=10 B")
is() { # TIMES NAME
    local got; got=$(finish)
    verdict "$([ "$got" = "$1 " ] || echo "finish times are $got")" "$2"
}
cat >"$t/one.goal" <<'GOAL'
num_ranks 2
rank 0 {
c: calc 100
s: send 10b to 1 tag 3
s requires c
}
rank 1 {
recv 10b from 0 tag 3
}
GOAL
# o; arrival at 100 + o + L; o and nine bytes more
run jobs[0].trace="$t/one.goal" "${small[@]}"
is "128 1138" "an eager message"
run jobs[0].trace="$t/one.goal" "${small[@]}" "loggops.G=2.5 ps"
is "128 1142" "a fraction of a picosecond per byte, cut after the multiplication"
# The calculation begins with a detour of 100; the send at 200, which comes at 1210, and its reception meet none.
periodic=(loggops.noise.kind=periodic "loggops.noise.period=1000 ps" "loggops.noise.length=100 ps" loggops.noise.begin=same)
run jobs[0].trace="$t/one.goal" "${small[@]}" "${periodic[@]}"
is "228 1238" "noise with a period"
# The same 250 later in the period: at 250 and, when the message is there, at 1360 there is none. 950 later: one begins after 50 of the calculation,
# which ends at 200; the message is there at 1210, at 2160 of the period's clock.
run jobs[0].trace="$t/one.goal" "${small[@]}" "${periodic[@]}" "loggops.noise.phase=250 ps"
is "128 1138" "in another place of it"
run jobs[0].trace="$t/one.goal" "${small[@]}" "${periodic[@]}" "loggops.noise.phase=950 ps"
is "228 1238" "a detour within a calculation"
printf '# of a test\n0 0.1\n0.9\t0.1\n' >"$t/noise.txt"
run jobs[0].trace="$t/one.goal" "${small[@]}" loggops.noise.kind=trace loggops.noise.trace="$t/noise.txt" loggops.noise.begin=same
is "228 1238" "noise from a trace"
# Processes 0 and 1 in one node: the message is there at 100 + 3 + 100, and takes 3 + 9 x 4 there.
near=("loggops.classes[0].within=node" "loggops.classes[0].processes=2" "loggops.classes[0].L=100 ps" "loggops.classes[0].o=3 ps" "loggops.classes[0].O=4 ps")
run jobs[0].trace="$t/one.goal" "${small[@]}" "${near[@]}"
is "139 242" "parameters within a node"
run jobs[0].trace="$t/one.goal" "${small[@]}" "${near[@]}" "loggops.classes[0].processes=1"
is "128 1138" "which are not those between nodes"
sed 's/10b/100b/' "$t/one.goal" >"$t/long.goal"
# request: 110, 1110, taken in until 1120; answer until 1130; there at 2130; by write the sender takes it in until 2140, and sends until
# 2150 + 99 x 2; the data are there at 3150 and take 10 + 99 x 2. By read the adapter sends at 2130: data at 3130, and 10 + 1000 + 99 later
# the sender knows.
run jobs[0].trace="$t/long.goal" "${small[@]}" mpi.rendezvous=write
is "2348 3358" "rendezvous by write"
run jobs[0].trace="$t/long.goal" "${small[@]}" mpi.rendezvous=read
is "4239 3338" "rendezvous by read"
# The same with L = 100, o = 3, O = 4, G = 1 as it is: request 100 to 103, there at 203, taken in until 206, answered until 209; the adapter sends at
# 309: data at 409, and 3 + 99 x 4 more at the receiver; the sender knows 3 + 100 + 99 after 409.
run jobs[0].trace="$t/long.goal" "${small[@]}" mpi.rendezvous=read "${near[@]}"
is "611 808" "rendezvous within a node"
run jobs[0].trace="$t/long.goal" "${small[@]}" mpi.rendezvous=instant
is "1110 1318" "rendezvous in an instant, as LogGOPSim has it"
run jobs[0].trace="$t/long.goal" "${small[@]}" mpi.rendezvous=instant jobs[0].processor_factor=2.5 "jobs[0].start=1 ns"
is "2260 2468" "a slower processor, and a later start"
cat >"$t/cpus.goal" <<'GOAL'
num_ranks 1
rank 0 {
a: calc 10000 cpu 0
b: calc 100 cpu 1
b requires a
c: calc 50 cpu 0
c requires b
}
GOAL
run jobs[0].trace="$t/cpus.goal" "${small[@]}"
is "10150" "dependencies between cpus carry their time"
run jobs[0].trace="$t/cpus.goal" "${small[@]}" mpi.rendezvous=instant 'loggops.faults=["dependencies"]'
is "10050" "or do not, where LogGOPSim's faults are asked for"
sed 's/10b/0b/' "$t/one.goal" >"$t/none.goal"
run jobs[0].trace="$t/none.goal" "${small[@]}" mpi.rendezvous=instant
is "110 1120" "0 bytes cost what 1 byte costs"
run jobs[0].trace="$t/none.goal" "${small[@]}" mpi.rendezvous=instant 'loggops.faults=["zero_bytes"]'
is "108 1119" "or O and G less than nothing"
# The receive is posted at 2000, behind its message, whose sender waits for a size that it does not say: its calculation never runs.
printf 'num_ranks 2\nrank 0 {\na: send 20b to 1\nb: calc 9\nb requires a\n}\nrank 1 {\na: calc 2000\nb: recv 10b from 0\nb requires a\n}\n' >"$t/sizes.goal"
run jobs[0].trace="$t/sizes.goal" "${small[@]}" mpi.rendezvous=instant
is "2009 2048" "a message decides by its own size whether it waits"
run jobs[0].trace="$t/sizes.goal" "${small[@]}" mpi.rendezvous=instant 'loggops.faults=["sizes"]'
is "48 2048" "or its receive by its own"
run jobs[0].trace="$t/sizes.goal" "${small[@]}" mpi.rendezvous=instant 'loggops.faults=["sizes"]' "run.end=1 ns"
is " " "a run that ends before has no finish time"
cat >"$t/eight.awk" <<'AWK'
BEGIN {
    print "num_ranks 8"
    for (i = 0; i < 8; i++) {
        printf "rank %d {\n", i
        for (r = 0; r < 3; r++) {
            printf "s%d: send 180b to %d\nr%d: recv 180b from %d\n", r, (i + 2 ^ r) % 8, r, (i - 2 ^ r + 8) % 8
            if (r) printf "s%d requires r%d\ns%d requires s%d\nr%d requires r%d\nr%d requires s%d\n", r, r - 1, r, r - 1, r, r - 1, r, r - 1
        }
        print "}"
    }
}
AWK
awk -f "$t/eight.awk" >"$t/eight.goal"
run jobs[0].trace="$t/eight.goal" "loggops.L=0 ps" "loggops.o=50 ns" "loggops.g=100 ns" "loggops.G=6 ns"
is "3522000 3522000 3522000 3522000 3522000 3522000 3522000 3522000" "dissemination among eight: three times (2 o + 179 G)"

params=("loggops.L=1 ps|loggops.o=0 ps|loggops.g=0 ps|loggops.G=0 ps|loggops.S=65535 B" "loggops.L=0 ps|loggops.o=1 ps|loggops.S=100 MB"
    "loggops.L=2500 ns|loggops.o=1500 ns|loggops.g=1000 ns|loggops.G=0.04 ns|loggops.O=0.3 ps|loggops.S=0 B|loggops.noise.kind=periodic|loggops.noise.period=50 us|loggops.noise.length=7 us"
    "loggops.L=0 ps|loggops.o=0 ps|loggops.g=0 ps|loggops.G=0 ps|loggops.S=1 B" "loggops.L=100 s|loggops.o=3 ps|loggops.g=7 us|loggops.S=100 B|loggops.classes[0].within=core|loggops.classes[0].processes=2|loggops.classes[0].L=3 us|loggops.classes[0].g=1 ns|loggops.classes[1].within=rack|loggops.classes[1].processes=6|loggops.classes[1].G=0.7 ns|loggops.classes[1].o=2 us")
for ((seed = 1; seed <= ${SEEDS:-10}; seed++)); do
    awk -v seed="$seed" -f tests/tasks/goal/random.awk >"$t/r.goal"
    IFS='|' read -ra p <<<"${params[seed % 5]}"
    way=$(cut -d' ' -f$((seed % 3 + 1)) <<<"read write instant")
    why=
    run jobs[0].trace="$t/r.goal" "${p[@]}" mpi.rendezvous=$way || why="one rank: exit status $?"
    cp "$t/o/tasks.csv" "$t/one.csv" && jq -S .result "$t/o/summary.json" >"$t/one.json"
    for n in 2 3 5; do
        order=$(cut -d' ' -f$((n % 3 + 1)) <<<"forward backward shuffled")
        timeout 60 mpirun -n $n "$marssim" -q -o "$t/o" "$t/l.cfg" jobs[0].trace="$t/r.goal" "${p[@]}" mpi.rendezvous=$way engine.cell_order=$order \
            partition.oversubscribe=true partition.bind=no 2>"$t/err" || why+=" $n ranks: exit status $?"
        cmp -s "$t/one.csv" "$t/o/tasks.csv" && cmp -s "$t/one.json" <(jq -S .result "$t/o/summary.json") || why+=" $n ranks differ"
    done
    verdict "$why" "random schedule $seed ($way, ${params[seed % 5]//|/, }): the same on 1, 2, 3, 5 ranks"
done

refuses() { # STATUS WORDS NAME ARGUMENTS
    ends "$1" "$2" "$marssim" -q -o "$t/o" "$t/l.cfg" "${@:4}"
    check "$3"
}
printf 'num_ranks 2\nrank 0 {\nrecv 10b from 1 tag 7\n}\nrank 1 {\nsend 5b to 0 tag 8\n}\n' >"$t/stuck.goal"
refuses 1 "task 0: its receive got no message: from task 1, tag 7, 10 bytes (.*stuck.goal:3)" "a receive without a message is named" jobs[0].trace="$t/stuck.goal"
refuses 1 "task 0: no receive took the message: from task 1, tag 8, 5 bytes" "and a message without a receive" jobs[0].trace="$t/stuck.goal"
head -n 3 "$t/stuck.goal" >"$t/cut.goal"
refuses 2 "cut.goal:3" "a schedule that ends in the middle" jobs[0].trace="$t/cut.goal"
refuses 2 "loggops.G.*no time per byte" "a time per byte without a unit" jobs[0].trace="$t/one.goal" loggops.G=6x
printf '5 1\n4 1\n' >"$t/noise.txt"
refuses 2 "noise.txt:2: a detour begins before" "noise that goes back" jobs[0].trace="$t/one.goal" loggops.noise.kind=trace loggops.noise.trace="$t/noise.txt"
refuses 2 "classes.0..processes: is missing" "a class without a size" jobs[0].trace="$t/one.goal" loggops.classes[0].within=rack
refuses 2 "no multiple of 2" "classes that cut each other" jobs[0].trace="$t/one.goal" "${near[@]}" loggops.classes[1].within=rack loggops.classes[1].processes=3
refuses 2 "the order" "classes in the wrong order" jobs[0].trace="$t/one.goal" "${near[@]}" loggops.classes[1].within=core loggops.classes[1].processes=4
refuses 2 "no time per byte" "a class's time per byte" jobs[0].trace="$t/one.goal" "${near[@]}" loggops.classes[0].G=1
"$marssim" --check "$t/l.cfg" jobs[0].trace="$t/one.goal" >"$t/out" 2>"$t/err"
verdict "$(grep -q "^expected   about 4 events, of 1 messages with 10 B: .* of memory" "$t/out" || cat "$t/out" "$t/err")" "--check says how much there is to do"
refuses 2 "loggops.faults.*instant" "faults where rendezvous takes time" jobs[0].trace="$t/one.goal" 'loggops.faults=["sizes"]'
refuses 2 "loggops.faults.*critical_path" "faults beside what looks at times" jobs[0].trace="$t/one.goal" mpi.rendezvous=instant 'loggops.faults=["sizes"]' "output.critical_path=1 MB"
refuses 2 "mpi.rendezvous.*GOAL" "faults beside other programs" jobs[0].trace="$t/one.goal" mpi.rendezvous=instant 'loggops.faults=["sizes"]' jobs[1].program=leanmd "jobs[1].cells=[3, 3, 3]"
refuses 2 "dependencies, zero_bytes" "a fault that there is not" jobs[0].trace="$t/one.goal" mpi.rendezvous=instant 'loggops.faults=["all"]'
refuses 2 "network.model" "the model's keys with packets" jobs[0].trace="$t/one.goal" network.model=packet "loggops.L=1 ns"
refuses 2 "traffic.pattern" "traffic" jobs[0].trace="$t/one.goal" traffic.pattern=uniform
refuses 2 "output.waits" "what is not collected with this model" jobs[0].trace="$t/one.goal" output.waits=true
refuses 2 "jobs\[0\].time_unit.*means nothing" "a key of schedules in what is said to be a trace" jobs[0].trace="$t/one.goal" jobs[0].format=mars "jobs[0].time_unit=1 ns"
star=(network.model=packet topology.kind=star topology.nodes=2 "topology.bandwidth=1 GB/s" "topology.latency=1 ns")
refuses 2 "instant" "instant rendezvous over packets" "${star[@]}" jobs[0].program=pingpong mpi.rendezvous=instant
# Two tasks that send beyond S before they receive: each kind of rendezvous names the operations by file and line.
cat >"$t/two.goal" <<'END'
num_ranks 2
rank 0 {
s: send 100000b to 1 tag 0
r: recv 100000b from 1 tag 0
r requires s
}
rank 1 {
s: send 100000b to 0 tag 0
r: recv 100000b from 0 tag 0
r requires s
}
END
for kind in instant read write; do
    ends 1 "task 0: its operation never ran (.*two.goal:4)" "$marssim" -q -o "$t/o" "$t/l.cfg" jobs[0].trace="$t/two.goal" mpi.rendezvous=$kind loggops.S=65535B &&
        grep -q "task 1: its operation never ran (.*two.goal:9)" "$work/err"
    check "what cannot continue is named by file and line, rendezvous by $kind"
done

# What --check says of memory is what the run takes, whatever is in flight at once: within a quarter.
cat >"$t/many.cfg" <<'END'
network: { model = "loggops"; };
mpi: { rendezvous = "instant"; };
jobs: ( { program = "schedule"; pattern = "stencil"; sides = [64, 64, 48]; timesteps = 3; datasize = "8 KiB"; } );
output: { tasks = false; };
END
if [ "${TEST_PATIENCE:-1}" -eq 1 ] && command -v jq >/dev/null; then
    for keys in "loggops.G=6ns" "loggops.G=0.04ns" "loggops.G=0.04ns jobs[0].timestep=100us" "mpi.rendezvous=read loggops.S=1KiB"; do
        said=$("$marssim" --check=json "$t/many.cfg" $keys | jq '.expected.memory_bytes / 1e6 | round')
        "$marssim" -q -o "$t/o" "$t/many.cfg" $keys >"$work/out" 2>"$work/err"
        used=$(jq '.run.peak_rss_bytes / 1e6 | round' "$t/o/summary.json")
        verdict "$([ $((4 * said)) -ge $((3 * used)) ] && [ $((3 * said)) -le $((4 * used)) ] || echo "$said MB said, $used used")" "memory is what --check says: $keys"
    done
fi
[ "$number" -gt 0 ]
