#!/bin/bash
# Message-driven programs: times derived by hand, the same results on any number of ranks, in any order of cells and after checkpoints, objects
# that wait for ever, and what is refused.
#
# On the star a message of n bytes, one packet, leaves its adapter L = (n + 32) x 100 ps after it was sent and arrives W = L + 1050 ns after:
# 1000 bytes 1153.2 ns, 8 bytes 1054 ns, a control message of 32 bytes 1056.4 ns.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib-runs.sh
. tests/lib-driven.sh
cat >"$t/star.cfg" <<'CFG'
topology: { kind = "star"; nodes = 4; bandwidth = "10 GB/s"; latency = "500 ns"; };
node: { cores = 4; };
jobs: ( { program = "trace"; format = "driven"; } );
partition: { bind = "no"; adapt = false; oversubscribe = true; };
CFG
program_run() { run -o "$t/o" "$t/star.cfg" "$@"; }

# ---- blocks and messages ----

# It leaves at 4 us, W later b begins.
is "10000000 8153200" "a message is sent at an offset inside its block" <<<"$one"
# The send takes 100 ns of a's core and leaves behind them; b's block begins with 200 ns for the message that it takes.
is "10100000 8453200" "overheads" "node.send_overhead=100 ns" "node.receive_overhead=200 ns" <<<"$one"
# Twice as long, and the offset with it: 8 us + W + 6 us, from 1 us on.
is "21000000 16153200" "a slower processor, and a later start" jobs[0].processor_factor=2 "jobs[0].start=1 us" <<<"$one"
# Inside the node 200 ns + 1000 B at 10 GB/s.
is "10000000 7300000" "a message inside a node" jobs[0].tasks_per_node=2 <<<"$one"
is "13000000" "a message on one core: there at once, and taken when the core is free" <<<"$(sed 's/tasks 2/tasks 1/; s/on 1/on 0/' <<<"$one")"

# b's core runs the long block until 20 us. "more" came before "rush", which is more urgent: 20 to 22 us; its answer comes 1054 ns later, and a
# continues for 5 us. Without priorities rush is behind more, 23 to 25 us.
is "28054000 25000000" "what is urgent comes first, and interrupts nothing" <<<"$two"
is "31054000 25000000" "what is alike comes in its order" <<<"${two//priority -1/priority 2}"
# Entry methods: work has 10, 20, 3 and 5 us; more waited from 5153.2 ns until 22 us, rush from 10153.2 ns until 20 us, the others not.
is "28054000 25000000" "the same again" <<<"$two"
verdict "$([ "$(cat "$t/o/driven_entries.csv")" = "job,entry,count,messages,time_mean_ps,time_max_ps,queue_mean_ps,queue_max_ps
job0,work,4,2,9500000,20000000,4211700,16846800
job0,urgent,1,1,2000000,2000000,9846800,9846800" ] || cat "$t/o/driven_entries.csv")" "entry methods are counted"
# Of 28.054 us core 0 computes 15, core 1 25; two blocks were in its queue.
verdict "$([ "$(column busy_ps driven_cores)$(column queue_max driven_cores)$(column wait_ps)" = "15000000 25000000 1 2 13054000 0 " ] ||
    cat "$t/o/driven_cores.csv")" "cores are counted"

# Messages at 1153.2, 3153.2 and 6153.2 ns: each runs 1 us by itself, then end.
is "9153200 0 2000000 5000000" "a block for each message, and one behind them all" <<'END'
driven 1
tasks 4
entry w
object a on 0
block sum entry w time 1us each
block end entry w time 2us after sum
object b on 1
block s entry w
send 1000B to a.sum
object c on 2
block s entry w time 2us
send 1000B to a.sum at 2us
object d on 3
block s entry w time 5us
send 1000B to a.sum at 5us
END
# A ball between two objects, three times: b gets it at W, 1 us; a has it W later. a begins iteration i + 1 when it has it back:
# 2 W + 1 us = 3306.4 ns a round, and a second object on task 2 is done at once.
is "9919200 8766000 0" "iterations" <<'END'
driven 1
tasks 3
iterations 3
entry w
object a on 0
block serve entry w
send 1000B to b.hit
block back entry w after serve
object b on 1
block hit entry w time 1us
send 1000B to a.back at 1us
object c on 2
block alone entry w
END
# a's iteration i needs b's i - 1, the first none; b sends ahead without waiting: at 1, 2 (and in its last iteration not). a: 0 to 1 us,
# b's first message at 1 us + W = 2153.2 ns, 1 us, its second at 3153.2 ns, 1 us.
is "4153200 3000000" "messages for the next iteration" <<'END'
driven 1
tasks 2
iterations 3
entry w
object a on 0
block s entry w time 1us
object b on 1
block s entry w time 1us
send 1000B to a.s at 1us next
END

# ---- objects that move ----

# o moves at 2 us, as 1000 bytes: on task 2 at 3153.2 ns. b's first message comes to task 0 at 2153.2 ns, is handed on, comes to task 2 at 3306.4 ns
# and runs until 4306.4 ns. b is told: its second message, at 10 us, goes to task 2: 11153.2 ns, 1 us.
is "2000000 10000000 12153200" "messages follow an object that has moved" <<'END'
driven 1
tasks 3
entry w
object o on 0 bytes 1000B
block s entry w time 2us moves 2
block r entry w time 1us
block r2 entry w time 1us
object b on 1
block x entry w time 10us
send 1000B to o.r at 1us
send 1000B to o.r2 at 10us
END
verdict "$([ "$(column passed_on driven_cores)$(column objects driven_cores)" = "1 0 0 0 1 1 " ] || cat "$t/o/driven_cores.csv")" \
    "who has handed on what"
# The message comes to task 0 at 1153.2 ns and waits there, since r needs s; it goes with the object, behind its 1000 bytes: 103.2 ns later
# than these, 3256.4 ns.
is "2000000 0 4256400" "what has come for an object moves with it" <<'END'
driven 1
tasks 3
entry w
object o on 0 bytes 1000B
block s entry w time 2us moves 2
block r entry w time 1us after s
object b on 1
block x entry w
send 1000B to o.r
END
# Each tells the other its load: task 1, which has nothing, at 0, task 0 at 1 us. Task 0 has heard at 1056.4 ns; its object is on task 1 at
# 2209.6 ns and does its second iteration.
is "1000000 3209600" "a balance step: rotate" <<'END'
driven 1
tasks 2
iterations 2
balance every 1 rotate
entry w
object a on 0 bytes 1000B
block s entry w time 1us
END
# The mean of 10, 0 and 0 us is 3.3: a is longer than what is to be given, b fits what task 2 lacks, and what is left of that is less than c,
# which goes to task 1. At 10 us two control messages (6.4 ns each on the link) leave, then the objects (4.2 ns each): at 10 us + 12.8 + 4.2 +
# 1050 ns b is on task 2, 4.2 ns later c on task 1; 2 us each. a continues at 10 us.
is "16000000 13071200 13067000" "a balance step: neighbour" <<'END'
driven 1
tasks 3
iterations 2
balance every 1 neighbour
entry w
object a on 0 bytes 10B
block s entry w time 6us
object b on 0 bytes 10B
block s entry w time 2us
object c on 0 bytes 10B
block s entry w time 2us
END
verdict "$([ "$(column objects driven_cores)" = "1 1 1 " ] || cat "$t/o/driven_cores.csv")" "one object each"

# ---- the same bits ----

cat >"$t/torus.cfg" <<'CFG'
topology: { kind = "torus"; extents = [3, 4, 2]; bandwidth = "10 GB/s"; latency = "50 ns"; };
node: { cores = 4; send_overhead = "50 ns"; receive_overhead = "30 ns"; };
jobs: ( { program = "leanmd"; first_node = 0; cells = [4, 3, 5]; tasks = 60; tasks_per_node = 3; atoms = 2000; steps = 6; gradient = 1.0; balance_every = 2;
          compute_jitter = "300 ns"; },
        { program = "stencil"; extents = [12]; placement = "strided"; stride = 2; first_node = 1; steps = 5; bytes = "3 kB";
          compute_time = "20 us"; } );
traffic: { pattern = "uniform"; load = 0.1; size = "1500 B"; stop = "300 us"; };
output: { series: { jobs = "periods"; tasks = "periods"; }; period = "50 us"; };
partition: { bind = "no"; adapt = false; oversubscribe = true; };
CFG
sim() { # RANKS FOLDER ARGUMENTS...
    timeout 120 mpirun -n "$1" "$marssim" -q -o "$t/$2" "${@:3}" 2>"$t/err"
}
all_alike "molecules, balanced, beside MPI and traffic" "$t/torus.cfg"
verdict "$(awk -F, 'NR > 1 {came += $12; went += $13} END {if (came != went || came < 20) print came " came, " went " went"}' \
    "$t/one/driven_cores.csv")" "objects have moved"
all_alike "molecules, rotated" "$t/torus.cfg" jobs[0].balance=rotate jobs[0].balance_every=1 jobs[0].computes=near
# Where processor time is the node's: detours of 2 us in each 20 us, from a begin of its own on each core.
all_alike "molecules, beside the operating system" "$t/torus.cfg" node.noise.kind=periodic "node.noise.period=20 us" "node.noise.length=2 us"

# Random programs: object o sends from block b only to blocks of higher numbers, or ahead, so that none waits for ever; some objects move.
random_program() { # SEED MOVES
    awk -v seed="$1" -v moves="$2" 'BEGIN {
        srand(seed); tasks = 12; objects = 40
        print "driven 1\ntasks " tasks "\niterations " 1 + int(3 * rand())
        for (e = 0; e < 5; e++) print "entry e" e (e % 2 ? " priority " int(7 * rand()) - 3 : "")
        for (o = 0; o < objects; o++) blocks[o] = 2 + int(4 * rand())
        for (o = 0; o < objects; o++) {
            print "object o." o " on " int(tasks * rand()) " bytes " int(20000 * rand()) "B"
            for (b = 0; b < blocks[o]; b++) {
                time = int(5000 * rand())
                line = "block b" b " entry e" int(5 * rand()) " time " time "ns"
                if (b && rand() < 0.7) line = line " after b" int(b * rand())
                print line (moves && rand() < 0.3 ? " moves " int(tasks * rand()) : "")
                at = 0
                for (k = int(4 * rand()); k > 0; k--) {
                    to = int(objects * rand()); ahead = rand() < 0.3
                    if (!ahead && b + 1 >= blocks[to]) continue
                    at = int(at + (time - at) * rand())
                    target = ahead ? int(blocks[to] * rand()) : b + 1 + int((blocks[to] - b - 1) * rand())
                    print "send " int(9000 * rand()) "B to o." to ".b" target " at " at "ns" (ahead ? " next" : "")
                }
            }
        }
    }'
}
sed 's/^jobs.*/jobs: ( { program = "trace"; trace = "random"; placement = "random"; tasks_per_node = 2; } );/; /program = "stencil"/,/compute_time/d; /^ /d; /traffic/d' \
    "$t/torus.cfg" >"$t/random.cfg"
for seed in 1 2 3; do
    random_program $seed $((seed % 3)) >"$t/random$seed"
    all_alike "random program $seed" "$t/random.cfg" jobs[0].trace="$t/random$seed"
done
random_program 2 1 >"$t/random"
sim 1 o "$t/random.cfg"
verdict "$(awk -F, 'NR > 1 {passed += $10; went += $13} END {if (!passed || !went) print "none was"}' "$t/o/driven_cores.csv")" \
    "there objects move and messages are handed on"

# ---- what waits for ever ----

cat >"$t/ring" <<'END'
driven 1
tasks 2
entry w
object here on 0
block x entry w
block y entry w after x
send 1B to there.z
object there on 1
block z entry w
send 1B to here.x
END
for n in 1 2; do
    sim $n o "$t/star.cfg" jobs[0].trace="$t/ring"
    [ $? -eq 1 ] && grep -q '2 objects wait for messages' "$t/err" && grep -q ' here .* 5 .*block x, iteration 0: 0 of 1 messages have come' "$t/err" &&
        grep -q ' there .* 9 .*block z' "$t/err"
    check "objects that wait for ever are named, on $n"
done
jq -e '.result.jobs[0].finish_ps == null' "$t/o/summary.json" >/dev/null
check "what was measured is there"

# ---- bad input ----

refuses() { # WORDS NAME: the program, from standard input
    cat >"$t/bad"
    refused "bad:$1" -o "$t/o" "$t/star.cfg" jobs[0].trace="$t/bad"
    check "$2"
}
refuses '1: .*begins with "driven 1"' "no head" <<<'tasks 2'
refuses '1: .*version is 2; 1 is read' "another version" <<<'driven 2'
refuses '3: "works w" is none of tasks' "a word that is none" <<<$'driven 1\ntasks 2\nworks w'
refuses '2: the number of tasks is expected' "no tasks" <<<$'driven 1\ntasks 0'
refuses '2: "tasks N" comes before objects' "objects before tasks" <<<$'driven 1\nobject a on 0'
refuses '4: a task is expected before "2": a whole number of 0 to 1' "a task that is absent" <<<$'driven 1\ntasks 2\nentry w\nobject a on 2'
refuses '5: there is no entry method "v"' "an entry method that is absent" <<<$'driven 1\ntasks 2\nentry w\nobject a on 1\nblock x entry v'
refuses '6: there is no block "a.y"' "a block that is absent" <<<$'driven 1\ntasks 2\nentry w\nobject a on 1\nblock x entry w\nsend 1B to a.y'
refuses '6: the object has a block "x" in line 5' "a block that is there twice" <<<$'driven 1\ntasks 2\nentry w\nobject a on 1\nblock x entry w\nblock x entry w'
refuses '4: object "a" has no block' "an object without blocks" <<<$'driven 1\ntasks 2\nentry w\nobject a on 1\nobject b on 1'
refuses '6: the message is sent behind the end of its block in line 5' "an offset behind the end" <<<$'driven 1\ntasks 2\nentry w\nobject a on 1\nblock x entry w time 1us\nsend 1B to a.x at 2us'
refuses '5: this object has no block "y" above' "after a block that is not there yet" <<<$'driven 1\ntasks 2\nentry w\nobject a on 1\nblock x entry w after y\nblock y entry w'
refuses '5: the time "5": ' "a time without a unit" <<<$'driven 1\ntasks 2\nentry w\nobject a on 1\nblock x entry w time 5'
refuses '5: the block runs for each message, and none is sent' "a block for messages that nobody sends" <<<$'driven 1\ntasks 2\nentry w\nobject a on 1\nblock x entry w each'
refuses '6: objects move by blocks, or at balance steps (line 3), not both' "two ways to move" <<<$'driven 1\ntasks 2\nbalance every 2 rotate\nentry w\nobject a on 1\nblock x entry w moves 0'
refuses '5: "twice" is too much' "a word too many" <<<$'driven 1\ntasks 2\nentry w\nobject a on 1\nblock x entry w twice'
bad_key() { # TEXT NAME ARGUMENTS...
    sim 1 o "$t/torus.cfg" "${@:3}"
    [ $? -eq 2 ] && grep -q -- "$1" "$t/err"
    check "$2"
}
bad_key 'has 2 cells in dimension 1; with a reach of 1 there are at least 3' "too few cells" "jobs[0].cells=[4, 2, 5]"
bad_key 'makes more than 2^32 - 2 objects' "too many cells" "jobs[0].cells=[40000, 40000, 40000]"
bad_key 'a message-driven job has no critical path' "a critical path" output.waits=true output.critical_path="100 kB"
for key in waits=true calls=true series.functions=periods series.communicators=periods; do
    sim 1 o "$t/star.cfg" jobs[0].trace="$t/ring" "output.$key" output.period="1 us"
    [ $? -eq 2 ] && grep -q "output.${key%=*}: message-driven jobs make no calls of MPI" "$t/err"
    check "output.$key with driven programs alone"
done
bad_key 'a message-driven program runs once' "restart" jobs[0].background=true jobs[0].restart=true
bad_key 'a message-driven job has no memory part' "a memory part" "node.controller_bandwidth=9 GB/s" "jobs[0].memory_bandwidth=1 GB/s"

# ---- messages by kind and by pairs ----

# Six iterations with a balance step behind the second and the fourth: cores tell each other their loads and how many objects come, and objects
# move, as messages of their bytes. The first two iterations take 0.4 s at least, the last two come behind 1 s.
sent=(configs/torus-leanmd.cfg topology.latency=200ns topology.extents=3,3,3 jobs[0].cells=3,3,3 jobs[0].atoms=40000 jobs[0].gradient=0.9 jobs[0].steps=6
    jobs[0].balance_every=2 "output.period=20 ms" output.series.traffic=periods output.matrix=true output.series.matrix=periods
    'output.matrix_levels=["task"]' partition.bind=no partition.adapt=false partition.oversubscribe=true)
"$marssim" -q -o "$t/sent" "${sent[@]}" 2>"$t/err" && awk -F, 'FNR == 1 { split("", c); for (i = 1; i <= NF; i++) c[$i] = i; file++; next }
    { m = "messages"; b = "bytes"; if (file == 1) { m = "messages_sent"; b = "bytes_sent" }
      if (file == 2 && $c["kind"] == "both") next; if (file == 2 && $c["kind"] == "balancing") { moved += $c[b]; next } n[file] += $c[m]; s[file] += $c[b] }
    END { print n[1], n[2], n[3], s[1], s[2], s[3], moved
          exit !(n[1] && n[1] == n[2] && n[1] == n[3] && s[1] == s[2] && s[1] == s[3] && moved > 100000) }' \
    "$t/sent/tasks.csv" "$t/sent/traffic_series.csv" "$t/sent/task_matrix.csv" >"$t/err"
check "messages by kind and by pairs of tasks are those of tasks.csv"
awk -F, '$3 == "balancing" { n++; if ($1 < 4e11 || $1 > 1e12) wrong++ } { last = $1 } END { print n, wrong, last; exit n < 5 || wrong || last < 1.2e12 }' \
    "$t/sent/traffic_series.csv" >"$t/err"
check "the steps in which the program rebalances are seen"
sent_alike() { cmp "$t/sent/traffic_series.csv" "$1/traffic_series.csv" && cmp "$t/sent/task_matrix_series.csv" "$1/task_matrix_series.csv"; }
mpirun -n 3 "$marssim" -q -o "$t/sent3" "${sent[@]}" 2>"$t/err" && sent_alike "$t/sent3" &&
    mpirun -n 2 "$marssim" -q -o "$t/sent2" "${sent[@]}" "run.checkpoint.at=600 ms" 2>"$t/err" &&
    mpirun -n 3 "$marssim" -q --resume "$t/sent2" -o "$t/sent3" 2>"$t/err" && sent_alike "$t/sent3"
check "the same on three ranks, and after a checkpoint"

verdict "$([ $number -gt 0 ] || echo none)" "cases ran"
