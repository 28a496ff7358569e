#!/bin/bash
# GOAL schedules above the packet network: times derived by hand, the same results on any number of ranks, in any order of cells and after
# checkpoints in the middle, a trace beside the schedule that is made of it, and what is refused.
#
# On the star a message of n bytes, one packet, leaves its adapter L = (n + 32) x 100 ps after it was sent and arrives W = L + 1050 ns after.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
cat >"$t/star.cfg" <<'CFG'
topology: { kind = "star"; nodes = 12; bandwidth = "10 GB/s"; latency = "500 ns"; };
jobs: ( { program = "trace"; format = "goal"; time_unit = "1 ps"; } );
partition: { bind = "no"; adapt = false; oversubscribe = true; };
CFG
star() { run -o "$t/o" "$t/star.cfg" "$@"; }
column() { awk -F, -v name="$1" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) at = i; next} {printf "%s ", $at}' "$t/o/tasks.csv"; }
is() { # TIMES NAME GOAL ARGUMENTS...: the schedule, from standard input, ends at these times
    local got
    cat >"$t/$3"
    star jobs[0].trace="$t/$3" "${@:4}"
    got=$(column finish_ps)
    verdict "$([ "$got" = "$1 " ] || echo "finish times are $got")" "$2"
}

one='num_ranks 2
rank 0 {
c: calc 100000
s: send 1000b to 1 tag 3
s requires c
}
rank 1 {
r: recv 1000b from 0 tag 3
d: calc 5000
e: calc 7000
e requires r
}'
# L = 103.2 ns and W = 1153.2 ns behind the calculation; e is the last.
is "203200 1260200" "a message behind a calculation" one.goal <<<"$one"
# The send takes the cpu 100 ns, the message the other one 200 ns.
is "303200 1560200" "overheads" one.goal "node.send_overhead=100 ns" "node.receive_overhead=200 ns" <<<"$one"
# RTS, READ and FIN have no payload: W(0) = 1053.2 ns. The message is there 2 W(0) + W(1000) after the send began, its sender knows W(0) later.
is "4412800 3366600" "rendezvous by read" one.goal "mpi.eager_limit=999 B" <<<"$one"
# RTS, CTS, then the message, which is done when it has left: 2 W(0) + L.
is "2309600 3366600" "rendezvous by write" one.goal "mpi.eager_limit=999 B" mpi.rendezvous=write <<<"$one"
is "100000 1260200" "a buffered send is done at once" one.goal mpi.eager_completion=buffered <<<"$one"
is "350000 1520700" "a slower processor, and a later start" one.goal jobs[0].processor_factor=2.5 "jobs[0].start=100 ns" mpi.eager_completion=buffered <<<"$one"
# The message is there at 1153.2 ns, and has its end when the cpu has done the calculation of 5 us; d then takes it. On a cpu of its own it
# has it at once, and d begins at 1153.2 ns.
two='num_ranks 2
rank 0 {
send 1000b to 1 tag 3
}
rank 1 {
r: recv 1000b from 0 tag 3CPU
c: calc 5000000
d: calc 1000 cpu 1
d requires r
}'
is "103200 5001000" "a receive does not keep its cpu; its end needs it" two.goal <<<"${two//CPU/}"
is "103200 5000000" "cpus work side by side" two.goal <<<"${two//CPU/ cpu 1}"
# b, on the other cpu, begins with a, and c, on the same one, behind it: a is the longest. What becomes ready at once begins in the order
# send, receive, calculation: the send is first, then the calculations in the order of the file.
is "12000 0" "begun, and done" begun.goal <<'GOAL'
num_ranks 2
rank 0 {
a: calc 10000
b: calc 9000 cpu 1
b irequires a
c: calc 2000
c irequires a
d: calc 1000 cpu 1
d requires b
}
rank 1 {
}
GOAL
is "104200 1154200" "sends before calculations" order.goal "node.send_overhead=1 ns" <<'GOAL'
num_ranks 2
rank 0 {
calc 5000
calc 2000
send 1000b to 1
}
rank 1 {
recv 1000b from 0
}
GOAL
# The first to come is the one that has computed less, whoever is named first; the second W after its 3 us.
is "4157200 3103200 1103200 2103200" "any source: in the order of arrival, and any tag" any.goal "node.receive_overhead=1 ns" <<'GOAL'
num_ranks 4
rank 0 {
a: recv 1000b from -1 tag -1
b: recv 1000b from -1 tag -1
c: recv 1000b from -1 tag -1
d: calc 3000
d requires a
d requires b
d requires c
}
rank 1 {
c: calc 3000000
s: send 1000b to 0 tag 7
s requires c
}
rank 2 {
c: calc 1000000
s: send 1000b to 0 tag 8
s requires c
}
rank 3 {
c: calc 2000000
s: send 1000b to 0 tag 9
s requires c
}
GOAL
verdict "$([ $number -gt 0 ] || echo none)" "cases ran"

# ---- LogGOPS' overheads ----

# o = 1.5 us and 999 x 0.1 ns keep the sender's cpu; the message goes after o. W later it is there, and takes o and 999 x 0.2 ns.
over=("loggops.o=1500 ns" "loggops.g=1 us" "loggops.G=0.2 ns" "loggops.O=0.1 ns" "loggops.S=65535 B")
with=(mpi.overheads=loggops mpi.eager_completion=buffered "${over[@]}")
is "1699900 4460000" "o, G and O of an eager message" one.goal "${with[@]}" <<<"$one"
# RTS leaves at 100 + 1500 ns; it, READ and the message take 2 W(0) + W(1000), FIN W(0). The message takes o and 999 x 0.2 ns.
is "5912800 6566400" "and of a longer one" one.goal "${with[@]}" loggops.S=999B <<<"$one"
# The second message may leave g + 999 G = 3001 ns behind the first (3050.999 ns; W(500) = 1103.2 ns), and is taken as long after it as that was
# (1203.2 ns), with o and 499 G.
is "100000 4254698" "the adapter's gap" gap.goal "${with[@]}" "loggops.o=50 ns" "loggops.g=3 us" "loggops.G=0.001 ns" "loggops.O=0 ns" <<'GOAL'
num_ranks 2
rank 0 {
a: send 1000b to 1
b: send 500b to 1
b requires a
}
rank 1 {
a: recv 1000b from 0
b: recv 500b from 0
}
GOAL
# Where messages do not meet in the network LogGOPS with L = W has the same times.
both() { # NAME BYTES: of p.goal
    local l=$((1050000 + ($2 + 32) * 100)) got
    star jobs[0].trace="$t/p.goal" "${with[@]}" && got=$(column finish_ps)
    "$marssim" -q -o "$t/o" network.cfg jobs[0].trace="$t/p.goal" "loggops.L=$l ps" "${over[@]}" 2>"$t/err"
    verdict "$([ "$got" ] && [ "$got" = "$(column finish_ps)" ] || echo "$got, $(column finish_ps)")" "$1: as with LogGOPS"
}
cd "$t" || exit 2
printf 'network: { model = "loggops"; };\njobs: ( { program = "trace"; format = "goal"; time_unit = "1 ps"; } );\n' >network.cfg
awk 'BEGIN { # dissemination among eight
    print "num_ranks 8"
    for (i = 0; i < 8; i++) {
        print "rank " i " {"
        for (r = 0; r < 3; r++) {
            print "s" r ": send 180b to " (i + 2 ^ r) % 8 "\nr" r ": recv 180b from " (i - 2 ^ r + 8) % 8
            if (r) print "s" r " requires r" r - 1 "\ns" r " requires s" r - 1 "\nr" r " requires r" r - 1
        }
        print "}"
    }
}' >p.goal
both "dissemination" 180
awk 'BEGIN { # a message that goes three times round a ring of five
    print "num_ranks 5"
    for (i = 0; i < 5; i++) {
        print "rank " i " {"
        for (k = 1; k <= 3; k++) {
            if (i || k > 1) print "r" k ": recv 1024b from " (i + 4) % 5 " tag " k - !i
            print "s" k ": send 1024b to " (i + 1) % 5 " tag " k (i || k > 1 ? "\ns" k " requires r" k : "")
        }
        print (i ? "" : "recv 1024b from 4 tag 3\n") "}"
    }
}' >p.goal
both "a ring" 1024
awk 'BEGIN { # a binomial tree
    print "num_ranks 12"
    for (i = 0; i < 12; i++) {
        print "rank " i " {"
        for (k = 1; k <= i; k *= 2)
            from = k
        if (i) print "r: recv 100b from " i - from
        for (k = i ? 2 * from : 1; i + k < 12; k *= 2)
            print "s" k ": send 100b to " i + k (i ? "\ns" k " requires r" : "")
        print "}"
    }
}' >p.goal
both "a broadcast by a tree" 100
cd "$top" || exit 2

# ---- the same everywhere ----

sets=("mpi.eager_limit=0 B|mpi.rendezvous=write" "mpi.eager_limit=1 TiB|node.send_overhead=1 us|node.receive_overhead=3 us" "node.receive_overhead=700 ns|mpi.match_time=20 ns"
    "mpi.progress=calls|node.send_overhead=100 ns|jobs[0].compute_jitter=3 ns" "mpi.progress=thread|mpi.progress_cost=50 ns|mpi.eager_completion=buffered"
    "node.adapters=3|topology.rails=plane|jobs[0].placement=random" "node.cores=4|jobs[0].tasks_per_node=3|mpi.copies=all" "output.waits=true|output.critical_path=1 MiB|mpi.eager_limit=100 B"
    "mpi.overheads=loggops|loggops.g=2 us|loggops.O=0.3 ps|loggops.G=0.04 ns|loggops.S=1000 B|mpi.rendezvous=write")
for ((seed = 1; seed <= ${SEEDS:-9}; seed++)); do
    awk -v seed="$seed" -f tests/tasks/goal/random.awk >"$t/random$seed.goal"
    IFS='|' read -ra set <<<"${sets[seed % 9]}"
    all_alike "random schedule $seed (${sets[seed % 9]//|/, })" "$t/star.cfg" jobs[0].trace="$t/random$seed.goal" "${set[@]}"
done
all_alike "in the background, again and again" "$t/star.cfg" jobs[0].trace="$t/one.goal" jobs[0].background=true jobs[0].restart=true run.end=10us

# ---- what is refused, and what cannot continue ----

refuses() { # STATUS WORDS NAME ARGUMENTS
    ends "$1" "$2" "$marssim" -q -o "$t/o" "$t/star.cfg" "${@:4}"
    check "$3"
}
printf 'num_ranks 2\nrank 0 {\na: recv 10b from 1 tag 7\nb: calc 3\nb requires a\nc: calc 4\nc requires b\n}\nrank 1 {\nsend 100000b to 0 tag 8\n}\n' >"$t/stuck.goal"
refuses 1 "recv *3 .*stuck.goal:3: a receive from task 1, tag 7, 10 bytes" "a receive without a message is named" jobs[0].trace="$t/stuck.goal"
refuses 1 "send *10 .*stuck.goal:10: a send to task 0, tag 8, 100000 bytes" "and a send that nobody takes" jobs[0].trace="$t/stuck.goal"
refuses 1 "never begun *4 .*stuck.goal:4: the first of 2 operations that wait for others; also line 6" "and what waits for them" jobs[0].trace="$t/stuck.goal"
refuses 2 "cycle.goal:.*wait for one another" "a cycle" jobs[0].trace="$top/tests/tasks/goal/cycle.goal"
printf 'num_ranks 1\nrank 0 {\nsend 10b to 0 tag -1\n}\n' >"$t/tag.goal"
refuses 2 "tag.goal:3: a send with tag -1" "a send that any receive takes" jobs[0].trace="$t/tag.goal"
printf 'num_ranks 1\nrank 0 {\nrecv 1099511627777b from 0\n}\n' >"$t/long.goal"
refuses 2 "long.goal:3: a message has at most 1 TiB" "a message that is too long" jobs[0].trace="$t/long.goal"
printf 'num_ranks 1\nrank 0 {\nrecv 10b from 0 nic 1\nsend 10b to 0 nic 1\n}\n' >"$t/nic.goal"
refuses 2 "nic.goal:3: .*goal_layout" "a nic of a rank that is an adapter" jobs[0].trace="$t/nic.goal" node.adapters=2 jobs[0].goal_layout=adapter
refuses 2 "goal_layout" "a layout without adapters" jobs[0].trace="$t/one.goal" jobs[0].goal_layout=adapter
echo "num_ranks 0" >"$t/none.goal"
refuses 2 "none.goal.*ranks" "no ranks" jobs[0].trace="$t/none.goal"
refuses 2 "node.send_overhead: means nothing with mpi.overheads" "two overheads" jobs[0].trace="$t/one.goal" mpi.overheads=loggops "node.send_overhead=1 ns"
refuses 2 "loggops.L" "a latency beside the network's" jobs[0].trace="$t/one.goal" mpi.overheads=loggops "loggops.L=1 ns"
refuses 2 "trace.*is missing" "no file" jobs[0].format=goal
[ "$number" -gt 0 ]
