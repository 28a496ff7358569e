#!/bin/bash
# Tasks that outnumber the cores of their node take turns: exact cases derived by hand; equal on 1, 2, 3 and 5 ranks and after checkpoints in the
# middle of slices; with as many cores as tasks, as without; what cannot be is refused.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
at() { jq -c "[.result.jobs[] | .finish_ps / 1000 | floor]" "$t/$1/summary.json"; } # in ns
is() { # VALUES NAME: of the last run
    local got
    got=$(at one)
    [ "$got" = "$1" ] || echo "$got instead of $1" >>"$t/err"
    [ "$got" = "$1" ]
    check "$2"
}

# A, B and C compute 250 us each on two cores; slices of 100 us, 1 us for a change.
#   0    A and B have the cores, C waits.
#   100  Both slices are over, and one waits: C takes A's core (the first of those that had theirs longest). A waits; B's slice begins again.
#   101  C begins. A and B have had 100.
#   200  B's slice is over: A takes its core. B has had 200.
#   201  A begins; C's slice is over: B takes its core. C has had 100.
#   202  B begins, and ends at 252. C takes its core, and begins at 253. A, with nobody waiting, continues past its slice.
#   351  A ends, 403 C.
cat >"$t/three.cfg" <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 2; tasks = 3; quantum = "100 us"; switch_cost = "1 us"; };
jobs = ( { program = "stencil"; first_node = 0; extents = [1]; steps = 1; compute_time = "250 us"; },
         { program = "stencil"; first_node = 0; extents = [1]; steps = 1; compute_time = "250 us"; },
         { program = "stencil"; first_node = 0; extents = [1]; steps = 1; compute_time = "250 us"; } );
END
run -o "$t/one" "$t/three.cfg"
is "[351000,252000,403000]" "three tasks on two cores"
# On one core they go round: A 0-100, B 101-201, C 202-302, A 303-403, B 404-504, C 505-605, A 606-656, B 657-707, C 708-758.
run -o "$t/one" "$t/three.cfg" node.cores=1
is "[656000,707000,758000]" "three tasks on one core"
# Slices that are longer than the work: A and B end at 250, C begins at 251.
run -o "$t/one" "$t/three.cfg" "node.quantum=1 ms"
is "[250000,250000,501000]" "slices longer than the work"
# D comes at 120 us, last in the line behind A. 200: A takes B's core. 201: D takes C's core. Both begin 1 us later. 301: B, first in the line since 200,
# takes A's core, begins at 302 with 200 had, and ends at 352. 302: C takes D's core, from 303. 352: A takes B's core, from 353, with 200 had: 403. D
# takes that core, from 404, with 100 had: 554. C, whose slice is over at 403, too, continues as nobody waits, with 100 had at 303: 453.
fourth=(node.tasks=4 'jobs[3].program=stencil' jobs[3].first_node=0 'jobs[3].extents=[1]' 'jobs[3].steps=1' 'jobs[3].compute_time=250 us' 'jobs[3].start=120 us')
run -o "$t/one" "$t/three.cfg" "${fourth[@]}" node.wakeup=queue
is "[403000,352000,453000,554000]" "one that comes later, and waits in the line"
# It takes a core at once: C's (of slices that began at the same time the first core's). C has had 19, and is first in the line. 121: D begins.
# 200: C takes B's core, from 201. 221: A takes D's, from 222; D has had 100. 301: B takes C's, which has had 119, from 302, and ends at 352. 322: D
# takes A's, which has had 200, from 323. 352: C from 353. 423: A takes D's, which has had 200, from 424, and ends at 474. 453: D takes C's, which has
# had 219, from 454, and ends at 504. 474: C from 475, and ends at 506.
run -o "$t/one" "$t/three.cfg" "${fourth[@]}"
is "[474000,352000,506000,504000]" "one that comes later, and takes a core"

# Messages: node 0 has one core and three tasks. Task 3, on node 1, computes for 120 us and sends.
cat >"$t/message.cfg" <<'END'
topology = { kind = "star"; nodes = 2; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 1; tasks = 3; quantum = "100 us"; switch_cost = "1 us"; };
jobs = ( { program = "trace"; format = "goal"; trace = "message.goal"; placement_file = "message.txt"; placement = "file"; } );
END
printf '0\n0\n0\n1\n' >"$t/message.txt"
tasks_are() { # NAME TASK=NS...: they ended then
    local name=$1 one wrong=0
    shift
    for one in "$@"; do
        awk -F, -v task="${one%=*}" -v ns="${one#*=}" 'NR > 1 && $2 == task && $5 != sprintf("%.0f", ns * 1000) { print "task " task ": " $5; exit 1 }' "$t/one/tasks.csv" \
            >>"$t/err" || wrong=1
    done
    [ $wrong -eq 0 ]
    check "$name"
}
# To a task that waits for its turn, 0: it has had 100 of 250, as 1 has the core from 101 to 201. Its receive is complete, and costs nothing. Task 2, which
# has had no turn yet, has the core from 202 to 232 and finds its message. Then 0 from 233 to 333, 1 from 334 to 434, 0 from 435 on, 50 and 10 more:
# 495; and 1 from 496 on: 546.
cat >"$t/message.goal" <<'END'
num_ranks 4
rank 0 { r: recv 1b from 3 tag 1
c: calc 250000
e: calc 10000
e requires c
e requires r }
rank 1 { c: calc 250000 }
rank 2 { r: recv 1b from 3 tag 2
c: calc 30000
c requires r }
rank 3 { c: calc 120000
a: send 1b to 0 tag 1
b: send 1b to 2 tag 2
a requires c
b requires a }
END
run -o "$t/one" "$t/message.cfg"
tasks_are "a message to a preempted task" 0=495000 1=546000 2=232000
# To a task that waits for it, 0, at M, while 2 has the core from 102 on (1 had it from 1 to 101, as 0 had it first). It takes the core at once, and ends at
# M + 31. Then 2, which is first in the line, from M + 32 on, for 100; 1 from M + 133; 2 from M + 234; 1 from M + 335 to its end at M + 385; 2 from M + 386:
# it has had M - 102 and 200, and ends at 538.
cat >"$t/woken.goal" <<'END'
num_ranks 4
rank 0 { r: recv 1b from 3 tag 1
c: calc 30000
c requires r }
rank 1 { c: calc 250000 }
rank 2 { c: calc 250000 }
rank 3 { c: calc 120000
a: send 1b to 0 tag 1
a requires c }
END
run -o "$t/one" "$t/message.cfg" 'jobs[0].trace=woken.goal'
end=$(awk -F, 'NR > 1 && $2 == 0 { print $5 }' "$t/one/tasks.csv")
[ "$end" -gt 151000000 ] && [ "$end" -lt 152000000 ] || echo "task 0: $end" >>"$t/err"
tasks_are "a task that waits for a message takes a core" 1="$(awk -v end="$end" 'BEGIN { printf "%.3f", end / 1000 + 354000 }')" 2=538000
# It waits in the line: 1 from 203 to 303, 0 from 304 to 334, 2 from 335 to 435, 1 from 436 to 486, 2 from 487 to 537.
run -o "$t/one" "$t/message.cfg" 'jobs[0].trace=woken.goal' node.wakeup=queue
tasks_are "or waits in the line" 0=334000 1=486000 2=537000
# It polls: it has the core until 100, 1 from 101 to 201, 2 from 202 to 302. From 303 on it has it again, finds its message, and ends at 333. 1 from 334, 2 from 435,
# each for 100; 1 from 536 to 586, 2 from 587 to 637.
run -o "$t/one" "$t/message.cfg" 'jobs[0].trace=woken.goal' node.waiting=spin output.cores=true
tasks_are "or polls, until its slice is over" 0=333000 1=586000 2=637000
[ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $1 == 0 { print $c["spinning_ps"], $c["busy_ps"] }' "$t/one/cores.csv")" = "100000000 630000000" ]
check "the core spins for 100 us, and is busy but for 7 switches"
# Sent 70 us earlier it finds its message at once, M - 70, and ends 30 later, at E. 1 from E + 1, 2 from E + 102, each for 100; 1 from E + 203, 2 from E + 304; 1 from
# E + 405, for 50, 2 from E + 456 on.
sed 's/calc 120000/calc 50000/' "$t/woken.goal" >"$t/early.goal"
run -o "$t/one" "$t/message.cfg" 'jobs[0].trace=early.goal' node.waiting=spin
us() { awk -v end="$end" -v more="$1" 'BEGIN { printf "%.3f", end / 1000 - 71000 + more * 1000 }'; }
tasks_are "a message to a task that polls" 0="$(us 0)" 1="$(us 455)" 2="$(us 506)"

cat >"$t/c.cfg" <<'END'
topology = { kind = "torus"; extents = [3, 3]; bandwidth = "10 GB/s"; latency = "100 ns"; };
node = { cores = 3; tasks = 9; quantum = "7 us"; switch_cost = "300 ns"; send_overhead = "150 ns"; receive_overhead = "90 ns"; };
jobs = ( { program = "stencil"; first_node = 0; extents = [7, 7]; steps = 6; compute_time = "20 us"; bytes = "3 kB"; tasks_per_node = 6;
           compute_jitter = "9 us"; allreduce_every = 3; allreduce_bytes = "800 B"; },
         { program = "stencil"; first_node = 0; extents = [3, 3, 3]; steps = 4; compute_time = "31 us"; bytes = "20 kB"; placement = "strided"; tasks_per_node = 3; } );
END
sed 's/tasks = 9; quantum = "7 us"; switch_cost = "300 ns";//' "$t/c.cfg" >"$t/free.cfg"
same_bits "turns"
same_bits "turns in line, with noise and memory that is short" node.wakeup=queue "node.quantum=900 ns" node.noise.kind=random "node.noise.gap=15 us" \
    "node.noise.length=6 us" "node.controller_bandwidth=12 GB/s" 'jobs[0].memory_bandwidth=4 GB/s' 'jobs[1].memory_bandwidth=3 GB/s' \
    mpi.progress=thread "mpi.progress_cost=100 ns"
same_bits "turns of tasks that poll" node.waiting=spin node.noise.kind=random "node.noise.gap=15 us" "node.noise.length=6 us" "node.controller_bandwidth=12 GB/s" \
    'jobs[0].memory_bandwidth=4 GB/s'
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { n++
    if ($c["finish_ps"] != $c["compute_ps"] + $c["stalled_ps"] + $c["overhead_ps"] + $c["away_ps"] + $c["preempted_ps"] + $c["wait_ps"] + $c["send_wait_ps"]) exit 1 }
    END { exit n != 76 }' "$t/one/tasks.csv"
check "turns of tasks that poll: times add up"
same_bits "turns on one core" node.cores=1 "node.quantum=1000 s" mpi.progress=calls

told() { jq -S '.result | del(.node, .jobs[].time_shares)' "$t/$1/summary.json"; }
run -o "$t/plain" "$t/c.cfg" node.cores=9 node.tasks=9 && run -o "$t/free" "$t/free.cfg" node.cores=9 && cmp "$t/free/links.csv" "$t/plain/links.csv" &&
    cmp <(cut -d, -f 1-15 "$t/free/tasks.csv") <(cut -d, -f 1-15 "$t/plain/tasks.csv") && cmp <(told free) <(told plain)
check "with as many cores as tasks, as without"

refuses() { # WORDS KEYS...
    refused "$1" -o "$t/r" "$t/free.cfg" "${@:2}"
    check "refused: ${*:2}"
}
refuses "node.tasks" node.cores=3
refuses "node.tasks" node.cores=3 node.tasks=8
refuses "node.quantum" node.cores=9 "node.quantum=1 ms"
refuses "node.quantum" node.cores=3 node.tasks=9 "node.quantum=0 ms"
refuses "node.tasks" node.cores=9 node.tasks=8
